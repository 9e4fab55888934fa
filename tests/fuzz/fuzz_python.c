#include "tests/fuzz/fuzz.h"

#include "code/py_scan.h"
#include "vars/expr_parse.h"
#include "vars/expr_scan.h"

static bool same_keys(const struct bz_map *a, const struct bz_map *b)
{
    const struct bz_map_entry *e;

    if (a->len != b->len)
        return false;
    for (e = bz_map_next(a, NULL); e; e = bz_map_next(a, e))
        if (!bz_map_get(b, e->key))
            return false;
    return true;
}

static bool same_refs(const struct bz_refs *a, const struct bz_refs *b)
{
    const struct bz_map_entry *e;

    if (!same_keys(&a->reads, &b->reads) || !same_keys(&a->execs, &b->execs) ||
        !same_keys(&a->contains, &b->contains))
        return false;
    for (e = bz_map_next(&a->contains, NULL); e; e = bz_map_next(&a->contains, e))
        if (!same_keys(e->p, bz_map_get(&b->contains, e->key)->p))
            return false;
    return true;
}

/* A failure has a message and a code that py_scan.h names. */
static int scan(struct bz_str code, enum bz_py_form form, struct bz_py_found *found)
{
    struct bz_py_source src = {.code = code, .form = form, .file = "x.bb", .line = 1};
    struct bz_err err = {0};
    int rc = bz_py_scan(&src, found, &err);

    BZ_ASSERT(rc == 0 || rc == BZ_E_INVAL || rc == BZ_E_NOSUP || rc == BZ_E_LIMIT ||
              rc == BZ_E_IO);
    BZ_ASSERT(rc == 0 || err.msg[0] != '\0');
    return rc;
}

/* What the evaluator of inline expressions can parse has the same references here. */
static void check_expression(struct bz_str code)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_expr_scratch mem;
    struct bz_expr_node *tree;
    struct bz_refs refs;
    struct bz_py_found found;
    struct bz_err err;

    bz_refs_init(&refs, &arena);
    bz_py_scan_init(&found, &arena);
    bz_expr_scratch_init(&mem);
    code = bz_str_trim(code);
    if (bz_expr_parse(code, &mem, &tree, &err) == 0 &&
        bz_expr_scan_tree(tree, &refs, &err) == 0) {
        BZ_ASSERT(scan(code, BZ_PY_FORM_EXPRESSION, &found) == 0);
        BZ_ASSERT(same_refs(&refs, &found.refs));
    }
    bz_expr_scratch_release(&mem);
    bz_py_scan_release(&found);
    bz_refs_release(&refs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str code = bz_str_of(data ? (const char *)data : "", size);
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_py_found first, second;

    bz_py_scan_init(&first, &arena);
    bz_py_scan_init(&second, &arena);
    BZ_ASSERT(scan(code, BZ_PY_FORM_MODULE, &first) ==
              scan(code, BZ_PY_FORM_MODULE, &second));
    BZ_ASSERT(same_refs(&first.refs, &second.refs));
    bz_py_scan_release(&first);
    bz_py_scan_release(&second);
    /* An inline expression is on one line. */
    if (bz_str_find_byte(code, '\n') == BZ_STR_NONE)
        check_expression(code);
    return 0;
}
