"""Edits that change only what is easily forgotten about a result (modes, deletions, links,
empty directories), and harm that comes to results between two builds."""

import os
import pathlib
import shutil

import kinds
from kinds import word

kind = kinds.group("results")
harm = kinds.group("harm", changes=False, reach="all")


def library(p, body, suffix="lib", depends=""):
    p.recipe(f'DEPENDS = "{depends}"\n', body, suffix=suffix, target=False)
    p.owners[f"{p.name}-{suffix}"] = p.name
    return f"{p.name}-{suffix}"


def seen_by_dependent(p, body):
    """A recipe whose task depends on the output of `body`, and nothing else."""
    lib = library(p, body)
    p.recipe(f'DEPENDS = "{lib}"\n', f"look ${{DEPLOY_DIR}}/{lib} > ${{D}}/x")


@kind({"mode": ("644", "755", "600", "4755")}, rounds=2)
def output_mode(p, k):
    seen_by_dependent(p, f"echo x > ${{D}}/x; chmod {k.mode} ${{D}}/x")


@kind({"mode": ("755", "700", "1777")}, rounds=2)
def output_directory_mode(p, k):
    seen_by_dependent(p, f"mkdir ${{D}}/x; chmod {k.mode} ${{D}}/x")


@kind({"to": ("one", "two", "nowhere")}, rounds=2)
def output_link(p, k):
    seen_by_dependent(p, f"echo 1 > ${{D}}/one; echo 1 > ${{D}}/two; ln -s {k.to} ${{D}}/x")


@kind({"there": (True, False)})
def output_empty_directory(p, k):
    seen_by_dependent(p, "mkdir ${D}/x" if k.there else ":")


@kind({"there": (True, False)})
def output_empty_file(p, k):
    seen_by_dependent(p, "touch ${D}/x" if k.there else ":")


@kind({"name": ("one", "two")})
def output_renamed(p, k):
    seen_by_dependent(p, f"echo x > ${{D}}/{k.name}")


@kind({"what": ("file", "directory", "link")}, rounds=2)
def output_of_another_kind(p, k):
    seen_by_dependent(p, {"file": "touch ${D}/x", "directory": "mkdir ${D}/x", "link": "ln -s y ${D}/x"}[k.what])


@kind({"swapped": (False, True)})
def output_swapped(p, k):
    one, two = ("2", "1") if k.swapped else ("1", "2")
    seen_by_dependent(p, f"echo {one} > ${{D}}/one; echo {two} > ${{D}}/two")


@kind({"deleted": ("one", "two", "")}, rounds=2)
def deletion_in_recipe(p, k):
    """A task deletes what an earlier task of the recipe wrote."""
    p.recipe("addtask one before do_compile\naddtask two after do_one before do_compile\n"
             "do_one() {\n    mkdir -p ${B}; echo 1 > ${B}/one; echo 2 > ${B}/two\n}\n"
             f"do_two() {{\n    rm -f ${{B}}/{k.deleted or 'none'}\n}}\n", "look ${B} > ${D}/x")


@kind({"deleted": ("one", "two", "none")}, rounds=2)
def deletion_across_recipes(p, k):
    """A task deletes what a task of another recipe deployed."""
    low = library(p, "echo 1 > ${D}/one; echo 2 > ${D}/two", "low")
    mid = library(p, f"rm -f ${{DEPLOY_DIR}}/{low}/{k.deleted}", "mid", low)
    p.recipe(f'DEPENDS = "{mid}"\n', "look ${DEPLOY_DIR} > ${D}/x")


@kind({"deleted": (False, True)})
def deletion_of_a_directory(p, k):
    low = library(p, "mkdir -p ${D}/dir/sub; echo 1 > ${D}/dir/sub/one", "low")
    mid = library(p, f"{'rm -rf' if k.deleted else ': #'} ${{DEPLOY_DIR}}/{low}/dir", "mid", low)
    p.recipe(f'DEPENDS = "{mid}"\n', "look ${DEPLOY_DIR} > ${D}/x")


@kind({"again": (False, True)})
def deletion_and_creation(p, k):
    """A directory is deleted and made anew, so that only new files are in it."""
    low = library(p, "mkdir -p ${D}/dir; echo 1 > ${D}/dir/one", "low")
    where = f"${{DEPLOY_DIR}}/{low}/dir"
    mid = library(p, (f"rm -rf {where}; " if k.again else "") + f"mkdir -p {where}; echo 2 > {where}/two", "mid", low)
    p.recipe(f'DEPENDS = "{mid}"\n', "look ${DEPLOY_DIR} > ${D}/x")


@kind({"mode": ("644", "755")})
def mode_changed_by_later_task(p, k):
    p.recipe("addtask one before do_compile\ndo_one() {\n    mkdir -p ${B}; echo 1 > ${B}/one\n}\n",
             f"chmod {k.mode} ${{B}}/one; look ${{B}} > ${{D}}/x")


@kind({"value": word})
def file_changed_by_later_task(p, k):
    p.recipe("addtask one before do_compile\ndo_one() {\n    mkdir -p ${B}; echo 1 > ${B}/one\n}\n",
             f"echo {k.value} >> ${{B}}/one; look ${{B}} > ${{D}}/x")


@kind({"value": word})
def file_of_dependency_changed(p, k):
    """A task writes over what a task of another recipe deployed."""
    low = library(p, "echo 1 > ${D}/one", "low")
    mid = library(p, f"echo {k.value} > ${{DEPLOY_DIR}}/{low}/one", "mid", low)
    p.recipe(f'DEPENDS = "{mid}"\n', "look ${DEPLOY_DIR} > ${D}/x")


@kind({"fails": (False, True)}, may_fail=True, exclusive="failing")
def task_fails(p, k):
    p.recipe("", "echo x > ${D}/x; " + ("false" if k.fails else "true"))


@kind({"value": ("one", "two", "fail")}, may_fail=True, exclusive="failing", rounds=3)
def task_fails_by_dependency(p, k):
    """The task that fails is the same; what it is given is not."""
    lib = library(p, f"echo {k.value} > ${{D}}/x")
    p.recipe(f'DEPENDS = "{lib}"\n', f"if grep fail ${{DEPLOY_DIR}}/{lib}/x; then false; fi; cp ${{DEPLOY_DIR}}/{lib}/x ${{D}}/y")


# ---- harm between two builds ----

def some_recipe(p):
    p.recipe("", "mkdir ${D}/e; echo text > ${D}/x; ln -s x ${D}/l; printf '#!/bin/sh\\n' > ${D}/s; chmod 755 ${D}/s")


def harm_kind(**options):
    """A kind whose edit is a function of a site, an output directory and a random generator."""
    def enter(function):
        name = function.__name__.replace("_", "-")

        def act(site, p, rng):
            function(site, site.build_dir / "bitzel-out" / name / "image", rng)

        def render(p, k):
            some_recipe(p)
            p.harmed |= not options.get("nothing")
        render.__name__ = function.__name__
        harm({}, between=act, **options)(render)
        return function
    return enter


@harm_kind(nothing=True)
def bitzel_out_removed(site, image, rng):
    shutil.rmtree(site.build_dir / "bitzel-out", ignore_errors=True)


@harm_kind(nothing=True)
def build_directory_emptied(site, image, rng):
    for path in site.build_dir.iterdir():
        if path.name != "conf":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@harm_kind(nothing=True)
def trees_removed(site, image, rng):
    for name in ("trees", "out"):
        for path in (site.dir / "cache" / name).glob("*"):
            shutil.rmtree(path)


def user_kind(function):
    """A user changes the output; the next build, in an empty build directory, must be right."""
    def act(site, image, rng):
        if image.exists():
            function(site, image)
        build_directory_emptied(site, image, rng)
    act.__name__ = function.__name__
    return harm_kind()(act)


@user_kind
def user_writes_to_output(site, image):
    (image / "x").chmod(0o644)
    (image / "x").write_text("by the user\n")


@user_kind
def user_writes_as_long(site, image):
    before = (image / "x").stat()
    (image / "x").chmod(0o644)
    (image / "x").write_text("TEXT\n")
    (image / "x").chmod(before.st_mode & 0o7777)
    os.utime(image / "x", ns=(before.st_atime_ns, before.st_mtime_ns))


@user_kind
def user_changes_mode(site, image):
    (image / "x").chmod(0o600)
    (image / "s").chmod(0o644)


@user_kind
def user_deletes_from_output(site, image):
    (image / "x").unlink()
    (image / "e").rmdir()


@user_kind
def user_adds_to_output(site, image):
    (image / "more").write_text("by the user\n")


@user_kind
def user_changes_link(site, image):
    (image / "l").unlink()
    (image / "l").symlink_to("s")


@user_kind
def user_moves_and_edits(site, image):
    (image / "x").rename(site.dir / "taken")
    (site.dir / "taken").chmod(0o644)
    with open(site.dir / "taken", "a", encoding="utf-8") as file:
        file.write("by the user\n")


@user_kind
def user_links_and_edits(site, image):
    os.link(image / "x", site.dir / "linked")
    (site.dir / "linked").chmod(0o644)
    with open(site.dir / "linked", "r+", encoding="utf-8") as file:
        file.write("by the user\n")
    (site.dir / "linked").unlink()


@user_kind
def user_copies_and_edits(site, image):
    shutil.copytree(image, site.dir / "copied", symlinks=True)
    (site.dir / "copied/x").chmod(0o644)
    with open(site.dir / "copied/x", "a", encoding="utf-8") as file:
        file.write("by the user\n")
    (site.dir / "copied/s").chmod(0o600)
    shutil.rmtree(site.dir / "copied")


def blobs(site):
    return sorted(p for p in (site.dir / "cache/cas").rglob("*") if p.is_file())


@harm_kind()
def store_loses_a_blob(site, image, rng):
    rng.choice(blobs(site)).unlink()
    trees_removed(site, image, rng)
    build_directory_emptied(site, image, rng)


@harm_kind()
def store_has_a_damaged_blob(site, image, rng):
    path = pathlib.Path(rng.choice([b for b in blobs(site) if b.stat().st_size]))
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 0x20
    path.chmod(0o644)
    path.write_bytes(data)
    trees_removed(site, image, rng)
    build_directory_emptied(site, image, rng)


@harm_kind()
def store_loses_a_result(site, image, rng):
    rng.choice(sorted(p for p in (site.dir / "cache/ac").rglob("*") if p.is_file())).unlink()
    build_directory_emptied(site, image, rng)


@harm_kind(nothing=True)
def store_copied(site, image, rng):
    shutil.copytree(site.dir / "cache", site.dir / "copy", symlinks=True)
    shutil.rmtree(site.dir / "cache")
    (site.dir / "copy").rename(site.dir / "cache")
    build_directory_emptied(site, image, rng)


@harm_kind(nothing=True)
def state_removed(site, image, rng):
    shutil.rmtree(site.dir / "state")
    (site.dir / "state").mkdir()
