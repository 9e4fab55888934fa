#include "sig/textdiff.h"

#include "base/map.h"
#include "sig/lcs.h"

struct lines BZ_VEC(struct bz_str);
struct numbers BZ_VEC(uint32_t);

/* The same number for the same line. */
static void split(struct bz_str text, struct bz_map *known, struct lines *lines,
                  struct numbers *numbers)
{
    struct bz_str line;

    while (bz_str_next_part(&text, '\n', &line)) {
        uint32_t before = known->len;
        struct bz_map_entry *e = bz_map_put(known, line);

        if (known->len > before)
            e->u = before;
        BZ_VEC_PUSH(lines, line);
        BZ_VEC_PUSH(numbers, (uint32_t)e->u);
    }
}

static void push(struct bz_textdiff *d, char sign, struct bz_str text)
{
    BZ_VEC_PUSH(&d->lines, (struct bz_textdiff_line){sign, text});
}

/* All lines of both texts in order, with their signs. */
static void merge(struct bz_textdiff *d, struct bz_str was, struct bz_str is)
{
    BZ_CLEANUP(bz_vec_release) struct lines a = {0};
    BZ_CLEANUP(bz_vec_release) struct lines b = {0};
    BZ_CLEANUP(bz_vec_release) struct numbers x = {0};
    BZ_CLEANUP(bz_vec_release) struct numbers y = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map known = {0};
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset in_a = {0}, in_b = {0};
    size_t i = 0, k = 0;

    split(was, &known, &a, &x);
    split(is, &known, &b, &y);
    bz_lcs_find(x.at, x.len, y.at, y.len, &in_a, &in_b);
    while (i < a.len || k < b.len) {
        if (i < a.len && !bz_bitset_test(&in_a, i))
            push(d, '-', a.at[i++]);
        else if (k < b.len && !bz_bitset_test(&in_b, k))
            push(d, '+', b.at[k++]);
        else {
            BZ_ASSERT(i < a.len && k < b.len);
            push(d, ' ', b.at[k++]);
            i++;
        }
    }
}

/* ---- long lines ---- */

static bool in_character(struct bz_str s, size_t at)
{
    return at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80;
}

/* The bytes from..to of a line, with dots where something is missing. */
static struct bz_str window(struct bz_textdiff *d, struct bz_str line, size_t from,
                            size_t to)
{
    while (from > 0 && in_character(line, from))
        from--;
    while (in_character(line, to))
        to++;
    return BZ_ARENA_CONCAT(&d->arena, from > 0 ? BZ_STR("...") : BZ_STR(""),
                           bz_str_sub(line, from, to),
                           to < line.n ? BZ_STR("...") : BZ_STR(""));
}

static struct bz_str head_of(struct bz_textdiff *d, struct bz_str line, size_t width)
{
    return line.n <= width ? line : window(d, line, 0, width);
}

/* Cuts both to where they differ, and a little around it. */
static void cut_pair(struct bz_textdiff *d, struct bz_str *a, struct bz_str *b,
                     size_t width)
{
    size_t most = a->n < b->n ? a->n : b->n, head = 0, tail = 0, from;
    struct bz_str *sides[] = {a, b};

    if (a->n <= width && b->n <= width)
        return;
    while (head < most && a->p[head] == b->p[head])
        head++;
    while (tail < most - head && a->p[a->n - 1 - tail] == b->p[b->n - 1 - tail])
        tail++;
    from = head > width / 4 ? head - width / 4 : 0;
    for (size_t i = 0; i < BZ_COUNTOF(sides); i++) {
        size_t to = sides[i]->n - tail + width / 4;

        if (to > sides[i]->n)
            to = sides[i]->n;
        if (to - from > width)
            to = from + width;
        *sides[i] = window(d, *sides[i], from, to);
    }
}

/* The first line that went and the first that came belong together, and so on. */
static void shorten(struct bz_textdiff *d, size_t width)
{
    struct bz_textdiff_line *at = d->lines.at;
    size_t n = d->lines.len;

    for (size_t i = 0; i < n;) {
        size_t minus = i, plus, pairs;

        while (minus < n && at[minus].sign == '-')
            minus++;
        plus = minus;
        while (plus < n && at[plus].sign == '+')
            plus++;
        pairs = minus - i < plus - minus ? minus - i : plus - minus;
        for (size_t k = 0; k < pairs; k++)
            cut_pair(d, &at[i + k].text, &at[minus + k].text, width);
        for (size_t k = i; k < plus; k++)
            at[k].text = head_of(d, at[k].text, width + 6);
        i = plus;
        if (i < n && at[i].sign == ' ')
            at[i].text = head_of(d, at[i].text, width);
        if (i < n && at[i].sign != '-')
            i++;
    }
}

/* ---- few lines ---- */

static bool is_near_change(const struct bz_textdiff_lines *all, size_t i,
                           size_t context)
{
    size_t from = i > context ? i - context : 0;

    for (size_t k = from; k <= i + context && k < all->len; k++)
        if (all->at[k].sign != ' ')
            return true;
    return false;
}

static struct bz_str count_text(struct bz_textdiff *d, size_t n)
{
    return bz_arena_printf(&d->arena, "%zu %s left out", n,
                           n == 1 ? "line is" : "lines are");
}

/* Leaves out what stayed, but for a few lines, and what is too much. */
static void select_lines(struct bz_textdiff *d, const struct bz_textdiff_opts *opts)
{
    struct bz_textdiff_lines all = d->lines;
    size_t gap = 0, i;

    d->lines = (struct bz_textdiff_lines){0};
    for (i = 0; i < all.len && d->lines.len < opts->lines; i++) {
        if (!is_near_change(&all, i, opts->context)) {
            gap++;
            continue;
        }
        if (gap > 0 && d->lines.len > 0)
            push(d, '~', BZ_STR(""));
        gap = 0;
        BZ_VEC_PUSH(&d->lines, all.at[i]);
    }
    for (gap = 0; i < all.len; i++)
        gap += all.at[i].sign != ' ';
    if (gap > 0)
        push(d, '~', count_text(d, gap));
    bz_vec_release(&all);
}

void bz_textdiff_run(struct bz_textdiff *d, struct bz_str was, struct bz_str is,
                     const struct bz_textdiff_opts *opts)
{
    if (!was.p)
        bz_str_cut_suffix(&is, BZ_STR("\n"));
    if (!is.p)
        bz_str_cut_suffix(&was, BZ_STR("\n"));
    merge(d, was, is);
    select_lines(d, opts);
    shorten(d, opts->width);
    /* The empty line after the last line's end is none. */
    if (d->lines.len > 0 && BZ_VEC_LAST(&d->lines).sign == ' ' &&
        BZ_VEC_LAST(&d->lines).text.n == 0)
        d->lines.len--;
}

void bz_textdiff_release(struct bz_textdiff *d)
{
    bz_vec_release(&d->lines);
    bz_arena_release(&d->arena);
    *d = (struct bz_textdiff){0};
}
