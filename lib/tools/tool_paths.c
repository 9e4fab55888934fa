#include "tools/tool_paths.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/fs_walk.h"
#include "os/path.h"
#include "tools/dpkg.h"

#define DATABASE "/var/lib/dpkg"
#define ADMIN DATABASE "/alternatives"
#define ALTERNATIVES "/etc/alternatives"
#define FILE_MAX ((size_t)256 << 20) /* of the database */
#define DEPTH_MAX 64                 /* steps of a path */
#define LINKS_MAX 40                 /* on the way to a file */

/* What sandboxes show of the host; what is directly below "/" may be a link. */
static const struct bz_str tops[] = {
    {"/usr",              4 },
    {"/bin",              4 },
    {"/sbin",             5 },
    {"/lib",              4 },
    {"/lib32",            6 },
    {"/lib64",            6 },
    {"/libx32",           7 },
    {"/etc/alternatives", 17},
    {"/etc/ld.so.conf",   15},
    {"/etc/ld.so.conf.d", 17},
    {"/etc/protocols",    14},
    {"/etc/services",     13},
    {"/etc/ld.so.cache",  16},
};

/* The cache of the dynamic linker names libraries of all packages; without it the usual
 * directories are searched. So where packages tell what is shown, it is not. */
static const struct bz_str cache = {"/etc/ld.so.cache", 16};

/* What no program reads to do its work, or only to say it in another language. */
static const struct bz_str left_out[] = {
    {"/usr/share/doc",      14},
    {"/usr/share/doc-base", 19},
    {"/usr/share/man",      14},
    {"/usr/share/info",     15},
    {"/usr/share/locale",   17},
    {"/usr/share/lintian",  18},
    {"/usr/share/bug",      14},
};

struct finder {
    struct bz_tool_paths *out;
    const char *root;
    struct bz_dpkg dpkg;
    struct bz_bitset set;
    struct bz_map paths;   /* path -> number in out->all, from 1 */
    struct bz_map dirs;    /* directory -> struct bz_str *, where it is */
    struct bz_map wanted;  /* path of a program -> nothing; owned ones are removed */
    struct bz_map bases;   /* names of these */
    struct bz_map numbers; /* package of dpkg -> number in out->packages, from 1 */
    char *status, *diversions;
    bool trees; /* the list has a directory */
};

static bool is_below(struct bz_str path, struct bz_str top)
{
    return bz_str_cut_prefix(&path, top) && (path.n == 0 || path.p[0] == '/');
}

bool bz_tool_paths_covers(struct bz_str path)
{
    for (size_t i = 0; i < BZ_COUNTOF(left_out); i++)
        if (is_below(path, left_out[i]))
            return false;
    for (size_t i = 0; i < BZ_COUNTOF(tops); i++)
        if (is_below(path, tops[i]))
            return true;
    return false;
}

void bz_tool_paths_places(struct bz_tool_paths_names *out)
{
    static const struct bz_str database[] = {
        {DATABASE "/status",     sizeof(DATABASE "/status") - 1    },
        {DATABASE "/diversions", sizeof(DATABASE "/diversions") - 1},
        {DATABASE "/info",       sizeof(DATABASE "/info") - 1      },
        {ADMIN,                  sizeof(ADMIN) - 1                 },
    };
    struct bz_str dirs = BZ_STR(BZ_TOOL_PATHS_PATH), dir;

    for (size_t i = 0; i < BZ_COUNTOF(database); i++)
        BZ_VEC_PUSH(out, database[i]);
    for (size_t i = 0; i < BZ_COUNTOF(tops); i++)
        if (!bz_str_eq(tops[i], cache))
            BZ_VEC_PUSH(out, tops[i]);
    while (bz_str_next_part(&dirs, ':', &dir))
        BZ_VEC_PUSH(out, dir);
}

/* ---- paths ---- */

static bool look(const struct finder *f, struct bz_str path, struct stat *st)
{
    char full[PATH_MAX];

    if (strlen(f->root) + path.n >= sizeof(full))
        return false;
    snprintf(full, sizeof(full), "%s%.*s", f->root, BZ_STR_ARG(path));
    return lstat(full, st) == 0;
}

/* Where a link in a directory leads, which may have links of its own. */
static BZ_NOINLINE bool read_link(struct finder *f, struct bz_str path,
                                  struct bz_str *out)
{
    char full[PATH_MAX], text[PATH_MAX];
    struct bz_path joined, plain;
    struct bz_err ignored;
    ssize_t n;

    snprintf(full, sizeof(full), "%s%.*s", f->root, BZ_STR_ARG(path));
    n = readlink(full, text, sizeof(text));
    if (n <= 0 || (size_t)n == sizeof(text) ||
        bz_path_join(bz_path_dirname(path), bz_str_of(text, (size_t)n), &joined,
                     &ignored) < 0 ||
        bz_path_normalise(bz_path_str(&joined), &plain, &ignored) < 0)
        return false;
    *out = bz_arena_dup(&f->out->arena, bz_path_str(&plain));
    return true;
}

static struct bz_str join(struct finder *f, struct bz_str dir, struct bz_str name)
{
    return BZ_ARENA_CONCAT(&f->out->arena, dir.n == 1 ? BZ_STR("") : dir, BZ_STR("/"),
                           name);
}

/* A directory without links in its path. Depth and links are bounded by is_plain() and
 * `links`. */
static struct bz_str real_dir(struct finder *f, struct bz_str dir, unsigned links)
{
    const struct bz_map_entry *known = bz_map_get(&f->dirs, dir);
    struct bz_str path, target, *kept;
    struct stat st;

    if (known)
        return *(const struct bz_str *)known->p;
    if (dir.n <= 1)
        return BZ_STR("/");
    path = join(f, real_dir(f, bz_path_dirname(dir), links), bz_path_basename(dir));
    if (links < LINKS_MAX && look(f, path, &st) && S_ISLNK(st.st_mode) &&
        read_link(f, path, &target))
        path = real_dir(f, target, links + 1);
    kept = BZ_ARENA_NEW(&f->out->arena, struct bz_str);
    *kept = path;
    bz_map_put(&f->dirs, bz_arena_dup(&f->out->arena, dir))->p = kept;
    return path;
}

/* Absolute, with steps that name something, and not too many of them. */
static bool is_plain(struct bz_str path)
{
    size_t steps = 0;
    struct bz_str step;

    if (path.n < 2 || path.n >= PATH_MAX / 2 || path.p[0] != '/' ||
        memchr(path.p, '\0', path.n))
        return false;
    path = bz_str_drop(path, 1);
    while (bz_str_next_part(&path, '/', &step))
        if (++steps > DEPTH_MAX || step.n == 0 || bz_str_eq(step, BZ_STR(".")) ||
            bz_str_eq(step, BZ_STR("..")))
            return false;
    return true;
}

static struct bz_str real_path(struct finder *f, struct bz_str path)
{
    return join(f, real_dir(f, bz_path_dirname(path), 0), bz_path_basename(path));
}

/* ---- what is a tool ---- */

/* The name that a package of dpkg has in lists. */
static uint32_t number_of(struct finder *f, uint32_t package)
{
    const struct bz_dpkg_package *p;
    struct bz_map_entry *e;

    if (package == BZ_TOOL_PATHS_NOBODY)
        return package;
    p = &f->dpkg.packages.at[package];
    e = bz_map_put_u64(&f->numbers, package);
    if (e->u == 0) {
        bool plain = bz_str_eq(p->arch, f->dpkg.native) ||
                     bz_str_eq(p->arch, BZ_STR("all")) || p->arch.n == 0;

        BZ_VEC_PUSH(&f->out->packages, BZ_ARENA_CONCAT(&f->out->arena, p->name,
                                                       plain ? BZ_STR("") : BZ_STR(":"),
                                                       plain ? BZ_STR("") : p->arch));
        e->u = f->out->packages.len;
    }
    return (uint32_t)e->u - 1;
}

/* `path` is a real one, in the arena. True if it is new. */
static bool add(struct finder *f, struct bz_str path, uint32_t package)
{
    struct bz_map_entry *e;

    if (!bz_tool_paths_covers(path) || f->out->all.len >= BZ_TOOL_PATHS_MAX)
        return false;
    e = bz_map_put(&f->paths, path);
    if (e->u != 0)
        return false;
    BZ_VEC_PUSH(&f->out->all, (struct bz_tool_path){path, number_of(f, package)});
    e->u = f->out->all.len;
    return true;
}

/* ---- the database ---- */

static char *read_database(struct finder *f, const char *path, size_t *n)
{
    struct bz_str full = bz_arena_printf(&f->out->arena, "%s%s", f->root, path);
    struct bz_err ignored;
    char *text = NULL;

    *n = 0;
    return bz_fs_read(AT_FDCWD, full.p, FILE_MAX, &text, n, &ignored) < 0 ? NULL : text;
}

/* The list of a package's files; the caller frees it. */
static char *read_list(struct finder *f, const struct bz_dpkg_package *p, size_t *n)
{
    char path[512];
    char *text = NULL;

    for (int i = 0; i < 2 && !text; i++) {
        bool arch = (i == 0) == p->same;

        snprintf(path, sizeof(path), DATABASE "/info/%.*s%s%.*s.list",
                 BZ_STR_ARG(p->name), arch ? ":" : "", arch ? bz_str_width(p->arch) : 0,
                 arch && p->arch.p ? p->arch.p : "");
        text = read_database(f, path, n);
    }
    return text;
}

/* Told of each path of a package, as it is in its list. */
typedef void (*path_fn)(struct finder *f, uint32_t package, struct bz_str path);

static void each_path(struct finder *f, uint32_t package, path_fn fn)
{
    size_t n = 0;
    BZ_CLEANUP(bz_mem_freep)
    char *text = read_list(f, &BZ_VEC_AT(&f->dpkg.packages, package), &n);
    struct bz_str rest = bz_str_of(text, n), path;

    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &path))
        if (is_plain(path))
            fn(f, package, bz_dpkg_place(&f->dpkg, package, path));
}

static int open_database(struct finder *f, struct bz_err *err)
{
    size_t n = 0, ndiversions = 0;
    int rc;

    f->status = read_database(f, DATABASE "/status", &n);
    f->out->dpkg = f->status != NULL;
    if (!f->status)
        return 0;
    rc = bz_dpkg_read(&f->dpkg, bz_str_of(f->status, n), err);
    f->diversions = read_database(f, DATABASE "/diversions", &ndiversions);
    if (rc == 0 && f->diversions)
        bz_dpkg_read_diversions(&f->dpkg, bz_str_of(f->diversions, ndiversions));
    return rc;
}

/* ---- words ---- */

/* The links that a path leads over, and what it leads to. */
static void want(struct finder *f, struct bz_str path)
{
    for (unsigned i = 0; i < LINKS_MAX && is_plain(path); i++) {
        struct bz_str real = real_path(f, path);
        struct stat st;

        if (!look(f, real, &st))
            return;
        bz_map_put(&f->wanted, real);
        bz_map_put(&f->bases, bz_path_basename(real));
        if (!S_ISLNK(st.st_mode) || !read_link(f, real, &path))
            return;
    }
}

/* Whether there is such a program; and then *out is where. */
static bool is_program(struct finder *f, struct bz_str path, struct bz_str *out)
{
    for (unsigned i = 0; i < LINKS_MAX && is_plain(path); i++) {
        struct bz_str real = real_path(f, path);
        struct stat st;

        if (!look(f, real, &st))
            return false;
        if (!S_ISLNK(st.st_mode)) {
            *out = real;
            return S_ISREG(st.st_mode) && (st.st_mode & S_IXOTH);
        }
        if (!read_link(f, real, &path))
            return false;
    }
    return false;
}

static bool find_program(struct finder *f, struct bz_str name)
{
    struct bz_str dirs = BZ_STR(BZ_TOOL_PATHS_PATH), dir, ignored;

    while (bz_str_next_part(&dirs, ':', &dir)) {
        struct bz_str path = join(f, dir, name);

        if (!is_program(f, path, &ignored))
            continue;
        want(f, path);
        return true;
    }
    return false;
}

struct walking {
    struct finder *f;
    struct bz_str top;
};

static int walk_path(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    const struct walking *w = ctx;
    struct bz_str path = join(w->f, w->top, bz_str_from(e->path));

    (void)err;
    if (!bz_tool_paths_covers(path))
        return BZ_FS_WALK_SKIP;
    add(w->f, path, BZ_TOOL_PATHS_NOBODY);
    return BZ_FS_WALK_ON;
}

/* All below a directory. */
static int add_tree(struct finder *f, struct bz_str dir, struct bz_err *err)
{
    struct walking w = {f, real_dir(f, dir, 0)};
    struct bz_str full =
        bz_arena_printf(&f->out->arena, "%s%.*s", f->root, BZ_STR_ARG(w.top));
    struct stat st;

    if (!look(f, w.top, &st) || !S_ISDIR(st.st_mode))
        return 0;
    add(f, w.top, BZ_TOOL_PATHS_NOBODY);
    f->trees = true;
    return bz_fs_walk(AT_FDCWD, full.p, walk_path, &w, err);
}

static bool find_path(struct finder *f, struct bz_str word, int *rc, struct bz_err *err)
{
    struct stat st;

    if (!is_plain(word) || !look(f, real_path(f, word), &st))
        return false;
    if (S_ISDIR(st.st_mode))
        *rc = add_tree(f, word, err);
    else
        want(f, word);
    return true;
}

static int find_words(struct finder *f, struct bz_str words, struct bz_err *err)
{
    struct bz_str word;
    int rc = 0;

    while (rc == 0 && bz_str_next_word(&words, &word)) {
        bool may_miss = bz_str_cut_prefix(&word, BZ_STR("?"));
        bool found = false;
        uint32_t package;

        if (word.n > 0 && word.p[0] == '/')
            found = find_path(f, word, &rc, err);
        else if (bz_str_find_byte(word, '/') == BZ_STR_NONE)
            found = find_program(f, word);
        if (bz_dpkg_find(&f->dpkg, word, &package)) {
            bz_bitset_set(&f->set, package);
            found = true;
        }
        if (!found && !may_miss && f->out->dpkg)
            BZ_VEC_PUSH(&f->out->missing, bz_arena_dup(&f->out->arena, word));
    }
    return rc;
}

/* ---- packages ---- */

static void find_owner(struct finder *f, uint32_t package, struct bz_str path)
{
    if (bz_map_get(&f->bases, bz_path_basename(path)) &&
        bz_map_remove(&f->wanted, real_path(f, path)))
        bz_bitset_set(&f->set, package);
}

/* Packages that have a program that is wanted; what stays is wanted for itself. */
static void find_owners(struct finder *f)
{
    for (uint32_t i = 0; i < f->dpkg.packages.len && f->wanted.len > 0; i++)
        each_path(f, i, find_owner);
    for (const struct bz_map_entry *e = NULL; (e = bz_map_next(&f->wanted, e));)
        add(f, e->key, BZ_TOOL_PATHS_NOBODY);
}

static void add_owned(struct finder *f, uint32_t package, struct bz_str path)
{
    struct bz_str real = real_path(f, path);
    struct stat st;

    /* An administrator may have left it out (path-exclude). */
    if (bz_tool_paths_covers(real) && look(f, real, &st))
        add(f, real, package);
}

static void add_packages(struct finder *f)
{
    for (uint32_t i = 0; i < f->dpkg.packages.len; i++)
        if (f->dpkg.packages.at[i].essential)
            bz_bitset_set(&f->set, i);
    bz_dpkg_close(&f->dpkg, &f->set);
    for (size_t i = bz_bitset_next(&f->set, 0); i != BZ_BITSET_END;
         i = bz_bitset_next(&f->set, i + 1))
        each_path(f, (uint32_t)i, add_owned);
}

/* A link of an alternative is a tool if it leads to one. */
static void add_alternative(void *ctx, struct bz_str name, struct bz_str link)
{
    struct finder *f = ctx;
    struct bz_str middle = join(f, BZ_STR(ALTERNATIVES), name), target;
    const struct bz_map_entry *e;
    struct stat st;

    if (!is_plain(link) || !is_plain(middle) || !look(f, middle, &st) ||
        !S_ISLNK(st.st_mode) || !read_link(f, middle, &target) || !is_plain(target))
        return;
    e = bz_map_get(&f->paths, real_path(f, target));
    if (!e)
        return;
    link = real_path(f, link);
    if (look(f, link, &st) && S_ISLNK(st.st_mode)) {
        uint32_t package = f->out->all.at[e->u - 1].package;

        if (add(f, link, BZ_TOOL_PATHS_NOBODY))
            BZ_VEC_LAST(&f->out->all).package = package;
        if (add(f, middle, BZ_TOOL_PATHS_NOBODY))
            BZ_VEC_LAST(&f->out->all).package = package;
    }
}

static void add_alternatives(struct finder *f)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list names = {0};
    struct bz_str dir = bz_arena_printf(&f->out->arena, "%s" ADMIN, f->root);
    struct bz_err ignored;

    if (bz_fs_list_dir(AT_FDCWD, dir.p, &names, &ignored) < 0)
        return;
    for (size_t i = 0; i < names.n; i++) {
        struct bz_str path =
            bz_arena_printf(&f->out->arena, ADMIN "/%s", names.names[i]);
        size_t n = 0;
        BZ_CLEANUP(bz_mem_freep) char *text = read_database(f, path.p, &n);

        if (text)
            bz_dpkg_links(bz_str_from(names.names[i]), bz_str_of(text, n),
                          add_alternative, f);
    }
}

/* ---- all of it ---- */

/* The directories that tools lie in, and what is there whatever the list says. */
static void add_parents(struct finder *f)
{
    struct stat st;

    for (size_t i = 0; i < BZ_COUNTOF(tops); i++)
        if (look(f, tops[i], &st) && !S_ISDIR(st.st_mode) &&
            (!f->out->dpkg || !bz_str_eq(tops[i], cache)))
            add(f, bz_arena_dup(&f->out->arena, tops[i]), BZ_TOOL_PATHS_NOBODY);
    for (size_t i = 0; i < f->out->all.len; i++) {
        struct bz_str dir = bz_path_dirname(f->out->all.at[i].path);

        while (dir.n > 1 &&
               add(f, bz_arena_dup(&f->out->arena, dir), BZ_TOOL_PATHS_NOBODY))
            dir = bz_path_dirname(dir);
    }
}

static int by_path(const void *a, const void *b)
{
    const struct bz_tool_path *x = a, *y = b;

    return bz_str_cmp(x->path, y->path);
}

/* Where there is no database. */
static int add_host(struct finder *f, struct bz_err *err)
{
    int rc = f->trees ? 0 : add_tree(f, BZ_STR("/usr"), err);

    for (size_t i = 1; i < BZ_COUNTOF(tops) && rc == 0; i++)
        if (bz_str_starts(tops[i], BZ_STR("/etc/")) || !f->trees)
            rc = add_tree(f, tops[i], err);
    return rc;
}

static int find_all(struct finder *f, struct bz_str words, struct bz_err *err)
{
    int rc = open_database(f, err);

    if (rc == 0)
        rc = find_words(f, words, err);
    if (rc < 0)
        return rc;
    find_owners(f);
    if (f->out->dpkg) {
        add_packages(f);
        add_alternatives(f);
    } else {
        rc = add_host(f, err);
    }
    add_parents(f);
    if (rc == 0 && f->out->all.len >= BZ_TOOL_PATHS_MAX)
        rc = bz_fail(err, BZ_E_LIMIT, "there are more than %zu tools",
                     BZ_TOOL_PATHS_MAX);
    BZ_VEC_SORT(&f->out->all, by_path);
    return rc;
}

static void close_finder(struct finder *f)
{
    bz_dpkg_release(&f->dpkg);
    bz_bitset_release(&f->set);
    bz_map_release(&f->paths);
    bz_map_release(&f->dirs);
    bz_map_release(&f->wanted);
    bz_map_release(&f->bases);
    bz_map_release(&f->numbers);
    free(f->status);
    free(f->diversions);
}

int bz_tool_paths_find(struct bz_tool_paths *out, const char *root, struct bz_str words,
                       struct bz_err *err)
{
    struct finder f = {.out = out, .root = root};
    int rc;

    *out = (struct bz_tool_paths){0};
    rc = find_all(&f, words, err);
    close_finder(&f);
    return rc;
}

void bz_tool_paths_release(struct bz_tool_paths *p)
{
    bz_vec_release(&p->all);
    bz_vec_release(&p->packages);
    bz_vec_release(&p->missing);
    bz_arena_release(&p->arena);
    *p = (struct bz_tool_paths){0};
}

bool bz_tool_paths_owner(const char *root, struct bz_str program, struct bz_arena *a,
                         struct bz_str *package)
{
    struct bz_tool_paths none = {0};
    struct finder f = {.out = &none, .root = root};
    struct bz_err ignored;
    size_t owner;

    if (open_database(&f, &ignored) == 0 && find_program(&f, program))
        for (uint32_t i = 0; i < f.dpkg.packages.len && f.wanted.len > 0; i++)
            each_path(&f, i, find_owner);
    owner = bz_bitset_next(&f.set, 0);
    if (owner != BZ_BITSET_END)
        *package = bz_arena_dup(a, BZ_VEC_AT(&f.dpkg.packages, owner).name);
    close_finder(&f);
    bz_tool_paths_release(&none);
    return owner != BZ_BITSET_END;
}
