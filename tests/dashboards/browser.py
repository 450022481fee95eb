# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, looked into while its page lives: by the DevTools protocol, over two pipes."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
           "--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe"]
ANSWER_SECONDS = 60  # also of the first, for which it has to start


class Refused(Exception):
    """The browser did not start, ended, or does not answer."""


def program():
    """The path of one that is installed, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """`with Browser(program, width, height) as browser:`; one page."""

    def __init__(self, command, width, height):
        self.command, self.size = command, {"width": width, "height": height}
        self.number, self.unread = 0, b""
        self.ends = contextlib.ExitStack()

    def __enter__(self):
        try:
            return self.started()
        except BaseException:
            self.ends.close()
            raise

    def __exit__(self, *_):
        self.ends.close()

    def started(self):
        profile = self.ends.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        theirs, self.asks = os.pipe()
        self.answers, theirs_too = os.pipe()
        # It reads file descriptor 3 and writes 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{theirs_too}', "bash", self.command, *OPTIONS,
             f"--user-data-dir={profile}"], pass_fds=(theirs, theirs_too),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(theirs_too)
        self.ends.callback(self.end)
        page = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self.tell("Emulation.setDeviceMetricsOverride", deviceScaleFactor=1, mobile=False,
                  **self.size)
        return self

    def end(self):
        os.close(self.asks)  # without a reader it ends by itself
        os.close(self.answers)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def open(self, url):
        self.tell("Page.navigate", url=url)

    def text(self):
        """The page as it is now, as HTML."""
        answer = self.tell("Runtime.evaluate", returnByValue=True,
                           expression="document.documentElement.outerHTML")
        return answer["result"].get("value", "")

    def picture(self, path):
        answer = self.tell("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(answer["data"]))

    def tell(self, method, **parameters):
        """Of the page."""
        return self.ask(method, {"sessionId": self.session}, **parameters)

    def ask(self, method, whom=(), **parameters):
        """The result. Raises Refused with what it says is wrong."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **dict(whom)}
        try:
            os.write(self.asks, json.dumps(message).encode() + b"\0")
        except OSError as error:
            raise Refused(f"the browser ended: {error}") from error
        end = time.monotonic() + ANSWER_SECONDS
        while True:
            answer = json.loads(self.next_message(end))
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Refused(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def next_message(self, end):
        """Messages end with a zero byte."""
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise Refused(f"the browser says nothing for {ANSWER_SECONDS} s")
            read = os.read(self.answers, 1 << 20)
            if not read:
                raise Refused("the browser ended")
            self.unread += read
        message, _, self.unread = self.unread.partition(b"\0")
        return message
