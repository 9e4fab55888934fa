#include "os/cgroup.h"

#include <stdio.h>

#include "base/mem.h"
#include "os/fs.h"
#include "os/path.h"

#define FILE_LIMIT ((size_t)4 << 20) /* mountinfo of a busy container host */

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
static bool own_group(struct bz_str text, struct bz_str controller,
                      enum bz_cgroup_version v, struct bz_str *path)
{
    struct bz_str line, id, rest, controllers;

    while (bz_str_next_part(&text, '\n', &line)) {
        if (!bz_str_cut(line, ':', &id, &rest) ||
            !bz_str_cut(rest, ':', &controllers, path))
            continue;
        if (v == BZ_CGROUP_V2 ? bz_str_eq(id, BZ_STR("0")) && !controllers.n
                              : has_item(controllers, controller))
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
static bool parse_mount(struct bz_str line, struct bz_str controller,
                        enum bz_cgroup_version v, struct mount *m)
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
    if (v == BZ_CGROUP_V2
            ? !bz_str_eq(type, BZ_STR("cgroup2"))
            : !bz_str_eq(type, BZ_STR("cgroup")) || !has_item(super, controller))
        return false;
    m->group = word[3];
    return unescape(word[4], &m->point);
}

static bool find_mount(struct bz_str text, struct bz_str controller,
                       enum bz_cgroup_version v, struct mount *m)
{
    struct bz_str line;

    while (bz_str_next_part(&text, '\n', &line))
        if (parse_mount(line, controller, v, m))
            return true;
    return false;
}

bool bz_cgroup_read(const char *root, const char *dir, const char *file,
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

bool bz_cgroup_field(const char *root, const char *dir, const char *file,
                     struct bz_str name, uint64_t *out)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_str rest, line, word;
    struct bz_path path;
    struct bz_err err;
    size_t n;

    if (bz_path_join(bz_str_from(dir), bz_str_from(file), &path, &err) < 0)
        return false;
    text = slurp(root, path.s, &n);
    rest = bz_str_of(text, text ? n : 0);
    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line))
        if (bz_str_next_word(&line, &word) && bz_str_eq(word, name))
            return bz_str_next_word(&line, &word) &&
                   bz_str_parse_u64(word, 10, INT64_MAX, out, &err) == 0;
    return false;
}

/* From the group's directory up to the mount point: a limit binds all below it. */
static void walk(const struct mount *m, struct bz_str group, enum bz_cgroup_version v,
                 bz_cgroup_fn fn, void *ctx)
{
    struct bz_path dir;
    struct bz_err err;

    /* What is mounted may be a group itself, and in a container often is. A group that
     * is not below it ("/../x") is out of sight: the mount point is the nearest. */
    if (!bz_str_eq(m->group, BZ_STR("/")) &&
        (!bz_str_cut_prefix(&group, m->group) || (group.n && group.p[0] != '/')))
        group = BZ_STR("");
    bz_str_cut_prefix(&group, BZ_STR("/"));
    if (!bz_path_is_safe(group))
        group = BZ_STR("");
    if (bz_path_join(bz_path_str(&m->point), group, &dir, &err) < 0)
        return;
    for (;;) {
        fn(ctx, v, dir.s);
        if (dir.n <= m->point.n)
            return;
        dir.n = bz_path_dirname(bz_path_str(&dir)).n;
        dir.s[dir.n] = '\0';
    }
}

void bz_cgroup_walk(const char *root, struct bz_str controller, bz_cgroup_fn fn,
                    void *ctx)
{
    size_t ngroups = 0, nmounts = 0;
    BZ_CLEANUP(bz_mem_freep) char *groups = slurp(root, "/proc/self/cgroup", &ngroups);
    BZ_CLEANUP(bz_mem_freep)
    char *mounts = slurp(root, "/proc/self/mountinfo", &nmounts);

    if (!groups || !mounts)
        return;
    for (enum bz_cgroup_version v = BZ_CGROUP_V1; v <= BZ_CGROUP_V2; v++) {
        struct bz_str group;
        struct mount m;

        if (own_group(bz_str_of(groups, ngroups), controller, v, &group) &&
            find_mount(bz_str_of(mounts, nmounts), controller, v, &m))
            walk(&m, group, v, fn, ctx);
    }
}
