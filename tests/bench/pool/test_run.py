#!/usr/bin/env python3
"""The driver's judgement, with shell scripts in place of the benchmark programs."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run as driver  # noqa: E402

GOOD = {"workload": "dag", "items": 10, "ns": 1000, "cpu_ns": 1500, "check": 7, "ok": True}


class DriverTest(unittest.TestCase):
    def setUp(self):
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def program(self, peer, *records, code=0):
        lines = "\n".join(json.dumps({"peer": peer, **record}) for record in records)
        path = self.dir / f"bench_{peer}"
        path.write_text(f"#!/bin/sh\ncat <<'END'\n{lines}\nEND\nexit {code}\n")
        path.chmod(0o755)

    def drive(self, *args):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = driver.main(["--bin", str(self.dir), "--only", "dag", "--rounds", "1",
                                *args])
        return code, out.getvalue(), err.getvalue()

    def test_the_fastest_repetition_counts(self):
        self.program("queue", GOOD, {**GOOD, "ns": 500}, {**GOOD, "ns": 2000})
        code, out, _ = self.drive("--json", "-")
        self.assertEqual(code, 0)
        row = next(r for r in json.loads(out)["summary"] if r["row"] == "dag")
        self.assertEqual((row["best"], row["median"]), (50, 100))

    def test_a_slow_bitzel_is_no_failure(self):
        self.program("bitzel", {**GOOD, "ns": 4000})
        self.program("queue", GOOD)
        code, out, _ = self.drive()
        self.assertEqual(code, 0)
        ratios = out[out.index("bitzel / peer"):]
        self.assertRegex(ratios, r"dag +ns/node +4\.00")

    def test_failures_are_told_and_decide_the_exit_code(self):
        cases = [
            ("a failed check", [{**GOOD, "ok": False}], 0, "its check failed"),
            ("no word about a check", [{"items": 1, "ns": 1}], 0, "its check failed"),
            ("an exit code", [GOOD], 3, "exit code 3"),
            ("no output", [], 0, "unreadable output|no output"),
        ]
        for name, records, code, message in cases:
            with self.subTest(name):
                self.program("queue", *records, code=code)
                self.program("glib", GOOD)
                status, out, err = self.drive()
                self.assertEqual(status, 1)
                self.assertRegex(err, f"FAILED queue dag: ({message})")
                self.assertIn("glib", out)

    def test_peers_that_disagree_are_a_failure(self):
        for change in ({"check": 8}, {"items": 11}):
            with self.subTest(change):
                self.program("queue", GOOD)
                self.program("glib", {**GOOD, **change})
                code, _, err = self.drive()
                self.assertEqual(code, 1)
                self.assertIn("the peers disagree", err)

    def test_a_peer_left_out_is_named_with_the_reason(self):
        self.program("queue", GOOD)
        (self.dir / "peers.json").write_text('{"missing": {"rayon": "no cargo"}}')
        code, out, _ = self.drive()
        self.assertEqual(code, 0)
        self.assertIn("rayon: left out, no cargo", out)

    def test_a_peer_that_was_configured_but_is_not_there_is_a_failure(self):
        self.program("queue", GOOD)
        (self.dir / "peers.json").write_text('{"built": {"tbb": "1"}}')
        code, _, err = self.drive()
        self.assertEqual(code, 1)
        self.assertIn("FAILED tbb: configured", err)

    def test_a_skipped_workload_leaves_its_cell_empty(self):
        self.program("queue", {"skipped": True})
        self.program("glib", GOOD)
        code, out, _ = self.drive()
        self.assertEqual(code, 0)
        self.assertRegex(out, r"dag +ns/node +100\.0 +-")

    def test_quiet_runs_win_over_faster_ones_with_company(self):
        def a_run(others, ns):
            return {"others": others, "reps": [{**GOOD, "ns": ns}]}

        runs = {("queue", "dag"): [a_run(0.5, 100), a_run(0.02, 900), a_run(0.01, 800)]}
        entry = driver.summarise(runs)["queue", 2]
        self.assertEqual((entry["best"], entry["quiet"], entry["runs"]), (80, 2, 3))
        del runs["queue", "dag"][1:]
        entry = driver.summarise(runs)["queue", 2]
        self.assertEqual((entry["best"], entry["quiet"]), (10, 0))

    def test_a_number_without_a_quiet_run_is_marked_and_so_is_its_ratio(self):
        def summary(others):
            runs = {(peer, "dag"): [{"others": share, "reps": [GOOD]}]
                    for peer, share in (("bitzel", 0.0), ("queue", others))}
            return driver.tables(driver.summarise(runs), ["bitzel", "queue"])

        noisy, quiet = summary(0.5), summary(0.0)
        self.assertRegex(noisy, r"ns/node +100\.0 +100\.0\*")
        self.assertRegex(noisy, r"ns/node +1\.00\*")
        self.assertIn("not to be quoted", noisy)
        self.assertNotIn("*", quiet)

    def test_nothing_to_run_is_wrong_usage(self):
        self.assertEqual(self.drive()[0], 2)


if __name__ == "__main__":
    unittest.main()
