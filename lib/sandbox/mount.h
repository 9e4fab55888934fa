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

/* What a root is built from. */
struct bz_mount_plan {
    const struct bz_spec *spec;
    const bool *fixed;  /* for each entry: whether it is part of the base */
    const char *anchor; /* an empty directory of the host to build on */
    const char *layers; /* the overlay's options, if the spec has layers */
    bool based;         /* the base is there: the namespace is a copy of one with it */
    const char *lower;  /* then: the overlay's lower layers, "0:1", or "" */
    int *trees;         /* and, for each entry, what bz_mount_fetch() has opened */
};

/* The base: a root with the entries that are fixed, and nothing else of the host.
 * Afterwards the calling process sees that root alone. False if something fails. */
bool bz_mount_base(const struct bz_mount_plan *plan, struct bz_mount_failure *failure);

/* Whether a root can be built on a base: not if something is to be read of the host
 * once it is out of sight, or the layers are too many for the interface that needs no
 * place to mount them on. */
bool bz_mount_can_base(const struct bz_mount_plan *plan);

/* What a root on a base takes from the host, and /proc, opened in the process that will
 * build it while it still sees the host. They lie nowhere yet. */
bool bz_mount_fetch(const struct bz_mount_plan *plan, struct bz_mount_failure *failure);

/* All of it, or the rest if it is based. Afterwards the calling process sees the new
 * root alone, and is in "/". */
bool bz_mount_root(const struct bz_mount_plan *plan, struct bz_mount_failure *failure);

#endif
