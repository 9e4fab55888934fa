#include "cache/index.h"

#include <sqlite3.h>
#include <sys/wait.h>

#include "base/log.h"
#include "tests/unit/os/scratch.h"

struct fixture {
    struct scratch *scratch;
    char path[300];
    struct bz_index *x;
    enum bz_index_state state;
    struct bz_arena a;
    struct bz_err err;
};

static void reopen(struct fixture *f, struct bz_pool *pool)
{
    bz_index_close(f->x);
    f->x = NULL;
    assert_ok(bz_index_open(f->path, pool, &f->x, &f->state, &f->err), &f->err);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    void *scratch;

    if (scratch_setup(&scratch) < 0)
        return -1;
    f->scratch = scratch;
    snprintf(f->path, sizeof(f->path), "%s/deep/er/index.db", f->scratch->path);
    bz_log_set_level(BZ_LOG_ERROR);
    *state = f;
    return bz_index_open(f->path, NULL, &f->x, &f->state, &f->err);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    void *scratch = f->scratch;

    bz_index_close(f->x);
    bz_arena_release(&f->a);
    free(f);
    return scratch_teardown(&scratch);
}

static struct bz_reapi_digest digest(uint8_t i, uint64_t size)
{
    return (struct bz_reapi_digest){{{i, 1}}, size};
}

static void note_action(struct fixture *f, uint8_t i, int64_t used)
{
    struct bz_reapi_digest blobs[] = {digest(100, 10), digest((uint8_t)(100 + i), 20)};
    struct bz_index_action a = {.key = {{i}},
                                .recipe = BZ_STR("busy\xff"
                                                 "box"),
                                .task = BZ_STR("do_compile"),
                                .used = used,
                                .duration = 5000,
                                .bytes = 30};

    bz_index_note_action(f->x, &a, blobs, 2);
}

static void flush(struct fixture *f)
{
    assert_ok(bz_index_flush(f->x, &f->err), &f->err);
}

static void what_was_noted_is_known_after_it_is_reopened(void **state)
{
    static const struct bz_digest key = {{1}};
    struct fixture *f = *state;
    struct bz_index_action a;

    assert_int_equal(f->state, BZ_INDEX_NEW);
    note_action(f, 1, 77);
    bz_index_note_hit(f->x, &key);
    bz_index_note_hit(f->x, &key);
    assert_false(bz_index_get_action(f->x, &key, &f->a, &a));
    reopen(f, NULL);
    assert_int_equal(f->state, BZ_INDEX_KEPT);
    assert_true(bz_index_get_action(f->x, &key, &f->a, &a));
    assert_true(bz_str_eq(a.recipe, BZ_STR("busy\xff"
                                           "box")));
    assert_true(bz_str_eq(a.task, BZ_STR("do_compile")));
    assert_int_equal(a.hits, 2);
    assert_true(a.used > 77);
    assert_int_equal(a.duration, 5000);
    assert_int_equal(a.bytes, 30);
    note_action(f, 1, 5); /* seen again: hits and the last use stay */
    flush(f);
    assert_true(bz_index_get_action(f->x, &key, &f->a, &a));
    assert_int_equal(a.hits, 2);
    assert_true(a.used > 77);
}

static void references_lead_from_results_to_trees_to_blobs(void **state)
{
    struct fixture *f = *state;
    struct bz_reapi_digest tree = digest(101, 20);
    struct bz_reapi_digest files[] = {digest(3, 7), digest(2, 8), digest(100, 10)};
    struct bz_index_blob blob;
    struct bz_index_totals t;

    note_action(f, 1, 1);
    bz_index_note_blob(f->x, &tree, 9, files, 3);
    flush(f);
    assert_true(bz_index_get_blob(f->x, &tree.hash, &blob));
    assert_int_equal(blob.size, 20);
    assert_int_equal(blob.refs, 1); /* a result */
    assert_true(bz_index_get_blob(f->x, &files[1].hash, &blob));
    assert_int_equal(blob.size, 8);
    assert_int_equal(blob.refs, 1); /* a tree */
    assert_true(bz_index_get_blob(f->x, &files[2].hash, &blob));
    assert_int_equal(blob.size, 10);
    assert_int_equal(blob.refs, 2); /* a result and a tree */
    assert_int_equal(blob.used, 9);
    bz_index_get_totals(f->x, &t);
    assert_int_equal(t.blobs, 4);
    assert_int_equal(t.bytes, 10 + 20 + 7 + 8);
    assert_int_equal(t.actions, 1);
}

static void a_checked_tree_is_remembered(void **state)
{
    struct fixture *f = *state;
    struct bz_reapi_digest tree = digest(1, 5);

    assert_false(bz_index_checked(f->x, &tree.hash));
    bz_index_note_blob(f->x, &tree, 1, NULL, 0);
    bz_index_note_checked(f->x, &tree.hash);
    flush(f);
    assert_true(bz_index_checked(f->x, &tree.hash));
    assert_false(bz_index_checked(f->x, &(struct bz_digest){{2}}));
}

static void all_can_be_forgotten(void **state)
{
    struct fixture *f = *state;
    struct bz_index_totals t;

    note_action(f, 1, 1);
    assert_ok(bz_index_clear(f->x, &f->err), &f->err);
    bz_index_get_totals(f->x, &t);
    assert_int_equal(t.blobs + t.actions + t.hits + t.bytes, 0);
}

static void scribble(const char *path, off_t at, size_t n)
{
    char junk[4096];
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    memset(junk, 0x5a, sizeof(junk));
    for (size_t i = 0; i < n; i += sizeof(junk))
        assert_int_equal(pwrite(fd, junk, sizeof(junk), at + (off_t)i), sizeof(junk));
    close(fd);
}

static void a_file_that_is_no_database_is_put_aside(void **state)
{
    struct fixture *f = *state;
    char bad[320];
    struct bz_index_totals t;

    note_action(f, 1, 1);
    bz_index_close(f->x);
    f->x = NULL;
    scribble(f->path, 0, 8192);
    reopen(f, NULL);
    assert_int_equal(f->state, BZ_INDEX_NEW);
    bz_index_get_totals(f->x, &t);
    assert_int_equal(t.actions, 0);
    snprintf(bad, sizeof(bad), "%s.bad", f->path);
    assert_int_equal(access(bad, F_OK), 0);
    note_action(f, 1, 1);
    reopen(f, NULL);
    assert_int_equal(f->state, BZ_INDEX_KEPT);
}

/* Damaged inside: whatever page it hits, nothing crashes, and a new one comes after. */
static void a_database_damaged_inside_answers_nothing_or_is_begun_anew(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 1; i < 8; i++) {
        struct bz_index_totals t;
        struct bz_index_action found;
        struct stat st;

        for (unsigned k = 0; k < 200; k++)
            note_action(f, (uint8_t)k, k);
        bz_index_close(f->x);
        f->x = NULL;
        assert_int_equal(stat(f->path, &st), 0);
        scribble(f->path, (off_t)i * 4096 % st.st_size, 4096);
        reopen(f, NULL);
        bz_index_get_totals(f->x, &t);
        for (unsigned k = 0; k < 200; k++)
            (void)bz_index_get_action(f->x, &(struct bz_digest){{(uint8_t)k}}, &f->a,
                                      &found);
        note_action(f, 1, 1);
        (void)!bz_index_flush(f->x, &f->err);
        bz_index_close(f->x);
        f->x = NULL;
        unlink(f->path);
        reopen(f, NULL);
        note_action(f, 1, 1);
        flush(f);
    }
}

static void without_a_place_it_lives_in_memory(void **state)
{
    struct fixture *f = *state;
    struct bz_index *x;
    enum bz_index_state s;

    put(f->scratch->fd, "file", "x");
    snprintf(f->path, sizeof(f->path), "%s/file/index.db", f->scratch->path);
    assert_ok(bz_index_open(f->path, NULL, &x, &s, &f->err), &f->err);
    assert_int_equal(s, BZ_INDEX_MEMORY);
    bz_index_close(x);
    assert_ok(bz_index_open(NULL, NULL, &x, &s, &f->err), &f->err);
    assert_int_equal(s, BZ_INDEX_MEMORY);
    bz_index_close(x);
}

static void a_long_queue_is_written_on_the_pool(void **state)
{
    struct fixture *f = *state;
    struct bz_pool *pool;
    struct bz_index_totals t;

    assert_ok(bz_pool_new(&(struct bz_pool_opts){0}, &pool, &f->err), &f->err);
    reopen(f, pool);
    for (uint32_t i = 0; i < 20000; i++) {
        struct bz_reapi_digest d = {.size = i};

        memcpy(d.hash.b, &i, sizeof(i));
        d.hash.b[31] = 1;
        bz_index_note_blob(f->x, &d, i, NULL, 0);
    }
    reopen(f, NULL);
    bz_index_get_totals(f->x, &t);
    assert_int_equal(t.blobs, 20000);
    bz_pool_free(pool);
}

static void processes_share_one_file(void **state)
{
    struct fixture *f = *state;
    struct bz_index_totals t;
    pid_t pids[4];

    reopen(f, NULL);
    for (uint8_t i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct fixture own = {.x = NULL};

            memcpy(own.path, f->path, sizeof(own.path));
            if (bz_index_open(own.path, NULL, &own.x, &own.state, &own.err) < 0)
                _exit(1);
            for (uint8_t k = 0; k < 25; k++) {
                note_action(&own, (uint8_t)(i * 25 + k), 1);
                if (bz_index_flush(own.x, &own.err) < 0)
                    _exit(2);
            }
            bz_index_close(own.x);
            _exit(0);
        }
    }
    for (int i = 0; i < 4; i++) {
        int status;

        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    bz_index_get_totals(f->x, &t);
    assert_int_equal(t.actions, 100);
}

/* Numbers of blobs are given again: what comes later must not inherit anything. */
static void what_is_forgotten_leaves_no_trace(void **state)
{
    struct fixture *f = *state;
    struct bz_reapi_digest tree = digest(50, 1), file = digest(51, 2);
    struct bz_index_totals totals;
    struct bz_index_action a;
    struct bz_index_blob b;

    note_action(f, 1, 5);
    bz_index_note_blob(f->x, &tree, 5, &file, 1);
    bz_index_forget_action(f->x, &(struct bz_digest){{1}});
    for (uint8_t i = 0; i < 2; i++)
        bz_index_forget_blob(f->x, &(struct bz_digest){
                                       {100 + i, 1}
        });
    bz_index_forget_blob(f->x, &file.hash);
    bz_index_forget_blob(f->x, &tree.hash);
    assert_ok(bz_index_flush(f->x, &f->err), &f->err);
    assert_false(bz_index_get_action(f->x, &(struct bz_digest){{1}}, &f->a, &a));
    bz_index_get_totals(f->x, &totals);
    assert_int_equal(totals.blobs + totals.actions, 0);
    for (uint8_t i = 0; i < 8; i++)
        bz_index_note_blob(f->x, &(struct bz_reapi_digest){{{i, 9}}, 1}, 5, NULL, 0);
    assert_ok(bz_index_flush(f->x, &f->err), &f->err);
    for (uint8_t i = 0; i < 8; i++) {
        assert_true(bz_index_get_blob(f->x,
                                      &(struct bz_digest){
                                          {i, 9}
        },
                                      &b));
        assert_int_equal(b.refs, 0);
    }
}

/* Whether all can be noted and asked for. */
static bool works(struct fixture *f)
{
    struct bz_reapi_digest blob = digest(77, 7);
    struct bz_index_action note = {.key = {{99}}, .recipe = BZ_STR("r")}, got;
    struct bz_index_blob b;

    bz_index_note_action(f->x, &note, &blob, 1);
    bz_index_note_hit(f->x, &note.key);
    bz_index_note_checked(f->x, &blob.hash);
    bz_index_forget_action(f->x, &(struct bz_digest){{1}});
    bz_index_forget_blob(f->x, &(struct bz_digest){
                                   {101, 1}
    });
    return bz_index_flush(f->x, &f->err) == 0 &&
           bz_index_get_action(f->x, &note.key, &f->a, &got) &&
           bz_index_get_blob(f->x, &blob.hash, &b) && b.refs == 1 &&
           bz_index_checked(f->x, &blob.hash) && bz_index_clear(f->x, &f->err) == 0;
}

static void overwrite(const char *path, const char *bytes, size_t n)
{
    struct bz_err err;

    assert_ok(bz_fs_write(AT_FDCWD, path, bytes, n, 0644, BZ_FS_NOSYNC, &err), &err);
}

/* Bytes anywhere in the file are changed, or its end is cut off. Whoever uses it may
 * find out and go on without; then the next one begins anew. */
static void however_it_is_damaged_it_is_usable_when_opened_again(void **state)
{
    struct fixture *f = *state;
    unsigned random = 1, useless = 0;
    char *bytes, *copy;
    size_t n;

    for (uint8_t i = 1; i < 40; i++)
        note_action(f, i, i);
    bz_index_close(f->x);
    f->x = NULL;
    assert_ok(bz_fs_read(AT_FDCWD, f->path, 1 << 24, &bytes, &n, &f->err), &f->err);
    copy = malloc(n);
    for (int round = 0; round < 40; round++) {
        size_t left = n, changes = 1 + (size_t)round % 40;

        memcpy(copy, bytes, n);
        for (size_t i = 0; i < changes; i++) {
            size_t at = (random = random * 1103515245 + 12345) >> 8;

            /* The first pages hold the tables' descriptions. */
            at %= i % 2 ? n : 2048;
            copy[at] = (char)(random >> 3);
        }
        if (round % 10 == 9)
            left = random % n;
        overwrite(f->path, copy, left);
        for (int opened = 0; opened < 2; opened++) {
            reopen(f, NULL);
            if (works(f))
                break;
            useless += opened;
        }
        bz_index_close(f->x);
        f->x = NULL;
        unlink(f->path);
    }
    free(bytes);
    free(copy);
    assert_int_equal(useless, 0);
}

static void a_schema_that_is_not_ours_is_put_aside(void **state)
{
    static const char *const evil[] = {
        "CREATE TRIGGER t AFTER INSERT ON action BEGIN DELETE FROM blob; END",
        "DROP INDEX action_used; CREATE VIEW action_used AS SELECT 1",
        "DROP TABLE blob_ref",
        "ALTER TABLE action ADD COLUMN x NOT NULL DEFAULT 1",
        "DROP TABLE action; CREATE TABLE action(key)",
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < BZ_COUNTOF(evil); i++) {
        sqlite3 *db;

        bz_index_close(f->x);
        f->x = NULL;
        assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, evil[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        reopen(f, NULL);
        assert_int_equal(f->state, BZ_INDEX_NEW);
        assert_true(works(f));
    }
}

/* Files on which processes cannot share memory: SQLite keeps a journal then, and a
 * reader may keep a transaction from being committed. */
static sqlite3_vfs plain_vfs;
static sqlite3_io_methods plain_methods;

static int open_plain(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                      int *out)
{
    sqlite3_vfs *usual = vfs->pAppData;
    int rc = usual->xOpen(usual, name, file, flags, out);

    if (rc == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB)) {
        plain_methods = *file->pMethods;
        plain_methods.iVersion = 1;
        file->pMethods = &plain_methods;
    }
    return rc;
}

static void use_plain_files(bool use)
{
    sqlite3_vfs *usual = sqlite3_vfs_find("unix");

    plain_vfs = *usual;
    plain_vfs.zName = "plain";
    plain_vfs.pAppData = usual;
    plain_vfs.xOpen = open_plain;
    assert_int_equal(sqlite3_vfs_register(use ? &plain_vfs : usual, 1), SQLITE_OK);
    if (!use)
        sqlite3_vfs_unregister(&plain_vfs);
}

static void a_transaction_that_a_reader_stops_does_not_break_the_next(void **state)
{
    struct fixture *f = *state;

    bz_index_close(f->x);
    f->x = NULL;
    assert_int_equal(unlink(f->path), 0);
    use_plain_files(true);
    reopen(f, NULL);
    for (int i = 0; i < 2; i++) {
        sqlite3 *reader;
        int rc;

        note_action(f, 1, 5);
        assert_ok(bz_index_flush(f->x, &f->err), &f->err);
        assert_int_equal(sqlite3_open(f->path, &reader), SQLITE_OK);
        assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM action",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        if (i == 0)
            note_action(f, 2, 5);
        rc = i == 0 ? bz_index_flush(f->x, &f->err) : bz_index_clear(f->x, &f->err);
        assert_int_equal(rc, BZ_E_BUSY);
        sqlite3_close(reader);
        assert_true(works(f));
    }
    bz_index_close(f->x);
    f->x = NULL;
    use_plain_files(false);
}

static struct bz_index_task task_of(const char *project, const char *version)
{
    return (struct bz_index_task){
        .project = bz_str_from(project),
        .machine = BZ_STR("board"),
        .recipe = {"busy\xff"
                   "box", 8},
        .version = bz_str_from(version),
        .task = BZ_STR("do_compile")
    };
}

static void what_a_task_took_here_counts_more_than_what_results_say(void **state)
{
    const struct bz_index_task of = task_of("/p", "1.0");
    struct fixture *f = *state;
    struct bz_index_cost cost = {0};

    assert_false(bz_index_get_cost(f->x, &of, &cost));
    bz_index_guess_cost(f->x, &of, 5000);
    bz_index_guess_cost(f->x, &of, 6000);
    flush(f);
    assert_true(bz_index_get_cost(f->x, &of, &cost));
    assert_int_equal(cost.duration, 5000);
    assert_int_equal(cost.peak, 0);
    bz_index_note_cost(f->x, &of, &(struct bz_index_cost){70, 1 << 20});
    bz_index_guess_cost(f->x, &of, 5000);
    reopen(f, NULL);
    assert_true(bz_index_get_cost(f->x, &of, &cost));
    assert_int_equal(cost.duration, 70);
    assert_int_equal(cost.peak, 1 << 20);
}

static void a_recipe_of_another_project_or_machine_is_another_one(void **state)
{
    struct bz_index_task of = task_of("/p", "1.0");
    struct fixture *f = *state;
    struct bz_index_cost cost = {0};

    bz_index_note_cost(f->x, &of, &(struct bz_index_cost){70, 1});
    flush(f);
    of.project = BZ_STR("/q");
    assert_false(bz_index_get_cost(f->x, &of, &cost));
    of.project = BZ_STR("/p");
    of.machine = BZ_STR("other");
    assert_false(bz_index_get_cost(f->x, &of, &cost));
    of.machine = BZ_STR("board");
    of.task = BZ_STR("do_install");
    assert_false(bz_index_get_cost(f->x, &of, &cost));
}

static void another_version_is_better_than_nothing(void **state)
{
    struct bz_index_task of = task_of("/p", "1.0");
    struct fixture *f = *state;
    struct bz_index_cost cost = {0};

    bz_index_note_cost(f->x, &of, &(struct bz_index_cost){70, 1});
    for (int i = 2; i < 9; i++) {
        char version[8];

        snprintf(version, sizeof(version), "%d.0", i);
        of = task_of("/p", version);
        bz_index_note_cost(f->x, &of, &(struct bz_index_cost){i, 0});
    }
    flush(f);
    of = task_of("/p", "7.0");
    assert_true(bz_index_get_cost(f->x, &of, &cost));
    assert_int_equal(cost.duration, 7);
    of = task_of("/p", "1.0"); /* it was long ago: the last one counts */
    assert_true(bz_index_get_cost(f->x, &of, &cost));
    assert_int_equal(cost.duration, 8);
}

/* One by one or all together, the answers are the same. */
static void many_answers_are_those_of_single_questions(void **state)
{
    enum { RECIPES = 100, ASKS = 4 * RECIPES };
    static const char *const versions[] = {"1", "2", "3"};
    static struct bz_index_ask asks[ASKS];
    static char names[RECIPES][8];
    struct fixture *f = *state;
    size_t known = 0;

    for (int i = 0; i < RECIPES; i++)
        snprintf(names[i], sizeof(names[i]), "r%d", i);
    for (int i = 0; i < ASKS; i++) {
        int r = i % RECIPES;
        struct bz_index_task of = {
            .project = i % 7 ? BZ_STR("/p") : BZ_STR("/q"),
            .machine = i % 5 ? BZ_STR("board") : BZ_STR("bird"),
            .recipe = bz_str_from(names[r]),
            .version = bz_str_from(versions[i * 31 / 7 % 3]),
            .task = BZ_STR("do_x"),
        };

        if (i % 3 && r % 10)
            bz_index_note_cost(f->x, &of, &(struct bz_index_cost){i, 1});
        of.project = BZ_STR("/p");
        of.version = bz_str_from(versions[i % 3]);
        asks[i].of = of;
    }
    flush(f);
    bz_index_get_costs(f->x, asks, ASKS);
    for (int i = 0; i < ASKS; i++) {
        struct bz_index_cost cost = {0};

        assert_int_equal(bz_index_get_cost(f->x, &asks[i].of, &cost), asks[i].known);
        if (asks[i].known)
            assert_int_equal(asks[i].cost.duration, cost.duration);
        known += asks[i].known;
    }
    assert_true(known > 0 && known < ASKS);
}

static void what_many_tasks_took_is_asked_at_once(void **state)
{
    static const struct bz_index_task ax = {.recipe = BZ_STR("a"),
                                            .task = BZ_STR("do_x")},
                                      ay = {.recipe = BZ_STR("a"),
                                            .task = BZ_STR("do_y")},
                                      bx = {.recipe = BZ_STR("b"),
                                            .task = BZ_STR("do_x")};
    struct fixture *f = *state;
    struct bz_index_ask asks[] = {
        {.of = ax},
        {.of = ay, .cost = {3, 3}},
        {.of = bx       },
    };

    bz_index_note_cost(f->x, &ax, &(struct bz_index_cost){7, 8});
    bz_index_note_cost(f->x, &bx, &(struct bz_index_cost){9, 0});
    flush(f);
    bz_index_get_costs(f->x, asks, BZ_COUNTOF(asks));
    assert_true(asks[0].known && asks[2].known && !asks[1].known);
    assert_int_equal(asks[0].cost.duration, 7);
    assert_int_equal(asks[0].cost.peak, 8);
    assert_int_equal(asks[1].cost.duration, 3);
    assert_int_equal(asks[2].cost.duration, 9);
    /* It can be written to afterwards. */
    bz_index_note_cost(f->x, &ay, &(struct bz_index_cost){1, 0});
    flush(f);
    bz_index_get_costs(f->x, asks, BZ_COUNTOF(asks));
    assert_true(asks[1].known);
}

#define test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(what_is_forgotten_leaves_no_trace),
        test(however_it_is_damaged_it_is_usable_when_opened_again),
        test(a_schema_that_is_not_ours_is_put_aside),
        test(what_was_noted_is_known_after_it_is_reopened),
        test(references_lead_from_results_to_trees_to_blobs),
        test(a_checked_tree_is_remembered),
        test(all_can_be_forgotten),
        test(a_file_that_is_no_database_is_put_aside),
        test(a_database_damaged_inside_answers_nothing_or_is_begun_anew),
        test(without_a_place_it_lives_in_memory),
        test(a_long_queue_is_written_on_the_pool),
        test(processes_share_one_file),
        test(a_transaction_that_a_reader_stops_does_not_break_the_next),
        test(what_a_task_took_here_counts_more_than_what_results_say),
        test(a_recipe_of_another_project_or_machine_is_another_one),
        test(another_version_is_better_than_nothing),
        test(many_answers_are_those_of_single_questions),
        test(what_many_tasks_took_is_asked_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
