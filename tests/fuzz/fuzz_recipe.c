#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "recipe/parse.h"

/* Reads every byte of a slice, so that the sanitizer sees one that points to nowhere.
 */
static size_t touch(struct bz_str s)
{
    size_t ends = 0;

    for (size_t i = 0; i < s.n; i++)
        ends += s.p[i] == '\n';
    return ends;
}

static void check_stmt(const struct bz_ast_stmt *st, uint32_t above, size_t size)
{
    size_t one_line =
        touch(st->name) + touch(st->flag) + touch(st->before) + touch(st->after);
    size_t ends = touch(st->text);

    BZ_ASSERT(one_line == 0);
    BZ_ASSERT(st->kind >= BZ_AST_ASSIGN && st->kind <= BZ_AST_ADDFRAGMENTS);
    BZ_ASSERT(st->op >= BZ_AST_SET && st->op <= BZ_AST_PREDOT);
    BZ_ASSERT(st->line > above && st->line <= st->end_line);
    BZ_ASSERT(ends <= st->end_line - st->line);
    BZ_ASSERT(ends == 0 || st->kind == BZ_AST_FUNCTION || st->kind == BZ_AST_DEF);
    BZ_ASSERT(st->text.n <= size);
    BZ_ASSERT(st->kind != BZ_AST_ASSIGN || (st->name.n > 0 && st->text.p));
    BZ_ASSERT(st->kind != BZ_AST_DEF || bz_str_starts(st->text, BZ_STR("def")));
    BZ_ASSERT(st->kind != BZ_AST_FUNCTION || st->text.n == 0 ||
              st->text.p[st->text.n - 1] == '\n');
}

static void check_ast(const struct bz_ast *ast, size_t size)
{
    uint32_t above = 0;
    size_t n = 0;

    for (const struct bz_ast_stmt *st = ast->first; st; st = st->next) {
        check_stmt(st, above, size);
        /* A definition names the line after it, where the next statement may begin. */
        above = st->kind == BZ_AST_DEF ? st->end_line - 1 : st->end_line;
        n++;
    }
    BZ_ASSERT(n == ast->count);
}

static void check_diags(const struct bz_diag_list *diags)
{
    struct bz_buf out = {0};
    size_t n = 0;

    for (const struct bz_diag *d = diags->first; d; d = d->next) {
        BZ_ASSERT(d->line > 0 && d->column > d->caret && d->caret <= d->source.n);
        BZ_ASSERT(strlen(d->message) > 0 && strlen(d->message) < 400);
        BZ_ASSERT(d->source.n <= 200);
        bz_buf_truncate(&out, 0);
        bz_diag_format(d, &out);
        BZ_ASSERT(touch(bz_buf_str(&out)) == 3);
        for (size_t i = 0; i < out.len; i++)
            BZ_ASSERT(out.data[i] == '\n' || (unsigned char)out.data[i] >= ' ');
        n++;
    }
    BZ_ASSERT(n <= 2 * (size_t)BZ_DIAG_KEEP && n <= diags->errors + diags->warnings);
    bz_buf_release(&out);
}

/* Parses a copy that is gone before the result is looked at. Returns how many
 * statements there are, or SIZE_MAX after a failure. */
static size_t parse(enum bz_parse_kind kind, struct bz_str text)
{
    char *copy = bz_mem_dup(text.p, text.n);
    struct bz_arena arena = {0};
    struct bz_diag_list diags = {.arena = &arena};
    size_t count = SIZE_MAX;
    struct bz_ast *ast;
    struct bz_err err;
    int rc =
        bz_parse_text(&arena, "f", kind, bz_str_of(copy, text.n), &diags, &ast, &err);

    free(copy);
    BZ_ASSERT(rc == (diags.errors ? BZ_E_INVAL : 0));
    check_diags(&diags);
    if (rc == 0) {
        check_ast(ast, text.n);
        count = ast->count;
    }
    bz_arena_release(&arena);
    return count;
}

/* Each end of a line as another system writes it. */
static char *with_crlf(struct bz_str s, size_t *n)
{
    char *out = bz_mem_alloc(2 * s.n + 1);

    *n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n')
            out[(*n)++] = '\r';
        out[(*n)++] = s.p[i];
    }
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str text = {(const char *)data, size};
    size_t n;
    char *crlf = with_crlf(text, &n);

    for (enum bz_parse_kind kind = BZ_PARSE_BB; kind <= BZ_PARSE_BASECONF; kind++) {
        size_t count = parse(kind, text);

        if (bz_str_find_byte(text, '\r') == BZ_STR_NONE)
            BZ_ASSERT(parse(kind, bz_str_of(crlf, n)) == count);
    }
    free(crlf);
    return 0;
}
