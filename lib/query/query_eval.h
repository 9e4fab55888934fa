/* query_eval.h - the answer to a question.
 *
 * Works on the nodes of a graph, numbers, and asks a bz_query_world for everything else
 * about them. Functions may find more things than the graph has, as the files that a
 * task reads: leaves, which nothing waits for. They get the numbers after the graph's.
 *
 * Every operator and function takes time in proportion to nodes and edges. One thread.
 */
#ifndef BZ_QUERY_QUERY_EVAL_H
#define BZ_QUERY_QUERY_EVAL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "graph/dag.h"
#include "query/query.h"

/* Told of each leaf; one that is known already is the same one. */
typedef void (*bz_query_leaf_fn)(void *to, const char *kind, struct bz_str text);

struct bz_query_world {
    const struct bz_dag *dag;
    const char *const *kinds; /* of nodes and leaves, up to a NULL; one of these is what
                                 kind() and leaves say */
    void *ctx;
    /* Adds what is called so. BZ_E_NOENT, with near names, if it is no pattern and
     * nothing is. */
    int (*match)(void *ctx, struct bz_str name, struct bz_bitset *out,
                 struct bz_err *err);
    void (*name)(void *ctx, uint32_t node, struct bz_buf *out);
    /* The kind, and the text that patterns of kind() are about. */
    const char *(*kind)(void *ctx, uint32_t node, struct bz_str *text);
    /* A value, p == NULL if it has none; it lasts until the next call. */
    int (*attr)(void *ctx, uint32_t node, struct bz_str name, struct bz_str *value,
                struct bz_err *err);
    int (*inputs)(void *ctx, const struct bz_bitset *nodes, bz_query_leaf_fn leaf,
                  void *to, struct bz_err *err);
    int (*outputs)(void *ctx, const struct bz_bitset *nodes, bz_query_leaf_fn leaf,
                   void *to, struct bz_err *err);
};

struct bz_query_leaf {
    const char *kind;
    struct bz_str text;
};

struct bz_query_eval {
    const struct bz_query_world *world;
    struct bz_dag back; /* the graph the other way round, once it is asked for */
    struct bz_query_leaves BZ_VEC(struct bz_query_leaf) leaves;
    struct bz_map known; /* a leaf's kind and text -> its number in leaves, from 1 */
    struct bz_arena arena;
};

void bz_query_eval_init(struct bz_query_eval *e, const struct bz_query_world *world);
void bz_query_eval_release(struct bz_query_eval *e);

struct bz_query_answer {
    struct bz_bitset nodes; /* numbers from world->dag->n on are leaves */
    struct bz_dag_ids path; /* in order, if the question is somepath() alone */
};

/* BZ_E_NOENT for a name that nothing has, BZ_E_INVAL for a wrong expression or kind,
 * with the column; and whatever the world fails with. Release *out in any case. */
int bz_query_eval_run(struct bz_query_eval *e, const struct bz_query *q,
                      struct bz_query_answer *out, uint32_t *column,
                      struct bz_err *err) BZ_MUST_CHECK;
void bz_query_eval_release_answer(struct bz_query_answer *a);

/* The kind of a node or leaf; appends its name to `out`, if that is not NULL. */
const char *bz_query_eval_describe(const struct bz_query_eval *e, size_t node,
                                   struct bz_buf *out);

#endif
