#include "jobs/slots.h"

#include <pthread.h>

#include "base/mem.h"
#include "jobs/task.h"
#include "tests/unit/bz_test.h"

static void note(struct bz_task *t, void *ctx)
{
    *(struct bz_task **)ctx = t;
}

static void mail_becomes_a_task_that_is_found_until_it_leaves(void **state)
{
    struct bz_slots *s = bz_mem_padded(sizeof(*s));
    struct bz_task task = {0}, *found = NULL;
    uint64_t ticket;

    (void)state;
    bz_slots_init(s, 4);
    assert_true(bz_slots_enter(s, 0, &ticket));
    assert_int_equal(bz_slots_find(s, ticket, false, note, &found), BZ_SLOTS_MAIL);
    assert_int_equal(bz_slots_find(s, ticket, true, note, &found), BZ_SLOTS_NOTHING);
    assert_int_equal(bz_slots_find(s, ticket + 1, false, note, &found),
                     BZ_SLOTS_NOTHING);
    assert_int_equal(bz_slots_read(s, ticket, &task), BZ_SLOTS_WANTED);
    assert_null(found);
    assert_int_equal(bz_slots_find(s, ticket, false, note, &found), BZ_SLOTS_TASK);
    assert_ptr_equal(found, &task);
    found = NULL;
    assert_int_equal(bz_slots_cancel(s, ticket, false, note, &found), BZ_SLOTS_TASK);
    assert_ptr_equal(found, &task);
    bz_slots_leave(s, ticket);
    assert_int_equal(bz_slots_find(s, ticket, false, note, &found), BZ_SLOTS_NOTHING);
    bz_slots_release(s);
    free(s);
}

static void mail_is_given_up_or_marked_for_a_callback(void **state)
{
    struct bz_slots *s = bz_mem_padded(sizeof(*s));
    struct bz_task task = {0}, *found = NULL;
    uint64_t plain, called, unsent, named;

    (void)state;
    bz_slots_init(s, 4);
    assert_true(bz_slots_enter(s, 0, &plain));
    assert_true(bz_slots_enter(s, BZ_SLOTS_CALLBACK, &called));
    assert_true(bz_slots_enter(s, 0, &unsent));
    assert_true(bz_slots_enter(s, BZ_SLOTS_NAMED, &named));
    assert_int_equal(bz_slots_cancel(s, plain, false, note, &found), BZ_SLOTS_MAIL);
    assert_int_equal(bz_slots_cancel(s, plain, false, note, &found), BZ_SLOTS_NOTHING);
    assert_int_equal(bz_slots_cancel(s, called, false, note, &found), BZ_SLOTS_MARKED);
    assert_int_equal(bz_slots_cancel(s, called, false, note, &found), BZ_SLOTS_NOTHING);
    assert_int_equal(bz_slots_cancel(s, named, false, note, &found), BZ_SLOTS_NOTHING);
    assert_int_equal(bz_slots_cancel(s, named, true, note, &found), BZ_SLOTS_MAIL);
    assert_int_equal(bz_slots_read(s, plain, &task), BZ_SLOTS_GIVEN_UP);
    assert_int_equal(bz_slots_read(s, called, &task), BZ_SLOTS_CANCELED);
    assert_int_equal(bz_slots_cancel(s, unsent, false, note, &found), BZ_SLOTS_MAIL);
    assert_false(bz_slots_abandon(s, unsent));
    assert_true(bz_slots_enter(s, 0, &unsent));
    assert_true(bz_slots_abandon(s, unsent));
    assert_null(found);
    bz_slots_release(s);
    free(s);
}

static void one_that_stays_is_passed_over(void **state)
{
    struct bz_slots *s = bz_mem_padded(sizeof(*s));
    uint64_t stays, ticket, last = 0;

    (void)state;
    bz_slots_init(s, 16);
    assert_true(bz_slots_enter(s, 0, &stays));
    for (int i = 0; i < 100; i++) {
        assert_true(bz_slots_enter(s, 0, &ticket));
        assert_true(ticket > last);
        assert_int_not_equal(ticket % 16, stays % 16);
        assert_true(bz_slots_abandon(s, ticket));
        last = ticket;
    }
    for (int i = 0; i < 15; i++)
        assert_true(bz_slots_enter(s, 0, &ticket));
    assert_false(bz_slots_enter(s, 0, &ticket));
    bz_slots_release(s);
    free(s);
}

enum { ROUNDS = 20000 };

struct race {
    struct bz_slots *slots;
    atomic_ullong ticket;
    atomic_bool end;
};

/* Writes to the task: whoever lets go of it must not have freed it. */
static void touch(struct bz_task *t, void *ctx)
{
    (void)ctx;
    t->id++;
}

static void *cancel_all_the_time(void *arg)
{
    struct race *r = arg;

    while (!atomic_load(&r->end)) {
        bz_slots_cancel(r->slots, atomic_load(&r->ticket), false, touch, NULL);
        bz_slots_cancel_all(r->slots, touch, NULL);
    }
    return NULL;
}

static void a_task_that_is_held_is_not_let_go_of(void **state)
{
    struct race r = {.slots = bz_mem_padded(sizeof(*r.slots))};
    pthread_t thread;

    (void)state;
    bz_slots_init(r.slots, 4);
    assert_int_equal(pthread_create(&thread, NULL, cancel_all_the_time, &r), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct bz_task *t = calloc(1, sizeof(*t));
        uint64_t ticket;

        assert_true(bz_slots_enter(r.slots, 0, &ticket));
        atomic_store(&r.ticket, ticket);
        if (bz_slots_read(r.slots, ticket, t) != BZ_SLOTS_GIVEN_UP)
            bz_slots_leave(r.slots, ticket);
        free(t);
    }
    atomic_store(&r.end, true);
    pthread_join(thread, NULL);
    bz_slots_release(r.slots);
    free(r.slots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mail_becomes_a_task_that_is_found_until_it_leaves),
        cmocka_unit_test(mail_is_given_up_or_marked_for_a_callback),
        cmocka_unit_test(one_that_stays_is_passed_over),
        cmocka_unit_test(a_task_that_is_held_is_not_let_go_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
