"""bitzel why and sig diff: what changed, named by who edited it and how far it reaches."""

import os
import shutil

import bitzel
import demo

LIB = "meta-one/recipes/lib.bb"
APP = "meta-one/recipes/app.bb"
BASE = "meta-one/classes/base.bbclass"
LOCAL = "build/conf/local.conf"


class Three(demo.Project):
    """lib <- app, each with do_fetch and do_build; tool stands alone."""

    def setUp(self):
        super().setUp()
        self.write(BASE, "addtask fetch\naddtask build after do_fetch\n"
                         "do_build[deptask] = \"do_build\"\n"
                         "CFLAGS ?= \"-g\"\n"
                         "do_fetch() {\n    fetch ${SRC}\n}\n"
                         "do_build() {\n    make ${FLAGS} ${CFLAGS}\n    make install\n}\n")
        self.write(LIB, 'SRC = "l"\nFLAGS = "-O1"\nUNUSED = "1"\n')
        self.write(APP, 'SRC = "a"\nFLAGS = "-O2"\nFLAGS:append = " -x"\nDEPENDS = "lib"\n')
        self.write("meta-one/recipes/tool.bb", 'SRC = "t"\nFLAGS = "-O0"\n')
        self.record = self.dir / "record"
        self.assert_exit(self.run_in_build("sig", "app", "tool", "--record", self.record), 0)

    def edit(self, name, old, new):
        text = (self.dir / name).read_text()
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))


class Why(Three):
    def why(self, *more, where=None):
        result = self.run_bitzel("--directory", (where or self.dir) / "build", "why", "app",
                                 "tool", "--vs", self.record, *more)
        self.assert_exit(result, 0)
        return result

    def causes(self, where=None):
        """Each as (name, places, tasks reached)."""
        found = self.why("--json", where=where).json
        return [(c["name"],
                 ["%s:%s" % (p["file"], p["line"] or p["old_line"]) for p in c["places"]],
                 c["reaches"]) for c in found["causes"]]

    def test_nothing_changed(self):
        result = self.why()
        self.assertRegex(result.out, "^nothing has changed since .*: 6 tasks, each as it was\n$")
        self.assertEqual(self.why("--json").json["causes"], [])

    def test_a_recipe_changed(self):
        self.edit(LIB, '"l"', '"m"')
        self.assertEqual(self.causes(), [("SRC", [LIB + ":1"], 3)])
        out = self.why().out
        self.assertIn(f'\n1 change in {LIB}:1 SRC, reaches 3 tasks\n    "l" -> "m"\n', out)
        self.assertNotRegex(out, "[0-9a-f]{16}")  # never a list of hashes

    def test_a_dependency_changed(self):
        self.edit(LIB, "-O1", "-O3")
        found = self.why("--json").json
        self.assertEqual((found["changed"], found["only_upstream"]), (2, 1))
        self.assertEqual(self.causes(), [("FLAGS", [LIB + ":2"], 2)])

    def test_a_class_changed_for_all(self):
        self.edit(BASE, "-g", "-g2")
        self.assertEqual(self.causes(), [("CFLAGS", [BASE + ":4"], 3)])

    def test_an_edit_of_an_append_names_the_append(self):
        self.edit(APP, '" -x"', '" -y"')
        self.assertEqual(self.causes(), [("FLAGS", [APP + ":3"], 1)])
        self.assertIn(f"1 change in {APP}:3 FLAGS:append, reaches 1 task\n", self.why().out)

    def test_what_changes_nothing_is_no_cause(self):
        for why, name, old, new in (
                ("an unrelated variable", LIB, 'UNUSED = "1"', 'UNUSED = "2"'),
                ("a comment, which moves lines", APP, "SRC", "# a word\n\nSRC"),
                ("variables in another order", APP, 'SRC = "a"\nFLAGS = "-O2"\n',
                 'FLAGS = "-O2"\nSRC = "a"\n'),
                ("the same text by another operator", APP, "FLAGS =", "FLAGS ?=")):
            with self.subTest(why):
                was = (self.dir / name).read_text()
                self.edit(name, old, new)
                self.assertEqual(self.causes(), [])
                self.write(name, was)

    def test_whitespace_in_a_body_is_shown_in_its_line(self):
        self.edit(BASE, "make install", "make  install")
        self.assertEqual(self.causes(), [("do_build", [BASE + ":8"], 3)])
        self.assertIn("\n    -     make install\n    +     make  install\n", self.why().out)

    def test_the_machine_is_one_cause(self):
        self.write("build/conf/local.conf", 'MACHINE = "board"\nFLAGS:append:other = " o"\n')
        self.assert_exit(self.run_in_build("sig", "app", "tool", "--record", self.record), 0)
        self.edit(LOCAL, '"board"', '"other"')
        self.assertEqual(self.causes(), [("MACHINE", ["conf/local.conf:1"], 3)])  # what reads FLAGS

    def test_a_file_that_was_only_touched_is_no_cause(self):
        for name in (LIB, BASE):
            os.utime(self.dir / name, (1, 1))
            os.utime(self.dir / name)
        self.assertEqual(self.causes(), [])

    def test_a_moved_checkout_is_no_cause(self):
        moved = self.dir / "moved" / "deeper"
        for name in ("build", "meta-one", "meta-two"):
            shutil.copytree(self.dir / name, moved / name)
        self.assertEqual(self.causes(where=moved), [])

    def test_a_local_source_is_named(self):
        self.edit(LIB, 'SRC = "l"', 'SRC = "l"\nSRC_URI = "file://x.patch"\n'
                                    'FILESPATH = "${FILE_DIRNAME}/files"\n'
                                    'FILE_DIRNAME = "${@os.path.dirname(d.getVar(\'FILE\'))}"\n')
        self.write("meta-one/recipes/files/x.patch", "one\n")
        self.assert_exit(self.run_in_build("sig", "app", "tool", "--record", self.record), 0)
        os.utime(self.dir / "meta-one/recipes/files/x.patch", (1, 1))
        self.assertEqual(self.causes(), [])
        self.write("meta-one/recipes/files/x.patch", "two\n")
        self.assertEqual([c[2] for c in self.causes()], [3])
        self.assertRegex(self.why().out, r"\n\S*x\.patch changed, reaches 3 tasks\n")

    def test_dependencies_come_and_go(self):
        self.edit(APP, '"lib"', '"lib tool"')
        self.assertEqual(self.causes(), [("DEPENDS", [APP + ":4"], 1)])
        self.edit(APP, 'DEPENDS = "lib tool"\n', "")
        found = self.why("--json").json
        self.assertEqual(found["gone"], ["lib:do_build", "lib:do_fetch"])
        self.assertEqual(self.causes(), [("DEPENDS", [APP + ":4"], 1)])
        self.assertIn("\ngone: lib (2 tasks)\n", self.why().out)
        self.write("meta-one/recipes/extra.bb", 'SRC = "e"\n')
        self.edit(APP, "FLAGS =", 'DEPENDS = "lib extra"\nFLAGS =')
        self.assertIn("\nnew: extra (2 tasks)\n", self.why().out)

    def test_two_edits_are_two_causes_the_farther_reaching_first(self):
        self.edit(APP, "-O2", "-Os")
        self.edit(BASE, "-g", "-g2")
        self.assertEqual(self.causes(), [("CFLAGS", [BASE + ":4"], 3),
                                         ("FLAGS", [APP + ":2"], 1)])


class Builds(Three):
    def put(self, build):
        place = self.dir / "build" / "builds" / build
        place.mkdir(parents=True)
        shutil.copy(self.record, place / "record")

    def ask(self, *more):
        return self.run_in_build("why", "app", "tool", *more)

    def test_without_a_build_it_says_how_to_make_a_record(self):
        result = self.ask()
        self.assert_exit(result, 3)
        self.assertIn("bitzel sig TARGET --record FILE", result.err)
        self.assertIn("bitzel why TARGET --vs FILE", result.err)

    def test_builds_are_named_by_their_id_its_beginning_or_last(self):
        self.put("20260101T000000-5")
        self.edit(LIB, "-O1", "-O3")
        self.run_in_build("sig", "app", "tool", "--record", self.record)
        self.put("20260102T000000-4")
        self.assertIn("nothing has changed since build 20260102T000000-4", self.ask().out)
        self.assertIn("nothing has changed", self.ask("--since", "last").out)
        for name in ("20260101T000000-5", "20260101"):
            self.assertIn(f"1 change in {LIB}:2 FLAGS", self.ask("--since", name).out)
        self.assert_exit(self.ask("--since", "2026"), 2)
        self.assert_exit(self.ask("--since", "2027"), 3)
        self.assert_exit(self.ask("--since", "last", "--vs", self.record), 2)

    def test_a_record_that_is_none_is_an_error(self):
        self.assert_exit(self.ask("--vs", self.dir / "nothing"), 2)
        self.write("broken", "x\n")
        result = self.ask("--vs", self.dir / "broken")
        self.assert_exit(result, 2)
        self.assertIn("broken:1: this is no record", result.err)

    def test_a_target_that_was_not_recorded_is_said_to_be_new(self):
        result = self.run_in_build("why", "hello", "--vs", self.record)
        self.assert_exit(result, 0)
        self.assertIn("does not have hello:do_build", result.err)
        self.assertIn("\nnew: hello (2 tasks)\n", result.out)


class Diff(Three):
    def diff(self, *args):
        return self.run_in_build("sig", "diff", *args)

    def again(self):
        self.assert_exit(self.run_in_build("sig", "app", "tool", "--record", self.dir / "now"), 0)
        return self.dir / "now"

    def test_equal_records_are_exit_0(self):
        result = self.diff(self.record, self.again())
        self.assert_exit(result, 0)
        self.assertEqual(result.out, "")

    def test_what_differs_is_listed_by_task(self):
        self.edit(LIB, '"-O1"', '"-O3 ${MORE}"\nMORE = "m"')
        self.edit(BASE, "    make install", "    make check\n    make install")
        result = self.diff(self.record, self.again())
        self.assert_exit(result, 6)
        self.assertIn("\nlib:do_build\n"
                      f"  changed FLAGS  ({LIB}:2)\n"
                      '    "-O1" -> "-O3 ${MORE}"\n'
                      f"  added MORE  ({LIB}:3)\n"
                      "    + m\n"
                      f"  changed do_build  ({BASE}:8)\n"
                      "          make ${FLAGS} ${CFLAGS}\n"
                      "    +     make check\n"
                      "          make install\n", result.out)
        self.assertIn("\n  waits for lib:do_build, which changed\n", result.out)
        self.assertIn({"name": "MORE", "change": "added", "old": None, "new": "m"},
                      self.diff("--json", self.record, self.dir / "now").json["tasks"][1]["inputs"])

    def test_one_task_is_picked_by_name(self):
        self.edit(LIB, "-O1", "-O3")
        now = self.again()
        self.assert_exit(self.diff(f"{self.record}:tool:do_build", now), 0)
        self.assert_exit(self.diff(self.record, f"{now}:lib:do_build"), 6)
        self.assert_exit(self.diff(f"{self.record}:lib:do_nothing", now), 3)
        pair = self.diff(f"{self.record}:tool:do_build", f"{self.record}:lib:do_build")
        self.assert_exit(pair, 6)
        self.assertTrue(pair.out.startswith("tool:do_build -> lib:do_build\n"), pair)

    def test_tasks_that_only_one_has_differ(self):
        self.run_in_build("sig", "lib", "--record", self.dir / "less")
        result = self.diff(self.record, self.dir / "less")
        self.assert_exit(result, 6)
        self.assertIn("gone: app:do_build\n", result.out)
        self.assertEqual(self.diff("--json", self.dir / "less", self.record).json["new"],
                         ["app:do_build", "app:do_fetch", "tool:do_build", "tool:do_fetch"])

    def test_what_cannot_be_read_is_exit_2(self):
        self.assert_exit(self.diff(self.dir / "nothing", self.record), 2)
        self.write("cut", "".join(self.record.read_text().splitlines(True)[:-1]))
        result = self.diff(self.record, self.dir / "cut")
        self.assert_exit(result, 2)
        self.assertIn("5 tasks of 6 are there", result.err)


if __name__ == "__main__":
    bitzel.main()
