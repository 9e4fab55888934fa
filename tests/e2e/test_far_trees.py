"""Trees at the edge of what there is, from one machine to another, through every tier."""

import hashlib
import os
import stat
import unittest

import test_build
from test_build import nginx

FILES = int(os.environ.get("BITZEL_FAR_FILES", "100000"))

RECIPE = """\
do_compile() {
    mkdir many deep
    cd many
    seq -w 1 %d | split -l 1 -a 5 -d - f
    cd ../deep
    for i in $(seq 1 60); do mkdir a-rather-long-name-for-a-directory-$i; cd a-rather*; done
    echo bottom > here
    cd ${B}
    truncate -s 1G hole
    echo tail >> hole
    : > empty-file
    mkdir empty-directory
    ln -s /no/such/place nowhere
    touch "$(printf 'not-utf8-\\377')" "$(printf 'n%%.0s' $(seq 1 255))"
    chmod 600 empty-file
}
do_install() {
    cp -a --sparse=always ${B}/. ${D}/
}
do_populate_sysroot() {
    :
}
"""


BLOCK = 65536


def digest(path):
    """Contents; blocks of nothing but zeros count the same whether they are stored or not."""
    size = os.stat(path).st_size
    total = hashlib.sha256(str(size).encode())
    with open(path, "rb", buffering=0) as file:
        at = 0
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA) // BLOCK * BLOCK
            except OSError:  # nothing but a hole is left
                break
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            end = max(end, at + 1)
            while at < end:
                data = os.pread(file.fileno(), BLOCK, at)
                if data.count(0) < len(data):
                    total.update(b"%d:" % at + data)
                at += BLOCK
    return total.hexdigest()


def listing(top):
    """Every name below a directory with its kind, its mode and what is in it."""
    found = {}
    for folder, dirs, files in os.walk(os.fsencode(top)):
        for name in dirs + files:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            content = None
            if stat.S_ISLNK(st.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(st.st_mode):
                content = digest(path)
            found[os.path.relpath(path, os.fsencode(top))] = (st.st_mode, content)
    return found


class Far(test_build.Kitchen):
    def machine(self, name, tier):
        top = self.dir / name / "checkout"
        test_build.shutil.copytree(self.dir / "build/conf", top / "build/conf")
        test_build.shutil.copytree(self.dir / "meta-kitchen", top / "meta-kitchen")
        result = self.build("dough", where=top,
                            env={"HOME": str(self.dir / name), "BITZEL_CACHE_TIERS": tier,
                                 "BITZEL_CACHE_FLUSH": "300s"}, timeout=600)
        return result, listing(top / "build/bitzel-out/dough/image/")

    def check(self, tier):
        self.edit("meta-kitchen/recipes/dough.bb", "", RECIPE % FILES)
        first, made = self.machine("one", tier)
        self.assertEqual(len(test_build.tasks(first, "Executed")), 3)
        self.assertGreater(len(made), FILES)
        for name in ("two", "three"):
            again, same = self.machine(name, tier)
            self.assertEqual(test_build.tasks(again, "Executed"), set(), again)
            self.assertEqual(same.keys() ^ made.keys(), set())
            self.assertEqual([n for n in made if made[n] != same[n]], [])

    def test_through_a_directory(self):
        (self.dir / "shared").mkdir()
        self.check(f"dir:{self.dir}/shared rw")

    @unittest.skipUnless(nginx.found() or os.environ.get("BITZEL_MUST_WORK"), "nginx is not installed")
    def test_through_a_web_server(self):
        server = nginx.Nginx(self.dir / "www")
        self.addCleanup(server.stop)
        self.check(f"{server.url} rw")


if __name__ == "__main__":
    unittest.main()
