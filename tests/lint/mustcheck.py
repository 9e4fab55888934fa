"""A function that can fail cannot be ignored: it is declared BZ_MUST_CHECK.

usage: mustcheck.py ROOT

A function in a header can fail if it takes a struct bz_err * to describe the failure in
and returns something. Those of err.h fill the struct in for others; they are exempt.
"""

import pathlib
import re
import sys

import tree

# A declaration: what stands between the end of the one before it and its own.
DECLARATION = re.compile(r"[^;{}]+(?=[;{])")
FUNCTION = re.compile(r"^(?P<before>[^(]*?)\b(?P<name>bz_\w+)\s*\((?P<after>.*)$", re.S)
TAKES_ERR = re.compile(r"(?<!const )struct\s+bz_err\s*\*")
ATTRIBUTE = re.compile(r"\b(BZ_\w+|__attribute__|_Alignas)\s*\(+[^()]*\)+")


def fallible(declaration):
    """The name of the function that this declares, if it can fail."""
    found = FUNCTION.match(ATTRIBUTE.sub("", declaration).strip())
    if not found or not TAKES_ERR.search(found["after"]):
        return None
    returns = set(re.findall(r"\w+|\*", found["before"])) - {"static", "inline", "extern"}
    if not returns - {"BZ_MUST_CHECK"} or "typedef" in returns or returns == {"void"}:
        return None
    return found["name"]


def main(root):
    root = pathlib.Path(root).resolve()
    findings = tree.Findings(root)
    for path in tree.c_files(root, *tree.LIBRARY, "cmd"):
        if path.suffix != ".h" or path.name == "err.h":
            continue
        # Directives end where their line ends, unless it ends in a backslash.
        text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m[0]),
                      tree.without_comments(path.read_text()), flags=re.M)
        for declaration in DECLARATION.finditer(text):
            name = fallible(declaration[0])
            if name and "BZ_MUST_CHECK" not in declaration[0]:
                at = declaration.start() + declaration[0].index(name)
                findings.add(path, 1 + text[:at].count("\n"),
                             f"{name} can fail: declare it BZ_MUST_CHECK")
    findings.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
