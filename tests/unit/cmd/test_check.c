#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_remove.h"
#include "tests/unit/bz_test.h"

/* A directory to play the root of a machine. */
struct machine {
    char root[64];
    struct bz_check_host host;
    struct bz_arena texts;
};

static int machine_make(void **state)
{
    struct machine *m = calloc(1, sizeof(*m));

    assert_non_null(m);
    strcpy(m->root, "/tmp/bz-check-XXXXXX");
    assert_non_null(mkdtemp(m->root));
    m->host = (struct bz_check_host){
        .root = m->root,
        .cache = m->root,
        .decides = "XDG_CACHE_HOME",
        .texts = &m->texts,
        .now = bz_clock_wall(),
        .build = m->root,
        .temp = m->root,
    };
    *state = m;
    return 0;
}

static int machine_free(void **state)
{
    struct machine *m = *state;
    struct bz_err err;
    int rc = bz_fs_remove(AT_FDCWD, m->root, &err);

    bz_arena_release(&m->texts);
    free(m);
    return rc;
}

static void put(const struct machine *m, const char *path, const char *text)
{
    char full[256];
    char *slash;
    struct bz_err err;

    snprintf(full, sizeof(full), "%s%s", m->root, path);
    slash = strrchr(full, '/');
    *slash = '\0';
    assert_ok(bz_fs_mkdirs(AT_FDCWD, full, 0755, &err), &err);
    *slash = '/';
    assert_ok(bz_fs_write(AT_FDCWD, full, text, strlen(text), 0644, BZ_FS_NOSYNC, &err),
              &err);
}

static struct bz_check_row run(const struct bz_check_host *host, const char *name)
{
    struct bz_check_row row;

    for (size_t i = 0; i < bz_check_count(); i++) {
        bz_check_run(i, host, &row);
        if (strcmp(row.name, name) == 0)
            return row;
    }
    fail_msg("there is no check '%s'", name);
    return row;
}

static void every_row_says_what_was_found_and_what_to_do(void **state)
{
    const struct machine *m = *state;
    const char *const roots[] = {"", m->root}; /* this machine, and an empty one */

    for (size_t r = 0; r < BZ_COUNTOF(roots); r++) {
        struct bz_check_host host = m->host;

        host.root = roots[r];
        for (size_t i = 0; i < bz_check_count(); i++) {
            struct bz_check_row row;

            bz_check_run(i, &host, &row);
            assert_true(row.name[0] != '\0' && row.found[0] != '\0');
            assert_true((row.state == BZ_CHECK_OK) == (row.fix == NULL));
        }
    }
}

static void memory_is_what_the_system_and_the_cgroup_leave(void **state)
{
    static const struct {
        const char *meminfo, *cgroup, *v1, *v2;
        enum bz_check_state state;
        const char *found;
    } cases[] = {
        {"MemTotal: 999999999 kB\nMemAvailable: 536870912 kB\n", "0::/\n", "",            "max\n",
         BZ_CHECK_OK,                                                                                             "512.0 GiB available"                      },
        {"MemTotal: 999999999 kB\nMemAvailable: 102400 kB\n",    "0::/\n", "",            "max\n",
         BZ_CHECK_FAIL,                                                                                           "0.10 GiB available"                       },
        {"MemTotal: 999999999 kB\nMemAvailable: 536870912 kB\n", "0::/\n", "",
         "104857600\n",                                                                            BZ_CHECK_FAIL, "0.10 GiB available, limited by the cgroup"},
        {"MemTotal: 999999999 kB\nMemAvailable: 536870912 kB\n",
         "3:cpu:/\n4:memory:/g\n",                                         "104857600\n", "max\n", BZ_CHECK_FAIL,
         "0.10 GiB available, limited by the cgroup"                                                                                                         },
        {"nothing of interest\n",                                "0::/\n", "",            "",      BZ_CHECK_WARN,
         "/proc/meminfo cannot be read"                                                                                                                      },
    };
    const struct machine *m = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_check_row row;

        put(m, "/proc/meminfo", cases[i].meminfo);
        put(m, "/proc/self/cgroup", cases[i].cgroup);
        put(m, "/sys/fs/cgroup/memory.max", cases[i].v2);
        put(m, "/sys/fs/cgroup/memory/g/memory.limit_in_bytes", cases[i].v1);
        row = run(&m->host, "memory");
        assert_string_equal(row.found, cases[i].found);
        assert_int_equal(row.state, cases[i].state);
    }
}

static void a_limit_of_a_group_above_holds_too(void **state)
{
    static const struct {
        const char *cgroup, *limited;
    } cases[] = {
        {"0::/a/b/c\n",            "/sys/fs/cgroup/memory.max"                      },
        {"0::/a/b/c\n",            "/sys/fs/cgroup/a/memory.max"                    },
        {"0::/a/b/c\n",            "/sys/fs/cgroup/a/b/memory.max"                  },
        {"0::/a/b/c\n",            "/sys/fs/cgroup/a/b/c/memory.max"                },
        {"4:memory:/g/h\n0::/x\n", "/sys/fs/cgroup/memory/g/memory.limit_in_bytes"  },
        {"4:memory:/g/h\n0::/x\n", "/sys/fs/cgroup/memory/g/h/memory.limit_in_bytes"},
    };
    const struct machine *m = *state;

    put(m, "/proc/meminfo", "MemTotal: 999999999 kB\nMemAvailable: 536870912 kB\n");
    put(m, "/sys/fs/cgroup/a/b/c/memory.max", "max\n");
    put(m, "/sys/fs/cgroup/aside/memory.max", "1\n");
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        put(m, "/proc/self/cgroup", cases[i].cgroup);
        put(m, cases[i].limited, "104857600\n");
        assert_string_equal(run(&m->host, "memory").found,
                            "0.10 GiB available, limited by the cgroup");
        put(m, cases[i].limited, "max\n");
        assert_string_equal(run(&m->host, "memory").found, "512.0 GiB available");
    }
}

#define WITH_MACHINE(t) cmocka_unit_test_setup_teardown(t, machine_make, machine_free)
#define MAX_USERNS "/proc/sys/user/max_user_namespaces"
#define DEBIAN "/proc/sys/kernel/unprivileged_userns_clone"
#define APPARMOR "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

/* Makes `unshare` a program that ends with this status. */
static void put_unshare(const struct machine *m, const char *script)
{
    char path[256];

    put(m, "/bin/unshare", script);
    snprintf(path, sizeof(path), "%s/bin/unshare", m->root);
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/bin", m->root);
    assert_int_equal(setenv("PATH", path, 1), 0);
}

static bool has_landlock(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 2;
}

static void settings_against_user_namespaces_are_named(void **state)
{
    static const struct {
        const char *max, *debian, *apparmor;
        bool privileged;
        enum bz_check_state state;
        const char *found;
    } cases[] = {
        {"0\n",  "1\n", "0\n", false, BZ_CHECK_WARN, "user.max_user_namespaces is 0"},
        {"0\n",  "1\n", "0\n", true,  BZ_CHECK_WARN, "user.max_user_namespaces is 0"},
        {"99\n", "0\n", "0\n", false, BZ_CHECK_WARN, "for root only"                },
        {"99\n", "0\n", "0\n", true,  BZ_CHECK_OK,   "work, up to 99"               },
        {"99\n", "1\n", "1\n", false, BZ_CHECK_WARN, "restricted by AppArmor"       },
        {"99\n", "1\n", "1\n", true,  BZ_CHECK_OK,   "work, up to 99"               },
        {"99\n", "",    "",    false, BZ_CHECK_OK,   "work, up to 99"               },
        {"",     "",    "",    false, BZ_CHECK_WARN, "this kernel has none"         },
    };
    struct machine *m = *state;

    put_unshare(m, "#!/bin/sh\nexit 0\n");
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_check_row row;

        put(m, MAX_USERNS, cases[i].max);
        put(m, DEBIAN, cases[i].debian);
        put(m, APPARMOR, cases[i].apparmor);
        m->host.privileged = cases[i].privileged;
        row = run(&m->host, "user namespaces");
        assert_memory_equal(row.found, cases[i].found, strlen(cases[i].found));
        assert_int_equal(strstr(row.found, "tasks run under Landlock") != NULL,
                         cases[i].state != BZ_CHECK_OK && has_landlock());
        assert_int_equal(row.state, cases[i].state == BZ_CHECK_OK || has_landlock()
                                        ? cases[i].state
                                        : BZ_CHECK_FAIL);
    }
}

static void a_user_namespace_is_really_tried(void **state)
{
    struct machine *m = *state;
    struct bz_check_row row;

    put(m, MAX_USERNS, "99\n");
    put_unshare(m, "#!/bin/sh\nexit 1\n");
    row = run(&m->host, "user namespaces");
    assert_non_null(strstr(row.found, "refused, though the settings allow them: "));
    assert_int_equal(row.state, has_landlock() ? BZ_CHECK_WARN : BZ_CHECK_FAIL);

    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    row = run(&m->host, "user namespaces");
    assert_non_null(strstr(row.found, "allowed, but not tried: "));
    assert_int_equal(row.state, BZ_CHECK_WARN);
}

static void overlayfs_needs_the_file_system_and_a_recent_kernel(void **state)
{
    static const struct {
        const char *filesystems, *release;
        enum bz_check_state state;
    } cases[] = {
        {"nodev\tproc\nnodev\toverlay\n",  "6.1.0-13-amd64\n", BZ_CHECK_OK  },
        {"nodev\tproc\nnodev\toverlay\n",  "5.11.0\n",         BZ_CHECK_OK  },
        {"nodev\tproc\nnodev\toverlay\n",  "5.10.0\n",         BZ_CHECK_WARN},
        {"nodev\tproc\nnodev\toverlay\n",  "4.19\n",           BZ_CHECK_WARN},
        {"nodev\tproc\nnodev\toverlay\n",  "",                 BZ_CHECK_WARN},
        {"nodev\tproc\nnodev\toverlay2\n", "6.1.0\n",          BZ_CHECK_WARN},
        {"",                               "6.1.0\n",          BZ_CHECK_WARN},
    };
    const struct machine *m = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        put(m, "/proc/filesystems", cases[i].filesystems);
        put(m, "/proc/sys/kernel/osrelease", cases[i].release);
        assert_int_equal(run(&m->host, "overlayfs").state, cases[i].state);
    }
}

static void the_cache_directory_need_not_exist_but_must_be_possible(void **state)
{
    struct machine *m = *state;
    struct bz_check_host in_file = m->host;
    struct bz_check_host nowhere = m->host;
    struct bz_check_host in_proc = m->host;
    char path[256];
    char deeper[256];

    put(m, "/file", "");
    snprintf(path, sizeof(path), "%s/file", m->root);
    in_file.cache = path;
    in_file.decides = "BITZEL_CACHE_DIR";
    assert_int_equal(run(&in_file, "disk space").state, BZ_CHECK_FAIL);
    assert_non_null(strstr(run(&in_file, "disk space").found, "is not a directory"));
    assert_string_equal(run(&in_file, "disk space").fix,
                        "remove it, or set BITZEL_CACHE_DIR to a directory");

    snprintf(deeper, sizeof(deeper), "%s/not/yet/there", m->root);
    nowhere.cache = deeper;
    assert_int_equal(run(&nowhere, "disk space").state,
                     run(&m->host, "disk space").state);
    assert_int_equal(run(&nowhere, "inodes").state, run(&m->host, "inodes").state);

    in_proc.cache = "/proc/bitzel"; /* a file system without any room */
    assert_int_equal(run(&in_proc, "disk space").state, BZ_CHECK_FAIL);
}

static void few_watches_are_a_warning(void **state)
{
    const struct machine *m = *state;

    put(m, "/proc/sys/fs/inotify/max_user_instances", "128\n");
    put(m, "/proc/sys/fs/inotify/max_user_watches", "8\n");
    assert_int_equal(run(&m->host, "inotify").state, BZ_CHECK_WARN);
    assert_non_null(run(&m->host, "inotify").fix);
}

static void a_directory_that_cannot_be_written_is_no_place_to_build(void **state)
{
    const struct machine *m = *state;
    struct bz_check_host host = m->host;

    assert_int_equal(run(&host, "build directory").state,
                     run(&host, "temporary files").state);
    host.build = host.temp = "/proc/nowhere";
    assert_int_equal(run(&host, "build directory").state, BZ_CHECK_FAIL);
    assert_int_equal(run(&host, "temporary files").state, BZ_CHECK_FAIL);
}

static void a_low_limit_of_open_files_is_a_warning(void **state)
{
    const struct machine *m = *state;
    struct rlimit lim;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &lim), 0);
    lim.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &lim), 0);
    assert_int_equal(run(&m->host, "open files").state, BZ_CHECK_WARN);
    lim.rlim_cur = lim.rlim_max < 1024 ? lim.rlim_max : 1024;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &lim), 0);
    assert_int_equal(run(&m->host, "open files").state,
                     lim.rlim_cur == 1024 ? BZ_CHECK_OK : BZ_CHECK_WARN);
}

static void a_clock_that_is_behind_is_found(void **state)
{
    struct machine *m = *state;
    const int64_t day = 86400 * BZ_CLOCK_S;

    assert_int_equal(run(&m->host, "clock").state, BZ_CHECK_OK);
    put(m, "/cas/ab/x", ""); /* stored now, which is after: */
    m->host.now -= day;
    assert_int_equal(run(&m->host, "clock").state, BZ_CHECK_WARN);
    assert_non_null(strstr(run(&m->host, "clock").found, "before the last result"));
    m->host.now = 0;
    assert_int_equal(run(&m->host, "clock").state, BZ_CHECK_FAIL);
    assert_string_equal(run(&m->host, "clock").found, "1970-01-01 00:00 UTC cannot be");
    m->host.now = 19730 * day; /* early in 2024 */
    assert_int_equal(run(&m->host, "clock").state, BZ_CHECK_WARN);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WITH_MACHINE(every_row_says_what_was_found_and_what_to_do),
        WITH_MACHINE(memory_is_what_the_system_and_the_cgroup_leave),
        WITH_MACHINE(a_limit_of_a_group_above_holds_too),
        WITH_MACHINE(settings_against_user_namespaces_are_named),
        WITH_MACHINE(a_user_namespace_is_really_tried),
        WITH_MACHINE(overlayfs_needs_the_file_system_and_a_recent_kernel),
        WITH_MACHINE(the_cache_directory_need_not_exist_but_must_be_possible),
        WITH_MACHINE(few_watches_are_a_warning),
        WITH_MACHINE(a_directory_that_cannot_be_written_is_no_place_to_build),
        WITH_MACHINE(a_low_limit_of_open_files_is_a_warning),
        WITH_MACHINE(a_clock_that_is_behind_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
