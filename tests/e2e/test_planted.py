"""A cache in which somebody has planted symbolic links that lead out of it: nothing outside
is made, changed, removed or believed, the build succeeds, and it is told once."""

import os
import shutil
import stat
import unittest

import bitzel
import test_build

NOBODY = 65534
SHARED = ("cas", "ac", "tmp", "leases", "trash", "bad")
FANS = [f"{i:02x}" for i in range(256)]


def look(top):
    """All that is below a directory, and the directory, with what a change leaves behind."""
    found = {}
    for where, dirs, files in os.walk(top):
        for path in [where] + [os.path.join(where, name) for name in dirs + files]:
            st = os.lstat(path)
            found[path] = (st.st_mode, st.st_uid, st.st_nlink, st.st_ino, st.st_size, st.st_mtime_ns,
                           st.st_ctime_ns)
    return found


class Planted(test_build.Kitchen):
    """By root, if that is who runs this, and by an ordinary user."""

    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)
        self.full = self.dir / "full"  # a cache with all results
        self.build("pizza", env={"BITZEL_CACHE_DIR": str(self.full)})
        self.users = {os.geteuid(): {}}
        if os.geteuid() == 0:
            self.users[NOBODY] = {"user": NOBODY, "group": NOBODY, "extra_groups": [],
                                  "program": self.program_for_all()}

    def each(self, plants, attack):
        """Runs `attack` with a directory of its own for each kind of plant and user."""
        for user, how in self.users.items():
            for name, plant in plants.items():
                with self.subTest(name, user=user):
                    where = self.dir / f"{name}-{user}".replace("/", "_")
                    cache, self.outside = where / "cache", where / "outside"
                    cache.mkdir(parents=True)
                    self.outside.mkdir()
                    shutil.copytree(self.dir / "build/conf", where / "build/conf")
                    os.symlink(self.dir / "meta-kitchen", where / "meta-kitchen")
                    plant(cache)
                    if user == NOBODY:
                        for path in [where, *where.rglob("*")]:
                            os.lchown(path, NOBODY, NOBODY)
                    before = look(self.outside)
                    attack(where, cache, how)
                    self.assertEqual(look(self.outside), before)

    def lead_out(self, path, what=None):
        """A link at `path` to a directory outside, with copies of what belongs there."""
        outside = self.outside / str(path).replace("/", "_")
        if what and what.exists():
            shutil.copytree(what, outside)
        else:
            outside.mkdir()
        (outside / "precious").write_text("do not touch\n")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(outside)

    def plant_top(self, name):
        return lambda cache: self.lead_out(cache / name, self.full / name)

    def plant_fans(self, kind):
        def plant(cache):
            for fan in FANS:
                self.lead_out(cache / kind / fan, self.full / kind / fan)
        return plant

    def plant_files(self, kind, dangling=False):
        """The whole cache, but its files of a kind are links to their like."""
        def plant(cache):
            shutil.copytree(self.full, cache, dirs_exist_ok=True, symlinks=True,
                            ignore=shutil.ignore_patterns("trees"))
            (self.outside / kind).mkdir()
            for path in list((cache / kind).glob("??/*")):
                far = self.outside / kind / path.name
                if not dangling:
                    shutil.copy2(path, far)
                path.unlink()
                path.symlink_to(far)
        return plant

    def plant_trees(self, cache):
        shutil.copytree(self.full, cache, dirs_exist_ok=True, symlinks=True)
        for path in list((cache / "trees").iterdir()):
            shutil.move(path, self.outside / path.name)
            path.symlink_to(self.outside / path.name)

    def plant_strange(self, cache):
        """Other things than links in the places of directories and files."""
        shutil.copytree(self.full, cache, dirs_exist_ok=True, symlinks=True,
                        ignore=shutil.ignore_patterns("trees"))
        for fan in FANS:
            if fan[0] in "01234567":
                shutil.rmtree(cache / "cas" / fan, ignore_errors=True)
                (cache / "cas" / fan).write_text("a file\n")
        for path in list((cache / "cas").glob("[89ab]?/*")) + list((cache / "ac").glob("??/*")):
            path.unlink()
            os.mkfifo(path)
        os.mkfifo(cache / "trash")
        os.mkfifo(cache / "sandbox.new")
        (cache / "sandbox").unlink(missing_ok=True)
        os.rename(cache / "sandbox.new", cache / "sandbox")

    def plants(self, tops):
        return {**{name: self.plant_top(name) for name in tops},
                "cas/xx": self.plant_fans("cas"), "ac/xx": self.plant_fans("ac"),
                "cas/xx/xxxx": self.plant_files("cas"), "ac/xx/xxxx": self.plant_files("ac"),
                "cas/xx/dangling": self.plant_files("cas", dangling=True),
                "strange": self.plant_strange}

    def links_to_dirs(self, cache):
        """Links in the places of a store's own directories."""
        return [path for path in [*cache.glob("*"), *cache.glob("cas/*"), *cache.glob("ac/*")]
                if path.is_symlink()]

    def run_there(self, where, *args, how, codes=(0,), **settings):
        words = [word for name, value in settings.items()
                 for word in ("--set", f"cache.{name}={value}")]
        result = self.run_bitzel("--directory", where / "build", *words, *args,
                                 **{**how, "env": {"HOME": str(where)}})
        self.assertIn(result.code, codes, result)
        return result

    def make(self, where, how, **settings):
        result = self.run_there(where, "build", "pizza", how=how, **settings)
        made = where / "build/bitzel-out/pizza/image/bin/pizza"
        self.assertEqual(made.read_text(), "dough with a pinch\nsauce with a pinch\nbasil\n")
        return result

    def assert_told_once(self, result, cache):
        told = [line for line in result.err.splitlines() if "not a directory" in line]
        self.assertEqual(len(told), 1, result)
        self.assertIn(f"{cache}/", told[0])
        self.assertIn("remove it", told[0])

    def test_the_local_store_goes_on_without_them(self):
        def attack(where, cache, how):
            dirs = self.links_to_dirs(cache)
            result = self.make(where, how, dir=cache)
            if dirs:
                self.assert_told_once(result, cache)
                self.assertTrue(any(p.name.startswith("refused-") for p in cache.iterdir()))
            again = self.make(where, how, dir=cache)
            self.assertIn("(0 tasks executed", again.out)
            # A build reads what it needs, so a later build may find another entry; each entry
            # is told once.
            errs = [result.err, again.err] + [self.make(where, how, dir=cache).err for _ in range(2)]
            told = [line for err in errs for line in err.splitlines() if "warn" in line]
            self.assertEqual(sorted(told), sorted(set(told)))
            # Results that nobody needed may name what is refused.
            self.run_there(where, "cache", "verify", how=how, codes=(0, 6), dir=cache)
            self.run_there(where, "cache", "reindex", how=how, dir=cache)
            self.run_there(where, "cache", "gc", "--max-size", "1", how=how, dir=cache)
            self.make(where, how, dir=cache)

        plants = {**self.plants(SHARED + ("trees", "work", "failed")), "trees/xxxx": self.plant_trees}
        self.each(plants, attack)

    def test_a_shared_directory_is_read_and_written_around_them(self):
        def attack(where, cache, how):
            kept = {p: os.readlink(p) for p in self.links_to_dirs(cache)}
            result = self.make(where, how, dir=where / "store", tiers=f"dir:{cache} rw")
            names = {p.name for p in kept}
            if kept and not names & {"trash", "bad", "leases"}:
                self.assert_told_once(result, cache)
            for path, end in kept.items():  # it is not ours to mend
                self.assertEqual(os.readlink(path), end)
            # A second machine has the same cache.
            shutil.rmtree(where / "store")
            shutil.rmtree(where / "build/bitzel-out")
            self.make(where, how, dir=where / "store", tiers=f"dir:{cache}")
            shutil.rmtree(where / "store")
            self.run_there(where, "cache", "pull", how=how, codes=(0, 3), dir=where / "store", tiers=f"dir:{cache}")

        self.each(self.plants(SHARED), attack)

    def test_collecting_and_mending_leave_what_is_outside(self):
        def attack(where, cache, how):
            for path in cache.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    os.utime(path, (1, 1), follow_symlinks=False)
            for args in (("cache", "gc", "--max-size", "1"), ("cache", "verify", "--repair"),
                         ("cache", "gc", "--max-age", "1s"), ("cache", "ls"), ("cache", "du"), ("doctor",)):
                result = self.run_bitzel("--set", f"cache.dir={cache}", *args,
                                         **{**how, "env": {"HOME": str(where)}})
                self.assertIn(result.code, (0, 4, 6), result)

        plants = {**self.plants(SHARED + ("trees", "work", "failed")), "trees/xxxx": self.plant_trees}
        self.each(plants, attack)

    def test_a_link_in_the_place_of_the_whole_cache_is_followed(self):
        real = self.dir / "real"
        real.mkdir()
        (self.dir / "named").symlink_to(real)
        self.make_from = {"BITZEL_CACHE_DIR": str(self.dir / "named")}
        result = self.build("pizza", env=self.make_from)
        self.assertNotIn("warn", result.err)
        self.assertTrue((self.dir / "named").is_symlink())
        self.assertTrue(list(real.glob("cas/??/*")))
        again = self.build("pizza", env=self.make_from)
        self.assertIn("(0 tasks executed", again.out)

    def test_what_a_failed_task_left_is_not_looked_for_behind_a_link(self):
        self.edit("meta-kitchen/recipes/dough.bb", "", "do_compile() {\n    echo left > made\n    false\n}\n")
        env = {"BITZEL_CACHE_DIR": str(self.full)}
        self.build("dough", code=1, env=env)
        kept, = (self.full / "failed").iterdir()
        outside = self.dir / "outside"
        outside.mkdir()
        shutil.move(kept, outside / "kept")
        kept.symlink_to(outside / "kept")
        before = look(outside)
        self.run_bitzel("--directory", self.dir / "build", "shell", "dough:do_compile", "-c",
                        "echo changed > made; echo new > new", env=env)
        self.build("dough", code=1, env=env)
        self.assertEqual(look(outside), before)
        self.assertTrue(stat.S_ISDIR(kept.lstat().st_mode))


if __name__ == "__main__":
    unittest.main()
