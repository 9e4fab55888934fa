#include "diff_view.h"

enum { SHORT = 60 };

static bool is_short(struct bz_str text)
{
    return text.p && text.n <= SHORT && bz_str_find_byte(text, '\n') == BZ_STR_NONE;
}

static void print_quoted(struct bz_out *out, struct bz_str text)
{
    bz_out_print(out, "\"");
    bz_out_plain(out, text.p, text.n);
    bz_out_print(out, "\"");
}

void bz_diff_view_text(struct bz_out *out, struct bz_str was, struct bz_str is,
                       const struct bz_textdiff_opts *opts, unsigned indent)
{
    struct bz_textdiff d = {0};

    if (is_short(was) && is_short(is)) {
        bz_out_print(out, "%*s", (int)indent, "");
        print_quoted(out, was);
        bz_out_print(out, " -> ");
        print_quoted(out, is);
        bz_out_print(out, "\n");
        return;
    }
    bz_textdiff_run(&d, was, is, opts);
    for (size_t i = 0; i < d.lines.len; i++) {
        char sign[] = {d.lines.at[i].sign, '\0'};
        struct bz_str text = d.lines.at[i].text;

        if (sign[0] == '~') {
            sign[0] = ' ';
            text = text.n > 0 ? text : BZ_STR("...");
        }
        bz_out_print(out, "%*s", (int)indent, "");
        bz_out_paint(out,
                     sign[0] == '-'   ? BZ_OUT_RED
                     : sign[0] == '+' ? BZ_OUT_GREEN
                                      : BZ_OUT_PLAIN,
                     sign);
        if (text.n > 0) {
            bz_out_print(out, " ");
            bz_out_plain(out, text.p, text.n);
        }
        bz_out_print(out, "\n");
    }
    bz_textdiff_release(&d);
}

void bz_diff_view_count(struct bz_out *out, size_t n, const char *one)
{
    bz_out_print(out, "%zu %s%s", n, one, n == 1 ? "" : "s");
}
