"""bitzel build with stores in strange places: on a disk that is full, read-only, elsewhere,
or somebody else's."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

import bitzel
from test_build import Kitchen, tasks

ROOT = os.geteuid() == 0
OTHER = 65534  # a user who is not us


class Disk(Kitchen):
    def setUp(self):
        super().setUp()
        self.store = self.dir / "store"
        self.store.mkdir()
        self.edit("meta-kitchen/recipes/dough.bb", "", '''\
do_compile() {
    head -c 3000000 /dev/zero > made
}
''')

    def script(self, text):
        """Runs a script in a mount namespace of its own; `build` in it is the command."""
        unshare = ["unshare", "--mount"] + ([] if ROOT else ["--user", "--map-root-user"])
        words = f'build() {{ "{bitzel.PROGRAM}" --directory "{self.dir}/build" build "$@" 2>&1; }}\n'
        done = subprocess.run([*unshare, "sh", "-c", words + text], cwd=self.dir, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False,
                              env=self.environment(BITZEL_CACHE_DIR=str(self.store)))
        for problem in ("unshare failed", "Operation not permitted", "user namespaces do not work"):
            if problem in done.stdout and "BITZEL_MUST_WORK" not in os.environ:
                self.skipTest(done.stdout.strip()[-200:])
        return done.stdout

    def test_a_full_disk_is_told_and_with_more_room_the_build_goes_on(self):
        for size in ("300k", "5m", "7m"):
            with self.subTest(size):
                out = self.script(f'''\
mount -t tmpfs -o size={size} full store
build pizza
echo "exit $?"
mount -o remount,size=100m store
build pizza
echo "exit $?"
ls store/work store/tmp
''')
                first, second = out.split("exit 1\n", 1)
                self.assertIn(f"the file system at {self.store} is full", first)
                # Told by the task, or by who watches the disk, whoever is first.
                self.assertRegex(first, "No space left on device|stopped: the file system")
                self.assertIn("exit 0\n", second)
                self.assertTrue(second.endswith("exit 0\nstore/tmp:\n\nstore/work:\n"), second)
                shutil.rmtree(self.dir / "build/bitzel-out", ignore_errors=True)

    def test_a_task_that_fills_its_tmp_fills_neither_the_hosts_nor_memory(self):
        """What it writes there lies in the store, and goes when there is no more room."""
        self.write("meta-kitchen/recipes/dough.bb", '''\
do_compile() {
    test $(df -k --output=size /dev/shm | tail -n 1) -le 262144
    head -c 90000000 /dev/zero > /tmp/@NAME@
}
'''.replace("@NAME@", self.dir.name + "-much"))
        out = self.script('''\
mount -t tmpfs -o size=30m full store
build dough
echo "exit $?"
df -k --output=avail store | tail -n 1
mount -o remount,size=31m store
build sauce
echo "exit $?"
''')
        first, second = out.split("exit 1\n", 1)
        self.assertIn(f"the file system at {self.store} is full", first)
        self.assertIn("what dough:do_compile has left is not kept", first)
        self.assertIn(f"/tmp/{self.dir.name}-much", first)
        self.assertFalse((Path("/tmp") / f"{self.dir.name}-much").exists())
        self.assertGreater(int(second.split()[0]), 25000)
        self.assertIn("exit 0\n", second)

    def test_a_task_that_writes_and_writes_is_stopped_before_the_disk_is_full(self):
        self.write("meta-kitchen/recipes/dough.bb", '''\
do_compile() {
    head -c 63780000 /dev/zero > much
    sleep 30
}
''')
        out = self.script('''\
mount -t tmpfs -o size=64000000 full store
build dough
echo "exit $?"
df -k --output=avail store | tail -n 1
''')
        first, second = out.split("exit 1\n", 1)
        self.assertRegex(first, rf"Failed dough:do_compile .*: stopped: the file system at {self.store} is full, "
                                r"but for \d+ KiB")
        self.assertGreater(int(second.split()[0]), 50000)

    def test_a_store_on_another_file_system_than_the_build_works(self):
        out = self.script('mount -t tmpfs none store\nbuild pizza && cat build/bitzel-out/sauce/image/bin/sauce'
                          '\nbuild sauce && cat build/bitzel-out/sauce/image/bin/sauce\n')
        self.assertIn("sauce with a pinch\n", out)

    def test_what_is_in_a_store_that_cannot_be_written_is_told(self):
        out = self.script('''\
build sauce >/dev/null
mount --bind store store
mount -o remount,ro,bind store
build sauce
echo "exit $?"
build dough
echo "exit $?"
''')
        self.assertNotIn("Executed", out)
        self.assertRegex(out, r"(?s)exit 0\n.*exit [14]\n")
        self.assertIn("Read-only file system", out)
        self.assertIn(str(self.store), out)

    @unittest.skipUnless(ROOT, "takes two users")
    def test_a_store_of_another_user_serves_what_it_has(self):
        self.build("sauce", env={"BITZEL_CACHE_DIR": str(self.store)})
        os.chmod(self.dir, 0o755)
        home = self.dir / "home"
        home.mkdir()
        for path in [home, self.dir / "build", *(self.dir / "build").rglob("*")]:
            os.chown(path, OTHER, OTHER, follow_symlinks=False)
        how = {"user": OTHER, "group": OTHER, "extra_groups": [], "program": self.program_for_all()}
        env = {"BITZEL_CACHE_DIR": str(self.store), "HOME": str(home)}
        result = self.build("sauce", env=env, **how)
        self.assertEqual(tasks(result, "Executed"), set())
        result = self.run_bitzel("--directory", self.dir / "build", "build", "dough", env=env, **how)
        self.assertNotEqual(result.code, 0)
        self.assertIn(str(self.store), result.err)


del Kitchen  # has no tests of its own

if __name__ == "__main__":
    unittest.main()
