#include "build/builds.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/fs_remove.h"

enum { SECOND_LEN = 15 }; /* of an id: 20260102T030405 */

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

/* p == NULL: the build has no such file. */
static struct bz_str find_file(struct bz_arena *arena, const char *build_dir,
                               const char *id, const char *files)
{
    struct bz_str rest = bz_str_from(files), file, path;

    while (bz_str_next_part(&rest, '|', &file)) {
        path = bz_arena_printf(arena, "%s/builds/%s/%.*s", build_dir, id,
                               BZ_STR_ARG(file));
        if (bz_fs_exists(AT_FDCWD, path.p))
            return path;
    }
    return (struct bz_str){0};
}

/* Whether a file was written before another one, as far as that is known. */
static bool is_older(const char *path, const char *than)
{
    struct stat a, b;

    if (stat(path, &a) < 0 || stat(than, &b) < 0)
        return false;
    return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec < b.st_mtim.tv_sec
                                                : a.st_mtim.tv_nsec < b.st_mtim.tv_nsec;
}

static int find_last(struct bz_arena *arena, const char *build_dir,
                     const struct bz_fs_list *all, const char *file,
                     struct bz_builds_found *out, struct bz_err *err)
{
    for (size_t i = all->n; i-- > 0;) {
        struct bz_str path = {0};

        if (is_id(all->names[i]))
            path = find_file(arena, build_dir, all->names[i], file);
        if (!path.p)
            continue;
        /* Of those that began in the same second, the numbers of their processes do not
         * tell which was the last: they start again some time. */
        if (out->id.p && strncmp(out->id.p, all->names[i], SECOND_LEN) != 0)
            break;
        if (!out->id.p || is_older(out->path.p, path.p))
            *out = (struct bz_builds_found){
                bz_arena_dup(arena, bz_str_from(all->names[i])), path};
    }
    if (out->id.p)
        return 0;
    if (strcmp(file, BZ_BUILDS_RECORD) != 0)
        return bz_fail(err, BZ_E_NOENT,
                       strcmp(file, BZ_BUILDS_EVENTS) == 0
                           ? "no build has run anything here yet; 'bitzel build' makes "
                             "one"
                           : "there was no build here yet; 'bitzel build' makes one");
    return bz_fail(
        err, BZ_E_NOENT,
        "there is no build to compare with yet; make a record with 'bitzel "
        "sig TARGET --record FILE', later ask 'bitzel why TARGET --vs FILE'");
}

static int find_named(struct bz_arena *arena, const char *build_dir,
                      const struct bz_fs_list *all, const char *which, const char *file,
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
        return bz_fail(err, BZ_E_NOENT,
                       "no build is called '%.99s'; 'bitzel builds' lists them", which);
    if (found > 1)
        return bz_fail(err, BZ_E_INVAL, "%zu builds begin with '%.99s', the last is %s",
                       found, which, id);
    out->id = bz_arena_dup(arena, bz_str_from(id));
    out->path = find_file(arena, build_dir, id, file);
    if (!out->path.p)
        return bz_fail(err, BZ_E_NOENT, "the build %s has no %.*s", id,
                       (int)strcspn(file, "|"), file);
    return 0;
}

int bz_builds_find(struct bz_arena *arena, const char *build_dir, const char *which,
                   const char *file, struct bz_builds_found *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list all = {0};
    struct bz_str dir = bz_arena_printf(arena, "%s/builds", build_dir);
    int rc = bz_fs_list_dir(AT_FDCWD, dir.p, &all, err);

    *out = (struct bz_builds_found){0};
    if (rc < 0 && rc != BZ_E_NOENT)
        return rc;
    if (!which || strcmp(which, "last") == 0)
        return find_last(arena, build_dir, &all, file, out, err);
    return find_named(arena, build_dir, &all, which, file, out, err);
}

int bz_builds_list(struct bz_arena *arena, const char *build_dir, const char *file,
                   struct bz_builds_list *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list all = {0};
    struct bz_str dir = bz_arena_printf(arena, "%s/builds", build_dir);
    int rc = bz_fs_list_dir(AT_FDCWD, dir.p, &all, err);

    if (rc < 0 && rc != BZ_E_NOENT)
        return rc;
    for (size_t i = 0; i < all.n; i++) {
        struct bz_str path = {0};

        if (is_id(all.names[i]))
            path = find_file(arena, build_dir, all.names[i], file);
        if (path.p)
            BZ_VEC_PUSH(out, (struct bz_builds_found){
                                 bz_arena_dup(arena, bz_str_from(all.names[i])), path});
    }
    return 0;
}

/* Names sort by time: all but the last ones go. What is about to be in `mine` is not
 * there yet. */
static int drop_old(struct bz_arena *arena, const char *build_dir, const char *mine,
                    const char *file, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list all = {0};
    const char *dir = bz_arena_printf(arena, "%s/builds", build_dir).p;
    size_t builds = 0, idle = 0;
    int rc = bz_fs_list_dir(AT_FDCWD, dir, &all, err);

    for (size_t i = all.n; rc == 0 && i-- > 0;) {
        bool is_idle, drop;

        if (!is_id(all.names[i]))
            continue;
        is_idle =
            strcmp(all.names[i], mine) == 0
                ? strcmp(file, BZ_BUILDS_IDLE) == 0
                : find_file(arena, build_dir, all.names[i], BZ_BUILDS_IDLE).p != NULL;
        drop = is_idle ? ++idle > BZ_BUILDS_IDLE_KEPT : ++builds > BZ_BUILDS_KEPT;
        if (drop)
            rc = bz_fs_remove(
                AT_FDCWD, bz_arena_printf(arena, "%s/%s", dir, all.names[i]).p, err);
    }
    return rc;
}

int bz_builds_make(struct bz_arena *arena, const char *build_dir, int64_t wall,
                   const char *file, const char **path, struct bz_err *err)
{
    time_t seconds = (time_t)(wall / BZ_CLOCK_S);
    struct tm tm;
    char when[32];
    const char *id, *dir;
    int rc;

    gmtime_r(&seconds, &tm);
    strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &tm);
    id = bz_arena_printf(arena, "%s-%07d", when, (int)getpid()).p;
    dir = bz_arena_printf(arena, "%s/builds/%s", build_dir, id).p;
    *path = bz_arena_printf(arena, "%s/%s", dir, file).p;
    rc = bz_fs_mkdirs(AT_FDCWD, dir, 0755, err);
    return rc < 0 ? rc : drop_old(arena, build_dir, id, file, err);
}
