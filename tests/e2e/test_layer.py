"""The sample layer in recipes/, and of builds what takes no time and no network."""

import os
import pathlib
import shutil
import stat
import subprocess

import bitzel
import newc

LAYER = pathlib.Path(__file__).resolve().parents[2] / "recipes"
TARGET = {"busybox", "dropbear", "libxcrypt", "linux-libc-headers", "lua", "musl", "zlib"}
TOOLS = {f"{name}-native" for name in ("autoconf", "automake", "libtool", "m4", "musl-gcc", "newc")}
CHAIN = ["fetch", "unpack", "patch", "configure", "compile", "install", "populate_sysroot"]


class Project(bitzel.Case):
    def setUp(self):
        super().setUp()
        conf = self.dir / "build/conf"
        conf.mkdir(parents=True)
        (conf / "bblayers.conf").write_text(
            f'BBPATH = "${{TOPDIR}}"\nBBFILES ?= ""\nBBLAYERS = "{LAYER}"\n')
        self.local = conf / "local.conf"
        self.local.write_text("")

    def ask(self, *args):
        result = self.run_bitzel("--directory", self.dir / "build", *args)
        self.assert_exit(result, 0)
        return result


class Layer(Project):
    def test_all_recipes_parse_without_a_word(self):
        result = self.ask("parse")
        self.assertIn(" 0 errors", result.out + result.err)
        self.assertNotIn("warning", result.err)

    def test_it_has_the_recipes_it_says(self):
        names = {line.split()[0] for line in self.ask("recipes").out.splitlines()}
        self.assertEqual(names, TARGET | TOOLS | {"base-files", "sample-image"})

    def graph(self, target):
        rows = {}
        for line in self.ask("graph", target).out.splitlines():
            name, _, needs = line.partition(" > ")
            rows[name] = set(needs.split())
        return rows

    def test_busybox_needs_what_it_is_made_of(self):
        graph = self.graph("busybox")
        self.assertEqual({name.split(":")[0] for name in graph},
                         {"busybox", "libxcrypt", "linux-libc-headers", "musl", "m4-native",
                          "autoconf-native", "automake-native", "libtool-native",
                          "musl-gcc-native"})
        self.assertEqual({name for name in graph if name.startswith("busybox:")},
                         {f"busybox:do_{t}" for t in CHAIN + ["prepare_config", "package", "build"]})
        self.assertEqual(graph["busybox:do_prepare_config"], {"busybox:do_patch"})
        self.assertEqual(graph["busybox:do_configure"],
                         {"busybox:do_patch", "busybox:do_prepare_config"} |
                         {f"{r}:do_populate_sysroot" for r in
                          ("libxcrypt", "linux-libc-headers", "musl", "musl-gcc-native")})

    def test_image_is_short_for_the_image(self):
        self.assertEqual(self.graph("image"), self.graph("sample-image"))

    def test_tools_are_not_packed(self):
        self.assertFalse([n for n in self.graph("sample-image") if n.endswith("-native:do_package")])

    def signatures(self, machine):
        self.local.write_text(f'MACHINE = "{machine}"\n')
        names = [f"{r}:do_populate_sysroot" for r in sorted(TARGET | TOOLS)]
        result = self.ask("sig", *names)
        self.assertEqual(result.said, "")
        return dict(reversed(line.split()) for line in result.out.splitlines())

    def test_a_machine_counts_for_what_runs_on_it_and_for_no_tool(self):
        one, other = self.signatures("x86-64"), self.signatures("x86-64-v3")
        self.assertEqual(len(one), len(TARGET | TOOLS))
        same = {name.split(":")[0] for name in one if one[name] == other[name]}
        self.assertEqual(same, TOOLS)

    def test_the_number_of_jobs_and_where_sources_lie_do_not_count(self):
        before = self.ask("sig", "sample-image").out
        self.local.write_text('PARALLEL_MAKE = "-j 77"\nDL_DIR = "/elsewhere"\n'
                              'DEBIAN_MIRROR = "http://mirror.example/debian/pool/main"\n')
        self.assertEqual(self.ask("sig", "sample-image").out, before)

    def value(self, recipe, name):
        return self.ask("getvar", "-r", recipe, "--value", name).out.strip()

    def test_tools_are_installed_where_they_are_used(self):
        native = f"{self.dir}/build/tmp/sysroots/native"
        self.assertEqual(self.value("m4-native", "bindir"), f"{native}/usr/bin")
        self.assertEqual(self.value("m4-native", "CC"), "gcc")
        self.assertEqual(self.value("zlib", "bindir"), "/usr/bin")
        self.assertTrue(self.value("zlib", "PATH").startswith(f"{native}/usr/bin:"))
        self.assertEqual(self.value("zlib", "CC"),
                         f"x86_64-linux-musl-gcc --sysroot={self.dir}/build/tmp/sysroots/x86-64 -march=x86-64")

    def test_every_source_from_elsewhere_has_its_checksum_and_is_at_debian(self):
        for recipe in sorted(TARGET | {"autoconf-native", "automake-native", "libtool-native", "m4-native"}):
            with self.subTest(recipe=recipe):
                names = self.ask("env", "--json", recipe).json["variables"]
                self.assertRegex(names["SRC_URI"]["flags"]["sha256sum"], "^[0-9a-f]{64}$")
                self.assertIn(names["DEBIAN_MIRROR"]["value"],
                              names["SRC_URI"]["value"] + names["PREMIRRORS"]["value"])


    def keys(self, layer):
        (self.dir / "build/conf/bblayers.conf").write_text(
            f'BBPATH = "${{TOPDIR}}"\nBBFILES ?= ""\nBBLAYERS = "{layer}"\n')
        result = self.ask("sig", "--all", "--json", "sample-image")
        return {task["name"]: task["signature"] for task in result.json["tasks"]}

    def test_a_new_version_or_checksum_changes_the_keys_of_each_recipe(self):
        layer = self.dir / "recipes"
        shutil.copytree(LAYER, layer)
        before = self.keys(layer)
        recipes = sorted(layer.glob("*/*/*_*.bb"))
        self.assertEqual(len(recipes), len(TARGET | TOOLS | {"base-files"}))
        for recipe in recipes:
            name, text = recipe.name.split("_")[0], recipe.read_text()
            own = {task for task in before if task.startswith(f"{name}:")}
            self.assertTrue(own, name)
            with self.subTest("version", recipe=name):
                newer = recipe.with_name(recipe.name.replace(".bb", "9.bb"))
                recipe.rename(newer)
                after = self.keys(layer)
                newer.rename(recipe)
                self.assertEqual({task for task in own if after[task] == before[task]}, set())
            with self.subTest("checksum", recipe=name):
                at = text.find("[sha256sum] = ")
                if at < 0:
                    self.assertNotIn("://", text.replace("file://", ""))
                    continue
                at += len('[sha256sum] = "')
                recipe.write_text(text[:at] + "0123456789abcdef"[int(text[at], 16) - 1] + text[at + 1:])
                after = self.keys(layer)
                recipe.write_text(text)
                self.assertEqual({task for task in own if after[task] == before[task]}, set())
        self.assertEqual(self.keys(layer), before)


class Image(Project):
    """An image of nothing but files that the layer has itself."""

    def setUp(self):
        super().setUp()
        layer = self.dir / "more"
        (layer / "conf").mkdir(parents=True)
        (layer / "conf/layer.conf").write_text(
            'BBFILES += "${LAYERDIR}/*.bb"\nBBFILE_COLLECTIONS += "more"\n'
            'BBFILE_PATTERN_more = "^${LAYERDIR}/"\nLAYERSERIES_COMPAT_more = "bitzel"\n')
        (layer / "tiny.bb").write_text('inherit image\nIMAGE_INSTALL = "notes"\n')
        (layer / "notes_2.bb").write_text(
            'BASE_DEFAULT_DEPS = ""\nRDEPENDS:${PN} = "base-files"\n'
            "do_install() {\n"
            "    install -D -m 0640 /dev/null ${D}/etc/notes\n"
            "    install -D -m 0644 /dev/null ${D}${includedir}/notes.h\n"
            "}\n")
        (self.dir / "build/conf/bblayers.conf").write_text(
            f'BBPATH = "${{TOPDIR}}"\nBBFILES ?= ""\nBBLAYERS = "{LAYER} {layer}"\n')

    def build(self, target, where=None):
        result = self.run_bitzel("--directory", where or self.dir / "build", "build", target)
        if "user namespaces do not work here" in result.err and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(result.err.strip())
        self.assert_exit(result, 0)
        return result

    def test_an_image_has_owners_and_devices_and_needs_no_root(self):
        self.build("tiny")
        deploy = self.dir / "build/bitzel-out/tiny/deploy/images/x86-64"
        self.assertEqual((deploy / "tiny-x86-64.manifest").read_text(), "base-files 1.0\nnotes 2\n")
        image = newc.read(deploy / "tiny-x86-64.cpio.gz")
        self.assertEqual(list(image), sorted(image))
        self.assertEqual({e.mtime for e in image.values()}, {1672531200})
        self.assertEqual({e.uid for e in image.values()}, {0})
        for name, mode, device in ((".", stat.S_IFDIR | 0o755, (0, 0)),
                                   ("dev/console", stat.S_IFCHR | 0o600, (5, 1)),
                                   ("dev/null", stat.S_IFCHR | 0o666, (1, 3)),
                                   ("root", stat.S_IFDIR | 0o700, (0, 0)),
                                   ("tmp", stat.S_IFDIR | 0o1777, (0, 0)),
                                   ("etc/shadow", stat.S_IFREG | 0o600, (0, 0)),
                                   ("etc/notes", stat.S_IFREG | 0o640, (0, 0)),
                                   ("etc/init.d/rcS", stat.S_IFREG | 0o755, (0, 0))):
            with self.subTest(name=name):
                self.assertEqual((image[name].mode, image[name].device), (mode, device))
        self.assertEqual(image["init"].data, b"sbin/init")
        self.assertEqual(image["etc/passwd"].data,
                         (LAYER / "images/base-files/files/etc/passwd").read_bytes())
        self.assertNotIn("usr/include", image)
        self.assertIn("(0 tasks executed, ", self.build("tiny").out)


class Default(bitzel.Case):
    """An installed program, and people in directories that are no projects."""

    def setUp(self):
        super().setUp()
        self.program = self.dir / "usr/bin/bitzel"
        self.program.parent.mkdir(parents=True)
        shutil.copy(bitzel.PROGRAM, self.program)
        (self.dir / "usr/share/bitzel").mkdir(parents=True)
        os.symlink(LAYER, self.dir / "usr/share/bitzel/recipes")
        (self.dir / "somewhere/deep").mkdir(parents=True)
        self.build = self.dir / ".local/state/bitzel/sample"

    def run_there(self, *args, where="somewhere/deep", **env):
        done = subprocess.run([self.program, *args], cwd=self.dir / where, check=False, text=True,
                              capture_output=True, timeout=bitzel.TIMEOUT,
                              env=self.environment(**{"BITZEL_NO_SAMPLE": "", **env}))
        return bitzel.Result(done.returncode, done.stdout, done.stderr)

    def test_without_a_project_it_is_the_sample_layer_from_anywhere(self):
        for where in (".", "somewhere", "somewhere/deep"):
            result = self.run_there("recipes", where=where)
            self.assert_exit(result, 0)
            self.assertIn("busybox", result.out)
            self.assertIn(f"there is no project here; this is the sample layer, built in {self.build}\n",
                          result.err)
        self.assertEqual(os.listdir(self.dir / "somewhere/deep"), [])
        self.assertEqual(self.run_there("-q", "recipes").err, "")

    def test_project_says_what_decided(self):
        result = self.run_there("-q", "project")
        self.assert_exit(result, 0)
        self.assertIn("the sample layer, as there is no project here\n", result.out)
        self.assertIn(f"build in      {self.build}\n", result.out)

    def test_a_project_wins(self):
        conf = self.dir / "somewhere/conf"
        conf.mkdir()
        (conf / "bblayers.conf").write_text('BBPATH = "${TOPDIR}"\nBBLAYERS = "${TOPDIR}"\n')
        (conf / "layer.conf").write_text("")
        (self.dir / "somewhere/classes").mkdir()
        (self.dir / "somewhere/classes/base.bbclass").write_text("")
        (conf / "bitbake.conf").write_text('MINE = "yes"\nCACHE = "${TOPDIR}/cache"\n')
        result = self.run_there("getvar", "--value", "MINE")
        self.assertEqual(result.out, "yes\n", result)
        self.assertFalse(self.build.exists())

    def test_what_is_named_and_is_not_there_is_an_error(self):
        for args, env in (((), {"BITZEL_PROJECT": "/none"}), ((), {"BUILDDIR": "/none"}),
                          (("--project", "none.yml"), {})):
            self.assert_exit(self.run_there(*args, "recipes", **env), 2)

    def test_settings_in_its_local_conf_count_and_stay(self):
        self.run_there("recipes")
        (self.build / "conf/local.conf").write_text('MACHINE = "x86-64-v3"\n')
        self.assertEqual(self.run_there("getvar", "--value", "TUNE_CCARGS").out, "-march=x86-64-v3\n")

    def test_a_checkout_may_have_blanks_and_other_letters_in_its_path(self):
        tree = self.dir / "große Übung/my tree"
        shutil.copytree(LAYER, tree / "recipes", symlinks=True)
        (tree / "build/dev/cmd/bitzel").mkdir(parents=True)
        self.program = shutil.copy(self.program, tree / "build/dev/cmd/bitzel/bitzel")
        result = self.run_there("build", "base-files", HOME=str(tree))
        if "user namespaces do not work here" in result.err and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(result.err.strip())
        self.assert_exit(result, 0)
        layers = (tree / "build/sample/conf/bblayers.conf").read_text()
        link = pathlib.Path(layers.rpartition("BBLAYERS = ")[2].strip().strip('"'))
        self.addCleanup(link.unlink)
        self.assertEqual(link.resolve(), tree / "recipes")
        self.assertEqual((tree / "build/sample/bitzel-out/base-files/image/etc/hostname").read_text(),
                         (LAYER / "images/base-files/files/etc/hostname").read_text())
        for script in (tree / "build/sample/tmp").rglob("run.do_*"):
            self.assertNotIn("Übung", script.read_text())  # it is not there in a sandbox
        self.assertIn("(0 tasks executed", self.run_there("build", "base-files", HOME=str(tree)).out)

    def test_it_can_be_switched_off(self):
        result = self.run_there("recipes", BITZEL_NO_SAMPLE="1")
        self.assert_exit(result, 2)
        self.assertIn("conf/bblayers.conf", result.err)


if __name__ == "__main__":
    bitzel.main()
