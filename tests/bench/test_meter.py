#!/usr/bin/env python3
"""What the drivers' measuring must not miss."""

import signal
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import meter  # noqa: E402

BURN = "import time\nwhile time.process_time() < 0.3: pass"
# Forks twice, as a daemon does; its parent is gone before it has begun.
DAEMON = ("import os\n"
          "if os.fork() == 0:\n"
          "    os.setsid()\n"
          "    if os.fork() == 0:\n"
          "        {body}\n"
          "    os._exit(0)\n")


def python(code):
    return [sys.executable, "-I", "-c", code]


def counted(command, timeout=60):
    return meter.run_counted(command, "/", {"PATH": "/usr/bin:/bin"}, timeout)


class MeterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        meter.adopt_orphans()

    def test_cpu_time_of_a_daemon_counts(self):
        body = "exec(" + repr(BURN) + ")"
        self.assertGreater(counted(python(DAEMON.format(body=body)))["cpu"], 0.29)

    def test_cpu_time_of_an_earlier_run_does_not_count(self):
        counted(python(BURN))
        self.assertLess(counted(["/bin/true"])["cpu"], 0.2)

    def test_the_peak_is_that_of_the_largest_process(self):
        body = "x = b'x' * 200_000_000"
        for code in (body, DAEMON.format(body=body)):
            self.assertGreater(counted(python(code))["peak"], 200_000_000)
        self.assertLess(counted(["/bin/true"])["peak"], 100_000_000)

    def test_a_program_that_fails_is_told_with_its_words(self):
        with self.assertRaisesRegex(meter.Failure, "no such luck"):
            counted(["/bin/sh", "-c", "echo no such luck >&2; exit 3"])
        with self.assertRaisesRegex(meter.Failure, "exit code 3"):
            counted(["/bin/sh", "-c", "exit 3"])

    def test_nothing_that_runs_on_is_left_behind(self):
        began = time.monotonic()
        with self.assertRaisesRegex(meter.Failure, "left processes behind"):
            counted(python(DAEMON.format(body="import time; time.sleep(100)")), timeout=3)
        with self.assertRaisesRegex(meter.Failure, "no end in time"):
            counted(["/bin/sleep", "100"], timeout=0.1)
        self.assertEqual(meter.children(), [])
        self.assertLess(time.monotonic() - began, 60)

    def test_a_run_that_is_interrupted_leaves_nothing_behind(self):
        def had_enough(*_):
            raise KeyboardInterrupt

        self.addCleanup(signal.signal, signal.SIGALRM,
                        signal.signal(signal.SIGALRM, had_enough))
        signal.setitimer(signal.ITIMER_REAL, 1)
        with self.assertRaises(KeyboardInterrupt):
            counted(["/bin/sh", "-c", "sleep 100 & sleep 100"])
        self.assertEqual(meter.children(), [])

    def test_quiet_runs_count_and_others_only_if_there_is_none(self):
        quiet, noisy = {"others": meter.QUIET}, {"others": meter.QUIET + 0.01}
        self.assertEqual(meter.quiet_runs([noisy, quiet]), ([quiet], True))
        self.assertEqual(meter.quiet_runs([noisy]), ([noisy], False))


if __name__ == "__main__":
    unittest.main()
