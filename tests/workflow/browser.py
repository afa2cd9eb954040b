"""A real browser, driven as a reader would: Chromium over its DevTools protocol."""

import asyncio
import json
import shutil
import subprocess
import time
from contextlib import contextmanager

from tornado.httpclient import AsyncHTTPClient
from tornado.websocket import websocket_connect

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


class Page:
    """One page: what is said to it, and what it says."""

    def __init__(self, loop, socket):
        self._loop, self._socket, self._number = loop, socket, 0
        self.said = []

    def tell(self, method, **words):
        """Send a command and return its answer."""
        self._number += 1
        return self._loop.run_until_complete(self._exchange(self._number, method, words))

    async def _exchange(self, number, method, words):
        command = {"id": number, "method": method, "params": words}
        await self._socket.write_message(json.dumps(command))
        while True:
            message = json.loads(await asyncio.wait_for(self._socket.read_message(), timeout=60))
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self.said.append(message)

    def ask(self, expression):
        """Return the value of an expression of JavaScript."""
        found = self.tell("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, expression, seconds=30):
        """Wait until an expression is true."""
        until = time.monotonic() + seconds
        while not self.ask(expression):
            assert time.monotonic() < until, f"never true: {expression}"
            time.sleep(0.05)

    def mouse(self, kind, x, y, **words):
        self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, **words)

    def click(self, x, y):
        self.drag((x, y), (x, y), steps=0)

    def drag(self, start, end, steps=6):
        """Press at one place, move, and let go at another."""
        held = {"button": "left", "buttons": 1, "clickCount": 1}
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, **held)
        for k in range(1, steps + 1):
            x, y = (a + (b - a) * k / steps for a, b in zip(start, end, strict=True))
            self.mouse("mouseMoved", x, y, **held)
        self.mouse("mouseReleased", *end, **held)

    def complaints(self):
        """Return the errors and warnings that the page has written down."""
        self.ask("1")
        kinds = {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}
        return [one for one in self.said if one["method"] in kinds]


@contextmanager
def opened(address, folder, *, width=1300, height=1000, dark=False):
    """Open a page in a browser; what is downloaded lies in ``folder`` afterwards."""
    profile = folder / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    loop = asyncio.new_event_loop()
    process = subprocess.Popen(
        [BROWSER, *OPTIONS, "--remote-debugging-port=0", f"--user-data-dir={profile}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        port = profile / "DevToolsActivePort"
        until = time.monotonic() + 30
        while not (port.exists() and port.read_text().count("\n")):
            assert time.monotonic() < until, "the browser does not start"
            time.sleep(0.05)
        number = port.read_text().splitlines()[0]

        async def connect():
            answer = await AsyncHTTPClient().fetch(
                f"http://127.0.0.1:{number}/json/new?about:blank", method="PUT", body=""
            )
            where = json.loads(answer.body)["webSocketDebuggerUrl"]
            return await websocket_connect(where, max_message_size=2**28)

        page = Page(loop, loop.run_until_complete(connect()))
        for domain in ("Page", "Runtime", "Log"):
            page.tell(f"{domain}.enable")
        page.tell("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        page.tell(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.tell("Emulation.setEmulatedMedia", features=[scheme])
        page.tell("Page.navigate", url=address)
        page.wait("document.readyState === 'complete' && location.protocol !== 'about:'")
        yield page
        page._socket.close()
    finally:
        process.terminate()
        process.wait(timeout=30)
        loop.close()
