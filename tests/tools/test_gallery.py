"""The gallery: every figure of the papers has a scene, a figure without one is told, and what has not
changed is neither simulated nor drawn again."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Stands in for treacle: says what it was asked for, and leaves empty frames and pictures.
PROGRAM = """#!/usr/bin/env python3
import pathlib, sys
command, path, rest = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
with open(pathlib.Path(__file__).parent / "calls", "a") as calls:
    print(command, path.name, *(w for w in rest if "=" in w or w.isdigit()), file=calls)
if command == "check":
    print("frames     10 at 24 a second, 1 s\\\\ngrid       8 x 8 x 8 cells of 1 m, 8 m")
if command == "run":
    folder = pathlib.Path(rest[rest.index("-o") + 1])
    (folder / "run.json").write_text("{}")
    for i in range(int(rest[rest.index("--frames") + 1])):
        (folder / f"frame_{i + 1:04d}.trf").write_text("")
if command == "render":
    out = pathlib.Path(rest[rest.index("-o") + 1])
    (out / path.name.replace("frame", "gallery").replace("trf", "png")).write_text("a picture")
""".replace("\\\\n", "\\n")


class Gallery(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("tools", "docs/gallery", "scenes/extra", "build", "src/sim", "src/render"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(ROOT / "tools/make_gallery.py", self.root / "tools")
        self.write("scenes/here.yaml", "frames: 10\n")
        self.write("src/sim/a.c", "1")
        self.write("src/render/b.c", "1")
        self.write("build/treacle", PROGRAM)
        (self.root / "build/treacle").chmod(0o755)

    def write(self, name, text):
        (self.root / name).write_text(text)

    def figures(self, text):
        self.write("docs/gallery/figures.txt", text)

    def gallery(self, *arguments, root=None):
        return subprocess.run(
            [sys.executable, (root or self.root) / "tools/make_gallery.py", *arguments],
            capture_output=True, text=True, check=False)

    def calls(self):
        path = self.root / "build/calls"
        text = path.read_text().split("\n")[:-1] if path.exists() else []
        path.unlink(missing_ok=True)
        return text

    def test_every_figure_has_a_scene(self):
        done = self.gallery("--check", root=ROOT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_figure_without_a_scene_fails(self):
        self.figures("figure BB08 1 here a thing\nfigure BB08 2 gone another\nscene here 0.5\n")
        for arguments in (("--check",), ()):
            done = self.gallery(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, "make_gallery: BB08 figure 2 has no scene: there is no "
                                          "scenes/gone.yaml\n")

    def test_wrong_lines_are_told(self):
        self.figures("figure BB08 1 here\n")
        done = self.gallery("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("figures.txt:1: expected", done.stderr)
        self.figures("scene gone 0.5\n")
        done = self.gallery("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tells how to draw gone, which is no scene", done.stderr)

    def test_a_scene_is_simulated_up_to_the_frame_that_is_shown(self):
        self.figures("figure BB08 1 here a thing\nscene here 0.5 domain.cell=2cm 100x80\n")
        done = self.gallery()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.calls(), ["check here.yaml domain.cell=2cm",
                                        "run here.yaml 5 domain.cell=2cm",
                                        "render frame_0005.trf 64 camera.shutter=0"])
        page = (self.root / "docs/gallery/README.md").read_text()
        self.assertIn("![here](here.png)", page)
        self.assertIn("answers to BB08 figure 1: a thing", page)
        self.assertRegex(page, r"8 x 8 x 8 cells of 1 m, 0\.167 s \(frame 5 of 10\); \d+ s of ")
        self.assertIn("With `domain.cell=2cm`", page)

    def test_what_has_not_changed_is_passed_over(self):
        self.figures("figure BB08 1 here a thing\nscene here 1.0\n")
        self.gallery()
        self.calls()
        self.gallery()
        self.assertEqual(self.calls(), [])
        run, render = "run here.yaml 10", "render frame_0010.trf 64 camera.shutter=0"
        for name, text, expected in (
                ("scenes/here.yaml", "frames: 10\nlook:\n  exposure: 1\n", [render]),
                ("scenes/here.yaml", "frames: 10\nseed: 2\n", [run, render]),
                ("src/render/b.c", "2", [render]),
                ("src/sim/a.c", "2", [run, render])):
            self.write(name, text)
            self.gallery()
            self.assertEqual(self.calls(), ["check here.yaml", *expected], (name, text))
        self.write("src/sim/a.c", "3")
        self.gallery("--keep")
        self.assertEqual(self.calls(), [])

    def test_the_rest_is_drawn_when_a_scene_fails(self):
        self.figures("scene here 1.0\n")
        self.write("scenes/a_bad_one.yaml", "frames: 10\n")
        refuse = "assert 'bad' not in sys.argv[2]\ncommand, path"
        self.write("build/treacle", PROGRAM.replace("command, path", refuse, 1))
        done = self.gallery()
        self.assertEqual(done.returncode, 1)
        self.assertIn("make_gallery: a_bad_one: ", done.stderr)
        self.assertTrue((self.root / "docs/gallery/here.png").exists())


if __name__ == "__main__":
    unittest.main()
