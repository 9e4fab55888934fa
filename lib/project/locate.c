#include "project/locate.h"

#include <sys/stat.h>

#include "os/fs.h"
#include "os/path.h"

/* The names that are looked for. The first is what kas itself reads when it is given
 * no file; the others are what people call their files. */
static const struct bz_str names[] = {
    BZ_STR(".config.yaml"), BZ_STR("kas-project.yml"), BZ_STR("kas-project.yaml"),
    BZ_STR("kas.yml"),      BZ_STR("kas.yaml"),
};

const char *bz_locate_reason(enum bz_locate_by by)
{
    static const char *const reasons[] = {
        [BZ_LOCATE_OPTION] = "--project",
        [BZ_LOCATE_VARIABLE] = "BITZEL_PROJECT",
        [BZ_LOCATE_BUILDDIR] = "BUILDDIR",
        [BZ_LOCATE_BBPATH] = "BBPATH",
        [BZ_LOCATE_NEAR] = "found from the current directory upwards",
        [BZ_LOCATE_SAMPLE] = "the sample layer, as there is no project here",
    };

    return reasons[by];
}

/* Makes *out the absolute `dir`; false for a name that no directory can have. */
static bool resolve(const char *cwd, struct bz_str dir, struct bz_path *out)
{
    struct bz_path joined;
    struct bz_err err;

    return bz_path_join(bz_str_from(cwd ? cwd : ""), dir, &joined, &err) == 0 &&
           bz_path_normalise(bz_path_str(&joined), out, &err) == 0;
}

/* The same, and tells whether it is a build directory. */
static bool is_build_dir(const char *cwd, struct bz_str dir, struct bz_path *out)
{
    struct bz_path conf;
    struct bz_err err;

    return resolve(cwd, dir, out) &&
           bz_path_join(bz_path_str(out), BZ_STR("conf/bblayers.conf"), &conf, &err) ==
               0 &&
           bz_fs_exists(AT_FDCWD, conf.s);
}

/* The kas file in a directory, if there is one. */
static bool has_kas_file(struct bz_str dir, struct bz_path *out)
{
    struct bz_err err;
    struct stat st;

    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        if (bz_path_join(dir, names[i], out, &err) == 0 && stat(out->s, &st) == 0 &&
            S_ISREG(st.st_mode))
            return true;
    return false;
}

static void keep_dir(struct bz_arena *arena, const struct bz_path *dir,
                     struct bz_locate *out)
{
    out->build_dir = bz_arena_dup(arena, bz_path_str(dir)).p;
}

static bool try_dir(struct bz_arena *arena, const char *cwd, struct bz_str dir,
                    struct bz_locate *out)
{
    struct bz_path path, file;

    if (is_build_dir(cwd, dir, &path))
        keep_dir(arena, &path, out);
    else if (resolve(cwd, dir, &path) && has_kas_file(bz_path_str(&path), &file))
        out->files = bz_arena_dup(arena, bz_path_str(&file)).p;
    else
        return false;
    return true;
}

static int take_named(struct bz_arena *arena, const struct bz_locate_hints *hints,
                      const char *named, struct bz_locate *out, struct bz_err *err)
{
    struct bz_path path;
    struct stat st;
    int rc = bz_path_join(bz_str_from(hints->cwd ? hints->cwd : ""), bz_str_from(named),
                          &path, err);

    if (rc < 0)
        return bz_err_wrap(err, "%s", bz_locate_reason(out->by));
    /* What is no directory is for kas to read, and to complain about. */
    if (stat(path.s, &st) < 0 || !S_ISDIR(st.st_mode)) {
        out->files = bz_arena_dup(arena, bz_str_from(named)).p;
        return 0;
    }
    if (try_dir(arena, hints->cwd, bz_str_from(named), out))
        return 0;
    return bz_fail(err, BZ_E_NOENT,
                   "%s: neither conf/bblayers.conf nor a kas file in %s; name the file",
                   bz_locate_reason(out->by), named);
}

static bool search_bbpath(struct bz_arena *arena, const struct bz_locate_hints *hints,
                          struct bz_locate *out)
{
    struct bz_str rest = bz_str_from(hints->bbpath ? hints->bbpath : ""), dir;
    struct bz_path path;

    while (bz_str_next_part(&rest, ':', &dir))
        if (dir.n > 0 && is_build_dir(hints->cwd, dir, &path)) {
            keep_dir(arena, &path, out);
            return true;
        }
    return false;
}

int bz_locate_find(struct bz_arena *arena, const struct bz_locate_hints *hints,
                   struct bz_locate *out, struct bz_err *err)
{
    struct bz_path path;

    *out = (struct bz_locate){.by = BZ_LOCATE_OPTION};
    if (hints->option && hints->option[0])
        return take_named(arena, hints, hints->option, out, err);
    out->by = BZ_LOCATE_VARIABLE;
    if (hints->variable && hints->variable[0])
        return take_named(arena, hints, hints->variable, out, err);
    out->by = BZ_LOCATE_BUILDDIR;
    if (hints->builddir && hints->builddir[0]) {
        if (!is_build_dir(hints->cwd, bz_str_from(hints->builddir), &path))
            return bz_fail(err, BZ_E_NOENT, "BUILDDIR: no conf/bblayers.conf in %s",
                           hints->builddir);
        keep_dir(arena, &path, out);
        return 0;
    }
    out->by = BZ_LOCATE_BBPATH;
    if (search_bbpath(arena, hints, out))
        return 0;
    out->by = BZ_LOCATE_NEAR;
    for (struct bz_str dir = bz_str_from(hints->cwd ? hints->cwd : ""); dir.n > 1;
         dir = bz_path_dirname(dir))
        if (try_dir(arena, NULL, dir, out))
            return 0;
    if (hints->sample) {
        out->by = BZ_LOCATE_SAMPLE;
        out->build_dir = bz_arena_dup(arena, bz_str_from(hints->sample)).p;
        return 0;
    }
    if (!hints->cwd)
        return bz_fail(err, BZ_E_NOENT, "no conf/bblayers.conf in BBPATH");
    return bz_fail(err, BZ_E_NOENT,
                   "no conf/bblayers.conf and no kas file (kas-project.yml) in %s or "
                   "above it; --project names one",
                   hints->cwd);
}
