#include "codec/reapi.h"

#include <stdlib.h>

#include "tests/unit/bz_test.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct fixture {
    struct bz_arena a;
    struct bz_buf out;
    struct bz_digest_hasher *h;
    struct bz_err err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    *state = f;
    return bz_digest_hasher_new(&f->h, &f->err);
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    bz_arena_release(&f->a);
    bz_buf_release(&f->out);
    bz_digest_hasher_free(f->h);
    free(f);
    return 0;
}

static struct bz_reapi_digest digest(uint8_t byte, uint64_t size)
{
    struct bz_reapi_digest d = {.size = size};

    memset(d.hash.b, byte, sizeof(d.hash.b));
    return d;
}

static struct bz_str encode_dir(struct fixture *f, const struct bz_reapi_dir *d)
{
    bz_buf_truncate(&f->out, 0);
    assert_ok(bz_reapi_dir_encode(d, &f->out, &f->err), &f->err);
    return bz_buf_str(&f->out);
}

/* The bytes were put together by hand from the numbers in the specification. */
static void a_directory_has_the_bytes_that_the_specification_says(void **state)
{
    struct bz_reapi_file file = {
        .name = BZ_STR("bin"),
        .digest = digest(0xaa, 300),
        .executable = true,
        .props = {.has_mode = true, .mode = 0755}
    };
    struct bz_reapi_subdir sub = {BZ_STR("d"), digest(0xaa, 0)};
    struct bz_reapi_link link = {.name = BZ_STR("l"), .target = BZ_STR("bin")};
    struct bz_reapi_dir d = {.files = &file,
                             .nfiles = 1,
                             .dirs = &sub,
                             .ndirs = 1,
                             .links = &link,
                             .nlinks = 1};
    static const char want[] = "\x0a\x55"
                               "\x0a\x03"
                               "bin"
                               "\x12\x45"
                               "\x0a\x40" HEX_A "\x10\xac\x02"
                               "\x20\x01"
                               "\x32\x05"
                               "\x1a\x03\x08\xed\x03"
                               "\x12\x47"
                               "\x0a\x01"
                               "d"
                               "\x12\x42"
                               "\x0a\x40" HEX_A "\x1a\x08"
                               "\x0a\x01"
                               "l"
                               "\x12\x03"
                               "bin";
    struct fixture *f = *state;
    struct bz_str got = encode_dir(f, &d);

    assert_int_equal(got.n, sizeof(want) - 1);
    assert_memory_equal(got.p, want, got.n);
}

static void the_empty_directory_has_no_bytes(void **state)
{
    struct fixture *f = *state;
    struct bz_reapi_dir d = {0}, back;

    assert_int_equal(encode_dir(f, &d).n, 0);
    assert_ok(bz_reapi_dir_decode(&f->a, (struct bz_str){0}, &back, &f->err), &f->err);
    assert_int_equal(back.nfiles + back.ndirs + back.nlinks + back.nwhiteouts, 0);
}

static void the_order_of_entries_does_not_change_the_bytes(void **state)
{
    struct bz_reapi_file one[] = {
        {.name = BZ_STR("a"),    .digest = digest(1, 1)},
        {.name = BZ_STR("B"),    .digest = digest(2, 2)},
        {.name = BZ_STR("\xff"), .digest = digest(3, 3)},
    };
    struct bz_reapi_file two[] = {one[2], one[0], one[1]};
    struct bz_str gone[] = {BZ_STR("y"), BZ_STR("x")};
    struct bz_str gone2[] = {BZ_STR("x"), BZ_STR("y")};
    struct bz_reapi_dir d = {
        .files = one, .nfiles = 3, .whiteouts = gone, .nwhiteouts = 2};
    struct fixture *f = *state;
    struct bz_str first = bz_arena_dup(&f->a, encode_dir(f, &d));

    d.files = two;
    d.whiteouts = gone2;
    assert_true(bz_str_eq(first, encode_dir(f, &d)));
}

static void everything_in_a_directory_comes_back(void **state)
{
    struct bz_reapi_prop props[] = {
        {BZ_STR("other"), BZ_STR("kept")}
    };
    struct bz_reapi_file files[] = {
        {.name = BZ_STR("100%"), .digest = digest(1, 0)     },
        { .name = BZ_STR("caf\xe9"),
         .digest = digest(2,                         BZ_REAPI_SIZE_MAX),
         .executable = true,
         .props = {.at = props,
                   .n = 1,
                   .has_mode = true,
                   .mode = 04755,
                   .mtime = {.set = true, .s = -5, .ns = 7}}},
    };
    struct bz_reapi_link link = {.name = BZ_STR("l"), .target = BZ_STR("../%\xff")};
    struct bz_str gone[] = {BZ_STR("gone"), BZ_STR("g\xf6ne")};
    struct bz_reapi_dir d = {
        .files = files,
        .nfiles = 2,
        .links = &link,
        .nlinks = 1,
        .whiteouts = gone,
        .nwhiteouts = 2,
        .opaque = true,
        .props = {.at = props, .n = 1, .has_mode = true}
    };
    struct fixture *f = *state;
    struct bz_reapi_dir b;

    assert_ok(bz_reapi_dir_decode(&f->a, encode_dir(f, &d), &b, &f->err), &f->err);
    assert_int_equal(b.nfiles, 2);
    assert_true(bz_str_eq(b.files[0].name, files[0].name));
    assert_true(bz_str_eq(b.files[1].name, files[1].name));
    assert_true(b.files[1].executable);
    assert_int_equal(b.files[1].digest.size, BZ_REAPI_SIZE_MAX);
    assert_true(bz_digest_eq(&b.files[1].digest.hash, &files[1].digest.hash));
    assert_int_equal(b.files[1].props.mode, 04755);
    assert_true(b.files[1].props.mtime.set);
    assert_int_equal(b.files[1].props.mtime.s, -5);
    assert_int_equal(b.files[1].props.mtime.ns, 7);
    assert_true(bz_str_eq(b.files[1].props.at[0].value, BZ_STR("kept")));
    assert_true(bz_str_eq(b.links[0].target, link.target));
    assert_int_equal(b.nwhiteouts, 2);
    assert_true(bz_str_eq(b.whiteouts[0], gone[1])); /* "g%F6ne" sorts first */
    assert_true(bz_str_eq(b.whiteouts[1], gone[0]));
    assert_true(b.opaque);
    assert_int_equal(b.props.n, 1);
    assert_true(bz_str_eq(b.props.at[0].name, BZ_STR("other")));
    assert_true(b.props.has_mode);
    assert_int_equal(b.props.mode, 0);
}

/* A message without a digest in `name`, and then with one that is `size` long. */
static struct bz_str file_message(struct fixture *f, struct bz_str name, int64_t size)
{
    struct bz_buf digest = {0}, node = {0}, all = {0};
    uint64_t left = (uint64_t)size;
    struct bz_str out;

    bz_buf_add_str(&digest, BZ_STR("\x0a\x40" HEX_A "\x10"));
    for (; left >= 0x80; left >>= 7)
        bz_buf_add_char(&digest, (char)(left | 0x80));
    bz_buf_add_char(&digest, (char)left);
    bz_buf_addf(&node, "\x0a%c", (int)name.n);
    bz_buf_add_str(&node, name);
    bz_buf_addf(&node, "\x12%c", (int)digest.len);
    bz_buf_add_str(&node, bz_buf_str(&digest));
    bz_buf_addf(&all, "\x0a%c", (int)node.len);
    bz_buf_add_str(&all, bz_buf_str(&node));
    out = bz_arena_dup(&f->a, bz_buf_str(&all));
    bz_buf_release(&digest);
    bz_buf_release(&node);
    bz_buf_release(&all);
    return out;
}

static void names_that_lead_elsewhere_are_corrupt(void **state)
{
    static const struct {
        struct bz_str name;
        int64_t size;
        int rc;
    } cases[] = {
        {BZ_STR("a"),     5,                      0           },
        {BZ_STR("%41"),   5,                      0           },
        {BZ_STR(""),      5,                      BZ_E_CORRUPT},
        {BZ_STR("."),     5,                      BZ_E_CORRUPT},
        {BZ_STR(".."),    5,                      BZ_E_CORRUPT},
        {BZ_STR("a/b"),   5,                      BZ_E_CORRUPT},
        {BZ_STR("/"),     5,                      BZ_E_CORRUPT},
        {BZ_STR("a\0b"),  5,                      BZ_E_CORRUPT},
        {BZ_STR("a\xff"), 5,                      BZ_E_CORRUPT},
        {BZ_STR("a"),     -1,                     BZ_E_CORRUPT},
        {BZ_STR("a"),     INT64_MAX,              BZ_E_CORRUPT},
        {BZ_STR("a"),     INT64_C(1) << 44,       0           },
        {BZ_STR("a"),     (INT64_C(1) << 44) + 1, BZ_E_CORRUPT},
    };
    struct fixture *f = *state;
    struct bz_reapi_dir d;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_str m = file_message(f, cases[i].name, cases[i].size);

        assert_int_equal(bz_reapi_dir_decode(&f->a, m, &d, &f->err), cases[i].rc);
    }
}

static void names_twice_or_out_of_order_are_corrupt(void **state)
{
    struct fixture *f = *state;
    struct bz_str a = file_message(f, BZ_STR("a"), 1);
    struct bz_str b = file_message(f, BZ_STR("b"), 1);
    const struct {
        struct bz_str first, second;
        int rc;
    } cases[] = {
        {a, b,        0           },
        {b, a,        BZ_E_CORRUPT},
        {a, a,        BZ_E_CORRUPT},
        {a,
         BZ_STR("\x1a\x06\x0a\x01"
                "a"
                "\x12\x01"
                "x"),
         BZ_E_CORRUPT             }, /* a link of the same name */
    };
    struct bz_reapi_dir d;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_str m = bz_arena_printf(&f->a, "%.*s%.*s", BZ_STR_ARG(cases[i].first),
                                          BZ_STR_ARG(cases[i].second));

        assert_int_equal(bz_reapi_dir_decode(&f->a, m, &d, &f->err), cases[i].rc);
    }
}

static void other_broken_messages_are_corrupt(void **state)
{
    static const struct bz_str cases[] = {
        BZ_STR("\x0a\x03\x0a\x01"
               "a"), /* no digest */
        BZ_STR("\x0a\x09\x0a\x01"
               "a"
               "\x12\x04\x0a\x02"
               "ab"),       /* no SHA-256 */
        BZ_STR("\x0a\x7f"), /* beyond the end */
        BZ_STR("\x1a\x03\x0a\x01"
               "l"),                            /* a link to nothing */
        BZ_STR("\x2a\x02\x0a\x00"),             /* a property without a name */
        BZ_STR("\x2a\x05\x1a\x03\x08\x80\x20"), /* mode 010000 */
        BZ_STR("garbage"),
    };
    struct fixture *f = *state;
    struct bz_reapi_dir d;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_reapi_dir_decode(&f->a, cases[i], &d, &f->err),
                         BZ_E_CORRUPT);
    assert_int_equal(bz_reapi_dir_decode(&f->a, bz_str_of("", BZ_REAPI_MESSAGE_MAX + 1),
                                         &d, &f->err),
                     BZ_E_LIMIT);
}

/* Repeated, node_properties are merged; two million of them by copying would take
 * hours. */
static void a_field_repeated_without_end_is_refused_soon(void **state)
{
    static const char unit[] = "\x2a\x05\x0a\x03\x0a\x01x";
    struct fixture *f = *state;
    struct bz_reapi_dir d;

    for (size_t i = 0; i < 2000000; i++)
        bz_buf_add(&f->out, unit, sizeof(unit) - 1);
    assert_int_equal(bz_reapi_dir_decode(&f->a, bz_buf_str(&f->out), &d, &f->err),
                     BZ_E_CORRUPT);
}

static struct bz_reapi_result sample_result(void)
{
    static struct bz_reapi_outfile file;
    static struct bz_reapi_outdir dir;
    static struct bz_reapi_link link;
    static struct bz_reapi_aux aux;

    file = (struct bz_reapi_outfile){.path = BZ_STR("out/a"),
                                     .digest = digest(1, 3),
                                     .contents = BZ_STR("abc"),
                                     .executable = true};
    dir = (struct bz_reapi_outdir){
        .path = BZ_STR(""), .tree = digest(2, 9), .sorted = true};
    link = (struct bz_reapi_link){.name = BZ_STR("l"), .target = BZ_STR("/nowhere")};
    aux = (struct bz_reapi_aux){BZ_STR("t"), BZ_STR("\0\1")};
    return (struct bz_reapi_result){
        .files = &file,
        .nfiles = 1,
        .dirs = &dir,
        .ndirs = 1,
        .links = &link,
        .nlinks = 1,
        .exit_code = -7,
        .out_raw = BZ_STR("hello"),
        .error = digest(3, 100),
        .worker = BZ_STR("w"),
        .when[BZ_REAPI_RUN_DONE] = {.set = true, .s = 1000, .ns = 5},
        .aux = &aux,
        .naux = 1,
    };
}

static void everything_in_a_result_comes_back_sealed(void **state)
{
    struct bz_reapi_result r = sample_result(), b;
    struct fixture *f = *state;

    assert_ok(bz_reapi_result_encode(&r, f->h, &f->out, &f->err), &f->err);
    assert_ok(bz_reapi_result_decode(&f->a, bz_buf_str(&f->out), f->h, &b, &f->err),
              &f->err);
    assert_true(b.sealed);
    assert_int_equal(b.nfiles, 1);
    assert_true(bz_str_eq(b.files[0].path, BZ_STR("out/a")));
    assert_true(bz_str_eq(b.files[0].contents, BZ_STR("abc")));
    assert_true(b.files[0].executable);
    assert_int_equal(b.ndirs, 1);
    assert_int_equal(b.dirs[0].tree.size, 9);
    assert_true(bz_reapi_digest_none(&b.dirs[0].root));
    assert_true(b.dirs[0].sorted);
    assert_true(bz_str_eq(b.links[0].target, BZ_STR("/nowhere")));
    assert_int_equal(b.exit_code, -7);
    assert_true(bz_str_eq(b.out_raw, BZ_STR("hello")));
    assert_true(bz_reapi_digest_none(&b.out));
    assert_int_equal(b.error.size, 100);
    assert_true(bz_str_eq(b.worker, BZ_STR("w")));
    assert_false(b.when[BZ_REAPI_QUEUED].set);
    assert_int_equal(b.when[BZ_REAPI_RUN_DONE].s, 1000);
    assert_int_equal(b.naux, 1);
    assert_true(bz_str_eq(b.aux[0].value, BZ_STR("\0\1")));
}

static void a_result_cut_short_anywhere_is_never_sealed(void **state)
{
    struct bz_reapi_result r = sample_result(), b;
    struct fixture *f = *state;
    size_t whole = 0;

    assert_ok(bz_reapi_result_encode(&r, f->h, &f->out, &f->err), &f->err);
    for (size_t n = 0; n < f->out.len; n++) {
        struct bz_str cut = bz_str_of(f->out.data, n);

        if (bz_reapi_result_decode(&f->a, cut, f->h, &b, &f->err) == 0) {
            assert_false(b.sealed);
            whole++;
        }
    }
    assert_true(whole > 0); /* some are messages, which is why there is a seal */
}

static void flip(struct bz_buf *b, size_t bit)
{
    ((uint8_t *)b->data)[bit / 8] ^= 1U << bit % 8;
}

static void a_bit_flipped_anywhere_is_never_sealed(void **state)
{
    struct bz_reapi_result r = sample_result(), b;
    struct fixture *f = *state;

    assert_ok(bz_reapi_result_encode(&r, f->h, &f->out, &f->err), &f->err);
    for (size_t bit = 0; bit < f->out.len * 8; bit++) {
        flip(&f->out, bit);
        if (bz_reapi_result_decode(&f->a, bz_buf_str(&f->out), f->h, &b, &f->err) == 0)
            assert_false(b.sealed);
        flip(&f->out, bit);
    }
}

/* As Bazel writes it: no seal, older names of the links. */
static void a_result_that_others_wrote_is_read_unsealed(void **state)
{
    static const char bytes[] = "\x12\x49"
                                "\x0a\x01"
                                "o"
                                "\x12\x44"
                                "\x0a\x40" HEX_A "\x10\x07"
                                "\x52\x06"
                                "\x0a\x01"
                                "f"
                                "\x12\x01"
                                "x"
                                "\x5a\x06"
                                "\x0a\x01"
                                "d"
                                "\x12\x01"
                                "y";
    struct fixture *f = *state;
    struct bz_reapi_result r;

    assert_ok(bz_reapi_result_decode(&f->a, bz_str_of(bytes, sizeof(bytes) - 1), f->h,
                                     &r, &f->err),
              &f->err);
    assert_false(r.sealed);
    assert_int_equal(r.nfiles, 1);
    assert_int_equal(r.files[0].digest.size, 7);
    assert_int_equal(r.nlinks, 2);
    assert_true(bz_str_eq(r.links[1].name, BZ_STR("d")));
}

static void a_result_that_leads_elsewhere_is_corrupt(void **state)
{
    static const char bytes[] = "\x1a\x4a\x0a\x02..\x1a\x44\x0a\x40" HEX_A "\x10\x07";
    struct fixture *f = *state;
    struct bz_reapi_result r;

    assert_int_equal(bz_reapi_result_decode(&f->a, bz_str_of(bytes, sizeof(bytes) - 1),
                                            f->h, &r, &f->err),
                     BZ_E_CORRUPT);
}

#define test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(a_directory_has_the_bytes_that_the_specification_says),
        test(the_empty_directory_has_no_bytes),
        test(the_order_of_entries_does_not_change_the_bytes),
        test(everything_in_a_directory_comes_back),
        test(names_that_lead_elsewhere_are_corrupt),
        test(names_twice_or_out_of_order_are_corrupt),
        test(other_broken_messages_are_corrupt),
        test(a_field_repeated_without_end_is_refused_soon),
        test(everything_in_a_result_comes_back_sealed),
        test(a_result_cut_short_anywhere_is_never_sealed),
        test(a_bit_flipped_anywhere_is_never_sealed),
        test(a_result_that_others_wrote_is_read_unsealed),
        test(a_result_that_leads_elsewhere_is_corrupt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
