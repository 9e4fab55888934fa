/* choices.h - choices among recipes, recorded from BitBake 2.18's bb.providers.
 *
 * A recipe is path|variant|PN|PE|PV|priority|DEFAULT_PREFERENCE|PROVIDES|RPROVIDES. An
 * answer is the eligible recipes, best first; "!none" if none is, "!conflict" if the
 * settings contradict each other.
 */
#ifndef BZ_TEST_GRAPH_CHOICES_H
#define BZ_TEST_GRAPH_CHOICES_H

#include "graph/provide.h"

static const struct choice {
    const char *recipes, *settings;
    enum bz_provide_kind kind;
    const char *name, *answer;
    bool settled; /* or there is only one */
} choices[] = {
    {"5/c_1.0.bb|x|c-x||1.0|5|-1|b v|;5/c_1.0.bb||c||1.0|5|0||a;"
     "7/b_1.0.bb|x-y|b-x-y|1|1.0|7|0|a b|",                                       "PREFERRED_PROVIDER_w=b-x-y",                                                 BZ_PROVIDE_BUILD,   "b", "x-y:7/b_1.0.bb x:5/c_1.0.bb",
     false                                                                                                                                                                                                                                             },
    {"5/a_1.0.bb||a||1.0|5|0|v|;6/b_1.0+git.bb|x-y|b-x-y|1|1.0+git|6|-1|v|",
     "PREFERRED_PROVIDER_b=b-x-y;PREFERRED_RPROVIDER_r=a",                                                                                                           BZ_PROVIDE_BUILD,   "v",
     "5/a_1.0.bb x-y:6/b_1.0+git.bb",                                                                                                                                                                                                             false},
    {"5/b_1.10.bb|x|b-x||1.10|5|1|b a|;6/c_2.0~rc1.bb|x-y|c-x-y||2.0~rc1|6|-1||;"
     "7/a_1.0+git.bb||a||1.0+git|7|0|v|r",                                        "PREFERRED_PROVIDER_b=c-x-y;PREFERRED_PROVIDERS=w:b-x",                       BZ_PROVIDE_RUNTIME, "a",
     "7/a_1.0+git.bb",                                                                                                                                                                                                                            true },
    {"5/a_1.10.bb||a||1.10|5|0|w|s;5/b_2.0~rc1.bb||b||2.0~rc1|5|1|a|;"
     "7/b_1.0.bb||b|1|1.0|7|0||",                                                 "PREFERRED_VERSION_b=1.1%;PREFERRED_PROVIDER_w=a",                            BZ_PROVIDE_BUILD,   "a",
     "5/a_1.10.bb 5/b_2.0~rc1.bb",                                                                                                                                                                                                                false},
    {"5/a_2.0.bb||a||2.0|5|0|a w|;5/b_2.0.bb||b||2.0|5|0||;"
     "5/c_1.10.bb|x-y|c-x-y|1|1.10|5|1||r;5/c_2.0~rc1.bb|x|c-x||2.0~rc1|5|0||s;"
     "6/c_2.0.bb|x-y|c-x-y||2.0|6|0||;7/b_2.0.bb|x-y|b-x-y||2.0|7|1||",           "",                                                                           BZ_PROVIDE_RUNTIME, "a", "5/a_2.0.bb",                                       true },
    {"5/a_2.0.bb|x-y|a-x-y||2.0|5|0|v|;5/c_1.0.bb|x-y|c-x-y||1.0|5|1|v b|;"
     "7/a_1.0.bb||a|1|1.0|7|0||r;7/c_1.1.bb||c||1.1|7|1||a",                      "PREFERRED_VERSION_a-x-y=2.0",                                                BZ_PROVIDE_BUILD,   "v",
     "x-y:5/a_2.0.bb x-y:5/c_1.0.bb",                                                                                                                                                                                                             false},
    {"5/b_1.0.bb||b|1|1.0|5|0|b w|;5/b_2.0.bb||b||2.0|5|0|w|;"
     "7/b_1.0+git.bb|x|b-x||1.0+git|7|-1|b a|",                                   "PREFERRED_VERSION_b=1:1.%;PREFERRED_RPROVIDER_a=b",                          BZ_PROVIDE_BUILD,   "a",
     "x:7/b_1.0+git.bb",                                                                                                                                                                                                                          true },
    {"5/a_1.0.bb|x|a-x||1.0|5|0|w|;5/c_1.10.bb||c||1.10|5|0|b|;"
     "6/c_2.0.bb||c||2.0|6|-1|a|;7/a_1.0+git.bb||a||1.0+git|7|-1|w v|;"
     "7/b_2.0~rc1.bb||b||2.0~rc1|7|-1|w v|",                                      "PREFERRED_PROVIDERS=v:a;PREFERRED_VERSION_a-x=1.%;REQUIRED_VERSION_a=1.0",
     BZ_PROVIDE_BUILD,                                                                                                                                                                   "v", "!none",                                            false},
    {"5/a_2.0.bb||a|1|2.0|5|-1|a b|;5/b_1.0.bb||b||1.0|5|-1|v|;"
     "5/b_1.1.bb|x|b-x|1|1.1|5|1|v a|;6/a_1.1.bb|x-y|a-x-y||1.1|6|0|a|s;"
     "6/a_2.0~rc1.bb||a|1|2.0~rc1|6|0|v|r;7/c_1.10.bb||c|1|1.10|7|0|w a|a",       "REQUIRED_VERSION_c=1.0;PREFERRED_RPROVIDER_s=a-x-y;PREFERRED_RPROVIDER_r=c",
     BZ_PROVIDE_BUILD,                                                                                                                                                                   "v", "6/a_2.0~rc1.bb 5/b_1.0.bb x:5/b_1.1.bb",           false},
    {"5/b_1.0+git.bb||b||1.0+git|5|0|w|;5/c_1.1.bb|x|c-x||1.1|5|0||r;"
     "7/a_1.10.bb||a|1|1.10|7|0|w|a;7/c_2.0.bb||c||2.0|7|0|a|a",                  "PREFERRED_PROVIDERS=v:c-x;REQUIRED_VERSION_b=1.%;PREFERRED_RPROVIDER_s=c",
     BZ_PROVIDE_BUILD,                                                                                                                                                                   "a", "7/a_1.10.bb 7/c_2.0.bb",                           false},
    {"5/c_1.10.bb||c||1.10|5|0|a|;5/c_2.0~rc1.bb||c||2.0~rc1|5|1|v|;"
     "7/b_2.0.bb||b||2.0|7|-1||a;7/c_1.0+git.bb|x|c-x||1.0+git|7|1|w|s",          "PREFERRED_PROVIDER_b=c;PREFERRED_PROVIDER_w=c-x",                            BZ_PROVIDE_RUNTIME, "s",
     "x:7/c_1.0+git.bb",                                                                                                                                                                                                                          true },
    {"5/a_1.1.bb||a||1.1|5|1||;5/a_2.0~rc1.bb|x-y|a-x-y||2.0~rc1|5|0||r;"
     "5/c_1.0.bb|x|c-x||1.0|5|0||r;6/a_2.0.bb|x-y|a-x-y|1|2.0|6|0|w a|;"
     "6/b_1.10.bb||b||1.10|6|1|v|;7/b_2.0.bb|x-y|b-x-y||2.0|7|0|a v|s",           "PREFERRED_VERSION_c-x=9;PREFERRED_RPROVIDER_s=a-x-y",                        BZ_PROVIDE_RUNTIME, "s",
     "x-y:7/b_2.0.bb",                                                                                                                                                                                                                            true },
    {"5/a_1.1.bb|x|a-x||1.1|5|0|a|;6/a_1.0+git.bb||a|1|1.0+git|6|0|b v|s;"
     "6/b_1.10.bb||b||1.10|6|0|w|",                                               "PREFERRED_PROVIDER_b=b;PREFERRED_RPROVIDER_a=b",                             BZ_PROVIDE_RUNTIME, "s",
     "6/a_1.0+git.bb",                                                                                                                                                                                                                            true },
    {"6/b_2.0.bb||b||2.0|6|0|v|;7/c_1.0.bb||c||1.0|7|1|w|r",                           "",                                                                           BZ_PROVIDE_BUILD,   "v",
     "6/b_2.0.bb",                                                                                                                                                                                                                                true },
    {"6/a_1.0.bb|x|a-x||1.0|6|1|b v|;6/b_1.0+git.bb|x-y|b-x-y||1.0+git|6|0||s;"
     "6/b_1.0+git.bb|x|b-x||1.0+git|6|0|b v|",                                    "PREFERRED_VERSION_a-x=1.%;REQUIRED_VERSION_b-x-y=9",                         BZ_PROVIDE_BUILD,   "v",
     "x:6/a_1.0.bb x:6/b_1.0+git.bb",                                                                                                                                                                                                             false},
    {"6/b_1.0+git.bb|x|b-x|1|1.0+git|6|0|w a|;7/a_1.0.bb||a||1.0|7|0|w|;"
     "7/b_1.0+git.bb||b|1|1.0+git|7|0|v a|r",                                     "PREFERRED_PROVIDERS=v:a",                                                    BZ_PROVIDE_BUILD,   "b", "7/b_1.0+git.bb",                                   true },
    {"5/a_1.0.bb||a|1|1.0|5|0||;5/b_1.0.bb|x-y|b-x-y||1.0|5|-1||;"
     "7/c_1.10.bb||c||1.10|7|0||",                                                "PREFERRED_RPROVIDER_r=b-x-y;PREFERRED_PROVIDER_w=c",                         BZ_PROVIDE_BUILD,   "a",
     "5/a_1.0.bb",                                                                                                                                                                                                                                true },
    {"5/a_2.0~rc1.bb|x-y|a-x-y||2.0~rc1|5|0|a|a;"
     "5/b_2.0.bb|x-y|b-x-y||2.0|5|-1||;7/a_1.0+git.bb||a|1|1.0+git|7|1|a v|;"
     "7/a_1.0.bb|x|a-x||1.0|7|1|w|",                                              "PREFERRED_RPROVIDER_r=b-x-y;PREFERRED_PROVIDERS=w:b-x-y",                    BZ_PROVIDE_RUNTIME, "a",
     "7/a_1.0+git.bb x-y:5/a_2.0~rc1.bb",                                                                                                                                                                                                         false},
    {"5/a_2.0~rc1.bb||a||2.0~rc1|5|0|v|r;5/c_1.1.bb||c||1.1|5|0||;"
     "6/b_1.0+git.bb|x|b-x|1|1.0+git|6|0|w|s;7/a_1.0+git.bb||a||1.0+git|7|0|w|;"
     "7/c_1.10.bb|x|c-x||1.10|7|0||",                                             "PREFERRED_PROVIDER_a=b-x;PREFERRED_PROVIDER_b=b-x;"
     "PREFERRED_RPROVIDER_a=b-x;PREFERRED_VERSION:pn-b-x=1.0",                                                             BZ_PROVIDE_RUNTIME, "r", "5/a_2.0~rc1.bb",                                   true },
    {"5/b_1.0.bb|x-y|b-x-y||1.0|5|1|w|a;"
     "5/b_2.0~rc1.bb|x-y|b-x-y||2.0~rc1|5|1|b|r;"
     "5/c_1.0.bb|x-y|c-x-y||1.0|5|0|b w|a;5/c_1.1.bb||c|1|1.1|5|-1||;"
     "7/a_1.1.bb||a||1.1|7|0||a",                                                 "PREFERRED_PROVIDERS=w:c-x-y;PREFERRED_VERSION_c-x-y=2.0;"
     "PREFERRED_VERSION_a=1:1.%;PREFERRED_VERSION:pn-c-x-y=2.%",                                                               BZ_PROVIDE_BUILD,   "b", "x-y:5/b_2.0~rc1.bb x-y:5/c_1.0.bb",                false},
    {"5/c_1.1.bb||c|1|1.1|5|-1||;7/a_2.0~rc1.bb||a|1|2.0~rc1|7|0||;"
     "7/c_2.0.bb||c||2.0|7|0|w|",                                                 "PREFERRED_VERSION:pn-a=1.0;PREFERRED_PROVIDERS=w:a",                         BZ_PROVIDE_RUNTIME, "a",
     "7/a_2.0~rc1.bb",                                                                                                                                                                                                                            true },
    {"5/a_1.1.bb||a||1.1|5|-1|a w|s;5/a_1.10.bb|x-y|a-x-y||1.10|5|1|v|;"
     "5/a_2.0.bb||a||2.0|5|0||s;5/c_2.0.bb||c||2.0|5|-1|b|;"
     "6/b_2.0~rc1.bb||b|1|2.0~rc1|6|0|a|;"
     "7/c_1.0+git.bb|x-y|c-x-y||1.0+git|7|1|a|r",                                 "REQUIRED_VERSION_a-x-y=1:2.0;PREFERRED_VERSION_c-x-y=1.%",                   BZ_PROVIDE_BUILD,   "v",
     "!none",                                                                                                                                                                                                                                     false},
    {"5/b_2.0~rc1.bb||b||2.0~rc1|5|0|b a|;7/b_2.0.bb||b||2.0|7|0||r",
     "PREFERRED_VERSION_b=1.%;REQUIRED_VERSION_b=1.0;PREFERRED_PROVIDERS=w:b;"
     "PREFERRED_RPROVIDER_a=b",                                                                                                                                      BZ_PROVIDE_BUILD,   "a", "!none",                                            false},
    {"5/a_1.1.bb||a|1|1.1|5|0|v|;5/c_1.0.bb|x|c-x||1.0|5|1|v|;"
     "6/a_2.0.bb||a||2.0|6|-1|a b|;7/c_1.0+git.bb|x|c-x||1.0+git|7|0|w|r",        "PREFERRED_VERSION_c-x=9;PREFERRED_VERSION_a=1.1%;PREFERRED_PROVIDERS=v:a",
     BZ_PROVIDE_BUILD,                                                                                                                                                                   "a", "5/a_1.1.bb",                                       true },
    {"5/b_2.0.bb||b||2.0|5|0||;5/c_1.10.bb|x-y|c-x-y||1.10|5|0|v a|",
     "REQUIRED_VERSION_b=1:2.0;PREFERRED_PROVIDER_b=c-x-y;"
     "PREFERRED_VERSION_c-x-y=2.0",                                                                                                                                  BZ_PROVIDE_BUILD,   "b", "!none",                                            false},
    {"5/a_2.0.bb||a|1|2.0|5|0|a b|;5/b_1.10.bb||b||1.10|5|0|b a|r;"
     "5/c_1.0.bb||c||1.0|5|1|b|r;7/a_2.0.bb||a||2.0|7|0|v|",                      "PREFERRED_PROVIDERS=w:a;PREFERRED_RPROVIDER_r=c",                            BZ_PROVIDE_RUNTIME, "r",
     "5/c_1.0.bb 5/b_1.10.bb",                                                                                                                                                                                                                    true },
    {"5/b_1.0+git.bb|x-y|b-x-y||1.0+git|5|0|b|;5/b_1.10.bb||b||1.10|5|-1|w v|r;"
     "6/a_2.0.bb||a||2.0|6|0|w|;6/c_2.0.bb||c||2.0|6|0|v|a;"
     "7/c_1.1.bb||c|1|1.1|7|1||a",                                                "PREFERRED_VERSION_a=9;REQUIRED_VERSION_b=1.0",                               BZ_PROVIDE_BUILD,   "b", "!none",
     false                                                                                                                                                                                                                                             },
    {"5/c_1.10.bb||c||1.10|5|1|b|r;6/b_1.0.bb||b||1.0|6|0|v|a;"
     "6/c_1.0.bb|x-y|c-x-y||1.0|6|-1|v w|",                                       "PREFERRED_VERSION:pn-c-x-y=1.0;PREFERRED_VERSION:pn-c=1.0",                  BZ_PROVIDE_BUILD,   "v",
     "x-y:6/c_1.0.bb 6/b_1.0.bb",                                                                                                                                                                                                                 false},
    {"5/a_2.0.bb|x-y|a-x-y||2.0|5|0|w|a;5/a_2.0~rc1.bb||a|1|2.0~rc1|5|-1|w v|;"
     "5/b_1.1.bb|x|b-x||1.1|5|-1|b|;6/a_2.0.bb|x|a-x|1|2.0|6|-1||;"
     "6/c_2.0.bb|x-y|c-x-y||2.0|6|0|w|s",                                         "PREFERRED_RPROVIDER_s=b-x;PREFERRED_PROVIDER_v=a-x-y;"
     "REQUIRED_VERSION_a=1:2.0",                                                                                       BZ_PROVIDE_RUNTIME, "a", "!none",                                            false},
    {"5/a_1.0+git.bb||a||1.0+git|5|0|w|s;5/c_1.1.bb|x|c-x||1.1|5|0|w b|;"
     "5/c_2.0~rc1.bb||c|1|2.0~rc1|5|0|a|;6/c_1.10.bb|x-y|c-x-y||1.10|6|0||r;"
     "7/c_2.0~rc1.bb||c||2.0~rc1|7|0|w|a",                                        "PREFERRED_PROVIDERS=v:c;PREFERRED_PROVIDER_a=c",                             BZ_PROVIDE_RUNTIME, "a",
     "7/c_2.0~rc1.bb 5/a_1.0+git.bb",                                                                                                                                                                                                             true },
    {"6/a_2.0~rc1.bb||a||2.0~rc1|6|-1||;7/a_1.0.bb||a||1.0|7|1|b a|;"
     "7/b_2.0.bb||b||2.0|7|-1|a|",                                                "REQUIRED_VERSION_a=1:2.0",                                                   BZ_PROVIDE_BUILD,   "a", "!none",                                            false},
    {"5/a_1.0+git.bb|x|a-x||1.0+git|5|1|v|r;6/a_1.0+git.bb||a||1.0+git|6|0||",
     "PREFERRED_VERSION_a-x=1:1.%;PREFERRED_VERSION_a=1.0;"
     "PREFERRED_RPROVIDER_s=a-x;REQUIRED_VERSION_a-x=9",                                                                                                             BZ_PROVIDE_RUNTIME, "r", "!none",                                            false},
    {"5/a_1.0.bb|x-y|a-x-y|1|1.0|5|0|b|;5/b_2.0~rc1.bb|x|b-x||2.0~rc1|5|1|a|a;"
     "5/c_1.0.bb||c||1.0|5|0|b|s;6/a_1.0+git.bb||a||1.0+git|6|0|a v|a;"
     "6/b_1.1.bb|x-y|b-x-y||1.1|6|0||r;7/c_1.0.bb||c||1.0|7|1|w|",                "PREFERRED_RPROVIDER_a=b-x-y;PREFERRED_VERSION:pn-c=1.0",                     BZ_PROVIDE_BUILD,   "b",
     "5/c_1.0.bb x-y:5/a_1.0.bb",                                                                                                                                                                                                                 false},
    {"5/a_1.1.bb|x|a-x|1|1.1|5|-1|w|a;5/a_1.1.bb||a||1.1|5|1||;"
     "5/c_2.0.bb||c|1|2.0|5|1|w a|;6/c_1.0+git.bb||c||1.0+git|6|1|v w|s;"
     "6/c_1.10.bb||c||1.10|6|-1|v|;7/a_2.0~rc1.bb|x|a-x|1|2.0~rc1|7|1|b|a",       "PREFERRED_VERSION:pn-c=2.%;PREFERRED_VERSION_a-x=1.1%",                      BZ_PROVIDE_BUILD,   "w",
     "x:5/a_1.1.bb 5/c_2.0.bb",                                                                                                                                                                                                                   false},
    {"5/a_1.0+git.bb||a|1|1.0+git|5|0|v|;"
     "5/a_2.0~rc1.bb|x-y|a-x-y|1|2.0~rc1|5|0|w a|r;"
     "5/b_1.0.bb|x-y|b-x-y||1.0|5|0|v|;5/b_2.0~rc1.bb||b||2.0~rc1|5|1|a|;"
     "6/a_1.0+git.bb|x|a-x||1.0+git|6|1|w a|a",                                   "PREFERRED_VERSION_a=1.1%;PREFERRED_VERSION:pn-b-x-y=1.0;"
     "REQUIRED_VERSION_b=1.%;PREFERRED_PROVIDER_w=a-x-y",                                                        BZ_PROVIDE_BUILD,   "v", "x-y:5/b_1.0.bb 5/a_1.0+git.bb",                    false},
    {"6/b_1.0+git.bb||b|1|1.0+git|6|1|w a|;7/c_1.1.bb|x-y|c-x-y||1.1|7|1|w v|;"
     "7/c_2.0~rc1.bb||c|1|2.0~rc1|7|1|a|r",                                       "REQUIRED_VERSION_c=9;REQUIRED_VERSION_b=1.%;PREFERRED_VERSION_c=2.0",
     BZ_PROVIDE_BUILD,                                                                                                                                                                   "a", "6/b_1.0+git.bb",                                   true },
    {"5/b_1.1.bb|x-y|b-x-y|1|1.1|5|-1||r;7/a_1.10.bb|x-y|a-x-y|1|1.10|7|0|b a|a;"
     "7/b_1.0+git.bb||b||1.0+git|7|0||r;7/b_1.0.bb||b|1|1.0|7|0|a|a",             "REQUIRED_VERSION_b-x-y=1.0;PREFERRED_RPROVIDER_a=b;"
     "PREFERRED_VERSION_b=1.0;PREFERRED_VERSION_a-x-y=1.1%",                               BZ_PROVIDE_RUNTIME, "r", "!none",                                            false},
    {"5/b_1.0+git.bb|x|b-x||1.0+git|5|0|w|s;5/b_1.0.bb||b||1.0|5|0|v|a;"
     "7/b_1.10.bb||b||1.10|7|0|w|r;7/c_1.0+git.bb||c||1.0+git|7|0|w|",            "REQUIRED_VERSION_b-x=1:2.0;PREFERRED_PROVIDER_w=c;PREFERRED_VERSION_b=9;"
     "PREFERRED_VERSION_c=1.1%",                                                          BZ_PROVIDE_RUNTIME, "s", "!none",                                            false},
    {"5/a_2.0.bb|x|a-x||2.0|5|0|v|;5/a_2.0.bb||a||2.0|5|0||;"
     "6/a_1.1.bb|x|a-x||1.1|6|0|a b|r;6/b_1.0.bb|x|b-x||1.0|6|1|b|s",             "REQUIRED_VERSION_a=1:2.0;PREFERRED_VERSION_a=1:1.%",                         BZ_PROVIDE_RUNTIME, "a",
     "!none",                                                                                                                                                                                                                                     false},
    {"5/b_1.10.bb|x|b-x|1|1.10|5|0|w|s;5/b_1.10.bb||b|1|1.10|5|0|a v|s;"
     "5/c_1.0+git.bb|x-y|c-x-y||1.0+git|5|0|w|;5/c_2.0.bb||c|1|2.0|5|0|v b|s;"
     "6/b_1.0+git.bb||b||1.0+git|6|0||a;7/b_1.10.bb||b|1|1.10|7|0|w|a",           "REQUIRED_VERSION_c-x-y=9;PREFERRED_VERSION_c=2.0",                           BZ_PROVIDE_RUNTIME, "s",
     "5/c_2.0.bb 5/b_1.10.bb x:5/b_1.10.bb",                                                                                                                                                                                                      false},
    {"5/a_1.0.bb||a||1.0|5|0|a v|;5/a_2.0.bb||a||2.0|5|-1|b|a;"
     "5/b_1.0.bb||b||1.0|5|1||a;7/a_1.1.bb||a||1.1|7|0||",                        "PREFERRED_RPROVIDER_a=a;REQUIRED_VERSION_a=1.%",                             BZ_PROVIDE_RUNTIME, "a",
     "7/a_1.1.bb 5/b_1.0.bb",                                                                                                                                                                                                                     true },
    {"5/a_1.0.bb||a||1.0|5|1|a|;5/b_1.0.bb||b|1|1.0|5|-1|w|;"
     "5/c_1.10.bb||c||1.10|5|0||a;6/b_1.0.bb||b|1|1.0|6|0||;"
     "7/a_2.0~rc1.bb||a||2.0~rc1|7|0|a|r;7/c_1.0.bb||c||1.0|7|-1|w|",             "PREFERRED_VERSION:pn-a=1.0",                                                 BZ_PROVIDE_BUILD,   "a", "5/a_1.0.bb",                                       true },
    {"5/b_1.10.bb||b|1|1.10|5|0|v|a;5/b_2.0~rc1.bb||b||2.0~rc1|5|1|w a|r;"
     "6/a_1.1.bb||a||1.1|6|0|w b|r;7/a_1.0.bb|x-y|a-x-y||1.0|7|-1|a v|a",         "REQUIRED_VERSION_b=1.0;PREFERRED_PROVIDER_b=b;PREFERRED_RPROVIDER_s=a",
     BZ_PROVIDE_RUNTIME,                                                                                                                                                                 "a", "!none",                                            false},
    {"5/a_2.0.bb|x|a-x||2.0|5|1|b a|s;5/b_2.0.bb||b|1|2.0|5|0|b|r;"
     "6/a_2.0~rc1.bb||a||2.0~rc1|6|-1|a|s",                                       "REQUIRED_VERSION_b=9;PREFERRED_VERSION_b=1:1.%;REQUIRED_VERSION_a=9;"
     "PREFERRED_PROVIDER_b=a-x",                                                                                     BZ_PROVIDE_RUNTIME, "r", "!none",                                            false},
    {"5/b_1.0+git.bb||b|1|1.0+git|5|0||;5/b_2.0~rc1.bb||b||2.0~rc1|5|0|b|;"
     "6/c_1.0+git.bb|x|c-x|1|1.0+git|6|0|w b|;6/c_1.1.bb||c||1.1|6|-1|v b|s;"
     "7/a_1.1.bb||a|1|1.1|7|-1|b w|a;7/b_1.10.bb|x-y|b-x-y||1.10|7|1|b|a",        "PREFERRED_PROVIDER_b=a;PREFERRED_PROVIDERS=w:b;"
     "PREFERRED_VERSION:pn-b-x-y=1.0;PREFERRED_VERSION_b-x-y=1.%",                    BZ_PROVIDE_RUNTIME, "a", "7/a_1.1.bb x-y:7/b_1.10.bb",                       true },
    {"5/a_1.1.bb|x|a-x||1.1|5|0|w|r;5/a_1.10.bb||a||1.10|5|-1|v|;"
     "5/a_2.0~rc1.bb||a||2.0~rc1|5|-1|b|;5/b_2.0.bb||b||2.0|5|0|v|s;"
     "7/b_1.0+git.bb|x|b-x||1.0+git|7|0||a",                                      "REQUIRED_VERSION_a=1.0;PREFERRED_PROVIDERS=v:b",                             BZ_PROVIDE_RUNTIME, "a", "!none",
     false                                                                                                                                                                                                                                             },
    {"5/c_1.0+git.bb|x|c-x||1.0+git|5|0|v|s;5/c_1.10.bb||c||1.10|5|1|a|;"
     "6/c_1.1.bb||c||1.1|6|-1|v w|;7/b_1.0+git.bb|x|b-x||1.0+git|7|0|v|r",        "PREFERRED_VERSION:pn-b-x=2.%;PREFERRED_VERSION_b-x=9;"
     "PREFERRED_PROVIDERS=v:c-x",                                                     BZ_PROVIDE_BUILD,   "v", "x:5/c_1.0+git.bb x:7/b_1.0+git.bb 6/c_1.1.bb",     true },
    {"5/b_1.0.bb||b||1.0|5|0|v|s;5/b_2.0~rc1.bb|x|b-x||2.0~rc1|5|0|v|r;"
     "5/c_1.10.bb||c||1.10|5|-1|v|;5/c_2.0.bb|x|c-x||2.0|5|0|w b|;"
     "7/a_1.1.bb||a||1.1|7|1|b a|s",                                              "REQUIRED_VERSION_b-x=1.%;PREFERRED_PROVIDER_b=c-x;REQUIRED_VERSION_a=1:2.0",
     BZ_PROVIDE_RUNTIME,                                                                                                                                                                 "s", "!none",                                            false},
    {"5/b_2.0~rc1.bb||b||2.0~rc1|5|0|v a|;6/a_1.0.bb||a||1.0|6|-1|a|;"
     "6/a_1.1.bb|x-y|a-x-y|1|1.1|6|-1|b|;7/b_1.10.bb||b||1.10|7|0|b|r;"
     "7/b_2.0~rc1.bb||b||2.0~rc1|7|0||s",                                         "REQUIRED_VERSION_b=9;PREFERRED_VERSION_a=1.0;PREFERRED_VERSION:pn-a=1.0",
     BZ_PROVIDE_RUNTIME,                                                                                                                                                                 "s", "!none",                                            false},
    {"5/a_1.1.bb||a|1|1.1|5|0|a|a;5/a_2.0.bb||a||2.0|5|0||;"
     "5/b_1.0.bb||b||1.0|5|1|v|r;5/b_2.0.bb||b|1|2.0|5|1|a|r",                    "PREFERRED_RPROVIDER_s=a;PREFERRED_PROVIDERS=w:b;PREFERRED_VERSION:pn-b=1.0",
     BZ_PROVIDE_RUNTIME,                                                                                                                                                                 "r", "5/b_1.0.bb",                                       true },
    {"5/b_1.0+git.bb||b||1.0+git|5|-1|v|;5/b_2.0.bb|x|b-x|1|2.0|5|0|v|a;"
     "5/b_2.0~rc1.bb|x|b-x||2.0~rc1|5|0|w|s;6/c_2.0.bb|x|c-x||2.0|6|0|v|",        "PREFERRED_VERSION:pn-b-x=2.%;PREFERRED_PROVIDER_w=c-x;"
     "PREFERRED_RPROVIDER_r=b",                                                       BZ_PROVIDE_BUILD,   "v", "x:5/b_2.0.bb 5/b_1.0+git.bb x:6/c_2.0.bb",         false},
    {"5/b_1.1.bb||b|1|1.1|5|0|w|s;5/c_1.0+git.bb|x|c-x||1.0+git|5|0||;"
     "6/b_2.0.bb||b||2.0|6|0|w v|",                                               "PREFERRED_VERSION_b=1.%;PREFERRED_PROVIDER_w=b",                             BZ_PROVIDE_BUILD,   "b",
     "5/b_1.1.bb",                                                                                                                                                                                                                                true },
    {"5/b_2.0~rc1.bb||b||2.0~rc1|5|0|a|;5/c_1.0+git.bb|x|c-x||1.0+git|5|0|a|s;"
     "6/a_2.0~rc1.bb|x|a-x||2.0~rc1|6|0|b w|s;7/b_1.0+git.bb||b||1.0+git|7|0||a;"
     "7/b_1.0.bb|x-y|b-x-y||1.0|7|0|b a|s",                                       "REQUIRED_VERSION_b-x-y=1.%;PREFERRED_VERSION_a-x=1:1.%;"
     "PREFERRED_PROVIDERS=v:b-x-y;PREFERRED_RPROVIDER_a=b",                                                          BZ_PROVIDE_RUNTIME, "s", "x-y:7/b_1.0.bb x:6/a_2.0~rc1.bb x:5/c_1.0+git.bb",
     false                                                                                                                                                                                                                                             },
    {"5/a_1.1.bb||a||1.1|5|0||s;5/b_1.1.bb||b||1.1|5|0|a|;"
     "5/b_1.10.bb|x|b-x||1.10|5|0|a|;7/b_1.10.bb||b||1.10|7|0||",                 "PREFERRED_PROVIDER_v=b;PREFERRED_VERSION_b-x=1.1%;PREFERRED_RPROVIDER_r=a;"
     "PREFERRED_VERSION_b=2.0",                                                                BZ_PROVIDE_BUILD,   "a", "5/a_1.1.bb x:5/b_1.10.bb 5/b_1.1.bb",              false},
    {"5/c_1.10.bb||c||1.10|5|-1|b|s;6/a_1.0+git.bb||a||1.0+git|6|0|b|;"
     "7/a_2.0~rc1.bb||a|1|2.0~rc1|7|-1|w v|",                                     "REQUIRED_VERSION_a=9;PREFERRED_RPROVIDER_s=a",                               BZ_PROVIDE_RUNTIME, "a", "!none",
     false                                                                                                                                                                                                                                             },
    {"5/c_1.0.bb||c||1.0|5|0|w|s;6/a_1.0.bb|x-y|a-x-y||1.0|6|0|a|a;"
     "6/c_2.0.bb||c||2.0|6|0|v w|;7/b_2.0.bb|x-y|b-x-y||2.0|7|0|v a|a",           "PREFERRED_PROVIDERS=v:c",                                                    BZ_PROVIDE_BUILD,   "v", "6/c_2.0.bb x-y:7/b_2.0.bb",
     true                                                                                                                                                                                                                                              },
    {"5/a_1.10.bb|x|a-x|1|1.10|5|-1||a;"
     "5/a_2.0~rc1.bb|x-y|a-x-y||2.0~rc1|5|-1|b|;"
     "5/b_1.0+git.bb||b||1.0+git|5|0|a|;6/a_2.0~rc1.bb||a|1|2.0~rc1|6|0|b|a;"
     "6/b_1.0.bb|x|b-x||1.0|6|0|v|s;7/c_1.0.bb||c||1.0|7|0|v|r",                  "REQUIRED_VERSION_c=1.%;PREFERRED_RPROVIDER_a=a-x-y;PREFERRED_PROVIDERS=v:c",
     BZ_PROVIDE_BUILD,                                                                                                                                                                   "v", "7/c_1.0.bb x:6/b_1.0.bb",                          true },
    {"5/a_2.0~rc1.bb||a|1|2.0~rc1|5|0||a;5/b_1.0.bb||b||1.0|5|1|b|a;"
     "5/b_1.1.bb|x|b-x||1.1|5|0|w|;5/b_2.0.bb||b||2.0|5|0|v|s;"
     "5/c_1.0+git.bb||c||1.0+git|5|0|v|r;6/b_1.0+git.bb||b||1.0+git|6|-1|v|",     "REQUIRED_VERSION_b=1.0;REQUIRED_VERSION_b-x=1.0;PREFERRED_VERSION:pn-b=2.%",
     BZ_PROVIDE_BUILD,                                                                                                                                                                   "b", "5/b_1.0.bb",                                       true },
    {"5/b_2.0.bb|x-y|b-x-y|1|2.0|5|1||s;5/c_1.10.bb||c|1|1.10|5|0|b|;"
     "6/c_1.0+git.bb||c||1.0+git|6|0|w|r;7/a_1.0+git.bb||a|1|1.0+git|7|0||a;"
     "7/a_1.0.bb||a|1|1.0|7|0|w|",                                                "PREFERRED_PROVIDER_b=c;PREFERRED_PROVIDERS=w:a;PREFERRED_VERSION_b-x-y=9",
     BZ_PROVIDE_BUILD,                                                                                                                                                                   "w", "7/a_1.0.bb 6/c_1.0+git.bb",                        true },
    {"5/b_1.0+git.bb||b||1.0+git|5|0|w|a;5/c_1.1.bb||c||1.1|5|0||s;"
     "6/a_1.0.bb|x|a-x||1.0|6|0||s;6/b_2.0~rc1.bb||b||2.0~rc1|6|0|b a|",          "REQUIRED_VERSION_b=1.0;PREFERRED_PROVIDERS=w:a-x",                           BZ_PROVIDE_BUILD,   "b", "!none",
     false                                                                                                                                                                                                                                             },
    {"5/a_1.0.bb|x|a-x||1.0|5|0|w v|r;5/a_1.0.bb||a|1|1.0|5|0|b|s;"
     "6/c_2.0.bb|x|c-x||2.0|6|1|a|a;7/b_1.1.bb||b|1|1.1|7|1||r;"
     "7/c_2.0~rc1.bb||c||2.0~rc1|7|-1|v|a",                                       "PREFERRED_PROVIDERS=v:c;PREFERRED_VERSION_a=1.%;"
     "PREFERRED_VERSION:pn-b=2.%;PREFERRED_VERSION_a-x=1.%",                                                         BZ_PROVIDE_BUILD,   "v", "7/c_2.0~rc1.bb x:5/a_1.0.bb",                      true },
    {"5/b_1.0.bb||b||1.0|5|0|v|a;5/b_2.0~rc1.bb||b||2.0~rc1|5|-1|b|a;"
     "5/c_1.0+git.bb||c||1.0+git|5|-1|v|a;5/c_1.0.bb||c||1.0|5|-1||s;"
     "6/c_1.1.bb||c|1|1.1|6|-1|v|r;7/a_1.1.bb||a||1.1|7|0|b v|a",                 "PREFERRED_RPROVIDER_a=c;PREFERRED_PROVIDERS=v:a;PREFERRED_VERSION:pn-a=1.0",
     BZ_PROVIDE_RUNTIME,                                                                                                                                                                 "a", "5/c_1.0+git.bb 7/a_1.1.bb 5/b_1.0.bb",             true },
    {"5/a_1.0+git.bb||a||1.0+git|5|0||s;5/a_1.1.bb|x|a-x||1.1|5|-1|v|;"
     "5/a_1.1.bb||a|1|1.1|5|-1|w|r;6/c_2.0.bb||c||2.0|6|0|w|r;"
     "7/b_2.0.bb|x-y|b-x-y|1|2.0|7|-1||",                                         "REQUIRED_VERSION_c=1.0;PREFERRED_RPROVIDER_r=a",                             BZ_PROVIDE_RUNTIME, "r", "!none",
     false                                                                                                                                                                                                                                             },
    {"6/a_1.0+git.bb|x|a-x||1.0+git|6|0|a b|;7/b_1.10.bb||b||1.10|7|0|a|",
     "PREFERRED_RPROVIDER_r=b;PREFERRED_VERSION_b=1.1%",                                                                                                             BZ_PROVIDE_BUILD,   "a",
     "7/b_1.10.bb x:6/a_1.0+git.bb",                                                                                                                                                                                                              false},
    {"5/b_1.0.bb||b||1.0|5|0|b a|a;5/b_1.1.bb|x|b-x||1.1|5|0||a;"
     "5/b_1.10.bb||b||1.10|5|0||;5/c_2.0.bb||c||2.0|5|1|w a|s;"
     "6/a_2.0.bb||a||2.0|6|-1|a w|;7/c_2.0~rc1.bb|x|c-x||2.0~rc1|7|-1|a|",        "REQUIRED_VERSION_b=1.%;PREFERRED_VERSION_b=2.0;PREFERRED_PROVIDER_w=c;"
     "PREFERRED_VERSION:pn-c=2.%",                                                    BZ_PROVIDE_BUILD,   "b", "5/b_1.0.bb",                                       true },
    {"5/b_1.1.bb||b||1.1|5|1|v w|;6/c_2.0.bb|x-y|c-x-y||2.0|6|0|a|a",
     "REQUIRED_VERSION_c-x-y=1.0;REQUIRED_VERSION_b=9",                                                                                                              BZ_PROVIDE_BUILD,   "b", "!none",
     false                                                                                                                                                                                                                                             },
    {"5/a_2.0.bb||a|1|2.0|5|0|b|;5/b_1.0+git.bb||b||1.0+git|5|0||;"
     "5/c_1.1.bb||c|1|1.1|5|1|b|;5/c_2.0.bb||c||2.0|5|0||;"
     "6/a_1.0+git.bb||a||1.0+git|6|1|w|;6/c_1.1.bb||c||1.1|6|0|a|a",              "PREFERRED_PROVIDER_w=b;PREFERRED_RPROVIDER_a=c;REQUIRED_VERSION_c=9;"
     "PREFERRED_RPROVIDER_s=a",                                                             BZ_PROVIDE_BUILD,   "b", "!none",                                            false},
    {"5/a_2.0~rc1.bb|x|a-x||2.0~rc1|5|0||a;"
     "5/b_1.0+git.bb|x|b-x||1.0+git|5|-1|w|;6/a_1.10.bb||a||1.10|6|0|w v|;"
     "7/b_1.0+git.bb||b||1.0+git|7|0|b|",                                         "REQUIRED_VERSION_b-x=1.%",                                                   BZ_PROVIDE_BUILD,   "w", "x:5/b_1.0+git.bb 6/a_1.10.bb",
     false                                                                                                                                                                                                                                             },
    {"5/a_1.0+git.bb|x-y|a-x-y|1|1.0+git|5|0|v|;"
     "6/a_2.0~rc1.bb||a||2.0~rc1|6|0|b|a;6/c_1.0+git.bb||c||1.0+git|6|0|w v|;"
     "7/a_1.1.bb|x|a-x||1.1|7|1|w|r;7/c_1.1.bb|x-y|c-x-y||1.1|7|1|v w|a",         "PREFERRED_VERSION:pn-c-x-y=1.0;PREFERRED_PROVIDER_b=a-x-y;"
     "PREFERRED_RPROVIDER_a=a",                                                        BZ_PROVIDE_RUNTIME, "a", "6/a_2.0~rc1.bb x-y:7/c_1.1.bb",                    true },
    {"5/a_2.0.bb||a||2.0|5|-1||;5/a_2.0~rc1.bb||a||2.0~rc1|5|0|v|;"
     "5/b_1.0+git.bb|x|b-x|1|1.0+git|5|0|b|;"
     "6/a_1.0+git.bb|x-y|a-x-y|1|1.0+git|6|0|b|s;6/b_2.0.bb||b||2.0|6|0|b a|",    "PREFERRED_RPROVIDER_a=b;REQUIRED_VERSION_b=1.0;PREFERRED_PROVIDER_v=b",
     BZ_PROVIDE_BUILD,                                                                                                                                                                   "b", "!none",                                            false},
    {"5/a_1.1.bb|x|a-x||1.1|5|0|b|;5/a_1.10.bb||a||1.10|5|0||;"
     "5/b_2.0~rc1.bb|x-y|b-x-y||2.0~rc1|5|0||r;"
     "6/b_1.0+git.bb|x|b-x||1.0+git|6|-1||r;6/b_1.1.bb|x|b-x|1|1.1|6|0||a;"
     "7/c_1.0.bb||c||1.0|7|0|a|",                                                 "REQUIRED_VERSION_b-x=1.0",                                                   BZ_PROVIDE_RUNTIME, "r", "!none",                                            false},
    {"5/a_2.0~rc1.bb||a|1|2.0~rc1|5|0|v|;5/b_1.0+git.bb||b|1|1.0+git|5|1|b|;"
     "5/b_1.10.bb|x-y|b-x-y||1.10|5|0||a;5/c_1.0.bb|x-y|c-x-y||1.0|5|0|a v|;"
     "7/a_2.0.bb||a||2.0|7|-1|w b|s",                                             "REQUIRED_VERSION_b=1:2.0;PREFERRED_PROVIDERS=v:c-x-y",                       BZ_PROVIDE_BUILD,   "b",
     "!none",                                                                                                                                                                                                                                     false},
    {"5/b_2.0.bb||b||2.0|5|1|a w|s;5/c_1.0+git.bb|x|c-x||1.0+git|5|1|v|r;"
     "5/c_1.10.bb||c||1.10|5|0|a|a;5/c_2.0~rc1.bb||c|1|2.0~rc1|5|-1|a w|a;"
     "6/a_1.1.bb|x|a-x||1.1|6|1||",                                               "PREFERRED_PROVIDER_v=c-x;PREFERRED_RPROVIDER_s=c-x;"
     "REQUIRED_VERSION_c=1:2.0;PREFERRED_VERSION_c=1.1%",                                                                    BZ_PROVIDE_BUILD,   "w", "!none",                                            false},
    {"6/a_1.1.bb||a||1.1|6|0||;6/c_2.0.bb|x|c-x||2.0|6|-1||;"
     "6/c_2.0~rc1.bb|x-y|c-x-y||2.0~rc1|6|0|b w|;7/a_1.0.bb||a||1.0|7|1|w|;"
     "7/c_1.0.bb||c||1.0|7|0|a|a",                                                "PREFERRED_PROVIDERS=w:a",                                                    BZ_PROVIDE_BUILD,   "w", "7/a_1.0.bb x-y:6/c_2.0~rc1.bb",
     true                                                                                                                                                                                                                                              },
    {"5/b_1.0+git.bb||b||1.0+git|5|0|v|r;5/c_1.0.bb||c||1.0|5|0|v|s;"
     "6/b_2.0~rc1.bb|x|b-x|1|2.0~rc1|6|1|w|;6/c_1.0.bb|x-y|c-x-y||1.0|6|0|b a|r", "PREFERRED_VERSION:pn-c-x-y=1.0;PREFERRED_PROVIDER_b=b;"
     "PREFERRED_RPROVIDER_r=c-x-y;PREFERRED_VERSION_b-x=1:1.%",                BZ_PROVIDE_BUILD,   "b", "5/b_1.0+git.bb x-y:6/c_1.0.bb",                    true },
    {"5/b_1.10.bb||b||1.10|5|0|a b|a;5/c_1.10.bb||c||1.10|5|1||r;"
     "5/c_2.0.bb||c||2.0|5|0|b|s;6/b_2.0.bb||b||2.0|6|0|v|r;"
     "6/b_2.0~rc1.bb||b|1|2.0~rc1|6|1|b|",                                        "PREFERRED_RPROVIDER_r=b",                                                    BZ_PROVIDE_RUNTIME, "r", "6/b_2.0.bb 5/c_1.10.bb",
     true                                                                                                                                                                                                                                              },
    {"5/a_2.0.bb||a|1|2.0|5|0|v|a;6/b_1.1.bb||b|1|1.1|6|-1|v|s;"
     "6/c_2.0.bb||c||2.0|6|-1|a|;7/c_1.1.bb|x|c-x||1.1|7|0||a;"
     "7/c_2.0~rc1.bb|x-y|c-x-y||2.0~rc1|7|0|v|a",                                 "PREFERRED_RPROVIDER_s=c;REQUIRED_VERSION_b=1:2.0",                           BZ_PROVIDE_BUILD,   "b", "!none",
     false                                                                                                                                                                                                                                             },
    {"5/a_2.0~rc1.bb||a||2.0~rc1|5|1|v|a;5/b_1.0+git.bb||b||1.0+git|5|0|a|s;"
     "5/c_2.0.bb|x-y|c-x-y||2.0|5|1|b|s;7/c_2.0.bb|x-y|c-x-y|1|2.0|7|0|w|;"
     "7/c_2.0~rc1.bb||c||2.0~rc1|7|0|b|",                                         "PREFERRED_PROVIDER_a=b;PREFERRED_RPROVIDER_s=a;"
     "PREFERRED_RPROVIDER_a=c-x-y;PREFERRED_PROVIDER_b=a",                                                             BZ_PROVIDE_RUNTIME, "s", "5/b_1.0+git.bb x-y:5/c_2.0.bb",                    true },
    {"5/b_2.0~rc1.bb||b|1|2.0~rc1|5|0|v|r;7/a_1.10.bb|x-y|a-x-y||1.10|7|0|b|a",
     "PREFERRED_PROVIDER_b=a-x-y;PREFERRED_RPROVIDER_s=a-x-y",                                                                                                       BZ_PROVIDE_BUILD,   "b",
     "x-y:7/a_1.10.bb 5/b_2.0~rc1.bb",                                                                                                                                                                                                            true },
    {"5/c_1.0+git.bb||c||1.0+git|5|0||;5/c_2.0~rc1.bb||c||2.0~rc1|5|0|w a|;"
     "7/a_1.1.bb||a||1.1|7|1|a|r",                                                "REQUIRED_VERSION_c=1.%;PREFERRED_VERSION:pn-c=1.0;PREFERRED_PROVIDERS=w:c;"
     "PREFERRED_VERSION_a=1.1%",                                                                                              BZ_PROVIDE_BUILD,   "a", "7/a_1.1.bb",                                       true },
    {"5/b_1.0.bb|x-y|b-x-y||1.0|5|0|v|s;6/c_2.0~rc1.bb||c||2.0~rc1|6|0|v w|;"
     "7/c_2.0.bb||c||2.0|7|0||s",                                                 "REQUIRED_VERSION_c=1.0;PREFERRED_RPROVIDER_r=c;PREFERRED_VERSION_c=1:1.%",
     BZ_PROVIDE_BUILD,                                                                                                                                                                   "v", "!none",                                            false},
    {"5/c_1.0.bb|x-y|c-x-y||1.0|5|0|v|;7/b_1.10.bb||b||1.10|7|-1|v|a",
     "PREFERRED_VERSION:pn-c-x-y=1.0;PREFERRED_VERSION_b=1.%;"
     "PREFERRED_RPROVIDER_s=b;PREFERRED_PROVIDERS=v:c-x-y",                                                                                                          BZ_PROVIDE_BUILD,   "v", "x-y:5/c_1.0.bb 7/b_1.10.bb",                       true },
    {"6/b_2.0~rc1.bb||b||2.0~rc1|6|1|a|r;7/b_1.0+git.bb||b|1|1.0+git|7|0|a|a;"
     "7/b_1.1.bb|x-y|b-x-y||1.1|7|0|w|;"
     "7/c_2.0~rc1.bb|x-y|c-x-y|1|2.0~rc1|7|1|w|a",                                "REQUIRED_VERSION_b-x-y=9;PREFERRED_RPROVIDER_a=c-x-y",                       BZ_PROVIDE_BUILD,   "w",
     "!none",                                                                                                                                                                                                                                     false},
    {"5/c_1.0+git.bb|x|c-x||1.0+git|5|0|a|a;6/b_1.1.bb|x|b-x||1.1|6|1|a v|a;"
     "7/b_1.1.bb||b||1.1|7|-1|w|",                                                "PREFERRED_VERSION:pn-b-x=2.%;PREFERRED_PROVIDER_a=b-x;"
     "REQUIRED_VERSION_c-x=1.%;REQUIRED_VERSION_b=9",                                                                         BZ_PROVIDE_BUILD,   "a", "x:6/b_1.1.bb x:5/c_1.0+git.bb",                    true },
    {"5/a_2.0.bb||a||2.0|5|-1|w|a;5/c_2.0.bb|x-y|c-x-y||2.0|5|0|b|s;"
     "5/c_2.0.bb||c||2.0|5|-1|v|s;7/c_1.0+git.bb||c||1.0+git|7|1|w v|a;"
     "7/c_1.1.bb||c||1.1|7|-1|v b|",                                              "PREFERRED_VERSION_a=1.1%;REQUIRED_VERSION_a=1.%;PREFERRED_PROVIDER_w=c-x-y",
     BZ_PROVIDE_RUNTIME,                                                                                                                                                                 "s", "x-y:5/c_2.0.bb 5/c_2.0.bb",                        true },
    {"6/b_1.1.bb|x-y|b-x-y|1|1.1|6|0|w b|a;6/c_2.0.bb||c||2.0|6|1|a|a;"
     "7/c_1.0+git.bb|x|c-x|1|1.0+git|7|-1|a|;7/c_2.0~rc1.bb||c||2.0~rc1|7|-1||a", "PREFERRED_VERSION_c=1.1%;REQUIRED_VERSION_c-x=1.%;"
     "PREFERRED_VERSION_b-x-y=2.0",                                            BZ_PROVIDE_BUILD,   "a", "x:7/c_1.0+git.bb 6/c_2.0.bb",                      false},
    {"5/a_1.0+git.bb|x-y|a-x-y|1|1.0+git|5|0|w b|a;"
     "5/b_1.0+git.bb||b||1.0+git|5|0|a|s;7/b_1.1.bb||b||1.1|7|0|a b|r;"
     "7/c_1.0.bb|x|c-x||1.0|7|-1|a|",                                             "REQUIRED_VERSION_b=9;PREFERRED_VERSION_a-x-y=1.1%;"
     "PREFERRED_RPROVIDER_a=a-x-y",                                                                                        BZ_PROVIDE_BUILD,   "a", "!none",                                            false},
    {"5/a_2.0.bb|x-y|a-x-y|1|2.0|5|0|b|a;"
     "5/a_2.0~rc1.bb|x-y|a-x-y||2.0~rc1|5|-1||s;"
     "5/b_1.10.bb|x|b-x|1|1.10|5|0|b v|s;5/c_2.0.bb|x-y|c-x-y|1|2.0|5|0|a w|a;"
     "5/c_2.0~rc1.bb||c||2.0~rc1|5|1||s;7/a_1.1.bb||a||1.1|7|0|a|",               "PREFERRED_VERSION_b-x=2.0;PREFERRED_RPROVIDER_a=c-x-y;"
     "PREFERRED_PROVIDERS=w:c-x-y;PREFERRED_PROVIDER_a=a",                                   BZ_PROVIDE_RUNTIME, "a", "x-y:5/c_2.0.bb 7/a_1.1.bb x-y:5/a_2.0.bb",         true },
    {"5/a_1.0.bb|x|a-x|1|1.0|5|0|a|a;5/a_2.0.bb||a||2.0|5|0|b|r;"
     "5/b_1.10.bb|x|b-x|1|1.10|5|0|a w|;6/a_1.0.bb||a||1.0|6|0|b a|a;"
     "7/b_1.0+git.bb||b||1.0+git|7|-1|b|s",                                       "PREFERRED_PROVIDERS=w:a;REQUIRED_VERSION_b-x=1.%;"
     "PREFERRED_VERSION_b-x=2.0;PREFERRED_VERSION_a=2.0",                                                            BZ_PROVIDE_BUILD,   "a", "5/a_2.0.bb x:5/b_1.10.bb x:5/a_1.0.bb",            false},
    {"5/b_1.0+git.bb|x-y|b-x-y||1.0+git|5|1|a|;5/c_1.1.bb|x|c-x|1|1.1|5|0|w a|r;"
     "5/c_2.0.bb||c||2.0|5|-1|v w|;6/b_1.0.bb||b||1.0|6|0|w|r;"
     "6/c_1.0.bb|x-y|c-x-y||1.0|6|0|a|s",                                         "PREFERRED_PROVIDERS=w:c;PREFERRED_RPROVIDER_a=c",                            BZ_PROVIDE_BUILD,   "w",
     "5/c_2.0.bb 6/b_1.0.bb x:5/c_1.1.bb",                                                                                                                                                                                                        true },
    {"5/c_2.0~rc1.bb|x|c-x||2.0~rc1|5|0|v|;"
     "6/b_1.10.bb|x-y|b-x-y||1.10|6|0|v w|a;6/c_1.0.bb|x-y|c-x-y||1.0|6|0|w|;"
     "7/a_2.0~rc1.bb||a|1|2.0~rc1|7|-1|v a|a;7/b_1.10.bb||b||1.10|7|-1|w|r",      "PREFERRED_VERSION_b-x-y=1.1%;PREFERRED_VERSION_c-x=2.0;"
     "PREFERRED_PROVIDER_v=b",                                                      BZ_PROVIDE_BUILD,   "w", "x-y:6/b_1.10.bb 7/b_1.10.bb x-y:6/c_1.0.bb",       false},
    {"5/a_1.1.bb|x|a-x||1.1|5|-1|v|a;5/b_2.0.bb||b||2.0|5|0||a;"
     "5/c_1.0+git.bb||c||1.0+git|5|0|b v|;5/c_2.0~rc1.bb||c||2.0~rc1|5|0|a w|s;"
     "6/a_1.1.bb|x|a-x||1.1|6|-1|w|r;6/c_1.1.bb||c||1.1|6|0|w v|",                "PREFERRED_PROVIDER_w=b;PREFERRED_RPROVIDER_a=a-x;"
     "PREFERRED_RPROVIDER_r=a-x;PREFERRED_VERSION_c=9",                                       BZ_PROVIDE_RUNTIME, "a", "x:5/a_1.1.bb 5/b_2.0.bb",                          true },
    {"5/a_1.0+git.bb|x|a-x|1|1.0+git|5|0|a|;5/a_1.0+git.bb||a|1|1.0+git|5|0|b|;"
     "5/a_1.0.bb||a||1.0|5|0|v|r;5/c_1.10.bb|x|c-x|1|1.10|5|1|v|",                "PREFERRED_PROVIDERS=w:c-x;REQUIRED_VERSION_a=1.0;PREFERRED_PROVIDER_a=a-x",
     BZ_PROVIDE_RUNTIME,                                                                                                                                                                 "a", "5/a_1.0.bb",                                       true },
    {"5/b_2.0.bb||b||2.0|5|0|b|;6/b_1.0.bb||b||1.0|6|1|v b|s;"
     "7/b_1.0+git.bb||b||1.0+git|7|0|a|;7/b_1.1.bb||b|1|1.1|7|0|a|r",             "PREFERRED_VERSION_b=2.0;PREFERRED_RPROVIDER_a=b",                            BZ_PROVIDE_BUILD,   "b",
     "5/b_2.0.bb",                                                                                                                                                                                                                                true },
    {"5/a_1.0+git.bb||a|1|1.0+git|5|-1||;5/a_1.1.bb||a||1.1|5|0|w|s;"
     "5/a_1.10.bb|x-y|a-x-y||1.10|5|0|b|r;5/b_2.0~rc1.bb||b||2.0~rc1|5|0|a w|a;"
     "7/b_1.1.bb|x|b-x||1.1|7|0|a b|;7/c_1.0+git.bb|x|c-x||1.0+git|7|1|v|r",      "PREFERRED_VERSION_a=1:1.%;PREFERRED_VERSION_a-x-y=1.1%",                     BZ_PROVIDE_RUNTIME, "a",
     "5/a_1.0+git.bb 5/b_2.0~rc1.bb",                                                                                                                                                                                                             false},
    {"5/a_2.0.bb||a||2.0|5|-1|w|a;5/c_1.0.bb||c||1.0|5|0|w a|a;"
     "6/a_2.0~rc1.bb||a||2.0~rc1|6|0|v|;7/a_1.0+git.bb||a||1.0+git|7|1|v b|s;"
     "7/b_1.0+git.bb|x-y|b-x-y|1|1.0+git|7|0||r;7/b_1.1.bb|x|b-x||1.1|7|1|a|a",   "REQUIRED_VERSION_b-x=1:2.0;PREFERRED_PROVIDERS=w:b-x-y;"
     "PREFERRED_VERSION_b-x=1:1.%;PREFERRED_RPROVIDER_s=b-x",                    BZ_PROVIDE_RUNTIME, "a", "!none",                                            false},
};

#endif
