/* base.h - the part of a task's signature that its own recipe decides.
 *
 * A digest of length-prefixed, tagged fields: the format's version, the recipe, the
 * task, its code, each variable that counts with what counts of it (deps.h) in the
 * order of their names, machine and distro; then files, and what the sandbox is like.
 * The user, the time and what passes from the environment of any user are no fields,
 * and names stand for the build directory and the layers (roots.h): where these lie
 * does not count.
 *
 * Machine and distro are left out for recipes that are built to run on the build host
 * (override class-native): these serve every machine.
 */
#ifndef BZ_SIG_BASE_H
#define BZ_SIG_BASE_H

#include "base/buf.h"
#include "codec/digest.h"
#include "sig/deps.h"

/* Changes when the same inputs are to give other digests, or other inputs count. It is
 * signed, and what is remembered (memo.h) is for one of them. */
#define BZ_BASE_FORMAT "bitzel signature 3"

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
};

struct bz_base_files BZ_VEC(struct bz_base_file);

struct bz_base;

/* The machine and the distro that a recipe is built for; p == NULL: not set, or its
 * results run on the build host. The texts live as long as the store. */
int bz_base_machine(struct bz_vars *v, struct bz_str *machine, struct bz_str *distro,
                    struct bz_err *err) BZ_MUST_CHECK;

/* The store, that of a recipe that is complete, must outlive *out and not change. */
int bz_base_new(struct bz_vars *v, struct bz_digest_hasher *hasher,
                struct bz_base **out, struct bz_err *err) BZ_MUST_CHECK;
void bz_base_free(struct bz_base *b); /* NULL is allowed */
void bz_base_freep(struct bz_base **b);

/* The digest of one task. `inputs`, if not NULL, gets what counted, the code first and
 * then by name; the texts live as long as *b. Fails if a value cannot be expanded or
 * code not be read. */
int bz_base_task(struct bz_base *b, struct bz_str task, struct bz_digest *out,
                 struct bz_base_inputs *inputs, struct bz_err *err) BZ_MUST_CHECK;

/* Adds warnings, one a line, about where paths of this host were written into what
 * counts for the tasks so far. */
void bz_base_leaks(struct bz_base *b, struct bz_buf *notes);

/* Adds the files that count, if there are any, to the digest of a task. */
void bz_base_add_files(struct bz_digest_hasher *hasher,
                       const struct bz_base_files *files, struct bz_digest *digest);

/* Adds what the sandbox of the task is like, a text. */
void bz_base_add_policy(struct bz_digest_hasher *hasher, struct bz_str policy,
                        struct bz_digest *digest);

#endif
