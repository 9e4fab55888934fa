#include "cache/tier_spec.h"

#include "base/mem.h"
#include "cache/tier_dir.h"
#include "cache/tier_http.h"
#include "cache/trust.h"

#define TOKEN_MAX 16384

static const char form[] = "expected dir:PATH or http(s)://URL, then ro or rw, then "
                           "trust=KEY,KEY...";
static const char *const files[BZ_TIER_SPEC_FILES] = {
    [BZ_TIER_SPEC_TOKEN] = "token=",
    [BZ_TIER_SPEC_CERT] = "cert=",
    [BZ_TIER_SPEC_KEY] = "key=",
    [BZ_TIER_SPEC_CA] = "ca=",
};

static int parse_trust(struct bz_arena *a, struct bz_str names,
                       struct bz_tier_spec *out, struct bz_err *err)
{
    struct bz_str name;

    while (bz_str_next_part(&names, ',', &name)) {
        if (!bz_trust_is_name(name))
            return bz_fail(err, BZ_E_INVAL, "'%.*s' cannot be the name of a key",
                           BZ_STR_ARG(bz_str_sub(name, 0, name.n > 64 ? 64 : name.n)));
        if (out->ntrust == BZ_TIER_SPEC_KEYS)
            return bz_fail(err, BZ_E_INVAL, "a tier can trust %d keys at most",
                           BZ_TIER_SPEC_KEYS);
        out->trust[out->ntrust++] = bz_arena_dup(a, name);
    }
    return 0;
}

static int parse_place(struct bz_arena *a, struct bz_str word, struct bz_tier_spec *out,
                       struct bz_err *err)
{
    struct bz_str rest = word, host, path;

    out->name = bz_arena_dup(a, word);
    if (bz_str_cut_prefix(&rest, BZ_STR("dir:"))) {
        out->kind = BZ_TIER_SPEC_DIR;
        out->place = bz_arena_dup(a, rest);
        return rest.n > 0 ? 0 : bz_fail(err, BZ_E_INVAL, "%s", form);
    }
    if (!bz_str_cut_prefix(&rest, BZ_STR("https://")) &&
        !bz_str_cut_prefix(&rest, BZ_STR("http://")))
        return bz_fail(err, BZ_E_INVAL, "%s", form);
    out->kind = BZ_TIER_SPEC_HTTP;
    out->place = out->name;
    bz_str_cut(rest, '/', &host, &path);
    if (host.n == 0)
        return bz_fail(err, BZ_E_INVAL, "%s", form);
    /* Up to the last '@' a host may have a password before it. */
    if (bz_str_rfind_byte(host, '@') != BZ_STR_NONE)
        out->name =
            BZ_ARENA_CONCAT(a, bz_str_sub(word, 0, word.n - rest.n),
                            bz_str_drop(rest, bz_str_rfind_byte(host, '@') + 1));
    return 0;
}

/* Whether the word names one of the files, of a web server and for the first time. */
static bool parse_file(struct bz_arena *a, struct bz_str word, struct bz_tier_spec *out)
{
    for (int i = 0; i < BZ_TIER_SPEC_FILES; i++)
        if (bz_str_cut_prefix(&word, bz_str_from(files[i]))) {
            if (out->kind != BZ_TIER_SPEC_HTTP || out->file[i].n > 0 || word.n == 0)
                return false;
            out->file[i] = bz_arena_dup(a, word);
            return true;
        }
    return false;
}

int bz_tier_spec_parse(struct bz_arena *a, struct bz_str text, struct bz_tier_spec *out,
                       struct bz_err *err)
{
    struct bz_str word;
    bool mode = false;
    int rc;

    *out = (struct bz_tier_spec){0};
    if (!bz_str_next_word(&text, &word))
        return bz_fail(err, BZ_E_INVAL, "%s", form);
    rc = parse_place(a, word, out, err);
    while (rc == 0 && bz_str_next_word(&text, &word)) {
        bool rw = bz_str_eq(word, BZ_STR("rw"));

        if ((rw || bz_str_eq(word, BZ_STR("ro"))) && !mode) {
            mode = true;
            out->write = rw;
        } else if (bz_str_cut_prefix(&word, BZ_STR("trust=")) && out->ntrust == 0) {
            rc = parse_trust(a, word, out, err);
        } else if (!parse_file(a, word, out)) {
            rc = bz_fail(err, BZ_E_INVAL, "%s, not '%.*s'", form,
                         BZ_STR_ARG(bz_str_sub(word, 0, word.n > 64 ? 64 : word.n)));
        }
    }
    return rc;
}

/* The token is what the file holds, without the blanks around it. */
static int read_token(const struct bz_tier_spec *spec, char **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    const char *path = spec->file[BZ_TIER_SPEC_TOKEN].p;
    struct bz_str token;
    size_t n = 0;
    int rc;

    if (!path)
        return 0;
    rc = bz_fs_open_file(AT_FDCWD, path, &fd, err);
    if (rc == 0)
        rc = bz_fs_read_fd(fd, path, TOKEN_MAX, &text, &n, err);
    if (rc < 0)
        return rc;
    token = bz_str_trim(bz_str_of(text, n));
    *out = bz_mem_dup(token.p, token.n);
    return 0;
}

static int open_http(const struct bz_tier_spec *spec, struct bz_tier **out,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *token = NULL;
    struct bz_remote_opts remote = {
        .url = spec->place.p,
        .readonly = !spec->write,
        .http.stall = spec->timeout,
        .http.connect = spec->timeout < BZ_HTTP_CONNECT ? spec->timeout : 0,
        .http.auth = {.cert = spec->file[BZ_TIER_SPEC_CERT].p,
                      .key = spec->file[BZ_TIER_SPEC_KEY].p,
                      .ca = spec->file[BZ_TIER_SPEC_CA].p},
    };
    int rc = read_token(spec, &token, err);

    remote.http.auth.bearer = token;
    return rc < 0 ? rc : bz_tier_http_open(&remote, out, err);
}

int bz_tier_spec_open(const struct bz_tier_spec *spec, struct bz_tier **out,
                      struct bz_err *err)
{
    const struct bz_cas_opts opts = {
        .access = spec->write ? BZ_SHELF_WRITE : BZ_SHELF_READ,
    };

    if (spec->kind == BZ_TIER_SPEC_HTTP)
        return open_http(spec, out, err);
    /* Making it here would hide that a share is not mounted. */
    if (!bz_fs_exists(AT_FDCWD, spec->place.p))
        return bz_fail(err, BZ_E_NOENT, "there is no such directory: make or mount it");
    return bz_tier_dir_open(spec->place.p, &opts, out, err);
}
