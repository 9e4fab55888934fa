#include "sig/record.h"

#include "codec/jsonw.h"
#include "codec/utf8.h"

void bz_record_release(struct bz_record *r)
{
    bz_map_release(&r->texts);
    bz_map_release(&r->inputs);
    bz_map_release(&r->quick);
    bz_vec_release(&r->tasks);
    bz_arena_release(&r->arena);
    *r = (struct bz_record){0};
}

struct bz_str bz_record_text(struct bz_record *r, struct bz_str text)
{
    uint32_t before = r->texts.len;
    struct bz_map_entry *e;

    if (!text.p)
        return text;
    e = bz_map_put(&r->texts, text);
    if (r->texts.len > before)
        e->key = bz_arena_dup(&r->arena, text);
    return e->key;
}

/* ---- writing ---- */

static void write_digest(struct bz_jsonw *w, const char *key, const struct bz_digest *d)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(d, hex);
    bz_jsonw_cstr(bz_jsonw_key(w, key), hex);
}

static void write_op(struct bz_jsonw *w, const struct bz_record_op *op)
{
    struct bz_buf at = {0};
    char hex[17];

    bz_buf_addf(&at, "%.*s:%u", BZ_STR_ARG(op->file), op->line);
    for (unsigned i = 0; i < 16; i++)
        hex[i] = "0123456789abcdef"[op->text >> (60 - 4 * i) & 15];
    hex[16] = '\0';
    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "at"), bz_buf_str(&at));
    bz_jsonw_str(bz_jsonw_key(w, "op"), op->op);
    if (op->flag.n > 0)
        bz_jsonw_str(bz_jsonw_key(w, "flag"), op->flag);
    bz_jsonw_cstr(bz_jsonw_key(w, "text"), hex);
    if (op->off)
        bz_jsonw_bool(bz_jsonw_key(w, "off"), true);
    bz_jsonw_map_end(w);
    bz_buf_release(&at);
}

static void write_names(struct bz_jsonw *w, const char *key, const struct bz_str *names,
                        size_t n)
{
    if (n == 0)
        return;
    bz_jsonw_list(bz_jsonw_key(w, key));
    for (size_t i = 0; i < n; i++)
        bz_jsonw_str(w, names[i]);
    bz_jsonw_list_end(w);
}

static void write_input(struct bz_jsonw *w, const struct bz_record_input *in)
{
    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "name"), in->name);
    write_digest(w, "digest", &in->digest);
    bz_jsonw_key(w, "value");
    if (in->value.p)
        bz_jsonw_str(w, in->value);
    else
        bz_jsonw_null(w);
    if (in->size > 0)
        bz_jsonw_int(bz_jsonw_key(w, "size"), (int64_t)in->size);
    bz_jsonw_list(bz_jsonw_key(w, "set"));
    for (size_t i = 0; i < in->nops; i++)
        write_op(w, &in->ops[i]);
    bz_jsonw_list_end(w);
    write_names(w, "uses", in->uses, in->nuses);
    write_names(w, "leads", in->leads, in->nleads);
    bz_jsonw_map_end(w);
}

/* What tells an input from the others of its record. */
static uint64_t place_of(const struct bz_record_input *in)
{
    return (uint64_t)(uintptr_t)in;
}

/* Inputs are JSON already. With `places` their numbers stand for them. */
static void write_inputs(struct bz_buf *out, const char *key,
                         const struct bz_record_input *const *all, size_t n,
                         const struct bz_map *places)
{
    bz_buf_addf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            bz_buf_add_char(out, ',');
        if (places)
            bz_buf_addf(
                out, "%llu",
                (unsigned long long)bz_map_get_u64(places, place_of(all[i]))->u);
        else
            bz_buf_add_str(out, all[i]->json);
    }
    bz_buf_add_char(out, ']');
}

static void write_files(struct bz_jsonw *w, const struct bz_record_task *t)
{
    bz_jsonw_list(w);
    for (size_t i = 0; i < t->nfiles; i++) {
        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "name"), t->files[i].name);
        if (t->files[i].present)
            write_digest(w, "digest", &t->files[i].digest);
        else
            bz_jsonw_null(bz_jsonw_key(w, "digest"));
        if (t->files[i].executable)
            bz_jsonw_bool(bz_jsonw_key(w, "executable"), true);
        if (t->files[i].mode > 0)
            bz_jsonw_int(bz_jsonw_key(w, "mode"), t->files[i].mode);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void write_commits(struct bz_jsonw *w, const struct bz_record_task *t)
{
    bz_jsonw_list(w);
    for (size_t i = 0; i < t->ncommits; i++) {
        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "revision"), t->commits[i].question);
        bz_jsonw_str(bz_jsonw_key(w, "commit"), t->commits[i].commit);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void write_deps(struct bz_jsonw *w, const struct bz_record_task *t)
{
    bz_jsonw_list(w);
    for (size_t i = 0; i < t->ndeps; i++) {
        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "task"), t->deps[i].task);
        write_digest(w, "key", &t->deps[i].key);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void write_text(struct bz_buf *out, const char *key, struct bz_str text)
{
    struct bz_jsonw w = bz_jsonw_to(out, 0);

    bz_buf_addf(out, ",\"%s\":", key);
    if (text.p)
        bz_jsonw_str(&w, text);
    else
        bz_jsonw_null(&w);
}

static void write_task(const struct bz_record_task *t, const struct bz_map *places,
                       struct bz_buf *out)
{
    struct bz_jsonw w = bz_jsonw_to(out, 0);
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_buf_addf(out, "{\"v\":%d", t->older ? 1 : BZ_RECORD_VERSION);
    write_text(out, "task", t->name);
    bz_digest_hex(&t->key, hex);
    write_text(out, "key", bz_str_from(hex));
    bz_digest_hex(&t->base, hex);
    write_text(out, "base", bz_str_from(hex));
    write_text(out, "machine", t->machine);
    write_text(out, "distro", t->distro);
    write_text(out, "policy", t->policy);
    if (t->taint.p)
        write_text(out, "taint", t->taint);
    if (!t->older)
        write_inputs(out, "fields", t->fields, t->nfields, places);
    write_inputs(out, "inputs", t->inputs, t->ninputs, places);
    write_inputs(out, "context", t->context, t->ncontext, places);
    bz_buf_add_str(out, BZ_STR(",\"files\":"));
    write_files(&w, t);
    if (t->ncommits > 0) {
        bz_buf_add_str(out, BZ_STR(",\"commits\":"));
        write_commits(&w, t);
    }
    bz_buf_add_str(out, BZ_STR(",\"deps\":"));
    write_deps(&w, t);
    bz_buf_add_str(out, BZ_STR("}\n"));
}

static void write_head(struct bz_buf *out, size_t inputs, size_t tasks)
{
    struct bz_jsonw w = bz_jsonw_to(out, 0);

    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "format"), BZ_RECORD_FORMAT);
    bz_jsonw_int(bz_jsonw_key(&w, "version"), BZ_RECORD_VERSION);
    if (inputs > 0)
        bz_jsonw_int(bz_jsonw_key(&w, "inputs"), (int64_t)inputs);
    bz_jsonw_int(bz_jsonw_key(&w, "tasks"), (int64_t)tasks);
    bz_jsonw_map_end(&w);
    bz_buf_add_char(out, '\n');
}

/* Gives each input that is new its number, and writes it. */
static void list_inputs(struct bz_map *places, const struct bz_record_input *const *all,
                        size_t n, struct bz_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t before = places->len;
        struct bz_map_entry *e = bz_map_put_u64(places, place_of(all[i]));

        if (places->len == before)
            continue;
        e->u = before;
        bz_buf_add_str(out, all[i]->json);
        bz_buf_add_char(out, '\n');
    }
}

void bz_record_pack(const struct bz_record *r, size_t first, size_t n,
                    struct bz_buf *out)
{
    BZ_CLEANUP(bz_map_release) struct bz_map places = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf inputs = {0};

    for (size_t i = first; i < first + n; i++) {
        const struct bz_record_task *t = &r->tasks.at[i];

        list_inputs(&places, t->fields, t->nfields, &inputs);
        list_inputs(&places, t->inputs, t->ninputs, &inputs);
        list_inputs(&places, t->context, t->ncontext, &inputs);
    }
    write_head(out, places.len, n);
    bz_buf_add_str(out, bz_buf_str(&inputs));
    for (size_t i = first; i < first + n; i++)
        write_task(&r->tasks.at[i], &places, out);
}

void bz_record_write(const struct bz_record *r, struct bz_buf *out)
{
    write_head(out, 0, r->tasks.len);
    for (size_t i = 0; i < r->tasks.len; i++)
        write_task(&r->tasks.at[i], NULL, out);
}

/* ---- filling ---- */

/* No more than is kept, and whole characters. */
static struct bz_str cut_value(struct bz_str value)
{
    size_t n = BZ_RECORD_VALUE_MAX;

    if (value.n <= n)
        return value;
    while (n > BZ_RECORD_VALUE_MAX - 4 && ((unsigned char)value.p[n] & 0xc0) == 0x80)
        n--;
    return bz_str_of(value.p, n);
}

/* JSON holds only UTF-8: what is kept must be what a reader will find. */
static struct bz_str clean_text(struct bz_record *r, struct bz_str text)
{
    struct bz_buf clean = {0};
    struct bz_str kept;

    if (!text.p || (bz_utf8_valid(text) == text.n && !memchr(text.p, '\0', text.n)))
        return bz_record_text(r, text);
    for (size_t i = 0; i < text.n;) {
        size_t n = bz_utf8_len(text.p + i, text.n - i);

        if (n == 0 || text.p[i] == '\0')
            bz_buf_add_str(&clean, BZ_STR("\xef\xbf\xbd"));
        else
            bz_buf_add(&clean, text.p + i, n);
        i += n ? n : 1;
    }
    kept = bz_record_text(r, bz_buf_str(&clean));
    bz_buf_release(&clean);
    return kept;
}

static const struct bz_str *copy_names(struct bz_record *r, const struct bz_str *names,
                                       size_t n)
{
    struct bz_str *own = BZ_ARENA_ARRAY(&r->arena, struct bz_str, n);

    for (size_t i = 0; i < n; i++)
        own[i] = clean_text(r, names[i]);
    return own;
}

static struct bz_record_input *copy_input(struct bz_record *r,
                                          const struct bz_record_input *in)
{
    struct bz_record_input *own = BZ_ARENA_NEW(&r->arena, struct bz_record_input);
    struct bz_record_op *ops = BZ_ARENA_ARRAY(&r->arena, struct bz_record_op, in->nops);

    *own = *in;
    own->name = clean_text(r, in->name);
    own->value = clean_text(r, in->value);
    for (size_t i = 0; i < in->nops; i++) {
        ops[i] = in->ops[i];
        ops[i].file = clean_text(r, ops[i].file);
        ops[i].op = clean_text(r, ops[i].op);
        ops[i].flag = clean_text(r, ops[i].flag);
    }
    own->ops = ops;
    own->uses = copy_names(r, in->uses, in->nuses);
    own->leads = copy_names(r, in->leads, in->nleads);
    return own;
}

static uint64_t hash_input(const struct bz_record_input *in)
{
    uint64_t hash;

    memcpy(&hash, &in->digest, sizeof(hash));
    for (size_t i = 0; i < in->nops; i++)
        hash = bz_map_hash_u64(hash ^ in->ops[i].text) + in->ops[i].line;
    return hash + (in->nuses << 8) + in->nleads;
}

static bool same_names(const struct bz_str *a, const struct bz_str *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!bz_str_eq(a[i], b[i]))
            return false;
    return true;
}

static bool same_ops(const struct bz_record_op *a, const struct bz_record_op *b,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].line != b[i].line || a[i].text != b[i].text || a[i].off != b[i].off ||
            !bz_str_eq(a[i].file, b[i].file) || !bz_str_eq(a[i].op, b[i].op) ||
            !bz_str_eq(a[i].flag, b[i].flag))
            return false;
    return true;
}

/* What is not set is not the empty text. */
static bool same_value(struct bz_str own, struct bz_str in)
{
    if (!own.p || !in.p)
        return own.p == in.p;
    return in.n <= BZ_RECORD_VALUE_MAX && bz_str_eq(own, in);
}

/* Whether an input would be kept as `own`. False also if it has to be cut or cleaned.
 */
static bool same_input(const struct bz_record_input *own,
                       const struct bz_record_input *in)
{
    return own->nops == in->nops && own->nuses == in->nuses &&
           own->nleads == in->nleads && own->size == in->size &&
           bz_digest_eq(&own->digest, &in->digest) && bz_str_eq(own->name, in->name) &&
           same_value(own->value, in->value) && same_ops(own->ops, in->ops, in->nops) &&
           same_names(own->uses, in->uses, in->nuses) &&
           same_names(own->leads, in->leads, in->nleads);
}

/* The one copy of an input, found by its text. */
static struct bz_record_input *keep_input(struct bz_record *r,
                                          const struct bz_record_input *in)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 0);
    struct bz_record_input cut = *in, *own;
    uint32_t before = r->inputs.len;
    struct bz_map_entry *e;

    cut.value = cut_value(clean_text(r, in->value));
    if (cut.size == 0 && in->value.n > BZ_RECORD_VALUE_MAX)
        cut.size = in->value.n;
    write_input(&w, &cut);
    e = bz_map_put(&r->inputs, bz_buf_str(&text));
    if (r->inputs.len == before)
        return e->p;
    e->key = bz_arena_dup(&r->arena, bz_buf_str(&text));
    own = copy_input(r, &cut);
    own->json = e->key;
    e->p = own;
    return own;
}

/* Most inputs are those of tasks before: these need not be written to be found. */
const struct bz_record_input *bz_record_input(struct bz_record *r,
                                              const struct bz_record_input *in)
{
    uint64_t hash = hash_input(in);
    struct bz_map_entry *e = bz_map_get_u64(&r->quick, hash);
    struct bz_record_input *own;

    if (e && same_input(e->p, in))
        return e->p;
    own = keep_input(r, in);
    if (!e)
        bz_map_put_u64(&r->quick, hash)->p = own;
    return own;
}

static const struct bz_record_input *const *
copy_list(struct bz_record *r, const struct bz_record_input *const *all, size_t n)
{
    const struct bz_record_input **own =
        BZ_ARENA_ARRAY(&r->arena, const struct bz_record_input *, n);

    for (size_t i = 0; i < n; i++)
        own[i] = all[i];
    return own;
}

void bz_record_add(struct bz_record *r, const struct bz_record_task *task)
{
    struct bz_record_task own = *task;
    struct bz_record_file *files =
        BZ_ARENA_ARRAY(&r->arena, struct bz_record_file, own.nfiles);
    struct bz_record_dep *deps =
        BZ_ARENA_ARRAY(&r->arena, struct bz_record_dep, own.ndeps);
    struct bz_record_commit *commits =
        BZ_ARENA_ARRAY(&r->arena, struct bz_record_commit, own.ncommits);

    for (size_t i = 0; i < own.ncommits; i++)
        commits[i] = (struct bz_record_commit){clean_text(r, task->commits[i].question),
                                               clean_text(r, task->commits[i].commit)};
    for (size_t i = 0; i < own.nfiles; i++) {
        files[i] = task->files[i];
        files[i].name = clean_text(r, files[i].name);
    }
    for (size_t i = 0; i < own.ndeps; i++) {
        deps[i] = task->deps[i];
        deps[i].task = clean_text(r, deps[i].task);
    }
    own.name = clean_text(r, own.name);
    own.machine = clean_text(r, own.machine);
    own.distro = clean_text(r, own.distro);
    own.policy = clean_text(r, own.policy);
    own.taint = clean_text(r, own.taint);
    own.fields = copy_list(r, task->fields, task->nfields);
    own.inputs = copy_list(r, task->inputs, task->ninputs);
    own.context = copy_list(r, task->context, task->ncontext);
    own.commits = commits;
    own.files = files;
    own.deps = deps;
    BZ_VEC_PUSH(&r->tasks, own);
}

static int by_name(const void *a, const void *b)
{
    const struct bz_record_task *x = a, *y = b;

    return bz_str_cmp(x->name, y->name);
}

void bz_record_sort(struct bz_record *r)
{
    BZ_VEC_SORT(&r->tasks, by_name);
}

const struct bz_record_task *bz_record_find(const struct bz_record *r,
                                            struct bz_str name)
{
    size_t low = 0, high = r->tasks.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = bz_str_cmp(r->tasks.at[middle].name, name);

        if (order == 0)
            return &r->tasks.at[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
