#include <sys/stat.h>

#include "fetch/scheme.h"
#include "os/path.h"

#define LARGEST ((uint64_t)64 << 30)

struct news {
    const struct bz_fetch_watch *watch;
    const char *shown;
};

static void tell(void *arg, uint64_t n, uint64_t total)
{
    const struct news *news = arg;

    news->watch->progress(news->watch->ctx, news->shown, n, total);
}

int bz_fetch_http_to(struct bz_fetch *f, const char *url, const char *shown, int fd,
                     bool resume, struct bz_err *err)
{
    struct news news = {&f->opts.watch, shown};
    struct bz_http_request r = {
        .url = url,
        .sink = {.fd = fd, .limit = LARGEST, .resume = resume},
        .arg = &news
    };
    struct stat st;
    int rc;

    if (resume && fstat(fd, &st) == 0)
        r.sink.have = (uint64_t)st.st_size;
    if (f->opts.watch.progress)
        r.progress = tell;
    rc = bz_http_one(bz_fetch_connections(f), &r, f->opts.cancel, err);
    if (rc < 0)
        return rc;
    if (r.status == 404 || r.status == 410)
        return bz_fail(err, BZ_E_NOENT, "the server does not have it (%u)", r.status);
    if (r.status < 200 || r.status > 299)
        return bz_fail(err, BZ_E_IO, "the server answers %u", r.status);
    if (r.n == 0)
        return bz_fail(err, BZ_E_CORRUPT, "the server sends an empty file");
    return 0;
}

/* The name in DL_DIR, as BitBake chooses it. */
static int prepare(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    struct bz_str name = bz_uri_param(&s->uri, "downloadfilename");

    if (!name.p)
        name = bz_uri_basename(&s->uri);
    if (name.n == 0) {
        char *p;

        name = BZ_ARENA_CONCAT(&f->arena, s->uri.host, s->uri.path);
        p = bz_arena_alloc(&f->arena, name.n + 1, 1);
        for (size_t i = 0; i <= name.n; i++)
            p[i] = (char)(name.p[i] == '/' ? '.' : name.p[i]);
        name.p = p;
    }
    if (!bz_path_is_safe(name))
        return bz_fail(err, BZ_E_INVAL,
                       "'%.*s' is no name for a file in DL_DIR: give one with "
                       ";downloadfilename=",
                       BZ_STR_ARG(name));
    s->path = bz_fetch_below(f, f->policy.dl_dir, name);
    return 0;
}

/* The address without parameters, and with the login that stands in parameters. */
static struct bz_str address(struct bz_fetch *f, const struct bz_uri *u)
{
    struct bz_str rest = u->place;

    if (u->user.n == 0 || bz_str_find_byte(u->place, '@') != BZ_STR_NONE)
        return u->place;
    bz_str_cut_prefix(&rest, u->scheme);
    bz_str_cut_prefix(&rest, BZ_STR("://"));
    return bz_arena_printf(&f->arena, "%.*s://%.*s%s%.*s@%.*s", BZ_STR_ARG(u->scheme),
                           BZ_STR_ARG(u->user), u->password.n > 0 ? ":" : "",
                           BZ_STR_ARG(u->password), BZ_STR_ARG(rest));
}

static int download(struct bz_fetch *f, struct bz_source *s, const struct bz_uri *from,
                    int fd, struct bz_err *err)
{
    struct bz_str shown = bz_uri_shown(&f->arena, from);
    int rc = bz_policy_check(&f->policy, from->host, err);

    if (rc < 0)
        return rc;
    return bz_fetch_http_to(f, address(f, from).p, shown.p, fd, s->sums.kinds != 0,
                            err);
}

static int refuse(struct bz_fetch *f, struct bz_source *s, const struct bz_uri *from,
                  int fd, struct bz_err *err)
{
    (void)f;
    (void)s;
    (void)from;
    (void)fd;
    return bz_fail(err, BZ_E_NOSUP,
                   "ftp is not spoken here: put the file into DL_DIR, or name an http "
                   "mirror in PREMIRRORS");
}

const struct bz_scheme bz_fetch_http = {
    .name = "http", .checked = true, .prepare = prepare, .download = download};
const struct bz_scheme bz_fetch_http_secure = {
    .name = "https", .checked = true, .prepare = prepare, .download = download};
const struct bz_scheme bz_fetch_http_ftp = {
    .name = "ftp", .checked = true, .prepare = prepare, .download = refuse};
