"""Has `bitzel serve` build something, and tells of it as it happens.

usage: build.py SOCKET PROJECT TARGET [--cancel]

With --cancel the build is interrupted as soon as a task runs.
"""

import json
import socket
import sys

BUILD, CANCEL = 1, 2


class Server:
    """A connection; a JSON object a line, both ways."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile()

    def submit(self, opcode, task_id, args):
        request = {"opcode": opcode, "task_id": task_id, "args": args}
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def results(self, task_id):
        """Parts as they come, and the last result."""
        for line in self.lines:
            result = json.loads(line)
            if result["task_id"] != task_id:
                continue  # of another request
            if result["status"] < 0:
                sys.exit(f"error: {result['error']}")
            yield json.loads(result["data"])
            if result["final"]:
                return
        sys.exit("error: the server is gone")


def main(path, project, target, *flags):
    server = Server(path)
    server.submit("build", BUILD, {"project": project, "targets": [target]})
    for part in server.results(BUILD):
        event = part.get("event")
        if event == "started":
            print("started", part["task"])
            if "--cancel" in flags:
                server.submit("cancel", CANCEL, {"task_id": BUILD})
        elif event == "done":
            print("done", part["task"])
        elif event == "message":
            print(part["text"], file=sys.stderr)
        elif event is None:
            print("exit code", part["exit_code"])


if __name__ == "__main__":
    main(*sys.argv[1:])
