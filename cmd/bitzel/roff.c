#include "roff.h"

#include <string.h>

#define WIDTH 76 /* of lines of running text; readers of the source are thankful */

/* What one byte becomes. A hyphen is an option's or a file's as often as not, so that
 * all of them are the character that can be typed. */
static void add_byte(struct bz_buf *b, char c)
{
    static const struct {
        char c;
        const char *as;
    } table[] = {
        {'\\', "\\e"  },
        {'-',  "\\-"  },
        {'\'', "\\(aq"},
        {'`',  "\\(ga"},
        {'^',  "\\(ha"},
        {'~',  "\\(ti"},
        {'"',  "\\(dq"},
    };

    for (size_t i = 0; i < BZ_COUNTOF(table); i++) {
        if (table[i].c == c) {
            bz_buf_addf(b, "%s", table[i].as);
            return;
        }
    }
    bz_buf_add_char(b, c);
}

static void add_bytes(struct bz_buf *b, struct bz_str text)
{
    for (size_t i = 0; i < text.n; i++)
        add_byte(b, text.p[i]);
}

/* A line that begins with a dot would be a request. */
static void guard(struct bz_buf *b, char first)
{
    if (first == '.' && (b->len == 0 || b->data[b->len - 1] == '\n'))
        bz_buf_addf(b, "\\&");
}

void bz_roff_plain(struct bz_buf *b, const char *text)
{
    guard(b, text[0]);
    add_bytes(b, bz_str_from(text));
}

static void add_in_font(struct bz_buf *b, char font, struct bz_str text)
{
    bz_buf_addf(b, "\\f%c", font);
    add_bytes(b, text);
    bz_buf_addf(b, "\\fR");
}

void bz_roff_bold(struct bz_buf *b, const char *text)
{
    add_in_font(b, 'B', bz_str_from(text));
}

void bz_roff_italic(struct bz_buf *b, const char *text)
{
    add_in_font(b, 'I', bz_str_from(text));
}

void bz_roff_end(struct bz_buf *b)
{
    bz_buf_add_char(b, '\n');
}

static void add_argument(struct bz_buf *b, const char *text)
{
    bz_buf_addf(b, " \"");
    add_bytes(b, bz_str_from(text));
    bz_buf_add_char(b, '"');
}

void bz_roff_title(struct bz_buf *b, const struct bz_roff_title *title)
{
    bz_buf_addf(b, ".TH");
    add_argument(b, title->name);
    add_argument(b, title->section);
    bz_buf_addf(b, " %s", title->date);
    add_argument(b, title->source);
    add_argument(b, title->manual);
    bz_roff_end(b);
    /* Neither hyphenated words nor wide gaps: commands are to be copied. */
    bz_buf_addf(b, ".nh\n.ad l\n");
}

void bz_roff_section(struct bz_buf *b, const char *name)
{
    bz_buf_addf(b, ".SH");
    add_argument(b, name);
    bz_roff_end(b);
}

void bz_roff_subsection(struct bz_buf *b, const char *name)
{
    bz_buf_addf(b, ".SS");
    add_argument(b, name);
    bz_roff_end(b);
}

/* Whether the last line was the heading of a section. */
static bool after_heading(const struct bz_buf *b)
{
    struct bz_str text = bz_buf_str(b);
    size_t at;

    if (!bz_str_cut_suffix(&text, BZ_STR("\n")))
        return false;
    at = bz_str_rfind_byte(text, '\n');
    text = bz_str_drop(text, at == BZ_STR_NONE ? 0 : at + 1);
    return bz_str_starts(text, BZ_STR(".SH")) || bz_str_starts(text, BZ_STR(".SS"));
}

void bz_roff_paragraph(struct bz_buf *b)
{
    if (!after_heading(b))
        bz_buf_addf(b, ".PP\n");
}

void bz_roff_item(struct bz_buf *b)
{
    bz_buf_addf(b, ".TP\n");
}

void bz_roff_example(struct bz_buf *b, const char *line)
{
    bz_buf_addf(b, ".EX\n");
    bz_roff_plain(b, line);
    bz_roff_end(b);
    bz_buf_addf(b, ".EE\n.nh\n"); /* which .EE forgets */
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The length of what stands in quotes at the start of text, both included; 0 if that
 * is no quotation but, say, an apostrophe. */
static size_t quotation(struct bz_str text)
{
    for (size_t i = 1; i < text.n; i++)
        if (text.p[i] == text.p[0] && (i + 1 == text.n || !is_letter(text.p[i + 1])))
            return i > 1 ? i + 1 : 0;
    return 0;
}

/* The length of an option at the start of text, or 0. */
static size_t option(struct bz_str text)
{
    size_t n = 1 + (text.n > 1 && text.p[1] == '-');

    if (n >= text.n || !is_letter(text.p[n]))
        return 0;
    while (n < text.n && (is_letter(text.p[n]) || text.p[n] == '-'))
        n++;
    return n;
}

/* The text with its fonts, still on one line. */
static void mark_up(struct bz_buf *b, struct bz_str text)
{
    for (size_t i = 0; i < text.n;) {
        struct bz_str rest = bz_str_drop(text, i);
        bool begins = i == 0 || text.p[i - 1] == ' ' || text.p[i - 1] == '(';
        size_t n = 0;

        if (begins && (rest.p[0] == '\'' || rest.p[0] == '`')) {
            n = quotation(rest);
            if (n > 0)
                add_in_font(b, 'B', bz_str_sub(rest, 1, n - 1));
        } else if (begins && rest.p[0] == '-') {
            n = option(rest);
            if (n > 0)
                add_in_font(b, 'B', bz_str_of(rest.p, n));
        }
        if (n == 0) {
            add_byte(b, rest.p[0]);
            n = 1;
        }
        i += n;
    }
}

static bool ends_sentence(struct bz_str word)
{
    char last = word.p[word.n - 1];

    return last == '.' || last == '?' || last == '!';
}

void bz_roff_text(struct bz_buf *b, const char *text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf line = {0};
    struct bz_str rest, word;
    size_t column = 0;

    mark_up(&line, bz_str_from(text));
    rest = bz_buf_str(&line);
    while (bz_str_next_word(&rest, &word)) {
        if (column > 0 && column + 1 + word.n > WIDTH) {
            bz_roff_end(b);
            column = 0;
        }
        if (column > 0)
            bz_buf_add_char(b, ' ');
        guard(b, word.p[0]);
        bz_buf_add_str(b, word);
        column += word.n + 1;
        if (ends_sentence(word) && rest.n > 0) {
            bz_roff_end(b);
            column = 0;
        }
    }
    if (column > 0)
        bz_roff_end(b);
}
