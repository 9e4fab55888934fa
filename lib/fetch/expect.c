#include "fetch/expect.h"

#include <stdio.h>
#include <strings.h>

/* The best first: a mismatch is reported with it. */
static const enum bz_checksum_kind order[] = {BZ_CHECKSUM_SHA256, BZ_CHECKSUM_SHA512,
                                              BZ_CHECKSUM_SHA384, BZ_CHECKSUM_SHA1,
                                              BZ_CHECKSUM_MD5};

static int find(struct bz_expect *v, enum bz_checksum_kind kind,
                const struct bz_uri *uri, const struct bz_policy *p, bool flags,
                struct bz_err *err)
{
    char plain[32], full[300];
    struct bz_str *want = &v->want[kind];
    int rc = 0;

    snprintf(plain, sizeof(plain), "%ssum", bz_checksum_name(kind));
    snprintf(full, sizeof(full), "%.*s%s%s", BZ_STR_ARG(v->name),
             v->name.n > 0 ? "." : "", plain);
    *want = bz_uri_param(uri, full);
    if (!want->p)
        *want = bz_uri_param(uri, plain);
    if (!want->p && flags)
        rc = p->vars.get(p->vars.ctx, BZ_STR("SRC_URI"), bz_str_from(full), want, err);
    if (rc < 0 || want->n == 0)
        return rc;
    if (want->n != bz_checksum_digits(kind))
        return bz_fail(err, BZ_E_INVAL,
                       "SRC_URI[%s] has %zu characters, but a %s has %zu digits", full,
                       want->n, bz_checksum_name(kind), bz_checksum_digits(kind));
    v->kinds |= 1u << kind;
    return 0;
}

int bz_expect_read(struct bz_expect *v, struct bz_arena *arena,
                   const struct bz_uri *uri, const struct bz_policy *p, bool flags,
                   struct bz_err *err)
{
    int rc = 0;

    memset(v, 0, sizeof(*v));
    v->name = bz_uri_param(uri, "name");
    if (v->name.n > 200)
        return bz_fail(err, BZ_E_LIMIT, "the name of an entry is too long");
    for (int i = 0; rc == 0 && i < BZ_CHECKSUM_KINDS; i++) {
        rc = find(v, (enum bz_checksum_kind)i, uri, p, flags, err);
        v->want[i] = bz_arena_dup(arena, v->want[i]);
    }
    return rc;
}

int bz_expect_line(const struct bz_expect *v, int fd, struct bz_buf *out,
                   struct bz_err *err)
{
    struct bz_checksums sums;
    int rc = bz_checksum_fd(fd, 1u << BZ_CHECKSUM_SHA256, &sums, err);

    if (rc == 0)
        bz_buf_addf(out, "SRC_URI[%.*s%ssha256sum] = \"%s\"", BZ_STR_ARG(v->name),
                    v->name.n > 0 ? "." : "", sums.hex[BZ_CHECKSUM_SHA256]);
    return rc;
}

int bz_expect_file(const struct bz_expect *v, int fd, const char *name,
                   char got[BZ_CHECKSUM_HEX], struct bz_err *err)
{
    struct bz_checksums sums;
    int rc;

    if (v->kinds == 0)
        return 0;
    rc = bz_checksum_fd(fd, v->kinds, &sums, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s", name);
    for (size_t i = 0; i < BZ_COUNTOF(order); i++) {
        const char *is = sums.hex[order[i]];
        struct bz_str want = v->want[order[i]];

        if (!(v->kinds & 1u << order[i]) || strncasecmp(is, want.p, want.n) == 0)
            continue;
        memcpy(got, is, strlen(is) + 1);
        return bz_fail(err, BZ_E_CORRUPT,
                       "%s has the %s %s, but the recipe says %.*s: if the new file is "
                       "the right one, correct the recipe",
                       name, bz_checksum_name(order[i]), is, BZ_STR_ARG(want));
    }
    return 0;
}
