#include "sig/keystore.h"

#include "tests/unit/vars/script.h"

/* What counts of T in a store that the script fills; one that is not set is "-". */
static const char *text_of(const char *script, const struct bz_keystore_opts *opts,
                           struct bz_buf *out)
{
    struct script s = {0};
    struct bz_keystore k;
    struct bz_str value = {0};
    struct bz_err err;

    assert_ok(script_run(&s, script, &err), &err);
    assert_ok(bz_keystore_open(&k, script_store(&s), BZ_STR("do_x"), opts, &err), &err);
    assert_ok(bz_keystore_get(&k, BZ_STR("T"), &value, &err), &err);
    bz_buf_truncate(out, 0);
    bz_buf_add_str(out, value.p ? value : BZ_STR("-"));
    bz_keystore_close(&k);
    script_release(&s);
    return bz_buf_text(out);
}

static const struct {
    const char *script, *text;
} rows[] = {
    {"A=1",                                                               "-"                    },
    {"T=${A} b\nA=${B}\nB=1",                                             "1 b"                  },
    {"T=${A}",                                                            "${A}"                 },
 /* a direct reference to what is excluded stays its name */
    {"BB_BASEHASH_IGNORE_VARS=A\nT=x ${A}\nA=1",                          "x ${A}"               },
    {"BB_BASEHASH_IGNORE_VARS=A\nT=${B}\nB=y ${A}\nA=1",                  "y ${A}"               },
    {"T=${A} ${B}\nT[vardepsexclude]=A\nA=1\nB=2",                        "${A} 2"               },
 /* edge by edge */
    {"T=${A} ${B}\nB=${A}\nB[vardepsexclude]=A\nA=1",                     "1 ${A}"               },
    {"T=${A} ${B}\nT[vardepsexclude]=A\nB=${A}\nA=1",                     "${A} 1"               },
 /* but a name and code are made of values */
    {"BB_BASEHASH_IGNORE_VARS=A\nT=${B_${A}}\nA=1\nB_1=x",                "x"                    },
    {"BB_BASEHASH_IGNORE_VARS=A\nT=${@'${A}' + '!'}\nA=1",                "1!"                   },
    {"BB_BASEHASH_IGNORE_VARS=A\nT=${@d.getVar('A') + '!'}\nA=1",         "1!"                   },
    {"T=${@'${B}' + '!'}\nB=${A}\nB[vardepsexclude]=A\nA=1",              "1!"                   },
    {"BB_BASEHASH_IGNORE_VARS=FILE\nFILE=/x/a_2.bb\n"
     "T=${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1]}", "2"                    },
 /* what differs between machines is the same for code, if it is excluded */
    {"BB_BASEHASH_IGNORE_VARS=PARALLEL_MAKE\nPARALLEL_MAKE=-j 16\n"
     "T=${PARALLEL_MAKE} ${@d.getVar('PARALLEL_MAKE')}",             "${PARALLEL_MAKE} -j 1"},
    {"PARALLEL_MAKE=-j 16\nT=${@d.getVar('PARALLEL_MAKE')}",              "-j 16"                },
 /* what the metadata says counts instead */
    {"T=${A}\nA=1\nA[vardepvalue]=one",                                   "one"                  },
    {"T=1\nT[vardepvalue]=${A}\nA=2",                                     "2"                    },
    {"T=1\nT[vardepvalue]=${T}",                                          "1"                    },
    {"T=a b ${C}\nT[vardepvalueexclude]=b | ${C}\nC=c",                   "a"                    },
 /* operations and overrides are those of the values */
    {"T=a ${A} c\nT:remove=c\nA=1",                                       "a 1 "                 },
    {"BB_BASEHASH_IGNORE_VARS=M\nOVERRIDES=${M}\nM=arm\nT=x\nT:arm=y",    "y"                    },
    {"T=x\nT:task-x=y",                                                   "y"                    },
    {"T=${BB_CURRENTTASK}",                                               "x"                    },
 /* who builds is the same everywhere, whatever is excluded */
    {"BB_BASEHASH_IGNORE_VARS=USER HOME\nUSER=me\nT=${USER} ${HOME}",     "builder /tmp"         },
};

static void a_value_counts_as_tasks_see_it_but_for_what_is_excluded(void **state)
{
    const struct bz_keystore_opts opts = {0};
    struct bz_buf out = {0};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        const char *got = text_of(rows[i].script, &opts, &out);

        if (strcmp(got, rows[i].text) != 0)
            fail_msg("%s\n gives '%s', not '%s'", rows[i].script, got, rows[i].text);
    }
    bz_buf_release(&out);
}

static void the_clock_says_what_it_is_told(void **state)
{
    static const char script[] = "T=${@time.strftime('%Y', time.gmtime())}";
    const struct bz_keystore_opts then = {.clock = 981173106},
                                  later = {.clock = 1981173106};
    struct bz_buf out = {0};

    (void)state;
    assert_string_equal(text_of(script, &then, &out), "2001");
    assert_string_equal(text_of(script, &later, &out), "2032");
    bz_buf_release(&out);
}

static void real_values_are_seen_if_that_is_asked_for(void **state)
{
    static const char script[] = "BB_BASEHASH_IGNORE_VARS=DATE\nDATE=20261118\n"
                                 "T=${@d.getVar('DATE')}";
    const struct bz_keystore_opts real = {.real = true}, fixed = {0};
    struct bz_buf out = {0};

    (void)state;
    assert_string_equal(text_of(script, &real, &out), "20261118");
    assert_string_equal(text_of(script, &fixed, &out), "20010203");
    bz_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_counts_as_tasks_see_it_but_for_what_is_excluded),
        cmocka_unit_test(the_clock_says_what_it_is_told),
        cmocka_unit_test(real_values_are_seen_if_that_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
