/* dpkg.h - the database of installed packages, as text.
 *
 * Reads what dpkg keeps below /var/lib/dpkg: `status`, `diversions` and the files of
 * `alternatives`. Nothing here opens a file or starts a process. Whatever the bytes
 * are, a reader stays within them and within the limits below; a stanza that makes no
 * sense is passed over.
 *
 * The texts must outlive the struct. One thread.
 */
#ifndef BZ_TOOLS_DPKG_H
#define BZ_TOOLS_DPKG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bitset.h"
#include "base/map.h"
#include "base/vec.h"

#define BZ_DPKG_PACKAGES 65536 /* installed packages that are read */

struct bz_dpkg_package {
    struct bz_str name, arch;
    struct bz_str depends[2]; /* Pre-Depends, Depends */
    bool essential;
    bool same;     /* Multi-Arch: same; the name of its list has the architecture */
    uint32_t next; /* another architecture's package of that name, from 1; 0: none */
};

struct bz_dpkg_provider {
    uint32_t package;
    uint32_t next; /* number in providers, from 1; 0: none */
};

struct bz_dpkg_diversion {
    struct bz_str to, by; /* the package whose own file stays where it is */
};

struct bz_dpkg {
    struct bz_arena arena;
    struct bz_dpkg_packages BZ_VEC(struct bz_dpkg_package) packages;
    struct bz_map names;   /* name -> number in packages, from 1 */
    struct bz_map virtual; /* name in Provides -> number in providers, from 1 */
    struct bz_dpkg_providers BZ_VEC(struct bz_dpkg_provider) providers;
    struct bz_map diverted; /* path -> struct bz_dpkg_diversion * */
    struct bz_str native;   /* the architecture of dpkg itself */
};

/* `status`: the packages whose files are installed. BZ_E_LIMIT for more than
 * BZ_DPKG_PACKAGES. Release *d in any case. */
int bz_dpkg_read(struct bz_dpkg *d, struct bz_str status,
                 struct bz_err *err) BZ_MUST_CHECK;
void bz_dpkg_release(struct bz_dpkg *d);

/* `diversions`: three lines for each. */
void bz_dpkg_read_diversions(struct bz_dpkg *d, struct bz_str text);

/* A package by "NAME" or "NAME:ARCH"; without an architecture the native one comes
 * first. */
bool bz_dpkg_find(const struct bz_dpkg *d, struct bz_str word, uint32_t *out);

/* Adds the dependency closure: of the alternatives of a dependency the first one that
 * is installed, or all packages that provide it. */
void bz_dpkg_close(const struct bz_dpkg *d, struct bz_bitset *set);

/* Where a path of a package's list really is. */
struct bz_str bz_dpkg_place(const struct bz_dpkg *d, uint32_t package,
                            struct bz_str path);

/* The links of an alternative from a file of `alternatives` with that name: the main
 * one and those that follow it. */
typedef void (*bz_dpkg_link_fn)(void *ctx, struct bz_str name, struct bz_str link);
void bz_dpkg_links(struct bz_str name, struct bz_str text, bz_dpkg_link_fn fn,
                   void *ctx);

#endif
