/* crowd.h - threads that put numbers into something and take them out again: each has
 * to come out exactly once. */
#ifndef BZ_TEST_JOBS_CROWD_H
#define BZ_TEST_JOBS_CROWD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/unit/bz_test.h"

enum {
    CROWD_THREADS = 4,
    CROWD_ITEMS = 20000,
    CROWD_ALL = CROWD_THREADS * CROWD_ITEMS
};

struct crowd {
    void *what;
    bool (*push)(void *what, void *item); /* false: there is no room */
    void *(*pop)(void *what);             /* NULL: there is none */
    atomic_uint seen[CROWD_ALL];
    atomic_uint got;
    unsigned char *base; /* its addresses stand for numbers */
};

struct crowd_member {
    struct crowd *c;
    unsigned first;
};

static inline void *crowd_push(void *arg)
{
    struct crowd_member *m = arg;

    for (unsigned i = 0; i < CROWD_ITEMS; i++)
        while (!m->c->push(m->c->what, m->c->base + m->first + i))
            sched_yield();
    return NULL;
}

static inline void *crowd_pop(void *arg)
{
    struct crowd_member *m = arg;

    while (atomic_load(&m->c->got) < CROWD_ALL) {
        unsigned char *p = m->c->pop(m->c->what);

        if (!p) {
            sched_yield();
            continue;
        }
        atomic_fetch_add(&m->c->seen[p - m->c->base], 1);
        atomic_fetch_add(&m->c->got, 1);
    }
    return NULL;
}

static inline void crowd_run(void *what, bool (*push)(void *what, void *item),
                             void *(*pop)(void *what))
{
    struct crowd *c = calloc(1, sizeof(*c));
    struct crowd_member members[CROWD_THREADS];
    pthread_t threads[2 * CROWD_THREADS];

    c->what = what;
    c->push = push;
    c->pop = pop;
    c->base = malloc(CROWD_ALL);
    for (unsigned i = 0; i < CROWD_THREADS; i++) {
        members[i] = (struct crowd_member){c, i * CROWD_ITEMS};
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_push, &members[i]), 0);
        assert_int_equal(
            pthread_create(&threads[CROWD_THREADS + i], NULL, crowd_pop, &members[i]),
            0);
    }
    for (unsigned i = 0; i < 2 * CROWD_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < CROWD_ALL; i++)
        assert_int_equal(c->seen[i], 1);
    free(c->base);
    free(c);
}

#endif
