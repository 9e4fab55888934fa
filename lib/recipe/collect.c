#include "recipe/collect.h"

#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/map.h"
#include "os/fs_walk.h"
#include "os/path.h"

struct pattern {
    struct bz_str text;
    int64_t priority;
};

struct finding {
    struct bz_collect *c;
    struct bz_map seen;
    struct bz_meta_names found;
};

struct mask {
    struct bz_regex *regex;
};

struct masks BZ_VEC(struct mask);

static void found(struct finding *f, struct bz_str path)
{
    struct bz_str kept;

    if (bz_map_get(&f->seen, path))
        return;
    kept = bz_arena_dup(&f->c->arena, path);
    bz_map_put(&f->seen, kept)->u = 1;
    BZ_VEC_PUSH(&f->found, kept);
}

static int by_priority(const void *a, const void *b)
{
    const struct pattern *x = a, *y = b;

    return (x->priority > y->priority) - (x->priority < y->priority);
}

static int by_name(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

/* Sorted here, by bytes: glob(3) would sort by the locale of the process. A name that
 * only looks like a pattern is taken as it is. */
static int expand_pattern(struct finding *f, const char *pattern, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names names = {0};
    struct stat st;
    glob_t g;
    int rc = glob(pattern, GLOB_NOSORT | GLOB_NOESCAPE, NULL, &g);

    if (rc != 0 && rc != GLOB_NOMATCH)
        return bz_fail(err, BZ_E_IO, "BBFILES: cannot expand %s", pattern);
    for (size_t i = 0; rc == 0 && i < g.gl_pathc; i++)
        BZ_VEC_PUSH(&names, bz_str_from(g.gl_pathv[i]));
    if (rc != 0 && stat(pattern, &st) == 0)
        BZ_VEC_PUSH(&names, bz_str_from(pattern));
    BZ_VEC_SORT(&names, by_name);
    for (size_t i = 0; i < names.len; i++)
        found(f, names.at[i]);
    if (rc == 0)
        globfree(&g);
    return 0;
}

struct tree {
    struct finding *f;
    struct bz_str root;
};

static int note_file(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    static const char *const ignored[] = {"SCCS", "CVS", ".svn"};
    struct tree *t = ctx;
    struct bz_str name = bz_str_from(e->name);
    struct bz_path path;
    int rc;

    if (S_ISDIR(e->st->st_mode)) {
        for (size_t i = 0; i < BZ_COUNTOF(ignored); i++)
            if (strcmp(e->name, ignored[i]) == 0)
                return BZ_FS_WALK_SKIP;
        return BZ_FS_WALK_ON;
    }
    if (!bz_str_ends(name, BZ_STR(".bb")) && !bz_str_ends(name, BZ_STR(".bbappend")))
        return BZ_FS_WALK_ON;
    rc = bz_path_join(t->root, bz_str_from(e->path), &path, err);
    if (rc == 0)
        found(t->f, bz_path_str(&path));
    return rc;
}

/* A directory stands for all recipes below it, anything else is a pattern. */
static int expand_entry(struct finding *f, struct bz_str text, struct bz_err *err)
{
    struct bz_str terminated = bz_arena_dup(&f->c->arena, text);
    struct tree t = {f, text};
    struct stat st;

    if (stat(terminated.p, &st) == 0 && S_ISDIR(st.st_mode))
        return bz_fs_walk(AT_FDCWD, terminated.p, note_file, &t, err);
    return expand_pattern(f, terminated.p, err);
}

static int find_files(struct finding *f, struct bz_str list,
                      const struct bz_layers *layers, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release)
    struct collect_patterns BZ_VEC(struct pattern) all = {0};
    struct bz_str word;
    int rc = 0;

    while (bz_str_next_word(&list, &word)) {
        const struct bz_layer *layer = bz_layer_of(layers, word);

        BZ_VEC_PUSH(&all, (struct pattern){word, layer ? layer->priority : 0});
    }
    BZ_VEC_SORT(&all, by_priority);
    for (size_t i = 0; i < all.len && rc == 0; i++)
        rc = expand_entry(f, all.at[i].text, err);
    return rc;
}

/* BBMASK: any of these expressions anywhere in a path hides the file. One
 * that is wrong is ignored, with a word. */
static void read_masks(struct bz_str list, struct masks *masks)
{
    struct bz_str word;

    while (bz_str_next_word(&list, &word)) {
        struct bz_regex *regex;
        struct bz_err err;

        if (bz_str_cut_prefix(&word, BZ_STR("|")))
            bz_log_warn("layers",
                        "BBMASK: an expression begins with '|'; ignored that");
        if (bz_regex_new(word, BZ_REGEX_SEARCH, &regex, &err) < 0)
            bz_log_error("layers", "BBMASK: ignored: %s", err.msg);
        else
            BZ_VEC_PUSH(masks, (struct mask){regex});
    }
}

static bool is_masked(const struct masks *masks, struct bz_str path)
{
    for (size_t i = 0; i < masks->len; i++)
        if (bz_regex_test(masks->at[i].regex, path))
            return true;
    return false;
}

static void add_append(struct bz_collect *c, struct bz_str path)
{
    struct bz_str name = bz_path_basename(path);

    bz_str_cut_suffix(&name, BZ_STR("append"));
    BZ_VEC_PUSH(&c->appends, (struct bz_collect_append){.path = path, .base = name});
}

/* The strongest recipe of a file name comes last. */
static void hide_weaker(struct bz_collect *c)
{
    BZ_CLEANUP(bz_map_release) struct bz_map seen = {0};

    for (size_t i = c->recipes.len; i-- > 0;) {
        struct bz_str name = bz_path_basename(c->recipes.at[i].path);

        c->recipes.at[i].hidden = bz_map_get(&seen, name) != NULL;
        bz_map_put(&seen, name)->u = 1;
    }
}

static void sort_out(struct bz_collect *c, const struct finding *f,
                     const struct masks *masks, const struct bz_layers *layers)
{
    for (size_t i = 0; i < f->found.len; i++) {
        struct bz_str path = f->found.at[i];

        if (is_masked(masks, path))
            c->masked++;
        else if (bz_str_ends(path, BZ_STR(".bb")))
            BZ_VEC_PUSH(&c->recipes, (struct bz_collect_recipe){
                                         path, bz_layer_of(layers, path), false});
        else if (bz_str_ends(path, BZ_STR(".bbappend")))
            add_append(c, path);
    }
    hide_weaker(c);
}

int bz_collect_read(struct bz_collect *c, struct bz_meta *config,
                    const struct bz_layers *layers, struct bz_err *err)
{
    struct finding f = {.c = c};
    struct masks masks = {0};
    struct bz_str files, mask;
    int rc = bz_vars_get(config->vars, BZ_STR("BBFILES"), 0, &files, err);

    if (rc == 0)
        rc = bz_vars_get(config->vars, BZ_STR("BBMASK"), 0, &mask, err);
    if (rc == 0)
        rc = find_files(&f, files, layers, err);
    if (rc == 0) {
        read_masks(mask, &masks);
        sort_out(c, &f, &masks, layers);
    }
    for (size_t i = 0; i < masks.len; i++)
        bz_regex_free(masks.at[i].regex);
    bz_vec_release(&masks);
    bz_map_release(&f.seen);
    bz_vec_release(&f.found);
    return rc;
}

void bz_collect_release(struct bz_collect *c)
{
    bz_vec_release(&c->recipes);
    bz_vec_release(&c->appends);
    bz_arena_release(&c->arena);
}

/* foo_%.bbappend applies to what begins with foo_; without '%', names must be
 * equal. */
static bool applies(struct bz_str base, struct bz_str name)
{
    size_t percent = bz_str_find_byte(base, '%');

    if (percent == BZ_STR_NONE)
        return bz_str_eq(base, name);
    return bz_str_starts(base,
                         bz_str_sub(name, 0, percent < name.n ? percent : name.n));
}

void bz_collect_appends(struct bz_collect *c, struct bz_str recipe,
                        struct bz_meta_names *out)
{
    struct bz_str name = bz_path_basename(recipe);

    for (size_t i = 0; i < c->appends.len; i++) {
        if (!applies(c->appends.at[i].base, name))
            continue;
        c->appends.at[i].recipes++;
        BZ_VEC_PUSH(out, c->appends.at[i].path);
    }
}
