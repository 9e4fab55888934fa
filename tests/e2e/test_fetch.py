"""bitzel fetch: sources from a web server, from git, from apt, from mirrors."""

import base64
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import threading
import unittest.mock

import bitzel
import demo

MANUAL = (pathlib.Path(__file__).resolve().parents[2] / ".docs/manual.md").read_text()


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves server.files; the first `broken` requests for a file end in the middle."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.seen.append((self.path, self.headers.get("Range")))
        body = self.server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        part = body[start:]
        if self.server.broken > 0:
            self.server.broken -= 1
            part = part[:len(part) // 2]
            self.close_connection = True
        self.wfile.write(part)

    def log_message(self, *args):
        pass


def serve(case):
    """A server for the time of a test; its files are bytes by path."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.seen, server.broken = {}, [], 0
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    case.addCleanup(thread.join)
    case.addCleanup(server.server_close)
    case.addCleanup(server.shutdown)
    return server


class Sources(demo.Project):
    def setUp(self):
        super().setUp()
        self.server = serve(self)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.write("meta-one/classes/base.bbclass",
                   "addtask fetch\naddtask build after do_fetch\n"
                   "do_build[deptask] = \"do_build\"\n")
        self.write("build/conf/local.conf", 'MACHINE = "board"\nDL_DIR = "${TOPDIR}/downloads"\n')
        self.downloads = self.dir / "build/downloads"

    def serve(self, path, body):
        self.server.files[path] = body
        return hashlib.sha256(body).hexdigest()

    def recipe(self, name, text):
        self.write(f"meta-one/recipes/{name}.bb", text)

    def fetch(self, *args, **how):
        return self.run_in_build("fetch", *args, **how)


class Fetch(Sources):
    def states(self, *args, code=0, **how):
        result = self.fetch("--json", *args, **how)
        self.assert_exit(result, code)
        return {(s["recipe"], s["uri"]): s["state"] for s in result.json["sources"]}

    def test_sources_of_a_target_and_of_what_it_needs_are_fetched(self):
        lib, app = self.serve("/lib.tar", b"lib"), self.serve("/app.tar", b"app")
        self.recipe("lib", f'SRC_URI = "{self.url}/lib.tar;sha256sum={lib}"\n')
        self.recipe("app", f'DEPENDS = "lib"\nSRC_URI = "{self.url}/app.tar file:///etc/passwd"\n'
                           f'SRC_URI[sha256sum] = "{app}"\n')
        self.assertEqual(self.states("--only", "app"),
                         {("app", self.url + "/app.tar"): "fetched",
                          ("app", "file:///etc/passwd"): "local"})
        self.assertFalse((self.downloads / "lib.tar").exists())
        self.assertEqual(self.states("app"),
                         {("app", self.url + "/app.tar"): "present",
                          ("app", "file:///etc/passwd"): "local",
                          ("lib", self.url + "/lib.tar"): "fetched"})
        self.assertEqual((self.downloads / "lib.tar").read_bytes(), b"lib")
        self.assertTrue((self.downloads / "lib.tar.done").exists())
        self.assertEqual(len(self.server.seen), 2)

    def test_a_broken_transfer_goes_on_where_it_ended(self):
        body = os.urandom(300000)
        digest = self.serve("/big", body)
        self.server.broken = 2
        self.recipe("app", f'SRC_URI = "{self.url}/big;sha256sum={digest}"\n')
        self.assert_exit(self.fetch("app"), 0)
        self.assertEqual((self.downloads / "big").read_bytes(), body)
        self.assertEqual([r for _, r in self.server.seen],
                         [None, "bytes=150000-", "bytes=225000-"])

    def test_a_missing_checksum_is_exit_2_with_the_line_to_add(self):
        digest = self.serve("/a.tar", b"a")
        self.recipe("app", f'SRC_URI = "{self.url}/a.tar;name=src"\n')
        result = self.fetch("app")
        self.assert_exit(result, 2)
        self.assertIn(f'\nSRC_URI[src.sha256sum] = "{digest}"\n', result.err)
        self.recipe("app", f'SRC_URI = "{self.url}/a.tar;name=src"\n'
                           f'SRC_URI[src.sha256sum] = "{digest}"\n')
        self.assert_exit(self.fetch("app"), 0)

    def test_wrong_bytes_are_exit_1_and_the_others_are_fetched(self):
        self.serve("/a", b"a")
        good = self.serve("/b", b"b")
        self.recipe("app", f'SRC_URI = "{self.url}/a;sha256sum={"0" * 64} '
                           f'{self.url}/b;sha256sum={good} {self.url}/none;sha256sum={good}"\n')
        self.assertEqual(list(self.states("app", code=1).values()),
                         ["failed", "fetched", "failed"])
        self.assertFalse((self.downloads / "a").exists())

    def test_without_network_mirrors_in_directories_do(self):
        digest = hashlib.sha256(b"a").hexdigest()
        self.recipe("app", f'SRC_URI = "http://user:secret@h.invalid/a;sha256sum={digest}"\n'
                           'BB_NO_NETWORK = "1"\nPREMIRRORS = "http://.*/.* '
                           'file://${TOPDIR}/mirror/"\n')
        result = self.fetch("app")
        self.assert_exit(result, 1)
        self.assertIn("BB_NO_NETWORK", result.err)
        self.assertNotIn("secret", result.err + result.out)
        self.write("build/mirror/a", "a")
        self.assertEqual(self.states("app"), {("app", "http://***@h.invalid/a"): "fetched"})

    def test_offline_what_is_not_here_is_told(self):
        digest = self.serve("/a.txt", b"a")
        self.recipe("soup", f'SRC_URI = "{self.url}/a.txt"\nSRC_URI[sha256sum] = "{digest}"\n')
        result = self.fetch("--offline", "soup")
        self.assert_exit(result, 1)
        self.assertIn("--offline", result.err)
        self.fetch("soup")
        self.assert_exit(self.fetch("--offline", "soup"), 0)
        self.assertEqual(len(self.server.seen), 1)

    def test_that_there_is_nothing_to_fetch_is_told(self):
        self.write("meta-one/recipes/plain_1.0.bb", "")
        result = self.run_in_build("fetch", "plain")
        self.assertEqual((result.code, result.out, result.err), (0, "", "note: there are no sources to fetch\n"))
        self.assertEqual(self.run_in_build("fetch", "plain", "-q").err, "")
        self.assertEqual(self.run_in_build("fetch", "plain", "--json").json["sources"], [])

    def test_an_unknown_target_is_exit_3(self):
        self.assert_exit(self.fetch("nothing-like-it"), 3)

    def test_git_needs_the_server_once(self):
        repo = self.dir / "up"
        git = ["git", "-C", repo, "-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", "init", "-q", "-b", "main", repo], check=True)
        (repo / "file").write_text("x")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "one"], check=True)
        rev = subprocess.run([*git, "rev-parse", "HEAD"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.strip()
        self.recipe("app", f'SRC_URI = "git://{repo};protocol=file;branch=main"\n'
                           f'SRCREV = "{rev}"\n')
        self.assertEqual(list(self.states("app").values()), ["fetched"])
        shutil.rmtree(repo)
        self.assertEqual(list(self.states("app").values()), ["present"])
        name = str(repo).lstrip("/").replace("/", ".")
        self.assertTrue((self.downloads / "git2" / name / "HEAD").exists())

    def test_npm_packages_come_from_the_registry_that_npm_uses(self):
        if not shutil.which("npm"):  # all that is asked of it is which registry it uses
            npm = self.dir / "bin/npm"
            npm.parent.mkdir()
            npm.write_text("#!/bin/sh\n"
                           "[ \"$*\" = 'config get registry' ] && sed 's/^registry=//' ~/.npmrc\n")
            npm.chmod(0o755)
            path = f"{npm.parent}:{os.environ['PATH']}"
            self.enterContext(unittest.mock.patch.dict(os.environ, PATH=path))
        digest = self.serve("/-/left-1.0.0.tgz", b"tarball")
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(b"tarball").digest()).decode()
        self.serve("/left/1.0.0", json.dumps({"dist": {
            "tarball": self.url + "/-/left-1.0.0.tgz", "integrity": integrity}}).encode())
        (self.dir / ".npmrc").write_text(f"registry={self.url}/\n")
        self.recipe("app", 'SRC_URI = "npm://registry.npmjs.org;package=left;version=1.0.0;'
                           f'sha256sum={digest}"\n')
        self.assertEqual(list(self.states("app").values()), ["fetched"])
        self.assertEqual((self.downloads / "npm2/left-1.0.0.tgz").read_bytes(), b"tarball")


class Apt(Sources):
    """A repository that the test writes; the host's own apt is not touched."""

    def setUp(self):
        super().setUp()
        if not shutil.which("apt-get"):
            if os.environ.get("BITZEL_MUST_WORK"):
                self.fail("there is no apt-get")
            self.skipTest("there is no apt-get")
        repo = self.dir / "repo"
        repo.mkdir()
        blob = io.BytesIO()
        with tarfile.open(fileobj=blob, mode="w:gz") as tar:
            info = tarfile.TarInfo("tiny-1.0/main.c")
            info.size = 4
            tar.addfile(info, io.BytesIO(b"code"))
        (repo / "tiny_1.0.tar.gz").write_bytes(blob.getvalue())
        head = ("Format: 1.0\n{}: tiny\nBinary: tiny\nArchitecture: any\nVersion: 1.0\n"
                "Maintainer: nobody <n@h.invalid>\n")
        (repo / "tiny_1.0.dsc").write_text(head.format("Source") + self.sums(repo, [
            "tiny_1.0.tar.gz"]))
        (repo / "Sources").write_text(head.format("Package") + "Directory: .\n" + self.sums(
            repo, ["tiny_1.0.dsc", "tiny_1.0.tar.gz"]))
        (self.dir / "etc").mkdir()
        (self.dir / "etc/x.sources").write_text(
            f"Types: deb\nURIs: file:{repo}\nSuites: ./\nTrusted: yes\n")
        (self.dir / "apt.conf").write_text(f'Dir::Etc "{self.dir}/etc";\n'
                                           f'Dir::Etc::sourceparts "{self.dir}/etc";\n'
                                           f'Dir::Etc::sourcelist "{self.dir}/none";\n')
        self.env = {"APT_CONFIG": str(self.dir / "apt.conf")}

    @staticmethod
    def sums(repo, names):
        def rows(kind):
            return "".join(f" {hashlib.new(kind, (repo / n).read_bytes()).hexdigest()} "
                           f"{(repo / n).stat().st_size} {n}\n" for n in names)
        return f"Files:\n{rows('md5')}Checksums-Sha256:\n{rows('sha256')}\n"

    def test_a_source_package_comes_with_all_its_files(self):
        self.recipe("app", 'SRC_URI = "apt://tiny;version=1.0"\n')
        result = self.fetch("app", env=self.env)
        self.assert_exit(result, 0)
        got = sorted(p.name for p in (self.downloads / "apt2/tiny_1.0").iterdir())
        self.assertEqual(got, ["tiny_1.0.dsc", "tiny_1.0.tar.gz"])
        shutil.rmtree(self.dir / "repo")
        again = self.fetch("--json", "app", env=self.env)
        self.assertEqual(again.json["sources"][0]["state"], "present")

    def test_a_version_that_is_not_there_is_told(self):
        self.recipe("app", 'SRC_URI = "apt://tiny;version=9.9"\n')
        result = self.fetch("app", env=self.env)
        self.assert_exit(result, 1)
        self.assertIn("apt://tiny;version=9.9: apt-get fails with status 100", result.err)


class Shown(Sources):
    """What the manual shows is what the command says."""

    def test_the_transcript_is_real(self):
        self.serve("/app-1.0.tar.gz", b"app")
        self.recipe("app_1.0", f'SRC_URI = "{self.url}/app-1.0.tar.gz file:///etc/passwd"\n')
        self.recipe("lib", 'SRC_URI = "git://example.org/lib.git;protocol=https;nobranch=1;tag=v1"\n')
        shown = re.findall(r"^\$ bitzel (fetch .*)\n((?:(?!\$ |```).*\n)*)", MANUAL, re.M)
        self.assertEqual(len(shown), 3)
        for line, text in shown:
            result = self.run_in_build(*line.split())
            real = (result.err + result.out).replace(self.url, "https://example.org")
            self.assertEqual(real, text)
            self.recipe("app_1.0", f'SRC_URI = "{self.url}/app-1.0.tar.gz file:///etc/passwd"\n'
                        f'SRC_URI[sha256sum] = "{hashlib.sha256(b"app").hexdigest()}"\n')


if __name__ == "__main__":
    bitzel.main()
