"""Edits of SRC_URI: parameters of entries, checksums, git repositories."""

import hashlib
import subprocess

import bitzel
import kinds
from checkout import File
from kinds import word
from kinds_files import archive, patch, sources

kind = kinds.group("sources")
git = kinds.group("git")


def no_refresh():
    told = subprocess.run([bitzel.PROGRAM, "build", "--help"], stdout=subprocess.PIPE, check=False).stdout
    return None if b"--refresh" in told else "bitzel build does not know --refresh"


def local_x(p, parameters="", text="", name="x"):
    p.put(f"{p.here}/files/{name}", "x\n")
    sources(p, f"file://{name}{parameters}", text)


@kind({"where": ("", ";subdir=one", ";subdir=two", ";subdir=one/deep")}, rounds=2)
def entry_subdir(p, k):
    local_x(p, k.where)


@kind({"unpack": ("", ";unpack=0")})
def entry_unpack(p, k):
    p.put(f"{p.here}/files/a.tar.gz", archive({"a": File("a")}))
    sources(p, f"file://a.tar.gz{k.unpack}")


def mirrored(p, data, parameters="", text="", name="a.tar.gz", digest=None):
    """A source of a web server that a directory mirrors."""
    p.put(f"mirror/{p.name}-{name}", data)
    digest = digest or hashlib.sha256(data).hexdigest()
    sources(p, f"http://example.invalid/{p.name}-{name}{parameters}",
            f'SRC_URI[sha256sum] = "{digest}"\n{text}')


@kind({"name": ("", ";downloadfilename=one.txt", ";downloadfilename=two.txt")}, rounds=2)
def entry_downloadfilename(p, k):
    mirrored(p, b"x\n", k.name, name="x.txt")
    p.put("mirror/one.txt", "x\n")
    p.put("mirror/two.txt", "x\n")


@kind({"value": word})
def download_content(p, k):
    mirrored(p, archive({"a": File(k.value)}))


@kind({"right": (True, False)}, may_fail=True, exclusive="failing")
def checksum_wrong(p, k):
    mirrored(p, b"x\n", name="x.txt", digest=None if k.right else "0" * 64)


@kind({"which": ("one", "two")})
def checksum_decides(p, k):
    """Two downloads of one name: the checksum says which is meant."""
    p.put(f"mirror/{k.which}-mirror/x.txt", f"{k.which}\n")
    digest = hashlib.sha256(f"{k.which}\n".encode()).hexdigest()
    sources(p, "http://example.invalid/x.txt",
            f'SRC_URI[sha256sum] = "{digest}"\n'
            f'PREMIRRORS = "http://.*/.* file://${{TOPDIR}}/../mirror/{k.which}-mirror/"\n')


@kind({"right": (True, False)}, may_fail=True, exclusive="failing")
def checksum_in_entry(p, k):
    p.put(f"mirror/{p.name}.txt", "x\n")
    digest = hashlib.sha256(b"x\n").hexdigest() if k.right else "0" * 64
    sources(p, f"http://example.invalid/{p.name}.txt;sha256sum={digest}")


@kind({"right": (True, False)}, may_fail=True, exclusive="failing")
def checksum_of_named_entry(p, k):
    p.put(f"mirror/{p.name}.txt", "x\n")
    digest = hashlib.sha256(b"x\n").hexdigest() if k.right else "0" * 64
    sources(p, f"http://example.invalid/{p.name}.txt;name=one", f'SRC_URI[one.sha256sum] = "{digest}"\n')


@kind({"order": ("one two", "two one")})
def entry_order(p, k):
    """Both archives have the same file: the last one wins."""
    for name in ("one", "two"):
        p.put(f"{p.here}/files/{name}.tar.gz", archive({"x": File(name)}))
    sources(p, " ".join(f"file://{name}.tar.gz" for name in k.order.split()))


@kind({"there": (False, True)})
def entry_appended(p, k):
    p.put(f"{p.here}/files/y", "y\n")
    local_x(p, "", 'SRC_URI:append = " file://y"\n' * k.there)


@kind({"active": (False, True)})
def entry_of_override(p, k):
    p.put(f"{p.here}/files/y", "y\n")
    local_x(p, "", f'SRC_URI:append:{"red" if k.active else "off"} = " file://y"\nOVERRIDES .= ":red"\n')


@kind({"version": ("1.0", "2.0")})
def entry_by_version(p, k):
    """The entry names the version, and nothing else changes."""
    for version in ("1.0", "2.0"):
        p.put(f"{p.here}/files/x-{version}", f"{version}\n")
    p.recipe('inherit sources\nSRC_URI = "file://x-${PV}"\nWORKDIR = "${TMPDIR}/work/${PN}"\n', version=k.version)


@kind({"name": ("sources", "unpacked")})
def unpack_directory(p, k):
    local_x(p, "", f'UNPACKDIR = "${{WORKDIR}}/{k.name}"\n')


@kind({"uri": ("file://x file://a.patch", "file://x")})
def patch_by_list(p, k):
    p.put(f"{p.here}/files/a.patch", patch("new", old="x"))
    p.put(f"{p.here}/files/x", "x\n")
    sources(p, k.uri)


@kind({"value": word})
def two_recipes_one_file(p, k):
    """Both name one file of a directory that they share."""
    p.put(f"{p.here}/files/x", k.value)
    sources(p, "file://x")
    sources(p, "file://x;subdir=two", suffix="two")


@kind({"uri": ("file://x;subdir=a", "file://sub/x")})
def local_path_or_subdir(p, k):
    p.put(f"{p.here}/files/sub/x", "x\n")
    local_x(p)
    sources(p, k.uri)


# ---- git ----

def repository(p, history, **tags):
    return p.repository(p.name, history, {name: commit for name, commit in tags.items()})


def from_git(p, path, rev, parameters=";branch=main", text=""):
    p.recipe(f'inherit sources\nSRC_URI = "git://{path};protocol=file{parameters}"\n'
             f'SRCREV = "{rev}"\nS = "${{UNPACKDIR}}/git"\n{text}')


@git({"number": (0, 1, 2)}, rounds=2)
def git_revision(p, k):
    path, commits = repository(p, {"main": [{"x": "zero"}, {"x": "one"}, {"x": "one", "y": "two"}]})
    from_git(p, path, commits["main"][k.number])


@git({"number": (0, 1)}, changes=False)
def git_revision_same_files(p, k):
    """Another commit of the same files: only .git differs, and what git says of it."""
    path, commits = repository(p, {"main": [{"x": "zero"}, {"x": "one"}, {"x": "zero"}]})
    from_git(p, path, commits["main"][2 * k.number],
             text="do_compile() {\n    cp -a ${S}/x ${D}\n"
                  "    git -C ${S} -c safe.directory='*' rev-parse HEAD > ${D}/rev\n}\n")


@git({"branch": ("main", "other")})
def git_branch(p, k):
    path, commits = repository(p, {"main": [{"x": "main"}], "other": [{"x": "other"}]})
    from_git(p, path, commits[k.branch][0], f";branch={k.branch}")


@git({"branch": ("main", "other")}, may_fail=True, exclusive="failing")
def git_branch_without_commit(p, k):
    path, commits = repository(p, {"main": [{"x": "main"}], "other": [{"x": "other"}]})
    from_git(p, path, commits["main"][0], f";branch={k.branch}")


@git({"where": ("", ";destsuffix=git/one", ";destsuffix=two", ";subdir=sub")}, rounds=2)
def git_destination(p, k):
    path, commits = repository(p, {"main": [{"x": "x"}]})
    from_git(p, path, commits["main"][0], ";branch=main" + k.where)


@git({"number": (0, 1)})
def git_named_revision(p, k):
    path, commits = repository(p, {"main": [{"x": "zero"}, {"x": "one"}]})
    p.recipe(f'inherit sources\nSRC_URI = "git://{path};protocol=file;branch=main;name=one"\n'
             f'SRCREV_one = "{commits["main"][k.number]}"\nSRCREV_FORMAT = "one"\nS = "${{UNPACKDIR}}/git"\n')


@git({"number": (0, 1)})
def git_revision_in_entry(p, k):
    path, commits = repository(p, {"main": [{"x": "zero"}, {"x": "one"}]})
    p.recipe(f'inherit sources\nSRC_URI = "git://{path};protocol=file;branch=main;rev={commits["main"][k.number]}"\n'
             'S = "${UNPACKDIR}/git"\n')


@git({"name": ("one", "two")})
def git_repository(p, k):
    """The same commit is in both repositories, and one has another branch."""
    _, commits = p.repository(f"{p.name}-one", {"main": [{"x": "one"}]})
    p.repository(f"{p.name}-two", {"main": [{"x": "two"}]})
    path, commits = p.repository(f"{p.name}-{k.name}", {"main": [{"x": k.name}]})
    from_git(p, path, commits["main"][0])


@git({"there": (True, False)})
def git_patch(p, k):
    path, commits = repository(p, {"main": [{"x": "old\n"}]})
    p.put(f"{p.here}/files/a.patch", patch("new"))
    p.recipe(f'inherit sources\nSRC_URI = "git://{path};protocol=file;branch=main {"file://a.patch" * k.there}"\n'
             f'SRCREV = "{commits["main"][0]}"\nS = "${{UNPACKDIR}}/git"\n')


@git({"tag": ("one", "two")})
def git_tag(p, k):
    path, commits = p.repository(p.name, {"main": [{"x": "zero"}, {"x": "one"}]})
    for tag, commit in zip(("one", "two"), commits["main"]):
        p.outside[f"{p.name}/refs/tags/{tag}"] = File(commit + "\n")
    p.recipe(f'inherit sources\nSRC_URI = "git://{path};protocol=file;branch=main;tag={k.tag}"\n'
             'S = "${UNPACKDIR}/git"\n')


@git({"number": (0, 1)}, needs=no_refresh, exclusive="refresh")
def git_tag_moved(p, k):
    path, commits = p.repository(p.name, {"main": [{"x": "zero"}, {"x": "one"}]})
    p.outside[f"{p.name}/refs/tags/moving"] = File(commits["main"][k.number] + "\n")
    p.args.append("--refresh")
    p.recipe(f'inherit sources\nSRC_URI = "git://{path};protocol=file;branch=main;tag=moving"\n'
             'S = "${UNPACKDIR}/git"\n')


@git({"number": (1, 2)}, needs=no_refresh, exclusive="refresh")
def git_branch_moved(p, k):
    states = [{"x": "zero"}, {"x": "one"}]
    path, _ = p.repository(p.name, {"main": states[:k.number]})
    p.args.append("--refresh")
    from_git(p, path, "AUTOINC")


@git({"value": word}, nothing=True)
def git_repository_gets_more(p, k):
    """Commits on other branches do not matter."""
    path, commits = repository(p, {"main": [{"x": "x"}], "other": [{"x": k.value}]})
    from_git(p, path, commits["main"][0])
