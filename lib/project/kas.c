#include "project/kas.h"

#include "base/mem.h"
#include "project/lock.h"

struct load {
    struct bz_kas *kas;
    const struct bz_kas_options *opt;
    struct bz_kas_include inc;
    struct bz_kas_tree tree;
    struct bz_repo_dirs dirs;
    struct bz_err *err;
};

/* The value of an environment variable, or NULL. */
static const char *env_get(const struct bz_kas_options *opt, struct bz_str name)
{
    for (size_t i = 0; opt->env && opt->env[i]; i++)
        if (strncmp(opt->env[i], name.p, name.n) == 0 && opt->env[i][name.n] == '=')
            return opt->env[i] + name.n + 1;
    return NULL;
}

static int split_names(struct load *l, const char *files)
{
    struct bz_str rest = bz_str_from(files), part;
    const char **tops;
    size_t n = 1;

    for (const char *c = files; *c; c++)
        n += *c == ':';
    if (n > BZ_KAS_INCLUDE_VISITS)
        return bz_fail(l->err, BZ_E_LIMIT, "more than %d project files",
                       BZ_KAS_INCLUDE_VISITS);
    tops = BZ_ARENA_ARRAY(&l->kas->arena, const char *, n);
    l->inc.tops = tops;
    while (bz_str_next_part(&rest, ':', &part)) {
        int rc;

        if (part.n == 0)
            return bz_fail(l->err, BZ_E_INVAL,
                           "'%s': a name of a project file is empty", files);
        rc = bz_kas_file_resolve(&l->kas->arena, l->opt->cwd, part,
                                 &tops[l->inc.ntops++], l->err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int set_dirs(struct load *l)
{
    struct bz_kas *kas = l->kas;
    const char *work = env_get(l->opt, BZ_STR("KAS_WORK_DIR"));
    const char *build = env_get(l->opt, BZ_STR("KAS_BUILD_DIR"));
    struct bz_path lock;
    int rc = bz_kas_file_resolve(&kas->arena, l->opt->cwd,
                                 bz_str_from(work ? work : ""), &kas->work_dir, l->err);

    if (rc == 0 && build)
        rc = bz_kas_file_resolve(&kas->arena, l->opt->cwd, bz_str_from(build),
                                 &kas->build_dir, l->err);
    else if (rc == 0)
        rc = bz_kas_file_resolve(&kas->arena, kas->work_dir, BZ_STR("build"),
                                 &kas->build_dir, l->err);
    if (rc == 0)
        rc = bz_lock_name(bz_str_from(l->inc.tops[0]), &lock, l->err);
    if (rc == 0)
        kas->lock = bz_arena_dup(&kas->arena, bz_path_str(&lock)).p;
    return rc;
}

static int merge_files(struct load *l)
{
    bz_kas_tree_release(&l->tree);
    for (size_t i = 0; i < l->inc.order.len; i++) {
        const struct bz_kas_source *s = &l->inc.order.at[i];
        int rc;

        if (s->lock && l->opt->ignore_locks)
            continue;
        rc = bz_kas_tree_add(&l->tree, s->file->doc, s->file->shown, l->err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Looks where the repositories are from which includes are missing. *found counts those
 * that are on disk, *defined also those that are not. */
static int locate_missing(struct load *l, size_t *found, size_t *defined)
{
    *found = *defined = 0;
    for (size_t i = 0; i < l->inc.missing.len; i++) {
        struct bz_str id = l->inc.missing.at[i].repo;
        struct bz_repo repo;
        const char **dir;
        int rc;

        if (bz_map_get(&l->inc.dirs, id))
            continue; /* included from more than once */
        rc = bz_repo_read(&l->kas->arena, l->tree.root, id, &l->dirs, NULL, &repo,
                          l->err);
        if (rc == BZ_E_NOENT)
            continue; /* a file that is still to come may define it */
        if (rc < 0)
            return rc;
        ++*defined;
        if (!repo.present)
            continue;
        ++*found;
        dir = BZ_ARENA_NEW(&l->kas->arena, const char *);
        *dir = repo.path;
        bz_map_put(&l->inc.dirs, id)->p = dir;
    }
    return 0;
}

/* Includes from repositories can only be read once it is known where those are, and
 * that may change what is known: it goes on until nothing new is found. */
static int read_files(struct load *l)
{
    size_t found = 0, defined = 0;

    do {
        int rc = bz_kas_include_collect(&l->inc, l->err);

        if (rc == 0)
            rc = merge_files(l);
        l->dirs = (struct bz_repo_dirs){l->kas->work_dir, l->inc.root};
        if (rc == 0)
            rc = locate_missing(l, &found, &defined);
        if (rc < 0)
            return rc;
    } while (found > 0);
    if (l->inc.missing.len > 0 && defined == 0) {
        const struct bz_kas_wanted *w = &l->inc.missing.at[0];

        return bz_fail(l->err, BZ_E_INVAL,
                       BZ_KAS_PLACE_FMT
                       ": include from repository '%.*s', which no file defines",
                       BZ_KAS_PLACE_ARG(w->at), BZ_STR_ARG(w->repo));
    }
    return 0;
}

static void keep_files(struct load *l)
{
    struct bz_kas *kas = l->kas;
    struct bz_kas_source *files;
    struct bz_kas_wanted *missing;

    kas->root = l->inc.root;
    kas->nfiles = l->inc.order.len;
    kas->files = files = BZ_ARENA_ARRAY(&kas->arena, struct bz_kas_source, kas->nfiles);
    for (size_t i = 0; i < kas->nfiles; i++) {
        files[i] = BZ_VEC_AT(&l->inc.order, i);
        if (kas->version < files[i].file->version)
            kas->version = files[i].file->version;
    }
    kas->nmissing = l->inc.missing.len;
    kas->missing = missing =
        BZ_ARENA_ARRAY(&kas->arena, struct bz_kas_wanted, kas->nmissing);
    for (size_t i = 0; i < kas->nmissing; i++)
        missing[i] = BZ_VEC_AT(&l->inc.missing, i);
}

/* A setting from the environment, the files, or what the format says by default. */
static struct bz_kas_value setting(const struct load *l, const char *key,
                                   const char *variable, const char *fallback)
{
    const char *env = variable ? env_get(l->opt, bz_str_from(variable)) : NULL;
    struct bz_kas_value v = bz_kas_tree_value(l->tree.root, key);

    if (env)
        return (struct bz_kas_value){
            bz_arena_dup(&l->kas->arena, bz_str_from(env)), {variable, 0, 0}
        };
    return v.text.p ? v : (struct bz_kas_value){.text = bz_str_from(fallback)};
}

static void read_env_targets(struct load *l, const char *env)
{
    struct bz_kas *kas = l->kas;
    struct bz_str rest = bz_arena_dup(&kas->arena, bz_str_from(env)), word;
    size_t n = 0;

    for (struct bz_str r = rest; bz_str_next_word(&r, &word);)
        n++;
    kas->targets = BZ_ARENA_ARRAY(&kas->arena, struct bz_kas_value, n);
    while (bz_str_next_word(&rest, &word))
        kas->targets[kas->ntargets++] = (struct bz_kas_value){
            word, {"KAS_TARGET", 0, 0}
        };
}

static void read_targets(struct load *l)
{
    const struct bz_kas_node *node = bz_kas_tree_get(l->tree.root, "target");
    const char *env = env_get(l->opt, BZ_STR("KAS_TARGET"));
    struct bz_kas *kas = l->kas;

    if (env)
        read_env_targets(l, env);
    if (kas->ntargets > 0)
        return;
    if (!node || node->doc->type == BZ_DOC_STR) {
        kas->targets = BZ_ARENA_NEW(&kas->arena, struct bz_kas_value);
        kas->targets[0] = setting(l, "target", NULL, "core-image-minimal");
        kas->ntargets = 1;
        return;
    }
    kas->ntargets = node->doc->count;
    kas->targets = BZ_ARENA_ARRAY(&kas->arena, struct bz_kas_value, kas->ntargets);
    for (size_t i = 0; i < kas->ntargets; i++) {
        const struct bz_doc *d = &node->doc->items[i];

        kas->targets[i] = (struct bz_kas_value){
            d->text, {node->file, d->line, d->column}
        };
    }
}

/* The items of a map of strings. */
static struct bz_kas_pair *read_pairs(struct load *l, const char *key, size_t *n)
{
    const struct bz_kas_node *map = bz_kas_tree_get(l->tree.root, key);
    struct bz_kas_pair *pairs;
    size_t i = 0;

    *n = map ? map->kids.len : 0;
    pairs = BZ_ARENA_ARRAY(&l->kas->arena, struct bz_kas_pair, *n);
    for (struct bz_map_entry *e = map ? bz_map_next(&map->kids, NULL) : NULL; e;
         e = bz_map_next(&map->kids, e), i++) {
        const struct bz_kas_node *node = e->p;

        pairs[i].name = e->key;
        pairs[i].value.at = bz_kas_tree_place(node);
        if (node->doc->type == BZ_DOC_STR)
            pairs[i].value.text = node->doc->text;
    }
    return pairs;
}

static int by_name(const void *a, const void *b)
{
    const struct bz_kas_pair *x = a, *y = b;

    return bz_str_cmp(x->name, y->name);
}

static void read_texts(struct load *l)
{
    struct bz_kas *kas = l->kas;

    kas->local_conf = read_pairs(l, "local_conf_header", &kas->nlocal_conf);
    kas->bblayers_conf = read_pairs(l, "bblayers_conf_header", &kas->nbblayers_conf);
    bz_vec_sort(kas->local_conf, kas->nlocal_conf, sizeof(*kas->local_conf), by_name);
    bz_vec_sort(kas->bblayers_conf, kas->nbblayers_conf, sizeof(*kas->bblayers_conf),
                by_name);
    kas->env = read_pairs(l, "env", &kas->nenv);
    for (size_t i = 0; i < kas->nenv; i++) {
        struct bz_kas_pair *p = &kas->env[i];
        const char *env = env_get(l->opt, p->name);

        if (env)
            p->value = (struct bz_kas_value){
                bz_arena_dup(&kas->arena, bz_str_from(env)), {p->name.p, 0, 0}
            };
    }
}

/* As kas orders BBLAYERS: the higher priority first, then by names. */
static int by_rank(const void *a, const void *b)
{
    const struct bz_repo_layer *x = *(const struct bz_repo_layer *const *)a;
    const struct bz_repo_layer *y = *(const struct bz_repo_layer *const *)b;
    int order = bz_str_cmp(x->repo->name, y->repo->name);

    if (x->prio != y->prio)
        return x->prio > y->prio ? -1 : 1;
    return order != 0 ? order : bz_str_cmp(x->name, y->name);
}

static int read_repos(struct load *l)
{
    const struct bz_kas_node *map = bz_kas_tree_get(l->tree.root, "repos");
    struct bz_kas *kas = l->kas;

    if (!map)
        return 0;
    kas->repos = BZ_ARENA_ARRAY(&kas->arena, struct bz_repo, map->kids.len);
    for (struct bz_map_entry *e = bz_map_next(&map->kids, NULL); e;
         e = bz_map_next(&map->kids, e)) {
        struct bz_repo *repo = &kas->repos[kas->nrepos++];
        int rc = bz_repo_read(&kas->arena, l->tree.root, e->key, &l->dirs,
                              l->opt->notes, repo, l->err);

        if (rc < 0)
            return rc;
        kas->nlayers += repo->nlayers;
    }
    kas->layers =
        BZ_ARENA_ARRAY(&kas->arena, const struct bz_repo_layer *, kas->nlayers);
    for (size_t i = 0, n = 0; i < kas->nrepos; i++)
        for (size_t k = 0; k < kas->repos[i].nlayers; k++)
            kas->layers[n++] = &kas->repos[i].layers[k];
    bz_vec_sort(kas->layers, kas->nlayers, sizeof(const struct bz_repo_layer *),
                by_rank);
    return 0;
}

static int load(struct load *l, const char *files)
{
    struct bz_kas *kas = l->kas;
    int rc = split_names(l, files);

    if (rc == 0)
        rc = set_dirs(l);
    if (rc == 0)
        rc = read_files(l);
    if (rc < 0)
        return rc;
    keep_files(l);
    kas->machine = setting(l, "machine", "KAS_MACHINE", "qemux86-64");
    kas->distro = setting(l, "distro", "KAS_DISTRO", "nodistro");
    kas->task = setting(l, "task", "KAS_TASK", "build");
    kas->build_system = setting(l, "build_system", NULL, "openembedded");
    read_targets(l);
    read_texts(l);
    return read_repos(l);
}

int bz_kas_load(const char *files, const struct bz_kas_options *opt,
                struct bz_kas **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_kas_freep) struct bz_kas *kas = bz_mem_zalloc(sizeof(*kas));
    struct load l = {.kas = kas, .opt = opt, .err = err};
    int rc;

    l.inc = (struct bz_kas_include){
        .arena = &kas->arena, .cwd = opt->cwd, .notes = opt->notes};
    l.tree.arena = &kas->arena;
    rc = load(&l, files);
    bz_kas_tree_release(&l.tree);
    bz_kas_include_release(&l.inc);
    if (rc < 0)
        return rc;
    *out = kas;
    kas = NULL;
    return 0;
}

void bz_kas_free(struct bz_kas *kas)
{
    if (kas)
        bz_arena_release(&kas->arena);
    free(kas);
}

void bz_kas_freep(struct bz_kas **kas)
{
    bz_kas_free(*kas);
}

int bz_kas_require(const struct bz_kas *kas, struct bz_err *err)
{
    for (size_t i = 0; i < kas->nrepos; i++) {
        int rc = bz_repo_require(&kas->repos[i], err);

        if (rc < 0)
            return rc;
    }
    return 0;
}
