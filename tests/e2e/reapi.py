"""Messages of the Remote Execution API and a store of them, written with nothing but the
public specification at hand: what bitzel reads here it did not write itself."""

import hashlib
import os


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n) if n else b""


def data(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def sha256(value):
    return hashlib.sha256(value).hexdigest()


def digest(value):
    return data(1, sha256(value)) + number(2, len(value))


def directory(files=(), dirs=(), links=()):
    """Entries are sorted (name, content[, executable]), (name, encoding), (name, target)."""
    return b"".join(
        [data(1, data(1, name) + data(2, digest(content)) + number(4, int(bool(more))))
         for name, content, *more in sorted(files)] +
        [data(2, data(1, name) + data(2, digest(encoding))) for name, encoding in sorted(dirs)] +
        [data(3, data(1, name) + data(2, target)) for name, target in sorted(links)])


def tree(root, *children):
    return data(1, root) + b"".join(data(2, child) for child in children)


def result(files=(), trees=(), stdout=b"", exit_code=0, labels=(), ran=None):
    """An ActionResult. Files are (path, content, executable), trees (path, Tree)."""
    out = b"".join(data(2, data(1, path) + data(2, digest(content)) + number(4, int(executable)))
                   for path, content, executable in files)
    out += b"".join(data(3, data(1, path) + data(3, digest(encoding)))
                    for path, encoding in trees)
    out += number(4, exit_code)
    if stdout:
        out += data(6, digest(stdout))
    meta = b""
    if ran:
        meta += data(7, number(1, ran[0])) + data(8, number(1, ran[1]))
    meta += b"".join(data(11, data(1, name) + data(2, value)) for name, value in labels)
    return out + (data(9, meta) if meta else b"")


def seal(message):
    """As bitzel ends its own results: a digest of what goes before."""
    return message + data(9, data(11, data(1, "bitzel/seal-sha256") +
                                  data(2, hashlib.sha256(message).digest())))


class Store:
    """A directory in the layout of Bazel's disk cache."""

    def __init__(self, root):
        self.root = root

    def path(self, kind, key):
        return self.root / kind / key[:2] / key

    def write(self, kind, key, content):
        path = self.path(kind, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (path.stat().st_atime, 946684800))

    def blob(self, content):
        self.write("cas", sha256(content), content)
        return content

    def result(self, name, files=(), trees=(), stdout=b"", sealed=True, **more):
        """Stores the blobs as well; the key is the digest of the name."""
        for _, content, _ in files:
            self.blob(content)
        for _, encoding in trees:
            self.blob(encoding)
        if stdout:
            self.blob(stdout)
        if sealed:
            more["labels"] = [*more.get("labels", ()), ("bitzel/key", hashlib.sha256(name.encode()).digest())]
        message = result(files, trees, stdout, **more)
        self.write("ac", sha256(name.encode()), seal(message) if sealed else message)
        return sha256(name.encode())


def labels(recipe, task):
    return [("bitzel/recipe", recipe), ("bitzel/task", task)]


def fill(store):
    """A small store that looks alike wherever it is made. Returns the keys."""
    bin_dir = directory(files=[("gzip", store.blob(b"#!/bin/sh\n" * 10), True)],
                        links=[("gunzip", "gzip")])
    root = directory(files=[("README", store.blob(b"read me\n"))], dirs=[("bin", bin_dir)])
    whole = tree(root, bin_dir)
    big = b"\x7fELF" + bytes(range(256)) * 2000
    return {
        "install": store.result("zlib do_install", trees=[("", whole)], stdout=b"installed\n",
                                labels=labels("zlib", "do_install"), ran=(1700000000, 1700000012)),
        "compile": store.result("zlib do_compile", files=[("libz.so", big, True)],
                                labels=labels("zlib", "do_compile"), ran=(1700000000, 1700000100)),
        "busybox": store.result("busybox do_compile", files=[("busybox", b"x" * 9000, True),
                                                             ("README", b"read me\n", False)],
                                labels=labels("busybox", "do_compile")),
        "foreign": store.result("bazel", files=[("out/o.txt", b"o\n", False)], sealed=False),
    }
