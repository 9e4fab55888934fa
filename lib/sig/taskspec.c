#include "sig/taskspec.h"

#include <stdlib.h>

#include "base/mem.h"
#include "code/sh_execs.h"
#include "recipe/runscript.h"
#include "sig/leaks.h"
#include "sig/leftout.h"
#include "sig/roots.h"

enum tag { TAG_FORMAT = 1, TAG_KIND, TAG_NAME, TAG_VALUE, TAG_PLACES, TAG_INPUT };

const char *const bz_taskspec_kinds[BZ_TASKSPEC_KINDS] = {
    [BZ_TASKSPEC_RECIPE] = "recipe",       [BZ_TASKSPEC_VERSION] = "version",
    [BZ_TASKSPEC_REVISION] = "revision",   [BZ_TASKSPEC_TASK] = "task",
    [BZ_TASKSPEC_DIRECTORY] = "directory", [BZ_TASKSPEC_FUNCTION] = "function",
    [BZ_TASKSPEC_ORDER] = "order",         [BZ_TASKSPEC_EXPORT] = "export",
    [BZ_TASKSPEC_DIRS] = "dirs",           [BZ_TASKSPEC_CLEANDIRS] = "cleandirs",
    [BZ_TASKSPEC_UMASK] = "umask",         [BZ_TASKSPEC_VARDEPS] = "vardeps",
    [BZ_TASKSPEC_SOURCE] = "source",       [BZ_TASKSPEC_STEP] = "step",
};

struct names BZ_VEC(struct bz_str);

/* A function or an exported variable, the same for all tasks that see one store. */
struct item {
    struct bz_taskspec_input input;
    bool layered; /* the value, all of it expanded, has the path of a layer in it */
    bool listed;  /* the two lists below are known */
    const struct bz_str *calls, *vardeps; /* of a function */
    size_t ncalls, nvardeps;
};

struct bz_taskspec {
    struct bz_vars *recipe;
    struct bz_taskspec_opts opts;
    struct bz_digest_hasher *hasher;
    struct bz_arena arena; /* also of the items */
    struct bz_roots roots;
    int64_t clock;
    bool shared;            /* all tasks see one store */
    bool real;              /* code sees real values, since it fails with others */
    bool failed;            /* such code was found: worth a warning */
    bool host, asked_clock; /* of stores that are closed */
    bool open;
    unsigned turn; /* stores that were opened */
    struct bz_keystore store;
    struct bz_map functions, variables; /* name -> struct item * */
    struct item **exports;              /* of the store; NULL: not listed yet */
    size_t nexports;
    struct bz_map noted; /* what has been warned of */
};

/* ---- one recipe ---- */

int bz_taskspec_new(struct bz_vars *recipe, const struct bz_taskspec_opts *opts,
                    struct bz_digest_hasher *hasher, struct bz_taskspec **out,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_taskspec_freep)
    struct bz_taskspec *s = bz_mem_zalloc(sizeof(*s));
    int rc;

    s->recipe = recipe;
    s->opts = *opts;
    s->hasher = hasher;
    s->shared = !bz_vars_by_task(recipe);
    rc = bz_roots_open(&s->roots, recipe, err);
    if (rc < 0)
        return rc;
    *out = s;
    s = NULL; /* the caller owns it now */
    return 0;
}

/* What was found in the store is kept; the items go with it. */
static void close_store(struct bz_taskspec *s)
{
    if (!s->open)
        return;
    s->host |= bz_vars_impure(s->store.plain).host > 0;
    s->asked_clock |=
        bz_vars_impure(s->store.plain).clock > 0 || bz_vars_clock_read(s->store.plain);
    bz_keystore_close(&s->store);
    bz_map_release(&s->functions);
    bz_map_release(&s->variables);
    s->exports = NULL;
    s->nexports = 0;
    s->open = false;
}

void bz_taskspec_free(struct bz_taskspec *s)
{
    if (!s)
        return;
    close_store(s);
    bz_roots_close(&s->roots);
    bz_map_release(&s->noted);
    bz_arena_release(&s->arena);
    free(s);
}

void bz_taskspec_freep(struct bz_taskspec **s)
{
    bz_taskspec_free(*s);
}

struct bz_keystore *bz_taskspec_store(struct bz_taskspec *s, unsigned *turn)
{
    if (turn)
        *turn = s->turn;
    return &s->store;
}

struct bz_taskspec_found bz_taskspec_found(struct bz_taskspec *s)
{
    struct bz_taskspec_found found = {s->host, s->asked_clock};

    if (s->open) {
        found.host |= bz_vars_impure(s->store.plain).host > 0;
        found.clock |= bz_vars_impure(s->store.plain).clock > 0 ||
                       bz_vars_clock_read(s->store.plain);
    }
    return found;
}

void bz_taskspec_set_clock(struct bz_taskspec *s, int64_t clock)
{
    close_store(s);
    s->clock = clock;
}

static int open_store(struct bz_taskspec *s, struct bz_str task, struct bz_err *err)
{
    struct bz_keystore_opts opts = {
        .path = s->opts.path, .clock = s->clock, .real = s->real};
    const struct bz_str any = {0};

    if (s->open && s->shared)
        return 0;
    close_store(s);
    s->open = true;
    s->turn++;
    return bz_keystore_open(&s->store, s->recipe, s->shared ? any : task, &opts, err);
}

/* ---- inputs ---- */

static bool names_layer(const struct bz_taskspec *s, struct bz_str text)
{
    const struct bz_roots_root *root;
    size_t from = 0, at = 0;

    while (from < text.n && (root = bz_roots_find(&s->roots, text, from, &at))) {
        if (bz_str_starts(root->name, BZ_STR("<layer ")))
            return true;
        from = at + root->dir.n;
    }
    return false;
}

static void name_dirs(struct bz_taskspec *s, struct bz_str value,
                      struct bz_taskspec_input *in)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0}, places = {0};

    in->value = value;
    if (value.n == 0 || !bz_roots_name(&s->roots, value, &out, &places))
        return;
    in->value = bz_arena_dup(&s->arena, bz_buf_str(&out));
    in->places = bz_arena_dup(&s->arena, bz_buf_str(&places));
}

static struct bz_taskspec_input make_input(struct bz_taskspec *s,
                                           enum bz_taskspec_kind kind,
                                           struct bz_str name, struct bz_str value)
{
    struct bz_taskspec_input in = {.kind = kind, .name = name};
    const uint8_t byte = (uint8_t)kind;

    name_dirs(s, value, &in);
    bz_digest_begin(s->hasher);
    bz_digest_add_field(s->hasher, TAG_KIND, &byte, 1);
    bz_digest_add_field(s->hasher, TAG_NAME, in.name.p, in.name.n);
    if (in.value.p) /* else it is not set, which is not the same as "" */
        bz_digest_add_field(s->hasher, TAG_VALUE, in.value.p, in.value.n);
    if (in.places.n > 0) /* the text might have had such a name itself */
        bz_digest_add_field(s->hasher, TAG_PLACES, in.places.p, in.places.n);
    bz_digest_end(s->hasher, &in.digest);
    return in;
}

void bz_taskspec_add(struct bz_taskspec *s, enum bz_taskspec_kind kind,
                     struct bz_str name, struct bz_str value,
                     struct bz_taskspec_inputs *out)
{
    struct bz_str kept = value.p ? bz_arena_dup(&s->arena, value) : value;

    BZ_VEC_PUSH(out, make_input(s, kind, bz_arena_dup(&s->arena, name), kept));
}

/* The item of a function or variable, made if there was none. */
static int item_of(struct bz_taskspec *s, struct bz_map *all,
                   enum bz_taskspec_kind kind, struct bz_str name, struct item **out,
                   struct bz_err *err)
{
    const struct bz_map_entry *e = bz_map_get(all, name);
    struct bz_str value = {0}, plain;
    struct item *item;
    int rc;

    if (e) {
        *out = e->p;
        return 0;
    }
    rc = bz_keystore_get(&s->store, name, &value, err);
    if (rc < 0)
        return rc;
    item = BZ_ARENA_NEW(&s->arena, struct item);
    item->input = make_input(s, kind, bz_arena_dup(&s->arena, name), value);
    plain = value;
    if (bz_str_find(value, BZ_STR("${")) != BZ_STR_NONE)
        rc = bz_vars_get(s->store.plain, name, 0, &plain, err);
    item->layered = rc == 0 && names_layer(s, plain);
    bz_map_put(all, item->input.name)->p = item;
    *out = item;
    return rc;
}

static int add_text(struct bz_taskspec *s, enum bz_taskspec_kind kind, const char *name,
                    struct bz_taskspec_inputs *out, struct bz_err *err)
{
    struct item *item;
    int rc = item_of(s, &s->variables, kind, bz_str_from(name), &item, err);

    if (rc == 0 && item->input.value.p)
        BZ_VEC_PUSH(out, item->input);
    return rc;
}

static int add_identity(struct bz_taskspec *s, struct bz_str task,
                        struct bz_taskspec_inputs *out, struct bz_err *err)
{
    static const struct {
        const char *name;
        enum bz_taskspec_kind kind;
    } rows[] = {
        {"PN",      BZ_TASKSPEC_RECIPE   },
        {"PV",      BZ_TASKSPEC_VERSION  },
        {"PR",      BZ_TASKSPEC_REVISION },
        {"WORKDIR", BZ_TASKSPEC_DIRECTORY},
        {"T",       BZ_TASKSPEC_DIRECTORY},
    };
    int rc = 0;

    for (size_t i = 0; i < BZ_COUNTOF(rows) && rc == 0; i++)
        rc = add_text(s, rows[i].kind, rows[i].name, out, err);
    if (rc == 0)
        BZ_VEC_PUSH(out, make_input(s, BZ_TASKSPEC_TASK, BZ_STR("task"),
                                    bz_arena_dup(&s->arena, task)));
    return rc;
}

/* ---- functions ---- */

static int is_function(struct bz_taskspec *s, struct bz_str name, bool *shell,
                       bool *python, struct bz_err *err)
{
    struct bz_str func = {0}, py = {0};
    struct bz_vars *v = s->store.plain;
    int rc = bz_vars_get_flag(v, name, BZ_STR("func"), BZ_VARS_RAW, &func, err);

    if (rc == 0 && func.n > 0)
        rc = bz_vars_get_flag(v, name, BZ_STR("python"), BZ_VARS_RAW, &py, err);
    *shell = func.n > 0 && py.n == 0;
    *python = func.n > 0 && py.n > 0;
    return rc;
}

static const struct bz_str *keep_names(struct bz_taskspec *s, const struct names *names)
{
    struct bz_str *kept = BZ_ARENA_ARRAY(&s->arena, struct bz_str, names->len);

    for (size_t i = 0; i < names->len; i++)
        kept[i] = bz_arena_dup(&s->arena, names->at[i]);
    return kept;
}

/* Sorts a name that a function mentions into what it calls and what else it has. */
static int sort_name(struct bz_taskspec *s, struct bz_str in, struct bz_str name,
                     struct names *calls, struct names *vardeps, struct bz_err *err)
{
    bool shell, python, excluded;
    int rc = bz_keystore_excluded(&s->store, in, name, &excluded, err);

    if (rc < 0 || excluded)
        return rc;
    rc = is_function(s, name, &shell, &python, err);
    if (rc == 0 && shell)
        BZ_VEC_PUSH(calls, name);
    else if (rc == 0 && vardeps)
        BZ_VEC_PUSH(vardeps, name);
    return rc;
}

static int find_calls(struct bz_taskspec *s, struct item *item, struct bz_refs *refs,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct names calls = {0};
    BZ_CLEANUP(bz_vec_release) struct names vardeps = {0};
    struct bz_str name = item->input.name, body = {0}, words = {0}, word;
    const struct bz_map_entry *e;
    int rc = bz_vars_get(s->store.plain, name, 0, &body, err);

    if (rc == 0)
        rc = bz_sh_execs_find(body, refs, err);
    if (rc < 0)
        return bz_err_wrap(err, "%.*s", BZ_STR_ARG(name));
    for (e = bz_map_next(&refs->execs, NULL); e && rc == 0;
         e = bz_map_next(&refs->execs, e))
        rc = sort_name(s, name, e->key, &calls, NULL, err);
    if (rc == 0)
        rc = bz_vars_get_flag(s->store.plain, name, BZ_STR("vardeps"), 0, &words, err);
    while (rc == 0 && bz_str_next_word(&words, &word))
        rc = sort_name(s, name, word, &calls, &vardeps, err);
    item->calls = keep_names(s, &calls);
    item->ncalls = calls.len;
    item->vardeps = keep_names(s, &vardeps);
    item->nvardeps = vardeps.len;
    item->listed = true;
    return rc;
}

/* What one task is made of. */
struct listing {
    struct bz_taskspec_inputs *out;
    struct bz_map seen;    /* functions */
    struct names next;     /* of these: still to be looked at */
    struct bz_map vardeps; /* variables */
};

static void listing_release(struct listing *l)
{
    bz_map_release(&l->seen);
    bz_map_release(&l->vardeps);
    bz_vec_release(&l->next);
}

static void see(struct listing *l, struct bz_str name)
{
    uint32_t before = l->seen.len;

    (void)bz_map_put(&l->seen, name);
    if (l->seen.len > before)
        BZ_VEC_PUSH(&l->next, name);
}

static int add_vardep(struct bz_taskspec *s, struct listing *l, struct bz_str name,
                      struct bz_err *err)
{
    uint32_t before = l->vardeps.len;
    struct bz_str value = {0};
    int rc;

    (void)bz_map_put(&l->vardeps, name);
    if (l->vardeps.len == before)
        return 0;
    rc = bz_keystore_get(&s->store, name, &value, err);
    if (rc == 0)
        BZ_VEC_PUSH(l->out, make_input(s, BZ_TASKSPEC_VARDEPS, name, value));
    return rc;
}

static int add_function(struct bz_taskspec *s, struct listing *l, struct bz_str name,
                        struct bz_err *err)
{
    struct item *item;
    int rc = item_of(s, &s->functions, BZ_TASKSPEC_FUNCTION, name, &item, err);

    if (rc == 0 && !item->listed) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        BZ_CLEANUP(bz_refs_release) struct bz_refs refs;

        bz_refs_init(&refs, &arena);
        rc = find_calls(s, item, &refs, err);
    }
    if (rc < 0)
        return rc;
    BZ_VEC_PUSH(l->out, item->input);
    for (size_t i = 0; i < item->ncalls; i++)
        see(l, item->calls[i]);
    for (size_t i = 0; i < item->nvardeps && rc == 0; i++)
        rc = add_vardep(s, l, item->vardeps[i], err);
    return rc;
}

/* Functions in Python are not run: a task that has one fails. */
static int add_python(struct bz_taskspec *s, struct listing *l, struct bz_str name,
                      struct bz_err *err)
{
    struct bz_str text = {0};
    int rc = bz_vars_get(s->store.plain, name, BZ_VARS_RAW, &text, err);

    if (rc == 0)
        bz_taskspec_add(s, BZ_TASKSPEC_FUNCTION, name, text, l->out);
    return rc;
}

/* A function that is called by itself: the task, or one around it. */
static int add_called(struct bz_taskspec *s, struct listing *l, struct bz_str name,
                      bool body, struct bz_err *err)
{
    static const struct {
        const char *flag;
        enum bz_taskspec_kind kind;
    } rows[] = {
        {"cleandirs", BZ_TASKSPEC_CLEANDIRS},
        {"dirs",      BZ_TASKSPEC_DIRS     },
    };
    bool shell = false, python = false;
    int rc = is_function(s, name, &shell, &python, err);

    for (size_t i = 0; i < BZ_COUNTOF(rows) && rc == 0; i++) {
        struct bz_str value = {0};

        rc = bz_keystore_flag(&s->store, name, rows[i].flag, &value, err);
        if (rc == 0 && value.n > 0)
            BZ_VEC_PUSH(l->out,
                        make_input(s, rows[i].kind,
                                   bz_arena_printf(&s->arena, "%.*s[%s]",
                                                   BZ_STR_ARG(name), rows[i].flag),
                                   value));
    }
    if (rc < 0 || !body)
        return rc;
    if (python)
        return add_python(s, l, name, err);
    see(l, name);
    return 0;
}

/* The functions around the task, which a flag names. */
static int add_around(struct bz_taskspec *s, struct listing *l, struct bz_str task,
                      const char *flag, struct bz_buf *order, struct bz_err *err)
{
    struct bz_str words = {0}, word;
    int rc = bz_vars_get_flag(s->store.plain, task, bz_str_from(flag), 0, &words, err);

    while (rc == 0 && bz_str_next_word(&words, &word)) {
        bz_buf_addf(order, "%.*s ", BZ_STR_ARG(word));
        rc = add_called(s, l, bz_arena_dup(&s->arena, word), true, err);
    }
    return rc;
}

static int add_script(struct bz_taskspec *s, struct listing *l, struct bz_str task,
                      bool body, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf order = {0};
    unsigned mask = 0;
    int rc = add_around(s, l, task, "prefuncs", &order, err);

    bz_buf_addf(&order, ": ");
    if (rc == 0)
        rc = add_called(s, l, task, body, err);
    if (rc == 0)
        rc = add_around(s, l, task, "postfuncs", &order, err);
    if (rc == 0)
        rc = bz_runscript_umask(s->store.plain, task, &mask, err);
    if (rc < 0)
        return rc;
    if (order.len > 2)
        bz_taskspec_add(s, BZ_TASKSPEC_ORDER, BZ_STR("order"), bz_buf_str(&order),
                        l->out);
    BZ_VEC_PUSH(l->out, make_input(s, BZ_TASKSPEC_UMASK, BZ_STR("umask"),
                                   bz_arena_printf(&s->arena, "%04o", mask)));
    while (l->next.len > 0 && rc == 0)
        rc = add_function(s, l, BZ_VEC_POP(&l->next), err);
    return rc;
}

/* ---- the environment ---- */

static int list_exports(struct bz_taskspec *s, struct bz_err *err)
{
    const struct bz_str *names, *unset = NULL;
    size_t n = 0, m = 0;
    int rc = bz_vars_exported(s->store.plain, &names, &n, err);

    if (rc == 0)
        rc = bz_vars_unexported(s->store.plain, &unset, &m, err);
    if (rc < 0)
        return rc;
    s->exports = BZ_ARENA_ARRAY(&s->arena, struct item *, n + m);
    for (size_t i = 0; i < n && rc == 0; i++) {
        bool shell, python;

        rc = is_function(s, names[i], &shell, &python, err);
        if (rc < 0 || shell || python)
            continue;
        rc = item_of(s, &s->variables, BZ_TASKSPEC_EXPORT, names[i],
                     &s->exports[s->nexports], err);
        s->nexports += rc == 0;
    }
    for (size_t i = 0; i < m && rc == 0; i++) {
        struct item *item = BZ_ARENA_NEW(&s->arena, struct item);

        item->input = make_input(
            s, BZ_TASKSPEC_EXPORT,
            bz_arena_printf(&s->arena, "%.*s[unexport]", BZ_STR_ARG(unset[i])),
            BZ_STR("1"));
        s->exports[s->nexports++] = item;
    }
    return rc;
}

static int add_exports(struct bz_taskspec *s, struct bz_str task,
                       struct bz_taskspec_inputs *out, struct bz_err *err)
{
    int rc = s->exports ? 0 : list_exports(s, err);

    for (size_t i = 0; i < s->nexports && rc == 0; i++) {
        const struct bz_taskspec_input *in = &s->exports[i]->input;
        bool excluded;

        rc = bz_keystore_excluded(&s->store, task, in->name, &excluded, err);
        if (rc == 0 && !excluded && in->value.p) {
            BZ_VEC_PUSH(out, *in);
            BZ_VEC_LAST(out).kind = BZ_TASKSPEC_EXPORT;
        }
    }
    return rc;
}

bool bz_taskspec_next_unset(const struct bz_taskspec *s, size_t *i, struct bz_str *name)
{
    for (; *i < s->nexports; (*i)++)
        if (!s->exports[*i]->input.value.p) {
            *name = s->exports[(*i)++]->input.name;
            return true;
        }
    return false;
}

/* ---- a task ---- */

static int by_kind_and_name(const void *a, const void *b)
{
    const struct bz_taskspec_input *x = a, *y = b;

    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1)
                              : bz_str_cmp(x->name, y->name);
}

static int list_task(struct bz_taskspec *s, struct bz_str task,
                     enum bz_taskspec_how how, struct bz_taskspec_inputs *out,
                     struct bz_err *err)
{
    BZ_CLEANUP(listing_release) struct listing l = {.out = out};
    int rc = open_store(s, task, err);

    if (rc == 0)
        rc = add_identity(s, task, out, err);
    if (rc < 0 || how == BZ_TASKSPEC_NOTHING)
        return rc;
    rc = add_script(s, &l, bz_arena_dup(&s->arena, task), how == BZ_TASKSPEC_SCRIPT,
                    err);
    if (rc == 0 && (how == BZ_TASKSPEC_SCRIPT || l.seen.len > 0))
        rc = add_exports(s, task, out, err);
    return rc;
}

/* Whether the store has told which task it is for, though it is for all. */
static bool knows_task(struct bz_taskspec *s)
{
    return s->shared && s->open &&
           (bz_vars_asked_overrides(s->store.plain) ||
            (s->store.key && bz_vars_asked_overrides(s->store.key)) ||
            bz_vars_was_read(s->store.plain, BZ_STR("BB_CURRENTTASK")) ||
            (s->store.key && bz_vars_was_read(s->store.key, BZ_STR("BB_CURRENTTASK"))));
}

int bz_taskspec_list(struct bz_taskspec *s, struct bz_str task,
                     enum bz_taskspec_how how, struct bz_taskspec_inputs *out,
                     struct bz_err *err)
{
    size_t before = out->len;
    int rc = list_task(s, task, how, out, err);

    if (rc == 0 && knows_task(s)) {
        out->len = before;
        close_store(s);
        s->shared = false;
        rc = list_task(s, task, how, out, err);
    }
    if (rc == BZ_E_INVAL && !s->real) {
        struct bz_err again;

        out->len = before;
        close_store(s);
        s->real = true;
        if (list_task(s, task, how, out, &again) == 0) {
            s->failed = true;
            rc = 0;
        }
    }
    if (rc == 0)
        BZ_VEC_SORT(out, by_kind_and_name);
    return rc;
}

void bz_taskspec_digest(struct bz_taskspec *s, const struct bz_taskspec_inputs *inputs,
                        struct bz_digest *out)
{
    bz_digest_begin(s->hasher);
    bz_digest_add_field(s->hasher, TAG_FORMAT, BZ_TASKSPEC_FORMAT,
                        strlen(BZ_TASKSPEC_FORMAT));
    for (size_t i = 0; i < inputs->len; i++)
        if (!bz_leftout(bz_taskspec_kinds[inputs->at[i].kind]))
            bz_digest_add_field(s->hasher, TAG_INPUT, inputs->at[i].digest.b,
                                BZ_DIGEST_LEN);
    bz_digest_end(s->hasher, out);
}

int bz_taskspec_text(struct bz_taskspec *s, const struct bz_taskspec_inputs *inputs,
                     struct bz_buf *out, struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < inputs->len && rc == 0; i++) {
        const struct bz_taskspec_input *in = &inputs->at[i];
        const struct bz_map *all = in->kind == BZ_TASKSPEC_FUNCTION ? &s->functions
                                   : in->kind == BZ_TASKSPEC_EXPORT ? &s->variables
                                                                    : NULL;
        const struct bz_map_entry *e = all ? bz_map_get(all, in->name) : NULL;
        struct bz_str text = {0};

        if (!e || !((const struct item *)e->p)->layered)
            continue;
        rc = bz_vars_get(s->store.plain, in->name, 0, &text, err);
        bz_buf_add_str(out, text);
        bz_buf_add_char(out, '\n');
    }
    return rc;
}

/* ---- warnings ---- */

static void warn_of_cpu(struct bz_taskspec *s, const struct item *item,
                        struct bz_buf *notes)
{
    static const char *const options[] = {"-march=native", "-mcpu=native",
                                          "-mtune=native"};
    struct bz_str pn = {0};
    struct bz_err ignored;

    for (size_t i = 0; i < BZ_COUNTOF(options); i++) {
        if (bz_str_find(item->input.value, bz_str_from(options[i])) == BZ_STR_NONE)
            continue;
        if (bz_vars_get(s->store.plain, BZ_STR("PN"), 0, &pn, &ignored) < 0)
            pn = BZ_STR("");
        bz_buf_addf(
            notes,
            "%.*s: warning: %.*s has %s: the result depends on the processor of "
            "this machine, which no key counts\n",
            BZ_STR_ARG(pn), BZ_STR_ARG(item->input.name), options[i]);
    }
}

static void warn_of_items(struct bz_taskspec *s, const struct bz_map *all,
                          struct bz_buf *notes)
{
    for (const struct bz_map_entry *e = bz_map_next(all, NULL); e;
         e = bz_map_next(all, e))
        warn_of_cpu(s, e->p, notes);
}

void bz_taskspec_warn(struct bz_taskspec *s, struct bz_buf *notes)
{
    struct bz_str pn = {0};
    struct bz_err ignored;

    if (!s->open || !s->store.key)
        return;
    warn_of_items(s, &s->functions, notes);
    warn_of_items(s, &s->variables, notes);
    bz_leaks_find(s->store.plain, &s->roots, &s->noted, notes);
    bz_leaks_find(s->store.key, &s->roots, &s->noted, notes);
    if (s->failed && bz_vars_get(s->store.plain, BZ_STR("PN"), 0, &pn, &ignored) == 0)
        bz_buf_addf(
            notes,
            "%.*s: warning: code fails with fixed values of PARALLEL_MAKE, DATE "
            "and the like, so the real ones count: keys differ between machines\n",
            BZ_STR_ARG(pn));
}
