#include "cache/tier_spec.h"

#include "cache/tier_dir.h"
#include "cache/tier_http.h"

static const char form[] = "expected dir:PATH or http(s)://URL, then ro or rw, then "
                           "trust=KEY,KEY...";

/* Whether a text can be the name of a key, which is also that of a file. */
static bool is_key_name(struct bz_str s)
{
    if (s.n == 0 || s.n > 64 || s.p[0] == '.' || s.p[0] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
            c != '_' && c != '-' && c != '.' && c != '@')
            return false;
    }
    return true;
}

static int parse_trust(struct bz_arena *a, struct bz_str names,
                       struct bz_tier_spec *out, struct bz_err *err)
{
    struct bz_str name;

    while (bz_str_next_part(&names, ',', &name)) {
        if (!is_key_name(name))
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
        } else {
            rc = bz_fail(err, BZ_E_INVAL, "%s, not '%.*s'", form,
                         BZ_STR_ARG(bz_str_sub(word, 0, word.n > 64 ? 64 : word.n)));
        }
    }
    return rc;
}

int bz_tier_spec_open(const struct bz_tier_spec *spec, struct bz_tier **out,
                      struct bz_err *err)
{
    const struct bz_cas_opts opts = {
        .access = spec->write ? BZ_SHELF_WRITE : BZ_SHELF_READ,
    };

    const struct bz_remote_opts remote = {.url = spec->place.p,
                                          .readonly = !spec->write};

    if (spec->kind == BZ_TIER_SPEC_HTTP)
        return bz_tier_http_open(&remote, out, err);
    /* Making it here would hide that a share is not mounted. */
    if (!bz_fs_exists(AT_FDCWD, spec->place.p))
        return bz_fail(err, BZ_E_NOENT, "there is no such directory: make or mount it");
    return bz_tier_dir_open(spec->place.p, &opts, out, err);
}
