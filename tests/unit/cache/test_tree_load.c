#include "cache/tree_load.h"

#include "tests/unit/cache/forest.h"

struct message {
    struct bz_buf dirs[600];
    size_t n;
};

/* Adds a directory with the files of that many names and the given subdirectories,
 * which are numbered from the last to the first. Returns its digest. */
static struct bz_reapi_digest add_dir(struct grove *g, struct message *m,
                                      unsigned files,
                                      const struct bz_reapi_digest *subs,
                                      unsigned nsubs)
{
    struct bz_reapi_file file[64];
    struct bz_reapi_subdir sub[64];
    static const char names[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    struct bz_reapi_dir dir = {
        .files = file, .nfiles = files, .dirs = sub, .ndirs = nsubs};
    struct bz_reapi_digest d;

    for (unsigned i = 0; i < files; i++) {
        file[i] = (struct bz_reapi_file){
            .name = bz_str_of(&names[25 - i], 1), .digest = {{{1}}, 10}
        };
    }
    for (unsigned i = 0; i < nsubs; i++) {
        sub[i] = (struct bz_reapi_subdir){bz_str_of(&names[51 - i], 1), subs[i]};
    }
    assert_ok(bz_reapi_dir_encode(&dir, &m->dirs[m->n], &g->s->err), &g->s->err);
    bz_digest_bytes(g->s->h, m->dirs[m->n].data, m->dirs[m->n].len, &d.hash);
    d.size = m->dirs[m->n++].len;
    return d;
}

/* Stores the message, the last directory first, and loads it. */
static int load(struct grove *g, struct message *m, struct bz_tree_load *out)
{
    struct bz_str dirs[600];
    struct bz_reapi_tree tree = {dirs, m->n};
    struct bz_buf bytes = {0};
    struct bz_reapi_digest d;

    for (size_t i = 0; i < m->n; i++)
        dirs[i] = bz_buf_str(&m->dirs[m->n - 1 - i]);
    bz_reapi_tree_encode(&tree, &bytes);
    assert_ok(bz_cas_put(g->s->cas, g->s->h, bytes.data, bytes.len, &d, &g->s->err),
              &g->s->err);
    bz_buf_release(&bytes);
    for (size_t i = 0; i < m->n; i++)
        bz_buf_release(&m->dirs[i]);
    return bz_tree_load(g->s->cas, &d, &g->in.threads, out, &g->s->err);
}

static void directories_are_found_and_counted(void **state)
{
    struct grove *g = *state;
    struct message m = {.n = 0};
    struct bz_tree_load t;
    struct bz_reapi_digest subs[2];

    subs[0] = subs[1] = add_dir(g, &m, 3, NULL, 0);
    add_dir(g, &m, 1, subs, 2);
    assert_ok(load(g, &m, &t), &g->s->err);
    assert_int_equal(t.ndirs, 2);
    assert_int_equal(t.dirs[0].subs[0], 1);
    assert_int_equal(t.dirs[0].subs[1], 1);
    assert_int_equal(t.dirs[0].entries, 3 * 2 + 1 + 3);
    assert_int_equal(t.dirs[0].sum.files, 7);
    assert_int_equal(t.dirs[0].sum.dirs, 3);
    assert_int_equal(t.dirs[0].sum.bytes, 70);
    assert_int_equal(t.dirs[0].height, 1);
    bz_tree_load_release(&t);
}

static void a_small_message_may_not_unfold_without_end(void **state)
{
    struct grove *g = *state;
    struct message m = {.n = 0};
    struct bz_tree_load t;
    struct bz_reapi_digest subs[2];

    subs[0] = subs[1] = add_dir(g, &m, 1, NULL, 0);
    for (int i = 0; i < 60; i++)
        subs[0] = subs[1] = add_dir(g, &m, 0, subs, 2);
    assert_int_equal(load(g, &m, &t), BZ_E_LIMIT);
}

static void depth_is_bounded(void **state)
{
    struct grove *g = *state;
    struct bz_tree_load t;

    for (int depth = BZ_TREE_DEPTH; depth < BZ_TREE_DEPTH + 2; depth++) {
        struct message m = {.n = 0};
        struct bz_reapi_digest d = add_dir(g, &m, 1, NULL, 0);

        for (int i = 0; i < depth; i++)
            d = add_dir(g, &m, 0, &d, 1);
        assert_int_equal(load(g, &m, &t), depth > BZ_TREE_DEPTH ? BZ_E_LIMIT : 0);
        bz_tree_load_release(&t);
    }
}

static void a_directory_that_is_not_there_is_corrupt(void **state)
{
    static const struct bz_reapi_digest absent = {{{5}}, 7};
    struct grove *g = *state;
    struct message m = {.n = 0};
    struct bz_tree_load t;

    add_dir(g, &m, 0, &absent, 1);
    assert_int_equal(load(g, &m, &t), BZ_E_CORRUPT);
}

static void a_directory_of_another_size_is_corrupt(void **state)
{
    struct grove *g = *state;
    struct message m = {.n = 0};
    struct bz_reapi_digest d = add_dir(g, &m, 2, NULL, 0);
    struct bz_tree_load t;

    d.size++;
    add_dir(g, &m, 0, &d, 1);
    assert_int_equal(load(g, &m, &t), BZ_E_CORRUPT);
}

static void a_blob_that_is_no_tree_is_corrupt(void **state)
{
    static const char *const blobs[] = {"", "text", "\x0a\x03xyz"};
    struct grove *g = *state;
    struct bz_tree_load t;

    for (size_t i = 0; i < BZ_COUNTOF(blobs); i++) {
        struct bz_reapi_digest d = store_text(g->s, blobs[i]);

        assert_int_equal(bz_tree_load(g->s->cas, &d, &g->in.threads, &t, &g->s->err),
                         BZ_E_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(directories_are_found_and_counted),
        grove_test(a_small_message_may_not_unfold_without_end),
        grove_test(depth_is_bounded),
        grove_test(a_directory_that_is_not_there_is_corrupt),
        grove_test(a_directory_of_another_size_is_corrupt),
        grove_test(a_blob_that_is_no_tree_is_corrupt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
