"""bitzel env, on a small project."""

import bitzel
import demo

PYTHON = '''\
TOOL = "${@nobody_knows(d)}"
USES = "with ${TOOL}"
export QUOTED = 'a "b" `c` $d\\
e'
unset NAME
X[unexport] = "1"
python do_snake() {
    pass
}
do_run() {
    echo ${PN}
}
'''


class Env(demo.Project):
    def env(self, *args):
        result = self.run_in_build("env", *args)
        self.assert_exit(result, 0)
        return result

    def add(self, text):
        path = self.dir / "meta-one/recipes/hello_1.2.bb"
        path.write_text(path.read_text() + text)

    def test_a_variable_follows_its_history(self):
        place = f"{self.dir}/build/../meta-one/recipes/hello_1.2.bb"
        self.assertIn(f'\n#\n# $SUMMARY\n#   set {place}:1\n#     "greets"\nSUMMARY="greets"\n',
                      self.env("hello").out)

    def test_the_files_that_were_read_come_before_all_else(self):
        head, _, rest = self.env("hello").out.partition("\n#\n# $")
        lines = head.splitlines()
        self.assertEqual(lines[:3], ["#", "# INCLUDE HISTORY:", "#"])
        self.assertIn(f"# {self.dir}/build/conf/bblayers.conf", lines)
        self.assertEqual(lines[-2:], [f"# {self.dir}/build/../meta-one/recipes/hello_1.2.bb",
                                      f"# {self.dir}/build/../meta-two/recipes/hello_%.bbappend"])
        self.assertEqual(len(lines), len(set(lines)) + 1)
        self.assertTrue(rest)

    def test_the_configuration_has_no_recipe(self):
        out = self.env().out
        self.assertIn('\nMACHINE="board"\n', out)
        self.assertIn('\nCOLOR="green"\n', out)
        self.assertNotIn("SUMMARY=", out)

    def test_variables_come_first_then_shell_then_python_each_sorted(self):
        self.add(PYTHON)
        out = self.env("hello").out
        marks = ['\nCOLOR="', '\nP="', "\nunset X\n", "\ndo_build() {\n    :\n}\n\n",
                 "\ndo_run() {\n    echo hello\n}\n\n",
                 "\npython do_snake () {\n    pass\n}\n"]
        places = [out.find(mark) for mark in marks]
        self.assertNotIn(-1, places)
        self.assertEqual(places, sorted(places))

    def test_the_shell_reads_the_values_back(self):
        self.add(PYTHON)
        self.assertIn('\nexport QUOTED="a \\"b\\" \\`c\\` \\$de"\n', self.env("hello").out)

    def test_a_value_that_cannot_be_had_does_not_stop_the_listing(self):
        self.add(PYTHON)
        result = self.env("hello")
        self.assertIn("\n# TOOL has no value here: ", result.out)
        self.assertIn("\n# USES has no value here: ", result.out)
        self.assertNotIn("\nTOOL=", result.out)
        self.assertIn('\nSUMMARY="greets"\n', result.out)
        self.assertIn("2 variables have no value here", result.err)

    def test_json_has_all_of_it(self):
        self.add(PYTHON)
        got = self.env("--json", "hello").json
        self.assertEqual(set(got), {"variables", "functions"})
        self.assertEqual(got["variables"]["LIST"]["value"], "a b c d")
        self.assertEqual(got["variables"]["LIST"]["flags"], {"doc": "letters"})
        self.assertEqual(len(got["variables"]["LIST"]["history"]), 5)
        self.assertEqual(got["variables"]["P"]["unexpanded"], "${PN}-${PV}")
        self.assertTrue(got["variables"]["QUOTED"]["exported"])
        self.assertFalse(got["variables"]["LIST"]["exported"])
        self.assertIsNone(got["variables"]["TOOL"]["value"])
        self.assertIn("nobody_knows", got["variables"]["TOOL"]["error"])
        self.assertNotIn("error", got["variables"]["LIST"])
        self.assertEqual(got["functions"]["do_run"]["value"], "    echo hello\n")
        self.assertEqual(got["functions"]["do_snake"]["flags"]["python"], "1")
        self.assertNotIn("do_run", got["variables"])

    def test_a_near_name_is_suggested(self):
        for line, hint in ((["env", "helo"], "'helo'; did you mean 'hello'?"),
                           (["getvar", "-r", "helllo", "PN"], "did you mean 'hello'?"),
                           (["getvar", "MACHNE"], "MACHNE is not set; did you mean 'MACHINE'?"),
                           (["getvar", "-r", "hello", "-f", "dok", "LIST"],
                            "LIST[dok] is not set; did you mean 'doc'?")):
            with self.subTest(line=line):
                result = self.run_in_build(*line)
                self.assert_exit(result, 3)
                self.assertIn(hint, result.err)

    def test_a_target_must_be_one_recipe(self):
        for target in ("mc:*:hello", "hello:do_build"):
            with self.subTest(target=target):
                self.assert_exit(self.run_in_build("env", target), 2)


if __name__ == "__main__":
    bitzel.main()
