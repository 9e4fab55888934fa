/* script.h - a store filled by a few lines of text, and one question to it.
 *
 * The tables that use this were answered by BitBake itself. A line of a script is one
 * of
 *
 *     NAME=value        as in a file: operations and overrides of NAME stay
 *     NAME~=value       a weak default, what a file writes with two question marks
 *     NAME[flag]=value  NAME[flag]~=value
 *     code NAME=value   d.setVar(): they are dropped
 *     append NAME value, prepend NAME value
 *     del NAME, delflag NAME flag, delflags NAME, rename NAME NEW
 *     copy              from here on in a copy of the store
 *     expandkeys
 *
 * and a question is NAME, NAME[flag], NAME!raw, NAME!noweak, NAME!parsing, "!names" or
 * "!flags NAME".
 */
#ifndef BZ_VARS_SCRIPT_H
#define BZ_VARS_SCRIPT_H

#include <stdio.h>

#include "tests/unit/bz_test.h"

#include "base/buf.h"
#include "vars/vars.h"

struct script_case {
    const char *script;
    const char *question;
    const char *answer; /* NULL: not set */
};

#define SCRIPT_FAILS "(fails)" /* the answer to a question that is an error */

struct script {
    struct bz_vars *stores[8];
    size_t n;
};

static inline struct bz_vars *script_store(const struct script *s)
{
    return s->stores[s->n - 1];
}

static inline void script_release(struct script *s)
{
    while (s->n > 0)
        bz_vars_free(s->stores[--s->n]);
}

/* "a b" as two slices. */
static inline void script_words(struct bz_str text, struct bz_str *a, struct bz_str *b)
{
    bz_str_cut(text, ' ', a, b);
}

static inline int script_assign(struct bz_vars *v, struct bz_str line, unsigned how,
                                struct bz_err *err)
{
    struct bz_str name, value, flag;
    bool weak;

    bz_str_cut(line, '=', &name, &value);
    weak = bz_str_cut_suffix(&name, BZ_STR("~"));
    if (bz_str_cut_suffix(&name, BZ_STR("]"))) {
        char buf[64];

        bz_str_cut(name, '[', &name, &flag);
        snprintf(buf, sizeof(buf), "%s%.*s", weak ? "_defaultval_flag_" : "",
                 BZ_STR_ARG(flag));
        return bz_vars_set_flag(v, name, bz_str_from(buf), value, NULL, err);
    }
    if (weak)
        return bz_vars_set_flag(v, name, BZ_STR("_defaultval"), value, NULL, err);
    return bz_vars_set(v, name, value, how, NULL, err);
}

static inline int script_line(struct script *s, struct bz_str line, struct bz_err *err)
{
    struct bz_vars *v = script_store(s);
    struct bz_str a, b;

    if (bz_str_eq(line, BZ_STR("copy"))) {
        s->stores[s->n++] = bz_vars_new(v);
        return 0;
    }
    if (bz_str_eq(line, BZ_STR("expandkeys")))
        return bz_vars_expand_keys(v, err);
    if (bz_str_cut_prefix(&line, BZ_STR("code ")))
        return script_assign(v, line, 0, err);
    if (bz_str_cut_prefix(&line, BZ_STR("del ")))
        return bz_vars_del(v, line, NULL, err);
    if (bz_str_cut_prefix(&line, BZ_STR("delflags "))) {
        bz_vars_del_flags(v, line, NULL);
        return 0;
    }
    if (bz_str_cut_prefix(&line, BZ_STR("delflag "))) {
        script_words(line, &a, &b);
        bz_vars_del_flag(v, a, b, NULL);
        return 0;
    }
    if (bz_str_cut_prefix(&line, BZ_STR("rename "))) {
        script_words(line, &a, &b);
        return bz_vars_rename(v, a, b, NULL, err);
    }
    if (bz_str_cut_prefix(&line, BZ_STR("append "))) {
        script_words(line, &a, &b);
        return bz_vars_append(v, a, b, NULL, err);
    }
    if (bz_str_cut_prefix(&line, BZ_STR("prepend "))) {
        script_words(line, &a, &b);
        return bz_vars_prepend(v, a, b, NULL, err);
    }
    return line.n > 0 ? script_assign(v, line, BZ_VARS_SET_PARSING, err) : 0;
}

static inline int script_run(struct script *s, const char *text, struct bz_err *err)
{
    struct bz_str rest = bz_str_from(text), line;
    int rc = 0;

    *s = (struct script){0};
    s->stores[s->n++] = bz_vars_new(NULL);
    while (rc == 0 && bz_str_next_part(&rest, '\n', &line))
        rc = script_line(s, line, err);
    return rc;
}

static inline void script_add_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct bz_buf *out = ctx;

    bz_buf_addf(out, "%s%.*s=%.*s", out->len > 0 ? " " : "", BZ_STR_ARG(flag),
                BZ_STR_ARG(value));
}

static inline int script_names(struct bz_vars *v, struct bz_buf *out,
                               struct bz_err *err)
{
    const struct bz_str *names;
    size_t n = 0;
    int rc = bz_vars_names(v, &names, &n, err);

    for (size_t i = 0; rc == 0 && i < n; i++)
        bz_buf_addf(out, "%s%.*s", i > 0 ? " " : "", BZ_STR_ARG(names[i]));
    return rc;
}

/* The answer in *out, with p == NULL for none. */
static inline int script_ask(struct bz_vars *v, const char *question,
                             struct bz_buf *room, struct bz_str *out,
                             struct bz_err *err)
{
    static const struct {
        const char *suffix;
        unsigned how;
    } ways[] = {
        {"!raw",     BZ_VARS_RAW                                   },
        {"!noweak",  BZ_VARS_NOWEAK                                },
        {"!parsing", BZ_VARS_RAW | BZ_VARS_NOWEAK | BZ_VARS_PARSING},
    };
    struct bz_str name = bz_str_from(question), flag;
    int rc = 0;

    if (bz_str_eq(name, BZ_STR("!names"))) {
        rc = script_names(v, room, err);
        *out = bz_str_of(bz_buf_text(room), room->len);
        return rc;
    }
    if (bz_str_cut_prefix(&name, BZ_STR("!flags "))) {
        bz_vars_flags(v, name, script_add_flag, room);
        *out = bz_str_of(bz_buf_text(room), room->len);
        return 0;
    }
    for (size_t i = 0; i < BZ_COUNTOF(ways); i++)
        if (bz_str_cut_suffix(&name, bz_str_from(ways[i].suffix)))
            return bz_vars_get(v, name, ways[i].how, out, err);
    if (bz_str_cut_suffix(&name, BZ_STR("]"))) {
        bz_str_cut(name, '[', &name, &flag);
        return bz_vars_get_flag(v, name, flag, 0, out, err);
    }
    return bz_vars_get(v, name, 0, out, err);
}

/* Asks twice, since the second answer comes from a cache, and once more in a copy. */
static inline void script_check(const struct script_case *c)
{
    struct script s;
    struct bz_err err = {0};
    int rc = script_run(&s, c->script, &err);

    assert_ok(rc, &err);
    for (int turn = 0; turn < 3; turn++) {
        struct bz_buf room = {0};
        struct bz_str out = {0};

        if (turn == 2)
            s.stores[s.n++] = bz_vars_new(script_store(&s));
        rc = script_ask(script_store(&s), c->question, &room, &out, &err);
        if (rc < 0)
            out = BZ_STR(SCRIPT_FAILS);
        if (!c->answer != !out.p ||
            (c->answer && !bz_str_eq(out, bz_str_from(c->answer))))
            fail_msg("after\n%s\n%s is [%.*s], not [%s] (turn %d)%s%s", c->script,
                     c->question, BZ_STR_ARG(out), c->answer ? c->answer : "not set",
                     turn, rc < 0 ? ": " : "", rc < 0 ? err.msg : "");
        bz_buf_release(&room);
    }
    script_release(&s);
}

static inline void script_check_all(const struct script_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        script_check(&cases[i]);
}

#endif
