/* shelf_dir.h - the directories of a store, reached without following a symbolic link.
 *
 * Others may be allowed to write to a store, and could plant a link there that leads
 * out of it: whoever stored something through it would write elsewhere, with all rights
 * that he has. So each directory below the root has to be one itself. Anything else
 * under the name of one is refused, and told once for each opening of the store. A
 * store that is ours to mend puts it aside, in the root under a name that begins with
 * BZ_SHELF_DIR_REFUSED, and goes on as if there had been nothing; in any other nothing
 * can be read or stored there.
 *
 * The root itself may be a link: that is what the user named. The last step of a path
 * is the callers' concern: none of their calls follows a link there.
 */
#ifndef BZ_CACHE_SHELF_DIR_H
#define BZ_CACHE_SHELF_DIR_H

#include "cache/shelf.h"

#define BZ_SHELF_DIR_REFUSED "refused-"

/* Opens a directory in the root, making it first with `make`. -1 and errno on failure:
 * ENOTDIR if something else was refused, ENOENT if there is none. */
int bz_shelf_dir_open(struct bz_shelf_root *r, const char *name, bool make);

/* Puts aside what has the name of a directory and is none, if it is ours to mend. */
void bz_shelf_dir_mend(struct bz_shelf_root *r, const char *name);

/* Where a file of a shelf lies: a directory, and its name there. */
struct bz_shelf_dir_place {
    int dir;
    const char *name;
    int own; /* for bz_shelf_dir_leave() */
};

/* For the file "ab/abcd..." of a shelf; the text has to stay. -1 and errno as above.
 * The caller leaves it. With `make` the directory is made if there is none; to be tried
 * only after that was found out. */
int bz_shelf_dir_enter(const struct bz_shelf *s, const char *name, bool make,
                       struct bz_shelf_dir_place *out);
void bz_shelf_dir_leave(struct bz_shelf_dir_place *at); /* keeps errno */

/* What lies under a name of a shelf, itself. -1 and errno. */
int bz_shelf_dir_stat(const struct bz_shelf *s, const char *name, struct stat *st);

/* The directory "ab" of a shelf, for reading. -1 and errno as above. */
int bz_shelf_dir_fan(const struct bz_shelf *s, const char *name);

/* Whether nobody but us and root may change what is in a directory. */
bool bz_shelf_dir_is_ours(int dir);

#endif
