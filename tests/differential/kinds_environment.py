"""Edits of the caller's environment that a project reads, and of the host."""

import os
import shutil
import subprocess

import kinds
from checkout import Dir, File
from kinds import word

kind = kinds.group("environment")


def no_mounts():
    """Why no file of the host can be replaced for one build."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return "needs root and unshare"
    done = subprocess.run(["unshare", "-m", "mount", "--bind", "/usr/bin/tsort", "/usr/bin/factor"],
                          stderr=subprocess.DEVNULL, check=False)
    return None if done.returncode == 0 else "mounts do not work here"


def passed(p, name, value):
    """Has a variable of the environment pass into the configuration."""
    names = p.env.get("BB_ENV_PASSTHROUGH_ADDITIONS", "")
    p.env.update({"BB_ENV_PASSTHROUGH_ADDITIONS": f"{names} {name}".strip(), name: value})


@kind({"value": word})
def passed_variable(p, k):
    passed(p, p.upper, k.value)
    p.recipe(f'X = "${{{p.upper}}}"\n', 'echo "${X}" > ${D}/x')


@kind({"there": (True, False)})
def passed_variable_unset(p, k):
    if k.there:
        passed(p, p.upper, "x")
    p.recipe(f"X = \"${{@d.getVar('{p.upper}') or 'unset'}}\"\n", 'echo "${X}" > ${D}/x')


@kind({"machine": ("board-a", "board-b")}, reach="all", exclusive="machine")
def machine_of_the_caller(p, k):
    passed(p, "MACHINE", k.machine)
    p.recipe('X = "x"\nX:board-b = "b"\n', 'echo "${X}" > ${D}/x')


@kind({"value": word})
def file_read_after(p, k):
    p.put(f"meta/conf/{p.name}-{k.value}.conf", f'{p.upper} = "{k.value}"\n')
    p.args += ["--postread", f"../meta/conf/{p.name}-{k.value}.conf"]
    p.recipe(f'X = "${{{p.upper}}}"\n', 'echo "${X}" > ${D}/x')


@kind({"value": word})
def file_read_after_content(p, k):
    p.put(f"meta/conf/{p.name}.conf", f'{p.upper} = "{k.value}"\n')
    p.args += ["--postread", f"../meta/conf/{p.name}.conf"]
    p.recipe(f'X = "${{{p.upper}}}"\n', 'echo "${X}" > ${D}/x')


def replaced(p, entry, path, name="other"):
    """Has one build see another file or directory of the host at `path`."""
    p.outside[f"{p.name}/{name}"] = entry
    p.prefix = ["unshare", "-m", "sh", "-c", f'mount --bind "$0" {path} && exec "$@"', f"{p.shared}/{p.name}/{name}"]


def tool(value):
    return File(f"#!/bin/sh\necho {value}\n", 0o755)


@kind({"value": word}, needs=no_mounts, exclusive="prefix",
      later="the host's files are no inputs yet")
def host_tool(p, k):
    """The host has another version of a tool that a task runs."""
    replaced(p, tool(k.value), "/usr/bin/tsort")
    p.recipe("", "tsort /dev/null > ${D}/x")


@kind({"value": word}, needs=no_mounts, exclusive="prefix",
      later="the host's files are no inputs yet")
def host_tool_not_named(p, k):
    """The name of the tool is not in the script: an earlier task wrote it."""
    replaced(p, tool(k.value), "/usr/bin/tsort")
    p.recipe('addtask one before do_compile\ndo_one() {\n    mkdir -p ${B}; printf "%s" ts ort > ${B}/name\n}\n',
             "$(cat ${B}/name) /dev/null > ${D}/x")


@kind({"there": (False, True)}, needs=no_mounts, exclusive="prefix",
      later="the host's files are no inputs yet")
def host_tool_earlier_in_path(p, k):
    p.outside[f"{p.name}/bin"] = Dir()
    replaced(p, tool("local"), "/usr/local/bin", "bin/tsort" if k.there else "bin/another")
    p.prefix[-1] = f"{p.shared}/{p.name}/bin"
    p.recipe("", "echo a b | tsort > ${D}/x")


@kind({"value": word}, needs=no_mounts, exclusive="prefix",
      later="the host's files are no inputs yet")
def host_file(p, k):
    """A task reads a file of the host that is no tool."""
    replaced(p, File(f"{k.value}\n"), "/usr/lib/os-release")
    p.recipe("", "cat /usr/lib/os-release > ${D}/x")
