"""bitzel sig: what changes a signature, and what does not."""

import shutil

import bitzel
import demo


class Sig(demo.Project):
    def setUp(self):
        super().setUp()
        self.write("meta-one/classes/base.bbclass",
                   "addtask fetch\naddtask build after do_fetch\n"
                   "do_build[deptask] = \"do_build\"\n"
                   "do_fetch() {\n    fetch ${SRC}\n}\ndo_build() {\n    make ${FLAGS}\n}\n")
        self.write("meta-one/recipes/lib.bb", 'SRC = "l"\nFLAGS = "-O1"\nUNUSED = "1"\n')
        self.write("meta-one/recipes/app.bb", 'SRC = "a"\nFLAGS = "-O2"\nDEPENDS = "lib"\n')

    def sig(self, *args, where=None):
        return self.run_bitzel("--directory", (where or self.dir) / "build", "sig", *args)

    def keys(self, where=None):
        result = self.sig("--all", "--json", "app", where=where)
        self.assert_exit(result, 0)
        return {t["name"]: t["signature"] for t in result.json["tasks"]}

    def changed_by(self, name, text):
        before = self.keys()
        path = self.dir / name
        was = path.read_text(encoding="utf-8")
        path.write_text(text(was), encoding="utf-8")
        after = self.keys()
        path.write_text(was, encoding="utf-8")
        self.assertEqual(before.keys(), after.keys())
        return {name for name in before if before[name] != after[name]}

    def test_an_edit_reaches_what_reads_it_and_what_waits_for_that(self):
        lib = "meta-one/recipes/lib.bb"
        for why, name, text, expected in (
                ("a flag of the library", lib, lambda s: s.replace("-O1", "-O3"),
                 {"lib:do_build", "app:do_build"}),
                ("its source", lib, lambda s: s.replace('"l"', '"m"'),
                 {"lib:do_fetch", "lib:do_build", "app:do_build"}),
                ("a variable that nothing reads", lib, lambda s: s.replace('"1"', '"2"'), set()),
                ("a comment", lib, lambda s: "# a word\n" + s, set()),
                ("another order", lib, lambda s: "".join(reversed(s.splitlines(True))), set()),
                ("blanks in code", "meta-one/classes/base.bbclass",
                 lambda s: s.replace("make ", "make  "), {"lib:do_build", "app:do_build"}),
                ("the machine", "build/conf/local.conf", lambda s: s.replace("board", "other"),
                 {"lib:do_fetch", "lib:do_build", "app:do_fetch", "app:do_build"})):
            with self.subTest(why):
                self.assertEqual(self.changed_by(name, text), expected)

    def test_a_moved_checkout_has_the_same_signatures(self):
        before = self.keys()
        moved = self.dir / "moved" / "deeper"
        moved.mkdir(parents=True)
        for name in ("build", "meta-one", "meta-two"):
            shutil.copytree(self.dir / name, moved / name)
        self.assertEqual(self.keys(where=moved), before)

    def test_inputs_are_shown(self):
        result = self.sig("--inputs", "lib")
        self.assert_exit(result, 0)
        self.assertRegex(result.out, r"^[0-9a-f]{64}  lib:do_build\n")
        self.assertRegex(result.out, r"\n  [0-9a-f]{12}  FLAGS = -O1\n")
        self.assertNotIn("UNUSED", result.out)
        got = self.sig("--inputs", "--json", "lib").json["tasks"][0]
        self.assertIn({"name": "FLAGS", "value": "-O1"},
                      [{k: i[k] for k in ("name", "value")} for i in got["inputs"]])

    def test_a_target_that_is_not_there_is_exit_3(self):
        self.assert_exit(self.sig("nothing-like-it"), 3)


if __name__ == "__main__":
    bitzel.main()
