"""What builds lay out in the store: it is counted, and collected when nobody wants it."""

import json
import os
import shutil
import subprocess
import time
import unittest

import bitzel
import test_build


HOT = '''\
do_install() {
    mkdir ${D}/bin
    (cat made; echo hot) > ${D}/bin/sauce
}
'''


SHUT = '''\
do_install() {
    mkdir -p ${D}/bin ${D}/shut/in ${D}/listed
    cp made ${D}/bin/sauce
    for name in bin/secret shut/in/f listed/f; do
        cp made ${D}/$name
    done
    chmod 4111 ${D}/bin/secret
    chmod 0 ${D}/shut
    chmod 444 ${D}/listed
}
do_populate_sysroot() {
    install -D ${D}/bin/sauce ${SYSROOTS}/${PN}/bin/sauce
}
'''
NOBODY = 65534


class LaidOut(test_build.Kitchen):
    def setUp(self):
        super().setUp()
        self.store = self.dir / "store"
        self.where = {"BITZEL_CACHE_DIR": str(self.store)}

    def make(self):
        return self.build("pizza", env=self.where)

    def cache(self, *args):
        result = self.run_bitzel("cache", *args, "--json", env=self.where)
        self.assert_exit(result, 0)
        return json.loads(result.out)

    def trees(self):
        return sorted(f"{kind}/{path.name}" for kind in ("trees", "out") for path in (self.store / kind).iterdir())

    def test_trees_that_nobody_wanted_for_long_go_and_come_back(self):
        self.make()
        made = self.trees()
        self.assertTrue(made)
        before = self.cache("du")
        self.assertGreater(before["laid_out_bytes"], 0)
        self.assertEqual(self.cache("gc", "--max-age", "30d")["removed_trees"], 0)
        for name in made:
            os.utime(self.store / name, (10**9, 10**9))
        self.assertEqual(self.cache("gc", "--max-age", "30d", "--dry-run")["removed_trees"],
                         len(made))
        self.assertEqual(self.trees(), made)
        done = self.cache("gc", "--max-age", "30d")
        self.assertEqual((done["removed_trees"], done["removed_results"]), (len(made), 0))
        self.assertEqual(self.trees(), [])
        self.assertEqual(self.cache("du")["laid_out_bytes"], 0)
        again = self.make()
        self.assertEqual(test_build.tasks(again, "Executed"), set())
        self.assertTrue(self.out("pizza").exists())

    def test_a_build_notes_that_it_wants_a_tree(self):
        self.make()
        shown = self.trees()
        for name in shown:
            os.utime(self.store / name, (10**9, 10**9))
        self.make()
        done = self.cache("gc", "--max-age", "30d")
        self.assertLess(done["removed_trees"], len(shown))
        self.assertTrue(self.out("pizza").exists())

    def serve_hot(self):
        """Sauce is a file that trees have by hard link; pizza with it is made."""
        self.write("meta-kitchen/recipes/sauce.bb", HOT)
        self.build("sauce", env=self.where)
        self.make()

    def change_topping(self, topping, policy="first-use"):
        """Pizza is made anew, of the same dough and sauce."""
        self.write("meta-kitchen/files/topping", topping + "\n")
        self.build("pizza", "--set", f"cache.verify={policy}", env=self.where)
        self.assertEqual((self.out("pizza") / "image/bin/pizza").read_text(),
                         f"dough with a pinch\nsauce with a pinch\nhot\n{topping}\n")

    def test_a_repair_takes_trees_with_damaged_bytes_away(self):
        self.serve_hot()
        for blob in (self.store / "cas").glob("??/*"):
            if blob.read_bytes() == b"sauce with a pinch\nhot\n":
                # As a disk does it: nothing but the bytes tells.
                blob.write_bytes(b"sauce with a punch\nhot\n")
                os.utime(blob, (946684800, 946684800))
        self.assertEqual(self.run_bitzel("cache", "verify", "--repair", env=self.where).code, 6)
        self.assertFalse([path for kind in ("trees", "out") for path in (self.store / kind).rglob("*")
                          if path.is_file() and b"punch" in path.read_bytes()])
        self.change_topping("olives")

    def test_an_edit_in_bitzel_out_reaches_no_task(self):
        self.serve_hot()
        for policy in ("first-use", "always"):
            with (self.out("sauce") / "image/bin/sauce").open("a") as file:
                file.write("burnt\n")
            self.change_topping(policy, policy=policy)
            with (self.out("sauce") / "image/bin/more").open("w") as file:
                file.write("burnt\n")
            self.build("sauce", "--set", "cache.verify=always", env=self.where)
            self.assertFalse((self.out("sauce") / "image/bin/more").exists())

    def tamper(self, path, text):
        """As somebody does who wants nobody to see it."""
        before = path.stat()
        path.chmod(0o644)
        path.write_text(text)
        path.chmod(before.st_mode & 0o7777)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def test_bitzel_out_has_files_of_its_own_that_are_read_only(self):
        self.serve_hot()
        stored = {path.stat().st_ino for kind in ("cas", "trees") for path in (self.store / kind).rglob("*")}
        for name in ("pizza", "sauce"):
            for link in self.out(name).iterdir():
                for path in link.resolve().rglob("*"):
                    if path.is_file() and not path.is_symlink():
                        st = path.stat()
                        self.assertNotIn(st.st_ino, stored, path)
                        self.assertEqual((st.st_nlink, st.st_mode & 0o222), (1, 0), path)

    def test_an_edit_in_bitzel_out_is_undone_by_the_next_build(self):
        self.serve_hot()
        shown = self.out("sauce") / "image/bin/sauce"
        edits = {
            "write": lambda: self.tamper(shown, "sauce with a punch\nhot\n"),
            "truncate": lambda: os.truncate(shown, 3),
            "chmod": lambda: shown.chmod(0o755),
            "remove": shown.unlink,
            "add": lambda: (shown.parent / "more").write_text("burnt\n"),
            "link": lambda: os.link(shown, self.dir / "mine"),
            "swap": lambda: os.rename(self.dir / "other", shown),
        }
        for name, edit in edits.items():
            with self.subTest(name):
                self.build("sauce", env=self.where)
                self.tamper_source(shown)
                edit()
                self.assertIn("not what was laid out", self.run_bitzel("cache", "verify", env=self.where).out)
                result = self.build("sauce", env=self.where)
                self.assertEqual(test_build.tasks(result, "Executed"), set())
                self.assertEqual(result.err.count("made anew"), 1, result.err)
                self.assertEqual(shown.read_text(), "sauce with a pinch\nhot\n")
                self.assertEqual(shown.stat().st_mode & 0o7777, 0o444)
                self.assertEqual(sorted(os.listdir(shown.parent)), ["sauce"])
                self.assert_exit(self.run_bitzel("cache", "verify", env=self.where), 0)

    def tamper_source(self, shown):
        """A file that looks like the shown one but for its inode and bytes."""
        other = self.dir / "other"
        other.write_text("sauce with a punch\nhot\n")
        other.chmod(0o444)
        os.utime(other, ns=(shown.stat().st_atime_ns, shown.stat().st_mtime_ns))

    def test_verify_sees_changed_trees_and_a_repair_removes_them(self):
        self.serve_hot()
        layer, = (path for path in (self.store / "trees").glob("[0-9a-f]*")
                  if (path / "tmp/sysroots/sauce/bin/sauce").is_file())
        self.tamper(layer / "tmp/sysroots/sauce/bin/sauce", "sauce with a punch\nhot\n")
        self.tamper(self.out("pizza") / "image/bin/pizza", "cold\n")
        result = self.run_bitzel("cache", "verify", env=self.where)
        self.assert_exit(result, 6)
        self.assertIn(f"trees/{layer.name}: not what was laid out", result.out)
        self.assertRegex(result.out, "out/merged-[0-9a-f]*: not what was laid out")
        self.assert_exit(self.run_bitzel("cache", "verify", "--repair", env=self.where), 6)
        self.assertFalse(layer.exists())
        self.assert_exit(self.run_bitzel("cache", "verify", env=self.where), 0)
        self.change_topping("olives")

    def test_verify_sees_what_is_no_file_and_a_repair_puts_it_aside(self):
        self.serve_hot()
        blobs = sorted((self.store / "cas").glob("??/*"))
        result = sorted((self.store / "ac").glob("??/*"))[0]
        tree = sorted((self.store / "trees").iterdir())[0]
        for path in (*blobs[:3], result):
            path.unlink()
        shutil.rmtree(tree)
        blobs[0].symlink_to("/etc/passwd")
        blobs[1].mkdir()
        os.mkfifo(blobs[2])
        result.symlink_to(blobs[3])
        tree.symlink_to(self.dir)
        found = self.run_bitzel("cache", "verify", env=self.where)
        self.assert_exit(found, 6)
        for path in (*blobs[:3], result, tree):
            self.assertIn(f"{path.relative_to(self.store)}: a link, a directory or", found.out)
        self.assert_exit(self.run_bitzel("cache", "verify", "--repair", env=self.where), 6)
        self.assert_exit(self.run_bitzel("cache", "verify", env=self.where), 0)
        self.make()
        self.change_topping("olives")

    def test_what_is_fetched_and_laid_out_counts_for_the_limit(self):
        shared = self.dir / "shared"
        shared.mkdir()
        self.build("pizza", "--set", f"cache.tiers=dir:{shared} rw", env=self.where)
        far = {"BITZEL_CACHE_DIR": str(self.dir / "far")}
        limit = ["--set", f"cache.tiers=dir:{shared}", "--set", "cache.max_size=1K"]
        result = self.build("pizza", *limit, env=far)
        self.assertEqual(test_build.tasks(result, "Executed"), set())
        self.assertIn("larger than cache.max_size", result.err)
        # What nobody ran for is looked at no less when only trees are new.
        shutil.rmtree(self.dir / "far/trees")
        shutil.rmtree(self.dir / "far/out")
        result = self.build("pizza", "--set", "cache.max_size=1K", env=far)
        self.assertEqual(test_build.tasks(result, "Executed"), set())
        self.assertIn("larger than cache.max_size", result.err)

    def test_an_ordinary_user_keeps_what_is_closed_to_its_owner(self):
        self.write("meta-kitchen/recipes/sauce.bb", SHUT)
        program = self.program_for_all()
        how = {"program": program, "env": self.where}
        if os.geteuid() == 0:
            for path in [self.dir, *self.dir.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)
            how.update(user=NOBODY, group=NOBODY, extra_groups=[])
        for verify in ("first-use", "always"):
            self.build("sauce", "pizza", "--set", f"cache.verify={verify}", **how)
            self.write("meta-kitchen/files/topping", "rocket\n")
        # The image is a merged tree, which lets its owner in.
        image = self.out("sauce") / "image"
        self.assertEqual((image / "bin/secret").stat().st_mode & 0o7777, 0o111)
        layer, = (path for path in (self.store / "trees").glob("[0-9a-f]*")
                  if (path / "tmp/work/sauce/image").is_dir())
        layer /= "tmp/work/sauce/image"
        self.assertEqual((layer / "bin/secret").stat().st_mode & 0o7777, 0o4111)
        self.assertEqual((layer / "listed").stat().st_mode & 0o7777, 0o444)
        self.assertEqual((layer / "shut").stat().st_mode & 0o7777, 0)
        for name in ("shut/in/f", "listed/f"):
            self.assertEqual((image / name).read_text(), "sauce with a pinch\n")

    def test_the_work_of_a_killed_build_goes(self):
        self.build("sauce", env=self.where)  # or it cannot be tried here
        self.edit("meta-kitchen/recipes/dough.bb", "", "do_compile() {\n    sleep 100\n}\n")
        work = self.store / "work"
        with subprocess.Popen([bitzel.PROGRAM, "--directory", self.dir / "build", "build", "dough"],
                              env=self.environment(**self.where), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
            deadline = time.monotonic() + 60
            while not list(work.glob("*/root")) and killed.poll() is None:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            self.assertEqual(self.cache("gc")["leftovers"], 0)  # it runs
            killed.kill()
        done = self.cache("gc")
        self.assertGreater(done["leftovers"], 0)
        self.assertEqual(list(work.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
