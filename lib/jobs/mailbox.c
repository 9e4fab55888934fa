#include "jobs/mailbox.h"

#include "base/mem.h"

#define SHORT 256 /* bytes of a short request, with what belongs to it */
#define LARGEST ((size_t)16 << 20) /* bytes of a mailbox */
#define LINE ((size_t)64)
/* Instead of a size: what follows is at the beginning of the ring. */
#define SKIP UINT32_MAX

static size_t size_of(size_t text)
{
    return (sizeof(struct bz_mail) + text + 7) & ~(size_t)7;
}

static void open_box(struct bz_mailbox *box, size_t capacity)
{
    size_t size = 4096;

    while (size < capacity * SHORT && size < LARGEST)
        size *= 2;
    box->bytes = bz_mem_array(size, 1);
    box->mask = size - 1;
    box->capacity = capacity;
}

void bz_mailbox_init(struct bz_mailboxes *m, unsigned n, size_t capacity)
{
    m->n = n < BZ_MAILBOX_MAX ? n : BZ_MAILBOX_MAX;
    m->boxes = bz_mem_padded(m->n * sizeof(*m->boxes));
    for (unsigned i = 0; i < m->n; i++)
        open_box(&m->boxes[i], capacity);
    atomic_init(&m->nupdaters, 1);
    atomic_init(&m->most, 1);
}

void bz_mailbox_release(struct bz_mailboxes *m)
{
    for (unsigned i = 0; i < m->n; i++)
        free(m->boxes[i].bytes);
    free(m->boxes);
}

/* What readers have made room for is asked only when it seems to be too little: asking
 * takes the line away from them. */
static bool has_room(struct bz_mailbox *box, size_t end, size_t put)
    BZ_REQUIRES(box->mutex)
{
    if (end - box->known_head <= box->mask + 1 && put - box->known_got < box->capacity)
        return true;
    /* acquire: what was read may be overwritten */
    box->known_got = atomic_load_explicit(&box->got, memory_order_relaxed);
    box->known_head = atomic_load_explicit(&box->head, memory_order_acquire);
    return end - box->known_head <= box->mask + 1 &&
           put - box->known_got < box->capacity;
}

static bool put_into(struct bz_mailbox *box, const struct bz_mail *mail,
                     struct bz_str text) BZ_REQUIRES(box->mutex)
{
    static const uint32_t skip = SKIP;
    size_t tail = atomic_load_explicit(&box->tail, memory_order_relaxed);
    size_t put = atomic_load_explicit(&box->put, memory_order_relaxed);
    size_t n = size_of(text.n), left = box->mask + 1 - (tail & box->mask);
    size_t begin = left < n ? tail + left : tail;
    unsigned char *p = box->bytes + (begin & box->mask);

    if (!has_room(box, begin + n, put))
        return false;
    /* Where the requests after this will be: readers had it last. */
    for (size_t ahead = 8 * LINE; ahead < 11 * LINE; ahead += LINE)
        __builtin_prefetch(box->bytes + ((begin + ahead) & box->mask), 1);
    if (begin != tail && left >= sizeof(*mail))
        memcpy(box->bytes + (tail & box->mask) + offsetof(struct bz_mail, size), &skip,
               sizeof(skip));
    memcpy(p, mail, sizeof(*mail));
    if (text.n > 0)
        memcpy(p + sizeof(*mail), text.p, text.n);
    atomic_store_explicit(&box->put, put + 1, memory_order_relaxed);
    /* Before whoever put it in looks whether somebody is there: see gang.h. */
    atomic_store(&box->tail, begin + n);
    return true;
}

bool bz_mailbox_put(struct bz_mailboxes *m, uint64_t number, struct bz_mail *mail,
                    struct bz_str text)
{
    bool done = false;

    mail->size = (uint32_t)text.n;
    for (unsigned i = 0; i < m->n && !done; i++) {
        struct bz_mailbox *box = &m->boxes[(number + i) % m->n];

        bz_sync_lock(&box->mutex);
        done = put_into(box, mail, text);
        bz_sync_unlock(&box->mutex);
    }
    return done;
}

static void add_updater(struct bz_mailboxes *m, unsigned n)
{
    unsigned most = atomic_load_explicit(&m->most, memory_order_relaxed);

    if (n < m->n && atomic_compare_exchange_strong(&m->nupdaters, &n, n + 1))
        while (most < n + 1 && !atomic_compare_exchange_weak(&m->most, &most, n + 1))
            ;
}

/* The record at `head`, or after the end of the ring. */
static size_t skip_end(const struct bz_mailbox *box, size_t head, struct bz_mail *mail)
{
    size_t left = box->mask + 1 - (head & box->mask);

    if (left >= sizeof(*mail)) {
        memcpy(mail, box->bytes + (head & box->mask), sizeof(*mail));
        if (mail->size != SKIP)
            return head;
    }
    memcpy(mail, box->bytes, sizeof(*mail));
    return head + left;
}

static size_t read_some(struct bz_mailbox *box, unsigned number, bz_mailbox_fn fn,
                        void *ctx, bool *left)
{
    size_t head = atomic_load_explicit(&box->head, memory_order_relaxed);
    size_t tail = atomic_load(&box->tail), n = 0;

    for (; head != tail && n < BZ_MAILBOX_BATCH; n++) {
        struct bz_mail mail;
        const unsigned char *p;

        head = skip_end(box, head, &mail);
        p = box->bytes + (head & box->mask);
        for (size_t ahead = 4 * LINE; ahead < 7 * LINE; ahead += LINE)
            __builtin_prefetch(box->bytes + ((head + ahead) & box->mask));
        fn(ctx, number, &mail, bz_str_of((const char *)p + sizeof(mail), mail.size));
        head += size_of(mail.size);
    }
    *left |= head != tail;
    if (n > 0) {
        size_t got = atomic_load_explicit(&box->got, memory_order_relaxed) + n;

        atomic_store_explicit(&box->got, got, memory_order_relaxed);
        atomic_store_explicit(&box->head, head, memory_order_release);
    }
    return n;
}

static bool is_empty(const struct bz_mailbox *box)
{
    return atomic_load(&box->tail) ==
           atomic_load_explicit(&box->head, memory_order_relaxed);
}

/* Empties the domain of updater `u` of `n`, within bounds. */
static size_t empty(struct bz_mailboxes *m, unsigned u, unsigned n, bz_mailbox_fn fn,
                    void *ctx)
{
    bool left = false, all = true;
    size_t total = 0;

    for (unsigned b = u; b < m->n; b += n) {
        struct bz_mailbox *box = &m->boxes[b];

        if (is_empty(box))
            continue;
        if (atomic_exchange_explicit(&box->taken, true, memory_order_acquire)) {
            all = false;
            continue;
        }
        total += read_some(box, b, fn, ctx, &left);
        atomic_store_explicit(&box->taken, false, memory_order_release);
    }
    if (left)
        add_updater(m, n);
    else if (total == 0 && all && u > 0 && u == n - 1)
        atomic_compare_exchange_strong(&m->nupdaters, &n, n - 1);
    return total;
}

size_t bz_mailbox_update(struct bz_mailboxes *m, unsigned number, bz_mailbox_fn fn,
                         void *ctx)
{
    unsigned n = atomic_load_explicit(&m->nupdaters, memory_order_relaxed);
    size_t total = 0;

    for (unsigned i = 0; i < n && total == 0; i++)
        total = empty(m, (number + i) % n, n, fn, ctx);
    /* They all found none, and maybe nobody looks again for long. */
    if (total == 0 && n > 1 && bz_mailbox_count(m) == 0)
        atomic_store_explicit(&m->nupdaters, 1, memory_order_relaxed);
    return total;
}

bool bz_mailbox_waits(const struct bz_mailboxes *m)
{
    for (unsigned i = 0; i < m->n; i++)
        if (!is_empty(&m->boxes[i]) && !atomic_load(&m->boxes[i].taken))
            return true;
    return false;
}

size_t bz_mailbox_count(const struct bz_mailboxes *m)
{
    size_t n = 0;

    for (unsigned i = 0; i < m->n; i++) {
        const struct bz_mailbox *box = &m->boxes[i];
        size_t got = atomic_load(&box->got), put = atomic_load(&box->put);

        n += put > got ? put - got : 0;
    }
    return n;
}
