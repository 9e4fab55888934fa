"""Exactly which of fifty tasks each edit changes, beside what BitBake decides.

The edits and what they must change are in tests/data/signatures/edits.py; BitBake's
answers were recorded by record.py there.
"""

import json
import pathlib
import shutil
import sys

import bitzel

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "signatures"
sys.path.insert(0, str(DATA))

import edits  # noqa: E402
import project  # noqa: E402

BITBAKE = json.loads((DATA / "bitbake.json").read_text())["changed"]


class Table(bitzel.Case):
    def keys(self, where):
        result = self.run_bitzel("--directory", where / "build", "sig", "--all", "--json",
                                 *project.DEPENDS)
        self.assert_exit(result, 0)
        return {t["name"]: t["signature"] for t in result.json["tasks"]}

    def changed(self, root, before, edit):
        _, file, old, new, _, _ = edit
        if not file:
            moved = self.dir / "moved" / "deeper"
            shutil.copytree(root, moved)
            after = self.keys(moved)
        else:
            path = root / file
            text = path.read_text()
            self.assertIn(old, text)
            path.write_text(text.replace(old, new))
            after = self.keys(root)
            path.write_text(text)
        self.assertEqual(before.keys(), after.keys())
        return {t for t in before if before[t] != after[t]}

    def test_each_edit_changes_just_these_tasks(self):
        root = self.dir / "p"
        for name, text in project.files().items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        before = self.keys(root)
        self.assertEqual(len(before), 50)
        for edit in edits.EDITS:
            with self.subTest(edit[0]):
                self.assertEqual(sorted(self.changed(root, before, edit)),
                                 sorted(project.reached(edit[4])))

    def test_where_bitbake_decides_otherwise_the_table_says_why(self):
        self.assertEqual([e[0] for e in edits.EDITS], list(BITBAKE))
        for name, _, _, _, tasks, better in edits.EDITS:
            with self.subTest(name):
                self.assertEqual(sorted(project.reached(tasks)) == BITBAKE[name], not better)


if __name__ == "__main__":
    bitzel.main()
