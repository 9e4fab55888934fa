/* observe.h - all that can be observed of a store, as text.
 *
 * Two stores behave alike if the texts are equal, byte for byte. Observing fills caches
 * and counts reads; it changes nothing else.
 */
#ifndef BZ_TESTS_OBSERVE_H
#define BZ_TESTS_OBSERVE_H

#include <stdio.h>

#include "base/buf.h"
#include "vars/dump.h"
#include "vars/history.h"
#include "vars/refs.h"
#include "vars/store.h"

static inline void observe_text(struct bz_buf *out, const char *what, int rc,
                                struct bz_str text, const struct bz_err *err)
{
    if (rc < 0)
        bz_buf_addf(out, "  %s: %d %s\n", what, rc, err->msg);
    else if (!text.p)
        bz_buf_addf(out, "  %s: not set\n", what);
    else
        bz_buf_addf(out, "  %s: '%.*s'\n", what, BZ_STR_ARG(text));
}

static inline void observe_list(struct bz_buf *out, const char *what, int rc,
                                const struct bz_str *list, size_t n,
                                const struct bz_err *err)
{
    bz_buf_addf(out, "  %s: %d %s\n", what, rc, rc < 0 ? err->msg : "");
    for (size_t i = 0; rc == 0 && i < n; i++)
        bz_buf_addf(out, "    '%.*s'\n", BZ_STR_ARG(list[i]));
}

static inline void observe_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct bz_buf *out = ctx;

    bz_buf_addf(out, "  flag %.*s = %s'%.*s'\n", BZ_STR_ARG(flag),
                value.p ? "" : "NULL", BZ_STR_ARG(value));
}

static inline void observe_event(void *ctx, const struct bz_history_event *e)
{
    struct bz_buf *out = ctx;

    bz_buf_addf(out, "  event %s:%u '%.*s' [%.*s] %s'%.*s'\n", e->file, e->line,
                BZ_STR_ARG(e->op), BZ_STR_ARG(e->flag), e->detail.p ? "" : "NULL",
                BZ_STR_ARG(e->detail));
}

static inline void observe_values(struct bz_vars *v, struct bz_str name,
                                  struct bz_buf *out)
{
    static const char *const flags[] = {
        "export",  "unexport", "doc",         "func",
        "vardeps", "_content", "_defaultval", "_defaultval_flag_doc"};
    struct bz_str text, raw;
    struct bz_err err;
    char what[64];
    int rc;

    for (unsigned how = 0; how < 8; how++) {
        rc = bz_vars_get(v, name, how, &text, &err);
        snprintf(what, sizeof(what), "get %u", how);
        observe_text(out, what, rc, text, &err);
    }
    bz_vars_flags(v, name, observe_flag, out);
    for (size_t i = 0; i < BZ_COUNTOF(flags); i++) {
        rc = bz_vars_get_flag(v, name, bz_str_from(flags[i]), 0, &text, &err);
        snprintf(what, sizeof(what), "[%s]", flags[i]);
        if (text.p || rc < 0)
            observe_text(out, what, rc, text, &err);
        rc = bz_vars_get_flag(v, name, bz_str_from(flags[i]),
                              BZ_VARS_RAW | BZ_VARS_NOWEAK, &raw, &err);
        if (raw.p || rc < 0)
            observe_text(out, what, rc, raw, &err);
    }
}

static inline void observe_refs(struct bz_vars *v, struct bz_str name,
                                struct bz_buf *out)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    const struct bz_map_entry *e;
    struct bz_refs refs;
    struct bz_str raw, text;
    struct bz_err err;
    int rc = bz_vars_get(v, name, BZ_VARS_RAW, &raw, &err);

    if (rc < 0 || !raw.p)
        return;
    bz_refs_init(&refs, &arena);
    rc = bz_vars_expand(v, raw, name, &refs, &text, &err);
    observe_text(out, "expand", rc, text, &err);
    for (e = bz_map_next(&refs.reads, NULL); e; e = bz_map_next(&refs.reads, e))
        bz_buf_addf(out, "  reads %.*s\n", BZ_STR_ARG(e->key));
    bz_refs_release(&refs);
}

static inline void observe_name(struct bz_vars *v, struct bz_str name,
                                struct bz_buf *out)
{
    struct bz_history_event last;
    const struct bz_str *removed;
    bool yes = false;
    struct bz_err err;
    size_t n = 0;
    int rc;

    bz_buf_addf(out, "%.*s %s\n", BZ_STR_ARG(name),
                bz_vars_exists(v, name) ? "exists" : "does not exist");
    observe_values(v, name, out);
    observe_refs(v, name, out);
    rc = bz_vars_removed(v, name, &removed, &n, &err);
    if (rc < 0 || n > 0)
        observe_list(out, "removed", rc, removed, n, &err);
    rc = bz_vars_flag_true(v, name, BZ_STR("export"), &yes, &err);
    bz_buf_addf(out, "  export %d %d\n", rc, yes);
    bz_history_each(v, name, observe_event, out);
    if (bz_history_last(v, name, &last))
        observe_event(out, &last);
    rc = bz_history_write(v, name, out, &err);
    bz_buf_addf(out, "  history %d\n", rc);
}

/* What is known of a store before anything is read from it. */
static inline void observe_notes(struct bz_vars *v, struct bz_buf *out)
{
    struct bz_vars_impure impure = bz_vars_impure(v);

    bz_buf_addf(out, "by_task %d asked_overrides %d clock %d host %d clock_read %d\n",
                bz_vars_by_task(v), bz_vars_asked_overrides(v), impure.clock > 0,
                impure.host > 0, bz_vars_clock_read(v));
}

/* How often code asked for something impure; values that are cached count once. */
static inline void observe_counts(struct bz_vars *v, struct bz_buf *out)
{
    struct bz_vars_impure impure = bz_vars_impure(v);

    bz_buf_addf(out, "clock %u host %u\n", impure.clock, impure.host);
}

static inline void observe_record(void *ctx, struct bz_str name, struct bz_str record)
{
    struct bz_buf *out = ctx;

    bz_buf_addf(out, "record %.*s: ", BZ_STR_ARG(name));
    bz_buf_add_str(out, record);
    bz_buf_add_char(out, '\n');
}

static inline int observe_by_name(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

/* All names that a store and its parents ever had, sorted, some repeatedly. */
struct observe_names BZ_VEC(struct bz_str);
static inline void observe_all_names(const struct bz_vars *v,
                                     struct observe_names *names)
{
    for (; v; v = v->parent)
        for (const struct bz_map_entry *e = NULL; (e = bz_map_next(&v->nodes, e));)
            for (const struct bz_store_node *node = e->p; node; node = node->next)
                BZ_VEC_PUSH(names, node->name);
    BZ_VEC_SORT(names, observe_by_name);
}

/* `names` are those to look at, beside those that are listed. */
static inline void observe_store(struct bz_vars *v, const struct observe_names *names,
                                 struct bz_buf *out)
{
    const struct bz_str *list;
    struct bz_err err;
    size_t n = 0;
    int rc;

    observe_notes(v, out);
    rc = bz_vars_names(v, &list, &n, &err);
    observe_list(out, "names", rc, list, n, &err);
    for (size_t i = 0; i < names->len; i++)
        if (i == 0 || !bz_str_eq(names->at[i], names->at[i - 1]))
            observe_name(v, names->at[i], out);
    rc = bz_vars_exported(v, &list, &n, &err);
    observe_list(out, "exported", rc, list, n, &err);
    rc = bz_vars_unexported(v, &list, &n, &err);
    observe_list(out, "unexported", rc, list, n, &err);
    bz_buf_addf(out, "names clock: %d %d\n", bz_vars_names_clock(v, BZ_STR("${A}")),
                bz_vars_names_clock(v, BZ_STR("${B} ${C}")));
}

static inline int observe_ask(void *ctx, struct bz_str in, struct bz_str name,
                              enum bz_vars_kept *what, struct bz_str *text,
                              struct bz_err *err)
{
    (void)ctx;
    (void)in;
    (void)err;
    *what = bz_str_starts(name, BZ_STR("A")) || bz_str_starts(name, BZ_STR("P"))
                ? BZ_VARS_KEEP
            : bz_str_starts(name, BZ_STR("D")) ? BZ_VARS_REPLACE
                                               : BZ_VARS_EXPAND;
    *text = BZ_STR("replaced");
    return 0;
}

/* Values as keys count them: some references stand for themselves. */
static inline void observe_kept(struct bz_vars *v, const struct observe_names *names,
                                struct bz_buf *out)
{
    struct bz_vars *plain = bz_vars_new(v), *key = bz_vars_new(plain);
    struct bz_vars_keep keep = {.ask = observe_ask, .plain = plain};
    struct bz_str text;
    struct bz_err err;
    int rc;

    bz_vars_set_keep(key, &keep);
    for (size_t i = 0; i < names->len; i++) {
        bz_buf_addf(out, "%.*s\n", BZ_STR_ARG(names->at[i]));
        rc = bz_vars_get(key, names->at[i], 0, &text, &err);
        observe_text(out, "kept", rc, text, &err);
        rc = bz_vars_get_flag(key, names->at[i], BZ_STR("doc"), 0, &text, &err);
        observe_text(out, "kept [doc]", rc, text, &err);
        bz_buf_addf(out, "  read %d %d\n", bz_vars_was_read(key, names->at[i]),
                    bz_vars_was_read(plain, names->at[i]));
    }
    observe_notes(key, out);
    observe_notes(plain, out);
    bz_vars_free(key);
    bz_vars_free(plain);
}

/* A store that has no parent, without its history. */
static inline void observe_records(const struct bz_vars *v, struct bz_buf *out)
{
    bz_dump_each(v, observe_record, out);
}

/* The first line in which two texts differ, for a message. */
static inline struct bz_str observe_difference(struct bz_str a, struct bz_str b,
                                               struct bz_str *other)
{
    struct bz_str one = {0}, two = {0};

    while (a.p || b.p) {
        bool more = bz_str_next_part(&a, '\n', &one);

        if (!bz_str_next_part(&b, '\n', &two) || !more || !bz_str_eq(one, two))
            break;
    }
    *other = two;
    return one;
}

#endif
