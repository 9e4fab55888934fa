"""Two machines share a directory: each has a store and a state of its own, and they are
different users where the test may choose."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import bitzel
import reapi

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/http"))
import nginx  # noqa: E402

NOBODY = 65534


class Share(bitzel.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)
        self.shared = self.dir / "shared"
        self.shared.mkdir()
        self.first = reapi.Store(self.home("first") / "store")
        self.keys = reapi.fill(self.first)
        del self.keys["foreign"]  # what has no seal is not ours to share

    def home(self, name):
        path = self.dir / name
        path.mkdir()
        return path

    def machine(self, name, *args, user=None, code=0, tier="dir:{} rw"):
        """Runs bitzel with the home and the store of one machine."""
        home = self.dir / name
        done = subprocess.run(
            [self.program(), "--set", f"cache.dir={home}/store", "--set",
             f"cache.tiers={tier.format(self.shared)}", *args],
            env=self.environment(HOME=str(home)), cwd=home, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=bitzel.TIMEOUT, check=False,
            **({"user": user, "group": user, "extra_groups": []} if user else {}))
        result = bitzel.Result(done.returncode, done.stdout, done.stderr)
        self.assert_exit(result, code)
        return result

    def program(self):
        """The program, where any user may run it."""
        if os.geteuid() != 0:
            return bitzel.PROGRAM
        copy = self.dir / "bitzel"
        if not copy.exists():
            shutil.copy(bitzel.PROGRAM, copy)
            copy.chmod(0o755)
        return str(copy)

    def test_the_second_has_all_that_the_first_has(self):
        self.home("second")
        user = None
        if os.geteuid() == 0:
            user = NOBODY
            os.chown(self.dir / "second", user, user)
        pushed = self.machine("first", "cache", "push", "--json").json
        self.assertEqual((pushed["copied"], pushed["failed"]), (len(self.keys), 0))
        pulled = self.machine("second", "cache", "pull", "--json", user=user, tier="dir:{}").json
        self.assertEqual((pulled["copied"], pulled["failed"]), (len(self.keys), 0))
        self.machine("second", "cache", "verify", user=user)
        have = {p.name for p in (self.dir / "second/store/ac").glob("??/*")}
        self.assertEqual(have, set(self.keys.values()))
        for blob in (self.dir / "second/store/cas").glob("??/*"):
            self.assertEqual(reapi.sha256(blob.read_bytes()), blob.name)

    def test_a_directory_that_is_not_ours_to_write_is_read(self):
        if os.geteuid() != 0:
            self.skipTest("only root can be another user")
        self.home("second")
        os.chown(self.dir / "second", NOBODY, NOBODY)
        self.machine("first", "cache", "push")
        self.machine("second", "cache", "pull", user=NOBODY)
        before = sorted(self.shared.rglob("*"))
        (self.shared / "ac").chmod(0o755)
        result = self.machine("second", "cache", "push", user=NOBODY, code=4)
        self.assertIn("dir:", result.err)
        self.assertEqual(sorted(self.shared.rglob("*")), before)

    def test_what_nobody_vouches_for_is_a_miss_where_trust_is_asked_for(self):
        self.home("second")
        self.machine("second", "cache", "key", "new", "ci")
        self.machine("first", "cache", "push")
        key = self.keys["install"]
        result = self.machine("second", "cache", "pull", key, tier="dir:{} trust=ci", code=3)
        self.assertIn("is not signed", result.err)
        self.assertFalse((self.dir / "second/store/ac" / key[:2] / key).exists())
        place = f"dir:{self.shared} trust=ci"
        self.machine("second", "cache", "pull", place, key, tier="", code=3)
        self.machine("second", "cache", "pull", place.replace("ci", "eve"), key, tier="", code=2)
        self.machine("second", "cache", "pull", key)

    def test_with_uploads_off_nothing_is_pushed(self):
        for place in ((), (f"dir:{self.shared}",)):
            result = self.machine("first", "--set", "cache.upload=no", "cache", "push", *place,
                                  code=2)
            self.assertIn("cache.upload is off", result.err)
        self.assertEqual(list(self.shared.rglob("?" * 64)), [])

    def test_a_directory_that_is_not_there_is_said_once(self):
        self.home("second")
        result = self.machine("second", "cache", "pull", self.keys["install"], code=3,
                              tier="dir:{}/nowhere")
        self.assertEqual(result.err.count("make or mount it"), 1, result)


class Readme(bitzel.Case):
    """What the manual says on sharing is what is tested."""

    def setUp(self):
        super().setUp()
        text = (ROOT / ".docs/manual.md").read_text()
        self.section = text.split("## Sharing a cache\n", 1)[1].split("\n#", 1)[0]

    def blocks(self, language):
        return re.findall(rf"^```{language}\n(.*?)^```", self.section, re.M | re.S)

    def test_its_settings_are_understood(self):
        for n, block in enumerate(self.blocks("ini")):
            home = self.dir / str(n)
            conf = home / ".config/bitzel/bitzel.conf"
            conf.parent.mkdir(parents=True)
            conf.write_text(block)
            result = self.run_bitzel("cache", "path", env={"HOME": str(home)})
            self.assert_exit(result, 0)
            tiers = self.run_bitzel("config", "cache.tiers", "--json", env={"HOME": str(home)})
            self.assertGreater(len(tiers.json["value"]), 0)
        self.assertEqual(n, 1)

    def test_its_web_server_is_the_one_that_the_tests_use(self):
        used = nginx.CONF.format(top="/srv", port=1, location="", user="")
        used = {line.strip() for line in used.replace("/srv/store", "/srv/cache").splitlines()}
        (shown,) = self.blocks("nginx")
        for line in shown.splitlines():
            self.assertIn(line.strip(), used)

    def test_its_commands_exist(self):
        lines = [line.split("#")[0] for block in self.blocks("sh") for line in block.splitlines()]
        self.assertEqual([line.split()[:3] for line in lines],
                         [["bitzel", "cache", "push"], ["bitzel", "cache", "pull"],
                          ["bitzel", "cache", "key"]])


if __name__ == "__main__":
    bitzel.main()
