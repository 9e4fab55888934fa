/* bench_queue.c - the baseline: one list of jobs under one mutex, as in a textbook. */
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bench.h"

typedef void (*job_fn)(void *arg, uint32_t item);

struct job {
    struct job *next;
    job_fn fn;
    void *arg;
    uint32_t item;
};

struct queue {
    pthread_mutex_t mu;
    pthread_cond_t filled; /* the list is not empty, or stop is set */
    struct job *head;      /* mu */
    struct job **tail;     /* mu */
    bool stop;             /* mu */
    unsigned workers;
    pthread_t *threads;
    bench_job_fn
        wake_fn; /* the one job of the wake workload: there is never a second */
    void *wake_arg;
};

static void push(struct queue *q, job_fn fn, void *arg, uint32_t item)
{
    struct job *job = bz_mem_alloc(sizeof(*job));

    *job = (struct job){.fn = fn, .arg = arg, .item = item};
    pthread_mutex_lock(&q->mu);
    *q->tail = job;
    q->tail = &job->next;
    pthread_mutex_unlock(&q->mu);
    pthread_cond_signal(&q->filled);
}

/* The oldest job, or NULL once the queue is stopped. */
static struct job *pop(struct queue *q)
{
    struct job *job;

    pthread_mutex_lock(&q->mu);
    while (!q->head && !q->stop)
        pthread_cond_wait(&q->filled, &q->mu);
    job = q->head;
    if (job) {
        q->head = job->next;
        if (!q->head)
            q->tail = &q->head;
    }
    pthread_mutex_unlock(&q->mu);
    return job;
}

static void *work(void *arg)
{
    struct queue *q = arg;
    struct job *job;

    while ((job = pop(q))) {
        job->fn(job->arg, job->item);
        free(job);
    }
    return NULL;
}

static void *open_queue(unsigned workers, enum bench_entry entry)
{
    struct queue *q = bz_mem_zalloc(sizeof(*q));

    (void)entry; /* the caller is never a worker */
    pthread_mutex_init(&q->mu, NULL);
    pthread_cond_init(&q->filled, NULL);
    q->tail = &q->head;
    q->workers = workers;
    q->threads = bz_mem_array(workers, sizeof(*q->threads));
    for (unsigned i = 0; i < workers; i++)
        if (pthread_create(&q->threads[i], NULL, work, q) != 0)
            abort();
    return q;
}

static void close_queue(void *pool)
{
    struct queue *q = pool;

    pthread_mutex_lock(&q->mu);
    q->stop = true;
    pthread_mutex_unlock(&q->mu);
    pthread_cond_broadcast(&q->filled);
    for (unsigned i = 0; i < q->workers; i++)
        pthread_join(q->threads[i], NULL);
    pthread_cond_destroy(&q->filled);
    pthread_mutex_destroy(&q->mu);
    free(q->threads);
    free(q);
}

struct batch {
    struct queue *queue;
    struct bench_latch latch;
};

static void count_one(void *arg, uint32_t item)
{
    struct batch *b = arg;

    (void)item;
    bench_count();
    bench_latch_arrive(&b->latch, 1);
}

static void spawn_all(void *arg, uint32_t n)
{
    struct batch *b = arg;

    for (uint32_t i = 0; i < n; i++)
        push(b->queue, count_one, b, 0);
}

static void spawn(void *pool, uint64_t n)
{
    struct batch b = {.queue = pool};

    bench_latch_init(&b.latch, n);
    push(pool, spawn_all, &b, (uint32_t)n);
    bench_latch_wait(&b.latch);
}

struct walk {
    struct queue *queue;
    struct layered *graph;
    enum layered_mode mode;
    struct bench_latch latch;
};

static void visit(void *arg, uint32_t n);

static void spawn_node(void *arg, uint32_t n)
{
    struct walk *w = arg;

    push(w->queue, visit, w, n);
}

static void visit(void *arg, uint32_t n)
{
    struct walk *w = arg;
    uint32_t ran = layered_visit(w->graph, n, w->mode, spawn_node, w);

    bench_latch_arrive(&w->latch, ran);
}

static void spawn_first(void *arg, uint32_t width)
{
    for (uint32_t n = 0; n < width; n++)
        spawn_node(arg, n);
}

static void dag(void *pool, struct layered *g, enum layered_mode mode)
{
    struct walk w = {.queue = pool, .graph = g, .mode = mode};

    bench_latch_init(&w.latch, g->count);
    push(pool, spawn_first, &w, g->width);
    bench_latch_wait(&w.latch);
}

static void call_wake(void *arg, uint32_t item)
{
    struct queue *q = arg;

    (void)item;
    q->wake_fn(q->wake_arg);
}

static void submit(void *pool, bench_job_fn fn, void *arg)
{
    struct queue *q = pool;

    q->wake_fn = fn;
    q->wake_arg = arg;
    push(q, call_wake, q, 0);
}

static void wake(void *pool, struct bench_wake *w)
{
    bench_wake_run(w, submit, pool);
}

int main(int argc, char **argv)
{
    static const struct bench_peer peer = {
        .name = "queue",
        .open = open_queue,
        .close = close_queue,
        .spawn = spawn,
        .dag = dag,
        .wake = wake,
    };

    return bench_main(argc, argv, &peer);
}
