#include "recipe/eval.h"

#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "os/path.h"
#include "recipe/apply.h"
#include "recipe/blame.h"
#include "recipe/fragment.h"
#include "recipe/function.h"

enum {
    DEEPEST = 100, /* files within files */
    WITHIN = 2,    /* times a file may be within itself: what it includes can depend on
                      variables, and a class that it inherits does so only once */
    MOST = 20000,  /* files in all, a file that is read again counting again */
};

struct bz_vars_at bz_eval_at(const struct bz_eval *e, const char *op)
{
    if (!e->top)
        return (struct bz_vars_at){.file = "configuration", .op = op};
    return (struct bz_vars_at){.file = e->top->path, .line = e->top->line, .op = op};
}

static int get(struct bz_eval *e, const char *name, unsigned how, struct bz_str *out,
               struct bz_err *err)
{
    return bz_vars_get(e->meta->vars, bz_str_from(name), how, out, err);
}

static int expand(struct bz_eval *e, struct bz_str text, struct bz_str *out,
                  struct bz_err *err)
{
    return bz_vars_expand(e->meta->vars, text, (struct bz_str){0}, NULL, out, err);
}

/* Notes what is wrong with the statement under way. */
static void blame(struct bz_eval *e, struct bz_str word, const char *expected)
{
    e->culprit = bz_arena_dup(&e->meta->arena, word);
    e->expected = expected;
}

struct search {
    struct bz_meta *meta;
    bool again; /* the path tried last had been read before */
};

static void note_tried(void *ctx, struct bz_str path)
{
    struct search *s = ctx;

    s->again = !bz_meta_look(s->meta, path);
}

/* Adds the directories of a list such as BBPATH; those that are not absolute lie below
 * the build directory, where BitBake runs. */
static int add_dirs(struct bz_eval *e, struct bz_str list, struct bz_buf *dirs,
                    struct bz_err *err)
{
    struct bz_str dir, top;
    int rc = get(e, "TOPDIR", 0, &top, err);

    while (rc == 0 && bz_str_next_part(&list, ':', &dir)) {
        if (dirs->len > 0)
            bz_buf_add_char(dirs, ':');
        if (top.n > 0 && !bz_path_is_absolute(dir)) {
            bz_buf_add_str(dirs, top);
            bz_buf_add_str(dirs, dir.n > 0 ? BZ_STR("/") : BZ_STR(""));
        }
        bz_buf_add_str(dirs, dir);
    }
    return rc;
}

static bool all_absolute(struct bz_str dirs)
{
    struct bz_str dir;

    while (bz_str_next_part(&dirs, ':', &dir))
        if (!bz_path_is_absolute(dir))
            return false;
    return true;
}

/* `name` in a directory that is not of BBPATH. */
static struct bz_str find_in(struct bz_eval *e, struct bz_str dir, struct bz_str name,
                             struct search *search)
{
    struct bz_path path;
    struct bz_err err;

    if (bz_path_join(dir, name, &path, &err) < 0)
        return (struct bz_str){0};
    note_tried(search, bz_path_str(&path));
    if (!bz_library_exists(e->library, bz_path_str(&path)))
        return (struct bz_str){0};
    return bz_library_look(e->library, bz_path_str(&path))->path;
}

/* `name` along `first`, which may be empty, and BBPATH. */
static int find(struct bz_eval *e, struct bz_str first, struct bz_str name,
                struct bz_str *out, bool *again, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf buf = {0};
    struct search search = {.meta = e->meta};
    struct bz_str dirs, dir;
    int rc = get(e, "BBPATH", 0, &dirs, err);

    if (rc == 0 && !dirs.p && first.n == 0)
        first = BZ_STR("."); /* where BitBake looks if it is told nothing */
    *out = (struct bz_str){0};
    while (rc == 0 && !out->p && first.n > 0 && bz_str_next_part(&first, ':', &dir))
        *out = find_in(e, dir, name, &search);
    if (rc == 0 && !out->p && !all_absolute(dirs)) {
        rc = add_dirs(e, dirs, &buf, err);
        dirs = bz_buf_str(&buf);
    }
    if (rc == 0 && !out->p)
        *out = bz_library_find(e->library, dirs, name, note_tried, &search);
    *again = search.again;
    return rc;
}

static int fail_cycle(const struct bz_eval *e, const char *path, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf chain = {0};

    for (const struct bz_eval_frame *f = e->top; f; f = f->up) {
        bz_buf_addf(&chain, ", included from %s:%u", f->path, f->line);
        if (strcmp(f->path, path) == 0)
            break;
    }
    return bz_fail(err, BZ_E_INVAL, "%s includes itself%s", path, bz_buf_text(&chain));
}

static int check_frame(struct bz_eval *e, const char *path, struct bz_err *err)
{
    int within = 0;

    for (const struct bz_eval_frame *f = e->top; f; f = f->up)
        within += strcmp(f->path, path) == 0;
    if (within >= WITHIN)
        return fail_cycle(e, path, err);
    if (e->top && e->top->depth >= DEEPEST)
        return bz_fail(err, BZ_E_LIMIT, "files are nested more than %d deep", DEEPEST);
    if (++e->files > MOST)
        return bz_fail(err, BZ_E_LIMIT, "more than %d files are included", MOST);
    return 0;
}

static int run_include_all(struct bz_eval *e, const struct bz_ast_stmt *s,
                           struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf dirs = {0};
    struct bz_str name, bbpath, list, dir;
    int rc = expand(e, s->text, &name, err);

    if (rc == 0)
        rc = get(e, "BBPATH", 0, &bbpath, err);
    if (rc == 0)
        rc = add_dirs(e, bbpath, &dirs, err);
    list = bz_buf_str(&dirs);
    while (rc == 0 && bz_str_next_part(&list, ':', &dir)) {
        struct bz_path path;

        rc = bz_path_join(dir, name, &path, err);
        if (rc == 0)
            rc = bz_eval_include(e, bz_path_str(&path), NULL, err);
    }
    return rc;
}

static int run_deltask(struct bz_eval *e, const struct bz_ast_stmt *s,
                       struct bz_err *err)
{
    struct bz_str names, word;
    int rc = expand(e, s->text, &names, err);

    while (rc == 0 && bz_str_next_word(&names, &word))
        bz_vars_del_flag(e->meta->vars,
                         bz_taskdef_delete(&e->meta->tasks, &e->meta->arena, word),
                         BZ_STR("task"), NULL);
    return rc;
}

static int run_addtask(struct bz_eval *e, const struct bz_ast_stmt *s,
                       struct bz_err *err)
{
    struct bz_vars_at at = bz_eval_at(e, NULL);
    struct bz_taskdef_place place = {.file = at.file, .line = at.line};
    struct bz_str names = s->text, word;
    int rc = 0;

    while (rc == 0 && bz_str_next_word(&names, &word))
        rc = bz_vars_set_flag(e->meta->vars,
                              bz_taskdef_add(&e->meta->tasks, &e->meta->arena, word,
                                             s->before, s->after, &place),
                              BZ_STR("task"), BZ_STR("1"), NULL, err);
    return rc;
}

static int run_addhandler(struct bz_eval *e, const struct bz_ast_stmt *s,
                          struct bz_err *err)
{
    struct bz_vars_at at = bz_eval_at(e, NULL);
    struct bz_str names = s->text, word;
    int rc = 0;

    while (rc == 0 && bz_str_next_word(&names, &word)) {
        BZ_VEC_PUSH(&e->meta->handlers, word);
        rc = bz_vars_set_flag(e->meta->vars, word, BZ_STR("handler"), BZ_STR("1"), &at,
                              err);
    }
    return rc;
}

static int run_addpylib(struct bz_eval *e, const struct bz_ast_stmt *s,
                        struct bz_err *err)
{
    struct bz_meta_pylib lib = {.name = s->before};
    int rc = expand(e, s->text, &lib.dir, err);

    if (rc == 0)
        BZ_VEC_PUSH(&e->meta->pylibs, lib);
    return rc;
}

static int run_unset(struct bz_eval *e, const struct bz_ast_stmt *s, struct bz_err *err)
{
    struct bz_vars_at at = bz_eval_at(e, NULL);

    if (!s->flag.p)
        return bz_vars_del(e->meta->vars, s->name, &at, err);
    bz_vars_del_flag(e->meta->vars, s->name, s->flag, &at);
    return 0;
}

static int run_export(struct bz_eval *e, const struct bz_ast_stmt *s,
                      struct bz_err *err)
{
    struct bz_vars_at at = bz_eval_at(e, "exported");

    return bz_vars_set_flag(e->meta->vars, s->name, BZ_STR("export"), BZ_STR("1"), &at,
                            err);
}

static int run_defer(struct bz_eval *e, struct bz_str classes)
{
    BZ_VEC_PUSH(&e->meta->deferred,
                (struct bz_meta_deferred){classes, e->top ? e->top->path : "",
                                          e->top ? e->top->line : 0});
    return 0;
}

static int run_statement(struct bz_eval *e, const struct bz_ast_stmt *s,
                         struct bz_err *err)
{
    switch (s->kind) {
    case BZ_AST_ASSIGN:
        return bz_apply_assignment(e, s, err);
    case BZ_AST_EXPORT:
        return run_export(e, s, err);
    case BZ_AST_UNSET:
        return run_unset(e, s, err);
    case BZ_AST_INCLUDE:
        return bz_eval_include(e, s->text, NULL, err);
    case BZ_AST_REQUIRE:
        return bz_eval_include(e, s->text, "include required", err);
    case BZ_AST_INCLUDE_ALL:
        return run_include_all(e, s, err);
    case BZ_AST_INHERIT:
        return bz_eval_inherit(e, s->text, false, err);
    case BZ_AST_INHERIT_DEFER:
        return run_defer(e, s->text);
    case BZ_AST_ADDTASK:
        return run_addtask(e, s, err);
    case BZ_AST_DELTASK:
        return run_deltask(e, s, err);
    case BZ_AST_ADDHANDLER:
        return run_addhandler(e, s, err);
    case BZ_AST_EXPORT_FUNCTIONS:
        return bz_function_export(e, s, err);
    case BZ_AST_FUNCTION:
        return bz_function_define(e, s, err);
    case BZ_AST_DEF:
        return bz_function_def(e, s, err);
    case BZ_AST_ADDPYLIB:
        return run_addpylib(e, s, err);
    case BZ_AST_ADDFRAGMENTS:
        return bz_fragment_add(e, s, err);
    }
    return 0;
}

static int run_statements(struct bz_eval *e, const struct bz_ast *ast,
                          struct bz_err *err)
{
    struct bz_eval_frame *up = e->top;
    struct bz_eval_frame frame = {
        .up = up, .path = ast->path, .depth = up ? up->depth + 1 : 1};
    int rc = check_frame(e, ast->path, err);

    if (rc < 0)
        return rc;
    e->top = &frame;
    if (e->watch)
        e->watch->begin(e->watch->ctx, frame.path);
    for (const struct bz_ast_stmt *s = ast->first; s && rc == 0; s = s->next) {
        frame.line = s->end_line;
        frame.stmt = s;
        rc = run_statement(e, s, err);
    }
    if (e->watch)
        e->watch->end(e->watch->ctx, frame.path);
    if (rc < 0 && !e->located) {
        bz_blame_tell(e, err);
        bz_err_wrap(err, "%s:%u", frame.path, frame.line);
        e->located = true;
    }
    e->top = up;
    return rc;
}

static int set_file(struct bz_eval *e, struct bz_str path, struct bz_err *err)
{
    return bz_vars_set(e->meta->vars, BZ_STR("FILE"), path, 0, NULL, err);
}

/* Notes that a class is inherited: in the list, and for expressions that ask for it in
 * a variable, where the end of the path is enough. */
static int note_class(struct bz_eval *e, struct bz_str file, struct bz_err *err)
{
    const struct bz_str name = BZ_STR("__inherit_cache");
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str old;
    int rc;

    if (bz_meta_has(&e->meta->inherited, file))
        return 0;
    BZ_VEC_PUSH(&e->meta->inherited, bz_arena_dup(&e->meta->arena, file));
    rc = bz_vars_get(e->meta->vars, name, BZ_VARS_RAW, &old, err);
    if (rc < 0)
        return rc;
    bz_buf_reserve(&text, old.n + file.n);
    bz_buf_add_str(&text, old);
    bz_buf_add_str(&text, BZ_STR(" /"));
    bz_buf_add_str(&text, bz_path_basename(file));
    return bz_vars_set(e->meta->vars, name, bz_buf_str(&text), 0, NULL, err);
}

/* A class leaves FILE alone; a .conf sets it always, others if it differs. */
static int run_file(struct bz_eval *e, const struct bz_ast *ast, enum bz_eval_as as,
                    struct bz_err *err)
{
    struct bz_str path = bz_str_from(ast->path), old = {0};
    bool conf = bz_str_ends(path, BZ_STR(".conf"));
    int rc = 0;

    if (bz_str_ends(path, BZ_STR(".bbclass"))) {
        rc = note_class(e, path, err);
        return rc < 0 ? rc : run_statements(e, ast, err);
    }
    if (as != BZ_EVAL_RECIPE)
        rc = get(e, "FILE", BZ_VARS_RAW, &old, err);
    if (rc == 0 && (conf || !old.p || !bz_str_eq(old, path)))
        rc = set_file(e, path, err);
    if (rc == 0)
        rc = run_statements(e, ast, err);
    if (rc == 0 && old.n > 0 && (conf || !bz_str_eq(old, path)))
        rc = set_file(e, old, err);
    return rc;
}

/* A recipe is read once, and so is most of what appends to it: these go with the meta.
 * Everything else will be wanted again. */
static int get_statements(struct bz_eval *e, struct bz_str path,
                          enum bz_parse_kind kind, enum bz_eval_as as,
                          const struct bz_ast **out, struct bz_err *err)
{
    struct bz_library_sheet sheet = {.arena = &e->meta->arena, .notes = e->notes};
    int rc;

    if (as == BZ_EVAL_RECIPE || as == BZ_EVAL_APPEND)
        return bz_library_read(e->library, path, kind, &sheet, out, err);
    rc = bz_library_get(e->library, path, kind, out, err);
    if (rc < 0 && bz_library_told(e->library, path, kind))
        e->broken = path.p;
    return rc;
}

int bz_eval_file(struct bz_eval *e, struct bz_str path, enum bz_eval_as as,
                 struct bz_err *err)
{
    enum bz_parse_kind kind = BZ_PARSE_BB;
    const struct bz_ast *ast = NULL;
    struct bz_str found = path;
    bool again;
    int rc = 0;

    if (!bz_path_is_absolute(path)) {
        rc = find(e, (struct bz_str){0}, path, &found, &again, err);
    } else {
        bz_meta_look(e->meta, path);
        found = bz_arena_dup(&e->meta->arena, path); /* terminated */
    }
    if (rc == 0 && !found.p)
        rc = bz_fail(err, BZ_E_NOENT, "file %.*s not found along BBPATH",
                     BZ_STR_ARG(path));
    /* .bbappend is no suffix that a statement may name. */
    if (rc == 0 && as != BZ_EVAL_APPEND)
        rc = bz_parse_kind_of(found.p, &kind, err);
    if (rc == 0 && as == BZ_EVAL_BASE)
        kind = BZ_PARSE_BASECONF;
    if (rc == 0)
        rc = get_statements(e, found, kind, as, &ast, err);
    return rc == 0 ? run_file(e, ast, as, err) : rc;
}

/* Finds what an include names; out->p == NULL if there is no such file. */
static int find_include(struct bz_eval *e, struct bz_str name, struct bz_str *out,
                        struct bz_err *err)
{
    struct bz_str parent = bz_str_from(e->top ? e->top->path : "");
    bool again;
    int rc = 0;

    if (bz_path_is_absolute(name)) {
        again = !bz_meta_look(e->meta, name);
        *out = bz_library_exists(e->library, name) ? name : (struct bz_str){0};
    } else {
        rc = find(e, bz_path_dirname(parent), name, out, &again, err);
    }
    if (rc == 0 && out->p && again && e->top)
        bz_log_warn("parse", "%s:%u: includes %.*s, which has been included before",
                    e->top->path, e->top->line, BZ_STR_ARG(*out));
    return rc;
}

static int include_one(struct bz_eval *e, struct bz_str name, const char *must,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf terminated = {0};
    enum bz_parse_kind kind;
    struct bz_str found;
    int rc;

    if (e->top && bz_str_eq(bz_str_from(e->top->path), name))
        return 0; /* BitBake's guard against the plainest recursion */
    rc = find_include(e, name, &found, err);
    if (rc < 0)
        return rc;
    if (found.p) {
        rc = bz_eval_file(e, found, BZ_EVAL_INCLUDE, err);
        if (rc < 0 && !e->located)
            blame(e, name, NULL);
        return rc;
    }
    /* A name that could not be included is wrong, whether the file exists or not. */
    bz_buf_add_str(&terminated, name);
    rc = bz_parse_kind_of(bz_buf_text(&terminated), &kind, err);
    if (rc == 0 && must)
        blame(e, name, "a file that is beside this one or along BBPATH");
    if (rc == 0 && must)
        rc = bz_fail(err, BZ_E_INVAL, "Could not %s file %.*s", must, BZ_STR_ARG(name));
    return rc;
}

int bz_eval_include(struct bz_eval *e, struct bz_str files, const char *must,
                    struct bz_err *err)
{
    struct bz_str names, word;
    int rc = expand(e, files, &names, err);

    while (rc == 0 && bz_str_next_word(&names, &word))
        rc = include_one(e, word, must, err);
    return rc;
}

/* classes-<type>/NAME.bbclass before classes/NAME.bbclass, each along BBPATH.
 */
static int find_class(struct bz_eval *e, struct bz_str name, struct bz_str *out,
                      struct bz_err *err)
{
    bool again;
    int rc = 0;

    if (bz_path_is_absolute(name) || bz_str_ends(name, BZ_STR(".bbclass"))) {
        *out = name;
        if (!bz_path_is_absolute(name))
            rc = find(e, (struct bz_str){0}, name, out, &again, err);
    } else {
        *out = (struct bz_str){0};
        for (int i = 0; i < 2 && rc == 0 && !out->p; i++) {
            BZ_CLEANUP(bz_buf_release) struct bz_buf file = {0};

            bz_buf_add_str(&file, i == 0 ? BZ_STR("classes-") : BZ_STR("classes"));
            bz_buf_add_str(&file, bz_str_from(i == 0 ? e->meta->class_type : ""));
            bz_buf_add_char(&file, '/');
            bz_buf_add_str(&file, name);
            bz_buf_add_str(&file, BZ_STR(".bbclass"));
            rc = find(e, (struct bz_str){0}, bz_buf_str(&file), out, &again, err);
        }
    }
    if (rc < 0 || (out->p && bz_library_exists(e->library, *out)))
        return rc;
    blame(e, name, "a class that is in classes-recipe or classes along BBPATH");
    return bz_fail(err, BZ_E_INVAL, "Could not inherit file classes/%.*s.bbclass",
                   BZ_STR_ARG(name));
}

static int inherit_one(struct bz_eval *e, struct bz_str name, bool deferred,
                       struct bz_err *err)
{
    struct bz_str later, file;
    int rc = get(e, "BB_DEFER_BBCLASSES", 0, &later, err);

    if (rc < 0)
        return rc;
    if (!deferred && bz_str_has_word(later, name))
        return run_defer(e, name);
    rc = find_class(e, name, &file, err);
    if (rc < 0 || bz_meta_has(&e->meta->inherited, file))
        return rc;
    rc = note_class(e, file, err);
    return rc < 0 ? rc : bz_eval_file(e, file, BZ_EVAL_INCLUDE, err);
}

int bz_eval_inherit(struct bz_eval *e, struct bz_str classes, bool deferred,
                    struct bz_err *err)
{
    struct bz_str names, word;
    int rc = expand(e, classes, &names, err);

    while (rc == 0 && bz_str_next_word(&names, &word))
        rc = inherit_one(e, word, deferred, err);
    return rc;
}
