#include "survey/place.h"

#include <stddef.h>
#include <string.h>

#include "vars/history.h"

/* So many statements of one flag are remembered, the last ones. */
enum { STATEMENTS = 16 };

/* So many bytes of statements are searched for words of a task. Beyond, the last
 * statement has to do. */
enum { SEARCHED = 1 << 20 };

static const struct bz_str flags[BZ_PLACE_LISTS] = {
    [BZ_PLACE_AFTER] = BZ_STR(""),
    [BZ_PLACE_DEPENDS] = BZ_STR("depends"),
    [BZ_PLACE_RDEPENDS] = BZ_STR("rdepends"),
    [BZ_PLACE_DEPTASK] = BZ_STR("deptask"),
    [BZ_PLACE_RDEPTASK] = BZ_STR("rdeptask"),
    [BZ_PLACE_RECRDEPTASK] = BZ_STR("recrdeptask"),
    [BZ_PLACE_RECIDEPTASK] = BZ_STR("recideptask"),
    [BZ_PLACE_MCDEPENDS] = BZ_STR("mcdepends"),
};

/* The list of that kind. */
static struct bz_str words_of(const struct bz_facts_task *t, enum bz_place_list list)
{
    static const size_t at[BZ_PLACE_LISTS] = {
        [BZ_PLACE_AFTER] = offsetof(struct bz_facts_task, after),
        [BZ_PLACE_DEPENDS] = offsetof(struct bz_facts_task, depends),
        [BZ_PLACE_RDEPENDS] = offsetof(struct bz_facts_task, rdepends),
        [BZ_PLACE_DEPTASK] = offsetof(struct bz_facts_task, deptask),
        [BZ_PLACE_RDEPTASK] = offsetof(struct bz_facts_task, rdeptask),
        [BZ_PLACE_RECRDEPTASK] = offsetof(struct bz_facts_task, recrdeptask),
        [BZ_PLACE_RECIDEPTASK] = offsetof(struct bz_facts_task, recideptask),
        [BZ_PLACE_MCDEPENDS] = offsetof(struct bz_facts_task, mcdepends),
    };
    struct bz_str words;

    memcpy(&words, (const char *)t + at[list], sizeof(words));
    return words;
}

/* ---- writing ---- */

/* The statements of each flag, in a ring. */
struct statements {
    struct bz_history_event at[BZ_PLACE_LISTS][STATEMENTS];
    size_t n[BZ_PLACE_LISTS];
    size_t budget;
};

static void note_statement(void *ctx, const struct bz_history_event *e)
{
    struct statements *s = ctx;

    for (int i = BZ_PLACE_DEPENDS; e->flag.n > 0 && i < BZ_PLACE_LISTS; i++)
        if (bz_str_eq(e->flag, flags[i]))
            s->at[i][s->n[i]++ % STATEMENTS] = *e;
}

static bool mentions(struct statements *s, const struct bz_history_event *e,
                     struct bz_str word)
{
    if (e->detail.n > s->budget)
        return false;
    s->budget -= e->detail.n;
    return bz_str_find(e->detail, word) != BZ_STR_NONE;
}

/* The last statement that has the word; if none has, the last one that has ${...}, and
 * if there is none either, the last. */
static struct bz_place place_of(struct statements *s, enum bz_place_list list,
                                struct bz_str word)
{
    const struct bz_history_event *best = NULL, *open = NULL, *last = NULL;
    size_t n = s->n[list], kept = n < STATEMENTS ? n : STATEMENTS;

    for (size_t i = 0; i < kept && !best; i++) {
        const struct bz_history_event *e = &s->at[list][(n - 1 - i) % STATEMENTS];

        if (!last)
            last = e;
        if (mentions(s, e, word))
            best = e;
        else if (!open && bz_str_find_byte(e->detail, '$') != BZ_STR_NONE)
            open = e;
    }
    if (!best)
        best = open ? open : last;
    if (!best)
        return (struct bz_place){0};
    return (struct bz_place){bz_str_from(best->file), best->line};
}

struct writing {
    struct bz_buf *out;
    struct bz_place last;
    size_t n;   /* words so far */
    bool known; /* some place is */
};

static void write_line(struct bz_buf *out, uint32_t line)
{
    char text[1 + 10]; /* digits of 32 bits */
    size_t at = sizeof(text);

    do
        text[--at] = (char)('0' + line % 10);
    while (line /= 10);
    text[--at] = ':';
    bz_buf_add(out, text + at, sizeof(text) - at);
}

static void write_place(struct writing *w, const struct bz_place *p)
{
    bool same_file = p->file.p && w->last.file.p && bz_str_eq(p->file, w->last.file);

    if (w->n++ > 0)
        bz_buf_add_char(w->out, '\n');
    if (!p->file.p) {
        bz_buf_add_char(w->out, '-');
        return;
    }
    w->known = true;
    if (same_file && p->line == w->last.line)
        return;
    if (!same_file)
        bz_buf_add_str(w->out, p->file);
    write_line(w->out, p->line);
    w->last = *p;
}

static struct bz_place place_of_edge(const struct bz_taskdef *def, struct bz_str after)
{
    const struct bz_taskdef_place *at = def ? bz_taskdef_place(def, after) : NULL;

    if (!at)
        return (struct bz_place){0};
    return (struct bz_place){bz_str_from(at->file), at->line};
}

void bz_place_write(struct bz_meta *m, const struct bz_facts_task *t,
                    struct bz_buf *out)
{
    const struct bz_taskdef *def = bz_taskdef_find(&m->tasks, t->name);
    struct statements s; /* large, and mostly not used */
    struct writing w = {.out = out};
    size_t before = out->len;
    bool flagged = false;

    s.budget = SEARCHED;
    memset(s.n, 0, sizeof(s.n));
    for (int i = BZ_PLACE_DEPENDS; i < BZ_PLACE_LISTS; i++)
        flagged |= words_of(t, (enum bz_place_list)i).n > 0;
    if (flagged)
        bz_history_each(m->vars, t->name, note_statement, &s);
    for (int i = 0; i < BZ_PLACE_LISTS; i++) {
        enum bz_place_list list = (enum bz_place_list)i;
        struct bz_str words = words_of(t, list), word;

        while (words.n > 0 && bz_str_next_word(&words, &word)) {
            struct bz_place p = list == BZ_PLACE_AFTER ? place_of_edge(def, word)
                                                       : place_of(&s, list, word);

            write_place(&w, &p);
        }
    }
    if (!w.known)
        bz_buf_truncate(out, before);
}

/* ---- reading ---- */

static size_t count_words(struct bz_str list)
{
    struct bz_str word;
    size_t n = 0;

    while (bz_str_next_word(&list, &word))
        n++;
    return n;
}

/* Reads a line into *last, the place before it. False: it is unknown. */
static bool read_place(struct bz_str line, struct bz_place *last)
{
    size_t colon = bz_str_rfind_byte(line, ':');
    uint64_t number;
    struct bz_err err;

    if (line.n == 0)
        return true;
    if (colon == BZ_STR_NONE || bz_str_parse_u64(bz_str_drop(line, colon + 1), 10,
                                                 UINT32_MAX, &number, &err) < 0)
        return false;
    if (colon > 0)
        last->file = bz_str_of(line.p, colon);
    last->line = (uint32_t)number;
    return true;
}

struct bz_place bz_place_find(const struct bz_facts_task *t, enum bz_place_list list,
                              size_t word)
{
    struct bz_str rest = t->places, line;
    struct bz_place place = {0};
    bool known = false;

    for (int i = 0; i < (int)list; i++)
        word += count_words(words_of(t, (enum bz_place_list)i));
    for (size_t i = 0; i <= word; i++) {
        if (!bz_str_next_part(&rest, '\n', &line))
            return (struct bz_place){0};
        known = read_place(line, &place);
    }
    return known ? place : (struct bz_place){0};
}
