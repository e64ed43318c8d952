"""The page in headless Chromium by Playwright: served, from disk without a server, and live."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
import harness

VERSION = "1.49.1"  # of playwright-core, which drives any Chromium
BUILD = pathlib.Path(os.environ.get("TREACLE_BUILD", "build")).resolve()
DRIVER = pathlib.Path(__file__).resolve().parent / "browser.cjs"


def find_playwright():
    """Where playwright-core is; fetched by npm if need be. None if it cannot be had."""
    folder = BUILD / "playwright"
    module = folder / "node_modules/playwright-core"
    if not module.exists() and shutil.which("npm"):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", folder,
                        f"playwright-core@{VERSION}"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=300, check=False)
    return module if module.exists() else None


class Browser(harness.Case):
    def setUp(self):
        super().setUp()
        self.chromium = shutil.which("chromium")
        self.playwright = find_playwright() if self.chromium and shutil.which("node") else None
        if self.playwright is None:
            self.skipTest("there is no Chromium, node or playwright-core")

    def drive(self, mode, url):
        shot = self.dir / f"{mode}.png"
        done = subprocess.run(["node", DRIVER, self.playwright, self.chromium, mode, url, shot],
                              capture_output=True, text=True, timeout=280)
        keep = os.environ.get("TREACLE_SHOTS")
        if keep and shot.exists():
            shutil.copy(shot, keep)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(shot.stat().st_size, 5000)
        return json.loads(done.stdout)

    def serve(self, *command):
        server = self.start(*command, "--port", 0)

        def end():
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=120)
        self.addCleanup(end)
        return re.search(r"http://\S+", server.stdout.readline())[0]

    def check_viewer(self, seen):
        self.assertEqual(seen["scrubbed"], [3, "3:surface"])
        for what in ("first", "speed", "particles", "slice"):
            self.assertGreater(seen[what]["share"], 0.005, what)
        change = sum(abs(a - b) for a, b in zip(seen["first"]["mean"], seen["speed"]["mean"]))
        self.assertGreater(change, 20)
        for a, b in zip(seen["restored"]["mean"], seen["speed"]["mean"]):
            self.assertAlmostEqual(a, b, delta=0.5)
        self.assertLess(seen["range"][0], seen["range"][1])
        self.assertGreater(seen["slice"]["points"], 8)
        self.assertEqual([seen[shape]["shown"] for shape in ("particles", "slice", "surface")],
                         ["3:particles", "3:particles", "3:surface"])
        self.assertLess(seen["turned"], -0.1)

    def test_a_run_is_looked_at(self):
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 3, "-q")
        self.check_viewer(self.drive("view", self.serve("view", "out")))

    def test_a_static_page_opens_from_disk(self):
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 3, "-q")
        self.treacle("view", "out", "--export", "page")
        self.check_viewer(self.drive("static", (self.dir / "page/index.html").as_uri()))

    def test_the_live_page_moves_a_solid(self):
        with open("scenes/play.yaml", encoding="utf-8") as file:
            self.scene("play.yaml", file.read())
        seen = self.drive("play", self.serve("play", "play.yaml"))
        self.assertGreater(seen["moved"], 0.03)
        self.assertGreater(seen["poured"], 20)
        self.assertGreater(seen["first"]["share"], 0.02)


if __name__ == "__main__":
    harness.main()
