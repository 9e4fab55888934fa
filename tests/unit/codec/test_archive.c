#include "codec/archive.h"

#include <sys/wait.h>

#include "tests/unit/codec/archive_make.h"

/* Every test unpacks into out/, and must leave all beside it alone. */
static int setup(void **state)
{
    struct scratch *s;
    int rc = scratch_setup(state);

    s = *state;
    make_dirs(s->fd, "out");
    put(s->fd, "keep", "kept");
    return rc;
}

static int teardown(void **state)
{
    struct scratch *s = *state;
    size_t n = count_names(s->path);
    struct bz_err err;
    char *text = NULL;
    size_t len;
    int rc = bz_fs_read(s->fd, "keep", 100, &text, &len, &err);

    if (n != 2 || rc < 0 || strcmp(text, "kept") != 0)
        print_error("something was written outside\n");
    rc = n == 2 && rc == 0 && strcmp(text, "kept") == 0 ? 0 : -1;
    free(text);
    return scratch_teardown(state) < 0 ? -1 : rc;
}

#define archive_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static int out_dir(const struct scratch *s)
{
    int fd = openat(s->fd, "out", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static int unpack_with(const struct scratch *s, int fd,
                       const struct bz_archive_opts *opts,
                       struct bz_archive_stats *stats, struct bz_err *err)
{
    int dir = out_dir(s);
    size_t fds = count_fds();
    int rc = bz_archive_unpack(fd, "a.tar", dir, opts, stats, err);

    assert_int_equal(count_fds(), fds);
    close(dir);
    close(fd);
    return rc;
}

static int unpack(const struct scratch *s, const struct member *m, struct bz_err *err)
{
    return unpack_with(s, made("pax", "none", m), &(struct bz_archive_opts){0}, NULL,
                       err);
}

static void assert_text(const struct scratch *s, const char *path, const char *want)
{
    struct bz_err err;
    char *text;
    size_t n;

    assert_ok(bz_fs_read(s->fd, path, 1 << 20, &text, &n, &err), &err);
    assert_string_equal(text, want);
    free(text);
}

static struct stat look(const struct scratch *s, const char *path)
{
    struct stat st;

    assert_int_equal(fstatat(s->fd, path, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st;
}

static const struct member plain[] = {
    {.path = "p",     .type = AE_IFDIR, .mode = 0755},
    {.path = "p/a",   .text = "alpha"},
    {.path = "p/sub/b",   .text = "beta", .mode = 0755},
    {.path = "p/l",               .type = AE_IFLNK, .text = "sub/b"},
    {0},
};

static void every_format_and_compression_gives_the_same_files(void **state)
{
    static const char *const kinds[][2] = {
        {"pax",    "none"    },
        {"pax",    "gzip"    },
        {"ustar",  "bzip2"   },
        {"gnutar", "xz"      },
        {"pax",    "zstd"    },
        {"pax",    "lz4"     },
        {"pax",    "lzma"    },
        {"pax",    "lzip"    },
        {"v7tar",  "none"    },
        {"zip",    "none"    },
        {"newc",   "gzip"    },
        {"odc",    "none"    },
        {"ustar",  "compress"},
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(kinds); i++) {
        struct bz_archive_stats stats;
        struct bz_err err;

        assert_ok(unpack_with(s, made(kinds[i][0], kinds[i][1], plain),
                              &(struct bz_archive_opts){0}, &stats, &err),
                  &err);
        assert_text(s, "out/p/a", "alpha");
        assert_text(s, "out/p/l", "beta");
        assert_int_equal(look(s, "out/p/a").st_mode, S_IFREG | 0644);
        assert_int_equal(look(s, "out/p/sub/b").st_mode, S_IFREG | 0755);
        assert_int_equal(look(s, "out/p/a").st_mtime, MADE_AT);
        assert_int_equal(look(s, "out/p").st_mtime, MADE_AT);
        assert_int_equal(stats.members, 4);
        assert_ok(bz_fs_remove(s->fd, "out/p", &err), &err);
    }
}

static void what_leads_elsewhere_is_refused_by_name(void **state)
{
    static const struct {
        struct member m[4];
        const char *says;
    } cases[] = {
        {{{.path = "../x", .text = "no"}},                                               "a.tar: member ../x: '../x' leads upwards"},
        {{{.path = "p/../../x", .text = "no"}},                                          "leads upwards"                           },
        {{{.path = "p/..", .type = AE_IFDIR}},                                           "leads upwards"                           },
        {{{.path = "l", .type = AE_IFLNK, .text = ".."}, {.path = "l/x", .text = "no"}},
         "a.tar: member l/x: 'l/x' needs 'l' to be a directory, and it is something "
         "else"                                                                                                                    },
        {{{.path = "l", .type = AE_IFLNK, .text = ".."},
          {.path = "l", .type = AE_IFDIR}},
         "needs 'l' to be a directory"                                                                                             },
        {{{.path = "l", .type = AE_IFLNK, .text = "."},
          {.path = "l/m", .type = AE_IFLNK, .text = ".."}},
         "needs 'l'"                                                                                                               },
        {{{.path = "l", .type = AE_IFLNK, .text = ".."},
          {.path = "h", .hard = "l/keep", .text = "no"}},
         "needs 'l'"                                                                                                               },
        {{{.path = "h", .hard = "../keep"}},                                             "leads upwards"                           },
        {{{.path = "h", .hard = "nowhere"}},                                             "'h' is a link to 'nowhere'"              },
        {{{.path = "a", .text = "x"}, {.path = "a/b", .text = "x"}},                     "needs 'a'"                               },
        {{{.path = "a/b", .text = "x"}, {.path = "a", .text = "x"}},
         "'a' is a directory already"                                                                                              },
        {{{.path = "d", .type = AE_IFCHR}},                                              "a device, a pipe or a socket"            },
        {{{.path = "d", .type = AE_IFBLK}},                                              "a device, a pipe or a socket"            },
        {{{.path = "d", .type = AE_IFIFO}},                                              "a device, a pipe or a socket"            },
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_err err = {0};
        int rc = unpack(s, cases[i].m, &err);

        assert_true(rc == BZ_E_INVAL || rc == BZ_E_NOENT);
        if (!strstr(err.msg, cases[i].says))
            fail_msg("case %zu says: %s", i, err.msg);
        assert_ok(bz_fs_remove(s->fd, "out", &err), &err);
        make_dirs(s->fd, "out");
    }
}

static void a_name_from_the_root_stays_below(void **state)
{
    static const struct member m[] = {
        {.path = "/etc/./x", .text = "in"},
        {.path = "/y",                  .hard = "/etc/x"},
        {0},
    };
    struct scratch *s = *state;
    struct bz_err err;

    assert_ok(unpack(s, m, &err), &err);
    assert_text(s, "out/etc/x", "in");
    assert_text(s, "out/y", "in");
}

static void a_link_is_replaced_and_not_written_through(void **state)
{
    static const struct member m[] = {
        {.path = "l",         .type = AE_IFLNK, .text = "../keep"},
        {.path = "l",  .text = "mine"},
        {.path = "h",         .text = "mine too"},
        {.path = "far",                   .type = AE_IFLNK, .text = "/etc/passwd"},
        {0},
    };
    struct scratch *s = *state;
    struct bz_err err;

    assert_int_equal(linkat(s->fd, "keep", s->fd, "out/h", 0), 0);
    assert_ok(unpack(s, m, &err), &err);
    assert_text(s, "out/l", "mine");
    assert_text(s, "out/h", "mine too");
    assert_int_equal(look(s, "out/far").st_mode & S_IFMT, S_IFLNK);
}

static void data_of_a_hard_link_goes_only_to_what_the_archive_made(void **state)
{
    static const struct member m[] = {
        {.path = "x",            .hard = "h", .text = "overwritten"},
        {0},
    };
    struct scratch *s = *state;
    struct bz_err err;

    assert_int_equal(linkat(s->fd, "keep", s->fd, "out/h", 0), 0);
    assert_ok(unpack(s, m, &err), &err);
    assert_text(s, "out/x", "kept");
}

/* The new ASCII format of cpio: files with several names have their data last. */
static void cpio_files_with_several_names_have_their_data(void **state)
{
    static const char *const names[] = {"one", "two", "six"};
    struct scratch *s = *state;
    struct bz_err err;
    char text[2048] = "";
    size_t n = 0;
    FILE *f = tmpfile();

    for (int i = 0; i < 4; i++) {
        const char *name = i < 3 ? names[i] : "TRAILER!!!";
        bool last = i == 2;

        n += (size_t)sprintf(text + n,
                             "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x"
                             "%08x%08x%08x%s",
                             i < 3 ? 7 : 0, i < 3 ? 0100644 : 0, 0, 0, i < 3 ? 3 : 1, 1,
                             last ? 4 : 0, 1, 1, 0, 0, (unsigned)strlen(name) + 1, 0,
                             name);
        n++; /* the terminator belongs to the name */
        n = (n + 3) & ~(size_t)3;
        if (last) {
            static const char data[4] = {'d', 'a', 't', 'a'};

            memcpy(text + n, data, sizeof(data));
            n += sizeof(data);
        }
    }
    assert_int_equal(fwrite(text, 1, n, f), n);
    fflush(f);
    assert_ok(unpack_with(s, dup(fileno(f)), &(struct bz_archive_opts){0}, NULL, &err),
              &err);
    fclose(f);
    for (int i = 0; i < 3; i++) {
        char path[32];

        snprintf(path, sizeof(path), "out/%s", names[i]);
        assert_text(s, path, "data");
    }
    assert_int_equal(look(s, "out/one").st_nlink, 3);
}

static void set_id_bits_and_the_mask_are_taken_from_modes(void **state)
{
    static const struct member m[] = {
        {.path = "d",    .type = AE_IFDIR, .mode = 02577},
        {.path = "d/f", .text = "x", .mode = 06777},
        {.path = "ro",  .text = "x", .mode = 0444},
        {0},
    };
    struct scratch *s = *state;
    struct bz_err err;

    assert_ok(unpack(s, m, &err), &err);
    assert_int_equal(look(s, "out/d").st_mode, S_IFDIR | 0755);
    assert_int_equal(look(s, "out/d/f").st_mode, S_IFREG | 0755);
    assert_int_equal(look(s, "out/ro").st_mode, S_IFREG | 0444);
    assert_ok(unpack_with(s, made("pax", "none", m),
                          &(struct bz_archive_opts){.umask = 077}, NULL, &err),
              &err);
    assert_int_equal(look(s, "out/d/f").st_mode, S_IFREG | 0700);
}

static void leading_parts_are_stripped(void **state)
{
    static const struct member m[] = {
        {.path = "top",         .type = AE_IFDIR},
        {.path = "top/README",                     .text = "read"},
        {.path = "./top/sub/f",.text = "f"},
        {.path = "top/g", .hard = "top/sub/f"},
        {0                    },
    };
    struct scratch *s = *state;
    struct bz_err err;

    assert_ok(unpack_with(s, made("pax", "none", m),
                          &(struct bz_archive_opts){.strip = 1}, NULL, &err),
              &err);
    assert_text(s, "out/README", "read");
    assert_text(s, "out/sub/f", "f");
    assert_text(s, "out/g", "f");
    assert_ok(unpack_with(s, made("zip", "none", plain),
                          &(struct bz_archive_opts){.strip = 2}, NULL, &err),
              &err);
    assert_text(s, "out/b", "beta");
}

static void too_much_is_refused(void **state)
{
    static const struct member bomb[] = {
        {.path = "a", .zeros = 100 << 20},
        {0          },
    };
    struct scratch *s = *state;
    struct bz_archive_opts few = {.members = 3}, small = {.bytes = 8}, none = {0};
    struct bz_err err;

    assert_int_equal(unpack_with(s, made("pax", "none", plain), &few, NULL, &err),
                     BZ_E_LIMIT);
    assert_string_equal(err.msg, "a.tar: member p/l: there are more than 3 members");
    assert_int_equal(unpack_with(s, made("pax", "none", plain), &small, NULL, &err),
                     BZ_E_LIMIT);
    assert_int_equal(unpack_with(s, made("pax", "gzip", bomb), &none, NULL, &err),
                     BZ_E_LIMIT);
    assert_string_equal(err.msg, "a.tar: member a: it grows to more than 250 times its "
                                 "size, which no honest archive does");
}

static int stop(void *arg)
{
    (void)arg;
    return BZ_E_CANCELED;
}

static void it_can_be_stopped(void **state)
{
    struct bz_archive_opts opts = {.check = stop};
    struct bz_err err;

    assert_int_equal(unpack_with(*state, made("pax", "none", plain), &opts, NULL, &err),
                     BZ_E_CANCELED);
}

static void a_file_cut_short_is_an_error_or_lacks_nothing_but_its_end(void **state)
{
    struct scratch *s = *state;
    int whole = made("pax", "gzip", plain);
    off_t size = lseek(whole, 0, SEEK_END);
    struct bz_err err;

    for (off_t n = 0; n < size; n += 7) {
        int fd = made("pax", "gzip", plain);

        assert_int_equal(ftruncate(fd, n), 0);
        assert_int_equal(unpack_with(s, fd, &(struct bz_archive_opts){0}, NULL, &err),
                         BZ_E_CORRUPT);
        assert_true(strncmp(err.msg, "a.tar: ", 7) == 0);
    }
    close(whole);
}

static void no_archive_is_an_error(void **state)
{
    FILE *f = tmpfile();
    struct bz_err err;

    fputs("just text\n", f);
    fflush(f);
    assert_int_equal(
        unpack_with(*state, dup(fileno(f)), &(struct bz_archive_opts){0}, NULL, &err),
        BZ_E_CORRUPT);
    assert_string_equal(err.msg, "a.tar: Unrecognized archive format");
    fclose(f);
}

/* The bytes of a file as text, which may have any bytes in it but is shorter than
 * 4096. */
static size_t bytes_of(int fd, char text[4096])
{
    ssize_t n = pread(fd, text, 4096, 0);

    assert_true(n > 0 && n < 4096);
    close(fd);
    return (size_t)n;
}

static void the_archive_in_a_package_is_unpacked(void **state)
{
    static const struct member other[] = {
        {.path = "debian-binary", .text = "2.0\n"},
        {0                      },
    };
    struct scratch *s = *state;
    struct bz_archive_opts opts = {.inner = "data.tar"};
    struct bz_err err;
    char text[4096], head[64];
    size_t n = bytes_of(made("pax", "xz", plain), text);
    FILE *f = tmpfile();

    fprintf(f, "!<arch>\n%-16s%-12d%-6d%-6d%-8o%-10d`\n2.0\n", "debian-binary", 0, 0, 0,
            0100644, 4);
    snprintf(head, sizeof(head), "%-16s%-12d%-6d%-6d%-8o%-10zu`\n", "data.tar.xz", 0, 0,
             0, 0100644, n);
    fwrite(head, 1, 60, f);
    fwrite(text, 1, n, f);
    fflush(f);
    assert_ok(unpack_with(s, dup(fileno(f)), &opts, NULL, &err), &err);
    fclose(f);
    assert_text(s, "out/p/a", "alpha");
    assert_int_equal(count_names(s->path), 2);
    assert_int_equal(unpack_with(s, made("arbsd", "none", other), &opts, NULL, &err),
                     BZ_E_CORRUPT);
    assert_string_equal(err.msg, "a.tar: it has no member data.tar");
}

static void a_compressed_file_becomes_the_file(void **state)
{
    static const char *const filters[] = {"gzip", "bzip2", "xz", "zstd", "lz4"};
    static const struct member one[] = {
        {.path = "-", .text = "some text"},
        {0          },
    };
    struct scratch *s = *state;
    struct bz_archive_opts opts = {0};
    struct bz_err err;
    int dir = out_dir(s);

    for (size_t i = 0; i < BZ_COUNTOF(filters); i++) {
        int fd = made("raw", filters[i], one);
        struct timespec times[2] = {
            {7, 0},
            {7, 0}
        };

        futimens(fd, times);
        assert_ok(bz_archive_expand(fd, "f.gz", dir, "f", &opts, &err), &err);
        assert_text(s, "out/f", "some text");
        assert_int_equal(look(s, "out/f").st_mtime, 7);
        assert_int_equal(look(s, "out/f").st_mode, S_IFREG | 0644);
        close(fd);
    }
    close(dir);
}

static void what_is_not_compressed_is_not_expanded(void **state)
{
    static const struct member one[] = {
        {.path = "-", .text = "some text"},
        {0          },
    };
    struct scratch *s = *state;
    struct bz_archive_opts opts = {0};
    struct bz_err err;
    int dir = out_dir(s), fd = made("raw", "none", one);

    assert_int_equal(bz_archive_expand(fd, "f.gz", dir, "f", &opts, &err),
                     BZ_E_CORRUPT);
    assert_string_equal(err.msg, "f.gz: it is not compressed");
    close(fd);
    fd = made("raw", "gzip", &(struct member){0}); /* not even a member */
    assert_ok(ftruncate(fd, 0), &err);
    assert_int_equal(bz_archive_expand(fd, "f.gz", dir, "f", &opts, &err),
                     BZ_E_CORRUPT);
    close(fd);
    close(dir);
}

static void names_keep_their_bytes_in_any_locale(void **state)
{
    static const struct member m[] = {
        {.path = "gr\xc3\xbc\xc3\x9f", .text = "x"},
        {.path = "latin-\xfc",                            .text = "y"},
        {0},
    };
    struct scratch *s = *state;
    struct bz_err err;

    assert_ok(unpack_with(s, made("ustar", "none", m), &(struct bz_archive_opts){0},
                          NULL, &err),
              &err);
    assert_text(s, "out/gr\xc3\xbc\xc3\x9f", "x");
    assert_text(s, "out/latin-\xfc", "y");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        archive_test(every_format_and_compression_gives_the_same_files),
        archive_test(what_leads_elsewhere_is_refused_by_name),
        archive_test(a_name_from_the_root_stays_below),
        archive_test(a_link_is_replaced_and_not_written_through),
        archive_test(data_of_a_hard_link_goes_only_to_what_the_archive_made),
        archive_test(cpio_files_with_several_names_have_their_data),
        archive_test(set_id_bits_and_the_mask_are_taken_from_modes),
        archive_test(leading_parts_are_stripped),
        archive_test(too_much_is_refused),
        archive_test(it_can_be_stopped),
        archive_test(a_file_cut_short_is_an_error_or_lacks_nothing_but_its_end),
        archive_test(no_archive_is_an_error),
        archive_test(the_archive_in_a_package_is_unpacked),
        archive_test(a_compressed_file_becomes_the_file),
        archive_test(what_is_not_compressed_is_not_expanded),
        archive_test(names_keep_their_bytes_in_any_locale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
