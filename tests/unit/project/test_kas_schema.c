#include "project/kas_schema.h"

#include "codec/yaml.h"
#include "tests/unit/project/project_test.h"

static int check(const char *yaml, struct bz_kas_notes *notes, unsigned *version,
                 struct bz_err *err)
{
    struct bz_arena a = {0};
    const struct bz_doc *d;
    int rc;

    assert_ok(bz_yaml_parse(&a, bz_str_from(yaml), NULL, &d, err), err);
    rc = bz_kas_schema_check(d, "k.yml", notes, version, err);
    bz_arena_release(&a);
    return rc;
}

#define HEADER "header: {version: 14}\n"

/* Every key of the format with a value of each type it may have. */
static const char everything[] =
    "header:\n"
    "  version: 23\n"
    "  includes: [a.yml, {repo: poky, file: b.yml}]\n"
    "machine: m\n"
    "distro: d\n"
    "target: [a, 'mc:x:b']\n"
    "task: t\n"
    "build_system: oe\n"
    "env: {A: '1', B: }\n"
    "repos:\n"
    "  own:\n"
    "  poky:\n"
    "    name: p\n"
    "    url: https://example.org/p\n"
    "    type: git\n"
    "    commit: abc\n"
    "    branch: ~\n"
    "    tag: ~\n"
    "    path: layers/p\n"
    "    signed: true\n"
    "    allowed_signers: [me]\n"
    "    layers: {meta: , meta-x: disabled, meta-y: {prio: -99}}\n"
    "    patches: {p1: {repo: own, path: p.patch}, p2: }\n"
    "  other: {url: , path: , layers: }\n"
    "defaults: {repos: {branch: b, tag: t, patches: {repo: own}}}\n"
    "overrides: {repos: {poky: {commit: , branch: , url: u}, own: {commit: c}}}\n"
    "local_conf_header: {a: 'X = \"1\"'}\n"
    "bblayers_conf_header: {a: 'Y = \"1\"'}\n"
    "menu_configuration: {A: true, B: 1, C: s}\n"
    "artifacts: {a: path}\n"
    "signers: {me: {type: gpg, repo: own, path: k, fingerprint: f, gpg_keyserver: s}}\n"
    "buildtools: {version: '5', sha256sum: s, base_url: u, filename: f, extra: 1}\n"
    "_source_dir: /x\n"
    "_source_dir_host: /y\n";

static void all_keys_of_the_format_pass_without_a_warning(void **state)
{
    struct bz_buf got = {0};
    struct bz_kas_notes notes = {keep_note, &got, 0};
    struct bz_err err;
    unsigned version = 0;

    (void)state;
    assert_ok(check(everything, &notes, &version, &err), &err);
    assert_string_equal(bz_buf_text(&got), "");
    assert_int_equal(version, 23);
    bz_buf_release(&got);
}

static void the_version_is_a_number_or_the_first_one(void **state)
{
    static const struct {
        const char *yaml;
        unsigned version;
    } cases[] = {
        {"header: {version: 1}",      1 },
        {"header: {version: 22}",     22},
        {"header: {version: '0.10'}", 1 },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_err err;
        unsigned version = 0;

        assert_ok(check(cases[i].yaml, NULL, &version, &err), &err);
        assert_int_equal(version, cases[i].version);
    }
}

static void what_the_format_does_not_allow_is_named_with_its_place(void **state)
{
    static const struct {
        const char *yaml;
        int code;
        const char *msg;
    } cases[] = {
        {"",                                              BZ_E_INVAL, "k.yml:1:1: expected a map, found nothing"     },
        {"[a]",                                           BZ_E_INVAL, "k.yml:1:1: expected a map, found a list"      },
        {"machine: x",                                    BZ_E_INVAL, "k.yml:1:1: key 'header' is missing"           },
        {"header: {}",                                    BZ_E_INVAL, "k.yml:1:9: key 'version' is missing in header"},
        {"header: {version: '14'}",                       BZ_E_INVAL,
         "k.yml:1:19: header.version: expected a version number, found '14'"                                         },
        {"header: {version: 0.10}",                       BZ_E_INVAL,
         "k.yml:1:19: header.version: expected a version number, found a number; a "
         "string needs quotes here"                                                                                  },
        {"header: {version: 0}",                          BZ_E_INVAL,
         "k.yml:1:19: header.version: expected a version number, found one below 1"                                  },
        {"header: {version: 24}",                         BZ_E_NOSUP,
         "k.yml:1:19: format version 24 is not supported; the newest is 23"                                          },
        {"header: {version: 9, includes: a.yml}",         BZ_E_INVAL,
         "k.yml:1:32: header.includes: expected a list of files, found a string"                                     },
        {"header: {version: 9, includes: [[a]]}",         BZ_E_INVAL,
         "k.yml:1:33: header.includes: expected a file name or a map with 'repo' and "
         "'file', found a list"                                                                                      },
        {"header: {version: 9, includes: [{repo: a}]}",   BZ_E_INVAL,
         "k.yml:1:33: key 'file' is missing in header.includes"                                                      },
        {HEADER "machine: [a]",                           BZ_E_INVAL,
         "k.yml:2:10: machine: expected a string, found a list"                                                      },
        {HEADER "machine: 7",                             BZ_E_INVAL,
         "k.yml:2:10: machine: expected a string, found an integer; a string needs "
         "quotes here"                                                                                               },
        {HEADER "target: {a: b}",                         BZ_E_INVAL,
         "k.yml:2:9: target: expected a string or a list of strings, found a map"                                    },
        {HEADER "target: [a, 1]",                         BZ_E_INVAL,
         "k.yml:2:13: target: expected a string, found an integer; a string needs "
         "quotes here"                                                                                               },
        {HEADER "build_system: make",                     BZ_E_INVAL,
         "k.yml:2:15: build_system: expected openembedded, oe, isar, isar-privileged "
         "or isar-rootless, found 'make'"                                                                            },
        {HEADER "env: {A: true}",                         BZ_E_INVAL,
         "k.yml:2:10: env.A: expected a string or nothing, found a boolean; a string "
         "needs quotes here"                                                                                         },
        {HEADER "repos:\n  a:\n    url: [x]\n",           BZ_E_INVAL,
         "k.yml:4:10: repos.a.url: expected a string or nothing, found a list"                                       },
        {HEADER "repos: {a: {type: svn}}",                BZ_E_INVAL,
         "k.yml:2:19: repos.a.type: expected git or hg, found 'svn'"                                                 },
        {HEADER "repos: {a: {layers: [m]}}",              BZ_E_INVAL,
         "k.yml:2:21: repos.a.layers: expected a map of layers, found a list"                                        },
        {HEADER "repos: {a: {layers: {m: enabled}}}",     BZ_E_INVAL,
         "k.yml:2:25: repos.a.layers.m: expected nothing, 'disabled' or a map with "
         "'prio', found 'enabled'"                                                                                   },
        {HEADER "repos: {a: {layers: {m: 1}}}",           BZ_E_INVAL,
         "k.yml:2:25: repos.a.layers.m: expected nothing, 'disabled' or a map with "
         "'prio', found a number"                                                                                    },
        {HEADER "repos: {a: {layers: {m: true}}}",        BZ_E_INVAL,
         "k.yml:2:25: repos.a.layers.m: expected nothing, 'disabled' or a map with "
         "'prio', found true"                                                                                        },
        {HEADER "repos: {a: {layers: {m: {prio: 100}}}}", BZ_E_INVAL,
         "k.yml:2:32: repos.a.layers.m.prio: expected a number from -99 to 99, found "
         "one outside"                                                                                               },
        {HEADER "repos: {a: {patches: {p: {repo: a}}}}",  BZ_E_INVAL,
         "k.yml:2:26: key 'path' is missing in repos.a.patches.p"                                                    },
        {HEADER "local_conf_header: text",                BZ_E_INVAL,
         "k.yml:2:20: local_conf_header: expected a map of strings, found a string"                                  },
        {HEADER "local_conf_header: {a: }",               BZ_E_INVAL,
         "k.yml:2:24: local_conf_header.a: expected a string, found nothing"                                         },
        {HEADER "overrides: {repos: {a: }}",              BZ_E_INVAL,
         "k.yml:2:24: overrides.repos.a: expected a map, found nothing"                                              },
        {HEADER "buildtools: {version: '1'}",             BZ_E_INVAL,
         "k.yml:2:13: key 'sha256sum' is missing in buildtools"                                                      },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_err err = {0};
        unsigned version;

        assert_int_equal(check(cases[i].yaml, NULL, &version, &err), cases[i].code);
        assert_string_equal(err.msg, cases[i].msg);
    }
}

static void unknown_and_old_keys_are_warned_about(void **state)
{
    static const struct {
        const char *yaml, *notes;
    } cases[] = {
        {HEADER "machin: x",
         "k.yml:2: unknown key 'machin'; did you mean 'machine'?\n"                                                                },
        {HEADER "enviroment: {}",                                         "k.yml:2: unknown key 'enviroment'\n"                    },
        {HEADER "traget: x",                                              "k.yml:2: unknown key 'traget'; did you mean 'target'?\n"},
        {HEADER "local_conf_heder: {}",                                   "k.yml:2: unknown key 'local_conf_heder'; did "
                                        "you mean 'local_conf_header'?\n"                   },
        {"header: {version: 1, include: []}",
         "k.yml:1: unknown key 'include' in header; did you mean 'includes'?\n"                                                    },
        {HEADER "repos:\n  a:\n    brnach: x",
         "k.yml:4: unknown key 'brnach' in repos.a; did you mean 'branch'?\n"                                                      },
        {HEADER "x: {deep: [1, {2: 3}]}",                                 "k.yml:2: unknown key 'x'\n"                             },
        {HEADER "a-key-that-is-far-longer-than-any-key-of-the-format: 1",
         "k.yml:2: unknown key "
         "'a-key-that-is-far-longer-than-any-key-of-the-format'\n"                                                                 },
        {HEADER "repos: {a: {refspec: r}}",
         "k.yml:2: 'refspec' is obsolete: use 'commit', 'branch' or 'tag' instead\n"                                               },
        {HEADER "proxy_config: {http_proxy: p, x: [1]}",
         "k.yml:2: 'proxy_config' is obsolete: it has no effect\n"                                                                 },
        {HEADER "repos: {a: {layers: {m: excluded}}}",
         "k.yml:2:25: this is an old way to switch a layer off; write 'disabled'\n"                                                },
        {HEADER "repos: {a: {layers: {m: 0}}}",
         "k.yml:2:25: this is an old way to switch a layer off; write 'disabled'\n"                                                },
        {HEADER "repos: {a: {layers: {m: false}}}",
         "k.yml:2:25: this is an old way to switch a layer off; write 'disabled'\n"                                                },
        {HEADER "repos: {a: {layers: {m: off}}}",
         "k.yml:2:25: this is an old way to switch a layer off; write 'disabled'\n"                                                },
        {HEADER "? ''\n: 1\n",                                            "k.yml:2: unknown key ''\n"                              },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_buf got = {0};
        struct bz_kas_notes notes = {keep_note, &got, 0};
        struct bz_err err;
        unsigned version;

        assert_ok(check(cases[i].yaml, &notes, &version, &err), &err);
        assert_string_equal(bz_buf_text(&got), cases[i].notes);
        bz_buf_release(&got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_keys_of_the_format_pass_without_a_warning),
        cmocka_unit_test(the_version_is_a_number_or_the_first_one),
        cmocka_unit_test(what_the_format_does_not_allow_is_named_with_its_place),
        cmocka_unit_test(unknown_and_old_keys_are_warned_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
