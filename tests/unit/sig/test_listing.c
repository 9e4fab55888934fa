#include "sig/listing.h"

#include <unistd.h>

#include "tests/unit/recipe/files.h"
#include "vars/history.h"

static const struct file project[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\nBBLAYERS = \"${TOPDIR}/../layer\"\n"},
    {"layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb\"\n"
     "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"
     "LAYERSERIES_CORENAMES = \"x\"\nLAYERSERIES_COMPAT_one = \"x\"\n"             },
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"       },
    {"layer/classes/base.bbclass",
     "addtask build\ndo_build[deptask] = \"do_build\"\n"
     "do_build[file-checksums] = \"${TOPDIR}/../layer/data:True\"\n"
     "do_build() {\n    : ${A}\n}\n"                                               },
    {"layer/app.bb",               "DEPENDS = \"lib\"\nA = \"1\"\n"                },
    {"layer/lib.bb",               "A = \"1\"\nB = \"1\"\n"                        },
    {"layer/data",                 "old\n"                                         },
};

struct signed_project {
    struct bz_catalog p;
    struct bz_goal g;
    struct bz_signing s;
};

static void open_signed(struct signed_project *x, struct world *w)
{
    const char *target = "app";
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};
    struct bz_goal_opts goal = {.targets = &target, .n = 1};
    BZ_CLEANUP(bz_buf_release) struct bz_buf notes = {0}, why = {0};

    *x = (struct signed_project){0};
    assert_ok(bz_catalog_open(&x->p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&x->p, &w->err), &w->err);
    x->g.survey = &x->p.survey;
    assert_ok(bz_goal_open(&x->g, &goal, &notes, &why, &w->err), &w->err);
    assert_ok(bz_signing_run(&x->s, &x->p, &x->g, &w->err), &w->err);
    assert_int_equal(x->g.graph.dag.n, 2);
}

static void close_signed(struct signed_project *x)
{
    bz_signing_release(&x->s);
    bz_goal_close(&x->g);
    bz_catalog_close(&x->p);
}

/* What is told of the first task, app's. */
struct told {
    size_t calls, inputs, files;
    uint32_t line;   /* where A was set */
    char value[64];  /* of A */
    char field[256]; /* of the function */
    struct bz_digest file;
};

static void keep_text(char *to, size_t size, struct bz_str text)
{
    snprintf(to, size, "%.*s", BZ_STR_ARG(text));
}

static void hear(void *ctx, uint32_t task, const struct bz_listing_view *view)
{
    struct told *told = ctx;
    struct bz_history_event event = {0};

    told->calls++;
    if (task != 0)
        return;
    for (size_t i = 0; i < view->origins->len; i++) {
        bool a = bz_str_eq(view->origins->at[i].name, BZ_STR("A"));

        told->inputs += a || bz_str_eq(view->origins->at[i].name, BZ_STR("do_build"));
        if (a)
            keep_text(told->value, sizeof(told->value), view->origins->at[i].value);
    }
    for (size_t i = 0; i < view->inputs->len; i++)
        if (view->inputs->at[i].kind == BZ_TASKSPEC_FUNCTION)
            keep_text(told->field, sizeof(told->field), view->inputs->at[i].value);
    told->files = view->files->len;
    if (told->files > 0)
        told->file = view->files->at[0].digest;
    if (bz_history_last(view->vars, BZ_STR("A"), &event))
        told->line = event.line;
}

static void the_view_has_what_counts_and_where_it_was_set(void **state)
{
    struct world *w = *state;
    struct signed_project x;
    struct told told = {0};

    put_files(w, project, BZ_COUNTOF(project));
    open_signed(&x, w);
    assert_ok(bz_listing_run(&x.s, &x.p, &x.g, NULL, hear, &told, &w->err), &w->err);
    close_signed(&x);
    assert_int_equal(told.calls, 2);
    assert_int_equal(told.inputs, 2); /* the code, and A */
    assert_int_equal(told.files, 1);
    assert_int_equal(told.line, 2);
    assert_string_equal(told.value, "1");
}

static void only_some_tasks_are_listed(void **state)
{
    struct world *w = *state;
    struct signed_project x;
    struct told told = {0};
    struct bz_bitset second = {0};

    put_files(w, project, BZ_COUNTOF(project));
    open_signed(&x, w);
    bz_bitset_set(&second, 1);
    assert_ok(bz_listing_run(&x.s, &x.p, &x.g, &second, hear, &told, &w->err), &w->err);
    bz_bitset_release(&second);
    close_signed(&x);
    assert_int_equal(told.calls, 1);
    assert_int_equal(told.inputs, 0); /* it is not the first */
}

/* Signs, changes what was signed, and lists. */
static void list_after_edits(struct world *w, const char *recipe, struct told *before,
                             struct told *after)
{
    struct signed_project x;

    put_files(w, project, BZ_COUNTOF(project));
    put_file(w, "layer/app.bb", recipe);
    open_signed(&x, w);
    assert_ok(bz_listing_run(&x.s, &x.p, &x.g, NULL, hear, before, &w->err), &w->err);
    put_file(w, "layer/app.bb", "DEPENDS = \"lib\"\n\n\nA = \"2\"\n");
    put_file(w, "layer/data", "new\n");
    put_file(w, "host", "");
    assert_ok(bz_listing_run(&x.s, &x.p, &x.g, NULL, hear, after, &w->err), &w->err);
    close_signed(&x);
}

static void the_inputs_are_those_that_were_signed(void **state)
{
    struct world *w = *state;
    char host[512];
    const char *const recipes[] = {
        "DEPENDS = \"lib\"\nA = \"1\"\n",
        /* The catalog has no table of these. */
        "DEPENDS = \"lib\"\nA = \"1\"\nBB_DONT_CACHE = \"1\"\n",
        host,
    };

    snprintf(host, sizeof(host),
             "DEPENDS = \"lib\"\nA = \"${@str(os.path.exists('%s'))}\"\n",
             at(w, "host").p);
    for (size_t i = 0; i < BZ_COUNTOF(recipes); i++) {
        struct told before = {0}, after = {0};

        unlink(at(w, "host").p);
        list_after_edits(w, recipes[i], &before, &after);
        assert_int_equal(before.calls, 2);
        assert_int_equal(after.calls, 2);
        assert_int_equal(before.line, 2);
        assert_int_equal(after.line, 2);
        assert_string_equal(before.value, after.value);
        assert_string_equal(before.field, after.field);
        assert_true(bz_digest_eq(&before.file, &after.file));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(the_view_has_what_counts_and_where_it_was_set),
        world_test(only_some_tasks_are_listed),
        world_test(the_inputs_are_those_that_were_signed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
