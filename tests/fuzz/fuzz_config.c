#include "tests/fuzz/fuzz.h"

#include "config/conffile.h"
#include "config/setting_value.h"
#include "os/path.h"

static const struct bz_setting_value_place place = {
    {"/etc/bitzel", 11},
    {"/home/me",    8 }
};

static void check_list(const struct bz_setting_value *v)
{
    BZ_ASSERT(v->n <= BZ_SETTING_VALUE_ITEMS);
    for (size_t i = 0; i < v->n; i++)
        BZ_ASSERT(v->items[i].n > 0 &&
                  bz_str_find_byte(v->items[i], ';') == BZ_STR_NONE);
}

/* Whatever is taken is a value of its type. */
static void check_value(const struct bz_setting *row, const struct bz_setting_value *v)
{
    size_t choices = 0;

    BZ_ASSERT(v->text.p[v->text.n] == '\0');
    switch (row->type) {
    case BZ_SETTING_BOOL:
        BZ_ASSERT(v->number == 0 || v->number == 1);
        break;
    case BZ_SETTING_INT:
        BZ_ASSERT(v->number >= row->min && v->number <= row->max);
        break;
    case BZ_SETTING_SIZE:
        BZ_ASSERT(v->number >= -100);
        break;
    case BZ_SETTING_DURATION:
        BZ_ASSERT(v->number >= 0);
        break;
    case BZ_SETTING_ENUM:
        while (row->choices[choices])
            choices++;
        BZ_ASSERT(v->number >= 0 && (size_t)v->number < choices);
        break;
    case BZ_SETTING_PATH:
        BZ_ASSERT(bz_path_is_absolute(v->text));
        break;
    case BZ_SETTING_LIST:
        check_list(v);
        break;
    case BZ_SETTING_TEXT:
        break;
    }
}

/* A value is tried as every type, whatever its name. */
static int on_line(void *ctx, const struct bz_conffile_line *line, struct bz_err *err)
{
    unsigned *last = ctx;
    enum bz_setting_id id;

    (void)err;
    BZ_ASSERT(line->number > *last);
    BZ_ASSERT(line->name.n > 0 && line->name.n < (size_t)2 * BZ_CONFFILE_NAME);
    *last = line->number;
    for (int i = 0; i < BZ_SETTING_COUNT; i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        const struct bz_setting *row = bz_setting_row((enum bz_setting_id)i);
        struct bz_setting_value v;
        struct bz_err one;

        if (bz_setting_value_parse(&a, row, line->value, &place, &v, &one) == 0)
            check_value(row, &v);
    }
    if (bz_setting_find(line->name, &id, err) == 0)
        BZ_ASSERT(bz_str_eq(line->name, bz_str_from(bz_setting_row(id)->name)));
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned last = 0;
    struct bz_err err;
    int rc = bz_conffile_parse(bz_str_of(data ? (const char *)data : "", size), "f",
                               on_line, &last, &err);

    BZ_ASSERT(rc == 0 || rc == BZ_E_INVAL);
    return 0;
}
