#include "sig/builtin.h"

#include "base/mem.h"
#include "fetch/identity.h"
#include "fetch/patch.h"
#include "sig/files.h"
#include "sig/sourcing.h"

int bz_builtin_of(struct bz_vars *v, struct bz_str task, enum bz_builtin *out,
                  struct bz_err *err)
{
    static const struct {
        struct bz_str task;
        enum bz_builtin what;
    } rows[] = {
        {BZ_STR("do_fetch"),  BZ_BUILTIN_FETCH },
        {BZ_STR("do_unpack"), BZ_BUILTIN_UNPACK},
        {BZ_STR("do_patch"),  BZ_BUILTIN_PATCH },
    };
    bool python = false;
    int rc = bz_vars_flag_true(v, task, BZ_STR("python"), &python, err);

    *out = BZ_BUILTIN_NONE;
    for (size_t i = 0; i < BZ_COUNTOF(rows) && python; i++)
        if (bz_str_eq(rows[i].task, task))
            *out = rows[i].what;
    return rc;
}

int bz_builtin_patches(struct bz_fetch *fetch, struct bz_vars *v, struct bz_buf *body,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_patches all = {0};
    struct bz_str source = {0}, unpacked = {0}, tool = {0};
    int rc = bz_patch_list(fetch, &all, err);

    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("S"), 0, &source, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("UNPACKDIR"), 0, &unpacked, err);
    if (rc == 0 && !unpacked.p)
        rc = bz_vars_get(v, BZ_STR("WORKDIR"), 0, &unpacked, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("PATCHTOOL"), 0, &tool, err);
    if (rc == 0)
        bz_patch_script(&all,
                        bz_str_eq(tool, BZ_STR("git")) ? BZ_PATCH_GIT : BZ_PATCH_PATCH,
                        source, unpacked, body);
    return rc;
}

/* A recipe whose sources cannot be read has a task that fails when it runs; until then
 * what the recipe says of them counts. */
struct flags {
    struct bz_taskspec *spec;
    struct bz_taskspec_inputs *inputs;
};

static void add_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct flags *f = ctx;
    struct bz_str name = bz_arena_printf(&bz_taskspec_store(f->spec, NULL)->arena,
                                         "SRC_URI[%.*s]", BZ_STR_ARG(flag));

    bz_taskspec_add(f->spec, BZ_TASKSPEC_SOURCE, name, value, f->inputs);
}

static void add_unread(struct bz_taskspec *spec, struct bz_str text,
                       struct bz_taskspec_inputs *inputs)
{
    struct flags f = {spec, inputs};

    bz_taskspec_add(spec, BZ_TASKSPEC_SOURCE, BZ_STR("SRC_URI"), text, inputs);
    bz_vars_flags(bz_taskspec_store(spec, NULL)->plain, BZ_STR("SRC_URI"), add_flag,
                  &f);
}

/* One entry: what is known of it besides its text, each on a line. A revision that is a
 * name counts by what it is resolved to, which is looked up each time. */
static int describe(struct bz_fetch *fetch, size_t i, struct bz_buf *out,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_identity_fields fields = {0};
    int rc = bz_identity_fields(fetch, i, &fields, err);

    for (size_t k = 0; k < fields.len && rc == 0; k++)
        if (!bz_str_eq(fields.at[k].name, BZ_STR("uri")) &&
            fields.at[k].name.p[0] != ';')
            bz_buf_addf(out, "%.*s=%.*s\n", BZ_STR_ARG(fields.at[k].name),
                        BZ_STR_ARG(fields.at[k].value));
    return rc;
}

/* The entries as they are written, where the metadata excludes a variable: a mirror
 * that it names, say. */
static int add_entries(struct bz_taskspec *spec, struct bz_taskspec_inputs *inputs,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str words = {0}, word;
    int rc =
        bz_keystore_get(bz_taskspec_store(spec, NULL), BZ_STR("SRC_URI"), &words, err);

    while (rc == 0 && bz_str_next_word(&words, &word))
        bz_buf_addf(&text, "%.*s\n", BZ_STR_ARG(word));
    bz_taskspec_add(spec, BZ_TASKSPEC_SOURCE, BZ_STR("SRC_URI"), bz_buf_str(&text),
                    inputs);
    return rc;
}

static int add_sources(struct bz_taskspec *spec, struct bz_fetch *fetch,
                       struct bz_taskspec_inputs *inputs, struct bz_buf *list,
                       struct bz_err *err)
{
    int rc = add_entries(spec, inputs, err);

    for (size_t i = 0; i < bz_fetch_count(fetch) && rc == 0; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
        struct bz_str name = bz_arena_printf(&bz_taskspec_store(spec, NULL)->arena,
                                             "SRC_URI %03zu", i + 1);
        struct bz_str question = bz_fetch_question(bz_fetch_source(fetch, i));

        rc = describe(fetch, i, &text, err);
        if (rc == 0)
            bz_taskspec_add(spec, BZ_TASKSPEC_SOURCE, name, bz_buf_str(&text), inputs);
        if (rc == 0 && question.n > 0)
            bz_files_add_question(list, question);
    }
    return rc;
}

/* The variables that decide how it is done. */
static int add_variables(struct bz_taskspec *spec, enum bz_builtin what,
                         struct bz_taskspec_inputs *inputs, struct bz_err *err)
{
    static const struct {
        const char *name;
        bool fetch;
    } rows[] = {
        {"BB_STRICT_CHECKSUM", true },
        {"UNPACKDIR",          false},
    };
    int rc = 0;

    for (size_t i = 0; i < BZ_COUNTOF(rows) && rc == 0; i++) {
        struct bz_str value = {0}, name = bz_str_from(rows[i].name);

        if (rows[i].fetch != (what == BZ_BUILTIN_FETCH))
            continue;
        rc = bz_vars_get(bz_taskspec_store(spec, NULL)->plain, name, 0, &value, err);
        if (rc == 0 && value.p)
            bz_taskspec_add(spec, BZ_TASKSPEC_STEP, name, value, inputs);
    }
    return rc;
}

int bz_builtin_inputs(struct bz_taskspec *spec, enum bz_builtin what,
                      struct bz_taskspec_inputs *inputs, struct bz_buf *list,
                      struct bz_err *err)
{
    struct bz_vars *v = bz_taskspec_store(spec, NULL)->plain;
    BZ_CLEANUP(bz_buf_release) struct bz_buf body = {0};
    struct bz_fetch *fetch = NULL;
    struct bz_str text = {0};
    struct bz_err unread;
    int rc = bz_vars_get(v, BZ_STR("SRC_URI"), 0, &text, err);

    if (rc == 0)
        rc = add_variables(spec, what, inputs, err);
    if (rc < 0)
        return rc;
    if (bz_sourcing_read(v, &(struct bz_fetch_opts){.offline = true}, &fetch, &unread) <
        0) {
        add_unread(spec, text, inputs);
        return 0;
    }
    if (what == BZ_BUILTIN_PATCH) {
        rc = bz_builtin_patches(fetch, v, &body, err);
        bz_taskspec_add(spec, BZ_TASKSPEC_STEP, BZ_STR("SRC_URI patches"),
                        bz_buf_str(&body), inputs);
    } else {
        rc = add_sources(spec, fetch, inputs, list, err);
    }
    bz_fetch_close(fetch);
    return rc;
}
