#include "jobs/channel.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/request.h"
#include "os/fs.h"
#include "os/futex.h"

enum { HEAD = 24, PAGE = 4096, KEEP = 1 << 18 };
#define MAGIC 0x62747a31U
#define BYTES (PAGE + (size_t)BZ_CHANNEL_REQUESTS + BZ_CHANNEL_RESULTS)
#define RESULT_MAX ((size_t)1 << 30)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct bz_channel_face {
    uint32_t magic;
    struct bz_channel_words requests, results;
};

_Static_assert(sizeof(struct bz_channel_face) <= PAGE, "the rings come after it");

/* ---- the memory ---- */

static int map(struct bz_channel *c, int fd, struct bz_err *err)
{
    void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (p == MAP_FAILED)
        return bz_fail_sys(err, "map shared memory");
    c->face = p;
    return 0;
}

int bz_channel_new(struct bz_channel *c, int *fd, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep)
    int own = memfd_create("bitzel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int rc;

    if (own < 0 || ftruncate(own, (off_t)BYTES) < 0 ||
        fcntl(own, F_ADD_SEALS, SEALS) < 0)
        return bz_fail_sys(err, "make shared memory");
    rc = map(c, own, err);
    if (rc < 0)
        return rc;
    c->face->magic = MAGIC;
    *fd = bz_fs_detach(&own);
    return 0;
}

int bz_channel_map(struct bz_channel *c, int fd, struct bz_err *err)
{
    struct stat st;
    int rc;

    /* Memory that could shrink would be a trap: whoever touches the rest is killed. */
    if (fstat(fd, &st) < 0 || (size_t)st.st_size != BYTES ||
        (fcntl(fd, F_GET_SEALS) & SEALS) != SEALS)
        return bz_fail(err, BZ_E_CORRUPT, "this is no shared memory of a service");
    rc = map(c, fd, err);
    if (rc == 0 && c->face->magic != MAGIC) {
        bz_channel_release(c);
        return bz_fail(err, BZ_E_CORRUPT, "the service has another kind of memory");
    }
    return rc;
}

void bz_channel_release(struct bz_channel *c)
{
    if (c->face)
        munmap(c->face, BYTES);
    c->face = NULL;
}

static void reader(struct bz_channel_reader *r, struct bz_channel_words *words,
                   const char *bytes, uint32_t size, size_t limit)
{
    *r = (struct bz_channel_reader){
        .words = words, .bytes = bytes, .size = size, .limit = limit};
}

static void writer(struct bz_channel_writer *w, struct bz_channel_words *words,
                   char *bytes, uint32_t size)
{
    *w = (struct bz_channel_writer){.words = words, .bytes = bytes, .size = size};
}

static char *requests_at(const struct bz_channel *c)
{
    return (char *)c->face + PAGE;
}

static char *results_at(const struct bz_channel *c)
{
    return requests_at(c) + BZ_CHANNEL_REQUESTS;
}

void bz_channel_read_requests(const struct bz_channel *c, struct bz_channel_reader *r)
{
    reader(r, &c->face->requests, requests_at(c), BZ_CHANNEL_REQUESTS, BZ_REQUEST_MAX);
}

void bz_channel_read_results(const struct bz_channel *c, struct bz_channel_reader *r)
{
    reader(r, &c->face->results, results_at(c), BZ_CHANNEL_RESULTS, RESULT_MAX);
}

void bz_channel_write_requests(const struct bz_channel *c, struct bz_channel_writer *w)
{
    writer(w, &c->face->requests, requests_at(c), BZ_CHANNEL_REQUESTS);
}

void bz_channel_write_results(const struct bz_channel *c, struct bz_channel_writer *w)
{
    writer(w, &c->face->results, results_at(c), BZ_CHANNEL_RESULTS);
}

void bz_channel_reader_release(struct bz_channel_reader *r)
{
    bz_buf_release(&r->whole);
}

/* ---- records ---- */

/* A record begins at a multiple of 8, so that its words do not wrap. They are atomic
 * so that each is read exactly once, whatever the compiler thinks. */
static uint64_t load_word(const struct bz_channel_reader *r, uint32_t at)
{
    return atomic_load_explicit(
        (const atomic_ullong *)(r->bytes + (at & (r->size - 1))), memory_order_relaxed);
}

static void store_word(struct bz_channel_writer *w, uint32_t at, uint64_t u)
{
    atomic_store_explicit((atomic_ullong *)(w->bytes + (at & (w->size - 1))), u,
                          memory_order_relaxed);
}

static uint32_t padded(uint32_t n)
{
    return (n + 7) & ~7U;
}

static void load_head(const struct bz_channel_reader *r, struct bz_channel_head *head)
{
    uint64_t first = load_word(r, r->head), last = load_word(r, r->head + 16);

    head->size = (uint32_t)first;
    head->kind = (uint16_t)(first >> 32);
    head->flags = (uint16_t)(first >> 48);
    head->id = load_word(r, r->head + 8);
    head->status = (int32_t)(uint32_t)last;
    head->error = (uint32_t)(last >> 32);
}

static void store_head(struct bz_channel_writer *w, const struct bz_channel_head *head)
{
    store_word(w, w->tail,
               head->size | (uint64_t)head->kind << 32 | (uint64_t)head->flags << 48);
    store_word(w, w->tail + 8, head->id);
    store_word(w, w->tail + 16, (uint32_t)head->status | (uint64_t)head->error << 32);
}

/* The part of n bytes from `at` on that does not wrap. */
static uint32_t straight(uint32_t at, uint32_t n, uint32_t size)
{
    uint32_t rest = size - (at & (size - 1));

    return n < rest ? n : rest;
}

static void load_bytes(struct bz_channel_reader *r, uint32_t n)
{
    uint32_t at = r->head + HEAD, first = straight(at, n, r->size);

    bz_buf_add(&r->whole, r->bytes + (at & (r->size - 1)), first);
    bz_buf_add(&r->whole, r->bytes, n - first);
}

static void store_bytes(struct bz_channel_writer *w, uint32_t at, struct bz_str s)
{
    uint32_t first = straight(at, (uint32_t)s.n, w->size);

    if (s.n == 0)
        return;
    memcpy(w->bytes + (at & (w->size - 1)), s.p, first);
    memcpy(w->bytes, s.p + first, s.n - first);
}

/* Takes a mark of the other side away. True if it was there. */
static bool unmark(atomic_uint *mark)
{
    return atomic_load(mark) != 0 && atomic_exchange(mark, 0) != 0;
}

/* Bytes in a ring; more than there can be if the other side lies. */
static uint32_t used(uint32_t tail, uint32_t head)
{
    return tail - head;
}

/* One piece, which is added to what is there. */
static int take_piece(struct bz_channel_reader *r, struct bz_channel_head *head,
                      uint32_t there, struct bz_err *err)
{
    if (there > r->size || there < HEAD)
        return bz_fail(err, BZ_E_CORRUPT, "a position in shared memory is wrong");
    load_head(r, head);
    if (head->size > there - HEAD || padded(HEAD + head->size) > there)
        return bz_fail(err, BZ_E_CORRUPT, "a size in shared memory is wrong");
    if (!r->partial && r->whole.cap > (size_t)KEEP)
        bz_buf_release(&r->whole);
    if (!r->partial)
        bz_buf_truncate(&r->whole, 0);
    if (head->size > r->limit - r->whole.len)
        return bz_fail(err, BZ_E_LIMIT, "more than %zu bytes in pieces", r->limit);
    load_bytes(r, head->size);
    r->partial = head->flags & BZ_CHANNEL_MORE;
    return 0;
}

int bz_channel_take(struct bz_channel_reader *r, struct bz_channel_head *head,
                    bool *wake, struct bz_err *err)
{
    uint32_t there = used(atomic_load(&r->words->tail), r->head);

    while (there > 0) {
        int rc = take_piece(r, head, there, err);

        if (rc < 0)
            return rc;
        there -= padded(HEAD + head->size);
        r->head += padded(HEAD + head->size);
        atomic_store(&r->words->head, r->head);
        *wake |= unmark(&r->words->full);
        if (!r->partial) {
            head->size = (uint32_t)r->whole.len;
            return 1;
        }
    }
    return 0;
}

bool bz_channel_quiet(struct bz_channel_reader *r)
{
    atomic_store(&r->words->asleep, 1);
    return atomic_load(&r->words->tail) == r->head;
}

void bz_channel_sleep(struct bz_channel_words *words, uint32_t seen, int64_t deadline)
{
    atomic_store(&words->asleep, 1);
    if (atomic_load(&words->tail) == seen)
        bz_futex_wait_shared(&words->tail, seen, deadline);
}

void bz_channel_wake(struct bz_channel_words *words)
{
    bz_futex_wake_shared(&words->tail, INT_MAX);
}

/* Room for so many bytes? Asks the reader only if it was not known already. */
static int has_room(struct bz_channel_writer *w, uint32_t n, struct bz_err *err)
{
    uint32_t head;

    if (w->size - used(w->tail, w->head) >= n)
        return 1;
    head = atomic_load(&w->words->head);
    if (used(w->tail, head) > w->size)
        return bz_fail(err, BZ_E_CORRUPT, "a position in shared memory is wrong");
    w->head = head;
    return w->size - used(w->tail, head) >= n;
}

static struct bz_str part(struct bz_str s, size_t from, size_t n)
{
    from = from < s.n ? from : s.n;
    return bz_str_sub(s, from, n < s.n - from ? from + n : s.n);
}

/* Bytes from `from` on, n, of two strings one after the other. */
static void store_both(struct bz_channel_writer *w, const struct bz_str bytes[2],
                       size_t from, uint32_t n)
{
    uint32_t at = w->tail + HEAD;
    struct bz_str first = part(bytes[0], from, n);

    from = from > bytes[0].n ? from - bytes[0].n : 0;
    store_bytes(w, at, first);
    store_bytes(w, at + (uint32_t)first.n, part(bytes[1], from, n - first.n));
}

int bz_channel_put(struct bz_channel_writer *w, const struct bz_channel_head *head,
                   const struct bz_str bytes[2], size_t *sent, bool *wake,
                   struct bz_err *err)
{
    size_t all = bytes[0].n + bytes[1].n;

    for (;;) {
        struct bz_channel_head piece = *head;
        size_t left = all - *sent;
        int rc;

        piece.size = left > BZ_CHANNEL_PIECE ? BZ_CHANNEL_PIECE : (uint32_t)left;
        piece.flags &= (uint16_t)~BZ_CHANNEL_MORE;
        if (left > piece.size)
            piece.flags |= BZ_CHANNEL_MORE;
        rc = has_room(w, padded(HEAD + piece.size), err);
        if (rc <= 0)
            return rc;
        store_head(w, &piece);
        store_both(w, bytes, *sent, piece.size);
        w->tail += padded(HEAD + piece.size);
        atomic_store(&w->words->tail, w->tail);
        *wake |= unmark(&w->words->asleep);
        *sent += piece.size;
        if (left == piece.size)
            return 1;
    }
}

bool bz_channel_is_full(struct bz_channel_writer *w)
{
    struct bz_err ignored;

    atomic_store(&w->words->full, 1);
    return has_room(w, padded(HEAD + BZ_CHANNEL_PIECE), &ignored) == 0;
}

void bz_channel_await(struct bz_channel_writer *w, int64_t deadline)
{
    if (bz_channel_is_full(w))
        bz_futex_wait_shared(&w->words->head, w->head, deadline);
}

void bz_channel_tell(struct bz_channel_words *words)
{
    bz_futex_wake_shared(&words->head, INT_MAX);
}
