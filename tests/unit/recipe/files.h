/* files.h - metadata in a fresh directory, and one store to evaluate it on.
 *
 * world_test(f) runs f with a struct world in *state: an empty directory that is BBPATH
 * and TOPDIR, a library, and a meta. Paths are relative to the directory.
 */
#ifndef BZ_TEST_RECIPE_FILES_H
#define BZ_TEST_RECIPE_FILES_H

#include "base/buf.h"
#include "os/path.h"
#include "recipe/eval.h"
#include "tests/unit/os/scratch.h"

struct world {
    struct scratch *dir;
    struct bz_library *library;
    struct bz_meta *meta;
    struct bz_arena arena;
    struct bz_err err;
};

struct file {
    const char *path, *text;
};

static const struct bz_vars_at from_test;

static inline void set_var(struct bz_meta *m, const char *name, const char *value)
{
    struct bz_err err;

    assert_ok(bz_vars_set(m->vars, bz_str_from(name), bz_str_from(value), 0, &from_test,
                          &err),
              &err);
}

static inline int world_setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    void *dir = NULL;

    if (scratch_setup(&dir) < 0)
        return -1;
    w->dir = dir;
    w->library = bz_library_new();
    w->meta = bz_meta_new();
    set_var(w->meta, "BBPATH", w->dir->path);
    set_var(w->meta, "TOPDIR", w->dir->path);
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    struct world *w = *state;
    void *dir = w->dir;

    bz_meta_free(w->meta);
    bz_library_free(w->library);
    bz_arena_release(&w->arena);
    free(w);
    return scratch_teardown(&dir);
}

/* The absolute path of a file. */
static inline struct bz_str at(struct world *w, const char *path)
{
    return bz_arena_printf(&w->arena, "%s/%s", w->dir->path, path);
}

/* Writes a file and the directories above it. */
static inline void put_file(struct world *w, const char *path, const char *text)
{
    struct bz_str dir = bz_path_dirname(bz_str_from(path));

    make_dirs(w->dir->fd, bz_arena_dup(&w->arena, dir).p);
    put(w->dir->fd, path, text);
}

static inline void put_files(struct world *w, const struct file *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_file(w, files[i].path, files[i].text);
}

/* Evaluates a file as the recipe; w->err says why not. */
static inline int eval(struct world *w, const char *path)
{
    struct bz_eval e = {.meta = w->meta, .library = w->library};

    return bz_eval_file(&e, at(w, path), BZ_EVAL_RECIPE, &w->err);
}

/* Writes and evaluates a recipe that must be right. */
static inline void eval_text(struct world *w, const char *text)
{
    put_file(w, "test.bb", text);
    assert_ok(eval(w, "test.bb"), &w->err);
}

/* Writes and evaluates one that must be wrong, for this reason. */
static inline void eval_wrong(struct world *w, const char *text, const char *reason)
{
    put_file(w, "wrong.bb", text);
    assert_true(eval(w, "wrong.bb") < 0);
    if (!strstr(w->err.msg, reason))
        fail_msg("expected '%s' in: %s", reason, w->err.msg);
}

static inline void assert_text(const char *what, struct bz_str got,
                               const char *expected)
{
    if (!expected && got.p)
        fail_msg("%s is set to '%.*s'", what, BZ_STR_ARG(got));
    if (expected && (!got.p || !bz_str_eq(got, bz_str_from(expected))))
        fail_msg("%s is '%.*s', expected '%s'", what, BZ_STR_ARG(got), expected);
}

/* NULL: not set. */
static inline void assert_var(struct bz_meta *m, const char *name, const char *expected)
{
    struct bz_str got;
    struct bz_err err;

    assert_ok(bz_vars_get(m->vars, bz_str_from(name), 0, &got, &err), &err);
    assert_text(name, got, expected);
}

static inline void assert_flag(struct bz_meta *m, const char *name, const char *flag,
                               const char *expected)
{
    struct bz_str got;
    struct bz_err err;

    assert_ok(
        bz_vars_get_flag(m->vars, bz_str_from(name), bz_str_from(flag), 0, &got, &err),
        &err);
    assert_text(flag, got, expected);
}

/* The names with a blank between them. */
static inline const char *joined(struct world *w, const struct bz_str *names, size_t n)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    for (size_t i = 0; i < n; i++)
        bz_buf_addf(&text, "%s%.*s", i ? " " : "", BZ_STR_ARG(names[i]));
    return bz_arena_printf(&w->arena, "%s", bz_buf_text(&text)).p;
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

#endif
