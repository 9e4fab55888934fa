#include "project/kas_tree.h"

/* Recursion here is as deep as the reader lets a file be. */

static void release_node(struct bz_kas_node *node)
{
    for (struct bz_map_entry *e = bz_map_next(&node->kids, NULL); e;
         e = bz_map_next(&node->kids, e))
        release_node(e->p);
    bz_map_release(&node->kids);
}

static struct bz_kas_node *make_node(struct bz_kas_tree *tree, const struct bz_doc *doc,
                                     const char *file)
{
    struct bz_kas_node *node = BZ_ARENA_NEW(tree->arena, struct bz_kas_node);

    node->doc = doc;
    node->file = file;
    tree->nodes++;
    if (doc->type == BZ_DOC_MAP)
        for (size_t i = 0; i < doc->count; i++)
            bz_map_put(&node->kids, doc->items[i].key)->p =
                make_node(tree, &doc->items[i], file);
    return node;
}

static void merge_node(struct bz_kas_tree *tree, struct bz_kas_node *node,
                       const struct bz_doc *doc, const char *file)
{
    node->doc = doc;
    node->file = file;
    tree->nodes++;
    for (size_t i = 0; i < doc->count; i++) {
        const struct bz_doc *item = &doc->items[i];
        struct bz_map_entry *entry = bz_map_put(&node->kids, item->key);
        struct bz_kas_node *old = entry->p;

        if (old && old->doc->type == BZ_DOC_MAP && item->type == BZ_DOC_MAP) {
            merge_node(tree, old, item, file);
            continue;
        }
        if (old)
            release_node(old);
        entry->p = make_node(tree, item, file);
    }
}

int bz_kas_tree_add(struct bz_kas_tree *tree, const struct bz_doc *doc,
                    const char *file, struct bz_err *err)
{
    BZ_ASSERT(doc->type == BZ_DOC_MAP);
    if (tree->root)
        merge_node(tree, tree->root, doc, file);
    else
        tree->root = make_node(tree, doc, file);
    if (tree->nodes > BZ_KAS_TREE_NODES)
        return bz_fail(err, BZ_E_LIMIT,
                       "%s: more than %d values in all files of the project", file,
                       BZ_KAS_TREE_NODES);
    return 0;
}

void bz_kas_tree_release(struct bz_kas_tree *tree)
{
    if (tree->root)
        release_node(tree->root);
    tree->root = NULL;
}

const struct bz_kas_node *bz_kas_tree_get_str(const struct bz_kas_node *map,
                                              struct bz_str key)
{
    const struct bz_map_entry *entry = map ? bz_map_get(&map->kids, key) : NULL;

    return entry ? entry->p : NULL;
}

const struct bz_kas_node *bz_kas_tree_get(const struct bz_kas_node *map,
                                          const char *key)
{
    return bz_kas_tree_get_str(map, bz_str_from(key));
}

struct bz_kas_place bz_kas_tree_place(const struct bz_kas_node *node)
{
    return (struct bz_kas_place){node->file, node->doc->line, node->doc->column};
}

struct bz_kas_value bz_kas_tree_value(const struct bz_kas_node *map, const char *key)
{
    const struct bz_kas_node *node = bz_kas_tree_get(map, key);

    if (!node || node->doc->type != BZ_DOC_STR)
        return (struct bz_kas_value){0};
    return (struct bz_kas_value){node->doc->text, bz_kas_tree_place(node)};
}
