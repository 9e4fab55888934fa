"""Files that a user names to be written: a regular file is replaced whole, a link stays a
link, and whatever else has the name is written to and stays what it is."""

import json
import os
import socket
import stat
import threading
import unittest

import bitzel
import test_build

NOBODY = 65534


def kind(path):
    st = os.lstat(path)
    return stat.S_IFMT(st.st_mode), st.st_rdev, st.st_ino


class Named(test_build.Kitchen):
    """By root, if that is who runs this, and by an ordinary user."""

    def setUp(self):
        super().setUp()
        self.users = [{}]
        if os.geteuid() == 0:
            self.users.append({"user": NOBODY, "group": NOBODY, "extra_groups": [],
                               "program": self.program_for_all()})
            os.chmod(self.dir, 0o755)
            for path in [self.dir, *self.dir.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)
        self.ask("build", "pizza", **self.users[-1])

    def writers(self):
        """Every command line that writes a file, with what it begins with."""
        return {"trace": (["trace", "-o"], "{"),
                "report": (["report", "--html"], "<!doctype html>"),
                "sig": (["sig", "pizza", "--record"], "{"),
                "quality": (["build", "pizza", "--code-quality"], "[")}

    def each(self, check):
        for who, how in enumerate(self.users):
            for name, (args, begin) in self.writers().items():
                where = self.dir / f"{name}-{who}"
                where.mkdir()
                os.chmod(where, 0o777)
                with self.subTest(name, user=how.get("user", os.geteuid())):
                    check(where, begin, lambda path, code=0, args=args, how=how: self.ask(
                        *args, path, code=0 if args[0] == "build" else code, **how))

    # A build whose report cannot be written says so, and has succeeded.

    def ask(self, *args, code=0, **how):
        """Each user has a store of their own."""
        env = {"BITZEL_CACHE_DIR": str(self.dir / f"store-{how.get('user', os.geteuid())}")}
        result = self.run_bitzel("--directory", self.dir / "build", *args, env=env, **how)
        self.assert_exit(result, code)
        return result

    def assert_written(self, path, begin):
        text = path.read_text()
        self.assertTrue(text.lower().startswith(begin), text[:80])

    def test_a_new_name_and_a_regular_file_are_replaced(self):
        def check(where, begin, write):
            write(where / "new")
            self.assert_written(where / "new", begin)
            before = kind(where / "new")
            write(where / "new")
            self.assert_written(where / "new", begin)
            self.assertNotEqual(kind(where / "new"), before)
            self.assertEqual(os.listdir(where), ["new"])

        self.each(check)

    def test_a_link_stays_and_its_end_is_replaced(self):
        def check(where, begin, write):
            (where / "far").mkdir()
            os.chmod(where / "far", 0o777)
            (where / "far/end").write_text("old\n")
            (where / "far/middle").symlink_to("end")
            (where / "link").symlink_to("far/middle")
            (where / "dangling").symlink_to(where / "far/new")
            for name, end in (("link", "far/end"), ("dangling", "far/new")):
                write(where / name)
                self.assertTrue((where / name).is_symlink())
                self.assert_written(where / end, begin)
                self.assertTrue(stat.S_ISREG(os.lstat(where / end).st_mode))
            self.assertEqual(sorted(os.listdir(where / "far")), ["end", "middle", "new"])
            self.assertEqual(sorted(os.listdir(where)), ["dangling", "far", "link"])
            (where / "round").symlink_to("round")
            result = write(where / "round", code=4)
            self.assertIn("Too many levels of symbolic links", result.err)

        self.each(check)

    def test_a_device_is_written_to_and_stays_one(self):
        if os.geteuid() != 0:
            self.skipTest("only root makes devices")
        def check(where, _begin, write):
            null, full = where / "null", where / "full"
            for path, minor in ((null, 3), (full, 7)):
                os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
                os.chmod(path, 0o666)
                try:
                    os.close(os.open(path, os.O_WRONLY))
                except PermissionError:
                    self.skipTest("devices do not work in this directory")
            (where / "link").symlink_to("null")
            before = kind(null), kind(full)
            write(null)
            write(where / "link")
            self.assertIn("No space left on device", write(full, code=4).err)
            self.assertEqual((kind(null), kind(full)), before)
            self.assertTrue((where / "link").is_symlink())
            self.assertEqual(sorted(os.listdir(where)), ["full", "link", "null"])

        self.each(check)

    def test_a_fifo_has_a_reader_that_gets_all(self):
        def check(where, begin, write):
            fifo = where / "fifo"
            os.mkfifo(fifo)
            os.chmod(fifo, 0o666)
            before, got = kind(fifo), []
            reader = threading.Thread(target=lambda fifo=fifo, got=got: got.append(fifo.read_text()),
                                      daemon=True)
            reader.start()
            write(fifo)
            self.assertEqual(kind(fifo), before)  # else the reader waits for ever
            reader.join(bitzel.TIMEOUT)
            self.assertTrue(got[0].lower().startswith(begin))

        self.each(check)

    def test_standard_output_by_its_name_is_appended_to(self):
        def check(where, begin, write):
            if where.name.startswith("quality"):
                return  # it prints something else there
            both = where / "both"
            with open(both, "ab") as out:
                out.write(b"first\n")
                out.flush()
                os.chmod(both, 0o666)
                args, _ = self.writers()[where.name.split("-")[0]]
                how = dict(self.users[int(where.name.split("-")[1])])
                self.ask(*args, "/dev/stdout", stdout=out, **how)
            text = both.read_text()
            self.assertTrue(text.startswith("first\n"), text[:80])
            self.assertTrue(text.lower().split("\n", 1)[1].startswith(begin), text[:80])

        self.each(check)

    def test_what_cannot_be_written_is_an_error_that_says_why(self):
        def check(where, _begin, write):
            (where / "dir").mkdir()
            result = write(where / "dir", code=2)
            self.assertIn(f"{where}/dir: it is a directory", result.err)
            self.assertEqual(os.listdir(where / "dir"), [])
            with socket.socket(socket.AF_UNIX) as s:
                s.bind(str(where / "socket"))
                before = kind(where / "socket")
                self.assertIn("it is a socket", write(where / "socket", code=2).err)
                self.assertEqual(kind(where / "socket"), before)
            write(where / "none/file", code=4)

        self.each(check)

    def test_events_go_to_whatever_has_the_name(self):
        for who, how in enumerate(self.users):
            where = self.dir / f"events-{who}"
            where.mkdir()
            os.chmod(where, 0o777)
            (where / "dangling").symlink_to("new")
            self.ask("build", "pizza", "--events", where / "dangling", **how)
            self.assertTrue((where / "dangling").is_symlink())
            self.assertEqual(json.loads((where / "new").read_text().splitlines()[0])["event"], "begin")
            if os.geteuid() == 0:
                os.mknod(where / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
                os.chmod(where / "null", 0o666)
                before = kind(where / "null")
                self.ask("build", "pizza", "--events", where / "null", **how)
                self.assertEqual(kind(where / "null"), before)


if __name__ == "__main__":
    unittest.main()
