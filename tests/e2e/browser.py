"""A headless Chromium, asked over a pipe, for the tests of pages."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TIMEOUT = 60  # seconds


class Browser:
    """One page; what it says to its console and asks the network for is kept."""

    def __init__(self, width=1280, height=900, dark=False):
        self.profile = tempfile.TemporaryDirectory(prefix="bitzel-browser-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        self.read_fd, self.write_fd = ours_in, ours_out

        def places():  # where --remote-debugging-pipe expects them
            os.dup2(theirs_in, 63)
            os.dup2(theirs_out, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        # Root cannot have Chromium's own sandbox; the page is ours.
        self.child = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--no-first-run", "--disable-dev-shm-usage", "--disable-background-networking",
             "--disable-component-update", f"--user-data-dir={self.profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=places, close_fds=False, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.last, self.events = b"", 0, []
        self.session = None
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.look(width, height, dark)

    def look(self, width=1280, height=900, dark=False):
        """What it is shown on: a screen of that size, light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def close(self):
        self.child.kill()
        self.child.wait(TIMEOUT)
        os.close(self.read_fd)
        os.close(self.write_fd)
        try:
            self.profile.cleanup()
        except OSError:  # its helpers may still be going away
            shutil.rmtree(self.profile.name, ignore_errors=True)

    def message(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.read_fd], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.read_fd, 1 << 20)
            if not part:
                raise EOFError("the browser is gone")
            self.rest += part
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.last += 1
        asked = {"id": self.last, "method": method, "params": params}
        if self.session:
            asked["sessionId"] = self.session
        data = json.dumps(asked).encode() + b"\0"
        while data:
            data = data[os.write(self.write_fd, data):]
        until = time.monotonic() + TIMEOUT
        while True:
            got = self.message(until)
            if got.get("id") == self.last:
                if "error" in got:
                    raise RuntimeError(got["error"]["message"])
                return got["result"]
            self.events.append(got)

    def wait_for(self, event):
        until = time.monotonic() + TIMEOUT
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.message(until))

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=f"file://{path}")
        self.wait_for("Page.loadEventFired")

    def ask(self, script):
        """The value of an expression on the page; a promise is waited for."""
        got = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            raise RuntimeError(got["exceptionDetails"]["exception"].get("description", "exception"))
        return got["result"].get("value")

    def type(self, selector, text):
        self.ask(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.focus();"
                 f" e.value = {json.dumps(text)}; e.dispatchEvent(new Event('input')); }})()")

    def press(self, key, code=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                      **({"text": key} if len(key) == 1 and kind == "keyDown" else {}))

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def problems(self):
        """Errors and warnings that the page or the browser has told."""
        self.ask("0")
        found = []
        for e in self.events:
            if e.get("method") == "Runtime.exceptionThrown":
                found.append(e["params"]["exceptionDetails"]["text"])
            elif e.get("method") == "Runtime.consoleAPICalled":
                found.append(str(e["params"]["args"]))
            elif e.get("method") == "Log.entryAdded":
                found.append(e["params"]["entry"]["text"])
        return found

    def requests(self):
        self.ask("0")
        return [e["params"]["request"]["url"] for e in self.events
                if e.get("method") == "Network.requestWillBeSent"]
