"""The doctor: looks at this machine and at the ones the test makes of it."""

import os
import resource

import bitzel

STATES = ("ok", "warn", "fail")


class Doctor(bitzel.Case):
    def examine(self, **how):
        """{name: row} of doctor --json, with what holds for every such report checked."""
        result = self.run_bitzel("doctor", "--json", **how)
        report = result.json
        self.assertEqual(sorted(report), ["checks", "fail", "ok", "warn"])
        for row in report["checks"]:
            self.assertEqual(list(row), ["name", "status", "found", "fix"])
            self.assertIn(row["status"], STATES)
            self.assertTrue(row["found"])
            self.assertEqual(row["fix"] is None, row["status"] == "ok", row)
        for state in STATES:
            rows = [row for row in report["checks"] if row["status"] == state]
            self.assertEqual(report[state], len(rows))
        self.assert_exit(result, 4 if report["fail"] else 0)
        return {row["name"]: row for row in report["checks"]}

    def test_every_check_is_made(self):
        self.assertEqual(list(self.examine()), [
            "cpus", "memory", "open files", "disk space", "inodes", "clock", "pidfd",
            "membarrier", "user namespaces", "overlayfs", "landlock"])

    def test_the_text_shows_the_same_rows(self):
        text = self.run_bitzel("doctor", env={"COLUMNS": "100"})
        shown = [line[:22].split(maxsplit=1) for line in text.out.splitlines()
                 if not line.startswith(" ")]
        self.assertEqual([[row["status"], name] for name, row in self.examine().items()],
                         [[status, name.strip()] for status, name in shown])

    def test_it_counts_the_cpus_this_process_may_use(self):
        cpu = min(os.sched_getaffinity(0))
        rows = self.examine(preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        self.assertEqual(rows["cpus"]["status"], "warn")
        self.assertIn("1 usable", rows["cpus"]["found"])

    def test_a_low_limit_of_open_files_is_a_warning_with_its_fix(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        lower = (64, hard)
        rows = self.examine(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, lower))
        self.assertEqual(rows["open files"]["status"], "warn")
        self.assertIn("ulimit -n", rows["open files"]["fix"])

    def test_the_cache_is_in_the_users_cache_directory(self):
        self.assertIn(f"{self.dir}/.cache/bitzel", self.examine()["disk space"]["found"])
        elsewhere = str(self.dir / "elsewhere")
        rows = self.examine(env={"XDG_CACHE_HOME": elsewhere})
        self.assertIn(f"{elsewhere}/bitzel", rows["disk space"]["found"])
        rows = self.examine(env={"XDG_CACHE_HOME": "relative"})  # does not count
        self.assertIn(f"{self.dir}/.cache/bitzel", rows["disk space"]["found"])

    def test_nothing_is_created(self):
        self.examine()
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_a_cache_that_cannot_be_is_a_failure(self):
        (self.dir / "file").write_text("")
        rows = self.examine(env={"XDG_CACHE_HOME": str(self.dir / "file")})
        self.assertEqual(rows["disk space"]["status"], "fail")
        self.assertIn("is not a directory", rows["disk space"]["found"])
        self.assert_exit(self.run_bitzel("doctor", env={"XDG_CACHE_HOME": "/proc"}), 4)

    def test_quiet_shows_problems_only(self):
        (self.dir / "file").write_text("")
        env = {"XDG_CACHE_HOME": str(self.dir / "file")}
        text = self.run_bitzel("doctor", "-q", env=env).out
        self.assertIn("fail  disk space", text)
        self.assertIn("fix: ", text)
        self.assertNotIn("ok ", text)

    def test_control_characters_in_a_path_do_not_reach_the_terminal(self):
        env = {"XDG_CACHE_HOME": f"{self.dir}/\x1b[31m"}
        self.assertNotIn("\x1b", self.run_bitzel("doctor", env=env).out)
        self.assertIn("\x1b", self.examine(env=env)["disk space"]["found"])


if __name__ == "__main__":
    bitzel.main()
