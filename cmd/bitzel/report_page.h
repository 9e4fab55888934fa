/* report_page.h - what a build did, as an HTML file. */
#ifndef BZ_CMD_REPORT_PAGE_H
#define BZ_CMD_REPORT_PAGE_H

#include "report_view.h"

/* Replaces the file. */
int bz_report_page_write(struct bz_report_view *r, const char *file,
                         struct bz_err *err) BZ_MUST_CHECK;

#endif
