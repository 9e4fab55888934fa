#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/clock.h"

#define SLOTS 256u /* more threads than any run has */
#define WAKE_SLEEP (2 * BZ_CLOCK_MS)
#define IDLE_WORK UINT64_C(100000) /* tasks before the idle time is measured */
#define IDLE_SETTLE (200 * BZ_CLOCK_MS)

struct slot {
    BZ_PADDED uint64_t count;
};

static struct slot slots[SLOTS];
static unsigned slots_used;
__thread uint64_t *bench_slot;

struct bench_wake {
    int64_t *ns; /* from submission to the first instruction of the job */
    uint64_t samples;
};

/* One run of one workload by one peer. */
struct run {
    const struct bench_peer *peer;
    void *pool;
    struct layered graph;
    void *flow;     /* the graph, for a pool that runs graphs itself */
    uint64_t items; /* the size asked for: what it counts depends on the workload */

    /* Results. */
    uint64_t done; /* items to divide the time by */
    uint64_t check, expected;
    int64_t ns, cpu;
    int64_t p50, p99; /* of the wake workload; 0 for the others */
};

/* Where the threads of the pool run. */
enum placement {
    SPREAD, /* the i-th thread of the process on the i-th CPU, going round */
    FREE,   /* where the kernel puts them */
};

struct workload {
    const char *name;
    enum bench_entry entry;
    enum placement placement;
    uint64_t items, min, max; /* the usual size, the smallest, the largest */
    void (*run)(struct run *r);
};

uint64_t *bench_slot_claim(void)
{
    unsigned i = __atomic_fetch_add(&slots_used, 1, __ATOMIC_RELAXED);

    if (i >= SLOTS) {
        fprintf(stderr, "more than %u threads ran tasks\n", SLOTS);
        abort();
    }
    bench_slot = &slots[i].count;
    return bench_slot;
}

/* Read between runs, when the pool has nothing to do. */
static uint64_t slots_sum(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < SLOTS; i++)
        sum += __atomic_load_n(&slots[i].count, __ATOMIC_RELAXED);
    return sum;
}

void bench_latch_init(struct bench_latch *latch, uint64_t missing)
{
    latch->missing = missing;
    sem_init(&latch->done, 0, 0);
}

void bench_latch_wait(struct bench_latch *latch)
{
    while (sem_wait(&latch->done) < 0 && errno == EINTR)
        ;
    sem_destroy(&latch->done);
}

static void sleep_ns(int64_t ns)
{
    struct timespec left = {.tv_sec = ns / BZ_CLOCK_S, .tv_nsec = ns % BZ_CLOCK_S};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

static int by_tid(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

/* The threads of this process, oldest first. */
static unsigned list_threads(pid_t *tids, unsigned max)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *entry;
    unsigned n = 0;

    while (dir && n < max && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            tids[n++] = (pid_t)strtol(entry->d_name, NULL, 10);
    if (dir)
        closedir(dir);
    qsort(tids, n, sizeof(*tids), by_tid);
    return n;
}

/* Gives each thread a CPU of its own, as far as there are enough. Left alone, the
 * kernel may keep the threads of so short a run together on the CPU that started them;
 * a pool whose workers never meet then looks faster than it is. Done from outside, so
 * that it is the same for every peer. `allowed` is what the process could use at its
 * start: the first call narrows down what the kernel reports later. */
static void spread_threads(const cpu_set_t *allowed)
{
    pid_t tids[SLOTS];
    unsigned n = list_threads(tids, SLOTS), cpu = CPU_SETSIZE - 1;

    for (unsigned i = 0; i < n; i++) {
        cpu_set_t one;

        do
            cpu = (cpu + 1) % CPU_SETSIZE;
        while (!CPU_ISSET(cpu, allowed));
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(tids[i], sizeof(one), &one); /* it may have ended by now */
    }
}

static void clock_start(struct run *r)
{
    r->cpu = bz_clock_cpu();
    r->ns = bz_clock_now();
}

static void clock_stop(struct run *r)
{
    r->ns = bz_clock_now() - r->ns;
    r->cpu = bz_clock_cpu() - r->cpu;
}

static void run_spawn(struct run *r)
{
    uint64_t before = slots_sum();

    clock_start(r);
    r->peer->spawn(r->pool, r->items);
    clock_stop(r);
    r->done = r->items;
    r->check = slots_sum() - before;
    r->expected = r->items;
}

static void run_layers(struct run *r, enum layered_mode mode)
{
    if (!r->graph.nodes)
        layered_init(&r->graph, (uint32_t)r->items);
    else
        layered_reset(&r->graph);
    clock_start(r);
    r->peer->dag(r->pool, &r->graph, mode);
    clock_stop(r);
    r->done = r->graph.count;
    r->check = layered_check(&r->graph);
    r->expected = r->graph.sum;
}

static void run_dag_spawn(struct run *r)
{
    run_layers(r, LAYERED_SPAWN);
}

/* The way users of the pool would run a graph: by its own runner, if it has one. Such a
 * runner counts predecessors itself, so the timed nodes only count; a second run, not
 * timed, delivers values and shows that the order is kept. */
static void run_dag(struct run *r)
{
    uint64_t before = slots_sum(), ran;

    if (!r->peer->flow) {
        run_layers(r, LAYERED_SPAWN);
        return;
    }
    if (!r->graph.nodes) {
        layered_init(&r->graph, (uint32_t)r->items);
        r->flow = r->peer->open_flow(&r->graph);
    } else {
        layered_reset(&r->graph);
    }
    clock_start(r);
    r->peer->flow(r->pool, r->flow, false);
    clock_stop(r);
    ran = slots_sum() - before;
    r->peer->flow(r->pool, r->flow, true);
    r->done = r->graph.count;
    r->check = ran == r->graph.count ? layered_check(&r->graph) : ran;
    r->expected = r->graph.sum;
}

static void run_dag_chain(struct run *r)
{
    run_layers(r, LAYERED_CHAIN);
}

static uint64_t fib_of(uint64_t n)
{
    uint64_t a = 0, b = 1;

    for (; n > 0; n--) {
        uint64_t sum = a + b;

        a = b;
        b = sum;
    }
    return a;
}

static void run_fib(struct run *r)
{
    clock_start(r);
    r->check = r->peer->fib(r->pool, (unsigned)r->items);
    clock_stop(r);
    r->done = 2 * fib_of(r->items + 1) - 1; /* the calls such a recursion makes */
    r->expected = fib_of(r->items);
}

struct wake_job {
    int64_t began;
    sem_t ran;
};

static void wake_job(void *arg)
{
    int64_t now = bz_clock_now();
    struct wake_job *job = arg;

    job->began = now;
    sem_post(&job->ran);
}

void bench_wake_run(struct bench_wake *wake, bench_submit_fn submit, void *pool)
{
    struct wake_job job = {0};

    sem_init(&job.ran, 0, 0);
    for (uint64_t i = 0; i < wake->samples; i++) {
        int64_t submitted;

        sleep_ns(WAKE_SLEEP);
        submitted = bz_clock_now();
        submit(pool, wake_job, &job);
        while (sem_wait(&job.ran) < 0 && errno == EINTR)
            ;
        wake->ns[i] = job.began - submitted;
    }
    sem_destroy(&job.ran);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* A sample that was never taken, or that began before it was submitted, is no sample.
 */
static uint64_t count_positive(const int64_t *ns, uint64_t n)
{
    uint64_t positive = 0;

    for (uint64_t i = 0; i < n; i++)
        positive += ns[i] > 0;
    return positive;
}

static void run_wake(struct run *r)
{
    BZ_CLEANUP(bz_mem_freep) int64_t *ns = bz_mem_array(r->items, sizeof(*ns));
    struct bench_wake wake = {.ns = ns, .samples = r->items};

    clock_start(r);
    r->peer->wake(r->pool, &wake);
    clock_stop(r);
    r->done = r->items;
    r->check = count_positive(ns, r->items);
    r->expected = r->items;
    qsort(ns, r->items, sizeof(*ns), by_value);
    r->p50 = ns[(r->items - 1) / 2];
    r->p99 = ns[(r->items * 99 + 99) / 100 - 1]; /* nearest rank */
}

static void run_idle(struct run *r)
{
    uint64_t before = slots_sum();

    r->peer->spawn(r->pool, IDLE_WORK);
    sleep_ns(IDLE_SETTLE);
    clock_start(r);
    sleep_ns((int64_t)r->items * BZ_CLOCK_MS);
    clock_stop(r);
    r->done = r->items;
    r->check = slots_sum() - before;
    r->expected = IDLE_WORK;
}

/* Items are tasks, nodes (three times), the argument of fib, samples and milliseconds.
 */
static const struct workload workloads[] = {
    {"spawn",     BENCH_INSIDE,  SPREAD, 1000000, 1,           1000000000,  run_spawn},
    {"dag",       BENCH_INSIDE,  SPREAD, 100000,  LAYERED_MIN, LAYERED_MAX, run_dag  },
    {"dag-spawn", BENCH_INSIDE,  SPREAD, 100000,  LAYERED_MIN, LAYERED_MAX,
     run_dag_spawn                                                                   },
    {"dag-chain", BENCH_INSIDE,  SPREAD, 100000,  LAYERED_MIN, LAYERED_MAX,
     run_dag_chain                                                                   },
    {"fib",       BENCH_INSIDE,  SPREAD, 30,      0,           45,          run_fib  },
    {"wake",      BENCH_OUTSIDE, FREE,   500,     1,           1000000,     run_wake },
    {"idle",      BENCH_INSIDE,  FREE,   2000,    1,           3600000,     run_idle },
};

struct options {
    uint64_t workers, reps;
    const char *items; /* NULL for the workload's usual size */
    bool free;
};

static void print_json(const struct run *r, const struct workload *w,
                       const struct options *o)
{
    printf("{\"peer\":\"%s\",\"workload\":\"%s\",\"workers\":%" PRIu64
           ",\"items\":%" PRIu64 ",\"ns\":%" PRId64 ",\"cpu_ns\":%" PRId64,
           r->peer->name, w->name, o->workers, r->done, r->ns, r->cpu);
    if (w->run == run_wake)
        printf(",\"p50_ns\":%" PRId64 ",\"p99_ns\":%" PRId64, r->p50, r->p99);
    printf(",\"check\":%" PRIu64 ",\"ok\":%s}\n", r->check,
           r->check == r->expected ? "true" : "false");
    fflush(stdout);
}

static int repeat(struct run *r, const struct workload *w, const struct options *o)
{
    bool spread = w->placement == SPREAD && !o->free;
    cpu_set_t allowed;
    int rc = 0;

    if (spread && sched_getaffinity(0, sizeof(allowed), &allowed) < 0) {
        perror("sched_getaffinity");
        return 1;
    }
    r->pool = r->peer->open((unsigned)o->workers, w->entry);
    if (w->placement == SPREAD)
        w->run(r); /* not counted: some pools start their threads with the first task */
    for (uint64_t i = 0; i < o->reps; i++) {
        if (spread)
            spread_threads(&allowed);
        w->run(r);
        print_json(r, w, o);
        if (r->check != r->expected) {
            fprintf(stderr, "%s %s: got %" PRIu64 ", expected %" PRIu64 "\n",
                    r->peer->name, w->name, r->check, r->expected);
            rc = 1;
        }
    }
    r->peer->close(r->pool);
    if (r->flow)
        r->peer->close_flow(r->flow);
    layered_release(&r->graph);
    return rc;
}

static int usage(const char *program)
{
    fprintf(stderr,
            "usage: %s WORKLOAD [--workers N] [--reps R] [--items K] [--free]\n"
            "workloads:",
            program);
    for (size_t i = 0; i < BZ_COUNTOF(workloads); i++)
        fprintf(stderr, " %s", workloads[i].name);
    fputc('\n', stderr);
    return 2;
}

static bool parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *out >= min && *out <= max;
}

static const struct workload *find_workload(const char *name)
{
    for (size_t i = 0; i < BZ_COUNTOF(workloads); i++)
        if (strcmp(workloads[i].name, name) == 0)
            return &workloads[i];
    return NULL;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
    static const struct option known[] = {
        {"workers",          required_argument, NULL, 'w'},
        {"reps",              required_argument, NULL, 'r'},
        {"items",                  required_argument, NULL, 'i'},
        {"free",no_argument, NULL, 'f'},
        {0              },
    };
    bool ok = true;
    int c;

    while (ok && (c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (c == 'w')
            ok = parse_count(optarg, 1, SLOTS / 2, &o->workers);
        else if (c == 'r')
            ok = parse_count(optarg, 1, 1000, &o->reps);
        else if (c == 'i')
            o->items = optarg;
        else if (c == 'f')
            o->free = true;
        else
            ok = false;
    }
    return ok && optind == argc - 1;
}

int bench_main(int argc, char **argv, const struct bench_peer *peer)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct options o = {.workers = cores > 2 ? (uint64_t)cores : 2, .reps = 1};
    struct run r = {.peer = peer};
    const struct workload *w;

    if (!parse_options(argc, argv, &o) || !(w = find_workload(argv[optind])))
        return usage(argv[0]);
    r.items = w->items;
    if (o.items && !parse_count(o.items, w->min, w->max, &r.items)) {
        fprintf(stderr, "%s takes %" PRIu64 " to %" PRIu64 " items\n", w->name, w->min,
                w->max);
        return 2;
    }
    if (w->run == run_fib && !peer->fib) {
        printf("{\"peer\":\"%s\",\"workload\":\"fib\",\"skipped\":true}\n", peer->name);
        return 0;
    }
    return repeat(&r, w, &o);
}
