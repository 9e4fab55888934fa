#include "recipe/layer_depend.h"

#include "base/log.h"
#include "tests/unit/recipe/files.h"

/* Layers a, b, c and d; c needs what a row says. */
struct row {
    const char *version;    /* LAYERVERSION_b */
    const char *depends;    /* LAYERDEPENDS_c */
    const char *recommends; /* LAYERRECOMMENDS_c */
    int64_t priority;       /* of c; a has 5, b has 7 */
    const char *problem;
};

static const struct row rows[] = {
    {"3",   "b (>= 3)",         "",                8, NULL                                   },
    {"3",   "b (>= 3) b (< 4)", "",                8, NULL                                   },
    {"3",   "a",                "",                6, NULL                                   },
    {"3",   "a",                "b",               8, NULL                                   },
    {"3",   "a",                "b (>= 3)",        8, NULL                                   },
    {"3",   "a",                "b (>= 4)",        6, NULL                                   },
    {"3",   "a",                "b (= 3) b (= 4)", 8, NULL                                   },
    {NULL,  "a",                "b (>= 3)",        6, NULL                                   },
    {NULL,  "a",                "missing",         6, NULL                                   },
    {"3",   "",                 "",                6, NULL                                   },
    {"1:2", "b (= 1:2)",        "",                8, NULL                                   },
    {"3",   "b (>= 4)",         "",                0, "(>= 4), but that is version 3"        },
    {"3",   "b (>= 3) b (< 3)", "",                0, "(< 3), but that is version 3"         },
    {NULL,  "b (>= 4)",         "",                0, "does not say its version"             },
    {"3",   "b (4)",            "",                0, "LAYERDEPENDS_c: '(4)' has no operator"},
    {"3",   "b (=> 3)",         "",                0, "'=>' is not an operator"              },
    {"3",   "b (= 3 4)",        "",                0, "'3 4' is not one version"             },
    {"x:3", "b (= 3)",          "",                0, "the epoch 'x' is not a number"        },
    {"3",   "",                 "b (=> 3)",        0, "'=>' is not an operator"              },
    {"3",   "",                 "b 3)(",           8, NULL                                   },
    {"3",   "missing",          "",                0, "'missing', which is not in BBLAYERS"  },
};

static void set_layers(struct world *w, const struct row *row)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    bz_meta_free(w->meta);
    w->meta = bz_meta_new();
    set_var(w->meta, "BBFILE_COLLECTIONS", "a b c d");
    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        set_var(w->meta, bz_arena_printf(&w->arena, "BBFILE_PATTERN_%s", names[i]).p,
                "");
    set_var(w->meta, "BBFILE_PRIORITY_a", "5");
    set_var(w->meta, "BBFILE_PRIORITY_b", "7");
    if (row->version)
        set_var(w->meta, "LAYERVERSION_b", row->version);
    set_var(w->meta, "LAYERDEPENDS_c", row->depends);
    set_var(w->meta, "LAYERRECOMMENDS_c", row->recommends);
}

static void a_version_that_fits_decides_the_priority(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_layers l = {0};

        if (rows[i].problem)
            continue;
        set_layers(w, &rows[i]);
        assert_ok(bz_layer_read(&l, w->meta, &w->err), &w->err);
        assert_int_equal(l.all.at[2].priority, rows[i].priority);
        bz_layer_release(&l);
    }
}

static void a_version_that_is_needed_and_not_there_is_an_error(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_layers l = {0};

        if (!rows[i].problem)
            continue;
        set_layers(w, &rows[i]);
        assert_int_equal(bz_layer_read(&l, w->meta, &w->err), BZ_E_INVAL);
        assert_non_null(strstr(w->err.msg, rows[i].problem));
        bz_layer_release(&l);
    }
}

static void keep_line(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    (void)level;
    bz_buf_add_str(arg, bz_str_of(line, n + 1));
}

static void all_problems_are_shown_not_only_the_first(void **state)
{
    static const struct row row = {"3", "one (= 1) b (> 3) two", "", 0, NULL};
    struct world *w = *state;
    struct bz_buf log = {0};
    struct bz_log_sink sink = {keep_line, &log};
    struct bz_layers l = {0};

    set_layers(w, &row);
    bz_log_set_sink(&sink);
    assert_int_equal(bz_layer_read(&l, w->meta, &w->err), BZ_E_INVAL);
    bz_log_set_sink(NULL);
    assert_non_null(strstr(bz_buf_text(&log), "but that is version 3"));
    assert_non_null(strstr(bz_buf_text(&log), "'one'"));
    assert_non_null(strstr(w->err.msg, "'two'"));
    bz_buf_release(&log);
    bz_layer_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_version_that_fits_decides_the_priority),
        world_test(a_version_that_is_needed_and_not_there_is_an_error),
        world_test(all_problems_are_shown_not_only_the_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
