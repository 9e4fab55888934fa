#include "sig/record_diff.h"

void bz_record_diff_release(struct bz_record_diff *d)
{
    bz_vec_release(&d->fields);
    bz_vec_release(&d->inputs);
    bz_vec_release(&d->commits);
    bz_vec_release(&d->files);
    bz_vec_release(&d->deps);
    *d = (struct bz_record_diff){0};
}

bool bz_record_diff_same(const struct bz_record_task *was,
                         const struct bz_record_task *is)
{
    return bz_digest_eq(&was->key, &is->key) && bz_digest_eq(&was->base, &is->base);
}

static int by_input(const void *a, const void *b)
{
    const struct bz_record_diff_input *x = a, *y = b;

    return bz_str_cmp(x->name, y->name);
}

struct list {
    const struct bz_record_input *const *at;
    size_t n;
};

static void compare_inputs(struct bz_record_diff_inputs *out, struct list was,
                           struct list is)
{
    BZ_CLEANUP(bz_map_release) struct bz_map old = {0};

    for (size_t i = 0; i < was.n; i++)
        bz_map_put(&old, was.at[i]->name)->u = i + 1;
    for (size_t i = 0; i < is.n; i++) {
        struct bz_map_entry *e = bz_map_get(&old, is.at[i]->name);
        struct bz_record_diff_input in = {is.at[i]->name, NULL, is.at[i]};

        if (e && e->u == 0)
            continue; /* a field that counts twice */
        if (e) {
            in.was = was.at[e->u - 1];
            e->u = 0;
        }
        if (!in.was || !bz_digest_eq(&in.was->digest, &in.is->digest))
            BZ_VEC_PUSH(out, in);
    }
    for (const struct bz_map_entry *e = bz_map_next(&old, NULL); e;
         e = bz_map_next(&old, e))
        if (e->u)
            BZ_VEC_PUSH(out,
                        (struct bz_record_diff_input){e->key, was.at[e->u - 1], NULL});
    BZ_VEC_SORT(out, by_input);
}

static struct bz_str commit_of(const struct bz_record_task *t, struct bz_str question)
{
    for (size_t i = 0; i < t->ncommits; i++)
        if (bz_str_eq(t->commits[i].question, question))
            return t->commits[i].commit;
    return (struct bz_str){0};
}

static void compare_commits(struct bz_record_diff *d, const struct bz_record_task *was,
                            const struct bz_record_task *is)
{
    for (size_t i = 0; i < is->ncommits; i++) {
        struct bz_record_diff_commit c = {is->commits[i].question,
                                          commit_of(was, is->commits[i].question),
                                          is->commits[i].commit};

        if (!bz_str_eq(c.was, c.is))
            BZ_VEC_PUSH(&d->commits, c);
    }
    for (size_t i = 0; i < was->ncommits; i++)
        if (!commit_of(is, was->commits[i].question).p)
            BZ_VEC_PUSH(&d->commits,
                        (struct bz_record_diff_commit){
                            was->commits[i].question, was->commits[i].commit, {0}});
}

static int by_file(const void *a, const void *b)
{
    const struct bz_record_diff_file *x = a, *y = b;

    return bz_str_cmp(x->name, y->name);
}

static bool same_file(const struct bz_record_file *a, const struct bz_record_file *b)
{
    return a->present == b->present && a->executable == b->executable &&
           a->mode == b->mode && bz_digest_eq(&a->digest, &b->digest);
}

struct files BZ_VEC(const struct bz_record_file *);

static int by_name(const void *a, const void *b)
{
    const struct bz_record_file *x = *(const struct bz_record_file *const *)a;
    const struct bz_record_file *y = *(const struct bz_record_file *const *)b;
    int order = bz_str_cmp(x->name, y->name);

    return order ? order : bz_digest_cmp(&x->digest, &y->digest);
}

static void sort_files(const struct bz_record_task *t, struct files *out)
{
    for (size_t i = 0; i < t->nfiles; i++)
        BZ_VEC_PUSH(out, &t->files[i]); /* NOLINT(bugprone-sizeof-expression) */
    BZ_VEC_SORT(out, by_name);          /* NOLINT(bugprone-sizeof-expression) */
}

/* Several may have one name. */
static void compare_files(struct bz_record_diff *d, const struct bz_record_task *was,
                          const struct bz_record_task *is)
{
    BZ_CLEANUP(bz_vec_release) struct files a = {0};
    BZ_CLEANUP(bz_vec_release) struct files b = {0};
    size_t i = 0, k = 0;

    sort_files(was, &a);
    sort_files(is, &b);
    while (i < a.len || k < b.len) {
        int order = i == a.len   ? 1
                    : k == b.len ? -1
                                 : bz_str_cmp(a.at[i]->name, b.at[k]->name);
        struct bz_record_diff_file f = {0};

        if (order <= 0) {
            f.was = a.at[i++];
            f.name = f.was->name;
        }
        if (order >= 0) {
            f.is = b.at[k++];
            f.name = f.is->name;
        }
        if (!f.was || !f.is || !same_file(f.was, f.is))
            BZ_VEC_PUSH(&d->files, f);
    }
    BZ_VEC_SORT(&d->files, by_file);
}

/* Both lists are by name. */
static void compare_deps(struct bz_record_diff *d, const struct bz_record_task *was,
                         const struct bz_record_task *is)
{
    size_t i = 0, k = 0;

    while (i < was->ndeps || k < is->ndeps) {
        int order = i == was->ndeps  ? 1
                    : k == is->ndeps ? -1
                                     : bz_str_cmp(was->deps[i].task, is->deps[k].task);
        struct bz_record_diff_dep dep = {0};

        if (order <= 0) {
            dep.was = &was->deps[i++];
            dep.name = dep.was->task;
        }
        if (order >= 0) {
            dep.is = &is->deps[k++];
            dep.name = dep.is->task;
        }
        if (!dep.was || !dep.is || !bz_digest_eq(&dep.was->key, &dep.is->key))
            BZ_VEC_PUSH(&d->deps, dep);
    }
}

void bz_record_diff_run(struct bz_record_diff *d, const struct bz_record_task *was,
                        const struct bz_record_task *is)
{
    compare_inputs(&d->fields, (struct list){was->fields, was->nfields},
                   (struct list){is->fields, is->nfields});
    compare_inputs(&d->inputs, (struct list){was->inputs, was->ninputs},
                   (struct list){is->inputs, is->ninputs});
    compare_commits(d, was, is);
    compare_files(d, was, is);
    compare_deps(d, was, is);
    d->machine = !bz_str_eq(was->machine, is->machine);
    d->distro = !bz_str_eq(was->distro, is->distro);
    d->policy = !bz_str_eq(was->policy, is->policy);
    d->taint = !bz_str_eq(was->taint, is->taint);
}
