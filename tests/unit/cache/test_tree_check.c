#include <sys/xattr.h>

#include "tests/unit/cache/forest.h"

static int check(struct grove *g, const struct bz_reapi_digest *d, const char *path)
{
    return bz_tree_check(g->s->cas, d, g->s->dir, path, &g->out, &g->s->err);
}

/* In each of the three ways. */
static void check_all(struct grove *g, const struct bz_reapi_digest *d,
                      const char *path)
{
    for (unsigned c = 0; c < 3; c++) {
        g->out.check = (enum bz_cas_file_check)c;
        assert_ok(check(g, d, path), &g->s->err);
    }
}

static void random_trees_are_what_they_were_made(void **state)
{
    struct grove *g = *state;
    size_t fds = count_fds();

    for (unsigned seed = 0; seed < 9; seed++) {
        char from[16], out[16];
        struct bz_reapi_digest d;

        snprintf(from, sizeof(from), "from%u", seed);
        snprintf(out, sizeof(out), "out%u", seed);
        forest_make(g->s->dir, from, seed, 20 + 20 * seed);
        g->in.how = seed % 2 ? BZ_CAS_FILE_COPY : BZ_CAS_FILE_ADOPT;
        d = grove_store(g, from);
        assert_ok(grove_restore(g, &d, out), &g->s->err);
        check_all(g, &d, out);
    }
    assert_int_equal(count_fds(), fds);
}

/* A tree with one of each kind, and lines of shell that change it. */
static struct bz_reapi_digest plant(struct grove *g)
{
    make_dirs(g->s->dir, "t/d/empty");
    put(g->s->dir, "t/d/f", "text");
    put(g->s->dir, "t/x", "exec");
    assert_int_equal(fchmodat(g->s->dir, "t/x", 0755, 0), 0);
    assert_int_equal(symlinkat("d/f", g->s->dir, "t/l"), 0);
    assert_int_equal(mknodat(g->s->dir, "t/gone", S_IFCHR, 0), 0);
    return grove_store(g, "t");
}

static void run(struct grove *g, const char *line)
{
    char all[1000];

    snprintf(all, sizeof(all), "cd %s/out && stamp() { touch -hd @%d \"$@\"; }; %s",
             g->s->scratch->path, BZ_SHELF_MTIME, line);
    assert_int_equal(system(all), 0);
}

static void every_change_is_found(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d = plant(g);
    static const struct {
        const char *change;
        bool always; /* it is found even if nothing but names and sizes counts */
    } cases[] = {
        {"rm d/f; stamp d",                                    true },
        {"rm l",                                               true },
        {"rm gone",                                            true },
        {"rmdir d/empty; stamp d",                             true },
        {"echo more >new; stamp new",                          true },
        {"mkdir d/new; stamp d d/new",                         true },
        {"touch d/empty/new; stamp d/empty",                   true },
        {"touch d/f",                                          false},
        {"touch d",                                            false},
        {"printf longer >d/f; stamp d/f",                      true },
        {"printf TEXT >d/f",                                   false},
        {"chmod 600 d/f",                                      true },
        {"chmod 644 x",                                        true },
        {"chmod 700 d",                                        true },
        {"chmod 700 .",                                        true },
        {"ln -sfn elsewhere l; stamp l",                       true },
        {"rm x; ln -s d/f x; stamp x",                         true },
        {"rm x; mkdir x; stamp x",                             true },
        {"rm -r d/empty; printf '' >d/empty; stamp d/empty d", true },
        {"rm gone; printf '' >gone; stamp gone",               true },
    };

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        for (unsigned c = BZ_CAS_FILE_CHANGED; c <= BZ_CAS_FILE_UNCHECKED; c++) {
            bool found = cases[i].always || c == BZ_CAS_FILE_CHANGED;

            g->out.how = BZ_CAS_FILE_PRIVATE;
            g->out.check = (enum bz_cas_file_check)c;
            assert_ok(grove_restore(g, &d, "out"), &g->s->err);
            run(g, cases[i].change);
            if (check(g, &d, "out") != (found ? BZ_E_CORRUPT : 0))
                fail_msg("'%s' with %u", cases[i].change, c);
            assert_ok(bz_fs_remove(g->s->dir, "out", &g->s->err), &g->s->err);
        }
}

static void what_a_directory_hides_counts(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d = plant(g);
    char path[320];

    assert_ok(grove_restore(g, &d, "out"), &g->s->err);
    snprintf(path, sizeof(path), "%s/out/d", g->s->scratch->path);
    if (setxattr(path, "user.overlay.opaque", "y", 1, 0) < 0)
        skip(); /* no such attributes here */
    assert_int_equal(check(g, &d, "out"), BZ_E_CORRUPT);
}

static void bytes_are_hashed_if_that_is_asked_for(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d = plant(g);

    g->out.how = BZ_CAS_FILE_PRIVATE;
    assert_ok(grove_restore(g, &d, "out"), &g->s->err);
    run(g, "printf TEXT >d/f; stamp d/f");
    assert_ok(check(g, &d, "out"), &g->s->err);
    g->out.check = BZ_CAS_FILE_CHECK;
    assert_int_equal(check(g, &d, "out"), BZ_E_CORRUPT);
    assert_non_null(strstr(g->s->err.msg, "f has wrong bytes"));
}

static void the_time_of_the_whole_tells_of_its_use(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d = plant(g);

    assert_ok(grove_restore(g, &d, "out"), &g->s->err);
    run(g, "touch .");
    assert_ok(check(g, &d, "out"), &g->s->err);
}

static void a_tree_that_is_not_stored_cannot_be_told(void **state)
{
    struct grove *g = *state;
    const struct bz_reapi_digest none = {.hash = {{1}}, .size = 9};
    struct bz_reapi_digest d = plant(g);

    assert_int_equal(check(g, &none, "t"), BZ_E_NOENT);
    assert_true(check(g, &d, "nowhere") < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(random_trees_are_what_they_were_made),
        grove_test(every_change_is_found),
        grove_test(what_a_directory_hides_counts),
        grove_test(bytes_are_hashed_if_that_is_asked_for),
        grove_test(the_time_of_the_whole_tells_of_its_use),
        grove_test(a_tree_that_is_not_stored_cannot_be_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
