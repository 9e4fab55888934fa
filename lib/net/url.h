/* url.h - addresses as text: taken apart, joined, and shown without their secrets.
 *
 * What is accepted is `scheme://[user[:password]@]host[:port][/path][?query]` in
 * printable ASCII, as RFC 3986 wants it written; a fragment is dropped. Anything else
 * has to be percent-encoded by whoever wrote it. That is stricter than what browsers
 * take, so that no two programs on the way read one address differently.
 *
 * Slices point into the text that was parsed. Pure functions; any thread.
 */
#ifndef BZ_NET_URL_H
#define BZ_NET_URL_H

#include "base/buf.h"

#define BZ_URL_MAX 4096 /* bytes of a whole address */

struct bz_url {
    struct bz_str scheme; /* as written, of any case */
    struct bz_str user;   /* still encoded; p is NULL if there is none */
    struct bz_str password;
    struct bz_str host;  /* with its brackets if it is an IPv6 address */
    uint16_t port;       /* as written, else the scheme's; 0 if that is not known */
    struct bz_str path;  /* "" or beginning with '/' */
    struct bz_str query; /* without its '?'; p is NULL if there is none */
};

/* BZ_E_INVAL if the text is no such address, BZ_E_LIMIT if it is too long. The message
 * shows none of it. */
int bz_url_parse(struct bz_str text, struct bz_url *out,
                 struct bz_err *err) BZ_MUST_CHECK;

bool bz_url_is(const struct bz_url *u, struct bz_str scheme); /* given in lower case */

/* Whether both lead to the same server: scheme, host and port. */
bool bz_url_same_origin(const struct bz_url *a, const struct bz_url *b);

/* Where a reference found at `base` leads: a whole address, or one without scheme, host
 * or path. `out` gets the text, never with the user and password of `base`. Errors as
 * above. */
int bz_url_join(const struct bz_url *base, struct bz_str ref, struct bz_buf *out,
                struct bz_err *err) BZ_MUST_CHECK;

/* Appends scheme, host, port, path and query: all but the user and the password. */
void bz_url_add(const struct bz_url *u, struct bz_buf *out);

/* Appends what %XX stands for. BZ_E_INVAL if one is no such thing, or a NUL. */
int bz_url_decode(struct bz_str s, struct bz_buf *out,
                  struct bz_err *err) BZ_MUST_CHECK;

/* Appends a text that may be an address, for showing: the user and password, and what
 * follows a '?', are replaced by "***". It is also for what cannot be parsed, of which
 * rather too much is cut than too little. */
void bz_url_redact(struct bz_str text, struct bz_buf *out);

#endif
