#include "os/cpu.h"

#include <errno.h>
#include <sched.h>

#include "os/cgroup.h"

#define MOST_CPUS (1 << 20)

static unsigned quota_of(const char *root, const char *dir, enum bz_cgroup_version v)
{
    uint64_t max[2] = {0, 100000}, period[2] = {100000, 0};
    uint64_t cpus;

    if (v == BZ_CGROUP_V2) {
        if (!bz_cgroup_read(root, dir, "cpu.max", max))
            return 0;
    } else {
        if (!bz_cgroup_read(root, dir, "cpu.cfs_quota_us", max) ||
            !bz_cgroup_read(root, dir, "cpu.cfs_period_us", period))
            return 0;
        max[1] = period[0];
    }
    if (!max[0] || !max[1])
        return 0;
    cpus = (max[0] - 1) / max[1] + 1;
    return cpus > MOST_CPUS ? MOST_CPUS : (unsigned)cpus;
}

static unsigned smaller_limit(unsigned a, unsigned b)
{
    return !a || (b && b < a) ? b : a;
}

struct quota {
    const char *root;
    unsigned least;
};

static void add_quota(void *ctx, enum bz_cgroup_version v, const char *dir)
{
    struct quota *q = ctx;

    q->least = smaller_limit(q->least, quota_of(q->root, dir, v));
}

unsigned bz_cpu_quota(const char *root)
{
    struct quota q = {root, 0};

    bz_cgroup_walk(root, BZ_STR("cpu"), add_quota, &q);
    return q.least;
}

static unsigned affinity(void)
{
    /* The kernel refuses a mask smaller than its own, which no call tells. */
    for (int most = 1024; most <= MOST_CPUS; most *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)most);
        size_t size = CPU_ALLOC_SIZE((size_t)most);
        int n = 0;

        if (!set)
            return 1;
        if (sched_getaffinity(0, size, set) == 0)
            n = CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (n > 0)
            return (unsigned)n;
        if (errno != EINVAL)
            break;
    }
    return 1;
}

unsigned bz_cpu_count(void)
{
    return smaller_limit(affinity(), bz_cpu_quota(""));
}
