"""What the tests of the command share: a small scene, running the command, comparing folders."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

# A job that a shell starts in the background ignores the keyboard's interrupt; commands under test
# must hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)

TREACLE = os.path.abspath(os.environ.get("TREACLE", "build/treacle"))

# A spinning ball and a jet: everything that a state must carry over is in motion.
SCENE = """\
name: drop
frames: 10
fps: 24
domain:
  size: [0.32, 0.32, 0.32]
  cell: 2 cm
materials:
  honey:
    density: 1400
    viscosity: 10 Pa.s
liquids:
  - shape:
      sphere: {radius: 6 cm, centre: [16 cm, 20 cm, 16 cm]}
    spin: [0, 0, 5]
emitters:
  - shape:
      box: {size: [6 cm, 4 cm, 6 cm], centre: [8 cm, 26 cm, 8 cm]}
    direction: [0, -1, 0]
    speed: 0.5
step:
  max_dt: 6 ms
"""

# Fields of stats.jsonl that may differ between two runs of the same scene.
MACHINE_FIELDS = ("seconds", "memory_peak", "ranks")


def without_machine_fields(text):
    lines = []
    for line in text.decode().splitlines():
        step = json.loads(line)
        for field in MACHINE_FIELDS:
            step.pop(field, None)
        lines.append(step)
    return lines


def contents(folder):
    """Every file of the folder by name; statistics without what depends on the machine."""
    files = {}
    for path in sorted(pathlib.Path(folder).iterdir()):
        data = path.read_bytes()
        files[path.name] = without_machine_fields(data) if path.name == "stats.jsonl" else data
    return files


class Case(unittest.TestCase):
    """A test with a folder of its own, in which the command runs."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="treacle-cli-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.scene()

    def scene(self, name="drop.yaml", text=SCENE):
        path = self.dir / name
        path.write_text(text)
        return path

    def start(self, *args, **options):
        """The command in the background, its outputs as text pipes; it does not outlive the test."""
        process = subprocess.Popen([TREACLE, *map(str, args)], cwd=self.dir, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

        def end():
            process.kill()  # nothing, where it has ended
            process.communicate()
        self.addCleanup(end)
        return process

    def treacle(self, *args, code=0, **options):
        """Runs the command and insists on its exit code."""
        done = subprocess.run([TREACLE, *map(str, args)], cwd=self.dir, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.assertEqual(done.returncode, code, f"{args}\n{done.stdout}{done.stderr}")
        return done

    def assert_same(self, folder, reference):
        """All files equal, and none too many."""
        ours, theirs = contents(self.dir / folder), contents(self.dir / reference)
        self.assertEqual(sorted(ours), sorted(theirs))
        for name in ours:
            self.assertTrue(ours[name] == theirs[name], f"{name} differs in {folder}")

    def assert_no_leftovers(self, folder):
        left = [path.name for path in (self.dir / folder).iterdir() if ".tmp" in path.name]
        self.assertEqual(left, [])


def main():
    if not os.access(TREACLE, os.X_OK):
        sys.exit(f"there is no command {TREACLE}; build it first")
    unittest.main(verbosity=2)
