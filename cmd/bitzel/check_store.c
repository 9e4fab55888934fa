#include "check_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sync.h"
#include "codec/digest.h"
#include "os/clock.h"
#include "os/fs.h"

/* A sample is one blob of every so many parts of the store, unless it is large. */
#define SAMPLE 32
#define SAMPLE_SIZE ((off_t)1 << 20)
#define PARTS 256
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define PATIENCE (400 * BZ_CLOCK_MS)

static const char *const kinds[] = {"cas", "ac"};

/* Below the root, which the user named, no link is followed. -1 if there is none. */
static int open_kind(const char *root, const char *kind)
{
    BZ_CLEANUP(bz_fs_closep) int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return top < 0 ? -1 : openat(top, kind, OPEN_DIR);
}

int64_t bz_check_store_newest(const char *root)
{
    int64_t newest = 0;

    for (size_t k = 0; k < BZ_COUNTOF(kinds); k++) {
        BZ_CLEANUP(bz_fs_closep) int dir = open_kind(root, kinds[k]);

        for (unsigned part = 0; dir >= 0 && part < PARTS; part++) {
            char name[4];
            struct stat st;

            snprintf(name, sizeof(name), "%02x", part);
            if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                st.st_mtime > newest)
                newest = st.st_mtime;
        }
    }
    return newest;
}

struct sample {
    struct bz_digest_hasher *hasher;
    unsigned right, wrong;
    char first[BZ_DIGEST_HEX_LEN + 1]; /* that is wrong */
};

static void look_at(struct sample *s, int dir, const char *name)
{
    struct bz_digest want, got;
    struct bz_err ignored;
    uint64_t size;

    if (bz_digest_parse(bz_str_from(name), &want, &ignored) < 0 ||
        bz_digest_file(s->hasher, dir, name, &got, &size, &ignored) < 0)
        return; /* another's, or just removed */
    if (bz_digest_eq(&want, &got)) {
        s->right++;
        return;
    }
    if (s->wrong++ == 0)
        snprintf(s->first, sizeof(s->first), "%s", name);
}

/* One blob of a part of the store. */
static void take_one(struct sample *s, int blobs, unsigned part)
{
    struct dirent *e;
    struct stat st;
    char name[4];
    DIR *d;
    int fd;

    snprintf(name, sizeof(name), "%02x", part);
    fd = openat(blobs, name, OPEN_DIR);
    d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        bz_fs_closep(&fd);
        return;
    }
    while ((e = readdir(d)))
        if (e->d_name[0] != '.' &&
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && st.st_size <= SAMPLE_SIZE) {
            look_at(s, dirfd(d), e->d_name);
            break;
        }
    closedir(d);
}

/* Why the index is of no use, or NULL. */
static const char *index_fault(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    BZ_CLEANUP(bz_fs_closep) int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    char head[sizeof(magic)];
    ssize_t n;

    if (fd < 0)
        return path && errno != ENOENT ? "cannot be read" : NULL;
    n = read(fd, head, sizeof(head));
    if (n == 0)
        return NULL; /* it is being made */
    return n == (ssize_t)sizeof(head) && memcmp(head, magic, sizeof(head)) == 0
               ? NULL
               : "is damaged";
}

void bz_check_store_health(const struct bz_check_host *host, struct bz_check_row *row)
{
    struct sample s = {0};
    const char *fault = index_fault(host->index);
    BZ_CLEANUP(bz_fs_closep) int blobs = -1;
    char path[4096];
    struct bz_err err;

    snprintf(path, sizeof(path), "%s/cas", host->cache);
    if (access(path, F_OK) != 0) {
        bz_check_judge(row, BZ_CHECK_OK, NULL, "there is none yet");
        return;
    }
    if (access(path, R_OK | X_OK) != 0) {
        bz_check_judge(row, BZ_CHECK_FAIL, "give yourself the right to read it",
                       "%.99s: %s", path, strerror(errno));
        return;
    }
    if (bz_digest_hasher_new(&s.hasher, &err) < 0) {
        bz_check_judge(row, BZ_CHECK_FAIL, "install OpenSSL 3", "%.99s", err.msg);
        return;
    }
    blobs = open_kind(host->cache, "cas");
    for (unsigned part = 0; blobs >= 0 && part < PARTS; part++)
        if (s.right + s.wrong < SAMPLE)
            take_one(&s, blobs, part * 41 % PARTS); /* from all over it */
    bz_digest_hasher_free(s.hasher);
    if (s.wrong > 0)
        bz_check_judge(row, BZ_CHECK_WARN, "run 'bitzel cache verify --repair'",
                       "%u of %u blobs looked at are damaged, %.12s... is one", s.wrong,
                       s.right + s.wrong, s.first);
    else if (fault)
        bz_check_judge(row, BZ_CHECK_WARN, "run 'bitzel cache reindex'",
                       "%u blobs looked at are right; the index %s", s.right, fault);
    else
        bz_check_judge(row, BZ_CHECK_OK, NULL, "%u blobs looked at are right", s.right);
}

/* What is said about a tier that does not work. It may be said late, by a thread that
 * nobody waits for. */
struct hearing {
    struct bz_log_sink sink;
    struct bz_sync_mutex mu;
    char why[120]; /* mu; of the first */
};

static void hear(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    static const char after[] = "is left out from now on: ";
    struct hearing *h = arg;
    const char *at = strstr(line, after);

    (void)level;
    if (!at)
        return;
    at += strlen(after);
    bz_sync_lock(&h->mu);
    if (!h->why[0])
        snprintf(h->why, sizeof(h->why), "%.*s", (int)(line + n - at), at);
    bz_sync_unlock(&h->mu);
}

/* Asks all of them for something that nobody has. */
static void ask_all(struct bz_tiers *t)
{
    static const struct bz_digest nothing = {
        {0xd0, 0xc7}
    };
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_tiers_found found;
    struct bz_err ignored;

    if (bz_digest_hasher_new(&h, &ignored) == 0)
        (void)!bz_tiers_get_action(t, h, &nothing, NULL, &a, &found, &ignored);
}

void bz_check_store_tiers(const struct bz_check_host *host, struct bz_check_row *row)
{
    int64_t patience = host->patience > 0 ? host->patience : PATIENCE;
    struct bz_tiers_opts opts;
    struct hearing *h;
    const struct bz_log_sink *before;
    struct bz_tiers *t;
    struct bz_tiers_stats stats;
    char silent[80] = "";
    size_t n = 0;

    if (!host->tiers || host->tiers->n == 0) {
        bz_check_judge(row, BZ_CHECK_OK, NULL, "no shared cache is set");
        return;
    }
    opts = *host->tiers;
    if (opts.timeout == 0 || opts.timeout > patience)
        opts.timeout = patience;
    h = bz_mem_zalloc(sizeof(*h));
    h->sink = (struct bz_log_sink){hear, h};
    t = bz_tiers_new(&opts);
    before = bz_log_set_sink(&h->sink);
    ask_all(t);
    for (size_t i = 0; i < opts.n; i++) {
        bz_tiers_stats(t, i, &stats);
        n += stats.works;
        if (!stats.works && !silent[0])
            snprintf(silent, sizeof(silent), "%s", stats.name);
    }
    bz_log_set_sink(before);
    bz_sync_lock(&h->mu);
    if (n == opts.n)
        bz_check_judge(row, BZ_CHECK_OK, NULL, "%zu of %zu answer", n, opts.n);
    else
        bz_check_judge(
            row, BZ_CHECK_WARN,
            "mount or start it, or correct cache.tiers; builds go on without",
            "%zu of %zu answer: %.60s: %.80s", n, opts.n, silent,
            h->why[0] ? h->why : "no answer");
    bz_sync_unlock(&h->mu);
    if (bz_tiers_close(t))
        free(h); /* else a thread hangs that may still use it */
}
