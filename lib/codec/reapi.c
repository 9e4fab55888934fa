#include "codec/reapi.h"

#include <reapi.pb-c.h>

#include "base/vec.h"
#include "codec/reapi_check.h"
#include "codec/reapi_name.h"

#define BUDGET_PER_BYTE 64
#define BUDGET_MAX ((size_t)512 << 20)

/* The last field of a sealed result: execution_metadata { auxiliary_metadata {
 * type_url, value } } with 32 bytes of value. Repeated, such a field is merged with the
 * one that holds the times, so it may stand at the end, after all that it covers. */
#define SEAL_TYPE "bitzel/seal-sha256"
static const char seal_head[] = "\x4a\x38\x5a\x36\x0a\x12" SEAL_TYPE "\x12\x20";
#define SEAL_HEAD (sizeof(seal_head) - 1)
#define SEAL_SIZE (SEAL_HEAD + BZ_DIGEST_LEN)

/* What protobuf-c allocates lies in the arena and is never freed alone. The budget
 * bounds the sum of all it ever asks for, and with it the work it does: it merges
 * repeated fields by copying, which takes time in the square of their number. */
struct budget {
    struct bz_arena *a;
    size_t left;
};

static void *budget_alloc(void *ctx, size_t n)
{
    struct budget *b = ctx;

    if (n > b->left)
        return NULL;
    b->left -= n;
    return bz_arena_alloc(b->a, n > 0 ? n : 1, _Alignof(max_align_t));
}

static void budget_free(void *ctx, void *p)
{
    (void)ctx;
    (void)p;
}

/* NULL on failure. */
static ProtobufCMessage *unpack(struct bz_arena *a,
                                const ProtobufCMessageDescriptor *type,
                                struct bz_str bytes, struct bz_err *err)
{
    ProtobufCMessage *m;
    struct budget budget = {a, 0};
    ProtobufCAllocator alloc = {budget_alloc, budget_free, &budget};

    if (bytes.n > BZ_REAPI_MESSAGE_MAX) {
        bz_fail(err, BZ_E_LIMIT, "%s of %zu bytes", type->short_name, bytes.n);
        return NULL;
    }
    budget.left = bytes.n * BUDGET_PER_BYTE + 4096;
    if (budget.left > BUDGET_MAX)
        budget.left = BUDGET_MAX;
    m = protobuf_c_message_unpack(type, &alloc, bytes.n,
                                  (const uint8_t *)(bytes.p ? bytes.p : ""));
    if (!m)
        bz_fail(err, BZ_E_CORRUPT, "not a %s message", type->short_name);
    return m;
}

static void pack(const ProtobufCMessage *m, struct bz_buf *out)
{
    size_t n = protobuf_c_message_get_packed_size(m);

    if (n == 0)
        return;
    protobuf_c_message_pack(m, (uint8_t *)bz_buf_reserve(out, n));
    bz_buf_commit(out, n);
}

static struct bz_str str_of(ProtobufCBinaryData b)
{
    return bz_str_of((const char *)b.data, b.len);
}

static ProtobufCBinaryData data_of(struct bz_str s)
{
    /* protobuf-c only reads it. */
    return (ProtobufCBinaryData){s.n, (uint8_t *)(uintptr_t)s.p};
}

/* Reading what is shared by all messages. */

static int read_digest(const Pb__Digest *d, struct bz_reapi_digest *out,
                       struct bz_err *err)
{
    if (!d)
        return bz_fail(err, BZ_E_CORRUPT, "no digest");
    if (bz_digest_parse(str_of(d->hash), &out->hash, err) < 0 ||
        bz_digest_is_zero(&out->hash))
        return bz_fail(err, BZ_E_CORRUPT, "not a SHA-256: '%.*s'",
                       BZ_STR_ARG(str_of(d->hash)));
    if (d->size_bytes < 0 || (uint64_t)d->size_bytes > BZ_REAPI_SIZE_MAX)
        return bz_fail(err, BZ_E_CORRUPT, "a blob of %lld bytes",
                       (long long)d->size_bytes);
    out->size = (uint64_t)d->size_bytes;
    return 0;
}

static int read_digest_if_any(const Pb__Digest *d, struct bz_reapi_digest *out,
                              struct bz_err *err)
{
    return d ? read_digest(d, out, err) : 0;
}

static int read_time(const Pb__Timestamp *t, struct bz_reapi_time *out,
                     struct bz_err *err)
{
    if (!t)
        return 0;
    if (t->nanos < 0 || t->nanos > BZ_REAPI_CHECK_NANOS)
        return bz_fail(err, BZ_E_CORRUPT, "a second has no %d nanoseconds", t->nanos);
    *out = (struct bz_reapi_time){.set = true, .s = t->seconds, .ns = t->nanos};
    return 0;
}

static int read_props(struct bz_arena *a, const Pb__NodeProperties *p,
                      struct bz_reapi_props *out, struct bz_err *err)
{
    int rc;

    if (!p)
        return 0;
    out->n = p->n_properties;
    out->at = BZ_ARENA_ARRAY(a, struct bz_reapi_prop, out->n);
    for (size_t i = 0; i < out->n; i++) {
        struct bz_reapi_prop *prop = &out->at[i];

        prop->name = str_of(p->properties[i]->name);
        prop->value = str_of(p->properties[i]->value);
        if (prop->name.n == 0 || !bz_reapi_check_utf8(prop->name) ||
            !bz_reapi_check_utf8(prop->value))
            return bz_fail(err, BZ_E_CORRUPT, "a property without a name or not UTF-8");
        if (i > 0 && bz_str_cmp(prop[-1].name, prop->name) >= 0)
            return bz_fail(err, BZ_E_CORRUPT, "property '%.*s' is not in order",
                           BZ_STR_ARG(prop->name));
    }
    rc = read_time(p->mtime, &out->mtime, err);
    if (rc < 0)
        return rc;
    if (p->unix_mode && p->unix_mode->value > BZ_REAPI_CHECK_MODE)
        return bz_fail(err, BZ_E_CORRUPT, "mode 0%o", p->unix_mode->value);
    out->has_mode = p->unix_mode != NULL;
    out->mode = out->has_mode ? p->unix_mode->value : 0;
    return 0;
}

/* Reading a directory. */

struct dir_reader {
    struct bz_arena *a;
    bool escaped;
};

/* From the text in the message to the bytes on disk. */
static int read_text(const struct dir_reader *r, struct bz_str text, struct bz_str *out,
                     struct bz_err *err)
{
    if (!bz_reapi_check_utf8(text))
        return bz_fail(err, BZ_E_CORRUPT, "a name that is not UTF-8");
    *out = text;
    if (r->escaped && bz_reapi_name_unescape(r->a, text, out, err) < 0)
        return bz_fail(err, BZ_E_CORRUPT, "name '%.*s': %s", BZ_STR_ARG(text),
                       err->msg);
    return 0;
}

/* One list of names, in the order of the texts in the message. `last` is the text
 * before this one. */
static int read_name(const struct dir_reader *r, ProtobufCBinaryData name,
                     struct bz_str *last, struct bz_str *out, struct bz_err *err)
{
    struct bz_str text = str_of(name);
    int rc = read_text(r, text, out, err);

    if (rc < 0)
        return rc;
    if (!bz_reapi_name_ok(*out))
        return bz_fail(err, BZ_E_CORRUPT, "'%.*s' names no entry of a directory",
                       BZ_STR_ARG(text));
    if (last->p && bz_str_cmp(*last, text) >= 0)
        return bz_fail(err, BZ_E_CORRUPT,
                       "'%.*s' is twice in a directory or not in "
                       "order",
                       BZ_STR_ARG(text));
    *last = text;
    return 0;
}

static int read_files(const struct dir_reader *r, const Pb__Directory *m,
                      struct bz_reapi_dir *out, struct bz_err *err)
{
    struct bz_str last = {0};

    out->nfiles = m->n_files;
    out->files = BZ_ARENA_ARRAY(r->a, struct bz_reapi_file, m->n_files);
    for (size_t i = 0; i < m->n_files; i++) {
        const Pb__FileNode *from = m->files[i];
        struct bz_reapi_file *to = &out->files[i];
        int rc = read_name(r, from->name, &last, &to->name, err);

        if (rc == 0)
            rc = read_digest(from->digest, &to->digest, err);
        if (rc == 0)
            rc = read_props(r->a, from->node_properties, &to->props, err);
        if (rc < 0)
            return rc;
        to->executable = from->is_executable;
    }
    return 0;
}

static int read_dirs(const struct dir_reader *r, const Pb__Directory *m,
                     struct bz_reapi_dir *out, struct bz_err *err)
{
    struct bz_str last = {0};

    out->ndirs = m->n_directories;
    out->dirs = BZ_ARENA_ARRAY(r->a, struct bz_reapi_subdir, m->n_directories);
    for (size_t i = 0; i < m->n_directories; i++) {
        const Pb__DirectoryNode *from = m->directories[i];
        struct bz_reapi_subdir *to = &out->dirs[i];
        int rc = read_name(r, from->name, &last, &to->name, err);

        if (rc == 0)
            rc = read_digest(from->digest, &to->digest, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_target(const struct dir_reader *r, ProtobufCBinaryData target,
                       struct bz_str *out, struct bz_err *err)
{
    int rc = read_text(r, str_of(target), out, err);

    if (rc == 0 && !bz_reapi_name_target_ok(*out))
        return bz_fail(err, BZ_E_CORRUPT, "'%.*s' is no target of a link",
                       BZ_STR_ARG(*out));
    return rc;
}

static int read_links(const struct dir_reader *r, const Pb__Directory *m,
                      struct bz_reapi_dir *out, struct bz_err *err)
{
    struct bz_str last = {0};

    out->nlinks = m->n_symlinks;
    out->links = BZ_ARENA_ARRAY(r->a, struct bz_reapi_link, m->n_symlinks);
    for (size_t i = 0; i < m->n_symlinks; i++) {
        const Pb__SymlinkNode *from = m->symlinks[i];
        struct bz_reapi_link *to = &out->links[i];
        int rc = read_name(r, from->name, &last, &to->name, err);

        if (rc == 0)
            rc = read_target(r, from->target, &to->target, err);
        if (rc == 0)
            rc = read_props(r->a, from->node_properties, &to->props, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Takes our own properties out of those of the directory. */
static int read_own(struct dir_reader *r, const Pb__Directory *m,
                    struct bz_reapi_dir *out, struct bz_err *err)
{
    int rc = read_props(r->a, m->node_properties, &out->props, err);
    struct bz_reapi_prop *at = out->props.at;
    size_t kept = 0;

    if (rc < 0)
        return rc;
    out->whiteouts = BZ_ARENA_ARRAY(r->a, struct bz_str, out->props.n);
    for (size_t i = 0; i < out->props.n; i++) {
        struct bz_str name = at[i].name, last = {0};

        if (bz_str_eq(name, BZ_STR(BZ_REAPI_ESCAPE))) {
            r->escaped = bz_str_eq(at[i].value, BZ_STR(BZ_REAPI_ESCAPE_KIND));
            if (!r->escaped)
                return bz_fail(err, BZ_E_CORRUPT, "names escaped as '%.*s'",
                               BZ_STR_ARG(at[i].value));
        } else if (bz_str_eq(name, BZ_STR(BZ_REAPI_OPAQUE))) {
            out->opaque = true;
        } else if (bz_str_cut_prefix(&name, BZ_STR(BZ_REAPI_WHITEOUT))) {
            /* Properties are sorted, so "escape" was before these. */
            rc = read_name(r, data_of(name), &last, &out->whiteouts[out->nwhiteouts++],
                           err);
            if (rc < 0)
                return rc;
        } else {
            at[kept++] = at[i];
        }
    }
    out->props.n = kept;
    return 0;
}

int bz_reapi_dir_decode(struct bz_arena *a, struct bz_str bytes,
                        struct bz_reapi_dir *out, struct bz_err *err)
{
    struct dir_reader r = {.a = a};
    const Pb__Directory *m;
    struct bz_str twice;
    int rc;

    *out = (struct bz_reapi_dir){0};
    m = (const Pb__Directory *)unpack(a, &pb__directory__descriptor, bytes, err);
    if (!m)
        return err->code;
    rc = read_own(&r, m, out, err);
    if (rc == 0)
        rc = read_files(&r, m, out, err);
    if (rc == 0)
        rc = read_dirs(&r, m, out, err);
    if (rc == 0)
        rc = read_links(&r, m, out, err);
    if (rc < 0)
        return rc;
    twice = bz_reapi_check_twice(out);
    if (twice.p)
        return bz_fail(err, BZ_E_CORRUPT, "'%.*s' is twice in a directory",
                       BZ_STR_ARG(twice));
    return 0;
}

/* Writing. The messages are built in an arena of their own. */

static Pb__Digest *make_digest(struct bz_arena *a, const struct bz_reapi_digest *d)
{
    Pb__Digest *m;
    char *hex;

    if (bz_reapi_digest_none(d))
        return NULL;
    m = BZ_ARENA_NEW(a, Pb__Digest);
    hex = bz_arena_alloc(a, BZ_DIGEST_HEX_LEN + 1, 1);
    pb__digest__init(m);
    bz_digest_hex(&d->hash, hex);
    m->hash = data_of(bz_str_of(hex, BZ_DIGEST_HEX_LEN));
    m->size_bytes = (int64_t)d->size;
    return m;
}

static Pb__Timestamp *make_time(struct bz_arena *a, struct bz_reapi_time t)
{
    Pb__Timestamp *m;

    if (!t.set)
        return NULL;
    m = BZ_ARENA_NEW(a, Pb__Timestamp);
    pb__timestamp__init(m);
    m->seconds = t.s;
    m->nanos = t.ns;
    return m;
}

static int cmp_props(const void *a, const void *b)
{
    const Pb__NodeProperty *const *x = a, *const *y = b;

    return bz_str_cmp(str_of((*x)->name), str_of((*y)->name));
}

static Pb__NodeProperties *make_props(struct bz_arena *a,
                                      const struct bz_reapi_props *p)
{
    Pb__NodeProperties *m;

    if (p->n == 0 && !p->mtime.set && !p->has_mode)
        return NULL;
    m = BZ_ARENA_NEW(a, Pb__NodeProperties);
    pb__node_properties__init(m);
    m->n_properties = p->n;
    m->properties = BZ_ARENA_ARRAY(a, Pb__NodeProperty *, p->n);
    for (size_t i = 0; i < p->n; i++) {
        m->properties[i] = BZ_ARENA_NEW(a, Pb__NodeProperty);
        pb__node_property__init(m->properties[i]);
        m->properties[i]->name = data_of(p->at[i].name);
        m->properties[i]->value = data_of(p->at[i].value);
    }
    bz_vec_sort(m->properties, p->n, sizeof(Pb__NodeProperty *), cmp_props);
    m->mtime = make_time(a, p->mtime);
    if (p->has_mode) {
        m->unix_mode = BZ_ARENA_NEW(a, Pb__UInt32Value);
        pb__uint32_value__init(m->unix_mode);
        m->unix_mode->value = p->mode;
    }
    return m;
}

struct dir_writer {
    struct bz_arena *a;
    bool escape;
};

static ProtobufCBinaryData make_text(const struct dir_writer *w, struct bz_str raw)
{
    return data_of(w->escape ? bz_reapi_name_escape(w->a, raw) : raw);
}

static int cmp_files(const void *a, const void *b)
{
    const Pb__FileNode *const *x = a, *const *y = b;

    return bz_str_cmp(str_of((*x)->name), str_of((*y)->name));
}

static int cmp_dirs(const void *a, const void *b)
{
    const Pb__DirectoryNode *const *x = a, *const *y = b;

    return bz_str_cmp(str_of((*x)->name), str_of((*y)->name));
}

static int cmp_links(const void *a, const void *b)
{
    const Pb__SymlinkNode *const *x = a, *const *y = b;

    return bz_str_cmp(str_of((*x)->name), str_of((*y)->name));
}

static void make_files(const struct dir_writer *w, const struct bz_reapi_dir *d,
                       Pb__Directory *m)
{
    m->n_files = d->nfiles;
    m->files = BZ_ARENA_ARRAY(w->a, Pb__FileNode *, d->nfiles);
    for (size_t i = 0; i < d->nfiles; i++) {
        Pb__FileNode *node = BZ_ARENA_NEW(w->a, Pb__FileNode);

        pb__file_node__init(node);
        node->name = make_text(w, d->files[i].name);
        node->digest = make_digest(w->a, &d->files[i].digest);
        node->is_executable = d->files[i].executable;
        node->node_properties = make_props(w->a, &d->files[i].props);
        m->files[i] = node;
    }
    bz_vec_sort(m->files, m->n_files, sizeof(Pb__FileNode *), cmp_files);
}

static void make_dirs(const struct dir_writer *w, const struct bz_reapi_dir *d,
                      Pb__Directory *m)
{
    m->n_directories = d->ndirs;
    m->directories = BZ_ARENA_ARRAY(w->a, Pb__DirectoryNode *, d->ndirs);
    for (size_t i = 0; i < d->ndirs; i++) {
        Pb__DirectoryNode *node = BZ_ARENA_NEW(w->a, Pb__DirectoryNode);

        pb__directory_node__init(node);
        node->name = make_text(w, d->dirs[i].name);
        node->digest = make_digest(w->a, &d->dirs[i].digest);
        m->directories[i] = node;
    }
    bz_vec_sort(m->directories, m->n_directories, sizeof(Pb__DirectoryNode *),
                cmp_dirs);
}

static Pb__SymlinkNode **make_links(const struct dir_writer *w,
                                    const struct bz_reapi_link *links, size_t n)
{
    Pb__SymlinkNode **nodes = BZ_ARENA_ARRAY(w->a, Pb__SymlinkNode *, n);

    for (size_t i = 0; i < n; i++) {
        nodes[i] = BZ_ARENA_NEW(w->a, Pb__SymlinkNode);
        pb__symlink_node__init(nodes[i]);
        nodes[i]->name = make_text(w, links[i].name);
        nodes[i]->target = make_text(w, links[i].target);
        nodes[i]->node_properties = make_props(w->a, &links[i].props);
    }
    bz_vec_sort(nodes, n, sizeof(Pb__SymlinkNode *), cmp_links);
    return nodes;
}

static void make_own(const struct dir_writer *w, const struct bz_reapi_dir *d,
                     Pb__Directory *m)
{
    struct bz_reapi_props all = d->props;

    all.at = BZ_ARENA_ARRAY(w->a, struct bz_reapi_prop, all.n + d->nwhiteouts + 2);
    for (size_t i = 0; i < all.n; i++)
        all.at[i] = d->props.at[i];
    if (w->escape)
        all.at[all.n++] = (struct bz_reapi_prop){BZ_STR(BZ_REAPI_ESCAPE),
                                                 BZ_STR(BZ_REAPI_ESCAPE_KIND)};
    if (d->opaque)
        all.at[all.n++] = (struct bz_reapi_prop){BZ_STR(BZ_REAPI_OPAQUE), BZ_STR("1")};
    for (size_t i = 0; i < d->nwhiteouts; i++) {
        struct bz_str text = str_of(make_text(w, d->whiteouts[i]));

        all.at[all.n++] = (struct bz_reapi_prop){
            bz_arena_printf(w->a, BZ_REAPI_WHITEOUT "%.*s", BZ_STR_ARG(text)),
            BZ_STR("1")};
    }
    m->node_properties = make_props(w->a, &all);
}

int bz_reapi_dir_encode(const struct bz_reapi_dir *dir, struct bz_buf *out,
                        struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct dir_writer w = {.a = &a};
    Pb__Directory m = PB__DIRECTORY__INIT;
    int rc = bz_reapi_check_dir(dir, &w.escape, err);

    if (rc < 0)
        return rc;
    make_files(&w, dir, &m);
    make_dirs(&w, dir, &m);
    m.n_symlinks = dir->nlinks;
    m.symlinks = make_links(&w, dir->links, dir->nlinks);
    make_own(&w, dir, &m);
    pack(&m.base, out);
    return 0;
}

/* Results. */

/* The times of a result and their places in the message. */
static const size_t when_at[BZ_REAPI_WHEN_COUNT] = {
    [BZ_REAPI_QUEUED] = offsetof(Pb__ExecutedActionMetadata, queued_timestamp),
    [BZ_REAPI_WORKER_START] =
        offsetof(Pb__ExecutedActionMetadata, worker_start_timestamp),
    [BZ_REAPI_WORKER_DONE] =
        offsetof(Pb__ExecutedActionMetadata, worker_completed_timestamp),
    [BZ_REAPI_FETCH_START] =
        offsetof(Pb__ExecutedActionMetadata, input_fetch_start_timestamp),
    [BZ_REAPI_FETCH_DONE] =
        offsetof(Pb__ExecutedActionMetadata, input_fetch_completed_timestamp),
    [BZ_REAPI_RUN_START] =
        offsetof(Pb__ExecutedActionMetadata, execution_start_timestamp),
    [BZ_REAPI_RUN_DONE] =
        offsetof(Pb__ExecutedActionMetadata, execution_completed_timestamp),
    [BZ_REAPI_UPLOAD_START] =
        offsetof(Pb__ExecutedActionMetadata, output_upload_start_timestamp),
    [BZ_REAPI_UPLOAD_DONE] =
        offsetof(Pb__ExecutedActionMetadata, output_upload_completed_timestamp),
};

static Pb__Timestamp **when_of(Pb__ExecutedActionMetadata *m, size_t i)
{
    return (Pb__Timestamp **)(void *)((char *)m + when_at[i]);
}

static int read_outfiles(struct bz_arena *a, const Pb__ActionResult *m,
                         struct bz_reapi_result *out, struct bz_err *err)
{
    out->nfiles = m->n_output_files;
    out->files = BZ_ARENA_ARRAY(a, struct bz_reapi_outfile, out->nfiles);
    for (size_t i = 0; i < out->nfiles; i++) {
        const Pb__OutputFile *from = m->output_files[i];
        struct bz_reapi_outfile *to = &out->files[i];
        int rc = read_digest(from->digest, &to->digest, err);

        if (rc == 0)
            rc = read_props(a, from->node_properties, &to->props, err);
        if (rc < 0)
            return rc;
        to->path = str_of(from->path);
        to->contents = str_of(from->contents);
        to->executable = from->is_executable;
    }
    return 0;
}

static int read_outdirs(struct bz_arena *a, const Pb__ActionResult *m,
                        struct bz_reapi_result *out, struct bz_err *err)
{
    out->ndirs = m->n_output_directories;
    out->dirs = BZ_ARENA_ARRAY(a, struct bz_reapi_outdir, out->ndirs);
    for (size_t i = 0; i < out->ndirs; i++) {
        const Pb__OutputDirectory *from = m->output_directories[i];
        struct bz_reapi_outdir *to = &out->dirs[i];
        int rc = read_digest_if_any(from->tree_digest, &to->tree, err);

        if (rc == 0)
            rc = read_digest_if_any(from->root_directory_digest, &to->root, err);
        if (rc < 0)
            return rc;
        to->path = str_of(from->path);
        to->sorted = from->is_topologically_sorted;
    }
    return 0;
}

static int read_outlinks(struct bz_arena *a, Pb__SymlinkNode *const *from, size_t n,
                         struct bz_reapi_result *out, struct bz_err *err)
{
    for (size_t i = 0; i < n; i++) {
        struct bz_reapi_link *to = &out->links[out->nlinks++];
        int rc = read_props(a, from[i]->node_properties, &to->props, err);

        if (rc < 0)
            return rc;
        to->name = str_of(from[i]->name);
        to->target = str_of(from[i]->target);
    }
    return 0;
}

/* The two older fields say the same as the newer one, if that is there. */
static int read_all_outlinks(struct bz_arena *a, const Pb__ActionResult *m,
                             struct bz_reapi_result *out, struct bz_err *err)
{
    size_t older = m->n_output_file_symlinks + m->n_output_directory_symlinks;
    int rc;

    out->links = BZ_ARENA_ARRAY(a, struct bz_reapi_link, older + m->n_output_symlinks);
    if (m->n_output_symlinks > 0)
        return read_outlinks(a, m->output_symlinks, m->n_output_symlinks, out, err);
    rc = read_outlinks(a, m->output_file_symlinks, m->n_output_file_symlinks, out, err);
    if (rc < 0)
        return rc;
    return read_outlinks(a, m->output_directory_symlinks,
                         m->n_output_directory_symlinks, out, err);
}

static int read_metadata(struct bz_arena *a, Pb__ExecutedActionMetadata *m,
                         struct bz_reapi_result *out, struct bz_err *err)
{
    if (!m)
        return 0;
    out->worker = str_of(m->worker);
    for (size_t i = 0; i < BZ_REAPI_WHEN_COUNT; i++) {
        int rc = read_time(*when_of(m, i), &out->when[i], err);

        if (rc < 0)
            return rc;
    }
    out->aux = BZ_ARENA_ARRAY(a, struct bz_reapi_aux, m->n_auxiliary_metadata);
    for (size_t i = 0; i < m->n_auxiliary_metadata; i++) {
        const Pb__Any *any = m->auxiliary_metadata[i];

        if (!bz_str_eq(str_of(any->type_url), BZ_STR(SEAL_TYPE)))
            out->aux[out->naux++] =
                (struct bz_reapi_aux){str_of(any->type_url), str_of(any->value)};
    }
    return 0;
}

static int read_seal(struct bz_str bytes, struct bz_digest_hasher *h, bool *sealed,
                     struct bz_err *err)
{
    struct bz_digest d;
    size_t body = bytes.n - SEAL_SIZE;

    *sealed = bytes.n >= SEAL_SIZE && memcmp(bytes.p + body, seal_head, SEAL_HEAD) == 0;
    if (!*sealed)
        return 0;
    bz_digest_bytes(h, bytes.p, body, &d);
    if (memcmp(bytes.p + body + SEAL_HEAD, d.b, sizeof(d.b)) != 0)
        return bz_fail(err, BZ_E_CORRUPT, "an action result with a wrong seal");
    return 0;
}

int bz_reapi_result_decode(struct bz_arena *a, struct bz_str bytes,
                           struct bz_digest_hasher *h, struct bz_reapi_result *out,
                           struct bz_err *err)
{
    const Pb__ActionResult *m;
    int rc;

    *out = (struct bz_reapi_result){0};
    m = (const Pb__ActionResult *)unpack(a, &pb__action_result__descriptor, bytes, err);
    if (!m)
        return err->code;
    rc = read_seal(bytes, h, &out->sealed, err);
    if (rc < 0)
        return rc;
    out->exit_code = m->exit_code;
    out->out_raw = str_of(m->stdout_raw);
    out->err_raw = str_of(m->stderr_raw);
    rc = read_digest_if_any(m->stdout_digest, &out->out, err);
    if (rc == 0)
        rc = read_digest_if_any(m->stderr_digest, &out->error, err);
    if (rc == 0)
        rc = read_outfiles(a, m, out, err);
    if (rc == 0)
        rc = read_outdirs(a, m, out, err);
    if (rc == 0)
        rc = read_all_outlinks(a, m, out, err);
    if (rc == 0)
        rc = read_metadata(a, m->execution_metadata, out, err);
    if (rc == 0 && bz_reapi_check_result(out, err) < 0)
        rc = err->code = BZ_E_CORRUPT;
    return rc;
}

static void make_outfiles(struct bz_arena *a, const struct bz_reapi_result *r,
                          Pb__ActionResult *m)
{
    m->n_output_files = r->nfiles;
    m->output_files = BZ_ARENA_ARRAY(a, Pb__OutputFile *, r->nfiles);
    for (size_t i = 0; i < r->nfiles; i++) {
        Pb__OutputFile *to = BZ_ARENA_NEW(a, Pb__OutputFile);

        pb__output_file__init(to);
        to->path = data_of(r->files[i].path);
        to->digest = make_digest(a, &r->files[i].digest);
        to->is_executable = r->files[i].executable;
        to->contents = data_of(r->files[i].contents);
        to->node_properties = make_props(a, &r->files[i].props);
        m->output_files[i] = to;
    }
}

static void make_outdirs(struct bz_arena *a, const struct bz_reapi_result *r,
                         Pb__ActionResult *m)
{
    m->n_output_directories = r->ndirs;
    m->output_directories = BZ_ARENA_ARRAY(a, Pb__OutputDirectory *, r->ndirs);
    for (size_t i = 0; i < r->ndirs; i++) {
        Pb__OutputDirectory *to = BZ_ARENA_NEW(a, Pb__OutputDirectory);

        pb__output_directory__init(to);
        to->path = data_of(r->dirs[i].path);
        to->tree_digest = make_digest(a, &r->dirs[i].tree);
        to->root_directory_digest = make_digest(a, &r->dirs[i].root);
        to->is_topologically_sorted = r->dirs[i].sorted;
        m->output_directories[i] = to;
    }
}

static void make_metadata(struct bz_arena *a, const struct bz_reapi_result *r,
                          Pb__ExecutedActionMetadata *m)
{
    pb__executed_action_metadata__init(m);
    m->worker = data_of(r->worker);
    for (size_t i = 0; i < BZ_REAPI_WHEN_COUNT; i++)
        *when_of(m, i) = make_time(a, r->when[i]);
    m->n_auxiliary_metadata = r->naux;
    m->auxiliary_metadata = BZ_ARENA_ARRAY(a, Pb__Any *, r->naux);
    for (size_t i = 0; i < r->naux; i++) {
        m->auxiliary_metadata[i] = BZ_ARENA_NEW(a, Pb__Any);
        pb__any__init(m->auxiliary_metadata[i]);
        m->auxiliary_metadata[i]->type_url = data_of(r->aux[i].type);
        m->auxiliary_metadata[i]->value = data_of(r->aux[i].value);
    }
}

int bz_reapi_result_encode(const struct bz_reapi_result *r, struct bz_digest_hasher *h,
                           struct bz_buf *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct dir_writer w = {.a = &a};
    Pb__ActionResult m = PB__ACTION_RESULT__INIT;
    Pb__ExecutedActionMetadata meta;
    struct bz_digest d;
    size_t start = out->len;
    int rc = bz_reapi_check_result(r, err);

    if (rc < 0)
        return rc;
    make_outfiles(&a, r, &m);
    make_outdirs(&a, r, &m);
    m.n_output_symlinks = r->nlinks;
    m.output_symlinks = make_links(&w, r->links, r->nlinks);
    m.exit_code = r->exit_code;
    m.stdout_raw = data_of(r->out_raw);
    m.stderr_raw = data_of(r->err_raw);
    m.stdout_digest = make_digest(&a, &r->out);
    m.stderr_digest = make_digest(&a, &r->error);
    make_metadata(&a, r, &meta);
    m.execution_metadata = &meta;
    pack(&m.base, out);
    bz_digest_bytes(h, out->data + start, out->len - start, &d);
    bz_buf_add(out, seal_head, SEAL_HEAD);
    bz_buf_add(out, d.b, sizeof(d.b));
    return 0;
}
