/* mount.h - the root of a sandbox, built by a process in its own mount namespace.
 *
 * The new root is a small read-only file system in memory with the entries of a spec in
 * it. Every step of a place inside is opened relative to the one before and no link is
 * followed: layers are what tasks have left, and a link in them must not lead a mount
 * out to the host.
 *
 * Runs in a child that shares its parent's memory (spawn.h).
 */
#ifndef BZ_SANDBOX_MOUNT_H
#define BZ_SANDBOX_MOUNT_H

#include "sandbox/spec.h"

/* What went wrong in a child, for its parent to tell. */
struct bz_mount_failure {
    const char *step; /* NULL: nothing */
    const char *what; /* a path, or NULL */
    int sys;
};

/* `anchor` is an empty directory of the host to build on; `layers` the overlay's
 * options, if the spec has layers. Afterwards the calling process sees the new root
 * alone, and is in "/". False if something fails. */
bool bz_mount_root(const struct bz_spec *spec, const char *anchor, const char *layers,
                   struct bz_mount_failure *failure);

#endif
