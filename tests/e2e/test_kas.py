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

    def test_what_is_stored_is_not_in_the_home_that_kas_makes(self):
        del self.env["BITZEL_CACHE_DIR"]
        shown = self.run_in("one", "bash", "-c", "unset XDG_CACHE_HOME; . recipes/oe-init-build-env one && "
                            "HOME=/nowhere exec $BITZEL cache path")
        self.assertIn(f"{self.dir}/home/.cache/", shown)


class Busybox(Project):
    def test_kas_builds_busybox(self):
        told = self.run_in("one", "kas", "build", "--target", "busybox", "recipes/sample.yml")
        self.assertRegex(told, r"Attempted \d+ tasks of which 0 didn't need to be rerun and all succeeded")
        program, = (self.dir / "one/bitzel-out/busybox/image").resolve().rglob("bin/busybox")
        self.assertEqual(subprocess.run([program, "echo", "hello"], check=True, stdout=subprocess.PIPE).stdout, b"hello\n")


if __name__ == "__main__":
    unittest.main()
