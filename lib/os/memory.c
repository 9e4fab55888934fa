#include "os/memory.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/mem.h"
#include "os/cgroup.h"
#include "os/fs.h"
#include "os/path.h"

#define FILE_LIMIT 4096
#define NO_LIMIT ((uint64_t)1 << 60) /* how the first version writes it, and more */

struct reading {
    const char *root;
    struct bz_memory *out;
    bool pressed; /* the pressure of a group is known: the innermost one's counts */
};

static void set_limit(struct bz_memory *m, uint64_t bytes)
{
    if (bytes < m->available)
        m->available = bytes;
}

/* A line "some avg10=1.25 avg60=..."; the whole percents are enough. */
static bool read_pressure(const char *root, const char *file, unsigned *out)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    char path[2 * BZ_PATH_MAX];
    struct bz_str rest, number;
    struct bz_err ignored;
    uint64_t percent = 0;
    size_t n;

    snprintf(path, sizeof(path), "%s%s", root, file);
    if (bz_fs_read(AT_FDCWD, path, FILE_LIMIT, &text, &n, &ignored) < 0)
        return false;
    rest = bz_str_of(text, n);
    if (!bz_str_cut_prefix(&rest, BZ_STR("some avg10=")))
        return false;
    bz_str_cut(rest, '.', &number, &rest);
    if (bz_str_parse_u64(number, 10, 100, &percent, &ignored) < 0)
        return false;
    *out = (unsigned)percent;
    return true;
}

/* What others of the machine suffer from is not ours to wait for, and what our group
 * suffers from its own limit the machine does not show. */
static void add_pressure(struct reading *r, enum bz_cgroup_version v, const char *dir)
{
    char file[BZ_PATH_MAX];

    if (v != BZ_CGROUP_V2 || r->pressed)
        return;
    snprintf(file, sizeof(file), "%s/memory.pressure", dir);
    r->pressed = read_pressure(r->root, file, &r->out->pressure);
}

static void add_group(void *ctx, enum bz_cgroup_version v, const char *dir)
{
    static const struct {
        const char *limit, *usage;
        struct bz_str files[2];
    } names[] = {
        [BZ_CGROUP_V1] = {"memory.limit_in_bytes",
                          "memory.usage_in_bytes", {{"total_inactive_file", 19}, {"total_active_file", 17}}},
        [BZ_CGROUP_V2] = {"memory.max",
                          "memory.current",        {{"inactive_file", 13}, {"active_file", 11}}            },
    };
    struct reading *r = ctx;
    uint64_t limit[2] = {0}, usage[2] = {0};

    add_pressure(r, v, dir);
    /* What a group holds of files takes longest to tell, and mostly does not matter. */
    if (!bz_cgroup_read(r->root, dir, names[v].limit, limit) || limit[0] >= NO_LIMIT ||
        !bz_cgroup_read(r->root, dir, names[v].usage, usage) ||
        (limit[0] > usage[0] && limit[0] - usage[0] >= r->out->available))
        return;
    for (size_t i = 0; i < BZ_COUNTOF(names[v].files); i++) {
        uint64_t bytes = 0;

        if (bz_cgroup_field(r->root, dir, "memory.stat", names[v].files[i], &bytes))
            usage[0] -= bytes < usage[0] ? bytes : usage[0];
    }
    set_limit(r->out, limit[0] > usage[0] ? limit[0] - usage[0] : 0);
}

void bz_memory_read(const char *root, struct bz_memory *out)
{
    struct reading r = {.root = root, .out = out};
    uint64_t kib;

    *out = (struct bz_memory){UINT64_MAX, 0};
    (void)read_pressure(root, "/proc/pressure/memory", &out->pressure);
    if (bz_cgroup_field(root, "/proc", "meminfo", BZ_STR("MemAvailable:"), &kib))
        set_limit(out, kib * 1024);
    bz_cgroup_walk(root, BZ_STR("memory"), add_group, &r);
}

struct killing {
    const char *root;
    int64_t n;
};

/* The innermost group comes first, and what is killed in it counts there, whoever's
 * limit it was. The outermost group of the machine has no such file in version two. */
static void add_kills(void *ctx, enum bz_cgroup_version v, const char *dir)
{
    struct killing *k = ctx;
    uint64_t n = 0;

    if (k->n < 0 &&
        bz_cgroup_field(k->root, dir,
                        v == BZ_CGROUP_V2 ? "memory.events" : "memory.oom_control",
                        BZ_STR("oom_kill"), &n))
        k->n = (int64_t)n;
}

int64_t bz_memory_kills(const char *root)
{
    struct killing k = {.root = root, .n = -1};
    uint64_t n = 0;

    bz_cgroup_walk(root, BZ_STR("memory"), add_kills, &k);
    if (k.n < 0 && bz_cgroup_field(root, "/proc", "vmstat", BZ_STR("oom_kill"), &n))
        k.n = (int64_t)n;
    return k.n;
}
