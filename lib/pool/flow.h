/* flow.h - a graph of work: what must be done before what.
 *
 * Nodes are 0..count-1 and mean whatever the caller's arrays say. Build it with
 * bz_flow_*, close it with bz_flow_close, then run it as often as needed with
 * flowrun.h; once closed it does not change and any number of threads may read it.
 *
 * Order is given by edges, or by files: a node that reads a file waits for the node
 * that writes it. A file nobody writes is an input of the whole graph and is always
 * there.
 */
#ifndef BZ_POOL_FLOW_H
#define BZ_POOL_FLOW_H

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "pool/lane.h"

#define BZ_FLOW_NONE UINT32_MAX

struct bz_flow_edge {
    uint32_t from, to; /* `to` waits for `from` */
};

struct bz_flow_use {
    uint32_t node, file;
};

struct bz_flow {
    uint32_t count;
    uint32_t *succ;       /* successors of node i: [succ_begin[i], succ_begin[i+1]) */
    uint32_t *succ_begin; /* [count + 1] */
    uint32_t *indegree;   /* [count] */
    uint32_t *level;      /* [count]; longest path from a node that waits for none */
    uint32_t *order;      /* [count]; topological, by level, then by number */
    uint32_t *wave;       /* level l is order[wave[l]] up to order[wave[l + 1]] */
    uint32_t levels;
    uint8_t *lane;     /* [count]; enum bz_lane_id */
    int64_t *priority; /* [count], or NULL if no node has one */

    struct bz_vec_flow_edges BZ_VEC(struct bz_flow_edge) edges; /* until closed */
    struct bz_vec_flow_reads BZ_VEC(struct bz_flow_use) reads;
    struct bz_vec_flow_files BZ_VEC(uint32_t) writer; /* of each file, or NONE */
    struct bz_err bad;                                /* the first mistake made */
};

/* Tells a node's name for a message; the result lasts until the next call. */
typedef const char *(*bz_flow_name_fn)(void *arg, uint32_t node);

struct bz_flow *bz_flow_new(uint32_t count) BZ_MUST_CHECK;
void bz_flow_free(struct bz_flow *f); /* NULL is allowed */
void bz_flow_freep(struct bz_flow **f);

void bz_flow_edge(struct bz_flow *f, uint32_t from, uint32_t to);
void bz_flow_lane(struct bz_flow *f, uint32_t node, enum bz_lane_id lane);

/* Among nodes that could start, a higher number goes first; 0 if not given. */
void bz_flow_priority(struct bz_flow *f, uint32_t node, int64_t priority);

/* Files are numbered from 0 in the order of the calls. */
uint32_t bz_flow_file(struct bz_flow *f);
void bz_flow_reads(struct bz_flow *f, uint32_t node, uint32_t file);
void bz_flow_writes(struct bz_flow *f, uint32_t node, uint32_t file);

/* Checks the graph and works out order and levels. BZ_E_INVAL for a cycle, naming the
 * nodes on it, and for a file with two writers. `name` may be NULL. */
int bz_flow_close(struct bz_flow *f, bz_flow_name_fn name, void *arg,
                  struct bz_err *err) BZ_MUST_CHECK;

#endif
