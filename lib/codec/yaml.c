#include "codec/yaml.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include <yaml.h>

#include "base/map.h"
#include "base/vec.h"

enum {
    MAX_DIRECTIVES = 100, /* %YAML and %TAG lines */
};

struct docs BZ_VEC(struct bz_doc);

/* A value that has a name. */
struct anchor {
    struct bz_doc doc;
    size_t nodes;    /* values in it, itself included */
    unsigned height; /* levels in it; 0 for a scalar */
    bool open;       /* still being read: an alias now would make a cycle */
};

struct build {
    yaml_parser_t parser;
    struct bz_str text;
    struct bz_arena *arena;
    struct bz_doc_limits limits;
    size_t nodes;          /* values so far, aliases expanded */
    unsigned depth;        /* lists and maps around what is read now */
    unsigned deepest;      /* the largest depth since the enclosing anchor began */
    struct docs stack;     /* finished items of unfinished lists and maps */
    struct docs merges;    /* values of the merge keys of unfinished maps */
    struct bz_map anchors; /* name to struct anchor: the latest with that name */
    struct bz_err *err;
};

/* Puts the place before the message of a failure. */
static int placed(const struct build *b, yaml_mark_t at, int rc)
{
    BZ_ASSERT(rc < 0);
    return bz_err_wrap(b->err, "line %zu, column %zu", at.line + 1, at.column + 1);
}

/* libyaml's reader, which decodes the bytes, knows only an offset. */
static yaml_mark_t mark_of_offset(struct bz_str text, size_t offset)
{
    yaml_mark_t at = {0};

    for (size_t i = 0; i < offset && i < text.n; i++) {
        if (text.p[i] == '\n') {
            at.line++;
            at.column = 0;
        } else if ((text.p[i] & 0xc0) != 0x80) {
            at.column++;
        }
    }
    return at;
}

static int fail_parser(const struct build *b)
{
    const yaml_parser_t *p = &b->parser;

    if (p->error == YAML_MEMORY_ERROR)
        return bz_fail(b->err, BZ_E_LIMIT, "no memory for %zu bytes of YAML",
                       b->text.n);
    if (p->error == YAML_READER_ERROR)
        return placed(b, mark_of_offset(b->text, p->problem_offset),
                      bz_fail(b->err, BZ_E_INVAL, "%s", p->problem));
    if (!p->context)
        return placed(b, p->problem_mark,
                      bz_fail(b->err, BZ_E_INVAL, "%s", p->problem));
    return placed(b, p->problem_mark,
                  bz_fail(b->err, BZ_E_INVAL, "%s (%s in line %zu)", p->problem,
                          p->context, p->context_mark.line + 1));
}

/* The caller deletes the event, also after a failure. */
static int next_event(struct build *b, yaml_event_t *ev)
{
    return yaml_parser_parse(&b->parser, ev) ? 0 : fail_parser(b);
}

static struct bz_str str_of(const yaml_char_t *s)
{
    return bz_str_from((const char *)s);
}

static int count_nodes(struct build *b, yaml_mark_t at, size_t n)
{
    if (n > b->limits.nodes - b->nodes)
        return placed(b, at,
                      bz_fail(b->err, BZ_E_LIMIT, "more than %zu values, with aliases",
                              b->limits.nodes));
    b->nodes += n;
    return 0;
}

static bool is_one_of(struct bz_str s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bz_str_eq(s, bz_str_from(words[i])))
            return true;
    return false;
}

static size_t skip_digits(struct bz_str s, size_t i)
{
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    return i;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool looks_real(struct bz_str s)
{
    size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
    size_t whole = skip_digits(s, i) - i;
    size_t part = 0;

    i += whole;
    if (i < s.n && s.p[i] == '.') {
        part = skip_digits(s, i + 1) - (i + 1);
        i += 1 + part;
    }
    if (whole + part == 0)
        return false;
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        size_t digits;

        i++;
        if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
            i++;
        digits = skip_digits(s, i) - i;
        i += digits;
        return i == s.n && digits > 0;
    }
    return i == s.n;
}

/* 0 and *d filled, BZ_E_LIMIT, or BZ_E_INVAL if it does not look like an integer. */
static int to_int(struct bz_str s, struct bz_doc *d, struct bz_err *err)
{
    bool minus = false;
    unsigned base = 10;
    uint64_t u;
    int rc;

    if (bz_str_cut_prefix(&s, BZ_STR("0x")))
        base = 16;
    else if (bz_str_cut_prefix(&s, BZ_STR("0o")))
        base = 8;
    else if (!bz_str_cut_prefix(&s, BZ_STR("+")))
        minus = bz_str_cut_prefix(&s, BZ_STR("-"));
    rc = bz_str_parse_u64(s, base, (uint64_t)INT64_MAX + minus, &u, err);
    if (rc < 0)
        return rc;
    d->type = BZ_DOC_INT;
    d->i = minus ? (int64_t)-u : (int64_t)u;
    return 0;
}

/* Not strtod(3), which reads the decimal point of the user's language. */
static double to_real(const char *s)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double r;

    BZ_ASSERT(c != (locale_t)0);
    r = strtod_l(s, NULL, c);
    freelocale(c);
    return r;
}

/* The type of a plain scalar. BZ_E_LIMIT for a number that no field of bz_doc holds. */
static int resolve(struct bz_doc *d, struct bz_err *err)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const trues[] = {"true", "True", "TRUE"};
    static const char *const falses[] = {"false", "False", "FALSE"};
    static const char *const specials[] = {".inf",  ".Inf",  ".INF",  "+.inf",
                                           "+.Inf", "+.INF", "-.inf", "-.Inf",
                                           "-.INF", ".nan",  ".NaN",  ".NAN"};
    int rc;

    if (is_one_of(d->text, nulls, BZ_COUNTOF(nulls))) {
        d->type = BZ_DOC_NULL;
        return 0;
    }
    if (is_one_of(d->text, trues, BZ_COUNTOF(trues)) ||
        is_one_of(d->text, falses, BZ_COUNTOF(falses))) {
        d->type = BZ_DOC_BOOL;
        d->b = (d->text.p[0] | 0x20) == 't';
        return 0;
    }
    if (!strchr("+-.0123456789", d->text.p[0]))
        return 0;
    if (is_one_of(d->text, specials, BZ_COUNTOF(specials)))
        return bz_fail(err, BZ_E_LIMIT, "%s is not a finite number", d->text.p);
    rc = to_int(d->text, d, err);
    if (rc == BZ_E_INVAL && looks_real(d->text)) {
        d->type = BZ_DOC_REAL;
        d->r = to_real(d->text.p);
        rc = isfinite(d->r) ? 0 : BZ_E_LIMIT;
    }
    if (rc == BZ_E_LIMIT)
        return bz_fail(err, BZ_E_LIMIT,
                       "number does not fit 64 bits; a string needs quotes");
    return 0;
}

/* The type of a scalar from its tag, if it has one, its style and its text. */
static int type_scalar(struct build *b, const yaml_event_t *ev, struct bz_doc *d)
{
    static const struct {
        const char *tag;
        enum bz_doc_type type;
    } tags[] = {
        {YAML_NULL_TAG,  BZ_DOC_NULL},
        {YAML_BOOL_TAG,  BZ_DOC_BOOL},
        {YAML_INT_TAG,   BZ_DOC_INT },
        {YAML_FLOAT_TAG, BZ_DOC_REAL},
    };
    const char *tag = (const char *)ev->data.scalar.tag;
    size_t t = 0;
    int rc;

    d->type = BZ_DOC_STR;
    if (tag ? strcmp(tag, YAML_STR_TAG) == 0
            : ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return 0;
    while (tag && t < BZ_COUNTOF(tags) && strcmp(tags[t].tag, tag) != 0)
        t++;
    if (t == BZ_COUNTOF(tags))
        return bz_fail(b->err, BZ_E_NOSUP, "tag '%s' is not supported", tag);
    rc = resolve(d, b->err);
    if (rc < 0 || !tag)
        return rc;
    if (tags[t].type == BZ_DOC_REAL && d->type == BZ_DOC_INT) {
        d->type = BZ_DOC_REAL;
        d->r = (double)d->i;
    }
    if (d->type != tags[t].type)
        return bz_fail(b->err, BZ_E_INVAL, "value does not fit its tag '%s'", tag);
    return 0;
}

static int read_scalar(struct build *b, const yaml_event_t *ev, struct bz_doc *d)
{
    struct bz_str s = {(const char *)ev->data.scalar.value, ev->data.scalar.length};
    int rc;

    if (memchr(s.p, '\0', s.n))
        return placed(b, ev->start_mark,
                      bz_fail(b->err, BZ_E_INVAL, "NUL in a string"));
    d->text = bz_arena_dup(b->arena, s);
    rc = type_scalar(b, ev, d);
    return rc < 0 ? placed(b, ev->start_mark, rc) : 0;
}

static int read_alias(struct build *b, const yaml_event_t *ev, struct bz_doc *d)
{
    struct bz_str name = str_of(ev->data.alias.anchor);
    const struct bz_map_entry *entry = bz_map_get(&b->anchors, name);
    const struct anchor *to = entry ? entry->p : NULL;
    int rc;

    if (!to)
        return placed(
            b, ev->start_mark,
            bz_fail(b->err, BZ_E_INVAL, "no anchor '%s' before this alias", name.p));
    if (to->open)
        return placed(
            b, ev->start_mark,
            bz_fail(b->err, BZ_E_INVAL, "alias '%s' inside its own anchor", name.p));
    if (to->height > b->limits.depth - b->depth)
        return placed(b, ev->start_mark,
                      bz_fail(b->err, BZ_E_LIMIT, "more than %u levels, with aliases",
                              b->limits.depth));
    rc = count_nodes(b, ev->start_mark, to->nodes);
    if (rc < 0)
        return rc;
    if (b->deepest < b->depth + to->height)
        b->deepest = b->depth + to->height;
    *d = to->doc;
    d->line = (uint32_t)ev->start_mark.line + 1;
    d->column = (uint32_t)ev->start_mark.column + 1;
    return 0;
}

static int read_value(struct build *b, const yaml_event_t *ev, struct bz_doc *d);

/* Only a plain and untagged << is a merge key; '<<' in quotes is a key like others. */
static bool is_merge_key(const yaml_event_t *ev)
{
    return ev->type == YAML_SCALAR_EVENT && !ev->data.scalar.tag &&
           ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           bz_str_eq(str_of(ev->data.scalar.value), BZ_STR("<<"));
}

/* The event of a key; fills what the map's item says about it. */
static int read_key(struct build *b, const yaml_event_t *ev, struct bz_doc *item)
{
    struct bz_doc key = {0};
    int rc = read_value(b, ev, &key);

    if (rc < 0)
        return rc;
    if (key.type == BZ_DOC_LIST || key.type == BZ_DOC_MAP)
        return placed(b, ev->start_mark,
                      bz_fail(b->err, BZ_E_INVAL, "a key must be a scalar"));
    item->key = key.text;
    item->key_line = key.line;
    return 0;
}

/* One item, from the event at hand on; for a map, key and value. */
static int read_item(struct build *b, const yaml_event_t *ev, enum bz_doc_type in,
                     struct bz_doc *item)
{
    BZ_CLEANUP(yaml_event_delete) yaml_event_t value = {0};
    struct bz_doc keyed = {0};
    int rc;

    if (in == BZ_DOC_LIST)
        return read_value(b, ev, item);
    rc = read_key(b, ev, &keyed);
    if (rc == 0)
        rc = next_event(b, &value);
    if (rc == 0)
        rc = read_value(b, &value, item);
    item->key = keyed.key;
    item->key_line = keyed.key_line;
    return rc;
}

/* Puts items into a map in the making: a key that is there keeps its position and gets
 * the new value. `at` finds a key's position in `out`. */
static void override_items(struct docs *out, struct bz_map *at,
                           const struct bz_doc *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t known = at->len;
        struct bz_map_entry *entry = bz_map_put(at, items[i].key);

        if (at->len == known) {
            BZ_VEC_AT(out, entry->u) = items[i];
            continue;
        }
        entry->u = out->len;
        BZ_VEC_PUSH(out, items[i]);
    }
}

/* The value of one merge key. In a list of maps the first one wins. */
static int merge_value(struct build *b, const struct bz_doc *from, struct docs *out,
                       struct bz_map *at)
{
    if (from->type == BZ_DOC_MAP) {
        override_items(out, at, from->items, from->count);
        return 0;
    }
    if (from->type != BZ_DOC_LIST)
        return bz_fail(b->err, BZ_E_INVAL,
                       "line %u, column %u: a merge key needs a map or a list of maps",
                       from->line, from->column);
    for (size_t i = from->count; i-- > 0;) {
        int rc = bz_doc_expect(&from->items[i], BZ_DOC_MAP, b->err);

        if (rc < 0)
            return rc;
        override_items(out, at, from->items[i].items, from->items[i].count);
    }
    return 0;
}

/* Gives *d what its merge keys, merges.at[base] and later ones, bring in: before its
 * own items, which win. Nothing needs counting here, since the merged maps have been
 * counted as values of the keys. */
static int merge_items(struct build *b, size_t base, struct bz_doc *d)
{
    BZ_CLEANUP(bz_vec_release) struct docs out = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map at = {0};
    struct bz_doc *items;

    for (size_t i = base; i < b->merges.len; i++) {
        int rc = merge_value(b, &b->merges.at[i], &out, &at);

        if (rc < 0)
            return rc;
    }
    b->merges.len = base;
    override_items(&out, &at, d->items, d->count);
    items = BZ_ARENA_ARRAY(b->arena, struct bz_doc, out.len);
    if (out.len > 0)
        memcpy(items, out.at, out.len * sizeof(*items));
    d->items = items;
    d->count = out.len;
    return 0;
}

/* Items up to the end event go to the stack, and from there, when their number is
 * known, to the arena. */
static int read_items(struct build *b, struct bz_doc *d)
{
    yaml_event_type_t end =
        d->type == BZ_DOC_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    size_t base = b->stack.len, merges = b->merges.len;
    struct bz_doc *items;
    int rc;

    for (;;) {
        BZ_CLEANUP(yaml_event_delete) yaml_event_t ev = {0};
        struct bz_doc item = {0};

        rc = next_event(b, &ev);
        if (rc == 0 && ev.type == end)
            break;
        if (rc == 0)
            rc = read_item(b, &ev, d->type, &item);
        if (rc < 0)
            return rc;
        if (d->type == BZ_DOC_MAP && is_merge_key(&ev))
            BZ_VEC_PUSH(&b->merges, item);
        else
            BZ_VEC_PUSH(&b->stack, item);
    }
    d->count = b->stack.len - base;
    items = BZ_ARENA_ARRAY(b->arena, struct bz_doc, d->count);
    if (d->count > 0)
        memcpy(items, b->stack.at + base, d->count * sizeof(*items));
    b->stack.len = base;
    d->items = items;
    rc = d->type == BZ_DOC_MAP ? bz_doc_check_keys(d, b->err) : 0;
    return rc == 0 && b->merges.len > merges ? merge_items(b, merges, d) : rc;
}

static int read_container(struct build *b, const yaml_event_t *ev, struct bz_doc *d)
{
    bool map = ev->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag =
        map ? ev->data.mapping_start.tag : ev->data.sequence_start.tag;
    int rc;

    if (tag && !bz_str_eq(str_of(tag), bz_str_from(map ? YAML_MAP_TAG : YAML_SEQ_TAG)))
        return placed(b, ev->start_mark,
                      bz_fail(b->err, BZ_E_NOSUP, "tag '%s' is not supported",
                              (const char *)tag));
    if (b->depth == b->limits.depth)
        return placed(
            b, ev->start_mark,
            bz_fail(b->err, BZ_E_LIMIT, "more than %u levels", b->limits.depth));
    d->type = map ? BZ_DOC_MAP : BZ_DOC_LIST;
    b->depth++;
    if (b->deepest < b->depth)
        b->deepest = b->depth;
    rc = read_items(b, d);
    b->depth--;
    return rc;
}

static int read_unnamed(struct build *b, const yaml_event_t *ev, struct bz_doc *d)
{
    int rc = count_nodes(b, ev->start_mark, 1);

    if (rc < 0)
        return rc;
    d->line = (uint32_t)ev->start_mark.line + 1;
    d->column = (uint32_t)ev->start_mark.column + 1;
    return ev->type == YAML_SCALAR_EVENT ? read_scalar(b, ev, d)
                                         : read_container(b, ev, d);
}

static const yaml_char_t *anchor_of(const yaml_event_t *ev)
{
    switch (ev->type) {
    case YAML_SCALAR_EVENT:
        return ev->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return ev->data.sequence_start.anchor;
    default:
        return ev->data.mapping_start.anchor;
    }
}

/* From the event at hand to the end of the value it begins. */
static int read_value(struct build *b, const yaml_event_t *ev, struct bz_doc *d)
{
    unsigned deepest = b->deepest;
    size_t nodes = b->nodes;
    struct anchor *anchor;
    struct bz_str name;
    int rc;

    if (ev->type == YAML_ALIAS_EVENT)
        return read_alias(b, ev, d);
    if (!anchor_of(ev))
        return read_unnamed(b, ev, d);
    name = bz_arena_dup(b->arena, str_of(anchor_of(ev)));
    anchor = BZ_ARENA_NEW(b->arena, struct anchor);
    anchor->open = true;
    bz_map_put(&b->anchors, name)->p = anchor; /* a name may be given anew */
    b->deepest = b->depth;
    rc = read_unnamed(b, ev, d);
    anchor->doc = *d;
    anchor->nodes = b->nodes - nodes;
    anchor->height = b->deepest - b->depth;
    anchor->open = false;
    if (b->deepest < deepest)
        b->deepest = deepest;
    return rc;
}

/* Takes the next event, which can only be of this type. */
static int skip_event(struct build *b, yaml_event_type_t type)
{
    BZ_CLEANUP(yaml_event_delete) yaml_event_t ev = {0};
    int rc = next_event(b, &ev);

    if (rc < 0)
        return rc;
    if (type == YAML_STREAM_END_EVENT && ev.type != type)
        return placed(b, ev.start_mark,
                      bz_fail(b->err, BZ_E_INVAL, "more than one document"));
    BZ_ASSERT(ev.type == type);
    return 0;
}

/* libyaml compares each %TAG with all before it and reports none until it has read the
 * last: a few megabytes of them take minutes. So they are counted first. A directive is
 * a '%' at the start of a line, which any of YAML's line breaks or a byte order mark
 * may precede; only the last byte of those is looked at, since counting a few too many
 * does no harm. */
static bool has_too_many_directives(struct bz_str text)
{
    static const char breaks[] = "\n\r\x85\xa8\xa9\xbf";
    size_t n = 0;

    for (size_t i = 0; i < text.n && n <= MAX_DIRECTIVES; i++)
        if (text.p[i] == '%' && (i == 0 || strchr(breaks, text.p[i - 1])))
            n++;
    return n > MAX_DIRECTIVES;
}

static int read_stream(struct build *b, struct bz_doc *root)
{
    BZ_CLEANUP(yaml_event_delete) yaml_event_t start = {0};
    BZ_CLEANUP(yaml_event_delete) yaml_event_t first = {0};
    int rc = skip_event(b, YAML_STREAM_START_EVENT);

    if (rc == 0)
        rc = next_event(b, &start);
    if (rc < 0)
        return rc;
    if (start.type == YAML_STREAM_END_EVENT) {
        *root = (struct bz_doc){.line = 1, .column = 1};
        return 0;
    }
    rc = next_event(b, &first);
    if (rc == 0)
        rc = read_value(b, &first, root);
    if (rc == 0)
        rc = skip_event(b, YAML_DOCUMENT_END_EVENT);
    return rc < 0 ? rc : skip_event(b, YAML_STREAM_END_EVENT);
}

int bz_yaml_parse(struct bz_arena *arena, struct bz_str text,
                  const struct bz_doc_limits *limits, const struct bz_doc **out,
                  struct bz_err *err)
{
    struct bz_arena_mark mark = bz_arena_mark(arena);
    struct build b = {.arena = arena, .text = text, .err = err};
    struct bz_doc *root = BZ_ARENA_NEW(arena, struct bz_doc);
    int rc;

    b.limits = bz_doc_limits_or_default(limits);
    if (text.n > b.limits.bytes) {
        rc = bz_fail(err, BZ_E_LIMIT, "text of %zu bytes, more than %zu", text.n,
                     b.limits.bytes);
    } else if (has_too_many_directives(text)) {
        rc = bz_fail(err, BZ_E_LIMIT, "more than %d directives", MAX_DIRECTIVES);
    } else if (!yaml_parser_initialize(&b.parser)) {
        rc = bz_fail(err, BZ_E_LIMIT, "no memory for a YAML parser");
    } else {
        yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(
            &b.parser, (const unsigned char *)(text.n ? text.p : ""), text.n);
        rc = read_stream(&b, root);
        yaml_parser_delete(&b.parser);
    }
    bz_map_release(&b.anchors);
    bz_vec_release(&b.stack);
    bz_vec_release(&b.merges);
    if (rc < 0)
        bz_arena_rewind(arena, mark);
    else
        *out = root;
    return rc;
}
