#include "fetch/uri.h"

#include <ctype.h>
#include <strings.h>

static bool is_scheme(struct bz_str s)
{
    if (s.n == 0 || !isalpha((unsigned char)s.p[0]))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c >= 0x80 || (!isalnum(c) && c != '+' && c != '-' && c != '.'))
            return false;
    }
    return true;
}

static struct bz_str lower(struct bz_arena *arena, struct bz_str s)
{
    char *p = bz_arena_alloc(arena, s.n + 1, 1);

    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 32 : s.p[i]);
    p[s.n] = '\0';
    return bz_str_of(p, s.n);
}

static int digit(char c)
{
    return isdigit((unsigned char)c)    ? c - '0'
           : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
                                        : -1;
}

/* What is no %XX stays as it is. */
static int unquote(struct bz_arena *arena, struct bz_str s, struct bz_str *out,
                   struct bz_err *err)
{
    char *p = bz_arena_alloc(arena, s.n + 1, 1);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        int high = s.p[i] == '%' && i + 2 < s.n ? digit(s.p[i + 1]) : -1;
        int low = high >= 0 ? digit(s.p[i + 2]) : -1;

        p[n] = s.p[i];
        if (low >= 0) {
            p[n] = (char)(high * 16 + low);
            i += 2;
        }
        if ((unsigned char)p[n] < 32 || p[n] == 127)
            return bz_fail(err, BZ_E_INVAL, "a control character in a path");
        n++;
    }
    p[n] = '\0';
    *out = bz_str_of(p, n);
    return 0;
}

static void take_login(struct bz_arena *arena, struct bz_str login, struct bz_uri *u)
{
    bz_str_cut(login, ':', &u->user, &u->password);
    u->user = bz_arena_dup(arena, u->user);
    u->password = bz_arena_dup(arena, u->password);
}

/* `rest` is what follows the scheme and its colon. */
static int take_place(struct bz_arena *arena, struct bz_str rest, struct bz_uri *u,
                      struct bz_err *err)
{
    bool file = bz_str_eq(u->scheme, BZ_STR("file"));
    size_t end, at;
    struct bz_str head, tail;

    u->host = BZ_STR("");
    if (bz_str_cut_prefix(&rest, BZ_STR("//")) && !file) {
        for (end = 0; end < rest.n && !strchr("/?#", rest.p[end]); end++)
            ;
        head = bz_str_sub(rest, 0, end);
        at = bz_str_rfind_byte(head, '@');
        if (at != BZ_STR_NONE)
            take_login(arena, bz_str_sub(head, 0, at), u);
        u->host =
            lower(arena, at == BZ_STR_NONE ? head : bz_str_sub(head, at + 1, head.n));
        rest = bz_str_sub(rest, end, rest.n);
    }
    bz_str_cut(rest, '#', &head, &tail);
    bz_str_cut(head, '?', &rest, &tail);
    if (rest.n == 0)
        rest = BZ_STR("/");
    return unquote(arena, rest, &u->path, err);
}

static int take_params(struct bz_arena *arena, struct bz_str rest, struct bz_uri *u,
                       struct bz_err *err)
{
    struct bz_str part;

    u->params = BZ_ARENA_ARRAY(arena, struct bz_uri_param, BZ_URI_PARAMS);
    while (rest.p && bz_str_next_part(&rest, ';', &part)) {
        struct bz_uri_param *p = &u->params[u->nparams];

        if (part.n == 0)
            continue;
        if (u->nparams == BZ_URI_PARAMS)
            return bz_fail(err, BZ_E_LIMIT, "more than %d parameters", BZ_URI_PARAMS);
        bz_str_cut(part, '=', &p->name, &p->value);
        if (!p->value.p)
            p->value = BZ_STR("");
        u->nparams++;
    }
    return 0;
}

static int parse(struct bz_arena *arena, struct bz_str text, struct bz_uri *u,
                 struct bz_err *err)
{
    struct bz_str params, scheme, rest;
    int rc;

    if (text.n > BZ_URI_MAX)
        return bz_fail(err, BZ_E_LIMIT, "longer than %d bytes", BZ_URI_MAX);
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 127)
            return bz_fail(err, BZ_E_INVAL, "a blank or control character in it");
    u->text = bz_arena_dup(arena, text);
    bz_str_cut(u->text, ';', &u->place, &params);
    u->place = bz_arena_dup(arena, u->place);
    if (!bz_str_cut(u->place, ':', &scheme, &rest) || !is_scheme(scheme))
        return bz_fail(err, BZ_E_INVAL,
                       "no scheme: an entry of SRC_URI begins with one, as in "
                       "file://name or https://host/path");
    u->scheme = lower(arena, scheme);
    rc = take_place(arena, rest, u, err);
    if (rc == 0)
        rc = take_params(arena, params, u, err);
    if (rc == 0 && u->user.n == 0 && bz_uri_param(u, "user").n > 0)
        u->user = bz_uri_param(u, "user");
    if (rc == 0 && u->password.n == 0 && bz_uri_param(u, "pswd").n > 0)
        u->password = bz_uri_param(u, "pswd");
    return rc;
}

int bz_uri_parse(struct bz_arena *arena, struct bz_str text, struct bz_uri *out,
                 struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf shown = {0};
    int rc;

    memset(out, 0, sizeof(*out));
    rc = parse(arena, text, out, err);
    if (rc == 0)
        return 0;
    bz_uri_redact(bz_str_sub(text, 0, text.n < 200 ? text.n : 200), &shown);
    return bz_err_wrap(err, "'%s'", bz_buf_text(&shown));
}

struct bz_str bz_uri_param(const struct bz_uri *u, const char *name)
{
    struct bz_str found = {0}, want = bz_str_from(name);

    for (size_t i = 0; i < u->nparams; i++)
        if (bz_str_eq(u->params[i].name, want))
            found = u->params[i].value;
    return found;
}

int bz_uri_flag(const struct bz_uri *u, const char *name, bool otherwise, bool *out,
                struct bz_err *err)
{
    static const char *const words[] = {"1", "y", "yes", "true",
                                        "0", "n", "no",  "false"};
    struct bz_str value = bz_uri_param(u, name);

    *out = otherwise;
    if (!value.p)
        return 0;
    for (size_t i = 0; i < BZ_COUNTOF(words); i++)
        if (value.n == strlen(words[i]) &&
            strncasecmp(value.p, words[i], value.n) == 0) {
            *out = i < 4;
            return 0;
        }
    return bz_fail(err, BZ_E_INVAL, "parameter %s is '%.*s': expected 1 or 0", name,
                   BZ_STR_ARG(value));
}

struct bz_str bz_uri_basename(const struct bz_uri *u)
{
    size_t slash = bz_str_rfind_byte(u->path, '/');

    return slash == BZ_STR_NONE ? u->path : bz_str_sub(u->path, slash + 1, u->path.n);
}

void bz_uri_quote(struct bz_str path, struct bz_buf *out)
{
    for (size_t i = 0; i < path.n; i++) {
        unsigned char c = (unsigned char)path.p[i];

        if (c < 0x80 && (isalnum(c) || strchr("/_.-~", c)))
            bz_buf_add_char(out, (char)c);
        else
            bz_buf_addf(out, "%%%02X", c);
    }
}

struct bz_str bz_uri_shown(struct bz_arena *arena, const struct bz_uri *u)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    bz_uri_redact(u->place, &out);
    return bz_arena_dup(arena, bz_buf_str(&out));
}

/* The end of what may be a user and password at the beginning of s, with the '@', or 0.
 * The last '@' counts: a password may have one. */
static size_t login_length(struct bz_str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n && (unsigned char)s.p[i] > ' ' && s.p[i] != '/'; i++)
        if (s.p[i] == '@')
            n = i + 1;
    return n;
}

void bz_uri_redact(struct bz_str text, struct bz_buf *out)
{
    size_t at;

    while ((at = bz_str_find(text, BZ_STR("://"))) != BZ_STR_NONE) {
        size_t n = login_length(bz_str_sub(text, at + 3, text.n));

        bz_buf_add(out, text.p, at + 3);
        text = bz_str_sub(text, at + 3 + n, text.n);
        if (n > 0)
            bz_buf_add(out, "***@", 4);
    }
    bz_buf_add_str(out, text);
}
