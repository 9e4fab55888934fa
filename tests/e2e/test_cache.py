"""bitzel cache: what lies in the store, whether it is right, and what may go."""

import os

import bitzel
import reapi


class Cache(bitzel.Case):
    def setUp(self):
        super().setUp()
        self.store = reapi.Store(self.dir / "store")
        self.keys = reapi.fill(self.store)

    def cache(self, *args, code=0, **how):
        found = self.run_bitzel("--set", f"cache.dir={self.store.root}", "cache", *args, **how)
        self.assert_exit(found, code)
        return found


class Look(Cache):
    def test_the_store_has_a_limit_unless_it_shall_have_none(self):
        info = self.cache("info", "--json").json
        room = info["free_bytes"] + info["bytes"]
        self.assertLess(info["max_bytes"], room * 0.6)
        self.assertGreater(info["max_bytes"], room * 0.4)
        self.assertEqual(self.cache("info", "--json", "--set", "cache.max_size=0").json["max_bytes"], 0)
        self.assertEqual(self.cache("info", "--json", "--set", "cache.max_size=1G").json["max_bytes"], 1 << 30)
        self.cache("gc", "--max-size", "30%")
        self.cache("gc", "--max-size", "130%", code=2)

    def test_info_counts_what_is_there(self):
        info = self.cache("info", "--json").json
        self.assertEqual(info["store"], str(self.store.root))
        self.assertEqual((info["results"], info["blobs"]), (4, 7))
        self.assertEqual(info["hits"], 0)
        self.assertTrue(info["writable"])
        self.assertIn("results   4\n", self.cache().out)

    def test_info_shows_tiers_without_passwords(self):
        tiers = ("--set", "cache.tiers=http://me:hidden@127.0.0.1:1/c rw; dir:/two")
        shown = self.cache("info", *tiers).out
        self.assertIn("tier      http://127.0.0.1:1/c rw\n", shown)
        self.assertNotIn("hidden", shown)
        self.assertEqual(self.cache("info", "--json", *tiers).json["tiers"],
                         ["http://127.0.0.1:1/c rw", "dir:/two"])

    def test_an_index_that_is_missing_is_made_anew_and_that_is_said_once(self):
        said = f"there is no index of {self.store.root} on this machine: it is made anew"
        first = self.cache("info")
        self.assertEqual(first.err.count(said), 1, first)
        self.assertIn("results   4\n", first.out)
        self.assertEqual(self.cache("info").err, "")
        for path in (self.dir / ".local/state/bitzel/index").iterdir():
            path.unlink()
        self.assertEqual(self.cache("info").err.count(said), 1)
        # Where there is nothing, nothing is missing.
        (self.dir / "new").mkdir()
        self.assertEqual(self.run_bitzel("--set", "cache.dir=new", "cache", "info").err, "")

    def test_ls_lists_results_by_name_and_filters(self):
        rows = self.cache("ls", "--json").json["results"]
        self.assertEqual([(row["recipe"], row["task"], row["state"]) for row in rows],
                         [("", "", "unsealed"), ("busybox", "do_compile", "ok"),
                          ("zlib", "do_compile", "ok"), ("zlib", "do_install", "ok")])
        self.assertEqual(rows[3]["key"], self.keys["install"])
        self.assertEqual(rows[3]["duration"], 12)
        self.assertEqual(len(self.cache("ls", "z*").out.splitlines()), 2)
        self.assertEqual(len(self.cache("ls", "--task", "do_install").out.splitlines()), 1)
        self.assertIn("no result", self.cache("ls", "nothing", code=3).err)

    def test_du_tells_what_is_shared_from_what_is_not(self):
        usage = self.cache("du", "--json").json
        groups = {row["recipe"]: row for row in usage["groups"]}
        self.assertEqual(groups["zlib"]["results"], 2)
        shared = os.stat(self.store.path("cas", reapi.sha256(b"read me\n"))).st_blocks * 512
        for name in ("zlib", "busybox"):  # both have the same README
            self.assertEqual(groups[name]["bytes"] - groups[name]["own_bytes"], shared)
        self.assertEqual(usage["unused_bytes"], 0)
        self.assertEqual(len(self.cache("du", "--tasks", "--json").json["groups"]), 4)

    def test_show_tells_what_a_result_says(self):
        shown = self.cache("show", self.keys["install"], "--json", "--tree").json
        self.assertEqual((shown["kind"], shown["recipe"], shown["task"]),
                         ("result", "zlib", "do_install"))
        self.assertTrue(shown["sealed"])
        self.assertEqual((shown["exit_code"], shown["duration"]), (0, 12))
        self.assertEqual(shown["stdout"]["digest"], reapi.sha256(b"installed\n"))
        entries = {e["path"]: e for e in shown["outputs"][0]["entries"]}
        self.assertEqual(sorted(entries), ["", "README", "bin", "bin/gunzip", "bin/gzip"])
        self.assertTrue(entries["bin/gzip"]["executable"])
        self.assertEqual(entries["bin/gunzip"]["target"], "gzip")

    def test_show_reads_what_others_wrote(self):
        shown = self.cache("show", self.keys["foreign"], "--json").json
        self.assertFalse(shown["sealed"])
        self.assertEqual(shown["outputs"][0]["path"], "out/o.txt")
        self.assertEqual(shown["outputs"][0]["digest"], reapi.sha256(b"o\n"))

    def test_show_says_what_a_blob_is(self):
        tree = self.cache("show", self.keys["install"], "--json").json["outputs"][0]["digest"]
        self.assertEqual(self.cache("show", tree, "--json").json["is"], "tree")
        for content, kind in ((b"read me\n", "text"), (b"#!/bin/sh\n" * 10, "script"),
                              (b"\x7fELF" + bytes(range(256)) * 2000, "ELF")):
            shown = self.cache("show", reapi.sha256(content), "--json").json
            self.assertEqual((shown["kind"], shown["is"], shown["size"]),
                             ("blob", kind, len(content)))

    def test_a_key_may_be_cut_short_as_long_as_it_is_the_only_one(self):
        key = self.keys["install"]
        self.assertEqual(self.cache("path", key[:12]).out, f"{self.store.path('ac', key)}\n")
        self.assertEqual(self.cache("path").out, f"{self.store.root}\n")
        self.store.write("ac", key[:60] + "0000", b"")
        self.assertIn("2 results", self.cache("show", key[:12], code=2).err)
        self.cache("show", "0123abcd", code=3)
        for wrong in ("xyz0", "abc", key + "0"):
            self.cache("show", wrong, code=2)

    def test_a_store_that_is_not_there_is_not_made(self):
        nowhere = self.dir / "nowhere"
        for command in ("info", "ls", "du", "gc", "verify", "reindex"):
            result = self.run_bitzel("--set", f"cache.dir={nowhere}", "cache", command)
            self.assert_exit(result, 3)
            self.assertIn("there is no store", result.err)
        self.assertFalse(nowhere.exists())


class Verify(Cache):
    def damage(self, kind, key):
        path = self.store.path(kind, key)
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)

    def test_a_sound_store_is_well(self):
        found = self.cache("verify", "--json").json
        self.assertEqual((found["results"], found["unsealed_results"]), (4, 1))
        self.assertEqual(found["faults"], [])

    def test_what_is_wrong_is_exit_6_and_can_be_repaired(self):
        self.damage("cas", reapi.sha256(b"read me\n"))
        self.damage("ac", self.keys["compile"])
        for way in (["verify"], ["verify", "--json", "--repair"]):
            found = self.cache(*way, code=6)
        self.assertEqual([(f["kind"], f["fault"].split()[0]) for f in found.json["faults"]],
                         [("blob", "wrong"), ("result", "a"), ("result", "not"), ("result", "a")])
        self.assertEqual(found.json["repaired"], 4)
        self.assertEqual(len(os.listdir(self.store.root / "bad")), 2)
        self.cache("verify")
        self.assertEqual(len(self.cache("ls").out.splitlines()), 1)

    def test_a_missing_blob_is_found(self):
        self.store.path("cas", reapi.sha256(b"o\n")).unlink()
        self.assertIn(self.keys["foreign"], self.cache("verify", code=6).out)


class Copy(Cache):
    def setUp(self):
        super().setUp()
        self.other = reapi.Store(self.dir / "other")
        self.other.root.mkdir()

    def files(self, store, kind):
        return sorted(p.name for p in (store.root / kind).glob("??/*"))

    def test_push_copies_results_with_their_blobs(self):
        done = self.cache("push", f"dir:{self.other.root}", "--json").json
        self.assertEqual(done, {"copied": 3, "unsealed": 1, "missing": 0, "failed": 0,
                                "problems": []})
        self.assertEqual(self.files(self.other, "ac"),
                         sorted(k for n, k in self.keys.items() if n != "foreign"))
        self.assertEqual(len(self.files(self.other, "cas")), 6)
        self.store = self.other
        self.cache("verify")

    def test_pull_copies_one_or_all(self):
        full, self.store = self.store, self.other
        self.assertIn("copied 1", self.cache("pull", f"dir:{full.root}", self.keys["install"]).out)
        self.assertEqual(self.files(self.other, "ac"), [self.keys["install"]])
        self.assertEqual(self.cache("pull", f"dir:{full.root}", "--json").json["copied"], 3)
        self.cache("verify")
        self.cache("pull", f"dir:{full.root}", "0" * 64, code=3)

    def test_push_names_what_lacks_a_blob_as_missing(self):
        blob = reapi.sha256(b"installed\n")
        self.store.path("cas", blob).unlink()
        done = self.cache("push", f"dir:{self.other.root}", "--json").json
        self.assertEqual((done["copied"], done["missing"], done["failed"]), (2, 1, 0))
        (problem,) = done["problems"]
        self.assertEqual((problem["key"], problem["state"]), (self.keys["install"], "missing"))
        self.assertIn(blob, problem["why"])
        shown = self.cache("push", f"dir:{self.other.root}")
        self.assertIn(f"missing: {self.keys['install']}: ", shown.err)
        self.assertIn(blob, shown.err)
        self.cache("push", f"dir:{self.other.root}", self.keys["install"], code=3)

    def test_push_names_what_failed_and_why(self):
        blob = reapi.sha256(b"installed\n")
        path = self.store.path("cas", blob)
        path.write_bytes(b"instilled\n")
        done = self.cache("push", f"dir:{self.other.root}", "--json", code=4).json
        self.assertEqual((done["copied"], done["failed"]), (2, 1))
        (problem,) = done["problems"]
        self.assertEqual((problem["key"], problem["state"]), (self.keys["install"], "failed"))
        self.assertIn("blobs", problem["why"])

    def test_of_many_problems_the_first_are_shown_and_json_has_all(self):
        keys = [reapi.sha256(bytes([n])) for n in range(9)]
        found = self.cache("pull", f"dir:{self.other.root}", *keys, code=3)
        self.assertEqual([line.split(": ")[1] for line in found.err.splitlines()
                          if line.startswith("missing: ")], keys[:5])
        self.assertIn("4 more", found.err)
        done = self.cache("pull", f"dir:{self.other.root}", *keys, "--json", code=3)
        self.assertEqual([p["key"] for p in done.json["problems"]], keys)
        self.assertEqual(done.err, "")

    def test_without_another_place_there_is_an_error_that_says_so(self):
        for command in ("push", "pull"):
            self.assertIn("cache.tiers", self.cache(command, code=2).err)

    def test_the_places_that_are_configured_are_used(self):
        self.cache("push", self.keys["compile"][:10],
                   "--set", f"cache.tiers=dir:{self.other.root} rw")
        self.assertEqual(self.files(self.other, "ac"), [self.keys["compile"]])
        self.assertIn("rw", self.cache("push", "--set", f"cache.tiers=dir:{self.other.root}",
                                       code=2).err)


class Collect(Cache):
    def test_what_is_new_stays_and_that_is_said(self):
        done = self.cache("gc", "--max-size", "1K")
        self.assertIn("removed 0 of 4 results", done.out)
        self.assertIn("not enough", done.err)

    def test_options_are_read_like_settings(self):
        self.assertIn("--max-size", self.cache("gc", "--max-size", "huge", code=2).err)
        self.cache("gc", "--max-age", "14d", "--min-free", "0", "--keep-last", "3", "--dry-run")

    def test_json_has_the_figures(self):
        done = self.cache("gc", "--dry-run", "--json").json
        self.assertEqual((done["results"], done["blobs"], done["removed"]), (4, 7, []))
        self.assertTrue(done["dry_run"] and done["enough"])

    def test_reindex_takes_in_what_others_stored(self):
        self.cache("info")
        self.store.result("late", files=[("f", b"late\n", False)])
        self.assertEqual(self.cache("info", "--json").json["results"], 4)
        self.assertEqual(self.cache("reindex", "--json").json, {"results": 5, "blobs": 8})
        self.assertEqual(self.cache("info", "--json").json["results"], 5)


if __name__ == "__main__":
    bitzel.main()
