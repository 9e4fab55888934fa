/* libcurl.h - libcurl, loaded when it is needed first.
 *
 * Linked the usual way it brings some thirty libraries along, and each start of the
 * program would take several milliseconds longer, though few commands use the network.
 * Therefore it is opened at run time, and called through this table by http.c alone.
 */
#ifndef BZ_NET_LIBCURL_H
#define BZ_NET_LIBCURL_H

#include <curl/curl.h>

#include "base/err.h"

struct bz_libcurl {
    CURLcode (*global_init)(long flags);
    void (*global_cleanup)(void);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *easy);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    const char *(*easy_strerror)(CURLcode code);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_perform)(CURLM *multi, int *running);
    CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd extra[], unsigned nextra,
                            int timeout_ms, int *ready);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *line);
    void (*slist_free_all)(struct curl_slist *list);
};

/* Fills the table. The library stays loaded until the program ends. BZ_E_NOSUP if it is
 * not installed or too old. Any thread. */
int bz_libcurl_load(struct bz_libcurl *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
