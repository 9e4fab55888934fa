#include "jobs/symbols.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

static void a_region_is_found_by_name_for_what_it_may_be_used(void **state)
{
    struct bz_symbols t = {0};
    struct bz_symbol *s;
    struct bz_err err;
    char memory[8];

    (void)state;
    assert_ok(bz_symbols_add(&t, "answer", memory, 8, BZ_SYMBOLS_READ, &err), &err);
    assert_ok(bz_symbols_hold(&t, BZ_STR("answer"), BZ_SYMBOLS_READ, &s, &err), &err);
    assert_ptr_equal(s->p, memory);
    assert_int_equal(s->size, 8);
    bz_symbols_let_go(&t, s);
    assert_int_equal(bz_symbols_hold(&t, BZ_STR("answer"), BZ_SYMBOLS_WRITE, &s, &err),
                     BZ_E_INVAL);
    assert_string_equal(err.msg, "symbol answer may not be written");
    assert_int_equal(bz_symbols_hold(&t, BZ_STR("none"), BZ_SYMBOLS_READ, &s, &err),
                     BZ_E_NOENT);
    assert_string_equal(err.msg, "unknown symbol: none");
    assert_int_equal(bz_symbols_add(&t, "answer", memory, 8, 1, &err), BZ_E_EXISTS);
    assert_int_equal(bz_symbols_add(&t, "a/b", memory, 8, 1, &err), BZ_E_INVAL);
    assert_int_equal(bz_symbols_add(&t, "", memory, 8, 1, &err), BZ_E_INVAL);
    assert_ok(bz_symbols_remove(&t, "answer", &err), &err);
    assert_int_equal(bz_symbols_remove(&t, "answer", &err), BZ_E_NOENT);
    bz_symbols_release(&t);
}

struct holder {
    struct bz_symbols t;
    struct bz_symbol *s;
    atomic_bool let_go;
};

static void *let_go_later(void *arg)
{
    struct holder *h = arg;

    usleep(20000);
    atomic_store(&h->let_go, true);
    bz_symbols_let_go(&h->t, h->s);
    return NULL;
}

static void a_region_that_is_held_stays(void **state)
{
    struct holder h = {0};
    struct bz_err err;
    pthread_t thread;
    char memory;

    (void)state;
    assert_ok(bz_symbols_add(&h.t, "x", &memory, 1, BZ_SYMBOLS_READ, &err), &err);
    assert_ok(bz_symbols_hold(&h.t, BZ_STR("x"), BZ_SYMBOLS_READ, &h.s, &err), &err);
    assert_int_equal(pthread_create(&thread, NULL, let_go_later, &h), 0);
    assert_ok(bz_symbols_remove(&h.t, "x", &err), &err);
    assert_true(atomic_load(&h.let_go));
    pthread_join(thread, NULL);
    bz_symbols_release(&h.t);
}

static void *come_and_go(void *arg)
{
    struct holder *h = arg;
    struct bz_err err;
    char memory;

    while (!atomic_load(&h->let_go)) {
        assert_ok(bz_symbols_add(&h->t, "x", &memory, 1, BZ_SYMBOLS_READ, &err), &err);
        assert_ok(bz_symbols_remove(&h->t, "x", &err), &err);
    }
    return NULL;
}

static void a_region_may_go_while_it_is_asked_for(void **state)
{
    struct holder h = {0};
    struct bz_err err;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, come_and_go, &h), 0);
    for (int i = 0; i < 50000; i++) {
        int rc = bz_symbols_hold(&h.t, BZ_STR("x"), BZ_SYMBOLS_WRITE, &h.s, &err);

        assert_true(rc == BZ_E_NOENT || rc == BZ_E_INVAL);
    }
    atomic_store(&h.let_go, true);
    pthread_join(thread, NULL);
    bz_symbols_release(&h.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_is_found_by_name_for_what_it_may_be_used),
        cmocka_unit_test(a_region_that_is_held_stays),
        cmocka_unit_test(a_region_may_go_while_it_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
