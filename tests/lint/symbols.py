"""What may be called from where, and no mutable globals: read off the objects.

usage: symbols.py ROOT OBJECTS   (OBJECTS is described in objects.py)

An undefined symbol in an object is a call to somewhere else, whatever macros and
headers it came through.
"""

import collections
import pathlib
import re
import sys

import objects
import tree

# symbols, the files that may refer to them, whether cmd may as well, what to do instead
Rule = collections.namedtuple("Rule", "symbols files cmd advice")

RULES = [
    Rule(r"pthread_create|thrd_create", {"worker"}, False,
         "threads start in pool/worker.c: submit work to the pool"),
    Rule(r"_?fork|vfork|_Fork|(__)?clone[23]?|(posix|pidfd)_spawn\w*|f?exec(ve?|vpe?|l[ep]?|veat)"
         r"|system|popen|daemon", {"proc", "spawn", "isolate"}, False,
         "processes start in os/proc.c, sandbox/spawn.c and jobs/isolate.c"),
    # After fork, _exit is the only way for a child to end.
    Rule(r"_exit|_Exit", {"proc", "spawn", "isolate"}, True, "return an error: only cmd ends the program"),
    Rule(r"exit|quick_exit", set(), True, "return an error: only cmd ends the program"),
    Rule(r"stdout|v?printf|puts|putchar(_unlocked)?|__v?printf_chk", set(), True,
         "only cmd prints: return it, log it or emit an event"),
    Rule(r"(EVP|ERR|BIO|RAND|CRYPTO|OPENSSL|OSSL|HMAC)_\w+|SHA\d\w*|MD5\w*",
         {"digest", "checksum", "signature"}, False,
         "libcrypto is called by codec/digest.c, checksum.c and signature.c alone"),
    Rule(r"yaml_\w+", {"yaml"}, False, "libyaml is called by codec/yaml.c alone"),
    Rule(r"pcre2_\w+", {"regex"}, False, "PCRE2 is called by codec/regex.c alone"),
    Rule(r"cJSON_\w+", {"json"}, False, "cJSON is called by codec/json.c alone"),
    Rule(r"(protobuf_c|pb_)_\w+", {"reapi"}, False, "protobuf-c is called by codec/reapi.c alone"),
    Rule(r"seccomp_\w+", {"filter"}, False, "libseccomp is called by sandbox/filter.c alone"),
    Rule(r"curl_\w+", {"http"}, False, "libcurl is called by net/http.c alone"),
    Rule(r"archive_\w+", {"archive"}, False, "libarchive is called by codec/archive.c alone"),
    Rule(r"sqlite3_\w+", {"index", "index_file", "schema"}, False,
         "SQLite is called by index.c, index_file.c and schema.c of cache alone"),
]

# Tables of pointers are constant after loading and lie in .data.rel.ro.
MUTABLE = re.compile(r"\.(data(?!\.rel\.ro)|bss|tdata|tbss)(\..*)?$|\*COM\*$")
# The sink of the log; what handlers of signals restore, and where they jump to.
MUTABLE_IN = {"log", "terminal", "guard"}


def source(root, symbol):
    """The path of the source that an object was made from."""
    folder = {"cmd": "cmd/bitzel", "cache": "cache"}.get(symbol.module, f"lib/{symbol.module}")
    return root / folder / f"{symbol.file}.c"


def wrong(symbol):
    """What is wrong with this symbol in this object, or None."""
    if symbol.section == "*UND*":
        for rule in RULES:
            if re.fullmatch(rule.symbols, symbol.name) and symbol.file not in rule.files \
                    and not (rule.cmd and symbol.module == "cmd"):
                return f"uses {symbol.name}: {rule.advice}"
    elif MUTABLE.match(symbol.section) and symbol.file not in MUTABLE_IN:
        return (f"{symbol.name.split('.')[0]} is a mutable global: make it const, "
                "or put it in an object that is passed down")
    return None


def main(root, list_of_objects):
    root = pathlib.Path(root).resolve()
    findings = tree.Findings(root)
    for symbol in objects.read(list_of_objects)[0]:
        if text := wrong(symbol):
            path = source(root, symbol)
            words = [w for w in symbol.name.split(".") if not w.isdigit()]
            findings.add(path, tree.line_of(path, words[-1]), text)
    findings.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
