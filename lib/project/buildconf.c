#include "project/buildconf.h"

#include "os/fs.h"

static void add_texts(struct bz_buf *out, const struct bz_kas_pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bz_buf_addf(out, "# %.*s\n%.*s\n", BZ_STR_ARG(pairs[i].name),
                    BZ_STR_ARG(pairs[i].value.text));
}

/* The configuration that a target such as mc:NAME:recipe is built in; empty if none. */
static struct bz_str multiconfig_of(struct bz_str target)
{
    struct bz_str name, recipe;

    if (!bz_str_cut_prefix(&target, BZ_STR("mc:")) &&
        !bz_str_cut_prefix(&target, BZ_STR("multiconfig:")))
        return BZ_STR("");
    bz_str_cut(target, ':', &name, &recipe);
    return name;
}

static void add_multiconfigs(const struct bz_kas *kas, struct bz_buf *out)
{
    struct bz_map seen = {0};

    for (size_t i = 0; i < kas->ntargets; i++) {
        struct bz_str name = multiconfig_of(kas->targets[i].text);

        if (name.n == 0 || bz_map_get(&seen, name))
            continue;
        bz_buf_addf(out, "%s%.*s", seen.len ? " " : "", BZ_STR_ARG(name));
        bz_map_put(&seen, name);
    }
    bz_map_release(&seen);
}

/* The operator in two pieces, as a trigraph begins like it. */
#define WEAK                                                                           \
    "?"                                                                                \
    "?="

void bz_buildconf_local(const struct bz_kas *kas, struct bz_buf *out)
{
    add_texts(out, kas->local_conf, kas->nlocal_conf);
    bz_buf_addf(out, "MACHINE " WEAK " \"%.*s\"\n", BZ_STR_ARG(kas->machine.text));
    bz_buf_addf(out, "DISTRO " WEAK " \"%.*s\"\n", BZ_STR_ARG(kas->distro.text));
    bz_buf_addf(out, "BBMULTICONFIG ?= \"");
    add_multiconfigs(kas, out);
    bz_buf_addf(out, "\"\n");
    if (bz_str_eq(kas->build_system.text, BZ_STR("isar-rootless")))
        bz_buf_addf(out, "ISAR_ROOTLESS ?= \"1\"\n");
}

int bz_buildconf_bblayers(const struct bz_kas *kas, struct bz_buf *out,
                          struct bz_err *err)
{
    add_texts(out, kas->bblayers_conf, kas->nbblayers_conf);
    bz_buf_addf(out, "BBLAYERS ?= \" \\\n    ");
    for (size_t i = 0; i < kas->nlayers; i++) {
        struct bz_path rel;
        int rc = bz_path_relative(bz_str_from(kas->build_dir),
                                  bz_str_from(kas->layers[i]->path), &rel, err);

        if (rc < 0)
            return rc;
        bz_buf_addf(out, "%s${TOPDIR}/%s", i ? " \\\n    " : "", rel.s);
    }
    bz_buf_addf(out, "\"\nBBPATH ?= \"${TOPDIR}\"\nBBFILES " WEAK " \"\"\n");
    return 0;
}

static int write_conf(const char *dir, const char *name, const struct bz_buf *text,
                      struct bz_err *err)
{
    struct bz_path path;
    int rc = bz_path_join(bz_str_from(dir), bz_str_from(name), &path, err);

    return rc < 0 ? rc : bz_kas_file_write(path.s, bz_buf_str(text), err);
}

int bz_buildconf_write(const struct bz_kas *kas, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf local = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf layers = {0};
    struct bz_path conf;
    int rc = bz_path_join(bz_str_from(kas->build_dir), BZ_STR("conf"), &conf, err);

    if (rc == 0)
        rc = bz_buildconf_bblayers(kas, &layers, err);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, conf.s, 0755, err);
    if (rc == 0)
        rc = write_conf(conf.s, "bblayers.conf", &layers, err);
    if (rc < 0)
        return rc;
    bz_buildconf_local(kas, &local);
    return write_conf(conf.s, "local.conf", &local, err);
}
