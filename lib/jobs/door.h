/* door.h - where clients come in: a socket at a path, and who may use it.
 *
 * Whoever holds the lock beside the path, in a file of the same name with ".lock", is
 * the server there: what else is found at the path was left by one that is gone. Of two
 * that begin at the same time one gets it, and nobody removes the socket of another.
 */
#ifndef BZ_JOBS_DOOR_H
#define BZ_JOBS_DOOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct bz_door {
    int listen; /* -1: none; one that is not ours may be put there */
    int lock;   /* -1: none */
    char *path; /* to be removed at the end; NULL: not ours */
    dev_t dev;  /* of the socket there */
    ino_t ino;
};

/* Fills *d, whose descriptors are -1; close it in any case. The path's directory is
 * made, for this user alone. With `claimed` the caller holds the lock. BZ_E_EXISTS if
 * another server is there, BZ_E_INVAL if others may write to the directory. */
int bz_door_open(struct bz_door *d, const char *path, bool claimed,
                 struct bz_err *err) BZ_MUST_CHECK;
void bz_door_close(struct bz_door *d);

/* Whether the other end of a connection is this user, or root. */
bool bz_door_is_friend(int fd);

#endif
