#include "sig/origin.h"

#include "sig/origin_op.h"
#include "vars/history.h"
#include "vars/refs.h"

int bz_origin_open(struct bz_origin *o, struct bz_vars *vars,
                   struct bz_origin_files *place, struct bz_digest_hasher *hasher,
                   struct bz_record *record, struct bz_err *err)
{
    *o = (struct bz_origin){
        .vars = vars, .place = place, .hasher = hasher, .record = record};
    return bz_vars_get(vars, BZ_STR("OVERRIDES"), 0, &o->overrides, err);
}

void bz_origin_release(struct bz_origin *o)
{
    bz_map_release(&o->inputs);
    bz_map_release(&o->context);
    bz_arena_release(&o->arena);
    *o = (struct bz_origin){0};
}

/* ---- context ---- */

struct names BZ_VEC(struct bz_str);

static void add_keys(const struct bz_map *m, struct names *out)
{
    for (const struct bz_map_entry *e = bz_map_next(m, NULL); e; e = bz_map_next(m, e))
        BZ_VEC_PUSH(out, e->key);
}

/* What the text of a variable names; nothing if it cannot be expanded. */
static void find_uses(struct bz_origin *o, struct bz_str text, struct bz_str name,
                      struct names *out)
{
    struct bz_refs refs;
    struct bz_str unused;
    struct bz_err ignored;

    bz_refs_init(&refs, &o->arena);
    if (bz_vars_expand(o->vars, text, name, &refs, &unused, &ignored) == 0) {
        add_keys(&refs.reads, out);
        add_keys(&refs.contains, out);
    }
    bz_refs_release(&refs);
}

static int by_bytes(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

static void sort_names(struct names *names)
{
    size_t kept = 0;

    BZ_VEC_SORT(names, by_bytes);
    for (size_t i = 0; i < names->len; i++)
        if (kept == 0 || !bz_str_eq(names->at[kept - 1], names->at[i]))
            names->at[kept++] = names->at[i];
    names->len = kept;
}

/* Nothing is kept of a variable that has no place, or that is a path of this host. */
static const struct bz_record_input *make_context(struct bz_origin *o,
                                                  struct bz_str name)
{
    BZ_CLEANUP(bz_vec_release) struct bz_origin_ops ops = {0};
    BZ_CLEANUP(bz_vec_release) struct names uses = {0};
    struct bz_record_input kept = {.name = name};
    struct bz_err ignored;

    if (bz_vars_get(o->vars, name, BZ_VARS_RAW, &kept.value, &ignored) < 0)
        return NULL;
    bz_origin_op_list(o, name, &ops);
    if (ops.len == 0 || bz_str_starts(kept.value, BZ_STR("/")))
        return NULL;
    if (kept.value.p)
        find_uses(o, kept.value, name, &uses);
    sort_names(&uses);
    bz_digest_bytes(o->hasher, kept.value.p, kept.value.n, &kept.digest);
    kept.ops = ops.at;
    kept.nops = ops.len;
    kept.uses = uses.at;
    kept.nuses = uses.len;
    return bz_record_input(o->record, &kept);
}

/* Adds a variable and all it is computed from, unless it is in `seen`. */
static void add_context(struct bz_origin *o, struct bz_str root, struct bz_map *seen)
{
    BZ_CLEANUP(bz_vec_release) struct names next = {0};

    BZ_VEC_PUSH(&next, root);
    while (next.len > 0) {
        struct bz_str name = BZ_VEC_POP(&next);
        struct bz_map_entry *e = bz_map_get(&o->context, name);
        struct bz_origin_input *own = e ? e->p : NULL;

        if (bz_map_get(seen, name))
            continue;
        if (!own) {
            own = BZ_ARENA_NEW(&o->arena, struct bz_origin_input);
            own->kept = make_context(o, name);
            e = bz_map_put(&o->context, bz_arena_dup(&o->arena, name));
            e->p = own;
        }
        for (size_t i = 0; own->kept && i < own->kept->nuses; i++)
            BZ_VEC_PUSH(&next, own->kept->uses[i]);
        bz_map_put(seen, e->key)->p = own;
    }
}

/* What contains() asked about is at the end of a value: "NAME{item} = Set". */
static void find_asked(struct bz_str value, struct names *roots)
{
    struct bz_str rest = value, line, name, tail;

    while (bz_str_next_part(&rest, '\n', &line))
        if (bz_str_ends(line, BZ_STR("et")) && bz_str_cut(line, '{', &name, &tail) &&
            (bz_str_ends(tail, BZ_STR("} = Set")) ||
             bz_str_ends(tail, BZ_STR("} = Unset"))))
            BZ_VEC_PUSH(roots, name);
}

/* Flags decide about inputs also by what they refer to. */
static void find_flags(struct bz_origin *o, struct bz_str name, struct names *roots)
{
    for (const char *const *flag = bz_origin_op_flags; *flag; flag++) {
        struct bz_str text = {0};
        struct bz_err ignored;

        if (bz_vars_get_flag(o->vars, name, bz_str_from(*flag), BZ_VARS_RAW, &text,
                             &ignored) == 0 &&
            bz_str_find(text, BZ_STR("${")) != BZ_STR_NONE)
            find_uses(o, text, name, roots);
    }
}

/* What [vardepsexclude] names does not count, but what that leads to may. */
static void find_excluded(struct bz_origin *o, struct bz_str name, struct names *roots)
{
    struct bz_str text = {0}, word;
    struct bz_err ignored;

    if (bz_vars_get_flag(o->vars, name, BZ_STR("vardepsexclude"), 0, &text, &ignored) <
        0)
        return;
    while (bz_str_next_word(&text, &word))
        BZ_VEC_PUSH(roots, word);
}

struct immediate {
    struct bz_origin *o;
    struct bz_str name;
    struct names *roots;
};

/* What := was computed from has left no other trace. What :remove refers to decides
 * whether it takes something out, and only then it counts. */
static void see_event(void *ctx, const struct bz_history_event *e)
{
    const struct immediate *i = ctx;

    if ((bz_str_ends(e->op, BZ_STR("immediate")) ||
         bz_str_find(e->op, BZ_STR(":remove")) != BZ_STR_NONE) &&
        e->detail.p)
        find_uses(i->o, e->detail, i->name, i->roots);
}

/* ---- inputs ---- */

static struct bz_origin_input *make_input(struct bz_origin *o,
                                          const struct bz_base_input *in)
{
    BZ_CLEANUP(bz_vec_release) struct bz_origin_ops ops = {0};
    BZ_CLEANUP(bz_vec_release) struct names roots = {0};
    struct bz_record_input kept = {
        .name = in->name, .digest = in->digest, .value = in->value};
    struct bz_origin_input *own = BZ_ARENA_NEW(&o->arena, struct bz_origin_input);
    struct immediate immediate = {o, in->name, &roots};

    bz_origin_op_list(o, in->name, &ops);
    find_asked(in->value, &roots);
    find_flags(o, in->name, &roots);
    find_excluded(o, in->name, &roots);
    bz_history_each(o->vars, in->name, see_event, &immediate);
    sort_names(&roots);
    kept.ops = ops.at;
    kept.nops = ops.len;
    kept.uses = roots.at;
    kept.nuses = roots.len;
    kept.leads = in->leads;
    kept.nleads = in->nleads;
    own->kept = bz_record_input(o->record, &kept);
    return own;
}

static const struct bz_origin_input *input_of(struct bz_origin *o,
                                              const struct bz_base_input *in)
{
    struct bz_map_entry *e = bz_map_get(&o->inputs, in->name);

    if (!e) {
        struct bz_origin_input *own = make_input(o, in);

        e = bz_map_put(&o->inputs, own->kept->name);
        e->p = own;
    }
    return e->p;
}

static int by_name(const void *a, const void *b)
{
    const struct bz_origin_input *x = a, *y = b;

    return bz_str_cmp(x->kept->name, y->kept->name);
}

void bz_origin_task(struct bz_origin *o, const struct bz_base_inputs *inputs,
                    struct bz_origin_list *out, struct bz_origin_list *context)
{
    static const struct bz_str roots[] = {
        {"BB_BASEHASH_IGNORE_VARS", 23},
        {"DEPENDS",                 7 },
        {"DISTRO",                  6 },
        {"MACHINE",                 7 },
        {"OVERRIDES",               9 },
    };
    static const char *const choosing[] = {"PREFERRED_VERSION", "REQUIRED_VERSION"};
    BZ_CLEANUP(bz_map_release) struct bz_map seen = {0};
    struct bz_str recipe = {0};
    struct bz_err ignored;

    for (size_t i = 0; i < BZ_COUNTOF(roots); i++)
        add_context(o, roots[i], &seen);
    if (bz_vars_get(o->vars, BZ_STR("PN"), 0, &recipe, &ignored) < 0)
        recipe = BZ_STR("");
    for (size_t i = 0; i < BZ_COUNTOF(choosing); i++) {
        add_context(o, bz_str_from(choosing[i]), &seen);
        add_context(
            o, bz_arena_printf(&o->arena, "%s_%.*s", choosing[i], BZ_STR_ARG(recipe)),
            &seen);
    }
    for (size_t i = 0; i < inputs->len; i++) {
        const struct bz_origin_input *in = input_of(o, &inputs->at[i]);

        BZ_VEC_PUSH(out, *in);
        for (size_t k = 0; k < in->kept->nuses; k++)
            add_context(o, in->kept->uses[k], &seen);
    }
    for (const struct bz_map_entry *e = bz_map_next(&seen, NULL); e;
         e = bz_map_next(&seen, e)) {
        const struct bz_origin_input *in = e->p;

        if (in->kept)
            BZ_VEC_PUSH(context, *in);
    }
    BZ_VEC_SORT(context, by_name);
}
