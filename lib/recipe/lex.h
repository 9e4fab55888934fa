/* lex.h - the bytes of a file as lines, and what is white space in them.
 *
 * Lines end in LF, CR LF or CR, and the last one may have no end. Each is copied, cut
 * free of white space at its end, and followed by LF, to a buffer in an arena. Lines
 * read one after the other therefore lie side by side: the text of several of them is
 * one slice, in the form in which BitBake keeps it, and joining continued lines moves
 * nothing but the line that is being read.
 *
 * White space is what Python takes for it. Single-threaded; pure where no struct bz_lex
 * is involved.
 */
#ifndef BZ_RECIPE_LEX_H
#define BZ_RECIPE_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct bz_lex {
    const char *at, *end; /* what has not been read yet */
    char *out;            /* where the next line goes */
    uint32_t line;        /* the number of the line read last, from 1 */
    bool has_cr;          /* a CR stands somewhere in the text */
};

/* The text must outlive the lexer, but not the lines it gave. */
void bz_lex_init(struct bz_lex *lex, struct bz_arena *arena, struct bz_str text);

/* The next line; false at the end. To see a line without taking it, copy the struct
 * before and put it back after. */
bool bz_lex_line(struct bz_lex *lex, struct bz_str *line);

/* *line, which is the line read last and not empty, loses its last byte (a backslash)
 * and gets the next line in its place, which is also given as *piece. At the end there
 * is none: false, and *piece is empty; yet the number goes up, as BitBake counts. */
bool bz_lex_join(struct bz_lex *lex, struct bz_str *line, struct bz_str *piece);

/* The next line as it lies in the text, without white space at its end. Nothing is
 * copied: for walking over a text again, to find a place in it. */
bool bz_lex_source(struct bz_lex *lex, struct bz_str *line);

/* How many bytes at the start are UTF-8 without NUL: s.n if all are. */
size_t bz_lex_valid(struct bz_str s);

/* The character at the start of s, which is valid and not empty, and its length. */
size_t bz_lex_char(struct bz_str s, uint32_t *c);

/* How many bytes the white space character at (before) this offset has; 0: none. */
size_t bz_lex_space(struct bz_str s, size_t at);
size_t bz_lex_space_before(struct bz_str s, size_t at);

/* The offset after all white space from `at` on. */
size_t bz_lex_skip(struct bz_str s, size_t at);

#endif
