"""Wrong command lines: exit code 2, nothing on stdout, and a way out."""

import bitzel


class Usage(bitzel.Case):
    def refused(self, *line):
        """The error of a line that must be refused."""
        result = self.run_bitzel(*line)
        self.assert_exit(result, 2)
        self.assertEqual(result.out, "")
        self.assertTrue(result.err.startswith("error: "), result)
        return result.err

    def test_wrong_lines_are_refused_with_a_hint(self):
        for line, hint in (
            (["docter"], "did you mean 'doctor'?"),
            (["ver"], "did you mean 'version'?"),
            (["doctor", "--jsno"], "did you mean '--json'?"),
            (["doctor", "-json"], "did you mean '--json'?"),
            (["doctor", "--quite"], "did you mean '--quiet'?"),
            (["--verbos", "doctor"], "did you mean '--verbose'?"),
            (["--color=allways", "doctor"], "did you mean 'always'?"),
            (["doctor", "--color", "blue"], "is none of auto, always, never"),
            (["doctor", "--json=yes"], "takes no value"),
            (["doctor", "--no-json"], "cannot be turned off"),
            (["doctor", "extra"], "unexpected argument 'extra'"),
            (["help", "doctor", "version"], "'doctor' has no commands"),
            (["doctor", "--directory"], "needs a value: --directory DIR"),
            (["doctor", "--directory", "--json"], "write --directory=--json"),
            (["-q", "doctor", "-v"], "contradict"),
            (["project", "lok"], "'project' has no command 'lok'; did you mean 'lock'?"),
            (["project", "--json", "lock"], "options of 'project lock' come after 'lock'"),
            (["project", "lock", "extra"], "unexpected argument 'extra'"),
            (["help", "project", "lok"], "did you mean 'lock'?"),
            (["doctor", "-qz"], "unknown option '-z' in '-qz'"),
            (["-c", "compile", "build", "x"], "options of 'build' come after its name: bitzel build -c"),
            (["--jobs=2", "build", "x"], "come after its name: bitzel build --jobs=2"),
            (["-z", "build", "-c", "x"], "unknown option '-z'"),
            (["-q", "-z", "getvar"], "unknown option '-z'"),
        ):
            with self.subTest(line=line):
                self.assertIn(hint, self.refused(*line))

    def test_the_message_tells_where_the_help_is(self):
        self.assertIn("help:  bitzel doctor --help\n", self.refused("doctor", "--nonsense"))
        self.assertIn("help:  bitzel --help\n", self.refused("nonsense"))
        self.assertIn("help:  bitzel project lock --help\n",
                      self.refused("project", "lock", "--nonsense"))

    def test_what_the_user_typed_cannot_drive_the_terminal(self):
        for line in (["\x1b[31mred"], ["doctor", "--\x1b]0;title\x07"], ["-\x7f"]):
            err = self.refused(*line)
            self.assertFalse(set("\x1b\x07\x7f") & set(err), err)

    def test_very_long_words_do_no_harm(self):
        for line in (["x" * 100000], ["--" + "x" * 100000], ["doctor", "--color=" + "x" * 100000],
                     ["-" + "q" * 100000 + "z", "doctor"]):
            self.assertLess(len(self.refused(*line)), 400)

    def test_bytes_that_are_no_text_do_no_harm(self):
        self.assert_exit(self.run_bitzel(b"\xff\xfe".decode("utf-8", "surrogateescape")), 2)

    def test_an_empty_word_is_no_command(self):
        self.assertIn("there is no command ''", self.refused(""))

    def test_options_stand_before_and_after_the_command(self):
        for line in (["-q", "version"], ["version", "-q"], ["version", "--quiet"],
                     ["--color", "never", "version", "-q"], ["-q", "--", "version"]):
            result = self.run_bitzel(*line)
            self.assert_exit(result, 0)
            self.assertEqual(len(result.out.splitlines()), 1, result)

    def test_directory_is_where_the_command_runs(self):
        self.assert_exit(self.run_bitzel("--directory", self.dir, "version"), 0)
        self.assertIn("'nowhere': No such file", self.refused("--directory", "nowhere", "version"))
        self.assertIn("No such file", self.refused("--directory=", "version"))

    def test_verbose_tells_where_an_error_arose(self):
        self.assertIn("main.c:", self.refused("-v", "--directory=nowhere", "version"))
        self.assertNotIn("main.c:", self.refused("--directory=nowhere", "version"))


if __name__ == "__main__":
    bitzel.main()
