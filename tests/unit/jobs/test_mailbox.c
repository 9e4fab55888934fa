#include "jobs/mailbox.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/bz_test.h"

struct reader {
    size_t n;
    unsigned char seen[256];
    unsigned boxes; /* a bit for each that there was mail in */
};

static void read_one(void *ctx, unsigned box, const struct bz_mail *mail,
                     struct bz_str text)
{
    struct reader *r = ctx;

    assert_int_equal(text.n, mail->id % 100);
    for (size_t i = 0; i < text.n; i++)
        assert_int_equal(text.p[i], 'a' + (int)(mail->id % 26));
    r->seen[mail->id]++;
    r->n++;
    r->boxes |= 1U << box;
}

static bool put(struct bz_mailboxes *m, uint64_t number, unsigned id)
{
    struct bz_mail mail = {.id = id};
    char text[100];

    memset(text, 'a' + (int)(id % 26), sizeof(text));
    return bz_mailbox_put(m, number, &mail, bz_str_of(text, id % 100));
}

static void read_all(struct bz_mailboxes *m, struct reader *r)
{
    while (bz_mailbox_update(m, 0, read_one, r) > 0)
        ;
}

static void mail_is_read_once_from_all_boxes(void **state)
{
    struct bz_mailboxes *m = bz_mem_padded(sizeof(*m));
    struct reader r = {0};

    (void)state;
    bz_mailbox_init(m, 4, 64);
    assert_int_equal(bz_mailbox_update(m, 0, read_one, &r), 0);
    assert_false(bz_mailbox_waits(m));
    for (unsigned i = 0; i < 200; i++)
        assert_true(put(m, i, i));
    assert_true(bz_mailbox_waits(m));
    assert_int_equal(bz_mailbox_count(m), 200);
    read_all(m, &r);
    assert_false(bz_mailbox_waits(m));
    assert_int_equal(r.n, 200);
    assert_int_equal(r.boxes, 15);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(r.seen[i], 1);
    bz_mailbox_release(m);
    free(m);
}

/* Texts of all sizes, so that they end anywhere before the end of the ring. */
static void mail_goes_on_at_the_beginning_of_the_ring(void **state)
{
    struct bz_mailboxes *m = bz_mem_padded(sizeof(*m));
    struct reader r = {0};
    size_t n = 0;

    (void)state;
    bz_mailbox_init(m, 1, 8);
    for (unsigned round = 0; round < 10000; round++) {
        for (unsigned i = 0; i < 1 + round % 8; i++, n++)
            assert_true(put(m, 0, (round * 7 + i * 31) % 256));
        read_all(m, &r);
        assert_int_equal(r.n, n);
    }
    bz_mailbox_release(m);
    free(m);
}

static void a_full_box_is_passed_over_until_all_are(void **state)
{
    struct bz_mailboxes *m = bz_mem_padded(sizeof(*m));
    unsigned n = 0;
    struct reader r = {0};

    (void)state;
    bz_mailbox_init(m, 3, 8);
    while (put(m, 1, 0)) /* always to the same one first */
        assert_true(++n <= 24);
    assert_int_equal(n, 24);
    read_all(m, &r);
    assert_int_equal(r.n, 24);
    bz_mailbox_release(m);
    free(m);
}

static void long_mail_fills_a_box_before_there_are_many(void **state)
{
    struct bz_mailboxes *m = bz_mem_padded(sizeof(*m));
    char text[BZ_MAILBOX_TEXT] = {0};
    struct bz_mail mail = {0};
    unsigned n = 0;

    (void)state;
    bz_mailbox_init(m, 1, 32);
    while (bz_mailbox_put(m, 0, &mail, bz_str_of(text, sizeof(text))))
        assert_true(++n <= 16);
    assert_true(n > 8);
    bz_mailbox_release(m);
    free(m);
}

struct crowd_of_mail {
    struct bz_mailboxes *m;
    atomic_uint got;
    atomic_uint seen[4 * 5000];
};

static void note_one(void *ctx, unsigned box, const struct bz_mail *mail,
                     struct bz_str text)
{
    struct crowd_of_mail *c = ctx;
    uint64_t said = 0;

    (void)box;
    memcpy(&said, text.p, sizeof(said));
    if (said == mail->id)
        atomic_fetch_add(&c->seen[mail->id], 1);
    atomic_fetch_add(&c->got, 1);
}

static void *put_many(void *arg)
{
    struct crowd_of_mail *c = arg;
    static atomic_uint_fast64_t next;

    for (int i = 0; i < 5000; i++) {
        uint64_t id = atomic_fetch_add(&next, 1);
        struct bz_mail mail = {.id = id};

        while (
            !bz_mailbox_put(c->m, id, &mail, bz_str_of((const char *)&id, sizeof(id))))
            sched_yield();
    }
    return NULL;
}

static void *read_many(void *arg)
{
    struct crowd_of_mail *c = arg;

    while (atomic_load(&c->got) < BZ_COUNTOF(c->seen))
        if (bz_mailbox_update(c->m, (unsigned)(uintptr_t)&c, note_one, c) == 0)
            sched_yield();
    return NULL;
}

static void many_put_and_many_read_each_once(void **state)
{
    struct crowd_of_mail *c = calloc(1, sizeof(*c));
    pthread_t threads[8];

    (void)state;
    c->m = bz_mem_padded(sizeof(*c->m));
    bz_mailbox_init(c->m, 3, 16);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < 4 ? put_many : read_many, c), 0);
    for (unsigned i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < BZ_COUNTOF(c->seen); i++)
        assert_int_equal(c->seen[i], 1);
    bz_mailbox_release(c->m);
    free(c->m);
    free(c);
}

static void updaters_come_with_the_mail_and_go_without(void **state)
{
    struct bz_mailboxes *m = bz_mem_padded(sizeof(*m));
    struct reader r = {0};

    (void)state;
    bz_mailbox_init(m, 4, 256);
    for (unsigned i = 0; i < 4 * 200; i++)
        if (i % 4 != 3) /* one box is quiet */
            assert_true(put(m, i, 0));
    for (unsigned i = 0; i < 5; i++)
        assert_true(bz_mailbox_update(m, i, read_one, &r) > 0);
    assert_true(atomic_load(&m->nupdaters) > 1);
    read_all(m, &r);
    assert_int_equal(r.n, 3 * 200);
    assert_int_equal(atomic_load(&m->nupdaters), 1);
    assert_true(atomic_load(&m->most) > 1);
    for (unsigned i = 0; i < 4 * 50; i++)
        assert_true(put(m, i, 0));
    for (unsigned i = 0; i < 3; i++)
        assert_true(bz_mailbox_update(m, i, read_one, &r) > 0);
    assert_true(atomic_load(&m->nupdaters) > 1);
    /* One letter in the first's domain, again and again: the others find none. */
    for (unsigned i = 0; i < 50; i++) {
        assert_true(put(m, 0, 0));
        assert_true(put(m, 0, 0));
        bz_mailbox_update(m, i, read_one, &r);
    }
    read_all(m, &r);
    assert_int_equal(atomic_load(&m->nupdaters), 1);
    bz_mailbox_release(m);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mail_is_read_once_from_all_boxes),
        cmocka_unit_test(mail_goes_on_at_the_beginning_of_the_ring),
        cmocka_unit_test(long_mail_fills_a_box_before_there_are_many),
        cmocka_unit_test(many_put_and_many_read_each_once),
        cmocka_unit_test(a_full_box_is_passed_over_until_all_are),
        cmocka_unit_test(updaters_come_with_the_mail_and_go_without),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
