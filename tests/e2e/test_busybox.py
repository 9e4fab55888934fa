"""The sample layer, built from its sources: what comes out runs, boots, and is shared.

It takes minutes, and Debian's archive. BITZEL_SAMPLE_DIR names a directory to build in and
to find again the next time; else all is built anew.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import bitzel
import newc

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/http"))
import nginx  # noqa: E402

TARGETS = ("busybox", "dropbear", "lua", "sample-image")
PATIENCE = 3000  # seconds for a build
NOBODY = 65534


class Place:
    """A machine: a checkout of the layer, a store and a build directory of its own. With
    `tier` it has a cache beyond its store."""

    def __init__(self, top, downloads, local="", tier=""):
        self.top, self.build, self.who, self.program = top, top / "build", {}, bitzel.PROGRAM
        shutil.rmtree(top / "recipes", ignore_errors=True)
        shutil.copytree(ROOT / "recipes", top / "recipes", symlinks=True)
        (self.build / "conf").mkdir(parents=True, exist_ok=True)
        (self.build / "conf/bblayers.conf").write_text(
            'BBPATH = "${TOPDIR}"\nBBFILES ?= ""\nBBLAYERS = "${TOPDIR}/../recipes"\n')
        (self.build / "conf/local.conf").write_text(f'DL_DIR = "{downloads}"\n{local}')
        (top / ".config/bitzel").mkdir(parents=True, exist_ok=True)
        (top / ".config/bitzel/bitzel.conf").write_text(f"[cache]\ntiers = {tier}\n" if tier else "")

    def give_to(self, user):
        """From now on it is another user's."""
        self.program = shutil.copy(bitzel.PROGRAM, self.top / "bitzel")
        self.who = {"user": user, "group": user, "extra_groups": []}
        for path in [self.top, *self.top.rglob("*")]:
            os.chown(path, user, user, follow_symlinks=False)

    def run(self, *args):
        env = {k: v for k, v in os.environ.items()
               if k not in bitzel.UNSET and not k.startswith(bitzel.SETTINGS)}
        env.update(HOME=str(self.top), BITZEL_NO_SAMPLE="1")
        return subprocess.run([self.program, "--directory", self.build, *args], check=False,
                              env=env, cwd=self.top, text=True, capture_output=True,
                              timeout=PATIENCE, stdin=subprocess.DEVNULL, **self.who)

    def must(self, *args):
        done = self.run(*args)
        if done.returncode != 0:
            raise AssertionError(f"{args}: exit {done.returncode}\n{done.stderr[-4000:]}")
        return done

    def ran(self, *targets):
        """Builds; the tasks that ran, and those that did not since what they need came out
        the same."""
        lines = self.must("build", "--quiet", "--events", "-", *targets).stdout.splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        return ({e["task"] for e in events if e["event"] == "started"},
                {e["task"] for e in events if e["event"] == "cached" and e.get("same")})

    def out(self, recipe):
        return self.build / "bitzel-out" / recipe

    def digests(self, recipe):
        """Of all that a recipe installs and delivers."""
        found, top = {}, self.out(recipe)
        for part in ("image", "deploy"):
            for path in sorted((top / part).resolve().rglob("*")) if (top / part).exists() else ():
                name = f"{part}/{path.relative_to((top / part).resolve())}"
                found[name] = (os.readlink(path) if path.is_symlink() else
                               hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
        return found


def output(*command, **how):
    return subprocess.run(list(map(str, command)), check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, **how).stdout


class Sample(unittest.TestCase):
    """What has been built once, for all tests."""

    top = place = None

    def assert_same_outputs(self, other):
        for recipe in TARGETS:
            with self.subTest(recipe=recipe):
                self.assertTrue(self.place.digests(recipe))
                self.assertEqual(other.digests(recipe), self.place.digests(recipe))


def setUpModule():
    top = os.environ.get("BITZEL_SAMPLE_DIR")
    if not top:
        top = tempfile.mkdtemp(prefix="bitzel-sample-")
        unittest.addModuleCleanup(shutil.rmtree, top, ignore_errors=True)
        os.chmod(top, 0o755)
    Sample.top = pathlib.Path(top).resolve()
    Sample.place = Place(Sample.top / "one", Sample.top / "downloads")
    Sample.place.must("build", *TARGETS)


class Programs(Sample):
    def test_again_nothing_runs(self):
        self.assertRegex(self.place.must("build", "busybox", "sample-image").stdout,
                         r"\(0 tasks executed, [1-9][0-9]* from cache\)")

    def test_again_is_told_as_in_the_readme(self):
        told = self.place.must("build", "busybox").stderr
        story = (ROOT / "README.md").read_text().split("## A first look\n")[1].split("## ")[0]
        cached = re.findall(r"^Cached (\S+) ", story, re.M)
        self.assertEqual(re.findall(r"^Cached (\S+) ", told, re.M), cached)
        self.assertIn(f"(0 tasks executed, {len(cached)} from cache)", story)

    def test_busybox_runs_and_is_static(self):
        busybox = self.place.out("busybox") / "image/bin/busybox"
        self.assertEqual(output(busybox, "sh", "-c", "echo ok"), "ok\n")
        self.assertIn("no dynamic section", output("readelf", "-d", busybox))
        self.assertGreater(len(output(busybox, "--list").split()), 350)
        self.assertIn("Usage: ls ", output(busybox, "ls", "--help"))
        self.assertEqual(os.readlink(busybox.parent / "ls"), "/bin/busybox")

    def test_its_passwords_are_hashed_by_libxcrypt(self):
        busybox = self.place.out("busybox") / "image/bin/busybox"
        self.assertIn("_crypt_crypt_yescrypt_rn", output("nm", busybox))
        self.assertTrue(output(busybox, "cryptpw", "-m", "sha512", "secret", "saltsalt")
                        .startswith("$6$saltsalt$"))
        # What no C library but one with libxcrypt knows; des means: the salt as it is.
        salt = "$y$j9T$F5Jx5fExrKuPp53xLKQ..1"
        self.assertRegex(output(busybox, "cryptpw", "-m", "des", "hello", salt),
                         r"^\$y\$j9T\$F5Jx5fExrKuPp53xLKQ\.\.1\$[./0-9A-Za-z]{43}\n$")

    def test_dropbear_has_zlib_and_libxcrypt_in_it_and_makes_a_key(self):
        program = self.place.out("dropbear") / "image/usr/sbin/dropbearmulti"
        names = output("nm", program)
        for name in (" inflate\n", " _crypt_crypt_yescrypt_rn\n"):
            self.assertIn(name, names)
        self.assertIn("v2022.83", output(program, "dropbear", "-V"))
        with tempfile.TemporaryDirectory() as where:
            self.assertIn("ssh-ed25519 ", output(program, "dropbearkey", "-t", "ed25519", "-f",
                                                 f"{where}/key"))

    def test_lua_runs(self):
        lua = self.place.out("lua") / "image/usr/bin/lua"
        self.assertEqual(output(lua, "-e", "print(_VERSION, 7 // 2)"), "Lua 5.4\t3\n")

    def test_no_path_of_a_build_is_in_a_program(self):
        for path in ("busybox/image/bin/busybox", "dropbear/image/usr/sbin/dropbearmulti",
                     "lua/image/usr/bin/lua"):
            text = self.place.out(path).read_bytes()
            self.assertNotIn(b"/bitzel/", text, path)
            self.assertNotIn(str(self.top).encode(), text, path)

    def test_the_image_has_what_its_manifest_says(self):
        deploy = self.place.out("sample-image") / "deploy/images/x86-64"
        self.assertEqual((deploy / "sample-image-x86-64.manifest").read_text(),
                         "base-files 1.0\nbusybox 1.35.0\ndropbear 2022.83\nlua 5.4.4\n")
        image = newc.read(deploy / "sample-image-x86-64.cpio.gz")
        for name in ("bin/busybox", "usr/sbin/dropbearmulti", "usr/bin/lua"):
            self.assertEqual(image[name].mode, 0o100755, name)
        self.assertEqual(image["sbin/init"].data, b"/bin/busybox")
        self.assertFalse([n for n in image if n.endswith((".h", ".a", ".la"))])


class Boot(Sample):
    """In a virtual machine, with Debian's kernel; neither is installed for it."""

    def tools(self):
        root = self.top / "tools"
        if not (root / "done").exists():
            archives = root / "apt/archives"
            (archives / "partial").mkdir(parents=True, exist_ok=True)
            got = subprocess.run(
                ["apt-get", "-qq", "install", "--download-only", "--reinstall", "-y",
                 "--no-install-recommends", "-o", f"Dir::Cache={root}/apt", "-o",
                 "Debug::NoLocking=1", "qemu-system-x86", "linux-image-cloud-amd64"],
                check=False, capture_output=True, text=True, timeout=600)
            if got.returncode != 0:
                if "BITZEL_MUST_WORK" in os.environ:
                    self.fail(got.stderr)
                self.skipTest("qemu and a kernel are not to be had: " + got.stderr.strip()[-200:])
            for package in sorted(archives.glob("*.deb")):
                output("dpkg", "-x", package, root)
            (root / "done").touch()
        return root

    def test_it_boots_to_a_shell(self):
        root = self.tools()
        image = self.place.out("sample-image") / "deploy/images/x86-64/sample-image-x86-64.cpio.gz"
        kernel = max((root / "boot").glob("vmlinuz-*"))
        libraries = f"{root}/usr/lib/x86_64-linux-gnu:{root}/lib/x86_64-linux-gnu"
        qemu = next(p for p in (root / "usr/bin/qemu-system-x86_64",
                                pathlib.Path("/usr/bin/qemu-system-x86_64")) if p.exists())
        with subprocess.Popen(
                [qemu, "-L", root / "usr/share/qemu", "-L", root / "usr/share/seabios",
                 "-m", "256", "-nographic", "-no-reboot", "-net", "none", "-kernel", kernel,
                 "-initrd", image, "-append", "console=ttyS0 panic=-1 quiet"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors="replace",
                env={**os.environ, "LD_LIBRARY_PATH": libraries}) as machine:
            self.addCleanup(machine.kill)
            seen = ""
            while "root@sample:/# " not in seen:
                part = machine.stdout.read(1)
                self.assertTrue(part, seen)
                seen += part
            rest, _ = machine.communicate(
                "ls -ld / /dev/console /root; lua -e 'print(6 * 7)'; id -un; poweroff -f\n", timeout=120)
        self.assertIn("sample is up: Linux ", seen)
        self.assertRegex(rest, r"\bcrw------- .* 5, +1 ")
        self.assertRegex(rest, r"\bdrwx------ .*/root")
        self.assertIn("\n42\n", rest.replace("\r", ""))


class Again(Sample):
    """By root, if that is who runs this, and then by somebody who is nobody."""

    def test_elsewhere_and_with_other_jobs_it_comes_out_the_same(self):
        shutil.rmtree(self.top / "another", ignore_errors=True)
        top = self.top / "another/place"
        other = Place(top, top / "downloads", 'PARALLEL_MAKE = "-j 1"\n')
        shutil.copytree(self.top / "downloads", top / "downloads", dirs_exist_ok=True)
        if os.geteuid() == 0:
            other.give_to(NOBODY)
        built = other.must("build", "-j", "3", *TARGETS)
        self.assertNotRegex(built.stdout, r"\(0 tasks executed")
        self.assert_same_outputs(other)
        self.assertEqual(output(other.out("busybox") / "image/bin/busybox", "sh", "-c", "echo ok"), "ok\n")


class Second(Sample):
    """A second machine: another user, home, checkout, state and store; neither sources nor
    a network, only a cache that the first has filled."""

    def build_with(self, tier):
        shutil.rmtree(self.top / "second", ignore_errors=True)
        other = Place(self.top / "second", self.top / "second/downloads",
                      'BB_NO_NETWORK = "1"\n', tier)
        if os.geteuid() == 0:
            other.give_to(NOBODY)
        self.assertRegex(other.must("build", *TARGETS).stdout,
                         r"\(0 tasks executed, [1-9][0-9]* from cache\)")
        self.assert_same_outputs(other)
        self.assertFalse((other.top / "downloads").exists())
        self.assertEqual(output(other.out("busybox") / "image/bin/busybox", "echo", "ok"), "ok\n")

    def test_with_a_shared_directory_it_runs_nothing(self):
        shared = self.top / "shared"
        shared.mkdir(exist_ok=True)
        self.place.must("cache", "push", f"dir:{shared}")
        self.build_with(f"dir:{shared} ro")

    @unittest.skipUnless(nginx.found() or os.environ.get("BITZEL_MUST_WORK"), "nginx is not installed")
    def test_with_a_web_server_it_runs_nothing(self):
        shutil.rmtree(self.top / "web", ignore_errors=True)
        server = nginx.Nginx(self.top / "web")
        self.addCleanup(server.stop)
        self.place.must("cache", "push", server.url)
        self.build_with(f"{server.url} ro")


class Edits(Sample):
    """What is edited in the layer, and what runs then: beside what was built, which is the
    cache of a machine with a store of its own."""

    CHAIN = {"do_configure", "do_compile", "do_install", "do_populate_sysroot"}

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(cls.top / "edited", ignore_errors=True)

    def setUp(self):
        store = self.place.must("cache", "path").stdout.strip()
        self.edited = Place(self.top / "edited", self.top / "downloads", tier=f"dir:{store} ro")
        self.assertEqual(self.edited.ran(*TARGETS), (set(), set()))
        self.before = self.top / "edited/before"
        self.edited.must("sig", "--record", self.before, *TARGETS)

    def append(self, path, text):
        with open(self.edited.top / "recipes" / path, "a", encoding="utf-8") as file:
            file.write(text)

    def why(self):
        return json.loads(self.edited.must("why", "--vs", self.before, "--json", *TARGETS).stdout)

    def would_run(self, target):
        """The recipes of the tasks that a plan names."""
        plan = json.loads(self.edited.must("plan", "--json", target).stdout)
        return {task["name"].split(":")[0] for wave in plan["waves"] for task in wave}

    def test_a_comment_and_a_summary_run_nothing(self):
        self.append("toolchain/musl/musl_1.2.3.bb", "# A word.\n")
        self.append("classes/base.bbclass", "\n# Another.\n")
        self.append("conf/bitbake.conf", "# One more.\n")
        self.append("apps/busybox/busybox_1.35.0.bb", 'SUMMARY = "Not the same"\n')
        self.assertEqual(self.edited.ran(*TARGETS), (set(), set()))

    def test_flags_of_the_c_library_run_what_is_linked_with_it(self):
        self.append("toolchain/musl/musl_1.2.3.bb", 'CFLAGS:append = " -fno-omit-frame-pointer"\n')
        linked = {"musl", "libxcrypt", "busybox"}
        self.assertEqual(self.would_run("busybox"), linked)
        self.assertEqual(self.would_run("sample-image"),
                         linked | {"zlib", "dropbear", "lua", "sample-image"})
        causes = self.why()["causes"]
        self.assertEqual([(c["name"], c["first_task"]) for c in causes], [("CFLAGS", "musl:do_compile")])
        self.assertEqual(causes[0]["places"][0]["file"], "recipes/toolchain/musl/musl_1.2.3.bb")
        ran, same = self.edited.ran("lua")
        self.assertEqual(ran, {f"{recipe}:{task}" for recipe in ("musl", "lua")
                               for task in self.CHAIN} | {"lua:do_package"})
        self.assertEqual(same, set())

    def test_a_change_that_shows_in_no_output_stops_there(self):
        before = self.edited.digests("dropbear")
        self.append("libs/zlib/zlib_1.2.13.bb", 'CFLAGS:append = " -DNOBODY_ASKS_FOR_THIS"\n')
        self.assertEqual(self.would_run("dropbear"), {"zlib", "dropbear"})
        ran, same = self.edited.ran("dropbear")
        self.assertEqual(ran, {f"zlib:{task}" for task in self.CHAIN})
        self.assertEqual(same & {"dropbear:do_package"}, {"dropbear:do_package"})
        self.assertEqual(self.edited.digests("dropbear"), before)


if __name__ == "__main__":
    unittest.main()
