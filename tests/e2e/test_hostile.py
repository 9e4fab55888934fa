"""Metadata that nobody should have written: an error each, soon, with its place."""

import os
import resource

import bitzel
import demo

MEMORY = 1 << 30  # bytes of address space; enough, and far less than some inputs ask for
SANITIZED = "asan" in bitzel.PROGRAM or "tsan" in bitzel.PROGRAM


class Hostile(demo.Project):
    def read(self, recipe=None, include=None, name="x.inc"):
        """Asks for a variable of a recipe that requires x.inc."""
        if recipe is None:
            recipe = f"require {name}\n"
        self.put("meta-one/recipes/hello_1.2.bb", recipe)
        if include is not None:
            self.put("meta-one/recipes/" + name, include)
        bound = {} if SANITIZED else {"preexec_fn": limit_memory}
        return self.run_bitzel("--directory", self.dir / "build", "getvar", "-r", "hello",
                               "PN", **bound)

    def put(self, name, content):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def assert_wrong(self, result, *texts):
        self.assert_exit(result, 2)
        self.assertEqual(result.out, "")
        for text in texts:
            self.assertIn(text, result.err)
        self.assertLess(len(result.err), 20000)

    def test_bytes_that_are_no_text(self):
        for content, column, message in ((b'A = "1"\nB = "\xff"\n', 6, "byte 0xff is not UTF-8"),
                                         (b'A = "1"\nB = "\0"\n', 6, "NUL byte")):
            with self.subTest(message=message):
                self.assert_wrong(self.read(include=content),
                                  f"recipes/x.inc:2:{column}: error: {message}\n", 'B = "\n',
                                  "hello_1.2.bb:1:1: note: includes ")

    def test_a_line_of_a_hundred_megabytes(self):
        path = self.dir / "meta-one/recipes/x.inc"
        path.write_bytes(b'A = "')
        os.truncate(path, 100 << 20)  # the rest are NUL bytes, which take no room
        self.assert_wrong(self.read(), "x.inc: more than 16777216 bytes")

    def test_a_long_line_is_shown_in_part(self):
        self.assert_wrong(self.read(include='A = "' + "x" * 10_000_000 + '" y\n'),
                          "recipes/x.inc:1:", "^ expected ")

    def test_files_that_include_themselves(self):
        self.assert_wrong(self.read(include="require x.inc\n"), "x.inc includes itself")
        self.put("meta-one/recipes/y.inc", "require x.inc\n")
        self.assert_wrong(self.read(include="require y.inc\n"), "includes itself",
                          "recipes/y.inc:1:1: note: includes ")

    def test_ten_thousand_files_within_each_other(self):
        for i in range(10_000):
            self.put(f"meta-one/recipes/{i}.inc", f"require {i + 1}.inc\n")
        self.assert_wrong(self.read("require 0.inc\n"), "files are nested more than 100 deep",
                          "more files around these")

    def test_ten_thousand_references_within_each_other(self):
        deep = "${A" * 10_000 + "}" * 10_000
        self.assert_exit(self.read(f'X := "{deep}"\n'), 0)  # none of them is set
        chain = "".join(f'V{i} = "${{V{i + 1}}}"\n' for i in range(10_000))
        result = self.read(chain + 'V10000 = "end"\nPN := "${V0}"\n')
        self.assert_wrong(result, "hello_1.2.bb:10002:8: error: ")

    def test_ten_thousand_brackets_in_an_expression(self):
        for opening, closing in ("()", "[]", "{}"):
            with self.subTest(opening=opening):
                code = opening * 10_000 + closing * 10_000
                self.assert_wrong(self.read('PN := "${@' + code + '}"\n'),
                                  "hello_1.2.bb:1:8: error: ")

    def test_what_is_no_file(self):
        path = self.dir / "meta-one/recipes/x.inc"
        path.mkdir()
        self.assert_wrong(self.read(), "hello_1.2.bb:1:", "it is a directory")
        path.rmdir()
        os.mkfifo(path)
        self.assert_wrong(self.read(), "hello_1.2.bb:1:", "it is a fifo")
        path.unlink()
        path.symlink_to("/dev/zero")
        self.assert_wrong(self.read(), "hello_1.2.bb:1:", "it is a device")
        path.unlink()
        path.symlink_to("x.inc")
        self.assert_wrong(self.read(), "Could not include required file x.inc")

    def test_a_recipe_or_a_configuration_that_is_no_file(self):
        recipe = self.dir / "meta-one/recipes/hello_1.2.bb"
        recipe.unlink()
        os.mkfifo(recipe)
        ask = ("--directory", self.dir / "build", "getvar")
        self.assert_wrong(self.run_bitzel(*ask, "-r", "hello", "PN"), "it is a fifo")
        conf = self.dir / "build/conf/local.conf"
        conf.unlink()
        os.mkfifo(conf)
        self.assert_wrong(self.run_bitzel(*ask, "MACHINE"), "it is a fifo",
                          "bitbake.conf:6:")

    def test_a_file_that_may_not_be_read(self):
        self.put("meta-one/recipes/hello_1.2.bb", "require x.inc\n")
        self.put("meta-one/recipes/x.inc", "")
        (self.dir / "meta-one/recipes/x.inc").chmod(0)
        self.dir.chmod(0o755)
        result = self.run_bitzel("--directory", self.dir / "build", "getvar", "-r", "hello",
                                 "PN", program=self.program_for_all(), preexec_fn=be_nobody)
        self.assert_wrong(result, "hello_1.2.bb:1:", "Permission denied")

    def test_empty_files_say_nothing(self):
        result = self.read(include="")
        self.assert_exit(result, 0)
        self.assertEqual(result.out, 'PN="hello"\n')
        self.assertEqual(self.read(recipe="").out, 'PN="hello"\n')

    def test_a_class_within_an_include_names_the_way(self):
        self.put("meta-one/classes/broken.bbclass", 'A = "1"\nB := "${@1/0}"\n')
        self.assert_wrong(self.read(include="\ninherit broken\n"),
                          "classes/broken.bbclass:2:7: error: ", "ZeroDivisionError",
                          '  B := "${@1/0}"\n        ^\n', "recipes/x.inc:2:1: note: inherits ",
                          "hello_1.2.bb:1:1: note: includes ")

    def test_names_that_steer_a_terminal_are_shown_plainly(self):
        result = self.read("require \x1b[31mred.inc\n")
        self.assert_wrong(result, "hello_1.2.bb:1:")
        self.assertNotIn("\x1b", result.err)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def be_nobody():
    """Root may read everything; others are nobody already."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


if __name__ == "__main__":
    bitzel.main()
