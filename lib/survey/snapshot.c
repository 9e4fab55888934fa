#include "survey/snapshot.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

static const char magic[8] = "bzsurvey";

enum { ORDER = 0x01020304 };

const size_t bz_snapshot_sizes[BZ_SNAPSHOT_TABLES] = {
    [BZ_SNAPSHOT_TEXTS] = 1,
    [BZ_SNAPSHOT_INPUTS] = sizeof(struct bz_snapshot_input),
    [BZ_SNAPSHOT_LIST] = sizeof(uint32_t),
    [BZ_SNAPSHOT_PARTS] = sizeof(struct bz_snapshot_part),
    [BZ_SNAPSHOT_RECIPES] = sizeof(struct bz_snapshot_recipe),
    [BZ_SNAPSHOT_FACTS] = sizeof(struct bz_snapshot_fact),
    [BZ_SNAPSHOT_PACKAGES] = sizeof(struct bz_snapshot_package),
    [BZ_SNAPSHOT_TASKS] = sizeof(struct bz_snapshot_task),
};

const size_t bz_snapshot_fact_at[BZ_SNAPSHOT_FACT_TEXTS] = {
    offsetof(struct bz_facts, path),      offsetof(struct bz_facts, variant),
    offsetof(struct bz_facts, layer),     offsetof(struct bz_facts, appends),
    offsetof(struct bz_facts, error),     offsetof(struct bz_facts, skipped),
    offsetof(struct bz_facts, pn),        offsetof(struct bz_facts, provides),
    offsetof(struct bz_facts, rprovides), offsetof(struct bz_facts, packages_dynamic),
    offsetof(struct bz_facts, pe),        offsetof(struct bz_facts, pv),
    offsetof(struct bz_facts, pr),        offsetof(struct bz_facts, depends),
    offsetof(struct bz_facts, rdepends),  offsetof(struct bz_facts, rrecommends),
    offsetof(struct bz_facts, inherits),  offsetof(struct bz_facts, stamp),
    offsetof(struct bz_facts, summary),   offsetof(struct bz_facts, python),
};

const size_t bz_snapshot_package_at[BZ_SNAPSHOT_PACKAGE_TEXTS] = {
    offsetof(struct bz_facts_package, name),
    offsetof(struct bz_facts_package, rprovides),
    offsetof(struct bz_facts_package, rdepends),
    offsetof(struct bz_facts_package, rrecommends),
};

const size_t bz_snapshot_task_at[BZ_SNAPSHOT_TASK_TEXTS] = {
    offsetof(struct bz_facts_task, name),
    offsetof(struct bz_facts_task, after),
    offsetof(struct bz_facts_task, depends),
    offsetof(struct bz_facts_task, rdepends),
    offsetof(struct bz_facts_task, deptask),
    offsetof(struct bz_facts_task, rdeptask),
    offsetof(struct bz_facts_task, recrdeptask),
    offsetof(struct bz_facts_task, recideptask),
    offsetof(struct bz_facts_task, mcdepends),
    offsetof(struct bz_facts_task, places),
    offsetof(struct bz_facts_task, python),
};

/* BZ_SURVEY_PROGRAM names the program's version: another one may read the same files
 * differently. */
void bz_snapshot_sign(struct bz_snapshot_head *head)
{
    static const char program[sizeof(head->program)] = BZ_SURVEY_PROGRAM;

    memcpy(head->magic, magic, sizeof(magic));
    memcpy(head->program, program, sizeof(program));
    head->order = ORDER;
    head->format = BZ_SNAPSHOT_FORMAT;
}

static bool head_fits(const struct bz_snapshot_head *head, size_t size)
{
    struct bz_snapshot_head ours = {0};

    bz_snapshot_sign(&ours);
    return memcmp(head, &ours, offsetof(struct bz_snapshot_head, size)) == 0 &&
           head->size == size;
}

static bool tables_fit(const struct bz_snapshot_head *head)
{
    for (size_t i = 0; i < BZ_SNAPSHOT_TABLES; i++) {
        uint64_t first = head->tables[i].first;
        uint64_t bytes = (uint64_t)head->tables[i].n * bz_snapshot_sizes[i];

        if (first % 8 != 0 || first < sizeof(*head) || first > head->size ||
            bytes > head->size - first)
            return false;
    }
    return true;
}

int bz_snapshot_view(struct bz_snapshot *s, struct bz_str bytes, struct bz_err *err)
{
    const struct bz_snapshot_head *head = (const void *)bytes.p;

    if (bytes.n < sizeof(*head) || (uintptr_t)bytes.p % 8 != 0 ||
        !head_fits(head, bytes.n))
        return bz_fail(err, BZ_E_CORRUPT, "no snapshot of this program");
    if (!tables_fit(head))
        return bz_fail(err, BZ_E_CORRUPT, "the snapshot is damaged");
    *s = (struct bz_snapshot){.bytes = bytes.p, .size = bytes.n, .head = head};
    return 0;
}

void bz_snapshot_close(struct bz_snapshot *s)
{
    free(s->packages);
    free(s->tasks);
    *s = (struct bz_snapshot){0};
}

const void *bz_snapshot_at(const struct bz_snapshot *s, enum bz_snapshot_table table,
                           size_t i)
{
    if (i >= s->head->tables[table].n)
        return NULL;
    return s->bytes + s->head->tables[table].first + i * bz_snapshot_sizes[table];
}

bool bz_snapshot_has(const struct bz_snapshot *s, enum bz_snapshot_table table,
                     struct bz_snapshot_range range)
{
    uint32_t n = s->head->tables[table].n;

    return range.first <= n && range.n <= n - range.first;
}

bool bz_snapshot_text(const struct bz_snapshot *s, struct bz_snapshot_text ref,
                      struct bz_str *out)
{
    const struct bz_snapshot_range *heap = &s->head->tables[BZ_SNAPSHOT_TEXTS];
    const char *text = s->bytes + heap->first;

    *out = (struct bz_str){0};
    if (ref.at == BZ_SNAPSHOT_UNSET)
        return true;
    if (ref.at >= heap->n || ref.n >= heap->n - ref.at || text[ref.at + ref.n] != '\0')
        return false;
    *out = bz_str_of(text + ref.at, ref.n);
    return true;
}

/* Fills the texts of a struct whose members lie at these places. */
static bool fill(const struct bz_snapshot *s, const struct bz_snapshot_text *refs,
                 const size_t *at, size_t n, void *out)
{
    bool good = true;

    for (size_t i = 0; i < n; i++)
        good &= bz_snapshot_text(s, refs[i], (void *)((char *)out + at[i]));
    return good;
}

/* The tables of packages and tasks are small, since equal lists are there once. */
static bool read_packages(struct bz_snapshot *s)
{
    uint32_t n = bz_snapshot_count(s, BZ_SNAPSHOT_PACKAGES);
    bool good = true;

    s->packages = bz_mem_array(n + 1, sizeof(s->packages[0]));
    for (uint32_t i = 0; i < n; i++) {
        const struct bz_snapshot_package *p =
            bz_snapshot_at(s, BZ_SNAPSHOT_PACKAGES, i);

        good &= fill(s, p->text, bz_snapshot_package_at, BZ_SNAPSHOT_PACKAGE_TEXTS,
                     &s->packages[i]);
    }
    return good;
}

static bool read_tasks(struct bz_snapshot *s)
{
    uint32_t n = bz_snapshot_count(s, BZ_SNAPSHOT_TASKS);
    bool good = true;

    s->tasks = bz_mem_array(n + 1, sizeof(s->tasks[0]));
    for (uint32_t i = 0; i < n; i++) {
        const struct bz_snapshot_task *t = bz_snapshot_at(s, BZ_SNAPSHOT_TASKS, i);

        good &=
            fill(s, t->text, bz_snapshot_task_at, BZ_SNAPSHOT_TASK_TEXTS, &s->tasks[i]);
        s->tasks[i].noexec = t->bits & BZ_SNAPSHOT_NOEXEC;
        s->tasks[i].nostamp = t->bits & BZ_SNAPSHOT_NOSTAMP;
        s->tasks[i].fakeroot = t->bits & BZ_SNAPSHOT_FAKEROOT;
        s->tasks[i].network = t->bits & BZ_SNAPSHOT_NETWORK;
    }
    return good;
}

int bz_snapshot_fact(struct bz_snapshot *s, size_t i, struct bz_facts *out,
                     struct bz_err *err)
{
    const struct bz_snapshot_fact *f = bz_snapshot_at(s, BZ_SNAPSHOT_FACTS, i);

    *out = (struct bz_facts){0};
    if ((!s->packages && !read_packages(s)) || (!s->tasks && !read_tasks(s)) || !f ||
        !bz_snapshot_has(s, BZ_SNAPSHOT_PACKAGES, f->packages) ||
        !bz_snapshot_has(s, BZ_SNAPSHOT_TASKS, f->tasks) ||
        !fill(s, f->text, bz_snapshot_fact_at, BZ_SNAPSHOT_FACT_TEXTS, out))
        return bz_fail(err, BZ_E_CORRUPT, "the snapshot refers to what is not there");
    out->packages = s->packages + f->packages.first;
    out->npackages = f->packages.n;
    out->tasks = s->tasks + f->tasks.first;
    out->ntasks = f->tasks.n;
    out->priority = f->priority;
    out->default_preference = f->preference;
    out->hidden = f->bits & BZ_SNAPSHOT_HIDDEN;
    out->uncached = f->bits & BZ_SNAPSHOT_UNCACHED;
    memcpy(out->lineage, f->lineage, sizeof(out->lineage));
    out->not_world = f->bits & BZ_SNAPSHOT_NOT_WORLD;
    return 0;
}
