#include "guard.h"

#include <stdlib.h>

#include "tests/unit/os/scratch.h"

/* What `name` is, and the note on it, if the system and the project say these. */
struct answer {
    char value[256], note[512];
};

static struct answer ask(const struct scratch *s, const char *system,
                         const char *project, enum bz_setting_id id)
{
    char paths[2][300], home[300];
    const char *env[] = {home, NULL};
    struct bz_settings_opts opts = {.cwd = s->path,
                                    .env = env,
                                    .system = paths[0],
                                    .project = paths[1],
                                    .guard = bz_guard_check};
    struct bz_settings settings;
    struct answer out;
    struct bz_err err = {0};

    snprintf(home, sizeof(home), "HOME=%s", s->path);
    snprintf(paths[0], sizeof(paths[0]), "%s/system.conf", s->path);
    snprintf(paths[1], sizeof(paths[1]), "%s/project.conf", s->path);
    put(s->fd, "system.conf", system);
    put(s->fd, "project.conf", project);
    assert_ok(bz_settings_load(&opts, &settings, &err), &err);
    snprintf(out.value, sizeof(out.value), "%.*s",
             BZ_STR_ARG(bz_settings_get(&settings, id)->text));
    snprintf(out.note, sizeof(out.note), "%.*s", BZ_STR_ARG(settings.note[id]));
    bz_settings_release(&settings);
    return out;
}

#define TOKEN "https://c rw trust=ci token=/t"

static void a_project_may_be_stricter_and_not_less_so(void **state)
{
    static const struct {
        enum bz_setting_id id;
        const char *system, *project; /* values */
        bool counts;
    } cases[] = {
        {BZ_SETTING_CACHE_UPLOAD, "yes",             "no",                            true },
        {BZ_SETTING_CACHE_UPLOAD, "no",              "yes",                           false},
        {BZ_SETTING_CACHE_UPLOAD, "no",              "off",                           true },
        {BZ_SETTING_CACHE_VERIFY, "first-use",       "always",                        true },
        {BZ_SETTING_CACHE_VERIFY, "always",          "first-use",                     false},
        {BZ_SETTING_CACHE_VERIFY, "first-use",       "never",                         false},
        {BZ_SETTING_SANDBOX,      "auto",            "required",                      true },
        {BZ_SETTING_SANDBOX,      "required",        "auto",                          false},
        {BZ_SETTING_CACHE_SIGN,   "",                "ci",                            false},
        {BZ_SETTING_CACHE_SIGN,   "ci",              "",                              true },
        {BZ_SETTING_CACHE_KEYS,   "ci=1",            "ci=2",                          false},
        {BZ_SETTING_CACHE_KEYS,   "ci=1",            "ci=1",                          true },
        {BZ_SETTING_STATE_DIR,    "/a",              "/b",                            false},
        {BZ_SETTING_JOBS,         "1",               "2",                             true },
        {BZ_SETTING_CACHE_DIR,    "/a",              "/b",                            true },
 /* no place of its own, unless it is vouched for */
        {BZ_SETTING_CACHE_TIERS,  "",                "dir:/a",                        false},
        {BZ_SETTING_CACHE_TIERS,  "",                "https://x",                     false},
        {BZ_SETTING_CACHE_TIERS,  "",                "dir:/a trust=ci",               true },
        {BZ_SETTING_CACHE_TIERS,  "dir:/a trust=ci", "dir:/b trust=eve",              false},
        {BZ_SETTING_CACHE_TIERS,  "dir:/a trust=ci", "dir:/b trust=ci",               true },
        {BZ_SETTING_CACHE_TIERS,  "",                "dir:/a rw trust=ci",            false},
        {BZ_SETTING_CACHE_TIERS,  "",                "https://x trust=ci token=~/t",  false},
        {BZ_SETTING_CACHE_TIERS,  "",                "https://x trust=ci ca=own",     true },
 /* no more rights */
        {BZ_SETTING_CACHE_TIERS,  "dir:/a",          "dir:/a/../a",                   true },
        {BZ_SETTING_CACHE_TIERS,  "dir:/a",          "dir:/a rw",                     false},
        {BZ_SETTING_CACHE_TIERS,  "dir:/a rw",       "dir:/a rw",                     true },
        {BZ_SETTING_CACHE_TIERS,  "dir:/a rw",       "dir:/a",                        true },
        {BZ_SETTING_CACHE_TIERS,  TOKEN,             TOKEN,                           true },
        {BZ_SETTING_CACHE_TIERS,  TOKEN,             "https://c trust=ci",            true },
        {BZ_SETTING_CACHE_TIERS,  TOKEN,             "https://c rw",                  false},
        {BZ_SETTING_CACHE_TIERS,  TOKEN,             "https://c trust=ci,eve",        false},
        {BZ_SETTING_CACHE_TIERS,  TOKEN,             "https://c trust=ci token=/u",   false},
        {BZ_SETTING_CACHE_TIERS,  TOKEN,             "https://c/x trust=ci token=/t", false},
        {BZ_SETTING_CACHE_TIERS,  "https://c ca=/a", "https://c",                     false},
        {BZ_SETTING_CACHE_TIERS,  "https://c",       "https://c ca=/a",               false},
        {BZ_SETTING_CACHE_TIERS,  "dir:/a",          "dir:/a; dir:/b",                false},
        {BZ_SETTING_CACHE_TIERS,  "dir:/a",          "",                              true },
    };

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        const char *name = bz_setting_row(cases[i].id)->name;
        char system[128], project[128];
        struct answer got;

        snprintf(system, sizeof(system), "%s = %s\n", name, cases[i].system);
        snprintf(project, sizeof(project), "\n%s = %s\n", name, cases[i].project);
        got = ask(*state, system, project, cases[i].id);
        if ((got.note[0] == '\0') != cases[i].counts ||
            strcmp(got.value, cases[i].counts ? cases[i].project : cases[i].system) !=
                0)
            fail_msg("%s over %s: %s, %s", cases[i].project, cases[i].system, got.value,
                     got.note);
    }
}

static void a_note_says_where_and_why_and_no_password(void **state)
{
    struct answer got = ask(*state, "", "\ncache.tiers = https://me:pw@evil rw\n",
                            BZ_SETTING_CACHE_TIERS);

    assert_non_null(
        strstr(got.note, "/project.conf:2: cache.tiers: a project may not"));
    assert_non_null(strstr(got.note, "https://evil"));
    assert_null(strstr(got.note, "pw"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_project_may_be_stricter_and_not_less_so,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_note_says_where_and_why_and_no_password,
                                        scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
