#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"
#include "sig/files.h"
#include "sig/memo.h"
#include "sig/seal.h"

enum { MOST = 64 }; /* recipes that are asked for */

static void check_text(struct bz_str text)
{
    volatile char sum = 0;

    for (size_t i = 0; i < text.n; i++) /* the sanitizer sees what is out of bounds */
        sum = (char)(sum ^ text.p[i]);
}

/* Every key that is in the bytes, wherever it begins. */
static void check_memo(struct bz_memo *m, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < MOST && i * 56 + 40 + 32 <= size; i++) {
        struct bz_memo_key key;
        struct bz_memo_found found;
        struct bz_memo_task task;

        memcpy(&key, data + 40 + i * 56, sizeof(key));
        if (!bz_memo_find(m, &key, &found))
            continue;
        check_text(found.notes);
        if (bz_memo_task(m, &found, BZ_STR("do_a"), &task))
            (void)bz_files_hold(task.files);
        (void)bz_memo_task(m, &found, BZ_STR(""), &task);
    }
}

static void check_list(struct bz_str list, struct bz_digest_hasher *h)
{
    BZ_CLEANUP(bz_vec_release) struct bz_base_files files = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_sums sums;
    struct bz_err err;

    if (bz_str_find_byte(list, '/') != BZ_STR_NONE)
        return; /* it would be looked for on this machine */
    bz_sums_open(&sums, NULL, h);
    (void)!bz_files_read(list, &sums, &arena, &files, &err);
    (void)bz_files_hold(list);
    bz_sums_close(&sums);
}

/* The bytes are sealed first, so that the seal keeps nothing out; and read as both
 * kinds of file, and as a list of files. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/dev/shm/bz-fuzz-XXXXXX";
    struct bz_str content = bz_str_of((const char *)data, size);
    struct bz_digest_hasher *h = NULL;
    struct bz_sums_file file;
    struct bz_sums sums;
    struct bz_memo memo;
    struct bz_err err;
    int fd = mkstemp(path);

    BZ_ASSERT(fd >= 0 && bz_digest_hasher_new(&h, &err) == 0);
    BZ_ASSERT(
        bz_seal_write(path, (struct bz_seal_kind){"bz-memo2"}, h, content, &err) == 0);
    bz_memo_open(&memo, path, h);
    check_memo(&memo, data, size);
    BZ_ASSERT(bz_memo_save(&memo, NULL, 0, path, h, &err) == 0);
    bz_memo_close(&memo);
    BZ_ASSERT(
        bz_seal_write(path, (struct bz_seal_kind){"bz-sums1"}, h, content, &err) == 0);
    bz_sums_open(&sums, path, h);
    BZ_ASSERT(bz_sums_get(&sums, "/dev/null", &file, &err) == 0);
    BZ_ASSERT(bz_sums_get(&sums, path, &file, &err) == 0);
    BZ_ASSERT(bz_sums_save(&sums, path, &err) == 0);
    bz_sums_close(&sums);
    check_list(content, h);
    bz_digest_hasher_free(h);
    close(fd);
    unlink(path);
    return 0;
}
