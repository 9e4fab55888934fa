#include "project/kas_tree.h"

#include "codec/yaml.h"
#include "tests/unit/project/project_test.h"

static void add(struct bz_kas_tree *tree, const char *yaml, const char *file)
{
    const struct bz_doc *d;
    struct bz_err err;

    assert_ok(bz_yaml_parse(tree->arena, bz_str_from(yaml), NULL, &d, &err), &err);
    assert_ok(bz_kas_tree_add(tree, d, file, &err), &err);
}

/* {key: text, ...} as merged, with the file each scalar is from. */
static void flatten(const struct bz_kas_node *node, struct bz_buf *out)
{
    const char *comma = "";

    if (node->doc->type == BZ_DOC_MAP) {
        bz_buf_addf(out, "{");
        for (struct bz_map_entry *e = bz_map_next(&node->kids, NULL); e;
             e = bz_map_next(&node->kids, e), comma = " ") {
            bz_buf_addf(out, "%s%s:", comma, e->key.p);
            flatten(e->p, out);
        }
        bz_buf_addf(out, "}");
    } else if (node->doc->type == BZ_DOC_LIST) {
        bz_buf_addf(out, "[%zu]%s", node->doc->count, node->file);
    } else {
        bz_buf_addf(out, "%s@%s", node->doc->text.p, node->file);
    }
}

static void maps_merge_and_everything_else_is_replaced(void **state)
{
    static const struct {
        const char *first, *second, *merged;
    } cases[] = {
        {"{a: 1}",                "{b: 2}",                "{a:1@x b:2@y}"            },
        {"{a: 1, b: 2}",          "{a: 3}",                "{a:3@y b:2@x}"            },
        {"{a: {p: 1, q: 2}}",     "{a: {q: 3, r: 4}}",     "{a:{p:1@x q:3@y r:4@y}}"  },
        {"{a: [1, 2]}",           "{a: [3]}",              "{a:[1]y}"                 },
        {"{a: {p: 1}}",           "{a: }",                 "{a:@y}"                   },
        {"{a: }",                 "{a: {p: 1}}",           "{a:{p:1@y}}"              },
        {"{a: {p: {q: {r: 1}}}}", "{a: {p: 2}, c: 3}",     "{a:{p:2@y} c:3@y}"        },
        {"{a: {p: {q: {r: 1}}}}", "{a: {p: {q: {s: 2}}}}", "{a:{p:{q:{r:1@x s:2@y}}}}"},
        {"{a: 1}",                "{}",                    "{a:1@x}"                  },
        {"{}",                    "{a: {b: {}}}",          "{a:{b:{}}}"               },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena arena = {0};
        struct bz_kas_tree tree = {.arena = &arena};
        struct bz_buf got = {0};

        add(&tree, cases[i].first, "x");
        add(&tree, cases[i].second, "y");
        flatten(tree.root, &got);
        assert_string_equal(bz_buf_text(&got), cases[i].merged);
        bz_buf_release(&got);
        bz_kas_tree_release(&tree);
        bz_arena_release(&arena);
    }
}

static void values_know_their_place(void **state)
{
    struct bz_arena arena = {0};
    struct bz_kas_tree tree = {.arena = &arena};
    struct bz_kas_value v;

    (void)state;
    add(&tree, "a:\n  p: one\n  q: two\n", "x");
    add(&tree, "\n\na:\n  q: three\n  n: 7\n", "y");
    v = bz_kas_tree_value(bz_kas_tree_get(tree.root, "a"), "p");
    assert_slice(v.text, "one");
    assert_place(v.at, "x", 2);
    v = bz_kas_tree_value(bz_kas_tree_get(tree.root, "a"), "q");
    assert_slice(v.text, "three");
    assert_place(v.at, "y", 4);
    assert_int_equal(v.at.column, 6);
    assert_place(bz_kas_tree_place(bz_kas_tree_get(tree.root, "a")), "y", 4);
    assert_null(bz_kas_tree_value(bz_kas_tree_get(tree.root, "a"), "n").text.p);
    assert_null(bz_kas_tree_value(bz_kas_tree_get(tree.root, "b"), "q").text.p);
    assert_null(bz_kas_tree_get(bz_kas_tree_get(tree.root, "b"), "q"));
    bz_kas_tree_release(&tree);
    assert_null(tree.root);
    bz_arena_release(&arena);
}

static void a_tree_of_too_many_values_is_refused(void **state)
{
    struct bz_arena arena = {0};
    struct bz_kas_tree tree = {.arena = &arena};
    struct bz_buf text = {0};
    const struct bz_doc *d;
    struct bz_err err;
    int rc = 0;

    (void)state;
    for (int i = 0; i < 100000; i++)
        bz_buf_addf(&text, "k%d:\n", i);
    assert_ok(bz_yaml_parse(&arena, bz_buf_str(&text), NULL, &d, &err), &err);
    for (int i = 0; rc == 0 && i < 20; i++)
        rc = bz_kas_tree_add(&tree, d, "x", &err);
    assert_int_equal(rc, BZ_E_LIMIT);
    assert_string_equal(err.msg,
                        "x: more than 1048576 values in all files of the project");
    bz_buf_release(&text);
    bz_kas_tree_release(&tree);
    bz_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_merge_and_everything_else_is_replaced),
        cmocka_unit_test(values_know_their_place),
        cmocka_unit_test(a_tree_of_too_many_values_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
