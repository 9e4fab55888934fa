/* snapshot.h - the image of a survey: facts and inputs, read where they are mapped.
 *
 * A base has everything that a survey found and everything that it looked at. A delta
 * has the recipes that a later survey evaluated again, and the inputs that are others
 * since (deltas.h puts them together).
 *
 *   1. A head: magic, byte order, format, program, size, and where the tables are. An
 *      image that does not fit is BZ_E_CORRUPT, and the caller does without.
 *   2. Tables of fixed records, at multiples of 8. A record refers to others by number
 *      and to text by its place in one heap; every reference is checked when it is
 *      followed, so no bytes can make a reader leave the image.
 *   3. A text is terminated, and equal texts are there once.
 *
 * The entry of the catalog that has the image checks its sum (codec/entries.h).
 */
#ifndef BZ_SURVEY_SNAPSHOT_H
#define BZ_SURVEY_SNAPSHOT_H

#include "recipe/library.h"
#include "survey/facts.h"

#define BZ_SNAPSHOT_FORMAT 6 /* changes with any record below, and its meaning */
#define BZ_SNAPSHOT_MAX ((size_t)1 << 30)
#define BZ_SNAPSHOT_UNSET UINT32_MAX

struct bz_snapshot_text {
    uint32_t at, n; /* at == BZ_SNAPSHOT_UNSET: not set */
};

struct bz_snapshot_range {
    uint32_t first, n;
};

enum { BZ_SNAPSHOT_READ = 1, BZ_SNAPSHOT_DROPPED = 2 /* nobody looks there now */ };

/* A path, and what was found there. In a delta it may replace an earlier input, and has
 * no path then. Inputs that replace none are numbered through base and deltas. */
struct bz_snapshot_input {
    struct bz_stamp stamp;
    uint8_t content[32];
    struct bz_snapshot_text path;
    uint32_t bits;
    uint32_t replaces; /* BZ_SNAPSHOT_UNSET: none */
};

/* A multiconfig. */
struct bz_snapshot_part {
    struct bz_snapshot_text mc;
    struct bz_snapshot_text
        settings;       /* records of vars/dump.h, each after its length */
    uint8_t digest[32]; /* of what the configuration says */
    uint8_t config[32]; /* of all it says, see recall.h */
    uint64_t masked;
    struct bz_snapshot_range recipes, inputs; /* these by way of the list */
};

struct bz_snapshot_recipe {
    struct bz_snapshot_range facts, inputs;
    uint32_t valid;    /* may be used again: it has no error and may be cached */
    uint32_t replaces; /* in a delta: the recipe of the base */
};

enum {
    BZ_SNAPSHOT_FACT_TEXTS = 20,
    BZ_SNAPSHOT_PACKAGE_TEXTS = 4,
    BZ_SNAPSHOT_TASK_TEXTS = 11,
};

enum { BZ_SNAPSHOT_HIDDEN = 1, BZ_SNAPSHOT_UNCACHED = 2, BZ_SNAPSHOT_NOT_WORLD = 4 };

struct bz_snapshot_fact {
    struct bz_snapshot_text text[BZ_SNAPSHOT_FACT_TEXTS];
    struct bz_snapshot_range packages, tasks;
    int64_t priority, preference;
    uint8_t lineage[32];
    uint32_t bits, unused;
};

struct bz_snapshot_package {
    struct bz_snapshot_text text[BZ_SNAPSHOT_PACKAGE_TEXTS];
};

enum {
    BZ_SNAPSHOT_NOEXEC = 1,
    BZ_SNAPSHOT_NOSTAMP = 2,
    BZ_SNAPSHOT_FAKEROOT = 4,
    BZ_SNAPSHOT_NETWORK = 8
};

struct bz_snapshot_task {
    struct bz_snapshot_text text[BZ_SNAPSHOT_TASK_TEXTS];
    uint32_t bits, unused;
};

enum bz_snapshot_table {
    BZ_SNAPSHOT_TEXTS,
    BZ_SNAPSHOT_INPUTS,
    BZ_SNAPSHOT_LIST, /* numbers of inputs */
    BZ_SNAPSHOT_PARTS,
    BZ_SNAPSHOT_RECIPES,
    BZ_SNAPSHOT_FACTS,
    BZ_SNAPSHOT_PACKAGES,
    BZ_SNAPSHOT_TASKS,
    BZ_SNAPSHOT_TABLES,
};

struct bz_snapshot_head {
    char magic[8];
    uint32_t order, format;
    char program[24];
    uint64_t size;
    struct bz_snapshot_range tables[BZ_SNAPSHOT_TABLES]; /* first byte, records */
    struct bz_snapshot_text key; /* what must be the same to begin with */
};

/* The size of a table's records, and where the texts of facts, packages and tasks lie
 * in the structs of facts.h, in the order of the records. */
extern const size_t bz_snapshot_sizes[BZ_SNAPSHOT_TABLES];
extern const size_t bz_snapshot_fact_at[BZ_SNAPSHOT_FACT_TEXTS];
extern const size_t bz_snapshot_package_at[BZ_SNAPSHOT_PACKAGE_TEXTS];
extern const size_t bz_snapshot_task_at[BZ_SNAPSHOT_TASK_TEXTS];

/* Puts what does not depend on the content into a head. */
void bz_snapshot_sign(struct bz_snapshot_head *head);

struct bz_snapshot {
    const char *bytes; /* NULL: none is open */
    size_t size;
    const struct bz_snapshot_head *head;
    struct bz_facts_package *packages; /* all of the table, once they are asked for */
    struct bz_facts_task *tasks;
};

/* Opens bytes that lie at a multiple of 8 and outlive it. BZ_E_CORRUPT. */
int bz_snapshot_view(struct bz_snapshot *s, struct bz_str bytes,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_snapshot_close(struct bz_snapshot *s);

/* Record i of a table; NULL if there is none. */
const void *bz_snapshot_at(const struct bz_snapshot *s, enum bz_snapshot_table table,
                           size_t i);
static inline uint32_t bz_snapshot_count(const struct bz_snapshot *s,
                                         enum bz_snapshot_table table)
{
    return s->head->tables[table].n;
}
/* Whether the records of a range are all there. */
bool bz_snapshot_has(const struct bz_snapshot *s, enum bz_snapshot_table table,
                     struct bz_snapshot_range range);
/* False if it lies outside the heap. */
bool bz_snapshot_text(const struct bz_snapshot *s, struct bz_snapshot_text ref,
                      struct bz_str *out);

/* Fact i, with its packages and tasks; its texts lie in the image. BZ_E_CORRUPT. */
int bz_snapshot_fact(struct bz_snapshot *s, size_t i, struct bz_facts *out,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
