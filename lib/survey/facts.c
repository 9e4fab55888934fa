#include "survey/facts.h"

#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "os/path.h"
#include "survey/place.h"
#include "survey/pyfunc.h"

void bz_facts_release(struct bz_facts_keep *keep)
{
    bz_map_release(&keep->texts);
    bz_map_release(&keep->lists);
    bz_arena_release(&keep->arena);
}

struct bz_str bz_facts_text(struct bz_facts_keep *keep, struct bz_str text)
{
    struct bz_map_entry *it;

    if (!text.p)
        return text;
    if (text.n == 0)
        return BZ_STR("");
    it = bz_map_put(&keep->texts, text);
    if (it->u == 0) {
        it->u = 1;
        it->key = bz_arena_dup(&keep->arena, text);
    }
    return it->key;
}

/* One evaluation: where to read, where to keep, and whether it went well so far. */
struct reading {
    struct bz_facts_keep *keep;
    struct bz_meta *m;
    struct bz_buf text; /* for lists under way */
    struct bz_err *err;
    int rc;
};

static struct bz_str get(struct reading *r, struct bz_str name)
{
    struct bz_str value = {0};

    if (r->rc == 0)
        r->rc = bz_vars_get(r->m->vars, name, 0, &value, r->err);
    return r->rc == 0 && value.p ? value : BZ_STR("");
}

static struct bz_str text(struct reading *r, const char *name)
{
    return bz_facts_text(r->keep, get(r, bz_str_from(name)));
}

/* Adds a word to the list in `text`. */
static void add_word(struct bz_buf *text, struct bz_str word)
{
    if (text->len > 0)
        bz_buf_add_char(text, ' ');
    bz_buf_add_str(text, word);
}

static struct bz_str take_words(struct reading *r)
{
    struct bz_str words = bz_facts_text(r->keep, bz_str_from(bz_buf_text(&r->text)));

    bz_buf_truncate(&r->text, 0);
    return words;
}

static struct bz_str words_of(struct reading *r, struct bz_str list)
{
    struct bz_str word;

    while (bz_str_next_word(&list, &word))
        add_word(&r->text, word);
    return take_words(r);
}

/* "a (>= 1.0) b" is "a b": from a word with '(' to the one that ends in ')', nothing
 * counts. */
static struct bz_str names_of(struct reading *r, struct bz_str list)
{
    struct bz_str word;
    bool version = false;

    while (bz_str_next_word(&list, &word)) {
        version |= word.p[0] == '(';
        if (!version)
            add_word(&r->text, word);
        version &= word.p[word.n - 1] != ')';
    }
    return take_words(r);
}

static struct bz_str names(struct reading *r, const char *variable)
{
    return names_of(r, get(r, bz_str_from(variable)));
}

/* VARIABLE:package */
static struct bz_str package_names(struct reading *r, const char *variable,
                                   struct bz_str package)
{
    struct bz_str value;

    bz_buf_add_str(&r->text, bz_str_from(variable));
    bz_buf_add_char(&r->text, ':');
    bz_buf_add_str(&r->text, package);
    value = get(r, bz_buf_str(&r->text));
    bz_buf_truncate(&r->text, 0);
    return names_of(r, value);
}

static void read_packages(struct reading *r, struct bz_facts *f)
{
    struct bz_str list = get(r, BZ_STR("PACKAGES")), rest = list, word;
    struct bz_facts_package *all;
    size_t n = 0;

    while (bz_str_next_word(&rest, &word))
        n++;
    if (n == 0) {
        list = f->pn;
        n = 1;
    }
    all = BZ_ARENA_ARRAY(&r->keep->arena, struct bz_facts_package, n);
    f->packages = all;
    while (f->npackages < n) {
        struct bz_facts_package *p = &all[f->npackages++];

        /* A PN with a blank in it is still one package. */
        if (n > 1 || !bz_str_eq(list, f->pn))
            bz_str_next_word(&list, &word);
        else
            word = list;
        p->name = bz_facts_text(r->keep, word);
        p->rprovides = package_names(r, "RPROVIDES", p->name);
        if (f->skipped.p)
            continue;
        p->rdepends = package_names(r, "RDEPENDS", p->name);
        p->rrecommends = package_names(r, "RRECOMMENDS", p->name);
    }
}

/* The flags that are kept, and where. */
enum { KEPT = 13 };

static const struct bz_str kept_flags[KEPT] = {
    BZ_STR("depends"),   BZ_STR("rdepends"),    BZ_STR("deptask"),
    BZ_STR("rdeptask"),  BZ_STR("recrdeptask"), BZ_STR("recideptask"),
    BZ_STR("mcdepends"), BZ_STR("noexec"),      BZ_STR("nostamp"),
    BZ_STR("fakeroot"),  BZ_STR("python"),      BZ_STR("prefuncs"),
    BZ_STR("postfuncs"),
};

struct flags {
    struct bz_str value[KEPT]; /* unexpanded; p == NULL: not set */
};

static void note_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct flags *f = ctx;

    for (size_t i = 0; i < KEPT; i++)
        if (bz_str_eq(flag, kept_flags[i]))
            f->value[i] = value;
}

/* Flags are seen as BitBake sees them here: a ??= default of one does not count. */
static struct bz_str expanded(struct reading *r, struct bz_str value)
{
    if (r->rc == 0 && bz_str_find_byte(value, '$') != BZ_STR_NONE)
        r->rc =
            bz_vars_expand(r->m->vars, value, (struct bz_str){0}, NULL, &value, r->err);
    return r->rc == 0 ? bz_facts_text(r->keep, value) : (struct bz_str){0};
}

static void read_task(struct reading *r, struct bz_str name, struct bz_facts_task *t)
{
    const struct bz_taskdef *def = bz_taskdef_find(&r->m->tasks, name);
    struct flags f = {{{0}}};

    t->name = bz_facts_text(r->keep, name);
    for (size_t i = 0; def && i < def->after.len; i++)
        add_word(&r->text, def->after.at[i]);
    t->after = take_words(r);
    bz_vars_flags(r->m->vars, name, note_flag, &f);
    t->depends = expanded(r, f.value[0]);
    t->rdepends = expanded(r, f.value[1]);
    t->deptask = expanded(r, f.value[2]);
    t->rdeptask = expanded(r, f.value[3]);
    t->recrdeptask = expanded(r, f.value[4]);
    t->recideptask = expanded(r, f.value[5]);
    t->mcdepends = expanded(r, f.value[6]);
    bz_place_write(r->m, t, &r->text);
    t->places = r->text.len > 0 ? take_words(r) : (struct bz_str){0};
    t->noexec = f.value[7].p != NULL;
    if (r->rc == 0 && !t->noexec)
        r->rc = bz_pyfunc_of_task(r->m,
                                  &(struct bz_pyfunc_task){.name = name,
                                                           .python = f.value[10].n > 0,
                                                           .before = f.value[11],
                                                           .after = f.value[12]},
                                  &r->text, r->err);
    t->python = take_words(r);
    t->nostamp = f.value[8].p != NULL;
    t->fakeroot = f.value[9].p != NULL;
    if (r->rc == 0)
        r->rc =
            bz_vars_flag_true(r->m->vars, name, BZ_STR("network"), &t->network, r->err);
}

/* Texts are kept once, so two lists are equal if their bytes are: most recipes have the
 * same tasks. */
static void read_tasks(struct reading *r, struct bz_facts *f)
{
    size_t n = r->m->tasks.order.len, size = n * sizeof(struct bz_facts_task);
    BZ_CLEANUP(bz_mem_freep) struct bz_facts_task *all = bz_mem_zalloc(size);
    struct bz_map_entry *it;

    for (size_t i = 0; i < n; i++)
        read_task(r, r->m->tasks.order.at[i], &all[i]);
    if (n == 0)
        return;
    it = bz_map_put(&r->keep->lists, bz_str_of((const char *)all, size));
    if (!it->p) {
        it->p = BZ_ARENA_ARRAY(&r->keep->arena, struct bz_facts_task, n);
        memcpy(it->p, all, size);
        it->key.p = it->p;
    }
    f->tasks = it->p;
    f->ntasks = n;
}

static int64_t read_preference(struct reading *r)
{
    struct bz_str value = bz_str_trim(get(r, BZ_STR("DEFAULT_PREFERENCE"))), digits;
    uint64_t number = 0;
    bool minus;

    if (r->rc < 0 || value.n == 0)
        return 0;
    digits = value;
    minus = bz_str_cut_prefix(&digits, BZ_STR("-"));
    if (!minus)
        bz_str_cut_prefix(&digits, BZ_STR("+"));
    r->rc = bz_str_parse_u64(digits, 10, INT32_MAX, &number, r->err);
    if (r->rc < 0)
        r->rc = bz_fail(r->err, BZ_E_INVAL,
                        "DEFAULT_PREFERENCE: '%.*s' is not a whole number",
                        BZ_STR_ARG(value));
    return minus ? -(int64_t)number : (int64_t)number;
}

static bool read_boolean(struct reading *r, const char *name)
{
    static const char *const words[] = {"n", "no",  "0", "false",
                                        "y", "yes", "1", "true"};
    struct bz_str value = get(r, bz_str_from(name));

    if (r->rc < 0 || value.n == 0)
        return false;
    for (size_t i = 0; i < BZ_COUNTOF(words); i++)
        if (strlen(words[i]) == value.n && !strncasecmp(words[i], value.p, value.n))
            return i >= BZ_COUNTOF(words) / 2;
    r->rc = bz_fail(r->err, BZ_E_INVAL, "%s: '%.*s' is not a boolean; use 1 or 0", name,
                    BZ_STR_ARG(value));
    return false;
}

static void read_rest(struct reading *r, struct bz_facts *f)
{
    f->pe = text(r, "PE");
    f->pv = text(r, "PV");
    f->pr = text(r, "PR");
    f->depends = names(r, "DEPENDS");
    f->rdepends = names(r, "RDEPENDS");
    f->rrecommends = names(r, "RRECOMMENDS");
    for (size_t i = 0; i < r->m->inherited.len; i++)
        add_word(&r->text, r->m->inherited.at[i]);
    f->inherits = take_words(r);
    f->stamp = text(r, "STAMP");
    f->summary = text(r, "SUMMARY");
    f->default_preference = read_preference(r);
    if (r->rc == 0)
        r->rc = bz_pyfunc_of_recipe(r->m, &r->text, r->err);
    f->python = take_words(r);
    f->not_world = read_boolean(r, "EXCLUDE_FROM_WORLD");
    read_tasks(r, f);
}

/* The PN of a recipe that sets none: its file's name up to '_' or the suffix. */
static struct bz_str name_of_file(struct bz_str path)
{
    struct bz_str name = bz_path_basename(path), head, tail;

    bz_str_cut_suffix(&name, BZ_STR(".bb"));
    bz_str_cut(name, '_', &head, &tail);
    return head;
}

/* Whether facts may be others at another time without any file having changed. */
static bool depends_on_host(struct bz_vars *v)
{
    struct bz_vars_impure impure = bz_vars_impure(v);

    return impure.clock + impure.host > 0 || bz_vars_clock_read(v);
}

int bz_facts_of(struct bz_facts_keep *keep, struct bz_meta *m, struct bz_facts *out,
                struct bz_err *err)
{
    struct reading r = {.keep = keep, .m = m, .err = err};

    out->skipped = bz_facts_text(keep, m->skipped);
    out->uncached = get(&r, BZ_STR("BB_DONT_CACHE")).n > 0;
    out->pn = text(&r, "PN");
    if (out->pn.n == 0)
        out->pn = bz_facts_text(keep, name_of_file(out->path));
    out->provides = names(&r, "PROVIDES");
    out->rprovides = names(&r, "RPROVIDES");
    out->packages_dynamic = words_of(&r, get(&r, BZ_STR("PACKAGES_DYNAMIC")));
    read_packages(&r, out);
    if (!out->skipped.p)
        read_rest(&r, out);
    if (depends_on_host(m->vars))
        out->uncached = true;
    bz_buf_release(&r.text);
    return r.rc;
}

void bz_facts_broken(struct bz_facts_keep *keep, struct bz_str error,
                     struct bz_facts *out)
{
    struct bz_facts kept = {.path = out->path,
                            .variant = out->variant,
                            .layer = out->layer,
                            .priority = out->priority,
                            .appends = out->appends,
                            .hidden = out->hidden};

    *out = kept;
    out->error = bz_facts_text(keep, error);
    out->pn = bz_facts_text(keep, name_of_file(out->path));
}
