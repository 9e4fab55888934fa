#include "tests/unit/fetch/fetching.h"
#include "tests/unit/net/server.h"

/* Of "abc". */
#define GOOD                                                                           \
    "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/"             \
    "uu9RU1EI2Q86A4"                                                                   \
    "qmslPpUyknw=="
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static const struct server_page tarballs[] = {
    {"GET /pkg.tgz ", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", SERVER_KEEPS,
     0},
    {0  },
};

/* A server with tarballs, a registry that names it, and an npm that names that. */
struct registry {
    struct server tarballs, answers;
    char answer[600];
    struct server_page pages[3];
};

static void start(struct fetching *f, struct registry *r, const char *integrity)
{
    r->tarballs = server_start(tarballs);
    snprintf(r->answer, sizeof(r->answer),
             "HTTP/1.1 200 OK\r\n\r\n{\"dist\": {\"tarball\": "
             "\"http://127.0.0.1:%u/pkg.tgz\", \"integrity\": \"%s\"}}",
             r->tarballs.port, integrity);
    r->pages[0] =
        (struct server_page){"GET /@s%2Fpkg/1.2.3 ", r->answer, SERVER_CLOSES, 0};
    r->pages[1] = (struct server_page){0};
    r->answers = server_start(r->pages);
    fetching_sh(f,
                "mkdir -p bin && printf '#!/bin/sh\\necho http://127.0.0.1:%u/\\n' "
                ">bin/npm && chmod +x bin/npm",
                r->answers.port);
    snprintf(f->path, sizeof(f->path), "%s/bin:/usr/bin:/bin", f->dir->path);
    setenv("PATH", f->path, 1);
}

static void stop(struct registry *r)
{
    server_stop(&r->tarballs);
    server_stop(&r->answers);
}

static void a_package_comes_from_the_registry_that_npm_uses(void **state)
{
    struct fetching *f = *state;
    struct registry r;

    start(f, &r, GOOD);
    assert_ok(fetching_get(f,
                           "npm://registry.npmjs.org;package=@s/pkg;version=1.2.3;"
                           "sha256sum=" ABC,
                           NULL),
              &f->err);
    assert_file(f, "dl/npm2/@s-pkg-1.2.3.tgz", "abc");
    stop(&r);
}

static void what_the_registry_does_not_vouch_for_is_refused(void **state)
{
    struct fetching *f = *state;
    struct registry r;

    start(f, &r, "sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    fetching_set(f, "BB_STRICT_CHECKSUM", NULL, "ignore");
    assert_int_equal(
        fetching_get(f, "npm://registry;package=@s/pkg;version=1.2.3", NULL),
        BZ_E_CORRUPT);
    assert_non_null(strstr(f->err.msg, "but the registry says 0000"));
    assert_false(bz_fs_exists(f->dir->fd, "dl/npm2/@s-pkg-1.2.3.tgz"));
    assert_int_equal(fetching_get(f, "npm://registry;package=none;version=1.2.3", NULL),
                     BZ_E_NOENT);
    stop(&r);
}

static void package_and_version_must_be_exact(void **state)
{
    static const char *const wrong[] = {"npm://r",
                                        "npm://r;package=a",
                                        "npm://r;package=a;version=latest",
                                        "npm://r;package=../a;version=1.0.0",
                                        "npm://r;package=a/b;version=1.0.0",
                                        "npm://r;package=a;version=1/2"};
    struct fetching *f = *state;

    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++)
        assert_int_equal(fetching_open(f, wrong[i]), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fetching_test(a_package_comes_from_the_registry_that_npm_uses),
        fetching_test(what_the_registry_does_not_vouch_for_is_refused),
        fetching_test(package_and_version_must_be_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
