"""Help: every command explains itself, at every width."""

import bitzel


class Help(bitzel.Case):
    def test_bitzel_alone_shows_the_overview(self):
        alone = self.run_bitzel()
        self.assert_exit(alone, 0)
        self.assertEqual(alone.err, "")
        for way in (["help"], ["--help"], ["-h"], ["--help", "nonsense"]):
            self.assertEqual(self.run_bitzel(*way).out, alone.out)

    def test_the_overview_lists_the_commands_there_are(self):
        self.assertEqual(self.commands(), ["appends", "build", "builds", "cache", "completion", "config", "doctor", "env", "fetch", "getvar", "graph", "help",
                                           "layers", "log", "parse", "plan", "project", "query", "recipes", "report", "serve", "shell", "sig",
                                           "trace", "version", "why"])

    def test_every_command_answers_help_in_three_ways(self):
        for name in self.commands():
            with self.subTest(command=name):
                asked = self.run_bitzel("help", name)
                self.assert_exit(asked, 0)
                self.assertIn(f"Usage: bitzel {name}", asked.out)
                self.assertIn("\nExamples:\n  ", asked.out)
                self.assertEqual(self.run_bitzel(name, "--help").out, asked.out)
                self.assertEqual(self.run_bitzel(name, "-h").out, asked.out)

    def test_help_names_the_options_of_the_command_and_of_all(self):
        own = {"appends": ["--json"], "build": ["--task", "--jobs", "--continue", "--force", "--clear-stamp", "--dry-run", "--force-local", "--timeout", "--sandbox", "--no-cache", "--schedule", "--console", "--brief", "--via", "--json"], "cache": ["--json"], "completion": [], "config": ["--show-origin", "--describe", "--json"], "recipes": ["--provides", "--skipped", "--json"], "shell": ["--command"], "serve": ["--socket", "--idle", "--status", "--stop", "--json"],
               "doctor": ["--json"], "env": ["--json"], "fetch": ["--only", "--json"],
               "graph": ["--task", "--recipes", "--reduce", "--dot", "--svg", "--json"],
               "version": ["--json"], "help": ["--man", "--man-dir"], "layers": ["--json"],
               "builds": ["--json"], "log": ["--build", "--follow", "--path", "--json"],
               "report": ["--md", "--html", "--buildstats", "--json"], "trace": ["--output", "--json"],
               "parse": ["--jobs", "--profile", "--json"],
               "plan": ["--task", "--all", "--json"],
               "project": ["--json"], "query": ["--universe", "--dot", "--json"],
               "sig": ["--task", "--all", "--inputs", "--record", "--json"],
               "why": ["--task", "--since", "--vs", "--json"],
               "getvar": ["--recipe", "--flag", "--value", "--unexpand", "--history", "--json"]}
        everywhere = ["--directory", "--project", "--read", "--postread", "--set", "--color", "--quiet",
                      "--verbose", "--help", "--version"]
        self.assertEqual(sorted(own), sorted(self.commands()))
        for name, options in own.items():
            text = self.run_bitzel(name, "--help").out
            for option in options + everywhere:
                with self.subTest(command=name, option=option):
                    self.assertIn(option, text.split())

    def test_the_keys_that_a_build_knows_are_in_its_help(self):
        text = " ".join(self.run_bitzel("help", "build").out.split())
        for words in ("key ? lists", "l shows the log", "p starts no more", "+ and - change", "Ctrl-C asks"):
            self.assertIn(words, text)

    def test_a_command_of_a_command_explains_itself(self):
        asked = self.run_bitzel("help", "project", "lock")
        self.assert_exit(asked, 0)
        self.assertIn("Usage: bitzel project lock", asked.out)
        self.assertIn("--dry-run", asked.out.split())
        self.assertEqual(self.run_bitzel("project", "lock", "-h").out, asked.out)
        above = self.run_bitzel("help", "project").out
        section = above.split("\nCommands:\n", 1)[1].split("\n\n", 1)[0]
        self.assertEqual([line.split()[0] for line in section.splitlines()], ["show", "lock"])

    def test_a_command_with_arguments_may_have_commands(self):
        above = self.run_bitzel("help", "sig").out
        self.assertIn("Usage: bitzel sig [OPTION...] TARGET...", above)
        self.assertIn("\n  diff ", above)
        asked = self.run_bitzel("help", "sig", "diff")
        self.assertIn("Usage: bitzel sig diff [OPTION...] OLD NEW", asked.out)
        self.assertEqual(self.run_bitzel("sig", "diff", "-h").out, asked.out)

    def test_a_letter_the_command_took_is_not_offered_for_another_option(self):
        text = self.run_bitzel("help", "getvar").out
        self.assertIn("  -r, --recipe", text)
        self.assertNotIn("-r, --read", text)
        self.assertIn("-R, --postread", text)

    def test_help_answers_also_on_an_unfinished_line(self):
        for line in (["doctor", "--help", "--nonsense"], ["help", "a", "--help", "b", "c"]):
            self.assert_exit(self.run_bitzel(*line), 0)

    def test_help_on_an_unknown_command_is_an_error(self):
        result = self.run_bitzel("help", "docter")
        self.assert_exit(result, 2)
        self.assertEqual(result.out, "")
        self.assertIn("did you mean 'doctor'?", result.err)

    def test_help_fits_the_width(self):
        for columns in (40, 60, 80, 100):
            for line in ([], *(["help", name] for name in self.commands())):
                with self.subTest(columns=columns, line=line):
                    text = self.run_in_terminal(*line, "--color=never", columns=columns).out
                    longest = max(text.splitlines(), key=len)
                    self.assertLessEqual(len(longest), columns, longest)

    def test_columns_decides_without_a_terminal(self):
        narrow = self.run_bitzel("help", env={"COLUMNS": "40"}).out
        self.assertLessEqual(max(map(len, narrow.splitlines())), 40)
        self.assertGreater(max(map(len, self.run_bitzel("help").out.splitlines())), 60)


if __name__ == "__main__":
    bitzel.main()
