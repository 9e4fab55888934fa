/* conffile.h - the text of a bitzel.conf as names and values.
 *
 *     # A comment is a line of its own, or comes after a blank.
 *     jobs = 8
 *     cache.max_size = 20G
 *     [cache]
 *     dir = ~/store                      # cache.dir
 *     tiers = dir:/srv/cache ro
 *
 * A name is dotted words of letters, digits, '_' and '-'; a section goes before the
 * names below it, and `[]` ends it. A value goes to the end of the line without the
 * blanks around it; in double quotes it is taken as it is, which keeps blanks and '#'.
 * Nothing is known here about which names there are.
 */
#ifndef BZ_CONFIG_CONFFILE_H
#define BZ_CONFIG_CONFFILE_H

#include "base/arena.h"

#define BZ_CONFFILE_MAX 262144 /* bytes of a file */
#define BZ_CONFFILE_NAME 64U   /* bytes of a name, with its section */

/* One line. Return 0, or a failure that ends the reading; the place is put before its
 * message. */
struct bz_conffile_line {
    struct bz_str name, value; /* while the call lasts */
    unsigned number;           /* counted from 1 */
};
typedef int (*bz_conffile_fn)(void *ctx, const struct bz_conffile_line *line,
                              struct bz_err *err);

/* Hands over each setting, in order. BZ_E_INVAL as "path:line: ..." */
int bz_conffile_parse(struct bz_str text, const char *path, bz_conffile_fn fn,
                      void *ctx, struct bz_err *err) BZ_MUST_CHECK;

/* The same of a file. BZ_E_NOENT if there is none. */
int bz_conffile_read(const char *path, bz_conffile_fn fn, void *ctx,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
