"""What bitzel remembers of a parse, and when it must not."""

import os
import signal
import subprocess
import time

import bitzel
import catalog
import test_parse


class Snapshot(test_parse.Project):
    """Two recipes, hello and world; world includes hello.inc."""

    def setUp(self):
        super().setUp()
        self.file = self.dir / "build/cache/bitzel.catalog"

    def assert_parsed(self, parsed, cached, **how):
        """Parses, and says how many recipes that must have taken."""
        result = self.parse("--json", **how)
        self.assert_exit(result, 0)
        self.assertEqual((result.json["parsed"], result.json["cached"]), (parsed, cached))
        self.assertEqual(result.json["recipes"], parsed + cached)
        return result.json

    def assert_then_settled(self, recipes=2, **how):
        self.assert_parsed(0, recipes, **how)

    def test_nothing_is_parsed_twice(self):
        first = self.assert_parsed(2, 0)
        second = self.assert_parsed(0, 2)
        self.assertEqual({**first, "parsed": 0, "cached": 2}, second)
        self.assertEqual(second["targets"], 3)
        self.assertEqual(second["masked"], 1)
        self.assertEqual({p.name for p in self.file.parent.iterdir()}, {"bitzel.catalog"})

    def test_a_recipe_that_changes_is_parsed_alone(self):
        self.assert_parsed(2, 0)
        self.write("meta/recipes/hello_1.2.bb", 'SUMMARY = "GREETS"\n')
        self.assertEqual(self.assert_parsed(1, 1)["targets"], 2)
        self.assert_then_settled()

    def test_what_a_recipe_includes_counts_for_it(self):
        self.assert_parsed(2, 0)
        self.write("meta/recipes/hello.inc", 'LICENSE = "BSD"\n')
        self.assert_parsed(1, 1)
        self.assert_then_settled()

    def test_same_size_and_times_are_no_excuse(self):
        self.write("meta/recipes/hello.inc", 'A = "1"\n')
        path = self.dir / "meta/recipes/hello.inc"
        os.utime(path, (1000, 1000))
        self.assert_parsed(2, 0)
        self.write("meta/recipes/hello.inc", 'A = "2"\n')
        os.utime(path, (1000, 1000))
        self.assert_parsed(1, 1)

    def test_changes_in_quick_succession_are_all_seen(self):
        for i in range(20):
            self.write("meta/recipes/hello.inc", f'A = "{i:02}"\n')
            self.assert_parsed(*((2, 0) if i == 0 else (1, 1)))

    def test_a_file_that_is_only_touched_changes_nothing(self):
        self.assert_parsed(2, 0)
        for path in (self.dir / "meta").rglob("*"):
            os.utime(path, (1000, 1000))
        self.assert_then_settled()
        copy = self.dir / "copy"
        copy.write_bytes((self.dir / "meta/recipes/hello.inc").read_bytes())
        copy.rename(self.dir / "meta/recipes/hello.inc")
        self.assert_then_settled()

    def test_a_class_that_appears_earlier_in_the_path_counts(self):
        self.write("meta/recipes/hello_1.2.bb", "inherit greeting\n")
        self.write("meta/classes/greeting.bbclass", "")
        self.assert_parsed(2, 0)
        self.write("build/classes/greeting.bbclass", 'A = "1"\n')
        self.assert_parsed(1, 1)
        self.write("meta/classes-recipe/greeting.bbclass", 'A = "2"\n')
        self.assert_parsed(1, 1)  # a kind of its own goes before everything
        self.write("meta/classes/greeting.bbclass", 'A = "3"\n')
        self.assert_then_settled()  # nobody looks there any more

    def test_a_file_that_was_missing_counts_when_it_appears(self):
        self.write("meta/recipes/hello_1.2.bb", "include maybe.inc\n")
        self.assert_parsed(2, 0)
        self.write("meta/recipes/maybe.inc", 'BBCLASSEXTEND = "native"\n')
        self.assertEqual(self.assert_parsed(1, 1)["targets"], 3)
        (self.dir / "meta/recipes/maybe.inc").unlink()
        self.assertEqual(self.assert_parsed(1, 1)["targets"], 2)

    def test_recipes_come_and_go(self):
        self.assert_parsed(2, 0)
        self.write("meta/recipes/new_1.bb", "")
        self.assert_parsed(1, 2)
        self.assert_then_settled(3)
        (self.dir / "meta/recipes/new_1.bb").unlink()
        (self.dir / "meta/recipes/world_1.0.bb").unlink()
        self.assert_parsed(0, 1)
        self.assert_then_settled(1)

    def test_appends_come_and_go(self):
        self.assert_parsed(2, 0)
        self.write("meta/recipes/world_%.bbappend", 'BBCLASSEXTEND = "native"\n')
        self.assertEqual(self.assert_parsed(1, 1)["targets"], 4)
        self.write("meta/recipes/world_%.bbappend", "")
        self.assertEqual(self.assert_parsed(1, 1)["targets"], 3)
        (self.dir / "meta/recipes/world_%.bbappend").unlink()
        self.assert_parsed(1, 1)
        self.assert_then_settled()

    def test_a_directory_that_is_replaced_counts(self):
        self.assert_parsed(2, 0)
        (self.dir / "meta/recipes").rename(self.dir / "meta/old")
        self.write("meta/recipes/other_1.bb", "")
        self.assert_parsed(1, 0)
        (self.dir / "meta/recipes/other_1.bb").unlink()
        (self.dir / "meta/recipes").rmdir()
        (self.dir / "meta/recipes").symlink_to("old")
        self.assert_parsed(2, 0)

    def test_the_configuration_counts_only_if_it_says_something_else(self):
        self.assert_parsed(2, 0)
        conf = "meta/conf/bitbake.conf"
        self.write(conf, test_parse.FILES[conf] + "# a remark\n")
        self.assert_parsed(0, 2)
        self.write(conf, test_parse.FILES[conf] + 'A = "1"\n')
        self.assert_parsed(2, 0)
        self.write("meta/classes/base.bbclass", "addtask build\naddtask other\n")
        self.assert_parsed(2, 0)
        self.assert_then_settled()

    def test_masks_and_patterns_count(self):
        self.write("meta/conf/bitbake.conf",
                   test_parse.FILES["meta/conf/bitbake.conf"] + "include conf/local.conf\n"
                   'BB_HASHCONFIG_IGNORE_VARS = "BBMASK BBFILES"\n')
        self.write("meta/more/third_1.bb", "")
        self.assert_parsed(2, 0)
        self.write("build/conf/local.conf", 'BBMASK += "world"\n')
        self.assertEqual(self.assert_parsed(0, 1)["masked"], 2)
        self.write("build/conf/local.conf", 'BBFILES += "${TOPDIR}/../meta/more"\n')
        self.assert_parsed(2, 1)
        self.write("meta/more/deep/fourth_1.bb", "")
        self.assert_parsed(1, 3)

    def test_the_environment_that_passes_counts(self):
        env = {"BB_ENV_PASSTHROUGH_ADDITIONS": "COLOR", "COLOR": "red"}
        self.assert_parsed(2, 0, env=env)
        self.assert_then_settled(env=env)
        self.assert_then_settled(env={**env, "UNRELATED": "1"})
        self.assert_parsed(2, 0, env={**env, "COLOR": "blue"})

    def test_errors_are_told_every_time(self):
        self.write("meta/recipes/bad_1.bb", "what is this\n")
        for cached in (0, 2, 2):
            result = self.parse("--json")
            self.assert_exit(result, 2)
            self.assertEqual((result.json["parsed"], result.json["cached"]),
                             (3 - cached, cached))
            self.assertRegex(result.err, r"bad_1\.bb:1:\d+: error: ")
        self.write("meta/recipes/bad_1.bb", "")
        self.assert_parsed(1, 2)
        self.assert_then_settled(3)

    def test_a_recipe_may_refuse_to_be_remembered(self):
        self.write("meta/recipes/world_1.0.bb", 'BB_DONT_CACHE = "1"\n')
        self.assert_parsed(2, 0)
        self.assert_parsed(1, 1)

    def test_a_damaged_catalog_is_made_again(self):
        self.assert_parsed(2, 0)
        good = self.file.read_bytes()
        ((at, size),) = ((at, size) for at, size, kind, *_ in catalog.entries(self.file)
                         if kind == catalog.FACTS)
        flipped = (good[:n] + bytes([good[n] ^ 1]) + good[n + 1:]
                   for n in (3, 20, at - 60, at - 20, at, at + 200, at + size // 2, at + size - 1))
        for bad in (b"", good[:100], good[:at + size - 1], good.replace(b"bzsurvey", b"bzunlike"),
                    b"\0" * len(good), *flipped):
            self.file.write_bytes(bad)
            self.assert_parsed(2, 0)
            self.assert_then_settled()
        for bad in (good[:-1], good + b"x", good + good[-1000:]):  # of which nothing counts
            self.file.write_bytes(bad)
            self.assert_then_settled()

    def write_many(self, n):
        for i in range(n):
            self.write(f"meta/recipes/r{i:03}_1.bb", f'SUMMARY = "number {i}"\nBBCLASSEXTEND = "native"\n')

    def test_an_edited_recipe_writes_no_more_than_it_is(self):
        self.write_many(300)
        self.assert_parsed(302, 0)
        time.sleep(0.2)
        self.assert_then_settled(302)  # which may write stamps that have settled
        self.assertGreater(self.file.stat().st_size, 200_000)
        for i in range(5):
            before, inode = self.file.read_bytes(), self.file.stat().st_ino
            self.write(f"meta/recipes/r{100 + i}_1.bb", f'SUMMARY = "edited {i}"\nPV = "7.{i}"\n')
            self.assert_parsed(1, 301)
            after = self.file.read_bytes()
            self.assertEqual((after[:len(before)] == before, self.file.stat().st_ino), (True, inode))
            self.assertIn(f"edited {i}".encode(), after[len(before):])
            self.assertLess(len(after) - len(before), 4000)
        kinds = [kind for _at, _size, kind, *_ in catalog.entries(self.file)]
        self.assertEqual(kinds.count(catalog.FACTS), 1)
        time.sleep(0.2)
        self.assert_then_settled(302)
        self.assert_then_settled(302)
        told = self.run_bitzel("--directory", self.dir / "build", "recipes", "--json", "r10*").out
        for i in range(5):
            self.assertIn(f'"pv": "7.{i}"', told)

    def test_deltas_do_not_pile_up(self):
        self.assert_parsed(2, 0)
        for i in range(70):
            os.utime(self.dir / "meta/recipes/hello.inc", (1000 + i, 1000 + i))
            self.assert_parsed(0, 2)
        kinds = [kind for _at, _size, kind, *_ in catalog.entries(self.file)]
        self.assertEqual(kinds.count(catalog.FACTS), 2)
        self.assertLess(self.file.stat().st_size, 150_000)
        time.sleep(0.12)
        self.assert_then_settled()
        size = self.file.stat().st_size
        self.assert_then_settled()
        self.assertEqual(self.file.stat().st_size, size)

    def test_deltas_give_what_a_parse_from_scratch_gives(self):
        self.write_many(40)
        self.assert_parsed(42, 0)
        for i in range(30):
            self.write(f"meta/recipes/r{i % 7:03}_1.bb", f'PV = "7.{i}"\nPROVIDES += "p{i}"\n'
                       + ("require hello.inc\n" if i % 5 == 0 else "") + ("include maybe.inc\n" if i % 3 else ""))
            if i % 4 == 0:
                self.write("meta/recipes/hello.inc", f'LICENSE = "{i}"\n')
            if i % 11 == 5:
                self.write("meta/recipes/maybe.inc", f'MAYBE = "{i}"\n')
            if i % 11 == 8:
                (self.dir / "meta/recipes/maybe.inc").unlink()
            if i == 20:
                self.write("meta/recipes/r030_1.bb", "what is this\n")
            if i == 25:
                self.write("meta/recipes/r030_1.bb", "")
            result = self.parse("--json")
            self.assertEqual(result.json["recipes"], 42)
            self.assertLess(result.json["parsed"], 20)
            told = self.run_bitzel("--directory", self.dir / "build", "recipes", "--json").out
            hidden = self.dir / "hidden"
            self.file.rename(hidden)
            self.assertEqual(self.run_bitzel("--directory", self.dir / "build", "recipes", "--json").out, told)
            hidden.rename(self.file)

    def test_what_nobody_looks_at_any_more_does_not_count(self):
        self.write("meta/recipes/hello_1.2.bb", "require other.inc\n")
        self.write("meta/recipes/other.inc", "")
        self.assert_parsed(2, 0)
        self.write("meta/recipes/hello_1.2.bb", "")
        self.assert_parsed(1, 1)
        self.write("meta/recipes/other.inc", 'A = "1"\n')
        self.assert_parsed(0, 2)
        size = self.file.stat().st_size
        time.sleep(0.2)
        self.assert_then_settled()
        self.assert_then_settled()
        self.assertLess(self.file.stat().st_size - size, 2000)

    def test_files_of_earlier_versions_are_removed(self):
        self.write("build/cache/bitzel.snapshot", "bzsurvey")
        self.write("build/cache/bitzel.idle/0123456789abcdef", "")
        self.assert_parsed(2, 0)
        self.assertEqual({p.name for p in self.file.parent.iterdir()}, {"bitzel.catalog"})

    def test_a_build_directory_that_cannot_be_written_is_no_problem(self):
        (self.dir / "build/cache").write_text("in the way")
        for _ in range(2):
            self.assertEqual(self.parse().err, "")
            self.assert_parsed(2, 0)

    def test_several_at_once_do_not_disturb_each_other(self):
        for i in range(50):
            self.write(f"meta/recipes/r{i}_1.bb", "")
        line = [bitzel.PROGRAM, "--directory", str(self.dir / "build"), "parse"]
        running = []
        for i in range(12):
            self.write(f"meta/recipes/r{i}_1.bb", f'A = "{i}"\n')
            running.append(subprocess.Popen(line, env=self.environment(),
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        for one in running:
            out, err = one.communicate(timeout=60)
            self.assertEqual((one.returncode, err), (0, b""), out)
            self.assertIn(b"52 recipes", out)
        self.assertEqual(self.parse("--json").json["recipes"], 52)
        self.assert_then_settled(52)

    def test_killed_at_any_moment_it_starts_afresh(self):
        for i in range(200):
            self.write(f"meta/recipes/r{i}_1.bb", 'BBCLASSEXTEND = "native"\n')
        line = [bitzel.PROGRAM, "--directory", str(self.dir / "build"), "parse"]
        for i in range(15):
            self.write("meta/recipes/hello.inc", f'A = "{i}"\n')
            with subprocess.Popen(line, env=self.environment(), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as one:
                time.sleep(i * 0.003)  # a different moment each time
                one.send_signal(signal.SIGKILL)
        result = self.parse("--json")
        self.assert_exit(result, 0)
        self.assertEqual(result.json["recipes"], 202)
        self.assertEqual(result.json["targets"], 403)
        self.assert_then_settled(202)


if __name__ == "__main__":
    bitzel.main()
