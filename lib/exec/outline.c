#include "exec/outline.h"

#include <sys/resource.h>

#include "sandbox/host.h"

/* Changes when sandboxes are made in another way that their specs do not tell. */
#define FORMAT "sandbox 3\n"
#define BARE "landlock 4\n"
#define DIGITS 12

/* What programs may take must not depend on who starts them, nor grow without end. */
static void add_limits(struct bz_spec *spec)
{
    enum { FILES = 4096, FILES_MOST = 65536, PROCESSES = 8192 };
    const uint64_t stack = (uint64_t)8 << 20;

    bz_spec_limit(spec, RLIMIT_CORE, 0, 0);
    bz_spec_limit(spec, RLIMIT_NOFILE, FILES, FILES_MOST);
    bz_spec_limit(spec, RLIMIT_STACK, stack, RLIM_INFINITY); /* compilers raise it */
    bz_spec_limit(spec, RLIMIT_NPROC, PROCESSES, PROCESSES);
}

void bz_outline_add(const struct bz_ground *ground, const struct bz_job *job,
                    struct bz_spec *spec)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf home = {0}, tmp = {0};

    spec->network = job->network;
    spec->root = job->root;
    spec->cwd = bz_arena_dup(&spec->arena, bz_str_from(ground->root)).p;
    bz_host_add(spec);
    add_limits(spec);
    bz_spec_env(spec,
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    bz_buf_addf(&home, "HOME=%s", ground->tmp);
    bz_spec_env(spec, bz_buf_text(&home));
    bz_buf_addf(&tmp, "TMPDIR=%s", ground->tmp);
    bz_spec_env(spec, bz_buf_text(&tmp));
    /* What it may not read is there, which git takes for an error. */
    if (ground->bare)
        bz_spec_env(spec, "GIT_CONFIG_NOSYSTEM=1");
    bz_spec_env(spec, "LC_ALL=C.UTF-8");
    bz_spec_env(spec, "TZ=UTC");
}

static struct bz_str describe(const struct bz_ground *ground, bool network, bool root,
                              struct bz_digest_hasher *hasher, struct bz_arena *a)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    BZ_CLEANUP(bz_spec_release) struct bz_spec spec;
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct bz_digest digest;

    bz_spec_init(&spec);
    bz_outline_add(ground, &(struct bz_job){.network = network, .root = root}, &spec);
    bz_buf_addf(&text, "%s", ground->bare ? BARE : FORMAT);
    bz_spec_print(&spec, BZ_SPEC_WHOLE, &text);
    bz_digest_begin(hasher);
    bz_digest_add(hasher, text.data, text.len);
    bz_digest_end(hasher, &digest);
    bz_digest_hex(&digest, hex);
    if (ground->bare)
        return bz_arena_printf(a, "landlock at %s, network %s, view %.*s", ground->root,
                               network ? "host" : "none", DIGITS, hex);
    return bz_arena_printf(a, "namespaces, network %s, user %d, view %.*s",
                           network ? "host" : "none", root ? 0 : BZ_SPEC_USER, DIGITS,
                           hex);
}

void bz_outline_describe(struct bz_signing_policy *o, const struct bz_ground *ground,
                         struct bz_digest_hasher *hasher, struct bz_arena *a)
{
    for (int network = 0; network < 2; network++)
        for (int root = 0; root < 2; root++)
            o->line[network][root] = describe(ground, network, root, hasher, a);
}
