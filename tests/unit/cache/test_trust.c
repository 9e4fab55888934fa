#include "cache/trust.h"

#include "tests/unit/cache/store.h"

#define DIGITS "1234567812345678123456781234567812345678123456781234567812345678"

static const struct bz_digest key = {{1}};
static const struct bz_digest other = {{2}};

/* Two signers, and a result with a label. */
struct office {
    struct store *s;
    struct bz_arena a;
    struct bz_trust_signer signer[2];
    struct bz_signature_public keys[2];
    struct bz_reapi_aux label;
    struct bz_reapi_outfile file;
    struct bz_reapi_result r;
};

static int setup(void **state)
{
    struct office *o = calloc(1, sizeof(*o));
    void *s;

    if (store_setup(&s) < 0)
        return -1;
    o->s = s;
    for (int i = 0; i < 2; i++) {
        if (bz_signature_new(&o->signer[i].secret, &o->s->err) < 0 ||
            bz_signature_public_of(&o->signer[i].secret, &o->keys[i], &o->s->err) < 0)
            return -1;
        bz_trust_id(o->s->h, &o->keys[i], &o->signer[i].id);
    }
    o->label = (struct bz_reapi_aux){BZ_STR("bitzel/task"), BZ_STR("do_build")};
    o->file = (struct bz_reapi_outfile){
        .path = BZ_STR("out"), .digest = {.hash = {{7}}, .size = 3}
    };
    o->r = (struct bz_reapi_result){
        .files = &o->file, .nfiles = 1, .aux = &o->label, .naux = 1};
    *state = o;
    return 0;
}

static int teardown(void **state)
{
    struct office *o = *state;
    void *s = o->s;

    bz_arena_release(&o->a);
    free(o);
    return store_teardown(&s);
}

static struct bz_reapi_result sign(struct office *o, int who)
{
    struct bz_reapi_result out;

    assert_ok(
        bz_trust_sign(&o->a, o->s->h, &o->signer[who], &key, &o->r, &out, &o->s->err),
        &o->s->err);
    return out;
}

static enum bz_trust_verdict check(struct office *o, const struct bz_digest *k,
                                   const struct bz_reapi_result *r)
{
    return bz_trust_check(o->s->h, o->keys, 1, k, r); /* only the first is trusted */
}

static void a_signed_result_is_trusted_also_after_a_journey(void **state)
{
    struct office *o = *state;
    struct bz_reapi_result r = sign(o, 0), got;
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};

    assert_int_equal(check(o, &key, &r), BZ_TRUST_GOOD);
    assert_ok(bz_reapi_result_encode(&r, o->s->h, &bytes, &o->s->err), &o->s->err);
    assert_ok(
        bz_reapi_result_decode(&o->a, bz_buf_str(&bytes), o->s->h, &got, &o->s->err),
        &o->s->err);
    assert_true(got.sealed);
    assert_int_equal(check(o, &key, &got), BZ_TRUST_GOOD);
    /* It can be signed again, and one good signature is enough. */
    o->r = sign(o, 1);
    r = sign(o, 0);
    assert_int_equal(r.naux, 3);
    assert_int_equal(check(o, &key, &r), BZ_TRUST_GOOD);
}

static void what_is_unsigned_or_signed_by_a_stranger_is_not(void **state)
{
    struct office *o = *state;
    struct bz_reapi_result r = sign(o, 1);

    assert_int_equal(check(o, &key, &o->r), BZ_TRUST_UNSIGNED);
    assert_int_equal(check(o, &key, &r), BZ_TRUST_STRANGER);
    r = sign(o, 0);
    assert_int_equal(bz_trust_check(o->s->h, NULL, 0, &key, &r), BZ_TRUST_STRANGER);
}

static void a_result_under_another_key_is_forged(void **state)
{
    struct office *o = *state;
    struct bz_reapi_result r = sign(o, 0);

    assert_int_equal(check(o, &other, &r), BZ_TRUST_FORGED);
}

static void whatever_is_changed_breaks_the_signature(void **state)
{
    struct office *o = *state;
    struct bz_reapi_result r = sign(o, 0);

    r.exit_code = 1;
    assert_int_equal(check(o, &key, &r), BZ_TRUST_FORGED);
    r.exit_code = 0;
    o->file.digest.hash.b[0] ^= 1;
    assert_int_equal(check(o, &key, &r), BZ_TRUST_FORGED);
    o->file.digest.hash.b[0] ^= 1;
    r.aux[0].value = BZ_STR("do_other");
    assert_int_equal(check(o, &key, &r), BZ_TRUST_FORGED);
    r.aux[0].value = BZ_STR("do_build");
    r.nfiles = 0;
    assert_int_equal(check(o, &key, &r), BZ_TRUST_FORGED);
    r.nfiles = 1;
    assert_int_equal(check(o, &key, &r), BZ_TRUST_GOOD);
}

static void a_signature_cut_short_or_flipped_is_none(void **state)
{
    struct office *o = *state;
    struct bz_reapi_result r = sign(o, 0);
    struct bz_str whole = r.aux[1].value;
    char *bytes = bz_arena_alloc(&o->a, whole.n, 1);

    for (size_t n = 0; n < whole.n; n++) {
        r.aux[1].value = bz_str_sub(whole, 0, n);
        assert_int_equal(check(o, &key, &r), BZ_TRUST_UNSIGNED);
    }
    r.aux[1].value = bz_str_of(bytes, whole.n);
    for (size_t i = 0; i < whole.n * 8; i++) {
        memcpy(bytes, whole.p, whole.n);
        bytes[i / 8] = (char)(bytes[i / 8] ^ (1 << i % 8));
        assert_int_not_equal(check(o, &key, &r), BZ_TRUST_GOOD);
    }
}

/* One's own id with another's signature, and a good one behind too many bad ones. */
static void a_claimed_id_does_not_help_and_few_are_looked_at(void **state)
{
    struct office *o = *state;
    struct bz_trust_signer liar = {o->signer[1].secret, o->signer[0].id};
    struct bz_reapi_result r;

    assert_ok(bz_trust_sign(&o->a, o->s->h, &liar, &key, &o->r, &r, &o->s->err),
              &o->s->err);
    assert_int_equal(check(o, &key, &r), BZ_TRUST_FORGED);
    for (int i = 0; i < BZ_TRUST_CHECKED; i++)
        o->r = sign(o, 1);
    r = sign(o, 0);
    assert_int_equal(check(o, &key, &r), BZ_TRUST_STRANGER);
}

static void keys_are_files_and_the_secret_one_is_private(void **state)
{
    struct office *o = *state;
    struct bz_signature_public made, read;
    struct bz_trust_signer signer;
    struct bz_err *err = &o->s->err;
    struct bz_digest id;
    char dir[320], path[340];
    struct stat st;

    snprintf(dir, sizeof(dir), "%s/state/keys", o->s->scratch->path);
    assert_int_equal(bz_trust_load_public(dir, BZ_STR("ci"), &read, err), BZ_E_NOENT);
    assert_ok(bz_trust_new_key(dir, BZ_STR("ci"), &made, err), err);
    assert_ok(bz_trust_load_public(dir, BZ_STR("ci"), &read, err), err);
    assert_memory_equal(&read, &made, sizeof(read));
    assert_ok(bz_trust_load_secret(dir, BZ_STR("ci"), &signer, err), err);
    bz_trust_id(o->s->h, &made, &id);
    assert_true(bz_digest_eq(&signer.id, &id));
    assert_int_equal(bz_trust_new_key(dir, BZ_STR("ci"), &made, err), BZ_E_EXISTS);
    snprintf(path, sizeof(path), "%s/ci.key", dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(bz_trust_load_secret(dir, BZ_STR("ci"), &signer, err), BZ_E_INVAL);
    assert_non_null(strstr(err->msg, "chmod 600"));
}

static void a_file_that_is_no_key_is_the_users_error(void **state)
{
    static const char *const texts[] = {"", "ed25519", "ed25519 12", "rsa " DIGITS,
                                        "ed25519-secret " DIGITS};
    struct office *o = *state;
    struct bz_signature_public read;
    struct bz_err *err = &o->s->err;

    for (size_t i = 0; i < BZ_COUNTOF(texts); i++) {
        put(o->s->dir, "x.pub", texts[i]);
        assert_int_equal(
            bz_trust_load_public(o->s->scratch->path, BZ_STR("x"), &read, err),
            BZ_E_INVAL);
    }
}

static void a_name_cannot_lead_out_of_the_directory(void **state)
{
    static const char *const wrong[] = {
        "", ".", "..", "../x", "a/b", "-x", "a b", ".x",
    };
    struct office *o = *state;
    struct bz_signature_public read;

    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        assert_false(bz_trust_is_name(bz_str_from(wrong[i])));
        assert_int_equal(bz_trust_new_key(o->s->scratch->path, bz_str_from(wrong[i]),
                                          &read, &o->s->err),
                         BZ_E_INVAL);
    }
    assert_false(bz_trust_is_name(BZ_STR(DIGITS "1"))); /* too long by a byte */
    assert_true(bz_trust_is_name(BZ_STR("ci-2@build.example")));
}

#define office_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        office_test(a_signed_result_is_trusted_also_after_a_journey),
        office_test(what_is_unsigned_or_signed_by_a_stranger_is_not),
        office_test(a_result_under_another_key_is_forged),
        office_test(whatever_is_changed_breaks_the_signature),
        office_test(a_signature_cut_short_or_flipped_is_none),
        office_test(a_claimed_id_does_not_help_and_few_are_looked_at),
        office_test(keys_are_files_and_the_secret_one_is_private),
        office_test(a_file_that_is_no_key_is_the_users_error),
        office_test(a_name_cannot_lead_out_of_the_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
