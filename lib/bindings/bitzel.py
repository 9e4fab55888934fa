"""libbitzel from Python, with nothing but ctypes.

    import bitzel

    with bitzel.Jobs("jobs.conf") as jobs:          # a service of one's own, or
        task = jobs.submit({"opcode": 3, "args": {"write_to": "page", "data": "hello"}})
        print(jobs.wait(task, 5).text)

    with bitzel.attach("serve") as jobs:            # that of another process
        for part in jobs.results(jobs.submit({"opcode": "build", "args": {...}})):
            print(part.text)

bitzel/jobs.h says what each call means. The library is found by its name, or where the
variable LIBBITZEL says.
"""

import ctypes
import json
import os

READ, WRITE = 1, 2
SUCCESS, UNKNOWN_OPCODE, INVALID_JSON, SYMBOL_NOT_FOUND, MALLOC_FAILED = 0, -1, -2, -3, -4
HANDLER_CRASH, TIMEOUT, CANCELED, FAILED = -5, -6, -7, -8

_FOREVER = 1000  # milliseconds to wait at a time: Python looks for signals in between


class Error(Exception):
    """What the library refused, and why."""


class _Result(ctypes.Structure):
    _fields_ = [("task_id", ctypes.c_uint64), ("status", ctypes.c_int32), ("final", ctypes.c_int32),
                ("data", ctypes.c_void_p), ("data_size", ctypes.c_uint32), ("error_msg", ctypes.c_char * 256)]


_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Result), ctypes.c_void_p)
_TEXT, _JOBS, _ID = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64
_FUNCTIONS = {
    "bitzel_jobs_create": (_JOBS, [_TEXT, _TEXT, ctypes.c_size_t]),
    "bitzel_attach": (_JOBS, [_TEXT, _TEXT, ctypes.c_size_t]),
    "bitzel_jobs_listen": (ctypes.c_int, [_JOBS, _TEXT, _TEXT, ctypes.c_size_t]),
    "bitzel_jobs_watch": (ctypes.c_int, [_JOBS, _TEXT, _TEXT, ctypes.c_size_t]),
    "bitzel_jobs_shutdown": (None, [_JOBS]),
    "bitzel_jobs_submit": (_ID, [_JOBS, _TEXT]),
    "bitzel_jobs_submit_with_callback": (_ID, [_JOBS, _TEXT, _CALLBACK, ctypes.c_void_p]),
    "bitzel_jobs_poll": (ctypes.POINTER(_Result), [_JOBS, _ID]),
    "bitzel_jobs_wait": (ctypes.POINTER(_Result), [_JOBS, _ID, ctypes.c_uint32]),
    "bitzel_result_free": (None, [ctypes.POINTER(_Result)]),
    "bitzel_jobs_cancel": (ctypes.c_int, [_JOBS, _ID]),
    "bitzel_jobs_register_symbol": (ctypes.c_int, [_JOBS, _TEXT, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]),
    "bitzel_jobs_unregister_symbol": (ctypes.c_int, [_JOBS, _TEXT]),
}


def _load():
    lib = ctypes.CDLL(os.environ.get("LIBBITZEL", "libbitzel.so.0"))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


class Result:
    """One result of a task: a part of it, or the last."""

    def __init__(self, raw):
        self.task_id, self.status, self.final = raw.task_id, raw.status, bool(raw.final)
        self.data = ctypes.string_at(raw.data, raw.data_size) if raw.data else None
        self.error = raw.error_msg.decode(errors="replace")

    @property
    def text(self):
        return None if self.data is None else self.data.decode(errors="replace")

    def json(self):
        return json.loads(self.data)

    def check(self):
        """Itself; a result that is none raises an Error."""
        if self.status != SUCCESS:
            raise Error(f"{self.error} ({self.status})")
        return self


class Jobs:
    """A service. Any thread may call anything; close() is the last call."""

    def __init__(self, config=None, *, attach=None):
        self._lib, self._kept = _load(), {}
        error = ctypes.create_string_buffer(512)
        begin, name = ((self._lib.bitzel_attach, attach) if attach is not None
                       else (self._lib.bitzel_jobs_create, config))
        self._jobs = begin(None if name is None else os.fsencode(name), error, len(error))
        if not self._jobs:
            raise Error(error.value.decode(errors="replace"))

    def close(self):
        if self._jobs:
            self._lib.bitzel_jobs_shutdown(self._jobs)
            self._jobs = None
            self._kept.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def listen(self, path):
        self._begin(self._lib.bitzel_jobs_listen, path)

    def watch(self, directory):
        self._begin(self._lib.bitzel_jobs_watch, directory)

    def submit(self, request, callback=None):
        """The id of the task. The callback gets each Result, on a thread of the service."""
        text = request if isinstance(request, (str, bytes)) else json.dumps(request)
        text = text.encode() if isinstance(text, str) else text
        if callback is None:
            task = self._lib.bitzel_jobs_submit(self._jobs, text)
        else:
            hear = _CALLBACK(lambda raw, _: self._hear(callback, raw))
            self._kept[id(hear)] = hear  # ctypes must not free it while it may be called
            task = self._lib.bitzel_jobs_submit_with_callback(self._jobs, text, hear, None)
        if task == 0:
            raise Error("it was refused: there is too much to do, or its id is in use")
        return task

    def poll(self, task):
        """The next Result of a task, or None if there is none yet."""
        return self._take(self._lib.bitzel_jobs_poll(self._jobs, task))

    def wait(self, task, seconds=None):
        """The same, but waits for it: for so long, or until it comes."""
        if seconds is not None:
            return self._take(self._lib.bitzel_jobs_wait(self._jobs, task, int(seconds * 1000)))
        while (result := self._take(self._lib.bitzel_jobs_wait(self._jobs, task, _FOREVER))) is None:
            pass
        return result

    def results(self, task):
        """All of them as they come, the last one too."""
        while True:
            result = self.wait(task)
            yield result
            if result.final:
                return

    def cancel(self, task):
        return bool(self._lib.bitzel_jobs_cancel(self._jobs, task))

    def register_symbol(self, name, memory, access=READ | WRITE):
        """Lets requests name a ctypes buffer, which is kept until it is unregistered."""
        if self._lib.bitzel_jobs_register_symbol(self._jobs, name.encode(), memory, ctypes.sizeof(memory), access):
            raise Error(f"{name} is registered already, or is no name")
        self._kept[name] = memory

    def unregister_symbol(self, name):
        if self._lib.bitzel_jobs_unregister_symbol(self._jobs, name.encode()):
            raise Error(f"{name} is not registered")
        del self._kept[name]

    def _begin(self, function, path):
        error = ctypes.create_string_buffer(512)
        if function(self._jobs, os.fsencode(path), error, len(error)):
            raise Error(error.value.decode(errors="replace"))

    def _take(self, raw):
        if not raw:
            return None
        try:
            return Result(raw.contents)
        finally:
            self._lib.bitzel_result_free(raw)

    def _hear(self, callback, raw):
        callback(self._take(raw))


def attach(name):
    """The service of another process, by the name or the path of its socket."""
    return Jobs(attach=name)
