#include "table_view.h"

#include <inttypes.h>

#include "cache_view.h"
#include "plan_cost.h"
#include "report/columns.h"

void bz_table_view_release(struct bz_table_view *t)
{
    bz_vec_release(&t->cells);
    bz_arena_release(&t->arena);
}

void bz_table_view_text(struct bz_table_view *t, struct bz_str text)
{
    BZ_VEC_PUSH(&t->cells, bz_arena_dup(&t->arena, text));
}

void bz_table_view_number(struct bz_table_view *t, uint64_t n)
{
    BZ_VEC_PUSH(&t->cells, bz_arena_printf(&t->arena, "%" PRIu64, n));
}

void bz_table_view_span(struct bz_table_view *t, int64_t ns)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    if (ns > 0)
        bz_plan_cost_text(ns, &text);
    bz_table_view_text(t, ns > 0 ? bz_buf_str(&text) : BZ_STR("-"));
}

void bz_table_view_size(struct bz_table_view *t, uint64_t bytes)
{
    char text[BZ_CACHE_VIEW_TEXT];

    bz_table_view_text(t, bytes > 0 ? bz_str_from(bz_cache_view_size(bytes, text))
                                    : BZ_STR("-"));
}

void bz_table_view_escape(struct bz_out *out, struct bz_str text)
{
    static const char special[] = "<&\\`*_[]#|!>~";

    while (text.n > 0) {
        size_t n = 0;

        while (n < text.n && !memchr(special, text.p[n], sizeof(special) - 1))
            n++;
        bz_out_plain(out, text.p, n);
        if (n < text.n && (text.p[n] == '<' || text.p[n] == '&'))
            bz_out_print(out, text.p[n] == '<' ? "&lt;" : "&amp;");
        else if (n < text.n)
            bz_out_print(out, "\\%c", text.p[n]);
        text = bz_str_drop(text, n < text.n ? n + 1 : n);
    }
}

static size_t next_column(const struct bz_table_view *t, size_t c)
{
    return c + 1 < t->ncolumns ? c + 1 : 0;
}

static void pad(struct bz_out *out, size_t n)
{
    bz_out_print(out, "%*s", (int)n, "");
}

/* The last column has nothing to be aligned with. */
static void print_cell(const struct bz_table_view *t, struct bz_out *out, size_t c,
                       struct bz_str text, size_t width)
{
    size_t taken = bz_columns_of(text, true);
    size_t room = width > taken ? width - taken : 0;
    bool last = c + 1 == t->ncolumns;

    if (t->columns[c].right)
        pad(out, room);
    bz_out_plain(out, text.p ? text.p : "", text.n);
    if (!t->columns[c].right && !last)
        pad(out, room);
    bz_out_print(out, last ? "\n" : "  ");
}

static void print_text(const struct bz_table_view *t, struct bz_out *out)
{
    size_t width[BZ_TABLE_VIEW_COLUMNS] = {0};

    BZ_ASSERT(t->ncolumns <= BZ_TABLE_VIEW_COLUMNS);
    for (size_t c = 0; c < t->ncolumns; c++)
        width[c] = strlen(t->columns[c].head);
    for (size_t i = 0, c = 0; i < t->cells.len; i++, c = next_column(t, c)) {
        size_t taken = bz_columns_of(t->cells.at[i], true);

        width[c] = taken > width[c] ? taken : width[c];
    }
    for (size_t c = 0; c < t->ncolumns; c++)
        print_cell(t, out, c, bz_str_from(t->columns[c].head), width[c]);
    for (size_t i = 0, c = 0; i < t->cells.len; i++, c = next_column(t, c))
        print_cell(t, out, c, t->cells.at[i], width[c]);
}

static void print_markdown(const struct bz_table_view *t, struct bz_out *out)
{
    for (size_t c = 0; c < t->ncolumns; c++)
        bz_out_print(out, "| %s ", t->columns[c].head);
    bz_out_print(out, "|\n");
    for (size_t c = 0; c < t->ncolumns; c++)
        bz_out_print(out, t->columns[c].right ? "|---:" : "|---");
    bz_out_print(out, "|\n");
    for (size_t i = 0, c = 0; i < t->cells.len; i++, c = next_column(t, c)) {
        bz_out_print(out, "| ");
        bz_table_view_escape(out, t->cells.at[i]);
        bz_out_print(out, c + 1 == t->ncolumns ? " |\n" : " ");
    }
}

void bz_table_view_print(const struct bz_table_view *t, struct bz_out *out,
                         enum bz_table_view_form form)
{
    if (form == BZ_TABLE_VIEW_MARKDOWN)
        print_markdown(t, out);
    else
        print_text(t, out);
}
