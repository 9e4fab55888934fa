#include "sig/taskspec.h"

#include "tests/unit/vars/script.h"

/* The digest of the task do_x in a store that the script fills, and its inputs. */
static struct bz_digest digest(const char *script, struct bz_buf *text)
{
    BZ_CLEANUP(bz_vec_release) struct bz_taskspec_inputs inputs = {0};
    const struct bz_taskspec_opts opts = {0};
    struct script s = {0};
    struct bz_digest_hasher *h;
    struct bz_taskspec *spec;
    struct bz_digest d;
    struct bz_err err;

    assert_ok(script_run(&s, script, &err), &err);
    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    assert_ok(bz_taskspec_new(script_store(&s), &opts, h, &spec, &err), &err);
    assert_ok(bz_taskspec_list(spec, BZ_STR("do_x"), BZ_TASKSPEC_SCRIPT, &inputs, &err),
              &err);
    bz_taskspec_digest(spec, &inputs, &d);
    for (size_t i = 0; text && i < inputs.len; i++)
        bz_buf_addf(text, "%s %.*s=%.*s\n", bz_taskspec_kinds[inputs.at[i].kind],
                    BZ_STR_ARG(inputs.at[i].name), BZ_STR_ARG(inputs.at[i].value));
    bz_taskspec_free(spec);
    bz_digest_hasher_free(h);
    script_release(&s);
    return d;
}

#define X "do_x[func]=1\n"
#define F "f[func]=1\n"

static const struct {
    const char *before, *after;
    bool changes;
} edits[] = {
  /* what it runs */
    {X "do_x=: ${A}\nA=1",                                              X "do_x=: ${A}\nA=2",                        true },
    {X "do_x=: ${A}\nA=${B}\nB=1",                                      X "do_x=: ${A}\nA=${B}\nB=2",                true },
    {X F "do_x=f\nf=: 1",                                               X F "do_x=f\nf=: 2",                         true },
    {X F "do_x=f\nf=: ${A}\nA=1",                                       X F "do_x=f\nf=: ${A}\nA=2",                 true },
    {X F "do_x=:\nf=: 1",                                               X F "do_x=:\nf=: 2",                         false},
    {X "do_x=: ${A}\nA=1",                                              X "do_x=: 1",                                false},
    {X "do_x=: ${A}\nA=1",                                              X "do_x=: ${B}\nB=1",                        false},
    {X "do_x=:\nA=1",                                                   X "do_x=:\nA=2",                             false},
 /* who it is */
    {X "do_x=:\nPN=a",                                                  X "do_x=:\nPN=b",                            true },
    {X "do_x=:\nPV=1",                                                  X "do_x=:\nPV=2",                            true },
    {X "do_x=:\nPR=r0",                                                 X "do_x=:\nPR=r1",                           true },
    {X "do_x=:\nWORKDIR=/a/w",                                          X "do_x=:\nWORKDIR=/a/v",                    true },
    {X "do_x=:\nTOPDIR=/some/where\nWORKDIR=/some/where/w",
     X "do_x=:\nTOPDIR=/else/where\nWORKDIR=/else/where/w",                                                          false},
    {X "do_x=:\nMACHINE=a",                                             X "do_x=:\nMACHINE=b",                       false},
 /* what it gets */
    {X "do_x=:\nE=1\nE[export]=1",                                      X "do_x=:\nE=2\nE[export]=1",                true },
    {X "do_x=:\nE=1\nE[export]=1",                                      X "do_x=:\nE=1",                             true },
    {X "do_x=:\nE=1\nE[export]=1",                                      X "do_x=:\nE=1\nE[export]=1\nE[unexport]=1", true },
    {X "do_x=:\nLC_ALL[unexport]=1",                                    X "do_x=:",                                  true },
    {X "do_x=:\nUSER=me",                                               X "do_x=:",                                  false},
    {X "do_x=:\nTERM=xterm\nSHELL=/b",                                  X "do_x=:",                                  false},
    {X "BB_BASEHASH_IGNORE_VARS=E\ndo_x=:\nE=1\nE[export]=1",
     X "BB_BASEHASH_IGNORE_VARS=E\ndo_x=:\nE=2\nE[export]=1",                                                        false},
    {X "BB_BASEHASH_IGNORE_VARS=PATH\ndo_x=:\nPATH=/a\nPATH[export]=1",
     X "BB_BASEHASH_IGNORE_VARS=PATH\ndo_x=:\nPATH=/b\nPATH[export]=1",                                              true },
 /* how it runs */
    {X "do_x=:\ndo_x[dirs]=/a",                                         X "do_x=:\ndo_x[dirs]=/b",                   true },
    {X "do_x=:\ndo_x[dirs]=${A}\nA=/a",                                 X "do_x=:\ndo_x[dirs]=${A}\nA=/b",           true },
    {X "do_x=:\ndo_x[cleandirs]=/a",                                    X "do_x=:\ndo_x[dirs]=/a",                   true },
    {X "do_x=:\ndo_x[umask]=022",                                       X "do_x=:\ndo_x[umask]=077",                 true },
    {X "do_x=:\ndo_x[umask]=022",                                       X "do_x=:",                                  false},
    {X "do_x=:\nBB_DEFAULT_UMASK=077",                                  X "do_x=:",                                  true },
    {X F "do_x=:\ndo_x[prefuncs]=f\nf=:",                               X F "do_x=:\ndo_x[postfuncs]=f\nf=:",        true },
    {X F "g[func]=1\nf=:\ng=:\ndo_x=:\ndo_x[prefuncs]=f g",
     X F "g[func]=1\nf=:\ng=:\ndo_x=:\ndo_x[prefuncs]=g f",                                                          true },
    {X F "do_x=:\ndo_x[prefuncs]=f\nf=: 1",                             X F "do_x=:\ndo_x[prefuncs]=f\nf=: 2",
     true                                                                                                                 },
    {X "do_x=:\ndo_x[lockfiles]=/a",                                    X "do_x=:\ndo_x[timeout]=1",                 false},
    {X "do_x=:\ndo_x[nostamp]=1",                                       X "do_x=:\ndo_x[doc]=1",                     false},
 /* what the metadata says */
    {X "do_x=:\ndo_x[vardeps]=A\nA=1",                                  X "do_x=:\ndo_x[vardeps]=A\nA=2",            true },
    {X "do_x=:\ndo_x[vardeps]=A\nA=${B}\nB=1",                          X "do_x=:\ndo_x[vardeps]=A\nA=${B}\nB=2",
     true                                                                                                                 },
    {X F "do_x=f\ndo_x[vardepsexclude]=f\nf=: 1",
     X F "do_x=f\ndo_x[vardepsexclude]=f\nf=: 2",                                                                    false},
 /* what only the task sees */
    {X "do_x=: ${A}\nA:task-x=1\nA=0",                                  X "do_x=: ${A}\nA:task-x=2\nA=0",            true },
    {X "do_x=: ${A}\nA:task-y=1\nA=0",                                  X "do_x=: ${A}\nA:task-y=2\nA=0",            false},
    {X "do_x=: ${@'1' if d.getVar('BB_CURRENTTASK') == 'x' else '0'}",
     X "do_x=: ${@'2' if d.getVar('BB_CURRENTTASK') == 'x' else '0'}",                                               true },
 /* texts that are the same when they are put one after the other */
    {X "do_x=:\nPN=ab\nPV=c",                                           X "do_x=:\nPN=a\nPV=bc",                     true },
    {X "do_x=:\nE=1\nE[export]=1\nF=23\nF[export]=1",
     X "do_x=:\nE=12\nE[export]=1\nF=3\nF[export]=1",                                                                true },
 /* a name for a directory, and the same written by somebody */
    {X "TOPDIR=/some/where\ndo_x=: /some/where/a",
     X "TOPDIR=/some/where\ndo_x=: <TOPDIR>/a",                                                                      true },
};

static void exactly_what_decides_what_a_task_does_changes_its_digest(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(edits); i++) {
        struct bz_digest a = digest(edits[i].before, NULL);
        struct bz_digest b = digest(edits[i].after, NULL);

        if (bz_digest_eq(&a, &b) == edits[i].changes)
            fail_msg("row %zu: %s\n-- and --\n%s", i, edits[i].before, edits[i].after);
    }
}

static void inputs_have_kinds_and_names(void **state)
{
    static const char *const lines[] = {
        "recipe PN=a\n",          "version PV=1\n",     "task task=do_x\n",
        "function do_x=f ${B}\n", "function f=: 2\n",   "export E=1\n",
        "export USER=builder\n",  "umask umask=0022\n", "vardeps V=v\n",
    };
    struct bz_buf text = {0};

    (void)state;
    digest("PN=a\nPV=1\n" X F
           "do_x=f ${B}\ndo_x[vardepsexclude]=B\nB=3\nf=: ${A}\nA=2\n"
           "E=1\nE[export]=1\ndo_x[vardeps]=V\nV=v",
           &text);
    for (size_t i = 0; i < BZ_COUNTOF(lines); i++)
        if (!strstr(bz_buf_text(&text), lines[i]))
            fail_msg("%s is not in\n%s", lines[i], bz_buf_text(&text));
    bz_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_what_decides_what_a_task_does_changes_its_digest),
        cmocka_unit_test(inputs_have_kinds_and_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
