/* op_parse.c - the op that parses a recipe and finalizes it with its variants.
 *
 * The record has the recipe's text, perhaps "files" with all that lay beside it, and
 * perhaps "appends", the paths of .bbappend files. They are written to the folder of
 * the test, which is also where the op runs: BBPATH may be empty.
 */
#include <string.h>
#include <unistd.h>

#include "judge.h"
#include "op.h"
#include "os/fs.h"
#include "os/fs_remove.h"
#include "os/path.h"

static int write_file(const struct replay_run *r, struct bz_str name,
                      struct bz_str text, struct bz_err *err)
{
    struct bz_path path, folder;
    int rc = bz_path_join(bz_str_from(r->dir), name, &path, err);

    if (rc == 0)
        rc = bz_path_join(bz_path_dirname(bz_path_str(&path)), BZ_STR("."), &folder,
                          err);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, folder.s, 0700, err);
    if (rc == 0)
        rc = bz_fs_write(AT_FDCWD, path.s, text.p, text.n, 0600, BZ_FS_NOSYNC, err);
    return rc;
}

static int write_files(const struct replay_run *r, const struct bz_doc *op,
                       struct bz_err *err)
{
    const struct bz_doc *files = bz_doc_find(op, "files");
    int rc = bz_fs_remove(AT_FDCWD, r->dir, err);

    if (rc == 0)
        rc = write_file(r, bz_doc_find(op, "file")->text, bz_doc_find(op, "text")->text,
                        err);
    for (size_t i = 0; files && i < files->count && rc == 0; i++)
        rc = write_file(r, files->items[i].key, files->items[i].text, err);
    return rc;
}

/* A record that has no files, but looks for some in the folder of its test, does not
 * say what was in them. */
static bool lacks_files(const struct replay_run *r, const struct replay_slot *s,
                        const struct bz_doc *op)
{
    struct bz_str bbpath = {0}, dir = bz_str_from(r->dir);
    struct bz_err err;

    if (bz_doc_find(op, "files"))
        return false;
    if (bz_vars_get(s->meta->vars, BZ_STR("BBPATH"), 0, &bbpath, &err) < 0)
        return true;
    return bz_str_find(bbpath, dir) != BZ_STR_NONE ||
           bz_str_find(bz_doc_find(op, "text")->text, dir) != BZ_STR_NONE;
}

static enum replay_verdict compare_variants(struct replay_run *r,
                                            const struct bz_doc *op,
                                            const struct bz_finalize *f)
{
    const struct bz_doc *variants = bz_doc_find(op, "variants");

    if (!variants || variants->type != BZ_DOC_MAP)
        return REPLAY_NOT_YET;
    if (variants->count != f->variants.len)
        return replay_judge_fail(r, "another number of variants", BZ_STR("see record"));
    for (size_t i = 0; i < f->variants.len; i++) {
        struct bz_str name = f->variants.at[i].name;
        const struct bz_doc *id = bz_doc_find(variants, name.p ? name.p : "");
        struct replay_slot *s = id ? replay_run_slot(r, id) : NULL;

        if (!s)
            return replay_judge_fail(r, name.p, BZ_STR("no such variant"));
        *s = (struct replay_slot){.meta = f->variants.at[i].meta, .used = true};
    }
    return REPLAY_PASSED;
}

static enum replay_verdict op_parse(struct replay_run *r, struct replay_slot *s,
                                    const struct bz_doc *op)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names appends = {0};
    const struct bz_doc *list = bz_doc_find(op, "appends");
    struct bz_finalize_opts opts = {.appends = &appends};
    struct bz_library *library;
    struct bz_finalize *f = NULL;
    struct bz_path path;
    struct bz_err err;
    int rc;

    if (!bz_doc_find(op, "file") || !bz_doc_find(op, "text") || lacks_files(r, s, op))
        return REPLAY_NOT_YET;
    for (size_t i = 0; list && i < list->count; i++)
        BZ_VEC_PUSH(&appends, list->items[i].text);
    rc = bz_path_join(bz_str_from(r->dir), bz_doc_find(op, "file")->text, &path, &err);
    if (rc == 0)
        rc = write_files(r, op, &err);
    if (rc < 0 || chdir(r->dir) < 0)
        return replay_judge_fail(r, "files that cannot be written", BZ_STR("files"));
    opts.path = bz_path_str(&path);
    library = bz_library_new();
    rc = bz_finalize_recipe(s->meta, library, &opts, &f, &err);
    replay_run_own(r, (struct replay_owned){.library = library, .finalize = f});
    if (rc < 0)
        return replay_judge_rc(r, op, rc, &err);
    s->meta = f->read; /* BitBake evaluates on the store that it is given */
    if (bz_doc_find(op, "raises"))
        return replay_judge_rc(r, op, rc, &err);
    return compare_variants(r, op, f);
}

const struct replay_op replay_op_parse[] = {
    {"parse", op_parse, true},
    {0  },
};
