#include "survey/hashing.h"

#include <pthread.h>

#include "tests/unit/bz_test.h"

static const uint8_t abc[] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea};

static void a_hash_is_a_sha256(void **state)
{
    struct bz_hashing h = {0};
    uint8_t out[32];

    (void)state;
    for (int i = 0; i < 3; i++) {
        bz_hashing_bytes(&h, BZ_STR("abc"), out);
        assert_memory_equal(out, abc, sizeof(abc));
    }
    assert_int_equal(h.spare.len, 1); /* one thread needs one hasher */
    bz_hashing_release(&h);
}

enum { THREADS = 4, ROUNDS = 200 };

struct worker {
    struct bz_hashing *h;
    size_t good;
};

static void *hash_often(void *arg)
{
    struct worker *w = arg;
    uint8_t out[32];

    for (int i = 0; i < ROUNDS; i++) {
        bz_hashing_bytes(w->h, BZ_STR("abc"), out);
        w->good += memcmp(out, abc, sizeof(abc)) == 0;
    }
    return NULL;
}

static void threads_may_hash_at_the_same_time(void **state)
{
    struct bz_hashing h = {0};
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){&h, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, hash_often, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(workers[i].good, ROUNDS);
    assert_true(h.spare.len <= THREADS);
    bz_hashing_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hash_is_a_sha256),
        cmocka_unit_test(threads_may_hash_at_the_same_time),
    };

    return cmocka_run_group_tests_name("survey/hashing", tests, NULL, NULL);
}
