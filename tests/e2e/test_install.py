"""Installation: what lies where, that it works from there, and the Debian package of it.

BITZEL_BUILD is the build directory, CMAKE and CPACK the programs.
"""

import os
import pathlib
import re
import shutil
import subprocess

import bitzel
import test_build

BUILD = os.environ.get("BITZEL_BUILD", "build/dev")

# For C and C++ alike.
CONSUMER = r"""
#include <bitzel/jobs.h>
#include <stdio.h>

int main(void)
{
    char memory[16] = "", error[200] = "";
    bitzel_jobs *jobs = bitzel_jobs_create(NULL, error, sizeof(error));
    bitzel_result *r;

    if (!jobs || bitzel_jobs_register_symbol(jobs, "m", memory, sizeof(memory), BITZEL_WRITE) < 0)
        return 1;
    r = bitzel_jobs_wait(jobs, bitzel_jobs_submit(jobs,
        "{\"opcode\": \"memory_write\", \"args\": {\"write_to\": \"m\", \"data\": \"hello\"}}"), 60000);
    printf("%d %s %s\n", r ? (int)r->status : 1, r ? r->data : "", memory);
    bitzel_result_free(r);
    bitzel_jobs_shutdown(jobs);
    return 0;
}
"""


class Tree(bitzel.Case):
    """A tree with bitzel below some prefix."""

    def call(self, *command, **env):
        done = subprocess.run([*map(str, command)], cwd=self.dir, env=self.environment(**env), check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def run_installed(self, prefix, *args):
        home = self.dir / "home"
        home.mkdir(exist_ok=True)
        done = subprocess.run([prefix / "bin/bitzel", *args], cwd=home, check=False, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=self.environment(HOME=str(home), BITZEL_NO_SAMPLE=""), timeout=bitzel.TIMEOUT)
        return bitzel.Result(done.returncode, done.stdout, done.stderr)

    def check_program(self, prefix):
        version = self.run_installed(prefix, "version")
        self.assert_exit(version, 0)
        self.assertTrue(version.out.startswith("bitzel "), version)
        self.assertEqual(self.run_installed(prefix, "help").out, self.run_bitzel("help").out)
        rows = self.run_installed(prefix, "doctor", "--json").json
        self.assertTrue(rows)
        # Its own layer, in a directory without a project.
        recipes = self.run_installed(prefix, "recipes", "--json")
        self.assert_exit(recipes, 0)
        files = {v["name"]: v["versions"][0]["file"] for v in recipes.json["recipes"]}
        self.assertTrue(files["busybox"].startswith(f"{prefix}/share/bitzel/recipes/"), files["busybox"])

    def check_files(self, prefix, names):
        for name in names:
            with self.subTest(file=name):
                self.assertTrue((prefix / name).is_file())
        for folder, folders, files in os.walk(prefix):
            for name in folders + files:
                mode = os.stat(os.path.join(folder, name)).st_mode
                self.assertTrue(mode & 0o004, f"{folder}/{name} cannot be read by all")

    def check_links(self, docs):
        """What a page leads to is there, as it is for who reads README.md in a checkout."""
        pages, dead = [docs / "README.md"], []
        for page in pages:
            for link in re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", page.read_text(encoding="utf-8")):
                target = pathlib.Path(os.path.normpath(page.parent / link))
                if "://" in link or target in pages:
                    continue
                if not target.exists():
                    dead.append(f"{page.relative_to(docs)}: {link}")
                elif target.suffix == ".md":
                    pages.append(target)
        self.assertEqual(dead, [])
        self.assertIn(docs / ".docs/tutorial.md", pages)

    def shell(self, text, **env):
        """Runs it where nothing is but what the tree has; its output, skipping where there can be no sandbox."""
        (self.dir / "home").mkdir(exist_ok=True)
        done = subprocess.run(["bash", "-c", text], cwd=self.dir / "home", check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=4 * bitzel.TIMEOUT,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.dir / "home"), **env})
        if "user namespaces do not work here" in done.stdout and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def check_builds(self, prefix):
        """A layer of somebody's, and its own by BitBake's command lines."""
        for name, text in test_build.FILES.items():
            path = self.dir / "kitchen" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        kitchen = self.dir / "kitchen/build"
        told = self.shell(f"cd {kitchen} && {prefix}/bin/bitzel build pizza")
        self.assertIn("9 tasks executed", told)
        self.assertEqual((kitchen / "bitzel-out/pizza/image/bin/pizza").read_text(),
                         "dough with a pinch\nsauce with a pinch\nbasil\n")
        told = self.shell(f". {prefix}/share/bitzel/recipes/oe-init-build-env ours && which bitbake && "
                          "bitbake newc-native && bitbake-layers show-layers && devtool status && "
                          "bitbake-getvar --value -r newc-native PV")
        self.assertTrue(told.startswith(f"{prefix}/share/bitzel/bitbake/bin/bitbake\n"), told)
        self.assertRegex(told, r"NOTE: Tasks Summary: Attempted \d+ tasks of which 0 didn't need .* all succeeded\.\n")
        self.assertIn(f" {prefix}/share/bitzel/recipes ", told)
        self.assertTrue(told.endswith("\n1.0\n"), told)
        program, = (self.dir / "home/ours/bitzel-out/newc-native/image").resolve().rglob("bin/newc")
        self.assertTrue(os.access(program, os.X_OK))

    def check_library(self, prefix):
        """Programs that know nothing but what pkg-config tells them."""
        lib = prefix / "lib"
        self.assertEqual(os.readlink(lib / "libbitzel.so"), "libbitzel.so.0")
        env = {"PKG_CONFIG_PATH": str(lib / "pkgconfig"), "LD_LIBRARY_PATH": str(lib)}
        self.assertRegex(self.call("pkg-config", "--modversion", "bitzel", **env), r"^\d+\.\d+\.\d+$")
        flags = self.call("pkg-config", "--cflags", "--libs", "bitzel", **env).split()
        for compiler, source in (("cc", "consumer.c"), ("c++", "consumer.cc")):
            if not shutil.which(compiler):
                continue
            with self.subTest(compiler=compiler):
                (self.dir / source).write_text(CONSUMER)
                self.call(compiler, "-Wall", "-Werror", source, "-o", source + ".out", *flags)
                self.assertEqual(self.call(self.dir / (source + ".out"), **env), "0 5 hello\n")

    HANDS = ["share/bitzel/bitbake/bin/" + name for name in
             ("bitbake", "bitbake-getvar", "bitbake-layers", "bitzel.sh", "devtool")] + \
            ["share/bitzel/recipes/" + name for name in ("oe-init-build-env", "sample.yml")]

    def pages(self, ending=""):
        return ["share/man/man1/bitzel.1" + ending, "share/man/man5/bitzel.conf.5" + ending, "share/man/man5/bitzel-events.5" + ending,
                *(f"share/man/man1/bitzel-{name}.1{ending}" for name in self.commands())]


class Installed(Tree):
    def test_everything_is_in_its_place_and_works_there(self):
        self.call(os.environ.get("CMAKE", "cmake"), "--install", BUILD, "--prefix", "/opt/b", DESTDIR=str(self.dir / "root"))
        prefix = self.dir / "root/opt/b"
        self.check_files(prefix, ["bin/bitzel", "share/bash-completion/completions/bitzel",
                                  "share/zsh/site-functions/_bitzel", "share/fish/vendor_completions.d/bitzel.fish",
                                  "share/doc/bitzel/README.md", "share/doc/bitzel/CHANGELOG.md",
                                  "share/doc/bitzel/LICENSE", "share/bitzel/recipes/conf/layer.conf",
                                  "include/bitzel/jobs.h", "lib/libbitzel.so.0",
                                  "lib/python3/dist-packages/bitzel.py", "share/lua/5.1/bitzel.lua",
                                  "lib/systemd/user/bitzel.socket", *self.HANDS, *self.pages()])
        self.check_links(prefix / "share/doc/bitzel")
        unit = (prefix / "lib/systemd/user/bitzel.service").read_text()
        self.assertIn("\nExecStart=/opt/b/bin/bitzel serve ", unit)
        self.assertEqual(os.listdir(self.dir / "root"), ["opt"])
        self.check_program(prefix)

    def test_a_tree_can_be_moved(self):
        self.call(os.environ.get("CMAKE", "cmake"), "--install", BUILD, "--prefix", self.dir / "one")
        if shutil.which("systemd-analyze"):
            units = [self.dir / "one/lib/systemd/user" / f"bitzel.{kind}" for kind in ("service", "socket")]
            self.assertEqual(self.call("systemd-analyze", "verify", "--user", "--man=no", *units,
                                       XDG_RUNTIME_DIR=str(self.dir)), "")
        os.rename(self.dir / "one", self.dir / "two")
        self.check_program(self.dir / "two")
        self.check_builds(self.dir / "two")
        if not os.environ.get("BITZEL_SANITIZED"):
            self.check_library(self.dir / "two")


class Packaged(Tree):
    def dpkg(self, *args):
        return self.call("dpkg", f"--root={self.dir / 'root'}", f"--log={self.dir / 'log'}", "--force-depends",
                         "--force-script-chrootless", *args)

    def install(self, package):
        """By dpkg, into a system that has nothing else; who may not, unpacks it."""
        root = self.dir / "root"
        if os.geteuid() == 0:
            for name in ("info", "updates", "triggers"):
                (root / "var/lib/dpkg" / name).mkdir(parents=True)
            (root / "var/lib/dpkg/status").touch()
            self.dpkg("-i", package)
            self.assertIn("Status: install ok installed\n", self.dpkg("-s", "bitzel"))
            self.assertEqual(self.dpkg("-V", "bitzel"), "")
        else:
            self.call("dpkg-deb", "-x", package, root)
        self.assertEqual(set(os.listdir(root)) - {"var"}, {"usr"})
        return root / "usr"

    def remove(self):
        if os.geteuid() == 0:
            self.dpkg("-r", "bitzel")
            left = [path for path in (self.dir / "root/usr").rglob("*") if not path.is_dir()]
            self.assertEqual(left, [])

    def test_the_package_says_what_it_needs_and_works_where_it_is_unpacked(self):
        self.call(os.environ.get("CPACK", "cpack"), "-G", "DEB", "--config", os.path.join(BUILD, "CPackConfig.cmake"),
                  "-B", self.dir / "out")
        package, = (self.dir / "out").glob("bitzel_*.deb")
        field = self.call("dpkg-deb", "-f", package)
        self.assertIn("Package: bitzel\n", field)
        self.assertIn("Section: devel\n", field)
        depends = [line for line in field.splitlines() if line.startswith("Depends:")][0]
        for library in ("libc6", "libyaml-0-2", "libcurl4", "libarchive13"):
            self.assertIn(library, depends)
        prefix = self.install(package)
        self.check_files(prefix, ["bin/bitzel", "share/zsh/vendor-completions/_bitzel", "share/doc/bitzel/copyright",
                                  "share/doc/bitzel/changelog.gz", *self.HANDS, *self.pages(".gz")])
        self.check_links(prefix / "share/doc/bitzel")
        self.check_program(prefix)
        self.check_library(prefix)
        self.check_builds(prefix)
        self.remove()


if __name__ == "__main__":
    bitzel.main()
