#include "sandbox/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "os/fs.h"
#include "os/path.h"

/* Descriptors up to here have their places in a sandbox (child.h). */
#define PLACES 64

/* How a kind is written, and what its source is. */
static const struct {
    const char *word;
    bool host;   /* the source is a path of the host */
    bool policy; /* and the same on every machine */
    bool fixed;  /* nothing in it is one sandbox's alone */
} kinds[] = {
    [BZ_SPEC_DIR] = {"dir",     false, true,  true },
    [BZ_SPEC_FILE] = {"file",    false, true,  true },
    [BZ_SPEC_TEXT] = {"text",    false, false, false},
    [BZ_SPEC_LINK] = {"link",    false, true,  true },
    [BZ_SPEC_HOST] = {"host",    false, true,  true },
    [BZ_SPEC_SHOW] = {"show",    true,  true,  true },
    [BZ_SPEC_WORK] = {"work",    true,  false, false},
    [BZ_SPEC_DEVICE] = {"device",  true,  true,  true },
    [BZ_SPEC_TMPFS] = {"tmpfs",   false, true,  false},
    [BZ_SPEC_PROC] = {"proc",    false, true,  false},
    [BZ_SPEC_PTS] = {"pts",     false, true,  false},
    [BZ_SPEC_OVERLAY] = {"overlay", false, false, false},
};

void bz_spec_init(struct bz_spec *s)
{
    *s = (struct bz_spec){.umask = 022};
}

void bz_spec_release(struct bz_spec *s)
{
    bz_vec_release(&s->entries);
    bz_vec_release(&s->limits);
    for (size_t i = 0; i < s->locks.len; i++)
        bz_fs_closep(&s->locks.at[i]);
    bz_vec_release(&s->locks);
    bz_vec_release(&s->argv);
    bz_vec_release(&s->env);
    bz_arena_release(&s->arena);
    *s = (struct bz_spec){0};
}

/* Absolute, and every step names something: then it means the same wherever it is
 * looked up, and cannot leave what it is looked up in. */
static bool is_plain(struct bz_str path)
{
    struct bz_str step;
    bool more = true;

    if (path.n == 0 || path.p[0] != '/' || memchr(path.p, '\0', path.n))
        return false;
    path = bz_str_drop(path, 1);
    while (more) {
        more = bz_str_cut(path, '/', &step, &path);
        if (step.n == 0 || bz_str_eq(step, BZ_STR(".")) ||
            bz_str_eq(step, BZ_STR("..")))
            return false;
    }
    return true;
}

int bz_spec_add(struct bz_spec *s, enum bz_spec_kind kind, const char *target,
                struct bz_str source, struct bz_err *err)
{
    struct bz_str t = bz_str_from(target);

    if (!is_plain(t))
        return bz_fail(err, BZ_E_INVAL, "'%s' is no place in a sandbox", target);
    if (kinds[kind].host && !bz_path_is_absolute(source))
        return bz_fail(err, BZ_E_INVAL, "'%.*s', to be seen at %s, is not absolute",
                       BZ_STR_ARG(source), target);
    BZ_VEC_PUSH(&s->entries, (struct bz_spec_entry){kind, bz_arena_dup(&s->arena, t).p,
                                                    bz_arena_dup(&s->arena, source)});
    return 0;
}

static const char *keep(struct bz_spec *s, const char *text)
{
    return bz_arena_dup(&s->arena, bz_str_from(text)).p;
}

int bz_spec_overlay(struct bz_spec *s, const char *target,
                    const struct bz_spec_layers *layers, struct bz_err *err)
{
    BZ_ASSERT(!s->layers.upper); /* one sandbox, one overlay */
    s->layers = (struct bz_spec_layers){keep(s, layers->dir), layers->n,
                                        keep(s, layers->upper), keep(s, layers->work)};
    return bz_spec_add(s, BZ_SPEC_OVERLAY, target, BZ_STR(""), err);
}

void bz_spec_arg(struct bz_spec *s, const char *word)
{
    BZ_VEC_PUSH(&s->argv, keep(s, word));
}

void bz_spec_env(struct bz_spec *s, const char *word)
{
    BZ_VEC_PUSH(&s->env, keep(s, word));
}

void bz_spec_limit(struct bz_spec *s, int resource, uint64_t soft, uint64_t hard)
{
    BZ_VEC_PUSH(&s->limits, (struct bz_spec_limit){resource, soft, hard});
}

int bz_spec_lock(struct bz_spec *s, int fd, struct bz_err *err)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, PLACES);
    int sys = errno;

    bz_fs_closep(&fd);
    errno = sys;
    if (high < 0)
        return bz_fail_sys(err, "hold a lock file");
    BZ_VEC_PUSH(&s->locks, high);
    if (s->locks.len > BZ_SPEC_LOCKS)
        return bz_fail(err, BZ_E_LIMIT, "there are more than %d lock files",
                       BZ_SPEC_LOCKS);
    return 0;
}

bool bz_spec_is_fixed(const struct bz_spec *s, size_t i)
{
    const struct bz_spec_entry *e = &s->entries.at[i];

    if (!kinds[e->kind].fixed)
        return false;
    for (size_t k = 0; k < i; k++) {
        struct bz_str rest = bz_str_from(e->target);

        if (!kinds[s->entries.at[k].kind].fixed &&
            bz_str_cut_prefix(&rest, bz_str_from(s->entries.at[k].target)) &&
            (rest.n == 0 || rest.p[0] == '/'))
            return false;
    }
    return true;
}

/* Text on one line, whatever is in it: two specs that differ print differently. */
static void add_quoted(struct bz_buf *out, struct bz_str text)
{
    bz_buf_add_char(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c == '"' || c == '\\')
            bz_buf_addf(out, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            bz_buf_addf(out, "\\x%02x", c);
        else
            bz_buf_add_char(out, (char)c);
    }
    bz_buf_add_char(out, '"');
}

static void print_entry(const struct bz_spec *s, const struct bz_spec_entry *e,
                        enum bz_spec_part part, struct bz_buf *out)
{
    bz_buf_addf(out, "%s ", kinds[e->kind].word);
    add_quoted(out, bz_str_from(e->target));
    if (e->source.n > 0 && (part == BZ_SPEC_WHOLE || kinds[e->kind].policy)) {
        bz_buf_add_char(out, ' ');
        add_quoted(out, e->source);
    }
    if (e->kind == BZ_SPEC_OVERLAY && part == BZ_SPEC_WHOLE)
        bz_buf_addf(out, " layers=%u of %s upper=%s", s->layers.n, s->layers.dir,
                    s->layers.upper);
    bz_buf_add_char(out, '\n');
}

static void print_words(const char *what, const struct bz_spec_words *words,
                        struct bz_buf *out)
{
    for (size_t i = 0; i < words->len; i++) {
        bz_buf_addf(out, "%s ", what);
        add_quoted(out, bz_str_from(words->at[i]));
        bz_buf_add_char(out, '\n');
    }
}

void bz_spec_print(const struct bz_spec *s, enum bz_spec_part part, struct bz_buf *out)
{
    bz_buf_addf(out, "user %d\nnetwork %s\numask %03o\nhostname ",
                s->root ? 0 : BZ_SPEC_USER, s->network ? "host" : "none",
                (unsigned)s->umask);
    add_quoted(out, bz_str_from(s->hostname ? s->hostname : BZ_SPEC_HOSTNAME));
    bz_buf_add_char(out, '\n');
    for (size_t i = 0; i < s->entries.len; i++)
        print_entry(s, &s->entries.at[i], part, out);
    for (size_t i = 0; i < s->limits.len; i++)
        bz_buf_addf(out, "limit %d %ju %ju\n", s->limits.at[i].resource,
                    (uintmax_t)s->limits.at[i].soft, (uintmax_t)s->limits.at[i].hard);
    if (part == BZ_SPEC_POLICY)
        return;
    bz_buf_addf(out, "cwd %s\n", s->cwd ? s->cwd : "/");
    print_words("env", &s->env, out);
    print_words("arg", &s->argv, out);
}
