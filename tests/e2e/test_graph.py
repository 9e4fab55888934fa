"""bitzel graph: the answers of BitBake, the forms it is shown in, and what goes wrong."""

import os
import re
import shutil
import unittest
from pathlib import Path

import bitzel
import demo

DATA = Path(__file__).resolve().parent.parent / "data" / "graph"


def read_dot(text):
    """Tasks, and pairs of tasks."""
    found = set()
    for line in text.splitlines():
        match = re.match(r'"(.*?)" (?:-> "(.*?)"|\[)', line)
        if match:
            found.add(" ".join(filter(None, match.groups())))
    return found


class Recorded(bitzel.Case):
    def check(self, name):
        shutil.copytree(DATA / name, self.dir / name)
        targets = (DATA / name / "targets").read_text(encoding="utf-8").split()
        result = self.run_bitzel("--directory", self.dir / name / "build", "graph", "--dot",
                                 *targets)
        self.assert_exit(result, 0)
        expected = set((DATA / name / "expected").read_text(encoding="utf-8").splitlines())
        self.assertGreater(len(expected), 100)
        self.assertEqual(read_dot(result.out), expected)

    def test_configurations_that_wait_for_each_other(self):
        self.check("multiconfig")

    def test_variants_and_recursion(self):
        self.check("variants")

    def test_all_at_once(self):
        self.check("both")

    def test_a_recorded_project_of_two_layers(self):
        records = os.environ.get("BITZEL_CONFORMANCE")
        records = Path(records) if records else Path(__file__).resolve().parents[3] / "shared/conformance"
        if not (records / "mini").is_dir():
            return  # they are not part of this tree
        mini = self.dir / "mini"
        shutil.copytree(records / "mini", mini)
        result = self.run_bitzel("--directory", mini / "build", "graph", "--dot", "image", "user",
                                 "semantics")
        self.assert_exit(result, 0)
        expected = (mini / "expected" / "task-depends.dot").read_text(encoding="utf-8")
        lines = set(expected.replace("@MINI@", str(mini)).splitlines())
        self.assertEqual(set(result.out.splitlines()), lines)


class Graph(demo.Project):
    def setUp(self):
        super().setUp()
        self.write("meta-one/classes/base.bbclass",
                   "addtask fetch\naddtask build after do_fetch\ndo_build[deptask] = \"do_build\"\n")
        self.write("meta-one/recipes/app.bb", 'DEPENDS = "hello"\n')
        self.write("meta-one/recipes/image.bb", 'DEPENDS = "app hello"\n')

    def graph(self, *args):
        return self.run_bitzel("--directory", self.dir / "build", "graph", *args)

    @staticmethod
    def lines(result):
        return result.err.replace("/build/../", "/").splitlines()

    def test_tasks_with_what_they_wait_for(self):
        result = self.graph("app")
        self.assert_exit(result, 0)
        self.assertEqual(result.out, "app:do_fetch\n"
                                     "app:do_build > app:do_fetch hello:do_build\n"
                                     "hello:do_fetch\n"
                                     "hello:do_build > hello:do_fetch\n")

    def test_recipes_without_what_others_imply(self):
        self.assertIn("image > app hello\n", self.graph("--recipes", "image").out)
        self.assertIn("image > app\n", self.graph("--recipes", "--reduce", "image").out)

    def test_a_task_of_a_target(self):
        self.assertEqual(self.graph("-c", "fetch", "app").out, "app:do_fetch\n")
        self.assertEqual(self.graph("app:do_fetch").out, "app:do_fetch\n")

    def test_json(self):
        got = self.graph("--json", "app").json["tasks"]
        self.assertEqual(got[1]["name"], "app:do_build")
        self.assertEqual(got[1]["recipe"], "app")
        self.assertEqual(got[1]["waits_for"], ["app:do_fetch", "hello:do_build"])

    @unittest.skipUnless(shutil.which("dot"), "graphviz is not installed")
    def test_a_picture(self):
        result = self.graph("--svg", "image")
        self.assert_exit(result, 0)
        self.assertIn("<svg", result.out)
        self.assertIn("do_build", result.out)
        self.assertNotIn(str(self.dir), result.out)  # what is drawn is short
        self.assertIn(str(self.dir), self.graph("--dot", "image").out)

    def test_what_is_wrong_is_explained(self):
        self.write("meta-one/recipes/lost.bb", 'DEPENDS = "app-missing"\n')
        self.write("meta-one/recipes/top.bb", 'RDEPENDS = "ring"\n')
        self.write("meta-one/recipes/ring.bb", 'do_fetch[depends] = "ring:do_build"\n')
        result = self.graph("ap")
        self.assert_exit(result, 3)
        self.assertIn("nothing provides 'ap'; did you mean", result.err)
        result = self.graph("app:do_nothing")
        self.assert_exit(result, 3)
        self.assertIn("app has no task do_nothing", result.err)
        result = self.graph("ring")
        self.assert_exit(result, 2)
        self.assertIn("ring:do_fetch waits for ring:do_build by [depends]", result.err)
        self.assertIn("ring:do_build waits for ring:do_fetch by addtask", result.err)

    def test_each_step_of_a_cycle_names_its_place(self):
        self.write("meta-one/recipes/ring.bb", 'DEPENDS = "bell"\n'
                                               "# nothing\n"
                                               "addtask extra after do_build before do_last\n"
                                               'do_fetch[depends] = "bell:do_fetch"\n'
                                               'do_fetch[depends] += "bell:do_last"\n')
        self.write("meta-one/recipes/bell.bb", "addtask last\n"
                                               'do_last[depends] = "ring:do_extra"\n')
        ring, bell, base = (self.dir / "meta-one" / name for name in (
            "recipes/ring.bb", "recipes/bell.bb", "classes/base.bbclass"))
        for _ in range(2):  # evaluated, and remembered
            result = self.graph("-c", "extra", "ring")
            self.assert_exit(result, 2)
            lines = self.lines(result)
            self.assertIn(f"  ring:do_extra waits for ring:do_build by addtask ({ring}:3)", lines)
            self.assertIn(f"  ring:do_build waits for ring:do_fetch by addtask ({base}:2)", lines)
            self.assertIn(f"  ring:do_fetch waits for bell:do_last by [depends] ({ring}:5)", lines)
            self.assertIn(f"  bell:do_last waits for ring:do_extra by [depends] ({bell}:2)", lines)
        self.write("meta-one/recipes/bell.bb", 'DEPENDS = "ring"\n')
        self.write("meta-one/recipes/ring.bb", 'DEPENDS = "bell"\n')
        result = self.graph("ring")
        self.assert_exit(result, 2)
        self.assertIn(f"  ring:do_build waits for bell:do_build by [deptask] ({base}:3) "
                      f"and DEPENDS ({ring})", self.lines(result))

    def test_a_task_that_is_not_there_has_a_place_and_near_names(self):
        result = self.graph("-c", "buidl", "app")
        self.assert_exit(result, 3)
        self.assertIn("app has no task do_buidl; did you mean 'do_build'?", result.err)
        self.write("meta-one/recipes/user.bb", '\ndo_build[depends] = "hello:do_fecth"\n')
        result = self.graph("user")
        self.assert_exit(result, 2)
        self.assertIn(f"{self.dir}/meta-one/recipes/user.bb:2: do_build[depends]: hello has no "
                      "task do_fecth; did you mean 'do_fetch'?", "\n".join(self.lines(result)))

    def test_what_nothing_provides_names_who_needs_it_and_why(self):
        self.write("meta-one/recipes/deep.bb", 'DEPENDS = "helo"\n')
        self.write("meta-one/recipes/top.bb", 'DEPENDS = "deep"\n')
        result = self.run_bitzel("--directory", self.dir / "build", "sig", "top")
        self.assert_exit(result, 3)
        self.assertIn("  top needs deep: DEPENDS in ", result.err)
        self.assertEqual(result.err.count("  deep needs helo: DEPENDS in "), 1)
        self.assertIn("nothing provides 'helo'; did you mean 'hello'?", result.err)

    def test_recipes_that_provide_the_same(self):
        for name in ("one", "two"):
            self.write(f"meta-one/recipes/{name}.bb", 'PROVIDES = "virtual/x"\n')
        self.write("meta-one/recipes/both.bb", 'DEPENDS = "one two"\n')
        result = self.graph("both")
        self.assert_exit(result, 0)
        self.assertIn("warning: 2 recipes that are to be built provide virtual/x:", result.err)
        result = self.run_bitzel("--directory", self.dir / "build", "sig", "both")
        self.assert_exit(result, 2)
        self.assertIn("one.bb), for both:do_build", result.err)
        self.assertIn("set PREFERRED_PROVIDER_virtual/x", result.err)
        self.write("meta-one/conf/layer.conf",
                   (self.dir / "meta-one/conf/layer.conf").read_text(encoding="utf-8")
                   + 'BB_MULTI_PROVIDER_ALLOWED = "virtual/x"\n')
        result = self.run_bitzel("--directory", self.dir / "build", "sig", "both")
        self.assert_exit(result, 0)

    def test_a_broken_recipe_that_is_not_needed_is_a_warning(self):
        self.write("meta-one/recipes/broken.bb", "require missing.inc\n")
        result = self.graph("app")
        self.assert_exit(result, 0)
        self.assertRegex(result.err, "warning: .*broken.bb:1: .*missing.inc")
        result = self.graph("broken")
        self.assert_exit(result, 3)
        self.assertIn("broken", result.err)

    def test_forms_exclude_each_other(self):
        self.assert_exit(self.graph("--dot", "--json", "app"), 2)


if __name__ == "__main__":
    bitzel.main()
