#include "jobs/request.h"

#include <endian.h>

#include "codec/utf8.h"

#define ONES UINT64_C(0x0101010101010101)

struct scan {
    const char *p, *end, *start;
    struct bz_err *err;
};

static int fail(struct scan *s, const char *what)
{
    return bz_fail(s->err, BZ_E_INVAL, "column %zu: %s", (size_t)(s->p - s->start) + 1,
                   what);
}

/* Blanks are rare: most programs write none. */
static inline void skip_blanks(struct scan *s)
{
    const char *p = s->p;

    while (p < s->end && BZ_UNLIKELY((unsigned char)*p <= ' ') &&
           (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    s->p = p;
}

static inline bool take(struct scan *s, char c)
{
    if (BZ_LIKELY(s->p < s->end && *s->p == c)) {
        s->p++;
        return true;
    }
    skip_blanks(s);
    if (s->p == s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int scan_escape(struct scan *s)
{
    char c = '\0';

    if (s->p + 1 < s->end)
        c = s->p[1];
    if (c == 'u') {
        for (int i = 2; i < 6; i++)
            if (s->end - s->p <= i || !is_hex(s->p[i]))
                return fail(s, "\\u wants four hexadecimal digits");
        if (memcmp(s->p + 2, "0000", 4) == 0)
            return fail(s, "a NUL is not allowed");
        s->p += 6;
        return 0;
    }
    if (c == '\0' || !strchr("\"\\/bfnrt", c))
        return fail(s, "no such escape");
    s->p += 2;
    return 0;
}

/* The highest bit of each of eight bytes that is zero; above the first one there may be
 * wrong ones. */
static uint64_t zero_bytes(uint64_t word)
{
    return (word - ONES) & ~word & ONES << 7;
}

/* The next byte that is no plain part of a string: a quote, a backslash, a control
 * character. */
static const char *skip_plain(const char *p, const char *end)
{
    uint64_t word, found;

    for (; end - p >= (ptrdiff_t)sizeof(word); p += sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        word = le64toh(word); /* the first byte is the lowest */
        found = zero_bytes(word ^ ONES * '"') | zero_bytes(word ^ ONES * '\\') |
                ((word - ONES * 0x20) & ~word & ONES << 7);
        if (found)
            return p + __builtin_ctzll(found) / 8;
    }
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
        p++;
    return p;
}

/* The text between the quotes, as it stands; `plain` tells whether that is what it
 * means. */
static inline int scan_string(struct scan *s, struct bz_str *out, bool *plain)
{
    const char *begin, *end;
    int rc = 0;

    *out = BZ_STR("");
    *plain = true;
    if (!take(s, '"'))
        return fail(s, "expected a string");
    begin = s->p;
    end = skip_plain(begin, s->end);
    if (BZ_LIKELY(end < s->end && *end == '"')) {
        *out = bz_str_of(begin, (size_t)(end - begin));
        s->p = end + 1;
        return 0;
    }
    for (;;) {
        s->p = skip_plain(s->p, s->end);
        if (rc < 0 || s->p == s->end || *s->p == '"')
            break;
        if (*s->p != '\\')
            return fail(s, "a control character in a string");
        *plain = false;
        rc = scan_escape(s);
    }
    if (rc == 0 && s->p == s->end)
        return fail(s, "the string does not end");
    *out = bz_str_of(begin, (size_t)(s->p - begin));
    s->p++;
    return rc;
}

static inline bool digits(struct scan *s)
{
    const char *begin = s->p, *p = begin;

    while (p < s->end && *p >= '0' && *p <= '9')
        p++;
    s->p = p;
    return p > begin;
}

static int scan_number(struct scan *s)
{
    if (s->p < s->end && *s->p == '-')
        s->p++;
    if (s->p < s->end && *s->p == '0')
        s->p++;
    else if (!digits(s))
        return fail(s, "expected a value");
    if (s->p < s->end && *s->p == '.') {
        s->p++;
        if (!digits(s))
            return fail(s, "a digit is missing");
    }
    if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;
        if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
            s->p++;
        if (!digits(s))
            return fail(s, "a digit is missing");
    }
    return 0;
}

static inline int scan_word(struct scan *s, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return fail(s, "expected a value");
    s->p += n;
    return 0;
}

static int scan_scalar(struct scan *s)
{
    struct bz_str ignored;
    bool plain;

    skip_blanks(s);
    if (s->p == s->end)
        return fail(s, "the text ends too early");
    switch (*s->p) {
    case '"':
        return scan_string(s, &ignored, &plain);
    case 't':
        return scan_word(s, "true");
    case 'f':
        return scan_word(s, "false");
    case 'n':
        return scan_word(s, "null");
    default:
        return scan_number(s);
    }
}

static int scan_key(struct scan *s)
{
    struct bz_str ignored;
    bool plain;
    int rc = scan_string(s, &ignored, &plain);

    if (rc == 0 && !take(s, ':'))
        return fail(s, "expected ':'");
    return rc;
}

/* What a value is in: a bit for each level, 1 for an object. */
struct levels {
    uint64_t objects;
    unsigned depth;
};

static bool in_object(const struct levels *l)
{
    return l->objects & 1;
}

static void leave(struct levels *l)
{
    l->depth--;
    l->objects >>= 1;
}

/* The beginning of an object or array: 1 if a value follows, 0 if it is empty. */
static int enter(struct scan *s, struct levels *l)
{
    bool object = *s->p++ == '{';
    int rc;

    if (l->depth == BZ_REQUEST_DEPTH - 1)
        return bz_fail(s->err, BZ_E_LIMIT, "deeper than %d", BZ_REQUEST_DEPTH);
    l->objects = l->objects << 1 | object;
    l->depth++;
    if (take(s, object ? '}' : ']')) {
        leave(l);
        return 0;
    }
    rc = object ? scan_key(s) : 0;
    return rc < 0 ? rc : 1;
}

/* After a value: another one, or the end of what it is in. 1 if one follows. */
static int go_on(struct scan *s, struct levels *l)
{
    int rc;

    while (l->depth > 0 && !take(s, ',')) {
        if (!take(s, in_object(l) ? '}' : ']'))
            return fail(s,
                        in_object(l) ? "expected ',' or '}'" : "expected ',' or ']'");
        leave(l);
    }
    if (l->depth == 0)
        return 0;
    rc = in_object(l) ? scan_key(s) : 0;
    return rc < 0 ? rc : 1;
}

/* A value with all in it. */
static int scan_value(struct scan *s)
{
    struct levels l = {0};
    int rc;

    do {
        skip_blanks(s);
        if (s->p < s->end && (*s->p == '{' || *s->p == '[')) {
            rc = enter(s, &l);
            if (rc > 0)
                continue;
        } else {
            rc = scan_scalar(s);
        }
        if (rc == 0)
            rc = go_on(s, &l);
    } while (rc > 0);
    return rc;
}

static int read_count(struct scan *s, uint64_t max, uint64_t *out)
{
    const char *begin;
    uint64_t n = 0;

    skip_blanks(s);
    begin = s->p;
    while (s->p < s->end && *s->p >= '0' && *s->p <= '9') {
        unsigned digit = (unsigned)(*s->p - '0');

        if (n > (max - digit) / 10)
            return bz_fail(s->err, BZ_E_INVAL, "column %zu: larger than %llu",
                           (size_t)(begin - s->start) + 1, (unsigned long long)max);
        n = n * 10 + digit;
        s->p++;
    }
    if (s->p == begin || (*begin == '0' && s->p > begin + 1) ||
        (s->p < s->end && (*s->p == '.' || *s->p == 'e' || *s->p == 'E')))
        return fail(s, "expected a whole number, not negative");
    *out = n;
    return 0;
}

static int read_opcode(struct scan *s, struct bz_request *out)
{
    uint64_t n = 0;
    bool plain;
    int rc;

    skip_blanks(s);
    if (s->p < s->end && *s->p == '"') {
        rc = scan_string(s, &out->opname, &plain);
        if (rc == 0 &&
            (!plain || out->opname.n == 0 || out->opname.n > BZ_REQUEST_NAME))
            return fail(s, "this is no name of an opcode");
        return rc;
    }
    rc = read_count(s, BZ_REQUEST_OPCODES - 1, &n);
    out->opcode = (uint32_t)n;
    return rc;
}

static int read_priority(struct scan *s, struct bz_request *out)
{
    struct bz_str text;
    bool plain;
    int rc = scan_string(s, &text, &plain);

    if (rc < 0)
        return rc;
    if (bz_str_eq(text, BZ_STR("high")))
        out->priority = BZ_REQUEST_HIGH;
    else if (!bz_str_eq(text, BZ_STR("normal")))
        return fail(s, "a priority is \"high\" or \"normal\"");
    return 0;
}

static int read_args(struct scan *s, struct bz_request *out)
{
    const char *begin;
    int rc;

    skip_blanks(s);
    begin = s->p;
    if (s->p == s->end || *s->p != '{')
        return fail(s, "args is an object");
    rc = scan_value(s);
    out->args = bz_str_of(begin, (size_t)(s->p - begin));
    return rc;
}

enum member { OPCODE, TASK_ID, ARGS, TIMEOUT, PRIORITY, MEMBERS };

static int read_member(struct scan *s, enum member what, struct bz_request *out)
{
    uint64_t n = 0;
    int rc;

    switch (what) {
    case OPCODE:
        return read_opcode(s, out);
    case TASK_ID:
        rc = read_count(s, UINT64_MAX, &out->id);
        return rc == 0 && out->id == 0 ? fail(s, "a task_id is not 0") : rc;
    case TIMEOUT:
        rc = read_count(s, BZ_REQUEST_TIMEOUT, &n);
        out->timeout = (uint32_t)n;
        return rc;
    case PRIORITY:
        return read_priority(s, out);
    default:
        return read_args(s, out);
    }
}

static int find_member(struct scan *s, unsigned *seen, enum member *what)
{
    static const struct bz_str names[MEMBERS] = {BZ_STR("opcode"), BZ_STR("task_id"),
                                                 BZ_STR("args"), BZ_STR("timeout_ms"),
                                                 BZ_STR("priority")};
    struct bz_str key;
    bool plain;
    int rc = scan_string(s, &key, &plain);

    if (rc < 0)
        return rc;
    for (unsigned i = 0; i < MEMBERS; i++)
        if (key.n == names[i].n && memcmp(key.p, names[i].p, key.n) == 0) {
            if (*seen & 1U << i)
                return fail(s, "it is there twice");
            *seen |= 1U << i;
            *what = (enum member)i;
            return take(s, ':') ? 0 : fail(s, "expected ':'");
        }
    return bz_fail(s->err, BZ_E_INVAL, "column %zu: no such member: %.*s",
                   (size_t)(key.p - s->start) + 1, (int)(key.n > 40 ? 40 : key.n),
                   key.p);
}

int bz_request_parse(struct bz_str text, struct bz_request *out, struct bz_err *err)
{
    struct scan s = {text.p, text.p + text.n, text.p, NULL};
    enum member what = MEMBERS;
    unsigned seen = 0;
    int rc = 0;

    s.err = err;
    *out = (struct bz_request){.priority = BZ_REQUEST_NORMAL};
    if (text.n > BZ_REQUEST_MAX)
        return bz_fail(err, BZ_E_LIMIT, "longer than %zu bytes", BZ_REQUEST_MAX);
    if (bz_utf8_valid(text) != text.n)
        return bz_fail(err, BZ_E_INVAL, "it is not UTF-8");
    if (!take(&s, '{'))
        return fail(&s, "expected an object");
    do {
        rc = find_member(&s, &seen, &what);
        if (rc == 0)
            rc = read_member(&s, what, out);
    } while (rc == 0 && take(&s, ','));
    if (rc < 0)
        return rc;
    if (!take(&s, '}'))
        return fail(&s, "expected ',' or '}'");
    skip_blanks(&s);
    if (s.p < s.end)
        return fail(&s, "there is something after the end");
    return seen & 1U << OPCODE ? 0 : fail(&s, "it has no opcode");
}
