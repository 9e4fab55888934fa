"""bitzel layers, on a small project."""

import bitzel
import demo


class Layers(demo.Project):
    def layers(self):
        return {x["name"]: x for x in self.run_in_build("layers", "--json").json["layers"]}

    def replace(self, name, old, new):
        self.write(name, demo.FILES[name].replace(old, new))

    def test_layers_have_names_priorities_versions_and_directories(self):
        got = self.layers()
        self.assertEqual([(x["name"], x["priority"], x.get("version")) for x in got.values()],
                         [("one", 5, "4"), ("two", 6, None)])
        for name, layer in got.items():
            self.assertTrue((self.dir / f"meta-{name}").samefile(layer["directory"]))
        self.assertEqual(got["two"]["depends"], [{"name": "one", "versions": [">= 3"]}])

    def test_the_table_has_a_line_for_each_layer(self):
        rows = [line.split() for line in self.run_in_build("layers").out.splitlines()]
        self.assertEqual(rows[0][:3], ["layer", "priority", "version"])
        self.assertEqual(rows[1][:3], ["one", "5", "4"])
        self.assertEqual(rows[2][:-1], ["two", "6", "one", "(>=", "3)"])

    def test_a_layer_that_is_too_old_is_an_error(self):
        self.replace("meta-one/conf/layer.conf", 'LAYERVERSION_one = "4"',
                     'LAYERVERSION_one = "2"')
        result = self.run_in_build("layers")
        self.assert_exit(result, 2)
        self.assertIn("layer 'two' depends on layer 'one' (>= 3), but that is version 2",
                      result.err)

    def test_a_layer_that_is_only_recommended_may_be_missing_or_old(self):
        self.replace("meta-two/conf/layer.conf", 'LAYERDEPENDS_two = "one (>= 3)"',
                     'LAYERRECOMMENDS_two = "one (>= 9) three"')
        got = self.layers()
        self.assertEqual(got["two"]["priority"], 6)
        self.assertEqual([x["name"] for x in got["two"]["recommends"]], ["one", "three"])


if __name__ == "__main__":
    bitzel.main()
