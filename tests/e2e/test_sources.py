"""bitzel build of recipes whose sources come from elsewhere: fetched, unpacked and patched."""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile

import bitzel
import test_build
import test_fetch

CLASS = '''\
addtask fetch
addtask unpack after do_fetch
addtask patch after do_unpack
addtask compile after do_patch
addtask build after do_compile
do_fetch[network] = "1"
do_build[noexec] = "1"
do_compile[dirs] = "${S}"
python do_fetch() {
    bb.fetch2.Fetch(d.getVar("SRC_URI").split(), d).download()
}
python do_unpack() {
    bb.fetch2.Fetch(d.getVar("SRC_URI").split(), d).unpack(d.getVar("WORKDIR"))
}
python do_patch() {
    oe.patch.apply(d.getVar("SRC_URI"), d.getVar("S"))
}
do_compile() {
    mkdir -p ${D}
    cat greeting > ${D}/greeting
}
do_build() {
    :
}
'''
PATCH = "--- a/greeting\n+++ b/greeting\n@@ -1 +1 @@\n-hello\n+hello, world\n"


def tarball(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return gzip.compress(data.getvalue(), mtime=0)


class Served(test_build.Kitchen):
    """A kitchen with a recipe whose source a server has."""

    def setUp(self):
        super().setUp()
        self.server = test_fetch.serve(self)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.write("meta-kitchen/classes/base.bbclass", CLASS)
        self.edit("meta-kitchen/conf/bitbake.conf", "SALT ?=",
                  'DL_DIR ?= "${TOPDIR}/downloads"\nFILESPATH = "${KITCHEN}/files"\n'
                  'BB_SIGNATURE_EXCLUDE_FLAGS = "doc defaultval func python"\nSALT ?=')
        self.serve("/soup-1.0.tar.gz", {"soup-1.0/greeting": "hello\n"})
        self.write("meta-kitchen/files/warm.patch", PATCH)

    def serve(self, path, files):
        """Has the server give an archive, and the recipe its checksum."""
        data = tarball(files)
        self.server.files[path] = data
        self.write("meta-kitchen/recipes/soup.bb",
                   f'SRC_URI = "{self.url}{path} file://warm.patch"\n'
                   f'SRC_URI[sha256sum] = "{hashlib.sha256(data).hexdigest()}"\n'
                   'S = "${WORKDIR}/soup-1.0"\n')


class Around(Served):
    """... and functions and directories around the unpacking of it."""

    AROUND = """\
do_unpack[prefuncs] = "wash"
do_unpack[postfuncs] = "taste"
do_unpack[cleandirs] = "${WORKDIR}/soup-1.0"
do_unpack[dirs] = "${DL_DIR} ${WORKDIR}/bowl/deep"
do_unpack[umask] = "027"
do_unpack[lockfiles] = "${TOPDIR}/kitchen.lock"
wash() {
    cp ${WORKDIR}/soup-1.0/old ${WORKDIR}/seen
    echo washed > ${WORKDIR}/order
}
taste() {
    ls ${WORKDIR}/soup-1.0 >> ${WORKDIR}/order
    umask >> ${WORKDIR}/order
}
do_leave() {
    mkdir -p ${WORKDIR}/soup-1.0
    echo old > ${WORKDIR}/soup-1.0/old
}
addtask leave before do_unpack
"""

    def around(self):
        self.edit("meta-kitchen/recipes/soup.bb", 'S = "', self.AROUND + 'S = "')

    def check_around(self):
        work = self.out("soup") / "work"
        self.assertEqual((work / "order").read_text(), "washed\ngreeting\n0027\n")
        self.assertEqual((work / "seen").read_text(), "old\n")
        self.assertFalse((work / "soup-1.0/old").exists())
        modes = {name: oct((work / name).stat().st_mode & 0o777)
                 for name in ("soup-1.0", "soup-1.0/greeting", "bowl", "bowl/deep", "warm.patch")}
        self.assertEqual(modes, {"soup-1.0": "0o750", "soup-1.0/greeting": "0o440", "bowl": "0o750",
                                 "bowl/deep": "0o750", "warm.patch": "0o444"})
        self.assertFalse((work.parent / "downloads").exists())


class Sources(Around):
    def greeting(self):
        return (self.out("soup") / "image/greeting").read_text()

    def test_sources_are_fetched_unpacked_and_patched_once(self):
        first = self.build("soup")
        self.assertEqual(test_build.tasks(first, "Executed"),
                         {f"soup:do_{t}" for t in ("fetch", "unpack", "patch", "compile")})
        self.assertEqual(self.greeting(), "hello, world\n")
        self.assertIn("downloaded", (self.dir / "build/tmp/work/soup/temp/log.do_fetch").read_text())
        self.assertEqual(test_build.tasks(self.build("soup"), "Executed"), set())
        self.assertEqual(len(self.server.seen), 1)

    def test_the_same_from_another_place_changes_nothing_after_unpacking(self):
        self.build("soup")
        self.serve("/mirror/soup-1.0.tar.gz", {"soup-1.0/greeting": "hello\n"})
        again = self.build("soup")
        # These two have the address in their keys; their output is the same.
        self.assertEqual(test_build.tasks(again, "Executed"),
                         {"soup:do_fetch", "soup:do_unpack"})
        self.assertEqual(test_build.tasks(again, "Cached"),
                         {"soup:do_patch", "soup:do_compile"})

    def test_another_patch_is_applied_to_sources_that_are_unpacked_already(self):
        self.build("soup")
        self.edit("meta-kitchen/files/warm.patch", "+hello, world", "+good evening")
        again = self.build("soup")
        self.assertEqual(self.greeting(), "good evening\n")
        self.assertEqual(len(self.server.seen), 1)
        self.assertIn("soup:do_compile", test_build.tasks(again, "Executed"))

    def test_sources_that_are_gone_are_fetched_again_for_unpacking(self):
        self.build("soup", "-c", "fetch")
        subprocess.run(["rm", "-rf", str(self.dir / "build/downloads")], check=True)
        self.build("soup")
        self.assertEqual(self.greeting(), "hello, world\n")
        self.assertEqual(len(self.server.seen), 2)

    def test_what_a_task_warns_of_is_seen(self):
        self.serve("/soup-1.0.tar.gz", {"soup-1.0/greeting": "before\nhello\nafter\n"})
        self.write("meta-kitchen/files/warm.patch",
                   "--- a/greeting\n+++ b/greeting\n@@ -1,3 +1,3 @@\n other\n-hello\n+hello, world\n after\n")
        self.edit("meta-kitchen/recipes/soup.bb", "S =", "do_compile:append() {\n    bberror 'no salt'\n}\nS =")
        result = self.build("soup", "--events", self.dir / "events")
        self.assertRegex(result.err, r"(?m)^warning: soup:do_patch: warm\.patch only fits nearly")
        self.assertRegex(result.err, r"(?m)^error: soup:do_compile: no salt$")
        events = [json.loads(line) for line in (self.dir / "events").read_text().splitlines()]
        self.assertIn(("soup:do_compile", "ERROR: no salt"),
                      [(e["task"], e["text"]) for e in events if e["event"] == "remark"])
        self.assertEqual(self.greeting(), "before\nhello, world\nafter\n")

    def test_a_patch_that_does_not_fit_fails_with_its_name(self):
        self.edit("meta-kitchen/files/warm.patch", "-hello", "-bye")
        result = self.build("soup", code=1)
        self.assertIn("warm.patch does not apply", result.err)
        self.assertEqual(test_build.tasks(result, "Failed"), {"soup:do_patch"})

    def test_a_source_with_other_bytes_fails_the_fetch(self):
        self.server.files["/soup-1.0.tar.gz"] = tarball({"soup-1.0/greeting": "poison\n"})
        result = self.build("soup", code=1)
        self.assertEqual(test_build.tasks(result, "Failed"), {"soup:do_fetch"})
        self.assertIn("sha256", result.err)

    def test_a_missing_checksum_is_an_error_with_the_line_to_add(self):
        path = self.dir / "meta-kitchen/recipes/soup.bb"
        text = path.read_text().splitlines()
        path.write_text("\n".join([text[0], text[2]]) + "\n")
        result = self.build("soup", code=1)
        self.assertIn(text[1], result.err)

    def report(self, *args):
        result = self.run_bitzel("--directory", self.dir / "build", "report", *args)
        self.assert_exit(result, 0)
        return result

    def places(self):
        return {place["kind"]: place for place in self.report("--json").json["traffic"]}

    def test_what_came_and_went_is_told(self):
        self.write(".config/bitzel/bitzel.conf", f"[cache]\ntiers = dir:{self.dir}/shared rw\n")
        (self.dir / "shared").mkdir()
        size = len(self.server.files["/soup-1.0.tar.gz"])
        first = self.build("soup", "--events", self.dir / "events")
        self.assertRegex(first.out, rf"\(4 tasks executed, 0 from cache\), {size} B downloaded, "
                                    r"[0-9.]+ (B|KiB) to shared caches\n$")
        self.assertNotIn("not uploaded", first.err)
        events = [json.loads(line) for line in (self.dir / "events").read_text().splitlines()]
        self.assertEqual([e["event"] for e in events[-3:]], ["traffic", "traffic", "end"])
        (fetched,) = [e for e in events if e["event"] == "fetched"]
        self.assertEqual((fetched["task"], fetched["bytes"]), ("soup:do_fetch", size))
        (download,) = self.report("--json").json["downloads"]
        self.assertEqual((download["task"], download["bytes"]), ("soup:do_fetch", size))
        self.assertTrue(download["from"].startswith(f"{self.url}/soup-1.0.tar.gz"))
        places = self.places()
        self.assertEqual(list(places), ["local", "directory"])
        self.assertEqual((places["directory"]["place"], places["directory"]["hits"]), (f"dir:{self.dir}/shared", 0))
        self.assertGreater(places["local"]["blobs_written"], 0)
        # Two may bring the same blob at the same time.
        blobs = list((self.dir / "shared/cas").glob("??/*"))
        self.assertGreaterEqual(places["directory"]["blobs_written"], len(blobs))
        self.assertGreaterEqual(places["directory"]["bytes_written"], sum(blob.stat().st_size for blob in blobs))
        for form in ((), ("--md",)):
            text = self.report(*form).out
            self.assertIn("Cache traffic", text)
            self.assertIn("Downloads", text)
            self.assertIn(self.url, text)

    def test_what_a_shared_cache_gives_is_told(self):
        self.write(".config/bitzel/bitzel.conf", f"[cache]\ntiers = dir:{self.dir}/shared rw\n")
        (self.dir / "shared").mkdir()
        self.build("soup")
        other = {"XDG_CACHE_HOME": str(self.dir / "other"), "XDG_STATE_HOME": str(self.dir / "state")}
        again = self.build("soup", env=other)
        self.assertRegex(again.out, r"\(0 tasks executed, 1 from cache\), [0-9.]+ (B|KiB) from shared caches\n$")
        self.edit("meta-kitchen/recipes/soup.bb", "S =", 'do_compile:append() {\n    echo more > ${D}/more\n}\nS =')
        third = {"XDG_CACHE_HOME": str(self.dir / "third"), "XDG_STATE_HOME": str(self.dir / "state3")}
        result = self.build("soup", "--json", env=third).json
        place = self.places()["directory"]
        self.assertEqual((place["hits"], place["bytes_read"], place["bytes_written"]),
                         (result["tier_hits"], result["tier_bytes_read"], result["tier_bytes_written"]))
        self.assertGreater(min(place["hits"], place["misses"], place["bytes_read"], place["bytes_written"]), 0, place)
        self.assertEqual(result["downloaded_bytes"], 0)

    def test_a_repository_unpacked_twice_is_the_same(self):
        self.make_repository()
        self.build("soup", "-c", "unpack")
        git = self.out("soup") / "work/git/.git"
        before = {p.relative_to(git): p.read_bytes() for p in git.rglob("*") if p.is_file()}
        modes = {p.relative_to(git.parent): p.lstat().st_mode for p in git.parent.rglob("*")}
        self.assertFalse((git / "logs").exists())
        other = {"XDG_CACHE_HOME": str(self.dir / "other"), "XDG_STATE_HOME": str(self.dir / "state")}
        self.build("soup", "-c", "unpack", env=other, preexec_fn=lambda: os.umask(0o077))
        self.assertEqual({p.relative_to(git.parent): p.lstat().st_mode for p in git.parent.rglob("*")}, modes)
        self.assertEqual({p.relative_to(git): p.read_bytes() for p in git.rglob("*") if p.is_file()}, before)
        run = subprocess.run(["git", "-C", str(git.parent), "-c", "safe.directory=*", "status", "--porcelain"],
                             check=True, stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"})
        self.assertEqual(run.stdout, "")

    def test_functions_and_directories_of_unpacking_are_the_recipes(self):
        self.around()
        self.build("-c", "unpack", "soup")
        self.check_around()
        self.assertTrue((self.dir / "build/kitchen.lock").exists())
        shutil.rmtree(self.dir / "build/bitzel-out")
        self.assertIn("(0 tasks executed", self.build("-c", "unpack", "soup").out)
        self.check_around()

    def test_a_function_that_fails_before_the_fetch_fails_it(self):
        self.edit("meta-kitchen/recipes/soup.bb", 'S = "', """\
do_fetch[prefuncs] = "ask"
ask() {
    bbfatal "no water"
}
S = \"""")
        self.assertIn("no water", self.build("soup", code=1).err)
        self.assertEqual(self.server.seen, [])

    def test_a_function_in_python_is_refused_with_its_place(self):
        path = self.dir / "meta-kitchen/recipes/soup.bb"
        self.edit("meta-kitchen/recipes/soup.bb", 'S = "', """\
do_unpack[prefuncs] = "ask"
python ask() {
    pass
}
S = \"""")
        for flag in ("prefuncs", "postfuncs"):
            line = path.read_text().splitlines().index("python ask() {") + 1
            self.assertRegex(self.build("soup", code=2).err,
                             rf"/soup.bb:{line}: error: function ask: Python functions are not supported yet")
            self.edit("meta-kitchen/recipes/soup.bb", flag, "postfuncs")

    def test_a_shell_sees_what_was_unpacked(self):
        for before in ("", self.AROUND):
            self.edit("meta-kitchen/recipes/soup.bb", 'S = "', before + 'S = "')
            shell = self.run_bitzel("--directory", self.dir / "build", "shell", "soup:unpack", "-c",
                                    "cat /bitzel/tmp/work/soup/soup-1.0/greeting")
            self.assert_exit(shell, 0)
            self.assertEqual(shell.out, "hello\n")

    def test_what_is_unpacked_does_not_depend_on_who_unpacks_it(self):
        found = []
        for mask in (0o022, 0o077):
            self.build("-c", "unpack", "soup", preexec_fn=lambda mask=mask: os.umask(mask),
                       env={"XDG_CACHE_HOME": str(self.dir / f"cache{mask}")})
            found.append(test_build.everything(self.out("soup")))
        self.assertEqual(found[0], found[1])

    def test_offline_no_server_is_asked(self):
        result = self.build("--offline", "soup", code=1)
        self.assertIn("--offline", result.err)
        self.assertEqual(self.server.seen, [])
        self.build("soup", "-c", "fetch")
        self.build("--offline", "soup")
        self.assertEqual(self.greeting(), "hello, world\n")
        self.assertEqual(len(self.server.seen), 1)

    def test_offline_servers_of_results_are_not_asked_but_directories_are(self):
        (self.dir / "shared").mkdir()
        self.write(".config/bitzel/bitzel.conf",
                   f"[cache]\ntiers = {self.url}/cache rw; dir:{self.dir}/shared rw\n")
        self.build("soup", "-c", "fetch", "--force-local")
        seen = len(self.server.seen)
        self.build("--offline", "soup")
        self.assertEqual(len(self.server.seen), seen)
        self.assertTrue(any((self.dir / "shared/ac").rglob("*")))

    def make_repository(self):
        """One commit, and a recipe that builds it."""
        repo = self.dir / "repo"
        run = lambda *args: subprocess.run(
            ["git", "-C", str(repo), "-c", "user.name=c", "-c", "user.email=c@c", *args], check=True,
            stdout=subprocess.PIPE, text=True, env={**os.environ, "HOME": str(self.dir)}).stdout.strip()
        repo.mkdir()
        run("init", "-q", "-b", "main")
        (repo / "greeting").write_text("hello\n")
        run("add", ".")
        run("commit", "-q", "-m", "one")
        self.write("meta-kitchen/recipes/soup.bb",
                   f'SRC_URI = "git://{repo};protocol=file;branch=main file://warm.patch"\n'
                   f'SRCREV = "{run("rev-parse", "HEAD")}"\nS = "${{WORKDIR}}/git"\n'
                   'do_compile:prepend() {\n    git log --format=%s > ../log\n}\n')

    def test_a_repository_is_unpacked_whole(self):
        self.make_repository()
        self.build("soup")
        self.assertEqual(self.greeting(), "hello, world\n")
        self.assertEqual((self.out("soup") / "work/log").read_text(), "one\n")


if __name__ == "__main__":
    bitzel.main()
