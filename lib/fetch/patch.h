/* patch.h - the patches among a recipe's sources: which, in which order, and a script
 * that applies them, in a sandbox.
 */
#ifndef BZ_FETCH_PATCH_H
#define BZ_FETCH_PATCH_H

#include "base/buf.h"
#include "base/vec.h"
#include "fetch/fetch.h"

struct bz_patch {
    struct bz_str name;  /* for messages and series files */
    struct bz_str file;  /* its path below the directory sources are unpacked to */
    unsigned strip;      /* leading parts of names in it to drop */
    struct bz_str below; /* ;patchdir=: where to apply it, from the source directory; ""
                            is there itself */
};

struct bz_patches BZ_VEC(struct bz_patch);

/* Appends them in the order of SRC_URI: files that end in .patch or .diff, also
 * compressed, and those with ;apply=1; not those with ;apply=0. The texts last as long
 * as f. */
int bz_patch_list(struct bz_fetch *f, struct bz_patches *out,
                  struct bz_err *err) BZ_MUST_CHECK;

enum bz_patch_by { BZ_PATCH_PATCH, BZ_PATCH_GIT };

/* Appends the body of a shell function that applies them with the program `patch`, or
 * `git apply`, in the directory `source`; `unpacked` is where the files were unpacked
 * to. It calls bbnote, bbwarn for a hunk that only fits nearly, and bbfatal if one does
 * not apply: then nothing of that one has been applied. */
void bz_patch_script(const struct bz_patches *all, enum bz_patch_by by,
                     struct bz_str source, struct bz_str unpacked, struct bz_buf *out);

#endif
