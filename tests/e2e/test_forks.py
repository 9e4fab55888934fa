"""Commands that only tell start no process: what a build has found out about sandboxes
is remembered."""

import json
import os
import re
import shutil
import subprocess
import unittest

import bitzel
import demo

# Threads are no processes.
START = re.compile(r"\b(execve|execveat|fork|vfork|clone|clone3)\(")
COMMANDS = (["sig", "app"], ["sig", "--inputs", "app"], ["sig", "--all", "--json", "app"],
            ["plan", "app"], ["plan", "--json", "app"], ["graph", "app"],
            ["why", "app"], ["why", "--json", "app"], ["query", "deps(app)"],
            ["query", "inputs(app:do_build)"])


class Project(demo.Project):
    """Two recipes, app and lib; app needs lib."""

    def setUp(self):
        super().setUp()
        conf = self.dir / "meta-one/conf/bitbake.conf"
        conf.write_text(conf.read_text(encoding="utf-8") +
                        'T = "${TOPDIR}/tmp/${PN}/temp"\n', encoding="utf-8")
        self.write("meta-one/classes/base.bbclass",
                   'addtask build\ndo_build[deptask] = "do_build"\n'
                   "do_build() {\n    : ${FLAGS}\n}\n")
        self.write("meta-one/recipes/lib.bb", 'FLAGS = "-O1"\n')
        self.write("meta-one/recipes/app.bb", 'FLAGS = "-O2"\nDEPENDS = "lib"\n')

    def build(self):
        result = self.run_in_build("build", "app")
        if result.code == 5 and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(result.err.strip())
        self.assert_exit(result, 0)


class Forks(Project):
    def starts(self, *args):
        """The processes and programs that a command starts, after its own."""
        trace = self.dir / "trace"
        done = subprocess.run(
            ["strace", "-f", "-qq", "-o", trace, "-e", "trace=process", bitzel.PROGRAM,
             "--directory", self.dir / "build", *args],
            cwd=self.dir, env=self.environment(ASAN_OPTIONS="detect_leaks=0"), check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=bitzel.TIMEOUT)
        if b"ptrace" in done.stderr.lower() and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in trace.read_text(encoding="utf-8").splitlines()
                 if START.search(line) and "CLONE_THREAD" not in line]
        self.assertIn("execve(", lines[0])
        return lines[1:]

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_commands_that_only_tell_start_no_process(self):
        self.build()
        for args in COMMANDS:
            with self.subTest(" ".join(args)):
                self.assertEqual(self.starts(*args), [])

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_nor_where_no_build_was_made(self):
        for args in COMMANDS:
            if args[0] != "why":
                with self.subTest(" ".join(args)):
                    self.assertEqual(self.starts(*args), [])

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_a_build_is_seen_to_start_processes(self):
        self.assertNotEqual(self.starts("build", "app"), [])


class Memory(Project):
    def test_an_assumption_is_told(self):
        for args in (["sig", "app"], ["plan", "app"]):
            with self.subTest(args[0]):
                result = self.run_in_build(*args)
                self.assert_exit(result, 0)
                self.assertEqual(result.err.count(bitzel.ASSUMED), 1, result)
                self.assertNotIn(bitzel.ASSUMED, self.run_in_build("--quiet", *args).err)
        self.build()
        for args in (["sig", "app"], ["plan", "app"], ["why", "app"],
                     ["query", "inputs(app:do_build)"]):
            with self.subTest(args[0]):
                self.assertNotIn(bitzel.ASSUMED, self.run_in_build(*args).err)

    def test_json_has_it_too(self):
        record = self.dir / "record"
        self.assert_exit(self.run_in_build("sig", "--record", record, "app"), 0)
        commands = (["sig", "--json", "app"], ["plan", "--json", "app"],
                    ["why", "--json", "--vs", record, "app"])
        for args in commands:
            with self.subTest(args[0]):
                self.assertIs(self.run_in_build(*args).json["sandbox_assumed"], True)
        self.build()
        for args in commands:
            with self.subTest(args[0]):
                self.assertIs(self.run_in_build(*args).json["sandbox_assumed"], False)

    def test_what_is_told_after_a_build_is_what_was_built(self):
        self.build()
        plan = self.run_in_build("plan", "--json", "app").json
        self.assertEqual((plan["run"], plan["restored"]), (0, 1), json.dumps(plan))

    def test_nothing_is_assumed_where_sandboxes_are_required(self):
        result = self.run_in_build("--set", "sandbox=required", "sig", "--json", "app")
        self.assertIs(result.json["sandbox_assumed"], False)
        self.assertNotIn(bitzel.ASSUMED, result.err)


if __name__ == "__main__":
    bitzel.main()
