#include "sig/origin.h"

#include "tests/unit/sig/history_script.h"

static const char *const script = "c:1 set OVERRIDES ${MACHINE}:all\n"
                                  "c:2 set MACHINE board\n"
                                  "c:3 set FILE /home/me/a.bb\n"
                                  "a:1 set DEPENDS b ${MORE}\n"
                                  "a:2 set V x\n"
                                  "a:3 set F one two\n"
                                  "a:4 set V[vardeps] ${LIST}\n"
                                  "a:5 set LIST w\n"
                                  "a:6 immediate NOW ${SOON} ${FILE}\n"
                                  "a:7 set SOON s\n"
                                  "a:8 set SEEN[export] 1\n";

struct fixture {
    struct history_script s;
    struct bz_origin_files files;
    struct bz_record record;
    struct bz_digest_hasher *hasher;
    struct bz_origin o;
    struct bz_base_inputs inputs;
};

static void open_all(struct fixture *f)
{
    static const struct bz_str leads[] = {
        {"SEEN", 4},
        {"W",    1},
    };
    struct bz_err err;

    *f = (struct fixture){0};
    history_script_run(&f->s, script);
    assert_ok(bz_digest_hasher_new(&f->hasher, &err), &err);
    assert_ok(bz_origin_open(&f->o, f->s.vars, &f->files, f->hasher, &f->record, &err),
              &err);
    BZ_VEC_PUSH(&f->inputs, (struct bz_base_input){.name = BZ_STR("V"),
                                                   .value = BZ_STR("x\nF{one} = Set"),
                                                   .leads = leads,
                                                   .nleads = BZ_COUNTOF(leads)});
    BZ_VEC_PUSH(&f->inputs, (struct bz_base_input){.name = BZ_STR("NOW"),
                                                   .value = BZ_STR("s /home/me/a.bb")});
}

static void close_all(struct fixture *f)
{
    bz_vec_release(&f->inputs);
    bz_origin_release(&f->o);
    bz_digest_hasher_free(f->hasher);
    bz_record_release(&f->record);
    bz_origin_file_release(&f->files);
    history_script_release(&f->s);
}

static void names_of(const struct bz_origin_list *list, struct bz_buf *out)
{
    bz_buf_truncate(out, 0);
    for (size_t i = 0; i < list->len; i++) {
        bz_buf_addf(out, "%s%.*s", i ? ", " : "", BZ_STR_ARG(list->at[i].kept->name));
        for (size_t k = 0; k < list->at[i].kept->nuses; k++)
            bz_buf_addf(out, "%s%.*s", k ? "+" : "<",
                        BZ_STR_ARG(list->at[i].kept->uses[k]));
    }
}

static void the_context_is_what_decides_without_being_an_input(void **state)
{
    struct bz_origin_list inputs = {0}, context = {0};
    struct bz_buf names = {0};
    struct fixture f;

    (void)state;
    open_all(&f);
    bz_origin_task(&f.o, &f.inputs, &inputs, &context);
    names_of(&inputs, &names);
    assert_string_equal(bz_buf_text(&names), "V<F+LIST, NOW<FILE+SOON");
    names_of(&context, &names);
    /* FILE is a path of this host, and nobody has said anything about MORE. */
    assert_string_equal(bz_buf_text(&names), "DEPENDS<MORE, F, LIST, MACHINE, "
                                             "OVERRIDES<MACHINE, SOON");
    bz_buf_release(&names);
    bz_vec_release(&inputs);
    bz_vec_release(&context);
    close_all(&f);
}

static void what_two_tasks_share_is_kept_once(void **state)
{
    struct bz_origin_list inputs = {0}, context = {0};
    struct fixture f;
    size_t n;

    (void)state;
    open_all(&f);
    bz_origin_task(&f.o, &f.inputs, &inputs, &context);
    n = context.len;
    bz_origin_task(&f.o, &f.inputs, &inputs, &context);
    assert_int_equal(context.len, 2 * n);
    assert_ptr_equal(inputs.at[0].kept, inputs.at[2].kept);
    assert_int_equal(inputs.at[0].kept->nops, 2);
    assert_true(bz_str_eq(inputs.at[0].kept->ops[0].file, BZ_STR("a")));
    assert_int_equal(inputs.at[0].kept->nleads, 2);
    assert_true(bz_str_eq(inputs.at[0].kept->leads[1], BZ_STR("W")));
    bz_vec_release(&inputs);
    bz_vec_release(&context);
    close_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_context_is_what_decides_without_being_an_input),
        cmocka_unit_test(what_two_tasks_share_is_kept_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
