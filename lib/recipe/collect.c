#include "recipe/collect.h"

#include "base/log.h"
#include "base/map.h"
#include "os/path.h"
#include "recipe/wildcard.h"

struct pattern {
    struct bz_str text;
    int64_t priority;
};

struct finding {
    struct bz_collect *c;
    struct bz_library *library;
    struct bz_map seen;
    struct bz_meta_names found, names; /* in all, of one pattern */
};

struct mask {
    struct bz_regex *regex;
    bool empty;
};

struct masks BZ_VEC(struct mask);

static void found(struct finding *f, struct bz_str path)
{
    if (bz_map_put(&f->seen, path)->u++ == 0)
        BZ_VEC_PUSH(&f->found, path);
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

static void note_name(void *ctx, struct bz_str path)
{
    struct finding *f = ctx;

    BZ_VEC_PUSH(&f->names, bz_arena_dup(&f->c->arena, path));
}

static void note_look(void *ctx, struct bz_str path)
{
    struct finding *f = ctx;

    BZ_VEC_PUSH(&f->c->looked_at, bz_arena_dup(&f->c->arena, path));
}

/* A directory stands for all recipes below it, anything else is a pattern. The files of
 * a pattern are sorted by their whole paths. A name that only looks like a pattern is
 * taken as it is. */
static int expand_entry(struct finding *f, struct bz_str text, struct bz_err *err)
{
    struct bz_wildcard_to to = {note_name, note_look, f};
    bool is;
    int rc;

    note_look(f, text);
    is = bz_library_exists(f->library, text);
    BZ_VEC_CLEAR(&f->names);
    if (is && bz_library_list(f->library, text)) {
        rc = bz_wildcard_below(f->library, text, &to, err);
    } else {
        rc = bz_wildcard_expand(f->library, text, &to, err);
        if (rc == 0 && f->names.len == 0 && is)
            note_name(f, text);
        BZ_VEC_SORT(&f->names, by_name);
    }
    for (size_t i = 0; i < f->names.len && rc == 0; i++)
        found(f, f->names.at[i]);
    return rc;
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
            BZ_VEC_PUSH(masks, (struct mask){regex, word.n == 0});
    }
    /* An empty expression matches everything, but alone it is no mask at all. */
    if (masks->len == 1 && masks->at[0].empty) {
        bz_regex_free(masks->at[0].regex);
        BZ_VEC_CLEAR(masks);
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

/* ---- appends ---- */

/* foo_%.bbappend applies to what begins with foo_; without '%', names must be equal.
 * So an append is found by what stands before its '%', or by all of it. */
static struct bz_str key_of(struct bz_str base, bool *prefix)
{
    size_t percent = bz_str_find_byte(base, '%');

    *prefix = percent != BZ_STR_NONE;
    return *prefix ? bz_str_sub(base, 0, percent) : base;
}

static void note_prefix(struct bz_collect *c, size_t length)
{
    for (size_t i = 0; i < c->prefixes.len; i++)
        if (c->prefixes.at[i] == length)
            return;
    BZ_VEC_PUSH(&c->prefixes, length);
}

/* From the last to the first, so that each chain has them in order. */
static void index_appends(struct bz_collect *c)
{
    for (size_t i = c->appends.len; i-- > 0;) {
        struct bz_map_entry *it;
        bool prefix;
        struct bz_str key = key_of(c->appends.at[i].base, &prefix);

        it = bz_map_put(&c->by_name, key);
        c->appends.at[i].next = it->u;
        it->u = i + 1;
        if (prefix)
            note_prefix(c, key.n);
    }
}

struct matches BZ_VEC(size_t);

/* Those of a chain that are patterns, or those that are none. A name may be the key of
 * both: of foo.bb and of foo.bb%. */
static void match_chain(const struct bz_collect *c, struct bz_str key, bool patterns,
                        struct matches *out)
{
    const struct bz_map_entry *it = bz_map_get(&c->by_name, key);

    for (size_t i = it ? it->u : 0; i > 0; i = c->appends.at[i - 1].next) {
        bool prefix;

        key_of(c->appends.at[i - 1].base, &prefix);
        if (prefix == patterns)
            BZ_VEC_PUSH(out, i - 1);
    }
}

static int by_place(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

void bz_collect_appends(struct bz_collect *c, struct bz_str recipe,
                        struct bz_meta_names *out)
{
    BZ_CLEANUP(bz_vec_release) struct matches found = {0};
    struct bz_str name = bz_path_basename(recipe);

    if (c->appends.len == 0)
        return;
    match_chain(c, name, false, &found);
    for (size_t i = 0; i < c->prefixes.len; i++)
        if (c->prefixes.at[i] <= name.n)
            match_chain(c, bz_str_sub(name, 0, c->prefixes.at[i]), true, &found);
    BZ_VEC_SORT(&found, by_place);
    for (size_t i = 0; i < found.len; i++) {
        c->appends.at[found.at[i]].recipes++;
        BZ_VEC_PUSH(out, c->appends.at[found.at[i]].path);
    }
}

int bz_collect_read(struct bz_collect *c, struct bz_meta *config,
                    const struct bz_layers *layers, struct bz_library *library,
                    struct bz_err *err)
{
    struct finding f = {.c = c, .library = library};
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
        index_appends(c);
    }
    for (size_t i = 0; i < masks.len; i++)
        bz_regex_free(masks.at[i].regex);
    bz_vec_release(&masks);
    bz_map_release(&f.seen);
    bz_vec_release(&f.found);
    bz_vec_release(&f.names);
    return rc;
}

void bz_collect_release(struct bz_collect *c)
{
    bz_vec_release(&c->recipes);
    bz_vec_release(&c->appends);
    bz_vec_release(&c->looked_at);
    bz_vec_release(&c->prefixes);
    bz_map_release(&c->by_name);
    bz_arena_release(&c->arena);
}
