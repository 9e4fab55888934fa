/* py_rows.h - tables of Python code and of the calls that CPython's ast finds in it.
 *
 * The answers are those of ast.walk() on Python 3.11: the names of what is called, in
 * the order of the walk, "?" for what is not just names.
 */
#ifndef BZ_TESTS_PY_ROWS_H
#define BZ_TESTS_PY_ROWS_H

#include "base/buf.h"
#include "base/vec.h"
#include "code/py_parse.h"

#include "tests/unit/bz_test.h"

struct py_row {
    const char *code;
    const char *calls;
};

/* A row: one that is too long for a line is broken sensibly only if it looks like a
 * call. */
#define ROW(code, calls)                                                               \
    {                                                                                  \
        code, calls                                                                    \
    }

static inline bool py_is_dotted(const struct bz_py_node *n)
{
    while (n->kind == BZ_PY_NODE_ATTR)
        n = n->first;
    return n->kind == BZ_PY_NODE_NAME;
}

static inline void py_add_name(struct bz_buf *to, const struct bz_py_node *n)
{
    if (n->kind == BZ_PY_NODE_ATTR) {
        py_add_name(to, n->first);
        bz_buf_add_char(to, '.');
    }
    bz_buf_add_str(to, n->text);
}

struct py_step {
    const struct bz_py_node *node;
};

static inline void py_add_calls(struct bz_buf *to, const struct bz_py_node *tree)
{
    struct py_steps BZ_VEC(struct py_step) queue = {0};
    const struct bz_py_node *child;
    size_t i;

    BZ_VEC_PUSH(&queue, (struct py_step){tree});
    for (i = 0; i < queue.len; i++) {
        const struct bz_py_node *n = queue.at[i].node;

        if (n->kind == BZ_PY_NODE_CALL) {
            if (to->len > 0)
                bz_buf_add_char(to, ' ');
            if (py_is_dotted(n->first))
                py_add_name(to, n->first);
            else
                bz_buf_add_char(to, '?');
        }
        for (child = n->first; child; child = child->next)
            BZ_VEC_PUSH(&queue, (struct py_step){child});
    }
    bz_vec_release(&queue);
}

/* Parses as a module; the calls go to `to`. */
static inline int py_calls(const char *code, struct bz_buf *to, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_py_node *tree;
    int rc = bz_py_parse(bz_str_from(code), BZ_PY_FORM_MODULE,
                         (struct bz_py_origin){NULL, 0}, &arena, &tree, err);

    if (rc == 0)
        py_add_calls(to, tree);
    return rc;
}

/* Each row has these calls. */
static inline void py_rows_call(const struct py_row *rows, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
        struct bz_err err = {0};

        if (py_calls(rows[i].code, &found, &err) < 0)
            fail_msg("%s: %s", rows[i].code, err.msg);
        if (strcmp(bz_buf_text(&found), rows[i].calls) != 0)
            fail_msg("%s: expected '%s', got '%s'", rows[i].code, rows[i].calls,
                     bz_buf_text(&found));
    }
}

/* None of them is Python. */
static inline void py_rows_refuse(const char *const *codes, size_t n)
{
    static const char name[] = "SyntaxError: ";
    size_t i;

    for (i = 0; i < n; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
        struct bz_err err = {0};
        int rc = py_calls(codes[i], &found, &err);

        if (rc != BZ_E_INVAL || strncmp(err.msg, name, sizeof(name) - 1) != 0)
            fail_msg("%s: expected a SyntaxError, got %d '%s'", codes[i], rc, err.msg);
    }
}

#endif
