"""Has `bitzel serve` build something, through libbitzel, and tells of it as it happens.

usage: follow.py SOCKET PROJECT TARGET [--cancel]

With --cancel the build is interrupted as soon as a task runs.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib/bindings"))
import bitzel  # noqa: E402


def main(path, project, target, *flags):
    with bitzel.attach(path) as jobs:
        task = jobs.submit({"opcode": "build", "args": {"project": project, "targets": [target]}})
        for result in jobs.results(task):
            part = result.check().json()
            event = part.get("event")
            if event in ("started", "done"):
                print(event, part["task"])
            if event == "started" and "--cancel" in flags:
                answer = jobs.wait(jobs.submit({"opcode": "cancel", "args": {"task_id": task}}), 60)
                print("canceled", answer.check().json()["canceled"])
            if result.final:
                print("exit code", part["exit_code"])


if __name__ == "__main__":
    main(*sys.argv[1:])
