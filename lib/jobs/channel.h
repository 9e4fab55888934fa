/* channel.h - memory that two processes share: requests one way, results the other.
 *
 * Two rings of bytes, each with one writer and one reader. In them are records: a head
 * and bytes. A long one is written in pieces, so that it may be longer than the ring.
 *
 * The other side may write anything anywhere at any time. So each side keeps its own
 * positions to itself and only shows them; what the other shows is read once and
 * checked; bytes are copied before anybody looks at them. A peer that lies is told as
 * BZ_E_CORRUPT, or gets nonsense for its nonsense, and nothing else happens. The memory
 * can neither shrink nor grow.
 *
 * Sleeping: a reader that finds nothing says so in `asleep` and looks again before it
 * sleeps; a writer shows what it wrote and then looks at `asleep`. All of these are
 * sequentially consistent, so at least one sees the other and no wake-up is lost.
 * Whoever takes the mark away has to wake. `full` is the same the other way round.
 *
 * A reader or writer belongs to one thread at a time.
 */
#ifndef BZ_JOBS_CHANNEL_H
#define BZ_JOBS_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Bytes of the rings; powers of two. */
#define BZ_CHANNEL_REQUESTS (1U << 18)
#define BZ_CHANNEL_RESULTS (1U << 19)
#define BZ_CHANNEL_PIECE (1U << 15) /* bytes of a record that go in at once */

enum bz_channel_kind { BZ_CHANNEL_REQUEST = 1, BZ_CHANNEL_CANCEL, BZ_CHANNEL_RESULT };
enum bz_channel_flag { BZ_CHANNEL_MORE = 1, BZ_CHANNEL_FINAL = 2, BZ_CHANNEL_DATA = 4 };

struct bz_channel_head {
    uint32_t size;  /* bytes that follow; of all pieces once they are put together */
    uint16_t kind;  /* enum bz_channel_kind, or nonsense */
    uint16_t flags; /* of enum bz_channel_flag */
    uint64_t id;
    int32_t status;
    uint32_t error; /* so many of the bytes, the last, are a message */
};

/* In the memory, for each ring. Each word has one who writes it and a line of its own,
 * but for the marks, which the other takes away. */
struct bz_channel_words {
    BZ_PADDED atomic_uint tail;   /* bytes that were ever written */
    BZ_PADDED atomic_uint head;   /* bytes that were ever read */
    BZ_PADDED atomic_uint asleep; /* the reader wants to be woken */
    BZ_PADDED atomic_uint full;   /* the writer wants to be told of room */
};

struct bz_channel {
    struct bz_channel_face *face; /* the memory; NULL: none */
};

struct bz_channel_reader {
    struct bz_channel_words *words;
    const char *bytes;
    uint32_t size, head;
    size_t limit;        /* bytes of a record */
    struct bz_buf whole; /* the record at hand */
    bool partial;        /* of which only the first pieces have come */
};

struct bz_channel_writer {
    struct bz_channel_words *words;
    char *bytes;
    uint32_t size, tail;
    uint32_t head; /* when last seen: the reader may be further */
};

/* New memory, and a descriptor of it to be passed on and closed. */
int bz_channel_new(struct bz_channel *c, int *fd, struct bz_err *err) BZ_MUST_CHECK;
/* That of another process. BZ_E_CORRUPT if it is something else, or could shrink. */
int bz_channel_map(struct bz_channel *c, int fd, struct bz_err *err) BZ_MUST_CHECK;
void bz_channel_release(struct bz_channel *c);

void bz_channel_read_requests(const struct bz_channel *c, struct bz_channel_reader *r);
void bz_channel_read_results(const struct bz_channel *c, struct bz_channel_reader *r);
void bz_channel_write_requests(const struct bz_channel *c, struct bz_channel_writer *w);
void bz_channel_write_results(const struct bz_channel *c, struct bz_channel_writer *w);
void bz_channel_reader_release(struct bz_channel_reader *r);

/* The next record: 1, and its bytes are in r->whole until the next call; 0 if there is
 * no whole one. Sets *wake if the writer waits for room. */
int bz_channel_take(struct bz_channel_reader *r, struct bz_channel_head *head,
                    bool *wake, struct bz_err *err) BZ_MUST_CHECK;

/* Says that the reader sleeps. True if there is nothing to read. */
bool bz_channel_quiet(struct bz_channel_reader *r);
/* Sleeps until there is more than was `seen` (r->head, when nothing was there), or the
 * deadline comes, or for no reason. Any thread. */
void bz_channel_sleep(struct bz_channel_words *words, uint32_t seen, int64_t deadline);
/* Wakes a reader that sleeps so. */
void bz_channel_wake(struct bz_channel_words *words);

/* Writes a record from byte *sent on, which is 0 at first, as far as there is room: 1
 * if all is written, else 0. The bytes are `data`, then `error`. A record of one piece
 * is written whole or not at all. Sets *wake if the reader sleeps. */
int bz_channel_put(struct bz_channel_writer *w, const struct bz_channel_head *head,
                   const struct bz_str bytes[2], size_t *sent, bool *wake,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Says that the writer waits. True if there still is no room for a piece. */
bool bz_channel_is_full(struct bz_channel_writer *w);
/* Sleeps until there is room, or the deadline comes, or for no reason; and wakes a
 * writer that sleeps so. */
void bz_channel_await(struct bz_channel_writer *w, int64_t deadline);
void bz_channel_tell(struct bz_channel_words *words);

#endif
