"""The Python module: scenes, steps, views without a copy, edits, files, versions."""

import ctypes
import gc
import json
import os
import pathlib
import re
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
from treacle import _library

SCENE = {
    "name": "cube", "fps": 24,
    "domain": {"size": [0.32, 0.32, 0.32], "cell": 0.02},
    "materials": {"honey": {"density": 1400, "viscosity": 10}},
    "liquids": [{"shape": {"box": {"size": [0.12, 0.12, 0.12], "centre": [0.16, 0.16, 0.16]}}}],
    "step": {"max_dt": 0.01},
}


def members(header, name):
    """What a struct of a public header holds, in its order."""
    text = re.sub(r"//.*", "", (ROOT / "include/treacle" / header).read_text())
    body = re.search(r"typedef struct " + name + r" \{(.*?)\} " + name + ";", text, re.S).group(1)
    found = []
    for line in body.split(";"):
        function = re.search(r"\(\*(\w+)\)", line)
        found += [function.group(1)] if function else re.findall(r"(\w+)(?:\[\w+\])*\s*(?:,|$)",
                                                              line.strip())
    return found


class Declarations(unittest.TestCase):
    def test_structs_have_the_members_of_the_headers(self):
        for header, name, ours in (("base.h", "treacle_context_def", _library.ContextDef),
                                   ("preview.h", "treacle_preview_def", _library.PreviewDef),
                                   ("edit.h", "treacle_particle_def", _library.ParticleDef),
                                   ("cache.h", "treacle_frame", _library.Frame),
                                   ("cache.h", "treacle_array", _library.Array)):
            with self.subTest(name):
                self.assertEqual(members(header, name),
                                 [field[0].rstrip("_") for field in ours._fields_])

    def test_defaults_know_their_size(self):
        for function, ours in (("treacle_context_def_default", _library.ContextDef),
                               ("treacle_preview_def_default", _library.PreviewDef)):
            library = _library.load()
            self.assertEqual(getattr(library, function)().def_size, ctypes.sizeof(ours))


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
            change.add([[0.05, 0.3, 0.07]], [0, -1, 0])
            self.assertAlmostEqual(change.positions()[-1, 2], 0.07, places=6)
            change.remove(change.positions()[:, 1] > 0.25)
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

    def test_a_force_is_as_strong_whatever_the_steps(self):
        """v = a t in free flight, also where a step is a third of what was asked for."""
        for changes, asked in (({}, 0.01), ({"step": {"max_dt": 0.003}}, 0.01),
                               ({"step": {"cfl": 0.1}}, 0.03), ({"transfer": "flip"}, 0.007)):
            with self.subTest(changes=changes, asked=asked):
                sim = treacle.Scene(dict(SCENE, gravity=[0, 0, 0], **changes)).simulation(threads=1)
                sim.force = lambda places: [0.5, 0.0, -2.0]
                shortest, work = 1.0, 0.0
                while sim.time < 0.1:
                    stats = sim.step(asked)
                    shortest = min(shortest, stats["dt"])
                    work += stats["energy"]["forces"]
                    self.assertLess(abs(stats["energy"]["error"]), 1e-9)
                expected = numpy.tile(numpy.multiply(sim.time, [0.5, 0.0, -2.0]),
                                      (len(sim.particles), 1))
                numpy.testing.assert_allclose(sim.particles["velocity"], expected, atol=2e-5)
                self.assertAlmostEqual(work, stats["kinetic_energy"], delta=1e-4 * work)
                if "step" in changes:
                    self.assertLess(shortest, 0.5 * asked)

    def test_a_force_that_is_not_a_number_is_refused(self):
        before = self.sim.hash
        self.sim.force = lambda places: [0.0, numpy.nan, 0.0]
        with self.assertRaises(treacle.Error) as caught:
            self.sim.step(0.01)
        self.assertIn("acceleration", str(caught.exception))
        self.assertEqual(self.sim.hash, before)

    def test_a_step_gives_what_stats_jsonl_has(self):
        path = self.dir / "scene.yaml"
        path.write_text(self.scene.text)
        command = os.environ.get("TREACLE", ROOT / "build/treacle")
        subprocess.run([command, "run", path, "-o", self.dir / "out", "--frames", "2", "--threads",
                        "1"], check=True, capture_output=True)
        text = (self.dir / "out/stats.jsonl").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        sim = treacle.Scene(path).simulation(threads=1)
        for line in lines:
            stats = sim.step(1 / 24 - sim.time)
            self.assertEqual(list(stats), [key for key in line if key != "frame"])
            for machine in ("seconds", "memory_peak"):
                self.assertEqual(type(stats.pop(machine)), type(line.pop(machine)))
            del line["frame"]
            self.assertEqual(stats, line)

    def test_pressure_is_in_pascal(self):
        box = {"box": {"min": [0, 0, 0], "max": [0.32, 0.16, 0.32]}}
        sim = treacle.Scene(dict(SCENE, liquids=[{"shape": box}])).simulation(threads=1)
        sim.run_until(0.05)
        inside = (sim.grid.tile[:, 1] == 0) & (sim.grid.tile.max(axis=1) < 2)
        for layer in range(7):
            expected = 1400 * 9.81 * (0.15 - 0.02 * layer)
            found = sim.grid["pressure"][inside][:, :, layer, :]
            numpy.testing.assert_allclose(found, expected, atol=0.01 * 1400 * 9.81 * 0.16)

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
        velocity, places, cell = frame["velocity"], frame.positions(), frame.cell
        del frame
        gc.collect()
        # A frame keeps velocities to 1/4096 of the largest and places to 1/16384 of a cell.
        true_velocity = self.sim.particles["velocity"]
        numpy.testing.assert_allclose(velocity, true_velocity, rtol=0,
                                      atol=float(numpy.abs(true_velocity).max()) / 4096)
        numpy.testing.assert_allclose(places, self.sim.particles.positions(), rtol=0,
                                      atol=1.01 * cell / 16384)

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
                              capture_output=True, text=True, timeout=120, cwd=self.dir,
                              env={key: value for key, value in os.environ.items()
                                   if key != "PYTHONPATH"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("measured", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
