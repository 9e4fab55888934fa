/* place.h - where it is written that a task waits for something.
 *
 * For each word of the lists that make edges (addtask, [depends] and its kin) the file
 * and the line that put it there. Facts keep that as one text for each task, which only
 * an error message reads: a line for each word, in the order of enum bz_place_list.
 * "FILE:7" is a place, ":7" one in the same file as before it, "" the same place again,
 * "-" an unknown one.
 */
#ifndef BZ_SURVEY_PLACE_H
#define BZ_SURVEY_PLACE_H

#include "base/buf.h"
#include "survey/facts.h"

enum bz_place_list {
    BZ_PLACE_AFTER,
    BZ_PLACE_DEPENDS,
    BZ_PLACE_RDEPENDS,
    BZ_PLACE_DEPTASK,
    BZ_PLACE_RDEPTASK,
    BZ_PLACE_RECRDEPTASK,
    BZ_PLACE_RECIDEPTASK,
    BZ_PLACE_MCDEPENDS,
    BZ_PLACE_LISTS,
};

struct bz_place {
    struct bz_str file; /* p == NULL: not known */
    uint32_t line;
};

/* Appends the places of a task whose lists are known; nothing if no place is. A word
 * that several statements of a flag may have put there is the last one's. */
void bz_place_write(struct bz_meta *m, const struct bz_facts_task *t,
                    struct bz_buf *out);

/* The place of word number `word` of a list, from 0. */
struct bz_place bz_place_find(const struct bz_facts_task *t, enum bz_place_list list,
                              size_t word);

#endif
