#include "recipe/fragment.h"

#include "base/buf.h"
#include "os/path.h"
#include "recipe/layer.h"

static int get(struct bz_eval *e, struct bz_str name, struct bz_str *out,
               struct bz_err *err)
{
    return bz_vars_get(e->meta->vars, name, 0, out, err);
}

/* The variable a built-in fragment sets, from a list of PREFIX:VARIABLE. */
static struct bz_str builtin(struct bz_str list, struct bz_str prefix)
{
    struct bz_str word, key, var;

    while (bz_str_next_word(&list, &word))
        if (bz_str_cut(word, ':', &key, &var) && bz_str_eq(key, prefix))
            return var;
    return (struct bz_str){0};
}

static int set_builtin(struct bz_eval *e, struct bz_str fragment, struct bz_str var,
                       struct bz_str value, struct bz_err *err)
{
    struct bz_vars_at at = bz_eval_at(e, NULL);
    struct bz_str old;
    int rc = bz_vars_get(e->meta->vars, var, BZ_VARS_NOWEAK, &old, err);

    if (rc == 0 && old.p)
        rc = bz_fail(err, BZ_E_INVAL,
                     "fragment '%.*s' sets %.*s, which has a value already; remove one "
                     "of the two",
                     BZ_STR_ARG(fragment), BZ_STR_ARG(var));
    if (rc == 0)
        rc = bz_vars_set(e->meta->vars, var, value, BZ_VARS_SET_PARSING, &at, err);
    return rc;
}

/* The values of certain variables belong to the fragment that set them: they
 * move from the variable to a flag with the fragment's name. */
static int move_values(struct bz_eval *e, struct bz_str fragment, struct bz_str vars,
                       struct bz_err *err)
{
    struct bz_str var, value;
    int rc = 0;

    while (rc == 0 && bz_str_next_word(&vars, &var)) {
        rc = get(e, var, &value, err);
        if (rc < 0 || !value.p)
            continue;
        rc = bz_vars_set_flag(e->meta->vars, var, fragment, value, NULL, err);
        /* BitBake assigns None: operations and overrides go, and so does the value. */
        if (rc == 0)
            rc = bz_vars_set(e->meta->vars, var, BZ_STR(""), 0, NULL, err);
        if (rc == 0)
            bz_vars_del_flag(e->meta->vars, var, BZ_STR("_content"), NULL);
    }
    return rc;
}

static int include_fragment(struct bz_eval *e, const struct bz_ast_stmt *s,
                            struct bz_str fragment, struct bz_str layer,
                            struct bz_str name, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf file = {0};
    struct bz_str dirs, dir, path;
    int rc;

    bz_buf_addf(&file, "%.*s/%.*s.conf", BZ_STR_ARG(s->text), BZ_STR_ARG(name));
    rc = bz_vars_expand(e->meta->vars, bz_buf_str(&file), (struct bz_str){0}, NULL,
                        &path, err);
    if (rc == 0)
        rc = get(e, BZ_STR("BBLAYERS"), &dirs, err);
    while (rc == 0 && bz_str_next_word(&dirs, &dir)) {
        struct bz_path full;
        bool belongs = false;

        rc = bz_path_join(dir, path, &full, err);
        if (rc == 0 && bz_library_exists(e->library, bz_path_str(&full)))
            rc = bz_layer_owns(e->meta, layer, bz_path_str(&full), &belongs, err);
        if (rc == 0 && belongs)
            return bz_eval_include(e, bz_path_str(&full), "include fragment", err);
    }
    if (rc == 0)
        rc = bz_fail(err, BZ_E_INVAL, "could not find fragment %.*s in any layer",
                     BZ_STR_ARG(fragment));
    return rc;
}

int bz_fragment_add(struct bz_eval *e, const struct bz_ast_stmt *s, struct bz_err *err)
{
    struct bz_str skip, list, moved, builtins, word, head, tail;
    int rc = get(e, BZ_STR("_BB_SKIP_FRAGMENTS"), &skip, err);

    if (rc < 0 || bz_str_eq(skip, BZ_STR("1")))
        return rc;
    rc = get(e, s->name, &list, err);
    if (rc == 0)
        rc = get(e, s->before, &moved, err);
    if (rc == 0)
        rc = get(e, s->after, &builtins, err);
    while (rc == 0 && bz_str_next_word(&list, &word)) {
        struct bz_str var;

        if (!bz_str_cut(word, '/', &head, &tail))
            return bz_fail(err, BZ_E_INVAL,
                           "fragment '%.*s' is not of the form LAYER/NAME",
                           BZ_STR_ARG(word));
        var = builtin(builtins, head);
        if (var.p) {
            rc = set_builtin(e, word, var, tail, err);
            continue;
        }
        rc = include_fragment(e, s, word, head, tail, err);
        if (rc == 0)
            rc = move_values(e, word, moved, err);
    }
    return rc;
}
