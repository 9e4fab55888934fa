#include "jobs/client.h"

#include "base/mem.h"
#include "jobs/service.h"
#include "os/clock.h"
#include "os/futex.h"

/* How often whoever waits for room looks whether that is still wanted. */
#define LOOK (50 * BZ_CLOCK_MS)
#define STARVED 5 /* attempts without memory for a request before it is given up */

static struct bz_client_shard *shard_of(struct bz_client *c, uint64_t id)
{
    return &c->shards[id % BZ_CLIENT_SHARDS];
}

struct bz_client *bz_client_new(struct bz_service *s, unsigned capacity,
                                bz_client_fn deliver, void *ctx)
{
    struct bz_client *c = bz_mem_padded(sizeof(*c));

    c->service = s;
    c->deliver = deliver;
    c->ctx = ctx;
    c->capacity = capacity;
    c->bytes = BZ_CLIENT_BYTES;
    atomic_init(&c->next_id, BZ_CLIENT_IDS);
    bz_service_enter(s);
    return c;
}

bool bz_client_leave(struct bz_client *c)
{
    atomic_store(&c->gone, true);
    bz_client_cancel_all(c);
    return atomic_load(&c->tasks) == 0;
}

void bz_client_free(struct bz_client *c)
{
    if (!c)
        return;
    bz_client_leave(c);
    for (;;) {
        unsigned left = atomic_fetch_or(&c->tasks, BZ_CLIENT_WAITED) | BZ_CLIENT_WAITED;

        if (left == BZ_CLIENT_WAITED)
            break;
        bz_futex_wait(&c->tasks, left, BZ_CLOCK_NEVER);
    }
    for (size_t i = 0; i < BZ_CLIENT_SHARDS; i++) {
        /* Whoever ended the last task may be in here yet. */
        bz_sync_lock(&c->shards[i].mutex);
        bz_sync_unlock(&c->shards[i].mutex);
        bz_map_release(&c->shards[i].tasks);
    }
    bz_service_leave(c->service);
    free(c);
}

/* Whether there is a member of that name, or some text that looks like one. What is
 * rare in it is looked for first. */
static bool mentions_id(struct bz_str text)
{
    static const char member[] = "\"task_id\"";
    const size_t before = 5, n = sizeof(member) - 1;
    const char *end = text.p + text.n;
    const char *p = text.n < n ? NULL : memchr(text.p + before, '_', text.n - before);

    while (p) {
        if ((size_t)(end - p) >= n - before && memcmp(p - before, member, n) == 0)
            return true;
        p = memchr(p + 1, '_', (size_t)(end - p - 1));
    }
    return false;
}

/* Wrong or not, an id that could be read is what the answer goes by. */
static uint64_t id_in(struct bz_str text)
{
    struct bz_request request;
    struct bz_err ignored = {0};

    if (bz_request_parse(text, &request, &ignored) < 0)
        ignored.code = 0;
    return request.id;
}

uint64_t bz_client_id(struct bz_str text)
{
    return mentions_id(text) ? id_in(text) : 0;
}

static uint64_t next_id(struct bz_client *c)
{
    return atomic_fetch_add_explicit(&c->next_id, 1, memory_order_relaxed) + 1;
}

static int enter(struct bz_client *c, struct bz_task *t, struct bz_err *err)
{
    struct bz_client_shard *s = shard_of(c, t->id);
    struct bz_map_entry *e;
    bool taken;

    bz_sync_lock(&s->mutex);
    e = bz_map_put_u64(&s->tasks, t->id);
    taken = e->p;
    if (!taken)
        e->p = t;
    bz_sync_unlock(&s->mutex);
    return taken ? bz_fail(err, BZ_E_EXISTS, "task_id %llu is in use",
                           (unsigned long long)t->id)
                 : 0;
}

static void leave(struct bz_client *c, const struct bz_task *t)
{
    struct bz_client_shard *s = shard_of(c, t->id);

    bz_sync_lock(&s->mutex);
    bz_map_remove_u64(&s->tasks, t->id);
    bz_sync_unlock(&s->mutex);
}

static void end_task(struct bz_client *c)
{
    /* After the count is zero the client may be freed: waking an address that is gone
     * is harmless, touching it is not. */
    atomic_uint *tasks = &c->tasks;

    if (atomic_fetch_sub(tasks, 1) == BZ_CLIENT_WAITED + 1)
        bz_futex_wake(tasks, 1);
}

static void count(atomic_size_t *bytes, size_t n)
{
    if (n >= BZ_CLIENT_SMALL)
        atomic_fetch_add(bytes, n);
}

static void discount(atomic_size_t *bytes, size_t n)
{
    if (n >= BZ_CLIENT_SMALL)
        atomic_fetch_sub(bytes, n);
}

/* The last may be one too much: whoever has little can always ask for something. */
static int admit(struct bz_client *c, struct bz_err *err)
{
    size_t bytes = atomic_load(&c->asked) + atomic_load(&c->untaken);
    unsigned tasks = atomic_load(&c->tasks) & ~BZ_CLIENT_WAITED;

    if (bytes > c->bytes)
        return bz_fail(err, BZ_E_BUSY,
                       "requests and results of %zu bytes wait to be done or taken",
                       bytes);
    if (tasks / 2 >= c->capacity) /* of which many were answered before their turn */
        return bz_fail(err, BZ_E_BUSY, "%u tasks wait to be run", tasks);
    if (atomic_fetch_add(&c->open, 1) < c->capacity)
        return 0;
    atomic_fetch_sub(&c->open, 1);
    return bz_fail(err, BZ_E_BUSY, "%u results wait to be taken", c->capacity);
}

/* *out is NULL if there is no memory for it, nor will there be. */
static int make_task(struct bz_client *c, struct bz_str text, struct bz_task **out,
                     struct bz_err *err)
{
    bz_task_alloc alloc = bz_service_alloc(c->service);

    if (!c->in_order) {
        *out = bz_task_new_by(alloc, text);
        return 0;
    }
    *out = bz_task_new_now(alloc, text);
    c->starved = *out ? 0 : c->starved + 1;
    if (c->starved > 0 && c->starved < STARVED)
        return bz_fail(err, BZ_E_BUSY, "no memory for the request at present");
    c->starved = 0;
    return 0;
}

int bz_client_submit(struct bz_client *c, struct bz_str text,
                     const struct bz_client_extra *extra, uint64_t *id,
                     struct bz_err *err)
{
    uint64_t named;
    struct bz_task *t;
    int rc = admit(c, err);

    if (rc < 0)
        return rc;
    rc = make_task(c, text, &t, err);
    if (rc < 0) {
        atomic_fetch_sub(&c->open, 1);
        return rc;
    }
    if (!t) { /* a task that only says so */
        t = bz_mem_zalloc(sizeof(*t) + 1);
        t->status = BZ_TASK_NO_MEMORY;
    }
    t->client = c;
    named = extra && extra->id ? extra->id : bz_client_id(text);
    t->id = named ? named : next_id(c);
    if (extra) {
        t->callback = extra->callback;
        t->callback_ctx = extra->ctx;
    }
    bz_cancel_init(&t->cancel, NULL, BZ_CLOCK_NEVER);
    count(&c->asked, t->text.n);
    t->since = bz_clock_now();
    *id = t->id; /* from here on the task may be done, and gone, at any time */
    atomic_fetch_add(&c->tasks, 1);
    while ((rc = enter(c, t, err)) == BZ_E_EXISTS && !named)
        *id = t->id = next_id(c); /* the client has named that one itself */
    if (rc == 0) {
        rc = bz_service_post(c->service, t, err);
        if (rc < 0)
            leave(c, t);
    }
    if (rc < 0) {
        discount(&c->asked, t->text.n);
        bz_task_free(t);
        atomic_fetch_sub(&c->open, 1);
        end_task(c);
    }
    return rc;
}

void bz_client_cancel_all(struct bz_client *c)
{
    for (size_t i = 0; i < BZ_CLIENT_SHARDS; i++) {
        struct bz_client_shard *s = &c->shards[i];
        struct bz_map_entry *e;

        bz_sync_lock(&s->mutex);
        for (e = bz_map_next(&s->tasks, NULL); e; e = bz_map_next(&s->tasks, e))
            bz_cancel_now(&((struct bz_task *)e->p)->cancel);
        bz_sync_unlock(&s->mutex);
    }
}

static void make_room(struct bz_client *c, bool final, size_t untaken)
{
    discount(&c->untaken, untaken);
    if (final)
        atomic_fetch_sub(&c->open, 1);
    else
        atomic_fetch_sub(&c->parts, 1);
    if (final && untaken < BZ_CLIENT_SMALL)
        return; /* nobody waits for that */
    atomic_fetch_add(&c->taken, 1);
    bz_futex_wake(&c->taken, 1);
}

void bz_client_taken(struct bz_client *c, const struct bz_result *result)
{
    make_room(c, result->final, result->size);
}

static void hand_over(struct bz_client *c, const struct bz_task *t, struct bz_result *r)
{
    bool final = r->final;

    if (t && t->callback) { /* whatever it has to clean up, it is told */
        t->callback(r, t->callback_ctx);
        make_room(c, final, 0);
    } else if (atomic_load_explicit(&c->gone, memory_order_relaxed)) {
        free(r);
        make_room(c, final, 0);
    } else {
        count(&c->untaken, r->size);
        c->deliver(c->ctx, r);
    }
}

/* Somebody else will run it, find that it was answered, and free it, maybe now. A
 * callback is for threads of the pool: whoever cancels may hold what that wants. */
bool bz_client_cancel(struct bz_client *c, uint64_t id)
{
    struct bz_client_shard *s = shard_of(c, id);
    int waiting = BZ_TASK_WAITING;
    bool answer = false;
    struct bz_map_entry *e;

    bz_sync_lock(&s->mutex);
    e = bz_map_get_u64(&s->tasks, id);
    if (e) {
        struct bz_task *t = e->p;

        bz_cancel_now(&t->cancel);
        answer = !t->callback &&
                 atomic_compare_exchange_strong(&t->said, &waiting, BZ_TASK_ANSWERED);
    }
    if (answer) {
        bz_map_remove_u64(&s->tasks, id);
        atomic_fetch_add(&c->tasks, 1); /* so that the client stays */
    }
    bz_sync_unlock(&s->mutex);
    if (answer) {
        hand_over(c, NULL, bz_task_failure(id, BZ_TASK_CANCELED, "canceled"));
        end_task(c);
    }
    return e;
}

/* Whether the client may be told something, which is then to be done. Once somebody
 * has begun with a task that is not watched there is nobody else. */
static bool claim(struct bz_task *t, enum bz_task_said what)
{
    int said = atomic_load(&t->said);

    if (!t->watched)
        return said != BZ_TASK_ANSWERED;
    while (said == BZ_TASK_WAITING || said == BZ_TASK_OPEN)
        if (atomic_compare_exchange_weak(&t->said, &said, (int)what))
            return true;
    return false;
}

int bz_client_emit(struct bz_task *t, struct bz_result *part, int64_t deadline)
{
    struct bz_client *c = t->client;

    for (;;) {
        unsigned seen = atomic_load(&c->taken);
        int rc = bz_cancel_check(&t->cancel);
        int64_t look = bz_clock_in(LOOK);

        if (rc < 0 || atomic_load(&c->gone)) {
            free(part);
            return rc == BZ_E_TIMEOUT ? BZ_TASK_TIMEOUT : BZ_TASK_CANCELED;
        }
        if (atomic_load(&c->untaken) <= c->bytes) {
            if (atomic_fetch_add(&c->parts, 1) < c->capacity)
                break;
            atomic_fetch_sub(&c->parts, 1);
        }
        if (deadline != BZ_CLOCK_NEVER && deadline <= bz_clock_now()) {
            free(part);
            return 1;
        }
        bz_futex_wait(&c->taken, seen,
                      deadline != BZ_CLOCK_NEVER && deadline < look ? deadline : look);
    }
    if (!claim(t, BZ_TASK_EMITTING)) {
        atomic_fetch_sub(&c->parts, 1);
        free(part);
        return BZ_TASK_TIMEOUT;
    }
    hand_over(c, t, part);
    if (t->watched)
        atomic_store(&t->said, BZ_TASK_OPEN);
    return 0;
}

void bz_client_await_room(struct bz_task *t)
{
    struct bz_client *c = t->client;

    while (c->in_order && !t->callback && !atomic_load(&c->gone)) {
        unsigned seen = atomic_load(&c->taken);

        if (atomic_load(&c->untaken) <= c->bytes || bz_cancel_check(&t->cancel) < 0)
            return;
        bz_futex_wait(&c->taken, seen, bz_clock_in(LOOK));
    }
}

/* The id is free before the result is there: whoever has it may use it again. */
static void answer(struct bz_task *t, struct bz_result *result)
{
    leave(t->client, t);
    hand_over(t->client, t, result);
}

void bz_client_drop(struct bz_task *t)
{
    struct bz_client *c = t->client;

    if (t->watched && atomic_fetch_sub(&t->refs, 1) > 1)
        return;
    discount(&c->asked, t->text.n);
    bz_task_free(t);
    end_task(c);
}

void bz_client_finish(struct bz_task *t, struct bz_result *result)
{
    if (claim(t, BZ_TASK_ANSWERED))
        answer(t, result);
    else
        free(result);
    bz_client_drop(t);
}

bool bz_client_expire(struct bz_task *t)
{
    if (claim(t, BZ_TASK_ANSWERED))
        answer(t,
               bz_task_failure(t->id, BZ_TASK_TIMEOUT, "it took longer than it may"));
    return atomic_load(&t->said) == BZ_TASK_ANSWERED;
}
