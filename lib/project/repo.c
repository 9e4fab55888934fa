#include "project/repo.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/vec.h"
#include "os/fs.h"
#include "project/kas_file.h"

struct reader {
    struct bz_arena *arena;
    const struct bz_kas_node *config;    /* of all */
    const struct bz_kas_node *own;       /* of this repository; may be no map */
    const struct bz_kas_node *defaults;  /* for all repositories, or NULL */
    const struct bz_kas_node *overrides; /* for this one, or NULL */
    const struct bz_repo_dirs *dirs;
    struct bz_kas_notes *notes;
    struct bz_err *err;
};

static int fail_repo(const struct reader *r, const struct bz_repo *repo,
                     const char *what)
{
    return bz_fail(r->err, BZ_E_INVAL, BZ_KAS_PLACE_FMT ": repository '%.*s' %s",
                   BZ_KAS_PLACE_ARG(repo->at), BZ_STR_ARG(repo->id), what);
}

/* A null says that the default does not apply. */
static struct bz_kas_value own_or_default(const struct reader *r, const char *key)
{
    return bz_kas_tree_value(bz_kas_tree_get(r->own, key) ? r->own : r->defaults, key);
}

static void override(const struct reader *r, const char *key,
                     struct bz_kas_value *value)
{
    if (bz_kas_tree_get(r->overrides, key))
        *value = bz_kas_tree_value(r->overrides, key);
}

bool bz_repo_is_hash(struct bz_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] < '0' || s.p[i] > '9') && (s.p[i] < 'a' || s.p[i] > 'f'))
            return false;
    return s.n == 40 || s.n == 64;
}

static int read_revision(const struct reader *r, struct bz_repo *repo)
{
    repo->url = bz_kas_tree_value(r->own, "url");
    repo->commit = bz_kas_tree_value(r->own, "commit");
    repo->tag = own_or_default(r, "tag");
    repo->branch = own_or_default(r, "branch");
    repo->refspec = own_or_default(r, "refspec");
    if (repo->refspec.text.p) {
        if (repo->commit.text.p || repo->tag.text.p || repo->branch.text.p)
            return fail_repo(r, repo,
                             "has a 'refspec' and also a commit, tag or branch");
        override(r, "commit", &repo->refspec);
        return 0;
    }
    if (repo->url.text.p && !repo->commit.text.p && !repo->tag.text.p &&
        !repo->branch.text.p)
        return fail_repo(r, repo, "has a url but neither commit, tag nor branch");
    override(r, "commit", &repo->commit);
    override(r, "branch", &repo->branch);
    override(r, "url", &repo->url);
    if (repo->commit.text.p && repo->type == BZ_REPO_GIT &&
        !bz_repo_is_hash(repo->commit.text))
        bz_kas_place_warn(r->notes, repo->commit.at,
                          "commit '%.*s' of repository '%.*s' is not a full hash",
                          BZ_STR_ARG(repo->commit.text), BZ_STR_ARG(repo->id));
    return 0;
}

static int read_path(const struct reader *r, struct bz_repo *repo)
{
    struct bz_kas_value path = bz_kas_tree_value(r->own, "path");
    struct bz_path root;
    struct stat st;
    int rc = 0;

    if (!path.text.p && !repo->url.text.p) {
        bool found = bz_repo_root(r->dirs->root, &root);

        repo->path =
            found ? bz_arena_dup(r->arena, bz_path_str(&root)).p : r->dirs->root;
    } else if (path.text.p) {
        rc = bz_kas_file_resolve(r->arena, r->dirs->work, path.text, &repo->path,
                                 r->err);
    } else if (!bz_path_is_safe(repo->name)) {
        return fail_repo(r, repo, "has a name that is no name of a directory");
    } else {
        rc = bz_kas_file_resolve(r->arena, r->dirs->work, repo->name, &repo->path,
                                 r->err);
    }
    if (rc < 0)
        return bz_err_wrap(r->err, BZ_KAS_PLACE_FMT, BZ_KAS_PLACE_ARG(repo->at));
    repo->present = stat(repo->path, &st) == 0 && S_ISDIR(st.st_mode);
    return 0;
}

static int read_signers(const struct reader *r, struct bz_repo *repo)
{
    const struct bz_kas_node *is = bz_kas_tree_get(r->own, "signed");
    const struct bz_kas_node *list = bz_kas_tree_get(r->own, "allowed_signers");

    repo->is_signed = is && is->doc->b;
    if (!repo->is_signed)
        return 0;
    if (!list || list->doc->count == 0)
        return fail_repo(r, repo, "is signed, but 'allowed_signers' names nobody");
    repo->nsigners = list->doc->count;
    repo->signers = BZ_ARENA_ARRAY(r->arena, struct bz_kas_value, repo->nsigners);
    for (size_t i = 0; i < repo->nsigners; i++) {
        const struct bz_doc *d = &list->doc->items[i];

        repo->signers[i] = (struct bz_kas_value){
            d->text, {list->file, d->line, d->column}
        };
    }
    return 0;
}

static int add_layer(const struct reader *r, struct bz_repo *repo, struct bz_str name,
                     const struct bz_kas_node *node)
{
    const struct bz_kas_node *prio = bz_kas_tree_get(node, "prio");
    struct bz_repo_layer *layer = &repo->layers[repo->nlayers++];
    int rc;

    layer->repo = repo;
    layer->name = name;
    layer->prio = prio ? (int)prio->doc->i : 0;
    layer->at = node ? bz_kas_tree_place(node) : repo->at;
    rc = bz_kas_file_resolve(r->arena, repo->path, name, &layer->path, r->err);
    return rc < 0 ? bz_err_wrap(r->err, BZ_KAS_PLACE_FMT, BZ_KAS_PLACE_ARG(layer->at))
                  : 0;
}

/* A layer is there unless it is switched off; the ways to say that are all values but
 * nothing and a map. */
static int read_layers(const struct reader *r, struct bz_repo *repo)
{
    const struct bz_kas_node *layers = bz_kas_tree_get(r->own, "layers");

    if (!layers || layers->doc->type == BZ_DOC_NULL) {
        repo->layers = BZ_ARENA_NEW(r->arena, struct bz_repo_layer);
        return add_layer(r, repo, BZ_STR(""), NULL);
    }
    repo->layers = BZ_ARENA_ARRAY(r->arena, struct bz_repo_layer, layers->kids.len);
    for (const struct bz_map_entry *e = bz_map_next(&layers->kids, NULL); e;
         e = bz_map_next(&layers->kids, e)) {
        const struct bz_kas_node *node = e->p;
        int rc = 0;

        if (node->doc->type == BZ_DOC_NULL || node->doc->type == BZ_DOC_MAP)
            rc = add_layer(r, repo, e->key, node);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct bz_repo_patch *x = a, *y = b;

    return bz_str_cmp(x->id, y->id);
}

static int read_patches(const struct reader *r, struct bz_repo *repo)
{
    const struct bz_kas_node *patches = bz_kas_tree_get(r->own, "patches");
    struct bz_kas_value fallback =
        bz_kas_tree_value(bz_kas_tree_get(r->defaults, "patches"), "repo");

    if (!patches)
        return 0;
    repo->patches = BZ_ARENA_ARRAY(r->arena, struct bz_repo_patch, patches->kids.len);
    for (const struct bz_map_entry *e = bz_map_next(&patches->kids, NULL); e;
         e = bz_map_next(&patches->kids, e)) {
        const struct bz_kas_node *node = e->p;
        struct bz_repo_patch *patch = &repo->patches[repo->npatches];

        if (node->kids.len == 0)
            continue; /* null: taken back */
        patch->id = e->key;
        patch->path = bz_kas_tree_value(node, "path");
        patch->repo = bz_kas_tree_value(node, "repo");
        if (!patch->repo.text.p)
            patch->repo = fallback;
        if (!patch->repo.text.p)
            return bz_fail(r->err, BZ_E_INVAL,
                           BZ_KAS_PLACE_FMT ": patch '%.*s' does not say which 'repo' "
                                            "it is in, and there is no default",
                           BZ_KAS_PLACE_ARG(bz_kas_tree_place(node)),
                           BZ_STR_ARG(e->key));
        repo->npatches++;
    }
    bz_vec_sort(repo->patches, repo->npatches, sizeof(*repo->patches), by_id);
    return 0;
}

int bz_repo_read(struct bz_arena *arena, const struct bz_kas_node *config,
                 struct bz_str id, const struct bz_repo_dirs *dirs,
                 struct bz_kas_notes *notes, struct bz_repo *out, struct bz_err *err)
{
    struct reader r = {
        .arena = arena, .config = config, .dirs = dirs, .notes = notes, .err = err};
    struct bz_kas_value name, type;
    int rc;

    r.own = bz_kas_tree_get_str(bz_kas_tree_get(config, "repos"), id);
    if (!r.own)
        return bz_fail(err, BZ_E_NOENT, "no repository '%.*s' in the project",
                       BZ_STR_ARG(id));
    r.defaults = bz_kas_tree_get(bz_kas_tree_get(config, "defaults"), "repos");
    r.overrides = bz_kas_tree_get_str(
        bz_kas_tree_get(bz_kas_tree_get(config, "overrides"), "repos"), id);
    name = bz_kas_tree_value(r.own, "name");
    type = bz_kas_tree_value(r.own, "type");
    *out = (struct bz_repo){.id = id, .at = bz_kas_tree_place(r.own)};
    out->name = name.text.p ? name.text : id;
    out->type = bz_str_eq(type.text, BZ_STR("hg")) ? BZ_REPO_HG : BZ_REPO_GIT;
    rc = read_revision(&r, out);
    if (rc == 0)
        rc = read_path(&r, out);
    if (rc == 0)
        rc = read_signers(&r, out);
    if (rc == 0)
        rc = read_layers(&r, out);
    return rc < 0 ? rc : read_patches(&r, out);
}

struct bz_str bz_repo_shown_url(struct bz_arena *arena, const struct bz_repo *repo)
{
    struct bz_str url = repo->url.text, host, login, user, password;
    size_t start = bz_str_find(url, BZ_STR("://"));

    if (start == BZ_STR_NONE)
        return url;
    start += 3;
    host = bz_str_sub(url, start, url.n);
    host = bz_str_sub(host, 0,
                      bz_str_find_byte(host, '/') == BZ_STR_NONE
                          ? host.n
                          : bz_str_find_byte(host, '/'));
    if (bz_str_rfind_byte(host, '@') == BZ_STR_NONE)
        return url;
    login = bz_str_sub(host, 0, bz_str_rfind_byte(host, '@'));
    if (!bz_str_cut(login, ':', &user, &password))
        return url;
    return bz_arena_printf(arena, "%.*s%.*s:***%.*s",
                           BZ_STR_ARG(bz_str_sub(url, 0, start)), BZ_STR_ARG(user),
                           BZ_STR_ARG(bz_str_sub(url, start + login.n, url.n)));
}

int bz_repo_require(const struct bz_repo *repo, struct bz_err *err)
{
    if (repo->present)
        return 0;
    return bz_fail(err, BZ_E_NOENT,
                   BZ_KAS_PLACE_FMT ": repository '%.*s' is not %s: expected in %s",
                   BZ_KAS_PLACE_ARG(repo->at), BZ_STR_ARG(repo->id),
                   repo->url.text.p ? "checked out" : "there", repo->path);
}

static bool has(const struct bz_path *dir, const char *sub, struct stat *st)
{
    struct bz_path probe;
    struct bz_err err;

    return bz_path_join(bz_path_str(dir), bz_str_from(sub), &probe, &err) == 0 &&
           stat(probe.s, st) == 0;
}

static bool has_git(const struct bz_path *dir)
{
    struct stat st;

    return has(dir, ".git", &st) && (S_ISREG(st.st_mode) || has(dir, ".git/HEAD", &st));
}

static bool has_hg(const struct bz_path *dir)
{
    struct stat st;

    return has(dir, ".hg", &st) && S_ISDIR(st.st_mode);
}

/* Cuts *dir back to the nearest directory, itself or above, that is one. */
static bool climb_to(struct bz_path *dir, bool (*is_root)(const struct bz_path *))
{
    while (!is_root(dir)) {
        struct bz_str up = bz_path_dirname(bz_path_str(dir));

        if (up.n == dir->n)
            return false;
        dir->n = up.n;
        dir->s[dir->n] = '\0';
    }
    return true;
}

/* The .git of a submodule is a file that points into the modules of the repository
 * around it; that of a worktree points elsewhere. */
static bool is_submodule(const struct bz_path *dir)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_path git;
    struct bz_err err;
    size_t n;

    return bz_path_join(bz_path_str(dir), BZ_STR(".git"), &git, &err) == 0 &&
           bz_fs_read(AT_FDCWD, git.s, BZ_PATH_MAX, &text, &n, &err) == 0 &&
           strncmp(text, "gitdir:", 7) == 0 && strstr(text, "/modules/");
}

bool bz_repo_root(const char *dir, struct bz_path *out)
{
    BZ_CLEANUP(bz_mem_freep) char *real = realpath(dir, NULL);
    struct bz_path at, around;
    struct bz_err err;

    if (!real || bz_path_normalise(bz_str_from(real), &at, &err) < 0)
        return false;
    *out = at;
    if (!climb_to(out, has_git)) {
        *out = at;
        return climb_to(out, has_hg);
    }
    if (is_submodule(out) &&
        bz_path_normalise(bz_path_dirname(bz_path_str(out)), &around, &err) == 0 &&
        climb_to(&around, has_git))
        *out = around;
    return true;
}
