/* tools.h - the host's tools as an input: what tasks are shown of the host, and its
 * digest.
 *
 * tool_paths.h says which paths are tools; the digest is made of their names, modes,
 * contents and the targets of links. Two machines with the same packages have the same
 * digest. Without dpkg sizes and times of files stand for their contents: the digest
 * then is one machine's own.
 *
 * What was computed is remembered in a catalog (codec/entries.h), by the list:
 *
 *   1. The paths are found anew if a stamp of the package database, of the directories
 *      of alternatives or of those in which programs are looked up has changed.
 *   2. Each time every path is looked at, and a file is read anew if its stamp (device,
 *      inode, size, times, mode) has changed, or had not settled (os/stamp.h).
 *   3. bz_tools_hold() is for who only asks whether anything has changed: it looks at
 *      the stamps of 1, at those of the directories with most tools, and at the mounts
 *      below them. It trusts that tools are replaced, as package managers and compilers
 *      do, and not written to in place; 2 does not.
 *
 * One thread.
 */
#ifndef BZ_TOOLS_TOOLS_H
#define BZ_TOOLS_TOOLS_H

#include "base/buf.h"
#include "codec/digest.h"
#include "codec/entry_kinds.h"
#include "tools/tool_paths.h"

enum bz_tools_kind { BZ_TOOLS_FILE, BZ_TOOLS_DIR, BZ_TOOLS_LINK, BZ_TOOLS_OTHER };

struct bz_tools_entry {
    struct bz_str path;
    uint32_t package;        /* number in packages, or BZ_TOOL_PATHS_NOBODY */
    uint32_t mode;           /* with the kind of file, as stat(2) has it */
    uint64_t stamp;          /* 0: not to be relied on */
    struct bz_digest digest; /* of a file's content or a link's target */
};

struct bz_tools {
    struct bz_arena arena;
    struct bz_tools_entries BZ_VEC(struct bz_tools_entry) entries; /* sorted by path */
    struct bz_tool_paths_names packages;
    bool dpkg;
    struct bz_digest digest;
    size_t nread; /* files whose content was read */
};

struct bz_tools_opts {
    const char *root;           /* "": this machine */
    struct bz_str words;        /* the list, see tool_paths.h */
    struct bz_entries *catalog; /* or NULL */
};

/* What a list without words stands for: packages to build with, if they are there. */
#define BZ_TOOLS_USUAL "?build-essential ?libc6-dev ?gcc ?g++ ?make ?dpkg-dev"

/* BZ_E_INVAL if a word is no program, package or path of this machine, BZ_E_BUSY if a
 * file changes whenever it is read. Release *t in any case. What is to be remembered is
 * in the catalog, which the caller saves. */
int bz_tools_open(struct bz_tools *t, const struct bz_tools_opts *opts,
                  struct bz_err *err) BZ_MUST_CHECK;
void bz_tools_release(struct bz_tools *t);

enum bz_tools_kind bz_tools_kind(const struct bz_tools_entry *e);

/* The stamps for bz_tools_hold(); false if they would not hold, since something has
 * changed just now. */
bool bz_tools_stamps(const struct bz_tools *t, const char *root, struct bz_buf *out);
bool bz_tools_hold(struct bz_str stamps, const char *root);

/* The mounts of this machine that show something below what tools lie in, one a line
 * of "ROOT MOUNT-POINT SOURCE"; nothing for another root. */
void bz_tools_mounts(const char *root, struct bz_buf *out);

#endif
