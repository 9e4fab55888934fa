#include "project/kas_file.h"

#include "base/mem.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "os/fs.h"
#include "os/fs_output.h"
#include "os/path.h"
#include "project/kas_schema.h"

/* Far above what people write, far below what hurts. */
static const struct bz_doc_limits limits = {
    .bytes = BZ_KAS_FILE_BYTES, .nodes = 50000, .depth = 32};

static const char *shown_name(struct bz_arena *arena, const char *path, const char *cwd)
{
    struct bz_str name = bz_str_from(path);

    if (bz_str_cut_prefix(&name, bz_str_from(cwd)) &&
        bz_str_cut_prefix(&name, BZ_STR("/")) && name.n > 0)
        return bz_arena_dup(arena, name).p;
    return bz_arena_dup(arena, bz_str_from(path)).p;
}

static int parse(struct bz_arena *arena, struct bz_str text, struct bz_kas_file *file,
                 struct bz_err *err)
{
    struct bz_str name = bz_str_from(file->path);

    if (bz_str_ends(name, BZ_STR(".yml")) || bz_str_ends(name, BZ_STR(".yaml")))
        return bz_yaml_parse(arena, text, &limits, &file->doc, err);
    if (bz_str_ends(name, BZ_STR(".json")))
        return bz_json_parse(arena, text, &limits, &file->doc, err);
    return bz_fail(err, BZ_E_INVAL,
                   "the name of a project file ends in .yml, .yaml or .json");
}

int bz_kas_file_read(struct bz_arena *arena, const char *path, const char *cwd,
                     struct bz_kas_notes *notes, struct bz_kas_file *out,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_kas_file file = {.path = bz_arena_dup(arena, bz_str_from(path)).p,
                               .shown = shown_name(arena, path, cwd)};
    size_t n;
    int rc = bz_fs_read(AT_FDCWD, path, limits.bytes, &text, &n, err);

    if (rc < 0)
        return rc;
    rc = parse(arena, bz_str_of(text, n), &file, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s", file.shown);
    rc = bz_kas_schema_check(file.doc, file.shown, notes, &file.version, err);
    if (rc < 0)
        return rc;
    *out = file;
    return 0;
}

int bz_kas_file_resolve(struct bz_arena *arena, const char *base, struct bz_str p,
                        const char **out, struct bz_err *err)
{
    struct bz_path joined, normal;
    int rc = bz_path_join(bz_str_from(base), p, &joined, err);

    if (rc == 0)
        rc = bz_path_normalise(bz_path_str(&joined), &normal, err);
    if (rc == 0)
        *out = bz_arena_dup(arena, bz_path_str(&normal)).p;
    return rc;
}

int bz_kas_file_write(const char *path, struct bz_str text, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *old = NULL;
    size_t n;

    if (bz_fs_read(AT_FDCWD, path, text.n, &old, &n, err) == 0 &&
        bz_str_eq(bz_str_of(old, n), text))
        return 0;
    return bz_fs_output(path, text.p, text.n, err);
}
