"""What the manual says of how materials behave, they do: each claim has a small scene.

Heights of the centre of mass come from the account of energy: weight times way.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GRAVITY = 9.81

# A block of 4 cm on a floor to which it sticks.
BLOCK = """\
fps: 20
frames: {frames}
domain: {{size: [12 cm, 6 cm, 12 cm], cell: 5 mm, sides: {{all: open, bottom: no-slip}}}}
materials: {{stuff: {material}}}
liquids:
  - {{shape: {{box: {{min: [4 cm, 0, 4 cm], max: [8 cm, 4 cm, 8 cm]}}}}, material: stuff}}
"""

# A ball of 5 cm that hits the floor at 1 m/s.
BALL = """\
fps: 24
frames: {frames}
domain: {{size: [12 cm, 12 cm, 12 cm], cell: 5 mm, separation: on, sides: {{all: slip, top: open}}}}
materials: {{stuff: {material}}}
liquids:
  - {{shape: {{sphere: {{radius: 2.5 cm, centre: [6 cm, 3 cm, 6 cm]}}}}, material: stuff, velocity: [0, -1, 0]}}
"""

# Water under a ceiling, in a plane.
CEILING = """\
fps: 20
frames: 5
domain: {{size: [32 cm, 32 cm], cell: 1 cm, separation: {separation}}}
liquids:
  - {{shape: {{box: {{min: [0, 26 cm], max: [32 cm, 32 cm]}}}}}}
"""


def from_manual(name):
    """A material of the section on gel, as the manual has it."""
    page = (ROOT / "docs/manual/thick_liquids.md").read_text()
    return re.search(rf"(?m)^  {name}: (\{{.*\}}) *#?", page).group(1)


class Claims(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="treacle-claims-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def steps(self, scene):
        """What stats.jsonl has of its steps."""
        (self.folder / "scene.yaml").write_text(scene)
        out = self.folder / f"out{len(os.listdir(self.folder))}"
        done = subprocess.run([harness.TREACLE, "run", self.folder / "scene.yaml", "-o", out, "-q", "--threads", "1"],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in (out / "stats.jsonl").read_text().splitlines()]

    def heights(self, scene, density):
        """Of the centre of mass after each step, over that at the start, in m."""
        height, out = 0.0, []
        for step in self.steps(scene):
            height += step["energy"]["potential"] / (density * step["volume"] * GRAVITY)
            out.append(height)
        return out

    def test_jelly_keeps_its_shape_and_wobbles_in_short_steps(self):
        scene = BLOCK.format(frames=7, material=from_manual("jelly"))
        calm = self.heights(scene, 1050)
        self.assertGreater(calm[-1], -0.002)  # of 20 mm
        lively = self.heights(scene + "elasticity: {theta: 0.55, limits_step: true}\n", 1050)
        self.assertGreater(self.comes_up(lively), 4e-4)
        self.assertLess(self.comes_up(calm), 1e-4)

    @staticmethod
    def comes_up(heights):
        """How far it rises from where it is lowest."""
        lowest = heights.index(min(heights))
        return max(heights[lowest:]) - heights[lowest]

    def test_slime_springs_back_and_then_flows(self):
        heights = self.heights(BALL.format(frames=12, material=from_manual("slime")), 1020)
        self.assertGreater(self.comes_up(heights), 0.001)
        self.assertLess(self.comes_up(heights), 0.004)  # it does not bounce
        heights = self.heights(BLOCK.format(frames=61, material=from_manual("slime")), 1020)
        self.assertLess(heights[-1], -0.004)

    def test_clay_stands(self):
        heights = self.heights(BLOCK.format(frames=21, material=from_manual("clay")), 1800)
        self.assertGreater(heights[-1], -0.001)

    def test_block_stays_if_it_yields_above_a_quarter_of_its_weight(self):
        weight = 1000 * GRAVITY * 0.04
        stuff = "{{density: 1000, rheology: {{law: bingham, yield_stress: {}}}, viscosity: 1}}"
        stands = self.heights(BLOCK.format(frames=11, material=stuff.format(0.4 * weight)), 1000)
        falls = self.heights(BLOCK.format(frames=11, material=stuff.format(0.1 * weight)), 1000)
        self.assertGreater(stands[-1], -0.001)
        self.assertLess(falls[-1], -0.003)

    def test_what_stands_by_its_yield_stress_creeps_below_the_critical_rate(self):
        stuff = "{density: 1000, rheology: {law: bingham, yield_stress: 200, critical_rate: 0.01}, viscosity: 1}"
        last = self.steps(BLOCK.format(frames=6, material=stuff))[-1]
        self.assertLess(last["max_speed"], 0.01 * 0.04)  # the rate times the height

    def test_a_wall_holds_liquid_unless_it_lets_go(self):
        held = self.heights(CEILING.format(separation="off"), 1000)
        fallen = self.heights(CEILING.format(separation="on"), 1000)
        self.assertLess(fallen[-1], -0.5 * GRAVITY * 0.2 ** 2 * 0.8)  # nearly free
        self.assertGreater(held[-1], 0.1 * fallen[-1])

    def test_stiff_and_varied_take_no_smaller_steps(self):
        soft = "{density: 1000, viscosity: 1000}"
        stiff = "{density: 1000, viscosity: 1000, elastic: {shear_modulus: 1 MPa}}"
        varied = BLOCK.format(frames=5, material=soft).rstrip().removesuffix("}") + \
            ', viscosity_factor: "exp(-23*smoothstep(0.04, 0.08, x))*1e4"}\n'
        count = len(self.steps(BLOCK.format(frames=5, material=soft)))
        self.assertLessEqual(len(self.steps(BLOCK.format(frames=5, material=stiff))), count + 2)
        thin = len(self.steps(BLOCK.format(frames=5, material="{density: 1000, viscosity: 0.001}")))
        self.assertLessEqual(len(self.steps(varied)), thin)


if __name__ == "__main__":
    unittest.main(verbosity=2)
