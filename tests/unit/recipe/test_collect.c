#include "recipe/collect.h"

#include "tests/unit/recipe/files.h"

struct found {
    struct bz_layers layers;
    struct bz_collect files;
};

/* Two layers, the second stronger. */
static void put_layers(struct world *w)
{
    static const struct file files[] = {
        {"a/r/x/x_1.bb",       ""},
        {"a/r/x/y_2.bb",       ""},
        {"a/r/x/notes.txt",    ""},
        {"a/r/x/.hidden.bb",   ""},
        {"a/r/z/z.bb",         ""},
        {"b/r/x/x_1.bb",       ""},
        {"b/r/x/x_%.bbappend", ""},
        {"b/r/x/y_2.bbappend", ""},
        {"b/r/x/z_9.bbappend", ""},
    };

    put_files(w, files, BZ_COUNTOF(files));
    set_var(w->meta, "BBFILE_COLLECTIONS", "a b");
    set_var(w->meta, "BBFILE_PATTERN_a", "^${TOPDIR}/a/");
    set_var(w->meta, "BBFILE_PATTERN_b", "^${TOPDIR}/b/");
    set_var(w->meta, "BBFILE_PRIORITY_a", "1");
    set_var(w->meta, "BBFILE_PRIORITY_b", "2");
    set_var(w->meta, "BBFILES",
            "${TOPDIR}/b/r/*/*.bb ${TOPDIR}/b/r/*/*.bbappend ${TOPDIR}/a/r/*/*.bb");
}

static void collect(struct world *w, struct found *f)
{
    assert_ok(bz_layer_read(&f->layers, w->meta, &w->err), &w->err);
    assert_ok(bz_collect_read(&f->files, w->meta, &f->layers, w->library, &w->err),
              &w->err);
}

static void release(struct found *f)
{
    bz_collect_release(&f->files);
    bz_layer_release(&f->layers);
}

/* The recipes relative to the directory, those that are hidden in parentheses. */
static void assert_recipes(struct world *w, const struct found *f, const char *expected)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    for (size_t i = 0; i < f->files.recipes.len; i++) {
        const struct bz_collect_recipe *r = &f->files.recipes.at[i];
        const char *path = r->path.p + strlen(w->dir->path) + 1;

        bz_buf_addf(&text, r->hidden ? "%s(%s)" : "%s%s", i ? " " : "", path);
    }
    assert_string_equal(bz_buf_text(&text), expected);
}

static void recipes_come_by_priority_then_by_name(void **state)
{
    struct world *w = *state;
    struct found f = {0};

    put_layers(w);
    collect(w, &f);
    assert_recipes(w, &f, "(a/r/x/x_1.bb) a/r/x/y_2.bb a/r/z/z.bb b/r/x/x_1.bb");
    assert_text("layer", f.files.recipes.at[0].layer->name, "a");
    assert_text("layer", f.files.recipes.at[3].layer->name, "b");
    assert_int_equal(f.files.masked, 0);
    release(&f);
}

static void appends_are_matched_by_name(void **state)
{
    static const struct {
        const char *recipe, *appends;
    } cases[] = {
        {"/any/x_1.bb",   "x_%.bbappend"},
        {"/any/x_2.1.bb", "x_%.bbappend"},
        {"/any/y_2.bb",   "y_2.bbappend"},
        {"/any/y_3.bb",   ""            },
        {"/any/xx_1.bb",  ""            },
        {"/any/z.bb",     ""            },
    };
    struct world *w = *state;
    struct found f = {0};

    put_layers(w);
    collect(w, &f);
    assert_int_equal(f.files.appends.len, 3);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_vec_release) struct bz_meta_names names = {0};

        bz_collect_appends(&f.files, bz_str_from(cases[i].recipe), &names);
        assert_int_equal(names.len, cases[i].appends[0] != '\0');
        if (names.len > 0)
            assert_text("append", bz_path_basename(names.at[0]), cases[i].appends);
    }
    assert_int_equal(f.files.appends.at[0].recipes, 2);
    assert_int_equal(f.files.appends.at[1].recipes, 1);
    assert_int_equal(f.files.appends.at[2].recipes, 0); /* dangling */
    release(&f);
}

static void masks_hide_files(void **state)
{
    struct world *w = *state;
    struct found f = {0};

    put_layers(w);
    set_var(w->meta, "BBMASK", "/b/ /z ( |y_2");
    collect(w, &f);
    assert_recipes(w, &f, "a/r/x/x_1.bb");
    assert_int_equal(f.files.appends.len, 0);
    assert_int_equal(f.files.masked, 6);
    release(&f);
}

static void an_empty_mask_alone_hides_nothing(void **state)
{
    struct world *w = *state;
    struct found f = {0};

    put_layers(w);
    set_var(w->meta, "BBMASK", "|");
    collect(w, &f);
    assert_int_equal(f.files.masked, 0);
    release(&f);
    f = (struct found){0};
    set_var(w->meta, "BBMASK", "| y_2"); /* but together with another one, all */
    collect(w, &f);
    assert_int_equal(f.files.recipes.len, 0);
    release(&f);
}

static void a_directory_stands_for_all_below_it(void **state)
{
    struct world *w = *state;
    struct found f = {0};

    put_layers(w);
    put_file(w, "a/CVS/c.bb", "");
    put_file(w, "a/d.bb/deep/e.bb", "");
    set_var(w->meta, "BBFILES", "${TOPDIR}/a");
    collect(w, &f);
    assert_recipes(w, &f,
                   "a/d.bb/deep/e.bb a/r/x/.hidden.bb a/r/x/x_1.bb a/r/x/y_2.bb "
                   "a/r/z/z.bb");
    release(&f);
}

static void a_file_is_found_once(void **state)
{
    struct world *w = *state;
    struct found f = {0};

    put_layers(w);
    set_var(w->meta, "BBFILES",
            "${TOPDIR}/a/r/z/z.bb ${TOPDIR}/a/r/*/*.bb ${TOPDIR}/a/ ${TOPDIR}/none/*");
    collect(w, &f);
    assert_recipes(w, &f, "a/r/z/z.bb a/r/x/x_1.bb a/r/x/y_2.bb a/r/x/.hidden.bb");
    release(&f);
}

static void names_that_look_like_patterns_are_files_too(void **state)
{
    struct world *w = *state;
    struct found f = {0};

    put_file(w, "[q]/x.bb", "");
    put_file(w, "q/y.bb", "");
    set_var(w->meta, "BBFILES", "${TOPDIR}/[q]/x.bb ${TOPDIR}/[q]/y.bb");
    collect(w, &f);
    assert_recipes(w, &f, "[q]/x.bb q/y.bb");
    release(&f);
}

static void nothing_asked_for_is_nothing_found(void **state)
{
    struct world *w = *state;
    struct found f = {0};

    collect(w, &f);
    assert_recipes(w, &f, "");
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(recipes_come_by_priority_then_by_name),
        world_test(appends_are_matched_by_name),
        world_test(masks_hide_files),
        world_test(an_empty_mask_alone_hides_nothing),
        world_test(a_directory_stands_for_all_below_it),
        world_test(a_file_is_found_once),
        world_test(names_that_look_like_patterns_are_files_too),
        world_test(nothing_asked_for_is_nothing_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
