/* cpu.h - how many processors this process may really use.
 *
 * A container sees all processors of its host but is throttled to a share of them.
 * Starting one thread per visible processor there makes every thread slower, so the
 * scheduler affinity and the cgroup quotas both count.
 */
#ifndef BZ_OS_CPU_H
#define BZ_OS_CPU_H

/* At least 1. Reads files: ask once and keep the answer. */
unsigned bz_cpu_count(void);

/* The part of it that the quotas decide: the smallest of cgroup v2 cpu.max and v1
 * cpu.cfs_quota_us from this process's group up to the root, rounded up to whole
 * processors; 0 without a quota. `root` goes before every path that is read ("" for
 * the real system). Files that are missing or make no sense set no limit. */
unsigned bz_cpu_quota(const char *root);

#endif
