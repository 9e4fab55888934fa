"""bitzel shell: what is to be seen in the sandbox of a task."""

import os
import pty
import select
import time
import unittest

import bitzel
import test_build


class Shell(test_build.Kitchen):
    def setUp(self):
        super().setUp()
        self.write("meta-kitchen/recipes/sauce.bb", """\
export SPICE = "hot"
do_compile() {
    echo half > made
    echo scrap > /tmp/scrap
    false
}
""")

    def shell(self, *args, code=0):
        result = self.run_bitzel("--directory", self.dir / "build", "shell", *args)
        self.assert_exit(result, code)
        return result

    def test_a_task_that_failed_is_as_it_was(self):
        err = self.build("sauce", code=1).err
        self.assertIn("  to look around: bitzel shell sauce:do_compile\n", err)
        self.assertEqual(self.shell("sauce", "-c", "pwd; cat made /tmp/scrap; echo $SPICE").out,
                         "/bitzel/tmp/work/sauce/build\nhalf\nscrap\nhot\n")
        self.shell("sauce:do_compile", "-c", "echo more >> made")
        self.assertEqual(self.shell("sauce:compile", "-c", "cat made").out, "half\nmore\n")
        log = self.dir / "build/tmp/work/sauce/temp/log.do_compile"
        self.assertIn("ERROR: exit code 1", log.read_text())

    def test_it_is_kept_until_the_task_is_run_again(self):
        self.build("sauce", code=1)
        kept = self.dir / ".cache/bitzel/failed/sauce:do_compile"
        self.assertTrue((kept / "upper").is_dir())
        self.edit("meta-kitchen/recipes/sauce.bb", "    false\n", "")
        self.assertEqual(self.shell("sauce", "-c", "ls; echo end").out, "end\n")  # it is another task now
        self.build("sauce")
        self.assertFalse(kept.exists())

    def test_of_another_task_it_is_what_it_would_see(self):
        self.edit("meta-kitchen/recipes/sauce.bb", "    false\n", "")
        result = self.shell("pizza", "-c", "cat ${SYSROOTS}/x 2>/dev/null; ls /bitzel/tmp/sysroots; id -u; "
                                           "grep -c basil /layers/meta-kitchen/files/topping")
        self.assertEqual(result.out, "dough\nsauce\n1000\n1\n")
        self.assertEqual(len(test_build.tasks(result, "Executed")), 6)
        self.assertEqual(self.shell("pizza", "-c", "do_compile; cat made; sh -e /run/task && echo ran").out,
                         "dough with a pinch\nhalf\nbasil\nran\n")

    def test_what_is_done_in_it_is_no_result(self):
        self.shell("dough", "-c", "echo mine > made")
        self.build("dough")
        self.assertEqual((self.out("dough") / "image/bin/dough").read_text(), "dough with a pinch\n")

    def test_its_exit_status_is_that_of_the_command(self):
        self.shell("dough", "-c", "exit 9", code=9)
        self.shell("dough", "-c", "kill -TERM $$", code=143)
        self.assertIn("nothing provides", self.shell("none", "-c", "true", code=3).err)
        self.assertIn("nothing to run", self.shell("dough:do_build", "-c", "true", code=2).err)

    def test_nothing_outside_can_be_reached_from_it(self):
        self.assertEqual(self.shell("dough", "-c", f"ls {self.dir} 2>/dev/null || echo none").out, "none\n")


class Terminal(test_build.Kitchen):
    """On a terminal, with a shell that has job control."""

    def test_jobs_can_be_stopped_and_the_terminal_is_given_back(self):
        child, fd = pty.fork()
        if child == 0:
            os.environ.clear()
            os.environ.update(self.environment(TERM="dumb"))
            os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "-i"])
        self.addCleanup(os.close, fd)  # which ends whatever is left there
        self.seen = b""

        def type_and_expect(line, want):
            os.write(fd, line.encode())
            deadline = time.monotonic() + 20
            at = len(self.seen)
            while want.encode() not in self.seen[at:]:
                ready = select.select([fd], [], [], max(0, deadline - time.monotonic()))[0]
                self.assertTrue(ready, self.seen)
                self.seen += os.read(fd, 4096)

        type_and_expect(f"PS1='out> '; cd {self.dir}/build\n", "out> ")
        type_and_expect(f"{bitzel.PROGRAM} shell dough\n", "/run/task is its script")
        type_and_expect("PS1='in'\"> \"\n", "in> ")
        type_and_expect("pwd; id -un\n", "/bitzel/tmp/work/dough/build\r\nbuilder")
        type_and_expect("sleep 300\n", "sleep 300\r\n")
        time.sleep(0.3)
        type_and_expect("\x1a", "Stopped")
        type_and_expect("fg\n", "sleep 300")
        time.sleep(0.3)
        type_and_expect("\x03", "in> ")
        type_and_expect("jobs; echo no''ne\n", "none")
        type_and_expect("exit 4\n", "out> ")
        type_and_expect("echo status $?\n", "status 4")
        type_and_expect("sleep 300\n", "sleep 300\r\n")
        time.sleep(0.3)
        type_and_expect("\x03", "out> ")
        os.write(fd, b"exit\n")
        self.assertEqual(os.waitpid(child, 0)[0], child)


if __name__ == "__main__":
    unittest.main()
