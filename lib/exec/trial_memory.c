#include "exec/trial_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "codec/digest.h"
#include "os/fs.h"
#include "os/path.h"

/* Changes when sandboxes need something else of the machine. */
#define FORMAT "trial memory 1\n"
#define READ_MAX ((size_t)1 << 16)

enum { TAG_FORMAT = 1, TAG_USER, TAG_FILE, TAG_LINK, TAG_LINE, TAG_STORE, TAG_DEVICE };

static void add_file(struct bz_digest_hasher *h, const char *path)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_err ignored;
    size_t n = 0;

    if (bz_fs_read(AT_FDCWD, path, READ_MAX, &text, &n, &ignored) < 0)
        n = 0; /* not every kernel has it */
    bz_digest_add_field(h, TAG_FILE, text, n);
}

static void add_link(struct bz_digest_hasher *h, const char *path)
{
    char target[64];
    ssize_t n = readlink(path, target, sizeof(target));

    bz_digest_add_field(h, TAG_LINK, target, n < 0 ? 0 : (size_t)n);
}

/* The rights of the process. */
static void add_status(struct bz_digest_hasher *h)
{
    static const char *const wanted[] = {
        "Uid:",    "CapPrm:",     "CapEff:",  "CapBnd:",
        "CapAmb:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"};
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_str rest = {0}, line;
    struct bz_err ignored;
    size_t n = 0;

    if (bz_fs_read(AT_FDCWD, "/proc/self/status", READ_MAX, &text, &n, &ignored) == 0)
        rest = bz_str_of(text, n);
    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line))
        for (size_t i = 0; i < BZ_COUNTOF(wanted); i++)
            if (bz_str_starts(line, bz_str_from(wanted[i])))
                bz_digest_add_field(h, TAG_LINE, line.p, line.n);
}

/* The store, or what exists of the way there. */
static void add_store(struct bz_digest_hasher *h, const char *store)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_str dir = bz_str_from(store);
    struct stat st;

    bz_digest_add_field(h, TAG_STORE, dir.p, dir.n);
    while (dir.n > 1 && stat(bz_arena_dup(&a, dir).p, &st) < 0)
        dir = bz_path_dirname(dir);
    if (dir.n > 1)
        bz_digest_add_field(h, TAG_DEVICE, &st.st_dev, sizeof(st.st_dev));
}

/* False if they cannot be told apart from those after another start of the machine. */
static bool find_key(const char *store, struct bz_entries_key *out)
{
    static const char *const files[] = {
        "/proc/sys/kernel/random/boot_id",
        "/proc/self/uid_map",
        "/proc/self/attr/current",
        "/proc/sys/kernel/unprivileged_userns_clone",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/user/max_mnt_namespaces",
        "/proc/sys/user/max_pid_namespaces",
        "/proc/sys/user/max_net_namespaces",
    };
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    const uid_t user = geteuid();
    struct bz_digest key;
    struct bz_err ignored;

    if (!store || !bz_fs_exists(AT_FDCWD, files[0]) ||
        bz_digest_hasher_new(&h, &ignored) < 0)
        return false;
    bz_digest_begin(h);
    bz_digest_add_field(h, TAG_FORMAT, FORMAT, sizeof(FORMAT) - 1);
    bz_digest_add_field(h, TAG_USER, &user, sizeof(user));
    for (size_t i = 0; i < BZ_COUNTOF(files); i++)
        add_file(h, files[i]);
    add_link(h, "/proc/self/ns/user");
    add_link(h, "/proc/self/ns/mnt");
    add_link(h, "/proc/self/ns/pid");
    add_status(h);
    add_store(h, store);
    bz_digest_end(h, &key);
    _Static_assert(sizeof(out->b) == sizeof(key), "a digest is a key");
    memcpy(out->b, &key, sizeof(out->b));
    return true;
}

/* An entry is one byte. */
enum { SANDBOXES = 's', BARE = 'b' };

static bool is_known(struct bz_entries *catalog, const struct bz_entries_key *key,
                     char *out)
{
    struct bz_str bytes;

    if (!bz_entries_find(catalog, BZ_TRIAL_MEMORY_KIND, key, &bytes) || bytes.n != 1 ||
        (bytes.p[0] != SANDBOXES && bytes.p[0] != BARE))
        return false;
    *out = bytes.p[0];
    return true;
}

bool bz_trial_memory_find(struct bz_entries *catalog, const char *store,
                          struct bz_ground *g)
{
    struct bz_entries_key key;
    char is;

    if (!find_key(store, &key) || !is_known(catalog, &key, &is))
        return false;
    if (is == BARE)
        bz_ground_here(g);
    else
        bz_ground_usual(g);
    return true;
}

void bz_trial_memory_keep(struct bz_entries *catalog, const char *store,
                          const struct bz_ground *g)
{
    struct bz_entries_key key;
    char is = g->bare ? BARE : SANDBOXES, was;

    if ((!g->bare && !g->tried) || !find_key(store, &key) ||
        (is_known(catalog, &key, &was) && was == is))
        return;
    bz_entries_put(catalog, BZ_TRIAL_MEMORY_KIND, &key, bz_str_of(&is, 1));
}
