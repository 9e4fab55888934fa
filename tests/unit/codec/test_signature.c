#include "codec/signature.h"

#include "tests/unit/bz_test.h"

static void bytes_of(const char *hex, uint8_t *out)
{
    for (; *hex; hex += 2) {
        unsigned byte = 0;

        for (int i = 0; i < 2; i++)
            byte = byte * 16 +
                   (unsigned)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
        *out++ = (uint8_t)byte;
    }
}

/* RFC 8032, section 7.1, tests 1 to 3. */
static const struct {
    const char *secret, *public_half, *message;
    size_t n;
    const char *signature;
} vectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",         0,
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc"
     "6"
     "1e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "\x72",     1,
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e4"
     "5"
     "8f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "\xaf\x82", 2,
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290a"
     "e"
     "67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
};

static void the_standards_vectors_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(vectors); i++) {
        struct bz_signature_secret secret;
        struct bz_signature_public want, got;
        struct bz_signature right, made;
        struct bz_err err = {0};

        bytes_of(vectors[i].secret, secret.b);
        bytes_of(vectors[i].public_half, want.b);
        bytes_of(vectors[i].signature, right.b);
        assert_ok(bz_signature_public_of(&secret, &got, &err), &err);
        assert_memory_equal(&got, &want, sizeof(got));
        assert_ok(
            bz_signature_make(&secret, vectors[i].message, vectors[i].n, &made, &err),
            &err);
        assert_memory_equal(&made, &right, sizeof(made));
        assert_true(
            bz_signature_check(&want, vectors[i].message, vectors[i].n, &right));
    }
}

static void a_flipped_bit_anywhere_is_found(void **state)
{
    struct bz_signature_secret secret;
    struct bz_signature_public key;
    struct bz_signature s;
    struct bz_err err = {0};
    char text[] = "text";

    (void)state;
    assert_ok(bz_signature_new(&secret, &err), &err);
    assert_ok(bz_signature_public_of(&secret, &key, &err), &err);
    assert_ok(bz_signature_make(&secret, text, 4, &s, &err), &err);
    assert_true(bz_signature_check(&key, text, 4, &s));
    for (size_t i = 0; i < sizeof(s.b) * 8; i++) {
        s.b[i / 8] ^= (uint8_t)(1U << i % 8);
        assert_false(bz_signature_check(&key, text, 4, &s));
        s.b[i / 8] ^= (uint8_t)(1U << i % 8);
    }
    for (size_t i = 0; i < sizeof(key.b) * 8; i++) {
        key.b[i / 8] ^= (uint8_t)(1U << i % 8);
        assert_false(bz_signature_check(&key, text, 4, &s));
        key.b[i / 8] ^= (uint8_t)(1U << i % 8);
    }
    text[0] = 'T';
    assert_false(bz_signature_check(&key, text, 4, &s));
    text[0] = 't';
    assert_false(bz_signature_check(&key, text, 3, &s));
    assert_true(bz_signature_check(&key, text, 4, &s));
}

static void secrets_differ_and_can_be_forgotten(void **state)
{
    static const struct bz_signature_secret none;
    struct bz_signature_secret a, b;
    struct bz_err err = {0};

    (void)state;
    assert_ok(bz_signature_new(&a, &err), &err);
    assert_ok(bz_signature_new(&b, &err), &err);
    assert_memory_not_equal(&a, &b, sizeof(a));
    bz_signature_forget(&a);
    assert_memory_equal(&a, &none, sizeof(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_standards_vectors_hold),
        cmocka_unit_test(a_flipped_bit_anywhere_is_found),
        cmocka_unit_test(secrets_differ_and_can_be_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
