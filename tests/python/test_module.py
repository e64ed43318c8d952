"""The Python module: scenes, steps, views without a copy, edits, files, versions."""

import gc
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("TREACLE_LIBRARY", str(pathlib.Path(
    os.environ.get("TREACLE_BUILD", ROOT / "build")).resolve() / "libtreacle.so"))
sys.path.insert(0, str(ROOT / "python"))
import treacle

SCENE = {
    "name": "cube", "fps": 24,
    "domain": {"size": [0.32, 0.32, 0.32], "cell": 0.02},
    "materials": {"honey": {"density": 1400, "viscosity": 10}},
    "liquids": [{"shape": {"box": {"size": [0.12, 0.12, 0.12], "centre": [0.16, 0.16, 0.16]}}}],
    "step": {"max_dt": 0.01},
}


class Module(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="treacle-python-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.scene = treacle.Scene(SCENE)
        self.sim = self.scene.simulation(threads=1)

    def test_a_scene_is_a_dict_or_a_file(self):
        path = self.dir / "scene.yaml"
        path.write_text(self.scene.text)
        again = treacle.Scene(path).simulation(threads=1)
        self.assertEqual(again.hash, self.sim.hash)
        finer = treacle.Scene(path, {"domain.cell": "1 cm"}).simulation(threads=1)
        self.assertGreater(len(finer.particles), 4 * len(self.sim.particles))

    def test_all_errors_of_a_scene_are_told(self):
        with self.assertRaises(treacle.SceneError) as caught:
            treacle.Scene(dict(SCENE, fps=-1, liquds=[]))
        self.assertIn("fps", str(caught.exception))
        self.assertIn("liquds", str(caught.exception))
        with self.assertRaises(treacle.Error) as caught:
            treacle.Scene("nowhere.yaml")
        self.assertIn("nowhere.yaml", str(caught.exception))

    def test_it_falls_as_it_should(self):
        before = self.sim.particles.positions()[:, 1].mean()
        stats = self.sim.run_until(0.1, 0.01)
        self.assertAlmostEqual(self.sim.time, 0.1, places=12)
        self.assertEqual(stats["particles"], len(self.sim.particles))
        self.assertAlmostEqual(stats["time"], 0.1, places=12)
        after = self.sim.particles.positions()[:, 1].mean()
        self.assertAlmostEqual(before - after, 0.5 * 9.81 * 0.01, delta=0.006)
        self.assertAlmostEqual(stats["max_speed"], 0.981, delta=0.05)
        self.assertAlmostEqual(stats["volume"], 0.12 ** 3, delta=1e-5)

    def test_views_are_the_memory_itself(self):
        self.sim.step(0.01)
        one, two = self.sim.particles["velocity"], self.sim.particles["velocity"]
        self.assertEqual(one.ctypes.data, two.ctypes.data)
        self.assertFalse(one.flags.owndata)
        with self.assertRaises(ValueError):
            one[0] = 0
        grid = self.sim.grid
        self.assertEqual(grid["face_v"].shape, (len(grid.tile), 8, 8, 8))
        self.assertLess(grid["surface"].min(), 0)

    def test_a_view_keeps_the_simulation_alive(self):
        self.sim.step(0.01)
        velocity = self.sim.particles["velocity"]
        self.sim = self.scene = None
        gc.collect()
        self.assertTrue(numpy.isfinite(velocity).all())

    def test_particles_are_changed_added_and_removed(self):
        self.sim.step(0.01)
        count = len(self.sim.particles)
        with self.sim.edit() as change:
            change["velocity"][:, 0] = 0.5
            change.add([[0.05, 0.3, 0.05], [0.06, 0.3, 0.05]], [0, -1, 0])
            self.assertEqual(len(change), count + 2)
        self.assertEqual(len(self.sim.particles), count + 2)
        self.sim.step(0.01)
        self.assertAlmostEqual(float(numpy.median(self.sim.particles["velocity"][:, 0])), 0.5,
                               delta=0.05)
        with self.sim.edit() as change:
            change.remove(self.sim.particles.positions()[:, 1] > 0.25)
        self.assertEqual(len(self.sim.particles), count)
        self.sim.step(0.01)
        with self.assertRaises(treacle.Error):
            with self.sim.edit() as change:
                change.add([[5, 5, 5]])
        with self.assertRaises(KeyError):
            with self.sim.edit() as change:
                change["nothing"]
        self.assertEqual(len(self.sim.particles), count)

    def test_an_edit_that_fails_changes_nothing(self):
        self.sim.step(0.01)
        before = self.sim.hash
        with self.assertRaises(RuntimeError):
            with self.sim.edit() as change:
                change["velocity"][:] = 7
                raise RuntimeError("no")
        self.assertEqual(self.sim.hash, before)

    def test_a_force_acts(self):
        self.sim.force = lambda places: numpy.tile([0.0, 9.81, 0.0], (len(places), 1))
        before = self.sim.particles.positions()[:, 1].mean()
        self.sim.run_until(0.1, 0.01)
        self.assertAlmostEqual(self.sim.particles.positions()[:, 1].mean(), before, delta=0.004)

    def test_states_and_frames_are_files(self):
        self.sim.step(0.01)
        self.sim.save_state(self.dir / "state.trs")
        self.sim.save(self.dir / "frame_0007.trf", number=7)
        kept = self.sim.hash
        self.sim.step(0.01)
        self.assertNotEqual(self.sim.hash, kept)
        self.sim.restore(self.dir / "state.trs")
        self.assertEqual(self.sim.hash, kept)
        frame = treacle.read_frame(self.dir / "frame_0007.trf")
        self.assertEqual(frame.number, 7)
        velocity, places = frame["velocity"], frame.positions()
        del frame
        gc.collect()
        numpy.testing.assert_array_equal(velocity, self.sim.particles["velocity"])
        numpy.testing.assert_array_equal(places, self.sim.particles.positions())

    def test_a_library_of_another_version_is_refused(self):
        code = ("import sys; sys.path.insert(0, 'python')\nimport treacle._library as l\n"
                "l.VERSION = '0.0.9'\nl.load()")
        done = subprocess.run([sys.executable, "-c", code.replace("import treacle._library as l",
                              "import importlib.util as u; s = u.spec_from_file_location('l', "
                              "'python/treacle/_library.py'); l = u.module_from_spec(s); "
                              "s.loader.exec_module(l)")], capture_output=True, text=True, cwd=ROOT)
        self.assertIn("ImportError: this module is for libtreacle 0.0.9, but", done.stderr)

    def test_the_example_measures_the_viscosity(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "python/examples/shear_wave.py"],
                              capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, PYTHONPATH=str(ROOT / "python")))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("measured", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
