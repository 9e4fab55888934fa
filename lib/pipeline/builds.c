#include "pipeline/builds.h"

#include <time.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/fs_remove.h"

/* Letters and digits as in 20260102T030405-77: nothing else in there is a build. */
static bool is_id(const char *name)
{
    static const char form[] = "99999999T999999-";
    size_t i = 0;

    for (; form[i]; i++)
        if (form[i] == '9' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
            return false;
    return name[i] != '\0' && name[i + strspn(name + i, "0123456789")] == '\0';
}

static struct bz_str record_path(struct bz_arena *arena, const char *build_dir,
                                 const char *id)
{
    return bz_arena_printf(arena, "%s/builds/%s/record", build_dir, id);
}

static int find_last(struct bz_arena *arena, const char *build_dir,
                     const struct bz_fs_list *all, struct bz_builds_found *out,
                     struct bz_err *err)
{
    for (size_t i = all->n; i-- > 0;) {
        struct bz_str path = record_path(arena, build_dir, all->names[i]);

        if (!is_id(all->names[i]) || !bz_fs_exists(AT_FDCWD, path.p))
            continue;
        *out = (struct bz_builds_found){bz_arena_dup(arena, bz_str_from(all->names[i])),
                                        path};
        return 0;
    }
    return bz_fail(
        err, BZ_E_NOENT,
        "there is no build to compare with yet; make a record with 'bitzel "
        "sig TARGET --record FILE', later ask 'bitzel why TARGET --vs FILE'");
}

static int find_named(struct bz_arena *arena, const char *build_dir,
                      const struct bz_fs_list *all, const char *which,
                      struct bz_builds_found *out, struct bz_err *err)
{
    size_t n = strlen(which), found = 0;
    const char *id = NULL;

    for (size_t i = 0; i < all->n; i++) {
        if (!is_id(all->names[i]) || strncmp(all->names[i], which, n) != 0)
            continue;
        id = all->names[i];
        found++;
        if (id[n] == '\0') {
            found = 1;
            break;
        }
    }
    if (found == 0)
        return bz_fail(err, BZ_E_NOENT, "no build is called '%.99s'; see %s/builds",
                       which, build_dir);
    if (found > 1)
        return bz_fail(err, BZ_E_INVAL, "%zu builds begin with '%.99s', the last is %s",
                       found, which, id);
    out->id = bz_arena_dup(arena, bz_str_from(id));
    out->path = record_path(arena, build_dir, id);
    if (!bz_fs_exists(AT_FDCWD, out->path.p))
        return bz_fail(err, BZ_E_NOENT, "the build %s has no record", id);
    return 0;
}

int bz_builds_find(struct bz_arena *arena, const char *build_dir, const char *which,
                   struct bz_builds_found *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list all = {0};
    struct bz_str dir = bz_arena_printf(arena, "%s/builds", build_dir);
    int rc = bz_fs_list_dir(AT_FDCWD, dir.p, &all, err);

    if (rc < 0 && rc != BZ_E_NOENT)
        return rc;
    if (!which || strcmp(which, "last") == 0)
        return find_last(arena, build_dir, &all, out, err);
    return find_named(arena, build_dir, &all, which, out, err);
}

/* Names sort by time: all but the last ones go. */
static int drop_old(const char *build_dir, struct bz_arena *arena, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list all = {0};
    const char *dir = bz_arena_printf(arena, "%s/builds", build_dir).p;
    size_t builds = 0;
    int rc = bz_fs_list_dir(AT_FDCWD, dir, &all, err);

    for (size_t i = all.n; rc == 0 && i-- > 0;)
        if (is_id(all.names[i]) && ++builds > BZ_BUILDS_KEPT)
            rc = bz_fs_remove(
                AT_FDCWD, bz_arena_printf(arena, "%s/%s", dir, all.names[i]).p, err);
    return rc;
}

int bz_builds_keep(const char *build_dir, int64_t wall, struct bz_str record,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    time_t seconds = (time_t)(wall / BZ_CLOCK_S);
    const char *dir;
    struct tm tm;
    char when[32];
    int rc;

    gmtime_r(&seconds, &tm);
    strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &tm);
    dir = bz_arena_printf(&arena, "%s/builds/%s-%d", build_dir, when, (int)getpid()).p;
    rc = bz_fs_mkdirs(AT_FDCWD, dir, 0755, err);
    if (rc == 0)
        rc = bz_fs_write(AT_FDCWD, bz_arena_printf(&arena, "%s/record", dir).p,
                         record.p, record.n, 0644, BZ_FS_NOSYNC, err);
    return rc < 0 ? rc : drop_old(build_dir, &arena, err);
}
