"""The doctor: looks at this machine and at the ones the test makes of it."""

import ctypes
import errno
import os
import resource
import socket
import struct

import bitzel
import reapi

STATES = ("ok", "warn", "fail")
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2
SECCOMP = 317  # the system call, on x86-64


def refuse_seccomp():
    """From now on this process may not call seccomp(2), as in some containers."""
    steps = [(0x20, 0, 0, 0),  # the number of the call
             (0x15, 0, 1, SECCOMP),
             (0x06, 0, 0, 0x50000 | errno.EPERM),
             (0x06, 0, 0, 0x7FFF0000)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    text = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HP", len(steps), ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER, program):
        raise OSError(ctypes.get_errno(), "prctl")


class Doctor(bitzel.Case):
    def examine(self, **how):
        """{name: row} of doctor --json, with what holds for every such report checked."""
        result = self.run_bitzel("doctor", "--json", **how)
        report = result.json
        self.assertEqual(sorted(report), ["checks", "fail", "ok", "warn"])
        for row in report["checks"]:
            self.assertEqual(list(row), ["name", "status", "found", "fix"])
            self.assertIn(row["status"], STATES)
            self.assertTrue(row["found"])
            self.assertEqual(row["fix"] is None, row["status"] == "ok", row)
        for state in STATES:
            rows = [row for row in report["checks"] if row["status"] == state]
            self.assertEqual(report[state], len(rows))
        self.assert_exit(result, 4 if report["fail"] else 0)
        return {row["name"]: row for row in report["checks"]}

    def test_every_check_is_made(self):
        self.assertEqual(list(self.examine()), [
            "cpus", "memory", "open files", "inotify", "disk space", "inodes", "build directory",
            "temporary files", "store", "shared caches", "clock", "pidfd", "membarrier",
            "user namespaces", "overlayfs", "overlay mounts", "devices", "sandbox", "landlock", "seccomp", "jobserver",
            "tools", "locale", "terminal"])

    def test_the_text_shows_the_same_rows(self):
        text = self.run_bitzel("doctor", env={"COLUMNS": "100"})
        shown = [line[:22].split(maxsplit=1) for line in text.out.splitlines()
                 if not line.startswith(" ")]
        self.assertEqual([[row["status"], name] for name, row in self.examine().items()],
                         [[status, name.strip()] for status, name in shown])

    def test_it_counts_the_cpus_this_process_may_use(self):
        cpu = min(os.sched_getaffinity(0))
        rows = self.examine(preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        self.assertEqual(rows["cpus"]["status"], "warn")
        self.assertIn("1 usable", rows["cpus"]["found"])

    def test_a_low_limit_of_open_files_is_a_warning_with_its_fix(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        lower = (64, hard)
        rows = self.examine(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, lower))
        self.assertEqual(rows["open files"]["status"], "warn")
        self.assertIn("ulimit -n", rows["open files"]["fix"])

    def test_the_cache_is_in_the_users_cache_directory(self):
        self.assertIn(f"{self.dir}/.cache/bitzel", self.examine()["disk space"]["found"])
        elsewhere = str(self.dir / "elsewhere")
        rows = self.examine(env={"XDG_CACHE_HOME": elsewhere})
        self.assertIn(f"{elsewhere}/bitzel", rows["disk space"]["found"])
        rows = self.examine(env={"XDG_CACHE_HOME": "relative"})  # does not count
        self.assertIn(f"{self.dir}/.cache/bitzel", rows["disk space"]["found"])

    def test_nothing_is_created(self):
        self.examine()
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_a_cache_that_cannot_be_is_a_failure(self):
        (self.dir / "file").write_text("")
        rows = self.examine(env={"XDG_CACHE_HOME": str(self.dir / "file")})
        self.assertEqual(rows["disk space"]["status"], "fail")
        self.assertIn("is not a directory", rows["disk space"]["found"])
        self.assert_exit(self.run_bitzel("doctor", env={"XDG_CACHE_HOME": "/proc"}), 4)

    def test_the_fix_names_what_decides_where_the_cache_is(self):
        (self.dir / "file").write_text("")
        there = str(self.dir / "file/store")
        conf = self.dir / ".config/bitzel/bitzel.conf"
        conf.parent.mkdir(parents=True)
        for says, words, env in (("XDG_CACHE_HOME", [], {"XDG_CACHE_HOME": str(self.dir / "file")}),
                                 ("BITZEL_CACHE_DIR", [], {"BITZEL_CACHE_DIR": there}),
                                 ("cache.dir", ["--set", f"cache.dir={there}"], {}),
                                 (f"cache.dir in {conf}", [], {})):
            with self.subTest(says=says):
                conf.write_text(f"[cache]\ndir = {there}\n" if "conf" in says else "")
                result = self.run_bitzel(*words, "doctor", "--json", env=env)
                rows = {row["name"]: row for row in result.json["checks"]}
                self.assertEqual(rows["disk space"]["fix"], f"remove it, or set {says} to a directory")

    def test_a_container_without_seccomp_is_a_failure(self):
        rows = self.examine(preexec_fn=refuse_seccomp)
        self.assertEqual(rows["seccomp"]["status"], "fail")
        self.assertRegex(rows["seccomp"]["found"], "no task can run$")
        self.assertIn("container", rows["seccomp"]["fix"])

    def test_a_damaged_blob_is_found(self):
        store = reapi.Store(self.dir / ".cache/bitzel")
        reapi.fill(store)
        self.assertRegex(self.examine()["store"]["found"], r"^\d+ blobs looked at are right$")
        blob = min((self.dir / ".cache/bitzel/cas").glob("??/*"))
        blob.chmod(0o644)
        blob.write_bytes(b"not what it was")
        row = self.examine()["store"]
        self.assertEqual((row["status"], row["fix"]), ("warn", "run 'bitzel cache verify --repair'"))
        self.assertTrue(blob.exists())  # looking changes nothing

    def test_shared_caches_are_asked(self):
        (self.dir / "shared").mkdir()
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            gone = f"http://127.0.0.1:{closed.getsockname()[1]}/cache"
            conf = self.dir / ".config/bitzel/bitzel.conf"
            conf.parent.mkdir(parents=True)
            for tiers, status in ((["dir:~/shared"], "ok"), (["dir:~/shared", gone], "warn")):
                conf.write_text("[cache]\n" + "".join(f"tiers = {tier}\n" for tier in tiers))
                for _ in range(20):  # on a busy machine even a directory may be slow to answer
                    result = self.run_bitzel("doctor", "--json")
                    row = {row["name"]: row for row in result.json["checks"]}["shared caches"]
                    if row["found"].startswith("1 of "):
                        break
                self.assertEqual(row["status"], status, row)
                self.assertEqual(result.err, "")
        self.assertIn(f"1 of 2 answer: {gone}: ", row["found"])

    def test_a_terminal_is_told_of(self):
        for term, want in (("xterm", "ok    terminal         xterm, 80 columns, 24 lines"),
                           ("dumb", "warn  terminal         TERM is dumb")):
            result = self.run_in_terminal("doctor", "--color=never", env={"TERM": term})
            self.assertIn(want, result.out)

    def test_quiet_shows_problems_only(self):
        (self.dir / "file").write_text("")
        env = {"XDG_CACHE_HOME": str(self.dir / "file")}
        text = self.run_bitzel("doctor", "-q", env=env).out
        self.assertIn("fail  disk space", text)
        self.assertIn("fix: ", text)
        self.assertNotIn("ok ", text)

    def test_control_characters_in_a_path_do_not_reach_the_terminal(self):
        env = {"XDG_CACHE_HOME": f"{self.dir}/\x1b[31m"}
        self.assertNotIn("\x1b", self.run_bitzel("doctor", env=env).out)
        self.assertIn("\x1b", self.examine(env=env)["disk space"]["found"])


if __name__ == "__main__":
    bitzel.main()
