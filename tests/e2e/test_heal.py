"""Damage in the store, in the trees that builds have laid out, and in a shared cache: one
build is enough to get the right bytes.

BITZEL_DAMAGES says how many times something is damaged, BITZEL_SEED which come first.
"""

import functools
import http.server
import os
import pathlib
import random
import shutil
import threading
import unittest

import test_build

DAMAGES = int(os.environ.get("BITZEL_DAMAGES", "60"))
SEED = int(os.environ.get("BITZEL_SEED", "1"))
STORED = 946684800  # the time of all files of a store

RECIPES = {
    "meta-kitchen/recipes/sauce.bb": '''\
do_install() {
    mkdir -p ${D}/bin ${D}/share/herbs
    cp made ${D}/bin/sauce
    for herb in oregano parsley rosmary; do
        echo $herb > ${D}/share/herbs/$herb
    done
    echo "a secret" > ${D}/share/secret
    chmod 0640 ${D}/share/secret
    ln -s herbs/oregano ${D}/share/best
}
''',
    "meta-kitchen/recipes/pizza.bb": '''\
DEPENDS = "dough sauce"
do_compile() {
    cat ${SYSROOTS}/dough/bin/dough ${SYSROOTS}/sauce/bin/sauce > made
    cat ${SYSROOTS}/sauce/share/herbs/* ${SYSROOTS}/sauce/share/secret >> made
    cat ${KITCHEN}/files/topping >> made
}
do_compile[file-checksums] = "${KITCHEN}/files/topping:True"
do_install() {
    mkdir -p ${D}/bin ${D}/slices ${DEPLOY_DIR}
    cp made ${D}/bin/pizza
    for i in 1 2 3; do
        echo "slice $i" > ${D}/slices/$i
    done
    cp made ${DEPLOY_DIR}/menu
}
''',
}


def content(top):
    """All that a user sees below a directory, by name."""
    found = {}
    for part in sorted(os.listdir(top)):
        for where, dirs, files in os.walk(os.path.realpath(top / part)):
            for name in dirs + files:
                path = pathlib.Path(where) / name
                found[f"{part}/{path.relative_to(os.path.realpath(top / part))}"] = (
                    os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None)
    return found


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def flip(path, rng):
    data = bytearray(path.read_bytes())
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    else:
        data += b"x"
    mode = path.stat().st_mode
    path.chmod(0o600)
    path.write_bytes(data)
    path.chmod(mode & 0o7777)


def truncate(path, rng):
    os.truncate(path, rng.randrange(path.stat().st_size) if path.stat().st_size else 1)


def link(path, rng):
    remove(path)
    path.symlink_to(rng.choice(("/etc/hostname", "nowhere", ".")))


def directory(path, rng):
    remove(path)
    path.mkdir()
    if rng.random() < 0.5:
        (path / "in").write_bytes(b"it")


def fifo(path, _):
    remove(path)
    os.mkfifo(path)


DAMAGE = {"flip": flip, "truncate": truncate, "link": link, "directory": directory, "fifo": fifo}


class Damaged(test_build.Kitchen):
    def setUp(self):
        super().setUp()
        for name, text in RECIPES.items():
            self.write(name, text)
        self.store, self.shared = self.dir / "store", self.dir / "shared"
        self.shared.mkdir()
        self.env = {"BITZEL_CACHE_DIR": str(self.store), "BITZEL_CACHE_SYNC": "off"}

    def make(self, *args, **how):
        return self.build("pizza", "sauce", *args, env=self.env, **how)

    def files(self, top):
        return sorted(path for path in top.rglob("*") if path.is_file() and not path.is_symlink())

    def seen(self):
        return {name: content(self.out(name)) for name in ("pizza", "sauce")}

    def blobs(self):
        return self.files(self.store / "cas")


class Heal(Damaged):
    """One kind of damage after the other."""

    def test_a_store_whose_blobs_are_all_damaged_heals_in_one_build(self):
        self.make()
        right = self.seen()
        for kind in ("flip", "truncate", "link", "directory", "fifo"):
            for trees in (True, False):
                with self.subTest(kind, trees=trees):
                    for blob in self.blobs():
                        DAMAGE[kind](blob, random.Random(1))
                    if not trees:
                        shutil.rmtree(self.store / "trees")
                        shutil.rmtree(self.store / "out")
                    self.make()
                    self.assertEqual(self.seen(), right)
                    self.run_bitzel("cache", "verify", "--repair", env=self.env)
                    result = self.run_bitzel("cache", "verify", env=self.env)
                    self.assert_exit(result, 0)
                    self.make()
                    self.assertEqual(self.seen(), right)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class Bound(Damaged):
    """A result that is filed under another key is none."""

    def setUp(self):
        super().setUp()
        self.make("--set", f"cache.tiers=dir:{self.shared} rw")
        self.right = self.seen()
        results = self.files(self.shared / "ac")
        contents = [path.read_bytes() for path in results]
        for path, content in zip(results, contents[1:] + contents[:1]):
            path.chmod(0o644)
            path.write_bytes(content)
            os.utime(path, (STORED, STORED))

    def check(self, place):
        self.env["BITZEL_CACHE_DIR"] = str(self.dir / "far")
        result = self.make("--set", f"cache.tiers={place}")
        self.assertEqual(result.err.count("is the result of another key"), 1, result.err)
        self.assertEqual(len(test_build.tasks(result, "Executed")), 9)
        self.assertEqual(self.seen(), self.right)

    def test_in_a_directory(self):
        self.check(f"dir:{self.shared}")
        result = self.run_bitzel("cache", "verify", env={"BITZEL_CACHE_DIR": str(self.shared)})
        self.assert_exit(result, 6)
        self.assertIn("another key's", result.out)

    def test_in_a_directory_that_is_written_it_is_replaced(self):
        self.check(f"dir:{self.shared} rw")
        self.assert_exit(self.run_bitzel("cache", "verify", env={"BITZEL_CACHE_DIR": str(self.shared)}), 0)
        self.env["BITZEL_CACHE_DIR"] = str(self.dir / "farther")
        result = self.make("--set", f"cache.tiers=dir:{self.shared}")
        self.assertEqual(test_build.tasks(result, "Executed"), set())

    def test_on_a_web_server(self):
        handler = functools.partial(Quiet, directory=str(self.shared))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            # The layout of a directory has two digits more than that of a server.
            for path in [*self.files(self.shared / "ac"), *self.files(self.shared / "cas")]:
                os.link(path, path.parent.parent / path.name)
            self.check(f"http://127.0.0.1:{server.server_port}")
            server.shutdown()

    def test_in_the_store_itself(self):
        shutil.rmtree(self.store)
        shutil.copytree(self.shared, self.store)
        result = self.make()
        self.assertEqual(result.err.count("is the result of another key"), 1, result.err)
        self.assertEqual(self.seen(), self.right)
        self.assertEqual(test_build.tasks(self.make(), "Executed"), set())


class Random(Damaged):
    """What a build uses is damaged at random; then one build ends well, with the right bytes."""

    TOPPINGS = ("basil", "olive", "capers")

    def references(self):
        found = {}
        for topping in self.TOPPINGS:
            self.write("meta-kitchen/files/topping", topping + "\n")
            self.make()
            found[topping] = self.seen()
        return found

    def places(self):
        return {"cas": self.store / "cas", "ac": self.store / "ac", "trees": self.store / "trees",
                "out": self.store / "out", "far cas": self.shared / "cas", "far ac": self.shared / "ac"}

    def damage(self, rng):
        where = rng.choice(list(self.places()))
        files = self.files(self.places()[where])
        if not files:
            return f"nothing in {where}"
        kind = rng.choice(("flip", "truncate", "swap", "link", "directory", "fifo", "other"))
        path = rng.choice(files)
        if kind == "swap":
            other = rng.choice([f for f in files if f.stat().st_size == path.stat().st_size])
            if rng.random() < 0.5:
                other = rng.choice(files)
            for a, b in ((path, "swapped"), (other, path), ("swapped", other)):
                if a == b:
                    break
                os.rename(self.dir / a, self.dir / b)
        elif kind == "other":
            other = rng.choice(files)
            if other != path:
                mode = path.stat().st_mode
                data = other.read_bytes()
                remove(path)
                path.write_bytes(data)
                path.chmod(mode & 0o7777)
                os.utime(path, (STORED, STORED))
        else:
            DAMAGE[kind](path, rng)
        return f"{kind} {path.relative_to(self.dir)}"

    def press(self, rng):
        """What makes the next build look at more than it would."""
        what = rng.choice(("nothing", "nothing", "no trees", "no record", "topping", "topping", "empty store"))
        if what == "no trees":
            shutil.rmtree(self.store / "trees", ignore_errors=True)
            shutil.rmtree(self.store / "out", ignore_errors=True)
        elif what == "no record":
            shutil.rmtree(self.dir / "build/cache", ignore_errors=True)
        elif what == "empty store":
            shutil.rmtree(self.store)
        elif what == "topping":
            self.topping = rng.choice(self.TOPPINGS)
            self.write("meta-kitchen/files/topping", self.topping + "\n")
        return what

    def test_one_build_heals(self):
        far = f"dir:{self.shared} rw"
        self.env["BITZEL_CACHE_TIERS"] = far
        right = self.references()
        self.topping = self.TOPPINGS[-1]
        done = 0
        number = SEED
        while done < DAMAGES:
            rng = random.Random(number)
            count = rng.choice((1, 1, 2, 4, 8))
            self.env["BITZEL_CACHE_TIERS"] = rng.choice((far, far, ""))
            said = [self.damage(rng) for _ in range(count)] + [self.press(rng), self.env["BITZEL_CACHE_TIERS"]]
            with self.subTest(seed=number, said=said):
                result = self.run_bitzel("--directory", self.dir / "build", "build", "pizza", "sauce", env=self.env)
                self.assertEqual(result.code, 0, result.err)
                self.assertEqual(self.seen(), right[self.topping], result.err)
            done += count
            number += 1
        self.run_bitzel("cache", "verify", "--repair", env=self.env)
        self.assert_exit(self.run_bitzel("cache", "verify", env=self.env), 0)


if __name__ == "__main__":
    unittest.main()
