#include "jobs/link.h"

#include "base/mem.h"

enum {
    TURN = 64,   /* requests that are read before others have theirs */
    LINGER = 16, /* times that nothing was found before the client has to ring */
    SOON = 1,    /* and before it is thought to have nothing more to ask for */
    UNTOLD = 64  /* results before a client that sleeps is woken in any case */
};

struct bz_link {
    struct bz_client *client;
    struct bz_channel channel;
    struct bz_channel_reader requests;
    struct bz_channel_head head; /* of a request that waits */
    bool waits;
    unsigned idle; /* times in a row that nothing was found */

    struct bz_sync_mutex mutex; /* for all that follows */
    struct bz_channel_writer results;
    struct bz_result *first, **last;
    size_t sent; /* bytes of the first */
    bool broken;
    bool wake;                /* the client sleeps and is to be woken, */
    unsigned untold;          /* for so many results */
    unsigned delivered, seen; /* results in all, and when the loop last looked */
    bool watched;             /* the loop looks at this without being told */
};

int bz_link_new(struct bz_client *client, struct bz_link **out, int *fd,
                struct bz_err *err)
{
    struct bz_link *l = bz_mem_zalloc(sizeof(*l));
    int rc = bz_channel_new(&l->channel, fd, err);

    if (rc < 0) {
        free(l);
        return rc;
    }
    l->client = client;
    bz_channel_read_requests(&l->channel, &l->requests);
    bz_sync_lock(&l->mutex);
    bz_channel_write_results(&l->channel, &l->results);
    l->last = &l->first;
    bz_sync_unlock(&l->mutex);
    *out = l;
    return 0;
}

void bz_link_free(struct bz_link *l)
{
    if (!l)
        return;
    bz_sync_lock(&l->mutex);
    while (l->first) {
        struct bz_result *next = l->first->next;

        free(l->first);
        l->first = next;
    }
    bz_sync_unlock(&l->mutex);
    bz_channel_reader_release(&l->requests);
    bz_channel_release(&l->channel);
    free(l);
}

/* True if all of it is written. */
static bool write_result(struct bz_link *l, const struct bz_result *r, bool *wake)
    BZ_REQUIRES(l->mutex)
{
    struct bz_str bytes[2] = {bz_str_of(r->data, r->data ? r->size : 0),
                              r->status < 0 ? bz_str_from(r->error) : BZ_STR("")};
    struct bz_channel_head head = {
        .kind = BZ_CHANNEL_RESULT,
        .flags = (uint16_t)((r->final ? BZ_CHANNEL_FINAL : 0) |
                            (r->data ? BZ_CHANNEL_DATA : 0)),
        .id = r->id,
        .status = r->status,
        .error = (uint32_t)bytes[1].n,
    };
    struct bz_err err;
    int rc = bz_channel_put(&l->results, &head, bytes, &l->sent, wake, &err);

    l->broken |= rc < 0;
    return rc > 0;
}

static void wake_client(struct bz_link *l, bool wake)
{
    struct bz_channel_reader results;

    if (!wake)
        return;
    bz_channel_read_results(&l->channel, &results);
    bz_channel_wake(results.words);
}

void bz_link_nudge(struct bz_link *l)
{
    wake_client(l, true);
}

bool bz_link_deliver(struct bz_link *l, struct bz_result *r)
{
    bool wake = false, written = false, told, tell;

    bz_sync_lock(&l->mutex);
    told = l->first;
    if (!told)
        written = write_result(l, r, &wake);
    l->wake |= wake;
    l->untold += l->wake;
    l->delivered++;
    if (written) {
        l->sent = 0;
    } else {
        *l->last = r;
        l->last = &r->next;
    }
    tell = !l->watched && (wake || (!written && !told));
    bz_sync_unlock(&l->mutex);
    if (written) {
        bz_client_taken(l->client, r);
        free(r);
    }
    return tell;
}

/* A client that sleeps is woken when there is a good deal for it, or nothing more to
 * be expected soon: it would sleep again after each. */
static bool is_time_to_wake(struct bz_link *l, bool last) BZ_REQUIRES(l->mutex)
{
    bool now = l->wake && (last || l->untold >= UNTOLD || l->first ||
                           (l->idle > SOON && bz_client_tasks(l->client) == 0));

    if (now) {
        l->wake = false;
        l->untold = 0;
    }
    return now;
}

/* What waits, as far as there is room. False if some of it still has to. */
static bool flush(struct bz_link *l, bool *broken)
{
    struct bz_result *done = NULL, **end = &done, *next;
    bool wake = false, all;

    bz_sync_lock(&l->mutex);
    do {
        while (l->first && write_result(l, l->first, &wake)) {
            l->sent = 0;
            *end = l->first;
            end = &l->first->next;
            l->first = l->first->next;
        }
        all = !l->first;
    } while (!all && !l->broken && !bz_channel_is_full(&l->results));
    if (all)
        l->last = &l->first;
    *end = NULL;
    *broken = l->broken;
    if (l->seen != l->delivered)
        l->idle = 0; /* more will come soon */
    l->seen = l->delivered;
    wake |= is_time_to_wake(l, false);
    l->watched = all;
    bz_sync_unlock(&l->mutex);
    wake_client(l, wake);
    for (; done; done = next) {
        next = done->next;
        bz_client_taken(l->client, done);
        free(done);
    }
    return all;
}

/* From now on results that want something have to say so. */
static void look_away(struct bz_link *l)
{
    bool wake;

    bz_sync_lock(&l->mutex);
    wake = is_time_to_wake(l, true);
    l->watched = false;
    bz_sync_unlock(&l->mutex);
    wake_client(l, wake);
}

/* Wrong ones are the client's library's fault: it has checked them. */
static void refuse(struct bz_link *l, uint64_t id, const char *why)
{
    struct bz_result *r = bz_task_failure(id, BZ_TASK_INVALID_JSON, why);
    bool wake = false;

    bz_sync_lock(&l->mutex);
    /* One that finds no room is no loss to anybody else. */
    if (!l->first && write_result(l, r, &wake))
        l->sent = 0;
    bz_sync_unlock(&l->mutex);
    wake_client(l, wake);
    free(r);
}

/* The request at hand. False if it has to wait. */
static bool submit(struct bz_link *l)
{
    struct bz_client_extra extra = {.id = l->head.id};
    struct bz_err err;
    uint64_t id;
    int rc =
        bz_client_submit(l->client, bz_buf_str(&l->requests.whole), &extra, &id, &err);

    if (rc < 0 && rc != BZ_E_BUSY)
        refuse(l, l->head.id, err.msg);
    return rc != BZ_E_BUSY;
}

static enum bz_link_state read_requests(struct bz_link *l, unsigned *handled)
{
    bool wake = false;
    int rc = 1;

    for (int i = 0; i < TURN; i++) {
        struct bz_err err;

        if (!l->waits)
            rc = bz_channel_take(&l->requests, &l->head, &wake, &err);
        if (rc <= 0)
            break;
        l->idle = 0;
        ++*handled;
        if (l->head.id != 0 && l->head.kind == BZ_CHANNEL_CANCEL)
            bz_client_cancel(l->client, l->head.id);
        else if (l->head.id != 0 && l->head.kind == BZ_CHANNEL_REQUEST)
            l->waits = !submit(l);
        else
            rc = -1;
        if (rc < 0 || l->waits)
            break;
    }
    if (wake)
        bz_channel_tell(l->requests.words);
    if (rc < 0)
        return BZ_LINK_BROKEN;
    if (l->waits) {
        look_away(l);
        return BZ_LINK_PAUSED;
    }
    if (rc > 0 || ++l->idle < LINGER || !bz_channel_quiet(&l->requests))
        return BZ_LINK_AWAKE;
    look_away(l);
    return BZ_LINK_QUIET;
}

enum bz_link_state bz_link_pump(struct bz_link *l, unsigned *handled)
{
    bool broken, all;

    if (l->idle >= LINGER)
        l->idle = 0; /* it was quiet, and somebody rang */
    all = flush(l, &broken);

    if (broken)
        return BZ_LINK_BROKEN;
    if (!all)
        return BZ_LINK_QUIET;
    return read_requests(l, handled);
}
