"""Tasks that the kernel really kills for lack of memory, in a control group with little of it."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import bitzel
import test_build

LIMIT = 768 << 20  # bytes; a sanitized bitzel takes some of it


def own_group():
    """The directory of our control group whose memory can be limited, and the names of its files."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return mount_of("cgroup", "memory") / path.lstrip("/"), "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
    return mount_of("cgroup2", None) / path.lstrip("/"), "memory.max", "memory.swap.max"


def mount_of(kind, controller):
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, point, found, options = line.split()[:4]
        if found == kind and (controller is None or controller in options.split(",")):
            return pathlib.Path(point)
    raise OSError(f"no {kind} is mounted")


class Starved(test_build.Kitchen):
    def setUp(self):
        super().setUp()
        try:
            self.group = self.make_group()
        except OSError as error:
            if "BITZEL_MUST_WORK" in os.environ:
                raise
            self.skipTest(f"no control group with little memory can be made: {error}")

    def make_group(self):
        above, limit, swap = own_group()
        if limit == "memory.max" and "memory" not in (above / "cgroup.subtree_control").read_text().split():
            (above / "cgroup.subtree_control").write_text("+memory")
        group = pathlib.Path(tempfile.mkdtemp(prefix="bitzel-e2e-", dir=above))
        self.addCleanup(self.remove_group, group)
        (group / limit).write_text(str(LIMIT))
        if (group / swap).exists():
            (group / swap).write_text(str(LIMIT if "memsw" in swap else 0))
        return group

    def remove_group(self, group):
        end = time.monotonic() + 30
        while group.exists():
            try:
                group.rmdir()
            except OSError:  # what ran in it is not all gone yet
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def starve(self, *args, env=None):
        """A build that fails, with little memory; what it says."""
        command = ["sh", "-ec", 'echo $$ > "$0"; exec "$@"', str(self.group / "cgroup.procs"), bitzel.PROGRAM,
                   "--directory", str(self.dir / "build"), "build", *args]
        done = subprocess.run(command, env=self.environment(**(env or {})), cwd=self.dir, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        if done.returncode == 5 and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def compile(self, recipe, code):
        self.write(f"meta-kitchen/recipes/{recipe}.bb", f"do_compile() {{\n    {code}\n}}\n")

    def report(self, *args):
        return self.run_bitzel("--directory", self.dir / "build", "report", *args)

    def test_a_command_that_was_killed_is_told_as_out_of_memory(self):
        self.compile("sauce", 'echo "a.c:1:2: error: not this"; tail /dev/zero')
        text = self.starve("sauce", f"--events={self.dir}/events")
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^Failed sauce:do_compile \(\w{8}\): killed, out of memory$")
        self.assertEqual(lines[1], "  the kernel killed 1 process for lack of memory while it ran: try fewer jobs, -j")
        self.assertNotIn("first error", text)
        failed, = [event for event in map(json.loads, (self.dir / "events").read_text().splitlines())
                   if event["event"] == "failed"]
        self.assertEqual((failed["exit_code"], failed["oom_kills"]), (137, 1))
        self.assertRegex(self.report().out, r"sauce:do_compile.*killed, out of memory")
        self.assertRegex(self.report("--md").out, r"sauce:do\\_compile.*killed, out of memory")
        task, = [task for task in self.report("--json").json["details"] if task["state"] == "failed"]
        self.assertEqual(task["oom_kills"], 1)

    def test_a_task_that_was_killed_itself_is_told_as_out_of_memory(self):
        self.compile("sauce", "exec tail /dev/zero")
        self.compile("dough", "exit 7")
        text = self.starve("-k", "-j", "1", "sauce", "dough")
        self.assertRegex(text, r"\nFailed sauce:do_compile \(\w{8}\): killed, out of memory\n"
                         if text.startswith("Failed dough") else r"^Failed sauce:.*: killed, out of memory\n")
        self.assertIn("\n  sauce:do_compile: killed, out of memory\n", text.split("These failed:")[1])

    def test_a_make_whose_command_was_killed_is_told_why(self):
        self.compile("sauce", "printf 'all:\\n\\ttail /dev/zero\\n' > Makefile\n    make")
        text = self.starve("sauce")
        self.assertRegex(text, r"^Failed sauce:do_compile \(\w{8}\): exit status 2\n"
                               r"  the kernel killed 1 process for lack of memory while it ran: try fewer jobs, -j\n")
        self.assertIn("exit status 2; meanwhile the kernel killed 1 process for lack of memory", self.report().out)

    def test_github_and_gitlab_are_told(self):
        self.compile("sauce", "tail /dev/zero")
        text = self.starve("sauce", f"--code-quality={self.dir}/quality.json", env={"GITHUB_ACTIONS": "true"})
        self.assertTrue(re.search(r"^::error .*title=sauce%3Ado_compile::killed, out of memory$", text, re.M), text)
        self.assertEqual(json.loads((self.dir / "quality.json").read_text())[0]["description"],
                         "sauce:do_compile: killed, out of memory")

    def test_what_was_killed_before_or_by_others_is_not_counted(self):
        self.compile("sauce", "tail /dev/zero")
        self.starve("sauce")
        self.compile("sauce", "sh -c 'kill -KILL $$'")
        text = self.starve("sauce")
        self.assertRegex(text, r"^Failed sauce:do_compile \(\w{8}\): exit status 137 \(signal 9, Killed\)\n"
                               r"  signal 9 was not sent by bitzel; out of memory\?\n")


if __name__ == "__main__":
    bitzel.main()
