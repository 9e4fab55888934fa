#include "project/kas_include.h"

#include "tests/unit/project/project_test.h"

#define V "header: {version: 14}\n"

/* A project of files in the scratch directory. */
struct project {
    struct scratch *s;
    struct bz_arena arena;
    struct bz_kas_include inc;
    struct bz_buf notes_text;
    struct bz_kas_notes notes;
    const char *tops[4];
};

static void begin(struct project *p, void **state)
{
    *p = (struct project){.s = *state};
    p->notes = (struct bz_kas_notes){keep_note, &p->notes_text, 0};
    p->inc = (struct bz_kas_include){
        .arena = &p->arena, .cwd = p->s->path, .notes = &p->notes, .tops = p->tops};
}

static void end(struct project *p)
{
    bz_kas_include_release(&p->inc);
    bz_buf_release(&p->notes_text);
    bz_arena_release(&p->arena);
}

static void name_top(struct project *p, const char *name)
{
    p->tops[p->inc.ntops++] = bz_arena_printf(&p->arena, "%s/%s", p->s->path, name).p;
}

static void know_repo(struct project *p, const char *id, const char *dir)
{
    const char **path = BZ_ARENA_NEW(&p->arena, const char *);

    *path = bz_arena_printf(&p->arena, "%s/%s", p->s->path, dir).p;
    bz_map_put(&p->inc.dirs, bz_str_from(id))->p = path;
}

/* Files in order: "a.yml b.lock.yml(lock) c.yml(external)". */
static void assert_order(struct project *p, const char *want)
{
    struct bz_buf got = {0};
    struct bz_err err;

    assert_ok(bz_kas_include_collect(&p->inc, &err), &err);
    for (size_t i = 0; i < p->inc.order.len; i++) {
        const struct bz_kas_source *f = &p->inc.order.at[i];

        bz_buf_addf(&got, "%s%s%s%s", i ? " " : "", f->file->shown,
                    f->lock ? "(lock)" : "", f->external ? "(external)" : "");
    }
    assert_string_equal(bz_buf_text(&got), want);
    bz_buf_release(&got);
}

static void assert_refused(struct project *p, int code, const char *msg)
{
    struct bz_err err = {0};

    assert_int_equal(bz_kas_include_collect(&p->inc, &err), code);
    assert_message(p->s, err.msg, msg);
}

static void includes_come_first_and_in_their_order(void **state)
{
    struct project p;

    begin(&p, state);
    put_file(p.s, "top.yml", "header: {version: 14, includes: [a.yml, b.yml]}\n");
    put_file(p.s, "a.yml", "header: {version: 14, includes: [c.yml]}\n");
    put_file(p.s, "b.yml", "header: {version: 14, includes: [c.yml]}\n");
    put_file(p.s, "c.yml", V);
    name_top(&p, "top.yml");
    assert_order(&p, "c.yml a.yml c.yml b.yml top.yml");
    assert_string_equal(bz_buf_text(&p.notes_text), "");
    end(&p);
}

static void named_files_follow_each_other(void **state)
{
    struct project p;

    begin(&p, state);
    put_file(p.s, "k/a.yml", "header: {version: 14, includes: [c.yml]}\n");
    put_file(p.s, "k/b.yml", V);
    put_file(p.s, "k/c.yml", V);
    name_top(&p, "k/a.yml");
    name_top(&p, "k/b.yml");
    assert_order(&p, "k/c.yml k/a.yml k/b.yml");
    assert_message(p.s, p.inc.root, "DIR/k");
    end(&p);
}

static void includes_start_from_the_root_of_the_repository(void **state)
{
    struct project p;

    begin(&p, state);
    put_file(p.s, "repo/.git/HEAD", "");
    put_file(p.s, "repo/kas/top.yml",
             "header: {version: 14, includes: [kas/a.yml, b.yml]}\n");
    put_file(p.s, "repo/kas/a.yml", V);
    put_file(p.s, "repo/kas/b.yml", V);
    name_top(&p, "repo/kas/top.yml");
    assert_order(&p, "repo/kas/a.yml repo/kas/b.yml repo/kas/top.yml");
    assert_message(
        p.s, bz_buf_text(&p.notes_text),
        "repo/kas/top.yml:1:45: include 'b.yml' starts from the directory of "
        "its file; it should start from DIR/repo\n");
    end(&p);
}

static void a_lock_file_comes_before_all_that_its_file_includes(void **state)
{
    struct project p;

    begin(&p, state);
    put_file(p.s, "top.yml", "header: {version: 14, includes: [a.yml]}\n");
    put_file(p.s, "top.lock.yml", V);
    put_file(p.s, "a.yml", V);
    put_file(p.s, "a.lock.yml", V);
    put_file(p.s, "a.lock.json", "not read");
    name_top(&p, "top.yml");
    assert_order(&p, "top.lock.yml(lock) a.lock.yml(lock) a.yml top.yml");
    end(&p);
}

static void a_file_from_a_repository_waits_until_that_is_known(void **state)
{
    struct project p;

    begin(&p, state);
    put_file(p.s, "top.yml",
             "header:\n  version: 14\n  includes:\n  - repo: x\n    file: kas/a.yml\n"
             "  - b.yml\n");
    put_file(p.s, "b.yml", V);
    put_file(
        p.s, "x/kas/a.yml",
        "header: {version: 14, includes: [kas/c.yml, {repo: own, file: b.yml}]}\n");
    put_file(p.s, "x/kas/c.yml", V);
    put_file(p.s, "x/kas/c.lock.yml", V);
    name_top(&p, "top.yml");
    assert_order(&p, "b.yml top.yml");
    assert_int_equal(p.inc.missing.len, 1);
    assert_slice(p.inc.missing.at[0].repo, "x");
    assert_place(p.inc.missing.at[0].at, "top.yml", 4);

    know_repo(&p, "x", "x");
    assert_order(&p, "x/kas/c.lock.yml(lock)(external) x/kas/c.yml(external) "
                     "x/kas/a.yml(external) b.yml top.yml");
    assert_slice(p.inc.missing.at[0].repo, "own");

    know_repo(&p, "own", "own");
    put_file(p.s, "own/b.yml", V);
    assert_order(&p, "x/kas/c.lock.yml(lock)(external) x/kas/c.yml(external) "
                     "own/b.yml(external) x/kas/a.yml(external) b.yml top.yml");
    assert_int_equal(p.inc.missing.len, 0);
    end(&p);
}

static void a_cycle_is_named_from_file_to_file(void **state)
{
    static const char *const cases[][4] = {
        {"top.yml", "top.yml", "top.yml",
         "top.yml:1:34: include cycle: top.yml -> top.yml"                },
        {"a.yml",   "b.yml",   "a.yml",
         "b.yml:1:34: include cycle: a.yml -> b.yml -> a.yml"             },
        {"a.yml",   "b.yml",   "top.yml",
         "b.yml:1:34: include cycle: top.yml -> a.yml -> b.yml -> top.yml"},
    };

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        static const char *const names[] = {"top.yml", "a.yml", "b.yml"};
        struct project p;

        begin(&p, state);
        for (size_t k = 0; k < BZ_COUNTOF(names); k++) {
            char text[128];

            snprintf(text, sizeof(text), "header: {version: 14, includes: [%s]}\n",
                     cases[i][k]);
            put_file(p.s, names[k], text);
        }
        name_top(&p, "top.yml");
        assert_refused(&p, BZ_E_INVAL, cases[i][3]);
        end(&p);
    }
}

static void a_lock_file_that_includes_its_file_is_a_cycle(void **state)
{
    struct project p;

    begin(&p, state);
    put_file(p.s, "top.yml", V);
    put_file(p.s, "top.lock.yml", "header: {version: 14, includes: [top.yml]}\n");
    name_top(&p, "top.yml");
    assert_refused(
        &p, BZ_E_INVAL,
        "top.lock.yml:1:34: include cycle: top.yml -> top.lock.yml -> top.yml");
    end(&p);
}

static void an_include_stays_in_its_repository(void **state)
{
    static const struct {
        const char *include;
        int code;
        const char *msg;
    } cases[] = {
        {"../out.yml",                     BZ_E_INVAL,
         "in/top.yml:1:34: include '../out.yml' leads out of its repository DIR/in"                        },
        {"../no.yml",                      BZ_E_INVAL,
         "in/top.yml:1:34: include '../no.yml' leads out of its repository DIR/in"                         },
        {"link.yml",                       BZ_E_INVAL,
         "in/top.yml:1:34: include 'link.yml' leads out of its repository DIR/in"                          },
        {"/etc/passwd",                    BZ_E_INVAL,
         "in/top.yml:1:34: include '/etc/passwd' leads out of its repository DIR/in"                       },
        {"{repo: x, file: ../../out.yml}", BZ_E_INVAL,
         "in/top.yml:1:34: include '../../out.yml' leads out of its repository "
         "DIR/in/x"                                                                                        },
        {"no.yml",                         BZ_E_NOENT, "in/top.yml:1:34: include 'no.yml' is not in DIR/in"},
        {"{repo: x, file: no.yml}",        BZ_E_NOENT,
         "in/top.yml:1:34: include 'no.yml' is not in DIR/in/x"                                            },
        {"dir.yml",                        BZ_E_INVAL, "read DIR/in/dir.yml: it is a directory"            },
    };
    struct scratch *s = *state;

    put_file(s, "out.yml", V);
    put_file(s, "in/x/f", "");
    make_dirs(s->fd, "in/dir.yml");
    assert_int_equal(symlinkat("../out.yml", s->fd, "in/link.yml"), 0);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct project p;
        char text[128];

        begin(&p, state);
        snprintf(text, sizeof(text), "header: {version: 14, includes: [%s]}\n",
                 cases[i].include);
        put_file(s, "in/top.yml", text);
        name_top(&p, "in/top.yml");
        know_repo(&p, "x", "in/x");
        assert_refused(&p, cases[i].code, cases[i].msg);
        end(&p);
    }
}

static void a_link_inside_the_repository_is_followed(void **state)
{
    struct project p;

    begin(&p, state);
    put_file(p.s, "top.yml", "header: {version: 14, includes: [link.yml]}\n");
    put_file(p.s, "sub/a.yml", V);
    put_file(p.s, "sub/a.lock.yml", V);
    assert_int_equal(symlinkat("sub/a.yml", p.s->fd, "link.yml"), 0);
    name_top(&p, "top.yml");
    assert_order(&p, "sub/a.lock.yml(lock) sub/a.yml top.yml");
    end(&p);
}

static void named_files_of_two_repositories_do_not_mix(void **state)
{
    static const struct {
        const char *second;
        int code;
    } cases[] = {
        {"r1/kas/b.yml", 0         },
        {"r2/b.yml",     BZ_E_INVAL},
        {"b.yml",        BZ_E_INVAL},
    };
    struct scratch *s = *state;

    put_file(s, "r1/.git/HEAD", "");
    make_dirs(s->fd, "r2/.hg");
    put_file(s, "r1/a.yml", V);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct project p;
        struct bz_err err = {0};

        begin(&p, state);
        put_file(s, cases[i].second, V);
        name_top(&p, "r1/a.yml");
        name_top(&p, cases[i].second);
        assert_int_equal(bz_kas_include_collect(&p.inc, &err), cases[i].code);
        if (cases[i].code < 0)
            assert_non_null(strstr(err.msg, "are not in the same repository"));
        end(&p);
    }
}

static void a_menu_file_says_where_its_project_is(void **state)
{
    struct scratch *s = *state;
    struct project p;
    char text[512];

    begin(&p, state);
    snprintf(text, sizeof(text),
             "header: {version: 14, includes: [a.yml]}\n_source_dir: %s/src\n",
             s->path);
    put_file(s, "work/.config.yaml", text);
    put_file(s, "src/a.yml", V);
    name_top(&p, "work/.config.yaml");
    assert_order(&p, "src/a.yml work/.config.yaml");
    assert_message(s, p.inc.root, "DIR/src");
    end(&p);

    begin(&p, state);
    put_file(s, "src/a.yml", V "_source_dir: /x\n");
    name_top(&p, "work/.config.yaml");
    assert_refused(&p, BZ_E_INVAL,
                   "src/a.yml:2:14: '_source_dir' is only for the file that the user "
                   "named first");
    end(&p);
}

static void a_chain_of_includes_has_a_limit(void **state)
{
    struct scratch *s = *state;
    struct project p;
    struct bz_err err;

    for (int i = 0; i <= BZ_KAS_INCLUDE_DEPTH; i++) {
        char name[32], text[128];

        snprintf(name, sizeof(name), "f%d.yml", i);
        snprintf(text, sizeof(text), "header: {version: 14, includes: [f%d.yml]}\n",
                 i + 1);
        put(s->fd, name, i < BZ_KAS_INCLUDE_DEPTH ? text : V);
    }
    begin(&p, state);
    name_top(&p, "f0.yml");
    assert_refused(&p, BZ_E_LIMIT,
                   "f63.yml:1:34: more than 64 files include each other");
    end(&p);
    begin(&p, state);
    name_top(&p, "f1.yml");
    assert_ok(bz_kas_include_collect(&p.inc, &err), &err);
    assert_int_equal(p.inc.order.len, BZ_KAS_INCLUDE_DEPTH);
    end(&p);
}

/* Each file includes the next one twice: 2^30 visits, if nobody counted. */
static void doubled_includes_do_not_explode(void **state)
{
    struct scratch *s = *state;
    struct project p;
    struct bz_err err;

    for (int i = 0; i < 30; i++) {
        char name[32], text[128];

        snprintf(name, sizeof(name), "f%d.yml", i);
        snprintf(text, sizeof(text),
                 "header: {version: 14, includes: [f%d.yml, f%d.yml]}\n", i + 1, i + 1);
        put(s->fd, name, i < 29 ? text : V);
    }
    begin(&p, state);
    name_top(&p, "f0.yml");
    assert_int_equal(bz_kas_include_collect(&p.inc, &err), BZ_E_LIMIT);
    assert_non_null(strstr(err.msg, "more than 8192 includes in all"));
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(includes_come_first_and_in_their_order),
        scratch_test(named_files_follow_each_other),
        scratch_test(includes_start_from_the_root_of_the_repository),
        scratch_test(a_lock_file_comes_before_all_that_its_file_includes),
        scratch_test(a_file_from_a_repository_waits_until_that_is_known),
        scratch_test(a_cycle_is_named_from_file_to_file),
        scratch_test(a_lock_file_that_includes_its_file_is_a_cycle),
        scratch_test(an_include_stays_in_its_repository),
        scratch_test(a_link_inside_the_repository_is_followed),
        scratch_test(named_files_of_two_repositories_do_not_mix),
        scratch_test(a_menu_file_says_where_its_project_is),
        scratch_test(a_chain_of_includes_has_a_limit),
        scratch_test(doubled_includes_do_not_explode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
