"""Proves that the lints find what they are there to find, and nothing else.

Every case writes a small tree, with one thing wrong or none, compiles it with the
system's compiler and runs a lint on it.
"""

import contextlib
import importlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent

GUARDED = "#ifndef {0}\n#define {0}\n{1}\n#endif\n"

ERR_H = GUARDED.format("BZ_BASE_ERR_H", """
#define BZ_MUST_CHECK __attribute__((warn_unused_result))
struct bz_err { int code; };
int bz_err_set(struct bz_err *err, int code);
""")
JSON_H = GUARDED.format("BZ_CODEC_JSON_H", """
#include "base/err.h"
/* int bz_json_old(struct bz_err *err); */
#define BZ_JSON_TRY(err) bz_json_get(err); bz_json_get( \\
    err)
typedef int (*bz_json_fn)(void *ctx, struct bz_err *err);
struct bz_json { int (*get)(struct bz_err *err); };
int bz_json_get(struct bz_err *err) BZ_MUST_CHECK;
void bz_json_show(const struct bz_err *err);
int bz_json_code(const struct bz_err *err);
static inline BZ_MUST_CHECK int bz_json_again(struct bz_err *err)
{
    return bz_json_get(err);
}
""")
JSON_C = """#include <stdio.h>
#include "codec/json.h"
extern void *cJSON_Parse(const char *s);
static const char *const names[] = {"a", "b"};
static const int numbers[] = {1, 2, 3};
int bz_json_get(struct bz_err *err)
{
    static const char *const texts[] = {"c", "d"};
    fprintf(stderr, "%s%s", names[err->code], texts[err->code]);
    return cJSON_Parse(names[0]) ? bz_json_again(err) : numbers[err->code];
}
void bz_json_show(const struct bz_err *err)
{
    (void)err;
}
int bz_json_code(const struct bz_err *err)
{
    return err->code;
}
"""
LOG_C = """extern int bz_log_level;
int bz_log_level;
"""
MAIN_C = """#include <stdio.h>
#include <stdlib.h>
#include "base/err.h"
#include "opt.h"
int main(void)
{
    puts("only cmd prints and exits");
    exit(BZ_OPT_COUNT);
}
"""
CLEAN = {
    "lib/base/CMakeLists.txt": "bz_module(base)\n",
    "lib/codec/CMakeLists.txt": "bz_module(codec)\n",
    "lib/base/err.h": ERR_H,
    "lib/base/err.c": '#include "base/err.h"\n'
                      "int bz_err_set(struct bz_err *err, int code)\n"
                      "{\n    return err->code = code;\n}\n",
    "lib/base/log.c": LOG_C,
    "lib/codec/json.h": JSON_H,
    "lib/codec/json.c": JSON_C,
    "cmd/bitzel/main.c": MAIN_C,
    "cmd/bitzel/opt.h": GUARDED.format("BZ_CMD_OPT_H", "#define BZ_OPT_COUNT 0"),
    "CONTRIBUTING.md": "| module |\n|---|\n| `base` |\n| `codec` |\n| `cmd` |\n",
    "modules.txt": "base:\ncodec: base\nnet: base codec\ncmd: base codec\n",
}
LAYERS = "base lib/base \ncodec lib/codec base\ncmd cmd/bitzel base codec\n"

PLAIN = ()
INSTRUMENTED = {
    "address": ("-fsanitize=address,undefined", "-g"),
    "thread": ("-fsanitize=thread", "-g"),
    "coverage": ("--coverage",),
    "optimised": ("-O2", "-D_FORTIFY_SOURCE=2"),
}


class LintTest(unittest.TestCase):
    made = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lint test ")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve() / "tree"
        self.out = self.root.parent / "out"

    def write(self, changes, layers=LAYERS):
        """The clean tree with some files changed; None leaves a file out."""
        for name, text in {**CLEAN, **changes}.items():
            if text is not None:
                path = self.root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        self.out.mkdir()
        (self.out / "layers.txt").write_text(layers)

    def compile(self, compiler="cc", flags=PLAIN):
        """An archive for each module in lib and cache, objects for cmd, and their list."""
        lines = []
        groups = {}
        for path in sorted(self.root.glob("**/*.c")):
            parts = path.relative_to(self.root).parts
            module = parts[1] if parts[0] == "lib" else parts[0]
            made = self.out / module / f"{path.name}.o"
            made.parent.mkdir(exist_ok=True)
            # Most cases change one file: an object is made once. No case changes a header
            # that a source includes.
            key = (compiler, flags, path.relative_to(self.root), path.read_text())
            if key not in LintTest.made:
                subprocess.run([compiler, *flags, "-std=gnu11", "-w", "-fPIC", "-c", path,
                                "-o", made, "-I", self.root / "lib",
                                "-I", self.root / "cmd/bitzel"], check=True, cwd=self.out)
                LintTest.made[key] = made.read_bytes()
            made.write_bytes(LintTest.made[key])
            groups.setdefault(module, []).append(made)
        for module, made in groups.items():
            if module == "cmd":
                lines += [f"cmd {path}" for path in made]
                continue
            archive = self.out / f"libbz_{module}.a"
            subprocess.run(["ar", "qc", archive, *made], check=True)
            lines.append(f"{module} {archive}")
        (self.out / "objects.txt").write_text("\n".join(lines) + "\n")

    def lint(self, name, *arguments):
        """The exit code of a lint and what it printed."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            with self.assertRaises(SystemExit) as ended:
                importlib.import_module(name).main(self.root, *arguments)
        return ended.exception.code, output.getvalue()

    def assert_clean(self, name, *arguments):
        self.assertEqual(self.lint(name, *arguments), (0, ""))

    def assert_found(self, text, name, *arguments):
        """One finding and no more."""
        status, output = self.lint(name, *arguments)
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)
        self.assertEqual(len(output.splitlines()), 1, output)


class Layers(LintTest):
    def layers(self):
        return ("layers", self.out / "layers.txt", self.root / "modules.txt")

    def test_a_tree_that_keeps_the_rules_passes(self):
        self.write({})
        self.assert_clean(*self.layers())

    def test_an_include_of_a_module_above_is_found(self):
        self.write({"lib/base/up.c": '\n#include "codec/json.h"\n'})
        self.assert_found("lib/base/up.c:2: base may not use codec", *self.layers())

    def test_an_include_that_deps_does_not_name_is_found(self):
        self.write({}, layers="base lib/base \ncodec lib/codec\ncmd cmd/bitzel base codec\n")
        self.assert_found("lib/codec/json.h:4: codec may not use base", *self.layers())

    def test_an_include_in_a_comment_is_none(self):
        self.write({"lib/base/up.c": '/*\n#include "codec/json.h"\n*/\n'})
        self.assert_clean(*self.layers())

    def test_an_include_of_a_bare_or_relative_file_is_found(self):
        for name in ("err.h", "../codec/json.h", "nosuch/err.h"):
            with self.subTest(name):
                self.setUp()
                self.write({"lib/base/up.c": f'#include "{name}"\n'})
                self.assert_found(f'lib/base/up.c:1: "{name}" names no module', *self.layers())

    def test_an_include_of_ours_in_angle_brackets_is_found(self):
        self.write({"lib/base/up.c": "#include <codec/json.h>\n#include <sys/stat.h>\n"})
        self.assert_found('lib/base/up.c:1: include "codec/json.h" with quotes', *self.layers())

    def test_deps_cannot_grow_beyond_the_table(self):
        self.write({"modules.txt": "base:\ncodec:\ncmd: base codec\n"})
        self.assert_found("lib/codec/CMakeLists.txt:1: codec may not use base", *self.layers())

    def test_deps_may_not_name_what_comes_later_or_not_at_all(self):
        for layers, dep in (("base lib/base codec\ncodec lib/codec base\n", "codec"),
                            ("base lib/base nosuch\ncodec lib/codec base\n", "nosuch")):
            with self.subTest(dep):
                self.setUp()
                self.write({}, layers=layers + "cmd cmd/bitzel base\n")
                self.assert_found(f"lib/base/CMakeLists.txt:1: base names {dep} in DEPS",
                                  *self.layers())

    def test_the_table_itself_points_upwards_only(self):
        self.write({"modules.txt": "base: codec\ncodec: base\ncmd: base codec\n"})
        self.assert_found("modules.txt:1: base may use codec, which is not above it",
                          *self.layers())

    def test_a_module_that_the_table_lacks_is_found(self):
        self.write({"modules.txt": "base:\ncmd: base codec\n"},
                   layers="base lib/base\ncodec lib/codec\ncmd cmd/bitzel base codec\n")
        status, output = self.lint(*self.layers())
        self.assertEqual(status, 1)
        self.assertIn("module codec is not in tests/lint/modules.txt", output)

    def test_a_folder_without_a_module_is_found(self):
        self.write({"lib/stray/x.c": "int x;\n"})
        self.assert_found("lib/stray/x.c:1: stray has no bz_module()", *self.layers())

    def test_a_module_in_a_folder_of_another_name_is_found(self):
        self.write({}, layers=LAYERS.replace("lib/codec", "lib/code"))
        self.assert_found("module codec lives in lib/code", *self.layers())

    def test_the_guide_names_every_module_and_no_other(self):
        for rows, text in ((("base", "cmd"), "lacks codec"),
                           (("base", "cmd", "codec", "net"), "names net")):
            with self.subTest(text):
                self.setUp()
                self.write({"CONTRIBUTING.md": "".join(f"| `{row}` | owns |\n" for row in rows)})
                self.assert_found(f"CONTRIBUTING.md:1: the table of modules {text}",
                                  *self.layers())


class Names(LintTest):
    def names(self):
        self.compile()
        return ("names", self.out / "objects.txt")

    def test_a_tree_that_keeps_the_rules_passes(self):
        self.write({"lib/jobs/abi.c": "int bitzel_open(void)\n{\n    return 0;\n}\n",
                    "lib/include/bitzel/json.h": GUARDED.format("BITZEL_JSON_H", "")})
        self.assert_clean(*self.names())

    def test_a_global_that_does_not_name_its_file_is_found(self):
        for name in ("helper", "bz_other_get", "bz_jsonget", "bitzel_get"):
            with self.subTest(name):
                self.setUp()
                self.write({"lib/codec/json.c": JSON_C + f"int {name}(void)\n{{\n    return 0;\n}}\n"})
                self.assert_found(f"lib/codec/json.c:20: {name} is global", *self.names())

    def test_a_global_variable_counts_as_well(self):
        self.write({"lib/codec/json.c": JSON_C + "const int table[2] = {1, 2};\n"})
        self.assert_found("lib/codec/json.c:20: table is global", *self.names())

    def test_a_name_belongs_to_the_file_with_the_longest_match(self):
        self.write({"lib/codec/json_text.c": "int bz_json_text_get(void)\n{\n    return 0;\n}\n",
                    "lib/codec/json.c": JSON_C + "int bz_json_text_put(void)\n{\n    return 0;\n}\n"})
        self.assert_found("lib/codec/json.c:20: bz_json_text_put is global", *self.names())

    def test_two_files_of_one_name_are_found(self):
        self.write({"lib/codec/err.h": GUARDED.format("BZ_CODEC_ERR_H", "")})
        self.assert_found("lib/codec/err.h:1: lib/base/err.c has this name already",
                          *self.names())

    def test_a_name_in_cache_and_lib_is_found(self):
        self.write({"cache/err.h": GUARDED.format("BZ_CACHE_ERR_H", "")})
        self.assert_found("lib/base/err.c has this name already", *self.names())

    def test_a_vague_name_is_found(self):
        self.write({"lib/base/util.h": GUARDED.format("BZ_BASE_UTIL_H", "")})
        self.assert_found("lib/base/util.h:1: 'util' says nothing", *self.names())

    def test_a_header_without_its_guard_is_found(self):
        cases = {
            "none": "int x;\n",
            "of another file": GUARDED.format("BZ_BASE_ERROR_H", ""),
            "after something": "int x;\n" + GUARDED.format("BZ_BASE_STR_H", ""),
            "before something": GUARDED.format("BZ_BASE_STR_H", "") + "int x;\n",
        }
        for name, text in cases.items():
            with self.subTest(name):
                self.setUp()
                self.write({"lib/base/str.h": text})
                self.assert_found("lib/base/str.h:1: guard the whole header with BZ_BASE_STR_H",
                                  *self.names())

    def test_a_source_that_nothing_compiles_is_found(self):
        self.write({})
        arguments = self.names()
        (self.root / "lib/base/dead.c").write_text("\n")
        self.assert_found("lib/base/dead.c:1: is compiled into nothing", *arguments)

    def test_without_objects_it_says_that_they_are_missing(self):
        self.write({})
        (self.out / "objects.txt").write_text("base nosuch.a\n")
        self.assertIn("are they built?", self.lint("names", self.out / "objects.txt")[0])


class Symbols(LintTest):
    def symbols(self, *compiler):
        self.compile(*compiler)
        return ("symbols", self.out / "objects.txt")

    # In line 3, what a file does; what is said about it.
    VIOLATIONS = {
        "thread": ("void f(void *p) { pthread_create(p, 0, p, 0); }",
                   "uses pthread_create: threads start in pool/worker.c"),
        "fork": ("int f(void) { return fork(); }", "uses fork: processes start in"),
        "spawn": ("int f(void *p) { return posix_spawnp(p, p, p, p, p, p); }",
                  "uses posix_spawnp: processes start in"),
        "exec": ("int f(void *p) { return execve(p, p, p); }", "uses execve: processes start in"),
        "shell": ("int f(void *p) { return system(p); }", "uses system: processes start in"),
        "exit": ("void f(void) { exit(1); }", "uses exit: return an error"),
        "_exit": ("void f(void) { _exit(1); }", "uses _exit: return an error"),
        "stdout": ("int f(void) { return fputc('a', stdout); }", "uses stdout: only cmd prints"),
        "puts": ("void f(void) { puts(\"a\"); }", "uses puts: only cmd prints"),
        "libcrypto": ("int f(void) { return EVP_DigestInit(); }",
                      "uses EVP_DigestInit: libcrypto is called by codec/digest.c,"),
        "libcrypto's old face": ("int f(void) { return SHA256(); }", "uses SHA256: libcrypto"),
        "cJSON": ("int f(void) { return cJSON_Parse(); }",
                  "uses cJSON_Parse: cJSON is called by codec/json.c alone"),
        "libyaml": ("int f(void) { return yaml_parser_new(); }", "uses yaml_parser_new: libyaml"),
        "PCRE2": ("int f(void) { return pcre2_match_8(); }", "uses pcre2_match_8: PCRE2"),
        "protobuf-c": ("int f(void) { return protobuf_c_message_unpack(); }",
                       "uses protobuf_c_message_unpack: protobuf-c"),
        "libcurl": ("int f(void) { return curl_easy_init(); }", "uses curl_easy_init: libcurl"),
        "libarchive": ("int f(void) { return archive_read_new(); }",
                       "uses archive_read_new: libarchive"),
        "SQLite": ("int f(void) { return sqlite3_open(); }", "uses sqlite3_open: SQLite"),
        "zeroed global": ("static int hits; int f(void) { return hits++; }",
                          "hits is a mutable global"),
        "set global": ("int hits = 3;", "hits is a mutable global"),
        "global pointer": ("const char *name = \"x\";", "name is a mutable global"),
        "static local": ("int f(void) { static int hits; return hits++; }",
                         "hits is a mutable global"),
        "thread-local": ("static _Thread_local int hits; int *f(void) { return &hits; }",
                         "hits is a mutable global"),
    }

    @staticmethod
    def text(name):
        return ("#include <unistd.h>\n#include <stdio.h>\n" +
                Symbols.VIOLATIONS[name][0] + "\n")

    def test_a_tree_that_keeps_the_rules_passes(self):
        self.write({})
        self.assert_clean(*self.symbols())

    def test_what_has_its_one_place_is_found_elsewhere(self):
        files = {name: f"lib/base/case_{i}.c" for i, name in enumerate(self.VIOLATIONS)}
        self.write({path: self.text(name) for name, path in files.items()})
        status, output = self.lint(*self.symbols())
        self.assertEqual(status, 1)
        for name, path in files.items():
            with self.subTest(name):
                found = [line for line in output.splitlines() if line.startswith(path)]
                self.assertEqual(len(found), 1, output)
                self.assertTrue(found[0].startswith(f"{path}:3: {self.VIOLATIONS[name][1]}"), found)
        self.assertEqual(len(output.splitlines()), len(files), output)

    def test_what_has_its_one_place_is_allowed_there(self):
        places = {
            "thread": "pool/worker", "fork": "os/proc", "spawn": "sandbox/spawn",
            "_exit": "x/proc", "libcrypto": "codec/digest", "cJSON": "x/json",
            "libyaml": "codec/yaml", "PCRE2": "codec/regex",
            "protobuf-c": "codec/reapi", "libcurl": "net/http",
            "libarchive": "codec/archive", "SQLite": "x/index", "zeroed global": "x/log",
        }
        self.write({f"lib/{place}.c": self.text(name) for name, place in places.items()})
        self.assert_clean(*self.symbols())

    def test_cmd_may_print_and_exit_but_not_call_a_confined_library(self):
        self.write({"cmd/bitzel/main.c": MAIN_C.replace("BZ_OPT_COUNT", "cJSON_Parse()")})
        self.assert_found("cmd/bitzel/main.c:8: uses cJSON_Parse", *self.symbols())

    def test_instrumented_objects_say_the_same(self):
        for compiler in ("gcc", "clang"):
            for name, flags in INSTRUMENTED.items():
                with self.subTest(compiler=compiler, flags=flags):
                    if not shutil.which(compiler):
                        self.skipTest(f"{compiler} is not installed")
                    self.setUp()
                    self.write({})
                    self.assert_clean(*self.symbols(compiler, flags))
                    self.assert_clean("names", self.out / "objects.txt")
                    (self.root / "lib/base/err.c").write_text(
                        "#include <stdio.h>\nvolatile int bz_err_hits = 1;\n"
                        'int bz_err_a(int n)\n{ return printf("%d", n + bz_err_hits); }\n')
                    status, output = self.lint(*self.symbols_again(compiler, flags))
                    self.assertEqual(status, 1)
                    self.assertEqual(len(output.splitlines()), 2, output)
                    self.assertIn("lib/base/err.c:2: bz_err_hits is a mutable global", output)
                    self.assertRegex(output, r"lib/base/err.c:\d: uses (__)?printf(_chk)?: ")

    def symbols_again(self, *compiler):
        shutil.rmtree(self.out)
        self.out.mkdir()
        return self.symbols(*compiler)


class MustCheck(LintTest):
    def test_a_tree_that_keeps_the_rules_passes(self):
        self.write({})
        self.assert_clean("mustcheck")

    def test_a_fallible_function_without_it_is_found(self):
        cases = {
            "plain": "int bz_str_a(struct bz_err *err);",
            "several lines": "int bz_str_a(const char *name,\n    struct bz_err *err);",
            "other attributes": "int bz_str_a(struct bz_err *err, int n, ...) BZ_PRINTF(2, 3);",
            "a pointer": "struct bz_str *bz_str_a(struct bz_err *err);",
            "inline": "static inline int bz_str_a(struct bz_err *err)\n{\n    return 0;\n}",
            "a callback before it": "int bz_str_a(int (*fn)(void *), struct bz_err *err);",
            "after one that has it": "int bz_str_b(struct bz_err *err) BZ_MUST_CHECK; "
                                     "int bz_str_a(struct bz_err *err);",
        }
        for name, text in cases.items():
            with self.subTest(name):
                self.setUp()
                self.write({"lib/base/str.h": GUARDED.format("BZ_BASE_STR_H", text)})
                self.assert_found("lib/base/str.h:3: bz_str_a can fail: declare it BZ_MUST_CHECK",
                                  "mustcheck")


class Limits(LintTest):
    def test_a_tree_that_keeps_the_rules_passes(self):
        self.write({"lib/base/str.c": "\n" * 1500, "tests/data/x.c": "\t \n\tint x;",
                    "lib/base/tmp.c": 'static const char name[] = "x-XXXXXX";\n'})
        self.assert_clean("limits")

    def test_what_is_wrong_with_a_file_is_found(self):
        cases = {
            "long": ("lib/base/str.c", "\n" * 1501, "lib/base/str.c:1501: is longer"),
            "tab": ("lib/base/str.c", "\n\tint x;\n", "lib/base/str.c:2: has a tab"),
            "blanks": ("doc/a.md", "a  \nb\n", "doc/a.md:1: ends in blanks"),
            "carriage return": ("a.py", "a\r\nb\n", "a.py:1: ends in blanks"),
            "in a script": ("cmd/run", "#!/bin/sh\n\ttrue\n", "cmd/run:2: has a tab"),
            "no newline": ("CMakeLists.txt", "project(x)", "CMakeLists.txt:1: does not end"),
            "a note": ("recipes/a.bb", "A = '1'\n# FIXME\n", "recipes/a.bb:2: says FIXME"),
        }
        for name, (path, text, said) in cases.items():
            with self.subTest(name):
                self.setUp()
                self.write({path: text})
                self.assert_found(said, "limits")


class Features(LintTest):
    TREE = {
        "tests/unit/base/test_err.c": "static void it_fails(void **state)\n{\n}\n",
        "tests/e2e/test_x.py": "class X(Case):\n    def test_it(self):\n        pass\n",
    }
    ROW = "| A{} | a \\| b | {} | {} |\n"

    def table(self, *rows):
        head = "# Title\n\n| id | feature | supported | test |\n|---|---|---|---|\n"
        self.write({**self.TREE, "lib/base/FEATURES.md": head + "".join(
            self.ROW.format(number, *row) for number, row in enumerate(rows))})

    def test_a_table_with_tests_that_exist_passes(self):
        self.table(("yes", "unit/base/err: it_fails, e2e/x: test_it"), ("not yet", "-"),
                   ("needs Python", "-"))
        self.assert_clean("features")

    def test_what_is_wrong_with_a_row_is_found(self):
        for row, text in ((("yes", "unit/base/err: it_works"), "there is no test"),
                          (("yes", "unit/base/nosuch: it_fails"), "there is no test"),
                          (("yes", "e2e/x: test"), "there is no test"),
                          (("yes", "-"), "is supported without a test"),
                          (("perhaps", "-"), "'perhaps' is no state"),
                          (("yes", "some words"), "'some words' names no test")):
            with self.subTest(row):
                self.setUp()
                self.table(row)
                self.assert_found(f"lib/base/FEATURES.md:5: {text}", "features")

    def test_a_row_that_comes_twice_and_a_table_without_rows_are_found(self):
        row = self.ROW.format(1, "not yet", "-")
        self.write({"lib/base/FEATURES.md": row + row})
        self.assert_found("lib/base/FEATURES.md:2: has A1 a second time", "features")
        self.setUp()
        self.write({"lib/base/FEATURES.md": "# Title\n"})
        self.assert_found("lib/base/FEATURES.md:1: has no rows", "features")


class Format(LintTest):
    def setUp(self):
        super().setUp()
        self.write({})
        for path in self.root.glob("**/*.[ch]"):
            path.unlink()
        (self.root / ".clang-format").write_text("BasedOnStyle: LLVM\n")
        (self.root / "lib/base/a.c").write_text("int a;\n")

    def format(self, **env):
        done = subprocess.run([sys.executable, "-B", HERE / "format.py", self.root],
                              capture_output=True, text=True, env={**os.environ, **env})
        return done.returncode, done.stdout

    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_layout_is_checked(self):
        self.assertEqual(self.format(), (0, ""))
        (self.root / "lib/base/a.c").write_text("int   a;\n")
        status, output = self.format()
        self.assertEqual(status, 1)
        self.assertIn("lib/base/a.c:1:", output)

    def test_without_clang_format_it_skips_loudly_or_fails(self):
        status, output = self.format(PATH=str(self.out), BITZEL_MUST_WORK="")
        self.assertEqual(status, 77)
        self.assertIn("SKIPPED", output)
        self.assertEqual(self.format(PATH=str(self.out), BITZEL_MUST_WORK="1")[0], 1)


if __name__ == "__main__":
    unittest.main()
