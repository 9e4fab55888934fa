#include "cache/index_file.h"

#include <sqlite3.h>

#include "base/log.h"
#include "cache/index.h"
#include "os/fs.h"
#include "tests/unit/os/scratch.h"

static const char *path_in(struct scratch *s, const char *name, char out[320])
{
    snprintf(out, 320, "%s/%s", s->path, name);
    return out;
}

static bool open_it(struct scratch *s)
{
    struct bz_err err;
    sqlite3 *db = NULL;
    char path[320];
    bool fresh;

    bz_log_set_level(BZ_LOG_ERROR);
    assert_ok(bz_index_file_open(path_in(s, "x.db", path), &db, &fresh, &err), &err);
    sqlite3_close(db);
    return fresh;
}

static void one_that_was_made_is_kept(void **state)
{
    assert_true(open_it(*state));
    assert_false(open_it(*state));
}

static void one_that_was_marked_is_begun_anew_once(void **state)
{
    struct scratch *s = *state;
    char path[320];

    open_it(s);
    bz_index_file_spoil(path_in(s, "x.db", path));
    assert_true(open_it(s));
    assert_true(bz_fs_exists(s->fd, "x.db.bad"));
    assert_false(open_it(s));
}

static void garbage_is_begun_anew(void **state)
{
    struct scratch *s = *state;

    put(s->fd, "x.db",
        "this is no database, though it is long enough to be taken for one");
    assert_true(open_it(s));
    assert_false(open_it(s));
}

/* Sets it, if there is something to set, and tells what it is. */
static int part_after(struct scratch *s, const int *set)
{
    struct bz_err err;
    sqlite3 *db = NULL;
    char path[320];
    bool fresh;
    int part;

    assert_ok(bz_index_file_open(path_in(s, "x.db", path), &db, &fresh, &err), &err);
    if (set)
        bz_index_file_set_part(db, *set);
    part = bz_index_file_part(db);
    sqlite3_close(db);
    return part;
}

static void the_part_to_go_on_with_is_kept(void **state)
{
    static const int parts[] = {0, 1, 511, BZ_INDEX_FILLED};

    for (size_t i = 0; i < BZ_COUNTOF(parts); i++) {
        assert_int_equal(part_after(*state, &parts[i]), parts[i]);
        assert_int_equal(part_after(*state, NULL), parts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_that_was_made_is_kept, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(one_that_was_marked_is_begun_anew_once,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_part_to_go_on_with_is_kept, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(garbage_is_begun_anew, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
