#include "tests/fuzz/fuzz.h"

#include "base/log.h"
#include "base/mem.h"
#include "tests/unit/vars/observe.h"
#include "vars/vars_table.h"

enum { MOST = 64 }; /* names that are looked at */

static void drop_line(void *ctx, enum bz_log_level level, const char *line, size_t n)
{
    (void)ctx;
    (void)level;
    (void)line;
    (void)n;
}

/* Asks for all there is, and changes something. */
static void use(struct bz_vars *v)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *copy = bz_vars_new(v);
    BZ_CLEANUP(bz_vec_release) struct observe_names names = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_err err;
    int rc;

    observe_all_names(v, &names);
    if (names.len > MOST)
        names.len = MOST;
    observe_store(copy, &names, &out);
    for (size_t i = 0; i < names.len; i++) {
        rc = bz_vars_set(copy, names.at[i], BZ_STR("${A}"), i % 2, NULL, &err);
        rc |= bz_vars_set_flag(copy, names.at[i], BZ_STR("export"), BZ_STR("1"), NULL,
                               &err);
        BZ_ASSERT(rc <= 0);
    }
    observe_store(copy, &names, &out);
}

/* What could be read can be written, and that can be read. */
static void check_again(struct bz_vars *v, const struct bz_vars *parent)
{
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool strings = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf table = {0}, pool = {0};
    struct bz_vars *again = NULL;
    struct bz_err err;
    int rc;

    bz_vars_table_write(v, parent, &strings, &table);
    rc = bz_string_pool_write(&strings, &pool, &err);
    BZ_ASSERT(rc == 0);
    rc =
        bz_vars_table_read(bz_buf_str(&table), bz_buf_str(&pool), parent, &again, &err);
    BZ_ASSERT(rc == 0);
    bz_vars_free(again);
}

/* The first two bytes say how long the table is; the pool follows it. The bytes are
 * copied so that a sanitizer knows where they end. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bz_log_sink quiet = {drop_line, NULL};
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *parent = bz_vars_new(NULL);
    BZ_CLEANUP(bz_mem_freep) char *first = NULL, *second = NULL;
    struct bz_str table, pool;
    struct bz_vars *v = NULL;
    struct bz_err err;
    size_t n;
    int rc;

    if (size < 2)
        return 0;
    bz_log_set_sink(&quiet);
    n = (size_t)data[0] | (size_t)data[1] << 8;
    if (n > size - 2)
        n = size - 2;
    first = bz_mem_zalloc(n + 1);
    second = bz_mem_zalloc(size - 2 - n + 1);
    memcpy(first, data + 2, n);
    memcpy(second, data + 2 + n, size - 2 - n);
    table = bz_str_of(first, n);
    pool = bz_str_of(second, size - 2 - n);
    for (int whole = 0; whole < 2; whole++) {
        rc = bz_vars_table_read(table, pool, whole ? NULL : parent, &v, &err);
        BZ_ASSERT(rc == 0 || rc == BZ_E_CORRUPT);
        if (rc < 0)
            continue;
        use(v);
        check_again(v, whole ? NULL : parent);
        bz_vars_free(v);
    }
    return 0;
}
