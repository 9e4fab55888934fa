/* sample.h - a small snapshot, for the tests of whatever reads and writes one. */
#ifndef BZ_TEST_SURVEY_SAMPLE_H
#define BZ_TEST_SURVEY_SAMPLE_H

#include "survey/snapshot_write.h"
#include "tests/unit/recipe/files.h"

static const struct bz_facts_task sample_tasks[] = {
    {.name = {"do_a", 4},  .after = {"", 0}, .noexec = true},
    { .name = {"do_b", 4},
     .after = {"do_a", 4},
     .deptask = {"do_x", 4},
     .python = {"f 2 do_b /l/z.inc", 17}},
};
static const struct bz_facts_task sample_equal[] = {
    {.name = {"do_a", 4},  .after = {"", 0}, .noexec = true},
    { .name = {"do_b", 4},
     .after = {"do_a", 4},
     .deptask = {"do_x", 4},
     .python = {"f 2 do_b /l/z.inc", 17}},
};
static const struct bz_facts_package sample_packages[] = {
    {.name = {"foo", 3}, .rdepends = {"bar baz", 7}},
};

/* A recipe with a variant, and another one with an error. */
static const struct bz_facts sample_facts[] = {
    {.path = {"/l/foo.bb", 9},
     .variant = {"native", 6},
     .layer = {"one", 3},
     .priority = -3,
     .appends = {"", 0},
     .pn = {"foo-native", 10},
     .pv = {"1.0", 3},
     .python = {"a 7 __anon /l/z.inc", 19},
     .default_preference = -1,
     .not_world = true,
     .tasks = sample_tasks,
     .ntasks = 2},
    {.path = {"/l/foo.bb", 9},
     .variant = {"", 0},
     .layer = {"one", 3},
     .appends = {"", 0},
     .pn = {"foo", 3},
     .packages = sample_packages,
     .npackages = 1,
     .tasks = sample_equal,
     .ntasks = 2},
    {.path = {"/l/bad.bb", 9},
     .variant = {"", 0},
     .error = {"wrong", 5},
     .pn = {"bad", 3}},
};

#define SAMPLE_KEY BZ_STR("the key")

/* Two recipes, of which `n` looks were for the first, and one for the configuration. */
static inline void sample_write(struct bz_snapshot_write *w,
                                const struct bz_library_look *const *looks, size_t n)
{
    static const struct bz_library_look conf = {
        .path = {"/l/none.conf",          12          },
          .stamp = {.kind = BZ_STAMP_ABSENT, .settled = 1}
    };
    static const struct bz_library_look *const conf_looks[] = {&conf};
    static const uint8_t digest[32] = {1, 2, 3};
    struct bz_snapshot_write_part part = {
        .mc = BZ_STR(""),
        .settings = BZ_STR(""),
        .digest = digest,
        .config = digest,
        .masked = 5,
        .looks = {conf_looks, 1},
    };

    bz_snapshot_write_recipe(w, &(struct bz_snapshot_write_recipe){
                                    &sample_facts[0], 2, {looks, n},
                                      0
    });
    bz_snapshot_write_recipe(w, &(struct bz_snapshot_write_recipe){
                                    &sample_facts[2], 1, {NULL, 0},
                                      0
    });
    bz_snapshot_write_part(w, &part);
}

static inline void sample_bytes(const struct bz_library_look *const *looks, size_t n,
                                struct bz_buf *out)
{
    struct bz_snapshot_write w = {0};
    struct bz_err err;

    sample_write(&w, looks, n);
    assert_ok(bz_snapshot_write_bytes(&w, SAMPLE_KEY, out, &err), &err);
    bz_snapshot_write_release(&w);
}

/* The same as the base of a catalog. */
static inline void sample_base(struct bz_entries *catalog,
                               const struct bz_library_look *const *looks, size_t n)
{
    struct bz_snapshot_write w = {0};
    struct bz_deltas none = {0};
    struct bz_err err;

    sample_write(&w, looks, n);
    assert_ok(bz_deltas_replace(&none, &w, SAMPLE_KEY, catalog, &err), &err);
    bz_snapshot_write_release(&w);
}

#endif
