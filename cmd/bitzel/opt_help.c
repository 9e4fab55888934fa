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

void bz_opt_help_line(struct bz_buf *b, const struct bz_opt_arg *args)
{
    bz_buf_addf(b, " [OPTION...]");
    for (; args->many != BZ_OPT_MANY_END; args++) {
        if (args->name[0] == '[') /* says by itself what may be left out */
            bz_buf_addf(b, " %s...", args->name);
        else
            bz_buf_addf(b, "%s%s%s", arg_forms[args->many].before, args->name,
                        arg_forms[args->many].after);
    }
}

void bz_opt_help_usage(struct bz_out *out, const char *command,
                       const struct bz_opt_arg *args)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf t = {0};

    bz_buf_addf(&t, "%s", command);
    bz_opt_help_line(&t, args);
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

void bz_opt_help_describe(struct bz_buf *b, const struct bz_opt *row)
{
    bz_buf_addf(b, "%s", row->help);
    if (row->kind == BZ_OPT_KIND_NUMBER) {
        bz_buf_addf(b, " (%" PRId64 " to %" PRId64, row->min, row->max);
        if (row->initial >= row->min) /* else it stands for: not given */
            bz_buf_addf(b, "; default %" PRId64, row->initial);
        bz_buf_add_char(b, ')');
    }
    if (row->kind == BZ_OPT_KIND_LIST)
        bz_buf_addf(b, " (may be repeated)");
    if (row->kind == BZ_OPT_KIND_CHOICE) {
        for (int i = 0; row->choices[i]; i++)
            bz_buf_addf(b, "%s%s", i == 0 ? " (" : ", ", row->choices[i]);
        if (row->initial >= 0)
            bz_buf_addf(b, "; default %s", row->choices[row->initial]);
        bz_buf_add_char(b, ')');
    }
}

bool bz_opt_help_has_letter(const struct bz_opt *rows, char letter)
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

        bz_opt_help_describe(&right, rows);
        if (rows->letter && !bz_opt_help_has_letter(own, rows->letter))
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
