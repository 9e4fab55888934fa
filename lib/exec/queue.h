/* queue.h - tasks that are ready, the most urgent first.
 *
 * A binary heap. What comes out does not depend on the order in which it went in.
 * For the files of this module only.
 */
#ifndef BZ_EXEC_QUEUE_H
#define BZ_EXEC_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct bz_queue_item {
    bool free;     /* it takes no time: before all others */
    uint32_t wave; /* then lower ones, */
    int64_t ahead; /* then those with more ns of work to come, */
    uint32_t rank; /* then by the order of the graph, in which no two are equal */
    uint32_t task;
};

struct bz_queue BZ_VEC(struct bz_queue_item);

void bz_queue_push(struct bz_queue *q, const struct bz_queue_item *item);
/* The first; there must be one. Valid until the queue changes. */
const struct bz_queue_item *bz_queue_peek(const struct bz_queue *q);
/* Takes it away. */
void bz_queue_pop(struct bz_queue *q);

#endif
