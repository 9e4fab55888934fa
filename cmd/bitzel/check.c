#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "check_store.h"
#include "check_tools.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/fs.h"
#include "os/membarrier.h"
#include "os/proc_run.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* A small build of a distribution takes several GiB and some hundred thousand files,
 * and a compiler up to half a GiB. Below the second number not even one small package
 * gets through. */
#define DISK_LITTLE (10 * GIB)
#define DISK_NOTHING (1 * GIB)
#define INODES_LITTLE 500000
#define INODES_NOTHING 20000
#define MEMORY_PER_CPU (512 * MIB)
#define MEMORY_NOTHING (256 * MIB)
#define FILES_LITTLE 1024
#define TEMP_LITTLE (256 * MIB)
#define WATCHES_LITTLE 1024

#define LANDLOCK_OF_USE 2 /* the first version that lets files be moved */
#define TRIED "allowed, but not tried: "
#define INOTIFY "/proc/sys/fs/inotify/"
#define DAY ((time_t)24 * 3600)
#define CLOCK_SLACK 300      /* seconds that a file server may be ahead */
#define PROC_LIMIT (1 << 20) /* no file read here is larger */

void bz_check_judge(struct bz_check_row *row, enum bz_check_state state,
                    const char *fix, const char *fmt, ...)
{
    va_list ap;

    row->state = state;
    row->fix = fix;
    va_start(ap, fmt);
    vsnprintf(row->found, sizeof(row->found), fmt, ap);
    va_end(ap);
}

/* A file of /proc or /sys; NULL if it cannot be read. The caller frees it. */
static char *slurp(const struct bz_check_host *host, const char *path)
{
    char full[4096];
    struct bz_err err;
    char *text = NULL;
    size_t n;

    if ((size_t)snprintf(full, sizeof(full), "%s%s", host->root, path) >= sizeof(full))
        return NULL;
    return bz_fs_read(AT_FDCWD, full, PROC_LIMIT, &text, &n, &err) < 0 ? NULL : text;
}

/* The number a file begins with; `otherwise` if it has none. */
static uint64_t slurp_number(const struct bz_check_host *host, const char *path,
                             uint64_t otherwise)
{
    BZ_CLEANUP(bz_mem_freep) char *text = slurp(host, path);

    if (!text || text[0] < '0' || text[0] > '9')
        return otherwise;
    return strtoull(text, NULL, 10);
}

static void check_cpus(const struct bz_check_host *host, struct bz_check_row *row)
{
    unsigned count = bz_cpu_count();
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    (void)host;
    if (count == 1)
        bz_check_judge(row, BZ_CHECK_WARN,
                       "allow more by the CPU affinity or the cgroup's quota",
                       "1 usable of %ld: tasks run one at a time", online);
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL, "%u usable of %ld", count, online);
}

/* "MemAvailable:    7654321 kB" in bytes; 0 if there is no such line. */
static uint64_t meminfo(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

/* What one line of /proc/self/cgroup, "4:memory:/path", limits memory to: the least of
 * the limits from that group up to the root, for all of them hold. */
static uint64_t group_limit(const struct bz_check_host *host, struct bz_str line)
{
    struct bz_str id;
    struct bz_str controller;
    uint64_t least = UINT64_MAX;
    char path[1024];
    bool v2;

    bz_str_cut(line, ':', &id, &line);
    bz_str_cut(line, ':', &controller, &line);
    v2 = controller.n == 0;
    if (!v2 && !bz_str_eq(controller, BZ_STR("memory")))
        return UINT64_MAX;
    for (;;) {
        uint64_t limit;

        while (line.n > 0 && line.p[line.n - 1] == '/')
            line.n--;
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s%.*s/%s", v2 ? "" : "/memory",
                 BZ_STR_ARG(line), v2 ? "memory.max" : "memory.limit_in_bytes");
        limit = slurp_number(host, path, UINT64_MAX);
        least = limit < least ? limit : least;
        if (line.n == 0)
            return least;
        while (line.n > 0 && line.p[line.n - 1] != '/')
            line.n--;
    }
}

static uint64_t cgroup_limit(const struct bz_check_host *host)
{
    BZ_CLEANUP(bz_mem_freep) char *text = slurp(host, "/proc/self/cgroup");
    struct bz_str rest = bz_str_from(text ? text : "");
    struct bz_str line;
    uint64_t least = UINT64_MAX;

    while (bz_str_next_part(&rest, '\n', &line)) {
        uint64_t limit = group_limit(host, line);

        least = limit < least ? limit : least;
    }
    return least;
}

static void check_memory(const struct bz_check_host *host, struct bz_check_row *row)
{
    BZ_CLEANUP(bz_mem_freep) char *text = slurp(host, "/proc/meminfo");
    uint64_t total = text ? meminfo(text, "MemTotal:") : 0;
    uint64_t available = text ? meminfo(text, "MemAvailable:") : 0;
    uint64_t limit = cgroup_limit(host);
    uint64_t usable = limit < available ? limit : available;
    uint64_t wanted = bz_cpu_count() * MEMORY_PER_CPU;
    const char *group = limit < total ? ", limited by the cgroup" : "";
    double gib = (double)usable / (double)GIB;

    if (total == 0)
        bz_check_judge(row, BZ_CHECK_WARN, "mount /proc",
                       "/proc/meminfo cannot be read");
    else if (usable < MEMORY_NOTHING)
        bz_check_judge(row, BZ_CHECK_FAIL, "end other programs, or add memory or swap",
                       "%.2f GiB available%s", gib, group);
    else if (usable < wanted)
        bz_check_judge(
            row, BZ_CHECK_WARN, "end other programs, or run fewer tasks at a time",
            "%.1f GiB available%s: less than half a GiB for each CPU", gib, group);
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL, "%.1f GiB available%s", gib, group);
}

static void check_files(const struct bz_check_host *host, struct bz_check_row *row)
{
    struct rlimit lim = {0};

    (void)host;
    if (getrlimit(RLIMIT_NOFILE, &lim) != 0)
        bz_check_judge(row, BZ_CHECK_WARN, "run 'ulimit -n 4096'", "%s",
                       strerror(errno));
    else if (lim.rlim_cur < FILES_LITTLE)
        bz_check_judge(row, BZ_CHECK_WARN, "run 'ulimit -n 4096' before bitzel",
                       "%ju at a time: many tasks at once need more",
                       (uintmax_t)lim.rlim_cur);
    else if (lim.rlim_cur == RLIM_INFINITY)
        bz_check_judge(row, BZ_CHECK_OK, NULL, "no limit");
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL, "%ju at a time",
                       (uintmax_t)lim.rlim_cur);
}

static void check_pidfd(const struct bz_check_host *host, struct bz_check_row *row)
{
    BZ_CLEANUP(bz_fs_closep) int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

    (void)host;
    if (fd < 0)
        bz_check_judge(row, BZ_CHECK_FAIL,
                       "use Linux 5.4 or newer, and a container that allows pidfd_open",
                       "pidfd_open: %s", strerror(errno));
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL, "pidfd_open works");
}

static void check_membarrier(const struct bz_check_host *host, struct bz_check_row *row)
{
    (void)host;
    if (bz_membarrier_register())
        bz_check_judge(row, BZ_CHECK_OK, NULL, "private expedited barriers work");
    else
        bz_check_judge(row, BZ_CHECK_WARN, "use a container that allows membarrier",
                       "refused: the thread pool needs slower fences");
}

/* What can stand in the way of a user namespace, the most general first. */
static const struct {
    const char *path;
    uint64_t bad;
    bool root_may; /* it does not concern the privileged */
    const char *found, *fix;
} userns_bars[] = {
    {"/proc/sys/user/max_user_namespaces",                     0, false, "user.max_user_namespaces is 0",
     "run 'sysctl -w user.max_user_namespaces=15000' as root"                     },
    {"/proc/sys/kernel/unprivileged_userns_clone",             0, true,  "for root only",
     "run 'sysctl -w kernel.unprivileged_userns_clone=1' as root"                 },
    {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1, true,
     "restricted by AppArmor",                                                                            "run 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0' as root, or give "
     "bitzel an AppArmor profile that allows userns"},
};

/* Settings do not tell everything: a container may filter the system call. So a child
 * really enters the namespaces a task gets. */
static void try_userns(uint64_t most, struct bz_check_row *row)
{
    static const char *const argv[] = {"unshare", "--user", "--map-root-user",
                                       "--mount", "--net",  "--pid",
                                       "--fork",  "--",     "true",
                                       NULL};
    struct bz_proc_spec spec = {.argv = argv,
                                .out = {.kind = BZ_PROC_NULL},
                                .err = {.kind = BZ_PROC_NULL},
                                .deadline = bz_clock_in(10 * BZ_CLOCK_S)};
    struct bz_proc_result result = {0};
    struct bz_err err;

    if (bz_proc_run(&spec, &result, &err) < 0) {
        bz_check_judge(row, BZ_CHECK_WARN, "install unshare, a part of util-linux",
                       TRIED "%.99s", err.msg);
        return;
    }
    if (result.exit_code == 0)
        bz_check_judge(row, BZ_CHECK_OK, NULL, "work, up to %" PRIu64, most);
    else
        bz_check_judge(row, BZ_CHECK_WARN,
                       "use a container or security profile that allows unshare(2)",
                       "refused, though the settings allow them");
    bz_proc_pump_release_result(&result);
}

static long landlock_abi(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0,
                   LANDLOCK_CREATE_RULESET_VERSION);
}

static void judge_userns(const struct bz_check_host *host, struct bz_check_row *row)
{
    uint64_t most = slurp_number(host, userns_bars[0].path, UINT64_MAX);

    for (size_t i = 0; i < BZ_COUNTOF(userns_bars); i++) {
        if (userns_bars[i].root_may && host->privileged)
            continue;
        if (slurp_number(host, userns_bars[i].path, UINT64_MAX) == userns_bars[i].bad) {
            bz_check_judge(row, BZ_CHECK_WARN, userns_bars[i].fix, "%s",
                           userns_bars[i].found);
            return;
        }
    }
    if (most == UINT64_MAX)
        bz_check_judge(row, BZ_CHECK_WARN, "use a kernel with CONFIG_USER_NS",
                       "this kernel has none");
    else
        try_userns(most, row);
}

/* And what a build does without them. */
static void check_userns(const struct bz_check_host *host, struct bz_check_row *row)
{
    size_t n;

    judge_userns(host, row);
    n = strlen(row->found);
    if (row->state == BZ_CHECK_OK ||
        bz_str_starts(bz_str_from(row->found), BZ_STR(TRIED)))
        return;
    if (landlock_abi() >= LANDLOCK_OF_USE) {
        snprintf(row->found + n, sizeof(row->found) - n,
                 ": tasks run under Landlock, one at a time");
        return;
    }
    row->state = BZ_CHECK_FAIL;
    snprintf(row->found + n, sizeof(row->found) - n, ": no task can run");
}

/* True if the kernel's release is at least major.minor. */
static bool kernel_since(const struct bz_check_host *host, unsigned major,
                         unsigned minor)
{
    BZ_CLEANUP(bz_mem_freep) char *text = slurp(host, "/proc/sys/kernel/osrelease");
    char *end = NULL;
    unsigned long have = text ? strtoul(text, &end, 10) : 0;

    if (have != major || *end != '.')
        return have > major;
    return strtoul(end + 1, NULL, 10) >= minor;
}

static void check_overlayfs(const struct bz_check_host *host, struct bz_check_row *row)
{
    BZ_CLEANUP(bz_mem_freep) char *text = slurp(host, "/proc/filesystems");

    if (!text || !strstr(text, "\toverlay\n"))
        bz_check_judge(row, BZ_CHECK_WARN, "run 'modprobe overlay' as root",
                       "not in /proc/filesystems: trees have to be copied");
    else if (!kernel_since(host, 5, 11))
        bz_check_judge(row, BZ_CHECK_WARN, "use Linux 5.11 or newer",
                       "not inside user namespaces: trees have to be copied");
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL, "also inside user namespaces");
}

static void check_landlock(const struct bz_check_host *host, struct bz_check_row *row)
{
    long abi = landlock_abi();

    (void)host;
    if (abi >= LANDLOCK_OF_USE)
        bz_check_judge(row, BZ_CHECK_OK, NULL, "ABI %ld", abi);
    else if (abi > 0)
        bz_check_judge(row, BZ_CHECK_WARN, "use Linux 5.19 or newer",
                       "ABI %ld: files cannot be moved between directories", abi);
    else if (errno == EOPNOTSUPP)
        bz_check_judge(row, BZ_CHECK_WARN,
                       "add landlock to the kernel's lsm= parameter",
                       "not enabled at boot");
    else
        bz_check_judge(row, BZ_CHECK_WARN,
                       "use Linux 5.13 or newer, and a container that allows it", "%s",
                       strerror(errno));
}

static bool seccomp_can(uint32_t action)
{
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* Every sandbox ends with a filter, which refuses what tasks must not do. */
static void check_seccomp(const struct bz_check_host *host, struct bz_check_row *row)
{
    (void)host;
    if (!seccomp_can(SECCOMP_RET_ERRNO))
        bz_check_judge(row, BZ_CHECK_FAIL,
                       "use a kernel with CONFIG_SECCOMP_FILTER, 4.14 or newer, and a "
                       "container that allows seccomp",
                       "%s: no task can run", strerror(errno));
    else if (!seccomp_can(SECCOMP_RET_USER_NOTIF))
        bz_check_judge(row, BZ_CHECK_WARN, "use Linux 5.5 or newer",
                       "no notifications: a task that tries the network is not told "
                       "the address");
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL, "filters and notifications");
}

/* The part of the path that exists, which is where the rest will be made. */
static void existing_part(const char *path, char *out, size_t size)
{
    snprintf(out, size, "%s", path);
    while (access(out, F_OK) != 0) {
        char *slash = strrchr(out, '/');

        if (!slash || slash == out) {
            snprintf(out, size, "%s", slash ? "/" : ".");
            return;
        }
        *slash = '\0';
    }
}

/* What to do about the directory of the store: to set what decides where it is. */
static const char *set_cache(const struct bz_check_host *host, const char *first,
                             const char *to)
{
    return bz_arena_printf(host->texts, "%sset %s to %s", first, host->decides, to).p;
}

/* How much of the room the store may take. */
static const char *limit_of(const struct bz_check_host *host)
{
    if (host->max_size < 0)
        return bz_arena_printf(host->texts, ", the store takes up to %d%% of the room",
                               (int)-host->max_size)
            .p;
    if (host->max_size == 0)
        return ", the store has no limit";
    return bz_arena_printf(host->texts, ", the store takes up to %.1f GiB",
                           (double)host->max_size / (double)GIB)
        .p;
}

static void check_disk(const struct bz_check_host *host, struct bz_check_row *row)
{
    const char *elsewhere =
        set_cache(host, "make room there, or ", "a directory with more");
    const char *writable = set_cache(host, "", "a directory you may write to");
    char dir[4096];
    struct stat st;
    struct statvfs fs;
    uint64_t bytes;

    existing_part(host->cache, dir, sizeof(dir));
    if (stat(dir, &st) != 0 || statvfs(dir, &fs) != 0) {
        bz_check_judge(row, BZ_CHECK_FAIL, elsewhere, "%.99s: %s", dir,
                       strerror(errno));
        return;
    }
    bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (!S_ISDIR(st.st_mode))
        bz_check_judge(row, BZ_CHECK_FAIL,
                       set_cache(host, "remove it, or ", "a directory"),
                       "%.99s is not a directory", dir);
    else if (access(dir, W_OK) != 0)
        bz_check_judge(row, BZ_CHECK_FAIL, writable, "%.99s: %s", dir, strerror(errno));
    else
        bz_check_judge(row,
                       bytes < DISK_NOTHING  ? BZ_CHECK_FAIL
                       : bytes < DISK_LITTLE ? BZ_CHECK_WARN
                                             : BZ_CHECK_OK,
                       bytes < DISK_LITTLE ? elsewhere : NULL,
                       "%.1f GiB free for %.99s%s%.99s%s", (double)bytes / (double)GIB,
                       host->cache, host->home ? ", " : "",
                       host->home ? host->home : "", limit_of(host));
}

/* Whether there is room in a directory, or where it will be. */
static void check_room(const char *path, uint64_t little, const char *fix,
                       struct bz_check_row *row)
{
    char dir[4096];
    struct statvfs fs;
    uint64_t bytes;

    existing_part(path, dir, sizeof(dir));
    if (statvfs(dir, &fs) != 0 || access(dir, W_OK) != 0) {
        bz_check_judge(row, BZ_CHECK_FAIL, fix, "%.99s: %s", dir, strerror(errno));
        return;
    }
    bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    bz_check_judge(row,
                   bytes == 0       ? BZ_CHECK_FAIL
                   : bytes < little ? BZ_CHECK_WARN
                                    : BZ_CHECK_OK,
                   bytes < little ? fix : NULL, "%.1f GiB free for %.99s",
                   (double)bytes / (double)GIB, path);
}

static void check_build(const struct bz_check_host *host, struct bz_check_row *row)
{
    check_room(host->build, DISK_NOTHING,
               "make room there, or build in a directory that you may write to", row);
}

static void check_temp(const struct bz_check_host *host, struct bz_check_row *row)
{
    check_room(host->temp, TEMP_LITTLE,
               "make room there, or set TMPDIR to a directory that you may write to",
               row);
}

/* 'log -f' and whoever else watches files; some use up all there are. */
static void check_inotify(const struct bz_check_host *host, struct bz_check_row *row)
{
    BZ_CLEANUP(bz_fs_closep) int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    uint64_t watches = slurp_number(host, INOTIFY "max_user_watches", 0);
    uint64_t instances = slurp_number(host, INOTIFY "max_user_instances", 0);

    if (fd < 0)
        bz_check_judge(row, BZ_CHECK_WARN,
                       "run 'sysctl -w fs.inotify.max_user_instances=512' as root",
                       "all %" PRIu64 " instances are in use: %s", instances,
                       strerror(errno));
    else if (watches < WATCHES_LITTLE)
        bz_check_judge(row, BZ_CHECK_WARN,
                       "run 'sysctl -w fs.inotify.max_user_watches=65536' as root",
                       "%" PRIu64 " files at a time", watches);
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL,
                       "%" PRIu64 " files, %" PRIu64 " programs at a time", watches,
                       instances);
}

static void check_inodes(const struct bz_check_host *host, struct bz_check_row *row)
{
    const char *elsewhere =
        set_cache(host, "remove files there, or ", "a directory on another disk");
    char dir[4096];
    struct statvfs fs;

    existing_part(host->cache, dir, sizeof(dir));
    if (statvfs(dir, &fs) != 0)
        bz_check_judge(row, BZ_CHECK_FAIL, elsewhere, "%.99s: %s", dir,
                       strerror(errno));
    else if (fs.f_files == 0) /* they are made as needed, as on btrfs */
        bz_check_judge(row, BZ_CHECK_OK, NULL, "no fixed number");
    else
        bz_check_judge(row,
                       fs.f_favail < INODES_NOTHING  ? BZ_CHECK_FAIL
                       : fs.f_favail < INODES_LITTLE ? BZ_CHECK_WARN
                                                     : BZ_CHECK_OK,
                       fs.f_favail < INODES_LITTLE ? elsewhere : NULL, "%ju free",
                       (uintmax_t)fs.f_favail);
}

/* A clock that is behind makes files look newer than what is built from them. */
static void check_clock(const struct bz_check_host *host, struct bz_check_row *row)
{
    static const char set_it[] = "set the clock, or start a time service";
    time_t now = (time_t)(host->now / BZ_CLOCK_S);
    struct stat exe;
    struct tm tm;
    char date[32] = "";

    if (gmtime_r(&now, &tm))
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &tm);
    if (now < (time_t)1704067200) /* 2024 */
        bz_check_judge(row, BZ_CHECK_FAIL, set_it, "%s cannot be", date);
    else if (bz_check_store_newest(host->cache) > now + CLOCK_SLACK)
        bz_check_judge(row, BZ_CHECK_WARN, set_it,
                       "%s is before the last result was stored", date);
    else if (stat("/proc/self/exe", &exe) == 0 && exe.st_mtime > now + DAY)
        bz_check_judge(row, BZ_CHECK_WARN, set_it, "%s is before bitzel was built",
                       date);
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL, "%s", date);
}

static const struct {
    const char *name;
    void (*run)(const struct bz_check_host *host, struct bz_check_row *row);
} checks[] = {
    {"cpus",            check_cpus              },
    {"memory",          check_memory            },
    {"open files",      check_files             },
    {"inotify",         check_inotify           },
    {"disk space",      check_disk              },
    {"inodes",          check_inodes            },
    {"build directory", check_build             },
    {"temporary files", check_temp              },
    {"store",           bz_check_store_health   },
    {"shared caches",   bz_check_store_tiers    },
    {"clock",           check_clock             },
    {"pidfd",           check_pidfd             },
    {"membarrier",      check_membarrier        },
    {"user namespaces", check_userns            },
    {"overlayfs",       check_overlayfs         },
    {"overlay mounts",  bz_check_tools_overlay  },
    {"devices",         bz_check_tools_devices  },
    {"sandbox",         bz_check_tools_sandbox  },
    {"landlock",        check_landlock          },
    {"seccomp",         check_seccomp           },
    {"jobserver",       bz_check_tools_jobserver},
    {"tools",           bz_check_tools_present  },
    {"locale",          bz_check_tools_locale   },
    {"terminal",        bz_check_tools_terminal },
};

size_t bz_check_count(void)
{
    return BZ_COUNTOF(checks);
}

void bz_check_run(size_t i, const struct bz_check_host *host, struct bz_check_row *row)
{
    BZ_ASSERT(i < BZ_COUNTOF(checks));
    row->name = checks[i].name;
    checks[i].run(host, row);
}
