#include "project/sample.h"

#include <unistd.h>

#include "base/buf.h"
#include "os/fs.h"
#include "os/path.h"
#include "project/kas_file.h"
#include "project/plainpath.h"

/* From the directory of the program: where the layer may be, and what to build in; ""
 * is for the directory for state. */
static const struct {
    struct bz_str layer, build_dir;
} places[] = {
    {BZ_STR("../share/bitzel/recipes"), BZ_STR("")               },
    {BZ_STR("../../../../recipes"),     BZ_STR("../../../sample")},
};

/* The absolute path that a relative one means; NULL for one that is too long. */
static const char *resolve(struct bz_arena *arena, struct bz_str dir, struct bz_str to)
{
    struct bz_path joined, plain;
    struct bz_err err;

    if (bz_path_join(dir, to, &joined, &err) < 0 ||
        bz_path_normalise(bz_path_str(&joined), &plain, &err) < 0)
        return NULL;
    return bz_arena_dup(arena, bz_path_str(&plain)).p;
}

static bool is_layer(struct bz_arena *arena, const char *dir)
{
    const char *conf =
        resolve(arena, bz_str_from(dir), BZ_STR("conf/distro/sample.conf"));

    return conf && bz_fs_exists(AT_FDCWD, conf);
}

bool bz_sample_find(struct bz_arena *arena, const char *program, struct bz_str state,
                    struct bz_sample *out)
{
    struct bz_str dir = bz_path_dirname(bz_str_from(program));

    for (size_t i = 0; i < BZ_COUNTOF(places); i++) {
        bool in_state = places[i].build_dir.n == 0;

        out->layer = resolve(arena, dir, places[i].layer);
        if (!out->layer || !is_layer(arena, out->layer))
            continue;
        out->links = bz_arena_printf(arena, "/tmp/bitzel-%u", (unsigned)geteuid()).p;
        out->build_dir = resolve(arena, in_state ? state : dir,
                                 in_state ? BZ_STR("sample") : places[i].build_dir);
        return out->build_dir && bz_path_is_absolute(bz_str_from(out->build_dir));
    }
    return false;
}

#define LOCAL_CONF "# For settings of your own, such as MACHINE and PARALLEL_MAKE.\n"

int bz_sample_write(const struct bz_sample *s, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf layers = {0};
    struct bz_path conf, path, layer;
    int rc = bz_plainpath_make(s->links, s->layer, &layer, err);

    if (rc == 0)
        rc = bz_path_join(bz_str_from(s->build_dir), BZ_STR("conf"), &conf, err);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, conf.s, 0755, err);
    if (rc == 0)
        rc = bz_path_join(bz_path_str(&conf), BZ_STR("local.conf"), &path, err);
    if (rc == 0 && !bz_fs_exists(AT_FDCWD, path.s))
        rc = bz_kas_file_write(path.s, BZ_STR(LOCAL_CONF), err);
    if (rc == 0)
        rc = bz_path_join(bz_path_str(&conf), BZ_STR("bblayers.conf"), &path, err);
    if (rc < 0)
        return rc;
    bz_buf_addf(&layers,
                "# The sample layer; bitzel makes this file anew.\n"
                "BBPATH = \"${TOPDIR}\"\n"
                "BBFILES ?= \"\"\n"
                "BBLAYERS = \"%s\"\n",
                layer.s);
    return bz_kas_file_write(path.s, bz_buf_str(&layers), err);
}
