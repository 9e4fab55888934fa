#include "recipe/wildcard.h"

#include "base/vec.h"
#include "tests/unit/recipe/files.h"

struct result {
    struct world *w;
    struct bz_meta_names found, looked;
};

static struct bz_str inside(struct result *r, struct bz_str path)
{
    struct bz_str dir = bz_str_from(r->w->dir->path);

    if (bz_str_cut_prefix(&path, dir))
        bz_str_cut_prefix(&path, BZ_STR("/"));
    return bz_arena_dup(&r->w->arena, path.n > 0 ? path : BZ_STR("top"));
}

static void note_found(void *ctx, struct bz_str path)
{
    struct result *r = ctx;

    BZ_VEC_PUSH(&r->found, inside(r, path));
}

static void note_looked(void *ctx, struct bz_str path)
{
    struct result *r = ctx;

    BZ_VEC_PUSH(&r->looked, inside(r, path));
}

static void put_tree(struct world *w)
{
    static const struct file files[] = {
        {"a/r1/x/x.bb",         ""},
        {"a/r1/x/x.inc",        ""},
        {"a/r1/x/.dot.bb",      ""},
        {"a/r2/y/y.bb",         ""},
        {"a/r2/file",           ""},
        {"a/other/z/z.bb",      ""},
        {"a/r1/x/deep/d.bb",    ""},
        {"a/CVS/no.bb",         ""},
        {"a/r[1]/b.bb",         ""},
        {"a/r2/y/y_1.bbappend", ""},
    };

    put_files(w, files, BZ_COUNTOF(files));
    assert_int_equal(symlinkat("../r1/x", w->dir->fd, "a/r2/link"), 0);
    assert_int_equal(symlinkat("nowhere", w->dir->fd, "a/r2/dangling"), 0);
}

static void patterns_mean_what_they_mean_in_python(void **state)
{
    static const struct {
        const char *pattern, *found, *looked;
    } cases[] = {
        {"a/r*/*/*.bb",    "a/r1/x/x.bb a/r2/link/x.bb a/r2/y/y.bb",
         "a a/r1 a/r1/x a/r2 a/r2/dangling a/r2/link a/r2/y a/r[1]"                             },
        {"a/r1/x/x.bb",    "a/r1/x/x.bb",                            "a/r1/x/x.bb"              },
        {"a/r1/x/n.bb",    "",                                       "a/r1/x/n.bb"              },
        {"a/*/x/x.bb",     "a/r1/x/x.bb",
         "a a/CVS/x/x.bb a/other/x/x.bb a/r1/x/x.bb a/r2/x/x.bb a/r[1]/x/x.bb"                  },
        {"a/r[12]/?/?.bb", "a/r1/x/x.bb a/r2/y/y.bb",                "a a/r1 a/r1/x a/r2 a/r2/y"},
        {"a/r[!1]/y/*",    "a/r2/y/y.bb a/r2/y/y_1.bbappend",        "a a/r2/y"                 },
        {"a/r1/x/.*.bb",   "a/r1/x/.dot.bb",                         "a/r1/x"                   },
        {"none/*.bb",      "",                                       "none"                     },
    };
    struct world *w = *state;

    put_tree(w);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct result r = {.w = w};
        struct bz_wildcard_to to = {note_found, note_looked, &r};

        assert_ok(bz_wildcard_expand(w->library, at(w, cases[i].pattern), &to, &w->err),
                  &w->err);
        assert_string_equal(joined(w, r.found.at, r.found.len), cases[i].found);
        assert_string_equal(joined(w, r.looked.at, r.looked.len), cases[i].looked);
        bz_vec_release(&r.found);
        bz_vec_release(&r.looked);
    }
}

static void a_directory_means_all_below_it(void **state)
{
    struct world *w = *state;
    struct result r = {.w = w};
    struct bz_wildcard_to to = {note_found, note_looked, &r};

    put_tree(w);
    assert_ok(bz_wildcard_below(w->library, at(w, "a"), &to, &w->err), &w->err);
    assert_string_equal(joined(w, r.found.at, r.found.len),
                        "a/other/z/z.bb a/r1/x/.dot.bb a/r1/x/deep/d.bb a/r1/x/x.bb "
                        "a/r2/y/y.bb a/r2/y/y_1.bbappend a/r[1]/b.bb");
    assert_string_equal(
        joined(w, r.looked.at, r.looked.len),
        "a a/other a/other/z a/r1 a/r1/x a/r1/x/deep a/r2 a/r2/y a/r[1]");
    bz_vec_release(&r.found);
    bz_vec_release(&r.looked);
}

static void depth_has_a_limit(void **state)
{
    struct world *w = *state;
    struct result r = {.w = w};
    struct bz_wildcard_to to = {note_found, note_looked, &r};
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};

    for (int i = 0; i < 70; i++)
        bz_buf_addf(&path, "d/");
    make_dirs(w->dir->fd, bz_buf_text(&path));
    assert_int_equal(bz_wildcard_below(w->library, at(w, "d"), &to, &w->err),
                     BZ_E_LIMIT);
    bz_buf_truncate(&path, 0);
    for (int i = 0; i < 70; i++)
        bz_buf_addf(&path, "*/");
    bz_buf_addf(&path, "*.bb");
    assert_int_equal(
        bz_wildcard_expand(w->library, at(w, bz_buf_text(&path)), &to, &w->err),
        BZ_E_LIMIT);
    bz_vec_release(&r.found);
    bz_vec_release(&r.looked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(patterns_mean_what_they_mean_in_python),
        world_test(a_directory_means_all_below_it),
        world_test(depth_has_a_limit),
    };

    return cmocka_run_group_tests_name("recipe/wildcard", tests, NULL, NULL);
}
