#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/fs_remove.h"
#include "project/buildconf.h"
#include "project/kas_schema.h"
#include "project/lock.h"

#define HASH "0123456789abcdef0123456789abcdef01234567"

/* The bytes are several files: a line "#! NAME" begins the next one, and kas.yml is
 * what stands before the first such line. */
static void write_files(int dir, struct bz_str rest)
{
    struct bz_str line, text = {rest.p, 0}, name = BZ_STR("kas.yml");

    for (bool more = true; more;) {
        struct bz_err err;

        more = bz_str_next_part(&rest, '\n', &line);
        if (more && !bz_str_starts(line, BZ_STR("#! "))) {
            text.n = (size_t)(line.p - text.p) + line.n + (rest.p != NULL);
            continue;
        }
        if (bz_path_is_safe(name) && name.n < 100) {
            char path[128];
            int rc;

            snprintf(path, sizeof(path), "%.*s", BZ_STR_ARG(bz_path_dirname(name)));
            rc = bz_fs_mkdirs(dir, path, 0755, &err);
            snprintf(path, sizeof(path), "%.*s", BZ_STR_ARG(name));
            if (rc == 0) /* a file may be in the way of a later one */
                rc = bz_fs_write(dir, path, text.p, text.n, 0644, BZ_FS_NOSYNC, &err);
            (void)rc;
        }
        if (more) {
            name = bz_str_sub(line, 3, line.n);
            text = bz_str_of(line.p + line.n + (rest.p != NULL), 0);
        }
    }
}

static void check_value(struct bz_kas_value v)
{
    BZ_ASSERT(!v.text.p || !v.at.file || v.at.line > 0);
}

static void check_repo(const struct bz_repo *r)
{
    BZ_ASSERT(r->id.p && r->name.p && r->at.file && r->at.line > 0);
    BZ_ASSERT(r->path[0] == '/');
    BZ_ASSERT(!r->is_signed || r->nsigners > 0);
    check_value(r->url);
    check_value(r->commit);
    check_value(r->branch);
    check_value(r->tag);
    check_value(r->refspec);
    for (size_t i = 0; i < r->nlayers; i++)
        BZ_ASSERT(r->layers[i].path[0] == '/' && r->layers[i].repo == r);
    for (size_t i = 0; i < r->npatches; i++)
        BZ_ASSERT(r->patches[i].path.text.p && r->patches[i].repo.text.p);
}

static void check_project(const struct bz_kas *kas)
{
    size_t layers = 0;

    BZ_ASSERT(kas->version >= 1 && kas->version <= BZ_KAS_SCHEMA_VERSION);
    BZ_ASSERT(kas->nfiles > 0);
    check_value(kas->machine);
    check_value(kas->distro);
    for (size_t i = 0; i < kas->ntargets; i++)
        check_value(kas->targets[i]);
    for (size_t i = 0; i < kas->nrepos; i++) {
        check_repo(&kas->repos[i]);
        layers += kas->repos[i].nlayers;
    }
    BZ_ASSERT(layers == kas->nlayers);
    for (size_t i = 1; i < kas->nlayers; i++)
        BZ_ASSERT(kas->layers[i - 1]->prio >= kas->layers[i]->prio);
}

/* Both texts can be made, and a lock file of all repositories is read as written. */
static void check_output(const struct bz_kas *kas, const char *dir)
{
    struct bz_lock_pin *pins = calloc(kas->nrepos + 1, sizeof(*pins));
    struct bz_arena arena = {0};
    struct bz_kas_file file;
    struct bz_buf text = {0};
    struct bz_err err;
    char path[64];
    int rc;

    BZ_ASSERT(pins);
    bz_buildconf_local(kas, &text);
    rc = bz_buildconf_bblayers(kas, &text, &err);
    BZ_ASSERT(rc == 0 || rc == BZ_E_LIMIT);
    for (size_t i = 0; i < kas->nrepos; i++)
        pins[i] = (struct bz_lock_pin){kas->repos[i].id, BZ_STR(HASH)};
    snprintf(path, sizeof(path), "%s/.fresh.lock.yml", dir);
    rc = bz_lock_write(path, pins, kas->nrepos, &err);
    BZ_ASSERT(rc == 0);
    rc = bz_kas_file_read(&arena, path, dir, NULL, &file, &err);
    BZ_ASSERT(rc == 0);
    for (size_t i = 0; i < kas->nrepos; i++) {
        const struct bz_doc *repos =
            bz_doc_find(bz_doc_find(file.doc, "overrides"), "repos");

        BZ_ASSERT(repos->count == kas->nrepos);
        BZ_ASSERT(bz_doc_find(repos, kas->repos[i].id.p));
    }
    bz_buf_release(&text);
    bz_arena_release(&arena);
    free(pins);
}

static void count_note(void *ctx, const char *text)
{
    size_t *notes = ctx;

    BZ_ASSERT(text[0] != '\0');
    ++*notes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dir[] = "/tmp/bz-fuzz-XXXXXX";
    size_t warned = 0;
    struct bz_kas_notes notes = {count_note, &warned, 0};
    const struct bz_kas_options opt = {.cwd = dir, .notes = &notes};
    struct bz_kas *kas = NULL;
    struct bz_err err = {0};
    int fd, rc;

    BZ_ASSERT(mkdtemp(dir));
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    BZ_ASSERT(fd >= 0);
    write_files(fd, bz_str_of((const char *)data, size));
    rc = bz_kas_load("kas.yml", &opt, &kas, &err);
    BZ_ASSERT(rc == 0 || (rc == err.code && err.msg[0] != '\0'));
    BZ_ASSERT(warned <= BZ_KAS_PLACE_WARNINGS + 1);
    if (rc == 0) {
        check_project(kas);
        check_output(kas, dir);
    }
    bz_kas_free(kas);
    close(fd);
    rc = bz_fs_remove(AT_FDCWD, dir, &err);
    BZ_ASSERT(rc == 0);
    return 0;
}
