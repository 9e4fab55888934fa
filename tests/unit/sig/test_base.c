#include "sig/base.h"

#include "tests/unit/vars/script.h"

static void the_origins_of_inputs_are_listed_by_name(void **state)
{
    static const struct bz_str names[] = {BZ_STR("T"), BZ_STR("E")};
    BZ_CLEANUP(bz_vec_release) struct bz_base_inputs inputs = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct script s = {0};
    struct bz_digest_hasher *h;
    struct bz_base *b;
    struct bz_err err;

    (void)state;
    assert_ok(script_run(&s, "T=${C} ${A}\nA=${B}\nB=1\nC=2\nD=3\nE=${D}", &err), &err);
    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    assert_ok(bz_base_new(script_store(&s), h, &b, &err), &err);
    assert_ok(bz_base_list(b, names, 2, &inputs, &err), &err);
    for (size_t i = 0; i < inputs.len; i++)
        bz_buf_addf(&text, "%.*s=%.*s\n", BZ_STR_ARG(inputs.at[i].name),
                    BZ_STR_ARG(inputs.at[i].value));
    assert_string_equal(bz_buf_text(&text),
                        "T=${C} ${A}\nA=${B}\nB=1\nC=2\nD=3\nE=${D}\n");
    assert_false(bz_digest_is_zero(&inputs.at[0].digest));
    bz_base_free(b);
    bz_digest_hasher_free(h);
    script_release(&s);
}

static void what_a_revision_was_resolved_to_counts(void **state)
{
    struct bz_digest one = {0}, same = one, other = one;
    struct bz_digest_hasher *h;
    struct bz_err err;

    (void)state;
    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    bz_base_add_commit(h, BZ_STR("r refs/tags/v1"), BZ_STR("11"), &one);
    bz_base_add_commit(h, BZ_STR("r refs/tags/v1"), BZ_STR("11"), &same);
    bz_base_add_commit(h, BZ_STR("r refs/tags/v1"), BZ_STR("22"), &other);
    assert_true(bz_digest_eq(&one, &same));
    assert_false(bz_digest_eq(&one, &other));
    bz_digest_hasher_free(h);
}

static void a_file_counts_by_name_content_and_mode(void **state)
{
    static const struct bz_base_file rows[] = {
        {.name = BZ_STR("a"), .present = true},
        {.name = BZ_STR("b"),                   .present = true},
        {.name = BZ_STR("a"),.present = true, .executable = true},
        {.name = BZ_STR("a"), .present = true, .mode = 0644},
        {.name = BZ_STR("a"), .present = true, .digest = {{1}}},
        {.name = BZ_STR("a")},
    };
    struct bz_digest got[BZ_COUNTOF(rows)] = {0};
    struct bz_digest_hasher *h;
    struct bz_err err;

    (void)state;
    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_vec_release) struct bz_base_files files = {0};

        BZ_VEC_PUSH(&files, rows[i]);
        bz_base_add_files(h, &files, &got[i]);
        for (size_t k = 0; k < i; k++)
            assert_false(bz_digest_eq(&got[i], &got[k]));
    }
    bz_digest_hasher_free(h);
}

static void the_sandbox_counts(void **state)
{
    struct bz_digest none = {0}, one = none, same = none, other = none;
    struct bz_digest_hasher *hasher;
    struct bz_err err;

    (void)state;
    assert_ok(bz_digest_hasher_new(&hasher, &err), &err);
    bz_base_add_policy(hasher, BZ_STR("network none"), &one);
    bz_base_add_policy(hasher, BZ_STR("network none"), &same);
    bz_base_add_policy(hasher, BZ_STR("network host"), &other);
    assert_true(bz_digest_eq(&one, &same));
    assert_false(bz_digest_eq(&one, &other));
    assert_false(bz_digest_eq(&one, &none));
    bz_digest_hasher_free(hasher);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sandbox_counts),
        cmocka_unit_test(the_origins_of_inputs_are_listed_by_name),
        cmocka_unit_test(what_a_revision_was_resolved_to_counts),
        cmocka_unit_test(a_file_counts_by_name_content_and_mode),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
