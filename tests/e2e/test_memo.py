"""What bitzel remembers of signatures, and when it must not."""

import os
import time

import bitzel
import test_sig


class Memo(test_sig.Project):
    """Two recipes, app and lib; app needs lib."""

    def setUp(self):
        super().setUp()
        self.write("meta-one/recipes/lib.bb",
                   'inherit maybe\nSRC = "l"\nFLAGS = "-O1"\nSRC_URI = "file://a.patch"\n'
                   'FILESPATH = "${TOPDIR}/first:${TOPDIR}/files"\n')
        self.write("meta-one/classes/maybe.bbclass", "")
        self.write("build/files/a.patch", "1")
        self.file = self.dir / "build/cache/bitzel.catalog"

    def assert_evaluated(self, n, **how):
        """Signs, and says how many recipes that must have taken. If some were remembered,
        the signatures must be the same without any memory."""
        result = self.sig("--all", "--json", "app", **how)
        self.assert_exit(result, 0)
        self.assertEqual(result.json["evaluated"], n)
        keys = {t["name"]: t["signature"] for t in result.json["tasks"]}
        if n == 2:
            return keys
        hidden = self.dir / "hidden"
        (self.dir / "build/cache").rename(hidden)
        fresh = self.sig("--all", "--json", "app", **how).json
        self.assertEqual({t["name"]: t["signature"] for t in fresh["tasks"]}, keys)
        for path in (self.dir / "build/cache").iterdir():
            path.unlink()
        (self.dir / "build/cache").rmdir()
        hidden.rename(self.dir / "build/cache")
        return keys

    def test_nothing_is_evaluated_twice(self):
        time.sleep(0.1)  # files that have just changed are read again
        first = self.assert_evaluated(2)
        before = self.file.stat().st_mtime_ns
        self.assertEqual(self.assert_evaluated(0), first)
        self.assertEqual(self.file.stat().st_mtime_ns, before)  # nor written

    def test_what_a_recipe_is_made_of_counts(self):
        first = self.assert_evaluated(2)
        for why, name, text, evaluated, changes in (
                ("a remark", "meta-one/recipes/app.bb", "# word\n", 1, False),
                ("a variable", "meta-one/recipes/app.bb", 'FLAGS = "-O3"\n', 1, True),
                ("a class", "meta-one/classes/maybe.bbclass", 'FLAGS:append = "x"\n', 1, True),
                ("the base", "meta-one/classes/base.bbclass", "# word\n", 0, False),
                ("the configuration", "build/conf/local.conf", 'FLAGS:append = "y"\n', 2, True)):
            with self.subTest(why):
                path = self.dir / name
                was = path.read_text(encoding="utf-8")
                path.write_text(was + text, encoding="utf-8")
                self.assertEqual(self.assert_evaluated(evaluated) != first, changes)
                self.assert_evaluated(0)
                path.write_text(was, encoding="utf-8")
                self.assertEqual(self.assert_evaluated(0), first)  # still remembered

    def test_settings_that_are_no_reason_to_parse_still_count(self):
        conf = self.dir / "meta-one/conf/bitbake.conf"
        conf.write_text(conf.read_text(encoding="utf-8") +
                        'BB_HASHCONFIG_IGNORE_VARS = "FLAGS"\nFLAGS ?= "1"\n', encoding="utf-8")
        self.write("meta-one/recipes/app.bb", 'SRC = "a"\nDEPENDS = "lib"\n')
        first = self.assert_evaluated(2)
        self.write("build/conf/local.conf", 'MACHINE = "board"\nFLAGS = "2"\n')
        self.assertNotEqual(self.assert_evaluated(2)["app:do_build"], first["app:do_build"])

    def test_the_environment_that_passes_counts(self):
        self.write("meta-one/recipes/app.bb", 'SRC = "${SHADE}"\nFLAGS = ""\n')
        env = {"BB_ENV_PASSTHROUGH_ADDITIONS": "SHADE", "SHADE": "red"}
        first = self.assert_evaluated(1, env=env)
        self.assertEqual(self.assert_evaluated(0, env={**env, "UNRELATED": "1"}), first)
        self.assertNotEqual(self.assert_evaluated(1, env={**env, "SHADE": "blue"}), first)

    def test_who_builds_does_not_count(self):
        conf = self.dir / "meta-one/conf/bitbake.conf"
        conf.write_text(conf.read_text(encoding="utf-8") +
                        'BB_HASHCONFIG_IGNORE_VARS = "HOME PATH USER"\n', encoding="utf-8")
        first = self.assert_evaluated(2)
        other = {"HOME": "/", "PATH": "/bin", "USER": "you"}
        self.assertEqual(self.assert_evaluated(0, env=other), first)

    def test_files_are_looked_at_each_time(self):
        first = self.assert_evaluated(2)
        self.write("build/files/a.patch", "2")
        changed = self.assert_evaluated(0)
        self.assertNotEqual(changed, first)
        self.write("build/files/a.patch", "1")
        self.assertEqual(self.assert_evaluated(0), first)
        path = self.dir / "build/files/a.patch"
        times = path.stat()
        self.write("build/files/a.patch", "2")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(self.assert_evaluated(0), changed)

    def test_a_file_found_earlier_counts_when_it_comes_and_goes(self):
        first = self.assert_evaluated(2)
        self.write("build/first/b.patch", "2")
        self.assertEqual(self.assert_evaluated(0), first)
        self.write("build/first/a.patch", "2")
        self.assertNotEqual(self.assert_evaluated(1), first)
        (self.dir / "build/first/a.patch").unlink()
        self.assertEqual(self.assert_evaluated(1), first)
        (self.dir / "build/files/a.patch").unlink()
        missing = self.assert_evaluated(1)
        self.assertNotEqual(missing, first)
        self.assertEqual(self.assert_evaluated(0), missing)
        self.write("build/files/a.patch", "1")
        self.assertEqual(self.assert_evaluated(1), first)

    def test_other_tasks_are_added(self):
        self.assertEqual(self.sig("--json", "lib:do_fetch").json["evaluated"], 1)
        self.assertEqual(self.sig("--json", "lib:do_fetch").json["evaluated"], 0)
        self.assertEqual(self.sig("--json", "lib:do_build").json["evaluated"], 1)
        self.assertEqual(self.sig("--json", "lib:do_fetch").json["evaluated"], 0)
        self.assertEqual(self.sig("--json", "lib:do_build").json["evaluated"], 0)

    def test_inputs_are_shown_whatever_is_remembered(self):
        first = self.sig("--inputs", "--json", "app").json
        self.assertEqual(first["evaluated"], 2)
        second = self.sig("--inputs", "--json", "app").json
        self.assertEqual(second, {**first, "evaluated": 0})

    def test_a_recipe_may_refuse_to_be_remembered(self):
        self.write("meta-one/recipes/app.bb", 'SRC = "a"\nFLAGS = ""\nBB_DONT_CACHE = "1"\n')
        self.assert_evaluated(1)
        self.assert_evaluated(1)

    def test_damaged_files_are_made_again(self):
        first = self.assert_evaluated(2)
        good = self.file.read_bytes()
        step = len(good) // 15 + 1
        bads = [(good[:n], None) for n in range(0, len(good), step)]
        bads += [(good[:n] + bytes([good[n] ^ 1]) + good[n + 1:], None) for n in range(0, len(good), step)]
        bads += [(b"", 2), (b"x" * len(good), 2), (good[:60], 2)]
        for bad, evaluated in bads:
            self.file.write_bytes(bad)
            result = self.sig("--all", "--json", "app")
            self.assert_exit(result, 0)
            self.assertEqual({t["name"]: t["signature"] for t in result.json["tasks"]}, first)
            if evaluated is not None:
                self.assertEqual(result.json["evaluated"], evaluated)
            self.assertEqual(self.sig("--all", "--json", "app").json["evaluated"], 0)

    def test_an_edited_recipe_writes_only_what_it_adds(self):
        self.write("meta-one/recipes/big.bb", 'SRC = "b"\nFLAGS = ""\n'
                   + "".join(f"addtask t{i}\ndo_t{i}() {{\n    echo {i}\n}}\n" for i in range(200))
                   + "".join(f'do_build[depends] += "big:do_t{i}"\n' for i in range(200)))
        self.assert_exit(self.sig("app", "big"), 0)
        time.sleep(0.1)
        before = self.file.read_bytes()
        self.write("meta-one/recipes/app.bb", 'SRC = "a"\nFLAGS = "-O3"\n')
        self.assert_exit(self.sig("app", "big"), 0)
        after = self.file.read_bytes()
        self.assertEqual(after[:len(before)], before)
        self.assertTrue(0 < len(after) - len(before) < len(before) / 4, (len(before), len(after)))

    def test_a_changed_source_file_adds_its_digest_and_nothing_else(self):
        self.assert_exit(self.sig("app"), 0)
        time.sleep(0.1)
        self.assert_exit(self.sig("app"), 0)
        before, inode = self.file.read_bytes(), self.file.stat().st_ino
        self.write("build/files/a.patch", "2")
        time.sleep(0.1)
        self.assert_exit(self.sig("app"), 0)
        after = self.file.read_bytes()
        self.assertEqual((after[:len(before)] == before, self.file.stat().st_ino), (True, inode))
        self.assertTrue(0 < len(after) - len(before) < 600, (len(before), len(after)))

    def test_parsing_again_and_again_forgets_no_signatures(self):
        self.assert_evaluated(2)
        rewrites = 0
        long = "x" * 60000
        for i in range(60):
            before = self.file.stat().st_size
            self.write("meta-one/recipes/other.bb", f'SUMMARY = "{i}{long}"\n')
            self.assert_exit(self.run_bitzel("--directory", self.dir / "build", "parse"), 0)
            rewrites += self.file.stat().st_size < before
        self.assertGreater(rewrites, 2)
        self.assert_evaluated(0)

    def test_a_build_directory_that_cannot_be_written_is_no_problem(self):
        (self.dir / "build/cache").write_text("in the way")
        for _ in range(2):
            result = self.sig("--json", "app")
            self.assert_exit(result, 0)
            self.assertEqual((result.json["evaluated"], result.said), (2, ""))


class Asked(test_sig.Project):
    """What code reads that no file of the metadata decides."""

    def keys(self):
        result = self.sig("--all", "--json", "app")
        self.assert_exit(result, 0)
        return {t["name"]: t["signature"] for t in result.json["tasks"]}

    def test_a_file_that_code_looks_for_is_looked_for_each_time(self):
        self.write("meta-one/recipes/lib.bb", f'SRC = "l"\nFLAGS = "${{@os.path.exists(\'{self.dir}/there\')}}"\n')
        before = self.keys()
        self.write("there", "")
        after = self.keys()
        self.assertEqual({n for n in before if before[n] != after[n]}, {"lib:do_build", "app:do_build"})

    def test_code_that_reads_an_ignored_variable_counts_by_its_value(self):
        for name in ("BB_BASEHASH_IGNORE_VARS", "BB_HASHCONFIG_IGNORE_VARS"):
            with open(self.dir / "build/conf/local.conf", "a", encoding="utf-8") as conf:
                conf.write(f'{name} += "DL_PLACE"\n')
        self.write("meta-one/recipes/lib.bb", 'SRC = "${DL_PLACE}"\nFLAGS = "${@d.getVar(\'DL_PLACE\')}"\n')
        conf = self.dir / "build/conf/local.conf"
        text = conf.read_text()
        seen = []
        for value in ("one", "two"):
            conf.write_text(text + f'DL_PLACE = "{value}"\n')
            seen.append(self.keys())
        self.assertEqual({n for n in seen[0] if seen[0][n] != seen[1][n]}, {"lib:do_build", "app:do_build"})

    def test_a_value_made_from_the_clock_changes_no_key_and_is_told(self):
        now = "${@time.strftime('%S', time.gmtime())}"
        for text in (f'SRC = "l"\nFLAGS = "{now}"\n', f'SRC = "l"\nNOW := "{now}"\nFLAGS = "${{NOW}}"\n'):
            self.write("meta-one/recipes/lib.bb", text)
            keys = []
            for _ in range(3):
                result = self.sig("--all", "--json", "app")
                self.assertRegex(result.err, "lib:do_build: warning: what it does depends on the time, so its result "
                                             "is not used again")
                self.assertNotIn("lib:do_fetch:", result.err)
                keys.append([t["signature"] for t in result.json["tasks"]])
                time.sleep(0.6)
            self.assertEqual(keys[0], keys[1])
            self.assertEqual(keys[0], keys[2])


if __name__ == "__main__":
    bitzel.main()
