# SPDX-License-Identifier: GPL-3.0-or-later
"""A page in Chromium without a window, driven over a pipe by its debugging protocol.

    with Browser("chromium") as page:
        page.open("file:///x.html#node-7")
        page.evaluate("document.title")
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile


class Browser:
    def __init__(self, program, width=1280, height=800, dark=False, scripts=True):
        self.program, self.size, self.dark, self.scripts = program, (width, height), dark, scripts
        self.number, self.buffer, self.errors = 0, b"", []

    def __enter__(self):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        self.folder = tempfile.mkdtemp()
        words = [self.program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                 "--no-first-run", "--user-data-dir=" + self.folder, "about:blank"]

        def place():  # the protocol's descriptors are 3 and 4
            keep_in, keep_out = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(keep_in, 3)
            os.dup2(keep_out, 4)
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=place)
        os.close(theirs_in)
        os.close(theirs_out)
        self.reads, self.writes = ours_in, ours_out
        self.session = None
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime"):
            self.ask(domain + ".enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1],
                 deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme",
                                                          "value": "dark" if self.dark else "light"}])
        self.ask("Emulation.setScriptExecutionDisabled", value=not self.scripts)
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.ask("Browser.close")
        except (OSError, EOFError):
            pass
        self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def hear(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.reads, 1 << 20)
            if not piece:
                raise EOFError("Chromium has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        said = json.loads(text)
        if said.get("method") == "Runtime.exceptionThrown":
            self.errors.append(said["params"]["exceptionDetails"].get("exception", {}).get("description", said))
        return said

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        while True:
            said = self.hear()
            if said.get("id") == self.number:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']}")
                return said["result"]

    def open(self, address):
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=address)
        while self.hear().get("method") != "Page.loadEventFired":
            pass
        if self.scripts:
            self.settle()

    def settle(self):
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")

    def evaluate(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def key(self, key, **more):
        text = {"text": key} if len(key) == 1 else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **more)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, **more)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.settle()

    def picture(self, path):
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
