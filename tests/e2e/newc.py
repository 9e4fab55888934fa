"""Reads cpio archives of the format "newc"."""

import collections
import gzip

Entry = collections.namedtuple("Entry", "mode uid gid mtime data device")


def read(path):
    """The entries of a compressed archive by name, in its order."""
    text = gzip.decompress(path.read_bytes())
    entries, at = {}, 0
    while True:
        assert text[at:at + 6] == b"070701", f"no header at {at}"
        field = [int(text[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
        start = at + 110
        name = text[start:start + field[11] - 1].decode()
        data = (start + field[11] + 3) // 4 * 4
        at = (data + field[6] + 3) // 4 * 4
        if name == "TRAILER!!!":
            assert at == len(text), "something follows the end"
            return entries
        assert name not in entries, f"{name} is there twice"
        entries[name] = Entry(field[1], field[2], field[3], field[5], text[data:data + field[6]],
                              (field[9], field[10]))
