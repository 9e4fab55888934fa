"""Files that a task makes setuid: data for later tasks, and powerless on the host."""

import os
import pathlib
import shutil
import signal
import stat
import subprocess
import time
import unittest

import bitzel
import test_build
import test_sandbox

NOBODY = 65534
SPECIAL = stat.S_ISUID | stat.S_ISGID

DOUGH = '''\
do_install() {
    install -D /usr/bin/id ${D}/bin/dough
    chmod 6755 ${D}/bin/dough
    install -d ${D}/shared ${D}/plain
    chmod 2755 ${D}/shared
    cp ${D}/bin/dough ${D}/plain/id
}
'''
PIZZA = '''\
DEPENDS = "dough"
do_compile() {
    dough=${SYSROOTS}/dough
    stat -c '%a' $dough/bin/dough $dough/shared > made
    cp -a $dough copy
    stat -c '%a' copy/bin/dough >> made
    tar -cf all.tar -C $dough bin/dough
    tar -tvf all.tar | cut -c 1-10 >> made
    test "$(id -u)" = "$($dough/bin/dough -u)"
    awk '$5 == "/bitzel" && $6 !~ /nosuid/ { exit 1 }' /proc/self/mountinfo
}
do_install() {
    install -D made ${D}/bin/pizza
}
'''
SEEN = "6755\n2755\n6755\n-rwsr-sr-x\n"


def special(top):
    """The files and directories below a directory that are setuid or setgid."""
    return [path for path in sorted(top.rglob("*"))
            if not path.is_symlink() and path.stat().st_mode & SPECIAL]


class Setuid(test_sandbox.Kitchen):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.store = self.dir / "store"
        self.write("meta-kitchen/recipes/dough.bb", DOUGH)
        self.write("meta-kitchen/recipes/pizza.bb", PIZZA)
        self.how = {"env": {"BITZEL_CACHE_DIR": str(self.store)}, "umask": 0o022}

    def be_ordinary(self):
        """From now on an ordinary user builds."""
        if os.geteuid() == 0:
            self.how["program"] = self.program_for_all()
            for path in [self.dir, *self.dir.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)
            self.how.update(user=NOBODY, group=NOBODY, extra_groups=[])

    def make(self, *args, **how):
        return self.build(*args, **{**self.how, **how})

    def mode(self, path):
        return path.stat().st_mode & 0o7777

    def assert_out_of_reach(self, stores=("store",)):
        """What is setuid lies below a directory that only its owner can enter."""
        for name in stores:
            for path in special(self.dir / name):
                closed = [up for up in path.parents if up.is_relative_to(self.dir / name)
                          and stat.S_IMODE(up.stat().st_mode) == 0o700]
                self.assertTrue(closed, path)

    def assert_no_use_to_others(self):
        """Another user finds no file that gives it the rights of who builds."""
        if os.geteuid() != 0 or "user" in self.how:
            return
        found = subprocess.run(["find", "-L", self.store, self.dir / "build", "-perm", "/6000"],
                               user=NOBODY, group=NOBODY, extra_groups=[], check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(found.stdout, "")
        who = subprocess.run([self.out("dough") / "image/bin/dough", "-u"], check=True,
                             user=NOBODY, group=NOBODY, extra_groups=[], stdout=subprocess.PIPE, text=True)
        self.assertEqual(who.stdout, f"{NOBODY}\n")

    def check(self):
        self.make("pizza", "dough")
        self.assertEqual((self.out("pizza") / "image/bin/pizza").read_text(), SEEN)
        image = self.out("dough") / "image"
        self.assertEqual(self.mode(image / "bin/dough"), 0o555)
        self.assertEqual(self.mode(image / "shared"), 0o755)
        self.assertEqual((image / "bin/dough").read_bytes(), pathlib.Path("/usr/bin/id").read_bytes())
        for name in ("dough", "pizza"):
            for link in self.out(name).iterdir():
                self.assertEqual(special(link.resolve()), [])
        self.assert_out_of_reach()
        self.assert_no_use_to_others()

    def test_later_tasks_see_the_bits_and_users_do_not(self):
        self.check()
        self.assertTrue(special(self.store / "trees"))

    def test_so_it_is_for_an_ordinary_user(self):
        self.be_ordinary()
        self.check()

    def test_so_it_is_without_namespaces(self):
        self.how["preexec_fn"] = test_sandbox.refuse_user_namespaces
        result = self.run_bitzel("--directory", self.dir / "build", "build", "-n", "pizza", **self.how)
        if result.code == 5 and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(result.err.strip())
        result = self.run_bitzel("--directory", self.dir / "build", "build", "pizza", "dough", **self.how)
        self.assert_exit(result, 0)
        self.assertEqual((self.out("pizza") / "image/bin/pizza").read_text(), SEEN)
        self.assertEqual(self.mode(self.out("dough") / "image/bin/dough"), 0o555)
        self.assert_out_of_reach()
        self.assertEqual(self.mode(pathlib.Path(f"/tmp/bitzel-{os.geteuid()}")), 0o700)

    def test_what_one_task_made_alone_is_shown_without_the_bits(self):
        self.edit("meta-kitchen/classes/base.bbclass", 'do_install[dirs] = "${B}"\n', "")
        self.edit("meta-kitchen/classes/base.bbclass", "addtask install after do_compile\n", "addtask install\n")
        self.make("dough:do_install")
        self.assertIn("dough:do_install", str(self.make("--no-cache", "dough:do_install").err))
        self.assertEqual(self.mode(self.out("dough") / "image/bin/dough"), 0o555)
        self.assert_out_of_reach()

    def test_so_it_is_with_what_comes_from_a_shared_cache(self):
        shared = self.dir / "shared"
        shared.mkdir()
        self.make("pizza", "dough", "--set", f"cache.tiers=dir:{shared} rw")
        self.assertEqual([path for path in shared.rglob("*") if path.is_file() and self.mode(path) & 0o7111], [])
        shutil.rmtree(self.out("dough").parent)
        self.store = self.dir / "far"
        self.how["env"] = {"BITZEL_CACHE_DIR": str(self.store)}
        result = self.make("pizza", "dough", "--set", f"cache.tiers=dir:{shared}")
        self.assertEqual(test_build.tasks(result, "Executed"), set())
        self.check()
        self.edit("meta-kitchen/recipes/pizza.bb", "test ", "true; test ")
        self.assertIn("pizza:do_compile", test_build.tasks(self.make("pizza"), "Executed"))
        self.assertEqual((self.out("pizza") / "image/bin/pizza").read_text(), SEEN)
        self.assert_out_of_reach()

    def test_a_build_that_has_nothing_to_do_keeps_what_is_shown(self):
        self.make("dough")
        shown = os.path.realpath(self.out("dough") / "image")
        before = os.stat(shown + "/bin/dough").st_ino
        self.assertEqual(test_build.tasks(self.make("dough", "--set", "cache.verify=always"), "Executed"), set())
        self.assertEqual(os.path.realpath(self.out("dough") / "image"), shown)
        self.assertEqual(os.stat(shown + "/bin/dough").st_ino, before)

    def test_a_bit_that_somebody_sets_there_goes(self):
        self.make("dough", "pizza")
        shown = self.out("dough") / "image/bin/dough"
        shown.chmod(0o4755)
        self.make("dough", "--set", "cache.verify=always")
        self.assertEqual(self.mode(shown), 0o555)

    def test_what_a_task_that_failed_has_left_is_out_of_reach(self):
        self.compile("cp /usr/bin/id id; chmod 6755 id; false")
        self.make("dough", code=1)
        self.assertTrue(special(self.store / "failed"))
        self.assert_out_of_reach()
        shell = self.run_bitzel("--directory", self.dir / "build", "shell", "-c",
                                'stat -c %a id; test "$(id -u)" = "$(./id -u)"', "dough", **self.how)
        self.assert_exit(shell, 0)
        self.assertEqual(shell.out, "6755\n")

    def test_what_a_task_that_runs_makes_is_out_of_reach(self):
        self.make("sauce")  # or it cannot be tried here
        self.compile("cp /usr/bin/id id; chmod 6755 id; sleep 100")
        with subprocess.Popen([bitzel.PROGRAM, "--directory", self.dir / "build", "build", "dough"], umask=0o022,
                              env=self.environment(**self.how["env"]), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            deadline = time.monotonic() + 60
            while not special(self.store / "work") and running.poll() is None:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            self.assertIsNone(running.poll())
            self.assert_out_of_reach()
            running.send_signal(signal.SIGTERM)

    def test_directories_that_others_could_enter_are_closed(self):
        self.write("meta-kitchen/recipes/sauce.bb", "do_compile() {\n    false\n}\n")
        self.make("sauce", code=1)
        self.make("dough")
        for name in ("trees", "work", "failed"):
            (self.store / name).chmod(0o755)
        self.make("pizza")
        for name in ("trees", "work", "failed"):
            self.assertEqual(self.mode(self.store / name), 0o700)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_a_directory_of_another_user_is_not_used(self):
        self.make("dough")
        os.chown(self.store / "trees", NOBODY, NOBODY)
        self.make("pizza")  # root takes it over
        self.assertEqual((self.store / "trees").stat().st_uid, 0)
        self.be_ordinary()
        os.chown(self.store / "trees", 1, 1)
        (self.store / "trees").chmod(0o755)
        self.edit("meta-kitchen/recipes/pizza.bb", "test ", "true; test ")
        self.assertIn("store/trees belongs to another user", self.make("pizza", code=4).err)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file capabilities")
    def test_capabilities_of_a_stored_file_reach_nobody(self):
        caps = bytes.fromhex("0100000200200000000000000000000000000000")  # cap_net_raw+ep
        self.make("sauce", "pizza")
        for blob in (self.store / "cas").glob("??/*"):
            os.setxattr(blob, "security.capability", caps)
        shutil.rmtree(self.out("dough").parent)
        for name in ("trees", "out"):
            shutil.rmtree(self.store / name, ignore_errors=True)
        for targets in (["sauce:do_install"], ["sauce", "pizza", "dough"]):
            self.make(*targets)
            for link in self.dir.glob("build/bitzel-out/*/*"):
                for path in link.resolve().rglob("*"):
                    self.assertNotIn("security.capability", os.listxattr(path, follow_symlinks=False), path)


if __name__ == "__main__":
    unittest.main()
