/* opt_help.h - the rows of opt.h as text for a person. */
#ifndef BZ_CMD_OPT_HELP_H
#define BZ_CMD_OPT_HELP_H

#include "opt.h"
#include "out.h"

/* " [OPTION...] TARGET...": what may follow the words of a command. */
void bz_opt_help_line(struct bz_buf *b, const struct bz_opt_arg *args) BZ_NONNULL;

/* The sentence of a row, and what else there is to know: the choices, the default. */
void bz_opt_help_describe(struct bz_buf *b, const struct bz_opt *row) BZ_NONNULL;

/* Whether one of the rows, which may be NULL, has that letter. */
bool bz_opt_help_has_letter(const struct bz_opt *rows, char letter);

/* "Usage: bitzel doctor [OPTION...] TARGET...": the line after `command`. */
void bz_opt_help_usage(struct bz_out *out, const char *command,
                       const struct bz_opt_arg *args) BZ_NONNULL;

/* A heading and a line for each row; nothing at all without rows. The letters that
 * `own`, which may be NULL, takes for itself are not shown. */
void bz_opt_help_args(struct bz_out *out, const struct bz_opt_arg *args) BZ_NONNULL;
void bz_opt_help_options(struct bz_out *out, const char *title,
                         const struct bz_opt *rows, const struct bz_opt *own);

/* One such line: the name and what it is, for other lists to look alike. */
void bz_opt_help_row(struct bz_out *out, const char *left, const char *text) BZ_NONNULL;

#endif
