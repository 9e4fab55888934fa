/* child.h - from a copy of us to the first process of a sandbox.
 *
 * Two steps, because a process enters a user namespace that exists (userns.h) only by
 * itself, and only its children enter a new pid namespace:
 *
 *   1. enter: joins the user and network namespace, and starts
 *   2. become: the first process of new mount, pid, ipc, uts and cgroup namespaces, a
 *      child of ours and not of the first. It builds the root, gives up all powers and
 *      becomes the program `init` (init.c), which runs the task.
 *
 * Both run in our memory (spawn.h), and say there how it went.
 */
#ifndef BZ_SANDBOX_CHILD_H
#define BZ_SANDBOX_CHILD_H

#include "sandbox/filter.h"
#include "sandbox/mount.h"
#include "sandbox/userns.h"

struct bz_child {
    /* For the child; spawn.h's rules forbid it to work anything out. */
    const struct bz_spec *spec;
    const char *anchor;
    const char *layers; /* options of the overlay */
    struct bz_userns ns;
    void *stack; /* for the second step */
    int fd[3];   /* become 0, 1 and 2 */
    int status;  /* becomes BZ_CHILD_STATUS */
    int init;    /* the program */
    int parent;  /* pidfd of ours */
    const struct sock_fprog *filter;
    const char *const *argv, *const *env;

    /* From the child. */
    pid_t pid;
    struct bz_mount_failure failure;
};

#define BZ_CHILD_STATUS 3 /* where init writes how the task ended */

/* The first step; a bz_spawn_fn. */
int bz_child_enter(void *ctx);

#endif
