"""Every field of the key is needed: a program that leaves it out gives a stale result.

BITZEL_MUTANT names that program: the environment variable BITZEL_KEY_WITHOUT says which field
it leaves out; with the value "list" it prints the names of all fields, one a line. For each
field kinds of edits are tried until one is stale; those that mutants.json has for the field go
first. With BITZEL_LEARN=1 what was found is written there. BITZEL_FIELDS chooses fields.
"""

import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import subprocess
import unittest

import trial  # first: it finds the modules of tests/e2e
import all_kinds
import bitzel
import test_edit_table

MUTANT = os.environ.get("BITZEL_MUTANT")
LEARNED = pathlib.Path(__file__).with_name("mutants.json")
THREADS = 4

# Where mutants.json has nothing: a field whose name has this word in it is probably about these.
HINTS = {
    "script": ["function-body"], "body": ["function-body"], "code": ["function-body"],
    "env": ["exported-variable", "unexport"], "export": ["exported-variable", "unexport"],
    "pre": ["prefuncs-order", "prefuncs-body"], "post": ["postfuncs-order", "postfuncs-body"],
    "clean": ["cleandirs-flag", "cleandirs-of-unpacking"],
    "dir": ["dirs-flag-more", "work-directory", "patch-directory"],
    "umask": ["umask-flag", "umask-of-unpacking"], "network": ["network-flag"], "fakeroot": ["fakeroot-flag"],
    "noexec": ["noexec-flag"], "checksum": ["checksum-decides", "checksum-wrong"], "sum": ["checksum-decides"],
    "uri": ["entry-subdir", "entry-order"], "entr": ["entry-subdir", "entry-order"], "fetch": ["download-content"],
    "rev": ["git-revision", "git-named-revision"], "commit": ["git-revision"], "git": ["git-revision"],
    "patch": ["patch-apply", "patch-content"], "source": ["source-content", "directory-empty-one"],
    "file": ["layer-file", "source-content", "file-checksums-flag"], "layer": ["layer-file", "layer-directory"],
    "tool": ["host-tool"], "host": ["host-tool", "host-file"],
    "dep": ["dependency-of-dependency", "output-mode"],
    "work": ["work-directory", "recipe-renamed-unread"], "version": ["recipe-renamed"],
    "recipe": ["preferred-provider"],
    "mode": ["directory-file-executable", "output-mode"],
    "link": ["directory-link-target"], "var": ["value-in-script"],
}


def fields():
    """The names of the fields of a key."""
    done = subprocess.run([MUTANT], env={**os.environ, "BITZEL_KEY_WITHOUT": "list"}, check=True,
                          stdout=subprocess.PIPE, text=True)
    wanted = os.environ.get("BITZEL_FIELDS", "").replace(",", " ").split()
    return [name for name in done.stdout.split() if not wanted or name in wanted]


# What a recipe is called, which of its tasks it is and what metadata adds by [vardeps] does not
# show in the bytes unless something reads it: of these fields the keys are compared. Two recipes that differ in nothing
# else must have different keys.
PAIRS = {
    "recipe": ("one_1.0.bb", "", "two_1.0.bb", "", "do_run"),
    "version": ("one_1.0.bb", "", "one_2.0.bb", "", "do_run"),
    "directory": ("one_1.0.bb", "", "one_1.0.bb", 'WORKDIR = "${TOPDIR}/elsewhere"\n', "do_run"),
    "revision": ("one_1.0.bb", 'PR = "r0"\n', "one_1.0.bb", 'PR = "r1"\n', "do_run"),
    "vardeps": ("one_1.0.bb", 'do_run[vardeps] = "A"\nA = "1"\n',
                "one_1.0.bb", 'do_run[vardeps] = "A"\nA = "2"\n', "do_run"),
    "task": ("one_1.0.bb", "addtask other\n", "one_1.0.bb", "addtask more\n", None),
}
PROJECT = {
    "build/conf/bblayers.conf": 'BBPATH = "${TOPDIR}"\nBBFILES ?= ""\nBBLAYERS = "${TOPDIR}/../meta"\n',
    "meta/conf/layer.conf": 'BBPATH .= ":${LAYERDIR}"\nBBFILES += "${LAYERDIR}/*.bb"\n'
                            'BBFILE_COLLECTIONS += "m"\nBBFILE_PATTERN_m = "^${LAYERDIR}/"\n'
                            'LAYERSERIES_CORENAMES = "x"\nLAYERSERIES_COMPAT_m = "x"\n',
    "meta/conf/bitbake.conf": "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"
                              "PV = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1]}\"\n"
                              'WORKDIR = "${TOPDIR}/work"\nT = "${WORKDIR}/temp"\n',
    "meta/classes/base.bbclass": 'do_more[noexec] = "1"\ndo_other[noexec] = "1"\ndo_run() {\n    :\n}\n'
                                 "do_more() {\n    :\n}\ndo_other() {\n    :\n}\n",
}


def same_key(field, program):
    """Whether the program gives both of a pair the same key."""
    first, text, second, other, task = PAIRS[field]
    keys = []
    for name, body in ((first, text), (second, other)):
        with trial.temporary() as where:
            where = pathlib.Path(where)
            wanted = task or "do_" + body.split()[-1]
            files = {**PROJECT, f"meta/{name}": body + ("addtask run\n" if task else "")}
            for path, content in files.items():
                (where / path).parent.mkdir(parents=True, exist_ok=True)
                (where / path).write_text(content)
            done = subprocess.run(
                [program, "--directory", where / "build", "sig", "--json", f"{name.split('_')[0]}:{wanted}"],
                env={**os.environ, "BITZEL_KEY_WITHOUT": field, "HOME": str(where)}, check=True,
                stdout=subprocess.PIPE, text=True)
            keys.append(json.loads(done.stdout)["tasks"][0]["signature"])
    return keys[0] == keys[1]


def in_turn(members):
    """Kinds of all groups in turn, so that different ones come first."""
    groups = {}
    for kind in members:
        if not kind.nothing and kind.group != "harm":
            groups.setdefault(kind.group, []).append(kind)
    return [kind for row in itertools.zip_longest(*groups.values()) for kind in row if kind]


def is_stale(kind, field):
    """Whether a program that leaves the field out gives a wrong result after edits of a kind."""
    rng = random.Random(f"{test_edit_table.SEED}/{kind.name}")
    with trial.temporary() as where:
        tried = trial.Trial(where, [kind], mutant=os.path.abspath(MUTANT), env={"BITZEL_KEY_WITHOUT": field})
        return tried.first.stale or any(tried.try_edits([(kind, knob)], rng, kind.style or "write").stale
                                        for knob in test_edit_table.edits_of(kind))


def find(field, members, learned):
    """The first kind that shows that a field is missing, and how many were tried."""
    names = learned.get(field) or [name for word, hints in HINTS.items() if word in field.lower() for name in hints]
    known = [kind for name in dict.fromkeys(names) for kind in members if kind.name == name]
    order = known + [kind for kind in in_turn(members) if kind not in known]
    for number, kind in enumerate(order, 1):
        if is_stale(kind, field):
            return kind, number
    return None, len(order)


@unittest.skipUnless(MUTANT, "BITZEL_MUTANT names no program that leaves fields out of keys")
class Mutants(unittest.TestCase):
    def test_no_field_can_be_left_out_of_the_key(self):
        members = all_kinds.chosen({})
        learned = json.loads(LEARNED.read_text()) if LEARNED.exists() else {}
        names = fields()
        self.assertTrue(names, "the mutant lists no fields")
        for field in set(PAIRS) & set(names):
            self.assertFalse(same_key(field, bitzel.PROGRAM), f"{field} does not change keys")
            self.assertTrue(same_key(field, MUTANT), f"{field} is not needed to tell keys apart")
        names = [field for field in names if field not in PAIRS]
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            try:
                found = dict(zip(names, pool.map(lambda field: find(field, members, learned), names)))
            except trial.NoSandbox as why:
                if "BITZEL_MUST_WORK" in os.environ:
                    raise
                self.skipTest(str(why))
        for field, (kind, number) in found.items():
            told = f"stale after {kind.name} ({number} tried)" if kind else f"never stale ({number} tried)"
            print(f"{field:<30} {told}")
        if "BITZEL_LEARN" in os.environ:
            learned.update({field: [kind.name] for field, (kind, _) in found.items() if kind})
            LEARNED.write_text(json.dumps(learned, indent=2, sort_keys=True) + "\n")
        missed = [field for field, (kind, _) in found.items() if not kind]
        self.assertFalse(missed, f"no edit shows that these fields count: {', '.join(missed)}")


if __name__ == "__main__":
    bitzel.main()
