/* spawn.h - a process that runs one of our functions in our memory until it execs.
 *
 * A plain fork copies page tables, which takes tens of milliseconds once we are large.
 * Here the child borrows our memory, on a stack of its own, and the calling thread
 * waits until the child has replaced itself by a program or has ended. What the child
 * writes to memory we therefore see. The function must be BZ_SPAWN_CHILD and may call
 * nothing but syscall(2) and other such functions: no allocation, no locks, none of
 * the C library that keeps state.
 *
 * All signals are blocked in the child. Any thread may call it.
 */
#ifndef BZ_SANDBOX_SPAWN_H
#define BZ_SANDBOX_SPAWN_H

#include <sys/types.h>

#include "base/err.h"

/* The sanitizers' view of stacks and threads does not hold in such a child. */
#define BZ_SPAWN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

#define BZ_SPAWN_STACK ((size_t)64 << 10)

typedef int (*bz_spawn_fn)(void *ctx); /* its value is the child's exit status */

/* A stack with a page below it that cannot be touched. */
int bz_spawn_stack_new(void **out, struct bz_err *err) BZ_MUST_CHECK;
void bz_spawn_stack_free(void *stack); /* NULL is fine */

/* `flags` are those of clone(2) for namespaces, and CLONE_FILES, CLONE_PARENT. Returns
 * the child's number, or -1 and errno. May be called by such a child itself. */
pid_t bz_spawn_run(void *stack, int flags, bz_spawn_fn fn, void *ctx);

/* The same, from a process of ours, with all signals blocked meanwhile; fills *err. */
int bz_spawn_start(void *stack, int flags, bz_spawn_fn fn, void *ctx, pid_t *pid,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
