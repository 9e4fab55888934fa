/* isolate.h - a handler in a process of its own, which may crash as it likes.
 *
 * The child is a copy of this process with one thread. It sees symbols as they were; it
 * cannot write to them.
 */
#ifndef BZ_JOBS_ISOLATE_H
#define BZ_JOBS_ISOLATE_H

struct bz_call;
struct bz_result;

/* Runs the handler of the call to its end there. What it emits and replies goes to the
 * client, here. Returns its status; kills it when the task is canceled or its time is
 * up. */
int bz_isolate_run(struct bz_call *c);

/* In the child: sends a result to the parent. 0, or BZ_TASK_CANCELED. */
int bz_isolate_send(int fd, const struct bz_result *r);

#endif
