"""bitzel cache key: keys that vouch for results."""

import re
import stat

import bitzel


class Key(bitzel.Case):
    def key(self, *args, **how):
        return self.run_bitzel("cache", "key", *args, **how)

    def test_a_new_key_is_private_and_its_public_half_is_printed(self):
        made = self.key("new", "ci")
        self.assert_exit(made, 0)
        self.assertRegex(made.out, r"\Aci=[0-9a-f]{64}\n\Z")
        secret = self.dir / ".local/state/bitzel/keys/ci.key"
        self.assertEqual(stat.S_IMODE(secret.stat().st_mode), 0o600)
        self.assertNotIn(made.out.strip().split("=")[1], secret.read_text())
        self.assertEqual(self.key("list").out, made.out.rstrip("\n") + "  (secret here)\n")
        self.assertEqual(self.key().out, self.key("list").out)

    def test_a_name_is_taken_once_and_must_be_one(self):
        self.assert_exit(self.key("new", "ci"), 0)
        before = self.key("list").out
        for name in ("ci", "../ci", "", ".x"):
            with self.subTest(name=name):
                self.assert_exit(self.key("new", name), 2)
        self.assertEqual(self.key("list").out, before)

    def test_keys_of_the_settings_are_listed_behind_those_of_the_machine(self):
        mine = self.key("new", "ci", "--json").json
        keys = f"ci={'0' * 64}; bob={'1' * 64}"
        got = self.key("list", "--json", "--set", f"cache.keys={keys}").json["keys"]
        self.assertEqual([row["name"] for row in got], ["ci", "bob"])
        self.assertEqual(got[0], mine)
        self.assertEqual(got[1], {"name": "bob", "public": "1" * 64, "secret": False})

    def test_a_tier_that_trusts_an_unknown_key_is_a_mistake(self):
        (self.dir / "tier").mkdir()
        tiers = ("--set", "cache.tiers=dir:tier trust=bob")
        result = self.run_bitzel("cache", "path", *tiers)
        self.assert_exit(result, 2)
        self.assertIn("the key 'bob' is not known", result.err)
        known = self.run_bitzel("cache", "path", *tiers, "--set", f"cache.keys=bob={'1' * 64}")
        self.assert_exit(known, 0)
        short = self.run_bitzel("cache", "path", *tiers, "--set", "cache.keys=bob=123")
        self.assert_exit(short, 2)

    def test_a_tier_that_is_written_wrongly_says_where_it_stands(self):
        (self.dir / "bitzel.conf").write_text("\ncache.tiers = ftp://x\n")
        (self.dir / "kas.yml").write_text("header:\n  version: 14\n")
        result = self.run_bitzel("cache", "path")
        self.assert_exit(result, 2)
        self.assertRegex(result.err, re.escape(f"{self.dir}/bitzel.conf:2: cache.tiers: 'ftp://x'"))


if __name__ == "__main__":
    bitzel.main()
