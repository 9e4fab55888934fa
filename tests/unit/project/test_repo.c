#include "project/repo.h"

#include "codec/yaml.h"
#include "tests/unit/project/project_test.h"

#define HASH "0123456789abcdef0123456789abcdef01234567"
#define OTHER "ffffffffffffffffffffffffffffffffffffffff"

/* The repository `r` of a project that is this one file. */
struct fixture {
    struct bz_arena arena;
    struct bz_kas_tree tree;
    struct bz_buf notes_text;
    struct bz_kas_notes notes;
    struct bz_repo_dirs dirs;
    struct bz_repo repo;
};

static int read_repo(struct fixture *f, const char *yaml, struct bz_err *err)
{
    const struct bz_doc *d;

    *f = (struct fixture){
        .dirs = {"/nowhere/work", "/nowhere/src"}
    };
    f->tree.arena = &f->arena;
    f->notes = (struct bz_kas_notes){keep_note, &f->notes_text, 0};
    assert_ok(bz_yaml_parse(&f->arena, bz_str_from(yaml), NULL, &d, err), err);
    assert_ok(bz_kas_tree_add(&f->tree, d, "k.yml", err), err);
    return bz_repo_read(&f->arena, f->tree.root, BZ_STR("r"), &f->dirs, &f->notes,
                        &f->repo, err);
}

static void end(struct fixture *f)
{
    bz_kas_tree_release(&f->tree);
    bz_buf_release(&f->notes_text);
    bz_arena_release(&f->arena);
}

static const char *text_or_dash(struct bz_kas_value v)
{
    return v.text.p ? v.text.p : "-";
}

static void revisions_have_defaults_and_overrides(void **state)
{
    static const struct {
        const char *yaml, *want; /* url commit tag branch refspec */
    } cases[] = {
        {"repos: {r: {url: u, branch: b}}",                                              "u - - b -"       },
        {"repos: {r: {url: u, commit: " HASH "}}",                                       "u " HASH " - - -"},
        {"repos: {r: {url: u}}\ndefaults: {repos: {branch: d}}",                         "u - - d -"       },
        {"repos: {r: {url: u, branch: b}}\ndefaults: {repos: {branch: d, tag: t}}",
         "u - t b -"                                                                                       },
        {"repos: {r: {url: u, tag: t, branch: }}\ndefaults: {repos: {branch: d}}",
         "u - t - -"                                                                                       },
        {"repos: {r: {url: u, branch: b}}\noverrides: {repos: {r: {commit: " HASH "}}}",
         "u " HASH " - b -"                                                                                },
        {"repos: {r: {url: u, commit: " HASH "}}\n"
         "overrides: {repos: {r: {commit: " OTHER ", branch: o, url: v}}}",
         "v " OTHER " - o -"                                                                               },
        {"repos: {r: {url: u, commit: " HASH ", branch: b}}\n"
         "overrides: {repos: {r: {commit: , branch: }}}",                       "u - - - -"       },
        {"repos: {r: {url: u, branch: b}}\noverrides: {repos: {x: {commit: " HASH "}}}",
         "u - - b -"                                                                                       },
        {"repos: {r: {url: u, refspec: s}}",                                             "u - - - s"       },
        {"repos: {r: {url: u}}\ndefaults: {repos: {refspec: s}}",                        "u - - - s"       },
        {"repos: {r: {url: u, refspec: s}}\noverrides: {repos: {r: {commit: " HASH
         "}}}",                                                                 "u - - - " HASH   },
        {"repos: {r: }",                                                                 "- - - - -"       },
        {"repos: {r: {url: }}",                                                          "- - - - -"       },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct fixture f;
        struct bz_err err;
        char got[256];

        assert_ok(read_repo(&f, cases[i].yaml, &err), &err);
        snprintf(got, sizeof(got), "%s %s %s %s %s", text_or_dash(f.repo.url),
                 text_or_dash(f.repo.commit), text_or_dash(f.repo.tag),
                 text_or_dash(f.repo.branch), text_or_dash(f.repo.refspec));
        assert_string_equal(got, cases[i].want);
        assert_string_equal(bz_buf_text(&f.notes_text), "");
        end(&f);
    }
}

static void a_repository_is_where_its_path_or_name_says(void **state)
{
    static const struct {
        const char *yaml, *path;
    } cases[] = {
        {"repos: {r: {url: u, branch: b}}",                     "/nowhere/work/r"  },
        {"repos: {r: {url: u, branch: b, name: n}}",            "/nowhere/work/n"  },
        {"repos: {r: {url: u, branch: b, name: n, path: a/b}}", "/nowhere/work/a/b"},
        {"repos: {r: {url: u, branch: b, path: ../x}}",         "/nowhere/x"       },
        {"repos: {r: {url: u, branch: b, path: }}",             "/nowhere/work/r"  },
        {"repos: {r: {path: p}}",                               "/nowhere/work/p"  },
        {"repos: {r: {path: /a/b/}}",                           "/a/b"             },
        {"repos: {r: }",                                        "/nowhere/src"     },
        {"repos: {r: {layers: {a: }}}",                         "/nowhere/src"     },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct fixture f;
        struct bz_err err;

        assert_ok(read_repo(&f, cases[i].yaml, &err), &err);
        assert_string_equal(f.repo.path, cases[i].path);
        assert_false(f.repo.present);
        end(&f);
    }
}

static void layers_are_all_but_the_disabled_ones(void **state)
{
    static const struct {
        const char *layers, *want;
    } cases[] = {
        {"",                                             "/w/r:0"                       },
        {"layers: ",                                     "/w/r:0"                       },
        {"layers: {}",                                   ""                             },
        {"layers: {.: }",                                "/w/r:0"                       },
        {"layers: {b: , a: , .: }",                      "/w/r/b:0 /w/r/a:0 /w/r:0"     },
        {"layers: {a: disabled, b: {prio: 7}, c: {}}",   "/w/r/b:7 /w/r/c:0"            },
        {"layers: {a: excluded, b: no, c: 0, d: false}", ""                             },
        {"layers: {sub/dir: , ../up: , /abs: }",         "/w/r/sub/dir:0 /w/up:0 /abs:0"},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_buf got = {0};
        struct fixture f;
        struct bz_err err;
        char yaml[256];

        snprintf(yaml, sizeof(yaml), "repos: {r: {path: /w/r, %s}}", cases[i].layers);
        assert_ok(read_repo(&f, yaml, &err), &err);
        for (size_t k = 0; k < f.repo.nlayers; k++) {
            bz_buf_addf(&got, "%s%s:%d", k ? " " : "", f.repo.layers[k].path,
                        f.repo.layers[k].prio);
            assert_ptr_equal(f.repo.layers[k].repo, &f.repo);
            assert_place(f.repo.layers[k].at, "k.yml", 1);
        }
        assert_string_equal(bz_buf_text(&got), cases[i].want);
        bz_buf_release(&got);
        end(&f);
    }
}

static void patches_apply_in_the_order_of_their_ids(void **state)
{
    struct fixture f;
    struct bz_err err;

    (void)state;
    assert_ok(read_repo(&f,
                        "defaults: {repos: {patches: {repo: d}}}\n"
                        "repos: {r: {patches: {p2: {path: two}, p3: , "
                        "p1: {repo: x, path: one}}}}",
                        &err),
              &err);
    assert_int_equal(f.repo.npatches, 2);
    assert_slice(f.repo.patches[0].id, "p1");
    assert_slice(f.repo.patches[0].repo.text, "x");
    assert_slice(f.repo.patches[0].path.text, "one");
    assert_slice(f.repo.patches[1].id, "p2");
    assert_slice(f.repo.patches[1].repo.text, "d");
    end(&f);
}

static void signers_are_kept_for_whoever_checks_out(void **state)
{
    struct fixture f;
    struct bz_err err;

    (void)state;
    assert_ok(
        read_repo(&f, "repos: {r: {signed: true, allowed_signers: [a, b]}}", &err),
        &err);
    assert_true(f.repo.is_signed);
    assert_int_equal(f.repo.nsigners, 2);
    assert_slice(f.repo.signers[1].text, "b");
    end(&f);
    assert_ok(read_repo(&f, "repos: {r: {signed: false, allowed_signers: [a]}}", &err),
              &err);
    assert_false(f.repo.is_signed);
    end(&f);
}

static void nonsense_is_refused_at_its_place(void **state)
{
    static const struct {
        const char *yaml;
        int code;
        const char *msg;
    } cases[] = {
        {"repos: {x: }",                                    BZ_E_NOENT, "no repository 'r' in the project"},
        {"machine: m",                                      BZ_E_NOENT, "no repository 'r' in the project"},
        {"repos:\n  r: {url: u}",                           BZ_E_INVAL,
         "k.yml:2:6: repository 'r' has a url but neither commit, tag nor branch"                         },
        {"repos: {r: {url: u, tag: t, refspec: s}}",        BZ_E_INVAL,
         "k.yml:1:12: repository 'r' has a 'refspec' and also a commit, tag or branch"                    },
        {"repos: {r: {signed: true}}",                      BZ_E_INVAL,
         "k.yml:1:12: repository 'r' is signed, but 'allowed_signers' names nobody"                       },
        {"repos: {r: {signed: true, allowed_signers: []}}", BZ_E_INVAL,
         "k.yml:1:12: repository 'r' is signed, but 'allowed_signers' names nobody"                       },
        {"repos: {r: {patches: {p: {path: x}}}}",           BZ_E_INVAL,
         "k.yml:1:26: patch 'p' does not say which 'repo' it is in, and there is no "
         "default"                                                                                        },
        {"repos: {r: {url: u, branch: b, name: ../up}}",    BZ_E_INVAL,
         "k.yml:1:12: repository 'r' has a name that is no name of a directory"                           },
        {"repos: {r: {url: u, branch: b, name: ''}}",       BZ_E_INVAL,
         "k.yml:1:12: repository 'r' has a name that is no name of a directory"                           },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_err err = {0};
        struct fixture f;

        assert_int_equal(read_repo(&f, cases[i].yaml, &err), cases[i].code);
        assert_string_equal(err.msg, cases[i].msg);
        end(&f);
    }
}

static void a_commit_that_is_no_full_hash_is_warned_about(void **state)
{
    struct fixture f;
    struct bz_err err;

    (void)state;
    assert_ok(read_repo(&f, "repos: {r: {url: u, commit: abcdef1}}", &err), &err);
    assert_string_equal(
        bz_buf_text(&f.notes_text),
        "k.yml:1:29: commit 'abcdef1' of repository 'r' is not a full hash\n");
    end(&f);
    assert_ok(read_repo(&f, "repos: {r: {url: u, commit: abcdef1, type: hg}}", &err),
              &err);
    assert_int_equal(f.repo.type, BZ_REPO_HG);
    assert_string_equal(bz_buf_text(&f.notes_text), "");
    end(&f);
}

static void only_a_full_hash_is_a_hash(void **state)
{
    static const struct {
        const char *text;
        bool is;
    } cases[] = {
        {HASH,                                       true },
        {HASH "0123456789abcdef01234567",            true },
        {"",                                         false},
        {"abcdef1",                                  false},
        {HASH "0",                                   false},
        {"0123456789ABCDEF0123456789ABCDEF01234567", false},
        {"g123456789abcdef0123456789abcdef01234567", false},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_repo_is_hash(bz_str_from(cases[i].text)), cases[i].is);
}

static void what_is_not_on_disk_is_said_with_its_directory(void **state)
{
    struct scratch *s = *state;
    struct bz_err err = {0};
    struct fixture f;
    char yaml[512];

    assert_ok(read_repo(&f, "repos: {r: {url: u, branch: b}}", &err), &err);
    assert_int_equal(bz_repo_require(&f.repo, &err), BZ_E_NOENT);
    assert_string_equal(err.msg, "k.yml:1:12: repository 'r' is not checked out: "
                                 "expected in /nowhere/work/r");
    end(&f);
    assert_ok(read_repo(&f, "repos: {r: {path: here}}", &err), &err);
    assert_int_equal(bz_repo_require(&f.repo, &err), BZ_E_NOENT);
    assert_string_equal(err.msg, "k.yml:1:12: repository 'r' is not there: expected in "
                                 "/nowhere/work/here");
    end(&f);
    snprintf(yaml, sizeof(yaml), "repos: {r: {path: %s}}", s->path);
    assert_ok(read_repo(&f, yaml, &err), &err);
    assert_ok(bz_repo_require(&f.repo, &err), &err);
    end(&f);
    put(s->fd, "file", "");
    snprintf(yaml, sizeof(yaml), "repos: {r: {path: %s/file}}", s->path);
    assert_ok(read_repo(&f, yaml, &err), &err);
    assert_false(f.repo.present);
    end(&f);
}

static void the_root_is_found_as_the_tools_find_it(void **state)
{
    static const struct {
        const char *dir, *root; /* NULL: none */
    } cases[] = {
        {"git",        "git"     },
        {"git/a/b",    "git"     },
        {"hg/a",       "hg"      },
        {"git/a/hg",   "git"     }, /* git is asked first */
        {"git/sub/x",  "git"     }, /* a submodule belongs to what it is in */
        {"git/tree",   "git/tree"}, /* a worktree is a repository */
        {"alone",      "alone"   }, /* a submodule of nothing */
        {"git/broken", "git"     }, /* no HEAD, no repository */
        {"link",       "git"     },
        {"plain/dir",  NULL      },
        {"missing",    NULL      },
    };
    struct scratch *s = *state;

    put_file(s, "git/.git/HEAD", "");
    make_dirs(s->fd, "git/broken/.git");
    make_dirs(s->fd, "git/a/b");
    make_dirs(s->fd, "git/a/hg/.hg");
    make_dirs(s->fd, "hg/.hg");
    make_dirs(s->fd, "hg/a");
    make_dirs(s->fd, "plain/dir");
    make_dirs(s->fd, "git/sub/x");
    put_file(s, "git/sub/.git", "gitdir: ../.git/modules/sub\n");
    put_file(s, "git/tree/.git", "gitdir: /elsewhere/.git/worktrees/tree\n");
    put_file(s, "alone/.git", "gitdir: ../.git/modules/alone\n");
    assert_int_equal(symlinkat("git/a/b", s->fd, "link"), 0);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_path root;
        char dir[512];
        bool found;

        snprintf(dir, sizeof(dir), "%s/%s", s->path, cases[i].dir);
        found = bz_repo_root(dir, &root);
        if (!cases[i].root) {
            assert_false(found);
            continue;
        }
        assert_true(found);
        snprintf(dir, sizeof(dir), "DIR/%s", cases[i].root);
        assert_message(s, root.s, dir);
    }
}

static void a_url_is_shown_without_its_password(void **state)
{
    static const struct {
        const char *url, *shown;
    } urls[] = {
        {"https://example.com/r.git",       "https://example.com/r.git"   },
        {"https://me:secret@example.com/r", "https://me:***@example.com/r"},
        {"https://me:s@cret@example.com",   "https://me:***@example.com"  },
        {"ssh://git@example.com:22/r",      "ssh://git@example.com:22/r"  },
        {"https://example.com/a:b@c",       "https://example.com/a:b@c"   },
        {"git@example.com:r.git",           "git@example.com:r.git"       },
        {"",                                ""                            },
    };
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_repo repo = {0};

    (void)state;
    assert_null(bz_repo_shown_url(&arena, &repo).p);
    for (size_t i = 0; i < BZ_COUNTOF(urls); i++) {
        repo.url.text = bz_str_from(urls[i].url);
        assert_slice(bz_repo_shown_url(&arena, &repo), urls[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_is_shown_without_its_password),
        cmocka_unit_test(revisions_have_defaults_and_overrides),
        cmocka_unit_test(a_repository_is_where_its_path_or_name_says),
        cmocka_unit_test(layers_are_all_but_the_disabled_ones),
        cmocka_unit_test(patches_apply_in_the_order_of_their_ids),
        cmocka_unit_test(signers_are_kept_for_whoever_checks_out),
        cmocka_unit_test(nonsense_is_refused_at_its_place),
        cmocka_unit_test(a_commit_that_is_no_full_hash_is_warned_about),
        cmocka_unit_test(only_a_full_hash_is_a_hash),
        scratch_test(what_is_not_on_disk_is_said_with_its_directory),
        scratch_test(the_root_is_found_as_the_tools_find_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
