#include "cache/index_file.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/index.h"
#include "cache/schema.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_lock.h"
#include "os/path.h"

#define BUSY_MS 2000
#define ROW_MAX (1 << 24) /* bytes */
/* In the header of the file, where SQLite has a number for applications: with the next
 * part added while it is filled, else 0. */
#define FILLING 0x627a0000
#define PARTS 0xffff

static int exec(sqlite3 *db, const char *sql, struct bz_err *err)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : bz_schema_fail(db, rc, "set it up", err);
}

/* Nothing in the file is to be run. */
static void distrust(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, ROW_MAX);
    sqlite3_busy_timeout(db, BUSY_MS);
}

static int open_db(const char *path, sqlite3 **out, struct bz_err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db, flags, NULL);

    if (rc != SQLITE_OK) {
        rc = bz_schema_fail(db, rc, "open", err);
    } else {
        distrust(db);
        /* What a power cut takes from it is learnt anew. */
        rc = exec(db,
                  "PRAGMA cell_size_check = ON; PRAGMA journal_mode = WAL;"
                  "PRAGMA synchronous = NORMAL",
                  err);
        if (rc == 0)
            rc = bz_schema_migrate(db, err);
    }
    if (rc < 0) {
        sqlite3_close(db);
        return rc;
    }
    *out = db;
    return 0;
}

int bz_index_file_memory(struct sqlite3 **out, struct bz_err *err)
{
    return open_db(":memory:", out, err);
}

int bz_index_file_part(struct sqlite3 *db)
{
    sqlite3_stmt *s = NULL;
    int mark = 0;

    if (sqlite3_prepare_v2(db, "PRAGMA application_id", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        mark = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return (mark & ~PARTS) == FILLING ? mark & PARTS : BZ_INDEX_FILLED;
}

void bz_index_file_set_part(struct sqlite3 *db, int part)
{
    char sql[64];

    snprintf(sql, sizeof(sql), "PRAGMA application_id = %d",
             part == BZ_INDEX_FILLED ? 0 : FILLING + part);
    (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int open_checked(const char *path, sqlite3 **out, struct bz_err *err)
{
    sqlite3 *db = NULL, *model = NULL;
    int rc = open_db(path, &db, err);

    if (rc == 0)
        rc = bz_index_file_memory(&model, err);
    if (rc == 0)
        rc = bz_schema_compare(db, model, err);
    sqlite3_close(model);
    if (rc < 0) {
        sqlite3_close(db);
        return rc;
    }
    *out = db;
    return 0;
}

/* "<path><tail>", or false if that is too long. */
static bool beside(const char *path, const char *tail, struct bz_path *out)
{
    int n = snprintf(out->s, sizeof(out->s), "%s%s", path, tail);

    return n > 0 && (size_t)n < sizeof(out->s);
}

void bz_index_file_spoil(const char *path)
{
    struct bz_path mark;
    struct bz_err err;

    if (beside(path, ".broken", &mark))
        (void)!bz_fs_write(AT_FDCWD, mark.s, "", 0, 0644, BZ_FS_NOSYNC, &err);
}

static bool is_spoilt(const char *path)
{
    struct bz_path mark;

    return beside(path, ".broken", &mark) && bz_fs_exists(AT_FDCWD, mark.s);
}

/* Moves a broken database out of the way. Its log goes with it, or the new one would
 * read it. */
static void put_aside(const char *path)
{
    static const char *const tails[][2] = {
        {"",     ".bad"    },
        {"-wal", ".bad-wal"},
        {"-shm", ".bad-shm"}
    };
    struct bz_path from, to;

    for (size_t i = 0; i < BZ_COUNTOF(tails); i++)
        if (beside(path, tails[i][0], &from) && beside(path, tails[i][1], &to))
            (void)rename(from.s, to.s);
    if (beside(path, ".broken", &from))
        (void)unlink(from.s);
}

/* Under a lock, since another process may find it broken at the same time and must not
 * put the new one aside. */
static int open_anew(const char *path, sqlite3 **out, bool *fresh, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int lock = -1;
    struct bz_path name;
    int rc;

    if (!beside(path, ".lock", &name))
        return bz_fail(err, BZ_E_LIMIT, "index: the path is too long");
    rc = bz_fs_lock(AT_FDCWD, name.s, BZ_FS_LOCK_EXCLUSIVE,
                    bz_clock_in(BUSY_MS * BZ_CLOCK_MS), &lock, err);
    if (rc < 0)
        return rc;
    if (is_spoilt(path))
        rc = bz_fail(err, BZ_E_CORRUPT, "index: it was found broken");
    else
        rc = open_checked(path, out, err);
    if (rc != BZ_E_CORRUPT)
        return rc;
    bz_log_warn("cache", "%s; it is begun anew, the old one is %s.bad", err->msg, path);
    put_aside(path);
    *fresh = true;
    return open_db(path, out, err);
}

int bz_index_file_open(const char *path, struct sqlite3 **out, bool *fresh,
                       struct bz_err *err)
{
    struct bz_str parent = bz_path_dirname(bz_str_from(path));
    BZ_CLEANUP(bz_mem_freep) char *dir = bz_mem_dup(parent.p, parent.n);
    int rc = bz_fs_mkdirs(AT_FDCWD, dir, 0777, err);

    if (rc < 0)
        return rc;
    *fresh = !bz_fs_exists(AT_FDCWD, path);
    rc = is_spoilt(path) ? BZ_E_CORRUPT : open_checked(path, out, err);
    return rc == BZ_E_CORRUPT ? open_anew(path, out, fresh, err) : rc;
}
