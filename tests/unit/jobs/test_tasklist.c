#include "jobs/tasklist.h"

#include "base/mem.h"
#include "tests/unit/jobs/crowd.h"

static void the_list_grows_and_keeps_all(void **state)
{
    struct bz_tasklist *l = bz_mem_padded(sizeof(*l));
    char items[100];
    unsigned char seen[100] = {0};

    (void)state;
    bz_tasklist_init(l, 4, 1000);
    for (int i = 0; i < 100; i++)
        assert_true(bz_tasklist_push(l, &items[i]));
    assert_true(atomic_load(&l->nrings) > 3);
    for (int i = 0; i < 100; i++) {
        char *p = bz_tasklist_pop(l);

        assert_non_null(p);
        seen[p - items]++;
    }
    assert_null(bz_tasklist_pop(l));
    for (int i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);
    bz_tasklist_release(l);
    free(l);
}

static void growth_has_an_end(void **state)
{
    struct bz_tasklist *l = bz_mem_padded(sizeof(*l));
    char item;
    size_t n = 0;

    (void)state;
    bz_tasklist_init(l, 4, 16);
    while (bz_tasklist_push(l, &item))
        assert_true(++n < 1000);
    assert_true(n >= 16);
    while (bz_tasklist_pop(l))
        n--;
    assert_int_equal(n, 0);
    assert_true(bz_tasklist_push(l, &item));
    bz_tasklist_release(l);
    free(l);
}

/* There is always room: the list grows meanwhile. */
static bool push(void *list, void *item)
{
    assert_true(bz_tasklist_push(list, item));
    return true;
}

static void *pop(void *list)
{
    return bz_tasklist_pop(list);
}

static void each_is_claimed_once_while_it_grows(void **state)
{
    struct bz_tasklist *l = bz_mem_padded(sizeof(*l));

    (void)state;
    bz_tasklist_init(l, 2, 1 << 20);
    crowd_run(l, push, pop);
    bz_tasklist_release(l);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_grows_and_keeps_all),
        cmocka_unit_test(growth_has_an_end),
        cmocka_unit_test(each_is_claimed_once_while_it_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
