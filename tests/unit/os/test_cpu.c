#include "os/cpu.h"

#include <sched.h>

#include "tests/unit/os/scratch.h"

#define V2_MOUNT                                                                       \
    "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n"
#define V1_MOUNT                                                                       \
    "33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"              \
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuset rw - cgroup cgroup rw,cpuset,cpu\n"
#define V1 "/sys/fs/cgroup/cpu,cpuset"
#define V2 "/sys/fs/cgroup"

struct file {
    const char *path, *text;
};

/* A small copy of /proc and /sys under the scratch directory. */
struct system {
    const char *what;
    unsigned quota;
    struct file files[6];
};

#define GROUPS "/proc/self/cgroup"
#define MOUNTS "/proc/self/mountinfo"

static const struct system systems[] = {
    {"nothing mounted",                                              0, {{GROUPS, "0::/\n"}, {MOUNTS, ""}}                                             },
    {"no cgroup file",                                               0, {{MOUNTS, V2_MOUNT}, {V2 "/cpu.max", "100000 100000\n"}}                       },
    {"v2 without quota",
     0,                                                                 {{GROUPS, "0::/a\n"}, {MOUNTS, V2_MOUNT}, {V2 "/a/cpu.max", "max 100000\n"}}   },
    {"v2 two processors",
     2,                                                                 {{GROUPS, "0::/a\n"}, {MOUNTS, V2_MOUNT}, {V2 "/a/cpu.max", "200000 100000\n"}}},
    {"v2 rounded up",
     3,                                                                 {{GROUPS, "0::/a\n"}, {MOUNTS, V2_MOUNT}, {V2 "/a/cpu.max", "200001 100000\n"}}},
    {"v2 a part of one",
     1,                                                                 {{GROUPS, "0::/a\n"}, {MOUNTS, V2_MOUNT}, {V2 "/a/cpu.max", "1000 100000\n"}}  },
    {"v2 tighter above",
     2,                                                                 {{GROUPS, "0::/a/b/c\n"},
      {MOUNTS, V2_MOUNT},
      {V2 "/a/b/c/cpu.max", "800000 100000\n"},
      {V2 "/a/b/cpu.max", "max 100000\n"},
      {V2 "/a/cpu.max", "100000 50000\n"}}                                                                                                      },
    {"v2 tighter at the mount point",
     1,                                                                 {{GROUPS, "0::/a\n"},
      {MOUNTS, V2_MOUNT},
      {V2 "/a/cpu.max", "800000 100000\n"},
      {V2 "/cpu.max", "100000 100000\n"}}                                                                                                       },
    {"v2 a sibling does not count",
     0,                                                                 {{GROUPS, "0::/a\n"}, {MOUNTS, V2_MOUNT}, {V2 "/b/cpu.max", "100000 100000\n"}}},
    {"v2 namespace that shows a parent",
     4,                                                                 {{GROUPS, "0::/../../x\n"},
      {MOUNTS, V2_MOUNT},
      {V2 "/cpu.max", "400000 100000\n"}}                                                                                                       },
    {"v2 without a period",
     3,                                                                 {{GROUPS, "0::/\n"}, {MOUNTS, V2_MOUNT}, {V2 "/cpu.max", "300000\n"}}          },
    {"v2 nonsense",
     0,                                                                 {{GROUPS, "0::/\n"}, {MOUNTS, V2_MOUNT}, {V2 "/cpu.max", "many 1\n"}}          },
    {"v2 period of zero",
     0,                                                                 {{GROUPS, "0::/\n"}, {MOUNTS, V2_MOUNT}, {V2 "/cpu.max", "100000 0\n"}}        },
    {"v1",
     3,                                                                 {{GROUPS, "4:memory:/m\n3:cpuset,cpu:/a\n"},
      {MOUNTS, V1_MOUNT},
      {V1 "/a/cpu.cfs_quota_us", "250000\n"},
      {V1 "/a/cpu.cfs_period_us", "100000\n"}}                                                                                                  },
    {"v1 without quota",
     0,                                                                 {{GROUPS, "3:cpuset,cpu:/a\n"},
      {MOUNTS, V1_MOUNT},
      {V1 "/a/cpu.cfs_quota_us", "-1\n"},
      {V1 "/a/cpu.cfs_period_us", "100000\n"}}                                                                                                  },
    {"v1 in a container that mounts its own group",
     2,                                                                 {{GROUPS, "3:cpuset,cpu:/docker/abc\n"},
      {MOUNTS, "32 31 0:29 /docker/abc " V1 " ro - cgroup cgroup rw,cpuset,cpu\n"},
      {V1 "/cpu.cfs_quota_us", "200000\n"},
      {V1 "/cpu.cfs_period_us", "100000\n"},
      {V1 "/docker/abc/cpu.cfs_quota_us", "100000\n"},
      {V1 "/docker/abc/cpu.cfs_period_us", "100000\n"}}                                                                                         },
    {"v1 a group with the mount's name as a prefix is not below it",
     2,                                                                 {{GROUPS, "3:cpu:/docker/abcdef\n"},
      {MOUNTS, "32 31 0:29 /docker/abc " V1 " ro - cgroup cgroup rw,cpu\n"},
      {V1 "/cpu.cfs_quota_us", "200000\n"},
      {V1 "/cpu.cfs_period_us", "100000\n"},
      {V1 "/def/cpu.cfs_quota_us", "100000\n"},
      {V1 "/def/cpu.cfs_period_us", "100000\n"}}                                                                                                },
    {"hybrid, the quota in v1",
     2,                                                                 {{GROUPS, "3:cpuset,cpu:/a\n0::/b\n"},
      {MOUNTS,
       V1_MOUNT "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
      {V1 "/a/cpu.cfs_quota_us", "200000\n"},
      {V1 "/a/cpu.cfs_period_us", "100000\n"}}                                                                                                  },
    {"hybrid, the tighter one in v2",
     1,                                                                 {{GROUPS, "3:cpuset,cpu:/a\n0::/b\n"},
      {MOUNTS,
       V1_MOUNT "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
      {V1 "/a/cpu.cfs_quota_us", "200000\n"},
      {V1 "/a/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/unified/b/cpu.max", "50000 100000\n"}}                                                                                   },
    {"a mount point with a space",
     5,                                                                 {{GROUPS, "0::/\n"},
      {MOUNTS, "31 23 0:28 / /odd\\040place rw - cgroup2 none rw\n"},
      {"/odd place/cpu.max", "500000 100000\n"}}                                                                                                },
    {"broken lines are passed over",
     2,                                                                 {{GROUPS, "garbage\n\n0::/\n"},
      {MOUNTS, "1 2 3\n\n31 23 0:28 / /x rw shared:4\n" V2_MOUNT},
      {V2 "/cpu.max", "200000 100000\n"}}                                                                                                       },
};

static void plant(const struct scratch *s, size_t number, const struct system *sys)
{
    for (size_t i = 0; i < BZ_COUNTOF(sys->files) && sys->files[i].path; i++) {
        char path[512], *slash;

        snprintf(path, sizeof(path), "%zu%s", number, sys->files[i].path);
        slash = strrchr(path, '/');
        *slash = '\0';
        make_dirs(s->fd, path);
        *slash = '/';
        put(s->fd, path, sys->files[i].text);
    }
}

static void quotas_are_found_in_every_kind_of_hierarchy(void **state)
{
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(systems); i++) {
        char root[300];
        unsigned got;

        plant(s, i, &systems[i]);
        snprintf(root, sizeof(root), "%s/%zu", s->path, i);
        got = bz_cpu_quota(root);
        if (got != systems[i].quota)
            fail_msg("%s: got %u, want %u", systems[i].what, got, systems[i].quota);
    }
}

static void a_system_without_proc_has_no_quota(void **state)
{
    (void)state;
    assert_int_equal(bz_cpu_quota("/nonexistent"), 0);
}

static void the_count_honours_the_affinity(void **state)
{
    unsigned all = bz_cpu_count();
    cpu_set_t before, one;
    unsigned pinned;
    int cpu = 0;

    (void)state;
    assert_true(all >= 1);
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    assert_true(all <= (unsigned)CPU_COUNT(&before));
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    pinned = bz_cpu_count();
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(pinned, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(quotas_are_found_in_every_kind_of_hierarchy),
        cmocka_unit_test(a_system_without_proc_has_no_quota),
        cmocka_unit_test(the_count_honours_the_affinity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
