#include "cache/trust.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"
#include "os/path.h"

#define VERSION 1
#define AUX_LEN (1 + BZ_DIGEST_LEN + BZ_SIGNATURE_LEN)
#define FILE_MAX 4096
#define PUBLIC_WORD "ed25519"
#define SECRET_WORD "ed25519-secret"

bool bz_trust_is_name(struct bz_str s)
{
    if (s.n == 0 || s.n > BZ_TRUST_NAME || s.p[0] == '.' || s.p[0] == '-' ||
        s.p[0] == '@' || s.p[0] == '_')
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
            c != '_' && c != '-' && c != '.' && c != '@')
            return false;
    }
    return true;
}

void bz_trust_id(struct bz_digest_hasher *h, const struct bz_signature_public *key,
                 struct bz_digest *out)
{
    bz_digest_bytes(h, key->b, sizeof(key->b), out);
}

static bool is_signature(const struct bz_reapi_aux *aux)
{
    return bz_str_eq(aux->type, BZ_STR(BZ_TRUST_AUX));
}

/* The result without its signatures; its list is in the arena. */
static struct bz_reapi_result strip(struct bz_arena *a, const struct bz_reapi_result *r)
{
    struct bz_reapi_result out = *r;

    out.aux = BZ_ARENA_ARRAY(a, struct bz_reapi_aux, r->naux);
    out.naux = 0;
    for (size_t i = 0; i < r->naux; i++)
        if (!is_signature(&r->aux[i]))
            out.aux[out.naux++] = r->aux[i];
    return out;
}

/* What is signed. */
static int summarise(struct bz_arena *a, struct bz_digest_hasher *h,
                     const struct bz_digest *key, const struct bz_reapi_result *r,
                     struct bz_digest *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    struct bz_reapi_result bare = strip(a, r);
    int rc = bz_reapi_result_encode(&bare, h, &bytes, err);

    if (rc < 0)
        return rc;
    bz_digest_begin(h);
    bz_digest_add_field(h, 1, BZ_TRUST_DOMAIN, sizeof(BZ_TRUST_DOMAIN) - 1);
    bz_digest_add_field(h, 2, key->b, sizeof(key->b));
    bz_digest_add_field(h, 3, bytes.data, bytes.len);
    bz_digest_end(h, out);
    return 0;
}

int bz_trust_sign(struct bz_arena *a, struct bz_digest_hasher *h,
                  const struct bz_trust_signer *signer, const struct bz_digest *key,
                  const struct bz_reapi_result *r, struct bz_reapi_result *out,
                  struct bz_err *err)
{
    struct bz_signature s;
    struct bz_reapi_aux *aux;
    struct bz_digest summary;
    char *value;
    int rc = summarise(a, h, key, r, &summary, err);

    if (rc == 0)
        rc = bz_signature_make(&signer->secret, summary.b, sizeof(summary.b), &s, err);
    if (rc < 0)
        return rc;
    value = bz_arena_alloc(a, AUX_LEN, 1);
    value[0] = VERSION;
    memcpy(value + 1, signer->id.b, BZ_DIGEST_LEN);
    memcpy(value + 1 + BZ_DIGEST_LEN, s.b, BZ_SIGNATURE_LEN);
    aux = BZ_ARENA_ARRAY(a, struct bz_reapi_aux, r->naux + 1);
    for (size_t i = 0; i < r->naux; i++)
        aux[i] = r->aux[i];
    aux[r->naux] =
        (struct bz_reapi_aux){BZ_STR(BZ_TRUST_AUX), bz_str_of(value, AUX_LEN)};
    *out = *r; /* which may be the same */
    out->aux = aux;
    out->naux++;
    return 0;
}

/* The key that a signature names, or NULL if it is none of ours. */
static const struct bz_signature_public *
named_key(struct bz_digest_hasher *h, const struct bz_signature_public *keys, size_t n,
          struct bz_str value)
{
    for (size_t i = 0; i < n; i++) {
        struct bz_digest id;

        bz_trust_id(h, &keys[i], &id);
        if (memcmp(id.b, value.p + 1, BZ_DIGEST_LEN) == 0)
            return &keys[i];
    }
    return NULL;
}

enum bz_trust_verdict bz_trust_check(struct bz_digest_hasher *h,
                                     const struct bz_signature_public *keys, size_t n,
                                     const struct bz_digest *key,
                                     const struct bz_reapi_result *r)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    enum bz_trust_verdict verdict = BZ_TRUST_UNSIGNED;
    struct bz_digest summary;
    struct bz_err err;
    size_t seen = 0;

    if (summarise(&a, h, key, r, &summary, &err) < 0)
        return BZ_TRUST_UNSIGNED;
    for (size_t i = 0; i < r->naux && seen < BZ_TRUST_CHECKED; i++) {
        struct bz_str value = r->aux[i].value;
        const struct bz_signature_public *by;
        struct bz_signature s;

        if (!is_signature(&r->aux[i]))
            continue;
        seen++;
        if (value.n != AUX_LEN || value.p[0] != VERSION)
            continue;
        by = named_key(h, keys, n, value);
        memcpy(s.b, value.p + 1 + BZ_DIGEST_LEN, sizeof(s.b));
        if (by && bz_signature_check(by, summary.b, sizeof(summary.b), &s))
            return BZ_TRUST_GOOD;
        if (by)
            verdict = BZ_TRUST_FORGED;
        else if (verdict == BZ_TRUST_UNSIGNED)
            verdict = BZ_TRUST_STRANGER;
    }
    return verdict;
}

static int path_of(const char *dir, struct bz_str name, const char *ending,
                   struct bz_path *out, struct bz_err *err)
{
    char file[BZ_TRUST_NAME + 8];

    if (!bz_trust_is_name(name))
        return bz_fail(err, BZ_E_INVAL,
                       "'%.*s' cannot be the name of a key: letters, digits and ._-@, "
                       "%d at most",
                       BZ_STR_ARG(bz_str_sub(name, 0, name.n > 64 ? 64 : name.n)),
                       BZ_TRUST_NAME);
    memcpy(file, name.p, name.n);
    memcpy(file + name.n, ending, strlen(ending) + 1);
    return bz_path_join(bz_str_from(dir), bz_str_from(file), out, err);
}

/* Writes "WORD HEX NAME" into a new file. */
static int write_key(const struct bz_path *path, const char *word, const uint8_t *bytes,
                     struct bz_str name, mode_t mode, struct bz_err *err)
{
    char text[256], hex[BZ_SIGNATURE_HEX_LEN + 1];
    struct bz_digest as_digest;
    int n, rc;
    BZ_CLEANUP(bz_fs_closep) int fd = -1;

    memcpy(as_digest.b, bytes, sizeof(as_digest.b));
    bz_digest_hex(&as_digest, hex);
    n = snprintf(text, sizeof(text), "%s %s %.*s\n", word, hex, BZ_STR_ARG(name));
    fd = open(path->s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    rc = fd < 0 ? bz_fail_sys(err, "make %s", path->s)
                : bz_fs_write_all(fd, path->s, text, (size_t)n, err);
    if (rc == 0 && fsync(fd) < 0)
        rc = bz_fail_sys(err, "write %s", path->s);
    explicit_bzero(text, sizeof(text));
    explicit_bzero(hex, sizeof(hex));
    explicit_bzero(&as_digest, sizeof(as_digest));
    return rc;
}

int bz_trust_new_key(const char *dir, struct bz_str name,
                     struct bz_signature_public *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_signature_forget) struct bz_signature_secret secret = {{0}};
    struct bz_path secret_path, public_path;
    int rc = path_of(dir, name, ".key", &secret_path, err);

    if (rc == 0)
        rc = path_of(dir, name, ".pub", &public_path, err);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, dir, S_IRWXU, err);
    if (rc == 0 && bz_fs_exists(AT_FDCWD, public_path.s))
        rc = bz_fail(err, BZ_E_EXISTS, "there is a key '%.*s' already: %s",
                     BZ_STR_ARG(name), public_path.s);
    if (rc == 0)
        rc = bz_signature_new(&secret, err);
    if (rc == 0)
        rc = bz_signature_public_of(&secret, out, err);
    if (rc == 0)
        rc = write_key(&secret_path, SECRET_WORD, secret.b, name, S_IRUSR | S_IWUSR,
                       err);
    if (rc == 0)
        rc = write_key(&public_path, PUBLIC_WORD, out->b, name, 0644, err);
    return rc;
}

/* The 32 bytes that "WORD HEX ..." tells. */
static int parse_key(struct bz_str text, const char *word, const char *path,
                     uint8_t out[BZ_SIGNATURE_KEY_LEN], struct bz_err *err)
{
    struct bz_str first, hex;
    struct bz_digest bytes;

    if (!bz_str_next_word(&text, &first) || !bz_str_eq(first, bz_str_from(word)) ||
        !bz_str_next_word(&text, &hex) || bz_digest_parse(hex, &bytes, err) < 0)
        return bz_fail(err, BZ_E_INVAL, "%s: expected \"%s\" and 64 digits", path,
                       word);
    memcpy(out, bytes.b, sizeof(bytes.b));
    explicit_bzero(&bytes, sizeof(bytes));
    return 0;
}

static int read_key(const struct bz_path *path, bool secret,
                    uint8_t out[BZ_SIGNATURE_KEY_LEN], struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct stat st;
    size_t n = 0;
    int rc = bz_fs_open_file(AT_FDCWD, path->s, &fd, err);

    if (rc == 0 && fstat(fd, &st) < 0)
        rc = bz_fail_sys(err, "stat %s", path->s);
    if (rc == 0 && secret && (st.st_mode & (S_IRWXG | S_IRWXO)))
        rc =
            bz_fail(err, BZ_E_INVAL,
                    "%s is a secret that others may read: chmod 600, or make a new one",
                    path->s);
    if (rc == 0)
        rc = bz_fs_read_fd(fd, path->s, FILE_MAX, &text, &n, err);
    if (rc == 0)
        rc = parse_key(bz_str_of(text, n), secret ? SECRET_WORD : PUBLIC_WORD, path->s,
                       out, err);
    if (text)
        explicit_bzero(text, n);
    return rc;
}

int bz_trust_load_secret(const char *dir, struct bz_str name,
                         struct bz_trust_signer *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct bz_signature_public public_half;
    struct bz_path path;
    int rc = path_of(dir, name, ".key", &path, err);

    if (rc == 0)
        rc = read_key(&path, true, out->secret.b, err);
    if (rc == 0)
        rc = bz_signature_public_of(&out->secret, &public_half, err);
    if (rc == 0)
        rc = bz_digest_hasher_new(&h, err);
    if (rc == 0)
        bz_trust_id(h, &public_half, &out->id);
    return rc;
}

int bz_trust_load_public(const char *dir, struct bz_str name,
                         struct bz_signature_public *out, struct bz_err *err)
{
    struct bz_path path;
    int rc = path_of(dir, name, ".pub", &path, err);

    return rc < 0 ? rc : read_key(&path, false, out->b, err);
}
