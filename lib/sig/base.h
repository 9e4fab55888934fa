/* base.h - the variables that a task's inputs are made from, and what else its key has.
 *
 * What is listed is for people: the inputs of a key (taskspec.h) are expanded, and the
 * texts they were expanded from say what somebody edited. Names stand for the build
 * directory and the layers (roots.h).
 *
 * To the digest of the inputs come files, the sandbox's policy, and the commits that
 * revisions were resolved to.
 */
#ifndef BZ_SIG_BASE_H
#define BZ_SIG_BASE_H

#include "base/buf.h"
#include "codec/digest.h"
#include "sig/deps.h"

/* One thing that counts. */
struct bz_base_input {
    struct bz_str name;         /* of a variable, or NAME[flag] */
    struct bz_str value;        /* what counts of it, as signed */
    struct bz_digest digest;    /* of both */
    const struct bz_str *leads; /* the inputs that it leads to directly, by name */
    size_t nleads;
};

struct bz_base_inputs BZ_VEC(struct bz_base_input);

/* A file whose content counts. */
struct bz_base_file {
    struct bz_str name;      /* relative to where it was found */
    struct bz_digest digest; /* of its content; zero if it is not there */
    bool present, executable;
    unsigned mode;   /* that the task sees; 0: it does not */
    unsigned origin; /* which of several places of files that have the same names */
};

struct bz_base_files BZ_VEC(struct bz_base_file);

struct bz_base;

/* The machine and the distro that a recipe is built for; p == NULL: not set, or its
 * results run on the build host. The texts live as long as the store. */
int bz_base_machine(struct bz_vars *v, struct bz_str *machine, struct bz_str *distro,
                    struct bz_err *err) BZ_MUST_CHECK;

/* The store has what counts (keystore.h); it must outlive *out and not change. */
int bz_base_new(struct bz_vars *v, struct bz_digest_hasher *hasher,
                struct bz_base **out, struct bz_err *err) BZ_MUST_CHECK;
void bz_base_free(struct bz_base *b); /* NULL is allowed */
void bz_base_freep(struct bz_base **b);

/* Adds variables, functions and flags (NAME[flag]), and all that they lead to: the
 * first one, then by name; the texts live as long as *b. Fails if a value cannot be
 * expanded or code not be read. */
int bz_base_list(struct bz_base *b, const struct bz_str *names, size_t n,
                 struct bz_base_inputs *inputs, struct bz_err *err) BZ_MUST_CHECK;

/* Adds the files that count, if there are any, to the digest of a task. */
void bz_base_add_files(struct bz_digest_hasher *hasher,
                       const struct bz_base_files *files, struct bz_digest *digest);

/* Adds what the sandbox of the task is like, a text. */
void bz_base_add_policy(struct bz_digest_hasher *hasher, struct bz_str policy,
                        struct bz_digest *digest);

/* Adds the commit that a revision was resolved to. */
void bz_base_add_commit(struct bz_digest_hasher *hasher, struct bz_str question,
                        struct bz_str commit, struct bz_digest *digest);

#endif
