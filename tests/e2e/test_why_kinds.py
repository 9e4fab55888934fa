"""bitzel why names exactly what was edited, for everything that a key counts.

The same random edits as in why_random, in projects that have versions, sources, git
repositories, files of layers that scripts name, and flags of tasks. Recipes are renamed,
sources get other modes and names, tags move. What why must say follows from the edit.

BITZEL_EDITS says how many edits to try (40), BITZEL_SEED which ones (1). A run of at least
500 edits fails if it misses one of the kinds.
"""

import os
import pathlib
import sys

import bitzel
import test_why_random
from test_why_random import EXCLUDE, VARIABLES, Edit, Plain, Statement

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "differential"))

import checkout  # noqa: E402
from checkout import Dir, File, Link  # noqa: E402

CONF = '''\
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'none'}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
PR = "r0"
EXTENDPE = "${@'' if d.getVar('PE') is None else d.getVar('PE') + '_'}"
BPN = "${PN}"
BP = "${BPN}-${PV}"
PF = "${PN}-${EXTENDPE}${PV}-${PR}"
DEPENDS ?= ""
PROVIDES = "${PN}"
SRC_URI ??= ""
OVERRIDES = "all:${EXTRA}:${MACHINE}:pn-${PN}"
TMPDIR = "${TOPDIR}/tmp"
DL_DIR ?= "${TOPDIR}/downloads"
WORKDIR = "${TMPDIR}/work/${PN}/${PV}"
UNPACKDIR = "${WORKDIR}/sources"
S = "${UNPACKDIR}"
T = "${WORKDIR}/temp"
B = "${WORKDIR}/build"
D = "${WORKDIR}/image"
THISDIR = "${@os.path.dirname(d.getVar('FILE', False))}"
FILESPATH = "${THISDIR}/files"
AUTOREV = "AUTOINC"
BB_BASEHASH_IGNORE_VARS = "TMPDIR TOPDIR FILE PATH PWD BBPATH DL_DIR THISDIR HOME \\
    LOGNAME SHELL TERM USER FILESPATH WORKDIR"
'''
CLASS = '''\
addtask fetch
addtask unpack after do_fetch
addtask patch after do_unpack
addtask compile after do_patch
addtask deploy after do_compile
addtask build after do_deploy
do_build[noexec] = "1"
do_compile[deptask] = "do_deploy"
do_fetch[network] = "1"
do_unpack[cleandirs] = "${UNPACKDIR}"
python do_fetch() {
    bb.fetch2.Fetch((d.getVar('SRC_URI') or '').split(), d).download()
}
python do_unpack() {
    bb.fetch2.Fetch((d.getVar('SRC_URI') or '').split(), d).unpack(d.getVar('UNPACKDIR'))
}
python do_patch() {
    oe.patch.apply(d.getVar('SRC_URI'), d.getVar('S'))
}
do_build () {
    :
}
'''
HERE = "meta/recipes"
# The recipe r2 has two versions side by side.
RECIPES = {"r0": ["1.0"], "r1": ["1.0"], "r2": ["1.0", "2.0"], "r3": ["1.0"], "r4": ["1.0"]}
READ = ("PV", "PF", "S", "B", "D", "WORKDIR", "PN", "T")
# Entries that a recipe may get; the last ones are not there.
ENTRIES = ("file://more.txt", "file://tree", "file://fix.patch", "file://fix.patch;striplevel=0", "http://example.invalid/more.tar.gz",
           "file://more.txt;subdir=sub", "file://nowhere.txt")


class Generator(test_why_random.Generator):
    """Statements of many more kinds."""

    tasks = ("do_compile", "do_deploy")

    def value(self, below):
        text = super().value(below)
        return text if self.rng.random() < 0.7 else f"{text} ${{{self.rng.choice(READ)}}}"

    def code(self):
        text = super().code()
        if self.rng.random() < 0.3:
            text += "    cat ${METADIR}/files/all.txt\n"
        if self.rng.random() < 0.2:
            text += "    cat ${THISDIR}/files/named.txt\n"
        if self.rng.random() < 0.2:
            text += "    ls ${METADIR}/shown\n"
        return text

    def one_of(self, *texts):
        """Another one of these texts."""
        return lambda was: self.rng.choice([t for t in texts if t != was])

    def fresh(self, form):
        """The form with another word in it."""
        return lambda was=None: form % self.word()

    def setting(self, name, kind, vary, head=None, flag=None):
        return Statement(name, head or f"{name} =", vary(None), flag=flag, kind=kind, vary=vary)

    def of_task(self):
        """A flag that says how a task runs."""
        task = self.rng.choice(("do_compile", "do_deploy", "do_unpack", "do_patch", "do_fetch"))
        if self.rng.random() < 0.15:
            task = self.rng.choice(test_why_random.HELPERS)  # before or after a task
        flag, vary = self.rng.choice((
            ("dirs", self.fresh("${B}/%s")), ("dirs", self.fresh("${D} ${V1}/%s")),
            ("cleandirs", self.fresh("${B}/%s")), ("umask", self.one_of("022", "077", "002")),
            ("noexec", self.one_of("1", "")), ("network", self.one_of("1", "0")),
            ("fakeroot", self.one_of("1", "")),
            ("prefuncs", self.fresh(self.rng.choice(test_why_random.HELPERS) + " %s")),
            ("postfuncs", self.fresh(self.rng.choice(test_why_random.HELPERS) + " %s"))))
        return self.setting(task, f"[{flag}]", vary, f"{task}[{flag}] =", flag)

    def of_recipe(self):
        """A variable that every recipe may set."""
        name, vary = self.rng.choice((
            ("PR", self.fresh("r%s")), ("PE", self.fresh("%s")),
            ("WORKDIR", self.fresh("${TMPDIR}/work/%s/${PN}")), ("S", self.fresh("${WORKDIR}/%s")),
            ("B", self.fresh("${WORKDIR}/%s")), ("UNPACKDIR", self.fresh("${WORKDIR}/%s")),
            ("T", self.fresh("${WORKDIR}/%s"))))
        return self.setting(name, name, vary)

    def entry(self):
        text = self.rng.choice(ENTRIES)
        head = self.rng.choice(("SRC_URI +=", "SRC_URI:append =", "SRC_URI:append:all ="))
        return Statement("SRC_URI", head, " " + text, kind="entry",
                         vary=lambda was: " " + self.one_of(*ENTRIES)(was.strip()))

    def exporting(self):
        name = self.rng.choice(VARIABLES)
        flag = self.rng.choice(("export", "unexport"))
        return Statement(name, f"{name}[{flag}] =", "1", flag=flag, kind=f"[{flag}]")

    def depending(self):
        if self.rng.random() < 0.5:
            return Statement("DEPENDS", self.rng.choice(("DEPENDS +=", "DEPENDS:append =")), " r0",
                             kind="DEPENDS", vary=self.one_of(" r0", " "))
        task = self.rng.choice(("do_deploy", "do_compile", "do_unpack"))
        return Statement(task, f"{task}[depends] =", "r0:do_deploy", flag="depends", kind="[depends]",
                         vary=self.one_of("r0:do_deploy", "r0:do_compile", "r0:do_unpack"))

    def special(self, recipe):
        """A statement of a new kind, for the file of a recipe or for all."""
        makers = [self.of_task, self.of_task, self.exporting]
        if not recipe and self.rng.random() < 0.2:
            return self.setting("BB_DEFAULT_UMASK", "default umask", self.one_of("022", "027"))
        if recipe:
            makers += [self.of_recipe] * 3
        if recipe and recipe != "r4":  # all sources of r4 are fetched
            makers.append(self.entry)
        if recipe and recipe != "r0":
            makers.append(self.depending)
        return self.rng.choice(makers)()

    def unread(self):
        return self.setting("UNREAD", "nothing", self.fresh("%s"))

    # ---- the project ----

    def sources(self, recipe, repository):
        """What the statements of a recipe begin with."""
        path, commits = repository
        def uri(text):
            return Statement("SRC_URI", "SRC_URI =", text, kind="parameter",
                             vary=lambda was: f"{text};subdir={self.word()}")
        if recipe == "r0":
            return [uri("file://r0.txt file://tree")]
        if recipe == "r1":
            return [uri("http://example.invalid/r1-${PV}.tar.gz"), self.setting(
                "SRC_URI", "checksum", lambda was: "%064x" % self.rng.getrandbits(250),
                "SRC_URI[sha256sum] =", "sha256sum")]
        if recipe == "r2":
            return [uri("file://r2.txt file://fix.patch")]
        if recipe == "r3":
            return [uri(f"git://{path};protocol=file;branch=main"), Statement(
                "SRCREV", "SRCREV =", commits[0], kind="SRCREV", vary=self.one_of(*commits))]
        revision = self.rng.choice(("moving", "${AUTOREV}"))
        return [uri(f"git://{path};protocol=file;branch=main"),
                Plain(f'SRCREV = "{revision}"\n')]

    def recipe(self, name, repository):
        lines = [Plain("inherit kind\n")] if self.rng.random() < 0.5 else []
        lines += self.sources(name, repository)
        if name != "r0":
            lines.append(Statement("DEPENDS", "DEPENDS =", "r0", kind="DEPENDS",
                                   vary=self.one_of("r0", "")))
        if self.rng.random() < 0.4:
            lines.append(Statement("do_compile", "do_compile:append ()",
                                   f"    cat ${{METADIR}}/files/{name}.txt\n", True,
                                   vary=lambda was: self.code()))
        return lines + self.some(3) + [self.special(name) for _ in range(self.rng.randrange(4))]

    def project(self, repository):
        excluded = Plain(f'BB_SIGNATURE_EXCLUDE_FLAGS = "{EXCLUDE} umask network"\n')
        files = {
            "build/conf/local.conf": [
                Statement("MACHINE", "MACHINE =", "board"),
                Statement("PREFERRED_VERSION_r2", "PREFERRED_VERSION_r2 =", "1.0",
                          kind="preferred version", vary=self.one_of("1.0", "2.0")),
                *self.some(2, True)],
            "meta/conf/bitbake.conf": [
                Plain(CONF), Statement("EXTRA", "EXTRA =", "extra"),
                Plain("require conf/local.conf\n"), *[excluded][:self.rng.randrange(2)],
                *self.some(3, True)],
            "meta/classes/base.bbclass": [
                Plain(CLASS), Statement("do_compile", "do_compile ()", self.code(), True),
                Statement("do_deploy", "do_deploy ()", self.code(), True), *self.some(4),
                self.special(None)],
            "meta/classes/kind.bbclass": self.some(3) + [self.special(None)],
        }
        for name, versions in RECIPES.items():
            for version in versions:
                files[f"{HERE}/{name}_{version}.bb"] = self.recipe(name, repository)
            if self.rng.random() < 0.5:
                files[f"more/recipes/{name}_%.bbappend"] = self.some(2) + [self.special(name)]
        return files


class EntryEdit(Edit):
    """Other entries in the checkout; None: there is none. `names` are the files that count."""

    def __init__(self, kind, was, now, names=()):
        super().__init__(next(iter(was)), was, now, kind, ",".join(names) or None)
        self.names = names

    def write(self, test, new):
        for path, entry in (self.now if new else self.was).items():
            place = (test.outside if path.startswith("repo/") else test.dir) / path
            if entry is None:
                checkout.remove(place)
            else:
                checkout.store(place, entry)

    def is_named(self, cause):
        if self.kind == "commit":
            return cause["kind"] == "commit" and "repo" in cause["name"]
        return cause["kind"] == "file" and any(self.is_file(cause, n) for n in self.names)

    def is_told(self, causes):
        if self.kind == "commit":
            return super().is_told(causes)
        return all(any(self.is_file(c, n) for c in causes) for n in self.names)

    @staticmethod
    def is_file(cause, name):
        return cause["name"] == name or cause["name"].endswith("/" + name)

    def __str__(self):
        shown = {p: vars(e) if e else None for p, e in self.was.items()}
        return f"{self.kind}: {shown} -> { {p: vars(e) if e else None for p, e in self.now.items()} }"


class RenameEdit(Edit):
    """The file of a recipe has another version in its name."""

    def __init__(self, path, new_path, statements):
        super().__init__(path, statements, statements, "version", "PV")
        self.new_path = new_path

    def write(self, test, new):
        paths = [self.path, self.new_path]
        (test.dir / paths[not new]).rename(test.dir / paths[new])

    def is_named(self, cause):
        return cause["name"] == "PV" and cause["places"] == []

    def __str__(self):
        return f"version: {self.path} -> {self.new_path}\n{test_why_random.render(self.was)}"


class AppendEdit(Edit):
    """A file that adds to a recipe is new, or gone."""

    def write(self, test, new):
        there = self.now if new else self.was
        if there is None:
            (test.dir / self.path).unlink()
        else:
            test.put(self.path, test_why_random.render(there))

    def __str__(self):
        return f"{self.kind}: {self.path} {test_why_random.render(self.was or self.now)}"


class WhyKinds(test_why_random.WhyRandom):
    edits = int(os.environ.get("BITZEL_EDITS", "40"))
    targets = tuple(RECIPES)
    kinds = ("version", "PR", "PE", "WORKDIR", "S", "[dirs]", "[cleandirs]", "[umask]", "default umask", "[noexec]",
             "[network]", "[fakeroot]", "[export]", "[unexport]", "entry", "parameter", "checksum",
             "SRCREV", "commit", "preferred version", "layer file", "layer file mode", "layer directory",
             "source", "source mode", "source link", "source directory", "source renamed", "DEPENDS",
             "[depends]", "append", "class", "variable", "function", "nothing")

    def new_generator(self):
        return Generator(self.rng)

    def start(self):
        self.outside = self.dir / "outside"
        for name in ("meta", "more", "build"):
            checkout.remove(self.dir / name)
        made = checkout.Checkout(self.outside / "repo")
        path, commits = made.repository("git", {"main": [{"x": "0"}, {"x": "1"}, {"x": "2"}]})
        self.commits = commits["main"]
        for name, entry in made.outside.items():
            checkout.store(self.outside / "repo" / name, entry)
        self.refs = ["repo/git/refs/tags/moving", "repo/git/refs/heads/main"]
        for ref in self.refs:
            checkout.store(self.outside / ref, File(self.commits[0] + "\n"))
        for name, text in test_why_random.FIXED.items():
            self.put(name, text + ('METADIR := "${LAYERDIR}"\n' if name.startswith("meta/") else ""))
        self.files = self.generator.project((path, self.commits))
        for name, statements in self.files.items():
            self.put(name, test_why_random.render(statements))
        self.entries = {}
        for recipe in RECIPES:
            self.entries[f"{HERE}/files/{recipe}.txt"] = File(recipe)
            self.entries[f"meta/files/{recipe}.txt"] = File(recipe)
        for name in ("more.txt", "fix.patch", "named.txt", "tree/one", "tree/two", "tree/sub/three"):
            self.entries[f"{HERE}/files/{name}"] = File(name)
        self.entries[f"{HERE}/files/tree/link"] = Link("one")
        for name in ("files/all.txt", "shown/one", "shown/sub/two"):
            self.entries[f"meta/{name}"] = File(name)
        for name, entry in self.entries.items():
            checkout.store(self.dir / name, entry)
        return self.resolve() and self.keep()

    def resolve(self):
        return self.bitzel("fetch", "--refresh", "r4").code == 0

    def apply(self, edits):
        super().apply(edits)
        self.resolve_moved(edits)

    def revert(self, edits):
        super().revert(edits)
        self.resolve_moved(edits)

    def resolve_moved(self, edits):
        if any(e.kind == "commit" for e in edits):
            self.resolve()

    # ---- edits ----

    def edit_entry(self, kind, path, entry, top):
        """Another entry in one place; its name begins below `top`."""
        name = path[len(top):] + ("/" if isinstance(entry, Dir) else "")
        return EntryEdit(kind, {path: self.entries.get(path)}, {path: entry}, [name])

    def other(self, kind, path, top, how):
        was = self.entries[path]
        now = File(was.data, 0o755) if how == "mode" else File(self.generator.word())
        return self.edit_entry(kind, path, now, top)

    def source(self):
        top = f"{HERE}/files/"
        texts = [p for p, e in self.entries.items() if p.startswith(top) and isinstance(e, File)]
        tree = f"{top}tree/"
        what = self.rng.randrange(6)
        if what == 0:
            return self.edit_entry("source link", f"{tree}link", Link("two"), top)
        if what == 1:
            return self.edit_entry("source directory", f"{tree}{self.generator.word()}", Dir(), top)
        if what == 2:
            old, new = f"{tree}two", f"{tree}{self.generator.word()}"
            return EntryEdit("source renamed", {old: self.entries[old], new: None},
                             {old: None, new: self.entries[old]}, [old[len(top):], new[len(top):]])
        if what < 5:
            return self.other("source", self.rng.choice(texts), top, "text")
        return self.other("source mode", self.rng.choice(texts), top, "mode")

    def layer_file(self):
        paths = [p for p in self.entries if p.startswith(("meta/files", "meta/shown"))]
        path = self.rng.choice([*paths, "meta/files/all.txt", f"{HERE}/files/named.txt"])
        what = self.rng.randrange(4)
        if what == 0:
            return self.other("layer file mode", path, "meta/", "mode")
        if what == 1:
            return self.edit_entry("layer directory", f"meta/shown/{self.generator.word()}", Dir(), "meta/")
        return self.other("layer file", path, "meta/", "text")

    def moved(self):
        commit = File(self.rng.choice(self.commits[1:]) + "\n")
        was = File(self.commits[0] + "\n")
        return EntryEdit("commit", {r: was for r in self.refs}, {r: commit for r in self.refs})

    def renamed(self):
        path = self.rng.choice([p for p in self.files if p.endswith("_1.0.bb") and "/r2_" not in p])
        return RenameEdit(path, path.replace("_1.0", f"_1.{self.rng.randrange(1, 9)}"), self.files[path])

    def append(self):
        there = [p for p in self.files if p.endswith(".bbappend") and len(self.files[p]) == 1]
        missing = [p for r in RECIPES if (p := f"more/recipes/{r}_%.bbappend") not in self.files]
        if not there + missing:
            return self.nothing()
        path = self.rng.choice(there + missing)
        if path in there:
            was, = self.files[path]
            edit = AppendEdit(path, [was], None, "append", was.name, was.flag)
            edit.old_line = 1
            return edit
        new = self.generator.special(path.split("/")[-1][:2])
        edit = AppendEdit(path, None, [new], "append", new.name, new.flag)
        edit.line = 1
        return edit

    def nothing(self):
        what = self.rng.randrange(3)
        path = self.rng.choice(sorted(self.files))
        if what == 0:
            return self.comment(path)
        if what == 1:
            edit = self.add(path, self.generator.unread())
            edit.name = None
            return edit
        path = self.rng.choice(sorted(self.entries))
        return EntryEdit("nothing", {path: self.entries[path]}, {path: self.entries[path]})

    def statement_edit(self, path):
        named = [i for i, s in enumerate(self.files[path]) if s.name]
        recipe = path.split("/")[-1][:2] if path.endswith((".bb", ".bbappend")) else None
        what = self.rng.random()
        if what < 0.3 or not named:
            return self.add(path, self.generator.special(recipe))
        index = self.rng.choice(named)
        fixed = ("MACHINE", "EXTRA", "do_compile", "do_deploy")
        if what < 0.5 and (self.files[path][index].name not in fixed or self.files[path][index].flag):
            return self.remove(path, index)
        return self.change(path, index)

    def random_edit(self):
        what = self.rng.random()
        if what < 0.05:
            return self.renamed()
        if what < 0.17:
            return self.source()
        if what < 0.26:
            return self.layer_file()
        if what < 0.29:
            return self.moved()
        if what < 0.33:
            return self.append()
        if what < 0.38:
            return self.nothing()
        if what < 0.41:
            return self.change("build/conf/local.conf", 1)
        if what < 0.48:
            edit = self.statement_edit("meta/classes/kind.bbclass")
            edit.kind = "class"
            return edit
        return self.statement_edit(self.rng.choice(sorted(self.files)))


if __name__ == "__main__":
    bitzel.main()
