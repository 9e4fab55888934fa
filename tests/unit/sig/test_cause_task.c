#include "sig/cause_task.h"

#include "tests/unit/sig/causes.h"

#define OVER(m)                                                                        \
    "ctx MACHINE=" m "\nop l:1 set " m "\nctx OVERRIDES=${MACHINE}:all\n"              \
    "op b:2 set ${MACHINE}:all\nuse MACHINE\n"

/* What every task with code has. */
#define HOME "field export HOME=/\n"

/* The script x of a recipe's file, which gives it its version. */
#define VERSION(v, text)                                                               \
    "task r:x\nin x=" text "\nop m/r_" v ".bb:1 set " text "\nlead PV\nin FILE=m/r_" v \
    ".bb\nin PV=${FILE}\nop b:1 set f\nlead FILE\n"                                    \
    "field version PV=" v "\nctx PREFERRED_VERSION_r="

static const struct causes_case cases[] = {
  /* what a new text leads to follows from it */
    {"task t\nin x=a\nop f:1 set a\n",
     "task t\nin x=${N}\nop f:1 set ${N}\nlead N\nin N=${M}\nop g:1 set ${M}\nlead M\n"
     "in M=1\nop g:2 set 1\n",                                                                                                                                                    "x f:1 *1"                                                                                                  },
    {"task t\nin x=${N}\nop f:1 set ${N}\nlead N\nin N=1\nop g:1 set 1\n",
     "task t\nin x=a\nop f:1 set a\n",                                                                                                                                            "x f:1 *1"                                                                                                  },
 /* a function that was called already comes for its own sake */
    {"task t\nin x=help\nop f:1 set help\n",
     "task t\nin x=help\nop f:1 set help\nlead help\nin help=:\nop g:7 set :\n",                                                                                                  "help g:7 *1"                                                                                               },
    {"task t\nin x=help\nop f:1 set help\n",
     "task t\nin x=help me\nop f:1 set help me\nlead help\nin help=:\nop g:7 set :\n",                                                                                            "help g:7 *1, x f:1 *1"                                                                                     },
 /* so does a variable that is exported now; where it was set is not to blame */
    {"task t\nin x=a\n" HOME,
     "task t\nin x=a\nin E=1\nop f:1 set 1\nop l:5 exported[export] 1\n" HOME,
     "E l:5 *1"                                                                                                                                                                                                                                                                               },
 /* what [vardeps] names, and what [vardepsexclude] takes away */
    {"task t\nin x=a\nop f:1 set a\n",
     "task t\nin x=a\nop f:1 set a\nop f:9 set[vardeps] V\nlead V\nin V=1\n"
     "op g:1 set 1\n",                                                                                                                                                            "x f:9 *1"                                                                                                  },
    {"task t\nin x=${V}\nop f:1 set ${V}\nlead V\nin V=1\nop g:1 set 1\n",
     "task t\nin x=${V}\nop f:1 set ${V}\nop f:9 set[vardepsexclude] V\n",                                                                                                        "x f:9 *1"                                                                                                  },
 /* a name with a name in it */
    {"task t\nin x=${A_${B}}\nlead A_1\nlead B\nin A_1=p\nop g:1 set p\nin B=1\n"
     "op g:3 set 1\n",                                                                 "task t\nin x=${A_${B}}\nlead A_2\nlead B\nin A_2=q\nop g:2 set q\nin B=2\n"
     "op g:3 set 2\n",                                                                                                                                 "B g:3 *1"                                                                                                  },
 /* an override by the variable that has it */
    {"task t\nin F=1\nop f:1 set 1\nop -f:2 override[two]:set 2\nctx "
     "OVERRIDES=${X}:${Y}\n"
     "op b:1 set x\nuse X\nuse Y\nctx X=a\nop c:1 set a\nctx Y=one\nop c:2 set one\n", "task t\nin F=2\nop -f:1 set 1\nop f:2 override[two]:set 2\nctx "
     "OVERRIDES=${X}:${Y}\n"
     "op b:1 set x\nuse X\nuse Y\nctx X=b\nop c:1 set b\nctx Y=two\nop c:2 set two\n", "Y c:2 *1"                                                                                                  },
 /* a variant that another machine chooses */
    {"task t\nmachine one\nin F=1\nop f:1 set 1\nop -f:2 override[two]:set 2\n" OVER(
         "one"),
     "task t\nmachine two\nin F=2\nop -f:1 set 1\nop f:2 override[two]:set 2\n" OVER(
         "two"),
     "MACHINE l:1 *1"                                                                                                                                                                                                                                                                         },
 /* files that only one machine reads */
    {"task t\nmachine one\nin F=1\nop one.conf:1 set 1\n" OVER("one"),
     "task t\nmachine two\nin F=2\nop two.conf:1 set 2\n" OVER("two"),
     "MACHINE l:1 *1"                                                                                                                                                                                                                                                                         },
 /* the same without a machine that counts */
    {"task t\nin F=1\nop f:1 set 1\nop -f:2 override[two]:set 2\n" OVER("one"),
     "task t\nin F=2\nop -f:1 set 1\nop f:2 override[two]:set 2\n" OVER("two"),
     "MACHINE l:1 *1"                                                                                                                                                                                                                                                                         },
 /* another machine, and a function for its own sake */
    {"task t\nmachine one\nin x=help\nop f:1 set help\n" OVER("one"),
     "task t\nmachine two\nin x=help\nop f:1 set help\nlead help\nin help=:\n"
     "op g:7 set :\n" OVER("two"),
     "MACHINE l:1 *1, help g:7 *1"                                                                                                                                                                                                                                                            },
 /* := saw what was overwritten later; another override has nothing to do with it */
    {"task t\nin N=1\nop f:1 immediate ${V}\nuse V\nctx V=z\nop -f:0 set 1\nop f:2 set "
     "z\n" OVER("one"),
     "task t\nin N=2\nop f:1 immediate ${V}\nuse V\nctx V=z\nop -f:0 set 2\nop f:2 set "
     "z\n" OVER("two"),
     "V f:0 *1"                                                                                                                                                                                                                                                                               },
 /* a :remove that finds nothing any more */
    {"task t\nin V=a\\n_remove of a\nop f:1 set ${W}\nlead W\nin W=a\nop g:1 set a\n",
     "task t\nin V=a\nop f:1 set ${W}\nlead W\nin W=b\nop g:1 set b\n",                                                                                                           "W g:1 *1"                                                                                                  },
 /* what is read by way of what does not count */
    {"task t\nin V=${X}\nop f:1 set ${X}\nuse X\nlead Y\nin Y=\nctx X=${Y}\nop g:1 set "
     "${Y}\n",                                                                         "task t\nin V=${X}\nop f:1 set ${X}\nuse X\nctx X=x\nop g:1 set x\n",                 "X g:1 *1"                                                                                                  },
 /* an edit of a variant, and the override that chooses it */
    {"task t\nin F=1\nop f:1 set 1\nop -f:2 override[two]:set 2\nop -f:3 "
     "override[two]:append 3\n" OVER("one"),
     "task t\nin F=2\nop -f:1 set 1\nop f:2 override[two]:set 9\nop f:3 "
     "override[two]:append 3\n" OVER("two"),
     "F f:2 *1, MACHINE l:1 *1"                                                                                                                                                                                                                                                               },
 /* what contains() asked about */
    {"task t\nin K=k\\nF{a} = Set\nop f:1 set k\nuse F\nctx F=a\nop g:3 set a\n",
     "task t\nin K=k\\nF{a} = Unset\nop f:1 set k\nuse F\nctx F=b\nop g:3 set b\n",                                                                                               "F g:3 *1"                                                                                                  },
 /* an edit without effect is not to blame, unless nothing else is */
    {"task t\nin F=1\nop -f:1 set 0\nop g:1 set 1\n",
     "task t\nin F=2\nop -f:1 set 9\nop g:1 set 2\n",                                                                                                                             "F g:1 *1"                                                                                                  },
    {"task t\nin F=1\nop -f:1 set 0\n",                                                     "task t\nin F=2\nop -f:1 set 9\n",                                                    "F f:1 *1"                                                                                                  },
    {"task t\nin F=1\nop f:1 set 1\n",                                                      "task t\nin F=2\nop f:9 set 1\n",                                                     "F *1"                                                                                                      },
 /* dependencies: by DEPENDS, by a flag, by something unknown */
    {"task l:x\ntask t:x\nin x=a\n",
     "task l:x\ntask t:x\nin x=a\nctx DEPENDS=l\nop t.bb:2 set l\ndep l:x\n",                                                                                                     "DEPENDS t.bb:2 *1"                                                                                         },
    {"task l:x\ntask t:x\nin x=a\nop f:1 set a\n",
     "task l:x\ntask t:x\nin x=a\nop f:1 set a\nop t.bb:4 set[depends] l:x\ndep l:x\n",                                                                                           "x t.bb:4 *1"                                                                                               },
    {"task l:x\ntask t:x\nin x=a\n",                                                        "task l:x\ntask t:x\nin x=a\ndep l:x\n",
     "dep t+l *1"                                                                                                                                                                                                                                                                             },
    {"task l:x\ntask t:x\ndep l:x\n",                                                       "task l:x\ntask t:x\n",                                                               "dep t-l *1"                                                                                                },
 /* a recipe of another version: its file was renamed, or another one is preferred */
    {VERSION("1",                                                                           "a"),                                                                                 VERSION("2",                                                                                                  "a"), "PV *1"},
    {VERSION("1",                                                                              "a"),                                                                                                                                                                  VERSION("2",                                                                                                                                                                                                                                                                    "b"), "PV *1, x m/r_2.bb:1 *1"},
    {VERSION("1",                                                                          "a") "1\nop l:3 set 1\n",VERSION("2","b") "2\nop l:3 set 2\n",
     "PREFERRED_VERSION_r l:3 *1"},
    {VERSION("1",                                                                           "a"),                                                              VERSION("2",                                                                                                                                                                       "b") "2\nop l:3 set 2\n",
     "PREFERRED_VERSION_r l:3 *1"},
 /* what the sandbox is like, by a flag or by something unknown */
    {"task t\npolicy none\nin x=a\nop f:1 set a\n",
     "task t\npolicy host\nin x=a\nop f:1 set a\nop f:2 set[network] 1\n",                                                                                                                                              "x f:2 *1"                                                                                                                                                                                                                                               },
    {"task t\npolicy none\nin x=a\n",                                                                          "task t\npolicy host\nin x=a\n",                                                                         "sandbox *1"                                                                                                                                                                                                                                                             },
 /* a task that runs nothing any more has no fields and no files */
    {"task t\nin x=a\nop f:1 set a\nin E=1\nop l:5 exported[export] 1\nfile g=1\n"
     "field umask umask=0022\n",                                         "task t\nin x=a\nop f:1 set a\nop f:2 set[noexec] 1\n",                                                                                                        "x f:2 *1"                                                            },
 /* a function around it that is not defined */
    {"task t\nin x=help\nop f:1 set help\n",
     "task t\nin x=help\nop f:1 set help\nop f:2 set[prefuncs] help\nin help[dirs]=d\n"
     "op g:1 set[dirs] d\nfield order order=help : \n",                                   "x f:2 *1"                                                          },
    {"task t\nin x=help\nop f:1 set help\n",
     "task t\nin x=help\nop f:1 set help\nop f:2 set[prefuncs] help\n"
     "field order order=help : \nfield function help=\n",                                             "x f:2 *1"                                       },
 /* [unexport] decides about a variable that is exported elsewhere */
    {"task t\nin x=a\nin E[unexport]=1\nop f:2 set[unexport] 1\n"
     "field export E[unexport]=1\n",                                                "task t\nin x=a\nin E=1\nop l:5 exported[export] 1\n",                                                                                                                           "E[unexport] f:2 *1"                                                                                                                                                                                          },
 /* one that is exported no more, though nothing else reads it either */
    {"task t\nin x=${E}\nop f:1 set ${E}\nlead E\nin E=1\nop l:5 exported[export] "
     "1\n" HOME,
     "task t\nin x=a\nop f:1 set a\n" HOME,                                                                                                                         "E l:5 *1, x f:1 *1"                                                                                                                                                                              },
 /* code that comes to a task finds an environment */
    {"task t\nin x=a\nop f:1 set a\n",
     "task t\nin x=a\nop f:1 set a\nop f:2 set[prefuncs] help\nin help=:\nop g:1 set "
     ":\n"
     "in HOME=/\nop e:1 set /\nfield order order=help : \n" HOME,
     "x f:2 *1"},
 /* a flag that counts only of functions around a task */
    {"task t\nin x=help\nop f:1 set help\nlead V\nin V=1\nop f:3 set 1\n",
     "task t\nin x=help\nop f:1 set help\nlead V\nlead help\nin V=2\nop f:3 set 2\nin "
     "help=\n"
     "op f:2 set[dirs] d\n",                                                                                                                                       "V f:3 *1"                                                                                                      },
 /* what is exported without a value, and no longer */
    {"task t\nin x=a\nin E=\nop l:5 set[export] 1\n" HOME,
     "task t\nin x=a\nin E[unexport]=1\nop f:2 set[unexport] 1\nfield export "
     "E[unexport]=1\n" HOME,
     "E[unexport] f:2 *1"                                                                                                                                                                                                                                                                               },
 /* the mask for files, beside something else that the task leads to */
    {"task t\nin x=a\nop f:1 set a\nlead V\nin V=1\nop f:3 set 1\nfield umask "
     "umask=0022\n",                  "task t\nin x=a\nop f:1 set a\nop g:1 set[umask] 077\nlead V\nin V=2\nop f:3 set "
     "2\n"
     "field umask umask=0077\n",                                                                                                                                                      "V f:3 *1, x g:1 *1"                                                                                                                 },
 /* what stays a name in a variable that another one refers to */
    {"task t\nin x=a\nin V=${W}\nop f:1 set ${W}\nlead W\nin W=${U}\nop f:2 set "
     "${U}\nlead U\nin U=1\n"
     "field vardeps V=1\n",                                  "task t\nin x=a\nin V=${W}\nop f:1 set ${W}\nlead W\nin W=${U}\nop f:2 set ${U}\n"
     "op f:3 set[vardepsexclude] U\nlead U\nin U=1\nfield vardeps V=${U}\n",                                                                                                                                                      "W f:3 *1"                                                                                                                                                                                                                                                                     },
 /* checksums of sources */
    {"task t\nin x=a\nin SRC_URI[md5]=1\nop f:3 set[md5] 1\nfield source SRC_URI "
     "001=1\n",                                                                   "task t\nin x=a\nin SRC_URI[md5]=2\nop f:3 set[md5] 2\nfield source SRC_URI "
     "001=2\n",                                                                                                                         "SRC_URI[md5] f:3 *1"                                                           },
 /* forced */
    {"task t\ntask u\ndep t\n",                                                            "task t\ntaint now\ntask u\ndep t\n",                                                                      "taint t *2"                  },
    {"task t\ntaint now\n",                                                                        "task t\ntaint later\n",                                                                                                                                               "taint t *1"                                                                                                             },
    {"task t\ntaint now\n",                                                             "task t\n",                                                  "taint t *1"                                                                            },
 /* files */
    {"task t\nfile f=1\n",                                                                 "task t\nfile f=1\nfile g=1\n",                                                       "file g *1"        },
 /* fields and files that count twice */
    {"task t\nin x=a\nop f:1 set a\nfield dirs h[dirs]=d\nfield dirs h[dirs]=d\n",
     "task t\nin x=b\nop f:1 set b\nfield dirs h[dirs]=d\nfield dirs h[dirs]=d\n",                                                                               "x f:1 *1"                                                                                                                             },
    {"task t\nfile f=1\nfile f=1\nfile g=1\n",                                                                  "task t\nfile f=2\nfile f=2\nfile g=1\n",
     "file f *1"                                                                                                  },
 /* a file that counts because an entry names it now, and one that is new below it */
    {"task t\nin SRC_URI=file://f\nop r:1 set f\nfield source "
     "SRC_URI=file://f\\n\nfile f=1\n",          "task t\nin SRC_URI=file://f file://d\nop r:1 set f d\nfield source "
     "SRC_URI=file://f\\nfile://d\\n\n"
     "file f=1\nfile d/a=1\n",                                                                                                "SRC_URI r:1 *1"                                                                                                                   },
    {"task t\nfield source SRC_URI=file://d\nfile d/a=1\n",
     "task t\nfield source SRC_URI=file://d\nfile d/a=1\nfile d/b=1\n",                         "file d/b *1"                                                                                                                                                                                                                                                                              },
    {"task t\nin x=a\nop f:1 set a\n",
     "task t\nin x=a\nop f:1 set a\nop f:2 set[file-checksums] g:True\nfile g=1\n",                                                                                                        "x f:2 *1"                                                                                                    },
};

static void an_edit_is_named_and_nothing_else(void **state)
{
    (void)state;
    causes_check(cases, BZ_COUNTOF(cases));
}

static void what_is_not_recorded_is_said_to_be_that(void **state)
{
    BZ_CLEANUP(bz_record_release) struct bz_record was = {0}, is = {0};
    BZ_CLEANUP(bz_cause_release) struct bz_causes c = {0};
    struct bz_err err;

    (void)state;
    records_make(&was, "task t\nin F=1\n");
    records_make(&is, "task t\nin F=1\n");
    is.tasks.at[0].key.b[0] ^= 1;
    is.tasks.at[0].base.b[0] ^= 1;
    assert_ok(bz_cause_find(&c, &was, &is, &err), &err);
    assert_int_equal(c.all.len, 1);
    assert_int_equal(c.all.at[0].kind, BZ_CAUSE_OTHER);
    assert_int_equal(c.upstream, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_is_named_and_nothing_else),
        cmocka_unit_test(what_is_not_recorded_is_said_to_be_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
