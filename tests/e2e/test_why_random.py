"""bitzel why names exactly what was edited: random edits of random projects.

A project is a list of statements for each of its files. An edit changes, adds or removes
one of them, or a local source, or only moves lines. What why must say follows from the
edit alone: if any key changed, this variable and this line, or this file; if none did,
nothing. Of two edits at once, each must be named that changes something both alone and
beside the other.

BITZEL_EDITS says how many edits to try (60), BITZEL_SEED which ones (1).
"""

import collections
import os
import random
import sys

import bitzel

EDITS = int(os.environ.get("BITZEL_EDITS", "60"))
SEED = int(os.environ.get("BITZEL_SEED", "1"))

LAYER = '''\
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes/*.bb ${LAYERDIR}/recipes/*.bbappend"
BBFILE_COLLECTIONS += "%(name)s"
BBFILE_PATTERN_%(name)s = "^${LAYERDIR}/"
BBFILE_PRIORITY_%(name)s = "%(priority)d"
LAYERSERIES_CORENAMES = "x"
LAYERSERIES_COMPAT_%(name)s = "x"
'''
FIXED = {
    "build/conf/bblayers.conf": 'BBPATH = "${TOPDIR}"\nBBFILES ?= ""\n'
                                'BBLAYERS = "${TOPDIR}/../meta ${TOPDIR}/../more"\n',
    "meta/conf/layer.conf": LAYER % {"name": "meta", "priority": 5},
    "more/conf/layer.conf": LAYER % {"name": "more", "priority": 6},
}
# A project of OpenEmbedded has this; flags that it does not name count by themselves.
EXCLUDE = ("deps depends deptask rdeptask recrdeptask recideptask mcdepends rdepends func task "
           "python export exports unexport vardeps vardepsexclude vardepvalue prefuncs postfuncs "
           "file-checksums noexec filename lineno fakeroot doc progress nostamp dirs cleandirs")
VARIABLES = [f"V{i}" for i in range(9)]
HELPERS = ["help_a", "help_b", "help_c"]
TASKS = ["do_fetch", "do_build"]
OVERRIDES = ["board", "other", "all", "extra", "pn-r1", "off"]
RECIPES = ["r0", "r1", "r2", "r3"]


class Statement:
    """One statement; `name` is the variable that it is about."""

    def __init__(self, name, head, text, body=False, flag=None, kind=None, vary=None):
        self.name, self.head, self.text, self.body, self.flag = name, head, text, body, flag
        # What reports call an edit of it.
        self.kind = kind or (f"[{flag}]" if flag else "function" if body else "variable")
        self.vary = vary  # gives another text; None: follows from the name

    def render(self):
        if self.body:
            return f"{self.head} {{\n{self.text}}}\n"
        return f'{self.head} "{self.text}"\n'

    def copy(self, text):
        return Statement(self.name, self.head, text, self.body, self.flag, self.kind, self.vary)


class Plain(str):
    """Text that is nobody's variable."""

    name = None

    def render(self):
        return str(self)


class Generator:
    tasks = TASKS

    def __init__(self, rng):
        self.rng = rng
        self.words = 0

    def word(self):
        self.words += 1  # no two texts are equal, so that an edit is one
        return f"w{self.words}"

    def value(self, below):
        """Words, and references to variables with a smaller number."""
        parts = [self.word()]
        for _ in range(self.rng.randrange(3)):
            parts.append(self.word() if below == 0 or self.rng.random() < 0.4
                         else "${V%d}" % self.rng.randrange(below))
        self.rng.shuffle(parts)
        return " ".join(parts)

    def code(self):
        lines = []
        for _ in range(1 + self.rng.randrange(3)):
            what = self.rng.random()
            if what < 0.25:
                lines.append(f"    {self.rng.choice(HELPERS)}\n")
            else:
                lines.append(f"    run {self.value(len(VARIABLES))}\n")
        return "".join(lines)

    def assignment(self):
        number = self.rng.randrange(len(VARIABLES))
        name = VARIABLES[number]
        text = self.value(number)
        what = self.rng.random()
        if what < 0.45:
            override = f":{self.rng.choice(OVERRIDES)}" if self.rng.random() < 0.3 else ""
            op = self.rng.choice(("=", "=", "=", "?=", "??=", ":=", "+=", "=+", ".=", "=."))
            return Statement(name, f"{name}{override} {op}", text)
        if what < 0.75:
            override = f":{self.rng.choice(OVERRIDES)}" if self.rng.random() < 0.4 else ""
            late = self.rng.choice(("append", "append", "prepend", "remove"))
            return Statement(name, f"{name}:{late}{override} =", " " + text)
        if what < 0.85:
            return Statement(name, f"export {name} =", text)
        flag = self.rng.choice(("vardeps", "vardepsexclude", "doc", "odd"))
        text = " ".join(self.rng.sample(VARIABLES[:max(number, 2)], 1 + self.rng.randrange(2)))
        return Statement(name, f"{name}[{flag}] =", f"{text} {self.word()}", flag=flag)

    def function(self):
        what = self.rng.random()
        if what < 0.4:
            name = self.rng.choice(HELPERS)
            return Statement(name, f"{name} ()", f"    run {self.value(len(VARIABLES))}\n", True)
        name = self.rng.choice(self.tasks)
        if what < 0.7:
            override = f":{self.rng.choice(OVERRIDES)}" if self.rng.random() < 0.3 else ""
            return Statement(name, f"{name}:append{override} ()", self.code(), True)
        flag = self.rng.choice(("vardeps", "prefuncs", "postfuncs"))
        text = self.rng.choice(HELPERS if flag != "vardeps" else VARIABLES)
        return Statement(name, f"{name}[{flag}] =", f"{text} {self.word()}", flag=flag)

    def statement(self, conf=False):
        """`conf`: in a configuration file, which has no functions."""
        return self.assignment() if conf or self.rng.random() >= 0.25 else self.function()

    def some(self, most, conf=False):
        return [self.statement(conf) for _ in range(self.rng.randrange(most + 1))]

    def project(self):
        files = {
            "build/conf/local.conf": [Statement("MACHINE", "MACHINE =", "board"), *self.some(3, True)],
            "meta/conf/bitbake.conf": [
                Plain("PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"
                      'OVERRIDES = "all:${EXTRA}:${MACHINE}:pn-${PN}"\n'),
                Statement("EXTRA", "EXTRA =", "extra"),
                Plain("require conf/local.conf\n"), *self.some(4, True)],
            "meta/classes/base.bbclass": [
                Plain('addtask fetch\naddtask build after do_fetch\n'
                      'do_build[deptask] = "do_build"\nFILESPATH = "${@d.getVar(\'LAYER\')}"\n'
                      'LAYER = "${TOPDIR}/../meta/files"\n'),
                Statement("do_fetch", "do_fetch ()", self.code(), True),
                Statement("do_build", "do_build ()", self.code(), True), *self.some(6)],
            "meta/classes/kind.bbclass": self.some(5),
        }
        if self.rng.random() < 0.5:
            files["meta/conf/bitbake.conf"].append(
                Plain(f'BB_SIGNATURE_EXCLUDE_FLAGS = "{EXCLUDE}"\n'))
        for number, recipe in enumerate(RECIPES):
            lines = [Plain("inherit kind\n")] if self.rng.random() < 0.5 else []
            lines.append(Plain(f'SRC_URI = "file://{recipe}.txt"\n'))
            if number > 0:
                lines.append(Statement("DEPENDS", "DEPENDS =", self.rng.choice(RECIPES[:number])))
            files[f"meta/recipes/{recipe}.bb"] = lines + self.some(6)
            files[f"more/recipes/{recipe}.bbappend"] = self.some(2)
        return files


def render(statements):
    return "".join(s.render() for s in statements)


def line_of(statements, index):
    return 1 + render(statements[:index]).count("\n")


class Edit:
    """Other statements in a file, and what why should call that."""

    def __init__(self, path, was, now, kind, name=None, flag=None):
        self.path, self.was, self.now = path, was, now
        self.kind, self.name, self.flag = kind, name, flag
        self.line = None  # of the statement, in the new file; None: it is gone
        self.old_line = None

    def write(self, test, new):
        test.put(self.path, render(self.now if new else self.was))

    def is_named(self, cause):
        """Whether a cause is this edit, with its place."""
        if self.name is None or cause["name"].split("[")[0] != self.name:
            return False
        place = self.path[len("build/"):] if self.path.startswith("build/") else self.path
        return any(p["file"] == place and p["line"] == self.line
                   and p["old_line"] == self.old_line for p in cause["places"])

    def is_told(self, causes):
        """Whether the causes say all of it."""
        return any(self.is_named(c) for c in causes)

    def __str__(self):
        return (f"{self.kind}: {self.path}:{self.old_line}->{self.line} {self.name} [{self.flag}]\n"
                f"--- was\n{render(self.was)}--- is\n{render(self.now)}")


class TextEdit(Edit):
    """Other text in a file that is a source."""

    def write(self, test, new):
        test.put(self.path, self.now if new else self.was)

    def is_named(self, cause):
        return cause["kind"] == "file" and cause["name"].endswith(self.name)

    def __str__(self):
        return f"{self.kind}: {self.path}: {self.was!r} -> {self.now!r}"


class WhyRandom(bitzel.Case):
    edits = EDITS
    targets = RECIPES
    kinds = ()  # that a long run must have


    def setUp(self):
        super().setUp()
        self.rng = random.Random(SEED)
        self.generator = self.new_generator()
        self.rounds = 0
        self.counts = collections.Counter()

    def new_generator(self):
        return Generator(self.rng)

    # ---- the project on disk ----

    def put(self, path, text):
        place = self.dir / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def start(self):
        self.files = self.generator.project()
        for path, text in FIXED.items():
            self.put(path, text)
        for path, statements in self.files.items():
            self.put(path, render(statements))
        for recipe in RECIPES:
            self.put(f"meta/files/{recipe}.txt", self.generator.word())
        return self.keep()

    def keep(self):
        """Records what the project is. False if it cannot be evaluated."""
        self.record = self.dir / "record"
        return self.bitzel("sig", *self.targets, "--record", self.record).code == 0

    def bitzel(self, *args):
        return self.run_bitzel("--directory", self.dir / "build", *args)

    def ask(self):
        """What why says, or None if the project cannot be evaluated any more."""
        result = self.bitzel("why", *self.targets, "--vs", self.record, "--json")
        return result.json if result.code == 0 else None

    def apply(self, edits):
        for edit in edits:
            edit.write(self, True)

    def revert(self, edits):
        for edit in edits:
            edit.write(self, False)

    # ---- edits ----

    def change(self, path, index):
        was = self.files[path][index]
        if was.vary:
            text = was.vary(was.text)
        elif was.name == "MACHINE":
            text = "other"
        elif was.name == "EXTRA":
            text = self.rng.choice(("off", "none"))
        elif was.name == "DEPENDS":
            text = self.rng.choice(RECIPES[:RECIPES.index(path[-5:-3])] or ["r0"])
        elif was.body:
            text = self.generator.code()
        elif was.flag:
            text = " ".join(self.rng.sample(
                HELPERS if was.flag.endswith("funcs") else VARIABLES[:2], 1))
            text += " " + self.generator.word()
        else:
            number = VARIABLES.index(was.name)
            text = (" " if was.text.startswith(" ") else "") + self.generator.value(number)
        statements = list(self.files[path])
        statements[index] = was.copy(text)
        edit = Edit(path, self.files[path], statements, was.kind, was.name, was.flag)
        edit.old_line = line_of(self.files[path], index)
        edit.line = line_of(statements, index)
        return edit

    def remove(self, path, index):
        was = self.files[path][index]
        statements = list(self.files[path])
        del statements[index]
        edit = Edit(path, self.files[path], statements, was.kind, was.name, was.flag)
        edit.old_line = line_of(self.files[path], index)
        return edit

    def add(self, path, new=None):
        new = new or self.generator.statement(path.endswith(".conf"))
        # At the end: before that what it needs may not be there yet.
        statements = self.files[path] + [new]
        edit = Edit(path, self.files[path], statements, new.kind, new.name, new.flag)
        edit.line = line_of(statements, len(statements) - 1)
        return edit

    def source(self):
        path = f"meta/files/{self.rng.choice(RECIPES)}.txt"
        was = (self.dir / path).read_text()
        now = self.generator.word() if self.rng.random() < 0.8 else was
        return TextEdit(path, was, now, "source", path.rsplit("/", 1)[1])

    def comment(self, path):
        statements = [Plain("# a word\n\n"), *self.files[path]]
        return Edit(path, self.files[path], statements, "nothing")

    def random_edit(self):
        path = self.rng.choice(sorted(self.files))
        named = [i for i, s in enumerate(self.files[path]) if s.name]
        what = self.rng.random()
        if what < 0.08:
            return self.source()
        if what < 0.16:
            return self.comment(path)
        if what < 0.3 or not named:
            return self.add(path)
        index = self.rng.choice(named)
        fixed = ("MACHINE", "EXTRA", *TASKS)
        if what < 0.5 and self.files[path][index].name not in fixed:
            return self.remove(path, index)
        return self.change(path, index)

    # ---- judgement ----

    def describe(self, edits, said):
        text = [f"seed {SEED}, round {self.rounds}"]
        text += [str(e) for e in edits]
        for path, statements in self.files.items():
            text.append(f"=== {path}\n{render(statements)}")
        text += [str(c) for c in said["causes"]]
        return "\n".join(text)

    def judge(self, edits, said, must):
        """`must` has for each edit True, False or None: named, not named, either."""
        self.counts.update(e.kind for e in edits)
        for edit, needed in zip(edits, must):
            named = edit.is_told(said["causes"]) if needed else any(
                edit.is_named(c) for c in said["causes"])
            if needed is not None and named != needed:
                self.fail(("not named: " if needed else "named in vain: ")
                          + self.describe(edits, said))
        for cause in said["causes"]:
            places = len(cause["places"])
            if not any(e.is_named(cause) for e in edits) or places > len(edits):
                self.fail("something else is named: " + self.describe(edits, said))
        named = [(c["kind"], c["name"], str(c["places"])) for c in said["causes"]]
        if len(set(named)) < len(named):
            self.fail("something is named twice: " + self.describe(edits, said))

    def one(self):
        edits = [self.random_edit()]
        self.apply(edits)
        said = self.ask()
        self.revert(edits)
        if said is None:
            return 0
        self.judge(edits, said, [said["changed"] > 0])
        return 1

    def changes(self, edits):
        """How many tasks the edits change, None if they break the project."""
        self.apply(edits)
        said = self.ask()
        self.revert(edits)
        return None if said is None else said["changed"]

    def two(self):
        edits = [self.random_edit(), self.random_edit()]
        if edits[0].path == edits[1].path or edits[0].name == edits[1].name:
            return 0
        alone = [self.changes([e]) for e in edits]
        self.apply(edits)
        said = self.ask()
        keys = self.keys()
        must = []
        for edit, own in zip(edits, alone):
            self.revert([edit])
            beside = self.keys()
            self.apply([edit])
            effects = {bool(own), beside != keys}
            must.append(effects.pop() if len(effects) == 1 else None)
        self.revert(edits)
        if said is None or None in alone or None in (keys, beside):
            return 0
        self.judge(edits, said, must)
        return 2

    def keys(self):
        result = self.bitzel("sig", *self.targets, "--all")
        return result.out if result.code == 0 else None

    def test_exactly_what_was_edited_is_named(self):
        done = 0
        while done < self.edits:
            if not self.start():
                continue
            self.assertEqual(self.ask()["causes"], [])
            for _ in range(20):
                self.rounds += 1
                done += self.two() if self.rng.random() < 0.15 else self.one()
        print(f"seed {SEED}: {done} edits:", ", ".join(
            f"{kind} {n}" for kind, n in sorted(self.counts.items())), file=sys.stderr)
        if done >= 500:
            self.assertEqual([k for k in self.kinds if self.counts[k] == 0], [])


if __name__ == "__main__":
    bitzel.main()
