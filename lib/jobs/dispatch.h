/* dispatch.h - which handler an opcode means.
 *
 * A program offers handlers by name; a config file gives numbers to them. Requests may
 * use either. A name may have "handler_" before it, as the function has in many
 * programs. A table does not change once the service runs.
 */
#ifndef BZ_JOBS_DISPATCH_H
#define BZ_JOBS_DISPATCH_H

#include "base/map.h"
#include "base/vec.h"
#include "jobs/task.h"

struct bz_call;

/* Does what a task asks for, and replies (call.h). Returns 0, or an enum
 * bz_task_status; a message goes by bz_call_fail(). */
typedef int (*bz_handler_fn)(struct bz_call *call, void *ctx);

struct bz_handler {
    const char *name;
    bz_handler_fn run;
    void *ctx;
    bool blocks;  /* it waits for something: not for threads that compute */
    bool isolate; /* to be run in a process of its own */
};

struct bz_dispatch_row {
    const struct bz_handler *handler;
};

struct bz_dispatch_copy {
    struct bz_handler *handler;
};

struct bz_dispatch {
    const struct bz_handler *by_number[BZ_REQUEST_OPCODES];
    struct bz_dispatch_copies BZ_VEC(struct bz_dispatch_copy) copies; /* for numbers */
    struct bz_dispatch_rows BZ_VEC(struct bz_dispatch_row) offered;
    struct bz_map by_name; /* name -> place in it, from 1 */
};

struct bz_dispatch *bz_dispatch_new(void);
void bz_dispatch_free(struct bz_dispatch *d); /* NULL is fine */

/* The handler must outlive the table. BZ_E_EXISTS if its name is taken. */
int bz_dispatch_offer(struct bz_dispatch *d, const struct bz_handler *h,
                      struct bz_err *err) BZ_MUST_CHECK;

/* BZ_E_NOENT if no such handler is offered, BZ_E_EXISTS if the number is taken. */
int bz_dispatch_bind(struct bz_dispatch *d, uint32_t opcode, struct bz_str name,
                     struct bz_err *err) BZ_MUST_CHECK;

/* By that number, which is bound, the handler runs in a process of its own, or does
 * not; by its name and other numbers it runs as before. */
void bz_dispatch_isolate(struct bz_dispatch *d, uint32_t opcode, bool isolate);

/* Which of two rows of a table: b if a is 1, c if it is 0, without a branch. */
static inline unsigned bz_dispatch_select(unsigned a, unsigned b, unsigned c)
{
    return a * b + (1 - a) * c;
}

/* NULL if there is none. */
const struct bz_handler *bz_dispatch_find(const struct bz_dispatch *d,
                                          const struct bz_request *r);

#endif
