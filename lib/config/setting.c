#include "config/setting.h"

#include "base/near.h"

static const char *const verify_choices[] = {
    [BZ_SETTING_VERIFY_FIRST_USE] = "first-use",
    [BZ_SETTING_VERIFY_ALWAYS] = "always",
    [BZ_SETTING_VERIFY_NEVER] = "never",
    NULL,
};

static const char *const color_choices[] = {
    [BZ_SETTING_COLOR_AUTO] = "auto",
    [BZ_SETTING_COLOR_ALWAYS] = "always",
    [BZ_SETTING_COLOR_NEVER] = "never",
    NULL,
};

static const char *const sandbox_choices[] = {
    [BZ_SETTING_SANDBOX_AUTO] = "auto",
    [BZ_SETTING_SANDBOX_REQUIRED] = "required",
    NULL,
};

#define ROW(n, t, i, h)                                                                \
    {                                                                                  \
        .name = (n), .type = BZ_SETTING_##t, .initial = (i), .help = (h)               \
    }
#define NUMBER(n, least, most, i, h)                                                   \
    {                                                                                  \
        .name = (n), .type = BZ_SETTING_INT, .min = (least), .max = (most),            \
        .initial = (i), .help = (h)                                                    \
    }
#define CHOICE(n, words, i, h)                                                         \
    {                                                                                  \
        .name = (n), .type = BZ_SETTING_ENUM, .choices = (words), .initial = (i),      \
        .help = (h)                                                                    \
    }
#define IN_HOME(n, which, h)                                                           \
    {                                                                                  \
        .name = (n), .type = BZ_SETTING_PATH, .in_home = true, .home = (which),        \
        .help = (h)                                                                    \
    }

static const struct bz_setting rows[BZ_SETTING_COUNT] = {
    [BZ_SETTING_CACHE_DIR] = IN_HOME("cache.dir", BZ_XDG_CACHE, "The local store"),
    [BZ_SETTING_CACHE_FLUSH] =
        ROW("cache.flush", DURATION, "30s",
            "How long to wait at the end for results that are still being uploaded"),
    [BZ_SETTING_CACHE_KEYS] =
        ROW("cache.keys", LIST, "", "Public keys that tiers may trust, as NAME=DIGITS"),
    [BZ_SETTING_CACHE_MAX_AGE] =
        ROW("cache.max_age", DURATION, "0",
            "Results unused for longer may be removed; 0 is no limit"),
    [BZ_SETTING_CACHE_MAX_SIZE] =
        ROW("cache.max_size", SIZE, "50%",
            "As large as the local store may become, or its share of the room that "
            "other files leave; 0 is no limit"),
    [BZ_SETTING_CACHE_MIN_FREE] =
        ROW("cache.min_free", SIZE, "0",
            "What is to remain free on the store's file system, or which share of it"),
    [BZ_SETTING_CACHE_SIGN] =
        ROW("cache.sign", TEXT, "",
            "The key to sign results with, one of 'bitzel cache key list'"),
    [BZ_SETTING_CACHE_SYNC] = ROW("cache.sync", BOOL, "false",
                                  "Whether what is stored is on the disk at once"),
    [BZ_SETTING_CACHE_TIERS] = ROW("cache.tiers", LIST, "",
                                   "Where to look, in this order, for what the local "
                                   "store lacks"),
    [BZ_SETTING_CACHE_TIMEOUT] =
        ROW("cache.timeout", DURATION, "5s",
            "A tier that is silent for so long is left out for the rest of the run"),
    [BZ_SETTING_CACHE_UPLOAD] = ROW("cache.upload", BOOL, "true",
                                    "Whether results go to the tiers that are rw; not "
                                    "when building what is not trusted, as a pull "
                                    "request"),
    [BZ_SETTING_CACHE_VERIFY] =
        CHOICE("cache.verify", verify_choices, "first-use",
               "When stored bytes are checked against their digest"),
    [BZ_SETTING_COLOR] = CHOICE("color", color_choices, "auto",
                                "Whether to use colours; auto is on a terminal"),
    [BZ_SETTING_HEARTBEAT] =
        ROW("heartbeat", DURATION, "30s",
            "After so long without a line a build that is not on a terminal says what "
            "it does; 0 is never"),
    [BZ_SETTING_JOBS] = NUMBER("jobs", 0, 4096, "0",
                               "How much to do at a time; 0 is one for each processor"),
    [BZ_SETTING_SANDBOX] =
        CHOICE("sandbox", sandbox_choices, "auto",
               "Whether tasks may run under Landlock where there are no user "
               "namespaces; required is not"),
    [BZ_SETTING_STATE_DIR] = IN_HOME(
        "state.dir", BZ_XDG_STATE,
        "What belongs to this machine alone, indexes and keys; on a local disk"),
    [BZ_SETTING_VIA] = ROW("via", TEXT, "",
                           "The socket of the 'bitzel serve' that is to build; auto is "
                           "where one is by default, empty is to build here"),
};

const struct bz_setting *bz_setting_row(enum bz_setting_id id)
{
    BZ_ASSERT((unsigned)id < BZ_SETTING_COUNT);
    return &rows[id];
}

int bz_setting_find(struct bz_str name, enum bz_setting_id *out, struct bz_err *err)
{
    struct bz_near near;
    char hint[128];

    bz_near_init(&near, name);
    for (int i = 0; i < BZ_SETTING_COUNT; i++) {
        struct bz_str own = bz_str_from(rows[i].name);

        if (bz_str_eq(own, name)) {
            *out = (enum bz_setting_id)i;
            return 0;
        }
        bz_near_offer(&near, own);
    }
    if (name.n > 64)
        name.n = 64;
    return bz_fail(err, BZ_E_NOENT, "there is no setting '%.*s'%s", BZ_STR_ARG(name),
                   bz_near_text(&near, "", hint, sizeof(hint)));
}

const char *bz_setting_env(enum bz_setting_id id, char text[BZ_SETTING_ENV_MAX])
{
    static const char prefix[] = "BITZEL_";
    size_t n = sizeof(prefix) - 1;

    memcpy(text, prefix, n);
    for (const char *p = bz_setting_row(id)->name; *p; p++) {
        BZ_ASSERT(n + 1 < BZ_SETTING_ENV_MAX);
        if (*p >= 'a' && *p <= 'z')
            text[n++] = (char)(*p - 'a' + 'A');
        else
            text[n++] = '_';
    }
    text[n] = '\0';
    return text;
}

const char *bz_setting_type_name(enum bz_setting_type type)
{
    static const char *const names[] = {
        [BZ_SETTING_BOOL] = "bool", [BZ_SETTING_INT] = "int",
        [BZ_SETTING_SIZE] = "size", [BZ_SETTING_DURATION] = "duration",
        [BZ_SETTING_TEXT] = "text", [BZ_SETTING_PATH] = "path",
        [BZ_SETTING_LIST] = "list", [BZ_SETTING_ENUM] = "enum",
    };

    return names[type];
}
