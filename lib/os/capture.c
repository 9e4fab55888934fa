#include "os/capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define FIRST_CAP ((size_t)1024)

static size_t ring_size(const struct bz_capture *c)
{
    return c->limit / 2;
}

/* Makes *p at least `need` bytes, growing by doubling and never beyond `most`. */
static void reserve(char **p, size_t *cap, size_t need, size_t most)
{
    size_t want = *cap ? *cap : FIRST_CAP;

    if (need <= *cap)
        return;
    while (want < need)
        want *= 2;
    *cap = want < most ? want : most;
    *p = bz_mem_resize(*p, *cap, 1);
}

static size_t add_head(struct bz_capture *c, const char *p, size_t n)
{
    size_t most = c->limit - ring_size(c), room = most - c->head_n;

    if (n > room)
        n = room;
    if (!n)
        return 0;
    reserve(&c->head, &c->head_cap, c->head_n + n, most);
    memcpy(c->head + c->head_n, p, n);
    c->head_n += n;
    return n;
}

static void add_ring(struct bz_capture *c, const char *p, size_t n)
{
    size_t size = ring_size(c), at, first;

    if (n > size) { /* only the last bytes of it can stay */
        c->after_n += n - size;
        p += n - size;
        n = size;
    }
    if (!n)
        return;
    /* The ring wraps only once it has its full size, so growing keeps every byte at
     * its place. */
    if (c->ring_cap < size)
        reserve(&c->ring, &c->ring_cap,
                c->after_n + n < size ? (size_t)c->after_n + n : size, size);
    at = (size_t)(c->after_n % size);
    first = n < size - at ? n : size - at;
    memcpy(c->ring + at, p, first);
    memcpy(c->ring, p + first, n - first);
    c->after_n += n;
}

void bz_capture_add(struct bz_capture *c, const void *p, size_t n)
{
    size_t used;

    if (!n)
        return;
    c->total += n;
    used = add_head(c, p, n);
    add_ring(c, (const char *)p + used, n - used);
}

uint64_t bz_capture_cut(const struct bz_capture *c)
{
    uint64_t size = ring_size(c);

    return c->after_n > size ? c->after_n - size : 0;
}

char *bz_capture_text(const struct bz_capture *c, size_t *n)
{
    uint64_t cut = bz_capture_cut(c);
    size_t tail_n = (size_t)(c->after_n - cut);
    size_t at = cut && tail_n ? (size_t)(c->after_n % ring_size(c)) : 0;
    char note[64] = "", *text;
    size_t note_n = 0, len = 0;

    if (cut)
        note_n = (size_t)snprintf(note, sizeof(note),
                                  "\n[... %" PRIu64 " bytes cut ...]\n", cut);
    text = bz_mem_alloc(c->head_n + note_n + tail_n + 1);
    if (c->head_n)
        memcpy(text, c->head, c->head_n);
    len = c->head_n;
    memcpy(text + len, note, note_n);
    len += note_n;
    if (tail_n) { /* from the oldest byte to the end of the ring, then its start */
        memcpy(text + len, c->ring + at, tail_n - at);
        memcpy(text + len + tail_n - at, c->ring, at);
    }
    len += tail_n;
    text[len] = '\0';
    *n = len;
    return text;
}

void bz_capture_release(struct bz_capture *c)
{
    free(c->head);
    free(c->ring);
    *c = (struct bz_capture){0};
}
