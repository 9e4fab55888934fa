#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/landlock.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
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

#define DAY ((time_t)24 * 3600)
#define PROC_LIMIT (1 << 20) /* no file read here is larger */

/* Fills the row. The fix is for a person, or NULL if all is well. */
static void BZ_PRINTF(4, 5) judge(struct bz_check_row *row, enum bz_check_state state,
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
        judge(row, BZ_CHECK_WARN,
              "allow more by the CPU affinity or the cgroup's quota",
              "1 usable of %ld: tasks run one at a time", online);
    else
        judge(row, BZ_CHECK_OK, NULL, "%u usable of %ld", count, online);
}

/* "MemAvailable:    7654321 kB" in bytes; 0 if there is no such line. */
static uint64_t meminfo(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

/* What one line of /proc/self/cgroup, "4:memory:/path", limits memory to. */
static uint64_t group_limit(const struct bz_check_host *host, struct bz_str line)
{
    struct bz_str id;
    struct bz_str controller;
    char path[1024];
    bool v2;

    bz_str_cut(line, ':', &id, &line);
    bz_str_cut(line, ':', &controller, &line);
    v2 = controller.n == 0;
    if (!v2 && !bz_str_eq(controller, BZ_STR("memory")))
        return UINT64_MAX;
    snprintf(path, sizeof(path), "/sys/fs/cgroup%s%.*s/%s", v2 ? "" : "/memory",
             BZ_STR_ARG(line), v2 ? "memory.max" : "memory.limit_in_bytes");
    return slurp_number(host, path, UINT64_MAX);
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
        judge(row, BZ_CHECK_WARN, "mount /proc", "/proc/meminfo cannot be read");
    else if (usable < MEMORY_NOTHING)
        judge(row, BZ_CHECK_FAIL, "end other programs, or add memory or swap",
              "%.2f GiB available%s", gib, group);
    else if (usable < wanted)
        judge(row, BZ_CHECK_WARN, "end other programs, or run fewer tasks at a time",
              "%.1f GiB available%s: less than half a GiB for each CPU", gib, group);
    else
        judge(row, BZ_CHECK_OK, NULL, "%.1f GiB available%s", gib, group);
}

static void check_files(const struct bz_check_host *host, struct bz_check_row *row)
{
    struct rlimit lim = {0};

    (void)host;
    if (getrlimit(RLIMIT_NOFILE, &lim) != 0)
        judge(row, BZ_CHECK_WARN, "run 'ulimit -n 4096'", "%s", strerror(errno));
    else if (lim.rlim_cur < FILES_LITTLE)
        judge(row, BZ_CHECK_WARN, "run 'ulimit -n 4096' before bitzel",
              "%ju at a time: many tasks at once need more", (uintmax_t)lim.rlim_cur);
    else if (lim.rlim_cur == RLIM_INFINITY)
        judge(row, BZ_CHECK_OK, NULL, "no limit");
    else
        judge(row, BZ_CHECK_OK, NULL, "%ju at a time", (uintmax_t)lim.rlim_cur);
}

static void check_pidfd(const struct bz_check_host *host, struct bz_check_row *row)
{
    BZ_CLEANUP(bz_fs_closep) int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

    (void)host;
    if (fd < 0)
        judge(row, BZ_CHECK_FAIL,
              "use Linux 5.4 or newer, and a container that allows pidfd_open",
              "pidfd_open: %s", strerror(errno));
    else
        judge(row, BZ_CHECK_OK, NULL, "pidfd_open works");
}

static void check_membarrier(const struct bz_check_host *host, struct bz_check_row *row)
{
    (void)host;
    if (bz_membarrier_register())
        judge(row, BZ_CHECK_OK, NULL, "private expedited barriers work");
    else
        judge(row, BZ_CHECK_WARN, "use a container that allows membarrier",
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
        judge(row, BZ_CHECK_WARN, "install unshare, a part of util-linux",
              "allowed, but not tried: %.99s", err.msg);
        return;
    }
    if (result.exit_code == 0)
        judge(row, BZ_CHECK_OK, NULL, "work, up to %" PRIu64, most);
    else
        judge(row, BZ_CHECK_WARN,
              "use a container or security profile that allows unshare(2)",
              "refused, though the settings allow them");
    bz_proc_pump_release_result(&result);
}

static void check_userns(const struct bz_check_host *host, struct bz_check_row *row)
{
    uint64_t most = slurp_number(host, userns_bars[0].path, UINT64_MAX);

    for (size_t i = 0; i < BZ_COUNTOF(userns_bars); i++) {
        if (userns_bars[i].root_may && host->privileged)
            continue;
        if (slurp_number(host, userns_bars[i].path, UINT64_MAX) == userns_bars[i].bad) {
            judge(row, BZ_CHECK_WARN, userns_bars[i].fix, "%s", userns_bars[i].found);
            return;
        }
    }
    if (most == UINT64_MAX)
        judge(row, BZ_CHECK_WARN, "use a kernel with CONFIG_USER_NS",
              "this kernel has none");
    else
        try_userns(most, row);
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
        judge(row, BZ_CHECK_WARN, "run 'modprobe overlay' as root",
              "not in /proc/filesystems: trees have to be copied");
    else if (!kernel_since(host, 5, 11))
        judge(row, BZ_CHECK_WARN, "use Linux 5.11 or newer",
              "not inside user namespaces: trees have to be copied");
    else
        judge(row, BZ_CHECK_OK, NULL, "also inside user namespaces");
}

static void check_landlock(const struct bz_check_host *host, struct bz_check_row *row)
{
    long abi =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    (void)host;
    if (abi > 0)
        judge(row, BZ_CHECK_OK, NULL, "ABI %ld", abi);
    else if (errno == EOPNOTSUPP)
        judge(row, BZ_CHECK_WARN, "add landlock to the kernel's lsm= parameter",
              "not enabled at boot");
    else
        judge(row, BZ_CHECK_WARN,
              "use Linux 5.13 or newer, and a container that allows it", "%s",
              strerror(errno));
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

static void check_disk(const struct bz_check_host *host, struct bz_check_row *row)
{
    static const char elsewhere[] = "make room there, or set XDG_CACHE_HOME to a "
                                    "directory with more";
    char dir[4096];
    struct stat st;
    struct statvfs fs;
    uint64_t bytes;

    existing_part(host->cache, dir, sizeof(dir));
    if (stat(dir, &st) != 0 || statvfs(dir, &fs) != 0) {
        judge(row, BZ_CHECK_FAIL, elsewhere, "%.99s: %s", dir, strerror(errno));
        return;
    }
    bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (!S_ISDIR(st.st_mode))
        judge(row, BZ_CHECK_FAIL, "remove it, or set XDG_CACHE_HOME to a directory",
              "%.99s is not a directory", dir);
    else if (access(dir, W_OK) != 0)
        judge(row, BZ_CHECK_FAIL, "set XDG_CACHE_HOME to a directory you may write to",
              "%.99s: %s", dir, strerror(errno));
    else
        judge(row,
              bytes < DISK_NOTHING  ? BZ_CHECK_FAIL
              : bytes < DISK_LITTLE ? BZ_CHECK_WARN
                                    : BZ_CHECK_OK,
              bytes < DISK_LITTLE ? elsewhere : NULL, "%.1f GiB free for %.99s",
              (double)bytes / (double)GIB, host->cache);
}

static void check_inodes(const struct bz_check_host *host, struct bz_check_row *row)
{
    static const char elsewhere[] = "remove files there, or set XDG_CACHE_HOME to a "
                                    "directory on another disk";
    char dir[4096];
    struct statvfs fs;

    existing_part(host->cache, dir, sizeof(dir));
    if (statvfs(dir, &fs) != 0)
        judge(row, BZ_CHECK_FAIL, elsewhere, "%.99s: %s", dir, strerror(errno));
    else if (fs.f_files == 0) /* they are made as needed, as on btrfs */
        judge(row, BZ_CHECK_OK, NULL, "no fixed number");
    else
        judge(row,
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
        judge(row, BZ_CHECK_FAIL, set_it, "%s cannot be", date);
    else if (stat("/proc/self/exe", &exe) == 0 && exe.st_mtime > now + DAY)
        judge(row, BZ_CHECK_WARN, set_it, "%s is before bitzel was built", date);
    else
        judge(row, BZ_CHECK_OK, NULL, "%s", date);
}

static const struct {
    const char *name;
    void (*run)(const struct bz_check_host *host, struct bz_check_row *row);
} checks[] = {
    {"cpus",            check_cpus      },
    {"memory",          check_memory    },
    {"open files",      check_files     },
    {"disk space",      check_disk      },
    {"inodes",          check_inodes    },
    {"clock",           check_clock     },
    {"pidfd",           check_pidfd     },
    {"membarrier",      check_membarrier},
    {"user namespaces", check_userns    },
    {"overlayfs",       check_overlayfs },
    {"landlock",        check_landlock  },
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
