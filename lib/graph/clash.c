#include "graph/clash.h"

#include <stdlib.h>

#include "base/mem.h"

/* So many names are shown; more would not help. */
enum { SHOWN = 20 };

/* The recipes that provide a name, in the order of the graph. */
struct claim {
    struct bz_str name;
    uint32_t part;
    struct bz_dag_ids recipes;
};

struct search {
    const struct bz_tgraph *g;
    const struct bz_need *need;
    struct bz_map *first;  /* [parts]: name -> the first that provides it, from 1 */
    struct bz_map *shared; /* [parts]: name -> its claim, from 1 */
    struct claims BZ_VEC(struct claim) claims;
    struct bz_dag waiting; /* who waits for a task; built when it is asked for */
};

static void claim(struct search *s, uint32_t recipe, struct bz_str name)
{
    uint32_t part = s->g->recipes[recipe].part;
    struct bz_map_entry *first = bz_map_put(&s->first[part], name), *shared;
    struct claim *c;

    if (first->u == 0)
        first->u = (uint64_t)recipe + 1;
    if (first->u == (uint64_t)recipe + 1 ||
        bz_provide_multiple(s->need->parts[part].provide, name))
        return;
    shared = bz_map_put(&s->shared[part], name);
    if (shared->u == 0) {
        BZ_VEC_PUSH(&s->claims, (struct claim){.name = name, .part = part});
        shared->u = s->claims.len;
        BZ_VEC_PUSH(&s->claims.at[shared->u - 1].recipes, (uint32_t)first->u - 1);
    }
    BZ_ASSERT(shared->u <= s->claims.len);
    c = &s->claims.at[shared->u - 1];
    if (BZ_VEC_LAST(&c->recipes) != recipe)
        BZ_VEC_PUSH(&c->recipes, recipe);
}

/* Two recipes of the claim with the same name, if there are. Few claim one name. */
static bool are_versions(const struct search *s, const struct claim *c,
                         struct bz_str *pn)
{
    for (size_t i = 1; i < c->recipes.len && i < SHOWN; i++)
        for (size_t k = 0; k < i; k++) {
            *pn = s->g->recipes[c->recipes.at[i]].facts->pn;
            if (bz_str_eq(*pn, s->g->recipes[c->recipes.at[k]].facts->pn))
                return true;
        }
    return false;
}

/* A task of another recipe that waits for one of this recipe. */
static void add_reason(struct search *s, uint32_t recipe, struct bz_buf *out)
{
    const struct bz_tgraph *g = s->g;

    if (!s->waiting.start)
        bz_dag_reverse(&g->dag, &s->waiting);
    for (uint32_t t = g->recipes[recipe].first; t < g->recipes[recipe + 1].first; t++)
        for (uint32_t e = s->waiting.start[t]; e < s->waiting.start[t + 1]; e++) {
            const struct bz_tgraph_task *by = &g->tasks[s->waiting.to[e]];

            if (by->recipe == recipe)
                continue;
            bz_buf_addf(out, ", for %.*s:%.*s",
                        BZ_STR_ARG(g->recipes[by->recipe].facts->pn),
                        BZ_STR_ARG(by->facts->name));
            return;
        }
    bz_buf_addf(out, ", a target");
}

static bool show(struct search *s, const struct claim *c, struct bz_buf *out)
{
    struct bz_str pn;
    bool versions = are_versions(s, c, &pn);

    bz_buf_addf(out, "%zu recipes that are to be built provide %.*s:\n", c->recipes.len,
                BZ_STR_ARG(c->name));
    for (size_t i = 0; i < c->recipes.len && i < SHOWN; i++) {
        const struct bz_facts *f = s->g->recipes[c->recipes.at[i]].facts;

        bz_buf_addf(out, "  %.*s %.*s (%.*s)", BZ_STR_ARG(f->pn), BZ_STR_ARG(f->pv),
                    BZ_STR_ARG(f->path));
        add_reason(s, c->recipes.at[i], out);
        bz_buf_add_char(out, '\n');
    }
    if (versions)
        bz_buf_addf(out, "  set PREFERRED_VERSION_%.*s to one of them\n",
                    BZ_STR_ARG(pn));
    else
        bz_buf_addf(out,
                    "  set PREFERRED_PROVIDER_%.*s to one of them, or add the name to "
                    "BB_MULTI_PROVIDER_ALLOWED\n",
                    BZ_STR_ARG(c->name));
    return versions;
}

static void release(struct search *s)
{
    for (size_t i = 0; i < s->need->nparts; i++) {
        bz_map_release(&s->first[i]);
        bz_map_release(&s->shared[i]);
    }
    for (size_t i = 0; i < s->claims.len; i++)
        bz_vec_release(&s->claims.at[i].recipes);
    free(s->first);
    free(s->shared);
    bz_vec_release(&s->claims);
    bz_dag_release(&s->waiting);
}

struct bz_clash bz_clash_find(const struct bz_tgraph *g, const struct bz_need *need,
                              struct bz_buf *out)
{
    struct search s = {.g = g, .need = need};
    struct bz_clash found = {0};

    s.first = bz_mem_array(need->nparts, sizeof(*s.first));
    s.shared = bz_mem_array(need->nparts, sizeof(*s.shared));
    for (uint32_t r = 0; r < g->nrecipes; r++) {
        struct bz_str words = g->recipes[r].facts->provides, word;

        claim(&s, r, g->recipes[r].facts->pn);
        while (bz_str_next_word(&words, &word))
            claim(&s, r, word);
    }
    found.names = s.claims.len;
    for (size_t i = 0; i < s.claims.len; i++) {
        struct bz_str pn;

        if (i < SHOWN)
            found.versions |= show(&s, &s.claims.at[i], out);
        else
            found.versions |= are_versions(&s, &s.claims.at[i], &pn);
    }
    release(&s);
    return found;
}
