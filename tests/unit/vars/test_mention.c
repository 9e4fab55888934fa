#include "vars/mention.h"

#include "tests/unit/bz_test.h"

#define TEXT(s)                                                                        \
    {                                                                                  \
        BZ_MENTION_STR, BZ_STR(s)                                                      \
    }

static void literals_are_read_and_other_names_are_missed(void **state)
{
    static const struct {
        struct bz_mention call;
        const char *read; /* NULL: nothing */
        bool misses;
        uint8_t arg;
    } rows[] = {
        {{BZ_STR("d.getVar"), {0}, {TEXT("A")}},                                     "A",    false, 0},
        {{BZ_STR("d.getVar"), {0}, {{.type = BZ_MENTION_CODE}}},                     NULL,   true,  0},
        {{BZ_STR("d.getVar"), {0}, {{.type = BZ_MENTION_BYTES}}},                    NULL,   true,  0},
        {{BZ_STR("d.getVarFlag"), {0}, {TEXT("A"), TEXT("f")}},                      "A[f]", false, 0},
        {{BZ_STR("d.getVarFlag"), {0}, {TEXT("A"), {.type = BZ_MENTION_CODE}}},
         NULL,                                                                               true,
         1                                                                                           },
        {{BZ_STR("d.getVarFlag"), {0}, {TEXT("A"), {.type = BZ_MENTION_NONE}}},
         "A[None]",                                                                          false,
         0                                                                                           },
        {{BZ_STR("bb.utils.contains"), {0}, {TEXT("A"), {.type = BZ_MENTION_CODE}}},
         "A",                                                                                false,
         0                                                                                           },
        {{BZ_STR("d.expand"), {0}, {TEXT("<${A}>")}},                                "A",    false, 0},
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        BZ_CLEANUP(bz_refs_release) struct bz_refs refs;
        struct bz_mention_result result;
        struct bz_err err = {0};

        bz_refs_init(&refs, &arena);
        assert_ok(bz_mention_call(&rows[i].call, &refs, &result, &err), &err);
        assert_int_equal(refs.reads.len, rows[i].read ? 1 : 0);
        if (rows[i].read)
            assert_non_null(bz_map_get(&refs.reads, bz_str_from(rows[i].read)));
        assert_int_equal(result.misses, rows[i].misses);
        assert_int_equal(result.arg, rows[i].arg);
        assert_int_equal(refs.execs.len, 0);
    }
}

static void what_a_string_names_is_run(void **state)
{
    static const struct bz_mention call = {
        BZ_STR("bb.build.exec_func"), {0}, {TEXT("f")}};
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_refs_release) struct bz_refs refs;
    struct bz_mention_result result;
    struct bz_err err = {0};

    (void)state;
    bz_refs_init(&refs, &arena);
    assert_ok(bz_mention_call(&call, &refs, &result, &err), &err);
    assert_true(result.runs);
    assert_non_null(bz_map_get(&refs.execs, BZ_STR("f")));
    assert_int_equal(refs.execs.len, 1);
}

static void no_words_at_all_still_name_the_variable(void **state)
{
    static const struct bz_mention call = {
        BZ_STR("bb.utils.filter"), {0         },
         { TEXT("A"), TEXT(" ")}
    };
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_refs_release) struct bz_refs refs;
    struct bz_mention_result result;
    struct bz_err err = {0};

    (void)state;
    bz_refs_init(&refs, &arena);
    assert_ok(bz_mention_call(&call, &refs, &result, &err), &err);
    assert_non_null(bz_map_get(&refs.contains, BZ_STR("A")));
    assert_int_equal(((struct bz_map *)bz_map_get(&refs.contains, BZ_STR("A"))->p)->len,
                     0);
}

static void constants_that_are_no_names_fail_as_in_bitbake(void **state)
{
    static const struct {
        struct bz_mention call;
        int rc;
        const char *msg; /* how it begins */
    } rows[] = {
        {{BZ_STR("d.getVar"), {0}, {{0}}},                                            BZ_E_INVAL, "IndexError"                },
        {{BZ_STR("d.getVarFlag"), {0}, {TEXT("A")}},                                  BZ_E_INVAL, "IndexError"                },
        {{BZ_STR("d.expand"), {0}, {{0}}},                                            BZ_E_INVAL, "IndexError"                },
        {{BZ_STR("bb.build.exec_func"), {0}, {{.type = BZ_MENTION_INT}}},
         BZ_E_INVAL,                                                                              "TypeError"                 },
        {{BZ_STR("bb.utils.contains"), {0}, {TEXT("A"), {.type = BZ_MENTION_BYTES}}},
         BZ_E_INVAL,                                                                              "TypeError"                 },
        {{BZ_STR("bb.utils.filter"), {0}, {TEXT("A"), {.type = BZ_MENTION_NONE}}},
         BZ_E_INVAL,                                                                              "AttributeError: 'NoneType'"},
        {{BZ_STR("d.getVarFlag"), {0}, {TEXT("A"), {.type = BZ_MENTION_FLOAT}}},
         BZ_E_NOSUP,                                                                              "a flag"                    },
        {{BZ_STR("d.getVar"), {0}, {{.type = BZ_MENTION_SECRET}}},
         BZ_E_NOSUP,                                                                              "a name"                    },
        {{BZ_STR("d.expand"), BZ_STR("A"), {TEXT("${A}")}},                           BZ_E_INVAL, ""                          },
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        BZ_CLEANUP(bz_refs_release) struct bz_refs refs;
        struct bz_mention_result result;
        struct bz_err err = {0};

        bz_refs_init(&refs, &arena);
        assert_int_equal(bz_mention_call(&rows[i].call, &refs, &result, &err),
                         rows[i].rc);
        if (strncmp(err.msg, rows[i].msg, strlen(rows[i].msg)) != 0)
            fail_msg("expected '%s', got '%s'", rows[i].msg, err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_read_and_other_names_are_missed),
        cmocka_unit_test(what_a_string_names_is_run),
        cmocka_unit_test(no_words_at_all_still_name_the_variable),
        cmocka_unit_test(constants_that_are_no_names_fail_as_in_bitbake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
