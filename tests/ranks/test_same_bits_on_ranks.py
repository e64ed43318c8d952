"""The files of a run are the same for 1, 2, 3 and 4 ranks, with threads, and across a resume."""

import json

import harness_ranks

SCENES = harness_ranks.ROOT / "scenes"

# Two densities that splash, with free flyers; large enough that every rank has tiles of its own.
SPLASH = """\
name: splash
frames: 3
domain: {size: [0.32, 0.32, 0.32], cell: 1 cm, sides: {all: slip, top: open}}
materials:
  water: {density: 1000}
  oil: {density: 700}
liquids:
  - {shape: {box: {min: [0, 0, 0], max: [16 cm, 16 cm, 32 cm]}}, material: water}
  - {shape: {sphere: {radius: 5 cm, centre: [22 cm, 22 cm, 8 cm]}}, material: oil,
     velocity: [-2, -3, 0]}
transfer: flip
"""


# Particles that come and go: out of emitters and drops, into a sink, through a side; and crowds.
TRAFFIC = """\
name: traffic
frames: 3
domain: {size: [0.4, 0.32, 0.16], cell: 1 cm, sides: {all: slip, right: open}}
materials:
  water: {density: 1000}
liquids:
  - {shape: {box: {min: [0, 0, 0], max: [18 cm, 10 cm, 16 cm]}}, material: water, velocity: [3, 0, 0]}
emitters:
  - {shape: {box: {min: [2 cm, 22 cm, 4 cm], max: [4 cm, 26 cm, 12 cm]}},
     direction: [1, -0.2, 0], speed: 4 m/s}
drops:
  - {shape: {sphere: {radius: 3 cm}}, velocity: [0, -4, 0],
     places: {keys: {0.02 s: [26 cm, 20 cm, 8 cm], 0.05 s: [12 cm, 22 cm, 8 cm]}}}
sinks:
  - {shape: {box: {min: [20 cm, 0, 0], max: [30 cm, 4 cm, 8 cm]}}}
"""

# Honey in pieces: a pool, lumps that fall on it and beside, walls that hold.
HONEY = """\
name: honey
frames: 3
domain: {size: [0.48, 0.32, 0.32], cell: 1 cm, sides: {all: no_slip, top: open}}
materials:
  honey: {density: 1400, viscosity: 10}
liquids:
  - {shape: {box: {min: [0, 0, 0], max: [20 cm, 12 cm, 32 cm]}}, material: honey}
  - {shape: {sphere: {radius: 6 cm, centre: [36 cm, 20 cm, 16 cm]}}, material: honey,
     velocity: [-1, -1, 0]}
  - {shape: {sphere: {radius: 3 cm, centre: [28 cm, 26 cm, 8 cm]}}, material: honey,
     velocity: [0, -1, 0]}
transfer: apic
"""


class SameBitsOnRanks(harness_ranks.Case):
    def compare(self, scene, ranks, *options):
        """Runs the scene plainly and on ranks; the last run's statistics."""
        self.treacle("run", scene, "-o", "plain", "-q", "--threads", 1, *options)
        for count in ranks:
            folder = f"ranks{count}"
            self.on_ranks(count, "run", scene, "-o", folder, "-q", "--threads", 1, *options)
            self.assert_same(folder, "plain")

    def scene_of(self, name, ranks, *options):
        self.compare(SCENES / name, ranks, "--frames", 2, *options)

    def test_inviscid_liquid_of_two_densities(self):
        self.scene("splash.yaml", SPLASH)
        self.compare("splash.yaml", (1, 2, 3, 4), "--frames", 2)

    def test_affine_particles(self):
        self.scene("splash.yaml", SPLASH)
        self.compare("splash.yaml", (3,), "--set", "transfer=apic", "--frames", 2)

    def test_particles_that_come_and_go(self):
        self.scene("traffic.yaml", TRAFFIC)
        self.compare("traffic.yaml", (2, 4), "--preview")
        lines = (self.dir / "plain/stats.jsonl").read_text().splitlines()
        steps = [json.loads(line) for line in lines]
        for what in ("emitted", "absorbed", "merged"):
            self.assertGreater(sum(step[what] for step in steps), 0, what)

    def test_thick_liquid_that_is_poured(self):
        self.compare("drop.yaml", (2, 4), "--frames", 2, "--set", "domain.cell=1cm")

    def test_honey_in_pieces(self):
        self.scene("honey.yaml", HONEY)
        self.compare("honey.yaml", (2, 4), "--frames", 2)

    def test_honey_in_pieces_in_two_steps(self):
        self.scene("honey.yaml", HONEY)
        self.compare("honey.yaml", (3,), "--frames", 2, "--set", "flow=split")

    def test_steps_of_second_order(self):
        self.compare("drop.yaml", (3,), "--frames", 2, "--set", "domain.cell=1cm",
                     "--set", "step.splitting=second")

    def test_thick_liquid_in_two_steps(self):
        self.scene_of("piles_split.yaml", (3,))

    def test_chocolate_in_pieces(self):
        self.scene("honey.yaml", HONEY.replace("viscosity: 10", "preset: chocolate"))
        self.compare("honey.yaml", (3,), "--frames", 2)

    def test_liquid_that_thins_by_shear(self):
        self.scene_of("chocolate_pour.yaml", (2,), "--set", "domain.cell=5mm")

    def test_heat_and_melting(self):
        self.scene_of("wax_block.yaml", (2,))

    def test_strain(self):
        self.scene_of("goop_cube_thin.yaml", (3,))

    def test_bodies(self):
        self.scene_of("bodies_in_tank.yaml", (3,), "--set", "domain.cell=5cm")

    def test_a_body_that_turns_gel(self):
        self.scene_of("goop_turn.yaml", (3,))

    def test_a_body_in_a_closed_tube(self):
        self.scene_of("box_in_tube.yaml", (2,))

    def test_walls_that_let_go(self):
        self.scene_of("splash_on_wall.yaml", (4,))

    def test_periodic_sides(self):
        self.scene_of("periodic_shear.yaml", (2,))

    def test_liquid_on_the_grid_alone(self):
        self.scene_of("smoke_paddle_coarse.yaml", (2,))

    def test_threads_and_ranks(self):
        self.scene("splash.yaml", SPLASH)
        self.treacle("run", "splash.yaml", "-o", "plain", "-q", "--frames", 2)
        self.on_ranks(2, "run", "splash.yaml", "-o", "both", "-q", "--frames", 2, "--threads", 2)
        self.assert_same("both", "plain")

    def test_a_run_goes_on_with_other_ranks(self):
        self.scene("splash.yaml", SPLASH)
        self.treacle("run", "splash.yaml", "-o", "plain", "-q", "--frames", 4)
        self.on_ranks(3, "run", "splash.yaml", "-o", "out", "-q", "--frames", 2)
        self.on_ranks(2, "resume", "out", "-q", "--frames", 3)
        self.treacle("resume", "out", "-q", "--frames", 4)
        self.assert_same("out", "plain")

    def test_the_statistics_tell_of_ranks(self):
        self.scene("splash.yaml", SPLASH)
        self.on_ranks(2, "run", "splash.yaml", "-o", "out", "-q", "--frames", 2)
        lines = (self.dir / "out/stats.jsonl").read_text().splitlines()
        told = json.loads(lines[-1])["ranks"]
        self.assertEqual(told["count"], 2)
        self.assertGreaterEqual(told["imbalance"], 1.0)
        self.assertLess(told["imbalance"], 1.5)
        self.assertGreater(told["bytes"], 0)


if __name__ == "__main__":
    harness_ranks.main()
