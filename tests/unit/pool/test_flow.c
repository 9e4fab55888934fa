#include "pool/flow.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/bz_test.h"

static const char *letter(void *arg, uint32_t node)
{
    static char name[2];

    (void)arg;
    name[0] = (char)('a' + node % 26);
    return name;
}

static void levels_are_longest_paths_and_waves_list_them(void **state)
{
    /*  0 -> 1 -> 3        4 (alone)
     *  0 ------> 3 -> 5
     *  2 ------> 3             */
    static const struct bz_flow_edge edge[] = {
        {0, 1},
        {1, 3},
        {0, 3},
        {2, 3},
        {3, 5},
    };
    static const uint32_t level[] = {0, 1, 0, 2, 0, 3}, order[] = {0, 2, 4, 1, 3, 5};
    static const uint32_t wave[] = {0, 3, 4, 5, 6}, degree[] = {0, 1, 0, 3, 0, 1};
    struct bz_flow *f = bz_flow_new(6);
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(edge); i++)
        bz_flow_edge(f, edge[i].from, edge[i].to);
    assert_ok(bz_flow_close(f, NULL, NULL, &err), &err);
    assert_int_equal(f->levels, 4);
    assert_memory_equal(f->level, level, sizeof(level));
    assert_memory_equal(f->order, order, sizeof(order));
    assert_memory_equal(f->wave, wave, sizeof(wave));
    assert_memory_equal(f->indegree, degree, sizeof(degree));
    bz_flow_free(f);
}

static void a_graph_without_nodes_is_fine(void **state)
{
    struct bz_flow *f = bz_flow_new(0);
    struct bz_err err;

    (void)state;
    assert_ok(bz_flow_close(f, NULL, NULL, &err), &err);
    assert_int_equal(f->levels, 0);
    bz_flow_free(f);
    bz_flow_free(NULL);
}

static void a_cycle_is_an_error_that_names_its_path(void **state)
{
    static const struct {
        uint32_t nedge;
        struct bz_flow_edge edge[5];
        const char *want;
    } t[] = {
        {1, {{1, 1}},                              "dependency cycle of 1: b -> b"     },
        {2, {{0, 1}, {1, 0}},                      "dependency cycle of 2: a -> b -> a"},
 /* With a way in and a way out, neither of which belongs to it. */
        {5,
         {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}},
         "dependency cycle of 3: b -> c -> d -> b"                                     },
    };
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(t); i++) {
        struct bz_flow *f = bz_flow_new(5);

        for (uint32_t e = 0; e < t[i].nedge; e++)
            bz_flow_edge(f, t[i].edge[e].from, t[i].edge[e].to);
        assert_int_equal(bz_flow_close(f, letter, NULL, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, t[i].want);
        bz_flow_free(f);
    }
}

static void a_long_cycle_is_shortened_and_nodes_have_numbers_by_default(void **state)
{
    struct bz_flow *f = bz_flow_new(100000);
    struct bz_err err;

    (void)state;
    for (uint32_t i = 0; i < 100000; i++)
        bz_flow_edge(f, i, (i + 1) % 100000);
    assert_int_equal(bz_flow_close(f, NULL, NULL, &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "dependency cycle of 100000: "));
    assert_non_null(strstr(err.msg, " ... "));
    bz_flow_free(f);
}

static void a_reader_waits_for_the_writer_and_not_for_global_inputs(void **state)
{
    struct bz_flow *f = bz_flow_new(3);
    struct bz_err err;
    uint32_t source = bz_flow_file(f), object = bz_flow_file(f), log = bz_flow_file(f);

    (void)state;
    bz_flow_reads(f, 0, source);
    bz_flow_reads(f, 1, object); /* declared before its writer is known */
    bz_flow_writes(f, 0, object);
    bz_flow_writes(f, 2, log);
    bz_flow_reads(f, 2, log); /* what it wrote itself */
    bz_flow_reads(f, 2, source);
    assert_ok(bz_flow_close(f, NULL, NULL, &err), &err);
    assert_int_equal(f->level[0], 0);
    assert_int_equal(f->level[1], 1);
    assert_int_equal(f->level[2], 0);
    bz_flow_free(f);
}

static void a_file_has_one_writer(void **state)
{
    struct bz_flow *f = bz_flow_new(3);
    struct bz_err err;
    uint32_t file = bz_flow_file(f);

    (void)state;
    bz_flow_writes(f, 1, file);
    bz_flow_writes(f, 1, file); /* saying it twice is harmless */
    bz_flow_writes(f, 2, file);
    assert_int_equal(bz_flow_close(f, NULL, NULL, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "file 0 is written by node 1 and by node 2");
    bz_flow_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_longest_paths_and_waves_list_them),
        cmocka_unit_test(a_graph_without_nodes_is_fine),
        cmocka_unit_test(a_cycle_is_an_error_that_names_its_path),
        cmocka_unit_test(a_long_cycle_is_shortened_and_nodes_have_numbers_by_default),
        cmocka_unit_test(a_reader_waits_for_the_writer_and_not_for_global_inputs),
        cmocka_unit_test(a_file_has_one_writer),
    };

    return cmocka_run_group_tests_name("pool/flow", tests, NULL, NULL);
}
