/* spec.h - what a child in a sandbox sees and may do, as a value.
 *
 * A spec is written down first and applied later (spawn.h): it can be printed, hashed
 * and tested without any privilege. It has two kinds of parts. The policy is the same
 * on every machine: which names of the host are shown, the network, the user, limits.
 * It is text that enters signatures. The rest says where on this machine the work lies:
 * sources of writable mounts, layers, the program and its environment.
 *
 * Paths inside are absolute and plain: no "..", no "//", no slash at the end. A later
 * entry may lie below an earlier one, and must come after it.
 *
 * Texts are copied into the spec. One thread at a time.
 */
#ifndef BZ_SANDBOX_SPEC_H
#define BZ_SANDBOX_SPEC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"

enum bz_spec_kind {
    BZ_SPEC_DIR,     /* an empty directory, read-only */
    BZ_SPEC_FILE,    /* a file with the bytes of `source`, read-only */
    BZ_SPEC_TEXT,    /* the same, with bytes that are this sandbox's alone */
    BZ_SPEC_LINK,    /* a symbolic link to `source` */
    BZ_SPEC_HOST,    /* the same path of the host, read-only: a link as a link, nothing
                        if the host has none */
    BZ_SPEC_SHOW,    /* `source` of the host with all below it, read-only */
    BZ_SPEC_WORK,    /* `source` of the host, to be written to */
    BZ_SPEC_DEVICE,  /* the host's device `source` */
    BZ_SPEC_TMPFS,   /* empty and writable, in memory; `source` is its size */
    BZ_SPEC_PROC,    /* the sandbox's own processes */
    BZ_SPEC_PTS,     /* its own terminals */
    BZ_SPEC_OVERLAY, /* layers, see bz_spec_overlay() */
};

struct bz_spec_entry {
    enum bz_spec_kind kind;
    const char *target;   /* inside */
    struct bz_str source; /* a C string unless it is the bytes of a file */
};

struct bz_spec_entries BZ_VEC(struct bz_spec_entry);
struct bz_spec_words BZ_VEC(const char *);

/* Layers that lie on each other: what is written goes to `upper`. */
struct bz_spec_layers {
    const char *dir;   /* of symbolic links 0 to n - 1, which lead to the layers; 0 is
                          the topmost */
    uint32_t n;        /* with 0 the upper directory is all there is */
    const char *upper; /* a directory of the host */
    const char *work;  /* an empty one on the same file system */
};

struct bz_spec_limit {
    int resource; /* RLIMIT_... */
    uint64_t soft, hard;
};

struct bz_spec_limits BZ_VEC(struct bz_spec_limit);
struct bz_spec_fds BZ_VEC(int);

struct bz_spec {
    struct bz_arena arena;
    struct bz_spec_entries entries;
    struct bz_spec_layers layers;
    struct bz_spec_limits limits;
    struct bz_spec_fds locks;
    bool network;  /* the host's; otherwise there is only a loopback device */
    bool root;     /* user 0 inside instead of BZ_SPEC_USER */
    bool terminal; /* it stays in our session and process group, with our terminal */
    mode_t umask;
    const char *hostname;           /* NULL: BZ_SPEC_HOSTNAME */
    const char *cwd;                /* inside; NULL: "/" */
    struct bz_spec_words argv, env; /* argv[0] is a path inside */
};

#define BZ_SPEC_USER 1000 /* and group */
#define BZ_SPEC_HOSTNAME "bitzel"

void bz_spec_init(struct bz_spec *s); /* umask 022, nothing else */
void bz_spec_release(struct bz_spec *s);

/* BZ_E_INVAL for a target that is not plain, or a source that is not absolute where it
 * is a path of the host. */
int bz_spec_add(struct bz_spec *s, enum bz_spec_kind kind, const char *target,
                struct bz_str source, struct bz_err *err) BZ_MUST_CHECK;
int bz_spec_overlay(struct bz_spec *s, const char *target,
                    const struct bz_spec_layers *layers,
                    struct bz_err *err) BZ_MUST_CHECK;
void bz_spec_arg(struct bz_spec *s, const char *word);
/* "NAME=value". */
void bz_spec_env(struct bz_spec *s, const char *word);
/* Sets a limit of the child and of all it starts; RLIM_INFINITY is none. What is more
 * than we have to give is what we have. */
void bz_spec_limit(struct bz_spec *s, int resource, uint64_t soft, uint64_t hard);
/* A file, open as `fd`, that is to be locked before the program starts and until it has
 * ended: the sandbox waits for it. The descriptor is taken over. Whoever has several
 * must name them in the same order everywhere, and none twice. BZ_E_LIMIT if there are
 * more than BZ_SPEC_LOCKS. */
#define BZ_SPEC_LOCKS 16
int bz_spec_lock(struct bz_spec *s, int fd, struct bz_err *err) BZ_MUST_CHECK;

/* Whether the entry with that number is the same for all sandboxes of its kind, and
 * lies below none that is not: such entries need to be made only once. */
bool bz_spec_is_fixed(const struct bz_spec *s, size_t i);

/* The policy, or all of it, one part a line. */
enum bz_spec_part { BZ_SPEC_POLICY, BZ_SPEC_WHOLE };
void bz_spec_print(const struct bz_spec *s, enum bz_spec_part part, struct bz_buf *out);

#endif
