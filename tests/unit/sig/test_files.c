#include "sig/files.h"

#include "os/fs_remove.h"
#include "tests/unit/os/scratch.h"

struct world {
    struct scratch *dir;
    struct bz_vars *vars;
    struct bz_digest_hasher *hasher;
    struct bz_arena arena;
    struct bz_err err;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    void *dir = NULL;

    if (scratch_setup(&dir) < 0)
        return -1;
    w->dir = dir;
    w->vars = bz_vars_new(NULL);
    *state = w;
    return bz_digest_hasher_new(&w->hasher, &w->err);
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *dir = w->dir;

    bz_vars_free(w->vars);
    bz_digest_hasher_free(w->hasher);
    bz_arena_release(&w->arena);
    free(w);
    return scratch_teardown(&dir);
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* The text with the scratch directory in the place of each D. */
static struct bz_str full(struct world *w, const char *text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    for (; *text; text++) {
        if (*text == 'D')
            bz_buf_addf(&out, "%s", w->dir->path);
        else
            bz_buf_add_char(&out, *text);
    }
    return bz_arena_dup(&w->arena, bz_buf_str(&out));
}

static void set(struct world *w, const char *name, const char *text)
{
    assert_ok(bz_vars_set(w->vars, bz_str_from(name), full(w, text), 0, NULL, &w->err),
              &w->err);
}

static void set_flag(struct world *w, const char *text)
{
    assert_ok(bz_vars_set_flag(w->vars, BZ_STR("do_x"), BZ_STR("file-checksums"),
                               full(w, text), NULL, &w->err),
              &w->err);
}

static struct bz_str list_of(struct world *w, const char *task)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};

    assert_ok(bz_files_of(w->vars, bz_str_from(task), &list, &w->err), &w->err);
    return bz_arena_dup(&w->arena, bz_buf_str(&list));
}

/* NAME, NAME! if it is missing, NAME* if it is executable; separated by blanks. */
static const char *read_list(struct world *w, struct bz_str list)
{
    BZ_CLEANUP(bz_vec_release) struct bz_base_files files = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_sums sums;

    bz_sums_open(&sums, NULL, w->hasher);
    assert_ok(bz_files_read(list, &sums, &w->arena, &files, &w->err), &w->err);
    bz_sums_close(&sums);
    for (size_t i = 0; i < files.len; i++)
        bz_buf_addf(&out, "%s%.*s%s%s", i > 0 ? " " : "", BZ_STR_ARG(files.at[i].name),
                    files.at[i].present ? "" : "!", files.at[i].executable ? "*" : "");
    return bz_arena_dup(&w->arena, bz_buf_str(&out)).p;
}

static void put_tree(struct world *w)
{
    static const char *const files[] = {
        "l/files/a.patch", "l/files/sub/b",   "l/files/sub/.git/config",
        "l/files/sub/c d", "l/other/a.patch", "out/x1",
        "out/x2"};

    make_dirs(w->dir->fd, "l/files/sub/.git");
    make_dirs(w->dir->fd, "l/other");
    make_dirs(w->dir->fd, "out");
    for (size_t i = 0; i < BZ_COUNTOF(files); i++)
        put(w->dir->fd, files[i], files[i]);
    assert_int_equal(fchmodat(w->dir->fd, "out/x2", 0755, 0), 0);
    assert_int_equal(symlinkat("b", w->dir->fd, "l/files/sub/link"), 0);
    assert_int_equal(symlinkat("../sub", w->dir->fd, "l/files/sub/loop"), 0);
    assert_int_equal(symlinkat("sub", w->dir->fd, "l/files/again"), 0);
    set(w, "FILESPATH", "D/l/none:D/l/files:D/l/other/");
}

/* Whether what a list has led to is still so after `edit`, for the shell. */
static int after(struct world *w, struct bz_str list, const char *edit)
{
    BZ_CLEANUP(bz_vec_release) struct bz_base_files files = {0};
    char command[500];
    struct bz_sums sums;
    int rc;

    bz_sums_open(&sums, NULL, w->hasher);
    assert_ok(bz_files_read(list, &sums, &w->arena, &files, &w->err), &w->err);
    sums.hasher = NULL;
    snprintf(command, sizeof(command), "cd %s && %s", w->dir->path, edit);
    assert_int_equal(system(command), 0);
    rc = bz_files_recheck(list, &sums, files.len, &w->err);
    bz_sums_close(&sums);
    return rc;
}

static void a_change_is_noticed_later(void **state)
{
    static const char *const edits[] = {
        "echo new >l/files/a.patch",
        "chmod +x l/files/a.patch",
        "rm l/files/a.patch",
        "echo new >l/files/sub/b",
        "echo new >l/files/sub/n",
        "rm l/files/sub/b",
        "ln -sfn 'c d' l/files/sub/link",
        "ln -sfn ../other l/files/sub/loop",
        "rm l/files/sub/b && ln -s 'c d' l/files/sub/b",
        "mkdir l/files/sub/new",
        "mv l/files/sub/empty l/files/sub/bare",
        "touch l/files/sub/empty/x",
        "touch out/x3",
        "rm out/x1",
        "touch none",
    };
    struct world *w = *state;
    struct bz_str list;

    for (size_t i = 0; i < BZ_COUNTOF(edits); i++) {
        assert_int_equal(bz_fs_remove(w->dir->fd, "l", &w->err), 0);
        assert_int_equal(bz_fs_remove(w->dir->fd, "out", &w->err), 0);
        assert_int_equal(bz_fs_remove(w->dir->fd, "none", &w->err), 0);
        put_tree(w);
        make_dirs(w->dir->fd, "l/files/sub/empty");
        set_flag(w, "D/l/files/a.patch:True D/l/files/sub:True D/out/*:True "
                    "D/none:False");
        list = list_of(w, "do_x");
        assert_ok(after(w, list, "touch l/other/a.patch l/files/sub/.git/x"), &w->err);
        assert_int_equal(after(w, list, edits[i]), BZ_E_BUSY);
    }
}

static void names_are_relative_to_where_files_were_found(void **state)
{
    static const struct {
        const char *flag, *names;
    } rows[] = {
        {"",                                       ""                                                  },
        {"D/l/files/a.patch:True",                 "a.patch"                                           },
        {"D/l/none/a:False D/l/files/sub/b:True",  "sub/b"                                             },
        {"D/l/other/a.patch:True D/out/x2:True",   "a.patch x2*"                                       },
        {"D/out/./x1:True D/./out/x1:True",        "out/x1 x1"                                         },
        {"D/l/files/sub/c d:True\n D/out/x1:True", "sub/c d x1"                                        },
        {"D/l/files/sub:True",                     "sub/b sub/c d sub/link sub/link sub/loop"          },
        {"D/l/files/sub/:True",                    "sub/b sub/c d sub/link sub/link sub/loop"          },
        {"D/l/files/again:True",                   "again/b again/c d again/link again/link again/loop"},
        {"D/out:True",                             "x1 x2*"                                            },
        {"D/out/x*:True",                          "x1 x2*"                                            },
        {"D/out/y*:True",                          ""                                                  },
        {"D/out/gone:True D/out/gone2:False",      "gone!"                                             },
        {"D/l/files/gone:True",                    "gone!"                                             },
    };
    struct world *w = *state;

    put_tree(w);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        set_flag(w, rows[i].flag);
        assert_string_equal(read_list(w, list_of(w, "do_x")), rows[i].names);
    }
    set(w, "BB_SIGNATURE_LOCAL_DIRS_EXCLUDE", "sub");
    set_flag(w, "D/l/files:True");
    assert_string_equal(read_list(w, list_of(w, "do_x")), "a.patch again");
}

static void an_empty_directory_counts_by_its_name(void **state)
{
    static const struct {
        const char *flag, *names;
    } rows[] = {
        {"D/l:True",                   "a.d/ a/b/ a/file only/.svn.d/ z/"          },
        {"D/./l:True",                 "l/a.d/ l/a/b/ l/a/file l/only/.svn.d/ l/z/"},
        {"D/l/z:True",                 "./"                                        },
        {"D/l/./z:True D/l/./z/:True", "z/ z/"                                     },
        {"D/link:True",                "./"                                        },
    };
    struct world *w = *state;

    make_dirs(w->dir->fd, "l/a/b");
    make_dirs(w->dir->fd, "l/a.d");
    make_dirs(w->dir->fd, "l/only/.svn/x");
    make_dirs(w->dir->fd, "l/only/.svn.d");
    make_dirs(w->dir->fd, "l/z/CVS");
    put(w->dir->fd, "l/a/file", "");
    assert_int_equal(symlinkat("l/z", w->dir->fd, "link"), 0);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        set_flag(w, rows[i].flag);
        assert_string_equal(read_list(w, list_of(w, "do_x")), rows[i].names);
    }
}

/* No content of a file has the digest of a link. */
static void a_link_is_no_file(void **state)
{
    struct world *w = *state;
    struct bz_base_files files[3] = {0};
    struct bz_sums sums;

    make_dirs(w->dir->fd, "l/sub");
    set(w, "FILESPATH", "D/l");
    set(w, "SRC_URI", "file://sub");
    for (size_t i = 0; i < BZ_COUNTOF(files); i++) {
        if (i < 2)
            assert_int_equal(symlinkat(i ? "x" : "y", w->dir->fd, "l/sub/a"), 0);
        else
            put(w->dir->fd, "l/sub/a", "l\1\0\0\0\0\0\0\0x");
        bz_sums_open(&sums, NULL, w->hasher);
        assert_ok(
            bz_files_read(list_of(w, "do_fetch"), &sums, &w->arena, &files[i], &w->err),
            &w->err);
        bz_sums_close(&sums);
        assert_int_equal(files[i].len, 1);
        for (size_t k = 0; k < i; k++)
            assert_false(bz_digest_eq(&files[i].at[0].digest, &files[k].at[0].digest));
        assert_int_equal(unlinkat(w->dir->fd, "l/sub/a", 0), 0);
    }
    for (size_t i = 0; i < BZ_COUNTOF(files); i++)
        bz_vec_release(&files[i]);
}

static void a_list_holds_until_something_appears_or_goes(void **state)
{
    struct world *w = *state;
    struct bz_str list;

    put_tree(w);
    set_flag(w, "D/l/none/a.patch:False D/l/files/a.patch:True");
    list = list_of(w, "do_x");
    assert_true(bz_files_hold(list));
    make_dirs(w->dir->fd, "l/none");
    assert_true(bz_files_hold(list));
    put(w->dir->fd, "l/none/a.patch", "");
    assert_false(bz_files_hold(list));
    assert_int_equal(unlinkat(w->dir->fd, "l/none/a.patch", 0), 0);
    assert_true(bz_files_hold(list));
    assert_int_equal(unlinkat(w->dir->fd, "l/files/a.patch", 0), 0);
    assert_false(bz_files_hold(list));
}

static void local_sources_count_for_a_fetch_that_names_none(void **state)
{
    struct world *w = *state;
    struct bz_str list;

    put_tree(w);
    set(w, "SRC_URI", "http://h/x file://a.patch;apply=0 file://sub file://nope");
    list = list_of(w, "do_fetch");
    assert_string_equal(read_list(w, list),
                        "a.patch nope! sub/b sub/c d sub/link sub/loop");
    assert_int_equal(list_of(w, "do_x").n, 0);
    assert_true(bz_files_hold(list));
    put(w->dir->fd, "l/other/nope", "");
    assert_false(bz_files_hold(list));
    assert_ok(bz_vars_set_flag(w->vars, BZ_STR("do_fetch"), BZ_STR("file-checksums"),
                               BZ_STR(""), NULL, &w->err),
              &w->err);
    assert_int_equal(list_of(w, "do_fetch").n, 0); /* it says so */
    {
        BZ_CLEANUP(bz_buf_release) struct bz_buf unpacked = {0};

        /* But bitzel unpacks them itself. */
        assert_ok(bz_files_sources(w->vars, &unpacked, &w->err), &w->err);
        assert_true(unpacked.len > 0);
    }
}

static void words_that_are_no_paths_are_errors(void **state)
{
    static const char *const rows[] = {"D/x", "D/x:True D/y", "x:True", "D/x:Maybe",
                                       "${@1/}"};
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};

        set_flag(w, rows[i]);
        assert_true(bz_files_of(w->vars, BZ_STR("do_x"), &list, &w->err) < 0);
        assert_non_null(strstr(w->err.msg, "do_x[file-checksums]"));
    }
}

static void bytes_that_are_no_list_are_refused(void **state)
{
    static const struct bz_str rows[] = {
        BZ_STR("+"),       BZ_STR(":ab\0"),
        BZ_STR("+0:/x"),   BZ_STR("+9:/x\0"),
        BZ_STR("+x:/x\0"), BZ_STR("+:/x\0"),
        BZ_STR("+0:\0"),   BZ_STR("\0\0\0"),
        BZ_STR("+0/x\0"),  BZ_STR("+123456789:/x\0"),
    };
    struct world *w = *state;
    struct bz_sums sums;

    bz_sums_open(&sums, NULL, w->hasher);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_vec_release) struct bz_base_files files = {0};

        assert_false(bz_files_hold(rows[i]));
        assert_int_equal(bz_files_read(rows[i], &sums, &w->arena, &files, &w->err),
                         BZ_E_CORRUPT);
    }
    bz_sums_close(&sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_change_is_noticed_later),
        world_test(names_are_relative_to_where_files_were_found),
        world_test(an_empty_directory_counts_by_its_name),
        world_test(a_link_is_no_file),
        world_test(a_list_holds_until_something_appears_or_goes),
        world_test(local_sources_count_for_a_fetch_that_names_none),
        world_test(words_that_are_no_paths_are_errors),
        world_test(bytes_that_are_no_list_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
