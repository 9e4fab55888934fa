/* The tiers against a real nginx: trees there and back, who may do what, and a server
 * with certificates. */
#include "tests/http/nginx.h"

#include "cache/tier_dir.h"
#include "cache/tier_http.h"
#include "os/proc_run.h"
#include "tests/http/haul.h"

/* BITZEL_TREES, how many trees make the trip, can be raised for a longer look. */
#define TREES 12

struct site {
    struct grove *g;    /* the first machine */
    struct bz_cas *far; /* the second one's store */
    char dir[300];      /* of the server */
    struct nginx x;
    struct bz_remote_opts opts;
};

static int setup(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct site *s = calloc(1, sizeof(*s));
    char path[400];
    void *g;

    unsetenv("http_proxy");
    unsetenv("https_proxy");
    if (grove_setup(&g) < 0)
        return -1;
    s->g = g;
    snprintf(path, sizeof(path), "%s/far", s->g->s->scratch->path);
    snprintf(s->dir, sizeof(s->dir), "%s/www", s->g->s->scratch->path);
    /* a server that runs as somebody else must get there */
    if (chmod(s->g->s->scratch->path, 0711) < 0 || mkdir(s->dir, 0755) < 0)
        return -1;
    s->opts = (struct bz_remote_opts){.url = s->x.url};
    *state = s;
    return bz_cas_open(path, &opts, &s->far, &s->g->s->err);
}

static int teardown(void **state)
{
    struct site *s = *state;
    void *g = s->g;

    if (s->x.pid)
        nginx_stop(&s->x);
    bz_cas_close(s->far);
    free(s);
    return grove_teardown(&g);
}

static void start(struct site *s, const struct nginx_opts *o)
{
    if (!nginx_found())
        skip();
    s->x = nginx_start(s->dir, o);
}

static struct bz_tier *open_http(struct site *s)
{
    struct bz_tier *t;

    assert_ok(bz_tier_http_open(&s->opts, &t, &s->g->s->err), &s->g->s->err);
    return t;
}

static struct bz_tier *open_dir(struct site *s)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct bz_tier *t;
    char path[400];

    snprintf(path, sizeof(path), "%s/shared", s->g->s->scratch->path);
    assert_ok(bz_tier_dir_open(path, &opts, &t, &s->g->s->err), &s->g->s->err);
    return t;
}

static int push(struct site *s, struct bz_tier *t, const struct bz_reapi_digest *tree)
{
    struct store *own = s->g->s;

    return haul_push(t, own->cas, s->g->pool, own->h, tree, &own->err);
}

static int pull(struct site *s, struct bz_tier *t, const struct bz_reapi_digest *tree)
{
    return haul_pull(t, s->far, s->g->pool, s->g->s->h, &tree->hash, &s->g->s->err);
}

static unsigned trees(void)
{
    const char *text = getenv("BITZEL_TREES");

    return text ? (unsigned)strtoul(text, NULL, 10) : TREES;
}

/* As deep as paths can be long, or nearly. */
static void plant_deep(int dir, unsigned seed)
{
    char name[101];
    int at = dir;

    memset(name, (int)('a' + seed % 26), sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (int depth = 0; depth < 30; depth++) {
        int next;

        assert_int_equal(mkdirat(at, name, 0755), 0);
        next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        put(next, "leaf", name + depth);
        if (at != dir)
            close(at);
        at = next;
    }
    close(at);
}

static void plant_many(int dir, unsigned seed)
{
    for (unsigned i = 0; i < 600; i++) {
        char name[32], text[32];

        snprintf(name, sizeof(name), "file%u", i);
        snprintf(text, sizeof(text), "%u of %u", i % 400, seed); /* some twice */
        put(dir, name, text);
    }
}

/* More than fits into any buffer on the way: noise, a hole, and noise again. */
static void plant_big(int dir, unsigned seed)
{
    struct forest f = {.random = seed};
    size_t n = (3 << 20) + 17;
    char *bytes = malloc(n);
    int fd = openat(dir, "big", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)forest_below(&f, 128);
    assert_int_equal(write(fd, bytes, n), n);
    assert_int_equal(pwrite(fd, bytes, n, 16 << 20), n);
    close(fd);
    free(bytes);
}

/* Random trees, large and small, and kinds of which random ones have too little. */
static void plant(struct site *s, const char *name, unsigned seed)
{
    static void (*const kinds[])(int dir, unsigned seed) = {plant_deep, plant_many,
                                                            plant_big};
    unsigned kind = seed % 6;
    int dir;

    forest_make(s->g->s->dir, name, seed, kind == 1 ? 200 : kind < 3 ? 40 : 0);
    if (kind < 3)
        return;
    dir = openat(s->g->s->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    kinds[kind - 3](dir, seed);
    close(dir);
}

/* There and back, and then once more from what came back. */
static void round_trip(struct site *s, struct bz_tier *t, unsigned seed)
{
    struct store *own = s->g->s;
    struct bz_reapi_digest tree, again;
    char from[32], to[32];

    snprintf(from, sizeof(from), "tree%u", seed);
    snprintf(to, sizeof(to), "back%u", seed);
    plant(s, from, seed);
    tree = grove_store(s->g, from);
    for (int i = 0; i < 2; i++) /* the second time everything is there */
        assert_ok(push(s, t, &tree), &own->err);
    for (int i = 0; i < 2; i++)
        assert_ok(pull(s, t, &tree), &own->err);
    assert_ok(bz_tree_restore(s->far, &tree, own->dir, to, &s->g->out, &s->g->stats,
                              &own->err),
              &own->err);
    forest_assert_same(own->h, own->dir, from, to);
    again = grove_store(s->g, to);
    assert_true(bz_digest_eq(&again.hash, &tree.hash));
}

static void an_empty_tree_comes_back(struct site *s, struct bz_tier *t)
{
    struct store *own = s->g->s;
    struct bz_reapi_digest tree;

    make_dirs(own->dir, "none");
    tree = grove_store(s->g, "none");
    assert_ok(push(s, t, &tree), &own->err);
    assert_ok(pull(s, t, &tree), &own->err);
    assert_ok(bz_tree_restore(s->far, &tree, own->dir, "nothing", &s->g->out,
                              &s->g->stats, &own->err),
              &own->err);
    forest_assert_same(own->h, own->dir, "none", "nothing");
}

static void any_tree_comes_back_from_a_web_server(void **state)
{
    struct site *s = *state;
    struct bz_tier *t;

    start(s, &(struct nginx_opts){0});
    t = open_http(s);
    an_empty_tree_comes_back(s, t);
    for (unsigned seed = 0; seed < trees(); seed++)
        round_trip(s, t, seed);
    t->ops->close(t);
}

static void any_tree_comes_back_from_a_directory(void **state)
{
    struct site *s = *state;
    struct bz_tier *t = open_dir(s);

    for (unsigned seed = 0; seed < trees(); seed++)
        round_trip(s, t, seed);
    t->ops->close(t);
}

/* What the server keeps is a store, and the other way round. */
static void what_a_server_keeps_is_a_directory_tier(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_READ, BZ_FS_NOSYNC};
    struct site *s = *state;
    struct bz_reapi_digest tree;
    struct bz_tier *web, *dir;
    char path[400];

    start(s, &(struct nginx_opts){.nobody = true});
    forest_make(s->g->s->dir, "tree", 5, 40);
    tree = grove_store(s->g, "tree");
    web = open_http(s);
    assert_ok(push(s, web, &tree), &s->g->s->err);
    snprintf(path, sizeof(path), "%s/store", s->dir);
    assert_ok(bz_tier_dir_open(path, &opts, &dir, &s->g->s->err), &s->g->s->err);
    assert_ok(pull(s, dir, &tree), &s->g->s->err);
    dir->ops->close(dir);
    web->ops->close(web);
}

struct share {
    struct site *s;
    struct bz_tier *t;
    struct haul_blobs blobs;
    atomic_uint failed;
};

/* Some of the blobs, from one of several threads, to the server and back. */
static void haul_some(struct bz_worker *w, size_t begin, size_t end, void *arg)
{
    struct share *sh = arg;
    struct bz_tier_call call = {0};
    struct bz_err err;
    struct bz_tier_blob *at = &sh->blobs.at[begin];

    (void)w;
    if (bz_digest_hasher_new(&call.h, &err) < 0 ||
        sh->t->ops->put_blobs(sh->t, &call, at, end - begin, sh->s->g->s->cas, &err) <
            0 ||
        sh->t->ops->get_blobs(sh->t, &call, at, end - begin, sh->s->far, &err) < 0)
        atomic_fetch_add(&sh->failed, 1);
    bz_digest_hasher_free(call.h);
}

static void haul_all(struct bz_worker *w, void *arg)
{
    struct share *sh = arg;

    bz_pool_for(w, 0, sh->blobs.len, 7, haul_some, sh);
}

static void threads_share_one_tier(void **state)
{
    struct site *s = *state;
    struct share sh = {.s = s};

    start(s, &(struct nginx_opts){0});
    s->opts.http.concurrent = 6;
    sh.t = open_http(s);
    for (unsigned i = 0; i < 200; i++) {
        char text[32];

        snprintf(text, sizeof(text), "%u", i % 150); /* some of them twice */
        BZ_VEC_PUSH(&sh.blobs,
                    (struct bz_tier_blob){store_text(s->g->s, text), 1, false});
    }
    bz_pool_call(s->g->pool, haul_all, &sh);
    assert_int_equal(sh.failed, 0);
    for (size_t i = 0; i < sh.blobs.len; i++)
        assert_true(bz_cas_has(s->far, &sh.blobs.at[i].digest));
    bz_vec_release(&sh.blobs);
    sh.t->ops->close(sh.t);
}

/* Pushes and pulls a small tree; returns what pushing says, or else what pulling does.
 */
static int try_it(struct site *s)
{
    struct bz_tier *t = open_http(s);
    struct bz_reapi_digest tree;
    int rc;

    if (!bz_fs_exists(s->g->s->dir, "tree"))
        forest_make(s->g->s->dir, "tree", 5, 20);
    tree = grove_store(s->g, "tree");
    rc = push(s, t, &tree);
    if (rc == 0)
        rc = pull(s, t, &tree);
    t->ops->close(t);
    return rc;
}

static void a_user_and_a_password_are_asked_for(void **state)
{
    struct site *s = *state;
    struct store *own = s->g->s;
    char lines[400], url[256];

    put(own->dir, "users", "me:{PLAIN}s3cret/@\n");
    snprintf(lines, sizeof(lines), "auth_basic b; auth_basic_user_file %s/users;",
             own->scratch->path);
    start(s, &(struct nginx_opts){.location = lines});
    assert_int_equal(try_it(s), BZ_E_IO); /* HEAD is refused, too */
    assert_non_null(strstr(own->err.msg, "401"));
    s->opts.http.auth.user = "me";
    s->opts.http.auth.password = "wrong";
    assert_int_equal(try_it(s), BZ_E_IO);
    assert_null(strstr(own->err.msg, "wrong"));
    s->opts.http.auth.password = "s3cret/@";
    assert_ok(try_it(s), &own->err);
    s->opts.http.auth = (struct bz_http_auth){0};
    snprintf(url, sizeof(url), "http://me:s3cret%%2F%%40@127.0.0.1:%u/cache",
             s->x.port);
    s->opts.url = url;
    assert_ok(try_it(s), &own->err);
}

static void a_token_is_asked_for(void **state)
{
    struct site *s = *state;

    start(s, &(struct nginx_opts){.location =
                                      "if ($http_authorization != \"Bearer t0k/en=\") "
                                      "{ return 403; }"});
    s->opts.http.auth.bearer = "other";
    assert_int_equal(try_it(s), BZ_E_IO);
    s->opts.http.auth.bearer = "t0k/en=";
    assert_ok(try_it(s), &s->g->s->err);
}

static void a_server_that_only_reads_is_read_from(void **state)
{
    struct site *s = *state;
    struct bz_reapi_digest tree;
    struct bz_tier *t;

    start(s, &(struct nginx_opts){0});
    assert_ok(try_it(s), &s->g->s->err);
    nginx_stop(&s->x);
    s->x = nginx_start(
        s->dir, &(struct nginx_opts){.location = "limit_except GET { deny all; }"});
    t = open_http(s);
    forest_make(s->g->s->dir, "other", 6, 20);
    tree = grove_store(s->g, "other");
    assert_int_equal(push(s, t, &tree), BZ_E_NOSUP);
    tree = grove_store(s->g, "tree");
    assert_ok(pull(s, t, &tree), &s->g->s->err);
    t->ops->close(t);
}

static void a_limit_of_the_server_is_learnt(void **state)
{
    struct site *s = *state;
    struct store *own = s->g->s;
    const struct bz_tier_call call = {.h = own->h};
    struct bz_tier_blob blobs[3] = {{.digest = store_text(own, "small")}};
    char *bytes = calloc(1, 5000000);
    struct bz_tier *t;

    assert_ok(bz_cas_put(own->cas, own->h, bytes, 5000000, &blobs[1].digest, &own->err),
              &own->err);
    assert_ok(bz_cas_put(own->cas, own->h, bytes, 2000, &blobs[2].digest, &own->err),
              &own->err);
    start(s, &(struct nginx_opts){.location = "client_max_body_size 1000;"});
    t = open_http(s);
    assert_int_equal(t->ops->put_blobs(t, &call, blobs, 3, own->cas, &own->err),
                     BZ_E_LIMIT);
    assert_int_equal(blobs[0].status, 0);
    assert_int_equal(blobs[1].status, BZ_E_LIMIT);
    assert_int_equal(blobs[2].status, BZ_E_LIMIT);
    t->ops->close(t);
    free(bytes);
}

/* An authority, and two certificates by it: for the server and for us. */
static void make_certificates(struct site *s)
{
    static const char script[] =
        "set -e; cd \"$1\"; echo subjectAltName=IP:127.0.0.1 >ext\n"
        "key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'\n"
        "openssl req -x509 $key -keyout ca.key -out ca.pem -days 2 -subj /CN=ca\n"
        "for n in server us; do\n"
        "openssl req $key -keyout $n.key -out $n.req -subj /CN=$n\n"
        "openssl x509 -req -in $n.req -CA ca.pem -CAkey ca.key -CAcreateserial"
        " -days 2 -extfile ext -out $n.pem\n"
        "done\n";
    const char *const argv[] = {"sh", "-c", script, "sh", s->g->s->scratch->path, NULL};
    const struct bz_proc_spec spec = {.argv = argv,
                                      .deadline = bz_clock_in(60 * BZ_CLOCK_S)};
    struct bz_proc_result r;

    assert_ok(bz_proc_run(&spec, &r, &s->g->s->err), &s->g->s->err);
    assert_int_equal(r.exit_code, 0);
    bz_proc_pump_release_result(&r);
}

static void certificates_are_checked_on_both_sides(void **state)
{
    struct site *s = *state;
    struct store *own = s->g->s;
    const char *at = own->scratch->path;
    char lines[1500], ca[300], cert[300], key[300];

    if (!nginx_found())
        skip();
    make_certificates(s);
    snprintf(lines, sizeof(lines),
             "ssl_certificate %s/server.pem; ssl_certificate_key %s/server.key;\n"
             "ssl_client_certificate %s/ca.pem; ssl_verify_client on;\n",
             at, at, at);
    snprintf(ca, sizeof(ca), "%s/ca.pem", at);
    snprintf(cert, sizeof(cert), "%s/us.pem", at);
    snprintf(key, sizeof(key), "%s/us.key", at);
    start(s, &(struct nginx_opts){.listen = "ssl", .server = lines});
    s->opts.http.auth.cert = cert;
    s->opts.http.auth.key = key;
    assert_int_equal(try_it(s), BZ_E_IO); /* the system does not know the authority */
    assert_non_null(strstr(own->err.msg, "certificate"));
    s->opts.http.auth = (struct bz_http_auth){.ca = ca};
    assert_true(try_it(s) < 0); /* the server wants to know who we are */
    s->opts.http.auth = (struct bz_http_auth){.ca = ca, .cert = cert, .key = key};
    assert_ok(try_it(s), &own->err);
}

#define site_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        site_test(any_tree_comes_back_from_a_web_server),
        site_test(any_tree_comes_back_from_a_directory),
        site_test(what_a_server_keeps_is_a_directory_tier),
        site_test(threads_share_one_tier),
        site_test(a_user_and_a_password_are_asked_for),
        site_test(a_token_is_asked_for),
        site_test(a_server_that_only_reads_is_read_from),
        site_test(a_limit_of_the_server_is_learnt),
        site_test(certificates_are_checked_on_both_sides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
