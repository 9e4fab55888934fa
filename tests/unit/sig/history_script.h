/* history_script.h - a store filled by lines that have a place.
 *
 * A line is "FILE:LINE OP NAME VALUE" with OP as the history calls it; NAME may have a
 * flag, or end in :append and the like, which then names the operation itself.
 */
#ifndef BZ_SIG_HISTORY_SCRIPT_H
#define BZ_SIG_HISTORY_SCRIPT_H

#include "tests/unit/bz_test.h"

#include "base/arena.h"
#include "vars/vars.h"

struct history_script {
    struct bz_vars *vars;
    struct bz_arena arena;
};

static inline void history_script_line(struct history_script *s, struct bz_str line)
{
    struct bz_vars_at at = {0};
    struct bz_str place, op, name, number, value, flag, file;
    struct bz_err err;
    uint64_t n;
    int rc;

    bz_str_cut(line, ' ', &place, &value);
    bz_str_cut(value, ' ', &op, &value);
    bz_str_cut(value, ' ', &name, &value);
    bz_str_cut(place, ':', &file, &number);
    assert_ok(bz_str_parse_u64(number, 10, 1000, &n, &err), &err);
    at.file = bz_arena_dup(&s->arena, file).p;
    at.line = (uint32_t)n;
    at.op = bz_arena_dup(&s->arena, op).p;
    if (bz_str_cut_suffix(&name, BZ_STR("]")) && bz_str_cut(name, '[', &name, &flag))
        rc = bz_vars_set_flag(s->vars, name, flag, value, &at, &err);
    else if (bz_str_eq(op, BZ_STR("append")))
        rc = bz_vars_append(s->vars, name, value, &at, &err);
    else
        rc = bz_vars_set(s->vars, name, value, BZ_VARS_SET_PARSING, &at, &err);
    assert_ok(rc, &err);
}

static inline void history_script_run(struct history_script *s, const char *text)
{
    struct bz_str rest = bz_str_from(text), line;

    *s = (struct history_script){.vars = bz_vars_new(NULL)};
    while (bz_str_next_part(&rest, '\n', &line))
        if (line.n > 0)
            history_script_line(s, line);
}

static inline void history_script_release(struct history_script *s)
{
    bz_vars_free(s->vars);
    bz_arena_release(&s->arena);
}

#endif
