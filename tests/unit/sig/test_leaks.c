#include "sig/leaks.h"

#include "tests/unit/recipe/files.h"

/* What is said of the tasks of a recipe with this text; D is where it lies. */
static const char *leaks(struct world *w, const char *text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf body = {0}, notes = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map seen = {0};
    struct bz_roots roots;
    struct bz_str unused;
    struct bz_vars *v;
    struct bz_meta *m = bz_meta_new();
    struct bz_eval e = {.meta = m, .library = w->library};

    for (; *text; text++) {
        if (*text == '@')
            bz_buf_addf(&body, "%s", w->dir->path);
        else
            bz_buf_add_char(&body, *text);
    }
    put_file(w, "r.bb", bz_buf_text(&body));
    bz_library_free(w->library);
    e.library = w->library = bz_library_new();
    set_var(m, "BBPATH", w->dir->path);
    set_var(m, "TOPDIR", w->dir->path);
    set_var(m, "HOME", "/home/nobody");
    assert_ok(bz_eval_file(&e, at(w, "r.bb"), BZ_EVAL_RECIPE, &w->err), &w->err);
    assert_ok(bz_roots_open(&roots, m->vars, &w->err), &w->err);
    v = bz_vars_new(m->vars);
    assert_ok(bz_vars_get(v, BZ_STR("T"), 0, &unused, &w->err), &w->err);
    bz_leaks_find(v, &roots, &seen, &notes);
    bz_roots_close(&roots);
    bz_vars_free(v);
    bz_meta_free(m);
    return bz_arena_printf(&w->arena, "%s", bz_buf_text(&notes)).p;
}

static size_t count_lines(const char *text)
{
    size_t n = 0;

    while ((text = strchr(text, '\n'))) {
        text++;
        n++;
    }
    return n;
}

static void the_place_where_a_path_is_written_is_named(void **state)
{
    static const struct {
        const char *text, *place; /* NULL: nothing is wrong */
        size_t lines;
    } rows[] = {
        {"T = \"${A}\"\nA = \"@/x\"\n",                        "r.bb:2: warning: A has ", 1},
        {"T = \"x\"\n\nT:append = \" @/x\"\n",                 "r.bb:3: warning: T has ", 1},
        {"T = \"${A}\"\nA = \"/home/nobody/x\"\nA += \"@\"\n",
         "r.bb:3: warning: A has ",                                                       2},
        {"T () {\n    : @/x\n}\n",                             "r.bb:1: warning: T has ", 1},
        {"T = \"${A}\"\nA = \"${TOPDIR}/x\"\n",                NULL,                      0},
        {"T = \"${A}\"\nA := \"${TOPDIR}/x\"\n",               NULL,                      0},
        {"T = \"${A}\"\nA = \"${HOME}/x\"\n",                  NULL,                      0},
        {"T = \"${A}\"\nA = \"/usr/bin\"\nB = \"@\"\n",        NULL,                      0},
    };
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        const char *got = leaks(w, rows[i].text);

        if (count_lines(got) != rows[i].lines ||
            (rows[i].place && !strstr(got, rows[i].place)))
            fail_msg("%s: got '%s'", rows[i].text, got);
    }
}

static void it_says_what_to_do(void **state)
{
    struct world *w = *state;
    const char *got = leaks(w, "T = \"@/x\"\n");

    assert_non_null(
        strstr(got, "write ${TOPDIR}, or exclude it with [vardepsexclude]"));
    got = leaks(w, "T = \"/home/nobody/x\"\n");
    assert_non_null(strstr(got, " has the path /home/nobody of this host in it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(the_place_where_a_path_is_written_is_named),
        world_test(it_says_what_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
