#include "recipe/config.h"

#include "tests/unit/recipe/files.h"

static const struct file project[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\n"
     "BBLAYERS = \"${TOPDIR}/../core/ ${TOPDIR}/../b+c\"\n"              },
    {"core/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb\"\n"
     "BBFILE_COLLECTIONS += \"core\"\nBBFILE_PATTERN_core = \"^${LAYERDIR_RE}/\"\n"
     "LAYERSERIES_CORENAMES = \"now\"\nLAYERSERIES_COMPAT_core = \"now\"\n"
     "addpylib ${LAYERDIR}/lib oe\n"                                     },
    {"b+c/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILE_COLLECTIONS += \"bc\"\n"
     "BBFILE_PATTERN_bc = \"^${LAYERDIR_RE}/\"\nLAYERSERIES_COMPAT_bc = \"now\"\n"
     "BBFILES_DYNAMIC = \"core:${LAYERDIR}/with.bb !core:${LAYERDIR}/without.bb "
     "none:${LAYERDIR}/no.bb !none:${LAYERDIR}/yes.bb\"\n"               },
    {"core/conf/bitbake.conf",
     "include conf/local.conf\nINHERIT ?= \"extra\"\nT = \"${TOPDIR}\"\n"},
    {"core/classes-global/base.bbclass",
     "BASE = \"1\"\nINHERIT += \"toolate\"\naddtask build\n"             },
    {"core/classes/extra.bbclass",       "EXTRA = \"1\"\n"               },
    {"build/conf/local.conf",            "LOCAL = \"1\"\n"               },
};

static int load(struct world *w, struct bz_meta **out)
{
    static const char *const envp[] = {"HOME=/home/me", "EXTRA_ENV=e",
                                       "BB_ENV_PASSTHROUGH_ADDITIONS=EXTRA_ENV", NULL};
    BZ_CLEANUP(bz_environ_release) struct bz_environ env = {0};
    struct bz_config_opts opts = {.build_dir = at(w, "build"), .env = &env};

    bz_environ_read(&env, envp, NULL, 0);
    return bz_config_load(w->library, &opts, out, &w->err);
}

static struct bz_meta *loaded(struct world *w)
{
    struct bz_meta *m = NULL;

    put_files(w, project, BZ_COUNTOF(project));
    assert_ok(load(w, &m), &w->err);
    return m;
}

static void everything_is_read_in_its_order(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = loaded(w);

    assert_var(m, "TOPDIR", at(w, "build").p);
    assert_var(m, "T", at(w, "build").p);
    assert_var(m, "BB_CACHEDIR", at(w, "build/cache").p);
    assert_var(m, "BB_CURRENT_MC", "");
    assert_var(m, "LOCAL", "1");
    assert_var(m, "BASE", "1");
    assert_var(m, "EXTRA", "1");
    assert_int_equal(m->tasks.order.len, 1);
    assert_int_equal(m->pylibs.len, 1);
    assert_string_equal(m->class_type, "recipe");
    assert_true(m->complete);
    assert_true(m->looked_at.len > 0);
}

static void every_file_that_was_looked_at_is_known(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = loaded(w);
    struct bz_str included;

    assert_ok(bz_vars_get(m->vars, BZ_STR("BBINCLUDED"), 0, &included, &w->err),
              &w->err);
    assert_true(bz_str_has_word(included, at(w, "build/conf/bblayers.conf")));
    assert_true(bz_str_has_word(included, at(w, "core/conf/layer.conf")));
    assert_true(bz_str_has_word(included, at(w, "build/conf/bitbake.conf"))); /* none */
    assert_true(bz_str_has_word(included, at(w, "core/classes/extra.bbclass")));
}

static void directories_of_layers_are_settled(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = loaded(w);
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    const char *dir = w->dir->path;
    struct bz_str pattern;

    assert_var(m, "LAYERDIR", NULL);
    assert_var(m, "LAYERDIR_RE", NULL);
    bz_buf_addf(&text, "%s/build:%s/build/../core:%s/build/../b+c", dir, dir, dir);
    assert_var(m, "BBPATH", bz_buf_text(&text));
    assert_ok(bz_vars_get(m->vars, BZ_STR("BBFILE_PATTERN_bc"), 0, &pattern, &w->err),
              &w->err);
    assert_true(bz_str_ends(pattern, BZ_STR("/build/\\.\\./b\\+c/")));
}

static void dynamic_files_depend_on_other_collections(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = loaded(w);
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    const char *dir = w->dir->path;

    bz_buf_addf(&text,
                " %s/build/../core/*.bb %s/build/../b+c/with.bb "
                "%s/build/../b+c/yes.bb",
                dir, dir, dir);
    assert_var(m, "BBFILES", bz_buf_text(&text));
}

static void the_environment_is_below_everything(void **state)
{
    struct world *w = *state;
    struct bz_meta *m = loaded(w);

    assert_var(m, "HOME", "/home/me");
    assert_flag(m, "HOME", "export", "1");
    assert_var(m, "EXTRA_ENV", "e");
    assert_flag(m, "EXTRA_ENV", "export", NULL);
    bz_meta_free(m);
}

static void a_multiconfig_is_known_from_the_start(void **state)
{
    struct world *w = *state;
    struct bz_config_opts opts = {.build_dir = at(w, "build"), .mc = BZ_STR("arm")};
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = NULL;

    put_files(w, project, BZ_COUNTOF(project));
    put_file(w, "build/conf/local.conf", "LOCAL := \"${BB_CURRENT_MC}\"\n");
    assert_ok(bz_config_load(w->library, &opts, &m, &w->err), &w->err);
    assert_var(m, "LOCAL", "arm");
}

static void files_of_the_user_come_first_and_last(void **state)
{
    struct world *w = *state;
    const char *first[] = {"early.conf", at(w, "cwd/more.conf").p};
    const char *last[] = {"late.conf", "conf/along.conf"};
    struct bz_config_opts opts = {.build_dir = at(w, "build"),
                                  .cwd = at(w, "cwd"),
                                  .first = first,
                                  .nfirst = BZ_COUNTOF(first),
                                  .last = last,
                                  .nlast = BZ_COUNTOF(last)};
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = NULL;

    put_files(w, project, BZ_COUNTOF(project));
    put_file(w, "cwd/early.conf",
             "SEEN := \"${@d.getVar('LOCAL')}\"\nA ?= \"early\"\n");
    put_file(w, "cwd/more.conf", "B := \"${A} more\"\n");
    put_file(w, "cwd/late.conf", "A ?= \"late\"\nINHERIT = \"\"\n");
    put_file(w, "core/conf/along.conf", "ALONG := \"${LOCAL}\"\n");
    put_file(w, "cwd/conf/along.conf", "ALONG = \"wrong\"\n");
    assert_ok(bz_config_load(w->library, &opts, &m, &w->err), &w->err);
    assert_var(m, "SEEN", "None");
    assert_var(m, "A", "early");
    assert_var(m, "B", "early more");
    assert_var(m, "EXTRA", NULL);
    assert_var(m, "ALONG", "1");
}

static void a_file_of_the_user_that_is_missing_is_named(void **state)
{
    struct world *w = *state;
    const char *first[] = {"none.conf"};
    struct bz_config_opts opts = {
        .build_dir = at(w, "build"), .cwd = at(w, "cwd"), .first = first, .nfirst = 1};
    struct bz_meta *m = NULL;

    put_files(w, project, BZ_COUNTOF(project));
    assert_int_equal(bz_config_load(w->library, &opts, &m, &w->err), BZ_E_NOENT);
    assert_non_null(strstr(w->err.msg, "cwd/none.conf"));
}

static void a_tilde_in_bblayers_is_the_home_that_passes(void **state)
{
    static const char *const without[] = {"BB_ENV_PASSTHROUGH=X", NULL};
    struct world *w = *state;
    const char *const with[] = {bz_arena_printf(&w->arena, "HOME=%s/", w->dir->path).p,
                                NULL};
    struct bz_environ env = {0};
    struct bz_config_opts opts = {.build_dir = at(w, "build"), .env = &env};
    struct bz_meta *m = NULL;

    put_files(w, project, BZ_COUNTOF(project));
    put_file(w, "build/conf/bblayers.conf",
             "BBPATH = \"${TOPDIR}\"\nBBLAYERS = \"~/core\"\n");
    bz_environ_read(&env, with, NULL, 0);
    assert_ok(bz_config_load(w->library, &opts, &m, &w->err), &w->err);
    assert_var(m, "BBFILES",
               bz_arena_printf(&w->arena, " %s/core/*.bb", w->dir->path).p);
    bz_meta_free(m);
    bz_environ_release(&env);

    bz_environ_read(&env, without, NULL, 0);
    assert_int_equal(bz_config_load(w->library, &opts, &m, &w->err), BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "~/core does not exist"));
    bz_environ_release(&env);
}

static void names_of_configurations_do_not_begin_with_a_digit(void **state)
{
    struct world *w = *state;
    struct bz_str list;

    set_var(w->meta, "BBMULTICONFIG", " a  b1 ");
    assert_ok(bz_config_multi(w->meta, &list, &w->err), &w->err);
    assert_text("BBMULTICONFIG", list, " a  b1 ");
    set_var(w->meta, "BBMULTICONFIG", "a 1b");
    assert_int_equal(bz_config_multi(w->meta, &list, &w->err), BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "'1b'"));
}

static void wrong_projects_say_what_is_wrong(void **state)
{
    static const struct {
        struct file file; /* put instead of the one in the project */
        const char *reason;
    } cases[] = {
        {{"build/conf/bblayers.conf", "A = \"1\"\n"},                                   "BBLAYERS"     },
        {{"build/conf/bblayers.conf", "BBLAYERS = \"/no/such/layer\"\n"},
         "/no/such/layer"                                                                              },
        {{"build/conf/bblayers.conf", "wrong\n"},                                       "bblayers.conf"},
        {{"core/conf/layer.conf", "\ndo_x() {\n"},                                      "layer.conf"   },
        {{"core/conf/layer.conf", "A = \"1\"\n"},                                       "no core layer"},
        {{"core/conf/bitbake.conf", "require conf/none.conf\n"},                        "none.conf"    },
        {{"core/conf/bitbake.conf", "INHERIT = \"none\"\n"},                            "none.bbclass" },
        {{"b+c/conf/layer.conf",
          "BBFILE_COLLECTIONS += \"bc\"\nBBFILES_DYNAMIC = \"core\"\n"},
         "BBFILES_DYNAMIC"                                                                             },
        {{"b+c/conf/layer.conf",
          "BBFILE_COLLECTIONS += \"bc\"\nLAYERSERIES_COMPAT_bc = \"past\"\n"},
         "past"                                                                                        },
    };
    struct world *w = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_meta *m = NULL;

        bz_library_free(w->library);
        w->library = bz_library_new();
        put_files(w, project, BZ_COUNTOF(project));
        put_file(w, cases[i].file.path, cases[i].file.text);
        assert_true(load(w, &m) < 0);
        assert_null(m);
        if (!strstr(w->err.msg, cases[i].reason))
            fail_msg("expected '%s' in: %s", cases[i].reason, w->err.msg);
    }
}

static void a_directory_without_a_project_is_not_found(void **state)
{
    struct world *w = *state;
    struct bz_meta *m = NULL;

    assert_int_equal(load(w, &m), BZ_E_NOENT);
    assert_non_null(strstr(w->err.msg, "bblayers.conf"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(everything_is_read_in_its_order),
        world_test(every_file_that_was_looked_at_is_known),
        world_test(directories_of_layers_are_settled),
        world_test(dynamic_files_depend_on_other_collections),
        world_test(the_environment_is_below_everything),
        world_test(a_multiconfig_is_known_from_the_start),
        world_test(files_of_the_user_come_first_and_last),
        world_test(a_file_of_the_user_that_is_missing_is_named),
        world_test(a_tilde_in_bblayers_is_the_home_that_passes),
        world_test(names_of_configurations_do_not_begin_with_a_digit),
        world_test(wrong_projects_say_what_is_wrong),
        world_test(a_directory_without_a_project_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
