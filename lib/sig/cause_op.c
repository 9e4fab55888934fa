#include "sig/cause_op.h"

#include "os/path.h"
#include "sig/lcs.h"

struct numbers BZ_VEC(uint32_t);

/* What a file of the first time is called at the second one. */
static struct bz_str name_now(struct bz_str file,
                              const struct bz_cause_op_rename *renamed,
                              struct bz_arena *arena)
{
    struct bz_str last = bz_path_basename(file);

    if (renamed->was.n == 0 || !bz_str_eq(last, renamed->was))
        return file;
    return BZ_ARENA_CONCAT(arena, bz_str_sub(file, 0, file.n - last.n), renamed->is);
}

/* Equal operations get the same number. */
static void number(const struct bz_record_input *in,
                   const struct bz_cause_op_rename *renamed, struct bz_map *known,
                   struct bz_arena *arena, struct numbers *out)
{
    for (size_t i = 0; in && i < in->nops; i++) {
        const struct bz_record_op *op = &in->ops[i];
        struct bz_str file = name_now(op->file, renamed, arena);
        uint32_t before = known->len;
        struct bz_map_entry *e = bz_map_put(
            known, bz_arena_printf(arena, "%zu %zu %.*s %.*s %.*s %llx", file.n,
                                   op->op.n, BZ_STR_ARG(file), BZ_STR_ARG(op->op),
                                   BZ_STR_ARG(op->flag), (unsigned long long)op->text));

        if (known->len > before)
            e->u = before;
        BZ_VEC_PUSH(out, (uint32_t)e->u);
    }
}

static enum bz_cause_op_about about_flag(struct bz_str flag)
{
    static const struct {
        const char *flag;
        enum bz_cause_op_about about;
    } known[] = {
        {"cleandirs",      BZ_CAUSE_OP_RUNS    },
        {"depends",        BZ_CAUSE_OP_WAITS   },
        {"deptask",        BZ_CAUSE_OP_WAITS   },
        {"dirs",           BZ_CAUSE_OP_RUNS    },
        {"export",         BZ_CAUSE_OP_READS   },
        {"exports",        BZ_CAUSE_OP_READS   },
        {"fakeroot",       BZ_CAUSE_OP_SANDBOX },
        {"file-checksums", BZ_CAUSE_OP_FILES   },
        {"mcdepends",      BZ_CAUSE_OP_WAITS   },
        {"network",        BZ_CAUSE_OP_SANDBOX },
        {"noexec",         BZ_CAUSE_OP_NOEXEC  },
        {"postfuncs",      BZ_CAUSE_OP_ORDER   },
        {"prefuncs",       BZ_CAUSE_OP_ORDER   },
        {"rdepends",       BZ_CAUSE_OP_WAITS   },
        {"rdeptask",       BZ_CAUSE_OP_WAITS   },
        {"recideptask",    BZ_CAUSE_OP_WAITS   },
        {"recrdeptask",    BZ_CAUSE_OP_WAITS   },
        {"umask",          BZ_CAUSE_OP_UMASK   },
        {"unexport",       BZ_CAUSE_OP_READS   },
        {"vardeps",        BZ_CAUSE_OP_VARDEPS },
        {"vardepsexclude", BZ_CAUSE_OP_EXCLUDES},
    };

    for (size_t i = 0; i < BZ_COUNTOF(known); i++)
        if (bz_str_eq(flag, bz_str_from(known[i].flag)))
            return known[i].about;
    return BZ_CAUSE_OP_VALUE;
}

static void push(struct bz_cause_op_edits *out, const struct bz_record_input *in,
                 const struct bz_record_op *was, const struct bz_record_op *is)
{
    struct bz_cause_op_edit edit = {.was = was, .is = is, .about = BZ_CAUSE_OP_VALUE};
    struct bz_str flag = {0};

    if (is)
        flag = is->flag;
    else if (was)
        flag = was->flag;
    if (!bz_str_ends(in->name, BZ_STR("]")))
        edit.about = about_flag(flag);
    edit.idle = (!was || was->off) && (!is || is->off);
    BZ_VEC_PUSH(out, edit);
}

/* One that could have become the other; the file is that of the first one. */
static bool may_be(const struct bz_record_op *was, struct bz_str file,
                   const struct bz_record_op *is)
{
    return bz_str_eq(file, is->file) && bz_str_eq(was->flag, is->flag);
}

void bz_cause_op_list(const struct bz_record_input *was,
                      const struct bz_record_input *is,
                      const struct bz_cause_op_rename *renamed,
                      struct bz_cause_op_edits *out)
{
    static const struct bz_cause_op_rename same;
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map known = {0};
    BZ_CLEANUP(bz_vec_release) struct numbers a = {0};
    BZ_CLEANUP(bz_vec_release) struct numbers b = {0};
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset in_a = {0}, in_b = {0};

    number(was, renamed, &known, &arena, &a);
    number(is, &same, &known, &arena, &b);
    bz_lcs_find(a.at, a.len, b.at, b.len, &in_a, &in_b);
    for (size_t i = 0; i < a.len; i++) {
        struct bz_str file;
        size_t k = 0;

        if (bz_bitset_test(&in_a, i))
            continue;
        file = name_now(was->ops[i].file, renamed, &arena);
        while (k < b.len &&
               (bz_bitset_test(&in_b, k) || !may_be(&was->ops[i], file, &is->ops[k])))
            k++;
        if (k < b.len)
            bz_bitset_set(&in_b, k);
        push(out, was, &was->ops[i], k < b.len ? &is->ops[k] : NULL);
    }
    for (size_t k = 0; k < b.len; k++)
        if (!bz_bitset_test(&in_b, k))
            push(out, is, NULL, &is->ops[k]);
}
