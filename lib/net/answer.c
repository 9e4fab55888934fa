#include "net/answer.h"

#include <strings.h>

typedef int (*field_fn)(struct bz_answer *a, struct bz_str value, struct bz_err *err);

static int field_length(struct bz_answer *a, struct bz_str value, struct bz_err *err)
{
    uint64_t n;

    if (bz_str_parse_u64(value, 10, INT64_MAX, &n, err) < 0)
        return bz_fail(err, BZ_E_CORRUPT, "Content-Length is no number");
    if (a->has_length && a->length != n)
        return bz_fail(err, BZ_E_CORRUPT, "two different Content-Length");
    a->has_length = true;
    a->length = n;
    return 0;
}

static int field_location(struct bz_answer *a, struct bz_str value, struct bz_err *err)
{
    if (value.n > sizeof(a->location))
        return bz_fail(err, BZ_E_LIMIT, "a Location of more than %zu bytes",
                       sizeof(a->location));
    if (value.n > 0)
        memcpy(a->location, value.p, value.n);
    a->nlocation = value.n;
    return 0;
}

static int field_encoding(struct bz_answer *a, struct bz_str value, struct bz_err *err)
{
    (void)err;
    a->encoded =
        value.n > 0 && !(value.n == 8 && strncasecmp(value.p, "identity", 8) == 0);
    return 0;
}

/* A date, which it may be too, is more than we wait for. */
static int field_wait(struct bz_answer *a, struct bz_str value, struct bz_err *err)
{
    uint64_t n;

    if (bz_str_parse_u64(value, 10, BZ_ANSWER_WAIT, &n, err) == 0)
        a->wait = (unsigned)n;
    return 0;
}

static int parse_field(struct bz_answer *a, struct bz_str line, struct bz_err *err)
{
    static const struct {
        struct bz_str name;
        field_fn fn;
    } fields[] = {
        {{"Content-Length", 14},   field_length  },
        {{"Location", 8},          field_location},
        {{"Content-Encoding", 16}, field_encoding},
        {{"Retry-After", 11},      field_wait    },
    };
    struct bz_str name, value;

    if (!bz_str_cut(line, ':', &name, &value))
        return 0;
    for (size_t i = 0; i < BZ_COUNTOF(fields); i++)
        if (name.n == fields[i].name.n &&
            strncasecmp(name.p, fields[i].name.p, name.n) == 0)
            return fields[i].fn(a, bz_str_trim(value), err);
    return 0;
}

static int parse_status(struct bz_answer *a, struct bz_str line, struct bz_err *err)
{
    struct bz_answer fresh = {.bytes = a->bytes, .lines = a->lines};
    struct bz_str version, rest;
    uint64_t status;

    if (!bz_str_cut(line, ' ', &version, &rest) || rest.n < 3 ||
        (rest.n > 3 && rest.p[3] != ' ') ||
        bz_str_parse_u64(bz_str_of(rest.p, 3), 10, 999, &status, err) < 0 ||
        status < 100)
        return bz_fail(err, BZ_E_CORRUPT, "a status line without a status");
    fresh.status = (unsigned)status;
    *a = fresh;
    return 0;
}

int bz_answer_line(struct bz_answer *a, struct bz_str line, struct bz_err *err)
{
    a->bytes += line.n;
    a->lines++;
    if (a->bytes > BZ_ANSWER_BYTES || a->lines > BZ_ANSWER_LINES)
        return bz_fail(err, BZ_E_LIMIT, "a header of more than %d bytes or %d lines",
                       BZ_ANSWER_BYTES, BZ_ANSWER_LINES);
    bz_str_cut_suffix(&line, BZ_STR("\n"));
    bz_str_cut_suffix(&line, BZ_STR("\r"));
    if (bz_str_starts(line, BZ_STR("HTTP/")))
        return parse_status(a, line, err);
    return a->status ? parse_field(a, line, err) : 0;
}

bool bz_answer_redirects(const struct bz_answer *a)
{
    return a->nlocation > 0 &&
           (a->status == 301 || a->status == 302 || a->status == 303 ||
            a->status == 307 || a->status == 308);
}

bool bz_answer_transient(const struct bz_answer *a)
{
    return a->status == 408 || a->status == 429 || a->status == 500 ||
           a->status == 502 || a->status == 503 || a->status == 504;
}
