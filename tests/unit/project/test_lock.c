#include "project/lock.h"

#include "project/kas.h"
#include "tests/unit/project/project_test.h"

#define H1 "0123456789abcdef0123456789abcdef01234567"
#define H2 "1111111111111111111111111111111111111111"
#define H3 "12e4567890123456789012345678901234567890"

static void assert_file(const struct scratch *s, const char *path, const char *want)
{
    struct bz_err err;
    char *text;
    size_t n;

    assert_ok(bz_fs_read(s->fd, path, 1 << 16, &text, &n, &err), &err);
    assert_string_equal(text, want);
    free(text);
}

static int write_lock(const struct scratch *s, const char *name,
                      const struct bz_lock_pin *pins, size_t n, struct bz_err *err)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", s->path, name);
    return bz_lock_write(path, pins, n, err);
}

static struct bz_kas *load(const struct scratch *s, const char *files)
{
    const struct bz_kas_options opt = {.cwd = s->path};
    struct bz_kas *kas = NULL;
    struct bz_err err;

    assert_ok(bz_kas_load(files, &opt, &kas, &err), &err);
    return kas;
}

static void a_lock_file_stands_beside_its_file(void **state)
{
    static const struct {
        const char *file, *lock;
    } cases[] = {
        {"/a/kas.yml",       "/a/kas.lock.yml"      },
        {"kas.json",         "kas.lock.json"        },
        {"/a/kas.lock.yaml", "/a/kas.lock.lock.yaml"},
        {"/a/.config.yaml",  "/a/.config.lock.yaml" },
        {"/a.b/kas",         "/a.b/kas.lock"        },
        {"/a/.yml",          "/a/.yml.lock"         },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_path got;
        struct bz_err err;

        assert_ok(bz_lock_name(bz_str_from(cases[i].file), &got, &err), &err);
        assert_string_equal(got.s, cases[i].lock);
    }
}

static void pins_are_written_in_the_order_of_ids(void **state)
{
    const struct bz_lock_pin pins[] = {
        {BZ_STR("zeta"), BZ_STR(H1)},
        {BZ_STR("beta"), BZ_STR(H2)},
        {BZ_STR("alfa"), BZ_STR(H3)},
    };
    struct scratch *s = *state;
    struct bz_err err;

    assert_ok(write_lock(s, "a.lock.yml", pins, 3, &err), &err);
    /* What looks like a number gets quotes. */
    assert_file(s, "a.lock.yml",
                "header:\n  version: 14\noverrides:\n  repos:\n"
                "    alfa:\n      commit: \"" H3 "\"\n"
                "    beta:\n      commit: \"" H2 "\"\n"
                "    zeta:\n      commit: " H1 "\n");
    assert_ok(write_lock(s, "a.lock.json", pins, 1, &err), &err);
    assert_file(s, "a.lock.json",
                "{\n  \"header\": {\n    \"version\": 14\n  },\n  \"overrides\": {\n"
                "    \"repos\": {\n      \"zeta\": {\n        \"commit\": \"" H1 "\"\n"
                "      }\n    }\n  }\n}\n");
    assert_ok(write_lock(s, "none.lock.yml", pins, 0, &err), &err);
    assert_file(s, "none.lock.yml",
                "header:\n  version: 14\noverrides:\n  repos: {}\n");
}

static void other_pins_stay_as_they_are(void **state)
{
    const struct bz_lock_pin pins[] = {
        {BZ_STR("b"), BZ_STR(H1)},
        {BZ_STR("a"), BZ_STR(H1)},
    };
    struct scratch *s = *state;
    struct bz_err err;

    put(s->fd, "x.lock.yml",
        "# made by hand\nheader: {version: 23}\noverrides:\n  repos:\n"
        "    b: {url: 'https://example.org/b', commit: old, branch: dev}\n"
        "    c: {commit: , branch: }\n    d: {}\n    'on': {commit: 'v 1'}\n");
    assert_ok(write_lock(s, "x.lock.yml", pins, 2, &err), &err);
    assert_file(s, "x.lock.yml",
                "header:\n  version: 23\noverrides:\n  repos:\n"
                "    a:\n      commit: " H1 "\n"
                "    b:\n      commit: " H1 "\n      branch: dev\n"
                "      url: \"https://example.org/b\"\n"
                "    c:\n      commit:\n      branch:\n"
                "    d: {}\n"
                "    \"on\":\n      commit: \"v 1\"\n");
    /* Writing it again from what was read changes nothing. */
    assert_ok(write_lock(s, "x.lock.yml", pins, 2, &err), &err);
    assert_int_equal(count_names(s->path), 1);
}

static void strange_ids_are_read_back_as_they_were(void **state)
{
    static const char *const ids[] = {
        "a b",        "yes",      "null",         "12",           "1.5",
        "0x1f",       "",         "- a",          "a: b",         "#x",
        "~",          "1e5",      "\"q\"",        "back\\slash",  "\xc3\xbc",
        "2024-01-01", "NO",       "-lead",        "tab\there",    "line\nbreak",
        "\x7f",       "\xc2\x85", "\xe2\x80\xa8", "\xef\xbb\xbf", "\xf0\x9f\x8c\x8d"};
    struct bz_lock_pin pins[BZ_COUNTOF(ids)];
    struct scratch *s = *state;
    struct bz_arena arena = {0};
    struct bz_kas_file file;
    const struct bz_doc *repos;
    struct bz_err err;
    char path[512];

    for (size_t i = 0; i < BZ_COUNTOF(ids); i++)
        pins[i] = (struct bz_lock_pin){bz_str_from(ids[i]), BZ_STR(H1)};
    assert_ok(write_lock(s, "a.lock.yml", pins, BZ_COUNTOF(ids), &err), &err);
    snprintf(path, sizeof(path), "%s/a.lock.yml", s->path);
    assert_ok(bz_kas_file_read(&arena, path, s->path, NULL, &file, &err), &err);
    repos = bz_doc_find(bz_doc_find(file.doc, "overrides"), "repos");
    assert_int_equal(repos->count, BZ_COUNTOF(ids));
    for (size_t i = 0; i < BZ_COUNTOF(ids); i++) {
        const struct bz_doc *repo = bz_doc_find(repos, ids[i]);

        assert_non_null(repo);
        assert_slice(bz_doc_find(repo, "commit")->text, H1);
    }
    bz_arena_release(&arena);
}

static void what_is_no_pin_is_refused_and_nothing_is_written(void **state)
{
    static const struct {
        const char *repo, *commit, *msg;
    } cases[] = {
        {"a", "main", "lock 'a': 'main' is not the full hash of a commit"},
        {"a", "",     "lock 'a': '' is not the full hash of a commit"    },
        {"b", H1,     "lock 'b': two commits"                            },
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        const struct bz_lock_pin pins[] = {
            {BZ_STR("b"),                BZ_STR(H1)                  },
            {bz_str_from(cases[i].repo), bz_str_from(cases[i].commit)},
        };
        struct bz_err err = {0};

        assert_int_equal(write_lock(s, "a.lock.yml", pins, 2, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, cases[i].msg);
        assert_int_equal(count_names(s->path), 0);
    }
}

static void an_id_that_is_no_text_is_refused(void **state)
{
    const struct bz_lock_pin pins[] = {
        {BZ_STR("\xff"), BZ_STR(H1)},
        {BZ_STR("a\0b"), BZ_STR(H1)},
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(pins); i++) {
        struct bz_err err = {0};

        assert_int_equal(write_lock(s, "a.lock.yml", &pins[i], 1, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, "lock: the id of a repository is not text");
    }
}

static void a_file_that_says_more_is_not_rewritten(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *msg;
    } cases[] = {
        {"header: {version: 14}\nmachine: m\n",                        BZ_E_NOSUP,
         "/a.lock.yml:2: 'machine' is not for a lock file, which is therefore not "
         "rewritten"                                                                   },
        {"header: {version: 14, includes: []}\n",                      BZ_E_NOSUP,
         "/a.lock.yml:1: 'includes' is not for a lock file, which is therefore not "
         "rewritten"                                                                   },
        {"header: {version: 14}\noverrides: {repos: {r: {tag: t}}}\n", BZ_E_NOSUP,
         "/a.lock.yml:2: 'tag' is not for a lock file, which is therefore not "
         "rewritten"                                                                   },
        {"header: [",                                                  BZ_E_INVAL, NULL},
    };
    const struct bz_lock_pin pin = {BZ_STR("a"), BZ_STR(H1)};
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_err err = {0};

        put(s->fd, "a.lock.yml", cases[i].text);
        assert_int_equal(write_lock(s, "a.lock.yml", &pin, 1, &err), cases[i].code);
        if (cases[i].msg)
            assert_non_null(strstr(err.msg, cases[i].msg));
        assert_file(s, "a.lock.yml", cases[i].text);
    }
}

static void a_saved_project_loads_with_its_pins(void **state)
{
    const struct bz_lock_pin pins[] = {
        {BZ_STR("y"), BZ_STR(H2)},
        {BZ_STR("x"), BZ_STR(H1)},
    };
    struct scratch *s = *state;
    struct bz_kas *kas;
    struct bz_err err;

    put_file(s, "a.yml",
             "header: {version: 14}\nrepos:\n  x: {url: u, branch: b}\n  y: {url: v, "
             "tag: t}\n");
    put_file(s, "b.yml", "header: {version: 14}\n");
    kas = load(s, "a.yml:b.yml");
    assert_ok(bz_lock_save(kas, pins, 2, &err), &err);
    bz_kas_free(kas);
    kas = load(s, "a.yml:b.yml");
    assert_slice(kas->repos[0].commit.text, H1);
    assert_place(kas->repos[0].commit.at, "a.lock.yml", 6);
    assert_slice(kas->repos[1].commit.text, H2);
    assert_slice(kas->repos[1].tag.text, "t");
    bz_kas_free(kas);
}

/* x is pinned beside an include, y nowhere, z only in another repository. */
static void a_pin_is_renewed_where_it_is(void **state)
{
    const struct bz_lock_pin pins[] = {
        {BZ_STR("x"), BZ_STR(H1)},
        {BZ_STR("y"), BZ_STR(H1)},
        {BZ_STR("z"), BZ_STR(H1)},
    };
    static const char lock[] =
        "header:\n  version: 14\noverrides:\n  repos:\n    %s:\n      commit: old\n";
    struct scratch *s = *state;
    struct bz_kas *kas;
    struct bz_err err;
    char text[256];

    put_file(s, "p/a.yml",
             "header: {version: 14, includes: [b.yml, {repo: z, file: c.yml}]}\n"
             "repos:\n  x: {url: u, branch: b}\n  y: {url: u, branch: b}\n"
             "  z: {url: u, branch: b}\n");
    put_file(s, "p/b.yml", "header: {version: 14}\n");
    put_file(s, "z/c.yml", "header: {version: 14}\n");
    snprintf(text, sizeof(text), lock, "x");
    put_file(s, "p/b.lock.yml", text);
    snprintf(text, sizeof(text), lock, "z");
    put_file(s, "z/c.lock.yml", text);
    kas = load(s, "p/a.yml");
    assert_ok(bz_lock_save(kas, pins, 3, &err), &err);
    bz_kas_free(kas);
    assert_file(s, "z/c.lock.yml", text);
    assert_file(
        s, "p/b.lock.yml",
        "header:\n  version: 14\noverrides:\n  repos:\n    x:\n      commit: " H1 "\n");
    assert_file(
        s, "p/a.lock.yml",
        "header:\n  version: 14\noverrides:\n  repos:\n    \"y\":\n      commit: " H1
        "\n");
}

static void two_commits_for_one_repository_are_refused(void **state)
{
    const struct bz_lock_pin pins[] = {
        {BZ_STR("x"), BZ_STR(H1)},
        {BZ_STR("x"), BZ_STR(H2)},
    };
    struct scratch *s = *state;
    struct bz_kas *kas;
    struct bz_err err = {0};

    put_file(s, "a.yml", "header: {version: 14}\n");
    kas = load(s, "a.yml");
    assert_int_equal(bz_lock_save(kas, pins, 2, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "lock 'x': two commits");
    assert_ok(bz_lock_save(kas, pins, 0, &err), &err);
    assert_int_equal(count_names(s->path), 1);
    bz_kas_free(kas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_file_stands_beside_its_file),
        scratch_test(pins_are_written_in_the_order_of_ids),
        scratch_test(other_pins_stay_as_they_are),
        scratch_test(strange_ids_are_read_back_as_they_were),
        scratch_test(what_is_no_pin_is_refused_and_nothing_is_written),
        scratch_test(an_id_that_is_no_text_is_refused),
        scratch_test(a_file_that_says_more_is_not_rewritten),
        scratch_test(a_saved_project_loads_with_its_pins),
        scratch_test(a_pin_is_renewed_where_it_is),
        scratch_test(two_commits_for_one_repository_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
