"""cmd/run and tests/run on a small tree, with stand-ins for dpkg-query, apt-get and sudo.

No test installs anything or talks to the network.
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

PROJECT = """cmake_minimum_required(VERSION 3.24)
project(small C)
include(CTest)
add_subdirectory(cmd/bitzel)
if(BUILD_TESTING)
  add_executable(case case.c)
  add_test(NAME case COMMAND case)
  add_test(NAME words COMMAND ${CMAKE_COMMAND} -E cat ${CMAKE_SOURCE_DIR}/words)
endif()
"""
BITZEL = """#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char cwd[4096];
    puts(getcwd(cwd, sizeof(cwd)));
    for (int i = 1; i < argc; i++)
        printf("[%s]\\n", argv[i]);
    for (int c; (c = getchar()) != EOF;)
        putchar(c);
    return argc > 1 ? 7 : 0;
}
"""
PRESETS = """{"version": 5, "configurePresets": [
  {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"},
  {"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}]}
"""
# What the stand-ins do is kept in the directory $FAKE: a file per installed package,
# `lists` once apt-get update has run, `log` with the commands that were run.
DPKG_QUERY = """#!/bin/bash
for name in "${@:4}"; do
    [ ! -e "$FAKE/installed/$name" ] || echo "installed $name"
done
"""
APT_GET = """#!/bin/bash
while [[ $1 == -* ]]; do [[ $1 != -o ]] || shift; shift; done
[[ $* == *--simulate* ]] || echo "apt-get $*" >>"$FAKE/log"
echo "noise on stdout"
case $1 in
update) touch "$FAKE/lists" ;;
install)
    [ -e "$FAKE/lists" ] || { echo "unable to locate" >&2; exit 100; }
    [ ! -e "$FAKE/stale" ] || [[ $* == *--simulate* ]] || { rm "$FAKE/stale"; exit 100; }
    [[ $* == *--simulate* ]] || for name in "${@:4}"; do touch "$FAKE/installed/$name"; done ;;
esac
"""
SUDO = '#!/bin/bash\necho sudo >>"$FAKE/log"\nexec "$@"\n'
ID = "#!/bin/bash\necho ${FAKE_UID:-0}\n"


class Small(unittest.TestCase):
    """One small tree, in a folder with a blank in its name, for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="script test ")
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name).resolve()
        cls.root = cls.top / "a checkout"
        cls.write(cls.root, {
            "CMakeLists.txt": PROJECT, "CMakePresets.json": PRESETS,
            "cmd/bitzel/CMakeLists.txt": "add_executable(bitzel main.c)\n",
            "cmd/bitzel/main.c": BITZEL, "case.c": "int main(void) { return 0; }\n",
            "words": "nothing\n",
        })
        for name in ("cmd/run", "cmd/setup.sh", "cmd/packages.txt", "tests/run", "tests/tally.py"):
            (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, cls.root / name)

    @staticmethod
    def write(folder, files):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if text.startswith("#!"):
                path.chmod(0o755)

    def setUp(self):
        self.fake = pathlib.Path(tempfile.mkdtemp(dir=self.top))
        (self.fake / "installed").mkdir()
        self.write(self.fake / "bin", {"dpkg-query": DPKG_QUERY, "apt-get": APT_GET, "id": ID})
        for name in self.packages("build", "test"):
            (self.fake / "installed" / name).touch()
        self.env = {**os.environ, "FAKE": str(self.fake), "BITZEL_NO_INSTALL": "",
                    "PATH": f"{self.fake / 'bin'}:{os.environ['PATH']}"}
        self.env.pop("CC", None)
        self.env.pop("BITZEL_MUST_WORK", None)

    @staticmethod
    def packages(*groups):
        rows = (line.split() for line in (ROOT / "cmd/packages.txt").read_text().splitlines())
        return [row[1] for row in rows if row and row[0] in groups]

    def miss(self, *names):
        for name in names:
            (self.fake / "installed" / name).unlink()

    @classmethod
    @functools.cache
    def bare(cls):
        """A folder with all programs of this machine but those that install packages."""
        bin = cls.top / "bare"
        bin.mkdir()
        for folder in reversed(os.environ["PATH"].split(":")):
            for path in pathlib.Path(folder).glob("*"):
                if path.name not in ("dpkg-query", "apt-get", "sudo"):
                    (bin / path.name).unlink(missing_ok=True)
                    (bin / path.name).symlink_to(path)
        return bin

    def hide(self, *names):
        for name in names:
            (self.fake / "bin" / name).unlink(missing_ok=True)
        self.env["PATH"] = f"{self.fake / 'bin'}:{self.bare()}"

    def log(self):
        path = self.fake / "log"
        return path.read_text().splitlines() if path.exists() else []

    def run_script(self, name, *arguments, **options):
        return subprocess.run([self.root / name, *arguments], capture_output=True, text=True,
                              env=self.env, **{"cwd": self.top, "input": "", **options})

    def assert_runs(self):
        done = self.run_script("cmd/run")
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.top}\n"), done.stderr)
        return done


class Run(Small):
    def test_bitzel_gets_arguments_stdin_and_directory_and_gives_its_exit_code(self):
        arguments = ["a b", "", "*", "--", "$HOME"]
        done = self.run_script("cmd/run", *arguments, input="from stdin", cwd="/")
        said = "/\n" + "".join(f"[{a}]\n" for a in arguments) + "from stdin"
        self.assertEqual((done.returncode, done.stdout), (7, said), done.stderr)

    def test_a_link_to_it_works(self):
        link = self.fake / "bitzel"
        link.symlink_to(self.root / "cmd/run")
        done = subprocess.run([link], capture_output=True, text=True, env=self.env, cwd="/", input="")
        self.assertEqual((done.returncode, done.stdout), (0, "/\n"), done.stderr)

    def test_a_second_run_is_silent_and_installs_nothing(self):
        self.assert_runs()
        done = self.assert_runs()
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.log(), [])
        self.assertIn("no work to do", (self.root / "build/release/build.log").read_text())

    def test_only_what_is_missing_is_installed(self):
        (self.fake / "lists").touch()
        self.miss("cmake", "libyaml-dev")
        done = self.assert_runs()
        self.assertEqual(self.log(),
                         ["apt-get install -y --no-install-recommends cmake libyaml-dev"])
        self.assertIn("bitzel: installing cmake libyaml-dev\n", done.stderr)

    def test_the_lists_are_fetched_when_there_are_none(self):
        self.miss("cmake")
        self.assert_runs()
        self.assertEqual(self.log(),
                         ["apt-get update", "apt-get install -y --no-install-recommends cmake"])

    def test_the_lists_are_fetched_when_they_are_stale(self):
        (self.fake / "lists").touch()
        (self.fake / "stale").touch()
        self.miss("cmake")
        self.assert_runs()
        install = "apt-get install -y --no-install-recommends cmake"
        self.assertEqual(self.log(), [install, "apt-get update", install])

    def test_packages_of_the_tests_are_not_needed_to_run(self):
        self.miss(*self.packages("test"))
        self.assert_runs()
        self.assertEqual(self.log(), [])

    def test_a_user_installs_through_sudo(self):
        (self.fake / "lists").touch()
        self.write(self.fake / "bin", {"sudo": SUDO})
        self.env["FAKE_UID"] = "1000"
        self.miss("cmake")
        self.assert_runs()
        self.assertEqual(self.log(),
                         ["sudo", "apt-get install -y --no-install-recommends cmake"])

    def test_a_user_without_sudo_is_told_what_to_run(self):
        self.env["FAKE_UID"] = "1000"
        self.hide("sudo")
        self.miss("gcc", "cmake")
        done = self.run_script("cmd/run")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("as root, run: apt-get install -y --no-install-recommends gcc cmake\n",
                      done.stderr)

    def test_dpkg_without_apt_is_told_what_is_missing(self):
        self.hide("apt-get")
        self.miss("cmake")
        done = self.run_script("cmd/run")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("there is no apt-get to install cmake", done.stderr)

    def test_the_check_can_be_switched_off(self):
        self.miss("cmake")
        self.env["BITZEL_NO_INSTALL"] = "1"
        self.assert_runs()
        self.assertEqual(self.log(), [])

    def test_elsewhere_than_on_debian_it_goes_on(self):
        self.hide("dpkg-query", "apt-get")
        self.assert_runs()

    def test_a_failing_build_shows_its_output_on_stderr(self):
        self.assert_runs()
        main = self.root / "cmd/bitzel/main.c"
        self.addCleanup(main.write_text, BITZEL)
        main.write_text("int main(void) { return missing_thing; }\n")
        done = self.run_script("cmd/run")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("missing_thing", done.stderr)
        self.assertIn("bitzel: building bitzel failed\n", done.stderr)

    def test_a_change_is_built(self):
        self.assert_runs()
        main = self.root / "cmd/bitzel/main.c"
        self.addCleanup(main.write_text, BITZEL)
        main.write_text('#include <stdio.h>\nint main(void) { puts("changed"); return 0; }\n')
        self.assertEqual(self.run_script("cmd/run").stdout, "changed\n")


class Fresh(Small):
    """Each test has a tree that nothing was built in."""

    def setUp(self):
        super().setUp()
        shutil.rmtree(self.root / "build", ignore_errors=True)

    def test_runs_at_the_same_time_wait_for_each_other(self):
        runs = [subprocess.Popen([self.root / "cmd/run"], env=self.env, cwd="/", text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE) for _ in range(4)]
        for run in runs:
            output, errors = run.communicate(timeout=120)
            self.assertEqual((run.returncode, output), (0, "/\n"), errors)

    def test_a_failing_configuration_elsewhere_than_on_debian_names_what_is_needed(self):
        self.hide("dpkg-query", "apt-get")
        path = self.root / "CMakeLists.txt"
        self.addCleanup(path.write_text, PROJECT)
        path.write_text(PROJECT + 'message(FATAL_ERROR "no libyaml here")\n')
        done = self.run_script("cmd/run")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("no libyaml here", done.stderr)
        self.assertRegex(done.stderr, r"look for what Debian calls gcc .*libyaml-dev")

    def test_a_checkout_that_was_moved_builds_its_own_sources(self):
        self.assert_runs()
        moved = self.top / "moved"
        shutil.copytree(self.root, moved)
        self.addCleanup(shutil.rmtree, moved)
        (moved / "cmd/bitzel/main.c").write_text(
            '#include <stdio.h>\nint main(void) { puts("moved"); return 0; }\n')
        done = subprocess.run([moved / "cmd/run"], capture_output=True, text=True, env=self.env)
        self.assertEqual((done.returncode, done.stdout), (0, "moved\n"), done.stderr)


class Tests(Small):
    def outcome(self, *arguments):
        done = self.run_script("tests/run", *arguments)
        return done.returncode, done.stdout.splitlines()[-1], done

    def change(self, name, text):
        path = self.root / name
        self.addCleanup(path.write_text, path.read_text())
        path.write_text(text)

    def test_the_last_line_counts_the_test_cases(self):
        status, line, done = self.outcome()
        self.assertEqual((status, line), (0, "2 passed, 0 failed"), done.stderr)

    def test_what_follows_two_dashes_is_for_ctest(self):
        self.assertEqual(self.outcome("dev", "--", "-R", "case")[:2], (0, "1 passed, 0 failed"))
        self.assertEqual(self.outcome("--", "-R", "nosuch")[:2], (1, "0 passed, 1 failed"))

    def test_a_failure_is_counted_shown_and_ends_in_failure(self):
        self.change("case.c", '#include <stdio.h>\nint main(void) { puts("so wrong"); return 1; }\n')
        status, line, done = self.outcome()
        self.assertEqual((status, line), (1, "1 passed, 1 failed"))
        self.assertIn("so wrong", done.stdout)
        self.assertIn("dev: case failed", done.stderr)

    def test_what_does_not_build_is_a_failure(self):
        self.change("case.c", "int main(void) { return missing_thing; }\n")
        status, line, done = self.outcome()
        self.assertEqual((status, line), (1, "0 passed, 1 failed"))
        self.assertIn("missing_thing", done.stderr)

    def test_several_presets_are_added_up(self):
        status, line, done = self.outcome("dev", "release")
        self.assertEqual((status, line), (0, "4 passed, 0 failed"), done.stderr)

    @unittest.skipUnless(shutil.which("clang"), "clang is not installed")
    def test_another_compiler_has_a_directory_of_its_own(self):
        self.env["CC"] = "clang"
        status, line, done = self.outcome()
        self.assertEqual((status, line), (0, "2 passed, 0 failed"), done.stderr)
        cache = (self.root / "build/dev-clang/CMakeCache.txt").read_text()
        self.assertIn("/clang\n", cache)

    def test_the_cases_of_cmocka_and_unittest_are_counted(self):
        cmocka = ("[==========] Running 4 test(s).\n[ RUN      ] a\n[       OK ] a\n"
                  "[       OK ] b\n[       OK ] c\n[  SKIPPED ] d\n"
                  "[==========] 4 test(s) run.\n[  PASSED  ] 3 test(s).\n"
                  "[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] d\n")
        python = "..s\n-----\nRan 9 tests in 0.1s\n\nOK (skipped=2)\n"
        for text, counted in ((cmocka, "4 passed, 0 failed, 1 skipped"),
                              (python, "8 passed, 0 failed, 2 skipped")):
            with self.subTest(counted):
                self.change("words", text)
                self.env.pop("BITZEL_MUST_WORK", None)
                self.assertEqual(self.outcome()[:2], (0, counted))
                self.env["BITZEL_MUST_WORK"] = "1"
                status, line, _ = self.outcome()
                self.assertEqual(status, 1)
                self.assertNotIn("skipped", line)

    def test_a_program_that_fails_after_its_last_case_fails(self):
        self.change("case.c", '#include <stdio.h>\nint main(void) { puts("[==========] 3 test(s) '
                              'run."); return 1; }\n')
        status, line, done = self.outcome()
        self.assertEqual((status, line), (1, "4 passed, 1 failed"), done.stderr)

    def test_an_unknown_preset_is_refused(self):
        done = self.run_script("tests/run", "nosuch")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("usage: tests/run", done.stderr)

    def test_it_installs_what_tests_need_but_not_what_benchmarks_need(self):
        (self.fake / "lists").touch()
        self.miss("libcmocka-dev")
        self.assertEqual(self.outcome()[0], 0)
        self.assertEqual(self.log(), ["apt-get install -y --no-install-recommends libcmocka-dev"])


class Packages(unittest.TestCase):
    def test_the_list_has_a_known_group_a_name_and_a_reason_in_each_line(self):
        seen = set()
        for line in (ROOT / "cmd/packages.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                found = re.fullmatch(r"(build|test|bench) +([a-z0-9.+-]+) +# \S.*", line)
                self.assertTrue(found, line)
                self.assertNotIn(found[2], seen)
                seen.add(found[2])
        self.assertIn("cmake", seen)


if __name__ == "__main__":
    unittest.main()
