#include "fetch/policy.h"

#include <strings.h>

static int get(const struct bz_policy_vars *vars, const char *name, const char *flag,
               struct bz_str *out, struct bz_err *err)
{
    int rc = vars->get(vars->ctx, bz_str_from(name),
                       flag ? bz_str_from(flag) : (struct bz_str){0}, out, err);

    if (rc == 0 && !out->p)
        *out = BZ_STR("");
    return rc;
}

static int get_switch(const struct bz_policy_vars *vars, const char *name, bool *out,
                      struct bz_err *err)
{
    static const char *const words[] = {"1", "y",  "yes",   "true", "on", "0",
                                        "n", "no", "false", "off",  ""};
    struct bz_str value;
    int rc = get(vars, name, NULL, &value, err);

    if (rc < 0)
        return rc;
    value = bz_str_trim(value);
    for (size_t i = 0; i < BZ_COUNTOF(words); i++)
        if (value.n == strlen(words[i]) &&
            strncasecmp(value.p, words[i], value.n) == 0) {
            *out = i < 5;
            return 0;
        }
    return bz_fail(err, BZ_E_INVAL, "%s is '%.*s': expected \"1\" or \"0\"", name,
                   BZ_STR_ARG(value));
}

static int read_strict(struct bz_policy *p, struct bz_err *err)
{
    struct bz_str value;
    int rc = get(&p->vars, "BB_STRICT_CHECKSUM", NULL, &value, err);

    if (rc < 0)
        return rc;
    if (bz_str_eq(value, BZ_STR("ignore")))
        p->strict = BZ_POLICY_IGNORE;
    else if (bz_str_eq(value, BZ_STR("0")))
        p->strict = BZ_POLICY_WARN;
    else
        p->strict = BZ_POLICY_FAIL;
    return 0;
}

static int read_allowed(struct bz_policy *p, struct bz_err *err)
{
    int rc = 0;

    p->allowed = BZ_STR("");
    if (p->pn.n > 0)
        rc = p->vars.get(p->vars.ctx, BZ_STR("BB_ALLOWED_NETWORKS"), p->pn, &p->allowed,
                         err);
    if (rc == 0 && p->allowed.n == 0)
        rc = get(&p->vars, "BB_ALLOWED_NETWORKS", NULL, &p->allowed, err);
    return rc;
}

static int read_dirs(struct bz_policy *p, struct bz_arena *arena, struct bz_err *err)
{
    int rc = get(&p->vars, "GITDIR", NULL, &p->git_dir, err);

    if (rc < 0)
        return rc;
    if (!bz_str_starts(p->dl_dir, BZ_STR("/")))
        return bz_fail(err, BZ_E_INVAL,
                       "DL_DIR is '%.*s': set it to the absolute path of the directory "
                       "for downloads",
                       BZ_STR_ARG(p->dl_dir));
    p->dl_dir = bz_arena_dup(arena, p->dl_dir);
    p->git_dir = p->git_dir.n > 0 ? bz_arena_dup(arena, p->git_dir)
                                  : BZ_ARENA_CONCAT(arena, p->dl_dir, BZ_STR("/git2"));
    return 0;
}

int bz_policy_read(struct bz_policy *p, struct bz_arena *arena,
                   const struct bz_policy_vars *vars, struct bz_err *err)
{
    struct {
        const char *name;
        struct bz_str *to;
    } const texts[] = {
        {"DL_DIR",     &p->dl_dir    },
        {"FILESPATH",  &p->filespath },
        {"PN",         &p->pn        },
        {"PREMIRRORS", &p->premirrors},
        {"MIRRORS",    &p->mirrors   },
    };
    int rc = 0;

    memset(p, 0, sizeof(*p));
    p->vars = *vars;
    for (size_t i = 0; rc == 0 && i < BZ_COUNTOF(texts); i++) {
        rc = get(vars, texts[i].name, NULL, texts[i].to, err);
        if (rc == 0)
            *texts[i].to = bz_arena_dup(arena, *texts[i].to);
    }
    if (rc == 0)
        rc = read_dirs(p, arena, err);
    if (rc == 0)
        rc = get_switch(vars, "BB_NO_NETWORK", &p->no_network, err);
    if (rc == 0)
        rc = get_switch(vars, "BB_FETCH_PREMIRRORONLY", &p->premirror_only, err);
    if (rc == 0)
        rc = read_strict(p, err);
    if (rc == 0)
        rc = read_allowed(p, err);
    if (rc == 0)
        p->allowed = bz_arena_dup(arena, p->allowed);
    return rc;
}

int bz_policy_get(const struct bz_policy *p, const char *name, struct bz_str *out,
                  struct bz_err *err)
{
    return get(&p->vars, name, NULL, out, err);
}

/* "*.example.org" is example.org too. */
static bool allows(struct bz_str word, struct bz_str host)
{
    if (bz_str_cut_prefix(&word, BZ_STR("*."))) {
        if (host.n > word.n && host.p[host.n - word.n - 1] != '.')
            return false;
        return host.n >= word.n &&
               strncasecmp(host.p + host.n - word.n, word.p, word.n) == 0;
    }
    return word.n == host.n && strncasecmp(word.p, host.p, word.n) == 0;
}

bool bz_policy_trusts(const struct bz_policy *p, struct bz_str host)
{
    struct bz_str rest = p->allowed, word, port;

    if (p->allowed.n == 0 || host.n == 0)
        return true;
    bz_str_cut(host, ':', &host, &port);
    while (bz_str_next_word(&rest, &word))
        if (allows(word, host))
            return true;
    return false;
}

int bz_policy_check(const struct bz_policy *p, struct bz_str host, struct bz_err *err)
{
    if (p->no_network)
        return bz_fail(
            err, BZ_E_NOSUP,
            "not asked, because of --offline or BB_NO_NETWORK: leave that out, "
            "or put the file into DL_DIR or a PREMIRRORS directory");
    if (!bz_policy_trusts(p, host))
        return bz_fail(err, BZ_E_NOSUP,
                       "not asked, because BB_ALLOWED_NETWORKS does not name %.*s",
                       BZ_STR_ARG(host));
    return 0;
}
