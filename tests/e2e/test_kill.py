"""bitzel build that is killed: the next one completes, with what an undisturbed one makes.

BITZEL_KILLS says how often to kill; by default a few times.
"""

import fcntl
import http.server
import os
import pathlib
import random
import signal
import subprocess
import threading
import time
import unittest

import bitzel
import test_build
from test_build import Kitchen

KILLS = int(os.environ.get("BITZEL_KILLS", "8"))

CLASS = '''\
addtask compile
addtask install after do_compile
addtask populate_sysroot after do_install
addtask build after do_populate_sysroot
do_build[noexec] = "1"
do_compile[deptask] = "do_populate_sysroot"
do_compile[dirs] = "${B}"
do_install[cleandirs] = "${D}"
do_install[dirs] = "${B}"
do_compile() {
    echo "${PN} with ${SALT}" > made
    sh -c 'sleep 0.03; :' @MARK@
    for d in ${DEPENDS}; do cat ${SYSROOTS}/$d/made >> made; done
    seq 2000 > many
}
do_install() {
    cp made ${D}/made
    mkdir ${D}/parts
    for i in 1 2 3 4 5 6 7 8; do echo "${SALT} $i" > ${D}/parts/$i; done
    rm many
}
do_populate_sysroot() {
    mkdir -p ${SYSROOTS}
    cp -a ${D} ${SYSROOTS}/${PN}
}
do_build() {
    :
}
'''


def made(name, salt):
    """What a recipe installs, by what it says."""
    needs = {"pizza": ["dough", "sauce"], "menu": ["pizza", "dough"]}.get(name, [])
    return f"{name} with {salt}\n" + "".join(made(need, salt) for need in needs)


class Kill(Kitchen):
    def setUp(self):
        super().setUp()
        self.store = self.dir / ".cache/bitzel"
        self.mark = f"killed-{os.getpid()}-{time.monotonic_ns()}"
        self.write("meta-kitchen/classes/base.bbclass", CLASS.replace("@MARK@", self.mark))
        self.write("meta-kitchen/recipes/pizza.bb", 'DEPENDS = "dough sauce"\n')
        self.write("meta-kitchen/recipes/menu.bb", 'DEPENDS = "pizza dough"\n')

    def salt(self, value):
        self.write("build/conf/local.conf", f'SALT = "{value}"\n')

    def start(self):
        return subprocess.Popen(
            [bitzel.PROGRAM, "--directory", self.dir / "build", "build", "-j2", "menu"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=self.environment(), cwd=self.dir)

    def alive(self):
        """Processes of tasks, by a word of their commands."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if self.mark.encode() in path.read_bytes():
                    found.append(path.parent.name)
            except OSError:
                continue
        return found

    def check(self, salt):
        image = self.out("menu") / "image"
        self.assertEqual((image / "made").read_text(), made("menu", salt))
        self.assertEqual([(image / f"parts/{i}").read_text() for i in range(1, 9)],
                         [f"{salt} {i}\n" for i in range(1, 9)])
        self.assertEqual(sorted(os.listdir(image)), ["made", "parts"])
        self.assertEqual(os.listdir(self.store / "work"), [])
        self.assertEqual([n for n in os.listdir(self.store / "trees") if n.startswith(".")], [])

    def trees(self):
        """The names of all that was stored: they say what is in it."""
        return {path.name for path in self.store.glob("cas/*/*")}

    def test_killed_at_any_moment_the_next_build_is_right(self):
        seed = random.randrange(10**6)
        draw = random.Random(seed)
        self.salt("warm")
        self.build("menu")
        began = time.monotonic()
        self.salt("first")
        self.build("menu")
        length = time.monotonic() - began
        for i in range(KILLS):
            with self.subTest(seed=seed, kill=i):
                self.salt(i)
                child = self.start()
                time.sleep(draw.uniform(0, length))
                child.kill()
                child.wait(20)
                deadline = time.monotonic() + 20
                while self.alive():
                    self.assertLess(time.monotonic(), deadline, "tasks outlive the build")
                    time.sleep(0.01)
                self.build("--no-cache", "menu") if i % 8 == 7 else self.build("menu")
                self.check(i)
        killed = self.trees()
        result = self.run_bitzel("cache", "verify")
        self.assert_exit(result, 0)
        # The same without being disturbed gives the same blobs, but for what results were
        # made from: that is kept of all tasks of a recipe that ran in one build.
        again = self.dir / "again"
        self.build("menu", env={"HOME": str(again)})
        fresh = {path.name for path in (again / ".cache/bitzel").glob("cas/*/*")
                 if not path.read_bytes().startswith(b'{"format":"bitzel record"')}
        self.assertGreater(len(fresh), 20)
        self.assertEqual(fresh - killed, set())

    def test_killed_again_and_again_it_gets_to_the_end(self):
        """With what was done before each kill."""
        self.salt("warm")
        self.build("menu")
        self.salt("x")
        for _ in range(40):
            child = self.start()
            try:
                if child.wait(0.25) == 0:
                    break
                self.fail(f"exit {child.returncode}")
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.wait(20)
        else:
            self.build("menu")  # a machine too busy for any task in that time
        self.build("--no-cache", "dough")  # one that runs something sweeps
        self.check("x")


del Kitchen  # has no tests of its own

class Interrupt(test_build.Kitchen):
    """Signals that come when no task runs."""

    def interrupt(self, ready, **env):
        """Builds the pizza and interrupts it when ready() says so: (exit, seconds, text)."""
        child = subprocess.Popen([bitzel.PROGRAM, "--directory", self.dir / "build", "build", "pizza"],
                                 cwd=self.dir, env=self.environment(**env), stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        self.addCleanup(child.stdout.close)
        deadline = time.monotonic() + bitzel.TIMEOUT
        while not ready():
            self.assertIsNone(child.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        began = time.monotonic()
        text = child.communicate(timeout=bitzel.TIMEOUT)[0].decode()
        return child.returncode, time.monotonic() - began, text

    def test_a_download_that_another_process_is_at_is_not_waited_for(self):
        lock = self.dir / "build/downloads/basil.tar.lock"
        lock.parent.mkdir()
        self.write("meta-kitchen/recipes/dough.bb", f'''\
SRC_URI = "http://127.0.0.1:1/basil.tar"
SRC_URI[sha256sum] = "{64 * "0"}"
DL_DIR = "${{TOPDIR}}/downloads"
python do_fetch() {{
    pass
}}
addtask fetch before do_compile
''')
        with lock.open("w") as held:
            fcntl.lockf(held, fcntl.LOCK_EX)
            log = self.dir / "build/tmp/work/dough/temp/log.do_fetch"
            code, seconds, text = self.interrupt(
                lambda: log.exists() and f"waiting for another process that has {lock}" in log.read_text())
        self.assertEqual(code, 128 + signal.SIGINT, text)
        self.assertLess(seconds, 4)

    def test_results_of_a_slow_cache_are_not_waited_for(self):
        self.build("pizza")
        store, asked = self.dir / ".cache/bitzel", []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                kind, name = self.path.split("/")[-2:]
                path = store / kind / name[:2] / name
                if not path.exists():
                    self.send_error(404)
                    return
                data = path.read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if kind == "cas":
                    asked.append(name)
                    time.sleep(20)
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        code, seconds, text = self.interrupt(
            lambda: asked, BITZEL_CACHE_DIR=str(self.dir / "other"),
            BITZEL_CACHE_TIERS=f"http://127.0.0.1:{server.server_port}/")
        self.assertEqual(code, 128 + signal.SIGINT, text)
        self.assertLess(seconds, 4)


if __name__ == "__main__":
    unittest.main()
