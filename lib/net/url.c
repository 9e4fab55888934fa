#include "net/url.h"

#include <ctype.h>
#include <strings.h>

#define HOST_MAX 253

static bool same_nocase(struct bz_str a, struct bz_str b)
{
    return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

static bool is_scheme(struct bz_str s)
{
    if (s.n == 0 || !isalpha((unsigned char)s.p[0]))
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && (!s.p[i] || !strchr("+-.", s.p[i])))
            return false;
    return true;
}

/* Printable, and none of those that a path or query must have encoded and that some
 * programs take for a slash or an end. */
static bool is_clean(struct bz_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || strchr("\\\"<>^`{|}", s.p[i]))
            return false;
    return true;
}

static bool is_host(struct bz_str s)
{
    bool v6 = s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']';

    if (v6)
        s = bz_str_sub(s, 1, s.n - 1);
    if (s.n == 0 || s.n > HOST_MAX)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (v6 ? !isxdigit(c) && c != ':' && c != '.'
               : !isalnum(c) && c != '-' && c != '.' && c != '_')
            return false;
    }
    return true;
}

static uint16_t usual_port(const struct bz_url *u)
{
    if (bz_url_is(u, BZ_STR("http")))
        return 80;
    return bz_url_is(u, BZ_STR("https")) ? 443 : 0;
}

static int parse_authority(struct bz_str s, struct bz_url *u, struct bz_err *err)
{
    struct bz_str login, rest;
    uint64_t port;
    size_t colon;

    if (bz_str_cut(s, '@', &login, &rest)) {
        if (bz_str_find_byte(rest, '@') != BZ_STR_NONE)
            return bz_fail(err, BZ_E_INVAL,
                           "an '@' in a user or password is written %%40");
        s = rest;
        if (!bz_str_cut(login, ':', &u->user, &u->password))
            u->password = (struct bz_str){0};
    }
    colon = bz_str_rfind_byte(s, ':');
    if (colon != BZ_STR_NONE && s.p[s.n - 1] != ']') {
        struct bz_str digits = bz_str_drop(s, colon + 1);

        if (digits.n > 0) {
            if (bz_str_parse_u64(digits, 10, UINT16_MAX, &port, err) < 0 || port == 0)
                return bz_fail(err, BZ_E_INVAL, "the port is no number up to 65535");
            u->port = (uint16_t)port;
        }
        s = bz_str_of(s.p, colon);
    }
    if (!is_host(s))
        return bz_fail(err, BZ_E_INVAL, "the name of the host is missing or wrong");
    u->host = s;
    return 0;
}

/* Up to the first of these bytes. */
static struct bz_str up_to(struct bz_str s, const char *ends)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr(ends, s.p[i]))
            return bz_str_of(s.p, i);
    return s;
}

int bz_url_parse(struct bz_str text, struct bz_url *out, struct bz_err *err)
{
    struct bz_url u = {0};
    struct bz_str authority;
    size_t at;
    int rc;

    if (text.n > BZ_URL_MAX)
        return bz_fail(err, BZ_E_LIMIT, "an address of more than %d bytes", BZ_URL_MAX);
    if (!is_clean(text))
        return bz_fail(err, BZ_E_INVAL,
                       "a blank or special character, which is written %%XX");
    text = up_to(text, "#");
    at = bz_str_find(text, BZ_STR("://"));
    if (at == BZ_STR_NONE || !is_scheme(bz_str_of(text.p, at)))
        return bz_fail(err, BZ_E_INVAL, "it does not begin as in https://");
    u.scheme = bz_str_of(text.p, at);
    text = bz_str_drop(text, at + 3);
    authority = up_to(text, "/?");
    u.port = usual_port(&u);
    rc = parse_authority(authority, &u, err);
    if (rc < 0)
        return rc;
    text = bz_str_drop(text, authority.n);
    if (!bz_str_cut(text, '?', &u.path, &u.query))
        u.query = (struct bz_str){0};
    *out = u;
    return 0;
}

bool bz_url_is(const struct bz_url *u, struct bz_str scheme)
{
    return same_nocase(u->scheme, scheme);
}

bool bz_url_same_origin(const struct bz_url *a, const struct bz_url *b)
{
    return same_nocase(a->scheme, b->scheme) && same_nocase(a->host, b->host) &&
           a->port == b->port;
}

static void add_server(const struct bz_url *u, struct bz_buf *out)
{
    bz_buf_addf(out, "%.*s://%.*s", BZ_STR_ARG(u->scheme), BZ_STR_ARG(u->host));
    if (u->port != usual_port(u))
        bz_buf_addf(out, ":%u", u->port);
}

void bz_url_add(const struct bz_url *u, struct bz_buf *out)
{
    add_server(u, out);
    bz_buf_add_str(out, u->path);
    if (u->query.p)
        bz_buf_addf(out, "?%.*s", BZ_STR_ARG(u->query));
}

/* Appends a path that begins with '/', with "." and ".." followed. */
static void add_path(struct bz_str path, struct bz_buf *out)
{
    size_t begin = out->len;
    struct bz_str part;
    bool open = false; /* the last part was one that leads to a directory */

    path = bz_str_drop(path, 1);
    while (bz_str_next_part(&path, '/', &part)) {
        open = bz_str_eq(part, BZ_STR(".")) || bz_str_eq(part, BZ_STR(".."));
        if (part.n == 2 && open) {
            size_t slash = bz_str_rfind_byte(bz_str_drop(bz_buf_str(out), begin), '/');

            bz_buf_truncate(out, slash == BZ_STR_NONE ? begin : begin + slash);
        } else if (!open) {
            bz_buf_add_char(out, '/');
            bz_buf_add_str(out, part);
        }
    }
    if (open || out->len == begin)
        bz_buf_add_char(out, '/');
}

/* A reference without scheme and host. */
static void join_path(const struct bz_url *base, struct bz_str ref, struct bz_buf *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf whole = {0};
    struct bz_str path, query;
    bool asks = bz_str_cut(ref, '?', &path, &query);

    add_server(base, out);
    if (path.n == 0) {
        bz_buf_add_str(out, base->path);
        if (!asks && base->query.p)
            bz_buf_addf(out, "?%.*s", BZ_STR_ARG(base->query));
    } else if (path.p[0] == '/') {
        add_path(path, out);
    } else {
        size_t slash = bz_str_rfind_byte(base->path, '/');

        bz_buf_add(&whole, "/", 1);
        if (slash != BZ_STR_NONE)
            bz_buf_add_str(&whole, bz_str_sub(base->path, 1, slash + 1));
        bz_buf_add_str(&whole, path);
        add_path(bz_buf_str(&whole), out);
    }
    if (asks)
        bz_buf_addf(out, "?%.*s", BZ_STR_ARG(query));
}

int bz_url_join(const struct bz_url *base, struct bz_str ref, struct bz_buf *out,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str scheme = up_to(ref, ":/?#");
    struct bz_url u;
    int rc;

    if (ref.n > BZ_URL_MAX)
        return bz_fail(err, BZ_E_LIMIT, "an address of more than %d bytes", BZ_URL_MAX);
    ref = up_to(ref, "#");
    if (scheme.n < ref.n && ref.p[scheme.n] == ':' && is_scheme(scheme))
        bz_buf_add_str(&text, ref);
    else if (bz_str_starts(ref, BZ_STR("//")))
        bz_buf_addf(&text, "%.*s:%.*s", BZ_STR_ARG(base->scheme), BZ_STR_ARG(ref));
    else
        join_path(base, ref, &text);
    rc = bz_url_parse(bz_buf_str(&text), &u, err);
    if (rc < 0)
        return rc;
    bz_buf_add_str(out, bz_buf_str(&text));
    return 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int bz_url_decode(struct bz_str s, struct bz_buf *out, struct bz_err *err)
{
    for (size_t i = 0; i < s.n; i++) {
        int high, low;

        if (s.p[i] != '%') {
            bz_buf_add_char(out, s.p[i]);
            continue;
        }
        high = i + 2 < s.n ? hex_digit(s.p[i + 1]) : -1;
        low = i + 2 < s.n ? hex_digit(s.p[i + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0)
            return bz_fail(err, BZ_E_INVAL, "a '%%' without two digits of a byte");
        bz_buf_add_char(out, (char)(unsigned char)(high * 16 + low));
        i += 2;
    }
    return 0;
}

void bz_url_redact(struct bz_str text, struct bz_buf *out)
{
    size_t at = bz_str_find(text, BZ_STR("://"));
    struct bz_str shown, login;
    struct bz_url u;
    struct bz_err err;

    if (at != BZ_STR_NONE) {
        bool good = bz_url_parse(text, &u, &err) == 0;

        bz_buf_add_str(out, bz_str_of(text.p, at + 3));
        text = bz_str_drop(text, at + 3);
        login = good ? up_to(text, "/?") : text;
        at = bz_str_rfind_byte(login, '@');
        if (at != BZ_STR_NONE) {
            bz_buf_add_str(out, BZ_STR("***@"));
            text = bz_str_drop(text, at + 1);
        }
    }
    shown = up_to(text, "?");
    bz_buf_add_str(out, shown);
    if (shown.n < text.n)
        bz_buf_add_str(out, BZ_STR("?***"));
}
