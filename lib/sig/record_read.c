#include "sig/record_read.h"

#include <inttypes.h>

#include "base/mem.h"
#include "codec/json.h"
#include "os/fs.h"

struct shared {
    const struct bz_record_input *input;
};

/* Memory of one line, reused for the next. */
struct line {
    struct bz_record *r;
    struct bz_arena arena;
    struct BZ_VEC(struct shared) shared; /* those of a packed file */
};

static void line_release(struct line *l)
{
    bz_arena_release(&l->arena);
    bz_vec_release(&l->shared);
}

static int get_digest(const struct bz_doc *map, const char *key, struct bz_digest *out,
                      struct bz_err *err)
{
    struct bz_str hex = {0};
    int rc = bz_doc_get_str(map, key, &hex, err);

    return rc < 0 ? rc : bz_digest_parse(hex, out, err);
}

/* A string, or null for none. */
static int get_text(const struct bz_doc *map, const char *key, struct bz_str *out,
                    struct bz_err *err)
{
    const struct bz_doc *d = bz_doc_find(map, key);

    *out = (struct bz_str){0};
    if (d && d->type == BZ_DOC_NULL)
        return 0;
    return bz_doc_get_str(map, key, out, err);
}

static int get_list(const struct bz_doc *map, const char *key,
                    const struct bz_doc **out, struct bz_err *err)
{
    return bz_doc_field(map, key, BZ_DOC_LIST, out, err);
}

/* What a map may leave out. */
static int if_there(int rc)
{
    return rc == BZ_E_NOENT ? 0 : rc;
}

/* "file:line" */
static int read_place(const struct bz_doc *map, struct bz_record_op *op,
                      struct bz_err *err)
{
    struct bz_str at = {0};
    uint64_t line = 0;
    size_t colon;
    int rc = bz_doc_get_str(map, "at", &at, err);

    if (rc < 0)
        return rc;
    colon = bz_str_rfind_byte(at, ':');
    if (colon == BZ_STR_NONE)
        return bz_fail(err, BZ_E_INVAL, "line %u, column %u: expected FILE:LINE",
                       map->line, map->column);
    rc = bz_str_parse_u64(bz_str_drop(at, colon + 1), 10, UINT32_MAX, &line, err);
    op->file = bz_str_of(at.p, colon);
    op->line = (uint32_t)line;
    return rc;
}

static int read_op(const struct bz_doc *map, struct bz_record_op *op,
                   struct bz_err *err)
{
    struct bz_str hex = {0};
    int rc = read_place(map, op, err);

    if (rc == 0)
        rc = bz_doc_get_str(map, "op", &op->op, err);
    if (rc == 0)
        rc = if_there(bz_doc_get_str(map, "flag", &op->flag, err));
    if (rc == 0)
        rc = bz_doc_get_str(map, "text", &hex, err);
    if (rc == 0)
        rc = bz_str_parse_u64(hex, 16, UINT64_MAX, &op->text, err);
    if (rc == 0)
        rc = if_there(bz_doc_get_bool(map, "off", &op->off, err));
    return rc;
}

static int read_ops(struct line *l, const struct bz_doc *map,
                    struct bz_record_input *in, struct bz_err *err)
{
    const struct bz_doc *list = NULL;
    struct bz_record_op *ops;
    int rc = get_list(map, "set", &list, err);

    if (rc < 0)
        return rc;
    ops = BZ_ARENA_ARRAY(&l->arena, struct bz_record_op, list->count);
    for (size_t i = 0; rc == 0 && i < list->count; i++)
        rc = read_op(&list->items[i], &ops[i], err);
    in->ops = ops;
    in->nops = list->count;
    return rc;
}

/* A list of strings that may be missing. */
static int read_names(struct line *l, const struct bz_doc *map, const char *key,
                      const struct bz_str **out, size_t *n, struct bz_err *err)
{
    const struct bz_doc *list = NULL;
    struct bz_str *names;
    int rc = get_list(map, key, &list, err);

    if (rc < 0)
        return if_there(rc);
    names = BZ_ARENA_ARRAY(&l->arena, struct bz_str, list->count);
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        rc = bz_doc_expect(&list->items[i], BZ_DOC_STR, err);
        names[i] = list->items[i].text;
    }
    *out = names;
    *n = list->count;
    return rc;
}

static int read_input(struct line *l, const struct bz_doc *map,
                      const struct bz_record_input **out, struct bz_err *err)
{
    struct bz_record_input in = {0};
    int64_t size = 0;
    int rc = bz_doc_get_str(map, "name", &in.name, err);

    if (rc == 0)
        rc = get_digest(map, "digest", &in.digest, err);
    if (rc == 0)
        rc = get_text(map, "value", &in.value, err);
    if (rc == 0)
        rc = if_there(bz_doc_get_int(map, "size", 0, INT64_MAX, &size, err));
    if (rc == 0)
        rc = read_ops(l, map, &in, err);
    if (rc == 0)
        rc = read_names(l, map, "uses", &in.uses, &in.nuses, err);
    if (rc == 0)
        rc = read_names(l, map, "leads", &in.leads, &in.nleads, err);
    in.size = (size_t)size;
    if (rc == 0)
        *out = bz_record_input(l->r, &in);
    return rc;
}

/* An input, or the number of one that came before. */
static int find_input(struct line *l, const struct bz_doc *item,
                      const struct bz_record_input **out, struct bz_err *err)
{
    if (item->type != BZ_DOC_INT)
        return read_input(l, item, out, err);
    if (item->i < 0 || (uint64_t)item->i >= l->shared.len)
        return bz_fail(err, BZ_E_INVAL, "line %u, column %u: there is no such input",
                       item->line, item->column);
    *out = l->shared.at[item->i].input;
    return 0;
}

static int read_inputs(struct line *l, const struct bz_doc *map, const char *key,
                       const struct bz_record_input *const **out, size_t *n,
                       struct bz_err *err)
{
    const struct bz_doc *list = NULL;
    const struct bz_record_input **all;
    int rc = get_list(map, key, &list, err);

    if (rc < 0)
        return rc;
    all = BZ_ARENA_ARRAY(&l->arena, const struct bz_record_input *, list->count);
    for (size_t i = 0; rc == 0 && i < list->count; i++)
        rc = find_input(l, &list->items[i], &all[i], err);
    *out = all;
    *n = list->count;
    return rc;
}

static int read_files(struct line *l, const struct bz_doc *map,
                      struct bz_record_task *t, struct bz_err *err)
{
    const struct bz_doc *list = NULL;
    struct bz_record_file *files;
    int rc = get_list(map, "files", &list, err);

    if (rc < 0)
        return rc;
    files = BZ_ARENA_ARRAY(&l->arena, struct bz_record_file, list->count);
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        const struct bz_doc *item = &list->items[i];
        const struct bz_doc *digest = bz_doc_find(item, "digest");
        int64_t mode = 0;

        rc = bz_doc_get_str(item, "name", &files[i].name, err);
        files[i].present = !digest || digest->type != BZ_DOC_NULL;
        if (rc == 0 && files[i].present)
            rc = get_digest(item, "digest", &files[i].digest, err);
        if (rc == 0)
            rc = if_there(
                bz_doc_get_bool(item, "executable", &files[i].executable, err));
        if (rc == 0)
            rc = if_there(bz_doc_get_int(item, "mode", 0, 07777, &mode, err));
        files[i].mode = (unsigned)mode;
    }
    t->files = files;
    t->nfiles = list->count;
    return rc;
}

static int read_commits(struct line *l, const struct bz_doc *map,
                        struct bz_record_task *t, struct bz_err *err)
{
    const struct bz_doc *list = NULL;
    struct bz_record_commit *commits;
    int rc = get_list(map, "commits", &list, err);

    if (rc < 0)
        return if_there(rc);
    commits = BZ_ARENA_ARRAY(&l->arena, struct bz_record_commit, list->count);
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        rc = bz_doc_get_str(&list->items[i], "revision", &commits[i].question, err);
        if (rc == 0)
            rc = bz_doc_get_str(&list->items[i], "commit", &commits[i].commit, err);
    }
    t->commits = commits;
    t->ncommits = list->count;
    return rc;
}

static int read_deps(struct line *l, const struct bz_doc *map, struct bz_record_task *t,
                     struct bz_err *err)
{
    const struct bz_doc *list = NULL;
    struct bz_record_dep *deps;
    int rc = get_list(map, "deps", &list, err);

    if (rc < 0)
        return rc;
    deps = BZ_ARENA_ARRAY(&l->arena, struct bz_record_dep, list->count);
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        rc = bz_doc_get_str(&list->items[i], "task", &deps[i].task, err);
        if (rc == 0)
            rc = get_digest(&list->items[i], "key", &deps[i].key, err);
        if (rc == 0 && i > 0 && bz_str_cmp(deps[i - 1].task, deps[i].task) >= 0)
            rc = bz_fail(err, BZ_E_INVAL, "line %u, column %u: tasks are out of order",
                         list->items[i].line, list->items[i].column);
    }
    t->deps = deps;
    t->ndeps = list->count;
    return rc;
}

static int read_task(struct line *l, const struct bz_doc *map, struct bz_err *err)
{
    struct bz_record_task t = {0};
    int64_t version = 0;
    int rc = bz_doc_get_int(map, "v", 1, INT64_MAX, &version, err);

    if (rc == 0 && version > BZ_RECORD_VERSION)
        rc = bz_fail(err, BZ_E_INVAL,
                     "version %" PRId64 " is not known; record it again", version);
    t.older = version < BZ_RECORD_VERSION;
    if (rc == 0)
        rc = bz_doc_get_str(map, "task", &t.name, err);
    if (rc == 0)
        rc = get_digest(map, "key", &t.key, err);
    if (rc == 0)
        rc = get_digest(map, "base", &t.base, err);
    if (rc == 0)
        rc = get_text(map, "machine", &t.machine, err);
    if (rc == 0)
        rc = get_text(map, "distro", &t.distro, err);
    if (rc == 0 && bz_doc_find(map, "policy")) /* older ones have none */
        rc = get_text(map, "policy", &t.policy, err);
    if (rc == 0 && bz_doc_find(map, "taint"))
        rc = get_text(map, "taint", &t.taint, err);
    if (rc == 0 && !t.older)
        rc = read_inputs(l, map, "fields", &t.fields, &t.nfields, err);
    if (rc == 0)
        rc = read_inputs(l, map, "inputs", &t.inputs, &t.ninputs, err);
    if (rc == 0)
        rc = read_inputs(l, map, "context", &t.context, &t.ncontext, err);
    if (rc == 0)
        rc = read_files(l, map, &t, err);
    if (rc == 0)
        rc = read_commits(l, map, &t, err);
    if (rc == 0)
        rc = read_deps(l, map, &t, err);
    if (rc == 0)
        bz_record_add(l->r, &t);
    return rc;
}

/* That a key is missing is the file's fault, and no answer that nothing is there. */
static int as_invalid(int rc, struct bz_err *err)
{
    if (rc == BZ_E_NOENT)
        err->code = rc = BZ_E_INVAL;
    return rc;
}

static int read_shared(struct line *l, const struct bz_doc *map, struct bz_err *err)
{
    const struct bz_record_input *in = NULL;
    int rc = read_input(l, map, &in, err);

    if (rc == 0)
        BZ_VEC_PUSH(&l->shared, (struct shared){in});
    return rc;
}

static int read_line(struct line *l, struct bz_str text, bool shared,
                     struct bz_err *err)
{
    static const struct bz_doc_limits limits = {.depth = 8};
    const struct bz_doc *doc = NULL;
    int rc;

    bz_arena_reset(&l->arena);
    rc = bz_json_parse(&l->arena, text, &limits, &doc, err);
    if (rc == 0)
        rc = shared ? read_shared(l, doc, err) : read_task(l, doc, err);
    return as_invalid(rc, err);
}

static int read_head(struct bz_str text, int64_t *inputs, int64_t *tasks,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    static const struct bz_doc_limits limits = {.bytes = 4096, .nodes = 64, .depth = 2};
    const struct bz_doc *doc = NULL;
    struct bz_str format = {0};
    int64_t version = 0;

    if (bz_json_parse(&arena, text, &limits, &doc, err) < 0 ||
        bz_doc_get_str(doc, "format", &format, err) < 0 ||
        !bz_str_eq(format, BZ_STR(BZ_RECORD_FORMAT)) ||
        bz_doc_get_int(doc, "version", 1, INT64_MAX, &version, err) < 0 ||
        bz_doc_get_int(doc, "tasks", 0, UINT32_MAX, tasks, err) < 0 ||
        if_there(bz_doc_get_int(doc, "inputs", 0, UINT32_MAX, inputs, err)) < 0)
        return bz_fail(err, BZ_E_INVAL,
                       "this is no record; write one with 'bitzel sig TARGET --record "
                       "FILE'");
    if (version > BZ_RECORD_VERSION)
        return bz_fail(err, BZ_E_INVAL,
                       "version %" PRId64
                       " of the format is not known; record it again with "
                       "this bitzel",
                       version);
    return 0;
}

static bool in_order(const struct bz_record *r)
{
    size_t n = r->tasks.len;

    return n < 2 || bz_str_cmp(r->tasks.at[n - 2].name, r->tasks.at[n - 1].name) < 0;
}

int bz_record_read(struct bz_record *r, struct bz_str text, const char *name,
                   struct bz_err *err)
{
    BZ_CLEANUP(line_release) struct line l = {.r = r};
    struct bz_str rest = text, line = {0};
    int64_t inputs = 0, tasks = 0, at = 0;
    int rc;

    bz_str_cut(rest, '\n', &line, &rest);
    rc = read_head(line, &inputs, &tasks, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s:1", name);
    while (rc == 0 && rest.n > 0) {
        bz_str_cut(rest, '\n', &line, &rest);
        at++;
        rc = read_line(&l, line, at <= inputs, err);
        if (rc == 0 && !in_order(r))
            rc = bz_fail(err, BZ_E_INVAL, "tasks are out of order");
    }
    if (rc < 0)
        return bz_err_wrap(err, "%s:%" PRId64, name, at + 1);
    if (at != inputs + tasks)
        return bz_fail(err, BZ_E_INVAL,
                       "%s: %" PRId64 " tasks of %" PRId64
                       " are there; the file is cut off or was "
                       "edited",
                       name, at < inputs ? 0 : at - inputs, tasks);
    return 0;
}

int bz_record_read_file(struct bz_record *r, const char *path, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *data = NULL;
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    size_t n = 0;
    int rc = bz_fs_open_file(AT_FDCWD, path, &fd, err);

    if (rc == 0)
        rc = bz_fs_read_fd(fd, path, BZ_RECORD_READ_MAX, &data, &n, err);
    return rc < 0 ? rc : bz_record_read(r, bz_str_of(data, n), path, err);
}
