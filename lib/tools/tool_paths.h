/* tool_paths.h - which paths of the host are tools.
 *
 * A list has words: a program, which is looked up in BZ_TOOL_PATHS_PATH, a package, or
 * an absolute path. A word may be a program and a package at once, and stands for both.
 * The tools are
 *
 *   1. the program, all links that lead to it, and the packages that own these;
 *   2. the dependency closure of the packages, and of all essential ones;
 *   3. the files of these packages below BZ_TOOL_PATHS_TOPS, without documentation and
 *      translations, and the links of alternatives that lead to one of them;
 *   4. the directories that these lie in.
 *
 * A program that no package owns is a tool by itself. Without dpkg the tools are all
 * files below the absolute paths of the list, or below /usr if there is none.
 *
 * Paths are without links but for the last step: where /bin is a link to usr/bin,
 * /bin/sh is /usr/bin/sh. With a root other than "" all of it lies below that
 * directory, and links do not leave it.
 */
#ifndef BZ_TOOLS_TOOL_PATHS_H
#define BZ_TOOLS_TOOL_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

/* Where tasks look for programs. */
#define BZ_TOOL_PATHS_PATH                                                             \
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define BZ_TOOL_PATHS_MAX ((size_t)1 << 20)
#define BZ_TOOL_PATHS_NOBODY UINT32_MAX

struct bz_tool_path {
    struct bz_str path;
    uint32_t package; /* or BZ_TOOL_PATHS_NOBODY */
};

struct bz_tool_paths {
    struct bz_arena arena;
    struct bz_tool_paths_all BZ_VEC(struct bz_tool_path) all; /* sorted */
    struct bz_tool_paths_names BZ_VEC(struct bz_str) packages;
    struct bz_tool_paths_names missing; /* words that are nothing */
    bool dpkg;                          /* there is a database */
};

/* Words after a '?' may be missing. Release *out in any case. */
int bz_tool_paths_find(struct bz_tool_paths *out, const char *root, struct bz_str words,
                       struct bz_err *err) BZ_MUST_CHECK;
void bz_tool_paths_release(struct bz_tool_paths *p);

/* Files and directories that decide which paths are tools: while their stamps are the
 * same, so are the paths. Static texts. */
void bz_tool_paths_places(struct bz_tool_paths_names *out);

/* Whether sandboxes show this part of the host as tools: "/usr/bin/x" is. */
bool bz_tool_paths_covers(struct bz_str path);

/* The installed package that has a program of that name; false if none has. */
bool bz_tool_paths_owner(const char *root, struct bz_str program, struct bz_arena *a,
                         struct bz_str *package);

#endif
