#!/usr/bin/env python3
"""What the driver makes of durations, and of a program that fails."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run as driver  # noqa: E402


def graph(**tasks):
    """name=(seconds, what it needs...)"""
    return {name: {"took": took, "cpu": took, "after": after}
            for name, (took, *after) in tasks.items()}


# Two chains of which each has its long task in another wave.
CROSSED = graph(a=(5.0,), b=(1.0,), c=(1.0, "a"), d=(5.0, "b"))


class Durations(unittest.TestCase):
    def test_the_longest_path_is_that_of_the_slowest_chain(self):
        self.assertEqual(driver.longest_path(graph(a=(2.0,), b=(3.0, "a"), c=(4.0, "a"), d=(1.5,))), 6.0)
        self.assertEqual(driver.longest_path({}), 0.0)

    def test_what_is_not_told_of_is_not_waited_for(self):
        tasks = graph(a=(2.0, "unheard"))
        self.assertEqual(driver.longest_path(tasks), 2.0)
        self.assertEqual(driver.simulate(tasks, 2, waves=True), 2.0)

    def test_a_barrier_costs_what_it_makes_wait(self):
        self.assertEqual(driver.simulate(CROSSED, 2, waves=False), 6.0)
        self.assertEqual(driver.simulate(CROSSED, 2, waves=True), 10.0)

    def test_on_one_cpu_no_order_is_better(self):
        for waves in (False, True):
            self.assertEqual(driver.simulate(CROSSED, 1, waves), 12.0)

    def test_the_longest_path_goes_first(self):
        tasks = graph(short=(1.0,), other=(1.0,), long=(1.0,), last=(4.0, "long"))
        self.assertEqual(driver.simulate(tasks, 1, waves=False), 7.0)
        self.assertEqual(driver.simulate(tasks, 2, waves=False), 5.0)

    def test_events_are_read(self):
        lines = [{"event": "begin"}, {"event": "passed", "task": "n", "after": []},
                 {"event": "started", "task": "a", "after": ["n"]},
                 {"event": "progress", "task": "a"},
                 {"event": "done", "task": "a", "took": 1.5}, {"event": "end"}]
        with tempfile.NamedTemporaryFile("w") as log:
            log.write("\n".join(map(json.dumps, lines)))
            log.flush()
            self.assertEqual(driver.read_events(log.name),
                             {"n": {"after": [], "took": 0.0, "cpu": 0.0},
                              "a": {"after": ["n"], "took": 1.5, "cpu": 0.0}})


class Failures(unittest.TestCase):
    def test_a_program_that_fails_is_a_failure(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(driver.main(["--smoke", "--bitzel", "/bin/false"]), 1)
        self.assertIn("failed: ", said.getvalue())


if __name__ == "__main__":
    unittest.main()
