#include "recipe/environ.h"

#include "base/map.h"
#include "vars/vars.h"

static const struct bz_str exported[] = {
    BZ_STR("BB_TASKHASH"), BZ_STR("HOME"),   BZ_STR("LOGNAME"),
    BZ_STR("PATH"),        BZ_STR("PWD"),    BZ_STR("SHELL"),
    BZ_STR("USER"),        BZ_STR("LC_ALL"), BZ_STR("BBSERVER"),
};

/* These pass as well; the last two by the script that sets up a build, which bitzel
 * does not need. */
static const struct bz_str kept[] = {
    BZ_STR("BBPATH"),
    BZ_STR("BB_PRESERVE_ENV"),
    BZ_STR("BB_ENV_PASSTHROUGH_ADDITIONS"),
    BZ_STR("MACHINE"),
    BZ_STR("DISTRO"),
};

#define PASSTHROUGH BZ_STR("BB_ENV_PASSTHROUGH")
#define ADDITIONS BZ_STR("BB_ENV_PASSTHROUGH_ADDITIONS")

bool bz_environ_exported(struct bz_str name)
{
    for (size_t i = 0; i < BZ_COUNTOF(exported); i++)
        if (bz_str_eq(name, exported[i]))
            return true;
    return false;
}

/* All variables there are, before any rule. */
struct all {
    struct bz_arena *arena;
    struct bz_environ_vars vars;
    struct bz_map at; /* name -> its place in vars, from 1 */
};

static void put(struct all *all, struct bz_str name, struct bz_str value)
{
    struct bz_str kept_name = bz_arena_dup(all->arena, name);
    struct bz_map_entry *it = bz_map_put(&all->at, kept_name);

    if (it->u == 0) {
        BZ_VEC_PUSH(&all->vars, (struct bz_environ_var){kept_name, {0}});
        it->u = all->vars.len;
    }
    BZ_VEC_AT(&all->vars, it->u - 1).value = bz_arena_dup(all->arena, value);
}

/* p == NULL if it is not set. */
static struct bz_str value_of(const struct all *all, struct bz_str name)
{
    const struct bz_map_entry *it = bz_map_get(&all->at, name);

    return it ? BZ_VEC_AT(&all->vars, it->u - 1).value : (struct bz_str){0};
}

static void add_words(struct bz_map *names, struct bz_str list)
{
    struct bz_str word;

    while (bz_str_next_word(&list, &word))
        bz_map_put(names, word);
}

/* The names that pass while not all do. */
static void approve(const struct all *all, struct bz_map *names)
{
    struct bz_str only = value_of(all, PASSTHROUGH), also = value_of(all, ADDITIONS);

    if (only.p) {
        add_words(names, only);
        bz_map_put(names, PASSTHROUGH);
    } else {
        for (size_t i = 0; i < BZ_COUNTOF(exported); i++)
            bz_map_put(names, exported[i]);
        for (size_t i = 0; i < BZ_COUNTOF(kept); i++)
            bz_map_put(names, kept[i]);
    }
    if (also.p) {
        add_words(names, also);
        bz_map_put(names, ADDITIONS);
    }
}

/* Of a variable that is there twice the first counts. */
static void read_all(struct all *all, const char *const *envp)
{
    for (; envp && *envp; envp++) {
        struct bz_str name, value;

        if (bz_str_cut(bz_str_from(*envp), '=', &name, &value) && name.n > 0 &&
            !bz_map_get(&all->at, name))
            put(all, name, value);
    }
}

void bz_environ_read(struct bz_environ *e, const char *const *envp,
                     const struct bz_environ_var *more, size_t n)
{
    struct all all = {.arena = &e->arena};
    struct bz_map names = {0};
    bool whole;

    read_all(&all, envp);
    for (size_t i = 0; i < n; i++)
        if (more[i].value.p)
            put(&all, more[i].name, more[i].value);
    whole = value_of(&all, BZ_STR("BB_PRESERVE_ENV")).p != NULL;
    approve(&all, &names);
    if (!whole && bz_map_get(&names, BZ_STR("LC_ALL")))
        put(&all, BZ_STR("LC_ALL"), BZ_STR("en_US.UTF-8"));
    for (size_t i = 0; i < n; i++)
        bz_map_put(&names, more[i].name);
    for (size_t i = 0; i < all.vars.len; i++)
        if (whole || bz_map_get(&names, all.vars.at[i].name))
            BZ_VEC_PUSH(&e->vars, all.vars.at[i]);
    bz_map_release(&names);
    bz_map_release(&all.at);
    bz_vec_release(&all.vars);
}

int bz_environ_check(const char *const *envp, struct bz_err *err)
{
    for (; envp && *envp; envp++) {
        struct bz_str name, value;
        int rc = 0;

        if (bz_str_cut(bz_str_from(*envp), '=', &name, &value))
            rc = bz_vars_check_renamed(name, err);
        if (rc < 0)
            return bz_err_wrap(err, "environment");
    }
    return 0;
}

void bz_environ_release(struct bz_environ *e)
{
    bz_vec_release(&e->vars);
    bz_arena_release(&e->arena);
    *e = (struct bz_environ){0};
}

const char *bz_environ_find(const char *const *envp, const char *name)
{
    size_t n = strlen(name);

    for (; envp && *envp; envp++)
        if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
            return *envp + n + 1;
    return NULL;
}

struct bz_str bz_environ_get(const struct bz_environ *e, struct bz_str name)
{
    for (size_t i = 0; i < e->vars.len; i++)
        if (bz_str_eq(e->vars.at[i].name, name))
            return e->vars.at[i].value;
    return (struct bz_str){0};
}
