#include "project/kas.h"

#include "tests/unit/project/project_test.h"

static int load(const struct scratch *s, const char *files, const char *const *env,
                struct bz_kas **kas, struct bz_err *err)
{
    const struct bz_kas_options opt = {.cwd = s->path, .env = env};

    return bz_kas_load(files, &opt, kas, err);
}

static struct bz_kas *loaded(const struct scratch *s, const char *files,
                             const char *const *env)
{
    struct bz_kas *kas = NULL;
    struct bz_err err;

    assert_ok(load(s, files, env, &kas, &err), &err);
    return kas;
}

static void a_bare_file_has_the_defaults_of_the_format(void **state)
{
    struct scratch *s = *state;
    struct bz_kas *kas;

    put_file(s, "k/a.yml", "header: {version: 3}\n");
    kas = loaded(s, "k/a.yml", NULL);
    assert_slice(kas->machine.text, "qemux86-64");
    assert_null(kas->machine.at.file);
    assert_slice(kas->distro.text, "nodistro");
    assert_slice(kas->task.text, "build");
    assert_slice(kas->build_system.text, "openembedded");
    assert_int_equal(kas->ntargets, 1);
    assert_slice(kas->targets[0].text, "core-image-minimal");
    assert_int_equal(kas->nrepos, 0);
    assert_int_equal(kas->nlayers, 0);
    assert_int_equal(kas->version, 3);
    assert_string_equal(kas->work_dir, s->path);
    assert_message(s, kas->build_dir, "DIR/build");
    assert_message(s, kas->root, "DIR/k");
    assert_message(s, kas->lock, "DIR/k/a.lock.yml");
    bz_kas_free(kas);
}

static void later_files_win_and_every_value_knows_where_it_is_from(void **state)
{
    struct scratch *s = *state;
    struct bz_kas *kas;

    put_file(s, "base.yml",
             "header: {version: 20}\n"
             "machine: base\n"
             "distro: base\n"
             "target: [one, two]\n"
             "env: {A: base, B: base}\n"
             "local_conf_header: {m: from base, z: last}\n");
    put_file(s, "top.yml",
             "header: {version: 14, includes: [base.yml]}\n"
             "machine: top\n"
             "target: [three]\n"
             "env: {B: top, C: }\n"
             "local_conf_header: {m: from top, a: first}\n");
    put_file(s, "more.yml", "header: {version: 1}\ntask: fetch\n");
    kas = loaded(s, "top.yml:more.yml", NULL);
    assert_int_equal(kas->version, 20);
    assert_int_equal(kas->nfiles, 3);
    assert_slice(kas->machine.text, "top");
    assert_place(kas->machine.at, "top.yml", 2);
    assert_slice(kas->distro.text, "base");
    assert_place(kas->distro.at, "base.yml", 3);
    assert_slice(kas->task.text, "fetch");
    assert_int_equal(kas->ntargets, 1); /* lists do not add up */
    assert_slice(kas->targets[0].text, "three");
    assert_place(kas->targets[0].at, "top.yml", 3);
    assert_int_equal(kas->nenv, 3);
    assert_slice(kas->env[0].value.text, "base");
    assert_slice(kas->env[1].value.text, "top");
    assert_slice(kas->env[2].name, "C");
    assert_null(kas->env[2].value.text.p);
    assert_int_equal(kas->nlocal_conf, 3); /* by name, not by file */
    assert_slice(kas->local_conf[0].name, "a");
    assert_slice(kas->local_conf[1].name, "m");
    assert_slice(kas->local_conf[1].value.text, "from top");
    assert_slice(kas->local_conf[2].name, "z");
    bz_kas_free(kas);
}

static void the_environment_wins_over_the_files(void **state)
{
    const char *env[] = {"KAS_MACHINE=m",     "KAS_DISTRO=",
                         "KAS_TASK=t",        "KAS_TARGET= a  mc:x:b ",
                         "KAS_WORK_DIR=work", "KAS_BUILD_DIR=/some/build",
                         "A=from env",        "AB=no",
                         "NOT_LISTED=no",     NULL};
    struct scratch *s = *state;
    struct bz_kas *kas;

    put_file(s, "a.yml",
             "header: {version: 14}\nmachine: x\ndistro: x\ntask: x\ntarget: x\n"
             "env: {A: x, B: y, C: }\nrepos: {r: {url: u, branch: b}}\n");
    kas = loaded(s, "a.yml", env);
    assert_slice(kas->machine.text, "m");
    assert_place(kas->machine.at, "KAS_MACHINE", 0);
    assert_slice(kas->distro.text, "");
    assert_slice(kas->task.text, "t");
    assert_int_equal(kas->ntargets, 2);
    assert_slice(kas->targets[0].text, "a");
    assert_slice(kas->targets[1].text, "mc:x:b");
    assert_message(s, kas->work_dir, "DIR/work");
    assert_string_equal(kas->build_dir, "/some/build");
    assert_int_equal(kas->nenv, 3);
    assert_slice(kas->env[0].value.text, "from env");
    assert_place(kas->env[0].value.at, "A", 0);
    assert_slice(kas->env[1].value.text, "y");
    assert_null(kas->env[2].value.text.p);
    assert_message(s, kas->repos[0].path, "DIR/work/r");
    bz_kas_free(kas);
    env[3] = "KAS_TARGET=  ";
    kas = loaded(s, "a.yml", env);
    assert_slice(kas->targets[0].text, "x");
    bz_kas_free(kas);
}

static void layers_stand_by_priority_and_then_by_name(void **state)
{
    struct scratch *s = *state;
    struct bz_buf got = {0};
    struct bz_kas *kas;

    put_file(s, "a.yml",
             "header: {version: 21}\n"
             "repos:\n"
             "  z: {path: zz, name: alpha, layers: {b: , a: }}\n"
             "  y: {path: yy, layers: {low: {prio: -5}, c: , high: {prio: 5}}}\n"
             "  own:\n"
             "  none: {path: nn, layers: {a: disabled}}\n");
    kas = loaded(s, "a.yml", NULL);
    for (size_t i = 0; i < kas->nlayers; i++)
        bz_buf_addf(&got, "%s\n", kas->layers[i]->path);
    assert_message(s, bz_buf_text(&got),
                   "DIR/yy/high\nDIR/zz/a\nDIR/zz/b\nDIR\nDIR/yy/c\nDIR/yy/low\n");
    assert_int_equal(kas->nrepos, 4);
    bz_buf_release(&got);
    bz_kas_free(kas);
}

/* top includes from x; x's file defines y and includes from it; y's file includes from
 * the project's own repository. */
static void includes_lead_through_repositories(void **state)
{
    struct scratch *s = *state;
    struct bz_kas *kas;
    struct bz_err err;

    put_file(s, "own/.git/HEAD", "");
    put_file(s, "own/kas/top.yml",
             "header:\n"
             "  version: 14\n"
             "  includes: [{repo: x, file: x.yml}]\n"
             "distro: top\n"
             "repos:\n"
             "  own:\n"
             "  x: {url: u, branch: b, path: co/x, layers: {lx: disabled}}\n");
    put_file(s, "own/last.yml",
             "header: {version: 14}\nmachine: last\ndistro: last\ntask: last\n");
    put_file(s, "co/x/x.yml",
             "header: {version: 14, includes: [{repo: y, file: sub/y.yml}]}\n"
             "machine: x\n"
             "repos: {y: {url: v, branch: b}, x: {layers: {lx: , other: }}}\n");
    put_file(s, "y/sub/y.yml",
             "header: {version: 14, includes: [{repo: own, file: last.yml}]}\n"
             "task: y\n");
    kas = loaded(s, "own/kas/top.yml", NULL);
    assert_ok(bz_kas_require(kas, &err), &err);
    assert_int_equal(kas->nmissing, 0);
    assert_int_equal(kas->nfiles, 4);
    assert_slice(kas->machine.text, "x");
    assert_slice(kas->distro.text, "top");
    assert_slice(kas->task.text, "y");
    assert_place(kas->task.at, "y/sub/y.yml", 2);
    assert_false(kas->files[0].external); /* last.yml is the project's own */
    assert_true(kas->files[1].external);
    assert_message(s, kas->root, "DIR/own");
    assert_int_equal(kas->nrepos, 3);
    assert_slice(kas->repos[0].id, "y"); /* the deepest file came first */
    assert_slice(kas->repos[1].id, "x");
    assert_message(s, kas->repos[2].path, "DIR/own");
    assert_int_equal(kas->nlayers, 3); /* own, x/other, y: not x/lx */
    bz_kas_free(kas);
}

static void a_repository_that_is_not_checked_out_is_told(void **state)
{
    struct scratch *s = *state;
    struct bz_err err = {0};
    struct bz_kas *kas;

    put_file(s, "top.yml",
             "header:\n"
             "  version: 14\n"
             "  includes: [{repo: x, file: x.yml}, {repo: later, file: l.yml}]\n"
             "repos:\n"
             "  own:\n"
             "  x: {url: u, branch: b}\n");
    kas = loaded(s, "top.yml", NULL);
    assert_int_equal(kas->nmissing, 2);
    assert_slice(kas->missing[0].repo, "x");
    assert_place(kas->missing[1].at, "top.yml", 3);
    assert_true(kas->repos[0].present);
    assert_false(kas->repos[1].present);
    assert_int_equal(bz_kas_require(kas, &err), BZ_E_NOENT);
    assert_message(s, err.msg,
                   "top.yml:6:6: repository 'x' is not checked out: expected in DIR/x");
    bz_kas_free(kas);

    /* Now it is, and defines the other one; and then nobody does. */
    put_file(s, "x/x.yml", "header: {version: 14}\nrepos: {later: {path: l}}\n");
    put_file(s, "l/l.yml", "header: {version: 14}\n");
    kas = loaded(s, "top.yml", NULL);
    assert_int_equal(kas->nmissing, 0);
    assert_int_equal(kas->nfiles, 3);
    bz_kas_free(kas);
    put_file(s, "x/x.yml", "header: {version: 14}\n");
    assert_int_equal(load(s, "top.yml", NULL, &kas, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "top.yml:3:38: include from repository 'later', which "
                                 "no file defines");
}

static void a_lock_file_pins_commits_unless_it_is_ignored(void **state)
{
#define HASH "0123456789abcdef0123456789abcdef01234567"
    struct scratch *s = *state;
    const struct bz_kas_options opt = {.cwd = s->path, .ignore_locks = true};
    struct bz_kas *kas;
    struct bz_err err;

    put_file(s, "a.yml",
             "header: {version: 14}\nrepos:\n  x: {url: u, branch: b}\n  y: {url: v, "
             "branch: b}\n");
    put_file(s, "a.lock.yml",
             "header: {version: 15}\noverrides:\n  repos:\n    x:\n      commit: " HASH
             "\n    gone:\n      commit: abc\n");
    kas = loaded(s, "a.yml", NULL);
    assert_slice(kas->repos[0].commit.text, HASH);
    assert_place(kas->repos[0].commit.at, "a.lock.yml", 5);
    assert_null(kas->repos[1].commit.text.p);
    assert_int_equal(kas->nrepos, 2); /* overrides add none */
    bz_kas_free(kas);
    assert_ok(bz_kas_load("a.yml", &opt, &kas, &err), &err);
    assert_null(kas->repos[0].commit.text.p);
    assert_int_equal(kas->nfiles, 2);
    bz_kas_free(kas);
}

static void anchors_and_merge_keys_serve_repositories(void **state)
{
    struct scratch *s = *state;
    struct bz_kas *kas;

    put_file(s, "a.yml",
             "header: {version: 14}\n"
             "repos:\n"
             "  one: &common\n"
             "    url: u\n"
             "    branch: b\n"
             "    layers: {m: }\n"
             "  two:\n"
             "    <<: *common\n"
             "    url: v\n");
    kas = loaded(s, "a.yml", NULL);
    assert_slice(kas->repos[1].url.text, "v");
    assert_slice(kas->repos[1].branch.text, "b");
    assert_place(kas->repos[1].branch.at, "a.yml", 5);
    assert_message(s, kas->layers[1]->path, "DIR/two/m");
    bz_kas_free(kas);
}

static void what_cannot_be_loaded_is_named(void **state)
{
    static const struct {
        const char *names, *text;
        int code;
        const char *msg;
    } cases[] = {
        {"",        "",                                              BZ_E_INVAL, "'': a name of a project file is empty"       },
        {"a.yml::", "",                                              BZ_E_INVAL, "'a.yml::': a name of a project file is empty"},
        {"no.yml",  "",                                              BZ_E_NOENT, "open DIR/no.yml: No such file or directory"  },
        {"a.yml",   "header: {version: 14}\nrepos: {r: {url: u}}\n", BZ_E_INVAL,
         "a.yml:2:12: repository 'r' has a url but neither commit, tag nor branch"                                             },
        {"./a.yml", "header: {version: 99}\n",                       BZ_E_NOSUP,
         "a.yml:1:19: format version 99 is not supported; the newest is 23"                                                    },
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_kas *kas = NULL;
        struct bz_err err = {0};

        put(s->fd, "a.yml",
            cases[i].text[0] ? cases[i].text : "header: {version: 14}\n");
        assert_int_equal(load(s, cases[i].names, NULL, &kas, &err), cases[i].code);
        assert_message(s, err.msg, cases[i].msg);
        assert_null(kas);
    }
}

static void warnings_come_once_however_often_files_are_collected(void **state)
{
    struct scratch *s = *state;
    struct bz_buf got = {0};
    struct bz_kas_notes notes = {keep_note, &got, 0};
    const struct bz_kas_options opt = {.cwd = s->path, .notes = &notes};
    struct bz_kas *kas;
    struct bz_err err;

    put_file(s, "a.yml",
             "header: {version: 14, includes: [{repo: x, file: b.yml}]}\n"
             "machin: m\n"
             "repos: {x: {url: u, commit: abc}}\n");
    put_file(s, "x/b.yml", "header: {version: 14}\ndistr: d\n");
    assert_ok(bz_kas_load("a.yml", &opt, &kas, &err), &err);
    assert_string_equal(bz_buf_text(&got),
                        "a.yml:2: unknown key 'machin'; did you mean 'machine'?\n"
                        "x/b.yml:2: unknown key 'distr'; did you mean 'distro'?\n"
                        "a.yml:3:29: commit 'abc' of repository 'x' is not a full "
                        "hash\n");
    bz_buf_release(&got);
    bz_kas_free(kas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_bare_file_has_the_defaults_of_the_format),
        scratch_test(later_files_win_and_every_value_knows_where_it_is_from),
        scratch_test(the_environment_wins_over_the_files),
        scratch_test(layers_stand_by_priority_and_then_by_name),
        scratch_test(includes_lead_through_repositories),
        scratch_test(a_repository_that_is_not_checked_out_is_told),
        scratch_test(a_lock_file_pins_commits_unless_it_is_ignored),
        scratch_test(anchors_and_merge_keys_serve_repositories),
        scratch_test(what_cannot_be_loaded_is_named),
        scratch_test(warnings_come_once_however_often_files_are_collected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
