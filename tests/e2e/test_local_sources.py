"""Local sources count exactly as they are unpacked: a cached build and one from an empty cache agree."""

import os
import shutil
import subprocess
import tarfile

import bitzel
import test_build
import test_sources

RECIPE = '''\
SRC_URI = "file://pot file://lid file://shelf file://p.tar file://p.tar;unpack=0;subdir=kept"
do_patch[noexec] = "1"
do_compile[noexec] = "1"
'''


class LocalSources(test_build.Kitchen):
    def setUp(self):
        super().setUp()
        self.write("meta-kitchen/classes/base.bbclass", test_sources.CLASS)
        self.edit("meta-kitchen/conf/bitbake.conf", "SALT ?=",
                  'DL_DIR ?= "${TOPDIR}/downloads"\nFILESPATH = "${KITCHEN}/files"\n'
                  'BB_SIGNATURE_EXCLUDE_FLAGS = "doc defaultval func python"\nSALT ?=')
        self.write("meta-kitchen/recipes/soup.bb", RECIPE)
        self.files = self.dir / "meta-kitchen/files"
        for name in ("pot/water", "pot/deep/salt", "pot/CVS/Entries", "pot/.hg/store", "lid", "cupboard/plate",
                     "outside"):
            self.write(f"meta-kitchen/files/{name}", "aaaa")
        self.write("meta-kitchen/files/pot/ladle", "aaaa")
        (self.files / "pot/ladle").chmod(0o755)
        (self.files / "pot/empty").mkdir()
        (self.files / "pot/spoon").symlink_to("water")
        (self.files / "pot/nowhere").symlink_to("gone")
        (self.files / "pot/far").symlink_to("../outside")
        (self.files / "pot/away").symlink_to("../cupboard")
        (self.files / "shelf").symlink_to("cupboard")
        self.pack("bbbb")
        self.copies = 0

    def pack(self, text):
        (self.dir / "leaf").write_text(text)
        with tarfile.open(self.files / "p.tar", "w") as tar:
            tar.add(self.dir / "leaf", "leaf")

    def unpacked(self, where=None):
        return test_build.everything((where or self.dir) / "build/bitzel-out/soup")

    def fresh(self):
        """What a checkout elsewhere unpacks, with nothing stored or remembered."""
        self.copies += 1
        other = self.dir / f"other{self.copies}"
        other.mkdir()
        shutil.copytree(self.dir / "meta-kitchen", other / "meta-kitchen", symlinks=True)
        shutil.copytree(self.dir / "build/conf", other / "build/conf")
        for path in other.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)  # as with another umask
        self.build("-c", "unpack", "soup", where=other, env={"XDG_CACHE_HOME": str(other / "cache"),
                                                             "XDG_STATE_HOME": str(other / "state")})
        return self.unpacked(other)

    def check(self, what, edit, counts):
        edit()
        ran = test_build.tasks(self.build("-c", "unpack", "soup"), "Executed")
        with self.subTest(what):
            self.assertEqual(ran, {"soup:do_fetch", "soup:do_unpack"} if counts else set())
            self.assertEqual(self.unpacked(), self.fresh())

    def replace(self, name, target=None):
        (self.files / name).unlink()
        if target:
            (self.files / name).symlink_to(target)
        else:
            (self.files / name).write_text("aaaa")

    def rewrite(self, name, text):
        """Other bytes, the same size and time."""
        path = self.files / name
        st = path.stat()
        path.write_text(text)
        os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))

    def test_every_edit_that_unpacking_shows_counts(self):
        self.build("-c", "unpack", "soup")
        pot = self.files / "pot"
        for what, edit in (
                ("content", lambda: self.rewrite("pot/water", "bbbb")),
                ("content of a file", lambda: self.rewrite("lid", "bbbb")),
                ("content behind a link to a directory", lambda: self.rewrite("cupboard/plate", "bbbb")),
                ("executable", lambda: (pot / "water").chmod(0o755)),
                ("not executable", lambda: (pot / "ladle").chmod(0o655)),
                ("an executable file", lambda: (self.files / "lid").chmod(0o755)),
                ("target of a link to a file", lambda: self.replace("pot/spoon", "deep/salt")),
                ("target of a link to nothing", lambda: self.replace("pot/nowhere", "gone2")),
                ("target of a link to a directory", lambda: self.replace("pot/away", "deep")),
                ("a file becomes a link to the same bytes", lambda: self.replace("pot/deep/salt", "../../cupboard/plate")),
                ("a link becomes a file", lambda: self.replace("pot/spoon")),
                ("an empty directory comes", lambda: (pot / "new/deep").mkdir(parents=True)),
                ("an empty directory is renamed", lambda: (pot / "new/deep").rename(pot / "new/flat")),
                ("an empty directory goes", lambda: (pot / "new/flat").rmdir()),
                ("a directory becomes an empty file", lambda: ((pot / "empty").rmdir(), (pot / "empty").touch())),
                ("a file is renamed", lambda: (pot / "water").rename(pot / "wine")),
                ("a file goes", lambda: (pot / "wine").unlink()),
                ("another archive", lambda: self.pack("cccc"))):
            self.check(what, edit, True)

    def test_nothing_else_counts(self):
        self.build("-c", "unpack", "soup")
        pot = self.files / "pot"
        for what, edit in (
                ("bits of the group", lambda: (pot / "water").chmod(0o664)),
                ("bits of others", lambda: (self.files / "lid").chmod(0o600)),
                ("executable for others than the owner", lambda: (pot / "water").chmod(0o611)),
                ("mode of a directory", lambda: (pot / "empty").chmod(0o777)),
                ("mode of the directory itself", lambda: pot.chmod(0o700)),
                ("times", lambda: os.utime(pot / "water", (1, 1))),
                ("times of a directory", lambda: os.utime(pot, (1, 1))),
                ("a repository", lambda: subprocess.run(["git", "init", "-q", pot], check=True)),
                ("a file in it", lambda: (pot / ".git/file").write_text("x")),
                ("a repository below", lambda: shutil.move(pot / ".git", pot / "deep")),
                ("a work tree's link to one", lambda: (pot / ".git").write_text("gitdir: elsewhere\n")),
                ("CVS", lambda: (pot / "CVS/Entries").write_text("x")),
                ("Mercurial", lambda: (pot / ".hg/store").write_text("x")),
                ("a file that a link leads to", lambda: self.rewrite("outside", "bbbb"))):
            self.check(what, edit, False)
        names = {name.split("/", 1)[1] for name in self.unpacked() if name.startswith("work/pot/")}
        self.assertEqual({name for name in names if any(word in name for word in (".git", "CVS", ".hg"))}, set())

    def test_directories_that_are_excluded_are_not_unpacked(self):
        self.write("build/conf/local.conf", 'MACHINE ?= "stove"\nBB_SIGNATURE_LOCAL_DIRS_EXCLUDE = "deep"\n')
        self.build("-c", "unpack", "soup")
        work = self.out("soup") / "work/pot"
        self.assertFalse((work / "deep").exists())
        self.assertFalse((work / "CVS").exists())
        self.assertTrue((work / ".hg").exists())
        self.check("an excluded directory", lambda: self.rewrite("pot/deep/salt", "bbbb"), False)

    def test_what_cannot_be_unpacked_is_an_error(self):
        os.mkfifo(self.files / "pot/pipe")
        result = self.build("-c", "unpack", "soup", code=2)
        self.assertIn("pot/pipe is no file, directory or symbolic link", result.err)


if __name__ == "__main__":
    bitzel.main()
