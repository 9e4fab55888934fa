#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/index.h"
#include "os/fs.h"
#include "os/fs_remove.h"

enum { OPENINGS = 4, KINDS = 5, PATCH = 4 };

/* The first versions as they were, with rows; pages are small so that a change more
 * often meets something. */
static const char first[] =
    "PRAGMA page_size = 512;"
    "CREATE TABLE blob(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE,"
    " size INTEGER NOT NULL, used INTEGER NOT NULL, checked TEXT);"
    "CREATE TABLE action(key BLOB PRIMARY KEY, recipe TEXT NOT NULL, task TEXT NOT "
    "NULL,"
    " used INTEGER NOT NULL, hits INTEGER NOT NULL, duration INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE action_ref(key BLOB NOT NULL, blob INTEGER NOT NULL,"
    " PRIMARY KEY(key, blob)) WITHOUT ROWID;"
    "CREATE INDEX action_ref_blob ON action_ref(blob);"
    "CREATE TABLE blob_ref(parent INTEGER NOT NULL, child INTEGER NOT NULL,"
    " PRIMARY KEY(parent, child)) WITHOUT ROWID;"
    "CREATE INDEX blob_ref_child ON blob_ref(child);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)"
    " INSERT INTO action SELECT zeroblob(31) || char(i), 'r' || i, 't', i, i, i, i"
    " FROM n;"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)"
    " INSERT INTO blob SELECT i, zeroblob(31) || char(i), i, i, NULL FROM n;"
    "INSERT INTO action_ref SELECT key, 1 FROM action;"
    "INSERT INTO blob_ref SELECT id, 1 FROM blob;"
    "PRAGMA user_version = 1;";
static const char second[] =
    "CREATE INDEX action_used ON action(used); PRAGMA user_version = 2;";

static void run(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    BZ_ASSERT(sqlite3_open(path, &db) == SQLITE_OK);
    BZ_ASSERT(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    BZ_ASSERT(sqlite3_close(db) == SQLITE_OK);
}

/* Whether a fact that is noted is found. */
static bool use(const char *path)
{
    struct bz_digest key = {{7}};
    struct bz_index_action a = {.key = key, .recipe = BZ_STR("r"), .task = BZ_STR("t")};
    const struct bz_index_task of = {.recipe = BZ_STR("r1"), .task = BZ_STR("t")};
    const struct bz_reapi_digest blob = {{{8}}, 9};
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_index_action found;
    struct bz_index_totals totals;
    struct bz_index_cost cost;
    struct bz_index *x = NULL;
    enum bz_index_state state;
    struct bz_err err;
    bool fine;

    BZ_ASSERT(bz_index_open(path, NULL, &x, &state, &err) == 0);
    bz_index_get_totals(x, &totals);
    (void)bz_index_get_action(x, &key, &arena, &found);
    (void)bz_index_get_cost(x, &of, &cost);
    bz_index_note_action(x, &a, &blob, 1);
    bz_index_note_blob(x, &blob, 1, &blob, 1);
    bz_index_forget_blob(x, &blob.hash);
    fine = bz_index_flush(x, &err) == 0 &&
           bz_index_get_action(x, &key, &arena, &found) &&
           bz_str_eq(found.recipe, a.recipe);
    bz_index_close(x);
    return fine;
}

/* The bytes are a database, or a log beside one, or changes of one: a place, in two
 * bytes, how many bytes, and the first two of them. */
static void spoil(const char *path, const char *log, int kind, const uint8_t *data,
                  size_t size)
{
    struct bz_err err;
    int fd;

    if (kind == 0 || kind == 1) {
        BZ_ASSERT(bz_fs_write(AT_FDCWD, kind == 0 ? path : log, data, size, 0600,
                              BZ_FS_NOSYNC, &err) == 0);
        return;
    }
    fd = open(path, O_RDWR | O_CLOEXEC);
    BZ_ASSERT(fd >= 0);
    for (size_t i = 0; i + PATCH <= size; i += PATCH) {
        off_t at = data[i] << 8 | data[i + 1];

        BZ_ASSERT(pwrite(fd, data + i + 2, 2, at) == 2);
    }
    if (size % PATCH == 1) /* and it is cut short */
        BZ_ASSERT(ftruncate(fd, (off_t)data[size - 1] << 8) == 0);
    close(fd);
}

/* Whatever is in the file: sooner or later it is an index again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dir[] = "/dev/shm/bz-fuzz-XXXXXX", path[64], log[80];
    int kind = size > 0 ? data[0] % KINDS : 0, opened = 0;
    struct bz_err err;

    if (size == 0)
        return 0;
    bz_log_set_level(BZ_LOG_ERROR);
    BZ_ASSERT(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/i", dir);
    snprintf(log, sizeof(log), "%s-wal", path);
    if (kind == 4) {
        BZ_ASSERT(use(path));
    } else if (kind > 0) {
        run(path, first);
        if (kind == 3)
            run(path, second);
    }
    spoil(path, log, kind, data + 1, size - 1);
    while (!use(path))
        BZ_ASSERT(++opened < OPENINGS);
    BZ_ASSERT(bz_fs_remove(AT_FDCWD, dir, &err) == 0);
    return 0;
}
