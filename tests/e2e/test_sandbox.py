"""The sandbox of a task: what it says about a failure, and what it lets nobody do."""

import ctypes
import json
import os
import pathlib
import platform
import pwd
import resource
import shutil
import socket
import struct
import subprocess
import unittest

import bitzel
import test_build

# clone and unshare, which make namespaces.
CALLS = {"x86_64": (56, 272), "aarch64": (220, 97)}


def refuse_user_namespaces():
    """For the calling process and all it starts, as some containers do."""
    jump_eq, jump_set, load, leave = 0x15, 0x45, 0x20, 0x06
    clone, unshare = CALLS[platform.machine()]
    code = [(load, 0, 0, 0),                  # the number of the call
            (jump_eq, 1, 0, clone),
            (jump_eq, 0, 3, unshare),
            (load, 0, 0, 16),                 # its first argument
            (jump_set, 0, 1, 0x10000000),     # CLONE_NEWUSER
            (leave, 0, 0, 0x00050001),        # fails with EPERM
            (leave, 0, 0, 0x7fff0000)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *c) for c in code))
    header = struct.pack("@HP", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(header), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


class Kitchen(test_build.Kitchen):
    def compile(self, body, recipe="dough", before=""):
        """Gives a recipe a do_compile of these lines; the first is line 2 of the file."""
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        self.write(f"meta-kitchen/recipes/{recipe}.bb", f"do_compile() {{\n{lines}}}\n{before}")


class Blame(Kitchen):
    def test_the_command_that_failed_is_named_with_its_line_in_the_recipe(self):
        self.compile("true\nif true; then\n    cp none there\nfi")
        err = self.build("dough", code=1).err
        self.assertIn("ERROR: exit code 1 in do_compile, /layers/meta-kitchen/recipes/"
                      "dough.bb:4: cp none there\n", err)

    def test_so_it_is_in_a_function_of_a_class(self):
        self.write("meta-kitchen/classes/oven.bbclass", "heat() {\n    true\n    test $1 -lt 250\n}\n")
        self.compile("heat 200\nheat 300\necho never", before="inherit oven\n")
        self.assertIn("ERROR: exit code 1 in heat, /layers/meta-kitchen/classes/"
                      "oven.bbclass:3: test $1 -lt 250\n", self.build("dough", code=1).err)

    def test_of_a_task_that_others_add_to_the_place_is_where_it_begins(self):
        self.compile("true", before="do_compile:append() {\n    exit 4\n}\n")
        self.assertIn("ERROR: exit code 4 in do_compile, of /layers/meta-kitchen/recipes/"
                      "dough.bb:1", self.build("dough", code=1).err)


class Network(Kitchen):
    def test_an_address_that_was_tried_is_told_with_what_allows_it(self):
        self.compile("""python3 -c 'import socket; socket.create_connection(("192.0.2.1", 80), 1)'""")
        err = self.build("dough", code=1).err
        self.assertIn('  tried to reach 192.0.2.1 port 80: there is no network in the sandbox; '
                      'do_compile[network] = "1" allows it\n', err)
        self.assertIn("sandbox: tried to reach 192.0.2.1 port 80:",
                      (self.dir / "build/tmp/work/dough/temp/log.do_compile").read_text())

    def test_a_failure_without_an_attempt_does_not_speak_of_it(self):
        self.compile("false")
        self.assertNotIn("network", self.build("dough", code=1).err)


class Policy(Kitchen):
    def bitzel(self, *args):
        result = self.run_bitzel("--directory", self.dir / "build", *args)
        self.assert_exit(result, 0)
        return result

    def test_what_a_sandbox_is_like_is_part_of_the_signature(self):
        task = self.bitzel("sig", "--inputs", "--json", "dough:do_compile").json["tasks"][0]
        self.assertRegex(task["sandbox"], "^namespaces, network none, user 1000, view [0-9a-f]{12}$")
        self.assertIn("  sandbox       " + task["sandbox"] + "\n",
                      self.bitzel("sig", "--inputs", "dough:do_compile").out)
        self.build("dough")
        self.write("meta-kitchen/recipes/dough.bb", 'do_compile[network] = "1"\n')
        changed = self.bitzel("sig", "--inputs", "--json", "dough:do_compile").json["tasks"][0]
        self.assertNotEqual(changed["signature"], task["signature"])
        self.assertRegex(changed["sandbox"], "^namespaces, network host, user 1000, view [0-9a-f]{12}$")
        why = self.bitzel("why", "dough").out
        self.assertIn("1 change in meta-kitchen/recipes/dough.bb:1 do_compile[network], reaches 4 tasks\n", why)
        causes = self.bitzel("why", "--json", "dough").json["causes"]
        self.assertEqual([(cause["name"], cause["places"][0]["flag"]) for cause in causes], [("do_compile", "network")])


class Limits(Kitchen):
    def limits(self, soft):
        self.compile(f"ulimit -a > made; ulimit -Hc >> made; ulimit -Hn >> made; : {soft}")
        least = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 65536)
        self.build("dough", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, least)))
        return (self.out("dough") / "image/bin/dough").read_text()

    def test_they_do_not_depend_on_who_builds(self):
        seen = self.limits(1000)
        self.assertEqual(seen, self.limits(1001))
        self.assertRegex(seen, r"coredump\(blocks\) +0\n")
        self.assertRegex(seen, r"stack\(kbytes\) +8192\n")
        self.assertRegex(seen, r"process +8192\n")


class Fakeroot(Kitchen):
    def test_it_is_root_but_there_are_no_other_users(self):
        self.compile("id -u > made\ninstall -o 0 -g 0 made tool\nchown root:root tool\nchmod 4755 tool\n"
                     "stat -c %u:%g:%a tool >> made\n"
                     "chown 5:5 tool 2>> made || stat -c %u:%g tool >> made\n"
                     "mknod null c 1 3 2>> made || echo no devices >> made",
                     before='do_compile[fakeroot] = "1"\n')
        self.build("-c", "compile", "dough")
        made = (self.out("dough") / "work/build/made").read_text()
        self.assertRegex(made, r"^0\n0:0:4755\nchown: .*Invalid argument\n0:0\nmknod: .*\nno devices\n$")
        self.assertEqual((self.out("dough") / "work/build/tool").stat().st_mode & 0o7777, 0o555)
        self.write("meta-kitchen/recipes/pizza.bb", 'do_compile[depends] = "dough:do_install"\n'
                   "do_compile() {\n    stat -c %a ${SYSROOTS}/tool > made\n}\n")
        self.edit("meta-kitchen/recipes/dough.bb", "install -o 0", "mkdir -p ${SYSROOTS}; install -o 0")
        self.edit("meta-kitchen/recipes/dough.bb", "chmod 4755 tool", "chmod 4755 tool; cp -a tool ${SYSROOTS}")
        self.build("-c", "compile", "pizza")
        self.assertEqual((self.out("pizza") / "work/build/made").read_text(), "4755\n")


class Nowhere(Kitchen):
    """A machine that allows no user namespaces."""

    def build_there(self, *args):
        return self.run_bitzel("--directory", self.dir / "build", "build", *args,
                               preexec_fn=refuse_user_namespaces)

    def test_nothing_is_run_and_the_reason_is_told(self):
        for more in ((), ("-k",)):
            result = self.build_there("--sandbox=required", "pizza", *more)
            self.assert_exit(result, 5)
            self.assertEqual(test_build.tasks(result, "Failed"), set())
            self.assertIn("user namespaces do not work here: clone: Operation not permitted; "
                          "'bitzel doctor' says what to do", result.err)
            self.assertRegex(result.out, r"^Build failed in .* \(0 tasks executed, 0 from cache, ")

    def test_what_is_stored_can_be_had_all_the_same(self):
        self.build("dough")
        self.assert_exit(self.build_there("--sandbox=required", "dough"), 0)


# What a task tries that means ill. Each attempt is a function; what it raises is how it
# was stopped, and what it returns it got.
ATTACK = r'''
import ctypes, fcntl, json, os, socket, subprocess, sys, time
have = json.load(open("/bitzel/tmp/facts"))
libc = ctypes.CDLL(None, use_errno=True)
attempts = {}

def attempt(fn):
    attempts[fn.__name__] = fn

def check(value):
    if value < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return value

def call(x86, arm, *args):
    return check(libc.syscall(x86 if os.uname().machine == "x86_64" else arm, *args))

def touch(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    return path

for name, path in {"home_of_root": "/root", "home": "/home", "var": "/var/lib", "sys": "/sys/kernel",
                   "own_home": have["home"], "keys": have["home"] + "/.ssh", "store": have["store"],
                   "build_directory": have["home"] + "/build", "host": "/proc/%d" % have["pid"],
                   "roots_files": "/proc/1/root/"}.items():
    attempts["list_" + name] = lambda path=path: os.listdir(path)[0]
for name, path in {"shadow": "/etc/shadow", "key": have["home"] + "/.ssh/id", "memory": "/dev/mem",
                   "messages": "/dev/kmsg", "kernel": "/proc/kcore", "init_memory": "/proc/1/mem",
                   "init_environment": "/proc/1/environ"}.items():
    attempts["read_" + name] = lambda path=path: open(path, "rb").read(1)
for name, path in {"home": have["home"], "layer": "/layers/meta-kitchen", "real_layer": have["home"] + "/meta-kitchen",
                   "store": have["store"] + "/cas", "usr": "/usr/bin", "etc": "/etc", "root": "/",
                   "dev": "/dev", "kernel": "/proc/sys/kernel", "run": "/run"}.items():
    attempts["write_" + name] = lambda path=path: touch(path + "/bz-stain")

@attempt
def change_a_layers_file(): return os.chmod("/layers/meta-kitchen/files/topping", 0o777) or "did"
@attempt
def change_a_device(): return os.chmod("/dev/full", 0o666) or "did"
@attempt
def change_a_setting_of_the_kernel():
    was = open("/proc/sys/kernel/core_pattern").read()
    return open("/proc/sys/kernel/core_pattern", "w").write(was)
@attempt
def ask_the_kernel_to_act(): return open("/proc/sysrq-trigger", "w") and "did"
@attempt
def be_killed_last(): return open("/proc/1/oom_score_adj", "w").write("0")
@attempt
def reach_the_hosts_loopback(): return socket.create_connection(("127.0.0.1", have["port"]), 2) and "did"
@attempt
def reach_an_address(): return socket.create_connection(("192.0.2.1", 80), 2) and "did"
@attempt
def reach_an_abstract_socket(): return socket.socket(socket.AF_UNIX).connect(have["abstract"]) or "did"
@attempt
def open_a_packet_socket(): return socket.socket(socket.AF_PACKET, socket.SOCK_RAW) and "did"
@attempt
def open_a_raw_socket(): return socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and "did"
@attempt
def open_a_socket_to_other_machines(): return socket.socket(40, socket.SOCK_STREAM) and "did"
@attempt
def open_a_socket_by_another_way():
    ring = check(libc.syscall(425, 4, ctypes.create_string_buffer(120)))  # IORING_OP_SOCKET and all else
    return "ring %d" % ring
@attempt
def signal_a_process(): return os.kill(have["pid"], 0) or "did"
@attempt
def trace_the_first_process(): return check(libc.ptrace(16, 1, 0, 0))
@attempt
def become_root(): return os.setuid(0) or "did"
@attempt
def become_another(): return os.setgroups([0]) or "did"
@attempt
def mount(): return check(libc.mount(b"x", b"/tmp", b"tmpfs", 0, None))
@attempt
def unmount(): return check(libc.umount2(b"/layers/meta-kitchen", 2))
@attempt
def change_the_root(): return os.chroot("/tmp") or "did"
@attempt
def make_a_user_namespace(): return check(libc.unshare(0x10000000))
@attempt
def make_a_mount_namespace(): return check(libc.unshare(0x00020000))
@attempt
def enter_a_namespace(): return check(libc.setns(os.open("/proc/self/ns/user", os.O_RDONLY), 0))
@attempt
def clone_a_user_namespace(): return call(56, 220, 0x10000000 | 17, 0, 0, 0, 0) or os._exit(0)
@attempt
def clone_by_the_new_call(): return call(435, 435, ctypes.create_string_buffer(b"\0\0\0\x10" + bytes(84)), 88) or os._exit(0)
@attempt
def read_the_keyring(): return call(250, 219, 0, -3, 0)
@attempt
def add_a_key(): return call(248, 217, b"user", b"bz", b"x", 1, -3)
@attempt
def load_a_program_into_the_kernel(): return call(321, 280, 0, ctypes.create_string_buffer(128), 128)
@attempt
def watch_the_kernel(): return call(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0)
@attempt
def read_the_kernels_log(): return check(libc.klogctl(3, ctypes.create_string_buffer(64), 64))
@attempt
def make_a_device(): return os.mknod("/tmp/device", 0o020666, os.makedev(1, 1)) or "did"
@attempt
def set_the_clock(): return time.clock_settime(time.CLOCK_REALTIME, 0) or "did"
@attempt
def name_the_host(): return socket.sethostname("evil") or "did"
@attempt
def gain_by_a_set_user_program():
    subprocess.run(["cp", "/usr/bin/id", "/tmp/id"], check=True)
    os.chmod("/tmp/id", 0o6755)
    return int(subprocess.run(["/tmp/id", "-u"], stdout=subprocess.PIPE, check=True).stdout) == have["me"] and 1 / 0

def run():
    got = {}
    for name, fn in attempts.items():
        try:
            got[name] = ["got", str(fn())]
        except (OSError, ZeroDivisionError, PermissionError) as e:
            got[name] = ["stopped", repr(e)]
    return got

got = run()
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
got["facts"] = {"caps": [status["Cap" + c].strip().strip("0") for c in ("Inh", "Prm", "Eff", "Bnd", "Amb")],
                "processes": sorted(int(p) for p in os.listdir("/proc") if p.isdigit())}
open("/tmp/" + have["name"], "w").write("x" * 1000000)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        os.execv("/bin/sleep", ["sleep", "77." + str(have["pid"])])
    os._exit(0)
json.dump(got, open("made", "w"))
'''


class Hostile(Kitchen):
    """A task that tries to get out, and what is seen of it outside."""

    def plant(self, home):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        hidden = socket.socket(socket.AF_UNIX)
        self.addCleanup(hidden.close)
        name = f"bz-test-{os.getpid()}-{id(self)}"
        hidden.bind("\0" + name)
        hidden.listen()
        facts = {"home": str(home), "store": f"{home}/.cache/bitzel", "pid": os.getpid(), "name": name,
                 "abstract": "\0" + name, "port": listener.getsockname()[1], "me": 1000}
        self.write(".ssh/id", "secret\n")
        self.write("meta-kitchen/files/attack", ATTACK)
        self.write("meta-kitchen/files/facts", json.dumps(facts))
        self.compile("cp ${KITCHEN}/files/facts ${TMPDIR}/facts\npython3 -B ${KITCHEN}/files/attack",
                     before='do_compile[file-checksums] = "${KITCHEN}/files/facts:True"\n')
        return facts

    def judge(self, facts):
        made = json.loads((self.out("dough") / "image/bin/dough").read_text())
        seen = made.pop("facts")
        self.assertEqual({k: v for k, v in made.items() if v[0] != "stopped"}, {})
        self.assertGreater(len(made), 50)
        self.assertEqual(seen["caps"], [""] * 5)
        self.assertLess(len(seen["processes"]), 6)
        self.assertFalse(pathlib.Path("/tmp", facts["name"]).exists())
        self.assertEqual([str(p) for p in self.dir.rglob("bz-stain")], [])
        for path in ("/usr/bin", "/etc", "/", "/dev", "/run"):
            self.assertFalse(pathlib.Path(path, "bz-stain").exists())
        self.assertEqual((self.dir / "meta-kitchen/files/topping").stat().st_mode & 0o777,
                         (self.dir / "meta-kitchen/files/attack").stat().st_mode & 0o777)
        left = [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                if f"77.{facts['pid']}".encode() in self.read(p)]
        self.assertEqual(left, [])

    @staticmethod
    def read(path):
        try:
            return path.read_bytes()
        except OSError:  # it has ended
            return b""

    def test_nothing_it_tries_gets_it_out(self):
        facts = self.plant(self.dir)
        self.build("dough")
        self.judge(facts)
        result = self.run_bitzel("cache", "verify")
        self.assert_exit(result, 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_nor_if_an_ordinary_user_builds(self):
        facts = self.plant(self.dir)
        program = self.dir / "program"
        shutil.copy(bitzel.PROGRAM, program)
        user = pwd.getpwnam("nobody")
        for path in [self.dir, *self.dir.rglob("*")]:
            os.chown(path, user.pw_uid, user.pw_gid)
        done = subprocess.run(
            ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups",
             program, "--directory", self.dir / "build", "build", "dough"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment(), cwd=self.dir, timeout=bitzel.TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.judge(facts)


@unittest.skipUnless(os.geteuid() == 0, "only root can put a file in the place of a device")
class Devices(Kitchen):
    """In a mount namespace of its own, where something else is bound over a device."""

    USERS = {"root": "", "nobody": "setpriv --reuid=65534 --regid=65534 --clear-groups"}

    def run_there(self, layout, user, *args):
        script = f'{layout} && exec {self.USERS[user]} "$0" "$@"'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, self.program_for_all(), *map(str, args)],
                              cwd=self.dir, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=bitzel.TIMEOUT,
                              check=False,
                              env=self.environment(BITZEL_CACHE_DIR=str(self.dir / f"store-{user}")))
        return bitzel.Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def test_no_task_is_started_if_one_is_something_else(self):
        self.program_for_all()
        self.dir.chmod(0o755)
        (self.dir / "file").write_text("not nothing\n")
        (self.dir / "file").chmod(0o666)
        for path in [self.dir, *self.dir.rglob("*")]:
            os.chown(path, 65534, 65534)
        build = ("--directory", self.dir / "build", "build", "dough")
        layouts = {
            "mount --bind file /dev/null": ("null is a regular file", "null", 3),
            "mount --bind /dev/zero /dev/full": ("full is the character device 1:5", "full", 7),
            "mount --bind file /dev/urandom": ("urandom is a regular file", "urandom", 9),
        }
        for user in ("nobody", "root"):  # nobody may write what is nobody's alone
            for layout, (found, name, minor) in layouts.items():
                for how in ((), ("--sandbox=required",)):
                    with self.subTest(layout, user=user, how=how):
                        result = self.run_there(layout, user, *build, *how)
                        self.assert_exit(result, 4)
                        self.assertIn(f"/dev/{found}, not the character device 1:{minor}", result.err)
                        self.assertIn(f"rm -f /dev/{name}; mknod -m 666 /dev/{name} c 1 {minor}", result.err)
                        self.assertNotIn("Executed", result.err)
                result = self.run_there(layout, user, "doctor", "--json")
                self.assert_exit(result, 4)
                rows = {row["name"]: row for row in result.json["checks"]}
                self.assertEqual(rows["devices"]["status"], "fail")
                self.assertIn(found, rows["devices"]["found"])
                self.assertIn(f"mknod -m 666 /dev/{name} c 1 {minor}", rows["devices"]["fix"])
                self.assertEqual(rows["sandbox"]["fix"], "see 'devices'")
            self.assert_exit(self.run_there("true", user, *build), 0)
        self.assertEqual((self.dir / "file").read_text(), "not nothing\n")


class Locks(Kitchen):
    def test_tasks_with_one_lock_file_run_one_at_a_time(self):
        for recipe in ("dough", "sauce"):
            self.compile(f"date +%s%N > made\nsleep 0.3\ndate +%s%N >> made", recipe,
                         'do_compile[lockfiles] = "${TMPDIR}/a.lock ${TMPDIR}/a.lock ${TMPDIR}/b.lock"\n')
        self.build("-j2", "dough", "sauce")
        first, second = sorted([int(n) for n in (self.out(r) / f"image/bin/{r}").read_text().split()]
                               for r in ("dough", "sauce"))
        self.assertLess(first[1], second[0])
        self.assertTrue((self.dir / "build/tmp/a.lock").exists())

    def test_the_time_that_a_task_waits_for_a_lock_is_not_its_own(self):
        for recipe in ("dough", "sauce"):
            self.compile("sleep 2", recipe, 'do_compile[lockfiles] = "${TMPDIR}/a.lock"\n'
                                            'do_compile[timeout] = "3"\n')
        log = self.dir / "events"
        self.build("-j2", "-c", "compile", "--events", log, "dough", "sauce")
        events = [json.loads(line) for line in log.read_text().splitlines()]
        took = [e["took"] for e in events if e["event"] == "done"]
        self.assertEqual(len(took), 2)
        self.assertLess(max(took), 3.5)


if __name__ == "__main__":
    unittest.main()
