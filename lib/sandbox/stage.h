/* stage.h - a mount namespace with what the roots of sandboxes have in common.
 *
 * Most entries of a spec are the same from one sandbox to the next: the host's tools,
 * devices, the layers of metadata. They are mounted once, in a namespace that has
 * nothing else and exists as long as its descriptor, without a process in it. A sandbox
 * starts in a copy of it, which the kernel makes in less time than the mounts take, and
 * adds what is its own. What it adds of the host it has opened before, in a second
 * namespace, where the host is still to be seen: so there is no root to change, and
 * nothing of the host to take away.
 *
 * The root lies in memory that all copies share, but is read-only in each: only the
 * next sandbox, before its task runs, writes to it. So there must be no two at a time,
 * and all have the same places in it: a name that one has left would be seen by the
 * next.
 */
#ifndef BZ_SANDBOX_STAGE_H
#define BZ_SANDBOX_STAGE_H

#include "sandbox/mount.h"

struct bz_stage {
    int mnt;  /* the namespace; -1: there is none */
    int host; /* the one that sees the host */
    struct bz_arena arena;
    struct bz_spec_entries entries; /* of the plan it was made for */
};

/* What tells one kind of plan from others, nearly always. */
uint64_t bz_stage_shape(const struct bz_mount_plan *plan);

/* Whether it was made for a plan with the same places, and with the same in those that
 * are fixed. */
bool bz_stage_fits(const struct bz_stage *s, const struct bz_mount_plan *plan);

/* Makes it anew for a user namespace. `stack` is one of spawn.h. */
int bz_stage_make(struct bz_stage *s, const struct bz_mount_plan *plan, int user,
                  void *stack, struct bz_err *err) BZ_MUST_CHECK;

void bz_stage_release(struct bz_stage *s);

#endif
