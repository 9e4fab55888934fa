#include "project/kas_schema.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/near.h"

enum {
    NUL = 1u << BZ_DOC_NULL,
    BOOL = 1u << BZ_DOC_BOOL,
    INT = 1u << BZ_DOC_INT,
    STR = 1u << BZ_DOC_STR,
    LIST = 1u << BZ_DOC_LIST,
    MAP = 1u << BZ_DOC_MAP,
};

enum {
    KEY_SHOWN = 60,
};

/* The keys around a value, innermost first. */
struct trail {
    const struct trail *up;
    struct bz_str key;
};

struct check {
    const char *file;
    struct bz_kas_notes *notes;
    struct bz_err *err;
};

struct shape;

/* For what types alone cannot say; the type is right already. */
typedef int (*shape_fn)(const struct check *c, const struct bz_doc *d,
                        const struct trail *t);

struct key {
    const char *name;
    const struct shape *shape;
    enum { OPTIONAL, NEEDED } need;
    const char *instead; /* of an old key: what to do about it */
};

/* What a value may be. */
struct shape {
    unsigned types;
    const char *what;       /* "a string": for the message about a wrong type */
    const struct key *keys; /* of a map: those with a meaning of their own */
    size_t nkeys;
    const struct shape *each; /* of a list or map: every other item */
    shape_fn also;
    bool open; /* unknown keys are nobody's business */
};

static struct bz_kas_place place(const struct check *c, const struct bz_doc *d)
{
    return (struct bz_kas_place){c->file, d->line, d->column};
}

static struct bz_str head(struct bz_str s)
{
    return bz_str_sub(s, 0, s.n < KEY_SHOWN ? s.n : KEY_SHOWN);
}

/* "repos.poky.url" */
static const char *trail_text(const struct trail *t, char *text, size_t size)
{
    const struct trail *path[16];
    size_t n = 0, used = 0;

    for (; t && t->up && n < BZ_COUNTOF(path); t = t->up)
        path[n++] = t;
    text[0] = '\0';
    while (n-- > 0 && used < size) {
        struct bz_str key = head(path[n]->key);

        used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? "." : "",
                                 BZ_STR_ARG(key));
    }
    return text;
}

static int refuse(const struct check *c, const struct bz_doc *d, const struct trail *t,
                  const char *what, const char *found, const char *hint)
{
    char key[160];

    trail_text(t, key, sizeof(key));
    return bz_fail(c->err, BZ_E_INVAL, BZ_KAS_PLACE_FMT ": %s%sexpected %s, found %s%s",
                   BZ_KAS_PLACE_ARG(place(c, d)), key, key[0] ? ": " : "", what, found,
                   hint);
}

static int wrong_type(const struct check *c, const struct bz_doc *d,
                      const struct trail *t, const struct shape *s)
{
    static const char *const names[] = {
        [BZ_DOC_NULL] = "nothing",   [BZ_DOC_BOOL] = "a boolean",
        [BZ_DOC_INT] = "an integer", [BZ_DOC_REAL] = "a number",
        [BZ_DOC_STR] = "a string",   [BZ_DOC_LIST] = "a list",
        [BZ_DOC_MAP] = "a map",
    };
    bool quotes = (s->types & STR) && (d->type == BZ_DOC_BOOL ||
                                       d->type == BZ_DOC_INT || d->type == BZ_DOC_REAL);

    return refuse(c, d, t, s->what, names[d->type],
                  quotes ? "; a string needs quotes here" : "");
}

static int check_words(const struct check *c, const struct bz_doc *d,
                       const struct trail *t, const char *const *words,
                       const char *what)
{
    char found[KEY_SHOWN + 8];

    for (; *words; words++)
        if (bz_str_eq(d->text, bz_str_from(*words)))
            return 0;
    snprintf(found, sizeof(found), "'%.*s'", BZ_STR_ARG(head(d->text)));
    return refuse(c, d, t, what, found, "");
}

static int check_build_system(const struct check *c, const struct bz_doc *d,
                              const struct trail *t)
{
    static const char *const words[] = {
        "openembedded", "oe", "isar", "isar-privileged", "isar-rootless", NULL};

    return check_words(c, d, t, words,
                       "openembedded, oe, isar, isar-privileged or isar-rootless");
}

static int check_vcs(const struct check *c, const struct bz_doc *d,
                     const struct trail *t)
{
    static const char *const words[] = {"git", "hg", NULL};

    return check_words(c, d, t, words, "git or hg");
}

static int check_version(const struct check *c, const struct bz_doc *d,
                         const struct trail *t)
{
    if (d->type == BZ_DOC_STR) {
        static const char *const words[] = {"0.10", NULL};

        return check_words(c, d, t, words, "a version number");
    }
    if (d->i > BZ_KAS_SCHEMA_VERSION)
        return bz_fail(c->err, BZ_E_NOSUP,
                       BZ_KAS_PLACE_FMT ": format version %" PRId64
                                        " is not supported; the newest is %d",
                       BZ_KAS_PLACE_ARG(place(c, d)), d->i, BZ_KAS_SCHEMA_VERSION);
    return d->i >= 1 ? 0 : refuse(c, d, t, "a version number", "one below 1", "");
}

#define A_LAYER "nothing, 'disabled' or a map with 'prio'"

static int check_prio(const struct check *c, const struct bz_doc *d,
                      const struct trail *t)
{
    if (d->i >= -99 && d->i <= 99)
        return 0;
    return refuse(c, d, t, "a number from -99 to 99", "one outside", "");
}

/* Besides `disabled` there are old ways to say it. Some of them YAML 1.1 takes for
 * false; here those are strings. */
static int check_layer(const struct check *c, const struct bz_doc *d,
                       const struct trail *t)
{
    static const char *const words[] = {"disabled", "excluded", "n",     "no",
                                        "No",       "NO",       "off",   "Off",
                                        "OFF",      "0",        "false", NULL};
    int rc = 0;

    if (d->type == BZ_DOC_NULL || d->type == BZ_DOC_MAP)
        return 0;
    if (d->type == BZ_DOC_STR)
        rc = check_words(c, d, t, words, A_LAYER);
    else if (d->type == BZ_DOC_BOOL ? d->b : d->i != 0)
        rc = refuse(c, d, t, A_LAYER, d->type == BZ_DOC_BOOL ? "true" : "a number", "");
    if (rc == 0 && !bz_str_eq(d->text, BZ_STR("disabled")))
        bz_kas_place_warn(c->notes, place(c, d),
                          "this is an old way to switch a layer off; write 'disabled'");
    return rc;
}

#define KEYS(array) .keys = (array), .nkeys = BZ_COUNTOF(array)
#define A_STRING "a string"
#define A_MAP "a map"

static const struct shape string = {.types = STR, .what = A_STRING};
static const struct shape string_or_nothing = {.types = STR | NUL,
                                               .what = "a string or nothing"};
static const struct shape boolean = {.types = BOOL, .what = "true or false"};
static const struct shape scalar = {.types = STR | INT | BOOL,
                                    .what = "a string, integer or boolean"};
static const struct shape strings = {
    .types = LIST, .what = "a list of strings", .each = &string};
static const struct shape texts = {
    .types = MAP, .what = "a map of strings", .each = &string};
static const struct shape scalars = {.types = MAP, .what = A_MAP, .each = &scalar};
static const struct shape target = {
    .types = STR | LIST, .what = "a string or a list of strings", .each = &string};
static const struct shape env = {
    .types = MAP, .what = A_MAP, .each = &string_or_nothing};
static const struct shape version_shape = {
    .types = INT | STR, .what = "a version number", .also = check_version};
static const struct shape build_system = {
    .types = STR, .what = A_STRING, .also = check_build_system};
static const struct shape vcs = {.types = STR, .what = "git or hg", .also = check_vcs};
static const struct shape prio = {.types = INT, .what = "a number", .also = check_prio};
static const struct shape anything_in_a_map = {
    .types = MAP, .what = A_MAP, .open = true};

static const struct key include_keys[] = {
    {"repo", &string, NEEDED, NULL},
    {"file", &string, NEEDED, NULL},
};
static const struct shape include = {.types = STR | MAP,
                                     .what =
                                         "a file name or a map with 'repo' and 'file'",
                                     KEYS(include_keys)};
static const struct shape includes = {
    .types = LIST, .what = "a list of files", .each = &include};

static const struct key header_keys[] = {
    {"version",  &version_shape, NEEDED,   NULL},
    {"includes", &includes,      OPTIONAL, NULL},
};
static const struct shape header = {.types = MAP, .what = A_MAP, KEYS(header_keys)};

static const struct key layer_keys[] = {
    {"prio", &prio, OPTIONAL, NULL},
};
static const struct shape layer = {.types = NUL | BOOL | INT | STR | MAP,
                                   .what = A_LAYER,
                                   KEYS(layer_keys),
                                   .also = check_layer};
static const struct shape layers = {
    .types = MAP | NUL, .what = "a map of layers", .each = &layer};

static const struct key patch_keys[] = {
    {"repo", &string, OPTIONAL, NULL},
    {"path", &string, NEEDED,   NULL},
};
static const struct shape patch = {
    .types = MAP | NUL, .what = "a map or nothing", KEYS(patch_keys)};
static const struct shape patches = {
    .types = MAP, .what = "a map of patches", .each = &patch};

#define REFSPEC "use 'commit', 'branch' or 'tag' instead"

static const struct key repo_keys[] = {
    {"name",            &string,            OPTIONAL, NULL   },
    {"url",             &string_or_nothing, OPTIONAL, NULL   },
    {"type",            &vcs,               OPTIONAL, NULL   },
    {"commit",          &string,            OPTIONAL, NULL   },
    {"branch",          &string_or_nothing, OPTIONAL, NULL   },
    {"tag",             &string_or_nothing, OPTIONAL, NULL   },
    {"refspec",         &string,            OPTIONAL, REFSPEC},
    {"signed",          &boolean,           OPTIONAL, NULL   },
    {"allowed_signers", &strings,           OPTIONAL, NULL   },
    {"path",            &string_or_nothing, OPTIONAL, NULL   },
    {"layers",          &layers,            OPTIONAL, NULL   },
    {"patches",         &patches,           OPTIONAL, NULL   },
};
static const struct shape repo = {
    .types = MAP | NUL, .what = "a map or nothing", KEYS(repo_keys)};
static const struct shape repos = {
    .types = MAP, .what = "a map of repositories", .each = &repo};

static const struct key default_patch_keys[] = {
    {"repo", &string, OPTIONAL, NULL},
};
static const struct shape default_patches = {
    .types = MAP, .what = A_MAP, KEYS(default_patch_keys)};
static const struct key default_repo_keys[] = {
    {"branch",  &string,          OPTIONAL, NULL   },
    {"tag",     &string,          OPTIONAL, NULL   },
    {"refspec", &string,          OPTIONAL, REFSPEC},
    {"patches", &default_patches, OPTIONAL, NULL   },
};
static const struct shape default_repos = {
    .types = MAP, .what = A_MAP, KEYS(default_repo_keys)};
static const struct key defaults_keys[] = {
    {"repos", &default_repos, OPTIONAL, NULL},
};
static const struct shape defaults = {.types = MAP, .what = A_MAP, KEYS(defaults_keys)};

static const struct key override_keys[] = {
    {"branch", &string_or_nothing, OPTIONAL, NULL},
    {"commit", &string_or_nothing, OPTIONAL, NULL},
    {"url",    &string,            OPTIONAL, NULL},
};
static const struct shape override = {.types = MAP, .what = A_MAP, KEYS(override_keys)};
static const struct shape override_repos = {
    .types = MAP, .what = "a map of repositories", .each = &override};
static const struct key overrides_keys[] = {
    {"repos", &override_repos, OPTIONAL, NULL},
};
static const struct shape overrides = {
    .types = MAP, .what = A_MAP, KEYS(overrides_keys)};

static const struct key signer_keys[] = {
    {"type",          &string, OPTIONAL, NULL},
    {"repo",          &string, OPTIONAL, NULL},
    {"path",          &string, OPTIONAL, NULL},
    {"fingerprint",   &string, OPTIONAL, NULL},
    {"gpg_keyserver", &string, OPTIONAL, NULL},
};
static const struct shape signer = {.types = MAP, .what = A_MAP, KEYS(signer_keys)};
static const struct shape signers = {
    .types = MAP, .what = "a map of signers", .each = &signer};

static const struct key buildtools_keys[] = {
    {"version",   &string, NEEDED,   NULL},
    {"sha256sum", &string, NEEDED,   NULL},
    {"base_url",  &string, OPTIONAL, NULL},
    {"filename",  &string, OPTIONAL, NULL},
};
static const struct shape buildtools = {
    .types = MAP, .what = A_MAP, KEYS(buildtools_keys), .open = true};

static const struct key file_keys[] = {
    {"header",               &header,            NEEDED,   NULL              },
    {"machine",              &string,            OPTIONAL, NULL              },
    {"distro",               &string,            OPTIONAL, NULL              },
    {"target",               &target,            OPTIONAL, NULL              },
    {"task",                 &string,            OPTIONAL, NULL              },
    {"build_system",         &build_system,      OPTIONAL, NULL              },
    {"env",                  &env,               OPTIONAL, NULL              },
    {"repos",                &repos,             OPTIONAL, NULL              },
    {"defaults",             &defaults,          OPTIONAL, NULL              },
    {"overrides",            &overrides,         OPTIONAL, NULL              },
    {"local_conf_header",    &texts,             OPTIONAL, NULL              },
    {"bblayers_conf_header", &texts,             OPTIONAL, NULL              },
    {"menu_configuration",   &scalars,           OPTIONAL, NULL              },
    {"artifacts",            &texts,             OPTIONAL, NULL              },
    {"signers",              &signers,           OPTIONAL, NULL              },
    {"buildtools",           &buildtools,        OPTIONAL, NULL              },
    {"proxy_config",         &anything_in_a_map, OPTIONAL, "it has no effect"},
    {"_source_dir",          &string,            OPTIONAL, NULL              },
    {"_source_dir_host",     &string,            OPTIONAL, NULL              },
};
static const struct shape file_shape = {.types = MAP, .what = A_MAP, KEYS(file_keys)};

static void warn_unknown(const struct check *c, const struct bz_doc *d,
                         const struct trail *t, const struct shape *s)
{
    struct bz_kas_place at = {c->file, d->key_line, 0};
    struct bz_near near;
    char in[160], hint[128];

    bz_near_init(&near, d->key);
    for (size_t i = 0; i < s->nkeys; i++)
        bz_near_offer(&near, bz_str_from(s->keys[i].name));
    trail_text(t, in, sizeof(in));
    bz_kas_place_warn(c->notes, at, "unknown key '%.*s'%s%s%s",
                      BZ_STR_ARG(head(d->key)), in[0] ? " in " : "", in,
                      bz_near_text(&near, "", hint, sizeof(hint)));
}

static const struct key *find_key(const struct shape *s, struct bz_str name)
{
    for (size_t i = 0; i < s->nkeys; i++)
        if (bz_str_eq(name, bz_str_from(s->keys[i].name)))
            return &s->keys[i];
    return NULL;
}

static int check_needed(const struct check *c, const struct bz_doc *d,
                        const struct trail *t, const struct shape *s)
{
    char in[160];

    for (size_t i = 0; i < s->nkeys; i++)
        if (s->keys[i].need == NEEDED && !bz_doc_find(d, s->keys[i].name))
            return bz_fail(c->err, BZ_E_INVAL,
                           BZ_KAS_PLACE_FMT ": key '%s' is missing%s%s",
                           BZ_KAS_PLACE_ARG(place(c, d)), s->keys[i].name,
                           t->up ? " in " : "", trail_text(t, in, sizeof(in)));
    return 0;
}

/* Goes no deeper than the table above. */
static int check_value(const struct check *c, const struct bz_doc *d,
                       const struct trail *t, const struct shape *s)
{
    int rc;

    if (!(s->types & 1u << d->type))
        return wrong_type(c, d, t, s);
    rc = s->also ? s->also(c, d, t) : 0;
    if (rc < 0 || (d->type != BZ_DOC_MAP && d->type != BZ_DOC_LIST))
        return rc;
    for (size_t i = 0; i < d->count; i++) {
        const struct bz_doc *item = &d->items[i];
        const struct key *key = find_key(s, item->key);
        const struct shape *next = key ? key->shape : s->each;
        struct trail in = {t, item->key};

        if (key && key->instead)
            bz_kas_place_warn(c->notes,
                              (struct bz_kas_place){c->file, item->key_line, 0},
                              "'%s' is obsolete: %s", key->name, key->instead);
        if (!next && !s->open)
            warn_unknown(c, item, t, s);
        if (next)
            rc = check_value(c, item, d->type == BZ_DOC_LIST ? t : &in, next);
        if (rc < 0)
            return rc;
    }
    return d->type == BZ_DOC_MAP ? check_needed(c, d, t, s) : 0;
}

int bz_kas_schema_check(const struct bz_doc *doc, const char *file,
                        struct bz_kas_notes *notes, unsigned *version,
                        struct bz_err *err)
{
    const struct check c = {file, notes, err};
    const struct trail top = {0};
    const struct bz_doc *v;
    int rc = check_value(&c, doc, &top, &file_shape);

    if (rc < 0)
        return rc;
    v = bz_doc_find(bz_doc_find(doc, "header"), "version");
    *version = v->type == BZ_DOC_INT ? (unsigned)v->i : 1;
    return 0;
}
