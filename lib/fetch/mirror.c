#include "fetch/mirror.h"

#include <strings.h>

#include "codec/regex.h"

/* An address in the parts that pairs are compared by. */
enum { TYPE, HOST, PATH, USER, PASSWORD, PARTS };

struct parts {
    struct bz_str at[PARTS];
    struct bz_str params; /* without the first ';'; "" if there are none */
};

struct pair {
    struct bz_str find, with;
};

struct pairs BZ_VEC(struct pair);

struct search {
    struct bz_arena *arena;
    const struct bz_uri *uri;
    const char *file, *tarball;
    struct pairs pairs;
    bool *used; /* [pairs]: on the way to the address at hand */
    struct bz_mirrors *out;
    struct bz_err *err;
};

static bool is_file(struct bz_str type)
{
    return type.n == 4 && strncasecmp(type.p, "file", 4) == 0;
}

/* TYPE://[USER[:PASSWORD]@]HOST/PATH[;PARAMETERS], where each may be an expression. */
static int take_apart(struct search *s, struct bz_str text, struct parts *p)
{
    struct bz_str rest, place;
    size_t at = bz_str_find(text, BZ_STR("://")), slash;

    memset(p, 0, sizeof(*p));
    for (int i = 0; i < PARTS; i++)
        p->at[i] = BZ_STR("");
    if (at == BZ_STR_NONE || at + 3 == text.n)
        return bz_fail(s->err, BZ_E_INVAL, "'%.*s' in a list of mirrors is no address",
                       BZ_STR_ARG(text));
    p->at[TYPE] = bz_str_sub(text, 0, at);
    bz_str_cut(bz_str_sub(text, at + 3, text.n), ';', &place, &rest);
    p->params = rest.p ? rest : BZ_STR("");
    if (is_file(p->at[TYPE])) {
        p->at[PATH] = place;
        return 0;
    }
    slash = bz_str_find_byte(place, '/');
    if (slash == BZ_STR_NONE)
        slash = place.n;
    at = bz_str_rfind_byte(bz_str_sub(place, 0, slash), '@');
    if (at != BZ_STR_NONE) {
        bz_str_cut(bz_str_sub(place, 0, at), ':', &p->at[USER], &p->at[PASSWORD]);
        place = bz_str_sub(place, at + 1, place.n);
        slash -= at + 1;
    }
    p->at[HOST] = bz_str_sub(place, 0, slash);
    p->at[PATH] = slash < place.n ? bz_str_sub(place, slash, place.n) : BZ_STR("/");
    return 0;
}

/* Every occurrence of a word replaced. */
static struct bz_str fill_in(struct bz_arena *arena, struct bz_str text,
                             const char *word, struct bz_str value)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_str name = bz_str_from(word);
    size_t at;

    if (bz_str_find(text, name) == BZ_STR_NONE)
        return text;
    while ((at = bz_str_find(text, name)) != BZ_STR_NONE) {
        bz_buf_add(&out, text.p, at);
        bz_buf_add_str(&out, value);
        text = bz_str_sub(text, at + name.n, text.n);
    }
    bz_buf_add_str(&out, text);
    return bz_arena_dup(arena, bz_buf_str(&out));
}

static struct bz_str mirror_name(struct search *s)
{
    struct bz_str name = BZ_ARENA_CONCAT(s->arena, s->uri->host, s->uri->path);
    char *p = bz_arena_alloc(s->arena, name.n + 1, 1);

    for (size_t i = 0; i < name.n; i++)
        p[i] =
            (char)(strchr(":/*", name.p[i]) && (name.p[i] != ':' || i < s->uri->host.n)
                       ? '.'
                       : name.p[i]);
    p[name.n] = '\0';
    return bz_str_of(p, name.n);
}

static struct bz_str fill_all(struct search *s, struct bz_str text)
{
    text = fill_in(s->arena, text, "TYPE", s->uri->scheme);
    text = fill_in(s->arena, text, "HOST", s->uri->host);
    text = fill_in(s->arena, text, "PATH", s->uri->path);
    text = fill_in(s->arena, text, "BASENAME", bz_uri_basename(s->uri));
    return fill_in(s->arena, text, "MIRRORNAME", mirror_name(s));
}

/* One part: 1 if it matches, and *out is what becomes of it. */
static int replace_part(struct search *s, int i, const struct parts *is,
                        const struct parts *find, const struct parts *with,
                        struct bz_str *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str pattern = find->at[i];
    struct bz_regex *regex = NULL;
    bool yes;
    int rc;

    if ((i == USER || i == PASSWORD) && with->at[i].n > 0) {
        *out = with->at[i];
        return 1;
    }
    /* Otherwise "http" would match "https", which would become "files". */
    if (i == TYPE && pattern.n > 0 && !bz_str_ends(pattern, BZ_STR("$")))
        pattern = BZ_ARENA_CONCAT(s->arena, pattern, BZ_STR("$"));
    rc = bz_regex_new(pattern, BZ_REGEX_MATCH, &regex, s->err);
    if (rc < 0)
        return rc;
    yes = bz_regex_replace(regex, is->at[i], fill_all(s, with->at[i]), &text);
    bz_regex_free(regex);
    *out = with->at[i].n > 0 ? bz_arena_dup(s->arena, bz_buf_str(&text)) : BZ_STR("");
    return yes;
}

/* The path on the mirror ends with the name that the file has there. */
static struct bz_str rename_path(struct search *s, const struct parts *is,
                                 const struct parts *with, struct bz_str path)
{
    bool other = !bz_str_eq(is->at[TYPE], with->at[TYPE]);
    const char *name = other && s->tarball ? s->tarball : s->file;
    struct bz_str file, was, head;
    size_t slash;

    if (!name)
        return path;
    file = bz_str_from(name);
    slash = bz_str_rfind_byte(file, '/');
    if (slash != BZ_STR_NONE)
        file = bz_str_sub(file, slash + 1, file.n);
    slash = bz_str_rfind_byte(is->at[PATH], '/');
    was = slash == BZ_STR_NONE ? is->at[PATH]
                               : bz_str_sub(is->at[PATH], slash + 1, is->at[PATH].n);
    head = path;
    slash = bz_str_rfind_byte(path, '/');
    if (slash != BZ_STR_NONE)
        head = bz_str_sub(path, slash + 1, path.n);
    if (bz_str_eq(head, file))
        return path;
    if (was.n > 0 && bz_str_eq(head, was))
        return BZ_ARENA_CONCAT(s->arena, bz_str_sub(path, 0, path.n - head.n), file);
    return BZ_ARENA_CONCAT(
        s->arena, path,
        path.n > 0 && path.p[path.n - 1] != '/' ? BZ_STR("/") : BZ_STR(""), file);
}

static struct bz_str param_of(struct bz_str params, struct bz_str name)
{
    struct bz_str part = {0}, key = {0}, value = {0};

    while (params.p && bz_str_next_part(&params, ';', &part))
        if (bz_str_cut(part, '=', &key, &value) && bz_str_eq(key, name))
            return value;
    return (struct bz_str){0};
}

static bool params_match(struct bz_str is, struct bz_str find)
{
    struct bz_str part = {0}, key = {0}, value = {0};

    while (find.n > 0 && bz_str_next_part(&find, ';', &part)) {
        struct bz_str has;

        if (!bz_str_cut(part, '=', &key, &value))
            continue;
        has = param_of(is, key);
        if (!has.p || !bz_str_eq(has, value))
            return false;
    }
    return true;
}

/* Who we are is for the source's own server. */
static bool is_login(struct bz_str name)
{
    return bz_str_eq(name, BZ_STR("user")) || bz_str_eq(name, BZ_STR("pswd"));
}

static void add_params(struct search *s, const struct parts *is,
                       const struct parts *with, struct bz_buf *out)
{
    struct bz_str rest = is->params, part = {0}, key = {0}, value = {0};

    while (rest.n > 0 && bz_str_next_part(&rest, ';', &part))
        if (part.n > 0 && bz_str_cut(part, '=', &key, &value) && !is_login(key) &&
            !param_of(with->params, key).p)
            bz_buf_addf(out, ";%.*s", BZ_STR_ARG(part));
    rest = fill_all(s, with->params);
    while (rest.n > 0 && bz_str_next_part(&rest, ';', &part))
        if (part.n > 0)
            bz_buf_addf(out, ";%.*s", BZ_STR_ARG(part));
}

/* Quoted, but not twice, and without doubled slashes. */
static void add_path(struct bz_str path, struct bz_buf *out)
{
    for (size_t i = 0; i < path.n; i++) {
        char c = path.p[i];

        if (c == '/' && i > 0 && path.p[i - 1] == '/')
            continue;
        if (c == '%')
            bz_buf_add_char(out, c);
        else
            bz_uri_quote(bz_str_of(&c, 1), out);
    }
}

static struct bz_str put_together(struct search *s, struct parts *p,
                                  struct bz_str params)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    bool file = is_file(p->at[TYPE]);

    bz_buf_addf(&out, "%.*s://", BZ_STR_ARG(p->at[TYPE]));
    if (!file && p->at[USER].n > 0)
        bz_buf_addf(&out, "%.*s%s%.*s@", BZ_STR_ARG(p->at[USER]),
                    p->at[PASSWORD].n > 0 ? ":" : "", BZ_STR_ARG(p->at[PASSWORD]));
    if (!file)
        bz_buf_add_str(&out, p->at[HOST]);
    add_path(p->at[PATH], &out);
    bz_buf_add_str(&out, params);
    return bz_arena_dup(s->arena, bz_buf_str(&out));
}

/* What the pair makes of the address; p is NULL if it does not match. */
static int apply(struct search *s, struct bz_str text, const struct pair *pair,
                 struct bz_str *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf params = {0};
    struct parts is = {0}, find = {0}, with = {0}, to = {0};
    int rc = take_apart(s, text, &is);

    *out = (struct bz_str){0};
    if (rc == 0)
        rc = take_apart(s, pair->find, &find);
    if (rc == 0)
        rc = take_apart(s, pair->with, &with);
    for (int i = 0; rc == 0 && i < PARTS; i++) {
        int yes = replace_part(s, i, &is, &find, &with, &to.at[i]);

        if (yes <= 0)
            return yes;
    }
    if (rc < 0 || !params_match(is.params, find.params))
        return rc;
    to.at[PATH] = rename_path(s, &is, &with, to.at[PATH]);
    if (bz_str_eq(is.at[TYPE], with.at[TYPE]) || !s->tarball)
        add_params(s, &is, &with, &params);
    *out = put_together(s, &to, bz_buf_str(&params));
    return 0;
}

static bool known(const struct search *s, struct bz_str address)
{
    for (size_t i = 0; i < s->out->len; i++)
        if (bz_str_eq(s->out->at[i], address))
            return true;
    return bz_str_eq(s->uri->text, address);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are pairs, and at most 64 */
static int follow(struct search *s, struct bz_str text)
{
    for (size_t i = 0; i < s->pairs.len; i++) {
        struct bz_str address;
        int rc;

        if (s->used[i] || s->out->len >= BZ_MIRROR_MAX)
            continue;
        rc = apply(s, text, &s->pairs.at[i], &address);
        if (rc < 0)
            return rc;
        if (!address.p || known(s, address))
            continue;
        BZ_VEC_PUSH(s->out, address);
        s->used[i] = true;
        rc = follow(s, address);
        s->used[i] = false;
        if (rc < 0)
            return rc;
    }
    return 0;
}

int bz_mirror_list(struct bz_arena *arena, struct bz_str pairs,
                   const struct bz_uri *uri, const char *file, const char *tarball,
                   struct bz_mirrors *out, struct bz_err *err)
{
    struct search s = {.arena = arena,
                       .uri = uri,
                       .file = file,
                       .tarball = tarball,
                       .out = out,
                       .err = err};
    /* "\n" as two characters separates too, as it always has. */
    struct bz_str rest = fill_in(arena, pairs, "\\n", BZ_STR(" "));
    struct pair pair;
    int rc;

    while (bz_str_next_word(&rest, &pair.find)) {
        if (!bz_str_next_word(&rest, &pair.with)) {
            bz_vec_release(&s.pairs);
            return bz_fail(err, BZ_E_INVAL,
                           "mirrors come in pairs, and '%.*s' is alone",
                           BZ_STR_ARG(pair.find));
        }
        BZ_VEC_PUSH(&s.pairs, pair);
    }
    s.used = BZ_ARENA_ARRAY(arena, bool, s.pairs.len + 1);
    rc = follow(&s, uri->text);
    bz_vec_release(&s.pairs);
    return rc;
}
