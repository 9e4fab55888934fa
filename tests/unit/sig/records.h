/* records.h - records from a few words, for the tests of what compares them.
 *
 * A script has one thing a line:
 *
 *     task NAME             begins a task; what follows is about it
 *     machine NAME
 *     policy TEXT
 *     taint WHEN
 *     in NAME=value         an input; "\n" in the value begins a line. It is a field of
 *                           the key, too: a function, or what is exported
 *     field KIND NAME=value one more field of the key
 *     ctx NAME=value        something of its context
 *     op FILE:LINE OP TEXT  an operation on the last of these; "-FILE" is without
 *                           effect, "OP[flag]" is about a flag
 *     use NAME              what the last of these uses; so with lead
 *     file NAME=content     "file NAME" is one that is missing
 *     dep TASK              a task that comes before it in the script
 *
 * Keys and digests are made as real ones are: from all that counts.
 */
#ifndef BZ_SIG_RECORDS_H
#define BZ_SIG_RECORDS_H

#include "tests/unit/bz_test.h"

#include "sig/record.h"

struct records {
    struct bz_record *r;
    struct bz_digest_hasher *h;
    struct bz_arena arena;
    struct bz_record_task task;
    struct bz_record_input last; /* under way */
    bool is_context;
    struct BZ_VEC(const struct bz_record_input *) inputs, context, fields;
    struct BZ_VEC(struct bz_record_op) ops;
    struct records_names BZ_VEC(struct bz_str) uses, leads;
    struct BZ_VEC(struct bz_record_file) files;
    struct BZ_VEC(struct bz_record_dep) deps;
};

static inline struct bz_digest records_hash(struct records *s, struct bz_str text)
{
    struct bz_digest d;

    bz_digest_bytes(s->h, text.p, text.n, &d);
    return d;
}

static inline uint64_t records_short(struct records *s, struct bz_str text)
{
    struct bz_digest d = records_hash(s, text);
    uint64_t n = 0;

    for (int i = 0; i < 8; i++)
        n = n << 8 | d.b[i];
    return n;
}

static inline void records_end_input(struct records *s)
{
    const struct bz_record_input *in;

    if (s->last.name.p) {
        s->last.ops = s->ops.at;
        s->last.nops = s->ops.len;
        s->last.uses = s->uses.at;
        s->last.nuses = s->uses.len;
        s->last.leads = s->leads.at;
        s->last.nleads = s->leads.len;
        in = bz_record_input(s->r, &s->last);
        /* They are lists of pointers. */
        if (s->is_context)
            BZ_VEC_PUSH(&s->context, in); /* NOLINT(bugprone-sizeof-expression) */
        else
            BZ_VEC_PUSH(&s->inputs, in); /* NOLINT(bugprone-sizeof-expression) */
    }
    s->last = (struct bz_record_input){0};
    BZ_VEC_CLEAR(&s->ops);
    BZ_VEC_CLEAR(&s->uses);
    BZ_VEC_CLEAR(&s->leads);
}

static inline void records_sign(struct records *s)
{
    bz_digest_begin(s->h);
    for (size_t i = 0; i < s->inputs.len; i++)
        bz_digest_add_field(s->h, 1, s->inputs.at[i]->digest.b, BZ_DIGEST_LEN);
    for (size_t i = 0; i < s->files.len; i++) {
        bz_digest_add_field(s->h, 2, s->files.at[i].name.p, s->files.at[i].name.n);
        bz_digest_add_field(s->h, 4, s->files.at[i].digest.b, BZ_DIGEST_LEN);
    }
    bz_digest_add_field(s->h, 3, s->task.machine.p, s->task.machine.n);
    bz_digest_add_field(s->h, 5, s->task.taint.p, s->task.taint.n);
    bz_digest_add_field(s->h, 6, s->task.policy.p, s->task.policy.n);
    for (size_t i = 0; i < s->fields.len; i++)
        bz_digest_add_field(s->h, 7, s->fields.at[i]->digest.b, BZ_DIGEST_LEN);
    bz_digest_end(s->h, &s->task.base);
    bz_digest_begin(s->h);
    bz_digest_add_field(s->h, 1, s->task.base.b, BZ_DIGEST_LEN);
    for (size_t i = 0; i < s->deps.len; i++)
        bz_digest_add_field(s->h, 2, s->deps.at[i].key.b, BZ_DIGEST_LEN);
    bz_digest_end(s->h, &s->task.key);
}

static inline void records_add_fields(struct records *s)
{
    for (size_t i = 0; i < s->inputs.len; i++) {
        struct bz_record_input field = {.digest = s->inputs.at[i]->digest,
                                        .value = s->inputs.at[i]->value};

        bool exported = false;

        for (size_t k = 0; k < s->inputs.at[i]->nops; k++)
            exported |= bz_str_eq(s->inputs.at[i]->ops[k].flag, BZ_STR("export"));
        field.name =
            bz_arena_printf(&s->arena, "%s %.*s", exported ? "export" : "function",
                            BZ_STR_ARG(s->inputs.at[i]->name));
        BZ_VEC_PUSH(&s->fields, /* NOLINT(bugprone-sizeof-expression) */
                    bz_record_input(s->r, &field));
    }
    if (s->task.machine.p) {
        struct bz_record_input field = {.name = BZ_STR("function MACHINE"),
                                        .value = s->task.machine};

        field.digest = records_hash(s, s->task.machine);
        BZ_VEC_PUSH(&s->fields, /* NOLINT(bugprone-sizeof-expression) */
                    bz_record_input(s->r, &field));
    }
    s->task.fields = s->fields.at;
    s->task.nfields = s->fields.len;
}

static inline void records_end_task(struct records *s)
{
    records_end_input(s);
    if (s->task.name.p) {
        records_sign(s);
        records_add_fields(s);
        s->task.inputs = s->inputs.at;
        s->task.ninputs = s->inputs.len;
        s->task.context = s->context.at;
        s->task.ncontext = s->context.len;
        s->task.files = s->files.at;
        s->task.nfiles = s->files.len;
        s->task.deps = s->deps.at;
        s->task.ndeps = s->deps.len;
        bz_record_add(s->r, &s->task);
    }
    s->task = (struct bz_record_task){0};
    BZ_VEC_CLEAR(&s->inputs);
    BZ_VEC_CLEAR(&s->context);
    BZ_VEC_CLEAR(&s->fields);
    BZ_VEC_CLEAR(&s->files);
    BZ_VEC_CLEAR(&s->deps);
}

/* "\n" becomes a line's end. */
static inline struct bz_str records_value(struct records *s, struct bz_str text)
{
    struct bz_buf out = {0};
    struct bz_str value;

    for (size_t i = 0; i < text.n; i++) {
        bool end = text.p[i] == '\\' && i + 1 < text.n && text.p[i + 1] == 'n';

        if (end)
            bz_buf_add_char(&out, '\n');
        else
            bz_buf_add_char(&out, text.p[i]);
        i += end;
    }
    value = bz_arena_dup(&s->arena, bz_buf_str(&out));
    bz_buf_release(&out);
    return value;
}

static inline void records_input(struct records *s, struct bz_str text, bool context)
{
    struct bz_str value;

    records_end_input(s);
    s->is_context = context;
    bz_str_cut(text, '=', &s->last.name, &value);
    s->last.value = records_value(s, value);
    s->last.digest = records_hash(s, bz_arena_printf(&s->arena, "%.*s=%.*s",
                                                     BZ_STR_ARG(s->last.name),
                                                     BZ_STR_ARG(s->last.value)));
}

static inline void records_field(struct records *s, struct bz_str text)
{
    struct bz_record_input field = {0};
    struct bz_str value;

    bz_str_cut(text, '=', &field.name, &value);
    field.value = records_value(s, value);
    field.digest = records_hash(s, text);
    BZ_VEC_PUSH(&s->fields, /* NOLINT(bugprone-sizeof-expression) */
                bz_record_input(s->r, &field));
}

static inline void records_op(struct records *s, struct bz_str text)
{
    struct bz_record_op op = {0};
    struct bz_str place, line, rest, flag;

    bz_str_cut(text, ' ', &place, &rest);
    bz_str_cut(rest, ' ', &op.op, &rest);
    if (bz_str_ends(op.op, BZ_STR("]")) && bz_str_cut(op.op, '[', &op.op, &flag))
        op.flag = bz_str_sub(flag, 0, flag.n - 1);
    op.off = bz_str_cut_prefix(&place, BZ_STR("-"));
    op.file = bz_str_sub(place, 0, bz_str_rfind_byte(place, ':'));
    line = bz_str_drop(place, op.file.n + 1);
    for (size_t i = 0; i < line.n; i++)
        op.line = op.line * 10 + (uint32_t)(line.p[i] - '0');
    op.text = records_short(s, rest);
    BZ_VEC_PUSH(&s->ops, op);
}

static inline void records_file(struct records *s, struct bz_str text)
{
    struct bz_record_file f = {0};
    struct bz_str content;

    f.present = bz_str_cut(text, '=', &f.name, &content);
    if (f.present)
        f.digest = records_hash(s, content);
    BZ_VEC_PUSH(&s->files, f);
}

static inline void records_dep(struct records *s, struct bz_str name)
{
    for (size_t i = 0; i < s->r->tasks.len; i++)
        if (bz_str_eq(s->r->tasks.at[i].name, name)) {
            BZ_VEC_PUSH(&s->deps, (struct bz_record_dep){name, s->r->tasks.at[i].key});
            return;
        }
    fail_msg("no task before this one is called %.*s", BZ_STR_ARG(name));
}

static inline void records_line(struct records *s, struct bz_str line)
{
    struct bz_str word, rest;

    bz_str_cut(bz_str_trim_start(line), ' ', &word, &rest);
    if (bz_str_eq(word, BZ_STR("task"))) {
        records_end_task(s);
        s->task.name = rest;
    } else if (bz_str_eq(word, BZ_STR("machine"))) {
        s->task.machine = rest;
    } else if (bz_str_eq(word, BZ_STR("taint"))) {
        s->task.taint = rest;
    } else if (bz_str_eq(word, BZ_STR("policy"))) {
        s->task.policy = rest;
    } else if (bz_str_eq(word, BZ_STR("field"))) {
        records_field(s, rest);
    } else if (bz_str_eq(word, BZ_STR("in"))) {
        records_input(s, rest, false);
    } else if (bz_str_eq(word, BZ_STR("ctx"))) {
        records_input(s, rest, true);
    } else if (bz_str_eq(word, BZ_STR("op"))) {
        records_op(s, rest);
    } else if (bz_str_eq(word, BZ_STR("use"))) {
        BZ_VEC_PUSH(&s->uses, rest);
    } else if (bz_str_eq(word, BZ_STR("lead"))) {
        BZ_VEC_PUSH(&s->leads, rest);
    } else if (bz_str_eq(word, BZ_STR("file"))) {
        records_file(s, rest);
    } else if (bz_str_eq(word, BZ_STR("dep"))) {
        records_dep(s, rest);
    } else if (word.n > 0) {
        fail_msg("no such line: %.*s", BZ_STR_ARG(line));
    }
}

/* Fills the record, which is empty, and sorts it. */
static inline void records_make(struct bz_record *r, const char *script)
{
    struct records s = {.r = r};
    struct bz_str rest = bz_str_from(script), line;
    struct bz_err err;

    assert_ok(bz_digest_hasher_new(&s.h, &err), &err);
    while (bz_str_next_part(&rest, '\n', &line))
        records_line(&s, line);
    records_end_task(&s);
    bz_record_sort(r);
    bz_vec_release(&s.inputs);
    bz_vec_release(&s.context);
    bz_vec_release(&s.fields);
    bz_vec_release(&s.ops);
    bz_vec_release(&s.uses);
    bz_vec_release(&s.leads);
    bz_vec_release(&s.files);
    bz_vec_release(&s.deps);
    bz_arena_release(&s.arena);
    bz_digest_hasher_free(s.h);
}

#endif
