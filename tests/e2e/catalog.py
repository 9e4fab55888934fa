"""Reads cache/bitzel.catalog of a build directory, and damages it (lib/codec/entries.h)."""

import struct

FILE_HEAD, HEAD = 48, 64
MEMO, SUMS, TABLE, STRINGS, IDLE, FACTS, DELTA, TRIAL = range(1, 9)  # lib/codec/entry_kinds.h
TAINT = 0x80000001


def entries(path):
    """All of them in the order of the file, superseded ones too: where the bytes are,
    their number, kind, key, and whether it takes an earlier one away."""
    data = path.read_bytes() if path.exists() else b""
    at = FILE_HEAD
    while at + HEAD <= len(data):
        size, kind, _age, gone, key = struct.unpack_from("<16xQIHH32s", data, at)
        yield at + HEAD, size, kind, key, bool(gone)
        at += HEAD + (size + 7) // 8 * 8


def live(path, kind):
    """The bytes of the entries of a kind that count."""
    data = path.read_bytes() if path.exists() else b""
    last = {}
    for at, size, one, key, gone in entries(path):
        if one == kind:
            last[key] = None if gone else data[at:at + size]
    return [content for content in last.values() if content is not None]


def spoil(path, kind, where=0):
    """Changes a byte of every entry of a kind, the first by default."""
    data = bytearray(path.read_bytes())
    for at, size, one, _key, _gone in entries(path):
        if one == kind and size > 0:
            data[at + where % size] ^= 0x55
    path.write_bytes(data)
