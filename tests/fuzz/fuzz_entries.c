#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "codec/entries.h"
#include "os/fs.h"

enum { FILE_HEAD = 48, HEAD = 64 };

static void check(void *ctx, uint32_t kind, const struct bz_entries_key *key,
                  struct bz_str bytes)
{
    volatile char sum = 0;
    size_t *n = ctx;

    (void)kind;
    (void)key;
    ++*n;
    for (size_t i = 0; i < bytes.n; i++) /* the sanitizer sees what is out of bounds */
        sum = (char)(sum ^ bytes.p[i]);
}

static uint64_t sum_of(const char *bytes, size_t n)
{
    return bz_str_hash(bz_str_of(bytes, n));
}

/* Gives heads their sums, and bytes if they are there, so that sums keep nothing out.
 */
static void mend(char *at, size_t left)
{
    while (left >= HEAD) {
        uint64_t size, sum;

        memcpy(&size, at + 16, sizeof(size));
        if (size <= left - HEAD) {
            sum = sum_of(at + HEAD, (size_t)size);
            memcpy(at + 8, &sum, sizeof(sum));
        }
        sum = sum_of(at + 8, HEAD - 8);
        memcpy(at, &sum, sizeof(sum));
        if (size > left - HEAD || left - HEAD - size < 8)
            return;
        size = HEAD + (size + 7) / 8 * 8;
        at += size;
        left -= size;
    }
}

/* The bytes follow the head of a file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/dev/shm/bz-fuzz-XXXXXX";
    struct bz_entries_key key = {{7}};
    struct bz_entries e;
    struct bz_str found;
    struct bz_err err;
    int fd = mkstemp(path);
    size_t before = 0, after = 0, n;
    char *bytes;

    BZ_ASSERT(fd >= 0 && unlink(path) == 0);
    bz_entries_open(&e, path, "fuzz");
    bz_entries_put(&e, 9, &key, BZ_STR(""));
    BZ_ASSERT(bz_entries_save(&e, &err) == 0);
    bz_entries_close(&e);
    BZ_ASSERT(bz_fs_read(AT_FDCWD, path, 1 << 20, &bytes, &n, &err) == 0);
    bytes = bz_mem_resize(bytes, 1, FILE_HEAD + size + 1);
    if (size > 0)
        memcpy(bytes + FILE_HEAD, data, size);
    mend(bytes + FILE_HEAD, size);
    BZ_ASSERT(bz_fs_write(AT_FDCWD, path, bytes, FILE_HEAD + size, 0600, BZ_FS_NOSYNC,
                          &err) == 0);
    bz_entries_open(&e, path, "fuzz");
    bz_entries_each(&e, check, &before);
    bz_entries_put(&e, 9, &key, BZ_STR("mine"));
    BZ_ASSERT(bz_entries_save(&e, &err) == 0);
    bz_entries_close(&e);
    bz_entries_open(&e, path, "fuzz");
    BZ_ASSERT(bz_entries_find(&e, 9, &key, &found) && bz_str_eq(found, BZ_STR("mine")));
    bz_entries_each(&e, check, &after);
    BZ_ASSERT(after >= before && after <= before + 1);
    bz_entries_close(&e);
    free(bytes);
    unlink(path);
    close(fd);
    return 0;
}
