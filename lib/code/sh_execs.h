/* sh_execs.h - which commands a shell text runs.
 *
 * The names, as they are written, of all commands: also in $( ), in backquotes, behind
 * assignments and after "eval". Functions that the text defines are none, nor what
 * begins with '$'. The answer is BitBake's, whose signatures are made from it, so it
 * keeps BitBake's blind spots: nothing is looked for in here-documents, in what a
 * redirection names, in the word after "case", or in ${x:-$(...)}; after a command that
 * is itself a $( ), the next word is passed over.
 */
#ifndef BZ_CODE_SH_EXECS_H
#define BZ_CODE_SH_EXECS_H

#include "vars/refs.h"

/* So deep may $( ), backquotes and "eval" stand in one another. Each level is read once
 * more for every level around it. */
#define BZ_SH_EXECS_DEPTH 40

/* Adds the names to refs->execs; if it fails, none. BZ_E_INVAL for what is no shell
 * text, BZ_E_NOSUP for what BitBake refuses though a shell does not; the message begins
 * with the line. Time is linear, nesting is bounded (BZ_E_LIMIT). */
int bz_sh_execs_find(struct bz_str text, struct bz_refs *refs,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
