"""The reverse: edits after which no task may run, for they cannot change a result."""

import os
import pwd
import shutil
import subprocess

import kinds
from checkout import File
from kinds import word

kind = kinds.group("nothing to do", nothing=True)
caller = kinds.group("caller", nothing=True)

# Whatever a task can learn about the caller; it must be the same for all callers.
PROBE = ("(env | LC_ALL=C sort; id; umask; ulimit -a; hostname; date +%Z; pwd; ls /proc/self/fd;"
         " stat -c '%a %n' / ${TOPDIR} ${TMPDIR} ${TMPDIR}/work ${WORKDIR}/.. ${WORKDIR}) > ${D}/x")


def plain(p, text="", **how):
    p.recipe(text, "echo x > ${D}/x", **how)


def not_root():
    return None if os.geteuid() == 0 else "needs root"


def one_cpu():
    return None if len(os.sched_getaffinity(0)) > 1 and shutil.which("taskset") else "needs two CPUs and taskset"


def no_other_host_name():
    if os.geteuid() != 0:
        return "needs root"
    done = subprocess.run(["unshare", "-u", "hostname", "other"], stderr=subprocess.DEVNULL, check=False)
    return None if done.returncode == 0 else "host names cannot be changed here"


@kind({"value": word})
def comment(p, k):
    plain(p, f"# {k.value}\n")


@kind({"value": word}, reach="all")
def comment_in_class(p, k):
    p.append("meta/classes/base.bbclass", f"# {k.value}\n")
    plain(p)


@kind({"value": word})
def comment_in_configuration(p, k):
    p.local(f"# {k.value}\n")
    p.append("meta/conf/bitbake.conf", f"# {k.value}\n")
    plain(p)


@kind({"lines": (0, 1, 5)})
def blank_lines(p, k):
    plain(p, "\n" * k.lines + 'do_compile[prefuncs] = "one"\none() {\n    :\n}\n' + "\n" * k.lines)


@kind({"order": ("ab", "ba")})
def lines_swapped(p, k):
    lines = {"a": 'X = "x"\n', "b": 'Y = "y"\n'}
    p.recipe("".join(lines[c] for c in k.order), 'echo "${X} ${Y}" > ${D}/x')


@kind({"value": word})
def unrelated_variable(p, k):
    p.local(f'{p.upper} = "{k.value}"\n')
    plain(p, f'UNRELATED = "{k.value}"\n')


@kind({"value": word})
def unrelated_variable_appended(p, k):
    plain(p, f'SUMMARY = "x"\nSUMMARY:append = " {k.value}"\n')


@kind({"value": word})
def inactive_override(p, k):
    p.recipe(f'X = "x"\nX:off = "{k.value}"\n', 'echo "${X}" > ${D}/x')


@kind({"value": word})
def inactive_append(p, k):
    p.recipe(f'X = "x"\nX:append:off = "{k.value}"\n', 'echo "${X}" > ${D}/x')


@kind({"value": word})
def overwritten_default(p, k):
    p.recipe(f'X = "x"\nX ?= "{k.value}"\nX ??= "{k.value}"\n', 'echo "${X}" > ${D}/x')


@kind({"value": word})
def unrelated_function(p, k):
    plain(p, f"unrelated() {{\n    echo {k.value}\n}}\n")


@kind({"value": word})
def unrelated_task(p, k):
    plain(p, f"addtask unrelated\ndo_unrelated() {{\n    echo {k.value}\n}}\n")


@kind({"value": word})
def unrelated_recipe(p, k):
    plain(p)
    p.recipe(f'X = "{k.value}"\n', suffix="other", target=False)


@kind({"there": (False, True)})
def unrelated_recipe_added(p, k):
    plain(p)
    if k.there:
        p.recipe("", suffix="other", target=False)


@kind({"value": word})
def unrelated_class(p, k):
    p.put(f"meta/classes/{p.name}.bbclass", f'X = "{k.value}"\n')
    plain(p)


@kind({"value": word})
def unrelated_file(p, k):
    p.put(f"{p.here}/files/other", k.value)
    p.put(f"{p.here}/files/x", "x")
    p.put("meta/README", k.value)
    p.recipe('inherit sources\nSRC_URI = "file://x"\n')


@kind({"there": (False, True)})
def unrelated_layer(p, k):
    if k.there:
        p.layer(f"{p.name}-more")
    plain(p)


@kind({"value": word})
def unrelated_flag(p, k):
    plain(p, f'do_compile[doc] = "{k.value}"\nX[doc] = "{k.value}"\n')


@kind({"value": word})
def excluded_variable(p, k):
    p.recipe(f'X = "{k.value}"\ndo_compile[vardepsexclude] = "X"\n', ': "${X}"')


@kind({"value": word})
def ignored_variable(p, k):
    p.local(f'BB_BASEHASH_IGNORE_VARS:append = " {p.upper}"\n{p.upper} = "{k.value}"\n')
    p.recipe("", f': "${{{p.upper}}}"')


@kind({"name": ("one", "two", None)})
def lockfiles_flag(p, k):
    plain(p, f'do_compile[lockfiles] = "${{TOPDIR}}/{k.name}.lock"\n' if k.name else "")


@kind({"timeout": ("100", "200", None)})
def timeout_flag(p, k):
    plain(p, f'do_compile[timeout] = "{k.timeout}"\n' if k.timeout else "")


@kind({"progress": ("percent", "outof:x", None)})
def progress_flag(p, k):
    plain(p, f'do_compile[progress] = "{k.progress}"\n' if k.progress else "")


@kind({"number": ("1", "2", "7")})
def parallel_make(p, k):
    p.local(f'PARALLEL_MAKE = "-j {k.number}"\nBB_NUMBER_THREADS = "{k.number}"\n')
    p.recipe("", "echo x > ${D}/x; : ${PARALLEL_MAKE} ${BB_NUMBER_THREADS}")


@kind({"number": ("1", "2", "7")}, exclusive="jobs")
def number_of_jobs(p, k):
    p.args.append(f"-j{k.number}")
    plain(p)


@kind({"how": ("completion", "waves")})
def schedule(p, k):
    p.args.append(f"--schedule={k.how}")
    plain(p)


@kind({"where": ("checkout", "moved", "deep/down")}, exclusive="where", rounds=2)
def moved_checkout(p, k):
    p.where = k.where
    p.put(f"meta/files/{p.name}", "x\n")
    p.put(f"{p.here}/files/x", "x\n")
    p.recipe('inherit sources\nSRC_URI = "file://x"\nHERE := "${THISDIR}"\nTOP := "${TOPDIR}"\n'
             f"do_compile:append() {{\n    cat ${{METADIR}}/files/{p.name} > ${{D}}/y; : ${{HERE}} ${{TOP}}\n}}\n")


def copy_checkout(site, p, rng):
    """The checkout is copied, as a second user of the cache would have it."""
    copy = site.dir / "copied"
    shutil.copytree(site.root, copy, symlinks=True,
                    ignore=lambda where, names: [n for n in names if n in ("bitzel-out", "tmp", "cache", "builds")])
    shutil.rmtree(site.root)
    copy.rename(site.root)
    if p.user is not None:
        site.own(p.user, site.root)


@kind({}, between=copy_checkout)
def copied_checkout(p, k):
    plain(p)


def touch_all(site, p, rng):
    for path in site.root.rglob("*"):
        if path.is_file() and not path.is_symlink() and "build" not in path.relative_to(site.root).parts[0]:
            os.utime(path)


@kind({}, between=touch_all)
def touched_files(p, k):
    p.put(f"{p.here}/files/x", "x")
    p.recipe('inherit sources\nSRC_URI = "file://x"\n')


def rewrite_all(site, p, rng):
    for path, entry in p.files().items():
        if isinstance(entry, File):
            beside = (site.root / path).with_name("rewritten")
            beside.write_bytes(entry.data)
            beside.chmod(entry.mode)
            beside.rename(site.root / path)


@kind({}, between=rewrite_all)
def rewritten_files(p, k):
    p.put(f"{p.here}/files/x", "x")
    p.recipe('inherit sources\nSRC_URI = "file://x"\n')


@kind({"value": word})
def git_directory_of_checkout(p, k):
    p.put("meta/.git/index", k.value)
    p.put(".git/HEAD", k.value)
    p.put(f"meta/files/{p.name}", "x\n")
    p.recipe("", f"cat ${{METADIR}}/files/{p.name} > ${{D}}/x")


@kind({"where": ("mirror", "other")})
def mirror_moved(p, k):
    p.put(f"{k.where}/{p.name}.txt", "x\n")
    p.recipe(f'inherit sources\nSRC_URI = "http://example.invalid/{p.name}.txt"\n'
             f'PREMIRRORS = "http://.*/.* file://${{TOPDIR}}/../{k.where}/"\n'
             f'SRC_URI[sha256sum] = "{kinds.sha256("x" + chr(10))}"\n')


@kind({"value": word})
def early_cutoff(p, k):
    """The task itself runs; its output stays, so nothing else does."""
    p.recipe("", f"echo x > ${{D}}/x; : {k.value}", suffix="lib", target=False)
    p.recipe(f'DEPENDS = "{p.name}-lib"\n', "look ${DEPLOY_DIR} > ${D}/x")
    p.always.add(f"{p.name}-lib:do_compile")
    p.owners[f"{p.name}-lib"] = p.name


# ---- the caller ----

def probing(p, **env):
    p.env.update({name: value for name, value in env.items() if value is not None})
    p.recipe("", PROBE)


@caller({"value": ("alice", "bob")})
def caller_user_names(p, k):
    probing(p, USER=k.value, LOGNAME=k.value)


@caller({"value": ("/bin/sh", "/bin/bash")})
def caller_shell(p, k):
    probing(p, SHELL=k.value)


@caller({"value": ("dumb", "xterm-256color")})
def caller_terminal(p, k):
    probing(p, TERM=k.value)


@caller({"value": ("home", "shared")}, exclusive="home")
def caller_home(p, k):
    probing(p, HOME=str(p.shared.parent / k.value))


@caller({"value": ("C", "C.UTF-8", "de_DE.UTF-8")})
def caller_locale(p, k):
    probing(p, LC_ALL=k.value, LANG=k.value)


@caller({"value": ("UTC", "Asia/Tokyo", "America/New_York")})
def caller_time_zone(p, k):
    probing(p, TZ=k.value)


@caller({"value": ("/usr/bin:/bin", "/bin:/usr/bin:/usr/sbin:/sbin", "/usr/local/bin:/usr/bin:/bin")})
def caller_path(p, k):
    probing(p, PATH=k.value)


@caller({"value": word})
def caller_unknown_variable(p, k):
    probing(p, UNKNOWN=k.value, CFLAGS=k.value, MAKEFLAGS="-k" if k.value < "c" else "")


@caller({"value": (0o022, 0o077)}, exclusive="umask")
def caller_umask(p, k):
    p.umask = k.value
    p.put(f"{p.here}/files/x", "x")
    p.recipe('inherit sources\nSRC_URI = "file://x"\ndo_compile[umask] = ""\ndo_deploy[umask] = ""\n'
             f"do_compile:append() {{\n    {PROBE}\n    mkdir ${{D}}/y\n}}\n")


@caller({"value": (1024, 4096)}, exclusive="prefix")
def caller_limits(p, k):
    p.prefix = ["prlimit", f"--nofile={k.value}:", f"--stack={k.value * 2048}:"]
    probing(p)


@caller({"value": (0, 5)}, exclusive="prefix")
def caller_descriptors(p, k):
    p.prefix = ["sh", "-c", "exec " + "7</dev/null 8</dev/null; exec " * bool(k.value) + '"$0" "$@"']
    probing(p)


@caller({"value": (0, 1)}, exclusive="prefix")
def caller_ignored_signals(p, k):
    p.prefix = ["sh", "-c", "trap '' HUP USR1 PIPE TERM; " * k.value + 'exec "$0" "$@"']
    p.recipe("", "grep SigIgn /proc/self/status > ${D}/x")


@caller({"value": ("one", "two")}, needs=no_other_host_name, exclusive="prefix")
def caller_host_name(p, k):
    p.prefix = ["unshare", "-u", "sh", "-c", f'hostname {k.value}; exec "$0" "$@"']
    probing(p)


@caller({"value": ("0", "0,1")}, needs=one_cpu, exclusive="prefix")
def caller_cpus(p, k):
    p.prefix = ["taskset", "-c", k.value]
    plain(p)


@caller({"value": (None, pwd.getpwnam("nobody").pw_uid)}, needs=not_root, exclusive="user")
def caller_user(p, k):
    p.user = k.value
    probing(p)
