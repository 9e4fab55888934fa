#include "config/settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/fs.h"
#include "os/fs_remove.h"
#include "tests/unit/bz_test.h"

/* A directory with a file for each level. */
struct place {
    char dir[64], home[80], system[96], project[96];
    struct bz_settings s;
    struct bz_err err;
};

static void write_file(const struct place *p, const char *name, const char *text)
{
    char path[128];
    struct bz_err err = {0};

    snprintf(path, sizeof(path), "%s/%s", p->dir, name);
    assert_ok(bz_fs_write(AT_FDCWD, path, text, strlen(text), 0600, BZ_FS_NOSYNC, &err),
              &err);
}

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof(*p));
    char path[128];
    struct bz_err err = {0};

    snprintf(p->dir, sizeof(p->dir), "/tmp/bitzel-settings-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->home, sizeof(p->home), "HOME=%s/home", p->dir);
    snprintf(p->system, sizeof(p->system), "%s/system.conf", p->dir);
    snprintf(p->project, sizeof(p->project), "%s/project.conf", p->dir);
    snprintf(path, sizeof(path), "%s/home/.config/bitzel", p->dir);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, path, 0700, &err), &err);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    struct bz_err err = {0};

    bz_settings_release(&p->s);
    assert_ok(bz_fs_remove(AT_FDCWD, p->dir, &err), &err);
    free(p);
    return 0;
}

/* Loads with one variable and one word of the command line, each of which may be
 * NULL. */
static int load(struct place *p, const char *variable, const char *word)
{
    const char *env[] = {p->home, variable, NULL};
    const struct bz_settings_opts opts = {.cwd = p->dir,
                                          .env = env,
                                          .system = p->system,
                                          .project = p->project,
                                          .line = &word,
                                          .nline = word ? 1 : 0};

    bz_settings_release(&p->s);
    return bz_settings_load(&opts, &p->s, &p->err);
}

static void each_level_wins_over_those_before(void **state)
{
    struct place *p = *state;
    const struct bz_settings_entry *jobs = &p->s.at[BZ_SETTING_JOBS];

    assert_ok(load(p, NULL, NULL), &p->err);
    assert_int_equal(jobs->value.number, 0);
    assert_int_equal(jobs->level, BZ_SETTINGS_DEFAULT);
    write_file(p, "system.conf", "# here\njobs = 1\n");
    assert_ok(load(p, NULL, NULL), &p->err);
    assert_int_equal(jobs->value.number, 1);
    assert_int_equal(jobs->level, BZ_SETTINGS_OF_SYSTEM);
    assert_int_equal(jobs->line, 2);
    assert_string_equal(jobs->source.p, p->system);
    write_file(p, "home/.config/bitzel/bitzel.conf", "jobs = 2\n");
    assert_ok(load(p, NULL, NULL), &p->err);
    assert_int_equal(jobs->value.number, 2);
    write_file(p, "project.conf", "jobs = 3\n");
    assert_ok(load(p, NULL, NULL), &p->err);
    assert_int_equal(jobs->value.number, 3);
    assert_ok(load(p, "BITZEL_JOBS=4", NULL), &p->err);
    assert_int_equal(jobs->value.number, 4);
    assert_string_equal(jobs->source.p, "BITZEL_JOBS");
    assert_ok(load(p, "BITZEL_JOBS=4", "jobs=5"), &p->err);
    assert_int_equal(jobs->value.number, 5);
    assert_string_equal(bz_settings_level_name(jobs->level), "command line");
    assert_ok(bz_settings_set(&p->s, BZ_SETTING_JOBS, "6", "--jobs", &p->err), &p->err);
    assert_int_equal(jobs->value.number, 6);
}

static void directories_are_those_of_the_user(void **state)
{
    struct place *p = *state;
    char want[128];

    assert_ok(load(p, NULL, NULL), &p->err);
    snprintf(want, sizeof(want), "%s/home/.cache/bitzel", p->dir);
    assert_string_equal(bz_settings_get(&p->s, BZ_SETTING_CACHE_DIR)->text.p, want);
    snprintf(want, sizeof(want), "%s/home/.local/state/bitzel", p->dir);
    assert_string_equal(bz_settings_get(&p->s, BZ_SETTING_STATE_DIR)->text.p, want);
    snprintf(p->home, sizeof(p->home), "HOME=");
    assert_ok(load(p, NULL, NULL), &p->err);
    assert_string_equal(bz_settings_get(&p->s, BZ_SETTING_CACHE_DIR)->text.p, "");
}

static void a_path_is_relative_to_its_file(void **state)
{
    struct place *p = *state;
    char want[128];

    write_file(p, "home/.config/bitzel/bitzel.conf", "[cache]\ndir = store\n");
    assert_ok(load(p, NULL, NULL), &p->err);
    snprintf(want, sizeof(want), "%s/home/.config/bitzel/store", p->dir);
    assert_string_equal(bz_settings_get(&p->s, BZ_SETTING_CACHE_DIR)->text.p, want);
    assert_ok(load(p, "BITZEL_CACHE_DIR=here", NULL), &p->err);
    snprintf(want, sizeof(want), "%s/here", p->dir);
    assert_string_equal(bz_settings_get(&p->s, BZ_SETTING_CACHE_DIR)->text.p, want);
}

static void a_list_adds_up_in_a_file_and_is_replaced_by_the_next(void **state)
{
    struct place *p = *state;
    const struct bz_setting_value *tiers;

    write_file(p, "system.conf", "cache.tiers = a\n[cache]\ntiers = b; c\n");
    assert_ok(load(p, NULL, NULL), &p->err);
    tiers = bz_settings_get(&p->s, BZ_SETTING_CACHE_TIERS);
    assert_int_equal(tiers->n, 3);
    assert_string_equal(tiers->items[2].p, "c");
    assert_int_equal(p->s.at[BZ_SETTING_CACHE_TIERS].line, 1);
    assert_ok(load(p, NULL, "cache.tiers=d"), &p->err);
    assert_int_equal(bz_settings_get(&p->s, BZ_SETTING_CACHE_TIERS)->n, 1);
    assert_ok(load(p, "BITZEL_CACHE_TIERS=", NULL), &p->err);
    assert_int_equal(bz_settings_get(&p->s, BZ_SETTING_CACHE_TIERS)->n, 0);
    assert_ok(load(p, "BITZEL_JOBS=", NULL), &p->err); /* does not count */
}

static void mistakes_name_their_place(void **state)
{
    static const struct {
        const char *file, *variable, *word, *msg;
    } cases[] = {
        {"jobs = 1\njob = 2\n",  NULL,                        NULL,
         "project.conf:2: there is no setting 'job'; did you mean 'jobs'?"                                                          },
        {"jobs = 1\njobs = 2\n", NULL,                        NULL,
         "project.conf:2: jobs is set already, in line 1"                                                                           },
        {"jobs = many\n",        "BITZEL_JOBS=1",             NULL,
         "project.conf:1: jobs: expected a number from 0 to 4096"                                                                   },
        {"",                     "BITZEL_CACHE_VERIFY=so-so", NULL,
         "BITZEL_CACHE_VERIFY: cache.verify: expected one of: first-use, always, "
         "never"                                                                                                                    },
        {"",                     NULL,                        "jobs",       "--set jobs: expected NAME=VALUE"                       },
        {"",                     NULL,                        "job=1",      "--set: there is no setting 'job'; did you mean 'jobs'?"},
        {"",                     NULL,                        "color=blue", "--set: color: expected one of: auto, always, never"    },
    };
    struct place *p = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        const char *end;

        write_file(p, "project.conf", cases[i].file);
        assert_int_equal(load(p, cases[i].variable, cases[i].word), BZ_E_INVAL);
        assert_int_equal(p->err.code, BZ_E_INVAL);
        end = strstr(p->err.msg, cases[i].msg);
        if (!end || strcmp(end, cases[i].msg) != 0)
            fail_msg("%s", p->err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_level_wins_over_those_before, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(directories_are_those_of_the_user, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_path_is_relative_to_its_file, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            a_list_adds_up_in_a_file_and_is_replaced_by_the_next, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes_name_their_place, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
