"""site_shown.py HTML [FOLDER PAGE...]: the pages of the site as a headless Chromium shows them from
files, at 390 pixels, light and dark: nothing is wider than the window or cut off, text has
contrast, pictures have words (site.js), and the search finds a page. Prints each mistake. With a
folder, writes pictures of the pages there instead, at 390 and 1280 pixels."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).with_name("site.js").read_text(encoding="utf-8")
QUERY = "search.html?q=certreg_certify"
FOUND = "document.querySelectorAll('#search-results li a').length"


class Browser:
    """Chromium with one tab, driven through its pipe by the DevTools protocol."""

    def __init__(self, home):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        options = ["--headless", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
                   f"--user-data-dir={home}", *["--no-sandbox"] * (os.geteuid() == 0)]
        script = 'exec "$0" "$@" 3<&0 4>&1 >/dev/null 2>&1'
        self.process = subprocess.Popen(["sh", "-c", script, program, *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sent, self.rest, self.session = 0, b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"]
        self.call("Page.enable")

    def call(self, method, **params):
        self.sent += 1
        said = {"id": self.sent, "method": method, "params": params}
        said |= {"sessionId": self.session} if self.session else {}
        self.process.stdin.write(json.dumps(said).encode() + b"\0")
        self.process.stdin.flush()
        answer = self.wait(lambda message: message.get("id") == self.sent)
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def wait(self, wanted):
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.process.stdout.fileno(), 1 << 20)
                if not more:
                    raise SystemExit("chromium ended")
                self.rest += more
            one, _, self.rest = self.rest.partition(b"\0")
            message = json.loads(one)
            if wanted(message):
                return message

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait(lambda message: message.get("method") == "Page.loadEventFired")

    def window(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 800)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": name},
                            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def evaluate(self, text):
        answer = self.call("Runtime.evaluate", expression=text, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"{text[:60]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def end(self):
        self.process.terminate()
        self.process.wait()


def mistakes(browser, html):
    browser.window(390, 844)
    for page in sorted(html.rglob("*.html")):
        browser.open(page.as_uri())
        for scheme in "light", "dark":
            browser.scheme(scheme)
            for wrong in browser.evaluate(CHECK):
                yield f"{page.relative_to(html)}, {scheme}: {wrong}"
    browser.open(f"{html.as_uri()}/{QUERY}")
    wait = "new Promise(done => setTimeout(done, 100))"
    if not any(browser.evaluate(f"{wait}.then(() => {FOUND})") for _ in range(50)):
        yield "the search finds nothing from files"


def pictures(browser, html, folder, pages):
    for page in pages:
        for width, height in (390, 844), (1280, 900):
            browser.window(width, height)
            for scheme in "light", "dark":
                browser.scheme(scheme)
                browser.open(f"{html.as_uri()}/{page}.html")
                data = browser.call("Page.captureScreenshot")["data"]
                name = f"{page.replace('/', '_')}_{width}_{scheme}.png"
                (folder / name).write_bytes(base64.b64decode(data))


def main(html, folder=None, *pages):
    html = pathlib.Path(html).resolve()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        browser = Browser(home)
        try:
            if folder:
                return pictures(browser, html, pathlib.Path(folder), pages)
            wrong = list(mistakes(browser, html))
        finally:
            browser.end()
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
