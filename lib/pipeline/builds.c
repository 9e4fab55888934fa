#include "pipeline/builds.h"

#include "os/fs.h"
#include "os/fs_list.h"

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
