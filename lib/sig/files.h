/* files.h - which files count for a task, and what of them.
 *
 * They are named by the flag [file-checksums] as BitBake has it: paths, each with
 * ":True" or ":False" as it was there or not when the text was made. If a recipe has a
 * do_fetch without that flag, the local files of SRC_URI count for it: what is fetched
 * is never left out. README.md says more.
 *
 * A list is what the flag says, in a form that needs no variables: it is made once
 * (bz_files_of), may be kept, and tells whether it would be made differently by now
 * (bz_files_hold). What counts of a file is its name relative to where it was found,
 * whether its owner may execute it, and its content. A directory counts as it is
 * unpacked (os/fs_source.h): a link inside with its target, an empty directory with a
 * name that ends in '/'. For tasks other than do_fetch, which may read a directory in
 * place, a link to a file counts with the content of that file too.
 */
#ifndef BZ_SIG_FILES_H
#define BZ_SIG_FILES_H

#include "base/buf.h"
#include "sig/base.h"
#include "sig/sums.h"
#include "vars/vars.h"

#define BZ_FILES_MAX ((size_t)1 << 18) /* for one task */

/* Appends the list of a task, nothing if no files count. BZ_E_INVAL for a word that is
 * no path with True or False, BZ_E_NOSUP if Python is needed to tell. */
int bz_files_of(struct bz_vars *v, struct bz_str task, struct bz_buf *list,
                struct bz_err *err) BZ_MUST_CHECK;

/* Appends the local files of SRC_URI, as they are unpacked: whatever a flag says, they
 * count for a task that fetches or unpacks them. */
int bz_files_sources(struct bz_vars *v, struct bz_buf *list,
                     struct bz_err *err) BZ_MUST_CHECK;

/* Whether everything is there, or not, as it was when the list was made. Also false if
 * this is no list. */
bool bz_files_hold(struct bz_str list);

/* Adds the files of a list, sorted by name; names lie in the arena. Directories stand
 * for all entries below them. BZ_E_INVAL for what is no file, directory or link. */
int bz_files_read(struct bz_str list, struct bz_sums *sums, struct bz_arena *arena,
                  struct bz_base_files *out, struct bz_err *err) BZ_MUST_CHECK;

/* Of a list of which bz_files_read() has read `n` files with these sums: BZ_E_BUSY if
 * one of them has changed since, or any has come or gone. */
int bz_files_recheck(struct bz_str list, const struct bz_sums *sums, size_t n,
                     struct bz_err *err) BZ_MUST_CHECK;

/* Adds a path of a layer, by its number, that the task is shown: a file or a directory
 * with all that is below it; its name begins at byte `at`. `there`: it exists; else it
 * counts once it does. */
void bz_files_add_view(struct bz_buf *list, struct bz_str path, size_t at, size_t layer,
                       bool there);

/* Adds a revision that is to be resolved (fetch/revision.h). */
void bz_files_add_question(struct bz_buf *list, struct bz_str question);

/* Adds that a result of the task is not to be used again, and why. */
void bz_files_add_unused(struct bz_buf *list, struct bz_str why);

/* The next of these, and of *list what is after it. Texts are terminated. */
bool bz_files_next_view(struct bz_str *list, struct bz_str *path);
bool bz_files_next_question(struct bz_str *list, struct bz_str *question);
bool bz_files_unused(struct bz_str list, struct bz_str *why);

#endif
