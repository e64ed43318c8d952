"""Liquid that the grid carries, in three dimensions, over a hot ball: everything that works on frames works on its
frames, and neither threads nor a kill show in them."""

import signal
import time

import harness

SCENE = """\
name: grid_melt
frames: 3
motion: eulerian
domain: {size: [0.2, 0.2, 0.2], cell: 12.5 mm, sides: {all: slip, bottom: no-slip, top: open}}
step: {max_dt: 8 ms}
heat: {air: 300 K}
materials:
  wax: {density: 900, viscosity: 50 Pa.s, conductivity: 50, heat_capacity: 2000,
        latent_heat: 20000, solidus: 330 K, liquidus: 340 K}
solids:
  ball: {shape: {sphere: {radius: 4 cm, centre: [10 cm, 4 cm, 10 cm]}}, temperature: 400 K}
liquids:
  - {shape: {box: {size: [8 cm, 8 cm, 8 cm], centre: [10 cm, 12.5 cm, 10 cm]}}, material: wax,
     temperature: 320 K}
"""


class GridLiquid(harness.Case):
    def run_into(self, folder, *options):
        self.scene("melt.yaml", SCENE)
        self.treacle("run", "melt.yaml", "-o", folder, "-q", *options)

    def last_step(self, folder):
        return harness.contents(self.dir / folder)["stats.jsonl"][-1]

    def test_threads_do_not_count(self):
        self.run_into("reference", "--threads", 1)
        self.run_into("out", "--threads", 2)
        self.assert_same("out", "reference")

    def test_a_killed_run_goes_on_bit_for_bit(self):
        self.run_into("reference")
        process = self.start("run", "melt.yaml", "-o", "out", "-q")
        while not (self.dir / "out" / "frame_0002.trf").exists() and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        self.assertIn(process.returncode, (0, -signal.SIGKILL))
        self.treacle("resume", "out", "-q")
        self.assert_no_leftovers("out")
        self.assert_same("out", "reference")

    def test_the_ball_warms_it_and_takes_none_of_it(self):
        self.run_into("out")
        last = self.last_step("out")
        self.assertAlmostEqual(last["volume"], 0.08**3, delta=0.05 * 0.08**3)
        self.assertGreater(last["heat_in"], 0.0)
        cold = 900.0 * 2000.0 * 47.0 * last["volume"]  # J, at 320 K
        self.assertAlmostEqual(last["enthalpy"], cold, delta=0.02 * cold)

    def test_its_frames_can_be_meshed_drawn_shown_and_handed_on(self):
        self.run_into("out", "--preview")
        self.treacle("mesh", "out", "--frames", 3, "-q")
        self.treacle("render", "out", "--frames", 3, "--size", "48x36", "--samples", 2, "-q")
        self.treacle("view", "out", "--export", "page", "--frames", 3)
        self.treacle("plot", "out")
        for form in ("ply", "obj", "vtk", "usd", "bgeo", "glb"):
            self.treacle("export", "out", "--frames", 3, "--to", form, "-o", form, "-q")
            written = sorted((self.dir / form).iterdir())
            self.assertTrue(written, form)
            for path in written:
                least = 100 if path.suffix == ".pvd" else 500  # a list of one frame is short
                self.assertGreater(path.stat().st_size, least, path.name)
        for name in ("surface_0003.ply", "picture_0003.png", "plot_volume.svg"):
            self.assertGreater((self.dir / "out" / name).stat().st_size, 500, name)
        self.assertTrue((self.dir / "page" / "index.html").exists())


if __name__ == "__main__":
    harness.main()
