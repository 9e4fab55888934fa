/* Trees at the edge of what there is come back identical, twice: as deep as they may be
 * with the longest names, files of nothing but a hole, very many files.
 * BITZEL_TORTURE_FULL takes a hole of a gigabyte and 100,000 files. */
#include "cache/action.h"
#include "os/fs_remove.h"
#include "tests/unit/cache/forest.h"

static bool full(void)
{
    return getenv("BITZEL_TORTURE_FULL") != NULL;
}

/* Stored, restored by link and as a copy, and that once more from what came back. */
static void assert_comes_back_twice(struct grove *g, const char *from)
{
    struct store *s = g->s;
    struct bz_reapi_digest first, again;
    struct bz_err err;

    g->in.how = BZ_CAS_FILE_COPY;
    g->out.check = BZ_CAS_FILE_CHECK;
    first = grove_store(g, from);
    g->out.how = BZ_CAS_FILE_PRIVATE;
    assert_ok(grove_restore(g, &first, "one"), &s->err);
    forest_assert_same(s->h, s->dir, from, "one");
    again = grove_store(g, "one");
    assert_memory_equal(&first, &again, sizeof(first));
    g->out.how = BZ_CAS_FILE_LINK;
    assert_ok(grove_restore(g, &again, "two"), &s->err);
    forest_assert_same(s->h, s->dir, "one", "two");
    assert_ok(bz_fs_remove(s->dir, "two", &err), &err);
}

static void the_deepest_tree_with_the_longest_names(void **state)
{
    struct grove *g = *state;
    char name[256];
    int fd;

    memset(name, 'n', 255);
    name[255] = '\0';
    assert_int_equal(mkdirat(g->s->dir, "deep", 0755), 0);
    fd = openat(g->s->dir, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < BZ_TREE_DEPTH - 2; i++) {
        int below;

        name[0] = (char)(i % 2 ? 'n' : '\xff'); /* half of them not UTF-8 */
        assert_int_equal(mkdirat(fd, name, 0755), 0);
        below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_int_equal(symlinkat("/nowhere/at/all", fd, "link"), 0);
        close(fd);
        fd = below;
    }
    put(fd, "file", "at the bottom");
    close(fd);
    assert_comes_back_twice(g, "deep");
}

static void a_file_of_nothing_but_a_hole(void **state)
{
    struct grove *g = *state;
    off_t size = full() ? (off_t)1 << 30 : (off_t)1 << 24;
    struct stat st;
    int fd;

    assert_int_equal(mkdirat(g->s->dir, "sparse", 0755), 0);
    put(g->s->dir, "sparse/empty", "");
    put(g->s->dir, "sparse/hole", "");
    fd = openat(g->s->dir, "sparse/hole", O_RDWR | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(pwrite(fd, "x", 1, size / 2), 1);
    close(fd);
    assert_comes_back_twice(g, "sparse");
    assert_int_equal(fstatat(g->s->dir, "one/hole", &st, 0), 0);
    assert_true(st.st_size == size);
    assert_true(st.st_blocks * 512 < 1 << 20); /* it is still a hole */
}

static void very_many_small_files(void **state)
{
    struct grove *g = *state;
    unsigned n = full() ? 100000 : 300;
    char name[32], text[32];

    assert_int_equal(mkdirat(g->s->dir, "many", 0755), 0);
    for (unsigned i = 0; i < n; i++) {
        if (i % 100 == 0) {
            snprintf(name, sizeof(name), "many/%u", i / 100);
            assert_int_equal(mkdirat(g->s->dir, name, 0755), 0);
        }
        snprintf(name, sizeof(name), "many/%u/%u", i / 100, i);
        snprintf(text, sizeof(text), "content %u", i % 7 ? i : 0);
        put(g->s->dir, name, text);
    }
    assert_comes_back_twice(g, "many");
    assert_int_equal(g->stats.files, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(the_deepest_tree_with_the_longest_names),
        grove_test(a_file_of_nothing_but_a_hole),
        grove_test(very_many_small_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
