#include "recipe/library.h"

#include <pthread.h>

#include "tests/unit/recipe/files.h"

static int get(struct world *w, const char *path, const struct bz_ast **out)
{
    return bz_library_get(w->library, at(w, path), BZ_PARSE_BB, out, &w->err);
}

static void a_file_is_parsed_once(void **state)
{
    struct world *w = *state;
    const struct bz_ast *first, *second, *conf;

    put_file(w, "a.bb", "A = \"1\"\nB = \"2\"\n");
    assert_ok(get(w, "a.bb", &first), &w->err);
    assert_int_equal(first->count, 2);
    assert_string_equal(first->path, at(w, "a.bb").p);
    put_file(w, "a.bb", "C = \"3\"\n");
    assert_ok(get(w, "a.bb", &second), &w->err);
    assert_ptr_equal(first, second);
    assert_ok(bz_library_get(w->library, at(w, "a.bb"), BZ_PARSE_CONF, &conf, &w->err),
              &w->err);
    assert_ptr_not_equal(first, conf); /* it may mean something else */
}

static void a_failure_is_kept_as_well(void **state)
{
    struct world *w = *state;
    const struct bz_ast *ast;

    put_file(w, "a.bb", "this is wrong\n");
    assert_int_equal(get(w, "a.bb", &ast), BZ_E_INVAL);
    assert_null(ast);
    put_file(w, "a.bb", "A = \"1\"\n");
    w->err = (struct bz_err){0};
    assert_int_equal(get(w, "a.bb", &ast), BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "a.bb"));
    assert_int_equal(get(w, "missing.bb", &ast), BZ_E_NOENT);
}

static void existence_is_asked_once_and_follows_links(void **state)
{
    struct world *w = *state;

    put_file(w, "a", "");
    assert_int_equal(symlinkat("a", w->dir->fd, "good"), 0);
    assert_int_equal(symlinkat("nowhere", w->dir->fd, "dangling"), 0);
    assert_true(bz_library_exists(w->library, at(w, "a")));
    assert_true(bz_library_exists(w->library, at(w, "good")));
    assert_false(bz_library_exists(w->library, at(w, "dangling")));
    assert_false(bz_library_exists(w->library, at(w, "b")));
    put_file(w, "b", "");
    assert_false(bz_library_exists(w->library, at(w, "b")));
}

static void a_path_too_long_does_not_exist(void **state)
{
    struct world *w = *state;
    char path[BZ_PATH_MAX + 10];

    memset(path, 'a', sizeof(path));
    assert_false(bz_library_exists(w->library, bz_str_of(path, sizeof(path))));
}

static void note(void *ctx, struct bz_str path)
{
    bz_buf_addf(ctx, "%.*s\n", BZ_STR_ARG(path));
}

static void a_search_takes_the_first_and_reports_what_it_tried(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf tried = {0}, dirs = {0}, expected = {0};
    struct bz_str found;

    put_file(w, "two/x.inc", "");
    put_file(w, "three/x.inc", "");
    bz_buf_addf(&dirs, "%s/one:%s/two:%s/three", w->dir->path, w->dir->path,
                w->dir->path);
    found =
        bz_library_find(w->library, bz_buf_str(&dirs), BZ_STR("x.inc"), note, &tried);
    assert_string_equal(found.p, at(w, "two/x.inc").p);
    bz_buf_addf(&expected, "%s/one/x.inc\n%s/two/x.inc\n", w->dir->path, w->dir->path);
    assert_string_equal(bz_buf_text(&tried), bz_buf_text(&expected));
    found =
        bz_library_find(w->library, bz_buf_str(&dirs), BZ_STR("y.inc"), note, &tried);
    assert_null(found.p);
    found =
        bz_library_find(w->library, (struct bz_str){0}, BZ_STR("x.inc"), note, &tried);
    assert_null(found.p);
}

static void a_search_that_is_repeated_reports_the_same_again(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf dirs = {0};
    struct bz_buf tried[4] = {{0}};
    struct bz_str found[4];

    put_file(w, "two/x.inc", "");
    bz_buf_addf(&dirs, "%s/one:%s/two", w->dir->path, w->dir->path);
    for (size_t i = 0; i < BZ_COUNTOF(found); i++) {
        found[i] =
            bz_library_find(w->library, bz_buf_str(&dirs),
                            i < 2 ? BZ_STR("x.inc") : BZ_STR("y.inc"), note, &tried[i]);
        put_file(w, "one/x.inc", ""); /* too late: it was looked for */
        put_file(w, "two/y.inc", "");
    }
    assert_string_equal(found[0].p, at(w, "two/x.inc").p);
    assert_true(found[1].p == found[0].p);
    assert_string_equal(found[3].p, at(w, "two/y.inc").p);
    assert_string_equal(bz_buf_text(&tried[1]), bz_buf_text(&tried[0]));
    assert_string_equal(bz_buf_text(&tried[3]), bz_buf_text(&tried[2]));
    assert_true(tried[0].len > 0 && tried[2].len > 0);
    for (size_t i = 0; i < BZ_COUNTOF(tried); i++)
        bz_buf_release(&tried[i]);
}

static void what_the_parser_says_is_told_once(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf said = {0};
    const struct bz_ast *ast;

    put_file(w, "a.bb", "A=\"1\"\n");
    put_file(w, "b.bb", "wrong\n");
    assert_ok(get(w, "a.bb", &ast), &w->err);
    assert_true(get(w, "b.bb", &ast) < 0);
    assert_ok(get(w, "a.bb", &ast), &w->err);
    bz_library_diags(w->library, &said);
    assert_non_null(strstr(bz_buf_text(&said), "a.bb:1:"));
    assert_non_null(strstr(bz_buf_text(&said), "b.bb:1:"));
    bz_buf_truncate(&said, 0);
    bz_library_diags(w->library, &said);
    assert_string_equal(bz_buf_text(&said), "");
}

static void what_the_parser_says_comes_by_path(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf said = {0};
    const struct bz_ast *ast;

    put_file(w, "b.bb", "B=\"1\"\n");
    put_file(w, "a.bb", "A=\"1\"\n");
    assert_ok(get(w, "b.bb", &ast), &w->err);
    assert_ok(get(w, "a.bb", &ast), &w->err);
    bz_library_diags(w->library, &said);
    assert_true(strstr(bz_buf_text(&said), "a.bb:1:") <
                strstr(bz_buf_text(&said), "b.bb:1:"));
}

static void a_sheet_is_the_callers(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf notes = {0}, said = {0};
    struct bz_library_sheet sheet = {.arena = &w->arena, .notes = &notes};
    const struct bz_ast *first, *second;

    put_file(w, "a.bb", "A=\"1\"\n");
    assert_ok(bz_library_read(w->library, at(w, "a.bb"), BZ_PARSE_BB, &sheet, &first,
                              &w->err),
              &w->err);
    assert_non_null(strstr(bz_buf_text(&notes), "a.bb:1:"));
    put_file(w, "a.bb", "A = \"1\"\nB = \"2\"\n");
    assert_ok(bz_library_read(w->library, at(w, "a.bb"), BZ_PARSE_BB, &sheet, &second,
                              &w->err),
              &w->err);
    assert_int_equal(second->count, 2); /* read again, not remembered */
    bz_library_diags(w->library, &said);
    assert_string_equal(bz_buf_text(&said), "");
    put_file(w, "a.bb", "wrong\n");
    sheet.notes = NULL;
    assert_int_equal(bz_library_read(w->library, at(w, "a.bb"), BZ_PARSE_BB, &sheet,
                                     &first, &w->err),
                     BZ_E_INVAL);
    assert_null(first);
    bz_library_diags(w->library, &said);
    assert_non_null(strstr(bz_buf_text(&said), "a.bb:1:"));
}

static void count_bytes(void *ctx, struct bz_str bytes, uint8_t out[32])
{
    (void)ctx;
    memset(out, (int)bytes.n, 32);
}

static void what_was_found_is_remembered_with_a_stamp(void **state)
{
    struct world *w = *state;
    const struct bz_library_look *look;
    const struct bz_ast *ast;

    bz_library_set_hash(w->library, count_bytes, NULL);
    put_file(w, "a.bb", "A = \"1\"\n");
    assert_null(bz_library_look(w->library, at(w, "a.bb")));
    assert_true(bz_library_exists(w->library, at(w, "a.bb")));
    look = bz_library_look(w->library, at(w, "a.bb"));
    assert_int_equal(look->stamp.kind, BZ_STAMP_FILE);
    assert_false(look->read);
    put_file(w, "a.bb", "A = \"12\"\n"); /* what counts is what is read */
    assert_ok(get(w, "a.bb", &ast), &w->err);
    look = bz_library_look(w->library, at(w, "a.bb"));
    assert_true(look->read);
    assert_int_equal(look->stamp.size, 9);
    assert_int_equal(look->content[31], 9);
    assert_string_equal(look->path.p, at(w, "a.bb").p);

    assert_false(bz_library_exists(w->library, at(w, "b.bb")));
    put_file(w, "b.bb", ""); /* too late: somebody has been told that there is none */
    assert_ok(get(w, "b.bb", &ast), &w->err);
    look = bz_library_look(w->library, at(w, "b.bb"));
    assert_int_equal(look->stamp.kind, BZ_STAMP_ABSENT);
    assert_int_equal(get(w, "c.bb", &ast), BZ_E_NOENT);
    look = bz_library_look(w->library, at(w, "c.bb"));
    assert_int_equal(look->stamp.kind, BZ_STAMP_ABSENT);
}

static void sum_bytes(void *ctx, struct bz_str bytes, uint8_t out[32])
{
    (void)ctx;
    memset(out, 0, 32);
    for (size_t i = 0; i < bytes.n; i++)
        out[i % 32] = (uint8_t)(out[i % 32] * 31 + bytes.p[i]);
}

static void a_directory_is_listed_once_and_by_name(void **state)
{
    struct world *w = *state;
    const struct bz_library_list *list;
    const struct bz_library_look *look;
    struct bz_stamp stamp;
    uint8_t hash[32];

    bz_library_set_hash(w->library, sum_bytes, NULL);
    put_file(w, "d/b", "");
    put_file(w, "d/a/x", "");
    assert_int_equal(symlinkat("a", w->dir->fd, "d/c"), 0);
    list = bz_library_list(w->library, at(w, "d"));
    assert_int_equal(list->len, 3);
    assert_string_equal(list->at[0].name.p, "a");
    assert_int_equal(list->at[0].kind, BZ_LIBRARY_DIR);
    assert_string_equal(list->at[1].name.p, "b");
    assert_int_equal(list->at[1].kind, BZ_LIBRARY_OTHER);
    assert_int_equal(list->at[2].kind, BZ_LIBRARY_LINK);
    look = bz_library_look(w->library, at(w, "d"));
    assert_true(look->read);
    assert_int_equal(look->stamp.kind, BZ_STAMP_DIR);
    assert_true(bz_library_hash_dir(at(w, "d").p, sum_bytes, NULL, &stamp, hash));
    assert_memory_equal(look->content, hash, 32);
    put_file(w, "d/d", "");
    assert_ptr_equal(bz_library_list(w->library, at(w, "d")), list);
    assert_true(bz_library_hash_dir(at(w, "d").p, sum_bytes, NULL, &stamp, hash));
    assert_memory_not_equal(look->content, hash, 32);
    assert_null(bz_library_list(w->library, at(w, "d/b")));
    assert_null(bz_library_list(w->library, at(w, "missing")));
    assert_int_equal(bz_library_look(w->library, at(w, "missing"))->stamp.kind,
                     BZ_STAMP_ABSENT);
    assert_false(
        bz_library_hash_dir(at(w, "missing").p, sum_bytes, NULL, &stamp, hash));
}

enum { THREADS = 4, FILES = 32 };

struct reader {
    struct world *w;
    const struct bz_ast *asts[FILES];
    struct bz_str paths[FILES];
};

static void *read_all(void *arg)
{
    struct reader *r = arg;
    struct bz_err err;

    for (size_t i = 0; i < FILES; i++)
        if (!bz_library_exists(r->w->library, r->paths[i]) ||
            bz_library_get(r->w->library, r->paths[i], BZ_PARSE_BB, &r->asts[i], &err) <
                0)
            r->asts[i] = NULL;
    return NULL;
}

static void threads_get_the_same_statements(void **state)
{
    struct world *w = *state;
    struct reader readers[THREADS] = {0};
    pthread_t threads[THREADS];

    for (size_t i = 0; i < FILES; i++) {
        char name[32];

        snprintf(name, sizeof(name), "%zu.bb", i);
        put_file(w, name, "A = \"1\"\n");
        for (size_t t = 0; t < THREADS; t++)
            readers[t].paths[i] = at(w, name);
    }
    for (size_t t = 0; t < THREADS; t++) {
        readers[t].w = w;
        assert_int_equal(pthread_create(&threads[t], NULL, read_all, &readers[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (size_t i = 0; i < FILES; i++)
        for (size_t t = 0; t < THREADS; t++) {
            assert_non_null(readers[t].asts[i]);
            assert_ptr_equal(readers[t].asts[i], readers[0].asts[i]);
        }
}

static void a_text_that_is_told_comes_once_for_its_key(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    const struct bz_ast *ast;

    put_file(w, "a.inc", "A = x\n");
    assert_false(bz_library_told(w->library, at(w, "a.inc"), BZ_PARSE_BB));
    assert_int_equal(
        bz_library_get(w->library, at(w, "a.inc"), BZ_PARSE_BB, &ast, &w->err),
        BZ_E_INVAL);
    assert_true(bz_library_told(w->library, at(w, "a.inc"), BZ_PARSE_BB));
    bz_library_diags(w->library, &out);
    bz_buf_truncate(&out, 0);
    bz_library_tell(w->library, BZ_STR("b"), BZ_STR("second\n"));
    bz_library_tell(w->library, BZ_STR("a"), BZ_STR("first\n"));
    bz_library_tell(w->library, BZ_STR("a"), BZ_STR("again\n"));
    bz_library_diags(w->library, &out);
    assert_string_equal(bz_buf_text(&out), "first\nsecond\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_file_is_parsed_once),
        world_test(a_failure_is_kept_as_well),
        world_test(existence_is_asked_once_and_follows_links),
        world_test(a_path_too_long_does_not_exist),
        world_test(a_search_takes_the_first_and_reports_what_it_tried),
        world_test(a_search_that_is_repeated_reports_the_same_again),
        world_test(what_the_parser_says_is_told_once),
        world_test(what_the_parser_says_comes_by_path),
        world_test(a_sheet_is_the_callers),
        world_test(a_text_that_is_told_comes_once_for_its_key),
        world_test(a_directory_is_listed_once_and_by_name),
        world_test(what_was_found_is_remembered_with_a_stamp),
        world_test(threads_get_the_same_statements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
