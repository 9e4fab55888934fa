# shellcheck shell=sh
# bitzel.sh - what the programs in this directory share: which bitzel they speak to.
# BITZEL names it; else it is the one of this checkout, or installed with them, or in PATH.

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

bitzel() {
    if [ -n "${BITZEL-}" ]; then
        "$BITZEL" "$@"
    elif [ -x "$here/../../run" ]; then
        "$here/../../run" "$@"
    elif [ -x "$here/../../../../bin/bitzel" ]; then
        "$here/../../../../bin/bitzel" "$@"
    else
        command bitzel "$@"
    fi
}

fail() {
    echo "ERROR: $*" >&2
    exit 1
}
