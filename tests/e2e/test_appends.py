"""bitzel appends: which append applies to which recipe."""

import bitzel
import demo


class Appends(demo.Project):
    def appends(self, *args):
        result = self.run_in_build("appends", "--json", *args)
        return {self.base(x["file"]): [self.base(y["file"]) for y in x["appends"]]
                for x in result.json["recipes"]}

    @staticmethod
    def base(path):
        return path.rsplit("/", 1)[1]

    def test_recipes_are_listed_with_their_appends_in_order(self):
        for name in ("hello_1.%.bbappend", "clock_1.%.bbappend", "hello_1.2.bbappend"):
            self.write(f"meta-two/recipes/{name}", "")
        self.assertEqual(self.appends(), {
            "clock_1.10.bb": ["clock_1.%.bbappend"], "clock_1.9.bb": ["clock_1.%.bbappend"],
            "hello_1.2.bb": ["hello_%.bbappend", "hello_1.%.bbappend", "hello_1.2.bbappend"]})

    def test_one_recipe_may_be_asked_for_also_if_it_has_none(self):
        self.assertEqual(self.appends("hello"), {"hello_1.2.bb": ["hello_%.bbappend"]})
        self.assertEqual(self.appends("sun*"), {"sundial_0.9.bb": []})
        result = self.run_in_build("appends", "helo")
        self.assert_exit(result, 3)
        self.assertIn("did you mean 'hello'?", result.err)

    def test_an_append_without_a_recipe_is_an_error(self):
        self.write("meta-two/recipes/gone_1.%.bbappend", "")
        result = self.run_in_build("appends")
        self.assert_exit(result, 2)
        self.assertIn("\nwithout a recipe\n", result.out)
        self.assertIn("gone_1.%.bbappend", result.out.splitlines()[-1])
        self.assertIn("1 append has no recipe", result.err)
        listed = self.run_in_build("appends", "--json").json["dangling"]
        self.assertEqual([(self.base(x["file"]), x["layer"]) for x in listed],
                         [("gone_1.%.bbappend", "two")])
        self.assert_exit(self.run_in_build("appends", "hello"), 0)

    def test_the_error_may_be_a_warning(self):
        self.write("meta-two/recipes/gone_1.%.bbappend", "")
        for value, code in (("1", 0), ("Yes", 0), ("true", 0), ("0", 2), ("", 2)):
            with self.subTest(value=value):
                self.write("build/conf/local.conf",
                           f'BB_DANGLINGAPPENDS_WARNONLY = "{value}"\n')
                result = self.run_in_build("appends")
                self.assert_exit(result, code)
                self.assertIn("has no recipe", result.err)


if __name__ == "__main__":
    bitzel.main()
