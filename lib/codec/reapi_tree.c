#include "base/vec.h"
#include "codec/reapi.h"

#define ROOT_TAG 0x0a
#define CHILD_TAG 0x12

static void add_varint(struct bz_buf *out, size_t n)
{
    for (; n >= 0x80; n >>= 7)
        bz_buf_add_char(out, (char)(n | 0x80));
    bz_buf_add_char(out, (char)n);
}

void bz_reapi_tree_encode(const struct bz_reapi_tree *tree, struct bz_buf *out)
{
    for (size_t i = 0; i < tree->ndirs; i++) {
        bz_buf_add_char(out, i == 0 ? ROOT_TAG : CHILD_TAG);
        add_varint(out, tree->dirs[i].n);
        bz_buf_add_str(out, tree->dirs[i]);
    }
}

/* Takes a length off *rest; false if there is none or it goes beyond what follows. */
static bool take_length(struct bz_str *rest, size_t *n)
{
    *n = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        uint8_t byte;

        if (rest->n == 0)
            return false;
        byte = (uint8_t)rest->p[0];
        *rest = bz_str_sub(*rest, 1, rest->n);
        *n |= (size_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return *n <= rest->n;
    }
    return false;
}

struct dir_list BZ_VEC(struct bz_str);

int bz_reapi_tree_decode(struct bz_arena *a, struct bz_str bytes,
                         struct bz_reapi_tree *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct dir_list dirs = {0};

    if (bytes.n > BZ_REAPI_TREE_MAX)
        return bz_fail(err, BZ_E_LIMIT, "a tree of %zu bytes", bytes.n);
    for (struct bz_str rest = bytes; rest.n > 0;) {
        char want = dirs.len == 0 ? ROOT_TAG : CHILD_TAG;
        char tag = rest.p[0];
        size_t n;

        rest = bz_str_sub(rest, 1, rest.n);
        if (tag != want || !take_length(&rest, &n))
            return bz_fail(err, BZ_E_CORRUPT, "not a tree: byte %zu",
                           bytes.n - rest.n - 1);
        if (dirs.len == BZ_REAPI_TREE_DIRS)
            return bz_fail(err, BZ_E_LIMIT, "a tree of more than %zu directories",
                           BZ_REAPI_TREE_DIRS);
        BZ_VEC_PUSH(&dirs, bz_str_sub(rest, 0, n));
        rest = bz_str_sub(rest, n, rest.n);
    }
    if (dirs.len == 0)
        return bz_fail(err, BZ_E_CORRUPT, "a tree without a root");
    out->ndirs = dirs.len;
    out->dirs = BZ_ARENA_ARRAY(a, struct bz_str, dirs.len);
    memcpy(out->dirs, dirs.at, dirs.len * sizeof(*dirs.at));
    return 0;
}
