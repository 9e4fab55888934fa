#include "survey/sweep.h"

#include <pthread.h>

#include "base/log.h"
#include "tests/unit/recipe/files.h"

enum { RECIPES = 50 };

static void put_recipes(struct world *w, struct bz_sweep_item *items)
{
    put_file(w, "classes/c.bbclass", "C = \"1\"\n");
    put_file(w, "classes/native.bbclass", "include only-native.inc\n");
    w->meta->complete = true;
    for (unsigned i = 0; i < RECIPES; i++) {
        char name[32], text[128];

        snprintf(name, sizeof(name), "r%u.bb", i);
        snprintf(text, sizeof(text), "PN = \"r%u\"\ninherit c\n%s", i,
                 i == 7 ? "BBCLASSEXTEND = \"native\"\nNAMED=\"x\"\n" : "");
        put_file(w, name, text);
        items[i] =
            (struct bz_sweep_item){.config = w->meta, .frame = {.path = at(w, name)}};
    }
}

/* Sweeps n items that lie side by side. */
static int sweep(struct world *w, const struct bz_sweep_opts *opts,
                 struct bz_sweep_item *items, size_t n, struct bz_sweep_keeps *keeps)
{
    struct bz_sweep_item *all[RECIPES] = {NULL};

    for (size_t i = 0; i < n; i++)
        all[i] = &items[i];
    return bz_sweep_run(opts, all, n, keeps, &w->err);
}

static void release_keeps(struct bz_sweep_keeps *keeps)
{
    for (size_t i = 0; i < keeps->len; i++)
        bz_facts_release(&keeps->at[i]);
    bz_vec_release(keeps);
}

static bool has_look(struct world *w, const struct bz_sweep_item *item,
                     const char *path)
{
    for (size_t i = 0; i < item->nlooks; i++)
        if (bz_str_eq(item->looks[i]->path, at(w, path)))
            return true;
    return false;
}

static void each_recipe_has_its_facts_notes_and_looks(void **state)
{
    struct world *w = *state;
    struct bz_sweep_item items[RECIPES];
    struct bz_sweep_keeps keeps = {0};
    struct bz_sweep_opts opts = {.library = w->library, .threads = 3};

    put_recipes(w, items);
    assert_ok(sweep(w, &opts, items, RECIPES, &keeps), &w->err);
    for (unsigned i = 0; i < RECIPES; i++) {
        char name[32];

        snprintf(name, sizeof(name), "r%u%s", i, i == 7 ? "-native" : "");
        assert_int_equal(items[i].nfacts, i == 7 ? 2 : 1);
        assert_text("PN", items[i].facts[0].pn, name);
        assert_true(has_look(w, &items[i], "classes-recipe/c.bbclass"));
        assert_true(has_look(w, &items[i], "classes/c.bbclass"));
        assert_int_equal(has_look(w, &items[i], "only-native.inc"), i == 7);
        assert_int_equal(items[i].notes.n > 0, i == 7);
    }
    assert_non_null(strstr(items[7].notes.p, "r7.bb:4:"));
    release_keeps(&keeps);
}

static void a_recipe_that_fails_has_its_error_and_nothing_else(void **state)
{
    struct world *w = *state;
    struct bz_sweep_item items[2] = {
        {.config = w->meta, .frame = {.path = at(w, "missing_1.0.bb")}},
        {.config = w->meta, .frame = {.path = at(w, "wrong.bb")}      },
    };
    struct bz_sweep_keeps keeps = {0};
    struct bz_sweep_opts opts = {.library = w->library, .threads = 1};

    put_file(w, "wrong.bb", "EXCLUDE_FROM_WORLD = \"2\"\nBBCLASSEXTEND = \"native\"\n");
    put_file(w, "classes/native.bbclass", "EXCLUDE_FROM_WORLD = \"1\"\n");
    assert_ok(sweep(w, &opts, items, 2, &keeps), &w->err);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(items[i].nfacts, 1);
        assert_true(items[i].facts[0].error.n > 0);
        assert_null(items[i].looks);
    }
    assert_text("PN", items[0].facts[0].pn, "missing");
    assert_non_null(strstr(items[1].facts[0].error.p, "wrong.bb: EXCLUDE_FROM_WORLD"));
    release_keeps(&keeps);
}

struct watch {
    pthread_t thread;
    size_t calls, last, wrong;
};

static void note_progress(void *ctx, size_t done, size_t total)
{
    struct watch *watch = ctx;

    watch->wrong += !pthread_equal(pthread_self(), watch->thread) ||
                    done <= watch->last || total != RECIPES;
    watch->calls++;
    watch->last = done;
}

static void progress_is_told_on_the_callers_thread(void **state)
{
    struct world *w = *state;
    struct bz_sweep_item items[RECIPES];
    struct bz_sweep_keeps keeps = {0};
    struct watch watch = {.thread = pthread_self()};
    struct bz_sweep_opts opts = {
        .library = w->library, .threads = 1, .progress = note_progress, .ctx = &watch};

    put_recipes(w, items);
    assert_ok(sweep(w, &opts, items, RECIPES, &keeps), &w->err);
    assert_int_equal(watch.wrong, 0);
    assert_int_equal(watch.last, RECIPES);
    assert_true(watch.calls > 1);
    release_keeps(&keeps);
}

static void count_lines(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    (void)level;
    (void)line;
    (void)n;
    ++*(size_t *)arg;
}

static void what_is_logged_stands_with_its_recipe(void **state)
{
    struct world *w = *state;
    struct bz_sweep_item item = {.config = w->meta, .frame = {.path = at(w, "a.bb")}};
    struct bz_sweep_keeps keeps = {0};
    struct bz_sweep_opts opts = {.library = w->library, .threads = 1};
    size_t lines = 0;
    struct bz_log_sink sink = {count_lines, &lines};

    put_file(w, "a.bb", "A:append += \"1\"\n");
    bz_log_set_sink(&sink);
    assert_ok(sweep(w, &opts, &item, 1, &keeps), &w->err);
    assert_int_equal(lines, 0);
    assert_non_null(strstr(item.notes.p, "a.bb:1: A:append +="));
    bz_log_warn("test", "the sink is what it was");
    assert_int_equal(lines, 1);
    bz_log_set_sink(NULL);
    release_keeps(&keeps);
}

static void nothing_is_swept_too(void **state)
{
    struct world *w = *state;
    struct bz_sweep_keeps keeps = {0};
    struct bz_sweep_opts opts = {.library = w->library};

    assert_ok(sweep(w, &opts, NULL, 0, &keeps), &w->err);
    release_keeps(&keeps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(each_recipe_has_its_facts_notes_and_looks),
        world_test(a_recipe_that_fails_has_its_error_and_nothing_else),
        world_test(progress_is_told_on_the_callers_thread),
        world_test(what_is_logged_stands_with_its_recipe),
        world_test(nothing_is_swept_too),
    };

    return cmocka_run_group_tests_name("survey/sweep", tests, NULL, NULL);
}
