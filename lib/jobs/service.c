#include "jobs/service.h"

#include "base/mem.h"
#include "jobs/call.h"
#include "jobs/gang.h"
#include "jobs/guard.h"
#include "jobs/mailbox.h"
#include "jobs/tasklist.h"
#include "os/clock.h"
#include "os/cpu.h"

/* When to look again at a task that was just sending something. */
#define PART_ON_ITS_WAY (5 * BZ_CLOCK_MS)

/* Of so many tasks one is of normal priority, if there is one. */
#define TURN 8
/* One client among several has so many tasks on the list, for each thread. */
#define TURNS 8

enum { TASKS = 256, TASKS_MAX = 1 << 20, MAIL = 1024, IO_THREADS = 16 };

/* Workers and what they take from. */
struct crowd {
    struct bz_tasklist lists[BZ_REQUEST_PRIORITIES];
    struct bz_gang gang;
    atomic_uint hurried; /* of high priority that were run in a row */
    /* Tasks that there was no room for on a list. */
    struct bz_sync_mutex mutex;
    struct bz_task *first, *last; /* mutex */
    atomic_size_t beyond;         /* so many; changes with the mutex held */
};

struct bz_service {
    struct bz_service_opts o;
    struct bz_pool *pool;
    struct bz_mailboxes boxes;
    struct crowd compute, io;
    unsigned share; /* of the io threads, for one client */
    unsigned turns; /* of tasks on the list of those who compute, for one of several */
    atomic_uint clients;
    struct bz_watchdog watchdog;
    struct bz_symbols none; /* for who has none */
    atomic_bool stopped;
    BZ_PADDED atomic_ullong done;
};

/* Onto the list of its kind, behind those that there was no room for. */
static void enlist(struct crowd *c, struct bz_task *t)
{
    if (atomic_load(&c->beyond) == 0 &&
        bz_tasklist_push(&c->lists[t->request.priority], t))
        return;
    t->next = NULL;
    bz_sync_lock(&c->mutex);
    if (c->first)
        c->last->next = t;
    else
        c->first = t;
    c->last = t;
    atomic_fetch_add(&c->beyond, 1);
    bz_sync_unlock(&c->mutex);
}

/* The client may have more run now. What is to be done at once, as there is no room on
 * the list, comes back. */
static struct bz_task *give_turn(struct crowd *c, struct bz_share *share)
{
    struct bz_task *t = bz_share_leave(share);

    if (!t || !bz_tasklist_push(&c->lists[t->request.priority], t))
        return t;
    bz_gang_more(&c->gang);
    return NULL;
}

/* After the handler, if it was run: nobody has to watch it any more. */
static void unwatch(struct bz_service *s, struct crowd *c, struct bz_task *t)
{
    if (atomic_exchange(&t->hang, BZ_TASK_ENDED) == BZ_TASK_REPLACED)
        bz_gang_retire(&c->gang);
    if (bz_watchdog_remove(&s->watchdog, &t->watch))
        atomic_fetch_sub(&t->refs, 1); /* not the last: that is ours */
}

/* Runs it, and returns one that has to be run in its place. */
static struct bz_task *run_one(struct bz_service *s, struct crowd *c, struct bz_task *t)
{
    struct bz_result *result = NULL;
    struct bz_task *next = NULL;
    bool wanted = bz_client_begin(t);

    if (t->watched) {
        t->crowd = c;
        atomic_store(&t->running, true);
    }
    if (t->refusal)
        result = t->refusal;
    else if (wanted)
        result = bz_call_run(t, s->o.symbols);
    if (t->shared)
        bz_client_await_room(t);
    if (t->watched)
        unwatch(s, c, t);
    if (t->shared)
        next = give_turn(&s->io, &t->client->share);
    if (t->turned)
        next = give_turn(&s->compute, &t->client->turns);
    atomic_fetch_add_explicit(&s->done, 1, memory_order_relaxed);
    bz_client_finish(t, result);
    return next;
}

static void run_task(struct bz_service *s, struct crowd *c, struct bz_task *t)
{
    bz_gang_busy(&c->gang);
    while (t)
        t = run_one(s, c, t);
    bz_gang_back(&c->gang);
}

/* Has another worker do what the one that runs the task does not get to. */
static void replace(struct bz_task *t)
{
    struct crowd *c = t->crowd;
    int fine = BZ_TASK_FINE;

    if (atomic_load(&t->hang) == BZ_TASK_FINE && bz_gang_replace(&c->gang) &&
        !atomic_compare_exchange_strong(&t->hang, &fine, BZ_TASK_REPLACED))
        bz_gang_retire(&c->gang); /* it has ended just now */
}

/* The time of a task is up; returns when to look at it again, or 0. */
static int64_t look_at(void *ctx, struct bz_watchdog_entry *entry, int64_t now)
{
    struct bz_task *t = BZ_CONTAINER(entry, struct bz_task, watch);
    int64_t patience = t->cancel.deadline + BZ_SERVICE_GRACE;
    bool running;

    (void)ctx;
    if (!bz_client_expire(t))
        return now + PART_ON_ITS_WAY;
    running = atomic_load(&t->running);
    if (running && now < patience)
        return patience;
    if (running)
        replace(t);
    bz_client_drop(t);
    return 0;
}

/* There may be room again. */
static void enlist_those_beyond(struct crowd *c)
{
    struct bz_task *t;

    bz_sync_lock(&c->mutex);
    while ((t = c->first)) {
        struct bz_task *next = t->next;

        if (!bz_tasklist_push(&c->lists[t->request.priority], t))
            break;
        c->first = next;
        atomic_fetch_sub(&c->beyond, 1);
    }
    bz_sync_unlock(&c->mutex);
}

/* A task like others, but for its result, which is known: whoever takes that may be
 * slow, and nobody else's mail is to wait for it. */
static void refuse(struct bz_service *s, struct bz_task *t, int status,
                   const char *message)
{
    t->refusal = bz_task_failure(t->id, status, message);
    t->request.priority = BZ_REQUEST_NORMAL;
    enlist(&s->compute, t);
}

static void set_deadline(struct bz_service *s, struct bz_task *t)
{
    uint32_t ms = t->request.timeout > 0 ? t->request.timeout : s->o.timeout;

    if (ms == 0)
        return;
    /* Nobody but this thread looks at it yet: who cancels sets another field. */
    t->cancel.deadline = t->since + (int64_t)ms * BZ_CLOCK_MS;
    t->watched = true;
    atomic_store(&t->refs, 2);
    bz_watchdog_add(&s->watchdog, &t->watch, t->cancel.deadline);
}

/* To those who compute, or held back until the client has less there: others are to
 * have their turn. */
static void give_compute(struct bz_service *s, struct bz_task *t)
{
    t->turned = atomic_load_explicit(&s->clients, memory_order_relaxed) > 1;
    if (t->turned && !bz_share_enter(&t->client->turns, s->turns, t))
        bz_gang_less(&s->compute.gang);
    else
        enlist(&s->compute, t);
}

/* To those who block, or held back until the client has less there. */
static void give_io(struct bz_service *s, struct bz_task *t)
{
    t->shared = true;
    if (!bz_share_enter(&t->client->share, s->share, t)) {
        bz_gang_less(&s->compute.gang);
        return;
    }
    enlist(&s->io, t);
    bz_gang_pass(&s->compute.gang, &s->io.gang);
}

/* What a request asks for, to those who do that. Runs nothing that belongs to anybody:
 * all mail of the domain waits for it. */
static void read_mail(void *ctx, void *mail)
{
    static void (*const give[])(struct bz_service * s,
                                struct bz_task * t) = {give_compute, give_io};
    struct bz_service *s = ctx;
    struct bz_task *t = mail;
    struct bz_err err;
    bool blocks;

    if (t->status < 0) {
        refuse(s, t, t->status, "no memory for the request");
        return;
    }
    if (bz_request_parse(t->text, &t->request, &err) < 0) {
        refuse(s, t, BZ_TASK_INVALID_JSON, err.msg);
        return;
    }
    t->handler = bz_dispatch_find(s->o.dispatch, &t->request);
    if (!t->handler) {
        refuse(s, t, BZ_TASK_UNKNOWN_OPCODE, "unknown opcode");
        return;
    }
    set_deadline(s, t);
    blocks = t->handler->blocks || t->handler->isolate;
    give[bz_dispatch_select(blocks, 1, 0)](s, t);
}

static struct bz_task *next_task(struct crowd *c)
{
    struct bz_task *t = NULL;

    if (atomic_load(&c->beyond) > 0)
        enlist_those_beyond(c);
    if (atomic_load_explicit(&c->hurried, memory_order_relaxed) >= TURN - 1) {
        atomic_store_explicit(&c->hurried, 0, memory_order_relaxed);
        t = bz_tasklist_pop(&c->lists[BZ_REQUEST_NORMAL]);
    }
    if (t)
        return t;
    t = bz_tasklist_pop(&c->lists[BZ_REQUEST_HIGH]);
    if (t)
        atomic_fetch_add_explicit(&c->hurried, 1, memory_order_relaxed);
    else
        t = bz_tasklist_pop(&c->lists[BZ_REQUEST_NORMAL]);
    return t;
}

/* Mail stays where it is while there is no room for what it asks for. */
static bool compute_step(void *ctx)
{
    struct bz_service *s = ctx;
    bool room = atomic_load(&s->compute.beyond) == 0;
    size_t mail = room ? bz_mailbox_update(&s->boxes, read_mail, s) : 0;
    struct bz_task *t = next_task(&s->compute);

    if (t)
        run_task(s, &s->compute, t);
    return t || mail > 0;
}

static bool io_step(void *ctx)
{
    struct bz_service *s = ctx;
    struct bz_task *t = next_task(&s->io);

    if (t)
        run_task(s, &s->io, t);
    return t;
}

static void open_crowd(struct bz_service *s, struct crowd *c, enum bz_lane_id lane,
                       unsigned size, bool (*step)(void *ctx))
{
    for (size_t i = 0; i < BZ_REQUEST_PRIORITIES; i++)
        bz_tasklist_init(&c->lists[i], s->o.tasks, s->o.tasks_max);
    bz_gang_init(&c->gang, s->pool, lane, size, step, s);
}

static void close_crowd(struct crowd *c)
{
    bz_gang_release(&c->gang);
    for (size_t i = 0; i < BZ_REQUEST_PRIORITIES; i++)
        bz_tasklist_release(&c->lists[i]);
}

int bz_service_new(const struct bz_service_opts *opts, struct bz_service **out,
                   struct bz_err *err)
{
    struct bz_service *s = bz_mem_padded(sizeof(*s));
    int rc;

    s->o = *opts;
    s->o.threads = opts->threads ? opts->threads : bz_cpu_count();
    s->o.io_threads = opts->io_threads ? opts->io_threads : IO_THREADS;
    s->o.tasks = opts->tasks ? opts->tasks : TASKS;
    s->o.tasks_max = opts->tasks_max ? opts->tasks_max : TASKS_MAX;
    s->o.mail = opts->mail ? opts->mail : MAIL;
    s->o.symbols = opts->symbols ? opts->symbols : &s->none;
    rc = bz_guard_open(err);
    if (rc == 0) {
        rc = bz_pool_new(
            &(struct bz_pool_opts){.compute = s->o.threads,
                                   /* and for a server, a watch and the watchdog,
                                    * which wait, and the spare ones */
                                   .io = s->o.io_threads + 3 + 2 * BZ_GANG_SPARE},
            &s->pool, err);
        if (rc < 0)
            bz_guard_close();
    }
    if (rc < 0) {
        free(s);
        return rc;
    }
    bz_mailbox_init(&s->boxes, s->o.threads, s->o.mail);
    open_crowd(s, &s->compute, BZ_LANE_COMPUTE, s->o.threads, compute_step);
    open_crowd(s, &s->io, BZ_LANE_IO, s->o.io_threads, io_step);
    s->share = s->o.io_threads - (s->o.io_threads + 2) / 4;
    s->turns = TURNS * s->o.threads;
    bz_watchdog_init(&s->watchdog, s->pool, look_at, s);
    *out = s;
    return 0;
}

void bz_service_free(struct bz_service *s)
{
    if (!s)
        return;
    bz_service_stop(s);
    bz_watchdog_release(&s->watchdog);
    close_crowd(&s->compute);
    close_crowd(&s->io);
    bz_pool_free(s->pool);
    bz_mailbox_release(&s->boxes);
    bz_guard_close();
    free(s);
}

void bz_service_stop(struct bz_service *s)
{
    atomic_store(&s->stopped, true);
}

struct bz_pool *bz_service_pool(struct bz_service *s)
{
    return s->pool;
}

void bz_service_enter(struct bz_service *s)
{
    atomic_fetch_add(&s->clients, 1);
}

void bz_service_leave(struct bz_service *s)
{
    atomic_fetch_sub(&s->clients, 1);
}

bz_task_alloc bz_service_alloc(const struct bz_service *s)
{
    return s->o.alloc;
}

void bz_service_stats(const struct bz_service *s, struct bz_service_stats *out)
{
    *out = (struct bz_service_stats){
        .done = atomic_load(&s->done),
        .updaters = atomic_load(&s->boxes.nupdaters),
        .updaters_most = atomic_load(&s->boxes.most),
        .waiting = atomic_load(&s->compute.gang.work) + atomic_load(&s->io.gang.work),
    };
}

int bz_service_post(struct bz_service *s, struct bz_task *t, struct bz_err *err)
{
    if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
        return bz_fail(err, BZ_E_CANCELED, "the service is shutting down");
    if (!bz_mailbox_put(&s->boxes, t->id, t))
        return bz_fail(err, BZ_E_BUSY, "all mailboxes are full");
    bz_gang_more(&s->compute.gang);
    return 0;
}
