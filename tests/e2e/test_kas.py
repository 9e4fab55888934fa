"""kas, with bitzel in BitBake's place, and bitzel itself build the sample layer's project."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Project(unittest.TestCase):
    """kas, the program, with the project file of the sample layer."""

    def setUp(self):
        where = tempfile.TemporaryDirectory(prefix="bitzel-kas-")
        self.addCleanup(where.cleanup)
        self.dir = pathlib.Path(where.name)
        shutil.copytree(ROOT / "recipes", self.dir / "top/recipes")
        (self.dir / "top/cmd").symlink_to(ROOT / "cmd") # where the layer finds bitbake
        (self.dir / "home").mkdir()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BITZEL_", "KAS_", "XDG_"))}
        self.env.update(BITZEL=os.environ["BITZEL"], BITZEL_CACHE_DIR=str(self.dir / "store"), HOME=str(self.dir / "home"))

    def run_in(self, folder, *command):
        done = subprocess.run(command, cwd=self.dir / "top", env={**self.env, "KAS_BUILD_DIR": str(self.dir / folder)},
                              check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        if "user namespaces do not work here" in done.stdout and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout


class Kas(Project):
    def test_kas_builds_a_program_of_the_sample_layer(self):
        command = ["kas", "build", "--target", "newc-native", "recipes/sample.yml"]
        self.assertRegex(self.run_in("one", *command), r"Attempted (\d+) tasks of which 0 didn't need .* all succeeded")
        newc = self.dir / "one/bitzel-out/newc-native/image"
        program, = newc.resolve().rglob("bin/newc")
        self.assertEqual(program.read_bytes()[:4], b"\x7fELF")
        # Nothing is lost with the home that kas has made for it.
        self.assertRegex(self.run_in("two", *command), r"Attempted (\d+) tasks of which \1 didn't need .* all succeeded")
        self.assertIn("0 tasks executed",
                      self.run_in("three", self.env["BITZEL"], "--project", "recipes/sample.yml", "build", "newc-native"))

    def test_the_script_of_the_layer_makes_a_build_directory(self):
        for shell in filter(shutil.which, ("bash", "zsh")):
            with self.subTest(shell=shell):
                told = self.run_in("one", shell, "-c", f". recipes/oe-init-build-env ../{shell} && pwd && "
                                   "bitbake newc-native && bitbake-layers show-layers")
                self.assertTrue(told.startswith(f"{self.dir}/{shell}\n"), told)
                self.assertRegex(told, r"NOTE: Tasks Summary: Attempted \d+ tasks of which \d+ didn't .* all succeeded")
                self.assertIn(f" {self.dir}/top/recipes ", told)
                conf = self.dir / shell / "conf/local.conf"
                conf.write_text('MACHINE = "x86-64-v3"\n')
                self.assertEqual(self.run_in("one", shell, "-c", f". recipes/oe-init-build-env ../{shell} && "
                                             "bitbake-getvar --value MACHINE"), "x86-64-v3\n")
        # This one is not told which file it reads.
        self.assertIn("/cmd/bitbake/bin/bitbake\n",
                      self.run_in("one", "sh", "-c", "cd recipes && . ./oe-init-build-env && command -v bitbake"))
        self.assertRegex(self.run_in("one", "sh", "-c", ". recipes/oe-init-build-env || echo no"),
                         "enter the layer first\nno\n")

    def test_the_store_outlives_the_home_that_kas_makes(self):
        del self.env["BITZEL_CACHE_DIR"]
        command = ["kas", "build", "--target", "newc-native", "recipes/sample.yml"]
        self.assertRegex(self.run_in("one", *command), r"Attempted (\d+) tasks of which 0 didn't need .* all succeeded")
        self.assertTrue((self.dir / "home/.cache/bitzel/cas").is_dir())
        for folder in ("one", "two"):
            self.assertRegex(self.run_in(folder, *command),
                             r"Attempted (\d+) tasks of which \1 didn't need .* all succeeded")
        self.assertIn("(0 tasks executed", self.run_in("three", self.env["BITZEL"], "--project", "recipes/sample.yml",
                                                       "build", "newc-native"))

    def shell(self, folder, command, *words):
        """What a command says in the shell of kas, without the log of kas."""
        told = self.run_in(folder, "kas", "shell", "-c", command, *words, "recipes/sample.yml")
        return "".join(line for line in told.splitlines(True) if " - INFO " not in line and "setlocale" not in line)

    def test_settings_and_store_are_those_of_the_user_who_started_kas(self):
        del self.env["BITZEL_CACHE_DIR"]
        home = self.dir / "home"
        told = self.shell("one", "$BITZEL config --show-origin cache.dir; $BITZEL config --show-origin state.dir; "
                          "$BITZEL doctor; echo HOME is $HOME")
        self.assertIn(f"{home}/.cache/bitzel  # default, below BITZEL_HOME\n", told)
        self.assertIn(f"{home}/.local/state/bitzel  # default, below BITZEL_HOME\n", told)
        self.assertRegex(told, r"below\s+BITZEL_HOME\s+\(HOME\s+is\s+/")
        self.assertNotIn(f"HOME is {home}\n", told)
        (home / ".config/bitzel").mkdir(parents=True)
        (home / ".config/bitzel/bitzel.conf").write_text("cache.dir = ~/mine\n")
        self.assertEqual(self.shell("one", "$BITZEL cache path"), f"{home}/mine\n")
        # Who says otherwise is heard.
        (home / ".config/bitzel/bitzel.conf").unlink()
        self.assertEqual(self.shell("one", "HOME=/elsewhere sh -c '$BITZEL cache path'"), "/elsewhere/.cache/bitzel\n")
        self.assertEqual(self.shell("one", "BITZEL_HOME=/else $BITZEL cache path"), "/else/.cache/bitzel\n")
        self.env["XDG_CACHE_HOME"] = str(self.dir / "caches")
        self.assertEqual(self.shell("one", "$BITZEL cache path"), f"{self.dir}/caches/bitzel\n")

    def test_the_machine_of_the_environment_counts(self):
        for command in ("bitbake-getvar --value", "$BITZEL getvar --value"):
            self.assertEqual(self.shell("one", f"{command} MACHINE"), "x86-64\n")
            self.assertEqual(self.shell("one", f"MACHINE=x86-64-v3 {command} MACHINE"), "x86-64-v3\n")
        text = (self.dir / "top/recipes/sample.yml").read_text()
        (self.dir / "top/recipes/sample.yml").write_text(text.replace("env: ", 'env:\n  MACHINE: x86-64-v3\n  COLOR: red #'))
        self.assertEqual(self.shell("one", "bitbake-getvar --value MACHINE; bitbake-getvar --value COLOR"),
                         "x86-64-v3\nred\n")

    def test_bitzel_builds_what_the_file_names(self):
        plan = [self.env["BITZEL"], "--project", "recipes/sample.yml", "plan"]
        self.assertEqual(self.run_in("one", *plan), self.run_in("one", *plan, "sample-image"))
        dry = self.run_in("one", self.env["BITZEL"], "--project", "recipes/sample.yml", "build", "-n")
        self.assertIn("sample-image:do_", dry)


class Busybox(Project):
    def test_kas_builds_busybox(self):
        told = self.run_in("one", "kas", "build", "--target", "busybox", "recipes/sample.yml")
        self.assertRegex(told, r"Attempted \d+ tasks of which 0 didn't need to be rerun and all succeeded")
        program, = (self.dir / "one/bitzel-out/busybox/image").resolve().rglob("bin/busybox")
        self.assertEqual(subprocess.run([program, "echo", "hello"], check=True, stdout=subprocess.PIPE).stdout, b"hello\n")


if __name__ == "__main__":
    unittest.main()
