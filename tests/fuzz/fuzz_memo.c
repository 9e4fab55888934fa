#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "sig/files.h"
#include "sig/memo.h"

static void check_text(struct bz_str text)
{
    volatile char sum = 0;

    for (size_t i = 0; i < text.n; i++) /* the sanitizer sees what is out of bounds */
        sum = (char)(sum ^ text.p[i]);
}

static void check_memo(struct bz_entries *catalog, const struct bz_entries_key *key)
{
    struct bz_memo_task task, row = {BZ_STR("do_new"), {{1}}, BZ_STR("x1:")};
    struct bz_memo_recipe recipe = {*key, BZ_STR("note\n"), &row, 1};
    struct bz_memo memo;

    if (bz_memo_find(catalog, key, &memo)) {
        check_text(memo.notes);
        if (bz_memo_task(&memo, BZ_STR("do_a"), &task))
            (void)bz_files_hold(task.files);
        (void)bz_memo_task(&memo, BZ_STR(""), &task);
    }
    bz_memo_put(catalog, &recipe); /* with what is there */
    BZ_ASSERT(bz_memo_find(catalog, key, &memo) &&
              bz_memo_task(&memo, BZ_STR("do_new"), &task));
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

/* The bytes are read as both kinds of entry, and as a list of files. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str content = bz_str_of((const char *)data, size);
    struct bz_digest_hasher *h = NULL;
    struct bz_entries_key key = {{1}};
    struct bz_entries catalog;
    struct bz_sums_file file;
    struct bz_sums sums;
    struct bz_err err;

    BZ_ASSERT(bz_digest_hasher_new(&h, &err) == 0);
    bz_entries_open(&catalog, NULL, "fuzz");
    bz_entries_put(&catalog, BZ_MEMO_KIND, &key, content);
    check_memo(&catalog, &key);
    bz_entries_key_of(BZ_STR("/dev/null"), &key);
    bz_entries_put(&catalog, BZ_SUMS_KIND, &key, content);
    bz_sums_open(&sums, &catalog, h);
    BZ_ASSERT(bz_sums_get(&sums, "/dev/null", &file, &err) == 0);
    bz_sums_keep(&sums);
    bz_sums_close(&sums);
    check_list(content, h);
    bz_entries_close(&catalog);
    bz_digest_hasher_free(h);
    return 0;
}
