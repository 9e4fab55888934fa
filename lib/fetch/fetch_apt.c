#include "fetch/fetch_apt.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "fetch/tool.h"
#include "fetch/unpack.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/fs_remove.h"
#include "os/path.h"

#define CONTROL ((size_t)1 << 20)      /* bytes of a .dsc or a list of sources */
#define FRESH (24 * BZ_CLOCK_S * 3600) /* how long an index is good for */

static bool is_word(struct bz_str s, const char *more)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && !strchr(more, s.p[i]))
            return false;
    return s.n > 0 && isalnum((unsigned char)s.p[0]);
}

/* apt://PACKAGE;version=VERSION */
static int prepare(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    struct bz_str version = bz_uri_param(&s->uri, "version");

    if (!is_word(s->uri.host, "+-.") || !is_word(version, "+-.:~"))
        return bz_fail(err, BZ_E_INVAL,
                       "write apt://PACKAGE;version=VERSION, with the "
                       "exact version of the source package");
    s->shown =
        bz_arena_printf(&f->arena, "%s;version=%.*s", s->shown, BZ_STR_ARG(version)).p;
    s->path =
        bz_arena_printf(&f->arena, "%.*s/apt2/%.*s_%.*s", BZ_STR_ARG(f->policy.dl_dir),
                        BZ_STR_ARG(s->uri.host), BZ_STR_ARG(version))
            .p;
    return 0;
}

void bz_fetch_apt_line(struct bz_str line, struct bz_buf *out)
{
    struct bz_str rest = bz_str_trim_start(line), word;

    if (!bz_str_next_word(&rest, &word) || !bz_str_eq(word, BZ_STR("deb")))
        return;
    bz_buf_addf(out, "deb-src%.*s\n", BZ_STR_ARG(rest));
}

void bz_fetch_apt_stanza(struct bz_str text, struct bz_buf *out)
{
    static const char *const dropped[] = {"types:", "architectures:"};
    struct bz_str rest = text, line;
    bool binary = false, skip = false;

    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line)) {
        struct bz_str key, value;

        if (bz_str_cut(line, ':', &key, &value) && key.n == 5 &&
            strncasecmp(key.p, "types", 5) == 0)
            binary = bz_str_has_word(value, BZ_STR("deb"));
    }
    if (!binary)
        return;
    bz_buf_addf(out, "Types: deb-src\n");
    while (text.n > 0 && bz_str_next_part(&text, '\n', &line)) {
        bool goes_on = line.n > 0 && isspace((unsigned char)line.p[0]);

        if (!goes_on)
            skip = false;
        for (size_t i = 0; !goes_on && i < BZ_COUNTOF(dropped); i++)
            skip = skip || (line.n >= strlen(dropped[i]) &&
                            strncasecmp(line.p, dropped[i], strlen(dropped[i])) == 0);
        if (line.n > 0 && !skip)
            bz_buf_addf(out, "%.*s\n", BZ_STR_ARG(line));
    }
    bz_buf_add_char(out, '\n');
}

/* Appends what one of the host's files says to the private list of its kind. */
static int add_file(const char *path, struct bz_buf *lists, struct bz_buf *stanzas,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_str rest, line, stanza = {0};
    size_t n;
    int rc = bz_fs_read(AT_FDCWD, path, CONTROL, &text, &n, err);

    if (rc == BZ_E_NOENT)
        return 0;
    if (rc < 0)
        return rc;
    rest = bz_str_of(text, n);
    if (!bz_str_ends(bz_str_from(path), BZ_STR(".sources"))) {
        while (rest.p && bz_str_next_part(&rest, '\n', &line))
            bz_fetch_apt_line(line, lists);
        return 0;
    }
    while (rest.p && bz_str_next_part(&rest, '\n', &line)) {
        if (bz_str_trim(line).n > 0) {
            stanza = stanza.p
                         ? bz_str_of(stanza.p, (size_t)(line.p - stanza.p) + line.n)
                         : line;
            continue;
        }
        bz_fetch_apt_stanza(stanza, stanzas);
        stanza = (struct bz_str){0};
    }
    bz_fetch_apt_stanza(stanza, stanzas);
    return 0;
}

/* Where the host's lists are: the values that `apt-config shell` quotes. */
static int ask_host(struct bz_fetch *f, struct bz_str *file, struct bz_str *dir,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_tool t = {.cancel = f->opts.cancel};
    struct bz_str rest, line, name, value;
    static const char *const args[] = {"apt-config", "shell",
                                       "FILE",       "Dir::Etc::sourcelist/f",
                                       "PARTS",      "Dir::Etc::sourceparts/d"};
    int rc;

    for (size_t i = 0; i < BZ_COUNTOF(args); i++)
        bz_tool_add(&t, args[i]);
    rc = bz_tool_run(&t, &text, err);
    rest = bz_buf_str(&text);
    *file = *dir = BZ_STR("");
    while (rc == 0 && rest.n > 0 && bz_str_next_part(&rest, '\n', &line)) {
        if (!bz_str_cut(line, '=', &name, &value) || value.n < 2)
            continue;
        value = bz_arena_dup(&f->arena, bz_str_sub(value, 1, value.n - 1));
        *(bz_str_eq(name, BZ_STR("FILE")) ? file : dir) = value;
    }
    return rc;
}

/* The private lists in `parts`: what the host has for binaries, for sources. */
static int write_lists(struct bz_fetch *f, const char *parts, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf lists = {0}, stanzas = {0};
    struct bz_fs_list names = {0};
    struct bz_str file = {0}, dir = {0};
    int rc = ask_host(f, &file, &dir, err);

    if (rc == 0 && file.n > 0)
        rc = add_file(file.p, &lists, &stanzas, err);
    if (rc == 0 && dir.n > 0 && bz_fs_exists(AT_FDCWD, dir.p))
        rc = bz_fs_list_dir(AT_FDCWD, dir.p, &names, err);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        struct bz_str name = bz_str_from(names.names[i]);

        if (bz_str_ends(name, BZ_STR(".list")) || bz_str_ends(name, BZ_STR(".sources")))
            rc = add_file(bz_fetch_below(f, dir, name), &lists, &stanzas, err);
    }
    bz_fs_list_release(&names);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, parts, 0755, err);
    if (rc == 0)
        rc = bz_fs_write(AT_FDCWD,
                         bz_fetch_below(f, bz_str_from(parts), BZ_STR("h.list")),
                         bz_buf_text(&lists), lists.len, 0644, BZ_FS_NOSYNC, err);
    if (rc == 0)
        rc = bz_fs_write(AT_FDCWD,
                         bz_fetch_below(f, bz_str_from(parts), BZ_STR("h.sources")),
                         bz_buf_text(&stanzas), stanzas.len, 0644, BZ_FS_NOSYNC, err);
    return rc;
}

/* apt-get with everything it writes in our own directory. */
static void apt_get(struct bz_fetch *f, struct bz_tool *t, const char *state)
{
    static const char *const settings[] = {
        "Dir::Etc::sourcelist=/dev/null",
        "Dir::Etc::sourceparts=%s/parts",
        "Dir::State=%s",
        "Dir::State::lists=%s/lists",
        "Dir::State::status=%s/status",
        "Dir::Cache=%s/cache",
        "Dir::Log=%s",
        "APT::Sandbox::User=",
        "Acquire::Retries=3",
        "APT::Get::Assume-Yes=1",
    };

    memset(t, 0, sizeof(*t));
    t->cancel = f->opts.cancel;
    t->merge = true;
    bz_tool_add(t, "apt-get");
    bz_tool_add(t, "-q");
    for (size_t i = 0; i < BZ_COUNTOF(settings); i++) {
        struct bz_str head, tail;
        const char *at = strstr(settings[i], "%s");

        head = bz_str_of(settings[i],
                         at ? (size_t)(at - settings[i]) : strlen(settings[i]));
        tail = at ? bz_str_from(at + 2) : BZ_STR("");
        bz_tool_add(t, "-o");
        bz_tool_add(t, BZ_ARENA_CONCAT(&f->arena, head,
                                       at ? bz_str_from(state) : BZ_STR(""), tail)
                           .p);
    }
}

/* Brings the private index up to date, if it is old or does not have what is wanted. */
static int update(struct bz_fetch *f, const char *state, bool force, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf said = {0};
    const char *stamp = bz_fetch_below(f, bz_str_from(state), BZ_STR("updated"));
    const char *dirs[] = {"lists/partial", "cache/archives/partial"};
    struct bz_tool t;
    struct stat st;
    int rc = 0;

    if (!force && stat(stamp, &st) == 0 &&
        bz_clock_wall() - (int64_t)st.st_mtime * BZ_CLOCK_S < FRESH)
        return 0;
    for (size_t i = 0; rc == 0 && i < BZ_COUNTOF(dirs); i++)
        rc = bz_fs_mkdirs(AT_FDCWD,
                          bz_fetch_below(f, bz_str_from(state), bz_str_from(dirs[i])),
                          0755, err);
    if (rc == 0)
        rc =
            write_lists(f, bz_fetch_below(f, bz_str_from(state), BZ_STR("parts")), err);
    if (rc == 0)
        rc = bz_fs_write(AT_FDCWD,
                         bz_fetch_below(f, bz_str_from(state), BZ_STR("status")), "", 0,
                         0644, BZ_FS_NOSYNC, err);
    if (rc < 0)
        return rc;
    apt_get(f, &t, state);
    bz_tool_add(&t, "update");
    rc = bz_tool_run(&t, &said, err);
    if (rc == 0)
        rc = bz_fs_write(AT_FDCWD, stamp, "", 0, 0644, BZ_FS_NOSYNC, err);
    return rc;
}

static int source(struct bz_fetch *f, struct bz_source *s, const char *state,
                  const char *temp, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf said = {0};
    struct bz_tool t;
    int rc = bz_fs_remove(AT_FDCWD, temp, err);

    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, temp, 0755, err);
    if (rc < 0)
        return rc;
    apt_get(f, &t, state);
    t.cwd = temp;
    bz_tool_add(&t, "source");
    bz_tool_add(&t, "--download-only");
    bz_tool_add(&t, "--only-source");
    bz_tool_add(&t, bz_arena_printf(&f->arena, "%.*s=%.*s", BZ_STR_ARG(s->uri.host),
                                    BZ_STR_ARG(bz_uri_param(&s->uri, "version")))
                        .p);
    return bz_tool_run(&t, &said, err);
}

int bz_fetch_apt_files(struct bz_arena *arena, struct bz_str dsc,
                       struct bz_fetch_apt_list *out, struct bz_err *err)
{
    struct bz_str line, rest;
    bool here = false;

    while (dsc.n > 0 && bz_str_next_part(&dsc, '\n', &line)) {
        struct bz_fetch_apt_file file = {0};
        struct bz_str size = {0};

        if (line.n == 0 || line.p[0] != ' ') {
            here = bz_str_eq(bz_str_trim(line), BZ_STR("Checksums-Sha256:"));
            continue;
        }
        rest = line;
        if (!here || !bz_str_next_word(&rest, &file.sha256))
            continue;
        if (!bz_str_next_word(&rest, &size) || !bz_str_next_word(&rest, &file.name) ||
            file.sha256.n != bz_checksum_digits(BZ_CHECKSUM_SHA256) ||
            bz_str_find_byte(file.name, '/') != BZ_STR_NONE ||
            !bz_path_is_safe(file.name))
            return bz_fail(err, BZ_E_CORRUPT, "the .dsc has a line it cannot have");
        file.name = bz_arena_dup(arena, file.name);
        file.sha256 = bz_arena_dup(arena, file.sha256);
        BZ_VEC_PUSH(out, file);
    }
    return out->len > 0
               ? 0
               : bz_fail(err, BZ_E_CORRUPT, "the .dsc has no Checksums-Sha256");
}

/* The .dsc in a directory, its text and what it lists. */
static int read_dsc(struct bz_fetch *f, const struct bz_source *s, const char *dir,
                    struct bz_fetch_apt_list *files, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_fs_list names = {0};
    const char *path = NULL;
    char got[BZ_CHECKSUM_HEX];
    size_t n = 0;
    int rc = bz_fs_list_dir(AT_FDCWD, dir, &names, err);

    for (size_t i = 0; rc == 0 && i < names.n; i++)
        if (bz_str_ends(bz_str_from(names.names[i]), BZ_STR(".dsc")))
            path = bz_fetch_below(f, bz_str_from(dir), bz_str_from(names.names[i]));
    bz_fs_list_release(&names);
    if (rc < 0)
        return rc;
    if (!path)
        return bz_fail(err, BZ_E_NOENT, "there is no .dsc in %s", dir);
    rc = bz_fs_open_file(AT_FDCWD, path, &fd, err);
    if (rc == 0)
        rc = bz_expect_file(&s->sums, fd, path, got, err);
    if (rc == 0)
        rc = bz_fs_read_fd(fd, path, CONTROL, &text, &n, err);
    return rc < 0 ? rc : bz_fetch_apt_files(&f->arena, bz_str_of(text, n), files, err);
}

/* Every file of the package is there and has the digest that the .dsc says. */
static int verify(struct bz_fetch *f, const struct bz_source *s, const char *dir,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_fetch_apt_list files = {0};
    int rc = read_dsc(f, s, dir, &files, err);

    for (size_t i = 0; rc == 0 && i < files.len; i++) {
        BZ_CLEANUP(bz_fs_closep) int fd = -1;
        const char *path = bz_fetch_below(f, bz_str_from(dir), files.at[i].name);
        struct bz_expect want = {.kinds = 1u << BZ_CHECKSUM_SHA256};
        char got[BZ_CHECKSUM_HEX];

        want.want[BZ_CHECKSUM_SHA256] = files.at[i].sha256;
        rc = bz_fs_open_file(AT_FDCWD, path, &fd, err);
        if (rc == 0)
            rc = bz_expect_file(&want, fd, path, got, err);
    }
    return rc;
}

/* From a repository in a directory apt makes links, which may lead nowhere tomorrow. */
static int own_files(struct bz_fetch *f, const char *dir, struct bz_err *err)
{
    struct bz_fs_list names = {0};
    int rc = bz_fs_list_dir(AT_FDCWD, dir, &names, err);

    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        const char *path =
            bz_fetch_below(f, bz_str_from(dir), bz_str_from(names.names[i]));
        struct stat st;

        if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
            rc = bz_fs_copy(AT_FDCWD, path, AT_FDCWD, path, 0644, BZ_FS_NOSYNC, err);
    }
    bz_fs_list_release(&names);
    return rc;
}

static int present(struct bz_fetch *f, struct bz_source *s, struct bz_err *err)
{
    return bz_fs_exists(AT_FDCWD, s->path) && verify(f, s, s->path, err) == 0;
}

static int download(struct bz_fetch *f, struct bz_source *s, const struct bz_uri *from,
                    int fd, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int lock = -1;
    const char *state = bz_fetch_below(f, f->policy.dl_dir, BZ_STR("apt2/.state"));
    const char *temp = bz_arena_printf(&f->arena, "%s.bz-part", s->path).p;
    int rc = bz_policy_check(&f->policy, (struct bz_str){0}, err);

    (void)fd;
    if (rc < 0)
        return rc;
    if (from != &s->uri)
        return bz_fail(err, BZ_E_NOSUP, "mirrors are the business of apt's lists");
    rc = bz_fs_mkdirs(AT_FDCWD, state, 0755, err);
    if (rc == 0)
        rc = bz_fetch_lock(f, bz_fetch_below(f, bz_str_from(state), BZ_STR("lock")),
                           &lock, err);
    if (rc == 0)
        rc = update(f, state, false, err);
    if (rc < 0)
        return rc;
    rc = source(f, s, state, temp, err);
    if (rc == BZ_E_IO) { /* the index may be from before this version */
        rc = update(f, state, true, err);
        if (rc == 0)
            rc = source(f, s, state, temp, err);
    }
    if (rc == 0)
        rc = own_files(f, temp, err);
    if (rc == 0)
        rc = verify(f, s, temp, err);
    if (rc == 0)
        rc = bz_fs_remove(AT_FDCWD, s->path, err);
    if (rc == 0 && rename(temp, s->path) < 0)
        rc = bz_fail_sys(err, "rename %s", temp);
    return rc;
}

/* The upstream source, and in it the directory debian/ if that comes separately. Its
 * patches are not applied: they are for whoever wants them. */
static int unpack(struct bz_fetch *f, struct bz_source *s, const char *dir,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_fetch_apt_list files = {0};
    const char *dest;
    int rc = bz_unpack_dest(f, s, dir, s->uri.host, &dest, err);

    if (rc == 0)
        rc = bz_fs_remove(AT_FDCWD, dest, err);
    if (rc == 0)
        rc = read_dsc(f, s, s->path, &files, err);
    for (size_t i = 0; rc == 0 && i < files.len; i++) {
        struct bz_str name = files.at[i].name;
        const char *file = bz_fetch_below(f, bz_str_from(s->path), name);
        bool debian = bz_str_find(name, BZ_STR(".debian.tar.")) != BZ_STR_NONE;
        BZ_CLEANUP(bz_fs_closep) int fd = -1;

        if (bz_str_find(name, BZ_STR(".tar.")) == BZ_STR_NONE ||
            bz_str_ends(name, BZ_STR(".asc")))
            continue;
        rc = bz_fs_open_file(AT_FDCWD, file, &fd, err);
        if (rc == 0)
            rc = bz_unpack_strip(f, fd, file, dest, debian ? 0 : 1, err);
    }
    return rc;
}

const struct bz_scheme bz_fetch_apt = {.name = "apt",
                                       .prepare = prepare,
                                       .download = download,
                                       .present = present,
                                       .unpack = unpack};
