"""Runs by functions, views that end, pictures, hints, notebooks, and the wheel of pip."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("TREACLE_BUILD", ROOT / "build")).resolve()
os.environ.setdefault("TREACLE_LIBRARY", str(BUILD / "libtreacle.so"))
os.environ.setdefault("TREACLE_COMMAND", str(BUILD / "treacle"))
sys.path.insert(0, str(ROOT / "python"))
import treacle

SCENE = {
    "name": "cube", "frames": 3,
    "domain": {"size": [0.32, 0.32, 0.32], "cell": 0.04},
    "materials": {"honey": {"density": 1400, "viscosity": 10}},
    "liquids": [{"shape": {"box": {"size": [0.16, 0.16, 0.16], "centre": [0.16, 0.16, 0.16]}}}],
}


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="treacle-python-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)


class Runs(Case):
    def test_a_run_and_what_is_made_of_it(self):
        run = treacle.run(SCENE, self.dir / "out", threads=1)
        self.assertEqual(len(run), 3)
        self.assertEqual(len(run.stats()), run.stats()[-1]["step"])
        self.assertEqual(run.frame(-1).number, 3)
        self.assertIn("3 frames", repr(run))
        run = treacle.resume(run.folder, frames=4, threads=1)
        self.assertEqual(len(run), 4)
        made = treacle.mesh(run, frames=4)
        self.assertEqual([path.name for path in made], ["surface_0004.ply"])
        made = treacle.export(run, "vtk", what="particles", frames=(3, 4))
        self.assertEqual([path.name for path in made],
                         ["particles.pvd", "particles_0003.vtp", "particles_0004.vtp"])
        made = treacle.render(run, frames=4, size="64x48", samples=1)
        self.assertEqual([path.name for path in made], ["picture_0004.png"])
        made = treacle.plot(run, output=self.dir)
        self.assertIn("plot_energy.png", [path.name for path in made])

    def test_a_run_is_replaced_only_by_force(self):
        scene = treacle.Scene(SCENE)
        treacle.run(scene, self.dir / "a", frames=2)
        with self.assertRaises(treacle.Error) as caught:
            treacle.run(scene, self.dir / "a", frames=2)
        self.assertIn("already holds a run", str(caught.exception))
        self.assertEqual(caught.exception.status, 2)
        treacle.run(scene, self.dir / "a", frames=2, force=True)
        treacle.run(scene, self.dir / "b", frames=2, sets={"seed": 5})
        self.assertTrue(treacle.compare(self.dir / "a", self.dir / "a")[0])
        is_same, told = treacle.compare(self.dir / "a", self.dir / "b")
        self.assertFalse(is_same)
        self.assertIn("b: seed: 5", told)

    def test_a_bad_scene_is_a_scene_error(self):
        with self.assertRaises(treacle.SceneError) as caught:
            treacle.run(dict(SCENE, fps=-1), self.dir / "out")
        self.assertIn("fps", str(caught.exception))


class Views(Case):
    def setUp(self):
        super().setUp()
        self.sim = treacle.Scene(SCENE).simulation(threads=1)
        self.sim.step(0.01)

    def test_a_view_is_refused_after_the_next_step(self):
        particles, velocity = self.sim.particles, self.sim.particles["velocity"]
        kept, part, face = numpy.array(velocity), velocity[3:, 1], self.sim.grid["face_v"]
        double = 2 * velocity
        self.sim.step(0.01)
        for use in (lambda: velocity[0], lambda: velocity.mean(), lambda: velocity + 1,
                    lambda: numpy.abs(velocity), lambda: numpy.concatenate([velocity, kept]),
                    lambda: part.sum(), lambda: list(velocity), lambda: repr(velocity),
                    lambda: velocity.copy(), lambda: face.max(), lambda: particles["id"],
                    lambda: particles.positions()):
            with self.assertRaises(treacle.StaleError) as caught:
                use()
            self.assertIn("stepped since", str(caught.exception))
        self.assertEqual(kept.shape, double.shape)
        self.assertTrue(numpy.isfinite(double).all())
        self.assertTrue(numpy.isfinite(self.sim.particles["velocity"]).all())

    def test_columns_of_an_edit_end_with_it(self):
        with self.sim.edit() as change:
            velocity = change["velocity"]
            velocity[:, 0] += 0.25
            change.remove(change.positions()[:, 1] > 10)
            with self.assertRaises(treacle.StaleError):
                velocity[0] = 1
            velocity = change["velocity"]
        with self.assertRaises(treacle.StaleError):
            velocity[0]

    def test_what_is_computed_is_plain(self):
        velocity = self.sim.particles["velocity"]
        self.assertIs(type(velocity * 2), numpy.ndarray)
        self.assertIs(type(numpy.linalg.norm(velocity, axis=1)), numpy.ndarray)
        self.assertIsInstance(velocity[:5], treacle.View)


class Looks(Case):
    def setUp(self):
        super().setUp()
        self.sim = treacle.Scene(SCENE).simulation(threads=1)

    def test_pictures_and_texts_for_notebooks(self):
        self.assertEqual(self.sim._repr_png_()[:8], b"\x89PNG\r\n\x1a\n")
        self.sim.save(self.dir / "frame_0001.trf")
        frame = treacle.read_frame(self.dir / "frame_0001.trf")
        self.assertEqual(frame.picture(64, 48)[:8], b"\x89PNG\r\n\x1a\n")
        self.assertIn("<td>velocity</td>", frame._repr_html_())
        self.assertIn("particles", repr(frame))
        self.assertIn("'cube'", repr(self.sim))
        self.assertIn("<pre>", self.sim.scene._repr_html_())
        self.assertEqual(self.sim.scene.warnings, "")

    def test_columns_are_rows_of_particles(self):
        columns = self.sim.particles.columns()
        self.assertEqual(columns["position"].shape, (len(self.sim.particles), 3))
        self.assertTrue(((columns["position"] > 0.07) & (columns["position"] < 0.25)).all())
        self.assertNotIn("tile_first", columns)

    @unittest.skipUnless(importlib.util.find_spec("xarray"), "xarray is not installed")
    def test_xarray(self):
        data = self.sim.particles.to_xarray()
        self.assertEqual(data["velocity"].shape, (len(self.sim.particles), 3))

    @unittest.skipUnless(importlib.util.find_spec("vtk"), "vtk is not installed")
    def test_vtk(self):
        data = self.sim.particles.to_vtk()
        self.assertEqual(data.GetNumberOfPoints(), len(self.sim.particles))


class Wheel(Case):
    def python(self, *arguments, **options):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("TREACLE", "PYTHON"))}
        done = subprocess.run([self.dir / "venv/bin/python", *arguments], capture_output=True,
                              text=True, cwd=self.dir, env=dict(environment, **options))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_pip_installs_it_into_a_fresh_environment(self):
        made = subprocess.run([sys.executable, "-m", "venv", self.dir / "venv"],
                              capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest("there is no python3-venv")
        self.python("-m", "pip", "install", "--no-index", "--quiet", ROOT / "python",
                    TREACLE_BUILD=str(BUILD))
        # Without numpy: scenes, steps and runs.
        self.python("-c", "import treacle, json\n"
                    f"scene = json.loads({json.dumps(SCENE)!r})\n"
                    "sim = treacle.Scene(scene).simulation(threads=1)\n"
                    "assert 'site-packages' in treacle.__file__, treacle.__file__\n"
                    "assert sim.step(0.01)['particles'] > 0\n"
                    "assert len(treacle.run(scene, 'out', frames=2)) == 2\n"
                    "try:\n    sim.particles\nexcept ModuleNotFoundError as problem:\n"
                    "    assert 'numpy' in str(problem)\nelse:\n    raise SystemExit(1)")
        done = subprocess.run([self.dir / "venv/bin/treacle", "--version"], capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stdout, f"treacle {treacle.__version__}\n")
        self.assertTrue(list(self.dir.glob("venv/lib/*/site-packages/treacle/py.typed")))


class Notebooks(Case):
    def test_every_notebook_runs(self):
        if not importlib.util.find_spec("nbconvert") or not importlib.util.find_spec("ipykernel"):
            self.skipTest("needs python3-nbconvert and python3-ipykernel")
        found = sorted((ROOT / "python/examples").glob("*.ipynb"))
        self.assertTrue(found)
        for path in found:
            with self.subTest(path.name):
                done = subprocess.run(
                    [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute",
                     "--output-dir", self.dir, path], capture_output=True, text=True, timeout=200,
                    cwd=self.dir, env=dict(os.environ, PYTHONPATH=str(ROOT / "python")))
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])
                text = (self.dir / path.name).read_text()
                self.assertIn("image/png", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
