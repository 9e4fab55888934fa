#include "sig/base.h"

#include "tests/unit/vars/script.h"

/* The digest of the task T in a store that the script fills. */
static struct bz_digest digest(const char *script, struct bz_base_inputs *inputs,
                               struct bz_buf *names)
{
    struct script s = {0};
    struct bz_digest_hasher *h;
    struct bz_base *b;
    struct bz_digest d;
    struct bz_err err;

    assert_ok(script_run(&s, script, &err), &err);
    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    assert_ok(bz_base_new(script_store(&s), h, &b, &err), &err);
    assert_ok(bz_base_task(b, BZ_STR("T"), &d, inputs, &err), &err);
    for (size_t i = 0; inputs && i < inputs->len; i++)
        bz_buf_addf(names, "%.*s=%.*s\n", BZ_STR_ARG(inputs->at[i].name),
                    BZ_STR_ARG(inputs->at[i].value));
    bz_base_free(b);
    bz_digest_hasher_free(h);
    script_release(&s);
    return d;
}

static const struct {
    const char *before, *after;
    bool changes;
} edits[] = {
  /* what the task reads */
    {"T=${A}\nA=1",                                     "T=${A}\nA=2",                            true },
    {"T=${A}\nA=${B}\nB=1",                             "T=${A}\nA=${B}\nB=2",                    true },
    {"T=${A}",                                          "T=${A} ",                                true },
    {"T=${A}",                                          "T=${B}",                                 true },
    {"PN=a\nT=x",                                       "PN=b\nT=x",                              true },
    {"MACHINE=a\nT=x",                                  "MACHINE=b\nT=x",                         true },
    {"DISTRO=a\nT=x",                                   "DISTRO=b\nT=x",                          true },
 /* the name of what is read, though the values are the same */
    {"T=${A}\nA=1\nT[vardeps]=A",                       "T=${A}\nA=1\nT[vardeps]=B",              true },
 /* what it does not */
    {"T=${A}\nA=1\nC=1",                                "T=${A}\nA=1\nC=2",                       false},
    {"T=${A}\nA=1",                                     "A=1\nT=${A}",                            false},
    {"T=${A}\nA=1\nA[doc]=x",                           "T=${A}\nA=1\nA[doc]=y",                  false},
    {"T=${A}\nBB_BASEHASH_IGNORE_VARS=A\nA=1",          "T=${A}\nBB_BASEHASH_IGNORE_VARS=A\nA=2",
     false                                                                                             },
    {"T=${@bb.utils.contains('F','a','1','2',d)}\nF=a",
     "T=${@bb.utils.contains('F','a','1','2',d)}\nF=b a",                                         false},
    {"T=${@bb.utils.contains('F','a','1','2',d)}\nF=a",
     "T=${@bb.utils.contains('F','a','1','2',d)}\nF=b",                                           true },
 /* the machine means nothing to what runs on the build host */
    {"OVERRIDES=x:class-native\nMACHINE=a\nT=x",
     "OVERRIDES=x:class-native\nMACHINE=b\nT=x",                                                  false},
 /* texts that are the same when they are put one after the other */
    {"T=x\nT[vardeps]=A B\nA=1\nB=23",                  "T=x\nT[vardeps]=A B\nA=12\nB=3",         true },
    {"PN=ab\nT=c",                                      "PN=a\nT=bc",                             true },
    {"T=x\nT[vardeps]=AB\nAB=C",                        "T=x\nT[vardeps]=A\nA=BC",                true },
    {"T=x\nMACHINE=a\nDISTRO=b",                        "T=x\nMACHINE=ab\nDISTRO=",               true },
};

static void exactly_what_a_task_reads_changes_its_digest(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(edits); i++) {
        struct bz_digest a = digest(edits[i].before, NULL, NULL);
        struct bz_digest b = digest(edits[i].after, NULL, NULL);

        if (bz_digest_eq(&a, &b) == edits[i].changes)
            fail_msg("row %zu: %s\n-- and --\n%s", i, edits[i].before, edits[i].after);
    }
}

static void the_inputs_are_listed_by_name(void **state)
{
    struct bz_base_inputs inputs = {0};
    struct bz_buf names = {0};

    (void)state;
    digest("T=${C} ${A}\nA=${B}\nB=1\nC=2\nD=3", &inputs, &names);
    assert_string_equal(bz_buf_text(&names), "T=${C} ${A}\nA=${B}\nB=1\nC=2\n");
    assert_false(bz_digest_is_zero(&inputs.at[0].digest));
    bz_vec_release(&inputs);
    bz_buf_release(&names);
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
        cmocka_unit_test(exactly_what_a_task_reads_changes_its_digest),
        cmocka_unit_test(the_inputs_are_listed_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
