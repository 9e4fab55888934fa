/* man_page.h - the manual pages, made of the tables that --help is made of.
 *
 * bitzel(1) is about the program, bitzel-build(1) about one of its commands with all
 * commands that this one has, bitzel.conf(5) about the settings,
 * bitzel-events(5) about what is logged of builds.
 */
#ifndef BZ_CMD_MAN_PAGE_H
#define BZ_CMD_MAN_PAGE_H

#include "cmd.h"

/* What all pages have in common. */
struct bz_man_page_book {
    const char *version, *date;           /* of the program; as 2026-01-31 */
    const struct bz_cmd *const *commands; /* up to a NULL */
    const struct bz_opt *globals;
};

/* Each adds one page to a buffer; a command is one of the book's. */
void bz_man_page_program(struct bz_buf *b, const struct bz_man_page_book *book);
void bz_man_page_command(struct bz_buf *b, const struct bz_man_page_book *book,
                         const struct bz_cmd *cmd);
void bz_man_page_settings(struct bz_buf *b, const struct bz_man_page_book *book);
void bz_man_page_events(struct bz_buf *b, const struct bz_man_page_book *book);

/* Writes all of them below a directory, as man1/bitzel.1. */
int bz_man_page_write_all(const struct bz_man_page_book *book, const char *dir,
                          struct bz_err *err) BZ_MUST_CHECK;

#endif
