"""Builds on a machine without user namespaces: what they make, and what tasks cannot do."""

import os
import pathlib
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import time
import unittest

import bitzel
import test_build
import test_sandbox
import test_sources

ROOT = f"/tmp/bitzel-{os.geteuid()}"


def look(top):
    """{path: what is there} below a directory."""
    found = {}
    for path in sorted(top.rglob("*")):
        mode = path.lstat().st_mode
        content = os.readlink(path) if stat.S_ISLNK(mode) else \
            path.read_bytes() if stat.S_ISREG(mode) else None
        found[str(path.relative_to(top))] = (oct(mode), content)
    return found


class Bare(test_sandbox.Kitchen):
    def there(self, *args, code=0, **how):
        """Builds where user namespaces are refused."""
        result = self.run_bitzel("--directory", self.dir / "build", "build", *args,
                                 preexec_fn=test_sandbox.refuse_user_namespaces, **how)
        if code != 5 and result.code == 5 and "BITZEL_MUST_WORK" not in os.environ:
            self.skipTest(result.err.strip())
        self.assert_exit(result, code)
        return result

    def sandboxed(self, *args):
        """The same with them, and another store."""
        self.build(*args, env={"XDG_CACHE_HOME": str(self.dir / "other")})


class Output(Bare):
    CHANGES = """\
mkdir -p a/b old/inner kept
echo 1 > a/file; echo 2 > a/b/deep; echo 3 > old/inner/x; echo 4 > kept/x; echo 5 > gone
ln -s file a/link; chmod 0751 a/b; echo 6 > made"""
    AFTER = """\
cd ${B}
printf 9 | dd of=a/file conv=notrunc 2>/dev/null
rm gone
rm -r old
mkdir -p old/inner
echo new > old/inner/y
mv kept/x kept/z
ln a/b/deep hard
chmod 0500 a/b
rm a/link
mkdir a/link
mkdir -p ${D}/bin
cp -a . ${D}/all
cp made ${D}/bin/dough"""

    def test_it_is_that_of_sandboxes(self):
        self.compile(self.CHANGES, before="do_install() {\n%s\n}\n" % self.AFTER.replace("\n", "\n    "))
        result = self.there("pizza")
        self.assertEqual(result.err.count("user namespaces do not work here"), 1)
        self.there("-c", "install", "dough")
        bare = look(self.out("dough") / "work")
        pizza = look(self.out("pizza") / "image")
        self.sandboxed("pizza")
        self.sandboxed("-c", "install", "dough")
        self.assertEqual(bare, look(self.out("dough") / "work"))
        self.assertEqual(pizza, look(self.out("pizza") / "image"))
        self.assertEqual(bare["build/a/file"][1], b"9\n")
        self.assertNotIn("build/gone", bare)
        self.assertNotIn("build/old/inner/x", bare)
        self.assertEqual(sorted(os.listdir(ROOT)), ["lock"])

    def test_it_is_used_again_but_not_for_sandboxes(self):
        first = self.there("pizza")
        self.assertIn("(9 tasks executed", first.out)
        again = self.there("pizza")
        self.assertIn("(0 tasks executed", again.out)
        self.assertNotIn("namespaces", again.err)
        self.assertIn("(0 tasks executed", self.there("pizza").out)
        self.there("--sandbox=required", "pizza", code=5)
        self.assertIn("(9 tasks executed", self.build("pizza").out)
        task = self.run_bitzel("--directory", self.dir / "build", "sig", "--inputs", "--json",
                               "dough:do_compile", preexec_fn=test_sandbox.refuse_user_namespaces)
        self.assertRegex(task.json["tasks"][0]["sandbox"],
                         f"^landlock at {ROOT}/root, network none, view [0-9a-f]{{12}}$")

    def test_what_comes_out_the_same_ends_it(self):
        self.there("pizza")
        self.edit("meta-kitchen/classes/base.bbclass", 'echo "${PN} with', ': ; echo "${PN} with')
        result = self.there("pizza")
        self.assertEqual(test_build.tasks(result, "Executed"), {"dough:do_compile", "sauce:do_compile"})

    def test_a_failure_is_told_as_ever(self):
        self.compile("true\ncp none there")
        err = self.there("dough", code=1).err
        self.assertIn(f"ERROR: exit code 1 in do_compile, {self.dir}/meta-kitchen/recipes/dough.bb:3", err)
        self.assertNotIn("bitzel shell", err)
        self.assertEqual(sorted(os.listdir(ROOT)), ["lock"])
        shell = self.run_bitzel("--directory", self.dir / "build", "shell", "-c", "true", "dough:do_compile",
                                preexec_fn=test_sandbox.refuse_user_namespaces)
        self.assert_exit(shell, 5)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_an_ordinary_user_has_it_too(self):
        self.compile(self.CHANGES, before="do_install() {\n%s\n}\n" % self.AFTER.replace("\n", "\n    "))
        self.there("-c", "install", "dough")
        bare = look(self.out("dough") / "work")
        shutil.rmtree(self.dir / "build/bitzel-out")
        program = self.dir / "program"
        shutil.copy(bitzel.PROGRAM, program)
        user = pwd.getpwnam("nobody")
        for path in [self.dir, *self.dir.rglob("*")]:
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        done = subprocess.run(
            ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups",
             program, "--directory", self.dir / "build", "build", "-c", "install", "dough"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment(), cwd=self.dir, timeout=bitzel.TIMEOUT, check=False,
            preexec_fn=test_sandbox.refuse_user_namespaces)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn(b"(2 tasks executed", done.stdout)
        self.assertEqual(bare, look(self.out("dough") / "work"))
        shutil.rmtree(f"/tmp/bitzel-{user.pw_uid}")


ATTACK = r"""
import os, socket, sys
home, pid = sys.argv[1], int(sys.argv[2])
got = []

def attempt(name, fn):
    try:
        fn()
        got.append(name)
    except OSError:
        pass

def touch(path):
    os.close(os.open(path + "/bz-stain", os.O_CREAT | os.O_WRONLY))

for path in (home, home + "/.ssh", home + "/build", "/root", "/home", "/var", "/tmp", "/proc/%d/root/" % pid):
    attempt("list " + path, lambda: os.listdir(path))
for path in (home + "/.ssh/id", "/etc/shadow", "/proc/1/environ", "/proc/%d/environ" % pid, "/dev/mem"):
    attempt("read " + path, lambda: open(path, "rb").read(1))
for path in (home, home + "/meta-kitchen", home + "/.cache", "/usr/bin", "/etc", "/", "/tmp", "/dev", "/dev/shm"):
    attempt("write " + path, lambda: touch(path))
attempt("append", lambda: open(home + "/.ssh/id", "a"))
attempt("truncate", lambda: os.truncate(home + "/.ssh/id", 0))
attempt("unlink", lambda: os.unlink(home + "/.ssh/id"))
attempt("rename", lambda: os.rename(home + "/.ssh/id", "id"))
attempt("link", lambda: os.link(home + "/.ssh/id", "id"))
attempt("core", lambda: open("/proc/sys/kernel/core_pattern", "w"))
for family in (socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET):
    attempt("socket %d" % family, lambda: socket.socket(family, socket.SOCK_DGRAM))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("connect", lambda: socket.create_connection(("192.0.2.1", 80), 2))
attempt("connect here", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[3])), 2))
attempt("send here", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)))
attempt("bind", lambda: socket.socket().bind(("127.0.0.1", 0)))
attempt("abstract", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, socket.socket().detach())
        .connect("\0bz-bare-" + sys.argv[3]))
attempt("mknod", lambda: os.mknod("device", 0o020666, os.makedev(1, 1)))
attempt("chroot", lambda: os.chroot("."))
attempt("signal", lambda: os.kill(pid, 0))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        os.execv("/bin/sleep", ["sleep", "78.%d" % pid])
    os._exit(0)
open("made", "w").write("\n".join(got))
"""


class Unpacked(Bare, test_sources.Around):
    def test_functions_and_directories_are_the_recipes_here_too(self):
        self.around()
        self.there("-c", "unpack", "soup")
        self.check_around()


class Hostile(Bare):
    def test_what_it_tries_is_refused_and_nothing_is_left(self):
        self.write(".ssh/id", "secret\n")
        self.write("meta-kitchen/files/attack", ATTACK)
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        port = listener.getsockname()[1]
        hidden = socket.socket(socket.AF_UNIX)
        self.addCleanup(hidden.close)
        hidden.bind(f"\0bz-bare-{port}")
        hidden.listen()
        self.compile(f"python3 -B ${{KITCHEN}}/files/attack {self.dir} {os.getpid()} {port}")
        self.there("dough")
        got = (self.out("dough") / "image/bin/dough").read_text().split("\n")
        self.assertEqual(got, [""])
        self.assertEqual((self.dir / ".ssh/id").read_text(), "secret\n")
        self.assertEqual([str(p) for p in self.dir.rglob("bz-stain")], [])
        self.assertEqual([p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                          if f"78.{os.getpid()}".encode() in test_sandbox.Hostile.read(p)], [])

    def test_an_address_that_was_tried_is_told_with_what_allows_it(self):
        self.compile("""python3 -c 'import socket; socket.create_connection(("192.0.2.1", 80), 1)'""")
        err = self.there("dough", code=1).err
        self.assertIn('  tried to reach 192.0.2.1 port 80: there is no network in the sandbox; '
                      'do_compile[network] = "1" allows it\n', err)

    def test_the_environment_is_the_recipes_alone(self):
        self.compile("env | cut -d= -f1 | grep -c SECRET > made || :; echo $HOME $TMPDIR >> made\n"
                     "echo x > $TMPDIR/x\necho log > /dev/stderr\npwd -P >> made")
        self.there("dough", env={"SECRET": "x"})
        self.assertEqual((self.out("dough") / "image/bin/dough").read_text(),
                         f"0\n{ROOT}/tmp {ROOT}/tmp\n{ROOT}/root/tmp/work/dough/build\n")

    def test_a_task_that_wants_to_be_root_is_told(self):
        self.write("meta-kitchen/recipes/dough.bb", 'do_compile[fakeroot] = "1"\n')
        self.assertIn("[fakeroot] needs user namespaces", self.there("dough", code=1).err)


class Ends(Bare):
    """However a build ends, nothing of it goes on."""

    # A task that has left its session, and stays until it is killed.
    STAYS = "setsid sh -c 'trap \"\" TERM INT; touch ../begun; while :; do sleep 0.1; done' &\nwait"

    def begin(self, *args, surely=True):
        begun = pathlib.Path(ROOT, "root/tmp/work/dough/begun")
        child = subprocess.Popen(
            [bitzel.PROGRAM, "--directory", self.dir / "build", "build", *args, "dough"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment(), cwd=self.dir, preexec_fn=test_sandbox.refuse_user_namespaces)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        end = time.monotonic() + 60
        while not begun.exists() and child.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        if surely:
            self.assertTrue(begun.exists())
        return child

    def assert_gone(self):
        end = time.monotonic() + 30
        while True:
            left = [p for p in pathlib.Path("/proc").glob("[0-9]*/cwd") if self.leads_there(p)]
            if not left or time.monotonic() > end:
                break
            time.sleep(0.02)
        self.assertEqual(left, [])

    @staticmethod
    def leads_there(link):
        try:
            return os.readlink(link).startswith(ROOT)
        except OSError:
            return False

    def test_killed_at_once_its_tasks_are_too(self):
        self.compile(self.STAYS)
        child = self.begin()
        child.kill()
        self.assertEqual(child.wait(), -signal.SIGKILL)
        self.assert_gone()
        self.compile("echo well > made")
        self.there("dough")

    def test_interrupted_it_asks_and_then_kills(self):
        self.compile(self.STAYS)
        child = self.begin()
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(60), 128 + signal.SIGINT)
        self.assert_gone()

    def test_a_task_that_takes_too_long_is_killed_with_all_it_started(self):
        self.compile(self.STAYS)
        child = self.begin("--timeout=1", surely=False)  # it may take longer to begin
        self.assertEqual(child.wait(60), 1)
        self.assert_gone()

    def test_another_build_waits_and_says_so(self):
        self.compile("touch ../begun\nsleep 1\necho well > made")
        child = self.begin()
        self.write("meta-kitchen/recipes/soup.bb", "")
        result = self.there("soup")
        self.assertEqual(result.err.count(f"waiting for another build that works in {ROOT}"), 1)
        self.assertEqual(child.wait(60), 0)


class Required(Bare):
    def test_it_can_be_an_error(self):
        for args, env in ((("--sandbox=required",), {}), ((), {"BITZEL_SANDBOX": "required"})):
            result = self.there("dough", *args, env=env, code=5)
            self.assertIn("user namespaces do not work here: clone: Operation not permitted; "
                          "'bitzel doctor' says what to do", result.err)
        self.there("dough", "--sandbox=auto", env={"BITZEL_SANDBOX": "required"})

    def test_a_wrong_word_is_refused(self):
        self.assertIn("--sandbox", self.there("dough", "--sandbox=maybe", code=2).err)

    def test_the_doctor_says_which_it_would_be(self):
        rows = {row["name"]: row for row in self.run_bitzel("doctor", "--json", preexec_fn=test_sandbox.refuse_user_namespaces).json["checks"]}
        self.assertIn("tasks run under Landlock", rows["user namespaces"]["found"])


@unittest.skipUnless(os.geteuid() == 0, "only root can mount something for a test")
class Containers(bitzel.Case):
    """User namespaces work, but what is mounted in them does not."""

    LAYOUTS = {
        "set up /proc": "mount --bind /dev/null /proc/version",
        "set up /bitzel": "mkdir a b c m && mount -t tmpfs none a && mkdir a/u a/w && "
                          "mount -t overlay -o lowerdir=b,upperdir=a/u,workdir=a/w none m",
    }

    def setUp(self):
        super().setUp()
        for name, text in test_build.FILES.items():
            path = self.dir / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run_there(self, layout, *args):
        env = {"BITZEL_CACHE_DIR": str(self.dir / "m/store")} if "overlay" in layout else {}
        script = f"{layout} && exec \"$0\" \"$@\""
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, bitzel.PROGRAM, *map(str, args)],
                              cwd=self.dir, env=self.environment(**env), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=bitzel.TIMEOUT,
                              check=False)
        for name in "abcm":
            shutil.rmtree(self.dir / name, ignore_errors=True)
        return bitzel.Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def test_tasks_run_all_the_same_and_the_doctor_tells_why_so(self):
        for step, layout in self.LAYOUTS.items():
            with self.subTest(step=step):
                result = self.run_there(layout, "--directory", self.dir / "build", "build", "dough")
                if "Landlock" not in result.err and "BITZEL_MUST_WORK" not in os.environ:
                    self.skipTest(result.err)
                self.assert_exit(result, 0)
                self.assertIn(f"sandboxes do not work here: sandbox: {step}: ", result.err)
                result = self.run_there(layout, "--directory", self.dir / "build", "build",
                                        "--sandbox=required", "sauce")
                self.assert_exit(result, 5)
                self.assertIn(f"sandboxes do not work here: sandbox: {step}: ", result.err)
                rows = {row["name"]: row for row in self.run_there(layout, "doctor", "--json").json["checks"]}
                self.assertEqual(rows["sandbox"]["status"], "warn")
                self.assertIn(step, rows["sandbox"]["found"])


if __name__ == "__main__":
    unittest.main()
