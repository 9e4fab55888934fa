"""bitzel config: what is set, and who set it."""

import bitzel
import demo


class Config(demo.Project):
    def config(self, *args, **how):
        return self.run_bitzel("--directory", self.dir / "build", "config", *args, **how)

    def value(self, name, *args, **how):
        result = self.config(name, *args, **how)
        self.assert_exit(result, 0)
        return result.out.rstrip("\n")

    def test_what_is_set_where_nothing_is(self):
        result = self.config()
        self.assert_exit(result, 0)
        self.assertIn(f"cache.dir = {self.dir}/.cache/bitzel\n", result.out)
        self.assertIn("cache.tiers =\n", result.out)
        self.assertEqual(self.value("jobs", "--show-origin"), "0  # default")

    def test_flag_environment_project_user_in_this_order(self):
        self.write(".config/bitzel/bitzel.conf", "jobs = 1\n")
        self.assertEqual(self.value("jobs"), "1")
        self.write("build/conf/bitzel.conf", "# ours\njobs = 2\n")
        self.assertEqual(self.value("jobs", "--show-origin"),
                         f"2  # {self.dir}/build/conf/bitzel.conf:2")
        self.assertEqual(self.value("jobs", env={"BITZEL_JOBS": "3"}), "3")
        self.assertEqual(self.value("jobs", "--set", "jobs=4", env={"BITZEL_JOBS": "3"}), "4")

    def test_a_kas_project_has_its_file_beside_it(self):
        self.write("kas/kas.yml", "header:\n  version: 14\n")
        self.write("kas/bitzel.conf", "cache.dir = store\n")
        result = self.run_bitzel("--project", "kas/kas.yml", "config", "cache.dir")
        self.assertEqual(result.out, f"{self.dir}/kas/store\n")

    def test_json_has_typed_values_and_origins(self):
        args = ("--set", "cache.max_size=1K", "--set", "cache.tiers=dir:/a; dir:/b",
                "--set", "cache.max_age=2d")
        got = {row["name"]: row for row in self.config("--json", *args).json["settings"]}
        self.assertEqual(got["cache.max_size"]["value"], 1024)
        self.assertEqual(got["cache.max_size"]["text"], "1K")
        self.assertEqual(got["cache.tiers"]["value"], ["dir:/a", "dir:/b"])
        self.assertEqual(got["cache.max_age"]["value"], 172800)
        self.assertIs(got["cache.sync"]["value"], False)
        self.assertEqual(got["jobs"]["origin"], {"level": "default", "source": "", "line": None})
        one = self.config("--json", "jobs", env={"BITZEL_JOBS": "3"}).json
        self.assertEqual(one["value"], 3)
        self.assertEqual(one["origin"]["source"], "BITZEL_JOBS")

    def test_a_setting_that_is_not_there_is_exit_3_with_near_names(self):
        result = self.config("job")
        self.assert_exit(result, 3)
        self.assertIn("did you mean 'jobs'?", result.err)

    def test_a_mistake_in_a_file_is_exit_2_with_its_place_for_who_needs_settings(self):
        self.write("build/conf/bitzel.conf", "\ncache.max_size = big\n")
        for command in (["config"], ["recipes"]):
            result = self.run_bitzel("--directory", "build", *command)
            self.assert_exit(result, 2)
            self.assertIn("build/conf/bitzel.conf:2: cache.max_size: expected a size", result.err)
        for command in (["version"], ["help"]):
            self.assert_exit(self.run_bitzel("--directory", "build", *command), 0)

    def test_describe_says_what_each_is_for(self):
        text = self.config("--describe").out
        for name in (row["name"] for row in self.config("--json").json["settings"]):
            self.assertIn(f"{name} (", text)
            self.assertIn("BITZEL_" + name.upper().replace(".", "_"), text)

    def test_a_project_decides_neither_where_results_go_nor_whom_to_trust(self):
        self.write(".config/bitzel/bitzel.conf",
                   "[cache]\ntiers = https://cache.example/c ro trust=ci\n"
                   f"keys = ci={'1' * 64}\n")
        self.write(".some-token", "secret\n")
        held = self.config("--show-origin").out
        for line in (f"cache.keys = ci={'2' * 64}", "cache.sign = ci", "state.dir = state",
                     "cache.tiers = https://cache.example/c ro",
                     "cache.tiers = https://evil.example/c rw token=~/.some-token",
                     "cache.tiers = https://evil.example/c trust=eve",
                     "cache.tiers = dir:/evil"):
            with self.subTest(line):
                self.write("build/conf/bitzel.conf", line + "\n")
                result = self.config("--show-origin")
                self.assert_exit(result, 0)
                self.assertEqual(result.out, held)
                name = line.split()[0]
                self.assertEqual(result.err.count(f"bitzel.conf:1: {name}: a project may not"), 1,
                                 result)
        # Who says the same on the line means it.
        result = self.config("cache.tiers", "--set", "cache.tiers=dir:/mine rw")
        self.assertEqual((result.out, result.err), ("dir:/mine rw\n", ""))

    def test_passwords_are_not_shown(self):
        self.write(".config/bitzel/bitzel.conf",
                   "cache.tiers = https://me:hidden@one/c rw token=~/t; dir:/two\n")
        for args in ((), ("--show-origin",), ("cache.tiers",), ("--json",), ("cache.tiers", "--json")):
            result = self.config(*args)
            self.assert_exit(result, 0)
            self.assertNotIn("hidden", result.out + result.err)
            self.assertIn("https://one/c rw token=~/t", result.out)
        row = self.config("cache.tiers", "--json").json
        self.assertEqual(row["value"], ["https://one/c rw token=~/t", "dir:/two"])
        self.assertEqual(row["text"], "https://one/c rw token=~/t; dir:/two")
        wrong = self.config("--set", "cache.tiers=ftp://me:hidden@one").out
        self.assertNotIn("hidden", wrong)

    def test_color_can_be_set_and_the_option_wins(self):
        self.write("build/conf/bitzel.conf", "color = always\n")
        self.assertIn("\033[", self.config("--describe").out)
        self.assertNotIn("\033[", self.config("--describe", "--color=auto").out)
        self.assertNotIn("\033[", self.config("--describe", "--set", "color=never").out)


if __name__ == "__main__":
    bitzel.main()
