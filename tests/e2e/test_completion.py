"""Completion: what bitzel complete answers, and what bash, zsh and fish make of it."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import unittest

import bitzel
import demo

# What a line became: its words go to the pipe "ran".
STAND_IN = """\
#!/bin/sh
case $1 in
complete | completion) exec "%s" "$@" ;;
esac
printf '%%s\\n' "$@" >ran
"""


class Completing(demo.Project):
    def setUp(self):
        super().setUp()
        self.write("build/conf/local.conf", 'BBMULTICONFIG = "arm"\nMACHINE ??= "board"\n')
        self.write("build/conf/multiconfig/arm.conf", 'MACHINE = "arm"\n')
        self.write("meta-one/classes/base.bbclass",
                   "".join(f"do_{task}() {{\n    :\n}}\naddtask {task}\n" for task in ("fetch", "compile", "build")))

    def parse(self):
        self.assert_exit(self.run_in_build("parse"), 0)


class Complete(Completing):
    def offers(self, *words):
        result = self.run_bitzel("complete", "--", *words)
        self.assertEqual((result.code, result.err), (0, ""))
        return [line.split("\t")[0] for line in result.out.splitlines()]

    def in_build(self, *words):
        return self.offers("--directory", self.dir / "build", *words)

    def test_names_are_those_that_the_last_parse_found(self):
        self.assertEqual(self.in_build("build", "he"), [])
        self.parse()
        self.assertEqual(self.in_build("build", "he"), ["hello"])
        self.write("meta-one/recipes/help_1.bb", "")
        self.assertEqual(self.in_build("build", "he"), ["hello"])
        self.parse()
        self.assertEqual(sorted(self.in_build("build", "he")), ["hello", "help"])

    def test_each_recipe_is_offered_once(self):
        self.parse()
        self.assertEqual(sorted(self.in_build("build", "")), ["clock", "hello", "mc:arm:", "sundial", "world"])
        self.assertEqual(sorted(self.in_build("recipes", "c")), ["clock"])
        self.assertEqual(sorted(self.in_build("getvar", "-r", "")), ["clock", "hello", "mc:arm:", "sundial"])

    def test_tasks_and_configurations_follow_a_colon(self):
        self.parse()
        self.assertEqual(self.in_build("plan", "hello:do_c"), ["hello:do_compile"])
        self.assertEqual(self.in_build("plan", "mc:"), ["mc:arm:"])
        self.assertEqual(self.in_build("plan", "mc:arm:h"), ["mc:arm:hello"])
        self.assertEqual(self.in_build("plan", "mc:arm:hello:do_f"), ["mc:arm:hello:do_fetch"])
        self.assertEqual(self.in_build("plan", "mc:none:h"), [])
        self.assertEqual(self.in_build("build", "--task=c"), ["--task=compile"])
        self.assertEqual(self.in_build("build", "-c", "do_c"), ["do_compile"])

    def test_variables_of_the_configuration_are_offered_but_no_functions(self):
        self.parse()
        self.assertEqual(self.in_build("getvar", "MACHI"), ["MACHINE"])
        self.assertEqual(self.in_build("getvar", "-r", "hello", "BBMULTI"), ["BBMULTICONFIG"])
        self.assertIn("TOPDIR", self.in_build("getvar", ""))
        self.assertEqual(self.in_build("getvar", "do_"), [])

    def test_builds_are_offered_the_last_one_first(self):
        builds = ["20260102T030405-0000001", "20260102T040000-0000002", "20270102T040000-0000003"]
        for build in builds:
            self.write(f"build/builds/{build}/events", "")
        for words in (["report"], ["trace"], ["log", "--build"], ["why", "--since"]):
            self.assertEqual(self.in_build(*words, ""), ["last", *builds[::-1]], words)
            self.assertEqual(self.in_build(*words, "2026"), builds[1::-1])

    def test_a_project_on_the_line_counts(self):
        self.parse()
        for option in ([f"--project={self.dir}/build"], ["--project", self.dir / "build"]):
            self.assertEqual(self.offers(*option, "build", "he"), ["hello"])

    def test_every_command_and_option_of_help_is_offered(self):
        self.assertEqual(self.offers(""), self.commands())
        self.assertNotIn("complete", self.commands())
        for name in self.commands():
            text = self.run_bitzel("help", name).out
            options = re.findall(r"^  (?:-\w, |    )(--\S+)", text, re.M)
            self.assertEqual(sorted(options), sorted(self.offers(name, "--")), name)

    def test_nothing_is_said_about_what_is_wrong(self):
        self.parse()
        snapshot = self.dir / "build/cache/bitzel.catalog"
        snapshot.write_bytes(snapshot.read_bytes()[:1000])
        for words in (["build", "he"], ["--project", "/nowhere", "build", "h"], ["--directory", "/nowhere", "build", "h"],
                      ["nonsense", "x", ""], ["--", "--", ""], ["build", "--nonsense=x"], ["-"], []):
            result = self.run_bitzel("--directory", self.dir / "build", "complete", "--", *words)
            self.assertEqual((result.code, result.err), (0, ""), words)

    def test_an_unknown_shell_is_an_error(self):
        result = self.run_bitzel("completion", "csh")
        self.assert_exit(result, 2)
        self.assertIn("bash, zsh and fish", result.err)


class Shells(Completing):
    """Lines that end with the tab key, and the words that bitzel is run with then."""

    lines = (("fet", ["fetch"]),
             ("build hel", ["build", "hello"]),
             ("build hello:do_comp", ["build", "hello:do_compile"]),
             ("build mc:arm:sun", ["build", "mc:arm:sundial"]),
             ("build mc:a", ["build", "mc:arm:"]),
             ("--color=al", ["--color=always"]),
             ("build --verify=al", ["build", "--verify=always"]),
             ("--set cache.verify=fir", ["--set", "cache.verify=first-use"]),
             ("--project bbl", ["--project", "bblayers.conf"]),
             ("cache ver", ["cache", "verify"]),
             ("config cache.ver", ["config", "cache.verify"]),
             ("getvar MACHI", ["getvar", "MACHINE"]),
             ("report 2026", ["report", "20260102T030405-0000001"]))

    def setUp(self):
        super().setUp()
        self.parse()
        self.write("build/builds/20260102T030405-0000001/events", "")
        self.write("bin/bitzel", STAND_IN % bitzel.PROGRAM)
        os.chmod(self.dir / "bin/bitzel", 0o755)
        os.mkfifo(self.dir / "build/conf/ran")
        self.pipe = os.open(self.dir / "build/conf/ran", os.O_RDWR)
        self.addCleanup(os.close, self.pipe)
        self.env = self.environment(PATH=f"{self.dir}/bin:{os.environ['PATH']}", TERM="xterm",
                                    BITZEL_PROJECT=str(self.dir / "build"))

    def need(self, shell):
        if not shutil.which(shell):
            if os.environ.get("BITZEL_MUST_WORK") == "1":
                self.fail(f"{shell} is missing")
            self.skipTest(f"{shell} is missing")

    def type_lines(self, lines, shell, *commands):
        """Types into a shell on a terminal."""
        self.need(shell[0])
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.dir / "build/conf")
            os.execvpe(shell[0], shell, self.env)
        try:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            for command in commands:
                os.write(terminal, command.encode() + b"\r")
            os.write(terminal, b"bitzel ready\r")
            self.assertEqual(self.ran(terminal), ["ready"])
            for line, expected in lines:
                with self.subTest(line=line):
                    os.write(terminal, f"bitzel {line}\t\r".encode())
                    self.assertEqual(self.ran(terminal), expected)
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(terminal)

    def ran(self, terminal):
        """Waits for a run, and reads what the shell shows meanwhile lest it blocks."""
        shown = b""
        while True:
            ready = select.select([self.pipe, terminal], [], [], bitzel.TIMEOUT)[0]
            self.assertTrue(ready, shown)
            if self.pipe in ready:
                return os.read(self.pipe, 4096).decode().splitlines()
            shown += os.read(terminal, 65536)

    def test_bash(self):
        self.type_lines(self.lines, ["bash", "--norc", "--noprofile", "-i"], "source <(bitzel completion bash)")

    def test_zsh(self):
        self.type_lines(self.lines, ["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D", "source <(bitzel completion zsh)")

    def test_zsh_finds_it_in_fpath(self):
        self.need("zsh")
        self.write("functions/_bitzel", self.run_bitzel("completion", "zsh").out)
        self.type_lines(self.lines[:1], ["zsh", "-f", "-i"], f"fpath=({self.dir}/functions $fpath)", "autoload -U compinit; compinit -u -D")

    def test_fish(self):
        self.need("fish")
        script = 'bitzel completion fish | source; for line in $argv; complete -C "bitzel $line"; echo; end'
        done = subprocess.run(["fish", "--no-config", "-c", script, *(line for line, _ in self.lines)], env=self.env,
                              cwd=self.dir / "build/conf", capture_output=True, text=True, check=True)
        answers = [[row.split("\t")[0] for row in part.splitlines()] for part in done.stdout.split("\n\n")]
        self.assertEqual(answers[:-1], [[words[-1]] for _, words in self.lines])


if __name__ == "__main__":
    unittest.main()
