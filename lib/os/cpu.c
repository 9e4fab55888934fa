#include "os/cpu.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "os/fs.h"
#include "os/path.h"

#define FILE_LIMIT ((size_t)4 << 20) /* mountinfo of a busy container host */
#define MOST_CPUS (1 << 20)

/* The two kinds of hierarchy a CPU quota can sit in. In a hybrid setup both are
 * mounted and either may hold it. */
enum version { V1, V2 };

/* A mounted hierarchy: which of its groups is visible, and where. */
struct mount {
    struct bz_str group;
    struct bz_path point;
};

static char *slurp(const char *root, const char *path, size_t *n)
{
    char full[2 * BZ_PATH_MAX];
    struct bz_err err;
    char *text;

    snprintf(full, sizeof(full), "%s%s", root, path);
    if (bz_fs_read(AT_FDCWD, full, FILE_LIMIT, &text, n, &err) < 0)
        return NULL;
    return text;
}

static bool has_item(struct bz_str list, struct bz_str item)
{
    struct bz_str part;

    while (bz_str_next_part(&list, ',', &part))
        if (bz_str_eq(part, item))
            return true;
    return false;
}

/* A line of /proc/self/cgroup is id:controllers:path, and v2's is 0::path. */
static bool own_group(struct bz_str text, enum version v, struct bz_str *path)
{
    struct bz_str line, id, rest, controllers;

    while (bz_str_next_part(&text, '\n', &line)) {
        if (!bz_str_cut(line, ':', &id, &rest) ||
            !bz_str_cut(rest, ':', &controllers, path))
            continue;
        if (v == V2 ? bz_str_eq(id, BZ_STR("0")) && !controllers.n
                    : has_item(controllers, BZ_STR("cpu")))
            return true;
    }
    return false;
}

static bool is_octal(const char *p)
{
    return p[0] >= '0' && p[0] <= '3' && p[1] >= '0' && p[1] <= '7' && p[2] >= '0' &&
           p[2] <= '7';
}

/* mountinfo writes space, tab, newline and backslash as \ooo. */
static bool unescape(struct bz_str s, struct bz_path *out)
{
    if (s.n >= sizeof(out->s))
        return false;
    out->n = 0;
    for (size_t i = 0; i < s.n; i++) {
        const char *p = s.p + i;

        if (*p == '\\' && s.n - i > 3 && is_octal(p + 1)) {
            out->s[out->n++] =
                (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
            i += 3;
        } else {
            out->s[out->n++] = *p;
        }
    }
    out->s[out->n] = '\0';
    return true;
}

/* A line of mountinfo: id parent device group point options [tags] - type source
 * super-options. */
static bool parse_mount(struct bz_str line, enum version v, struct mount *m)
{
    struct bz_str word[6], type, source, super;
    size_t n = 0;

    while (n < BZ_COUNTOF(word) && bz_str_next_word(&line, &word[n]))
        n++;
    if (n < BZ_COUNTOF(word))
        return false;
    do
        if (!bz_str_next_word(&line, &source))
            return false;
    while (!bz_str_eq(source, BZ_STR("-")));
    if (!bz_str_next_word(&line, &type) || !bz_str_next_word(&line, &source) ||
        !bz_str_next_word(&line, &super))
        return false;
    if (v == V2 ? !bz_str_eq(type, BZ_STR("cgroup2"))
                : !bz_str_eq(type, BZ_STR("cgroup")) || !has_item(super, BZ_STR("cpu")))
        return false;
    m->group = word[3];
    return unescape(word[4], &m->point);
}

static bool find_mount(struct bz_str text, enum version v, struct mount *m)
{
    struct bz_str line;

    while (bz_str_next_part(&text, '\n', &line))
        if (parse_mount(line, v, m))
            return true;
    return false;
}

/* The first two numbers of a file; "max" and "-1" are no numbers. */
static bool read_numbers(const char *root, const char *dir, const char *file,
                         uint64_t number[2])
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_path path;
    struct bz_err err;
    struct bz_str rest, word;
    size_t n;

    if (bz_path_join(bz_str_from(dir), bz_str_from(file), &path, &err) < 0)
        return false;
    text = slurp(root, path.s, &n);
    if (!text)
        return false;
    rest = bz_str_of(text, n);
    for (int i = 0; i < 2 && bz_str_next_word(&rest, &word); i++)
        if (bz_str_parse_u64(word, 10, INT64_MAX, &number[i], &err) < 0)
            return false;
    return true;
}

static unsigned quota_of(const char *root, const char *dir, enum version v)
{
    uint64_t max[2] = {0, 100000}, period[2] = {100000, 0};
    uint64_t cpus;

    if (v == V2) {
        if (!read_numbers(root, dir, "cpu.max", max))
            return 0;
    } else {
        if (!read_numbers(root, dir, "cpu.cfs_quota_us", max) ||
            !read_numbers(root, dir, "cpu.cfs_period_us", period))
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

/* From the group's directory up to the mount point: a quota binds all below it. */
static unsigned quota_along(const char *root, const struct mount *m,
                            struct bz_str group, enum version v)
{
    struct bz_path dir;
    struct bz_err err;
    unsigned least = 0;

    /* What is mounted may be a group itself, and in a container often is. A group that
     * is not below it ("/../x") is out of sight: the mount point is the nearest. */
    if (!bz_str_eq(m->group, BZ_STR("/")) &&
        (!bz_str_cut_prefix(&group, m->group) || (group.n && group.p[0] != '/')))
        group = BZ_STR("");
    bz_str_cut_prefix(&group, BZ_STR("/"));
    if (!bz_path_is_safe(group))
        group = BZ_STR("");
    if (bz_path_join(bz_path_str(&m->point), group, &dir, &err) < 0)
        return 0;
    for (;;) {
        least = smaller_limit(least, quota_of(root, dir.s, v));
        if (dir.n <= m->point.n)
            return least;
        dir.n = bz_path_dirname(bz_path_str(&dir)).n;
        dir.s[dir.n] = '\0';
    }
}

unsigned bz_cpu_quota(const char *root)
{
    size_t ngroups = 0, nmounts = 0;
    BZ_CLEANUP(bz_mem_freep) char *groups = slurp(root, "/proc/self/cgroup", &ngroups);
    BZ_CLEANUP(bz_mem_freep)
    char *mounts = slurp(root, "/proc/self/mountinfo", &nmounts);
    unsigned least = 0;

    if (!groups || !mounts)
        return 0;
    for (enum version v = V1; v <= V2; v++) {
        struct bz_str group;
        struct mount m;

        if (own_group(bz_str_of(groups, ngroups), v, &group) &&
            find_mount(bz_str_of(mounts, nmounts), v, &m))
            least = smaller_limit(least, quota_along(root, &m, group, v));
    }
    return least;
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
