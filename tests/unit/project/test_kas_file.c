#include "project/kas_file.h"

#include "tests/unit/project/project_test.h"

static int read_file(struct scratch *s, struct bz_arena *a, const char *name,
                     const char *cwd, struct bz_kas_file *out, struct bz_err *err)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", s->path, name);
    return bz_kas_file_read(a, path, cwd, NULL, out, err);
}

static void yaml_and_json_are_read_by_their_name(void **state)
{
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"a.yml",  "header: {version: 8}\nmachine: m\n"                },
        {"a.yaml", "header: {version: 8}\nmachine: m\n"                },
        {"a.json", "{\"header\": {\"version\": 8}, \"machine\": \"m\"}"},
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        struct bz_kas_file file;
        struct bz_str machine;
        struct bz_err err;

        put(s->fd, cases[i].name, cases[i].text);
        assert_ok(read_file(s, &a, cases[i].name, s->path, &file, &err), &err);
        assert_int_equal(file.version, 8);
        assert_string_equal(file.shown, cases[i].name);
        assert_ok(bz_doc_get_str(file.doc, "machine", &machine, &err), &err);
        assert_slice(machine, "m");
        bz_arena_release(&a);
    }
}

static void a_name_is_shown_short_only_below_the_cwd(void **state)
{
    struct scratch *s = *state;
    struct bz_arena a = {0};
    struct bz_kas_file file;
    struct bz_err err;
    char cwd[512];

    put_file(s, "sub/a.yml", "header: {version: 8}\n");
    assert_ok(read_file(s, &a, "sub/a.yml", s->path, &file, &err), &err);
    assert_string_equal(file.shown, "sub/a.yml");
    snprintf(cwd, sizeof(cwd), "%s/su", s->path);
    assert_ok(read_file(s, &a, "sub/a.yml", cwd, &file, &err), &err);
    assert_string_equal(file.shown, file.path);
    bz_arena_release(&a);
}

static void what_cannot_be_read_is_named(void **state)
{
    static const struct {
        const char *name, *text; /* no text: no file */
        int code;
        const char *msg;
    } cases[] = {
        {"no.yml", NULL,                           BZ_E_NOENT, "open DIR/no.yml: No such file or directory"},
        {"a.yml",  "a: [1\n",                      BZ_E_INVAL,
         "a.yml: line 2, column 1: did not find expected ',' or ']' (while parsing a "
         "flow sequence in line 1)"                                                                        },
        {"b.yml",  "header: {version: 8}\nenv: 1", BZ_E_INVAL,
         "b.yml:2:6: env: expected a map, found an integer"                                                },
        {"c.txt",  "header: {version: 8}\n",       BZ_E_INVAL,
         "c.txt: the name of a project file ends in .yml, .yaml or .json"                                  },
        {"d.json", "{",                            BZ_E_INVAL, NULL                                        },
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        struct bz_kas_file file;
        struct bz_err err = {0};

        if (cases[i].text)
            put(s->fd, cases[i].name, cases[i].text);
        assert_int_equal(read_file(s, &a, cases[i].name, s->path, &file, &err),
                         cases[i].code);
        if (cases[i].msg)
            assert_message(s, err.msg, cases[i].msg);
        bz_arena_release(&a);
    }
}

static void a_large_file_is_refused(void **state)
{
    struct scratch *s = *state;
    struct bz_arena a = {0};
    struct bz_kas_file file;
    struct bz_buf text = {0};
    struct bz_err err;

    bz_buf_addf(&text, "header: {version: 8}\n#%*s\n", BZ_KAS_FILE_BYTES, "");
    put(s->fd, "a.yml", bz_buf_text(&text));
    assert_int_equal(read_file(s, &a, "a.yml", s->path, &file, &err), BZ_E_LIMIT);
    bz_buf_release(&text);
    bz_arena_release(&a);
}

static void names_become_absolute_and_normal(void **state)
{
    static const struct {
        const char *base, *name, *want;
    } cases[] = {
        {"/w",   "a",      "/w/a"},
        {"/w",   "",       "/w"  },
        {"/w",   ".",      "/w"  },
        {"/w/x", "../a/.", "/w/a"},
        {"/w",   "/b//c/", "/b/c"},
    };
    struct bz_arena a = {0};
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        const char *got;

        assert_ok(bz_kas_file_resolve(&a, cases[i].base, bz_str_from(cases[i].name),
                                      &got, &err),
                  &err);
        assert_string_equal(got, cases[i].want);
    }
    bz_arena_release(&a);
}

static void writing_the_same_bytes_changes_nothing(void **state)
{
    struct scratch *s = *state;
    struct stat first, second;
    struct bz_err err;
    char path[512];

    snprintf(path, sizeof(path), "%s/f", s->path);
    assert_ok(bz_kas_file_write(path, BZ_STR("one\n"), &err), &err);
    assert_int_equal(stat(path, &first), 0);
    assert_ok(bz_kas_file_write(path, BZ_STR("one\n"), &err), &err);
    assert_int_equal(stat(path, &second), 0);
    assert_int_equal(first.st_ino, second.st_ino);
    /* Longer, shorter, and equal in length but different. */
    assert_ok(bz_kas_file_write(path, BZ_STR("one\ntwo\n"), &err), &err);
    assert_ok(bz_kas_file_write(path, BZ_STR("two\n"), &err), &err);
    assert_ok(bz_kas_file_write(path, BZ_STR("six\n"), &err), &err);
    assert_int_equal(stat(path, &second), 0);
    assert_int_equal(second.st_size, 4);
    assert_int_equal(count_names(s->path), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(yaml_and_json_are_read_by_their_name),
        scratch_test(a_name_is_shown_short_only_below_the_cwd),
        scratch_test(what_cannot_be_read_is_named),
        scratch_test(a_large_file_is_refused),
        cmocka_unit_test(names_become_absolute_and_normal),
        scratch_test(writing_the_same_bytes_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
