#include "jobs/task.h"

#include <stdio.h>

#include "base/mem.h"
#include "os/clock.h"
#include "os/futex.h"

#define TRIES 5

void *bz_task_try(bz_task_alloc alloc, size_t n)
{
    atomic_uint nobody = 0;

    for (int i = 0; i < TRIES; i++) {
        void *p = alloc ? alloc(n) : malloc(n);

        if (p)
            return p;
        bz_futex_wait(&nobody, 0, bz_clock_in(BZ_CLOCK_MS << i));
    }
    return NULL;
}

static struct bz_task *fill(struct bz_task *t, bz_task_alloc alloc, struct bz_str text)
{
    char *copy;

    if (!t)
        return NULL;
    copy = (char *)(t + 1);
    *t = (struct bz_task){
        .text = {copy, text.n},
          .alloc = alloc
    };
    if (text.n > 0)
        memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    return t;
}

struct bz_task *bz_task_new_by(bz_task_alloc alloc, struct bz_str text)
{
    return fill(bz_task_try(alloc, sizeof(struct bz_task) + text.n + 1), alloc, text);
}

struct bz_task *bz_task_new_now(bz_task_alloc alloc, struct bz_str text)
{
    size_t n = sizeof(struct bz_task) + text.n + 1;

    return fill(alloc ? alloc(n) : malloc(n), alloc, text);
}

struct bz_task *bz_task_new_short(struct bz_task *old, bz_task_alloc alloc,
                                  struct bz_str text)
{
    size_t n = sizeof(struct bz_task) + BZ_TASK_SHORT + 1;
    struct bz_task *t = fill(old ? old : bz_task_try(alloc, n), alloc, text);

    if (t)
        t->is_short = true;
    return t;
}

void bz_task_free(struct bz_task *t)
{
    free(t);
}

void bz_task_end_args(struct bz_task *t)
{
    char *copy = (char *)(t + 1);

    if (t->request.args.n > 0)
        copy[(size_t)(t->request.args.p - copy) + t->request.args.n] = '\0';
}

static struct bz_result *new_result(bz_task_alloc alloc, uint64_t id, int32_t status,
                                    uint32_t n)
{
    struct bz_result *r = bz_task_try(alloc, sizeof(*r) + n + 1);

    if (!r)
        return NULL;
    r->id = id;
    r->status = status;
    r->final = true;
    r->size = n;
    r->data = NULL;
    r->error[0] = '\0';
    r->next = NULL;
    return r;
}

struct bz_result *bz_task_result(const struct bz_task *t, int32_t status, bool final,
                                 const void *data, uint32_t n)
{
    struct bz_result *r = new_result(t->alloc, t->id, status, n);

    if (!r)
        return NULL;
    r->final = final;
    r->data = (char *)(r + 1);
    if (n > 0)
        memcpy(r->data, data, n);
    r->data[n] = '\0';
    return r;
}

struct bz_result *bz_task_failure(uint64_t id, int32_t status, const char *error)
{
    struct bz_result *r = new_result(NULL, id, status, 0);

    if (!r)
        r = bz_mem_zalloc(sizeof(*r)); /* nothing goes on without it */
    r->id = id;
    r->status = status;
    r->final = true;
    snprintf(r->error, sizeof(r->error), "%s", error);
    return r;
}
