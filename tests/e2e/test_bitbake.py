"""The programs that answer BitBake's command lines."""

import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

import bitzel
import test_build

ROOT = pathlib.Path(__file__).resolve().parents[2]
HANDS = ROOT / "cmd/bitbake/bin"
NO_ERRORS_BUT_ONE = "\nSummary: There was 1 ERROR message, returning a non-zero exit code.\n"


class Hands(test_build.Kitchen):
    def setUp(self):
        super().setUp()
        self.env = {**os.environ, "BITZEL": os.environ["BITZEL"], "HOME": str(self.dir / "home"),
                    "XDG_CACHE_HOME": str(self.dir / "xdg"), "BITZEL_CACHE_DIR": str(self.dir / "store")}
        self.write("meta-more/conf/layer.conf",
                   'BBPATH .= ":${LAYERDIR}"\nBBFILES += "${LAYERDIR}/*.bb ${LAYERDIR}/*.bbappend"\n'
                   'BBFILE_COLLECTIONS += "more"\nBBFILE_PATTERN_more = "^${LAYERDIR}/"\n'
                   'BBFILE_PRIORITY_more = "9"\nLAYERSERIES_COMPAT_more = "spring"\n')
        self.write("meta-more/dough.bb", "")
        self.write("meta-more/sauce.bbappend", 'SALT = "a lot"\n')
        self.edit("build/conf/bblayers.conf", 'meta-kitchen"',
                  'meta-kitchen ${TOPDIR}/../meta-more"')

    def hand(self, program, *args, code=0, where=None):
        done = subprocess.run([HANDS / program, *map(str, args)], cwd=where or self.dir / "build",
                              env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        if "user namespaces do not work here" in done.stderr and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_a_build_ends_with_the_words_that_scripts_look_for(self):
        first = self.hand("bitbake", "-k", "-c", "install", "pizza").stdout
        self.assertIn("NOTE: Tasks Summary: Attempted 8 tasks of which 0 didn't need to be rerun and "
                      "all succeeded.\n", first)
        self.assertIn("of which 8 didn't need to be rerun and all succeeded.",
                      self.hand("bitbake", "-kc", "install", "pizza").stdout)

    def test_a_build_of_what_is_there_already_needs_nothing(self):
        self.hand("bitbake", "pizza")
        self.assertIn("Attempted 10 tasks of which 10 didn't need to be rerun and all succeeded.\n",
                      self.hand("bitbake", "pizza").stdout)

    def test_a_failure_exits_with_1_and_names_the_task(self):
        self.write("meta-kitchen/recipes/sauce.bb", "do_compile() {\n    exit 3\n}\n")
        result = self.hand("bitbake", "sauce", code=1)
        task = f"{self.dir}/build/../meta-kitchen/recipes/sauce.bb:do_compile"
        log = f"{self.dir}/build/tmp/work/sauce/temp/log.do_compile"
        self.assertEqual(result.stdout,
                         "NOTE: Tasks Summary: Attempted 1 tasks of which 0 didn't need to be rerun and 1 failed.\n"
                         f"\nSummary: 1 task failed:\n  {task}\n    log: {log}" + NO_ERRORS_BUT_ONE)
        self.assertIn(f"ERROR: Logfile of failure stored in: {log}\n"
                      f"ERROR: Task ({task}) failed with exit code '3'\n", result.stderr)

    def test_one_task_is_run_of_all_that_is_needed(self):
        told = self.hand("bitbake", "--runall=compile", "sauce", "dough").stdout
        self.assertIn("Attempted 2 tasks of which 0 didn't", told)
        told = self.hand("bitbake", "-n", "--runall", "do_install", "pizza").stdout
        self.assertEqual(sorted(line for line in told.splitlines() if "do_install" in line),
                         [f"Would execute {name}:do_install" for name in ("dough", "pizza", "sauce")])
        self.assertIn("has a task do_eat", self.hand("bitbake", "--runall=eat", "pizza", code=1).stderr)
        self.assertIn("Nothing PROVIDES 'nope'", self.hand("bitbake", "--runall=fetch", "nope", code=1).stderr)

    def test_all_failures_are_counted(self):
        for name in ("dough", "sauce"):
            self.write(f"meta-kitchen/recipes/{name}.bb", "do_compile() {\n    exit 3\n}\n")
        result = self.hand("bitbake", "-k", "pizza", code=1)
        self.assertIn(" and 2 failed.\n\nSummary: 2 tasks failed:\n", result.stdout)
        self.assertTrue(result.stdout.endswith(
            "Summary: There were 2 ERROR messages, returning a non-zero exit code.\n"), result.stdout)
        for name in ("dough", "sauce"):
            self.assertIn(f"/recipes/{name}.bb:do_compile\n", result.stdout)
        quiet = self.hand("bitbake", "-q", "-k", "pizza", code=1)
        self.assertEqual(quiet.stdout, "")
        self.assertIn("ERROR: Task (", quiet.stderr)

    def test_a_build_that_never_begins_has_a_summary_too(self):
        for words in (["nope"], ["-n", "nope"], ["-e", "nope"], ["-g", "nope"], ["pizza", "nope"]):
            with self.subTest(words=words):
                result = self.hand("bitbake", *words, code=1)
                self.assertEqual(result.stdout, NO_ERRORS_BUT_ONE)
                self.assertTrue(result.stderr.endswith("ERROR: Nothing PROVIDES 'nope'\n"), result.stderr)
        self.assertFalse((self.dir / "build/pn-buildlist").exists())
        self.write("meta-kitchen/recipes/soup.bb", 'DEPENDS = "salt"\n')
        self.assertIn(f"ERROR: Nothing PROVIDES 'salt' (but {self.dir}/build/../meta-kitchen/recipes/soup.bb DEPENDS on "
                      "or otherwise requires it)\n", self.hand("bitbake", "soup", code=1).stderr)
        self.assertIn(f"ERROR: Task do_eat does not exist for target sauce ({self.dir}/build/../meta-kitchen/recipes/"
                      "sauce.bb:do_eat)\n", self.hand("bitbake", "-c", "eat", "sauce", code=1).stderr)

    def test_colours_do_not_hide_what_is_wrong(self):
        self.env["CLICOLOR_FORCE"] = "1"
        self.write("meta-kitchen/recipes/soup.bb", "water\n")
        for words in (["nope"], ["-n", "nope"], ["-e", "nope"]):
            self.assertIn("\nERROR: Nothing PROVIDES 'nope'\n", "\n" + self.hand("bitbake", *words, code=1).stderr)
        self.assertIn("ERROR: ParseError at /", self.hand("bitbake", "-p", code=1).stderr)

    def test_a_wrong_command_line_exits_with_1(self):
        self.assertIn("ERROR: nothing to do", self.hand("bitbake", code=1).stderr)
        self.assertIn("--frobnicate is not known here", self.hand("bitbake", "--frobnicate", code=1).stderr)
        self.assertIn("-x is not known here", self.hand("bitbake", "-kx", code=1).stderr)

    def test_forcing_runs_again_and_a_dry_run_nothing(self):
        self.hand("bitbake", "sauce")
        self.assertEqual(self.hand("bitbake", "-n", "-C", "compile", "sauce").stdout,
                         "Would execute sauce:do_compile\nWould execute sauce:do_install\n"
                         "Would execute sauce:do_populate_sysroot\nNOTE: Tasks Summary: Attempted 4 tasks of which "
                         "0 didn't need to be rerun and all succeeded.\n")
        self.assertEqual(self.hand("bitbake", "-nk", "sauce").stdout,
                         "NOTE: Tasks Summary: Attempted 4 tasks of which 4 didn't need to be rerun and all succeeded.\n")
        self.assertIn("of which 0 didn't", self.hand("bitbake", "-f", "-c", "compile", "sauce").stdout)

    def test_an_interrupt_ends_the_build_before_the_prompt_is_back(self):
        self.write("meta-kitchen/recipes/soup.bb", "do_compile() {\n    sleep 50\n}\n")
        with subprocess.Popen([HANDS / "bitbake", "soup"], cwd=self.dir / "build", env=self.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as child:
            log = self.dir / "build/tmp/work/soup/temp/log.do_compile"
            end = time.monotonic() + bitzel.TIMEOUT
            while child.poll() is None and not log.exists() and time.monotonic() < end:
                time.sleep(0.05)
            for _ in range(2): # the first one lets tasks end
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGINT)
                    time.sleep(0.5)
            text = child.communicate(timeout=bitzel.TIMEOUT)[0]
            if "user namespaces do not work here" in text and "BITZEL_MUST_WORK" not in os.environ:
                self.skipTest(text)
            self.assertEqual(child.returncode, 130, text)
            self.assertRaises(ProcessLookupError, os.killpg, child.pid, 0)

    def test_variables_are_shown(self):
        self.assertIn('\nSALT="a lot"\n', self.hand("bitbake", "-e", "sauce").stdout)
        self.assertIn('\nSALT="a pinch"\n', self.hand("bitbake", "-e").stdout)
        self.assertEqual(self.hand("bitbake-getvar", "--value", "-r", "sauce", "SALT").stdout, "a lot\n")
        shown = self.hand("bitbake-getvar", "-r", "sauce", "SALT").stdout
        self.assertIn("sauce.bbappend:1", shown)
        self.assertTrue(shown.endswith('SALT="a lot"\n'), shown)

    def test_a_variable_that_is_not_set_is_exit_status_1(self):
        self.assertIn("NIX is not set", self.hand("bitbake-getvar", "NIX", code=1).stderr)
        self.assertIn("no recipe is called 'nix'", self.hand("bitbake-getvar", "-r", "nix", "PN", code=1).stderr)
        self.assertEqual(self.hand("bitbake-getvar", "--ignore-undefined", "--value", "NIX").stdout, "\n")
        self.assertEqual(self.hand("bitbake-getvar", "--ignore-undefined", "NIX").stdout, "")
        self.hand("bitbake-getvar", "--ignore-undefined", "-r", "nix", "PN", code=1)

    def test_graphs_are_written_to_files(self):
        self.hand("bitbake", "-gn", "pizza")
        names = (self.dir / "build/pn-buildlist").read_text().split()
        self.assertEqual(sorted(names), ["dough", "pizza", "sauce"])
        self.assertIn('"pizza.do_compile" -> "dough.do_populate_sysroot"',
                      (self.dir / "build/task-depends.dot").read_text())

    def test_layers_and_recipes_are_listed(self):
        rows = self.hand("bitbake-layers", "show-layers").stdout.splitlines()
        self.assertEqual(rows[0].split(), ["layer", "path", "priority"])
        self.assertEqual({(r.split()[0], r.split()[2]) for r in rows[2:]}, {("kitchen", "10"), ("more", "9")})
        recipes = self.hand("bitbake-layers", "show-recipes").stdout
        self.assertIn("dough:\n  meta-kitchen         1.0\n  meta-more            1.0\n", recipes)
        self.assertNotIn("dough", self.hand("bitbake-layers", "show-recipes", "p*a").stdout)
        self.assertIn(f"{self.dir}/build/../meta-kitchen/recipes/dough.bb\n  ",
                      self.hand("bitbake-layers", "show-recipes", "-f").stdout)
        self.assertEqual(self.hand("bitbake-layers", "show-appends").stdout,
                         "=== Appended recipes ===\nsauce.bb:\n"
                         f"  {self.dir}/build/../meta-more/sauce.bbappend\n")
        self.assertEqual(self.hand("bitbake-layers", "show-overlayed").stdout,
                         "=== Overlayed recipes ===\ndough:\n  meta-kitchen         1.0\n  meta-more            1.0\n")
        self.hand("bitbake-layers", "show-nothing", code=1)

    def test_versions_are_listed(self):
        rows = self.hand("bitbake", "-s").stdout.splitlines()
        self.assertTrue(rows[0].startswith("Recipe Name      "), rows[0])
        self.assertEqual([r.split() for r in rows[3:]], [["dough", ":1.0-"], ["pizza", ":1.0-"], ["sauce", ":1.0-"]])

    def test_parsing_tells_what_there_is(self):
        for words in (["-p"], ["-k", "-p"], ["-kp"], ["-p", "-c", "compile"]):
            with self.subTest(words=words):
                self.assertRegex(self.hand("bitbake", *words).stdout,
                                 r"^Parsing of 4 \.bb files complete \(\d cached, \d parsed\)\. "
                                 r"4 targets, 0 skipped, 0 masked, 0 errors\.\n$")

    def test_parsing_tells_what_is_wrong(self):
        self.write("meta-kitchen/recipes/soup.bb", "water\n")
        self.write("meta-kitchen/recipes/stew.bb", 'DEPENDS = "${@meat()}"\n')
        result = self.hand("bitbake", "-p", code=1)
        self.assertEqual(result.stdout, "\nSummary: There were 3 ERROR messages, returning a non-zero exit code.\n")
        errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR: ")]
        where = f"{self.dir}/build/../meta-kitchen/recipes"
        self.assertEqual(errors, [f"ERROR: ParseError at {where}/soup.bb:1: unparsed line: 'water'",
                                  f"ERROR: Unable to parse {where}/stew.bb",
                                  "ERROR: Parsing halted due to errors, see error messages above"])

    def test_recipes_that_cannot_be_had_say_why(self):
        self.write("meta-kitchen/recipes/soup.bb", "water\n")
        place = f"{self.dir}/build/../meta-kitchen/recipes/soup.bb"
        why = rf"\(skipped: {re.escape(place)}:1:6: unparsed line: 'water'\)"
        listing = self.hand("bitbake-layers", "show-recipes", "s*").stdout
        self.assertRegex(listing, rf"^=== Matching recipes: ===\nsauce:\n.*\nsoup:\n  meta-kitchen         unknown {why}\n$")
        self.assertRegex(self.hand("bitbake-layers", "show-recipes", "-f").stdout, rf"\n{re.escape(place)} {why}\n")
        self.assertIn("unknown\n", self.hand("bitbake-layers", "show-recipes", "-b").stdout)

    def editor(self, *command, code=0):
        """What the editor sees: all that a command writes, on a terminal."""
        done = subprocess.run([HANDS / command[0], *command[1:]], cwd=self.dir / "build", env=self.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if "user namespaces do not work here" in done.stdout and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def test_an_editor_finds_bitbake_and_devtool(self):
        text = (HANDS / "bitbake").read_text()
        version = re.search(r'__version__ = "(\d+\.\d+\.\d+)"', text)
        self.assertTrue(version)
        self.assertIn(f"BitBake Build Tool version {version[1]}", self.hand("bitbake", "--version").stdout)
        found = subprocess.run("which devtool bitbake bitbake-layers bitbake-getvar", shell=True, check=True, text=True,
                               env={**self.env, "PATH": f"{HANDS}:{os.environ['PATH']}"}, stdout=subprocess.PIPE)
        self.assertEqual(found.stdout.split(), [str(HANDS / name) for name in
                                                ("devtool", "bitbake", "bitbake-layers", "bitbake-getvar")])
        self.assertEqual(self.editor("devtool", "status"), "")
        for words in (["modify", "sauce"], ["reset", "sauce"], ["build", "sauce"], ["ide-sdk", "-i", "code", "sauce"], []):
            self.assertRegex(self.editor("devtool", *words, code=1), r"^ERROR: .*bitzel keeps no workspaces")

    def test_an_editor_scans_the_project(self):
        rows = self.editor("bitbake-layers", "show-layers").splitlines()
        self.assertRegex(rows[0], r"^layer *path *priority$")
        self.assertEqual([int(re.split(r"\s+", row)[2]) for row in rows[2:]], [10, 9])
        listing = self.editor("bitbake-layers", "show-recipes")
        self.assertIn("Available recipes", listing)
        found = re.findall(r"(.+):\r?\n((?:\s+\S+\s+\S+(?:\s+\(skipped[^\r\n]*\))?\r?\n)+)", listing)
        self.assertEqual([name for name, _ in found], ["dough", "pizza", "sauce"])
        files = re.findall(r"(?m)^([\w/._-]+\.bb)(?:\s+\(skipped[^\r\n]*\))?$",
                           self.editor("bitbake-layers", "show-recipes", "-f"))
        self.assertEqual([pathlib.Path(name).stem for name in files], ["dough", "pizza", "sauce"])
        appends = re.findall(r"\r?\n(.*\.bb):(?:\r?\n\s*/.*\.bbappend)+", self.editor("bitbake-layers", "show-appends"))
        self.assertEqual(appends, ["sauce.bb"])
        self.write("build/conf/local.conf", 'MACHINE = "stove"\nOVERRIDES = "stove:gas"\n')
        overrides = re.search(r'\nOVERRIDES="(.*)"\r?\n', self.editor("bitbake-getvar", "OVERRIDES"))
        self.assertEqual(overrides[1].split(":"), ["stove", "gas"])

    def test_an_editor_scans_variables_and_files(self):
        for words, last in ((["-p", "-e"], "base.bbclass"), (["sauce", "-p", "-e"], "sauce.bbappend")):
            with self.subTest(words=words):
                lines = self.editor("bitbake", *words).splitlines()
                begin = next(i for i, line in enumerate(lines) if "INCLUDE HISTORY" in line) + 2
                files = [pathlib.Path(line[1:].strip()) for line in lines[begin:lines.index("#", begin)]]
                self.assertTrue(all(name.is_file() for name in files), files)
                self.assertEqual(files[-1].name, last)
                self.assertIn("bblayers.conf", {name.name for name in files})

    def test_an_editor_marks_what_is_wrong(self):
        where = f"{self.dir}/build/../meta-kitchen/recipes"
        self.write("meta-kitchen/recipes/soup.bb", "# water\nwater\n")
        self.write("meta-kitchen/recipes/stew.bb", 'DEPENDS = "${@meat()}"\n')
        for words in (["-p"], ["soup", "-p"], ["soup"], ["soup", "-c", "compile", "-f"]):
            with self.subTest(words=words):
                told = self.editor("bitbake", *words, code=1)
                found = re.findall(r"(?m)^.*ParseError (?:at|in) (.+?):(\d+)?:? (?:unparsed line: '(.+)')$", told)
                self.assertEqual(found, [(f"{where}/soup.bb", "2", "water")])
        unable = r"(?m)ERROR: Unable to parse (.+)$"
        self.assertEqual(re.findall(unable, self.editor("bitbake", "-p", code=1)), [f"{where}/stew.bb"])
        self.assertEqual(re.findall(unable, self.editor("bitbake", "stew", code=1)), [f"{where}/stew.bb"])
        self.write("meta-kitchen/recipes/sauce.bb", "do_compile() {\n    exit 3\n}\n")
        self.assertEqual(re.findall(r"(?m)^(ERROR): Task \((.*):(.*\) .*)$", self.editor("bitbake", "sauce", code=1)),
                         [("ERROR", f"{where}/sauce.bb", "do_compile) failed with exit code '3'")])


if __name__ == "__main__":
    unittest.main()
