#include "graph/prefer.h"

#include <stdlib.h>

#include "tests/unit/graph/choices.h"
#include "tests/unit/graph/offers.h"

/* What is asked of an index, and what comes out. */
struct row {
    struct offer recipes[6];
    struct setting settings[4];
    const char *name;
    const char *eligible; /* NULL: an error */
    bool settled;
    const char *said; /* part of a note or of the error, or NULL */
};

static const struct row built[] = {
    {{{.path = "a_1.bb", .pn = "a", .pv = "1"},
      {.path = "a_1.10.bb", .pn = "a", .pv = "1.10"},
      {.path = "a_1.9.bb", .pn = "a", .pv = "1.9"}},
     {{0}},
     "a", "a_1.10.bb",
     true,  NULL                                                               },
    {{{.path = "a_1.bb", .pn = "a", .pe = "1", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .pv = "2"}},
     {{0}},
     "a", "a_1.bb",
     true,  NULL                                                               },
    {{{.path = "x/a_1.bb", .pn = "a", .pv = "1", .priority = 6},
      {.path = "y/a_2.bb", .pn = "a", .pv = "2", .priority = 5}},
     {{0}},
     "a", "x/a_1.bb",
     true,  NULL                                                               },
    {{{.path = "a_1.bb", .pn = "a", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .pv = "2", .preference = -1}},
     {{0}},
     "a", "a_1.bb",
     true,  NULL                                                               },
    {{{.path = "x/a_1.bb", .pn = "a", .pv = "1", .priority = 6, .preference = -5},
      {.path = "y/a_2.bb", .pn = "a", .pv = "2", .priority = 5, .preference = 5}},
     {{0}},
     "a", "x/a_1.bb",
     true,  NULL                                                               },
    {{{.path = "x/a_1.bb", .pn = "a", .pv = "1", .priority = 6},
      {.path = "y/a_2.bb", .pn = "a", .pv = "2", .priority = 5}},
     {{"PREFERRED_VERSION_a", "2"}},
     "a", "y/a_2.bb",
     true,  NULL                                                               },
    {{{.path = "a_1.0.bb", .pn = "a", .pv = "1.0"},
      {.path = "a_1.1.bb", .pn = "a", .pv = "1.1"},
      {.path = "a_2.bb", .pn = "a", .pv = "2"}},
     {{"PREFERRED_VERSION_a", "1.%"}},
     "a", "a_1.0.bb",
     true,  NULL                                                               },
    {{{.path = "a_1.bb", .pn = "a", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .pv = "2"}},
     {{"PREFERRED_VERSION_a", "1"}, {"PREFERRED_VERSION:pn-a", "2"}},
     "a", "a_2.bb",
     true,  NULL                                                               },
    {{{.path = "a_1.bb", .pn = "a", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .pv = "2"}},
     {{"PREFERRED_VERSION", "1"}},
     "a", "a_1.bb",
     true,  NULL                                                               },
    {{{.path = "a_1.bb", .pn = "a", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .pv = "2"}},
     {{"PREFERRED_VERSION_a", "3"}},
     "a", "a_2.bb",
     true,  "version 3 of 'a' is preferred but not there; there is: 1 2"       },
    {{{.path = "a_1.bb", .pn = "a", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .pv = "2"}},
     {{"REQUIRED_VERSION_a", "3"}},
     "a", NULL,
     false, "no recipe for 'a' has the version that REQUIRED_VERSION asks for" },
    {{{.path = "a_1.bb", .pn = "a", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .pv = "2"}},
     {{"REQUIRED_VERSION_a", "1"}, {"PREFERRED_VERSION_a", "2"}},
     "a", "a_1.bb",
     true,  "both REQUIRED_VERSION and PREFERRED_VERSION"                      },
    {{{.path = "a_1.bb", .pn = "a", .pe = "1", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .pe = "2", .pv = "1"}},
     {{"PREFERRED_VERSION_a", "1:1"}},
     "a", "a_1.bb",
     true,  NULL                                                               },
    {{{.path = "a_1.bb", .pn = "a", .pe = "1", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .pe = "2", .pv = "1"}},
     {{"PREFERRED_VERSION_a", "3:1"}},
     "a", "a_2.bb",
     true,  "there is: 1:1 2:1"                                                },
    {{{.path = "b.bb", .pn = "b", .provides = "v"},
      {.path = "a.bb", .pn = "a", .provides = "v"}},
     {{0}},
     "v", "a.bb b.bb",
     false, "several recipes provide 'v': a, b; taking the first, "
     "set PREFERRED_PROVIDER_v to choose"                           },
    {{{.path = "a.bb", .pn = "a", .provides = "v"}, {.path = "v.bb", .pn = "v"}},
     {{0}},
     "v", "v.bb a.bb",
     false, "several recipes"                                                  },
    {{{.path = "a.bb", .pn = "a", .provides = "v"}, {.path = "v.bb", .pn = "v"}},
     {{"PREFERRED_PROVIDER_v", "a"}},
     "v", "a.bb v.bb",
     true,  NULL                                                               },
    {{{.path = "a.bb", .pn = "a", .provides = "v"},
      {.path = "b.bb", .pn = "b", .provides = "v"}},
     {{"PREFERRED_PROVIDERS", "v:b"}},
     "v", "b.bb a.bb",
     true,  NULL                                                               },
    {{{.path = "a.bb", .pn = "a", .provides = "v"},
      {.path = "b.bb", .pn = "b", .provides = "v"}},
     {{"PREFERRED_PROVIDERS", "v:b"}, {"PREFERRED_PROVIDER_v", "a"}},
     "v", "a.bb b.bb",
     true,  NULL                                                               },
    {{{.path = "a.bb", .pn = "a", .provides = "v"},
      {.path = "b.bb", .pn = "b", .provides = "v"}},
     {{"PREFERRED_PROVIDER_v", "c"}},
     "v", "a.bb b.bb",
     false, "several recipes"                                                  },
    {{{.path = "a.bb", .pn = "a", .pv = "1", .provides = "v"},
      {.path = "b.bb", .pn = "b", .pv = "1", .provides = "v"}},
     {{"PREFERRED_VERSION_b", "1"}},
     "v", "b.bb a.bb",
     false, "several recipes"                                                  },
    {{{.path = "a.bb", .pn = "a", .pv = "1", .provides = "v"},
      {.path = "b.bb", .pn = "b", .pv = "1", .provides = "v"}},
     {{"PREFERRED_VERSION_a", "1"}, {"REQUIRED_VERSION_b", "2"}},
     "v", "a.bb",
     true,  "version 2 of 'b' is required (for 'v') but not there; there is: 1"},
    {{{.path = "x/a.bb", .pn = "a", .pv = "1"},
      {.path = "w/a.bb", .pn = "a", .pv = "1"},
      {.path = "a.bb", .variant = "native", .pn = "a", .pv = "1"}},
     {{0}},
     "a", "w/a.bb",
     true,  NULL                                                               },
    {{{.path = "z.bb", .variant = "native", .pn = "a", .pv = "1"},
      {.path = "a.bb", .variant = "native-x", .pn = "a", .pv = "1"}},
     {{0}},
     "a", "native-x:a.bb",
     true,  NULL                                                               },
    {{{.path = "a_1.bb", .pn = "a", .pe = "one", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .pv = "2"}},
     {{0}},
     "a", "a_2.bb",
     true,  "a_1.bb: PE: the epoch 'one' is not a number"                      },
    {{{.path = "a_1.bb", .pn = "a", .pv = "1"},
      {.path = "a_2.bb", .pn = "a", .error = "no"}},
     {{0}},
     "a", "a_1.bb",
     true,  "a_2.bb is broken and no choice for 'a'"                           },
    {{{.path = "a_1.bb", .pn = "a", .pv = "1"}},
     {{0}},
     "b", NULL,
     false, "nothing provides 'b'"                                             },
};

static const struct row run[] = {
    {{{.path = "a.bb", .pn = "a", .rprovides = "r"},
      {.path = "b.bb", .pn = "b", .rprovides = "r"}},
     {{0}},
     "r",    "a.bb b.bb",
     false, "PREFERRED_RPROVIDER_r"                                                 },
    {{{.path = "a.bb", .pn = "a", .rprovides = "r"},
      {.path = "b.bb", .pn = "b", .rprovides = "r"}},
     {{"PREFERRED_RPROVIDER_r", "b"}},
     "r",    "b.bb a.bb",
     true,  NULL                                                                    },
    {{{.path = "a.bb", .pn = "a", .rprovides = "r"},
      {.path = "b.bb", .pn = "b", .rprovides = "r", .provides = "v"}},
     {{"PREFERRED_PROVIDER_v", "b"}},
     "r",    "b.bb a.bb",
     true,  NULL                                                                    },
    {{{.path = "a.bb", .pn = "a", .rprovides = "r", .provides = "u v"},
      {.path = "b.bb", .pn = "b", .rprovides = "r", .provides = "w"},
      {.path = "c.bb", .pn = "c", .rprovides = "r", .provides = "w"}},
     {{"PREFERRED_PROVIDER_v", "b"}, {"PREFERRED_PROVIDER_w", "c"}},
     "r",    NULL,
     false, "choose both 'b' and 'c' for 'r' at run time; set PREFERRED_RPROVIDER_r"},
    {{{.path = "a.bb", .pn = "a", .rprovides = "r", .provides = "u"},
      {.path = "b.bb", .pn = "b", .rprovides = "r", .provides = "w"}},
     {{"PREFERRED_PROVIDER_u", "a"}, {"PREFERRED_PROVIDER_w", "b"}},
     "r",    "a.bb b.bb",
     true,  NULL                                                                    },
    {{{.path = "a.bb", .pn = "a"}},
     {{0}},
     "none", NULL,
     false, "nothing provides 'none' at run time"                                   },
};

static bool noted(const struct offers *o, const char *part)
{
    for (size_t i = 0; i < o->p->notes.len; i++)
        if (strstr(o->p->notes.at[i].text.p, part))
            return true;
    return false;
}

static void check(const struct row *row, enum bz_provide_kind kind)
{
    struct bz_prefer_choice c = {0};
    struct bz_buf out = {0};
    struct offers o;
    int rc;

    offers_open(&o, row->recipes, row->settings);
    rc = bz_prefer_choose(o.p, kind, bz_str_from(row->name), &c, &o.err);
    if (row->eligible) {
        assert_ok(rc, &o.err);
        offers_name(&o, c.eligible.at, c.eligible.len, &out);
        assert_string_equal(bz_buf_text(&out), row->eligible);
        assert_int_equal(c.settled, row->settled);
        assert_true(row->said ? noted(&o, row->said) : o.p->notes.len == 0);
    } else {
        assert_true(rc < 0);
        assert_non_null(strstr(o.err.msg, row->said));
    }
    bz_buf_release(&out);
    bz_prefer_release(&c);
    offers_close(&o);
}

static void targets_are_chosen_as_bitbake_chooses_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(built); i++)
        check(&built[i], BZ_PROVIDE_BUILD);
}

static void run_time_names_are_chosen_as_bitbake_chooses_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(run); i++)
        check(&run[i], BZ_PROVIDE_RUNTIME);
}

static void the_best_version_and_the_newest_may_differ(void **state)
{
    static const struct offer recipes[] = {
        {.path = "a_1.bb", .pn = "a", .pv = "1"},
        {.path = "a_2.bb",       .pn = "a", .pv = "2"},
        {.path = NULL},
    };
    static const struct {
        struct setting settings[2];
        uint32_t latest, preferred;
        bool required;
    } rows[] = {
        {{{0}},                          1, 1,              false},
        {{{"PREFERRED_VERSION_a", "1"}}, 1, 0,              false},
        {{{"PREFERRED_VERSION_a", "7"}}, 1, 1,              false},
        {{{"REQUIRED_VERSION_a", "1"}},  1, 0,              true },
        {{{"REQUIRED_VERSION_a", "7"}},  1, BZ_PREFER_NONE, true },
        {{{"REQUIRED_VERSION", ""}},     1, BZ_PREFER_NONE, true },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_prefer_best best;
        struct offers o;

        offers_open(&o, recipes, rows[i].settings);
        assert_ok(bz_prefer_best(o.p, BZ_STR("a"), &best, &o.err), &o.err);
        assert_int_equal(best.latest, rows[i].latest);
        assert_int_equal(best.preferred, rows[i].preferred);
        assert_int_equal(best.required, rows[i].required);
        assert_int_equal(bz_prefer_best(o.p, BZ_STR("b"), &best, &o.err), BZ_E_NOENT);
        offers_close(&o);
    }
}

/* The next field of a recorded recipe, terminated. */
static const char *field(struct bz_arena *arena, struct bz_str *rest)
{
    struct bz_str part = {0};

    assert_true(bz_str_next_part(rest, '|', &part));
    return bz_arena_dup(arena, part).p;
}

static void read_recipes(struct bz_arena *arena, const char *text, struct offer *out)
{
    struct bz_str rest = bz_str_from(text), one;

    while (bz_str_next_part(&rest, ';', &one)) {
        out->path = field(arena, &one);
        out->variant = field(arena, &one);
        out->pn = field(arena, &one);
        out->pe = field(arena, &one);
        out->pv = field(arena, &one);
        out->priority = atoi(field(arena, &one));
        out->preference = atoi(field(arena, &one));
        out->provides = field(arena, &one);
        out->rprovides = field(arena, &one);
        out++;
    }
}

static void read_settings(struct bz_arena *arena, const char *text, struct setting *out)
{
    struct bz_str rest = bz_str_from(text), one, name, value;

    while (rest.n > 0 && bz_str_next_part(&rest, ';', &one)) {
        assert_true(bz_str_cut(one, '=', &name, &value));
        out->name = bz_arena_dup(arena, name).p;
        out++->value = bz_arena_dup(arena, value).p;
    }
}

static void check_choice(const struct choice *row)
{
    struct offer recipes[8] = {0};
    struct setting settings[8] = {0};
    struct bz_prefer_choice c = {0};
    struct bz_arena arena = {0};
    struct bz_buf out = {0};
    struct offers o;
    int rc;

    read_recipes(&arena, row->recipes, recipes);
    read_settings(&arena, row->settings, settings);
    offers_open(&o, recipes, settings);
    rc = bz_prefer_choose(o.p, row->kind, bz_str_from(row->name), &c, &o.err);
    if (rc == 0)
        offers_name(&o, c.eligible.at, c.eligible.len, &out);
    else
        bz_buf_addf(&out, rc == BZ_E_NOENT ? "!none" : "!conflict");
    assert_string_equal(bz_buf_text(&out), row->answer);
    assert_int_equal(rc == 0 && c.settled, row->settled);
    bz_prefer_release(&c);
    offers_close(&o);
    bz_buf_release(&out);
    bz_arena_release(&arena);
}

static void recorded_choices_come_out_as_in_bitbake(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(choices); i++)
        check_choice(&choices[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_chosen_as_bitbake_chooses_them),
        cmocka_unit_test(run_time_names_are_chosen_as_bitbake_chooses_them),
        cmocka_unit_test(recorded_choices_come_out_as_in_bitbake),
        cmocka_unit_test(the_best_version_and_the_newest_may_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
