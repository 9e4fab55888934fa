/* scheme.h - what each kind of source does in its own way. Adding a kind is adding a
 * struct bz_scheme to the table in fetch.c. For the files of this module only. */
#ifndef BZ_FETCH_SCHEME_H
#define BZ_FETCH_SCHEME_H

#include "fetch/expect.h"
#include "fetch/fetch.h"
#include "fetch/mirror.h"
#include "net/http.h"

struct bz_scheme;

struct bz_source {
    struct bz_uri uri;
    const struct bz_scheme *scheme;
    struct bz_str name;     /* ;name=, or "default" */
    const char *shown;      /* without secrets */
    const char *path;       /* absolute: where it lies, or will */
    const char *tarball;    /* what mirrors of another kind call it, or NULL */
    struct bz_expect sums;  /* if the scheme is checked */
    struct bz_str revision; /* git: a commit; "" if it is not resolved yet */
    struct bz_str wanted;   /* git: the ref that the revision names, or "" */
    struct bz_str question; /* git: the same for revision.h, or "" */
    struct bz_str address;  /* npm: of the tarball, once it is known */
};

struct bz_sources BZ_VEC(struct bz_source *);

struct bz_fetch {
    struct bz_fetch_opts opts;
    struct bz_policy policy;
    struct bz_sources all;
    struct bz_arena arena;
    bool unpacking; /* what programs write now is unpacked */
};

struct bz_scheme {
    const char *name;
    bool local;   /* it needs neither network nor DL_DIR */
    bool checked; /* it is one file, with checksums; fetch.c does all but `download` */

    /* Fills in s->path and what else is known without looking. */
    int (*prepare)(struct bz_fetch *f, struct bz_source *s, struct bz_err *err);

    /* Makes s->revision the commit that s->question asks for; NULL if there is never a
     * question. */
    int (*resolve)(struct bz_fetch *f, struct bz_source *s, struct bz_err *err);

    /* If checked: writes what is at `from` to the file, whose first bytes may be there
     * already (resume). Otherwise: makes s->path what it should be from there, under
     * the lock; `from` is the entry itself or a mirror. */
    int (*download)(struct bz_fetch *f, struct bz_source *s, const struct bz_uri *from,
                    int fd, struct bz_err *err);

    /* If not checked: 1 if s->path is as it should be, 0 if not. */
    int (*present)(struct bz_fetch *f, struct bz_source *s, struct bz_err *err);

    /* NULL: as a file or an archive. */
    int (*unpack)(struct bz_fetch *f, struct bz_source *s, const char *dir,
                  struct bz_err *err);
};

extern const struct bz_scheme bz_fetch_file, bz_fetch_http, bz_fetch_http_secure,
    bz_fetch_http_ftp, bz_fetch_git, bz_fetch_gitsm, bz_fetch_apt, bz_fetch_npm;

/* The client's connections. */
struct bz_http *bz_fetch_connections(const struct bz_fetch *f);

/* The bits that what is unpacked has not; never 0 (BZ_ARCHIVE_MASKED). */
mode_t bz_fetch_umask(const struct bz_fetch *f);

/* Locks a file, and waits for that until it is canceled; says so. Closing *lock gives
 * it up. */
int bz_fetch_lock(const struct bz_fetch *f, const char *path, int *lock,
                  struct bz_err *err) BZ_MUST_CHECK;

/* Downloads an address of http or https into a file. With `resume` it goes on after the
 * bytes that the file has. BZ_E_NOENT if it is not there. */
int bz_fetch_http_to(struct bz_fetch *f, const char *url, const char *shown, int fd,
                     bool resume, struct bz_err *err) BZ_MUST_CHECK;

/* Opens the file of a source and makes sure of its bytes, which stay what they are:
 * somebody else may have given its name to others since it was fetched. */
int bz_fetch_verified(struct bz_fetch *f, struct bz_source *s, int *fd,
                      struct bz_err *err) BZ_MUST_CHECK;

/* The name of the entry's parent for results below DL_DIR: "DL_DIR/name". */
const char *bz_fetch_below(struct bz_fetch *f, struct bz_str dir, struct bz_str name);

#endif
