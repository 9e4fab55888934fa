#include "sig/mentions.h"

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_-+./~", c)) || ((unsigned char)c & 0x80);
}

/* "a.b-c" may be one name, or three. */
static void find_parts(struct bz_str word, const struct bz_map *names,
                       struct bz_bitset *found)
{
    size_t from = 0;

    for (size_t i = 0; i <= word.n; i++) {
        const struct bz_map_entry *e;

        if (i < word.n && !strchr("-+./~", word.p[i]))
            continue;
        e = bz_map_get(names, bz_str_sub(word, from, i));
        if (e)
            bz_bitset_set(found, (size_t)e->u);
        from = i + 1;
    }
}

void bz_mentions_find(struct bz_str text, const struct bz_map *names,
                      struct bz_bitset *found)
{
    size_t from = 0;

    for (size_t i = 0; i <= text.n; i++) {
        const struct bz_map_entry *e;

        if (i < text.n && in_name(text.p[i]))
            continue;
        if (i > from) {
            struct bz_str word = bz_str_sub(text, from, i);

            e = bz_map_get(names, word);
            if (e)
                bz_bitset_set(found, (size_t)e->u);
            find_parts(word, names, found);
        }
        from = i + 1;
    }
}

bool bz_mentions_nested(struct bz_str text)
{
    unsigned depth = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '$' && i + 1 < text.n && text.p[i + 1] == '{' &&
            (i + 2 >= text.n || text.p[i + 2] != '@')) {
            if (depth++ > 0)
                return true;
            i++;
        } else if (text.p[i] == '}' && depth > 0) {
            depth--;
        } else if (depth > 0 && (text.p[i] == '\n' || text.p[i] == ' ')) {
            depth = 0;
        }
    }
    return false;
}
