"""bitzel why where no build was made: what stored results were made from."""

import shutil

import bitzel
import test_build

SAUCE = "meta-kitchen/recipes/sauce.bb"
TOPPING = "meta-kitchen/files/topping"


class Stored(test_build.Kitchen):
    """One machine builds into a directory that others read."""

    def setUp(self):
        super().setUp()
        (self.dir / "shared").mkdir()
        self.write(SAUCE, 'SALT = "much"\n')
        self.first = self.machine("one", "rw")
        self.build("pizza", where=self.first[0], env=self.first[1])

    def machine(self, name, access="ro"):
        """Its checkout, and what its environment has."""
        top = self.dir / name / "checkout"
        for part in ("build/conf", "meta-kitchen"):
            shutil.copytree(self.dir / part, top / part)
        return top, {"HOME": str(self.dir / name),
                     "BITZEL_CACHE_TIERS": f"dir:{self.dir}/shared {access}",
                     # On a busy machine, too, all that is made is to get there and back.
                     "BITZEL_CACHE_TIMEOUT": "300s", "BITZEL_CACHE_FLUSH": "300s"}

    def why(self, machine, *more, code=0):
        result = self.run_bitzel("--directory", machine[0] / "build", "why", *(more or ["pizza"]),
                                 env=machine[1])
        self.assert_exit(result, code)
        return result

    def change(self, machine, name, before, after):
        path = machine[0] / name
        path.write_text(path.read_text().replace(before, after))

    def test_a_machine_that_never_built_is_told_what_it_has_edited(self):
        two = self.machine("two")
        same = self.why(two)
        self.assertIn("no build here has made this", same.err)
        self.assertRegex(same.out, "nothing has changed since the stored results: 10 tasks")
        self.change(two, SAUCE, "much", "little")
        self.change(two, TOPPING, "basil", "thyme")
        found = self.why(two, "pizza", "--json").json
        self.assertEqual({(c["kind"], c["name"], c["reaches"]) for c in found["causes"]},
                         {("variable", "SALT", 7), ("file", "topping", 4)})
        self.assertEqual((found["since"], found["new"], found["gone"]), ("the stored results", [], []))
        self.assertIn(f'1 change in {SAUCE}:1 SALT, reaches 7 tasks\n    "much" -> "little"', self.why(two).out)
        # Nothing of it is a build: the next question is answered in the same way.
        self.assertFalse((two[0] / "build/builds").exists())

    def test_a_machine_that_took_all_from_the_cache_needs_no_directory_any_more(self):
        two = self.machine("two")
        self.build("pizza", where=two[0], env=two[1])
        self.change(two, SAUCE, "much", "little")
        self.assertIn("SALT, reaches 7 tasks", self.why(two).out)
        (self.dir / "shared").rename(self.dir / "gone")
        self.assertIn("SALT, reaches 7 tasks", self.why(two).out)

    def test_what_was_built_here_is_known_after_the_state_is_lost(self):
        shutil.rmtree(self.first[0] / "build/builds")
        shutil.rmtree(self.dir / "one/.local/state")
        self.change(self.first, SAUCE, "much", "little")
        self.assertIn("SALT, reaches 7 tasks", self.why(self.first).out)

    def test_a_build_of_something_else_is_not_what_was_asked_about(self):
        two = self.machine("two")
        self.build("dough", "--no-cache", where=two[0], env=two[1])
        self.change(two, SAUCE, "much", "little")
        self.assertIn("SALT, reaches 3 tasks", self.why(two, "sauce:do_populate_sysroot").out)
        self.assertIn("since build ", self.why(two, "dough").out)

    def test_of_what_nobody_has_built_nothing_is_known(self):
        two = self.machine("two")
        (two[0] / "meta-kitchen/recipes/salad.bb").write_text("")
        self.assertIn("bitzel why TARGET --vs FILE", self.why(two, "salad", code=3).err)

    def test_a_failed_build_has_told_what_it_did(self):
        three = self.machine("three", "rw")
        self.change(three, SAUCE, "much", "some")
        (three[0] / "meta-kitchen/recipes/pizza.bb").write_text(
            'DEPENDS = "dough sauce"\ndo_compile() {\n    false\n}\n')
        self.build("pizza", where=three[0], env=three[1], code=1)
        four = self.machine("four")
        self.change(four, SAUCE, "much", "some")
        result = self.why(four, "sauce")
        self.assertIn("what 1 task was made from is not stored", result.err)
        self.assertEqual(result.out, "0 of 4 tasks changed since the stored results\n"
                                     "new: sauce (1 task)\n")

    def test_records_are_beside_results_and_go_with_them(self):
        env = self.first[1]
        names = [r["task"] for r in self.run_bitzel("cache", "ls", "--json", env=env).json["results"]]
        self.assertNotIn("record", names)
        held = self.run_bitzel("cache", "ls", "--task", "record", "--json", env=env).json["results"]
        self.assertEqual({r["recipe"] for r in held}, {"dough", "sauce", "pizza"})
        self.assertEqual(len(held), 10)  # one of them of a task that has no result
        self.assertEqual({r["state"] for r in held}, {"ok"})
        self.assert_exit(self.run_bitzel("cache", "verify", env=env), 0)


if __name__ == "__main__":
    bitzel.main()
