/* Requests in JSON through the job service and through libuv's pool, in the same run.
 *
 *     bench_jobs --jobs 500000 --window 256 --rounds 5 --singles 20000 --threads 2
 *                [--only bitzel]
 *
 * Both get the same texts, copy them, read them on a thread of theirs with the same
 * function, and hand a result to the program, which checks it: the service calls back
 * on that thread, or is waited for; libuv calls back on the thread of its loop. So many
 * are kept under way for the rate; for the time of one there is one at a time. The two
 * take turns. Prints one line of JSON for each round and pool.
 */
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if BENCH_UV
#include <uv.h>
#endif

#include "jobs/call.h"
#include "jobs/inbox.h"
#include "jobs/service.h"
#include "os/clock.h"
#include "os/futex.h"

enum { TEXTS = 1024 };

struct load {
    unsigned long jobs, window, rounds, singles;
    unsigned threads;
    const char *only; /* one of the pools */
    struct bz_str *texts;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_jobs: %s\n", what);
    exit(1);
}

/* Made before the time is taken; no two that are under way are the same. */
static struct bz_str *make_texts(void)
{
    struct bz_str *texts = calloc(TEXTS, sizeof(*texts));

    for (size_t i = 0; texts && i < TEXTS; i++) {
        char *text = NULL;
        int n = asprintf(&text,
                         "{\"opcode\":3,\"args\":{\"number\":%zu,\"name\":"
                         "\"response_buffer\",\"list\":[1,2,3],\"on\":true}}",
                         i);

        if (n < 0)
            die("no memory");
        texts[i] = bz_str_of(text, (size_t)n);
    }
    return texts;
}

static void free_texts(struct bz_str *texts)
{
    for (size_t i = 0; texts && i < TEXTS; i++)
        free((char *)(uintptr_t)texts[i].p);
    free(texts);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* What a round took: on the clock, and of all CPUs. */
struct took {
    int64_t wall, cpu;
};

static struct took now(void)
{
    struct timespec cpu;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (struct took){bz_clock_now(), cpu.tv_sec * BZ_CLOCK_S + cpu.tv_nsec};
}

static struct took since(struct took begin)
{
    struct took end = now();

    return (struct took){end.wall - begin.wall, end.cpu - begin.cpu};
}

static void print_round(const char *pool, unsigned long jobs, struct took all,
                        int64_t *one, unsigned long singles)
{
    qsort(one, singles, sizeof(*one), by_value);
    printf("{\"pool\":\"%s\",\"jobs\":%lu,\"per_second\":%.0f,\"cpu_ns\":%.0f,"
           "\"p50_ns\":%lld,\"p99_ns\":%lld}\n",
           pool, jobs, (double)jobs * 1e9 / (double)all.wall,
           (double)all.cpu / (double)jobs, (long long)one[singles / 2],
           (long long)one[singles * 99 / 100]);
    fflush(stdout);
}

/* ---- the job service ---- */

struct ours {
    const struct load *l;
    struct bz_dispatch *dispatch;
    struct bz_symbols symbols;
    struct bz_service *service;
    struct bz_inbox *inbox;
    struct bz_client *client;
    atomic_uint done, mark; /* who waits does so until as many are done */
    atomic_uint rung;
    atomic_ulong wrong;
};

/* The result of either: how long the arguments are. */
static int length_of(struct bz_call *c, void *ctx)
{
    uint32_t n = (uint32_t)c->args.n;

    (void)ctx;
    return bz_call_reply(c, &n, sizeof(n));
}

static void take(struct bz_result *r, void *ctx)
{
    struct ours *o = ctx;
    uint32_t n = 0;

    if (r->size == sizeof(n))
        memcpy(&n, r->data, sizeof(n));
    if (n == 0)
        atomic_fetch_add_explicit(&o->wrong, 1, memory_order_relaxed);
    free(r);
    if (atomic_fetch_add(&o->done, 1) + 1 == atomic_load(&o->mark)) {
        atomic_fetch_add(&o->rung, 1);
        bz_futex_wake(&o->rung, 1);
    }
}

/* Sleeps until so many are done. */
static void ours_wait(struct ours *o, unsigned n)
{
    atomic_store(&o->mark, n);
    for (;;) {
        unsigned seen = atomic_load(&o->rung);

        if ((int)(atomic_load(&o->done) - n) >= 0)
            break;
        bz_futex_wait(&o->rung, seen, BZ_CLOCK_NEVER);
    }
}

static void ours_open(struct ours *o, const struct load *l)
{
    static const struct bz_handler length = {.name = "length", .run = length_of};
    struct bz_err err;

    o->l = l;
    o->dispatch = bz_dispatch_new();
    if (bz_dispatch_offer(o->dispatch, &length, &err) < 0 ||
        bz_dispatch_bind(o->dispatch, 3, BZ_STR("length"), &err) < 0 ||
        bz_service_new(&(struct bz_service_opts){.threads = l->threads,
                                                 .dispatch = o->dispatch,
                                                 .symbols = &o->symbols},
                       &o->service, &err) < 0)
        die(err.msg);
    o->inbox = bz_inbox_new();
    o->client =
        bz_client_new(o->service, (unsigned)l->window + 16, bz_inbox_put, o->inbox);
    o->inbox->client = o->client;
}

static void ours_close(struct ours *o)
{
    bz_client_free(o->client);
    bz_service_free(o->service);
    bz_inbox_free(o->inbox);
    bz_dispatch_free(o->dispatch);
    bz_symbols_release(&o->symbols);
}

static struct took ours_many(struct ours *o)
{
    const struct bz_client_extra extra = {.callback = take, .ctx = o};
    unsigned first = atomic_load(&o->done), window = (unsigned)o->l->window;
    unsigned done = first;
    struct took begin = now();

    for (unsigned i = 0; i < o->l->jobs; i++) {
        struct bz_err err;
        uint64_t id;

        /* What others count all the time is looked at when it has to be. */
        if (first + i - done >= window)
            done = atomic_load(&o->done);
        if (first + i - done >= window)
            ours_wait(o, first + i - window / 2);
        /* That a result was handed over is known before there is room again. */
        while (bz_client_submit(o->client, o->l->texts[i % TEXTS], &extra, &id, &err) <
               0)
            sched_yield();
    }
    ours_wait(o, first + (unsigned)o->l->jobs);
    if (o->wrong)
        die("a wrong result");
    return since(begin);
}

static int64_t ours_one(struct ours *o, unsigned long i)
{
    int64_t begin = bz_clock_now();
    struct bz_result *r;
    struct bz_err err;
    uint64_t id;

    if (bz_client_submit(o->client, o->l->texts[i % TEXTS], NULL, &id, &err) < 0)
        die(err.msg);
    r = bz_inbox_wait(o->inbox, id, bz_clock_in(10 * BZ_CLOCK_S));
    if (!r || r->size != 4)
        die("no result");
    free(r);
    return bz_clock_now() - begin;
}

static void ours_round(struct ours *o)
{
    int64_t *one = calloc(o->l->singles, sizeof(*one));
    struct took all = ours_many(o);

    for (unsigned long i = 0; one && i < o->l->singles; i++)
        one[i] = ours_one(o, i);
    if (one)
        print_round("bitzel", o->l->jobs, all, one, o->l->singles);
    free(one);
}

/* ---- libuv ---- */

#if BENCH_UV
struct theirs {
    const struct load *l;
    uv_loop_t loop;
    unsigned long sent, done;
};

struct their_job {
    uv_work_t work;
    struct theirs *t;
    uint32_t *result;
    size_t n;
    char text[];
};

static void their_work(uv_work_t *w)
{
    struct their_job *j = w->data;
    struct bz_request r;
    struct bz_err err;

    j->result = malloc(sizeof(*j->result));
    if (!j->result || bz_request_parse(bz_str_of(j->text, j->n), &r, &err) < 0)
        die("libuv: a wrong request");
    *j->result = (uint32_t)r.args.n;
}

static void their_send(struct theirs *t, unsigned long i);

static void their_end(uv_work_t *w, int status)
{
    struct their_job *j = w->data;
    struct theirs *t = j->t;

    if (status != 0 || *j->result == 0)
        die("libuv: a wrong result");
    free(j->result);
    free(j);
    t->done++;
    if (t->sent < t->l->jobs)
        their_send(t, t->sent++);
}

static void their_send(struct theirs *t, unsigned long i)
{
    struct bz_str text = t->l->texts[i % TEXTS];
    struct their_job *j = malloc(sizeof(*j) + text.n + 1);

    if (!j)
        die("no memory");
    memcpy(j->text, text.p, text.n + 1);
    j->n = text.n;
    j->t = t;
    j->work.data = j;
    if (uv_queue_work(&t->loop, &j->work, their_work, their_end) != 0)
        die("uv_queue_work");
}

static struct took theirs_many(struct theirs *t)
{
    struct took begin = now();

    t->sent = t->done = 0;
    while (t->sent < t->l->jobs && t->sent < t->l->window)
        their_send(t, t->sent++);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    if (t->done != t->l->jobs)
        die("libuv: too few results");
    return since(begin);
}

static void theirs_round(struct theirs *t)
{
    int64_t *one = calloc(t->l->singles, sizeof(*one));
    struct took all = theirs_many(t);

    for (unsigned long i = 0; one && i < t->l->singles; i++) {
        int64_t begin = bz_clock_now();

        their_send(t, i);
        uv_run(&t->loop, UV_RUN_DEFAULT);
        one[i] = bz_clock_now() - begin;
    }
    if (one)
        print_round("libuv", t->l->jobs, all, one, t->l->singles);
    free(one);
}
#endif

static void read_options(struct load *l, int argc, char **argv)
{
    static const struct option options[] = {
        {"jobs",             required_argument, NULL, 'j'},
        {"window",              required_argument, NULL, 'w'},
        {"rounds",                  required_argument, NULL, 'r'},
        {"singles",required_argument, NULL, 's'},
        {"threads",               required_argument, NULL, 't'},
        {"only",           required_argument, NULL, 'o'},
        {0             },
    };
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        unsigned long n = c == '?' ? 0 : strtoul(optarg, NULL, 10);

        if (n == 0 && c != 'o')
            exit(2);
        if (c == 'o')
            l->only = optarg;
        if (c == 'j')
            l->jobs = n;
        if (c == 'w')
            l->window = n;
        if (c == 'r')
            l->rounds = n;
        if (c == 's')
            l->singles = n;
        if (c == 't')
            l->threads = (unsigned)n;
    }
}

int main(int argc, char **argv)
{
    struct load l = {500000, 256, 5, 20000, 2, NULL, make_texts()};
    struct ours ours = {0};
    char threads[16];

    read_options(&l, argc, argv);
    snprintf(threads, sizeof(threads), "%u", l.threads);
    setenv("UV_THREADPOOL_SIZE", threads, 1);
    ours_open(&ours, &l);
    for (unsigned long i = 0; i < l.rounds; i++) {
        if (!l.only || strcmp(l.only, "bitzel") == 0)
            ours_round(&ours);
#if BENCH_UV
        if (!l.only || strcmp(l.only, "libuv") == 0) {
            struct theirs theirs = {.l = &l};

            uv_loop_init(&theirs.loop);
            theirs_round(&theirs);
            uv_loop_close(&theirs.loop);
        }
#endif
    }
    ours_close(&ours);
    free_texts(l.texts);
    return 0;
}
