"""Every program in Python that the manual shows runs, as it stands there."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = pathlib.Path(os.environ.get("TREACLE_BUILD", ROOT / "build")).resolve() / "libtreacle.so"


def programs():
    """(page, number of the block's first line, text) of each."""
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        text = page.read_text()
        for block in re.finditer(r"(?m)^```python\n(.*?)^```", text, re.S):
            yield page.relative_to(ROOT), text.count("\n", 0, block.start(1)) + 1, block.group(1)


class Manual(unittest.TestCase):
    def test_every_program_runs(self):
        found = list(programs())
        self.assertIn("docs/manual/python.md", [str(page) for page, _, _ in found])
        for page, line, text in found:
            with self.subTest(page=page, line=line):
                self.run_program(text)

    def run_program(self, text):
        """In a folder with the scenes, and nothing else."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="treacle-manual-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "scenes").symlink_to(ROOT / "scenes")
        done = subprocess.run([sys.executable, "-B", "-c", text], cwd=folder, capture_output=True,
                              text=True, timeout=240,
                              env=dict(os.environ, PYTHONPATH=str(ROOT / "python"),
                                       TREACLE_LIBRARY=str(LIBRARY),
                                       TREACLE_COMMAND=str(LIBRARY.parent / "treacle")))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
