"""bitzel build: what runs, what comes from the store, and what is left behind."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

import bitzel

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
import nginx  # noqa: E402

FILES = {
    "build/conf/bblayers.conf": '''\
BBPATH = "${TOPDIR}"
BBFILES ?= ""
BBLAYERS ?= "${TOPDIR}/../meta-kitchen"
''',
    "build/conf/local.conf": 'MACHINE ?= "stove"\n',
    "meta-kitchen/conf/layer.conf": '''\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*.bb"
BBFILE_COLLECTIONS += "kitchen"
BBFILE_PATTERN_kitchen = "^${LAYERDIR}/"
LAYERSERIES_CORENAMES = "spring"
LAYERSERIES_COMPAT_kitchen = "spring"
KITCHEN := "${LAYERDIR}"
''',
    "meta-kitchen/conf/bitbake.conf": '''\
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'nothing'}"
PV = "1.0"
PROVIDES = "${PN}"
TMPDIR = "${TOPDIR}/tmp"
WORKDIR = "${TMPDIR}/work/${PN}"
T = "${WORKDIR}/temp"
B = "${WORKDIR}/build"
D = "${WORKDIR}/image"
SYSROOTS = "${TMPDIR}/sysroots"
DEPLOY_DIR = "${TMPDIR}/deploy"
BB_BASEHASH_IGNORE_VARS = "TOPDIR TMPDIR WORKDIR T B D SYSROOTS DEPLOY_DIR KITCHEN FILE"
SALT ?= "a pinch"
include conf/local.conf
''',
    "meta-kitchen/classes/base.bbclass": '''\
addtask compile
addtask install after do_compile
addtask populate_sysroot after do_install
addtask build after do_populate_sysroot
do_build[noexec] = "1"
do_compile[deptask] = "do_populate_sysroot"
do_compile[dirs] = "${B}"
do_install[cleandirs] = "${D}"
do_install[dirs] = "${B}"
do_compile() {
    echo "${PN} with ${SALT}" > made
}
do_install() {
    install -D -m 0750 made ${D}/bin/${PN}
    ln -s ${PN} ${D}/bin/alias
}
do_populate_sysroot() {
    mkdir -p ${SYSROOTS}
    cp -a ${D} ${SYSROOTS}/${PN}
}
do_build() {
    :
}
''',
    "meta-kitchen/recipes/dough.bb": "",
    "meta-kitchen/recipes/sauce.bb": "",
    "meta-kitchen/recipes/pizza.bb": '''\
DEPENDS = "dough sauce"
do_compile() {
    cat ${SYSROOTS}/dough/bin/dough ${SYSROOTS}/sauce/bin/sauce > made
    cat ${KITCHEN}/files/topping >> made
}
do_compile[file-checksums] = "${KITCHEN}/files/topping:True"
''',
    "meta-kitchen/files/topping": "basil\n",
}


def tasks(result, word):
    """The names of the tasks of which a line of the log says so."""
    return {line.split()[1] for line in result.err.splitlines() if line.startswith(word + " ")}


class Kitchen(bitzel.Case):
    def setUp(self):
        super().setUp()
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, name, before, after):
        path = self.dir / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(before, text)
        path.write_text(text.replace(before, after), encoding="utf-8")

    def build(self, *args, code=0, where=None, **how):
        result = self.run_bitzel("--directory", (where or self.dir) / "build", "build", *args, **how)
        if "user namespaces do not work here" in result.err and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(result.err.strip())
        self.assert_exit(result, code)
        return result

    def out(self, name):
        return self.dir / "build/bitzel-out" / name


class Build(Kitchen):
    def test_a_build_runs_every_task_once_and_then_none(self):
        first = self.build("pizza")
        self.assertEqual(tasks(first, "Executed"), {
            f"{r}:do_{t}" for r in ("dough", "sauce", "pizza")
            for t in ("compile", "install", "populate_sysroot")})
        self.assertRegex(first.out, r"^Build completed in [0-9.]+s \(9 tasks executed, 0 from cache\)\n$")
        self.assertEqual((self.out("pizza") / "image/bin/pizza").read_text(),
                         "dough with a pinch\nsauce with a pinch\nbasil\n")
        again = self.build("pizza")
        self.assertEqual(tasks(again, "Executed"), set())
        self.assertEqual(tasks(again, "Cached"), {"pizza:do_populate_sysroot"})
        self.assertRegex(again.out, r"\(0 tasks executed, 1 from cache\)")

    def test_json_counts_all_tasks(self):
        self.build("sauce")
        result = self.build("pizza", "--json").json
        del result["milliseconds"]
        self.assertEqual(result, {"success": True, "tasks": 10, "executed": 6, "cached": 1,
                                  "not_needed": 2, "noexec": 1, "failed": 0, "not_started": 0})

    def test_modes_and_links_come_back_as_they_were(self):
        self.build("dough")
        image = self.out("dough") / "image/bin"
        self.assertEqual((image / "dough").stat().st_mode & 0o7777, 0o750)
        self.assertEqual(os.readlink(image / "alias"), "dough")

    def test_the_output_can_be_removed_and_comes_back(self):
        self.build("pizza")
        shutil.rmtree(self.out("pizza").parent)
        shutil.rmtree(self.dir / ".cache/bitzel/trees")
        again = self.build("pizza")
        self.assertEqual(tasks(again, "Executed"), set())
        self.assertTrue((self.out("pizza") / "image/bin/pizza").exists())

    def test_another_checkout_with_the_same_store_runs_nothing(self):
        self.build("pizza")
        other = self.dir / "elsewhere/deep/down"
        for name in ("build/conf", "meta-kitchen"):
            shutil.copytree(self.dir / name, other / name)
        result = self.build("pizza", where=other)
        self.assertEqual(tasks(result, "Executed"), set())
        self.assertEqual((other / "build/bitzel-out/pizza/image/bin/pizza").read_text(),
                         "dough with a pinch\nsauce with a pinch\nbasil\n")

    def test_an_edit_runs_what_it_reaches(self):
        self.build("pizza")
        self.edit("meta-kitchen/recipes/sauce.bb", "", 'SALT = "much"\n')
        result = self.build("pizza")
        self.assertEqual(tasks(result, "Executed"), {
            f"{r}:do_{t}" for r in ("sauce", "pizza")
            for t in ("compile", "install", "populate_sysroot")})
        self.assertIn("sauce with much\n", (self.out("pizza") / "image/bin/pizza").read_text())

    def test_a_file_that_a_task_names_counts(self):
        self.build("pizza")
        self.write("meta-kitchen/files/topping", "olives\n")
        result = self.build("pizza")
        self.assertEqual(tasks(result, "Executed"),
                         {f"pizza:do_{t}" for t in ("compile", "install", "populate_sysroot")})

    def test_a_change_that_makes_no_difference_stops_there(self):
        self.build("pizza")
        self.edit("meta-kitchen/recipes/sauce.bb", "", '''\
do_compile() {
    echo "${PN} with" ${SALT} > made
}
''')
        result = self.build("pizza")
        self.assertEqual(tasks(result, "Executed"), {"sauce:do_compile"})
        self.assertIn("pizza:do_populate_sysroot", tasks(result, "Cached"))
        self.assertEqual(tasks(self.build("pizza"), "Cached"), {"pizza:do_populate_sysroot"})

    def test_why_compares_with_the_last_build(self):
        self.build("pizza")
        self.edit("meta-kitchen/recipes/sauce.bb", "", 'SALT = "much"\n')
        result = self.run_bitzel("--directory", self.dir / "build", "why", "pizza")
        self.assert_exit(result, 0)
        self.assertIn("recipes/sauce.bb:1", result.out)
        self.assertIn("SALT", result.out)

    def test_no_cache_runs_all_again(self):
        self.build("dough")
        self.assertEqual(len(tasks(self.build("--no-cache", "dough"), "Executed")), 3)

    def test_the_task_of_a_target_can_be_named(self):
        self.assertEqual(tasks(self.build("-c", "compile", "dough"), "Executed"), {"dough:do_compile"})
        self.assertEqual(tasks(self.build("dough:do_install"), "Executed"), {"dough:do_install"})


class Shared(Kitchen):
    """Two machines: each has a home, a checkout and a store of its own."""

    def machine(self, name, tier, **settings):
        top = self.dir / name / "checkout"
        if not top.exists():
            for part in ("build/conf", "meta-kitchen"):
                shutil.copytree(self.dir / part, top / part)
        result = self.build("pizza", where=top, env={"HOME": str(self.dir / name),
                                                     "BITZEL_CACHE_TIERS": tier, **settings})
        return result, (top / "build/bitzel-out/pizza/image/bin/pizza").read_bytes()

    def check(self, tier):
        first, made = self.machine("one", tier)
        self.assertEqual(len(tasks(first, "Executed")), 9)
        second, same = self.machine("two", tier)
        self.assertEqual(tasks(second, "Executed"), set())
        self.assertEqual(same, made)

    def test_what_one_machine_built_another_takes_from_a_directory(self):
        (self.dir / "shared").mkdir()
        self.check(f"dir:{self.dir}/shared rw")

    @unittest.skipUnless(nginx.found() or os.environ.get("BITZEL_MUST_WORK"), "nginx is not installed")
    def test_what_one_machine_built_another_takes_from_a_web_server(self):
        server = nginx.Nginx(self.dir / "www")
        self.addCleanup(server.stop)
        self.check(f"{server.url} rw")

    def test_results_are_taken_only_from_whom_a_machine_trusts(self):
        tier = f"dir:{self.dir}/shared"
        (self.dir / "shared").mkdir()
        home = {"HOME": str(self.dir / "one")}
        key = self.run_bitzel("cache", "key", "new", "ci", env=home).out.strip()
        self.machine("one", tier + " rw", BITZEL_CACHE_SIGN="ci")
        trusting, _made = self.machine("two", tier + " ro trust=ci", BITZEL_CACHE_KEYS=key)
        self.assertEqual(tasks(trusting, "Executed"), set())
        other = "ci=" + self.run_bitzel("cache", "key", "new", "x").out.strip().split("=")[1]
        wary, _made = self.machine("three", tier + " ro trust=ci", BITZEL_CACHE_KEYS=other)
        self.assertEqual(len(tasks(wary, "Executed")), 9)

    def test_without_the_directory_all_is_built(self):
        result, _made = self.machine("one", f"dir:{self.dir}/none rw")
        self.assertEqual(len(tasks(result, "Executed")), 9)


class Sandbox(Kitchen):
    def test_a_task_sees_neither_home_nor_network_and_cannot_write_elsewhere(self):
        self.write("secret", "x")
        self.edit("meta-kitchen/recipes/dough.bb", "", f'''\
do_compile() {{
    test ! -e {self.dir}/secret
    test ! -e {self.dir}/build/conf/local.conf
    ! touch {self.dir}/stain 2>/dev/null
    ! touch ${{KITCHEN}}/stain 2>/dev/null
    test "$(id -u)" = 1000
    test "$(pwd)" = /bitzel/tmp/work/dough/build
    cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' ' > made
}}
''')
        self.build("dough")
        self.assertEqual((self.out("dough") / "image/bin/dough").read_text(), "lo\n")
        self.assertFalse((self.dir / "stain").exists())

    def test_the_environment_is_the_recipes(self):
        self.edit("meta-kitchen/recipes/dough.bb", "", '''\
export FLOUR = "wheat"
do_compile() {
    env | grep -v "^PWD=\\|^OLDPWD=\\|^SHLVL=\\|^_=" | sort > made
}
''')
        self.build("dough", env={"STRAY": "1", "SHELL": "/bin/zsh", "USER": "me"})
        self.assertEqual((self.out("dough") / "image/bin/dough").read_text().split(), [
            "FLOUR=wheat", "HOME=/tmp", "LC_ALL=C.UTF-8",
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "SHELL=/bin/sh", "TMPDIR=/tmp", "TZ=UTC", "USER=builder"])

    def test_functions_run_before_and_after_a_task(self):
        self.edit("meta-kitchen/recipes/dough.bb", "", '''\
do_compile[prefuncs] = "wash"
do_compile[postfuncs] = "wipe"
do_compile[umask] = "027"
wash() {
    mkdir -p ${B}
    echo washed > ${B}/order
}
do_compile() {
    echo ${BB_CURRENTTASK} >> order
    umask >> order
}
wipe() {
    echo wiped >> ${B}/order
    cp ${B}/order ${B}/made
}
''')
        self.build("dough")
        self.assertEqual((self.out("dough") / "image/bin/dough").read_text().split(),
                         ["washed", "compile", "0027", "wiped"])


class Failure(Kitchen):
    def setUp(self):
        super().setUp()
        self.edit("meta-kitchen/recipes/sauce.bb", "", '''\
do_compile() {
    echo "it boils"
    cp no-such-file made
    echo "never"
}
''')

    def test_it_is_told_with_the_log_and_nothing_after_it_runs(self):
        result = self.build("pizza", code=1)
        self.assertEqual(tasks(result, "Failed"), {"sauce:do_compile"})
        self.assertIn("exit status 1", result.err)
        self.assertIn("it boils", result.err)
        self.assertIn("no-such-file", result.err)
        self.assertNotIn("never", result.err)
        log = self.dir / "build/tmp/work/sauce/temp/log.do_compile"
        self.assertIn(f"log: {log}", result.err)
        self.assertIn("it boils", log.read_text())
        self.assertIn("boils", log.with_name("run.do_compile").read_text())
        self.assertRegex(result.out, r"^Build failed in .* 1 failed")

    def test_with_k_all_else_is_built(self):
        result = self.build("-k", "-j1", "pizza", code=1)
        self.assertEqual(len([t for t in tasks(result, "Executed") if t.startswith("dough:")]), 3)
        self.assertRegex(result.out, r"1 failed, 6 not started")

    def test_after_the_fix_only_the_rest_runs(self):
        self.build("-k", "pizza", code=1)
        self.edit("meta-kitchen/recipes/sauce.bb", "cp no-such-file made", "echo fine > made")
        result = self.build("pizza")
        self.assertEqual(len(tasks(result, "Executed")), 6)

    def test_a_signal_is_named(self):
        self.edit("meta-kitchen/recipes/sauce.bb", "cp no-such-file made", "kill -KILL $$")
        self.assertIn("killed by signal 9 (Killed)", self.build("sauce", code=1).err)

    def test_a_task_in_python_is_an_error_that_names_it(self):
        self.edit("meta-kitchen/recipes/dough.bb", "", "python do_compile() {\n    pass\n}\n")
        self.assertIn("do_compile is written in Python", self.build("dough", code=1).err)


class Interruption(Kitchen):
    def start(self, *args):
        child = subprocess.Popen(
            [bitzel.PROGRAM, "--directory", self.dir / "build", "build", *args],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment(), cwd=self.dir)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        return child

    def test_an_interrupt_ends_tasks_and_the_next_build_completes(self):
        self.build("dough")
        self.edit("meta-kitchen/recipes/sauce.bb", "",
                  'do_compile() {\n    sleep 30\n}\n')
        child = self.start("sauce")
        log = self.dir / "build/tmp/work/sauce/temp/log.do_compile"
        deadline = time.monotonic() + 30
        while not log.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(20), 130)
        self.assertRegex(child.stdout.read().decode(), "^Build interrupted in ")
        self.edit("meta-kitchen/recipes/sauce.bb", "sleep 30", "echo x > made")
        self.build("sauce")

    def test_killed_at_any_moment_the_next_build_is_right(self):
        for moment in (0.05, 0.15, 0.3, 0.5, 0.8):
            child = self.start("pizza", "-j1")
            time.sleep(moment)
            child.kill()
            child.wait(20)
        self.build("pizza")
        self.assertEqual((self.out("pizza") / "image/bin/pizza").read_text(),
                         "dough with a pinch\nsauce with a pinch\nbasil\n")
        self.build("--no-cache", "dough")  # one that runs something sweeps
        left = [p.name for p in (self.dir / ".cache/bitzel/work").iterdir()]
        self.assertEqual(left, [])


class Mini(bitzel.Case):
    """The recorded project: it installs what BitBake installs, by the same tasks."""

    def build(self, *args):
        result = self.run_bitzel("--directory", self.dir / "mini/build", "build", *args)
        self.assert_exit(result, 0)
        return result

    def test_the_image_has_exactly_what_bitbake_installs(self):
        data = os.environ.get("BITZEL_CONFORMANCE")
        data = pathlib.Path(data) if data else pathlib.Path(__file__).resolve().parents[3] / "shared/conformance"
        if not (data / "mini").is_dir():
            return  # it is not part of this tree
        shutil.copytree(data / "mini", self.dir / "mini")
        self.build("image")
        expected = self.dir / "mini/expected"
        made = self.dir / "mini/build/bitzel-out/image/deploy/image.manifest"
        self.assertEqual(made.read_text(), (expected / "image.manifest").read_text())
        again = self.build("image")
        self.assertEqual(tasks(again, "Executed"), set())


if __name__ == "__main__":
    unittest.main()
