#include "jobs/client.h"

#include <limits.h>
#include <sched.h>

#include "base/mem.h"
#include "jobs/service.h"
#include "os/clock.h"
#include "os/futex.h"

/* How often whoever waits for room looks whether that is still wanted. */
#define LOOK (50 * BZ_CLOCK_MS)
#define SLOTS_MORE 64 /* than it may have: those who hand in may be several */
#define STARVED 5     /* attempts without memory for a request before it is given up */

static struct bz_client_shard *shard_of(struct bz_client *c, uint64_t id)
{
    return &c->shards[id % BZ_CLIENT_SHARDS];
}

/* There is a slot for each task, also for those that wait only to be let go of. */
static size_t slots_for(unsigned capacity)
{
    return 2 * (size_t)capacity + SLOTS_MORE;
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
    bz_slots_init(&c->slots, slots_for(capacity));
    bz_service_enter(s);
    return c;
}

/* Less than have ended by now, maybe, but never more. */
static uint64_t sum_closed(const struct bz_client *c)
{
    uint64_t n = 0;

    for (size_t i = 0; i < BZ_CLIENT_COUNTS; i++)
        n += atomic_load(&c->counts[i].closed);
    return n;
}

static uint64_t sum_ended(const struct bz_client *c)
{
    uint64_t n = 0;

    for (size_t i = 0; i < BZ_CLIENT_COUNTS; i++)
        n += atomic_load(&c->counts[i].ended) & ~BZ_CLIENT_WAITED;
    return n;
}

static unsigned difference(uint64_t more, uint64_t less)
{
    return more > less ? (unsigned)(more - less) : 0;
}

/* What began before is counted, what ended since may not be: first the end. */
unsigned bz_client_open(const struct bz_client *c)
{
    uint64_t closed = sum_closed(c);

    return difference(atomic_load(&c->opened), closed);
}

unsigned bz_client_tasks(const struct bz_client *c)
{
    uint64_t ended = sum_ended(c);

    return difference(atomic_load(&c->begun), ended);
}

/* Where this thread counts: those of other processors are elsewhere, mostly. */
static struct bz_client_count *count_here(struct bz_client *c)
{
    int cpu = sched_getcpu();

    return &c->counts[cpu > 0 ? cpu % BZ_CLIENT_COUNTS : 0];
}

static void cancel_one(struct bz_task *t, void *ctx)
{
    (void)ctx;
    bz_cancel_now(&t->cancel);
}

bool bz_client_leave(struct bz_client *c)
{
    atomic_store(&c->gone, true);
    bz_slots_cancel_all(&c->slots, cancel_one, NULL);
    return bz_client_tasks(c) == 0;
}

void bz_client_free(struct bz_client *c)
{
    if (!c)
        return;
    bz_client_leave(c);
    for (size_t i = 0; i < BZ_CLIENT_COUNTS; i++)
        atomic_fetch_or(&c->counts[i].ended, BZ_CLIENT_WAITED);
    for (;;) {
        atomic_uint *ended = bz_service_ended(c->service);
        unsigned seen = atomic_load(ended);

        if (bz_client_tasks(c) == 0)
            break;
        bz_futex_wait(ended, seen, BZ_CLOCK_NEVER);
    }
    bz_slots_release(&c->slots);
    for (size_t i = 0; i < BZ_CLIENT_SHARDS; i++)
        bz_map_release(&c->shards[i].tickets);
    bz_service_leave(c->service);
    free(c);
}

/* What a text seems to have, by names of members, or what looks like them. */
struct mentions {
    bool id, timeout;
};

/* What is rare in the names is looked for first. */
static bool is_around(struct bz_str text, const char *p, const char *name,
                      size_t before)
{
    size_t n = strlen(name);

    return (size_t)(p - text.p) >= before &&
           (size_t)(text.p + text.n - p) >= n - before &&
           memcmp(p - before, name, n) == 0;
}

static struct mentions look_for_members(struct bz_str text)
{
    const char *p = text.n > 0 ? memchr(text.p, '_', text.n) : NULL;
    const char *end = text.p + text.n;
    struct mentions m = {0};

    for (; p; p = memchr(p + 1, '_', (size_t)(end - p - 1))) {
        m.id |= is_around(text, p, "\"task_id\"", 5);
        m.timeout |= is_around(text, p, "\"timeout_ms\"", 8);
    }
    return m;
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
    return look_for_members(text).id ? id_in(text) : 0;
}

/* An id that the client has chosen. */
static int enter_name(struct bz_client *c, uint64_t id, uint64_t ticket,
                      struct bz_err *err)
{
    struct bz_client_shard *s = shard_of(c, id);
    struct bz_map_entry *e;
    bool taken;

    bz_sync_lock(&s->mutex);
    e = bz_map_put_u64(&s->tickets, id);
    taken = e->u;
    if (!taken)
        e->u = ticket;
    bz_sync_unlock(&s->mutex);
    if (taken)
        return bz_fail(err, BZ_E_EXISTS, "task_id %llu is in use",
                       (unsigned long long)id);
    atomic_fetch_add(&c->named, 1);
    return 0;
}

static uint64_t ticket_of_name(struct bz_client *c, uint64_t id)
{
    struct bz_client_shard *s = shard_of(c, id);
    const struct bz_map_entry *e;
    uint64_t ticket;

    bz_sync_lock(&s->mutex);
    e = bz_map_get_u64(&s->tickets, id);
    ticket = e ? e->u : 0;
    bz_sync_unlock(&s->mutex);
    return ticket;
}

/* Its task has had its last result; there may be another of that name since. */
static void leave_name(struct bz_client *c, uint64_t id, uint64_t ticket)
{
    struct bz_client_shard *s = shard_of(c, id);
    const struct bz_map_entry *e;

    bz_sync_lock(&s->mutex);
    e = bz_map_get_u64(&s->tickets, id);
    if (e && e->u == ticket)
        bz_map_remove_u64(&s->tickets, id);
    bz_sync_unlock(&s->mutex);
    atomic_fetch_sub(&c->named, 1);
    if (id > BZ_CLIENT_IDS)
        atomic_fetch_sub(&c->odd, 1);
}

static void see_if_open(struct bz_task *t, void *ctx)
{
    bool *open = ctx;

    *open = atomic_load(&t->said) != BZ_TASK_ANSWERED;
}

/* An id that could be one of ours, chosen by the client: whoever comes second, that or
 * the task to which the service gives it, sees the other. */
static int enter_odd_name(struct bz_client *c, uint64_t id, uint64_t ticket,
                          struct bz_err *err)
{
    enum bz_slots_found found;
    bool open = false;
    int rc;

    atomic_fetch_add(&c->odd, 1);
    rc = enter_name(c, id, ticket, err);
    if (rc < 0) {
        atomic_fetch_sub(&c->odd, 1);
        return rc;
    }
    found = bz_slots_find(&c->slots, id - BZ_CLIENT_IDS, false, see_if_open, &open);
    if (found == BZ_SLOTS_NOTHING || (found == BZ_SLOTS_TASK && !open))
        return 0;
    leave_name(c, id, ticket);
    return bz_fail(err, BZ_E_EXISTS, "task_id %llu is in use", (unsigned long long)id);
}

/* A slot and an id for a task. */
static int enter(struct bz_client *c, unsigned flags, struct bz_mail *mail,
                 struct bz_err *err)
{
    uint64_t named = mail->id;
    int rc = 0;

    mail->named = named > 0;
    do {
        if (!bz_slots_enter(&c->slots, flags | (named ? BZ_SLOTS_NAMED : 0),
                            &mail->ticket))
            return bz_fail(err, BZ_E_BUSY, "there are too many tasks");
        if (named)
            rc = named > BZ_CLIENT_IDS ? enter_odd_name(c, named, mail->ticket, err)
                                       : enter_name(c, named, mail->ticket, err);
        else
            mail->id = BZ_CLIENT_IDS + mail->ticket;
        if (rc == 0 &&
            (named || atomic_load(&c->odd) == 0 || ticket_of_name(c, mail->id) == 0))
            return 0;
        /* Whoever cancels it cannot know the id. */
        (void)bz_slots_abandon(&c->slots, mail->ticket);
    } while (rc == 0); /* the client has named that one itself */
    return rc;
}

static void end_task(struct bz_client *c)
{
    /* After the last was counted the client may be freed, but not the service. */
    struct bz_service *s = c->service;

    if (atomic_fetch_add(&count_here(c)->ended, 1) & BZ_CLIENT_WAITED) {
        atomic_uint *ended = bz_service_ended(s);

        atomic_fetch_add(ended, 1);
        bz_futex_wake(ended, INT_MAX);
    }
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

/* How many there are, if that may be as many as the limit: otherwise less than that. */
static unsigned look_up(uint64_t begun, atomic_ullong *known, uint64_t limit,
                        uint64_t (*sum)(const struct bz_client *c),
                        const struct bz_client *c)
{
    uint64_t ended = atomic_load_explicit(known, memory_order_relaxed);

    if (begun - ended >= limit) {
        ended = sum(c);
        atomic_store_explicit(known, ended, memory_order_relaxed);
    }
    return difference(begun, ended);
}

/* The last may be one too much: whoever has little can always ask for something. */
static int admit(struct bz_client *c, struct bz_err *err)
{
    size_t bytes = atomic_load_explicit(&c->asked, memory_order_relaxed) +
                   atomic_load_explicit(&c->untaken, memory_order_relaxed);
    uint64_t most = c->capacity;
    unsigned tasks = look_up(atomic_load_explicit(&c->begun, memory_order_relaxed),
                             &c->known_ended, 2 * most, sum_ended, c);

    if (bytes > c->bytes)
        return bz_fail(err, BZ_E_BUSY,
                       "requests and results of %zu bytes wait to be done or taken",
                       bytes);
    if (tasks >= 2 * most) /* of which many were answered before their turn */
        return bz_fail(err, BZ_E_BUSY, "%u tasks wait to be run", tasks);
    if (look_up(atomic_fetch_add(&c->opened, 1), &c->known_closed, most, sum_closed,
                c) < most)
        return 0;
    atomic_fetch_sub(&c->opened, 1);
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

/* What is too long for a mailbox is a task already. */
static int make_long(struct bz_client *c, struct bz_str text, struct bz_mail *mail,
                     struct bz_err *err)
{
    int rc = make_task(c, text, &mail->task, err);

    if (rc == 0 && !mail->task) { /* a task that only says so */
        mail->task = bz_mem_zalloc(sizeof(*mail->task) + 1);
        mail->task->status = BZ_TASK_NO_MEMORY;
    }
    if (rc == 0)
        count(&c->asked, mail->task->text.n);
    return rc;
}

static void drop_long(struct bz_client *c, struct bz_task *t)
{
    if (!t)
        return;
    discount(&c->asked, t->text.n);
    bz_task_free(t);
}

/* From here on the task may be done, and gone, at any time. */
static int post(struct bz_client *c, struct bz_mail *mail, struct bz_str text,
                struct bz_err *err)
{
    int rc;

    atomic_fetch_add_explicit(&c->begun, 1, memory_order_relaxed);
    rc = bz_service_post(c->service, mail, mail->task ? BZ_STR("") : text, err);
    if (rc == 0)
        return 0;
    if (!bz_slots_abandon(&c->slots, mail->ticket))
        rc = 0; /* it was canceled before it was there, and that was said */
    else if (mail->named)
        leave_name(c, mail->id, mail->ticket);
    if (rc == 0)
        drop_long(c, mail->task);
    end_task(c);
    return rc;
}

int bz_client_submit(struct bz_client *c, struct bz_str text,
                     const struct bz_client_extra *extra, uint64_t *id,
                     struct bz_err *err)
{
    bool is_long = text.n > BZ_MAILBOX_TEXT;
    struct bz_mail mail = {.client = c};
    struct mentions m = {true, true};
    int rc = admit(c, err);

    if (rc < 0)
        return rc;
    if (is_long)
        rc = make_long(c, text, &mail, err);
    else
        m = look_for_members(text);
    if (rc == 0) {
        mail.id = extra && extra->id ? extra->id : m.id ? id_in(text) : 0;
        if (extra) {
            mail.callback = extra->callback;
            mail.callback_ctx = extra->ctx;
        }
        if (m.timeout || bz_service_timeout(c->service) > 0)
            mail.since = bz_clock_now();
        rc = enter(c, mail.callback ? BZ_SLOTS_CALLBACK : 0, &mail, err);
    }
    if (rc == 0) {
        *id = mail.id;
        rc = post(c, &mail, text, err);
    }
    if (rc < 0) {
        drop_long(c, mail.task);
        atomic_fetch_sub(&c->opened, 1);
    }
    return rc;
}

static struct bz_task *take_kept(struct bz_client_kept *kept)
{
    struct bz_task *t = kept->first;

    if (t) {
        kept->first = t->next;
        kept->n--;
    }
    return t;
}

static void keep(struct bz_client_kept *kept, struct bz_task *t)
{
    if (!t->is_short || kept->n >= BZ_CLIENT_KEPT) {
        bz_task_free(t);
        return;
    }
    t->next = kept->first;
    kept->first = t;
    kept->n++;
}

void bz_client_release(struct bz_client_kept *kept)
{
    while (kept->first)
        bz_task_free(take_kept(kept));
}

struct bz_task *bz_client_read(const struct bz_mail *mail, struct bz_str text,
                               struct bz_client_kept *kept)
{
    struct bz_client *c = mail->client;
    struct bz_task *t = mail->task;
    enum bz_slots_mail wanted;

    if (!t)
        t = bz_task_new_short(take_kept(kept), bz_service_alloc(c->service), text);
    if (!t) {
        t = bz_mem_zalloc(sizeof(*t) + 1);
        t->status = BZ_TASK_NO_MEMORY;
    }
    t->client = c;
    t->id = mail->id;
    t->ticket = mail->ticket;
    t->named = mail->named;
    t->callback = mail->callback;
    t->callback_ctx = mail->callback_ctx;
    t->since = mail->since;
    bz_cancel_init(&t->cancel, NULL, BZ_CLOCK_NEVER);
    wanted = bz_slots_read(&c->slots, t->ticket, t);
    if (wanted == BZ_SLOTS_CANCELED)
        bz_cancel_now(&t->cancel);
    if (wanted != BZ_SLOTS_GIVEN_UP)
        return t;
    t->ticket = 0;
    bz_client_drop(t);
    return NULL;
}

static void make_room(struct bz_client *c, bool final, size_t untaken)
{
    discount(&c->untaken, untaken);
    if (final)
        atomic_fetch_add(&count_here(c)->closed, 1);
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

/* One that is canceled. Somebody else will run it, find that it was answered, and free
 * it, maybe now. */
struct canceled {
    struct bz_task *messenger; /* who takes its place if it has a callback; or NULL */
    bool answer;               /* nobody has begun with it, nor will */
    bool open;
};

static void cancel_task(struct bz_task *t, void *ctx)
{
    struct canceled *x = ctx;
    int waiting = BZ_TASK_WAITING;

    x->open = atomic_load(&t->said) != BZ_TASK_ANSWERED;
    if (!x->open)
        return;
    bz_cancel_now(&t->cancel);
    if (t->callback && !x->messenger)
        return;
    x->answer = atomic_compare_exchange_strong(&t->said, &waiting, BZ_TASK_ANSWERED);
    if (x->answer && t->callback) {
        x->messenger->callback = t->callback;
        x->messenger->callback_ctx = t->callback_ctx;
    }
}

/* A callback is for threads of the pool: whoever cancels may hold what that wants. */
static void send_messenger(struct bz_client *c, struct bz_task *t, uint64_t id)
{
    t->client = c;
    t->id = id;
    atomic_init(&t->said, BZ_TASK_OPEN);
    bz_cancel_init(&t->cancel, NULL, BZ_CLOCK_NEVER);
    t->refusal = bz_task_failure(id, BZ_TASK_CANCELED, "canceled");
    bz_service_hurry(c->service, t);
}

static bool cancel_ticket(struct bz_client *c, uint64_t id, uint64_t ticket, bool named)
{
    struct canceled x = {.messenger = bz_task_new_now(NULL, BZ_STR(""))};
    enum bz_slots_found found;

    atomic_fetch_add(&c->begun, 1); /* so that the client stays */
    found = bz_slots_cancel(&c->slots, ticket, named, cancel_task, &x);
    if (named && (found == BZ_SLOTS_MAIL || x.answer))
        leave_name(c, id, ticket);
    if (found == BZ_SLOTS_MARKED) /* what is read is answered */
        bz_service_hurry(c->service, NULL);
    if (x.answer && x.messenger && x.messenger->callback) {
        send_messenger(c, x.messenger, id); /* which ends the task that was begun */
        return true;
    }
    bz_task_free(x.messenger);
    if (found == BZ_SLOTS_MAIL || x.answer)
        hand_over(c, NULL, bz_task_failure(id, BZ_TASK_CANCELED, "canceled"));
    end_task(c);
    return found == BZ_SLOTS_TASK ? x.open : found != BZ_SLOTS_NOTHING;
}

bool bz_client_cancel(struct bz_client *c, uint64_t id)
{
    uint64_t ticket = atomic_load(&c->named) > 0 ? ticket_of_name(c, id) : 0;

    if (ticket > 0)
        return cancel_ticket(c, id, ticket, true);
    return id > BZ_CLIENT_IDS && cancel_ticket(c, id, id - BZ_CLIENT_IDS, false);
}

/* Whether the client may be told something, which is then to be done. Once somebody
 * has begun with a task that is not watched there is nobody else. */
static bool claim(struct bz_task *t, enum bz_task_said what)
{
    int said = atomic_load(&t->said);

    if (!t->watched) {
        /* release: whoever has the result finds no such task any more */
        if (said != BZ_TASK_ANSWERED && what == BZ_TASK_ANSWERED)
            atomic_store_explicit(&t->said, BZ_TASK_ANSWERED, memory_order_release);
        return said != BZ_TASK_ANSWERED;
    }
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
    if (t->named)
        leave_name(t->client, t->id, t->ticket);
    hand_over(t->client, t, result);
}

/* Its memory is kept if somebody has use for it. */
static void let_go(struct bz_task *t, struct bz_client_kept *kept)
{
    struct bz_client *c = t->client;

    if (t->watched && atomic_fetch_sub(&t->refs, 1) > 1)
        return;
    if (t->ticket > 0)
        bz_slots_leave(&c->slots, t->ticket);
    discount(&c->asked, t->text.n);
    if (kept)
        keep(kept, t);
    else
        bz_task_free(t);
    end_task(c);
}

void bz_client_drop(struct bz_task *t)
{
    let_go(t, NULL);
}

void bz_client_finish(struct bz_task *t, struct bz_result *result,
                      struct bz_client_kept *kept)
{
    if (claim(t, BZ_TASK_ANSWERED))
        answer(t, result);
    else
        free(result);
    let_go(t, kept);
}

bool bz_client_expire(struct bz_task *t)
{
    if (claim(t, BZ_TASK_ANSWERED))
        answer(t,
               bz_task_failure(t->id, BZ_TASK_TIMEOUT, "it took longer than it may"));
    return atomic_load(&t->said) == BZ_TASK_ANSWERED;
}
