"""Scenes to begin with, help for single keys, runs that are replaced, runs that are compared."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import harness

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ERR_USAGE, ERR_IO, DIFFERENT = 2, 5, 1
STARTERS = ("chocolate coil dough gel honey ice ketchup lava paint slime toothpaste water wax")


class New(harness.Case):
    def test_the_list_names_every_scene(self):
        lines = self.treacle("new", "--list").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], STARTERS.split())
        for line in lines:
            self.assertRegex(line, r"^\w+ +[A-Z].*\.$")

    def test_every_scene_is_right_as_it_is(self):
        for name in STARTERS.split():
            with self.subTest(name):
                self.treacle("new", name)
                done = self.treacle("check", f"{name}.yaml", "--quick")
                self.assertEqual(done.stderr, "")
                self.assertIn(f"scene      {name} (", done.stdout)
                text = (self.dir / f"{name}.yaml").read_text()
                self.assertGreater(len(re.findall(r"(?m)^\s*#|\S # ", text)), 5)

    def test_a_scene_runs(self):
        self.treacle("new", "ketchup")
        self.treacle("run", "ketchup.yaml", "--frames", 2, "--set", "domain.cell=5mm", "-q")
        self.assertTrue((self.dir / "out/ketchup/frame_0002.trf").exists())

    def test_a_coarser_run_has_wider_cells_and_a_folder_of_its_own(self):
        self.treacle("new", "ketchup")
        fine = self.treacle("check", "ketchup.yaml", "--quick").stdout
        told = self.treacle("check", "ketchup.yaml", "--quick", "--coarser", 4).stdout
        cells = [int(re.search(r"grid +(\d+) x", text)[1]) for text in (fine, told)]
        self.assertAlmostEqual(cells[0] / cells[1], 4, delta=0.5)
        self.treacle("run", "ketchup.yaml", "--coarser", 4, "--frames", 2, "-q")
        scene = (self.dir / "out/ketchup-coarser4/scene.yaml").read_text()
        self.assertTrue((self.dir / "out/ketchup-coarser4/frame_0002.trf").exists())
        self.assertFalse((self.dir / "out/ketchup").exists())
        self.assertIn("cell:", scene)
        self.treacle("resume", "out/ketchup-coarser4", "--frames", 3, "-q")
        self.assertIn("--coarser", self.treacle("run", "ketchup.yaml", "--coarser", 0.5,
                                                code=ERR_USAGE).stderr)

    def test_no_file_is_written_over(self):
        (self.dir / "honey.yaml").write_text("mine")
        done = self.treacle("new", "honey", code=ERR_USAGE)
        self.assertIn("honey.yaml is there already, and is not written over", done.stderr)
        self.assertEqual((self.dir / "honey.yaml").read_text(), "mine")
        self.treacle("new", "honey", "other.yaml")
        self.assertIn("name: honey", (self.dir / "other.yaml").read_text())

    def test_what_is_wrong_is_said(self):
        self.assertIn("did you mean honey?", self.treacle("new", "hony", code=ERR_USAGE).stderr)
        self.assertIn("new needs NAME", self.treacle("new", code=ERR_USAGE).stderr)
        self.assertIn("one too many", self.treacle("new", "a", "b", "c", code=ERR_USAGE).stderr)
        self.assertIn("nowhere/a.yaml: cannot write",
                      self.treacle("new", "wax", "nowhere/a.yaml", code=ERR_IO).stderr)


class HelpOfKeys(harness.Case):
    def test_a_section_has_keys_and_an_example(self):
        told = self.treacle("help", "scene.materials").stdout
        self.assertIn("  density             number, kg/m^3, 1e-6 to 1000000; default: 1000\n", told)
        self.assertIn("example:\n  materials:\n", told)
        self.assertLessEqual(max(map(len, told.splitlines())), 100)

    def test_one_key_alone(self):
        told = self.treacle("help", "scene.domain.cell").stdout
        self.assertIn("  cell  ", told)
        self.assertNotIn("  origin  ", told)

    def test_a_key_that_is_not_there(self):
        done = self.treacle("help", "scene.materils", code=ERR_USAGE)
        self.assertEqual(done.stderr, 'treacle: error: the scene has no key "materils"; did you '
                         'mean materials?\ntreacle: hint: "treacle help scene" lists the keys of '
                         'a scene\n')


class Force(harness.Case):
    def setUp(self):
        super().setUp()
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 3, "--preview")

    def test_a_run_is_replaced_and_nothing_else_goes(self):
        (self.dir / "out/surface_0001.ply").write_text("mine")
        (self.dir / "out/frame_1.trf").write_text("mine, and not of the run")
        (self.dir / "out/notes").mkdir()
        done = self.treacle("run", "drop.yaml", "-o", "out", "--frames", 2, "--force", "--set",
                            "seed=9")
        self.assertRegex(done.stderr, r"treacle: the run that was in out is replaced: 3 frames, 1 "
                         r"states, 3 previews and the statistics, \S+ MB, are removed; 3 other "
                         r"files stay\n")
        names = sorted(path.name for path in (self.dir / "out").iterdir())
        self.assertEqual(names, ["frame_0001.trf", "frame_0002.trf", "frame_1.trf", "notes",
                                 "run.json", "scene.yaml", "state_0002.trs",
                                 "stats.jsonl", "surface_0001.ply"])
        self.assertEqual(json.loads((self.dir / "out/run.json").read_text())["frames"], 2)
        self.treacle("run", "drop.yaml", "-o", "fresh", "--frames", 2, "--set", "seed=9")
        for name in ("frame_1.trf", "surface_0001.ply"):
            (self.dir / "out" / name).unlink()
        (self.dir / "out/notes").rmdir()
        self.assert_same(self.dir / "out", self.dir / "fresh")

    def test_a_bad_scene_removes_nothing(self):
        before = harness.contents(self.dir / "out")
        self.treacle("run", "drop.yaml", "-o", "out", "--force", "--set", "fps=-1", code=3)
        self.assertEqual(harness.contents(self.dir / "out"), before)

    def test_what_is_no_run_is_refused_all_the_same(self):
        (self.dir / "out/run.json").unlink()
        done = self.treacle("run", "drop.yaml", "-o", "out", "--force", code=ERR_USAGE)
        self.assertIn("nobody knows whose they are", done.stderr)
        self.scene("scene.yaml")
        done = self.treacle("run", "scene.yaml", "-o", ".", "--force", code=ERR_USAGE)
        self.assertIn(". holds a scene.yaml that the run would overwrite", done.stderr)

    def test_an_empty_folder_needs_no_force_and_takes_it(self):
        self.assertNotIn("replaced", self.treacle("run", "drop.yaml", "-o", "new", "--frames", 1,
                                                  "--force").stderr)


class Compare(harness.Case):
    def run_to(self, folder, *more, frames=3):
        self.treacle("run", "drop.yaml", "-o", folder, "--frames", frames, "-q", *more)

    def test_the_same(self):
        self.run_to("a", "--threads", 1)
        self.run_to("b", "--threads", 2)
        done = self.treacle("compare", "a", "b")
        self.assertEqual(done.stdout, "scene      the same\nframes     1 to 3 and 1 to 3\n"
                         "state      the same, bit for bit, in all frames that both have\n")
        self.assertEqual(self.treacle("compare", "a", "b", "--quiet").stdout, "")

    def test_what_differs_is_told(self):
        self.run_to("a")
        self.run_to("b", "--set", "gravity=[0.5, -9.81, 0]", frames=4)
        done = self.treacle("compare", "a", "b", code=DIFFERENT)
        self.assertIn("scene      different:\n", done.stdout)
        self.assertIn("  b: gravity: [0.5, -9.81, 0]\n", done.stdout)
        self.assertIn("frames     1 to 3 and 1 to 4\n", done.stdout)
        self.assertRegex(done.stdout, r"state      first differs in frame 2 at \S+ s: \w+\n +\S+ ")
        self.assertRegex(done.stdout, r"(?m)^  centre x +\S+ m apart in frame 3: \S+ and \S+$")
        self.assertRegex(done.stdout, r"(?m)^  kinetic energy +\S+ J apart in frame 3: ")
        self.assertEqual(self.treacle("compare", "a", "b", "-q", code=DIFFERENT).stdout, "")

    def test_the_table_has_a_line_for_every_frame(self):
        self.run_to("a")
        lines = self.treacle("compare", "a", "a", "--table").stdout.splitlines()
        self.assertEqual(len(lines), 4)
        heads, last = lines[0].split("\t"), lines[3].split("\t")
        self.assertEqual(len(heads), len(last))
        row = dict(zip(heads, last))
        self.assertEqual(row["volume a m^3"], row["volume b m^3"])
        self.assertGreater(float(row["kinetic energy a J"]), 0)

    def test_a_longer_run_differs(self):
        self.run_to("a")
        self.run_to("b", frames=4)
        self.treacle("compare", "a", "b", code=DIFFERENT)
        self.treacle("compare", "a", "b", "--frames", "1:3")

    def test_what_is_no_run_is_an_error(self):
        self.run_to("a", frames=1)
        self.assertIn("nowhere", self.treacle("compare", "a", "nowhere", code=ERR_IO).stderr)
        self.assertIn("compare needs B beside A",
                      self.treacle("compare", "a", code=ERR_USAGE).stderr)


class Sweep(harness.Case):
    def test_values_may_be_vectors_and_pictures_have_labels(self):
        done = self.treacle("sweep", "drop.yaml", "--over", "gravity=[0,-9.81,0],[1, -9.8, 0]",
                            "--over", "seed=1,2", "--frames", 2, "-o", "grid", "--width", 64)
        self.assertIn("grid/run_003: gravity=[1, -9.8, 0] seed=1\n", done.stdout)
        page = (self.dir / "grid/sheet.png.html").read_text()
        self.assertEqual(page.count("<h2>"), 2)
        self.assertIn("<h2>gravity = [1, -9.8, 0]</h2>", page)
        self.assertIn("run_004: seed = 2<", page)
        self.assertIn("url('sheet.png') -", page)
        self.assertIn("gravity: [1, -9.8, 0]", (self.dir / "grid/run_003/scene.yaml").read_text())


class Rounding(harness.Case):
    def test_a_size_is_rounded_with_a_note(self):
        done = self.treacle("check", "drop.yaml", "--quick", "--set", "domain.size=[0.33,0.32,0.32]")
        self.assertIn("note: domain: the size along x, 0.33 m, is not a multiple of the cell, "
                      "0.02 m: 17 cells, 0.34 m, are taken\n", done.stderr)
        self.assertIn("grid       17 x 16 x 16 cells", done.stdout)
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 1, "--set",
                     "domain.size=[0.325,0.32,0.32]", "-q")
        self.assertIn("size: [0.32, 0.32, 0.32]", (self.dir / "out/scene.yaml").read_text())
        self.assertNotIn("note", self.treacle("check", "out/scene.yaml", "--quick").stderr)


class Completion(unittest.TestCase):
    def test_bash_completes_commands_options_starters_and_sections(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-B", ROOT / "tools/make_man.py", harness.TREACLE,
                            folder], check=True)
            for words, expected in ((["treacle", "comp"], "compare"),
                                    (["treacle", "run", "--fo"], "--force"),
                                    (["treacle", "new", "hon"], "honey"),
                                    (["treacle", "help", "scene.emi"], "scene.emitters")):
                script = (f". {folder}/treacle.bash; COMP_WORDS=({' '.join(words)}); "
                          f"COMP_CWORD={len(words) - 1}; _treacle; echo \"${{COMPREPLY[@]}}\"")
                done = subprocess.run(["bash", "-c", script], capture_output=True, text=True,
                                      check=True)
                self.assertEqual(done.stdout.split(), [expected])
            page = (pathlib.Path(folder) / "man/treacle-compare.1").read_text()
            self.assertIn("folder of another one", page)


if __name__ == "__main__":
    harness.main()
