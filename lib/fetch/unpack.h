/* unpack.h - fetched files into a directory, as BitBake's do_unpack puts them.
 *
 * Archives are unpacked, compressed files expanded, others copied; by the end of the
 * name, unless ;unpack=0. ;subdir=, ;destsuffix= and ;striplevel= say where. Nothing is
 * written outside of the directory. For the files of this module only.
 */
#ifndef BZ_FETCH_UNPACK_H
#define BZ_FETCH_UNPACK_H

#include "fetch/scheme.h"

int bz_unpack_source(struct bz_fetch *f, struct bz_source *s, const char *dir,
                     struct bz_err *err) BZ_MUST_CHECK;

/* dir[/SUBDIR]/SUFFIX, where ;destsuffix= goes before `suffix`; what is above it is
 * made. BZ_E_INVAL if that is not below dir. */
int bz_unpack_dest(struct bz_fetch *f, const struct bz_source *s, const char *dir,
                   struct bz_str suffix, const char **out,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Unpacks the file into a new directory. */
int bz_unpack_tree(struct bz_fetch *f, int fd, const char *name, const char *dest,
                   struct bz_err *err) BZ_MUST_CHECK;

/* The same with leading parts of names dropped, into one that may be there. */
int bz_unpack_strip(struct bz_fetch *f, int fd, const char *file, const char *dest,
                    unsigned strip, struct bz_err *err) BZ_MUST_CHECK;

#endif
