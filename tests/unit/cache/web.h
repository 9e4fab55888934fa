/* web.h - a store and a web server whose answers a test makes up. */
#ifndef BZ_TEST_CACHE_WEB_H
#define BZ_TEST_CACHE_WEB_H

#include "cache/remote.h"
#include "tests/unit/cache/store.h"
#include "tests/unit/net/server.h"

struct web {
    struct store *s;
    struct server_page pages[SERVER_PAGES];
    char text[SERVER_PAGES][2][512];
    size_t n;
    struct server server;
    char url[256];
    struct bz_remote_opts opts;
    struct bz_tier_call call;
};

static inline int web_setup(void **state)
{
    struct web *w = calloc(1, sizeof(*w));
    void *s;

    unsetenv("http_proxy");
    if (store_setup(&s) < 0)
        return -1;
    w->s = s;
    w->opts = (struct bz_remote_opts){
        .url = w->url,
        .http = {.stall = 60 * BZ_CLOCK_S, .concurrent = 4, .retries = -1}
    };
    w->call.h = w->s->h;
    *state = w;
    return 0;
}

static inline int web_teardown(void **state)
{
    struct web *w = *state;
    void *s = w->s;

    if (w->server.pid)
        server_stop(&w->server);
    free(w);
    return store_teardown(&s);
}

/* An answer to a request for something below /c. `status` is as in "200 OK". */
static inline struct server_page *web_page(struct web *w, const char *method,
                                           const char *kind, const struct bz_digest *d,
                                           const char *status, const char *body)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct server_page *p = &w->pages[w->n];
    char *request = w->text[w->n][0], *reply = w->text[w->n][1];

    bz_digest_hex(d, hex);
    snprintf(request, 512, "%s /c/%s/%s ", method, kind, hex);
    snprintf(reply, 512, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", status,
             strlen(body), strcmp(method, "HEAD") == 0 ? "" : body);
    *p = (struct server_page){.request = request, .reply = reply};
    w->n++;
    return p;
}

/* Any request of this method. */
static inline void web_any(struct web *w, const char *method, const char *status)
{
    snprintf(w->text[w->n][0], 512, "%s ", method);
    snprintf(w->text[w->n][1], 512, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status);
    w->pages[w->n] = (struct server_page){w->text[w->n][0], w->text[w->n][1], 0, 0};
    w->n++;
}

static inline void web_start(struct web *w)
{
    w->server = server_start(w->pages);
    server_url(&w->server, "/c/", w->url);
}

/* What a text is called, without storing it. */
static inline struct bz_reapi_digest web_digest(struct web *w, const char *text)
{
    struct bz_reapi_digest d = {.size = strlen(text)};

    bz_digest_bytes(w->s->h, text, strlen(text), &d.hash);
    return d;
}

#define web_test(f) cmocka_unit_test_setup_teardown(f, web_setup, web_teardown)

#endif
