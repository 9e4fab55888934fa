#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cache/reindex.h"
#include "cache/tree_load.h"
#include "cache_view.h"
#include "cmd_open_cache.h"
#include "codec/utf8.h"

struct show_values {
    const char *key;
    bool tree, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct show_values, tree, 0, "tree", "List what is in directories"),
    BZ_OPT_FLAG(struct show_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ONE(struct show_values, key, "KEY",
               "A result or a blob, by its digest or its first digits"),
    BZ_OPT_END,
};

/* Text and JSON side by side: the command shows one of them. */
struct shown {
    const struct show_values *v;
    struct bz_cas *cas;
    struct bz_digest_hasher *h;
    struct bz_pool *pool;
    struct bz_arena arena;
    struct bz_out *out;
    struct bz_buf text;
    struct bz_jsonw w;
};

static void release_shown(struct shown *s)
{
    bz_digest_hasher_free(s->h);
    bz_pool_free(s->pool);
    bz_arena_release(&s->arena);
    bz_buf_release(&s->text);
}

/* One entry of a tree, or an output. */
struct entry {
    char kind; /* f, x (executable), d, l, w (whiteout) */
    struct bz_str path, target;
    const struct bz_reapi_digest *digest; /* or NULL */
    uint32_t mode;
    bool has_mode;
};

static const char *kind_name(char kind)
{
    switch (kind) {
    case 'd':
        return "directory";
    case 'l':
        return "link";
    case 'w':
        return "whiteout";
    default:
        return "file";
    }
}

static void entry_text(struct shown *s, const char *label, const struct entry *e)
{
    char hex[BZ_DIGEST_HEX_LEN + 1] = "", size[BZ_CACHE_VIEW_TEXT] = "";

    if (e->digest) {
        bz_digest_hex(&e->digest->hash, hex);
        bz_cache_view_size(e->digest->size, size);
    }
    bz_out_print(s->out, "%-9s %c %8s %.*s%*s ", label, e->kind, size,
                 BZ_CACHE_VIEW_DIGITS, hex, e->digest ? 0 : BZ_CACHE_VIEW_DIGITS, "");
    bz_out_plain(s->out, e->path.n > 0 ? e->path.p : ".",
                 e->path.n > 0 ? e->path.n : 1);
    if (e->kind == 'l') {
        bz_out_print(s->out, " -> ");
        bz_out_plain(s->out, e->target.p, e->target.n);
    }
    bz_out_print(s->out, "\n");
}

static void entry_json(struct shown *s, const struct entry *e)
{
    bz_jsonw_cstr(bz_jsonw_key(&s->w, "kind"), kind_name(e->kind));
    bz_jsonw_str(bz_jsonw_key(&s->w, "path"), e->path);
    if (e->digest) {
        bz_cache_view_json_digest(&s->w, "digest", &e->digest->hash);
        bz_jsonw_int(bz_jsonw_key(&s->w, "size"), (int64_t)e->digest->size);
    }
    if (e->kind == 'f' || e->kind == 'x')
        bz_jsonw_bool(bz_jsonw_key(&s->w, "executable"), e->kind == 'x');
    if (e->kind == 'l')
        bz_jsonw_str(bz_jsonw_key(&s->w, "target"), e->target);
    if (e->has_mode)
        bz_jsonw_int(bz_jsonw_key(&s->w, "mode"), e->mode);
}

static void add_entry(struct shown *s, const struct entry *e)
{
    if (s->v->json) {
        bz_jsonw_map(&s->w);
        entry_json(s, e);
        bz_jsonw_map_end(&s->w);
    } else {
        entry_text(s, "", e);
    }
}

static struct bz_str below(struct shown *s, struct bz_str dir, struct bz_str name)
{
    return bz_arena_printf(&s->arena, "%.*s%s%.*s", BZ_STR_ARG(dir),
                           dir.n > 0 ? "/" : "", BZ_STR_ARG(name));
}

/* What is directly in a directory, but for directories. */
static void list_dir(struct shown *s, const struct bz_reapi_dir *d, struct bz_str path)
{
    for (size_t i = 0; i < d->nfiles; i++)
        add_entry(s, &(struct entry){.kind = d->files[i].executable ? 'x' : 'f',
                                     .path = below(s, path, d->files[i].name),
                                     .digest = &d->files[i].digest,
                                     .mode = d->files[i].props.mode,
                                     .has_mode = d->files[i].props.has_mode});
    for (size_t i = 0; i < d->nlinks; i++)
        add_entry(s, &(struct entry){.kind = 'l',
                                     .path = below(s, path, d->links[i].name),
                                     .target = d->links[i].target});
    for (size_t i = 0; i < d->nwhiteouts; i++)
        add_entry(
            s, &(struct entry){.kind = 'w', .path = below(s, path, d->whiteouts[i])});
}

struct level {
    uint32_t place;
    struct bz_str path;
};

static void list_tree(struct shown *s, const struct bz_tree_load *t, struct bz_str path)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct level) left = {0};

    BZ_VEC_PUSH(&left, (struct level){0, path});
    while (left.len > 0) {
        struct level at = BZ_VEC_POP(&left);
        const struct bz_tree_load_dir *d = &t->dirs[at.place];

        add_entry(s, &(struct entry){.kind = 'd',
                                     .path = at.path,
                                     .mode = d->dir.props.mode,
                                     .has_mode = d->dir.props.has_mode});
        list_dir(s, &d->dir, at.path);
        for (size_t i = d->dir.ndirs; i-- > 0;)
            BZ_VEC_PUSH(&left, (struct level){d->subs[i],
                                              below(s, at.path, d->dir.dirs[i].name)});
    }
}

/* False if it is no tree, or not there. */
static bool load(struct shown *s, const struct bz_reapi_digest *d,
                 struct bz_tree_load *out)
{
    struct bz_crew_threads threads = {.pool = s->pool};
    struct bz_err err;

    return bz_tree_load(s->cas, d, &threads, out, &err) == 0;
}

static void show_contents(struct shown *s, const struct bz_reapi_digest *tree,
                          struct bz_str path)
{
    struct bz_tree_load t = {0};

    if (!s->v->tree)
        return;
    if (s->v->json)
        bz_jsonw_list(bz_jsonw_key(&s->w, "entries"));
    if (load(s, tree, &t))
        list_tree(s, &t, path);
    else if (!s->v->json)
        bz_out_print(s->out, "%-9s %s\n", "", "its contents are not in the store");
    if (s->v->json)
        bz_jsonw_list_end(&s->w);
    bz_tree_load_release(&t);
}

/* Rows that are texts. */
static void row(struct shown *s, const char *label, struct bz_str value)
{
    if (s->v->json)
        bz_jsonw_str(bz_jsonw_key(&s->w, label), value);
    else if (value.n > 0)
        bz_cache_view_row(s->out, label, "%.*s", BZ_STR_ARG(value));
}

static void row_size(struct shown *s, const char *label, uint64_t size)
{
    char text[BZ_CACHE_VIEW_TEXT];

    if (s->v->json)
        bz_jsonw_int(bz_jsonw_key(&s->w, label), (int64_t)size);
    else
        bz_cache_view_row(s->out, label, "%s", bz_cache_view_size(size, text));
}

static void show_file(struct shown *s, const struct bz_cache_view_found *f,
                      const char *kind)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(&f->key, hex);
    if (s->v->json) {
        bz_jsonw_cstr(bz_jsonw_key(&s->w, "kind"), kind);
        bz_jsonw_cstr(bz_jsonw_key(&s->w, "key"), hex);
    } else {
        bz_cache_view_row(s->out, kind, "%s", hex);
    }
}

/* What a task printed: in the result itself, or a blob. */
static void show_printed(struct shown *s, const char *label, struct bz_str raw,
                         const struct bz_reapi_digest *d)
{
    struct entry e = {.kind = 'f', .path = BZ_STR("(printed)"), .digest = d};

    if (s->v->json) {
        bz_jsonw_map(bz_jsonw_key(&s->w, label));
        if (!bz_reapi_digest_none(d)) {
            bz_cache_view_json_digest(&s->w, "digest", &d->hash);
            bz_jsonw_int(bz_jsonw_key(&s->w, "size"), (int64_t)d->size);
        }
        bz_jsonw_int(bz_jsonw_key(&s->w, "inline_bytes"), (int64_t)raw.n);
        bz_jsonw_map_end(&s->w);
    } else if (!bz_reapi_digest_none(d)) {
        entry_text(s, label, &e);
    } else if (raw.n > 0) {
        bz_cache_view_row(s->out, label, "%zu bytes in the result", raw.n);
    }
}

static void show_output(struct shown *s, const struct entry *e)
{
    if (!s->v->json) {
        entry_text(s, "output", e);
        if (e->kind == 'd')
            show_contents(s, e->digest, e->path);
        return;
    }
    bz_jsonw_map(&s->w);
    entry_json(s, e);
    if (e->kind == 'd')
        show_contents(s, e->digest, e->path);
    bz_jsonw_map_end(&s->w);
}

static void show_outputs(struct shown *s, const struct bz_reapi_result *r)
{
    if (s->v->json)
        bz_jsonw_list(bz_jsonw_key(&s->w, "outputs"));
    for (size_t i = 0; i < r->nfiles; i++)
        show_output(s, &(struct entry){.kind = r->files[i].executable ? 'x' : 'f',
                                       .path = r->files[i].path,
                                       .digest = &r->files[i].digest});
    for (size_t i = 0; i < r->ndirs; i++)
        show_output(s, &(struct entry){.kind = 'd',
                                       .path = r->dirs[i].path,
                                       .digest = bz_reapi_digest_none(&r->dirs[i].tree)
                                                     ? &r->dirs[i].root
                                                     : &r->dirs[i].tree});
    for (size_t i = 0; i < r->nlinks; i++)
        show_output(s, &(struct entry){.kind = 'l',
                                       .path = r->links[i].name,
                                       .target = r->links[i].target});
    if (s->v->json)
        bz_jsonw_list_end(&s->w);
}

static struct bz_str time_text(struct shown *s, const struct bz_reapi_time *t)
{
    time_t when = (time_t)t->s;
    char text[64];
    struct tm tm;

    if (!t->set || !gmtime_r(&when, &tm) ||
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        return (struct bz_str){0};
    return bz_arena_dup(&s->arena, bz_str_from(text));
}

static void show_facts(struct shown *s, const struct bz_reapi_result *r)
{
    int64_t duration = bz_reindex_duration(r);
    char text[BZ_CACHE_VIEW_TEXT];

    row(s, "recipe", bz_reindex_label(r, BZ_STR(BZ_ACTION_RECIPE)));
    row(s, "task", bz_reindex_label(r, BZ_STR(BZ_ACTION_TASK)));
    row(s, "made", time_text(s, &r->when[BZ_REAPI_RUN_DONE]));
    row(s, "worker", r->worker);
    if (s->v->json) {
        bz_cache_view_json_seconds(&s->w, "duration", duration);
        bz_jsonw_bool(bz_jsonw_key(&s->w, "sealed"), r->sealed);
        bz_jsonw_int(bz_jsonw_key(&s->w, "exit_code"), r->exit_code);
        return;
    }
    if (duration > 0)
        bz_cache_view_row(s->out, "took", "%s", bz_cache_view_span(duration, text));
    bz_cache_view_row(s->out, "sealed", "%s",
                      r->sealed ? "yes" : "no (another program's, or cut short)");
    bz_cache_view_row(s->out, "exit", "%d", (int)r->exit_code);
}

static void show_more(struct shown *s, const struct bz_reapi_result *r)
{
    if (s->v->json)
        bz_jsonw_map(bz_jsonw_key(&s->w, "auxiliary"));
    for (size_t i = 0; i < r->naux; i++) {
        const struct bz_reapi_aux *aux = &r->aux[i];

        if (bz_str_eq(aux->type, BZ_STR(BZ_ACTION_RECIPE)) ||
            bz_str_eq(aux->type, BZ_STR(BZ_ACTION_TASK)) ||
            bz_str_eq(aux->type, BZ_STR(BZ_ACTION_KEY)))
            continue;
        if (s->v->json)
            bz_jsonw_int(bz_jsonw_key_str(&s->w, aux->type), (int64_t)aux->value.n);
        else
            bz_cache_view_row(s->out, "more", "%.*s (%zu bytes)", BZ_STR_ARG(aux->type),
                              aux->value.n);
    }
    if (s->v->json)
        bz_jsonw_map_end(&s->w);
}

/* Looking is no use, so the file is read as it is. */
static int show_result(struct shown *s, const struct bz_cache_view_found *f,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    struct bz_reapi_result r = {0};
    size_t n = 0;
    int rc = bz_shelf_peek(&s->cas->actions, &f->key, &fd, err);

    if (rc == 0)
        rc = bz_fs_read_fd(fd, "an action result", BZ_REAPI_MESSAGE_MAX, &bytes, &n,
                           err);
    if (rc == 0)
        rc = bz_reapi_result_decode(&s->arena, bz_str_of(bytes, n), s->h, &r, err);
    if (rc < 0)
        return bz_err_wrap(err, "result %s", s->v->key);
    show_file(s, f, "result");
    show_facts(s, &r);
    show_outputs(s, &r);
    show_printed(s, "stdout", r.out_raw, &r.out);
    show_printed(s, "stderr", r.err_raw, &r.error);
    show_more(s, &r);
    return 0;
}

/* Blobs. */

#define LOOK_AT 65536 /* bytes that tell text from other data */

static const char *guess(int fd)
{
    char bytes[LOOK_AT];
    ssize_t n = pread(fd, bytes, sizeof(bytes), 0);

    if (n <= 0)
        return n == 0 ? "empty" : "unreadable";
    if (n >= 4 && memcmp(bytes, "\177ELF", 4) == 0)
        return "ELF";
    if (n >= 2 && memcmp(bytes, "#!", 2) == 0)
        return "script";
    if (memchr(bytes, 0, (size_t)n))
        return "data";
    return bz_utf8_valid(bz_str_of(bytes, (size_t)n)) + 4 > (size_t)n ? "text" : "data";
}

static int show_blob(struct shown *s, const struct bz_cache_view_found *f,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_reapi_digest d = {.hash = f->key};
    struct bz_tree_load t = {0};
    struct bz_digest got;
    bool right;
    int rc = bz_shelf_peek(&s->cas->blobs, &f->key, &fd, err);

    if (rc == 0)
        rc = bz_digest_fd(s->h, fd, &got, &d.size, err);
    if (rc < 0)
        return rc;
    right = bz_digest_eq(&got, &f->key);
    show_file(s, f, "blob");
    row_size(s, "size", d.size);
    if (right && d.size > 0 && load(s, &d, &t)) {
        row(s, "is", BZ_STR("tree"));
        if (!s->v->json)
            bz_cache_view_row(s->out, "holds",
                              "%llu files, %llu directories, %llu links",
                              (unsigned long long)t.dirs[0].sum.files,
                              (unsigned long long)t.dirs[0].sum.dirs,
                              (unsigned long long)t.dirs[0].sum.links);
        show_contents(s, &d, (struct bz_str){0});
    } else {
        row(s, "is", bz_str_from(right ? guess(fd) : "damaged"));
    }
    bz_tree_load_release(&t);
    return 0;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = NULL;
    BZ_CLEANUP(release_shown) struct shown s = {.v = values, .out = &env->out};
    struct bz_cache_view_found found = {0};
    int rc = bz_cmd_open_cache(env, BZ_SHELF_READ, NULL, &c, err);

    if (rc == 0)
        rc = bz_digest_hasher_new(&s.h, err);
    if (rc == 0)
        rc = bz_pool_new(&(struct bz_pool_opts){.compute = 1}, &s.pool, err);
    if (rc == 0)
        rc = bz_cache_view_find(bz_cache_cas(c), s.v->key, &found, err);
    if (rc < 0)
        return rc;
    s.cas = bz_cache_cas(c);
    s.w = bz_jsonw_to(&s.text, 2);
    bz_jsonw_map(&s.w);
    rc = found.result ? show_result(&s, &found, err) : show_blob(&s, &found, err);
    if (rc < 0)
        return rc;
    bz_jsonw_map_end(&s.w);
    if (s.v->json)
        bz_out_print(&env->out, "%s\n", bz_buf_text(&s.text));
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel cache show --tree ca893cda",
     "List the files of a result that 'bitzel cache ls' listed"},
    {NULL,                                NULL                 },
};

const struct bz_cmd bz_cmd_cache_show = {
    .of = "cache",
    .name = "show",
    .summary = "Show a result or a blob",
    .detail = "Shows what a result says: recipe and task, how long it took and ended, "
              "its outputs with their digests, what was printed. Works on results of "
              "other programs too, as Bazel's. Of a blob it shows what it is.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct show_values),
    .run = run,
};
