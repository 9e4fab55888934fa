#include "kashome.h"

#include <stdio.h>

#include "tests/unit/os/scratch.h"

/* A process of a made-up /proc. */
struct row {
    int pid, parent;
    const char *name, *command, *home;
};

static void put_bytes(int dir, const char *path, const char *bytes, size_t n)
{
    struct bz_err err;

    assert_ok(bz_fs_write(dir, path, bytes, n, 0644, BZ_FS_NOSYNC, &err), &err);
}

static void make(struct scratch *s, const struct row *rows)
{
    for (; rows->pid; rows++) {
        char path[64], text[200];
        int n;

        snprintf(path, sizeof(path), "%d", rows->pid);
        assert_int_equal(mkdirat(s->fd, path, 0755), 0);
        snprintf(path, sizeof(path), "%d/stat", rows->pid);
        snprintf(text, sizeof(text), "%d (%s) S %d 1 1 0", rows->pid, rows->name,
                 rows->parent);
        put(s->fd, path, text);
        snprintf(path, sizeof(path), "%d/environ", rows->pid);
        n = snprintf(text, sizeof(text), "A=1%cHOME=%s%cB=2", 0, rows->home, 0);
        put_bytes(s->fd, path, text, (size_t)n + 1);
        snprintf(path, sizeof(path), "%d/cmdline", rows->pid);
        n = snprintf(text, sizeof(text), "%s%c-m%c%s", rows->name, 0, 0, rows->command);
        put_bytes(s->fd, path, text, (size_t)n + 1);
    }
}

static const struct {
    struct row rows[6];
    const char *home; /* that is found; NULL: none */
} cases[] = {
  /* kas runs us */
    {{{9, 8, "bitzel", "", "/t"}, {8, 1, "kas", "", "/h"}},                            "/h"},
 /* a shell between */
    {{{9, 8, "bitzel", "", "/t"}, {8, 7, "sh", "", "/t"}, {7, 1, "kas", "", "/h"}},
     "/h"                                                                                  },
    {{{9, 8, "bitzel", "", "/t"}, {8, 7, "a) (b", "", "/t"}, {7, 1, "kas", "", "/h"}},
     "/h"                                                                                  },
    {{{9, 8, "bitzel", "", "/t"}, {8, 1, "python3.11", "kas", "/h"}},                  "/h"},
    {{{9, 8, "bitzel", "", "/t"}, {8, 1, "python3.11", "kast", "/h"}},                 NULL},
 /* the user has set another one below */
    {{{9, 8, "bitzel", "", "/t"}, {8, 7, "sh", "", "/u"}, {7, 1, "kas", "", "/h"}},
     NULL                                                                                  },
 /* kas has left it alone */
    {{{9, 8, "bitzel", "", "/h"}, {8, 1, "kas", "", "/h"}},                            NULL},
 /* kas below kas */
    {{{9, 8, "bitzel", "", "/t"},
      {8, 7, "kas", "", "/s"},
      {7, 6, "sh", "", "/s"},
      {6, 1, "kas", "", "/h"}},
     "/h"                                                                                  },
 /* no kas */
    {{{9, 8, "bitzel", "", "/t"}, {8, 1, "bash", "", "/h"}},                           NULL},
    {{{9, 8, "bitzel", "", "/t"}},                                                     NULL},
};

static void the_home_is_that_of_kas_itself(void **state)
{
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        char want[64], name[32], proc[320];
        struct scratch top = *s;
        struct bz_str found;

        snprintf(name, sizeof(name), "%zu", i);
        snprintf(proc, sizeof(proc), "%.280s/%s", s->path, name);
        assert_int_equal(mkdirat(s->fd, name, 0755), 0);
        top.fd = openat(s->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        make(&top, cases[i].rows);
        close(top.fd);
        found = bz_kashome_find(&a, proc, 9, cases[i].rows[0].home);
        snprintf(want, sizeof(want), "HOME=%s", cases[i].home ? cases[i].home : "");
        assert_int_equal(found.n > 0, cases[i].home != NULL);
        if (cases[i].home)
            assert_string_equal(found.p + sizeof("A=1"), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_home_is_that_of_kas_itself, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
