#include "survey/inputs.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/mem.h"
#include "os/fs.h"
#include "os/path.h"

/* Reads the content there is now, with the stamp it has. */
static bool hash_file(const char *path, struct bz_hashing *hashing,
                      struct bz_stamp *stamp, uint8_t out[32])
{
    BZ_CLEANUP(bz_fs_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    BZ_CLEANUP(bz_mem_freep) char *data = NULL;
    struct bz_err err;
    size_t n = 0;

    if (fd < 0 || !bz_stamp_fd(fd, stamp) || stamp->kind != BZ_STAMP_FILE ||
        bz_fs_read_fd(fd, path, BZ_PARSE_MAX, &data, &n, &err) < 0)
        return false;
    bz_hashing_bytes(hashing, bz_str_of(data, n), out);
    return true;
}

static bool same_content(struct bz_library_look *look, struct bz_hashing *hashing)
{
    static const uint8_t none[32];
    struct bz_stamp stamp;
    uint8_t content[32];
    bool known = look->stamp.kind == BZ_STAMP_DIR
                     ? bz_library_hash_dir(look->path.p, bz_hashing_bytes, hashing,
                                           &stamp, content)
                     : hash_file(look->path.p, hashing, &stamp, content);

    if (!known || memcmp(content, none, sizeof(none)) == 0 ||
        memcmp(content, look->content, sizeof(content)) != 0)
        return false;
    look->stamp = stamp;
    return true;
}

/* The directory of the last path, opened if there is a second one in it: the kernel
 * need not look for it again then, which is most of the work. */
struct near {
    struct bz_str dir;
    int fd; /* -1: not open */
};

static void stamp_near(struct near *n, struct bz_str path, struct bz_stamp *out)
{
    const char *slash = memrchr(path.p, '/', path.n);
    struct bz_str dir = bz_str_of(path.p, slash ? (size_t)(slash - path.p) : 0);

    if (dir.n == 0 || dir.n + 1 == path.n || !bz_str_eq(dir, n->dir)) {
        bz_fs_closep(&n->fd);
        *n = (struct near){dir, -1};
    } else if (n->fd < 0) {
        struct bz_path own;

        if (dir.n < sizeof(own.s)) {
            memcpy(own.s, dir.p, dir.n);
            own.s[dir.n] = '\0';
            n->fd = open(own.s, O_PATH | O_DIRECTORY | O_CLOEXEC);
        }
    }
    if (n->fd >= 0)
        bz_stamp_path(n->fd, slash + 1, out);
    else
        bz_stamp_path(AT_FDCWD, path.p, out);
}

/* Whether the path is as it was; the stamp is the one it has now, if that differs. */
static bool is_same(struct near *n, struct bz_library_look *look,
                    struct bz_hashing *hashing)
{
    struct bz_stamp now;

    stamp_near(n, look->path, &now);
    if (now.kind != look->stamp.kind)
        return false;
    if (!look->read || now.kind == BZ_STAMP_ABSENT) /* that it is there was enough */
        return true;
    if (bz_stamp_same(&now, &look->stamp) && look->stamp.settled)
        return true;
    if (now.kind == BZ_STAMP_FILE && now.size != look->stamp.size)
        return false;
    return same_content(look, hashing);
}

/* An input replaces an earlier one, or is the next. */
static int read_input(struct bz_inputs *in, const struct bz_snapshot *s,
                      const struct bz_snapshot_input *record, struct bz_err *err)
{
    size_t i = record->replaces == BZ_SNAPSHOT_UNSET ? in->n : record->replaces;
    struct bz_library_look *look;

    if (i > in->n)
        return bz_fail(err, BZ_E_CORRUPT, "an input replaces none");
    look = &in->looks[i];
    if (i == in->n) {
        if (!bz_snapshot_text(s, record->path, &look->path) || look->path.n == 0)
            return bz_fail(err, BZ_E_CORRUPT, "a path is missing in the snapshot");
        in->n++;
    }
    look->stamp = record->stamp;
    look->read = record->bits & BZ_SNAPSHOT_READ;
    in->dropped[i] = record->bits & BZ_SNAPSHOT_DROPPED;
    memcpy(look->content, record->content, sizeof(look->content));
    return 0;
}

int bz_inputs_read(struct bz_inputs *in, const struct bz_deltas *d, struct bz_err *err)
{
    size_t most = 1;
    int rc = 0;

    *in = (struct bz_inputs){0};
    for (size_t i = 0; i < d->images.len; i++)
        most += bz_snapshot_count(&d->images.at[i], BZ_SNAPSHOT_INPUTS);
    in->looks = bz_mem_array(most, sizeof(in->looks[0]));
    in->changed = bz_mem_array(most, sizeof(in->changed[0]));
    in->renewed = bz_mem_array(most, sizeof(in->renewed[0]));
    in->dropped = bz_mem_array(most, sizeof(in->dropped[0]));
    for (size_t i = 0; i < d->images.len && rc == 0; i++) {
        const struct bz_snapshot *s = &d->images.at[i];
        uint32_t n = bz_snapshot_count(s, BZ_SNAPSHOT_INPUTS);

        for (uint32_t k = 0; k < n && rc == 0; k++)
            rc = read_input(in, s, bz_snapshot_at(s, BZ_SNAPSHOT_INPUTS, k), err);
    }
    return rc;
}

void bz_inputs_check(struct bz_inputs *in, struct bz_hashing *hashing)
{
    struct near n = {.fd = -1};

    for (size_t i = 0; i < in->n; i++) {
        struct bz_library_look *look = &in->looks[i];
        struct bz_stamp before = look->stamp;

        if (in->dropped[i])
            continue;
        in->changed[i] = !is_same(&n, look, hashing);
        in->renewed[i] = !bz_stamp_same(&before, &look->stamp) ||
                         before.settled != look->stamp.settled;
        in->nchanged += in->changed[i];
        in->nrenewed += in->renewed[i];
    }
    bz_fs_closep(&n.fd);
}

void bz_inputs_release(struct bz_inputs *in)
{
    free(in->looks);
    free(in->changed);
    free(in->renewed);
    free(in->dropped);
    *in = (struct bz_inputs){0};
}

bool bz_inputs_any_changed(const struct bz_inputs *in, const struct bz_snapshot *s,
                           struct bz_snapshot_range list)
{
    if (!bz_snapshot_has(s, BZ_SNAPSHOT_LIST, list))
        return true;
    for (uint32_t i = 0; i < list.n; i++) {
        const uint32_t *number = bz_snapshot_at(s, BZ_SNAPSHOT_LIST, list.first + i);

        if (*number >= in->n || in->changed[*number] || in->dropped[*number])
            return true;
    }
    return false;
}
