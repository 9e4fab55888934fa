#include "survey/evaluate.h"

#include "survey/lineage.h"
#include "vars/vars_table.h"

/* Whether it is what the survey saw, by which tasks are signed. */
static bool is_same(struct bz_catalog *p, const struct bz_meta *m,
                    const struct bz_facts *facts)
{
    uint8_t lineage[32];

    bz_lineage_of(p->library, m, facts, lineage);
    return !bz_lineage_known(lineage) || !bz_lineage_known(facts->lineage) ||
           memcmp(lineage, facts->lineage, sizeof(lineage)) == 0;
}

/* For what has no table. */
static int evaluate(struct bz_catalog *p, size_t part, const struct bz_facts *facts,
                    struct bz_evaluated *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names appends = {0};
    struct bz_finalize_opts opts = {.path = facts->path,
                                    .layer = facts->layer,
                                    .appends = &appends,
                                    .only = facts->variant};
    struct bz_meta *m;
    int rc;

    bz_collect_appends(&p->mcs.at[part].recipes, facts->path, &appends);
    rc = bz_finalize_recipe(p->mcs.at[part].config, p->library, &opts, &out->finalize,
                            err);
    if (rc < 0)
        return rc;
    m = bz_finalize_variant(out->finalize, facts->variant);
    if (!m || !is_same(p, m, facts))
        return bz_fail(err, BZ_E_BUSY,
                       "%.*s, or what it is made from, changed after it was read; try "
                       "again",
                       BZ_STR_ARG(facts->path));
    out->vars = m->vars;
    return 0;
}

void bz_evaluate_find(struct bz_catalog *p, size_t part, const struct bz_facts *facts,
                      struct bz_evaluate_table *out)
{
    if (!bz_survey_table(&p->survey, part, facts, bz_catalog_entries(p), &out->table,
                         &out->strings))
        *out = (struct bz_evaluate_table){0};
}

int bz_evaluate_read(const struct bz_catalog *p, size_t part,
                     const struct bz_evaluate_table *table, struct bz_evaluated *out,
                     struct bz_err *err)
{
    int rc = bz_vars_table_read(table->table, table->strings,
                                p->mcs.at[part].config->vars, &out->read, err);

    out->vars = out->read;
    return rc;
}

int bz_evaluate_recipe(struct bz_catalog *p, size_t part, const struct bz_facts *facts,
                       struct bz_evaluated *out, struct bz_err *err)
{
    struct bz_evaluate_table table;
    int rc = bz_catalog_load(p, err);

    *out = (struct bz_evaluated){0};
    if (rc < 0)
        return rc;
    bz_evaluate_find(p, part, facts, &table);
    if (table.table.p && bz_evaluate_read(p, part, &table, out, err) == 0)
        return 0;
    return evaluate(p, part, facts, out, err);
}

void bz_evaluate_release(struct bz_evaluated *e)
{
    bz_vars_free(e->read);
    bz_finalize_free(e->finalize);
    *e = (struct bz_evaluated){0};
}
