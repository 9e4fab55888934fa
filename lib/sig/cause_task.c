#include "sig/cause_task.h"

#include "base/bitset.h"
#include "os/path.h"
#include "sig/cause_op.h"
#include "sig/record_diff.h"

/* One of the two times. */
struct side {
    const struct bz_record_task *task;
    struct bz_map inputs, context; /* name -> its number + 1 */
    struct bz_map files;           /* those that operations are in */
};

struct names BZ_VEC(struct bz_str);

struct explanation {
    struct bz_causes *c;
    uint32_t task;
    struct side was, is;
    struct bz_record_diff diff;
    struct bz_map blamed;       /* names of fields that nothing else explains */
    size_t found;               /* causes */
    const struct names *wanted; /* blame only context with one of these; or NULL */
    struct bz_cause_op_rename renamed; /* the recipe's file */
    bool chosen;  /* it is another file by PREFERRED_VERSION or its like */
    bool flipped; /* the task runs something at one time only, by an edit of [noexec] */
};

static void add_files(struct side *s, const struct bz_record_input *const *all,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < all[i]->nops; k++)
            (void)bz_map_put(&s->files, all[i]->ops[k].file);
}

static void side_init(struct side *s, const struct bz_record_task *t)
{
    s->task = t;
    for (size_t i = 0; i < t->ncontext; i++)
        bz_map_put(&s->context, t->context[i]->name)->u = i + 1;
    for (size_t i = 0; i < t->ninputs; i++)
        bz_map_put(&s->inputs, t->inputs[i]->name)->u = i + 1;
    add_files(s, t->inputs, t->ninputs);
    add_files(s, t->context, t->ncontext);
}

static void side_release(struct side *s)
{
    bz_map_release(&s->inputs);
    bz_map_release(&s->context);
    bz_map_release(&s->files);
}

static const struct bz_record_input *context_of(const struct side *s,
                                                struct bz_str name)
{
    const struct bz_map_entry *e = bz_map_get(&s->context, name);

    return e ? s->task->context[e->u - 1] : NULL;
}

/* "mc:X:recipe" of "mc:X:recipe:do_task" */
static struct bz_str recipe_of(struct bz_str task)
{
    size_t colon = bz_str_rfind_byte(task, ':');

    return colon == BZ_STR_NONE ? task : bz_str_of(task.p, colon);
}

/* ---- blame ---- */

static void add_place(struct bz_cause *cause, const struct bz_cause_op_edit *e)
{
    const struct bz_record_op *op = e->is ? e->is : e->was;
    struct bz_cause_place place = {.file = op->file,
                                   .was = e->was ? e->was->line : 0,
                                   .is = e->is ? e->is->line : 0,
                                   .op = op->op,
                                   .flag = op->flag};

    if (bz_str_starts(place.flag, BZ_STR("_")))
        place.flag = BZ_STR("");
    for (size_t i = 0; i < cause->places.len; i++) {
        struct bz_cause_place *p = &cause->places.at[i];

        if (!bz_str_eq(p->file, place.file) || p->was != place.was || p->is != place.is)
            continue;
        if (place.flag.n == 0) /* `export A = ...` is about both, and A is shorter */
            *p = place;
        return;
    }
    BZ_VEC_PUSH(&cause->places, place);
}

static struct bz_cause *blame_machine(struct explanation *x, enum bz_cause_kind kind)
{
    bool machine = kind == BZ_CAUSE_MACHINE;
    struct bz_str name = machine ? BZ_STR("MACHINE") : BZ_STR("DISTRO");
    const struct bz_record_input *was = context_of(&x->was, name);
    const struct bz_record_input *is = context_of(&x->is, name);
    BZ_CLEANUP(bz_vec_release) struct bz_cause_op_edits edits = {0};
    struct bz_cause like = {.kind = kind, .name = name};
    struct bz_cause *cause;

    like.was = machine ? x->was.task->machine : x->was.task->distro;
    like.is = machine ? x->is.task->machine : x->is.task->distro;
    if (!like.was.p && was)
        like.was = was->value;
    if (!like.is.p && is)
        like.is = is->value;
    like.was_there = like.was.p != NULL;
    like.is_there = like.is.p != NULL;
    cause = bz_cause_add(x->c, x->task, &like, BZ_STR(""));
    bz_cause_op_list(was, is, &x->renamed, &edits);
    for (size_t i = 0; i < edits.len; i++)
        if (!edits.at[i].idle)
            add_place(cause, &edits.at[i]);
    x->found++;
    return cause;
}

/* Those of machine and distro that differ. False if neither does. */
static bool blame_machines(struct explanation *x)
{
    if (x->diff.machine)
        (void)blame_machine(x, BZ_CAUSE_MACHINE);
    if (x->diff.distro)
        (void)blame_machine(x, BZ_CAUSE_DISTRO);
    return x->diff.machine || x->diff.distro;
}

/* A variable, perhaps with the place of an edit. */
static void blame_variable(struct explanation *x, const struct bz_record_input *was,
                           const struct bz_record_input *is,
                           const struct bz_cause_op_edit *edit)
{
    struct bz_cause like = {.kind = BZ_CAUSE_VARIABLE,
                            .name = (is ? is : was)->name,
                            .was_there = was != NULL,
                            .is_there = is != NULL,
                            .was = was ? was->value : (struct bz_str){0},
                            .is = is ? is->value : (struct bz_str){0}};
    struct bz_cause *cause;

    if (bz_str_eq(like.name, BZ_STR("MACHINE")))
        cause = blame_machine(x, BZ_CAUSE_MACHINE);
    else if (bz_str_eq(like.name, BZ_STR("DISTRO")))
        cause = blame_machine(x, BZ_CAUSE_DISTRO);
    else
        cause = bz_cause_add(x->c, x->task, &like,
                             !edit      ? BZ_STR("")
                             : edit->is ? edit->is->file
                                        : edit->was->file);
    if (edit)
        add_place(cause, edit);
    x->found++;
}

/* Whether a file that operations are in was read at one time only. Recipes, appends and
 * classes are read whatever the machine is, though there may have been nothing in them
 * that counts. */
static bool is_other_file(const struct side *other, const struct bz_record_op *op)
{
    return (bz_str_ends(op->file, BZ_STR(".conf")) ||
            bz_str_ends(op->file, BZ_STR(".inc"))) &&
           !bz_map_get(&other->files, op->file);
}

/* Whether an edit is that another machine has other files. */
static bool is_of_machine(const struct explanation *x,
                          const struct bz_cause_op_edit *edit)
{
    if (!x->diff.machine && !x->diff.distro)
        return false;
    return (edit->was && !edit->is && is_other_file(&x->is, edit->was)) ||
           (edit->is && !edit->was && is_other_file(&x->was, edit->is));
}

static bool is_recipe(const struct bz_record_op *op, struct bz_str name)
{
    return op && bz_str_eq(bz_path_basename(op->file), name);
}

/* Whether an edit is that another version of the recipe has other statements, and
 * inherits other classes. */
static bool is_of_version(const struct explanation *x,
                          const struct bz_cause_op_edit *edit)
{
    if (!x->chosen)
        return false;
    return is_recipe(edit->was, x->renamed.was) || is_recipe(edit->is, x->renamed.is) ||
           (edit->was && !edit->is && !bz_map_get(&x->is.files, edit->was->file)) ||
           (edit->is && !edit->was && !bz_map_get(&x->was.files, edit->is->file));
}

static size_t blame_version(struct explanation *x);

enum idle { WITHOUT_IDLE, WITH_IDLE };

enum {
    LEADS = BZ_CAUSE_OP_READS | BZ_CAUSE_OP_VARDEPS | BZ_CAUSE_OP_ORDER |
            BZ_CAUSE_OP_EXCLUDES
};

static bool has_field(const struct bz_record_task *t, const char *kind,
                      struct bz_str name)
{
    for (size_t i = 0; i < t->nfields; i++) {
        struct bz_str rest = t->fields[i]->name;

        if (bz_str_cut_prefix(&rest, bz_str_from(kind)) &&
            bz_str_cut_prefix(&rest, BZ_STR(" ")) && bz_str_eq(rest, name))
            return true;
    }
    return false;
}

/* Whether an edit is of [vardeps] of something that is no function of the script. */
static bool is_inert(const struct explanation *x, struct bz_str name,
                     const struct bz_cause_op_edit *edit)
{
    return edit->about == BZ_CAUSE_OP_VARDEPS &&
           !has_field(x->was.task, "function", name) &&
           !has_field(x->is.task, "function", name);
}

/* Returns how many edits of a variable were to blame. */
static size_t blame_edits(struct explanation *x, const struct bz_record_input *was,
                          const struct bz_record_input *is, unsigned about,
                          enum idle idle)
{
    BZ_CLEANUP(bz_vec_release) struct bz_cause_op_edits edits = {0};
    size_t n = 0;

    bz_cause_op_list(was, is, &x->renamed, &edits);
    for (size_t i = 0; i < edits.len; i++) {
        if (!(edits.at[i].about & about) ||
            is_inert(x, (is ? is : was)->name, &edits.at[i]) ||
            (idle == WITHOUT_IDLE && edits.at[i].idle))
            continue;
        n++;
        if (is_of_machine(x, &edits.at[i]))
            blame_machines(x);
        else if (is_of_version(x, &edits.at[i]))
            (void)blame_version(x);
        else
            blame_variable(x, was, is, &edits.at[i]);
    }
    return n;
}

static bool has_part(const struct bz_record_input *in, struct bz_str word)
{
    struct bz_str rest = in ? in->value : (struct bz_str){0}, part;

    while (bz_str_next_part(&rest, ':', &part))
        if (bz_str_has_word(part, word))
            return true;
    return false;
}

static bool is_wanted(const struct explanation *x, const struct bz_record_input *was,
                      const struct bz_record_input *is)
{
    if (!x->wanted)
        return true;
    for (size_t i = 0; i < x->wanted->len; i++)
        if (has_part(was, x->wanted->at[i]) != has_part(is, x->wanted->at[i]))
            return true;
    return false;
}

/* A variable of the context to look at. */
struct root {
    struct bz_str name;
    bool both; /* it was named then and is named now: if it was not there, it is new */
};

struct roots BZ_VEC(struct root);

/* What both use, or one of them; either may be NULL. */
static void add_roots(const struct bz_record_input *was,
                      const struct bz_record_input *is, struct roots *out)
{
    size_t n = was ? was->nuses : 0, m = is ? is->nuses : 0, i = 0, k = 0;

    while (i < n || k < m) {
        int order = i == n ? 1 : k == m ? -1 : bz_str_cmp(was->uses[i], is->uses[k]);

        BZ_VEC_PUSH(out,
                    (struct root){order <= 0 ? was->uses[i] : is->uses[k], order == 0});
        i += order <= 0;
        k += order >= 0;
    }
}

static bool may_blame(const struct explanation *x, const struct root *root,
                      const struct bz_record_input *was,
                      const struct bz_record_input *is, enum idle idle)
{
    if (!was || !is)
        return root->both && was != is && is_wanted(x, was, is);
    return (idle == WITH_IDLE || !bz_digest_eq(&was->digest, &is->digest)) &&
           is_wanted(x, was, is);
}

/* What was edited of these variables of the context and of all they are computed
 * from. */
static size_t blame_roots(struct explanation *x, struct roots *next, enum idle idle)
{
    BZ_CLEANUP(bz_map_release) struct bz_map seen = {0};
    size_t before = x->found;

    while (next->len > 0) {
        struct root root = BZ_VEC_POP(next);
        const struct bz_record_input *was = context_of(&x->was, root.name);
        const struct bz_record_input *is = context_of(&x->is, root.name);

        if (bz_map_get(&seen, root.name))
            continue;
        (void)bz_map_put(&seen, root.name);
        if (may_blame(x, &root, was, is, idle))
            (void)blame_edits(x, was, is, BZ_CAUSE_OP_VALUE, idle);
        add_roots(was, is, next);
    }
    return x->found - before;
}

/* The context of an input. */
static size_t blame_context(struct explanation *x, const struct bz_record_input *was,
                            const struct bz_record_input *is, enum idle idle)
{
    BZ_CLEANUP(bz_vec_release) struct roots roots = {0};

    add_roots(was, is, &roots);
    return blame_roots(x, &roots, idle);
}

static size_t blame_name(struct explanation *x, struct bz_str name)
{
    BZ_CLEANUP(bz_vec_release) struct roots roots = {0};

    BZ_VEC_PUSH(&roots, (struct root){name, true});
    return blame_roots(x, &roots, WITHOUT_IDLE);
}

static size_t blame_context_of(struct explanation *x, const char *name)
{
    return blame_name(x, bz_str_from(name));
}

/* The variables that choose between versions of a recipe. */
static size_t blame_version(struct explanation *x)
{
    static const char *const rows[] = {"PREFERRED_VERSION", "REQUIRED_VERSION"};
    struct bz_str recipe = recipe_of(x->is.task->name);
    bool chosen = x->chosen;
    size_t n = 0;

    recipe = bz_str_drop(recipe, bz_str_rfind_byte(recipe, ':') + 1);
    x->chosen = false; /* the file of such a variable may be new itself */
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        n += blame_context_of(x, rows[i]);
        n += blame_name(
            x, bz_arena_printf(&x->c->arena, "%s_%.*s", rows[i], BZ_STR_ARG(recipe)));
    }
    x->chosen = chosen;
    return n;
}

/* ---- inputs that changed ---- */

/* The override of an operation: of "override[o]:set", ":append[o]". */
static struct bz_str override_of(struct bz_str op)
{
    struct bz_str head, tail, override = {0};

    if (bz_str_cut(op, '[', &head, &tail))
        bz_str_cut(tail, ']', &override, &head);
    return override;
}

/* Whether an operation of this override has an effect. */
static bool has_active(const struct bz_record_input *in, struct bz_str override)
{
    for (size_t i = 0; i < in->nops; i++)
        if (!in->ops[i].off && bz_str_eq(override_of(in->ops[i].op), override))
            return true;
    return false;
}

/* Adds the parts of overrides by which operations of `in` have an effect that they do
 * not have in `other`. */
static void add_flipped(const struct bz_record_input *in,
                        const struct bz_record_input *other, struct names *out)
{
    for (size_t i = 0; i < in->nops; i++) {
        struct bz_str override = override_of(in->ops[i].op), part;

        if (in->ops[i].off || override.n == 0 || has_active(other, override))
            continue;
        while (bz_str_next_part(&override, ':', &part))
            BZ_VEC_PUSH(out, part);
    }
}

/* Other overrides are active: those to blame are in what was edited. */
static size_t blame_overrides(struct explanation *x, const struct bz_record_input *was,
                              const struct bz_record_input *is)
{
    BZ_CLEANUP(bz_vec_release) struct names flipped = {0};
    size_t n;

    add_flipped(was, is, &flipped);
    add_flipped(is, was, &flipped);
    x->wanted = &flipped;
    n = flipped.len > 0 ? blame_context_of(x, "OVERRIDES") : 0;
    x->wanted = NULL;
    return n;
}

static bool has_export(const struct bz_record_input *in)
{
    for (size_t i = 0; i < in->nops; i++)
        if (!in->ops[i].off && bz_str_eq(in->ops[i].flag, BZ_STR("export")))
            return true;
    return false;
}

/* Whether a task's code finds a variable in its environment, or any if n == 0. */
static bool has_exported(const struct bz_record_task *t, struct bz_str name)
{
    for (size_t i = 0; i < t->nfields; i++) {
        struct bz_str rest = t->fields[i]->name;

        if (bz_str_cut_prefix(&rest, BZ_STR("export ")) &&
            (name.n == 0 || bz_str_eq(rest, name)))
            return true;
    }
    return false;
}

/* Whether there is an environment at one time only, since functions came to a task
 * without code, or went. */
static bool is_environment_new(const struct explanation *x)
{
    return has_exported(x->was.task, BZ_STR("")) !=
           has_exported(x->is.task, BZ_STR(""));
}

/* Whether a variable came to all code, or no longer does. */
static bool is_export_new(const struct explanation *x, struct bz_str name)
{
    return has_exported(x->was.task, name) != has_exported(x->is.task, name) &&
           !is_environment_new(x) && !x->flipped;
}

/* Whether something changed that it leads to, or that comes to all code. */
static bool leads_to_change(const struct explanation *x,
                            const struct bz_record_input *in)
{
    for (size_t i = 0; i < x->diff.inputs.len; i++) {
        const struct bz_record_diff_input *d = &x->diff.inputs.at[i];

        if (!d->was || !d->is)
            continue;
        if (has_export(d->is))
            return true;
        for (size_t k = 0; k < in->nleads; k++)
            if (bz_str_eq(in->leads[k], d->name))
                return true;
    }
    return false;
}

/* Whether a :remove took something out at one time only, by what it found there. */
static bool is_by_removal(const struct explanation *x,
                          const struct bz_record_input *was,
                          const struct bz_record_input *is)
{
    static const struct bz_str mark = {"\n_remove of ", 12};

    return (bz_str_find(was->value, mark) != BZ_STR_NONE ||
            bz_str_find(is->value, mark) != BZ_STR_NONE) &&
           (leads_to_change(x, was) || leads_to_change(x, is));
}

static void explain_changed(struct explanation *x, const struct bz_record_input *was,
                            const struct bz_record_input *is)
{
    /* Beside an edit, too, another override may have been chosen. */
    size_t overrides = blame_overrides(x, was, is);

    if (blame_edits(x, was, is, BZ_CAUSE_OP_VALUE, WITHOUT_IDLE) > 0 ||
        blame_edits(x, was, is, LEADS, WITHOUT_IDLE) > 0)
        return;
    if (blame_context(x, was, is, WITHOUT_IDLE) > 0 || overrides > 0)
        return;
    /* := may have seen what was overwritten later. */
    if (blame_context(x, was, is, WITH_IDLE) > 0 ||
        blame_context_of(x, "OVERRIDES") > 0 || blame_machines(x))
        return;
    /* := may have seen the version, too. */
    if (is_by_removal(x, was, is) || bz_map_get(&x->blamed, BZ_STR("FILE")))
        return;
    if (blame_edits(x, was, is, BZ_CAUSE_OP_VALUE, WITH_IDLE) == 0)
        blame_variable(x, was, is, NULL);
}

/* ---- inputs that came or went ---- */

/* Those of one kind, and which of them follow from something else. */
struct arrivals {
    struct BZ_VEC(struct bz_record_diff_input) all;
    struct bz_map names; /* -> number */
    struct bz_bitset explained;
    bool came;
};

static void arrivals_init(struct arrivals *a, const struct bz_record_diff *d, bool came)
{
    *a = (struct arrivals){.came = came};
    for (size_t i = 0; i < d->inputs.len; i++) {
        const struct bz_record_diff_input *in = &d->inputs.at[i];

        if (came ? in->was != NULL : in->is != NULL)
            continue;
        bz_map_put(&a->names, (came ? in->is : in->was)->name)->u = a->all.len;
        BZ_VEC_PUSH(&a->all, *in);
    }
}

static void arrivals_release(struct arrivals *a)
{
    bz_vec_release(&a->all);
    bz_map_release(&a->names);
    bz_bitset_release(&a->explained);
}

static const struct bz_record_input *arrival(const struct arrivals *a, size_t i)
{
    return a->came ? a->all.at[i].is : a->all.at[i].was;
}

/* The arrivals that an input leads to. */
static void led_to(const struct arrivals *a, const struct bz_record_input *in,
                   struct bz_bitset *out)
{
    for (size_t i = 0; i < in->nleads; i++) {
        const struct bz_map_entry *e = bz_map_get(&a->names, in->leads[i]);

        if (e)
            bz_bitset_set(out, (size_t)e->u);
    }
}

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* Whether a name stands in a text as it is. */
static bool has_name(struct bz_str text, struct bz_str name)
{
    for (;;) {
        size_t at = bz_str_find(text, name), end = at + name.n;

        if (at == BZ_STR_NONE || name.n == 0)
            return false;
        if ((at == 0 || !in_name(text.p[at - 1])) &&
            (end == text.n || !in_name(text.p[end])))
            return true;
        text = bz_str_drop(text, at + 1);
    }
}

/* Whether an input began or ceased to name others where that does not count. */
static bool is_inert_now(const struct explanation *x, const struct bz_record_input *was,
                         const struct bz_record_input *is)
{
    BZ_CLEANUP(bz_vec_release) struct bz_cause_op_edits edits = {0};

    bz_cause_op_list(was, is, &x->renamed, &edits);
    for (size_t i = 0; i < edits.len; i++)
        if (is_inert(x, is->name, &edits.at[i]))
            return true;
    return false;
}

/* Whether an input of both times is why another came or went. It may be so by its
 * text; by its flags, which then is a cause of its own; or because it names something
 * by a variable that changed, as ${A_${B}} does. A function that it called already is
 * there for its own sake. */
static bool is_why(struct explanation *x, const struct bz_record_input *was,
                   const struct bz_record_input *is, struct bz_str name, bool came)
{
    const struct bz_record_input *has = came ? is : was, *had = came ? was : is;
    bool changed = !bz_digest_eq(&was->digest, &is->digest);
    bool stood = has_name(had->value, name);

    if (changed && !stood && has_name(has->value, name))
        return true;
    if (blame_edits(x, was, is, LEADS, WITHOUT_IDLE) > 0 || is_inert_now(x, was, is))
        return true;
    if (stood)
        return false;
    return changed || blame_context(x, was, is, WITHOUT_IDLE) > 0 ||
           leads_to_change(x, has);
}

static void explain_by(struct explanation *x, struct arrivals *a,
                       const struct bz_record_input *was,
                       const struct bz_record_input *is)
{
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset now = {0}, then = {0};

    led_to(a, a->came ? is : was, &now);
    led_to(a, a->came ? was : is, &then);
    bz_bitset_subtract(&now, &then);
    for (size_t i = bz_bitset_next(&now, 0); i < BZ_BITSET_END;
         i = bz_bitset_next(&now, i + 1))
        if (is_why(x, was, is, arrival(a, i)->name, a->came))
            bz_bitset_set(&a->explained, i);
}

static void explain_by_inputs(struct explanation *x, struct arrivals *a)
{
    BZ_CLEANUP(bz_map_release) struct bz_map old = {0};
    const struct bz_record_task *was = x->was.task, *is = x->is.task;

    for (size_t i = 0; i < was->ninputs; i++)
        bz_map_put(&old, was->inputs[i]->name)->u = i + 1;
    for (size_t i = 0; i < is->ninputs; i++) {
        const struct bz_map_entry *e = bz_map_get(&old, is->inputs[i]->name);
        const struct bz_record_input *before = e ? was->inputs[e->u - 1] : NULL;

        if (before && !bz_str_eq(before->json, is->inputs[i]->json))
            explain_by(x, a, before, is->inputs[i]);
    }
}

/* What follows from something also explains what that leads to. */
static void explain_onwards(struct arrivals *a, struct bz_bitset *done)
{
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = bz_bitset_next(&a->explained, 0); i < BZ_BITSET_END;
             i = bz_bitset_next(&a->explained, i + 1)) {
            BZ_CLEANUP(bz_bitset_release) struct bz_bitset next = {0};

            if (bz_bitset_test(done, i))
                continue;
            bz_bitset_set(done, i);
            led_to(a, arrival(a, i), &next);
            bz_bitset_union(&a->explained, &next);
            more = true;
        }
    }
}

/* The flags of a variable that came, came with it. */
static void explain_flags(struct arrivals *a)
{
    for (size_t i = 0; i < a->all.len; i++) {
        struct bz_str name = arrival(a, i)->name, var, flag;

        if (bz_str_ends(name, BZ_STR("]")) && bz_str_cut(name, '[', &var, &flag) &&
            bz_map_get(&a->names, var))
            bz_bitset_set(&a->explained, i);
    }
}

/* The context of all inputs. */
static size_t blame_contexts(struct explanation *x)
{
    BZ_CLEANUP(bz_map_release) struct bz_map old = {0};
    const struct bz_record_task *was = x->was.task, *is = x->is.task;
    size_t n = 0;

    for (size_t i = 0; i < was->ninputs; i++)
        bz_map_put(&old, was->inputs[i]->name)->u = i + 1;
    for (size_t i = 0; i < is->ninputs; i++) {
        const struct bz_map_entry *e = bz_map_get(&old, is->inputs[i]->name);

        if (e && is->inputs[i]->nuses > 0)
            n += blame_context(x, was->inputs[e->u - 1], is->inputs[i], WITHOUT_IDLE);
    }
    return n;
}

/* A variable that counts all at once, or no longer, for its own sake. */
static void blame_arrival(struct explanation *x, const struct bz_record_diff_input *in)
{
    BZ_CLEANUP(bz_vec_release) struct bz_cause_op_edits edits = {0};
    bool only_export =
        has_export(in->is ? in->is : in->was) && is_export_new(x, in->name);
    bool any = false, other = false;

    bz_cause_op_list(in->was, in->is, &x->renamed, &edits);
    for (size_t i = 0; i < edits.len; i++) {
        const struct bz_cause_op_edit *e = &edits.at[i];

        if (!(e->about & (BZ_CAUSE_OP_VALUE | LEADS))) {
            other = true; /* a flag of what is no task: it is a field of its own */
            continue;
        }
        if (e->idle || is_of_machine(x, e) ||
            (only_export &&
             !bz_str_eq((e->is ? e->is : e->was)->flag, BZ_STR("export"))))
            continue;
        any = true;
        if (is_of_version(x, e))
            (void)blame_version(x);
        else
            blame_variable(x, in->was, in->is, e);
    }
    /* One that nobody had set may have been set where it does not count, or follow from
     * something there. */
    if (!any && other && edits.len > 0 && !(in->is ? in->is : in->was)->value.n)
        return;
    if (!any && blame_name(x, in->name) == 0 && blame_contexts(x) == 0 &&
        !blame_machines(x) && !(x->chosen && blame_version(x) > 0))
        blame_variable(x, in->was, in->is, NULL);
}

/* Explains by itself the first that nothing explains, and what follows from that. */
static void explain_rest(struct explanation *x, struct arrivals *a,
                         struct bz_bitset *done)
{
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset mentioned = {0};

    for (size_t i = 0; i < a->all.len; i++) {
        BZ_CLEANUP(bz_bitset_release) struct bz_bitset by_it = {0};

        if (bz_bitset_test(&a->explained, i))
            continue;
        led_to(a, arrival(a, i), &by_it);
        bz_bitset_clear(&by_it, i);
        bz_bitset_union(&mentioned, &by_it);
    }
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < a->all.len; i++) {
            if (bz_bitset_test(&a->explained, i) ||
                (round == 0 && bz_bitset_test(&mentioned, i)))
                continue;
            blame_arrival(x, &a->all.at[i]);
            bz_bitset_set(&a->explained, i);
            explain_onwards(a, done);
        }
}

static struct bz_str order_of(const struct bz_record_task *t)
{
    for (size_t i = 0; i < t->nfields; i++)
        if (bz_str_eq(t->fields[i]->name, BZ_STR("order order")))
            return t->fields[i]->value;
    return BZ_STR("");
}

/* Whether it is a function that runs around the task at one time only, or its flag. */
static bool is_by_order(const struct explanation *x, struct bz_str name)
{
    struct bz_str flag;

    (void)bz_str_cut(name, '[', &name, &flag);
    return bz_str_has_word(order_of(x->was.task), name) !=
           bz_str_has_word(order_of(x->is.task), name);
}

static void explain_by_order(const struct explanation *x, struct arrivals *a)
{
    for (size_t i = 0; i < a->all.len; i++)
        if (is_by_order(x, arrival(a, i)->name))
            bz_bitset_set(&a->explained, i);
}

static size_t count_open(const struct arrivals *a)
{
    return a->all.len - bz_bitset_count(&a->explained);
}

/* Whether a variable is exported, or no longer is, by its flag [unexport] alone. */
static bool is_by_unexport(struct explanation *x, struct bz_str name)
{
    return is_export_new(
        x, bz_arena_printf(&x->c->arena, "%.*s[unexport]", BZ_STR_ARG(name)));
}

/* A variable that is exported is there for its own sake, whatever else leads to it. */
static void explain_export(struct explanation *x, struct arrivals *a, size_t i)
{
    const struct bz_record_input *in = arrival(a, i);

    if (is_environment_new(x)
            ? has_exported(a->came ? x->is.task : x->was.task, in->name)
            : has_export(in) && is_by_unexport(x, in->name)) {
        bz_bitset_set(&a->explained, i);
    } else if (has_export(in) && is_export_new(x, in->name)) {
        blame_arrival(x, &a->all.at[i]);
        bz_bitset_set(&a->explained, i);
    }
}

static void explain_arrivals(struct explanation *x, bool came)
{
    BZ_CLEANUP(arrivals_release) struct arrivals a = {0};
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset done = {0};

    arrivals_init(&a, &x->diff, came);
    if (a.all.len == 0)
        return;
    explain_by_inputs(x, &a);
    explain_by_order(x, &a);
    explain_flags(&a);
    explain_onwards(&a, &done);
    for (size_t i = 0; i < a.all.len; i++)
        explain_export(x, &a, i);
    explain_onwards(&a, &done);
    if (count_open(&a) > 0 && blame_context_of(x, "BB_BASEHASH_IGNORE_VARS") == 0)
        explain_rest(x, &a, &done);
}

/* ---- files, dependencies ---- */

/* Of a file with the same content: whether it may be executed, or all of its mode. */
static void name_modes(struct explanation *x, const struct bz_record_diff_file *f,
                       struct bz_cause *like)
{
    if (!f->was || !f->is || !bz_digest_eq(&f->was->digest, &f->is->digest))
        return;
    if (f->was->mode != f->is->mode) {
        like->was = bz_arena_printf(&x->c->arena, "mode %04o", f->was->mode);
        like->is = bz_arena_printf(&x->c->arena, "mode %04o", f->is->mode);
    } else if (f->was->executable != f->is->executable) {
        like->was =
            f->was->executable ? BZ_STR("executable") : BZ_STR("not executable");
        like->is = f->is->executable ? BZ_STR("executable") : BZ_STR("not executable");
    }
}

static void explain_commits(struct explanation *x)
{
    for (size_t i = 0; i < x->diff.commits.len; i++) {
        const struct bz_record_diff_commit *d = &x->diff.commits.at[i];
        struct bz_cause like = {.kind = BZ_CAUSE_COMMIT,
                                .name = d->question,
                                .was_there = d->was.p != NULL,
                                .is_there = d->is.p != NULL,
                                .was = d->was,
                                .is = d->is};

        if (!d->was.p || !d->is.p)
            continue; /* another entry: its source is a field */
        (void)bz_cause_add(x->c, x->task, &like, BZ_STR(""));
        x->found++;
    }
}

static const struct bz_digest *digest_of(const struct bz_record_file *f)
{
    static const struct bz_digest none;

    return f ? &f->digest : &none;
}

/* A file may count twice: because a flag names it, and because the task is shown it.
 * The shorter name is enough. */
static bool is_told(const struct explanation *x, const struct bz_record_diff_file *f)
{
    for (size_t i = 0; i < x->diff.files.len; i++) {
        const struct bz_record_diff_file *g = &x->diff.files.at[i];
        struct bz_str left = f->name;

        if (g->name.n < f->name.n && bz_str_cut_suffix(&left, g->name) &&
            bz_str_ends(left, BZ_STR("/")) &&
            bz_digest_eq(digest_of(f->was), digest_of(g->was)) &&
            bz_digest_eq(digest_of(f->is), digest_of(g->is)))
            return true;
    }
    return false;
}

static bool ends_path(struct bz_str text, size_t at)
{
    while (at < text.n && text.p[at] == '/')
        at++;
    return at == text.n || (!in_name(text.p[at]) && !strchr(".+-~", text.p[at]));
}

/* Whether a text has a path, after `lead`, and not the beginning of another one. */
static bool has_path(struct bz_str text, const char *lead, struct bz_str path)
{
    size_t from = 0, at;

    while (from < text.n &&
           (at = bz_str_find(bz_str_drop(text, from), path)) != BZ_STR_NONE) {
        at += from;
        if (bz_str_ends(bz_str_sub(text, 0, at), bz_str_from(lead)) &&
            ends_path(text, at + path.n))
            return true;
        from = at + 1;
    }
    return false;
}

/* Whether the script names a file of a layer, or a directory that it lies in. Variables
 * that the metadata ignores stay names: what follows them has to do. */
static bool shows_path(const struct side *s, struct bz_str path)
{
    for (size_t i = 0; i < s->task->nfields; i++) {
        const struct bz_record_input *f = s->task->fields[i];
        size_t slash = bz_str_rfind_byte(path, '/');

        if (!bz_str_starts(f->name, BZ_STR("function ")) &&
            !bz_str_starts(f->name, BZ_STR("export ")))
            continue;
        if (slash == BZ_STR_NONE
                ? bz_str_find(f->value, BZ_STR("<layer ")) != BZ_STR_NONE &&
                      has_path(f->value, ">", BZ_STR(""))
                : has_path(f->value, "/", bz_str_drop(path, slash + 1)))
            return true;
    }
    return false;
}

/* Whether an entry of SRC_URI names a local file, or a directory that it lies in. */
static bool has_entry(const struct side *s, struct bz_str path)
{
    for (size_t i = 0; i < s->task->nfields; i++)
        if (bz_str_eq(s->task->fields[i]->name, BZ_STR("source SRC_URI")) &&
            has_path(s->task->fields[i]->value, "file://", path))
            return true;
    return false;
}

static bool names_file(const struct side *s, const struct bz_record_file *f)
{
    struct bz_str path = f->name;

    bz_str_cut_suffix(&path, BZ_STR("/"));
    for (;;) {
        if (f->mode > 0 ? shows_path(s, path) : has_entry(s, path))
            return true;
        if (bz_str_find_byte(path, '/') == BZ_STR_NONE)
            return false;
        path = bz_path_dirname(path);
    }
}

/* Whether a file counts, or no longer does, because it is named now, or no longer is:
 * that is what was edited. */
static bool is_by_name(struct explanation *x, const struct bz_record_diff_file *f)
{
    const struct bz_record_file *file = f->is ? f->is : f->was;
    const struct side *with = f->is ? &x->is : &x->was;
    const struct side *without = f->is ? &x->was : &x->is;

    BZ_ASSERT(file);
    if (f->was && f->is)
        return false;
    if (names_file(with, file))
        return !names_file(without, file);
    return file->mode == 0 && x->was.task->ninputs > 0 && x->is.task->ninputs > 0 &&
           blame_edits(x, x->was.task->inputs[0], x->is.task->inputs[0],
                       BZ_CAUSE_OP_FILES, WITHOUT_IDLE) > 0;
}

static void explain_files(struct explanation *x)
{
    for (size_t i = 0; i < x->diff.files.len; i++) {
        const struct bz_record_diff_file *f = &x->diff.files.at[i];
        struct bz_cause like = {.kind = BZ_CAUSE_FILE,
                                .name = f->name,
                                .was_there = f->was && f->was->present,
                                .is_there = f->is && f->is->present};
        char was[BZ_DIGEST_HEX_LEN + 1] = "", is[BZ_DIGEST_HEX_LEN + 1] = "";

        if (is_told(x, f) || is_by_name(x, f))
            continue;
        if (f->was)
            bz_digest_hex(&f->was->digest, was);
        if (f->is)
            bz_digest_hex(&f->is->digest, is);
        name_modes(x, f, &like);
        (void)bz_cause_add(x->c, x->task, &like,
                           bz_arena_printf(&x->c->arena, "%s %s", was, is));
        x->found++;
    }
}

static size_t blame_waits(struct explanation *x)
{
    size_t n = 0;

    if (x->was.task->ninputs > 0 && x->is.task->ninputs > 0) {
        const struct bz_record_input *code = x->is.task->inputs[0];

        n = blame_edits(x, x->was.task->inputs[0], code, BZ_CAUSE_OP_WAITS,
                        WITHOUT_IDLE);
        n += blame_context(x, x->was.task->inputs[0], code, WITHOUT_IDLE);
    }
    return n > 0 ? n : blame_context_of(x, "DEPENDS");
}

static void explain_deps(struct explanation *x)
{
    bool any = false;

    for (size_t i = 0; i < x->diff.deps.len && !any; i++)
        any = !x->diff.deps.at[i].was || !x->diff.deps.at[i].is;
    if (!any || blame_waits(x) > 0)
        return;
    for (size_t i = 0; i < x->diff.deps.len; i++) {
        const struct bz_record_diff_dep *d = &x->diff.deps.at[i];
        struct bz_cause like = {.kind = BZ_CAUSE_DEPENDENCY,
                                .name = recipe_of(x->is.task->name),
                                .on = recipe_of(d->name),
                                .was_there = d->was != NULL,
                                .is_there = d->is != NULL};

        if (d->was && d->is)
            continue;
        (void)bz_cause_add(x->c, x->task, &like, d->is ? BZ_STR("+") : BZ_STR("-"));
        x->found++;
    }
}

/* Edits of the task's own flags, or of what these refer to. */
static size_t blame_flags(struct explanation *x, unsigned about)
{
    const struct bz_record_task *was = x->was.task, *is = x->is.task;
    size_t n;

    if (was->ninputs == 0 || is->ninputs == 0)
        return 0;
    n = blame_edits(x, was->inputs[0], is->inputs[0], about, WITHOUT_IDLE);
    return n > 0 ? n : blame_context(x, was->inputs[0], is->inputs[0], WITHOUT_IDLE);
}

static void blame_policy(struct explanation *x)
{
    const struct bz_cause like = {.kind = BZ_CAUSE_POLICY,
                                  .name = BZ_STR("sandbox"),
                                  .was_there = true,
                                  .is_there = true,
                                  .was = x->was.task->policy,
                                  .is = x->is.task->policy};

    (void)bz_cause_add(x->c, x->task, &like, like.is);
    x->found++;
}

static void blame_taint(struct explanation *x)
{
    const struct bz_cause like = {.kind = BZ_CAUSE_TAINT,
                                  .name = x->is.task->name,
                                  .was_there = x->was.task->taint.p != NULL,
                                  .is_there = x->is.task->taint.p != NULL,
                                  .was = x->was.task->taint,
                                  .is = x->is.task->taint};

    (void)bz_cause_add(x->c, x->task, &like, BZ_STR(""));
    x->found++;
}

/* ---- fields of the key ---- */

static void add_inputs_like(const struct side *s, struct bz_str start,
                            struct names *out)
{
    for (size_t i = 0; i < s->task->ninputs; i++)
        if (bz_str_starts(s->task->inputs[i]->name, start))
            BZ_VEC_PUSH(out, s->task->inputs[i]->name);
}

/* The variables that a field is made from, at the top. */
static void find_sources(const struct explanation *x, struct bz_str field,
                         struct names *out)
{
    static const struct bz_str places[] = {BZ_STR("S"), BZ_STR("UNPACKDIR"),
                                           BZ_STR("WORKDIR")};
    struct bz_str task = x->is.task->name, kind, name, var, flag;

    task = bz_str_drop(task, bz_str_rfind_byte(task, ':') + 1);
    bz_str_cut(field, ' ', &kind, &name);
    if (bz_str_eq(kind, BZ_STR("source")) || bz_str_starts(name, BZ_STR("SRC_URI "))) {
        BZ_VEC_PUSH(out, BZ_STR("SRC_URI"));
        BZ_VEC_PUSH(out, BZ_STR("SRCREV"));
        if (bz_str_eq(kind, BZ_STR("step"))) /* patches, and where they are applied */
            for (size_t i = 0; i < BZ_COUNTOF(places); i++)
                BZ_VEC_PUSH(out, places[i]);
        add_inputs_like(&x->was, BZ_STR("SRC_URI["), out);
        add_inputs_like(&x->is, BZ_STR("SRC_URI["), out);
    }
    if (bz_str_eq(kind, BZ_STR("umask")))
        BZ_VEC_PUSH(out, BZ_STR("BB_DEFAULT_UMASK"));
    if (bz_str_eq(kind, BZ_STR("order")))
        BZ_VEC_PUSH(out, task);
    BZ_VEC_PUSH(out, name);
    if (bz_str_cut(name, '[', &var, &flag))
        BZ_VEC_PUSH(out, var);
}

static const struct bz_record_input *find_input(const struct side *s,
                                                struct bz_str name)
{
    const struct bz_map_entry *e = bz_map_get(&s->inputs, name);

    return e ? s->task->inputs[e->u - 1] : NULL;
}

/* All inputs that names lead to, at either time. */
static void reach(const struct explanation *x, const struct names *from,
                  struct bz_map *out)
{
    BZ_CLEANUP(bz_vec_release) struct names next = {0};

    for (size_t i = 0; i < from->len; i++)
        BZ_VEC_PUSH(&next, from->at[i]);
    while (next.len > 0) {
        struct bz_str name = BZ_VEC_POP(&next);
        const struct bz_record_input *at[] = {find_input(&x->was, name),
                                              find_input(&x->is, name)};

        if (bz_map_put(out, name)->u++ > 0)
            continue;
        for (size_t side = 0; side < 2; side++)
            for (size_t i = 0; at[side] && i < at[side]->nleads; i++)
                BZ_VEC_PUSH(&next, at[side]->leads[i]);
    }
}

/* What was edited of the variables themselves, if that is no other text. */
static size_t blame_sources(struct explanation *x, const struct names *sources)
{
    enum { ANY = BZ_CAUSE_OP_VALUE | LEADS | BZ_CAUSE_OP_RUNS };
    size_t n = 0;

    for (size_t i = 0; i < sources->len; i++) {
        const struct bz_record_input *was = find_input(&x->was, sources->at[i]);
        const struct bz_record_input *is = find_input(&x->is, sources->at[i]);

        if (was && is)
            n += blame_edits(x, was, is, ANY, WITHOUT_IDLE) +
                 blame_context(x, was, is, WITHOUT_IDLE);
    }
    return n;
}

/* What stays a name, or no longer does, in a variable that is part of a field. */
static size_t blame_excludes(struct explanation *x, const struct bz_map *near)
{
    size_t n = 0;

    for (const struct bz_map_entry *e = bz_map_next(near, NULL); e;
         e = bz_map_next(near, e)) {
        const struct bz_record_input *was = find_input(&x->was, e->key);
        const struct bz_record_input *is = find_input(&x->is, e->key);

        if (was && is)
            n += blame_edits(x, was, is, BZ_CAUSE_OP_EXCLUDES, WITHOUT_IDLE);
    }
    return n;
}

static bool leads(const struct bz_record_input *in, struct bz_str name)
{
    for (size_t i = 0; in && i < in->nleads; i++)
        if (bz_str_eq(in->leads[i], name))
            return true;
    return false;
}

/* What began or ceased to name something, for a field that came or went. With `both`,
 * by a flag beside its text. */
static size_t blame_leaders(struct explanation *x, struct bz_str name, bool both)
{
    const struct bz_record_task *is = x->is.task;
    size_t n = 0;

    for (size_t i = 0; i < is->ninputs; i++) {
        const struct bz_record_input *was = find_input(&x->was, is->inputs[i]->name);

        if (was && (both ? leads(was, name) && leads(is->inputs[i], name)
                         : leads(was, name) != leads(is->inputs[i], name)))
            n += blame_edits(x, was, is->inputs[i], BZ_CAUSE_OP_VALUE | LEADS,
                             WITHOUT_IDLE);
    }
    return n;
}

static bool is_by_blamed(const struct explanation *x, const struct bz_map *near)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(&x->blamed, NULL); e; e = bz_map_next(&x->blamed, e))
        if (bz_map_get(near, e->key))
            return true;
    return false;
}

/* A field that nothing which was edited explains, such as a version that a file's name
 * gives. */
static void blame_field(struct explanation *x, const struct bz_record_diff_input *f,
                        struct bz_str source)
{
    struct bz_cause like = {.kind = BZ_CAUSE_VARIABLE,
                            .name = source,
                            .was_there = f->was != NULL,
                            .is_there = f->is != NULL,
                            .was = f->was ? f->was->value : (struct bz_str){0},
                            .is = f->is ? f->is->value : (struct bz_str){0}};

    (void)bz_map_put(&x->blamed, source);
    (void)bz_cause_add(x->c, x->task, &like, BZ_STR(""));
    x->found++;
}

/* Whether one of the inputs that differ is part of the field, or leads to it. */
static bool is_by_input(const struct explanation *x, const struct names *sources,
                        const struct bz_map *near)
{
    for (size_t i = 0; i < x->diff.inputs.len; i++) {
        struct bz_str name = x->diff.inputs.at[i].name;
        BZ_CLEANUP(bz_vec_release) struct names from = {0};
        BZ_CLEANUP(bz_map_release) struct bz_map far = {0};

        if (bz_map_get(near, name))
            return true;
        BZ_VEC_PUSH(&from, name);
        reach(x, &from, &far);
        for (size_t k = 0; k < sources->len; k++)
            if (bz_map_get(&far, sources->at[k]))
                return true;
    }
    return false;
}

/* A field that no input explains. */
static void explain_field(struct explanation *x, const struct bz_record_diff_input *f)
{
    BZ_CLEANUP(bz_vec_release) struct names sources = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map near = {0};
    struct bz_str kind, name;

    bz_str_cut(f->name, ' ', &kind, &name);
    if ((bz_str_eq(kind, BZ_STR("export")) && is_environment_new(x)) ||
        ((!f->was || !f->is) && is_by_order(x, name)))
        return;
    find_sources(x, f->name, &sources);
    reach(x, &sources, &near);
    if (is_by_input(x, &sources, &near) || blame_sources(x, &sources) > 0 ||
        is_by_blamed(x, &near) || blame_excludes(x, &near) > 0)
        return;
    if ((!f->was || !f->is) && (blame_leaders(x, sources.at[0], false) > 0 ||
                                (bz_str_starts(f->name, BZ_STR("vardeps ")) &&
                                 blame_leaders(x, sources.at[0], true) > 0)))
        return;
    if (blame_machines(x) || (x->chosen && blame_version(x) > 0))
        return;
    blame_field(x, f, sources.at[0]);
}

/* The inputs that differ and are part of a field that does. */
static void explain_inputs(struct explanation *x)
{
    BZ_CLEANUP(bz_vec_release) struct names sources = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map near = {0};
    struct bz_record_diff_inputs *all = &x->diff.inputs;
    size_t kept = 0;

    for (size_t i = 0; i < x->diff.fields.len; i++)
        find_sources(x, x->diff.fields.at[i].name, &sources);
    reach(x, &sources, &near);
    for (size_t i = 0; i < all->len; i++)
        if (bz_map_get(&near, all->at[i].name))
            all->at[kept++] = all->at[i];
    all->len = kept;
    for (size_t i = 0; i < all->len; i++)
        if (all->at[i].was && all->at[i].is)
            explain_changed(x, all->at[i].was, all->at[i].is);
    explain_arrivals(x, true);
    explain_arrivals(x, false);
}

/* The recipe's name and version first: others are made from them. */
static void explain_fields(struct explanation *x)
{
    static const struct bz_str first[] = {BZ_STR("recipe "), BZ_STR("version "),
                                          BZ_STR("revision ")};

    explain_inputs(x);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < x->diff.fields.len; i++) {
            const struct bz_record_diff_input *f = &x->diff.fields.at[i];
            bool early = false;

            for (size_t k = 0; k < BZ_COUNTOF(first); k++)
                early |= bz_str_starts(f->name, first[k]);
            if (early == (round == 0))
                explain_field(x, f);
        }
}

/* The last component of the recipe's path. */
static struct bz_str file_of(const struct side *s)
{
    const struct bz_record_input *in = find_input(s, BZ_STR("FILE"));

    return in ? bz_path_basename(in->value) : BZ_STR("");
}

/* The recipe has another file. If that gives it another version, the version is what
 * people know of it. */
static void explain_file(struct explanation *x)
{
    static const struct bz_str version = BZ_STR("version PV");
    struct bz_record_diff_inputs *all = &x->diff.inputs;
    struct bz_str was = file_of(&x->was), is = file_of(&x->is);
    const struct bz_record_diff_input *pv = NULL;
    bool own = false; /* PV is text that was edited */
    size_t kept = 0;

    if (was.n == 0 || is.n == 0 || bz_str_eq(was, is))
        return;
    x->renamed = (struct bz_cause_op_rename){was, is};
    x->chosen = blame_version(x) > 0;
    for (size_t i = 0; i < x->diff.fields.len; i++)
        if (bz_str_eq(x->diff.fields.at[i].name, version))
            pv = &x->diff.fields.at[i];
    for (size_t i = 0; i < all->len; i++)
        own |= bz_str_eq(all->at[i].name, BZ_STR("PV"));
    if (!x->chosen && (!pv || own))
        return;
    for (size_t i = 0; i < all->len; i++)
        if (!bz_str_eq(all->at[i].name, BZ_STR("FILE")))
            all->at[kept++] = all->at[i];
    all->len = kept;
    (void)bz_map_put(&x->blamed, BZ_STR("FILE"));
    if (!x->chosen)
        blame_field(x, pv, BZ_STR("PV"));
}

/* The task began or ceased to run something: with that come or go most fields. */
static void explain_noexec(struct explanation *x)
{
    static const struct bz_str always = BZ_STR("umask"); /* of what runs */
    struct bz_record_diff_inputs *all = &x->diff.fields;
    size_t kept = 0;

    if (has_field(x->was.task, "umask", always) ==
            has_field(x->is.task, "umask", always) ||
        blame_flags(x, BZ_CAUSE_OP_NOEXEC) == 0)
        return;
    x->flipped = true;
    for (size_t i = 0; i < all->len; i++)
        if (all->at[i].was && all->at[i].is)
            all->at[kept++] = all->at[i];
    all->len = kept;
}

/* Fields that flags of the task are: functions around it, modes of files. */
static void explain_flag_fields(struct explanation *x)
{
    struct bz_record_diff_inputs *all = &x->diff.fields;
    size_t kept = 0;

    for (size_t i = 0; i < all->len; i++) {
        unsigned about =
            bz_str_eq(all->at[i].name, BZ_STR("order order"))   ? BZ_CAUSE_OP_ORDER
            : bz_str_eq(all->at[i].name, BZ_STR("umask umask")) ? BZ_CAUSE_OP_UMASK
                                                                : 0;

        if (about == 0 || blame_flags(x, about) == 0)
            all->at[kept++] = all->at[i];
    }
    all->len = kept;
}

bool bz_cause_task_explain(struct bz_causes *c, uint32_t task,
                           const struct bz_record_task *was,
                           const struct bz_record_task *is)
{
    struct explanation x = {.c = c, .task = task};

    if (was->older != is->older) {
        (void)bz_cause_add(c, task, &(struct bz_cause){.kind = BZ_CAUSE_OLDER},
                           BZ_STR(""));
        return true;
    }
    side_init(&x.was, was);
    side_init(&x.is, is);
    bz_record_diff_run(&x.diff, was, is);
    explain_file(&x);
    if (x.diff.policy && blame_flags(&x, BZ_CAUSE_OP_SANDBOX) == 0)
        blame_policy(&x);
    if (x.diff.taint)
        blame_taint(&x);
    explain_noexec(&x);
    explain_flag_fields(&x);
    explain_fields(&x);
    if (!x.flipped)
        explain_files(&x);
    explain_commits(&x);
    explain_deps(&x);
    if (x.found == 0 &&
        (!bz_digest_eq(&was->base, &is->base) || x.diff.deps.len == 0)) {
        struct bz_cause like = {.kind = BZ_CAUSE_OTHER, .name = BZ_STR("")};

        (void)bz_cause_add(c, task, &like, BZ_STR(""));
        x.found++;
    }
    side_release(&x.was);
    side_release(&x.is);
    bz_map_release(&x.blamed);
    bz_record_diff_release(&x.diff);
    return x.found > 0;
}
