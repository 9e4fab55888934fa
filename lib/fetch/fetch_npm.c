#include <ctype.h>

#include "codec/json.h"
#include "fetch/scheme.h"
#include "fetch/tool.h"
#include "fetch/unpack.h"
#include "os/fs.h"
#include "os/fs_remove.h"
#include "os/path.h"

#define ANSWER ((uint64_t)8 << 20)
#define PATIENCE (30 * BZ_CLOCK_S)

static bool is_version(struct bz_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && !strchr(".-+", s.p[i]))
            return false;
    return s.n > 0 && isdigit((unsigned char)s.p[0]);
}

static bool is_package(struct bz_str s)
{
    size_t slashes = 0;

    for (size_t i = 0; i < s.n; i++) {
        slashes += s.p[i] == '/';
        if (!isalnum((unsigned char)s.p[i]) && !strchr("@/._-~", s.p[i]))
            return false;
    }
    return s.n > 0 && s.n < 215 && slashes <= (s.p[0] == '@') &&
           bz_str_find(s, BZ_STR("..")) == BZ_STR_NONE;
}

/* "@scope/name" is "@scope-name" in DL_DIR/npm2, as BitBake had it. */
static struct bz_str file_name(struct bz_fetch *f, struct bz_str package,
                               struct bz_str version)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    bz_buf_addf(&out, "npm2/");
    for (size_t i = 0; i < package.n; i++) {
        char c = (char)tolower((unsigned char)package.p[i]);

        if (c == '/')
            c = '-';
        if (isalnum((unsigned char)c) || c == '-' || c == '@')
            bz_buf_add_char(&out, c);
    }
    bz_buf_addf(&out, "-%.*s.tgz", BZ_STR_ARG(version));
    return bz_arena_dup(&f->arena, bz_buf_str(&out));
}

static int prepare(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    struct bz_str package = bz_uri_param(&s->uri, "package");
    struct bz_str version = bz_uri_param(&s->uri, "version");

    if (!is_package(package) || !is_version(version))
        return bz_fail(err, BZ_E_INVAL,
                       "give ;package=NAME and ;version=1.2.3, an exact version");
    s->shown = bz_arena_printf(&f->arena, "%s;package=%.*s;version=%.*s", s->shown,
                               BZ_STR_ARG(package), BZ_STR_ARG(version))
                   .p;
    s->path = bz_fetch_below(f, f->policy.dl_dir, file_name(f, package, version));
    return 0;
}

/* The registry that npm is set up to use here. An entry that names another one than the
 * public registry means that one. */
static int registry(struct bz_fetch *f, const struct bz_uri *u, struct bz_str *out,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_tool t = {.cancel = f->opts.cancel, .cwd = "/", .patience = PATIENCE};
    struct bz_str path = u->path, said;
    int rc;

    while (bz_str_cut_suffix(&path, BZ_STR("/")))
        ;
    *out = bz_arena_printf(&f->arena, "https://%.*s%.*s", BZ_STR_ARG(u->host),
                           BZ_STR_ARG(path));
    if (!bz_str_eq(u->host, BZ_STR("registry.npmjs.org")) && u->host.n > 0 &&
        !bz_str_eq(u->host, BZ_STR("registry")))
        return 0;
    bz_tool_add(&t, "npm");
    bz_tool_add(&t, "config");
    bz_tool_add(&t, "get");
    bz_tool_add(&t, "registry");
    rc = bz_tool_run(&t, &text, err);
    said = bz_str_trim(bz_buf_str(&text));
    while (bz_str_cut_suffix(&said, BZ_STR("/")))
        ;
    if (rc == 0 && bz_str_starts(said, BZ_STR("http")))
        *out = bz_arena_dup(&f->arena, said);
    else
        *out = u->host.n > 0 && !bz_str_eq(u->host, BZ_STR("registry"))
                   ? *out
                   : BZ_STR("https://registry.npmjs.org");
    return rc == BZ_E_CANCELED ? rc : 0; /* without npm: the public one */
}

/* What the registry says about one version. */
static int ask(struct bz_fetch *f, const char *url, struct bz_str *tarball,
               struct bz_str *integrity, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_http_request r = {
        .url = url, .sink = {.mem = &text, .limit = ANSWER}
    };
    const struct bz_doc *doc, *dist;
    int rc = bz_http_one(bz_fetch_connections(f), &r, f->opts.cancel, err);

    if (rc < 0)
        return rc;
    if (r.status != 200)
        return bz_fail(err, r.status == 404 ? BZ_E_NOENT : BZ_E_IO,
                       "the registry answers %u", r.status);
    rc = bz_json_parse(&f->arena, bz_buf_str(&text), NULL, &doc, err);
    if (rc == 0)
        rc = bz_doc_field(doc, "dist", BZ_DOC_MAP, &dist, err);
    if (rc == 0)
        rc = bz_doc_get_str(dist, "tarball", tarball, err);
    if (rc == 0)
        rc = bz_doc_get_str(dist, "integrity", integrity, err);
    return rc < 0 ? bz_fail(err, BZ_E_CORRUPT, "the registry's answer: %s", err->msg)
                  : 0;
}

static int check_integrity(struct bz_str text, int fd, struct bz_err *err)
{
    enum bz_checksum_kind kind;
    char hex[BZ_CHECKSUM_HEX];
    struct bz_checksums sums;
    struct bz_str first, rest;
    int rc;

    bz_str_cut(text, ' ', &first, &rest);
    rc = bz_checksum_integrity(first, &kind, hex, err);
    if (rc == 0)
        rc = bz_checksum_fd(fd, 1u << kind, &sums, err);
    if (rc == 0 && strcmp(hex, sums.hex[kind]) != 0)
        rc = bz_fail(err, BZ_E_CORRUPT, "it has the %s %s, but the registry says %s",
                     bz_checksum_name(kind), sums.hex[kind], hex);
    return rc;
}

static int download(struct bz_fetch *f, struct bz_source *s, const struct bz_uri *from,
                    int fd, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf url = {0};
    struct bz_str package = bz_uri_param(&s->uri, "package");
    struct bz_str version = bz_uri_param(&s->uri, "version");
    struct bz_str base = {0}, tarball = {0}, integrity = {0};
    struct bz_url at = {0};
    int rc = registry(f, from, &base, err);

    if (rc == 0)
        rc = bz_url_parse(base, &at, err);
    if (rc == 0)
        rc = bz_policy_check(&f->policy, at.host, err);
    if (rc < 0)
        return rc;
    bz_buf_addf(&url, "%.*s/", BZ_STR_ARG(base));
    for (size_t i = 0; i < package.n; i++) {
        if (package.p[i] == '/')
            bz_buf_addf(&url, "%%2F");
        else
            bz_buf_add_char(&url, package.p[i]);
    }
    bz_buf_addf(&url, "/%.*s", BZ_STR_ARG(version));
    rc = ask(f, bz_buf_text(&url), &tarball, &integrity, err);
    if (rc == 0)
        rc = bz_fetch_http_to(f, bz_arena_dup(&f->arena, tarball).p, s->shown, fd,
                              s->sums.kinds != 0, err);
    return rc < 0 ? rc : check_integrity(integrity, fd, err);
}

static int unpack(struct bz_fetch *f, struct bz_source *s, const char *dir,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    const char *dest;
    int rc = bz_unpack_dest(f, s, dir, BZ_STR("npm"), &dest, err);

    if (rc == 0)
        rc = bz_fetch_verified(f, s, &fd, err);
    if (rc == 0)
        rc = bz_fs_remove(AT_FDCWD, dest, err);
    return rc < 0 ? rc : bz_unpack_strip(f, fd, s->path, dest, 1, err);
}

const struct bz_scheme bz_fetch_npm = {.name = "npm",
                                       .checked = true,
                                       .prepare = prepare,
                                       .download = download,
                                       .unpack = unpack};
