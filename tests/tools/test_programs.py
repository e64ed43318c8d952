"""build/validate, build/bench and the demonstration, as people and scripts call them."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = os.environ.get("TREACLE_BUILD", "build")


def run(program, *arguments):
    return subprocess.run([f"{BUILD}/{program}", *arguments], capture_output=True, text=True,
                          check=False, timeout=240)


class Programs(unittest.TestCase):
    def test_lists_name_everything(self):
        cases = run("validate", "--list")
        self.assertEqual(cases.returncode, 0)
        self.assertRegex(cases.stdout, r"(?m)^ballistic +quick +\d+  ")
        benches = run("bench", "--list")
        self.assertEqual(benches.returncode, 0)
        self.assertRegex(benches.stdout, r"(?m)^house +\d+  ")

    def test_wrong_use_is_said(self):
        for arguments, words in ((("nonsense",), 'no case "nonsense"'),
                                 (("--tier", "huge"), "quick, full and long"),
                                 (("--threads", "0"), "from 1 to 1024"),
                                 (("--wrong",), "usage:")):
            done = run("validate", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")
        done = run("bench", "nonsense")
        self.assertEqual(done.returncode, 2)
        self.assertIn('no bench "nonsense"', done.stderr)

    def test_a_case_gives_one_object_a_line(self):
        done = run("validate", "ballistic", "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertGreater(len(rows), 3)
        for row in rows:
            self.assertEqual(list(row), ["case", "quantity", "measured", "reference", "error",
                                         "tolerance", "pass"])
            self.assertIs(row["pass"], True)

    def test_a_case_gives_a_table_with_its_sum(self):
        done = run("validate", "ballistic")
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("case "))
        self.assertRegex(lines[-1], r"^\d+ passed, 0 failed")

    def test_the_demonstration_makes_picture_and_film(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "demo"
            done = run("treacle", "run", "scenes/demo.yaml", "--frames", "3", "-o", out,
                       "--preview", "--film", out / "demo.mp4", "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("preview_0003.png", "demo.mp4"):
                self.assertGreater((out / name).stat().st_size, 500)


if __name__ == "__main__":
    unittest.main()
