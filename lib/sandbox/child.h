/* child.h - from a copy of us to the first process of a sandbox.
 *
 * Two steps, because a process enters a user namespace that exists (userns.h) only by
 * itself, and only its children enter a new pid namespace:
 *
 *   1. enter: joins the user and network namespace, and starts
 *   2. become: the first process of new pid, ipc, uts, cgroup and mount namespaces, the
 *      latter a copy of the stage if there is one; a child of ours and not of the
 *      first. It builds the root, gives up all powers and becomes the program `init`
 *      (init.c), which runs the task.
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
    struct bz_mount_plan plan;
    struct bz_userns ns;
    int stage;   /* the mount namespace to copy, see stage.h; -1: the host's */
    int host;    /* the one to open in what comes from the host; only with a stage */
    void *stack; /* for the second step */
    int fd[3];   /* become 0, 1 and 2 */
    int status;  /* becomes BZ_CHILD_STATUS */
    int note;    /* becomes BZ_CHILD_NOTE, or BZ_CHILD_BARE_NOTE */
    int rules;   /* if it is bare, of landlock.h: becomes BZ_CHILD_NOTE */
    int init;    /* the program */
    int parent;  /* pidfd of ours */
    bool bare;   /* there are no namespaces */
    const struct sock_fprog *filter;
    const char *const *argv, *const *env;

    /* From the child. */
    pid_t pid;
    struct bz_mount_failure failure;
};

/* Descriptors of init; locks of the spec come after them. */
#define BZ_CHILD_STATUS 3 /* where it writes how the task ended */
#define BZ_CHILD_NOTE                                                                  \
    4                      /* and what address it tried to reach: a sockaddr; if it is \
                              bare: the rules for the task */
#define BZ_CHILD_PROGRAM 5 /* itself */
#define BZ_CHILD_BARE_NOTE 6 /* if it is bare: as BZ_CHILD_NOTE otherwise */
#define BZ_CHILD_LOCKS 7

/* The first step; a bz_spawn_fn. */
int bz_child_enter(void *ctx);

/* The only step of a child that is bare: on the host's root, in its own session, it
 * gives up all powers and becomes `init`, which lets the rules hold for the task. */
int bz_child_bare(void *ctx);

#endif
