#include "jobs/mailbox.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/bz_test.h"

struct reader {
    size_t n;
    unsigned char seen[256], *base;
};

static void read_one(void *ctx, void *request)
{
    struct reader *r = ctx;

    r->seen[(unsigned char *)request - r->base]++;
    r->n++;
}

static void mail_is_read_once_from_all_boxes(void **state)
{
    struct bz_mailboxes *m = bz_mem_padded(sizeof(*m));
    unsigned char letters[200];
    struct reader r = {.base = letters};

    (void)state;
    bz_mailbox_init(m, 4, 64);
    assert_int_equal(bz_mailbox_update(m, read_one, &r), 0);
    for (unsigned i = 0; i < 200; i++)
        assert_true(bz_mailbox_put(m, i, &letters[i]));
    while (bz_mailbox_update(m, read_one, &r) > 0)
        ;
    assert_int_equal(r.n, 200);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(r.seen[i], 1);
    bz_mailbox_release(m);
    free(m);
}

static void a_full_box_is_passed_over_until_all_are(void **state)
{
    struct bz_mailboxes *m = bz_mem_padded(sizeof(*m));
    unsigned char letter;
    unsigned n = 0;
    struct reader r = {.base = &letter};

    (void)state;
    bz_mailbox_init(m, 3, 8);
    while (bz_mailbox_put(m, 1, &letter)) /* always to the same one first */
        assert_true(++n <= 24);
    assert_int_equal(n, 24);
    while (bz_mailbox_update(m, read_one, &r) > 0)
        ;
    assert_int_equal(r.n, 24);
    bz_mailbox_release(m);
    free(m);
}

static void updaters_come_with_the_mail_and_go_without(void **state)
{
    struct bz_mailboxes *m = bz_mem_padded(sizeof(*m));
    unsigned char letter;
    struct reader r = {.base = &letter};

    (void)state;
    bz_mailbox_init(m, 4, 256);
    for (unsigned i = 0; i < 4 * 200; i++)
        if (i % 4 != 3) /* one box is quiet */
            assert_true(bz_mailbox_put(m, i, &letter));
    for (unsigned i = 0; i < 5; i++)
        assert_true(bz_mailbox_update(m, read_one, &r) > 0);
    assert_true(atomic_load(&m->nupdaters) > 1);
    while (bz_mailbox_update(m, read_one, &r) > 0)
        ;
    assert_int_equal(r.n, 3 * 200);
    assert_int_equal(atomic_load(&m->nupdaters), 1);
    assert_true(atomic_load(&m->most) > 1);
    for (unsigned i = 0; i < 4 * 50; i++)
        assert_true(bz_mailbox_put(m, i, &letter));
    for (unsigned i = 0; i < 3; i++)
        assert_true(bz_mailbox_update(m, read_one, &r) > 0);
    assert_true(atomic_load(&m->nupdaters) > 1);
    /* One letter in the first's domain, again and again: the others find none. */
    for (unsigned i = 0; i < 50; i++) {
        assert_true(bz_mailbox_put(m, 0, &letter));
        assert_true(bz_mailbox_put(m, 0, &letter));
        bz_mailbox_update(m, read_one, &r);
    }
    while (bz_mailbox_update(m, read_one, &r) > 0)
        ;
    assert_int_equal(atomic_load(&m->nupdaters), 1);
    bz_mailbox_release(m);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mail_is_read_once_from_all_boxes),
        cmocka_unit_test(a_full_box_is_passed_over_until_all_are),
        cmocka_unit_test(updaters_come_with_the_mail_and_go_without),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
