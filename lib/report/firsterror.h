/* firsterror.h - the line of a log that tells why a task failed.
 *
 * That is rarely the last one: where a compiler fails, make tells so once more, and the
 * shell after it, and commands that ran beside it have written more. So lines are known
 * by their form (a table in firsterror.c), what tells of a cause counts for more than
 * what tells of its effects, and among equals the first counts.
 */
#ifndef BZ_REPORT_FIRSTERROR_H
#define BZ_REPORT_FIRSTERROR_H

#include <stdbool.h>

#include "base/str.h"

struct bz_firsterror {
    char line[512]; /* cut if it is longer; without colours */
    char file[256]; /* that it is about, or else the recipe whose command failed; empty
                       if neither is known */
    unsigned number, column; /* in that file; 0: not known */
};

/* False if no line is known for an error. */
bool bz_firsterror_find(struct bz_str log, struct bz_firsterror *out);

/* The same for a file, of which the last 16 MiB are looked at. */
bool bz_firsterror_read(const char *path, struct bz_firsterror *out);

#endif
