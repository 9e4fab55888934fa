"""What people see while a build runs: on a terminal, and elsewhere."""

import hashlib
import http.server
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import threading
import time

import bitzel
import screen
import test_build
import test_sources

# Tasks that wait until the test lets them go on. No file that a task sees can change while it
# runs without its result being refused, but for its log, which is its standard output.
WAIT = '''\
do_compile() {
    echo "${PN} begins"
    while ! test -x /proc/$$/fd/1; do sleep 0.02; done
    echo "${PN} with ${SALT}" > made
}
'''
GO = WAIT.replace("while ! test -x /proc/$$/fd/1; do sleep 0.02; done", ":")
NUMBERS = r"^\[ *[0-9]+%\] [0-9]+ executed, [0-9]+ cached"


class Console(test_build.Kitchen):
    def setUp(self):
        super().setUp()
        if subprocess.run(["unshare", "-Ur", "true"], stderr=subprocess.DEVNULL, check=False).returncode \
                and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest("user namespaces do not work here")
        for name in ("dough", "sauce"):
            self.write(f"meta-kitchen/recipes/{name}.bb", WAIT)

    def gate(self, name):
        return self.dir / f"build/tmp/work/{name}/temp/log.do_compile"

    def let_go(self, *names):
        """Of tasks that run."""
        for name in names:
            self.gate(name).chmod(0o755)

    def never_wait(self, *names):
        for name in names:
            self.write(f"meta-kitchen/recipes/{name}.bb", GO)

    def start(self, *args, columns=80, rows=24, env=None, **how):
        command = [bitzel.PROGRAM, "--directory", str(self.dir / "build"), "build", "-j", "4", *args]
        env = self.environment(**{"TERM": "xterm", **(env or {})})
        session = screen.Session(command, columns, rows, env=env, cwd=self.dir, **how)
        self.addCleanup(session.close)
        return session

    def assert_restored(self, session):
        self.assertTrue(session.screen.cursor)
        self.assertTrue(session.screen.wraps)
        self.assertEqual(session.modes(), session.before)

    def test_tasks_that_run_are_shown_below_those_that_have_ended(self):
        for columns in (40, 80, 200):
            with self.subTest(columns=columns):
                session = self.start("dough", "sauce:do_compile", "--no-cache", columns=columns)
                session.shows(r"^ +\d+s dough:do_compile$")
                session.shows(r"^ +\d+s sauce:do_compile$")
                session.shows(NUMBERS)
                self.assertFalse(session.screen.cursor)
                self.let_go("dough")
                session.shows(r"^Executed dough:do_populate_sysroot")
                session.shows(r"\] 3 executed, 0 cached")
                shown = session.screen.shown()
                self.assertRegex(shown[-1], NUMBERS)
                self.assertRegex(shown[-2], "sauce:do_compile")
                self.assertLess(max(map(len, shown[-2:])), columns)
                self.let_go("sauce")
                self.assertEqual(session.end(), 0)
                shown = [line for line in session.screen.all() if line]
                self.assertRegex("".join(shown[-2:]), "Build completed in .*4 tasks executed")
                self.assertEqual(sum(line.startswith("Executed ") for line in shown), 4)
                self.assertFalse([line for line in shown if line.startswith("[")])
                self.assert_restored(session)
                for name in ("dough", "sauce"):
                    self.gate(name).unlink()

    def test_a_terminal_that_changes_its_size_is_drawn_on_anew(self):
        session = self.start("dough", "sauce", columns=100)
        session.shows(r"memory \d+%(, stalls \d+%)?, \? help$")
        session.resize(40, 10)
        session.until(lambda s: re.search(NUMBERS, s.shown()[-1]) and len(s.shown()[-1]) < 40
                      and "help" not in s.shown()[-1])
        session.resize(120, 30)
        session.shows(r"memory \d+%(, stalls \d+%)?, \? help$")
        self.let_go("dough", "sauce")
        self.assertEqual(session.end(), 0)
        self.assert_restored(session)

    def test_nothing_is_left_of_what_a_narrower_terminal_broke_into_more_lines(self):
        for reflow in (True, False):
            with self.subTest(reflow=reflow):
                session = self.start("dough", "sauce", "--no-cache", columns=100, rows=12, reflow=reflow)
                session.shows("sauce:do_compile")
                session.shows(r"\? help$")
                for columns in (40, 25, 100, 20, 60):
                    session.resize(columns, 12)
                    time.sleep(0.3)
                    session.shows(r"^\[ *\d+%\]")
                    session.until(lambda s: len([line for line in s.all() if line]) == 3)
                self.let_go("dough", "sauce")
                self.assertEqual(session.end(), 0)
                lines = "\n".join(session.screen.all())
                self.assertNotIn("%]", lines)
                self.assertEqual(lines.count("do_compile"), 2, lines)
                for name in ("dough", "sauce"):
                    self.gate(name).unlink()

    def test_tmux_shows_and_remembers_each_line_once(self):
        if not shutil.which("tmux") and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest("tmux is not installed")
        # On a screen that is empty, and below other lines, which go to where no frame is if it narrows.
        for before, sizes in (("true", ()), ("seq 6", (40, 100, 30))):
            with self.subTest(before=before):
                self.run_in_tmux(before, sizes)
                for name in ("dough", "sauce"):
                    self.gate(name).unlink()

    def run_in_tmux(self, before, sizes):
        tmux = ["tmux", "-u", "-f", "/dev/null", "-S", str(self.dir / f"tmux{len(sizes)}")]
        env = self.environment(TERM="xterm", LC_ALL="C.UTF-8")

        def ask(*args):
            return subprocess.run([*tmux, *args], env=env, check=True, capture_output=True, text=True).stdout

        def until(condition):
            end = time.monotonic() + 30
            while not condition(ask("capture-pane", "-p", "-S", "-")):
                self.assertLess(time.monotonic(), end, ask("capture-pane", "-p", "-S", "-"))
                time.sleep(0.05)

        ask("new-session", "-d", "-x", "100", "-y", "12",
            f"{before}; {bitzel.PROGRAM} --directory {self.dir}/build build --no-cache -j 4 dough sauce; "
            "echo ended; sleep 60")
        try:
            until(lambda text: "sauce:do_compile" in text and "? help" in text)
            for columns in sizes:
                ask("resize-window", "-x", str(columns), "-y", "12")
                time.sleep(0.3)
                until(lambda text: text.count("do_compile") == 2 and text.count("%]") == 1)
            self.let_go("dough", "sauce")
            until(lambda text: "ended" in text)
            text = ask("capture-pane", "-p", "-J", "-S", "-")
        finally:
            ask("kill-server")
        self.assertNotIn("%]", text)
        self.assertEqual(text.count("do_compile"), 2, text)
        self.assertEqual(text.count("Executed "), 6, text)

    def test_an_interrupt_and_a_termination_leave_the_terminal_as_it_was(self):
        for stop in ("key", signal.SIGTERM):
            with self.subTest(stop=stop):
                session = self.start("dough", "sauce")
                session.shows(NUMBERS)
                session.shows("dough:do_compile")
                for _ in range(2):  # to stop, and not to wait for the tasks
                    if stop == "key":
                        session.type("\x03")
                    else:
                        session.child.send_signal(stop)
                    session.until(lambda s: "Stopping the tasks that run; once more to kill them" in s.all())
                self.assertEqual(session.end(), 128 + (signal.SIGINT if stop == "key" else stop))
                self.assert_restored(session)

    def test_a_crash_and_suspending_leave_the_terminal_as_it_was(self):
        session = self.start("dough", "sauce")
        session.shows("dough:do_compile")
        session.type("\x1a")
        session.until(lambda s: s.cursor)
        for _ in range(500):
            if self.state(session) == "T":
                break
            time.sleep(0.01)
        self.assertEqual(self.state(session), "T")
        self.assert_restored(session)
        session.child.send_signal(signal.SIGCONT)
        session.until(lambda s: not s.cursor)
        session.shows(NUMBERS)
        self.assertNotEqual(session.modes(), session.before)
        session.child.send_signal(signal.SIGABRT)
        session.end()
        self.assert_restored(session)

    def test_whatever_signal_ends_it_the_terminal_is_as_it_was(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_CORE, (soft, hard))
        for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGUSR1, signal.SIGALRM, signal.SIGXCPU):
            with self.subTest(signal=number):
                session = self.start("dough", "sauce")
                session.until(lambda s: not s.cursor)
                session.child.send_signal(number)
                self.assertNotEqual(session.end(), 0)  # a sanitizer may exit instead
                self.assert_restored(session)

    def test_a_build_goes_on_if_somebody_else_sets_the_terminal_back(self):
        session = self.start("dough", "sauce")
        session.shows("dough:do_compile")
        session.set_modes(session.before)
        session.type("l")  # half a line
        time.sleep(0.3)
        self.let_go("dough", "sauce")
        self.assertEqual(session.end(), 0)
        self.assert_restored(session)

    def test_tasks_go_on_while_the_output_is_stopped_and_all_is_told_then(self):
        session = self.start("dough", "sauce", "--events", str(self.dir / "events"))
        session.shows("sauce:do_compile")
        session.type("\x13")
        time.sleep(0.3)
        session.read(0)
        before = session.text
        self.let_go("dough", "sauce")
        end = time.monotonic() + 30
        while (self.dir / "events").read_text().count('"event":"done"') < 6:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        session.read(0)
        self.assertEqual(session.text, before)
        session.type("\x11")
        self.assertEqual(session.end(), 0)
        lines = session.screen.all()
        self.assertEqual(sum(line.startswith("Executed ") for line in lines), 6, lines)
        self.assertFalse([line for line in lines if line.startswith("[")])
        self.assert_restored(session)

    @staticmethod
    def state(session):
        with open(f"/proc/{session.child.pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def test_keys_show_help_a_log_and_hold_tasks(self):
        session = self.start("dough", "sauce")
        session.shows("dough:do_compile")
        session.type("?")
        session.shows("the log of a task")
        session.type("q")
        session.until(lambda s: not any("the log of a task" in line for line in s.shown()))
        session.type("l")
        session.shows(r"^log of (dough|sauce):do_compile  \(l: next, q: back\)$")
        session.shows(r"^\| (dough|sauce) begins$")
        first = next(line for line in session.screen.shown() if line.startswith("log of"))
        session.type("l")
        session.until(lambda s: any(line.startswith("log of") and line != first for line in s.shown()))
        session.type("qp")
        session.shows("held: p goes on")
        self.let_go("dough", "sauce")
        session.shows("^Executed dough:do_compile")
        session.shows("^Executed sauce:do_compile")
        time.sleep(0.3)
        session.read(0)
        self.assertNotIn("do_install", "\n".join(session.screen.all()))
        session.type("p")
        self.assertEqual(session.end(), 0)
        self.assert_restored(session)

    def test_a_screen_of_few_lines_shows_numbers_at_least(self):
        for rows in (1, 2, 3):
            with self.subTest(rows=rows):
                session = self.start("dough", "sauce", "--no-cache", rows=rows)
                session.shows(NUMBERS)
                for key in "?ql+-":
                    session.type(key)
                    session.read(0.2)
                session.shows(NUMBERS)
                self.let_go("dough", "sauce")
                self.assertEqual(session.end(), 0)
                self.assertEqual(sum(line.startswith("Executed ") for line in session.screen.all()), 6)
                for name in ("dough", "sauce"):
                    self.gate(name).unlink()

    def test_fewer_lines_are_shown_if_asked_for(self):
        session = self.start("dough", "sauce")
        session.shows("dough:do_compile")
        session.shows("sauce:do_compile")
        session.type("-" * 20)
        session.shows("and 2 more")
        session.type("+")
        session.until(lambda s: not any("more" in line for line in s.shown()))
        self.let_go("dough", "sauce")
        self.assertEqual(session.end(), 0)

    def test_names_that_are_wide_or_no_text_take_their_room(self):
        name = "麵糰" * 20
        self.write(f"meta-kitchen/recipes/{name}.bb", WAIT)
        for locale, pattern in (("C.UTF-8", "^ +[0-9]+s 麵糰.*…:do_compile$"),
                                ("C", r"^ +[0-9]+s \?+~:do_compile$")):
            session = self.start(name, "--no-cache", columns=40, env={"LC_ALL": locale})
            session.shows(pattern)
            session.shows(NUMBERS)
            session.type("\x03")
            session.shows("^Stopping")
            session.type("\x03")
            session.end()

    def test_names_that_are_no_utf8_are_shown_with_marks_in_their_place(self):
        name = os.fsdecode(b"k\xe4se\xc2")
        self.write(f"meta-kitchen/recipes/{name}.bb", WAIT)
        for locale in ("C.UTF-8", "C"):
            with self.subTest(locale=locale):
                session = self.start(name, "--no-cache", env={"LC_ALL": locale})
                session.shows(r"^ +[0-9]+s k\?se\?:do_compile$")
                session.type("l")
                session.shows(r"^log of k\?se\?:do_compile  \(l: next, q: back\)$")
                session.shows(r"^\| k\?se\? begins$")
                self.let_go(name)
                self.assertEqual(session.end(), 1)  # paths of results are UTF-8: it cannot be stored
                self.assertRegex("\n".join(session.screen.all()), r"Failed k\?se\?:do_compile \(\w+\): .*k\?se\?")
                self.assertNotIn("\ufffd", session.text)  # what such bytes are read as
                self.gate(name).unlink()

    def test_eight_colours_are_enough(self):
        self.write("meta-kitchen/recipes/burnt.bb", "do_compile() {\n    false\n}\n")
        for term in ("linux", "vt100", "xterm-256color"):
            with self.subTest(term=term):
                session = self.start("-k", "-v", "dough", "burnt", "--no-cache", env={"TERM": term})
                session.shows("^Failed burnt:do_compile")
                session.shows("dough:do_compile")
                session.type("p")
                session.shows("held: p goes on")
                session.type("p")
                self.let_go("dough")
                self.assertEqual(session.end(), 1)
                self.assertLessEqual({"1", "31", "33"}, session.screen.inks)
                self.assertLessEqual(session.screen.inks, {"", "0", "1", "2", *(str(30 + i) for i in range(8))})
                self.gate("dough").unlink()

    def test_colours_are_used_unless_they_are_unwanted(self):
        self.never_wait("dough", "sauce")
        for env, args, want in (({}, (), True), ({"NO_COLOR": "1"}, (), False),
                                ({}, ("--color=never",), False)):
            session = self.start("dough:do_compile", "--no-cache", *args, env=env)
            self.assertEqual(session.end(), 0)
            self.assertEqual(bool(session.screen.inks), want, (env, args))

    def test_ci_and_dumb_terminals_get_lines_only(self):
        self.never_wait("dough", "sauce")
        for env, args in (({"CI": "true"}, ()), ({"TERM": "dumb"}, ()), ({}, ("--console=plain",)),
                          ({}, ("--events", "-")), ({}, ("-q",))):
            session = self.start("dough:do_compile", "--no-cache", "--color=never", *args, env=env)
            self.assertEqual(session.end(), 0)
            self.assertNotIn("\033", session.text, (env, args))

    def test_without_a_terminal_there_are_lines_only(self):
        self.never_wait("dough", "sauce")
        result = self.build("dough")
        self.assertNotIn("\033", result.err)
        self.assertNotIn("\r", result.err)
        self.assertEqual(len(result.err.splitlines()), 4)  # tasks, and where the output is
        forced = self.build("dough", "--no-cache", env={"CLICOLOR_FORCE": "1"})
        self.assertIn("\033[1mExecuted", forced.err)

    def test_starts_are_told_if_asked_for(self):
        self.never_wait("dough", "sauce")
        result = self.build("dough", "-v")
        self.assertEqual(len(test_build.tasks(result, "Started")), 3)

    def test_frames_are_few_and_none_if_nothing_changes(self):
        session = self.start("dough", "sauce")
        session.shows("dough:do_compile")
        before, since = session.screen.frames, time.monotonic()
        while time.monotonic() < since + 1.2:
            session.read(0.05)
        self.assertLessEqual(session.screen.frames - before, 5)  # seconds, memory
        self.let_go("dough", "sauce")
        self.assertEqual(session.end(), 0)

    def test_frames_are_few_however_much_happens(self):
        names = [f"crumb{i}" for i in range(200)]
        for name in names:
            self.write(f"meta-kitchen/recipes/{name}.bb", "do_compile() {\n    :\n}\n")
        since = time.monotonic()
        session = self.start(*(f"{name}:do_compile" for name in names))
        self.assertEqual(session.end(), 0)
        seconds = time.monotonic() - since
        self.assertEqual(sum(line.startswith("Executed ") for line in session.screen.all()), 200)
        self.assertLessEqual(session.screen.frames, 10 * seconds + 3)

    def test_jobs_memory_and_the_time_that_is_left_are_shown(self):
        first = self.start("dough", "sauce", columns=120)
        first.shows("dough:do_compile")
        first.shows("sauce:do_compile")
        first.shows(r"\] 0 executed, 0 cached of \d+, \d+s, jobs 2/4, memory \d+%")  # nothing is known of the time
        time.sleep(1)
        self.let_go("dough", "sauce")
        self.assertEqual(first.end(), 0)
        for name in ("dough", "sauce"):
            self.gate(name).unlink()
        again = self.start("dough", "sauce", "--no-cache", columns=120)
        again.shows(r"\] 0 executed, 0 cached of \d+, [0-9ms]+ left, \d+s, jobs 2/4, memory \d+%")
        self.let_go("dough", "sauce")
        self.assertEqual(again.end(), 0)


class Slow(http.server.BaseHTTPRequestHandler):
    """Sends a half, then byte by byte until it is told to go on."""

    def do_GET(self):
        body = self.server.body
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        at = len(body) // 2
        self.wfile.write(body[:at])
        while not self.server.go.wait(0.05):
            self.wfile.write(body[at:at + 1])
            at += 1
        self.wfile.write(body[at:])

    def log_message(self, *args):
        pass


class Download(test_build.Kitchen):
    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
        self.server.body, self.server.go = b"f" * (4 << 20), threading.Event()
        thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        for end in (thread.join, self.server.server_close, self.server.shutdown, self.server.go.set):
            self.addCleanup(end)
        self.write("meta-kitchen/classes/base.bbclass", test_sources.CLASS)
        self.edit("meta-kitchen/conf/bitbake.conf", "SALT ?=", 'DL_DIR ?= "${TOPDIR}/downloads"\nSALT ?=')
        self.write("meta-kitchen/recipes/soup.bb",
                   f'SRC_URI = "http://127.0.0.1:{self.server.server_port}/flour.bin"\n'
                   f'SRC_URI[sha256sum] = "{hashlib.sha256(self.server.body).hexdigest()}"\n')

    def test_a_download_shows_how_far_and_how_fast_it_is(self):
        for columns, line in ((80, r"^ +\d+s soup:do_fetch  50% of 4\.0 MiB, [0-9.]+ (B|KiB|MiB)/s flour\.bin$"),
                              (60, r"^ +\d+s soup:do_fetch  50% of 4\.0 MiB, [0-9.]+ (B|KiB|MiB)/s")):
            with self.subTest(columns=columns):
                self.server.go.clear()
                command = [bitzel.PROGRAM, "--directory", str(self.dir / "build"), "build", "soup:do_fetch", "--no-cache"]
                session = screen.Session(command, columns, 24, env=self.environment(TERM="xterm"), cwd=self.dir)
                self.addCleanup(session.close)
                session.shows(line)
                self.assertLess(max(map(len, session.screen.shown())), columns)
                self.server.go.set()
                self.assertEqual(session.end(), 0)
                self.assertRegex("".join(session.screen.all()), r"\(1 task executed, 0 from cache\), 4(\.0)? MiB downloaded")
                for left in (self.dir / "build/downloads").iterdir():
                    left.unlink()


class Failure(test_build.Kitchen):
    """What is told of a task that failed."""

    def setUp(self):
        super().setUp()
        self.write("meta-kitchen/files/bad.c", "int main(void)\n{\n    bake();\n}\n")
        self.write("meta-kitchen/recipes/sauce.bb", '''\
do_compile() {
    for i in $(seq 50); do echo "line $i"; done
    echo "${KITCHEN}/files/bad.c:3:5: error: implicit declaration of 'bake'"
    for i in $(seq 50); do echo "another line $i"; done
    echo "make: *** [Makefile:2: all] Error 1"
    exit 2
}
''')

    def failing(self, *args, **how):
        return self.build(*args, code=1, **how).err

    def test_the_first_error_the_last_lines_and_the_log_are_shown(self):
        text = self.failing("sauce")
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^Failed sauce:do_compile \(\w{8}\): exit status 2$")
        self.assertRegex(lines[1], r"^  first error: .*/files/bad.c:3:5: error: implicit declaration of 'bake'$")
        self.assertEqual(lines[2][:4], "  | ")
        self.assertIn("  | make: *** [Makefile:2: all] Error 1", lines)
        self.assertNotIn("  | another line 5", lines)
        self.assertIn(f"  log: {self.dir}/build/tmp/work/sauce/temp/log.do_compile", lines)
        self.assertIn("  to look around: bitzel shell sauce:do_compile", lines)

    def test_nothing_that_drives_a_terminal_comes_from_a_log(self):
        for evil, code in (("\x9b2J", r"\302\2332J"), ("\x1b[2J", r"\033[2J"), ("\u202e", r"\342\200\256")):
            with self.subTest(evil=evil):
                self.write("meta-kitchen/recipes/sauce.bb",
                           f"do_compile() {{\n    printf 'a.c:1:2: error: no {code} ä\\n'\n    exit 2\n}}\n")
                text = self.failing("sauce")
                self.assertRegex(text, r"first error: a.c:1:2: error: no \S* ä")
                self.assertNotIn(evil, text)

    def test_several_are_repeated_at_the_end(self):
        self.write("meta-kitchen/recipes/dough.bb", "do_compile() {\n    exit 7\n}\n")
        lines = self.failing("-k", "sauce", "dough").splitlines()
        at = lines.index("These failed:")
        self.assertRegex("\n".join(sorted(lines[at + 1:at + 3])),
                         r"^  dough:do_compile: ERROR: exit code 7 in .*\n"
                         r"  sauce:do_compile: .*/bad.c:3:5: error: implicit declaration of 'bake'$")

    def test_github_is_told_the_file_as_the_repository_has_it(self):
        text = self.failing("sauce", env={"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.dir)})
        self.assertIn("\n::error file=meta-kitchen/files/bad.c,line=3,col=5,title=sauce%3Ado_compile::/layers/",
                      text)
        self.assertRegex(text, r"(?s)\n::group::the end of its log\n.*\n::endgroup::\n")

    def test_github_is_told_the_line_of_the_recipe_whose_command_failed(self):
        self.write("meta-kitchen/recipes/sauce.bb", "# No oven.\ndo_compile() {\n    false\n}\n")
        env = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.dir)}
        self.assertIn("\n::error file=meta-kitchen/recipes/sauce.bb,line=3,title=sauce%3Ado_compile::"
                      "ERROR: exit code 1 in do_compile, ", self.failing("sauce", env=env))
        env["GITHUB_WORKSPACE"] = str(self.dir / "elsewhere")  # a path that leads out of it says nothing
        self.assertIn(f"\n::error file={self.dir}/meta-kitchen/recipes/sauce.bb,line=3,", self.failing("sauce", env=env))

    def test_gitlab_can_fold_the_log(self):
        text = self.failing("sauce", env={"GITLAB_CI": "true"})
        self.assertRegex(text, r"(?s)\033\[0Ksection_start:\d+:(bitzel_log_\d+)\[collapsed=true\]\r\033\[0K"
                               r".*\033\[0Ksection_end:\d+:\1\r\033\[0K\n")

    def test_gitlab_gets_a_report_of_what_failed_and_where(self):
        report = self.dir / "gl-code-quality-report.json"
        env = {"GITLAB_CI": "true", "CI_PROJECT_DIR": str(self.dir)}
        prints = set()
        for more in ("", "\n"):  # a failure that has moved is the same
            self.write("meta-kitchen/recipes/dough.bb", f"# No oven.{more}\ndo_compile() {{\n    false\n}}\n")
            self.failing("-k", "sauce", "dough", f"--code-quality={report}", env=env)
            found = sorted(json.loads(report.read_text()), key=lambda row: row["description"])
            self.assertEqual([(row["location"], row["severity"]) for row in found], [
                ({"path": "meta-kitchen/recipes/dough.bb", "lines": {"begin": 3 + len(more)}}, "blocker"),
                ({"path": "meta-kitchen/files/bad.c", "lines": {"begin": 3}}, "blocker")])
            self.assertRegex(found[1]["description"], "^sauce:do_compile: .*: error: implicit declaration of 'bake'$")
            for row in found:
                self.assertEqual(set(row), {"description", "check_name", "fingerprint", "severity", "location"})
                prints.add(row["fingerprint"])
        self.assertEqual(len(prints), 2)

    def test_a_report_for_gitlab_is_empty_if_nothing_failed(self):
        report = self.dir / "build/report.json"
        for _ in range(2):  # the second time nothing is to be done
            self.build("dough", "--code-quality=report.json")
            self.assertEqual(json.loads(report.read_text()), [])
            report.unlink()
        result = self.build("dough", f"--code-quality={self.dir}/nowhere/report.json")
        self.assertIn("warning: --code-quality: ", result.err)

    def test_a_task_that_was_killed_may_have_had_too_little_memory(self):
        self.write("meta-kitchen/recipes/sauce.bb", "do_compile() {\n    sh -c 'kill -KILL $$'\n}\n")
        text = self.failing("sauce")
        self.assertIn("exit status 137 (signal 9, Killed)", text)
        self.assertRegex(text, "signal 9 was not sent by bitzel; out of memory\\?|for lack of memory")

    def test_what_the_kernel_killed_for_lack_of_memory_is_told(self):
        """The kernel's count of them is a file of the test, and groups have none; with one over it /proc cannot be
        mounted, so that there is no sandbox either. e2e/starved has the kernel do it."""
        gate = self.dir / "meta-kitchen/files/go"
        self.write("meta-kitchen/recipes/sauce.bb",
                   f"do_compile() {{\n    while ! test -e {gate}; do sleep 0.02; done\n    sh -c 'kill -KILL $$'\n}}\n")
        for more, told in ((1, "the kernel killed 1 process for lack of memory while it ran: try fewer jobs, -j"),
                           (2, "the kernel killed 2 processes for lack of memory"),
                           (0, "signal 9 was not sent by bitzel; out of memory?")):
            with self.subTest(more=more):
                gate.unlink(missing_ok=True)
                self.write("vmstat", "nr_free_pages 1\noom_kill 5\n")
                log = self.dir / "build/tmp/work/sauce/temp/log.do_compile"
                log.unlink(missing_ok=True)
                command = ["unshare", "-Urm", "sh", "-ec", "mount --bind vmstat /proc/vmstat\nmount -t tmpfs none /sys/fs/cgroup\n"
                           'echo 0 > /proc/sys/user/max_user_namespaces\nexec "$@"', "sh",
                           bitzel.PROGRAM, "--directory", str(self.dir / "build"), "build", "sauce"]
                with subprocess.Popen(command, env=self.environment(), cwd=self.dir, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True) as build:
                    while build.poll() is None and not log.exists():
                        time.sleep(0.02)
                    self.write("vmstat", f"nr_free_pages 1\noom_kill {5 + more}\n")
                    self.write("meta-kitchen/files/go", "")
                    text = build.stderr.read()
                if build.returncode == 5 and "BITZEL_MUST_WORK" not in os.environ:
                    self.skipTest(text.strip())
                self.assertIn(told, text)
                self.assertEqual("killed, out of memory" in text, more > 0)

    def test_a_signal_that_ended_a_command_is_named(self):
        for code, told in (("sh -c 'kill -SEGV $$'", "exit status 139 (signal 11, Segmentation fault)"),
                           ("exit 128", "exit status 128"), ("exit 193", "exit status 193"),
                           ("exit 255", "exit status 255")):
            self.write("meta-kitchen/recipes/sauce.bb", f"do_compile() {{\n    {code}\n}}\n")
            self.assertIn(f": {told}\n", self.failing("sauce"))


if __name__ == "__main__":
    bitzel.main()
