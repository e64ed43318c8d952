"""tools/same_bits.sh says "same" of the same bits and only of those."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("TREACLE_BUILD", ROOT / "build"))


class SameBits(unittest.TestCase):
    def setUp(self):
        if not (BUILD / "libtreacle.so").exists():
            self.skipTest("here is no shared library")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.base = pathlib.Path(self.folder.name)
        for name in ("include", "tests"):
            (self.base / name).symlink_to(ROOT / name)
        shutil.copytree(ROOT / "scenes", self.base / "scenes")
        (self.base / "build").mkdir()
        (self.base / "build" / "libtreacle.so").symlink_to(BUILD / "libtreacle.so")
        (self.base / "build" / "libtreacle.so.0").symlink_to(BUILD / "libtreacle.so")

    def compare(self, *names):
        """Exit code and lines of a comparison of our tree with the one in the folder."""
        done = subprocess.run(["bash", ROOT / "tools/same_bits.sh", *names], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr

    def test_the_same_sources_are_the_same(self):
        code, lines, _ = self.compare(self.base, "splash_on_wall", "golden:3")
        self.assertEqual(code, 0, lines)
        self.assertEqual(lines[-1], "2 compared, 0 differ")
        self.assertRegex(lines[0], r"^same    splash_on_wall +\d+ steps, cells x 1, \d+ particles")

    def test_one_bit_of_one_number_is_seen_and_told_where(self):
        scene = self.base / "scenes" / "splash_on_wall.yaml"
        text = scene.read_text()
        self.assertIn("[-3 m/s", text)
        scene.write_text(text.replace("[-3 m/s", "[-3.0000002 m/s"))  # the next float
        code, lines, _ = self.compare(self.base, "splash_on_wall", "golden:3")
        self.assertEqual(code, 1, lines)
        self.assertRegex(lines[0], r"^DIFFERS splash_on_wall +first at: \d+ 0 [0-9a-f]{16}$")
        self.assertTrue(lines[1].startswith("same    golden:3"), lines)
        self.assertEqual(lines[-1], "2 compared, 1 differ")

    def test_a_scene_that_only_one_has_differs(self):
        (self.base / "scenes" / "splash_on_wall.yaml").unlink()
        code, lines, _ = self.compare(self.base, "splash_on_wall")
        self.assertEqual(code, 1, lines)

    def test_a_library_that_cannot_be_linked_is_no_answer(self):
        (self.base / "build" / "libtreacle.so").unlink()
        (self.base / "build" / "libtreacle.so").write_text("nothing")
        code, lines, said = self.compare(self.base, "golden:3")
        self.assertEqual((code, lines), (2, []))
        self.assertIn("cannot build", said)

    def test_a_commit_that_is_none_is_refused(self):
        code, _, said = self.compare("no-such-commit")
        self.assertEqual(code, 2)
        self.assertIn("no-such-commit: no such commit and no such folder", said)


if __name__ == "__main__":
    unittest.main()
