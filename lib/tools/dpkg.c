#include "tools/dpkg.h"

static bool has_files(struct bz_str status)
{
    static const struct bz_str states[] = {
        {"installed",        9 },
        {"unpacked",         8 },
        {"half-configured",  15},
        {"triggers-pending", 16},
        {"triggers-awaited", 16},
    };
    size_t at = bz_str_rfind_byte(status, ' ');

    if (at == BZ_STR_NONE)
        return false;
    for (size_t i = 0; i < BZ_COUNTOF(states); i++)
        if (bz_str_eq(bz_str_drop(status, at + 1), states[i]))
            return true;
    return false;
}

/* ---- reading ---- */

/* A word of a list of packages: "name", "name:arch" or "name (>= 1)"; the name. */
static struct bz_str bare_name(struct bz_str word)
{
    struct bz_str rest;

    (void)bz_str_cut(bz_str_trim(word), '(', &word, &rest);
    (void)bz_str_cut(word, '[', &word, &rest);
    return bz_str_trim(word);
}

static struct bz_str without_arch(struct bz_str name)
{
    struct bz_str rest;

    (void)bz_str_cut(name, ':', &name, &rest);
    return name;
}

static void add_provides(struct bz_dpkg *d, uint32_t package, struct bz_str list)
{
    struct bz_str word;

    while (list.n > 0 && bz_str_next_part(&list, ',', &word)) {
        struct bz_str name = without_arch(bare_name(word));
        struct bz_map_entry *e;

        if (name.n == 0)
            continue;
        e = bz_map_put(&d->virtual, name);
        BZ_VEC_PUSH(&d->providers, (struct bz_dpkg_provider){package, (uint32_t)e->u});
        e->u = d->providers.len;
    }
}

struct stanza {
    struct bz_dpkg_package package;
    struct bz_str status, provides;
};

static void take_field(struct stanza *s, struct bz_str line)
{
    struct bz_str name, value;

    if (!bz_str_cut(line, ':', &name, &value))
        return;
    value = bz_str_trim(value);
    if (bz_str_eq(name, BZ_STR("Package")))
        s->package.name = value;
    else if (bz_str_eq(name, BZ_STR("Status")))
        s->status = value;
    else if (bz_str_eq(name, BZ_STR("Architecture")))
        s->package.arch = value;
    else if (bz_str_eq(name, BZ_STR("Multi-Arch")))
        s->package.same = bz_str_eq(value, BZ_STR("same"));
    else if (bz_str_eq(name, BZ_STR("Essential")))
        s->package.essential = bz_str_eq(value, BZ_STR("yes"));
    else if (bz_str_eq(name, BZ_STR("Pre-Depends")))
        s->package.depends[0] = value;
    else if (bz_str_eq(name, BZ_STR("Depends")))
        s->package.depends[1] = value;
    else if (bz_str_eq(name, BZ_STR("Provides")))
        s->provides = value;
}

/* Names become a part of file names. */
static bool is_name(struct bz_str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '/' || name.p[i] == '\0')
            return false;
    return name.n > 0 && name.n < 200 && name.p[0] != '.';
}

static int add_package(struct bz_dpkg *d, const struct stanza *s, struct bz_err *err)
{
    struct bz_map_entry *e;
    uint32_t i = (uint32_t)d->packages.len;

    if (!is_name(s->package.name) || !has_files(s->status) ||
        (s->package.arch.n > 0 && !is_name(s->package.arch)))
        return 0;
    if (i >= BZ_DPKG_PACKAGES)
        return bz_fail(err, BZ_E_LIMIT, "there are more than %d packages",
                       BZ_DPKG_PACKAGES);
    BZ_VEC_PUSH(&d->packages, s->package);
    e = bz_map_put(&d->names, s->package.name);
    d->packages.at[i].next = (uint32_t)e->u;
    e->u = i + 1;
    add_provides(d, i, s->provides);
    if (bz_str_eq(s->package.name, BZ_STR("dpkg")))
        d->native = s->package.arch;
    return 0;
}

int bz_dpkg_read(struct bz_dpkg *d, struct bz_str status, struct bz_err *err)
{
    struct stanza s = {0};
    struct bz_str line;
    int rc = 0;

    *d = (struct bz_dpkg){0};
    while (rc == 0 && status.n > 0 && bz_str_next_part(&status, '\n', &line)) {
        if (line.n > 0) {
            if (line.p[0] != ' ' && line.p[0] != '\t')
                take_field(&s, line);
            continue;
        }
        rc = add_package(d, &s, err);
        s = (struct stanza){0};
    }
    return rc < 0 ? rc : add_package(d, &s, err);
}

void bz_dpkg_release(struct bz_dpkg *d)
{
    bz_vec_release(&d->packages);
    bz_vec_release(&d->providers);
    bz_map_release(&d->names);
    bz_map_release(&d->virtual);
    bz_map_release(&d->diverted);
    bz_arena_release(&d->arena);
    *d = (struct bz_dpkg){0};
}

void bz_dpkg_read_diversions(struct bz_dpkg *d, struct bz_str text)
{
    struct bz_str from, to, by;

    while (text.n > 0 && bz_str_next_part(&text, '\n', &from) &&
           bz_str_next_part(&text, '\n', &to) && bz_str_next_part(&text, '\n', &by)) {
        struct bz_dpkg_diversion *one =
            BZ_ARENA_NEW(&d->arena, struct bz_dpkg_diversion);

        *one = (struct bz_dpkg_diversion){to, by};
        if (from.n > 0 && to.n > 0 && by.n > 0)
            bz_map_put(&d->diverted, from)->p = one;
    }
}

/* ---- asking ---- */

static bool find(const struct bz_dpkg *d, struct bz_str name, struct bz_str arch,
                 bool must, uint32_t *out)
{
    const struct bz_map_entry *e = bz_map_get(&d->names, name);
    bool found = false;

    for (uint32_t i = e ? (uint32_t)e->u : 0; i > 0; i = d->packages.at[i - 1].next) {
        bool fits = bz_str_eq(d->packages.at[i - 1].arch, arch);

        if (fits || (!must && !found))
            *out = i - 1;
        found |= fits || !must;
        if (fits)
            return true;
    }
    return found;
}

bool bz_dpkg_find(const struct bz_dpkg *d, struct bz_str word, uint32_t *out)
{
    struct bz_str name, arch;

    if (bz_str_cut(word, ':', &name, &arch))
        return find(d, name, arch, true, out);
    return find(d, name, d->native, false, out);
}

/* Packages whose dependencies are still to be looked at. */
struct closing {
    const struct bz_dpkg *d;
    struct bz_bitset *set;
    struct bz_dpkg_todo BZ_VEC(uint32_t) todo;
};

static void include(struct closing *c, uint32_t package)
{
    if (bz_bitset_test(c->set, package))
        return;
    bz_bitset_set(c->set, package);
    BZ_VEC_PUSH(&c->todo, package);
}

/* One of the alternatives of a dependency. */
static bool satisfy(struct closing *c, struct bz_str arch, struct bz_str word)
{
    struct bz_str name = without_arch(bare_name(word));
    const struct bz_map_entry *e;
    uint32_t package;

    if (find(c->d, name, arch, false, &package)) {
        include(c, package);
        return true;
    }
    e = bz_map_get(&c->d->virtual, name);
    for (uint32_t i = e ? (uint32_t)e->u : 0; i > 0; i = c->d->providers.at[i - 1].next)
        include(c, c->d->providers.at[i - 1].package);
    return e != NULL;
}

static void follow(struct closing *c, struct bz_str arch, struct bz_str list)
{
    struct bz_str dependency, word;

    while (list.n > 0 && bz_str_next_part(&list, ',', &dependency))
        while (dependency.n > 0 && bz_str_next_part(&dependency, '|', &word))
            if (satisfy(c, arch, word))
                break;
}

void bz_dpkg_close(const struct bz_dpkg *d, struct bz_bitset *set)
{
    struct closing c = {.d = d, .set = set};

    for (size_t i = bz_bitset_next(set, 0); i != BZ_BITSET_END;
         i = bz_bitset_next(set, i + 1))
        BZ_VEC_PUSH(&c.todo, (uint32_t)i);
    while (c.todo.len > 0) {
        const struct bz_dpkg_package *p = &d->packages.at[BZ_VEC_POP(&c.todo)];

        for (size_t i = 0; i < BZ_COUNTOF(p->depends); i++)
            follow(&c, p->arch, p->depends[i]);
    }
    bz_vec_release(&c.todo);
}

struct bz_str bz_dpkg_place(const struct bz_dpkg *d, uint32_t package,
                            struct bz_str path)
{
    const struct bz_map_entry *e = bz_map_get(&d->diverted, path);
    const struct bz_dpkg_diversion *one = e ? e->p : NULL;

    return !one || bz_str_eq(one->by, d->packages.at[package].name) ? path : one->to;
}

void bz_dpkg_links(struct bz_str name, struct bz_str text, bz_dpkg_link_fn fn,
                   void *ctx)
{
    struct bz_str mode, link;

    if (!bz_str_next_part(&text, '\n', &mode) || !bz_str_next_part(&text, '\n', &link))
        return;
    fn(ctx, name, link);
    while (bz_str_next_part(&text, '\n', &name) && name.n > 0 &&
           bz_str_next_part(&text, '\n', &link))
        fn(ctx, name, link);
}
