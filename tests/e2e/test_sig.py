"""bitzel sig: what changes a signature, and what does not."""

import json
import os
import re
import shutil

import bitzel
import demo


class Project(demo.Project):
    """Two recipes, app and lib; app needs lib."""

    def setUp(self):
        super().setUp()
        self.write("meta-one/classes/base.bbclass",
                   "addtask fetch\naddtask build after do_fetch\n"
                   "do_build[deptask] = \"do_build\"\n"
                   "do_fetch() {\n    fetch ${SRC}\n}\ndo_build() {\n    make ${FLAGS}\n}\n")
        self.write("meta-one/recipes/lib.bb", 'SRC = "l"\nFLAGS = "-O1"\nUNUSED = "1"\n')
        self.write("meta-one/recipes/app.bb", 'SRC = "a"\nFLAGS = "-O2"\nDEPENDS = "lib"\n')

    def sig(self, *args, where=None, **how):
        return self.run_bitzel("--directory", (where or self.dir) / "build", "sig", *args, **how)


class Sig(Project):

    def keys(self, where=None):
        result = self.sig("--all", "--json", "app", where=where)
        self.assert_exit(result, 0)
        return {t["name"]: t["signature"] for t in result.json["tasks"]}

    def changed_by(self, name, text):
        before = self.keys()
        path = self.dir / name
        was = path.read_text(encoding="utf-8")
        path.write_text(text(was), encoding="utf-8")
        after = self.keys()
        path.write_text(was, encoding="utf-8")
        self.assertEqual(before.keys(), after.keys())
        return {name for name in before if before[name] != after[name]}

    def test_an_edit_reaches_what_reads_it_and_what_waits_for_that(self):
        lib = "meta-one/recipes/lib.bb"
        for why, name, text, expected in (
                ("a flag of the library", lib, lambda s: s.replace("-O1", "-O3"),
                 {"lib:do_build", "app:do_build"}),
                ("its source", lib, lambda s: s.replace('"l"', '"m"'),
                 {"lib:do_fetch", "lib:do_build", "app:do_build"}),
                ("a variable that nothing reads", lib, lambda s: s.replace('"1"', '"2"'), set()),
                ("a comment", lib, lambda s: "# a word\n" + s, set()),
                ("another order", lib, lambda s: "".join(reversed(s.splitlines(True))), set()),
                ("blanks in code", "meta-one/classes/base.bbclass",
                 lambda s: s.replace("make ", "make  "), {"lib:do_build", "app:do_build"}),
                ("a machine that nothing reads", "build/conf/local.conf",
                 lambda s: s.replace("board", "other"), set())):
            with self.subTest(why):
                self.assertEqual(self.changed_by(name, text), expected)

    def test_a_moved_checkout_of_another_user_has_the_same_signatures(self):
        """Everything that names a place by a variable, expanded early or late."""
        self.write("meta-one/recipes/lib.bb", r"""
FILESPATH = "${TOPDIR}/../meta-one/recipes/files"
SRC = "${FILE} ${TOPDIR} ${HERE} ${NOW} ${LAYER} ${BBPATH} -I${NOW}/include"
FLAGS = "${@os.path.dirname(d.getVar('FILE'))} ${HOME} ${USER}"
HERE = "${THISDIR}/x"
NOW := "${THISDIR}/x:${FILE}:${TOPDIR}"
SRC_URI = "file://fix.patch file://tree"
do_build[file-checksums] = "${TOPDIR}/conf:True ${TOPDIR}/conf/local.conf:True"
""")
        layer = self.dir / "meta-two/conf/layer.conf"
        layer.write_text(layer.read_text(encoding="utf-8") + 'LAYER = "${LAYERDIR}/y"\n',
                         encoding="utf-8")
        self.write("meta-one/recipes/files/fix.patch", "one")
        self.write("meta-one/recipes/files/tree/deep/a", "a")
        before = self.keys()
        moved = self.dir / "moved" / "deeper"
        moved.mkdir(parents=True)
        for name in ("build", "meta-one", "meta-two"):
            shutil.copytree(self.dir / name, moved / name)
        for remembered in (True, False):
            self.assertEqual(self.keys(where=moved), before)
            if remembered:
                shutil.rmtree(moved / "build/cache")
        other = {"HOME": str(moved), "USER": "you", "LOGNAME": "you", "SHELL": "/bin/false",
                 "PATH": "/bin", "PWD": "/", "LC_ALL": "C", "TERM": "dumb"}
        result = self.sig("--all", "--json", "app", where=moved, env=other)
        self.assertEqual({t["name"]: t["signature"] for t in result.json["tasks"]}, before)
        self.assertEqual(result.said, "")  # nobody wrote a path
        inputs = self.sig("--all", "--inputs", "--json", "app", where=moved).out
        self.assertNotIn(str(self.dir), inputs)

    def test_a_path_of_this_host_is_a_warning_each_time(self):
        recipe = self.dir / "meta-one/recipes/lib.bb"
        recipe.write_text(f'SRC = "l"\nFLAGS = "-O1"\nFLAGS += "-I{self.dir}/build/inc"\n'
                          f'UNREAD = "{self.dir}/x"\n', encoding="utf-8")
        self.write("meta-one/classes/base.bbclass", (self.dir / "meta-one/classes/base.bbclass")
                   .read_text(encoding="utf-8").replace("fetch ${SRC}",
                                                        f"fetch {self.dir}/meta-two/x"))
        for _ in range(2):  # evaluated, and remembered
            result = self.sig("--all", "app")
            self.assert_exit(result, 0)
            lines = result.said.splitlines()
            self.assertEqual(len(lines), 2, result.said)
            self.assertRegex(result.err, r"/lib\.bb:3: warning: FLAGS has the path "
                             r"\S+/build of this host in it, .*write \$\{TOPDIR\}, or ")
            self.assertRegex(result.err, r"/base\.bbclass:\d+: warning: do_fetch has the path ")
        result = self.sig("--all", "-q", "app")
        self.assertEqual((result.code, result.said), (0, ""))

    def test_local_sources_count_by_name_mode_and_content(self):
        recipe = "meta-one/recipes/lib.bb"
        self.write(recipe, 'FILESPATH = "${TOPDIR}/../meta-one/recipes/first:'
                   '${TOPDIR}/../meta-one/recipes/files"\nSRC = "l"\nFLAGS = ""\n'
                   'SRC_URI = "http://h/x file://fix.patch file://tree"\n')
        files = self.dir / "meta-one/recipes/files"
        self.write("meta-one/recipes/files/fix.patch", "one")
        self.write("meta-one/recipes/files/tree/deep/a", "a")
        everything = {"lib:do_fetch", "lib:do_build", "app:do_build"}
        before = self.keys()

        def changes(why, expected):
            nonlocal before
            after = self.keys()
            with self.subTest(why):
                self.assertEqual({n for n in after if after[n] != before[n]}, expected)
            before = after

        (files / "fix.patch").write_text("two")
        changes("its content", everything)
        os.utime(files / "fix.patch", (1000, 1000))
        changes("its time", set())
        (files / "fix.patch").chmod(0o755)
        changes("its mode", everything)
        (files / "fix.patch").chmod(0o750)
        changes("what others may do", set())
        (files / "tree/deep/a").rename(files / "tree/deep/b")
        changes("a name in a directory", everything)
        self.write("meta-one/recipes/files/other.patch", "x")
        changes("a file that nobody names", set())
        self.write("meta-one/recipes/first/fix.patch", "two")
        (self.dir / "meta-one/recipes/first/fix.patch").chmod(0o755)
        changes("the same file found earlier", set())
        (self.dir / "meta-one/recipes/first/fix.patch").write_text("three")
        changes("another one found earlier", everything)
        (self.dir / "meta-one/recipes/first/fix.patch").unlink()
        changes("found where it was", everything)
        (files / "fix.patch").unlink()
        changes("found nowhere", everything)
        got = self.sig("--inputs", "--json", "lib:do_fetch").json["tasks"][0]["files"]
        self.assertEqual([(f["name"], f["present"]) for f in got],
                         [("fix.patch", False), ("tree/deep/b", True)])
        self.assertRegex(self.sig("--inputs", "lib:do_fetch").out,
                         r"\n  missing       file fix.patch\n  [0-9a-f]{12}  file tree/deep/b\n")

    def test_the_flag_says_which_files_count(self):
        self.write("meta-one/recipes/lib.bb",
                   'SRC = "l"\nFLAGS = ""\nFILESPATH = "${TOPDIR}/files"\n'
                   'SRC_URI = "file://one"\ndo_build[file-checksums] = '
                   '"${@bb.fetch.get_checksum_file_list(d)} ${TOPDIR}/tool:True"\n'
                   'do_fetch[file-checksums] = ""\n')
        self.write("build/files/one", "1")
        self.write("build/tool", "1")
        for path in ("build/files/one", "build/tool"):
            self.assertEqual(self.changed_by(path, lambda s: s + "2"),
                             {"lib:do_build", "app:do_build"})

    def test_a_source_that_is_nowhere_is_an_error_where_the_flag_names_it(self):
        self.write("meta-one/recipes/lib.bb",
                   'SRC = "l"\nFLAGS = ""\nFILESPATH = "${TOPDIR}/files"\nSRC_URI = "file://one"\n'
                   'do_build[file-checksums] = "${@bb.fetch.get_checksum_file_list(d)}"\n')
        result = self.sig("lib")
        self.assert_exit(result, 2)
        self.assertRegex(result.err, r"lib\.bb: do_build\[file-checksums\]: .*entry one: "
                         "file could not be found")

    def test_what_this_machine_alone_decides_is_a_warning(self):
        self.write("meta-one/recipes/lib.bb", 'SRC = "l"\nFLAGS = "-O1 -march=native"\n')
        for _ in range(2):  # evaluated, and remembered
            result = self.sig("lib")
            self.assertRegex(result.said, "^lib: warning: do_build has -march=native: the result depends on the "
                                         "processor of this machine, which no key counts\n$")

    def test_an_older_record_is_said_to_be_one_once(self):
        record = self.dir / "record"
        self.assert_exit(self.sig("app", "--record", record), 0)
        text = record.read_text().replace('"version":2', '"version":1').replace('{"v":2', '{"v":1')
        record.write_text(re.sub(r'"key":"[0-9a-f]{4}', '"key":"0000', text))
        result = self.run_bitzel("--directory", self.dir / "build", "why", "app", "--vs", record)
        self.assert_exit(result, 0)
        self.assertEqual(result.out.count("made by an older bitzel"), 1, result.out)

    def test_inputs_are_shown(self):
        result = self.sig("--inputs", "lib")
        self.assert_exit(result, 0)
        self.assertRegex(result.out, r"^[0-9a-f]{64}  lib:do_build\n")
        self.assertRegex(result.out, r"\n  [0-9a-f]{12}  function do_build =     make -O1\\n\n")
        self.assertNotIn("UNUSED", result.out)
        got = self.sig("--inputs", "--json", "lib").json["tasks"][0]
        self.assertIn({"kind": "function", "name": "do_build", "value": "    make -O1\n"},
                      [{k: i[k] for k in ("kind", "name", "value")} for i in got["inputs"]])

    def test_a_record_is_the_same_wherever_the_checkout_is(self):
        self.assert_exit(self.sig("app", "--record", self.dir / "here"), 0)
        moved = self.dir / "moved" / "deeper"
        for name in ("build", "meta-one", "meta-two"):
            shutil.copytree(self.dir / name, moved / name)
        there = self.sig("app", "--record", "-", where=moved)
        self.assert_exit(there, 0)
        self.assertTrue(there.out == (self.dir / "here").read_text())
        self.assertNotIn('"at":"/', there.out)

    def test_a_record_has_every_task_with_its_inputs(self):
        head, *tasks = map(json.loads, self.sig("app", "--record", "-").out.splitlines())
        self.assertEqual(head, {"format": "bitzel record", "version": 2, "tasks": len(tasks)})
        keys = self.keys()
        self.assertEqual({t["task"]: t["key"] for t in tasks}, keys)
        build = next(t for t in tasks if t["task"] == "lib:do_build")
        flags = next(i for i in build["inputs"] if i["name"] == "FLAGS")
        self.assertEqual(flags["value"], "-O1")
        self.assertEqual([o["at"] for o in flags["set"]], ["meta-one/recipes/lib.bb:2"])
        self.assertEqual(build["deps"], [{"task": "lib:do_fetch", "key": keys["lib:do_fetch"]}])

    def test_a_record_that_cannot_be_written_is_an_error(self):
        self.assert_exit(self.sig("app", "--record", self.dir / "no" / "such" / "directory"), 4)

    def test_a_target_that_is_not_there_is_exit_3(self):
        self.assert_exit(self.sig("nothing-like-it"), 3)


if __name__ == "__main__":
    bitzel.main()
