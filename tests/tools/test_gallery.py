"""The gallery: every figure of the papers has a scene, and a figure without one is told."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def check(root):
    return subprocess.run([sys.executable, root / "tools/make_gallery.py", "--check"],
                          capture_output=True, text=True)


class Gallery(unittest.TestCase):
    def test_every_figure_has_a_scene(self):
        done = check(ROOT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_figure_without_a_scene_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("tools", "docs/gallery", "scenes/extra"):
                (root / name).mkdir(parents=True)
            shutil.copy(ROOT / "tools/make_gallery.py", root / "tools")
            (root / "scenes/here.yaml").write_text("frames: 1\n")
            (root / "docs/gallery/figures.txt").write_text(
                "figure BB08 1 here a thing\nfigure BB08 2 gone another\nscene here 0.5\n")
            done = check(root)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "make_gallery: BB08 figure 2 has no scene: there is no "
                                      "scenes/gone.yaml\n")


if __name__ == "__main__":
    unittest.main()
