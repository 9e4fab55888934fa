/* doc.h - what a JSON or YAML text says, as a tree.
 *
 * json.c and yaml.c build such trees in the caller's arena; whoever reads settings or
 * requests from them needs to know only this file. A tree is read-only and may be
 * shared between threads; it and its strings live as long as the arena.
 *
 *   1. The items of a list or map stand in the order of the text, but for those that a
 *      YAML merge key brings in: yaml.h says where these go.
 *   2. The keys of a map are different from each other.
 *   3. Strings and keys are UTF-8 and contain no NUL.
 *   4. Parts of a tree from YAML may be shared (anchors), never cyclic. The limits of
 *      the reader count a shared part once for each of its uses, so that walking a
 *      tree is as bounded as reading it was.
 *
 * Every error message begins with the place: "line 3, column 7: ...".
 */
#ifndef BZ_CODEC_DOC_H
#define BZ_CODEC_DOC_H

#include "base/str.h"

enum bz_doc_type {
    BZ_DOC_NULL,
    BZ_DOC_BOOL,
    BZ_DOC_INT,
    BZ_DOC_REAL,
    BZ_DOC_STR,
    BZ_DOC_LIST,
    BZ_DOC_MAP,
};

/* One value with all that is below it. */
struct bz_doc {
    enum bz_doc_type type;
    uint32_t line, column; /* where the value begins, from 1; columns are characters */
    uint32_t key_line;     /* where its key is; 0 if it is not in a map */
    struct bz_str key;
    struct bz_str text; /* a string's contents; a plain scalar as it was written */
    union {
        bool b;    /* BZ_DOC_BOOL */
        int64_t i; /* BZ_DOC_INT */
        double r;  /* BZ_DOC_REAL; finite */
        struct {   /* BZ_DOC_LIST and BZ_DOC_MAP */
            const struct bz_doc *items;
            size_t count;
        };
    };
};

/* What a reader accepts before it says BZ_E_LIMIT. A zero stands for the default. */
struct bz_doc_limits {
    size_t bytes;   /* 16 MiB; never more than UINT32_MAX */
    size_t nodes;   /* 1000000 values */
    unsigned depth; /* 64 lists and maps within each other; never more than 500 */
};
struct bz_doc_limits bz_doc_limits_or_default(const struct bz_doc_limits *limits);

/* The item with this key, or NULL; NULL also if `map` is no map. Takes time in
 * proportion to the map: walk the items instead of asking for each of many. */
const struct bz_doc *bz_doc_find(const struct bz_doc *map, const char *key) BZ_NONNULL;

/* BZ_E_INVAL "expected a list, found a string" unless the value is of this type. */
int bz_doc_expect(const struct bz_doc *d, enum bz_doc_type type,
                  struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;

/* The item with this key if it is of this type. BZ_E_NOENT if there is none, and
 * BZ_E_INVAL if it is of another type or `map` is no map. Here and below *out is
 * unchanged on failure, so a default may stand there and BZ_E_NOENT be ignored. */
int bz_doc_field(const struct bz_doc *map, const char *key, enum bz_doc_type type,
                 const struct bz_doc **out,
                 struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;

int bz_doc_get_str(const struct bz_doc *map, const char *key, struct bz_str *out,
                   struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;
int bz_doc_get_bool(const struct bz_doc *map, const char *key, bool *out,
                    struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;
/* Also BZ_E_INVAL unless min <= the number <= max. */
int bz_doc_get_int(const struct bz_doc *map, const char *key, int64_t min, int64_t max,
                   int64_t *out, struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;
/* Takes integers too. */
int bz_doc_get_real(const struct bz_doc *map, const char *key, double *out,
                    struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;

/* For the readers: BZ_E_INVAL if two items of the map have the same key. */
int bz_doc_check_keys(const struct bz_doc *map,
                      struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;

#endif
