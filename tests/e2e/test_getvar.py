"""bitzel getvar, on a small project."""

import bitzel
import demo


class Getvar(demo.Project):
    def getvar(self, *args):
        return self.run_bitzel("--directory", self.dir / "build", "getvar", *args)

    def value(self, *args):
        result = self.getvar("--value", *args)
        self.assert_exit(result, 0)
        return result.out.rstrip("\n")

    def test_values_of_the_configuration_and_of_a_recipe(self):
        self.assertEqual(self.value("MACHINE"), "board")
        self.assertEqual(self.value("COLOR"), "green")
        self.assertEqual(self.value("-r", "hello", "LIST"), "a b c d")
        self.assertEqual(self.value("-r", "hello", "NAME"), "hello-1.2")

    def test_unexpanded_values_and_flags(self):
        self.assertEqual(self.value("-r", "hello", "--unexpand", "NAME"), "${P}")
        self.assertEqual(self.value("-r", "hello", "--flag", "doc", "LIST"), "letters")

    def test_the_assignment_form_and_json(self):
        self.assertEqual(self.getvar("MACHINE").out, 'MACHINE="board"\n')
        got = self.getvar("--json", "--history", "-r", "hello", "LIST").json
        self.assertEqual(got["value"], "a b c d")
        events = [(e["op"], e["file"].rsplit("/", 1)[1], e["line"], e["detail"])
                  for e in got["history"] if "flag" not in e]
        self.assertEqual(events, [("set", "hello_1.2.bb", 2, "a"),
                                  ("append", "hello_1.2.bb", 3, "b"),
                                  (":append", "hello_1.2.bb", 4, " c"),
                                  (":append", "hello_%.bbappend", 1, " d")])

    def test_what_is_not_there_is_exit_3(self):
        for args in (["NOWHERE"], ["--flag", "no", "MACHINE"], ["-r", "nothing-like-it", "PN"]):
            with self.subTest(args=args):
                self.assert_exit(self.getvar(*args), 3)

    def test_a_mistake_is_shown_with_its_place(self):
        self.write("meta-one/recipes/hello_1.2.bb", 'A = "1"\nB = unquoted\n')
        result = self.getvar("-r", "hello", "A")
        self.assert_exit(result, 2)
        self.assertIn("hello_1.2.bb:2:", result.err)
        self.assertIn("B = unquoted\n", result.err)

    def test_a_missing_required_file_names_who_requires_it(self):
        self.write("meta-one/recipes/hello_1.2.bb", "\nrequire nowhere.inc\n")
        result = self.getvar("-r", "hello", "PN")
        self.assert_exit(result, 2)
        self.assertIn("hello_1.2.bb:2", result.err)
        self.assertIn("nowhere.inc", result.err)

    def test_without_a_build_directory_it_says_what_to_do(self):
        result = self.run_bitzel("getvar", "MACHINE")
        self.assertIn(result.code, (2, 3))
        self.assertIn("conf/bblayers.conf", result.err)


if __name__ == "__main__":
    bitzel.main()
