#include "graph/pick.h"

#include "base/log.h"
#include "tests/unit/recipe/files.h"

static const struct file files[] = {
    {"tool_1.9.bb",            "V = \"1.9\"\n"                             },
    {"tool_1.10.bb",           "V = \"1.10\"\nBBCLASSEXTEND = \"native\"\n"},
    {"tool_2.0.bb",            "V = \"2.0\"\nDEFAULT_PREFERENCE = \"-1\"\n"},
    {"half_1.bb",              "V = \"1\"\n"                               },
    {"half_2.bb",              "require nowhere.inc\n"                     },
    {"broken_1.bb",            "require nowhere.inc\n"                     },
    {"odd.bb",                 "PN = \"renamed-odd\"\nV = \"odd\"\n"       },
    {"classes/native.bbclass", "PN = \"tool-native\"\n"                    },
};

static const struct {
    const char *setting, *value; /* of the configuration, or NULL */
    const char *name;
    const char *v;      /* NULL: an error */
    const char *reason; /* part of its message */
} rows[] = {
    {NULL,                     NULL,  "tool",        "1.10", NULL                          },
    {"PREFERRED_VERSION_tool", "2.%", "tool",        "2.0",  NULL                          },
    {"REQUIRED_VERSION_tool",  "1.9", "tool",        "1.9",  NULL                          },
    {"REQUIRED_VERSION_tool",  "3",   "tool",        NULL,   "REQUIRED_VERSION"            },
    {NULL,                     NULL,  "tool-native", "1.10", NULL                          },
    {NULL,                     NULL,  "half",        "1",    NULL                          },
    {NULL,                     NULL,  "broken",      NULL,   "nowhere.inc"                 },
    {NULL,                     NULL,  "renamed-odd", "odd",  NULL                          },
    {NULL,                     NULL,  "odd",         NULL,   "no recipe is called 'odd'"   },
    {NULL,                     NULL,  "absent",      NULL,   "no recipe is called 'absent'"},
};

static void drop_line(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    (void)level;
    (void)line;
    *(size_t *)arg += n;
}

static void configure(struct world *w, struct bz_collect *c, size_t row)
{
    struct bz_layers none = {0};

    bz_meta_free(w->meta);
    w->meta = bz_meta_new();
    set_var(w->meta, "BBPATH", w->dir->path);
    set_var(w->meta, "BBFILES", at(w, "*.bb").p);
    set_var(w->meta, "PN",
            "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}");
    set_var(w->meta, "PV",
            "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1]}");
    if (rows[row].setting)
        set_var(w->meta, rows[row].setting, rows[row].value);
    assert_ok(bz_collect_read(c, w->meta, &none, w->library, &w->err), &w->err);
}

static void check_row(struct world *w, size_t row)
{
    struct bz_collect c = {0};
    struct bz_pick_from from = {.library = w->library, .recipes = &c};
    struct bz_finalize *f = NULL;
    struct bz_meta *meta = NULL;
    int rc;

    configure(w, &c, row);
    from.config = w->meta;
    rc = bz_pick_recipe(&from, bz_str_from(rows[row].name), &f, &meta, &w->err);
    if (rows[row].v) {
        assert_ok(rc, &w->err);
        assert_var(meta, "V", rows[row].v);
    } else {
        assert_true(rc < 0);
        assert_non_null(strstr(w->err.msg, rows[row].reason));
    }
    bz_finalize_free(f);
    bz_collect_release(&c);
}

static void a_name_leads_to_the_recipe_that_would_be_built(void **state)
{
    struct world *w = *state;
    size_t said = 0;
    struct bz_log_sink sink = {drop_line, &said};

    put_files(w, files, BZ_COUNTOF(files));
    bz_log_set_sink(&sink);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++)
        check_row(w, i);
    bz_log_set_sink(NULL);
    assert_true(said > 0); /* about half_2.bb, and about what is not there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_name_leads_to_the_recipe_that_would_be_built),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
