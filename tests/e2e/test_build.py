"""bitzel build: what runs, what comes from the store, and what is left behind."""

import json
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


def everything(top):
    """All that is below a directory, and below the directories that links there lead to:
    by name its kind, mode and time, and bytes or where it leads."""
    found = {}
    for part in sorted(os.listdir(top)):
        for where, dirs, files in os.walk(os.path.realpath(top / part)):
            for name in dirs + files:
                path = pathlib.Path(where) / name
                st = path.lstat()
                found[f"{part}/{path.relative_to(os.path.realpath(top / part))}"] = (
                    st.st_mode, st.st_mtime_ns if path.is_file() else 0,
                    os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else b"")
    return found


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

    def last_events(self):
        """Of the last build: numbers of processes, which names end with, may begin anew."""
        return max((self.dir / "build/builds").glob("*/events"), key=lambda path: path.stat().st_mtime_ns)

    def build(self, *args, code=0, where=None, **how):
        result = self.run_bitzel("--directory", (where or self.dir) / "build", "build", *args, **how)
        if "user namespaces do not work here" in result.err and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(result.err.strip())
        self.assert_exit(result, code)
        return result

    def out(self, name):
        return self.dir / "build/bitzel-out" / name


class Build(Kitchen):
    def test_output_that_cannot_be_shown_is_an_error(self):
        self.build("dough")
        shutil.rmtree(self.dir / "build/bitzel-out")
        (self.dir / "build/bitzel-out").write_text("in the way\n")
        result = self.build("dough", code=4)
        self.assertIn("all is built and stored, but cannot be shown", result.err)
        self.assertIn("bitzel-out", result.err)
        (self.dir / "build/bitzel-out").unlink()
        self.assertEqual(tasks(self.build("dough"), "Executed"), set())
        self.assertTrue(self.out("dough").is_dir())

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

    def test_where_the_output_is_is_told_when_it_is_news(self):
        self.assertIn("The output is in bitzel-out/sauce\n", self.build("sauce").err)
        self.assertNotIn("The output", self.build("sauce").err)
        self.assertNotIn("The output", self.build("sauce", "--no-cache").err)  # it is the same
        both = self.run_bitzel("--project", self.dir / "build", "build", "dough", "pizza")
        self.assertIn("The output is in build/bitzel-out\n", both.err)  # from where the user is
        self.write("meta-kitchen/recipes/sauce.bb", 'SALT = "a handful"\n')
        self.assertNotIn("The output", self.build("sauce", "-q").err)

    def test_the_setting_says_how_many_tasks_run_unless_the_option_does(self):
        for args, jobs in ((["-j", "5"], 5), ([], 3)):
            log = self.dir / f"events-{jobs}"
            self.build("sauce", "--no-cache", "--events", log, *args, env={"BITZEL_JOBS": "3"})
            self.assertEqual(json.loads(log.read_text().splitlines()[0])["jobs"], jobs)

    def test_events_are_lines_of_json_and_are_kept(self):
        log = self.dir / "events"
        self.build("sauce")
        self.build("pizza", "--events", log)
        events = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual([e["event"] for e in events[:5]], ["begin", "cached", "unneeded", "unneeded", "planned"])
        self.assertEqual({e["task"] for e in events[2:4]}, {"sauce:do_compile", "sauce:do_install"})
        self.assertAlmostEqual(events[4]["saved"], sum(e["saved"] for e in events[2:4]), places=4)
        self.assertEqual(events[0]["targets"], ["pizza"])
        self.assertEqual(events[1]["version"], "1.0")
        self.assertGreater(events[1]["saved"], 0)
        self.assertEqual({e["task"] for e in events if e["event"] == "done"},
                         {e["task"] for e in events if e["event"] == "started"})
        started = {e["task"]: e for e in events if e["event"] == "started"}
        self.assertEqual(set(started["pizza:do_compile"]["after"]),
                         {"dough:do_populate_sysroot", "sauce:do_populate_sysroot"})
        self.assertEqual((events[-1]["event"], events[-1]["executed"]), ("end", 6))
        kept = self.last_events()
        self.assertEqual(kept.read_text(), log.read_text())

    def test_events_to_stdout_come_before_the_result(self):
        lines = self.build("sauce", "--events", "-", "--json").out.splitlines()
        self.assertEqual(json.loads(lines[0])["event"], "begin")
        self.assertIn('"executed": 3', "\n".join(lines))

    def test_events_that_cannot_be_written_are_a_warning(self):
        result = self.build("sauce", "--events", "/dev/full")
        self.assertIn("warning: --events: ", result.err)

    def test_json_counts_all_tasks(self):
        self.build("sauce")
        result = self.build("pizza", "--json").json
        del result["milliseconds"]
        self.assertEqual(result, {"success": True, "tasks": 10, "executed": 6, "cached": 1,
                                  "not_needed": 2, "noexec": 1, "failed": 0, "not_started": 0,
                                  "downloaded_bytes": 0, "tier_hits": 0, "tier_bytes_read": 0,
                                  "tier_bytes_written": 0})

    def test_modes_come_back_without_writing_and_links_as_they_were(self):
        self.build("dough")
        image = self.out("dough") / "image/bin"
        self.assertEqual((image / "dough").stat().st_mode & 0o7777, 0o550)
        self.assertEqual(os.readlink(image / "alias"), "dough")

    def test_the_output_can_be_removed_and_comes_back(self):
        self.build("pizza", "dough")
        before = {name: everything(self.out(name)) for name in ("pizza", "dough")}
        self.assertIn("image/bin/pizza", before["pizza"])
        shutil.rmtree(self.out("pizza").parent)
        for laid_out in ("trees", "out"):
            shutil.rmtree(self.dir / ".cache/bitzel" / laid_out)
        again = self.build("pizza", "dough")
        self.assertEqual(tasks(again, "Executed"), set())
        self.assertEqual({name: everything(self.out(name)) for name in before}, before)

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

    def test_it_stops_there_whatever_else_was_built_before(self):
        self.build("sauce", "dough", "pizza")
        self.edit("meta-kitchen/recipes/sauce.bb", "", "do_compile:prepend() {\n    :\n}\n")
        for targets in (("pizza",), ("pizza", "dough"), ("dough", "pizza")):
            shutil.rmtree(self.dir / "build/bitzel-out")
            self.assertFalse([t for t in tasks(self.build(*targets), "Executed")
                              if t.startswith("pizza:")])

    def test_another_provider_that_makes_the_same_lies_in_the_same_order(self):
        maker = '''\
PROVIDES += "virtual/oil"
do_compile() {
    mkdir -p ${SYSROOTS}; echo raw > ${SYSROOTS}/oil
}
do_install() {
    :
}
do_populate_sysroot() {
    echo pressed > ${SYSROOTS}/oil
}
'''
        taster = 'DEPENDS = "%s"\ndo_compile() {\n    cat ${SYSROOTS}/oil > made\n}\n'
        for name, text in (("olive", maker), ("rape", maker), ("dip", taster % "virtual/oil"),
                           ("party", taster % "dip")):
            self.write(f"meta-kitchen/recipes/{name}.bb", text)
        self.write("build/conf/local.conf", 'PREFERRED_PROVIDER_virtual/oil = "olive"\n')
        self.build("dip")
        self.write("build/conf/local.conf", 'PREFERRED_PROVIDER_virtual/oil = "rape"\n')
        result = self.build("party")
        self.assertIn("dip:do_compile", tasks(result, "Cached"))
        self.assertEqual((self.out("party") / "image/bin/party").read_text(), "pressed\n")

    def test_what_another_configuration_made_lies_in_the_same_order(self):
        self.write("meta-kitchen/recipes/oil.bb", '''\
do_compile() {
    mkdir -p ${SYSROOTS}; echo raw > ${SYSROOTS}/oil
}
do_install() {
    :
}
do_populate_sysroot() {
    echo pressed > ${SYSROOTS}/oil
}
''')
        taster = 'DEPENDS = "%s"\ndo_compile() {\n    cat ${SYSROOTS}/oil > made\n}\n'
        self.write("meta-kitchen/recipes/dip.bb", taster % "oil")
        self.write("meta-kitchen/recipes/party.bb", taster % "dip")
        self.write("build/conf/local.conf", 'BBMULTICONFIG = "cold"\n')
        self.write("build/conf/multiconfig/cold.conf", "")
        self.build("mc:cold:dip")
        result = self.build("party")
        self.assertIn("dip:do_populate_sysroot", tasks(result, "Cached"))
        self.assertEqual((self.out("party") / "image/bin/party").read_text(), "pressed\n")

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


class Verify(Kitchen):
    """A store that somebody has written into, in a way that files do not show."""

    def setUp(self):
        super().setUp()
        self.build("-c", "install", "dough")
        store = self.dir / ".cache/bitzel"
        (blob,) = [p for p in (store / "cas").rglob("?" * 64) if p.read_bytes() == b"dough with a pinch\n"]
        for laid_out in ("trees", "out"):
            shutil.rmtree(store / laid_out)
        shutil.rmtree(self.dir / "build/bitzel-out")
        before = blob.stat()
        mode = before.st_mode
        blob.chmod(0o644)
        blob.write_bytes(b"dough with a punch\n")
        blob.chmod(mode)
        os.utime(blob, ns=(before.st_atime_ns, before.st_mtime_ns))

    def again(self, *args, **how):
        result = self.build("-c", "install", "dough", *args, **how)
        return tasks(result, "Executed"), (self.out("dough") / "image/bin/dough").read_text()

    def test_always_hashes_every_byte_again(self):
        ran, text = self.again("--verify=always", env={"BITZEL_CACHE_VERIFY": "never"})
        self.assertEqual(text, "dough with a pinch\n")
        self.assertIn("dough:do_install", ran)

    def test_never_takes_what_is_there(self):
        self.assertEqual(self.again("--verify=never"), (set(), "dough with a punch\n"))

    def test_first_use_looks_at_what_this_machine_has_not_used_yet(self):
        index = self.dir / ".local/state/bitzel/index"
        self.assertTrue(index.exists())
        shutil.rmtree(index)
        ran, text = self.again("--verify", "first-use")
        self.assertEqual(text, "dough with a pinch\n")
        self.assertIn("dough:do_install", ran)

    def test_anything_else_is_a_mistake(self):
        self.assertIn("first-use, always, never", self.build("dough", "--verify=so-so", code=2).err.replace("'", ""))


class Evaluated(Kitchen):
    """How often recipes are evaluated in builds."""

    def evaluated(self, *args):
        log = self.dir / "events"
        self.build(*args, "--events", log)
        end = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
        self.assertEqual(end["event"], "end")
        return end["evaluated"]

    def test_each_recipe_is_evaluated_once_and_then_never(self):
        recipes = len(list((self.dir / "meta-kitchen/recipes").glob("*.bb")))
        self.assertEqual(self.evaluated("pizza"), recipes)
        self.assertEqual(self.evaluated("pizza"), 0)
        self.write("meta-kitchen/files/topping", "cheese\n")  # a local source
        self.assertEqual(self.evaluated("pizza"), 0)
        self.assertIn("cheese", (self.out("pizza") / "image/bin/pizza").read_text())
        self.assertEqual(self.evaluated("-f", "-c", "compile", "pizza"), 0)
        self.assertEqual(self.evaluated("-c", "compile", "sauce"), 0)  # another target
        for path in (self.dir / ".cache/bitzel/ac").glob("*/*"):
            path.unlink()
        self.assertEqual(self.evaluated("pizza"), 0)
        self.edit("meta-kitchen/recipes/pizza.bb", "do_", "# more\ndo_")
        self.assertEqual(self.evaluated("pizza"), 1)

    def test_tasks_run_what_was_signed_of_a_recipe_that_is_not_remembered(self):
        recipes = len(list((self.dir / "meta-kitchen/recipes").glob("*.bb")))
        self.edit("meta-kitchen/recipes/pizza.bb", "do_", 'BB_DONT_CACHE = "1"\ndo_')
        self.assertEqual(self.evaluated("pizza"), recipes + 1)  # read, and once more to be signed

    def test_a_lost_catalog_costs_evaluations_only(self):
        self.build("pizza")
        (self.dir / "build/cache/bitzel.catalog").unlink()
        self.assertGreater(self.evaluated("pizza"), 0)
        self.assertEqual(tasks(self.build("pizza"), "Executed"), set())

    def test_a_profile_tells_it_too(self):
        result = self.run_bitzel("--directory", self.dir / "build", "parse", "--profile", "--json")
        self.assert_exit(result, 0)
        self.assertEqual(result.json["evaluations"], result.json["recipes"])


class Edited(Kitchen):
    """What is edited while a build runs."""

    def build_and_edit(self, name, text, first=None):
        """Builds the pizza, and edits before its tasks run but those that go first."""
        self.write("meta-kitchen/recipes/dough.bb", '''\
do_compile() {
    while ! test -x /proc/$$/fd/1; do sleep 0.05; done
    echo dough ''' + str(time.monotonic_ns()) + ''' > made
}
''' + (f'do_compile[depends] = "{first}"\n' if first else ""))
        shutil.rmtree(self.dir / "build/tmp", ignore_errors=True)
        before = (self.dir / name).read_text(encoding="utf-8")
        child = subprocess.Popen([bitzel.PROGRAM, "--directory", self.dir / "build", "build", "pizza"],
                                 cwd=self.dir, env=self.environment(), stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        self.addCleanup(child.stdout.close)
        deadline = time.monotonic() + bitzel.TIMEOUT
        log = self.dir / "build/tmp/work/dough/temp/log.do_compile"  # its standard output
        while not log.exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.write(name, text)
        log.chmod(0o755)
        said = child.communicate(timeout=bitzel.TIMEOUT)[0].decode()
        if "user namespaces do not work here" in said and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(said)
        self.write(name, before)
        return child.returncode, said

    def check(self, name, text, task, why, first=None):
        code, said = self.build_and_edit(name, text, first)
        self.assertEqual(code, 1, said)
        self.assertRegex(said, f"Failed {task} .*{why}")
        self.build("pizza")
        self.assertNotIn("mold", (self.out("pizza") / "image/bin/pizza").read_text())

    def test_a_recipe_that_is_edited_meanwhile_is_built_as_it_was_signed(self):
        code, said = self.build_and_edit("meta-kitchen/recipes/pizza.bb", "do_compile() {\n    echo mold > made\n}\n")
        self.assertEqual(code, 0, said)
        self.assertIn("Executed pizza:do_compile", said)
        self.assertEqual(tasks(self.build("pizza"), "Executed"), set())
        self.assertNotIn("mold", (self.out("pizza") / "image/bin/pizza").read_text())

    def test_what_was_made_from_a_file_that_changed_is_not_kept(self):
        self.check("meta-kitchen/files/topping", "mold\n", "pizza:do_compile",
                   "files/topping changed")

    def test_sources_that_changed_are_not_kept(self):
        for task, first in (("fetch", None), ("unpack", "pizza:do_fetch")):
            self.write("meta-kitchen/recipes/pizza.bb", '''\
SRC_URI = "file://topping"
DL_DIR = "${TOPDIR}/downloads"
FILESPATH = "${KITCHEN}/files"
python do_fetch() {
    pass
}
python do_unpack() {
    pass
}
addtask fetch
addtask unpack after do_fetch before do_compile
do_compile() {
    cp ${WORKDIR}/topping made
}
do_''' + task + '[depends] = "dough:do_populate_sysroot"\n')
            self.check("meta-kitchen/files/topping", "mold\n", f"pizza:do_{task}",
                       "files/topping changed", first)


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

    def test_with_uploads_off_nothing_goes_out_and_nothing_is_signed(self):
        tier = f"dir:{self.dir}/shared"
        (self.dir / "shared").mkdir()
        home = {"HOME": str(self.dir / "one")}
        key = self.run_bitzel("cache", "key", "new", "ci", env=home).out.strip()
        result, _made = self.machine("one", tier + " rw", BITZEL_CACHE_SIGN="ci",
                                     BITZEL_CACHE_UPLOAD="no")
        self.assertEqual(len(tasks(result, "Executed")), 9)
        self.assertEqual(list((self.dir / "shared").rglob("?" * 64)), [])
        # Whoever brings them there later does not find them vouched for.
        self.assert_exit(self.run_bitzel("cache", "push", tier, env=home), 0)
        wary, _made = self.machine("two", tier + " ro trust=ci", BITZEL_CACHE_KEYS=key)
        self.assertEqual(len(tasks(wary, "Executed")), 9)
        self.assertIn("is not signed", wary.err)
        # That nobody asks for signatures is all it takes.
        trusting, _made = self.machine("three", tier)
        self.assertEqual(tasks(trusting, "Executed"), set())

    def test_a_project_can_turn_off_uploads_but_not_on(self):
        tier = f"dir:{self.dir}/shared rw"
        (self.dir / "shared").mkdir()
        for name, mine, its, uploaded in (("one", "no", "yes", False), ("two", "yes", "no", False),
                                          ("three", "yes", "yes", True)):
            self.write(f"{name}/.config/bitzel/bitzel.conf", f"cache.upload = {mine}\n")
            self.write("build/conf/bitzel.conf", f"cache.upload = {its}\n")
            result, _made = self.machine(name, tier)
            self.assertNotIn("nothing is uploaded", result.err)
            self.assertEqual("build/conf/bitzel.conf:1: cache.upload: a project may only be"
                             in result.err, name == "one")
            self.assertEqual(any((self.dir / "shared").rglob("?" * 64)), uploaded, name)

    def test_from_the_store_of_a_project_nothing_is_uploaded(self):
        (self.dir / "shared").mkdir()
        self.write("build/conf/bitzel.conf", "cache.dir = ../store\n")
        tier = f"dir:{self.dir}/shared rw"
        result, _made = self.machine("one", tier)
        self.assertIn("nothing is uploaded or signed: cache.dir is set by the project", result.err)
        self.assertTrue(any((self.dir / "one/checkout/build/store/ac").rglob("?" * 64)))
        self.assertEqual(list((self.dir / "shared").rglob("?" * 64)), [])
        pushed = self.run_bitzel("--directory", self.dir / "one/checkout/build", "cache", "push",
                                 tier, env={"HOME": str(self.dir / "one")})
        self.assert_exit(pushed, 2)
        self.assertIn("cache.dir is set by the project", pushed.err)

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

    def test_a_task_sees_of_layers_only_what_its_script_names(self):
        self.write("meta-kitchen/recipes/sauce.bb", '''\
do_compile() {
    layers=/layers
    test -e ${KITCHEN}/files/topping
    ls -R $layers > made
}
''')
        self.write("meta-kitchen/files/secret", "ketchup\n")
        self.build("-c", "compile", "sauce")
        seen = (self.out("sauce") / "work/build/made").read_text()
        self.assertEqual(seen.split(), ["/layers:", "meta-kitchen", "/layers/meta-kitchen:", "files",
                                        "/layers/meta-kitchen/files:", "topping"])

    def test_the_environment_is_the_recipes(self):
        self.edit("meta-kitchen/recipes/dough.bb", "", '''\
export FLOUR = "wheat"
do_compile() {
    env | grep -v "^PWD=\\|^OLDPWD=\\|^SHLVL=\\|^_=" | sort > made
}
''')
        self.build("dough", env={"STRAY": "1", "SHELL": "/bin/zsh", "USER": "me"})
        self.assertEqual((self.out("dough") / "image/bin/dough").read_text().split(), [
            "FLOUR=wheat", "HOME=/tmp", "LC_ALL=C.UTF-8", "LOGNAME=builder",
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "SHELL=/bin/sh", "TERM=dumb", "TMPDIR=/tmp", "TZ=UTC", "USER=builder"])

    def test_a_task_that_reads_the_clock_runs_each_time(self):
        self.edit("meta-kitchen/recipes/dough.bb", "", '''\
do_compile() {
    echo "${@time.strftime('%Y%m%d%H%M%S', time.gmtime())}" > made
}
''')
        made = []
        for _ in range(2):
            result = self.build("dough")
            self.assertIn("dough:do_compile", tasks(result, "Executed"))
            made.append((self.out("dough") / "image/bin/dough").read_text())
            time.sleep(1)
        self.assertNotEqual(made[0], made[1])

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
        self.assertRegex(child.stdout.read().decode(), r"^Build interrupted in .* \(0 tasks executed, 0 from cache, 4 not done\)$")
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

    def ran(self, result):
        return {name.replace(":do_", ":") for name in tasks(result, "Executed")}

    def test_it_runs_and_installs_exactly_what_bitbake_does(self):
        data = os.environ.get("BITZEL_CONFORMANCE")
        data = pathlib.Path(data) if data else pathlib.Path(__file__).resolve().parents[3] / "shared/conformance"
        if not (data / "mini").is_dir():
            self.skipTest("the recorded project is not beside this checkout; BITZEL_CONFORMANCE names it")
        shutil.copytree(data / "mini", self.dir / "mini")
        expected = self.dir / "mini/expected"
        first = self.build("image", "semantics", "user")
        self.assertEqual(self.ran(first), set((expected / "tasks-full.txt").read_text().split()))
        made = self.dir / "mini/build/bitzel-out/image/deploy/image.manifest"
        self.assertEqual(made.read_text(), (expected / "image.manifest").read_text())
        again = self.build("image", "semantics", "user")
        self.assertEqual(self.ran(again), set((expected / "tasks-noop.txt").read_text().split()))
        self.assertEqual(self.ran(self.build("image")), set())


if __name__ == "__main__":
    unittest.main()
