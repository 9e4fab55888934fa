"""bitzel recipes and getvar -r: which recipe a name means."""

import bitzel
import demo


class Recipes(demo.Project):
    def recipes(self, *args):
        result = self.run_in_build("recipes", "--json", *args)
        self.assert_exit(result, 0)
        return {x["name"]: x["versions"] for x in result.json["recipes"]}

    def provides(self, name):
        result = self.run_in_build("recipes", "--json", "--provides", name)
        self.assert_exit(result, 0)
        return result.json

    def local(self, text):
        self.write("build/conf/local.conf", demo.FILES["build/conf/local.conf"] + text)

    def preferred(self, name="clock"):
        return [x["version"] for x in self.recipes(name)[name] if x["preferred"]]

    def test_all_recipes_are_listed_by_name_with_the_preferred_version_first(self):
        got = self.recipes()
        self.assertEqual(list(got), ["clock", "hello", "sundial"])
        self.assertEqual([x["version"] for x in got["clock"]], ["1.10", "1.9", "2.0"])
        self.assertEqual([x["preferred"] for x in got["clock"]], [True, False, False])
        self.assertEqual(got["hello"][0]["layer"], "one")
        self.assertTrue(got["hello"][0]["file"].endswith("/hello_1.2.bb"))

    def test_patterns_are_those_of_a_shell(self):
        for pattern, names in (("hello", ["hello"]), ("*l*", ["clock", "hello", "sundial"]),
                               ("[ch]*", ["clock", "hello"]), ("?????", ["clock", "hello"])):
            with self.subTest(pattern=pattern):
                self.assertEqual(list(self.recipes(pattern)), names)

    def test_nothing_that_matches_is_exit_3_with_near_names(self):
        result = self.run_in_build("recipes", "helo")
        self.assert_exit(result, 3)
        self.assertIn("did you mean 'hello'?", result.err)
        self.assertEqual(result.out, "")
        self.assert_exit(self.run_in_build("recipes", "--skipped"), 3)

    def test_settings_choose_the_version(self):
        for text, version in (('PREFERRED_VERSION_clock = "2.%"', ["2.0"]),
                              ('PREFERRED_VERSION_clock = "1.9"', ["1.9"]),
                              ('PREFERRED_VERSION:pn-clock = "1.9"', ["1.9"]),
                              ('PREFERRED_VERSION_clock:board = "1.9"', ["1.9"]),
                              ('REQUIRED_VERSION_clock = "2.0"', ["2.0"]),
                              ('REQUIRED_VERSION_clock = "7"', [])):
            with self.subTest(text=text):
                self.local(text + "\n")
                self.assertEqual(self.preferred(), version)
                result = self.run_in_build("getvar", "--value", "-r", "clock", "PV")
                self.assertEqual(result.out.split(), version, result)

    def test_a_version_that_is_not_there_is_a_warning_with_what_there_is(self):
        self.local('PREFERRED_VERSION_clock = "7"\n')
        result = self.run_in_build("recipes", "clock")
        self.assert_exit(result, 0)
        self.assertIn("version 7 of 'clock' is preferred but not there; "
                      "there is: 1.10 1.9 2.0", result.err)

    def test_a_stronger_layer_wins_over_a_newer_version(self):
        self.write("meta-two/conf/layer.conf", demo.FILES["meta-two/conf/layer.conf"]
                   .replace("*.bbappend", "*.bb*"))
        self.write("meta-two/recipes/clock_1.0.bb", "")
        self.assertEqual(self.preferred(), ["1.0"])
        result = self.run_in_build("getvar", "--value", "-r", "clock", "PV")
        self.assertEqual(result.out, "1.0\n")

    def test_broken_recipes_are_listed_as_such(self):
        self.write("meta-one/recipes/broken_3.bb", "require nowhere.inc\n")
        self.assertIn("nowhere.inc", self.recipes("broken")["broken"][0]["error"])
        result = self.run_in_build("recipes", "broken")
        self.assert_exit(result, 0)
        self.assertEqual(result.out.split(), ["broken", "3", "one", "broken"])

    def test_providers_of_a_name_are_listed_the_chosen_one_first(self):
        got = self.provides("virtual/clock")
        self.assertEqual([x["name"] for x in got["build"]["providers"]], ["clock", "sundial"])
        self.assertFalse(got["build"]["settled"])
        self.assertNotIn("runtime", got)
        self.local('PREFERRED_PROVIDER_virtual/clock = "sundial"\n')
        got = self.provides("virtual/clock")
        self.assertEqual([x["name"] for x in got["build"]["providers"]], ["sundial", "clock"])
        self.assertTrue(got["build"]["settled"])

    def test_names_of_packages_are_known_too(self):
        got = self.provides("time")
        self.assertNotIn("build", got)
        self.assertEqual([x["name"] for x in got["runtime"]["providers"]], ["sundial"])

    def test_a_name_that_nothing_provides_is_exit_3(self):
        result = self.run_in_build("recipes", "--provides", "virtual/clok")
        self.assert_exit(result, 3)
        self.assertIn("nothing provides 'virtual/clok'; did you mean 'virtual/clock'?",
                      result.err)
        self.local('ASSUME_PROVIDED = "virtual/clok"\n')
        self.assertTrue(self.provides("virtual/clok")["assumed"])


if __name__ == "__main__":
    bitzel.main()
