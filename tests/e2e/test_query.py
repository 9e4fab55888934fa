"""bitzel query: sets of tasks and recipes, what goes in and comes out, and what goes wrong."""

import bitzel
import demo


class Query(demo.Project):
    def setUp(self):
        super().setUp()
        self.write("meta-one/classes/base.bbclass",
                   "do_fetch() {\n    : ${SOURCE}\n}\ndo_build() {\n    : ${COLOR}\n}\n"
                   "addtask fetch\naddtask build after do_fetch\ndo_build[deptask] = \"do_build\"\n")
        self.write("meta-one/recipes/lib.bb", 'PACKAGES = "lib lib-dev"\n')
        self.write("meta-one/recipes/tool-native.bb", 'DEPENDS = "lib"\nSOURCE = "far"\n')
        self.write("meta-one/recipes/app.bb", 'DEPENDS = "lib tool-native"\nSOURCE = "near"\n')

    def query(self, *args):
        return self.run_in_build("query", *args)

    def ask(self, text, *args):
        result = self.query(text, *args)
        self.assert_exit(result, 0)
        return result.out.split("\n")[:-1]

    def test_names_and_patterns(self):
        self.assertEqual(self.ask("app"), ["app"])
        self.assertEqual(self.ask("app:*"), ["app:do_fetch", "app:do_build"])
        self.assertEqual(self.ask("*-native"), ["tool-native"])
        self.assertEqual(sorted(self.ask("*:do_fetch")),
                         ["app:do_fetch", "hello:do_fetch", "lib:do_fetch", "tool-native:do_fetch"])
        self.assertEqual(self.ask("set(lib 'app:do_build')"), ["app:do_build", "lib"])
        self.assertEqual(self.ask("virtual/clock"), ["clock"])  # the world does not have it

    def test_what_needs_what(self):
        self.assertEqual(sorted(self.ask("deps(app)")), ["app", "lib", "tool-native"])
        self.assertEqual(sorted(self.ask("deps(app:do_build, 1)")),
                         ["app:do_build", "app:do_fetch", "lib:do_build", "tool-native:do_build"])
        self.assertEqual(sorted(self.ask("rdeps(*, lib)")), ["app", "lib", "tool-native"])
        self.assertEqual(sorted(self.ask("rdeps(tool-native:*, lib:do_fetch)")),
                         ["lib:do_build", "lib:do_fetch", "tool-native:do_build"])
        self.assertEqual(self.ask("somepath(app:do_build, lib:do_fetch)"),
                         ["app:do_build", "lib:do_build", "lib:do_fetch"])
        self.assertEqual(sorted(self.ask("allpaths(app, lib)")), ["app", "lib", "tool-native"])

    def test_sets(self):
        self.assertEqual(self.ask("deps(app) - lib - app"), ["tool-native"])
        self.assertEqual(self.ask("deps(app) ^ *-native"), ["tool-native"])
        self.assertEqual(self.ask("let d = deps(app) in $d except set(app lib)"), ["tool-native"])
        self.assertEqual(self.ask("kind(task do_f*, app:* union app)"), ["app:do_fetch"])
        self.assertEqual(self.ask("filter('^l.*:do_b', *:*)"), ["lib:do_build"])

    def test_variables_of_recipes(self):
        self.assertEqual(self.ask("attr(SOURCE, '^n', *)"), ["app"])
        self.assertEqual(self.ask("attr(DEPENDS, tool, *:do_fetch)"), ["app:do_fetch"])
        self.assert_exit(self.query("attr(NO_SUCH, '', *)"), 3)

    def test_what_goes_in_and_comes_out(self):
        self.assertIn("variable SOURCE", self.ask("inputs(app:do_fetch)"))
        self.assertNotIn("variable SOURCE", self.ask("inputs(app:do_build)"))
        self.assertIn("variable COLOR", self.ask("inputs(app) - inputs(app:do_fetch)"))
        self.assertEqual(self.ask("outputs(lib:do_build)"),
                         ["provides lib", "package lib", "package lib-dev"])
        self.assertEqual(self.ask("kind(package *-dev, outputs(lib))"), ["package lib-dev"])

    def test_files_that_count(self):
        self.write("meta-one/recipes/lib.bb",
                   'SRC_URI = "file://${FILE_DIRNAME}/part.c"\n'
                   'do_fetch[file-checksums] = "${TOPDIR}/../meta-one/recipes/part.c:True"\n')
        self.write("meta-one/recipes/part.c", "int x;\n")
        self.assertEqual(self.ask("kind(file, inputs(lib:do_fetch))"), ["file part.c"])

    def test_forms(self):
        got = self.query("--json", "app + app:do_fetch + outputs(hello)").json["results"]
        self.assertEqual([(row["kind"], row["name"]) for row in got],
                         [("task", "app:do_fetch"), ("recipe", "app"), ("provides", "hello"),
                          ("package", "hello")])
        self.assertEqual(got[0]["task"], "do_fetch")
        self.assertTrue(got[1]["file"].endswith("app.bb"))
        lines = self.ask("deps(app)", "--dot")
        self.assertIn('"app" -> "tool-native"', lines)
        self.assertIn('"tool-native" -> "lib"', lines)
        self.assert_exit(self.query("--dot", "--json", "app"), 2)

    def test_another_universe(self):
        self.assertEqual(sorted(self.ask("*", "--universe", "tool-native")), ["lib", "tool-native"])
        self.assertIn("sundial", self.ask("*", "-u", "universe"))
        result = self.query("-u", "lib", "hello + ap")
        self.assert_exit(result, 3)
        self.assertIn("column 1: nothing in the universe is called 'hello'", result.err)

    def test_a_recipe_that_cannot_be_built_hides_no_others(self):
        self.write("meta-one/recipes/lost.bb", 'PACKAGES = "lost"\nRDEPENDS:lost = "nowhere"\n')
        self.assertIn("app", self.ask("*"))
        self.assertNotIn("lost", self.ask("*"))
        result = self.query("lost")
        self.assert_exit(result, 3)
        self.assertIn("nothing provides 'nowhere' at run time", result.err)

    def test_configurations(self):
        self.write("build/conf/local.conf", 'BBMULTICONFIG = "arm"\nMACHINE ??= "board"\n')
        self.write("build/conf/multiconfig/arm.conf", 'MACHINE = "arm"\n')
        self.assertEqual(self.ask("mc:arm:app"), ["mc:arm:app"])
        self.assertEqual(self.ask("mc:*:app"), ["app", "mc:arm:app"])

    def test_mistakes_show_their_place(self):
        result = self.query("deps(app")
        self.assert_exit(result, 2)
        self.assertEqual(result.err, "  deps(app\n          ^\n"
                                     "error: column 9: expected ')' at the end\n")
        self.assertEqual(result.out, "")
        for text, column in (("app +", 6), ("app:* ^ filter('(', app:*)", 16), ("$x", 1),
                             ("kind(tsk, app)", 6)):
            with self.subTest(text=text):
                result = self.query(text)
                self.assert_exit(result, 2)
                self.assertIn(f"error: column {column}: ", result.err)
        result = self.query("apq")
        self.assert_exit(result, 3)
        self.assertIn("did you mean 'app'", result.err)
        result = self.query("app:do_biuld", "-u", "app")
        self.assert_exit(result, 3)
        self.assertIn("did you mean 'do_build'", result.err)

    def test_nothing_is_an_exit_status(self):
        result = self.query("app - app")
        self.assert_exit(result, 3)
        self.assertEqual((result.out, result.err), ("", "nothing matches\n"))
        result = self.query("app - app", "--json")
        self.assert_exit(result, 3)
        self.assertEqual(result.json, {"results": []})


if __name__ == "__main__":
    bitzel.main()
