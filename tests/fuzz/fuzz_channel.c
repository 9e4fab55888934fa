#include "tests/fuzz/fuzz.h"

#include <unistd.h>

#include "base/mem.h"
#include "jobs/channel.h"
#include "jobs/request.h"

/* The bytes are what a hostile peer does to the shared memory, one thing after the
 * other, and when the honest side looks at it or writes. */
struct script {
    const uint8_t *p;
    size_t n;
};

enum { STEPS = 4096, ENDS = 2, LIMIT = 1 << 17 };

/* The honest side of both rings, and the hostile one. */
struct sides {
    struct bz_channel channel;
    struct bz_channel_reader read[ENDS];
    struct bz_channel_writer write[ENDS]; /* also to see where the rings are */
    bool broken[ENDS][2];                 /* by then nobody would go on */
};

static uint32_t next(struct script *s, size_t bytes)
{
    uint32_t u = 0;

    for (; bytes > 0 && s->n > 0; bytes--, s->n--)
        u = u << 8 | *s->p++;
    return u;
}

static void lie(struct script *s, struct sides *d, unsigned ring)
{
    struct bz_channel_words *words = d->write[ring].words;
    atomic_uint *const at[] = {&words->tail, &words->head, &words->asleep,
                               &words->full};
    atomic_uint *word = at[next(s, 1) % BZ_COUNTOF(at)];

    switch (next(s, 1) % 4) {
    case 0:
        atomic_store(word, next(s, 4));
        break;
    case 1:
        atomic_fetch_add(word, next(s, 1) * 8);
        break;
    case 2:
        atomic_store(word, d->read[ring].head + next(s, 2));
        break;
    default:
        atomic_store(word, d->write[ring].tail - next(s, 2));
        break;
    }
}

/* A head with anything in it, where the reader reads next, and perhaps the tail after
 * it. */
static void forge(struct script *s, struct sides *d, unsigned ring)
{
    struct bz_channel_writer *w = &d->write[ring];
    uint32_t at = d->read[ring].head;
    uint64_t word =
        next(s, 2) | (uint64_t)next(s, 2) << 32 | (uint64_t)next(s, 1) << 48;
    uint32_t step = 24 + ((uint32_t)word + 7) / 8 * 8;

    if (next(s, 1) % 8 == 0)
        word |= (uint64_t)next(s, 2) << 16;
    memcpy(w->bytes + (at & (w->size - 1)), &word, sizeof(word));
    word = next(s, 4) | (uint64_t)next(s, 4) << 32;
    memcpy(w->bytes + ((at + 8) & (w->size - 1)), &word, sizeof(word));
    atomic_store(&w->words->tail, at + step * (1 + next(s, 1) % 4));
}

static void scribble(struct script *s, struct sides *d, unsigned ring)
{
    struct bz_channel_writer *w = &d->write[ring];
    uint32_t at = next(s, 3);

    for (uint32_t n = next(s, 1); n > 0; n--)
        w->bytes[at++ & (w->size - 1)] = (char)next(s, 1);
}

static void look(struct sides *d, unsigned ring)
{
    struct bz_channel_reader *r = &d->read[ring];
    uint32_t before = r->head;
    struct bz_channel_head head;
    struct bz_err err;
    bool wake = false;
    int rc;

    if (d->broken[ring][0])
        return;
    rc = bz_channel_take(r, &head, &wake, &err);
    BZ_ASSERT(r->whole.len <= r->limit);
    BZ_ASSERT(r->head % 8 == 0 && r->head - before <= r->size);
    BZ_ASSERT(rc <= 0 || head.size == r->whole.len);
    BZ_ASSERT(rc >= 0 || rc == BZ_E_CORRUPT || rc == BZ_E_LIMIT);
    d->broken[ring][0] = rc < 0;
    if (rc == 0)
        bz_channel_quiet(r);
}

static void answer(struct script *s, struct sides *d, unsigned ring)
{
    static const char text[LIMIT];
    struct bz_channel_writer *w = &d->write[ring];
    struct bz_channel_head head = {.kind = BZ_CHANNEL_RESULT, .id = next(s, 1)};
    const struct bz_str bytes[2] = {bz_str_of(text, next(s, 3) % LIMIT),
                                    bz_str_of(text, next(s, 1))};
    uint32_t before = w->tail;
    struct bz_err err;
    bool wake = false;
    size_t sent = 0;
    int rc;

    if (d->broken[ring][1])
        return;
    rc = bz_channel_put(w, &head, bytes, &sent, &wake, &err);
    BZ_ASSERT(sent <= bytes[0].n + bytes[1].n);
    BZ_ASSERT(rc <= 0 || sent == bytes[0].n + bytes[1].n);
    BZ_ASSERT(w->tail % 8 == 0 && w->tail - before <= w->size);
    BZ_ASSERT(w->tail - w->head <= w->size);
    BZ_ASSERT(rc >= 0 || rc == BZ_E_CORRUPT);
    d->broken[ring][1] = rc < 0;
    bz_channel_is_full(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script s = {data, size};
    struct sides d = {0};
    struct bz_err err;
    int fd, rc = bz_channel_new(&d.channel, &fd, &err);

    BZ_ASSERT(rc == 0);
    close(fd);
    bz_channel_read_requests(&d.channel, &d.read[0]);
    bz_channel_write_requests(&d.channel, &d.write[0]);
    bz_channel_read_results(&d.channel, &d.read[1]);
    bz_channel_write_results(&d.channel, &d.write[1]);
    d.read[0].limit = d.read[1].limit = LIMIT;
    for (int i = 0; i < STEPS && s.n > 0; i++) {
        uint32_t what = next(&s, 1);
        unsigned ring = what & 1;

        switch (what >> 1 & 7) {
        case 0:
            lie(&s, &d, ring);
            break;
        case 1:
        case 2:
            forge(&s, &d, ring);
            break;
        case 3:
            scribble(&s, &d, ring);
            break;
        case 4:
            answer(&s, &d, ring);
            break;
        default:
            look(&d, ring);
            break;
        }
    }
    bz_channel_reader_release(&d.read[0]);
    bz_channel_reader_release(&d.read[1]);
    bz_channel_release(&d.channel);
    return 0;
}
