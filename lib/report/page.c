#include "report/page.h"

#include <stdio.h>

#include "codec/digest.h"
#include "codec/jsonw.h"
#include "report/traffic.h"

#define KEY_DIGITS 16

/* The files of the page, as they are. */
#define PART(name, file)                                                               \
    __asm__(".pushsection .rodata\n"                                                   \
            "bz_page_" name ":\n"                                                      \
            ".incbin \"" BZ_PAGE_DIR "/" file "\"\n"                                   \
            "bz_page_" name "_end:\n"                                                  \
            ".balign 8\n"                                                              \
            "bz_page_" name "_size:\n"                                                 \
            ".quad bz_page_" name "_end - bz_page_" name "\n"                          \
            ".popsection\n")

PART("html", "page.html");
PART("css", "page.css");
PART("js", "page.js");

extern const char bz_page_html[], bz_page_css[], bz_page_js[];
extern const uint64_t bz_page_html_size, bz_page_css_size, bz_page_js_size;

/* ---- the data ---- */

/* Names that tasks share, each with a number. */
struct names {
    struct bz_map ids; /* text -> number, from 1 */
};

static int64_t number_of(struct names *n, struct bz_str text)
{
    struct bz_map_entry *it = bz_map_put(&n->ids, text);

    if (it->u == 0)
        it->u = n->ids.len;
    return (int64_t)it->u - 1;
}

static void put_words(struct bz_jsonw *w, const char *key, const struct names *n)
{
    bz_jsonw_list(bz_jsonw_key(w, key));
    for (const struct bz_map_entry *e = bz_map_next(&n->ids, NULL); e;
         e = bz_map_next(&n->ids, e))
        bz_jsonw_str(w, e->key);
    bz_jsonw_list_end(w);
}

/* One of the columns that tasks are told in: what to say about task i. */
typedef int64_t (*column_fn)(const struct bz_page *p, size_t i);

static int64_t tenths(int64_t ns)
{
    return ns / 100000; /* of milliseconds */
}

static int64_t column_state(const struct bz_page *p, size_t i)
{
    return p->account->tasks.at[i].state;
}

static int64_t column_start(const struct bz_page *p, size_t i)
{
    return tenths(p->account->tasks.at[i].start);
}

static int64_t column_took(const struct bz_page *p, size_t i)
{
    return tenths(p->account->tasks.at[i].end - p->account->tasks.at[i].start);
}

static int64_t column_slot(const struct bz_page *p, size_t i)
{
    return p->shape->slot[i] == BZ_SHAPE_NO_SLOT ? -1 : (int64_t)p->shape->slot[i];
}

static int64_t column_wave(const struct bz_page *p, size_t i)
{
    return p->shape->wave[i];
}

static int64_t column_cpu(const struct bz_page *p, size_t i)
{
    return tenths(p->account->tasks.at[i].cpu);
}

static int64_t column_memory(const struct bz_page *p, size_t i)
{
    return (int64_t)(p->account->tasks.at[i].memory >> 10);
}

static int64_t column_saved(const struct bz_page *p, size_t i)
{
    return tenths(p->account->tasks.at[i].saved);
}

static const struct {
    const char *key;
    column_fn fn;
} columns[] = {
    {"s", column_state },
    {"b", column_start },
    {"d", column_took  },
    {"l", column_slot  },
    {"w", column_wave  },
    {"c", column_cpu   },
    {"v", column_saved },
    {"m", column_memory},
};

static void put_columns(struct bz_jsonw *w, const struct bz_page *p)
{
    for (size_t c = 0; c < BZ_COUNTOF(columns); c++) {
        bz_jsonw_list(bz_jsonw_key(w, columns[c].key));
        for (size_t i = 0; i < p->account->tasks.len; i++)
            bz_jsonw_int(w, columns[c].fn(p, i));
        bz_jsonw_list_end(w);
    }
    bz_jsonw_list(bz_jsonw_key(w, "key"));
    for (size_t i = 0; i < p->account->tasks.len; i++) {
        struct bz_str key = p->account->tasks.at[i].key;

        bz_jsonw_str(w, bz_str_sub(key, 0, key.n < KEY_DIGITS ? key.n : KEY_DIGITS));
    }
    bz_jsonw_list_end(w);
}

/* A task's name is that of its recipe and that of its kind. */
static void put_task_names(struct bz_jsonw *w, const struct bz_account *a)
{
    struct names recipes = {0}, kinds = {0};

    bz_jsonw_list(bz_jsonw_key(w, "r"));
    for (size_t i = 0; i < a->tasks.len; i++)
        bz_jsonw_int(w, number_of(&recipes, a->tasks.at[i].recipe));
    bz_jsonw_list_end(w);
    bz_jsonw_list(bz_jsonw_key(w, "k"));
    for (size_t i = 0; i < a->tasks.len; i++)
        bz_jsonw_int(
            w, a->tasks.at[i].task.n > 0 ? number_of(&kinds, a->tasks.at[i].task) : -1);
    bz_jsonw_list_end(w);
    put_words(w, "recipes", &recipes);
    put_words(w, "kinds", &kinds);
    bz_map_release(&recipes.ids);
    bz_map_release(&kinds.ids);
}

static const char digits64[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Five bits a letter, the lowest first; the sixth says that more follow. */
static void add_number(struct bz_buf *out, uint64_t n)
{
    for (; n >= 32; n >>= 5)
        bz_buf_add_char(out, digits64[32 + n % 32]);
    bz_buf_add_char(out, digits64[n]);
}

static int by_number(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;

    return *a != *b ? (*a < *b ? -1 : 1) : 0;
}

/* For each task how many it waits for, how far below it the lowest is, doubled, and one
 * more if that is above it instead, and how far it is from each to the next. */
static void add_edges(struct bz_buf *out, const struct bz_dag *dag)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids ids = {0};

    for (uint32_t t = 0; t < dag->n && out->len <= BZ_PAGE_EDGES_MAX; t++) {
        BZ_VEC_CLEAR(&ids);
        for (uint32_t e = dag->start[t]; e < dag->start[t + 1]; e++)
            BZ_VEC_PUSH(&ids, dag->to[e]);
        BZ_VEC_SORT(&ids, by_number);
        add_number(out, ids.len);
        for (size_t i = 0; i < ids.len; i++)
            if (i > 0)
                add_number(out, ids.at[i] - ids.at[i - 1]);
            else if (ids.at[i] <= t)
                add_number(out, 2 * (uint64_t)(t - ids.at[i]));
            else
                add_number(out, 2 * (uint64_t)(ids.at[i] - t) + 1);
    }
}

static void put_edges(struct bz_jsonw *w, const struct bz_page *p)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    add_edges(&text, &p->shape->dag);
    if (text.len > BZ_PAGE_EDGES_MAX)
        bz_jsonw_null(bz_jsonw_key(w, "e"));
    else
        bz_jsonw_str(bz_jsonw_key(w, "e"), bz_buf_str(&text));
    bz_jsonw_list(bz_jsonw_key(w, "chain"));
    for (size_t i = 0; i < p->shape->chain.len; i++)
        bz_jsonw_int(w, p->shape->chain.at[i]);
    bz_jsonw_list_end(w);
}

/* Why tasks failed, by their numbers. */
static void put_failures(struct bz_jsonw *w, const struct bz_page *p)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    const struct bz_account *a = p->account;
    size_t next = 0;
    char id[24];

    bz_jsonw_map(bz_jsonw_key(w, "x"));
    for (size_t i = 0; i < a->tasks.len; i++) {
        const struct bz_account_task *t = &a->tasks.at[i];

        if (t->state != BZ_ACCOUNT_FAILED)
            continue;
        bz_buf_truncate(&text, 0);
        bz_account_failure(t, &text);
        while (next < p->nerrors && p->errors[next].task < i)
            next++;
        if (next < p->nerrors && p->errors[next].task == i)
            bz_buf_addf(&text, ": %.*s", BZ_STR_ARG(p->errors[next].line));
        snprintf(id, sizeof(id), "%zu", i);
        bz_jsonw_str(bz_jsonw_key(w, id), bz_buf_str(&text));
    }
    bz_jsonw_map_end(w);
}

/* Paths that tasks in no order have written differently. */
static void put_overlaps(struct bz_jsonw *w, const struct bz_account *a)
{
    bz_jsonw_list(bz_jsonw_key(w, "overlaps"));
    for (size_t i = 0; i < a->overlaps.len && i < BZ_PAGE_OVERLAPS_MAX; i++) {
        const struct bz_account_overlap *o = &a->overlaps.at[i];

        bz_jsonw_list(w);
        bz_jsonw_int(w, o->task);
        bz_jsonw_int(w, o->other);
        bz_jsonw_int(w, (int64_t)o->more);
        bz_jsonw_str(w, o->path);
        bz_jsonw_list_end(w);
    }
    bz_jsonw_list_end(w);
    bz_jsonw_int(bz_jsonw_key(w, "overlapping"), (int64_t)a->overlaps.len);
}

static void put_int(struct bz_jsonw *w, const char *key, int64_t n)
{
    bz_jsonw_int(bz_jsonw_key(w, key), n);
}

static void put_str(struct bz_jsonw *w, const char *key, struct bz_str text)
{
    bz_jsonw_str(bz_jsonw_key(w, key), text);
}

static void put_counts(struct bz_jsonw *w, const struct bz_event_counts *n)
{
    bz_jsonw_map(bz_jsonw_key(w, "counts"));
    put_int(w, "tasks", n->tasks);
    put_int(w, "executed", n->executed);
    put_int(w, "cached", n->cached);
    put_int(w, "failed", n->failed);
    put_int(w, "not_needed", n->unneeded);
    put_int(w, "noexec", n->noexec);
    put_int(w, "not_started", n->blocked);
    bz_jsonw_map_end(w);
}

static void put_build(struct bz_jsonw *w, const struct bz_page *p)
{
    const struct bz_account *a = p->account;
    const struct bz_shape *s = p->shape;

    put_str(w, "id", p->id);
    put_str(w, "result", p->result);
    put_str(w, "bitzel", a->version);
    put_str(w, "time", a->time);
    bz_jsonw_list(bz_jsonw_key(w, "targets"));
    for (size_t i = 0; i < a->targets.len; i++)
        bz_jsonw_str(w, a->targets.at[i]);
    bz_jsonw_list_end(w);
    put_int(w, "jobs", a->jobs);
    put_int(w, "took", a->took / 1000000);
    put_int(w, "busy", s->busy / 1000000);
    put_int(w, "cpu", s->cpu / 1000000);
    put_int(w, "saved", s->saved / 1000000);
    put_int(w, "memory", (int64_t)(s->memory >> 10));
    put_int(w, "memoryUsed", (int64_t)(a->memory_used >> 10));
    put_int(w, "slots", s->nslots);
    put_int(w, "waves", s->nwaves);
    put_int(w, "chainTook", s->chain_took / 1000000);
    put_counts(w, &a->counts);
    bz_jsonw_list(bz_jsonw_key(w, "states"));
    for (unsigned i = 0; i < BZ_ACCOUNT_STATES; i++)
        bz_jsonw_cstr(w, bz_account_state_name(i));
    bz_jsonw_list_end(w);
}

static void put_texts(struct bz_jsonw *w, const struct bz_page *p)
{
    put_str(w, "compared", p->compared);
    put_int(w, "fresh", (int64_t)p->fresh);
    bz_jsonw_list(bz_jsonw_key(w, "causes"));
    for (size_t i = 0; i < p->ncauses; i++) {
        bz_jsonw_list(w);
        bz_jsonw_str(w, p->causes[i].title);
        bz_jsonw_int(w, (int64_t)p->causes[i].reaches);
        bz_jsonw_list_end(w);
    }
    bz_jsonw_list_end(w);
    bz_jsonw_list(bz_jsonw_key(w, "logs"));
    for (size_t i = 0; i < p->nlogs; i++) {
        bz_jsonw_list(w);
        bz_jsonw_int(w, p->logs[i].task);
        bz_jsonw_str(w, p->logs[i].excerpt.text);
        bz_jsonw_bool(w, p->logs[i].excerpt.cut);
        bz_jsonw_list_end(w);
    }
    bz_jsonw_list_end(w);
}

/* Rows of numbers, with the text last. */
static void put_traffic(struct bz_jsonw *w, const struct bz_account *a)
{
    BZ_CLEANUP(bz_vec_release) struct bz_traffic rows = {0};

    bz_jsonw_list(bz_jsonw_key(w, "places"));
    for (size_t i = 0; i < a->places.len; i++) {
        const struct bz_account_place *p = &a->places.at[i];
        const uint64_t n[] = {p->hits,       p->misses,        p->bytes_read,
                              p->blobs_read, p->bytes_written, p->blobs_written};

        bz_jsonw_list(w);
        for (size_t k = 0; k < BZ_COUNTOF(n); k++)
            bz_jsonw_int(w, (int64_t)n[k]);
        bz_jsonw_str(w, bz_traffic_is_local(p) ? BZ_STR("local store") : p->name);
        bz_jsonw_list_end(w);
    }
    bz_jsonw_list_end(w);
    bz_traffic_downloads(&rows, a);
    bz_jsonw_list(bz_jsonw_key(w, "downloads"));
    for (size_t i = 0; i < rows.len && i < BZ_PAGE_ORIGINS_MAX; i++) {
        bz_jsonw_list(w);
        bz_jsonw_int(w, (int64_t)rows.at[i].bytes);
        bz_jsonw_int(w, (int64_t)rows.at[i].files);
        bz_jsonw_int(w, rows.at[i].took / 1000000);
        bz_jsonw_str(w, rows.at[i].from);
        bz_jsonw_list_end(w);
    }
    bz_jsonw_list_end(w);
}

/* A '<' stands only within texts, where it can be written so that no tag begins. */
static void put_data(const struct bz_page *p, struct bz_buf *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf json = {0};
    struct bz_jsonw w = bz_jsonw_to(&json, 0);
    struct bz_str rest, part;

    bz_jsonw_map(&w);
    put_build(&w, p);
    put_task_names(&w, p->account);
    put_columns(&w, p);
    put_edges(&w, p);
    put_failures(&w, p);
    put_overlaps(&w, p->account);
    put_traffic(&w, p->account);
    put_texts(&w, p);
    bz_jsonw_map_end(&w);
    rest = bz_buf_str(&json);
    while (bz_str_cut(rest, '<', &part, &rest)) {
        bz_buf_add_str(out, part);
        bz_buf_add_str(out, BZ_STR("\\u003c"));
    }
    bz_buf_add_str(out, part);
}

/* ---- the page ---- */

static void put_title(const struct bz_page *p, struct bz_buf *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    bz_buf_addf(&text, "Build %.*s", BZ_STR_ARG(p->id));
    for (size_t i = 0; i < text.len; i++)
        switch (text.data[i]) {
        case '<':
            bz_buf_add_str(out, BZ_STR("&lt;"));
            break;
        case '&':
            bz_buf_add_str(out, BZ_STR("&amp;"));
            break;
        default:
            bz_buf_add_char(out, text.data[i]);
        }
}

static void put_base64(const uint8_t *p, size_t n, struct bz_buf *out)
{
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)p[i] << 16;
        char four[] = "====";

        three |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
        three |= i + 2 < n ? (uint32_t)p[i + 2] : 0;
        for (unsigned k = 0; k < 4 && i + k < n + 1; k++)
            four[k] = digits64[three >> (18 - 6 * k) & 63];
        bz_buf_add(out, four, 4);
    }
}

/* Only these bytes may run, and decide how things look. */
static int put_policy(struct bz_buf *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    struct bz_digest js, css;
    int rc = bz_digest_hasher_new(&hasher, err);

    if (rc < 0)
        return rc;
    bz_digest_bytes(hasher, bz_page_js, bz_page_js_size, &js);
    bz_digest_bytes(hasher, bz_page_css, bz_page_css_size, &css);
    bz_buf_add_str(out, BZ_STR("default-src 'none'; base-uri 'none'; form-action "
                               "'none'; script-src 'sha256-"));
    put_base64(js.b, BZ_DIGEST_LEN, out);
    bz_buf_add_str(out, BZ_STR("'; style-src 'sha256-"));
    put_base64(css.b, BZ_DIGEST_LEN, out);
    bz_buf_add_char(out, '\'');
    return 0;
}

static int put_part(const struct bz_page *p, struct bz_str name, struct bz_buf *out,
                    struct bz_err *err)
{
    if (bz_str_eq(name, BZ_STR("csp")))
        return put_policy(out, err);
    if (bz_str_eq(name, BZ_STR("title")))
        put_title(p, out);
    else if (bz_str_eq(name, BZ_STR("css")))
        bz_buf_add(out, bz_page_css, bz_page_css_size);
    else if (bz_str_eq(name, BZ_STR("js")))
        bz_buf_add(out, bz_page_js, bz_page_js_size);
    else
        put_data(p, out);
    return 0;
}

int bz_page_write(const struct bz_page *p, struct bz_buf *out, struct bz_err *err)
{
    struct bz_str rest = bz_str_of(bz_page_html, bz_page_html_size);
    size_t at, end;

    while ((at = bz_str_find(rest, BZ_STR("{{"))) != BZ_STR_NONE) {
        int rc;

        bz_buf_add_str(out, bz_str_sub(rest, 0, at));
        rest = bz_str_drop(rest, at + 2);
        end = bz_str_find(rest, BZ_STR("}}"));
        BZ_ASSERT(end != BZ_STR_NONE);
        rc = put_part(p, bz_str_sub(rest, 0, end), out, err);
        if (rc < 0)
            return rc;
        rest = bz_str_drop(rest, end + 2);
    }
    bz_buf_add_str(out, rest);
    return 0;
}
