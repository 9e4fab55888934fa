/* record_diff.h - what differs between two tasks of records, or one task at two times.
 */
#ifndef BZ_SIG_RECORD_DIFF_H
#define BZ_SIG_RECORD_DIFF_H

#include "sig/record.h"

/* Something that both, or only one of them has: the other pointer is NULL. */
struct bz_record_diff_input {
    struct bz_str name;
    const struct bz_record_input *was, *is;
};

struct bz_record_diff_inputs BZ_VEC(struct bz_record_diff_input);

struct bz_record_diff_file {
    struct bz_str name;
    const struct bz_record_file *was, *is;
};

struct bz_record_diff_dep {
    struct bz_str name;
    const struct bz_record_dep *was, *is; /* both: the key differs */
};

struct bz_record_diff_commit {
    struct bz_str question, was, is; /* p == NULL: it had, or has, none */
};

struct bz_record_diff {
    struct bz_record_diff_inputs fields; /* of the key */
    struct bz_record_diff_commits BZ_VEC(struct bz_record_diff_commit) commits;
    struct bz_record_diff_inputs inputs; /* what these are made from */
    struct bz_record_diff_files BZ_VEC(struct bz_record_diff_file) files;
    struct bz_record_diff_deps BZ_VEC(struct bz_record_diff_dep) deps;
    bool machine, distro, policy, taint; /* these differ */
};

/* Fills *d, which is empty, with what differs, by name. */
void bz_record_diff_run(struct bz_record_diff *d, const struct bz_record_task *was,
                        const struct bz_record_task *is);
void bz_record_diff_release(struct bz_record_diff *d);

/* Whether nothing differs, neither key nor base. */
bool bz_record_diff_same(const struct bz_record_task *was,
                         const struct bz_record_task *is);

#endif
