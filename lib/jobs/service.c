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

/* Of what a client hands in, so much after the other goes into one mailbox. */
#define IN_A_ROW 16
/* Who has run so many looks at the mail before the next. */
#define RUNS 16

/* Workers and what they take from: what is urgent first, then of the list that is
 * theirs, then of the others'. */
struct crowd {
    struct bz_tasklist urgent, *lists;
    unsigned nlists;
    struct bz_gang gang;
    atomic_uint hurried; /* of high priority that were run in a row */
    /* Tasks that there was no room for on a list. */
    struct bz_sync_mutex mutex;
    struct bz_task *first, *last; /* mutex */
    atomic_size_t beyond;         /* so many; changes with the mutex held */
};

/* What a worker remembers, and nobody else writes. */
struct desk {
    BZ_PADDED unsigned runs; /* tasks since it last looked at the mail */
    unsigned looks;          /* so often it did */
    int64_t looked;          /* when that was, about */
    atomic_ullong done;      /* tasks */
    struct bz_client_kept kept;
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
    struct desk *desks;          /* of those who compute, then of those who block */
    BZ_PADDED atomic_bool hurry; /* somebody who may block shall read the mail */
    atomic_uint ended;           /* see bz_service_ended() */
};

static struct bz_tasklist *list_of(struct crowd *c, const struct bz_task *t)
{
    return t->request.priority == BZ_REQUEST_HIGH ? &c->urgent
                                                  : &c->lists[t->box % c->nlists];
}

static unsigned desks_of(const struct crowd *c)
{
    return c->gang.o.size + BZ_GANG_SPARE;
}

static struct desk *desk_of(struct bz_service *s, const struct crowd *c,
                            unsigned number)
{
    return &s->desks[number + (c == &s->io ? desks_of(&s->compute) : 0)];
}

/* Onto the list of its kind, behind those that there was no room for. */
static void enlist(struct crowd *c, struct bz_task *t)
{
    if (atomic_load(&c->beyond) == 0 && bz_tasklist_push(list_of(c, t), t))
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

    if (!t || !bz_tasklist_push(list_of(c, t), t))
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
static struct bz_task *run_one(struct bz_service *s, struct crowd *c, struct desk *d,
                               struct bz_task *t)
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
    bz_client_finish(t, result, &d->kept);
    return next;
}

static void run_task(struct bz_service *s, struct crowd *c, unsigned number,
                     struct bz_task *t)
{
    struct desk *d = desk_of(s, c, number);

    bz_gang_busy(&c->gang, number);
    while (t) {
        /* Before its client can know of it. Nobody else writes here. */
        atomic_store_explicit(&d->done,
                              atomic_load_explicit(&d->done, memory_order_relaxed) + 1,
                              memory_order_relaxed);
        t = run_one(s, c, d, t);
    }
    bz_gang_back(&c->gang, number);
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

        if (!bz_tasklist_push(list_of(c, t), t))
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
    if (!t->turned || bz_share_enter(&t->client->turns, s->turns, t))
        enlist(&s->compute, t);
}

/* To those who block, or held back until the client has less there. */
static void give_io(struct bz_service *s, struct bz_task *t)
{
    t->shared = true;
    if (!bz_share_enter(&t->client->share, s->share, t))
        return;
    enlist(&s->io, t);
    bz_gang_more(&s->io.gang);
}

/* Who reads the mail. */
struct reader {
    struct bz_service *service;
    struct desk *desk;
};

/* What a request asks for, to those who do that. Runs nothing that belongs to anybody:
 * all mail of the domain waits for it. */
static void read_mail(void *ctx, unsigned box, const struct bz_mail *mail,
                      struct bz_str text)
{
    static void (*const give[])(struct bz_service * s,
                                struct bz_task * t) = {give_compute, give_io};
    struct reader *r = ctx;
    struct bz_service *s = r->service;
    struct bz_task *t = bz_client_read(mail, text, &r->desk->kept);
    struct bz_err err;
    bool blocks;

    if (!t)
        return;
    t->box = box;
    if (t->callback && bz_cancel_check(&t->cancel) < 0) {
        t->refusal = bz_task_failure(t->id, BZ_TASK_CANCELED, "canceled");
        bz_service_hurry(s, t);
        return;
    }
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

/* Not urgent: of the list that is the worker's, or also of the others'. */
static struct bz_task *next_normal(struct crowd *c, unsigned number, bool any)
{
    struct bz_task *t = bz_tasklist_pop(&c->lists[number % c->nlists]);

    for (unsigned i = 1; i < c->nlists && any && !t; i++)
        t = bz_tasklist_pop(&c->lists[(number + i) % c->nlists]);
    return t;
}

static struct bz_task *next_task(struct crowd *c, unsigned number, bool any)
{
    struct bz_task *t = NULL;

    if (atomic_load(&c->beyond) > 0)
        enlist_those_beyond(c);
    if (atomic_load_explicit(&c->hurried, memory_order_relaxed) >= TURN - 1) {
        atomic_store_explicit(&c->hurried, 0, memory_order_relaxed);
        t = next_normal(c, number, true);
    }
    if (t)
        return t;
    t = bz_tasklist_pop(&c->urgent);
    if (t)
        atomic_fetch_add_explicit(&c->hurried, 1, memory_order_relaxed);
    else
        t = next_normal(c, number, any);
    return t;
}

/* Looking at the mail takes the line away from whoever puts some in: it is done for
 * several tasks at a time, if they take no time. */
static bool is_time_for_mail(struct desk *d)
{
    int64_t now;

    if (++d->runs >= RUNS)
        return true;
    now = bz_clock_coarse();
    return now != d->looked;
}

/* Its own, but now and then another's, who may be busy for long. */
static unsigned first_to_look_at(struct desk *d, unsigned number)
{
    return ++d->looks % TURN == 0 ? number + d->looks / TURN : number;
}

/* Mail stays where it is while there is no room for what it asks for. */
static bool compute_step(void *ctx, unsigned number)
{
    struct bz_service *s = ctx;
    struct desk *d = &s->desks[number];
    struct bz_task *t = NULL;
    size_t mail = 0;

    if (!is_time_for_mail(d))
        t = next_task(&s->compute, number, false);
    if (!t) {
        unsigned first = first_to_look_at(d, number);

        if (atomic_load(&s->compute.beyond) == 0)
            mail =
                bz_mailbox_update(&s->boxes, first, read_mail, &(struct reader){s, d});
        d->runs = 0;
        d->looked = bz_clock_coarse();
        t = next_task(&s->compute, first, true);
    }
    if (t)
        run_task(s, &s->compute, number, t);
    return t || mail > 0;
}

static bool read_in_a_hurry(struct bz_service *s, unsigned number)
{
    struct reader r = {s, desk_of(s, &s->io, number)};
    bool done = false;

    if (!atomic_load(&s->hurry) || !atomic_exchange(&s->hurry, false))
        return false;
    while (atomic_load(&s->compute.beyond) == 0 &&
           bz_mailbox_update(&s->boxes, number, read_mail, &r) > 0)
        done = true;
    if (done)
        bz_gang_more(&s->compute.gang);
    return true;
}

static bool io_step(void *ctx, unsigned number)
{
    struct bz_service *s = ctx;
    bool read = read_in_a_hurry(s, number);
    struct bz_task *t = next_task(&s->io, number, true);

    if (t)
        run_task(s, &s->io, number, t);
    return t || read;
}

static size_t listed(const struct crowd *c)
{
    size_t n = atomic_load(&c->beyond) + bz_tasklist_len(&c->urgent);

    for (unsigned i = 0; i < c->nlists; i++)
        n += bz_tasklist_len(&c->lists[i]);
    return n;
}

static bool compute_waits(void *ctx)
{
    struct bz_service *s = ctx;

    return listed(&s->compute) > 0 || bz_mailbox_waits(&s->boxes);
}

static bool io_waits(void *ctx)
{
    struct bz_service *s = ctx;

    return atomic_load(&s->hurry) || listed(&s->io) > 0;
}

static void open_crowd(struct bz_service *s, struct crowd *c, unsigned nlists,
                       const struct bz_gang_opts *opts)
{
    c->nlists = nlists;
    c->lists = bz_mem_padded(nlists * sizeof(*c->lists));
    bz_tasklist_init(&c->urgent, s->o.tasks, s->o.tasks_max);
    for (unsigned i = 0; i < nlists; i++)
        bz_tasklist_init(&c->lists[i], s->o.tasks, s->o.tasks_max);
    bz_gang_init(&c->gang, s->pool, opts);
}

static void close_crowd(struct crowd *c)
{
    bz_gang_release(&c->gang);
    bz_tasklist_release(&c->urgent);
    for (unsigned i = 0; i < c->nlists; i++)
        bz_tasklist_release(&c->lists[i]);
    free(c->lists);
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
    open_crowd(s, &s->compute, s->boxes.n,
               &(struct bz_gang_opts){s->o.threads, BZ_LANE_COMPUTE, compute_step,
                                      compute_waits, s});
    open_crowd(
        s, &s->io, 1,
        &(struct bz_gang_opts){s->o.io_threads, BZ_LANE_IO, io_step, io_waits, s});
    s->desks =
        bz_mem_padded((desks_of(&s->compute) + desks_of(&s->io)) * sizeof(*s->desks));
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
    for (unsigned i = 0; i < desks_of(&s->compute) + desks_of(&s->io); i++)
        bz_client_release(&s->desks[i].kept);
    free(s->desks);
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

uint32_t bz_service_timeout(const struct bz_service *s)
{
    return s->o.timeout;
}

atomic_uint *bz_service_ended(struct bz_service *s)
{
    return &s->ended;
}

void bz_service_stats(const struct bz_service *s, struct bz_service_stats *out)
{
    *out = (struct bz_service_stats){
        .updaters = atomic_load(&s->boxes.nupdaters),
        .updaters_most = atomic_load(&s->boxes.most),
        .waiting = bz_mailbox_count(&s->boxes) + listed(&s->compute) + listed(&s->io),
    };
    for (unsigned i = 0; i < desks_of(&s->compute) + desks_of(&s->io); i++)
        out->done += atomic_load(&s->desks[i].done);
}

int bz_service_post(struct bz_service *s, struct bz_mail *mail, struct bz_str text,
                    struct bz_err *err)
{
    if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
        return bz_fail(err, BZ_E_CANCELED, "the service is shutting down");
    if (!bz_mailbox_put(&s->boxes, mail->ticket / IN_A_ROW, mail, text))
        return bz_fail(err, BZ_E_BUSY, "all mailboxes are full");
    bz_gang_more(&s->compute.gang);
    return 0;
}

void bz_service_hurry(struct bz_service *s, struct bz_task *t)
{
    if (t) {
        t->request.priority = BZ_REQUEST_HIGH;
        enlist(&s->io, t);
    } else {
        atomic_store(&s->hurry, true);
    }
    bz_gang_more(&s->io.gang);
}
