"""bitzel build with nothing to do: it says so quickly, and only if it is so."""

import os
import shutil
import time
import unittest

import catalog
from test_build import Kitchen, tasks


class Idle(Kitchen):
    """After a build that ran nothing there is a record of what it has looked at."""

    def setUp(self):
        super().setUp()
        self.file = self.dir / "build/cache/bitzel.catalog"
        self.spoiled = []
        self.store = self.dir / ".cache/bitzel"

    def records(self):
        return [r for r in catalog.live(self.file, catalog.IDLE) if r not in self.spoiled]

    def forget(self):
        """Damages the records, so that there are none."""
        catalog.spoil(self.file, catalog.IDLE)
        self.spoiled = catalog.live(self.file, catalog.IDLE)

    def settle(self, *targets):
        """Builds until there is a record: not before files have had their times for a
        moment. What the last build said."""
        self.build(*targets)
        deadline = time.monotonic() + 20
        while not self.records():
            self.assertLess(time.monotonic(), deadline, "there is no record")
            time.sleep(0.02)
            self.build(*targets)
        return self.build(*targets)

    def age_store(self):
        """So long unused that it has to be claimed anew."""
        for path in self.store.glob("ac/*/*"):
            os.utime(path, ns=(time.time_ns() - 7200 * 10**9, path.stat().st_mtime_ns))

    def test_it_says_what_a_build_says_that_looks_at_everything(self):
        quick = self.settle("pizza", "dough")
        self.forget()
        full = self.build("pizza", "dough")
        self.assertEqual(quick.err, full.err)
        self.assertEqual(tasks(quick, "Cached"), {"pizza:do_populate_sysroot", "dough:do_populate_sysroot"})
        self.settle("pizza", "dough")
        quick = self.build("pizza", "dough", "--json").json
        self.forget()
        full = self.build("pizza", "dough", "--json").json
        quick.pop("milliseconds"), full.pop("milliseconds")
        self.assertEqual(quick, full)

    def test_it_makes_no_graph_and_opens_no_store(self):
        self.settle("dough")
        shutil.rmtree(self.dir / ".local", ignore_errors=True)
        before = self.file.stat()
        self.build("dough")
        after = self.file.stat()
        self.assertEqual((before.st_ino, before.st_size, before.st_mtime_ns),
                         (after.st_ino, after.st_size, after.st_mtime_ns))
        self.assertFalse((self.dir / ".local").exists())

    def test_an_edit_of_the_output_is_undone(self):
        self.settle("dough")
        shown = self.out("dough") / "image/bin/dough"
        before = shown.stat()
        right = shown.read_bytes()
        shown.chmod(0o755)
        shown.write_bytes(right[::-1])
        shown.chmod(before.st_mode & 0o7777)
        os.utime(shown, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual(tasks(self.build("dough"), "Executed"), set())
        self.assertEqual(shown.read_bytes(), right)
        self.settle("dough")
        (shown.parent / "more").write_text("of it\n")
        self.build("dough")
        self.assertEqual(sorted(os.listdir(shown.parent)), ["alias", "dough"])

    def test_targets_and_tasks_have_records_of_their_own(self):
        self.settle("pizza")
        self.assertEqual(tasks(self.build("dough"), "Cached"), {"dough:do_populate_sysroot"})
        self.assertEqual(tasks(self.build("-c", "compile", "pizza"), "Cached"), {"pizza:do_compile"})
        self.assertEqual(tasks(self.build("pizza"), "Cached"), {"pizza:do_populate_sysroot"})

    def test_a_result_that_is_gone_is_made_again(self):
        self.settle("dough")
        for path in self.store.glob("ac/*/*"):
            path.unlink()
        self.assertEqual(len(tasks(self.build("dough"), "Executed")), 3)

    def test_a_result_that_is_damaged_is_made_again(self):
        self.settle("dough")
        for path in self.store.glob("ac/*/*"):
            path.chmod(0o644)
            path.write_bytes(b"x" * path.stat().st_size)
        self.assertEqual(len(tasks(self.build("dough"), "Executed")), 3)

    def test_a_store_that_is_gone_is_filled_again(self):
        self.settle("dough")
        shutil.rmtree(self.store)
        self.assertEqual(len(tasks(self.build("dough"), "Executed")), 3)
        self.assertTrue((self.out("dough") / "image/bin/dough").exists())

    def test_another_store_is_another_build(self):
        self.settle("dough")
        result = self.build("dough", env={"BITZEL_CACHE_DIR": str(self.dir / "other")})
        self.assertEqual(len(tasks(result, "Executed")), 3)

    def test_outputs_that_are_gone_come_back(self):
        for gone in ("build/bitzel-out", "build/bitzel-out/dough", "build/bitzel-out/dough/image",
                     ".cache/bitzel/out"):
            with self.subTest(gone):
                self.settle("dough")
                path = self.dir / gone
                path.unlink() if path.is_symlink() else shutil.rmtree(path)
                self.assertEqual(tasks(self.build("dough"), "Executed"), set())
                self.assertTrue((self.out("dough") / "image/bin/dough").exists())
                self.forget()

    def test_a_link_that_leads_elsewhere_is_put_right(self):
        self.settle("dough")
        link = self.out("dough") / "image"
        right = os.readlink(link)
        link.unlink()
        link.symlink_to("/tmp")
        self.build("dough")
        self.assertEqual(os.readlink(link), right)

    def test_what_changes_is_built(self):
        for name, before, after in (("meta-kitchen/recipes/sauce.bb", "", 'SALT = "much"\n'),
                                    ("build/conf/local.conf", "MACHINE", 'SALT:append = " more"\nMACHINE'),
                                    ("meta-kitchen/files/topping", "basil", "olives")):
            with self.subTest(name):
                self.settle("pizza")
                self.edit(name, before, after)
                self.assertGreater(len(tasks(self.build("pizza"), "Executed")), 0)
                self.forget()

    def test_a_file_that_counts_and_is_gone_is_noticed(self):
        self.settle("pizza")
        (self.dir / "meta-kitchen/files/topping").unlink()
        self.build("pizza", code=1)

    def test_a_new_recipe_is_a_part_of_world(self):
        self.settle("world")
        self.write("meta-kitchen/recipes/salad.bb", "")
        self.assertEqual(len(tasks(self.build("world"), "Executed")), 3)

    def test_forced_tasks_run(self):
        self.settle("dough")
        self.assertIn("dough:do_compile", tasks(self.build("-f", "-c", "compile", "dough"), "Executed"))
        self.settle("dough")
        self.assertIn("dough:do_install", tasks(self.build("-C", "install", "dough"), "Executed"))
        self.settle("dough")
        self.assertEqual(len(tasks(self.build("--no-cache", "dough"), "Executed")), 3)

    def test_tasks_that_always_run_do(self):
        self.edit("meta-kitchen/recipes/dough.bb", "", 'do_install[nostamp] = "1"\n')
        self.build("dough")
        for _ in range(3):
            self.assertIn("dough:do_install", tasks(self.build("dough"), "Executed"))
        self.assertEqual(self.records(), [])

    def test_results_are_claimed_again_after_a_while(self):
        self.settle("dough")
        self.age_store()  # another time of change, as a collector's
        self.build("dough")
        young = [p for p in self.store.glob("ac/*/*") if time.time() - p.stat().st_atime < 600]
        self.assertEqual(len(young), 1)

    def test_a_record_that_is_damaged_does_not_count(self):
        self.settle("dough")
        good = self.file.read_bytes()
        for where in (0, 40, 100, 200, -1):
            self.file.write_bytes(good)
            catalog.spoil(self.file, catalog.IDLE, where)
            self.assertEqual(tasks(self.build("dough"), "Cached"), {"dough:do_populate_sysroot"})
            self.assertGreater(self.file.stat().st_size, len(good))  # there is a new one

    def test_records_of_many_targets_do_not_pile_up(self):
        self.build("world")
        time.sleep(0.05)
        for i in range(40):
            self.build("world", *(["dough"] * i))
        self.assertGreater(len(self.records()), 30)
        self.assertLess(self.file.stat().st_size, 1 << 20)


if __name__ == "__main__":
    unittest.main()
