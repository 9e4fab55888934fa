#include "cache_view.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fs_list.h"

#define SPLIT 10 /* the column where values begin */

const char *bz_cache_view_size(uint64_t bytes, char text[BZ_CACHE_VIEW_TEXT])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double n = (double)bytes;
    size_t unit = 0;

    if (bytes < 1024) {
        snprintf(text, BZ_CACHE_VIEW_TEXT, "%u B", (unsigned)bytes);
        return text;
    }
    for (n /= 1024; n >= 1024 && unit + 1 < BZ_COUNTOF(units); n /= 1024)
        unit++;
    snprintf(text, BZ_CACHE_VIEW_TEXT, "%.*f %s", n < 10 ? 1 : 0, n, units[unit]);
    return text;
}

const char *bz_cache_view_age(int64_t ns, char text[BZ_CACHE_VIEW_TEXT])
{
    int64_t minutes = ns / BZ_CLOCK_S / 60;

    if (minutes < 1)
        snprintf(text, BZ_CACHE_VIEW_TEXT, "now");
    else if (minutes < 120)
        snprintf(text, BZ_CACHE_VIEW_TEXT, "%lld min", (long long)minutes);
    else if (minutes < 2880)
        snprintf(text, BZ_CACHE_VIEW_TEXT, "%lld h", (long long)minutes / 60);
    else
        snprintf(text, BZ_CACHE_VIEW_TEXT, "%lld d", (long long)minutes / 60 / 24);
    return text;
}

const char *bz_cache_view_span(int64_t ns, char text[BZ_CACHE_VIEW_TEXT])
{
    double s = (double)ns / (double)BZ_CLOCK_S;

    if (ns == 0)
        snprintf(text, BZ_CACHE_VIEW_TEXT, "-");
    else
        snprintf(text, BZ_CACHE_VIEW_TEXT, "%.*f s", s < 10 ? 2 : 0, s);
    return text;
}

void bz_cache_view_row(struct bz_out *out, const char *label, const char *fmt, ...)
{
    char text[4096];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    bz_out_print(out, "%-*s", SPLIT, label);
    bz_out_plain(out, text, strlen(text));
    bz_out_print(out, "\n");
}

void bz_cache_view_json_digest(struct bz_jsonw *w, const char *key,
                               const struct bz_digest *d)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(d, hex);
    bz_jsonw_cstr(bz_jsonw_key(w, key), hex);
}

void bz_cache_view_json_seconds(struct bz_jsonw *w, const char *key, int64_t ns)
{
    bz_jsonw_real(bz_jsonw_key(w, key), (double)ns / (double)BZ_CLOCK_S);
}

/* Counts the files of a shelf whose names begin so; the last one is in *out. */
static size_t match(const struct bz_shelf *s, const char *text, struct bz_digest *out)
{
    const char fan[3] = {text[0], text[1]};
    struct bz_fs_list list;
    struct bz_err err;
    size_t n = 0;

    if (s->dir < 0 || bz_fs_list_dir(s->dir, fan, &list, &err) < 0)
        return 0;
    for (size_t i = 0; i < list.n; i++)
        if (strncmp(list.names[i], text, strlen(text)) == 0 &&
            bz_digest_parse(bz_str_from(list.names[i]), out, &err) == 0)
            n++;
    bz_fs_list_release(&list);
    return n;
}

int bz_cache_view_find(struct bz_cas *cas, const char *text,
                       struct bz_cache_view_found *out, struct bz_err *err)
{
    size_t n = strlen(text), digits = strspn(text, "0123456789abcdef"), results, blobs;
    struct bz_digest blob;

    if (digits != n || n < 4 || n > BZ_DIGEST_HEX_LEN)
        return bz_fail(
            err, BZ_E_INVAL,
            "'%.80s' is no key: that is 64 of the digits 0-9 and a-f, or the "
            "first of them, at least four",
            text);
    results = match(&cas->actions, text, &out->key);
    blobs = match(&cas->blobs, text, &blob);
    out->result = results > 0;
    if (!out->result)
        out->key = blob;
    if (results + blobs > 1 && n < BZ_DIGEST_HEX_LEN)
        return bz_fail(err, BZ_E_INVAL, "'%s' stands for %zu results and %zu blobs",
                       text, results, blobs);
    if (results + blobs == 0)
        return bz_fail(err, BZ_E_NOENT, "nothing in the store begins with '%s'", text);
    return 0;
}

void bz_cache_view_begin(struct bz_cache_view_progress *p, const struct bz_cmd_env *env)
{
    *p = (struct bz_cache_view_progress){.on = isatty(STDERR_FILENO) &&
                                               !env->global.quiet,
                                         .next = bz_clock_in(500 * BZ_CLOCK_MS)};
}

static bool is_due(struct bz_cache_view_progress *p)
{
    int64_t now = bz_clock_now();

    if (!p->on || now < p->next)
        return false;
    p->next = now + 100 * BZ_CLOCK_MS;
    p->shown = true;
    return true;
}

void bz_cache_view_seen(void *progress, uint64_t files)
{
    if (is_due(progress))
        dprintf(STDERR_FILENO, "\r%llu files seen", (unsigned long long)files);
}

void bz_cache_view_bytes(void *progress, uint64_t done, uint64_t of)
{
    char a[BZ_CACHE_VIEW_TEXT], b[BZ_CACHE_VIEW_TEXT];

    if (is_due(progress))
        dprintf(STDERR_FILENO, "\r%s of %s checked\033[K", bz_cache_view_size(done, a),
                bz_cache_view_size(of, b));
}

void bz_cache_view_results(struct bz_cache_view_progress *p, size_t done, size_t of)
{
    if (is_due(p))
        dprintf(STDERR_FILENO, "\r%zu of %zu results\033[K", done, of);
}

void bz_cache_view_end(struct bz_cache_view_progress *p, struct bz_cmd_env *env)
{
    if (p->shown)
        bz_out_put(&env->log, "\r\033[K", 4);
}
