"""Where there is no terminal a build that is silent for long says what it does."""

import http.server
import subprocess
import threading
import time

import bitzel
import test_build
import test_console


class Lame(http.server.BaseHTTPRequestHandler):
    """Has nothing, and takes its time to say so."""

    def do_GET(self):
        time.sleep(0.2)
        self.send_error(404)

    do_HEAD = do_POST = do_PUT = do_GET

    def log_message(self, *args):
        pass


class Heartbeat(test_build.Kitchen):
    def start(self, *args, **env):
        command = [bitzel.PROGRAM, "--directory", str(self.dir / "build"), "build", "-j", "4", *args, "dough", "sauce"]
        build = subprocess.Popen(command, env=self.environment(**env), cwd=self.dir, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for end in (build.wait, build.kill, build.stdout.close, build.stderr.close):
            self.addCleanup(end)
        return build

    def wait_at_gates(self):
        for name in ("dough", "sauce"):
            self.write(f"meta-kitchen/recipes/{name}.bb", test_console.WAIT)

    def let_go(self):
        for name in ("dough", "sauce"):
            self.gate(name).chmod(0o755)

    def gate(self, name):
        return self.dir / f"build/tmp/work/{name}/temp/log.do_compile"

    def test_what_still_runs_is_told_while_nothing_ends(self):
        self.wait_at_gates()
        build = self.start(BITZEL_HEARTBEAT="1s")
        lines = []
        while len(lines) < 2:
            line = build.stderr.readline()
            self.assertTrue(line)
            if "looking" not in line:  # of a machine with much to do
                lines.append(line)
        self.let_go()
        out, rest = build.communicate()
        self.assertEqual(build.returncode, 0)
        for line in lines:
            self.assertRegex(line, r"^Still running after \d+s, 0 of 8: (dough|sauce):do_compile \(\d+s\), "
                                   r"(dough|sauce):do_compile \(\d+s\)\n$")
        self.assertNotIn("\033", "".join(lines) + rest)
        self.assertIn("Build completed", out)

    def test_nothing_is_told_of_silence_if_that_is_unwanted(self):
        self.wait_at_gates()
        for args, env in (((), {"BITZEL_HEARTBEAT": "0"}), (("--brief",), {"BITZEL_HEARTBEAT": "300ms"}),
                          (("-q",), {"BITZEL_HEARTBEAT": "300ms"})):
            build = self.start("--no-cache", *args, **env)
            time.sleep(1)
            self.let_go()
            self.assertNotIn("Still", build.communicate()[1])
            self.assertEqual(build.returncode, 0)
            for name in ("dough", "sauce"):
                self.gate(name).unlink()

    def test_a_cache_that_is_slow_to_answer_is_told_of(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lame)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        for end in (thread.join, server.server_close, server.shutdown):
            self.addCleanup(end)
        build = self.start("--set", "heartbeat=500ms", "--set",
                           f"cache.tiers=http://127.0.0.1:{server.server_port} ro")
        _, text = build.communicate()
        self.assertEqual(build.returncode, 0, text)
        self.assertRegex(text, r"^Still looking for stored results after \ds, 0 of \d+\n")


if __name__ == "__main__":
    bitzel.main()
