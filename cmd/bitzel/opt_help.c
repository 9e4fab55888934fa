#include "opt_help.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"

#define SPLIT 24 /* the column where descriptions begin */

/* What help writes around the name of an argument of each kind. */
static const struct {
    const char *before, *after;
} arg_forms[] = {
    [BZ_OPT_MANY_ONE] = {" ",  ""    },
    [BZ_OPT_MANY_MAYBE] = {" [", "]"   },
    [BZ_OPT_MANY_SOME] = {" ",  "..." },
    [BZ_OPT_MANY_ANY] = {" [", "...]"},
};

void bz_opt_help_usage(struct bz_out *out, const char *command,
                       const struct bz_opt_arg *args)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf t = {0};

    bz_buf_addf(&t, "%s [OPTION...]", command);
    for (; args->many != BZ_OPT_MANY_END; args++)
        bz_buf_addf(&t, "%s%s%s", arg_forms[args->many].before, args->name,
                    arg_forms[args->many].after);
    bz_out_paint(out, BZ_OUT_BOLD, "Usage:");
    bz_out_print(out, " ");
    bz_out_wrap(out, 7, 7, bz_buf_text(&t));
}

void bz_opt_help_row(struct bz_out *out, const char *left, const char *text)
{
    bz_out_print(out, "%s", left);
    bz_out_row(out, (unsigned)strlen(left), SPLIT, text);
}

void bz_opt_help_args(struct bz_out *out, const struct bz_opt_arg *args)
{
    if (args->many == BZ_OPT_MANY_END)
        return;
    bz_out_heading(out, "Arguments:");
    for (; args->many != BZ_OPT_MANY_END; args++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf left = {0};

        bz_buf_addf(&left, "  %s", args->name);
        bz_opt_help_row(out, bz_buf_text(&left), args->help);
    }
}

/* The sentence of the row, and after it what the row says about the value. */
static void describe(struct bz_buf *t, const struct bz_opt *row)
{
    bz_buf_addf(t, "%s", row->help);
    if (row->kind == BZ_OPT_KIND_NUMBER)
        bz_buf_addf(t, " (%" PRId64 " to %" PRId64 "; default %" PRId64 ")", row->min,
                    row->max, row->initial);
    if (row->kind == BZ_OPT_KIND_LIST)
        bz_buf_addf(t, " (may be repeated)");
    if (row->kind == BZ_OPT_KIND_CHOICE) {
        for (int i = 0; row->choices[i]; i++)
            bz_buf_addf(t, "%s%s", i == 0 ? " (" : ", ", row->choices[i]);
        bz_buf_addf(t, "; default %s)", row->choices[row->initial]);
    }
}

static bool has_letter(const struct bz_opt *rows, char letter)
{
    for (; rows && rows->kind != BZ_OPT_KIND_END; rows++)
        if (rows->letter == letter)
            return true;
    return false;
}

void bz_opt_help_options(struct bz_out *out, const char *title,
                         const struct bz_opt *rows, const struct bz_opt *own)
{
    if (rows->kind == BZ_OPT_KIND_END)
        return;
    bz_out_heading(out, title);
    for (; rows->kind != BZ_OPT_KIND_END; rows++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf left = {0};
        BZ_CLEANUP(bz_buf_release) struct bz_buf right = {0};

        describe(&right, rows);
        if (rows->letter && !has_letter(own, rows->letter))
            bz_buf_addf(&left, "  -%c, ", rows->letter);
        else
            bz_buf_addf(&left, "      ");
        bz_buf_addf(&left, "--%s%s", rows->kind == BZ_OPT_KIND_SWITCH ? "[no-]" : "",
                    rows->name);
        if (rows->value)
            bz_buf_addf(&left, " %s", rows->value);
        bz_opt_help_row(out, bz_buf_text(&left), bz_buf_text(&right));
    }
}
