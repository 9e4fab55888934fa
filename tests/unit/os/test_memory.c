#include "os/memory.h"

#include "tests/unit/os/scratch.h"

#define GROUPS "/proc/self/cgroup"
#define MOUNTS "/proc/self/mountinfo"
#define V2_MOUNT "31 23 0:28 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n"
#define V1_MOUNT "32 31 0:29 / /cg/memory rw - cgroup cgroup rw,memory\n"
#define V2 "/sys/fs/cgroup/a"
#define V1 "/cg/memory/b"
#define MEMINFO "MemTotal:  900 kB\nMemFree: 1 kB\nMemAvailable:   700 kB\n"

struct system {
    const char *what;
    uint64_t available;
    unsigned pressure;
    struct {
        const char *path, *text;
    } files[8];
};

static const struct system systems[] = {
    {"nothing is known",    UINT64_MAX, 0,  {{"/proc/x", ""}}                      },
    {"the machine",         716800,     0,  {{"/proc/meminfo", MEMINFO}}           },
    {"pressure",
     UINT64_MAX,                        37,
     {{"/proc/pressure/memory", "some avg10=37.99 avg60=1.00\nfull avg10=80.00\n"}}},
    {"odd pressure",        UINT64_MAX, 0,  {{"/proc/pressure/memory", "some x\n"}}},
    {"a group of v2",
     1000 - (600 - 50),
     0,                                     {{"/proc/meminfo", MEMINFO},
      {GROUPS, "0::/a\n"},
      {MOUNTS, V2_MOUNT},
      {V2 "/memory.max", "1000\n"},
      {V2 "/memory.current", "600\n"},
      {V2 "/memory.stat", "anon 9\ninactive_file 30\nactive_file 20\n"}}    },
    {"pressure of a group",
     UINT64_MAX,                        3,
     {{"/proc/pressure/memory", "some avg10=90.00\n"},
      {GROUPS, "0::/a\n"},
      {MOUNTS, V2_MOUNT},
      {V2 "/memory.pressure", "some avg10=3.50 avg60=1.00\n"},
      {"/sys/fs/cgroup/memory.pressure", "some avg10=50.00 avg60=1.00\n"}}         },
    {"no limit of v2",
     716800,                            0,
     {{"/proc/meminfo", MEMINFO},
      {GROUPS, "0::/a\n"},
      {MOUNTS, V2_MOUNT},
      {V2 "/memory.max", "max\n"},
      {V2 "/memory.current", "600\n"}}                                             },
    {"more than allowed",
     0,                                 0,
     {{GROUPS, "0::/a\n"},
      {MOUNTS, V2_MOUNT},
      {V2 "/memory.max", "500\n"},
      {V2 "/memory.current", "600\n"}}                                             },
    {"a group of v1",
     400,                               0,
     {{GROUPS, "4:memory:/b\n0::/a\n"},
      {MOUNTS, V1_MOUNT V2_MOUNT},
      {V1 "/memory.limit_in_bytes", "1000\n"},
      {V1 "/memory.usage_in_bytes", "700\n"},
      {V1 "/memory.stat", "inactive_file 1\ntotal_inactive_file 60\n"
                          "total_active_file 40\n"}}                               },
};

static void the_tightest_limit_counts(void **state)
{
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(systems); i++) {
        const struct system *sys = &systems[i];
        struct bz_memory got;
        char root[300];

        for (size_t k = 0; k < BZ_COUNTOF(sys->files) && sys->files[k].path; k++) {
            char path[512], *slash;

            snprintf(path, sizeof(path), "%zu%s", i, sys->files[k].path);
            slash = strrchr(path, '/');
            *slash = '\0';
            make_dirs(s->fd, path);
            *slash = '/';
            put(s->fd, path, sys->files[k].text);
        }
        snprintf(root, sizeof(root), "%s/%zu", s->path, i);
        bz_memory_read(root, &got);
        if (got.available != sys->available || got.pressure != sys->pressure)
            fail_msg("%s: %llu bytes, %u percent", sys->what,
                     (unsigned long long)got.available, got.pressure);
    }
}

static void put_below(struct scratch *s, const char *path, const char *text)
{
    char dir[512], *slash;

    snprintf(dir, sizeof(dir), "%s", path + 1);
    slash = strrchr(dir, '/');
    *slash = '\0';
    make_dirs(s->fd, dir);
    put(s->fd, path + 1, text);
}

static void kills_are_those_of_ones_own_group(void **state)
{
    struct scratch *s = *state;

    assert_int_equal(bz_memory_kills(s->path), -1);
    put_below(s, "/proc/vmstat", "nr_x 1\noom_kill_x 3\noom_kill 7\nlast 2\n");
    assert_int_equal(bz_memory_kills(s->path), 7);
    put_below(s, GROUPS, "0::/a\n");
    put_below(s, MOUNTS, V1_MOUNT V2_MOUNT);
    assert_int_equal(bz_memory_kills(s->path), 7); /* it does not tell */
    put_below(s, "/sys/fs/cgroup/memory.events", "oom 9\noom_kill 4\n");
    assert_int_equal(bz_memory_kills(s->path), 4);
    put_below(s, V2 "/memory.events", "oom 9\noom_kill 0\n");
    assert_int_equal(bz_memory_kills(s->path), 0);
    put_below(s, GROUPS, "4:memory:/b\n0::/a\n");
    put_below(s, V1 "/memory.oom_control",
              "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    assert_int_equal(bz_memory_kills(s->path), 2);
    assert_true(bz_memory_kills("") >= -1);
}

static void this_machine_has_some(void **state)
{
    struct bz_memory m;

    (void)state;
    bz_memory_read("", &m);
    assert_true(m.available > 0 && m.available < UINT64_MAX);
    assert_true(m.pressure <= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(the_tightest_limit_counts),
        scratch_test(kills_are_those_of_ones_own_group),
        cmocka_unit_test(this_machine_has_some),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
