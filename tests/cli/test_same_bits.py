"""More than 60 steps with other threads or instruction sets, or by way of an extension: no byte differs."""

import shutil

import harness

UNSUPPORTED = 8

# Thin liquids of two densities that splash: free flyers, splits and merges, what a state must carry too.
SPLASH = """\
name: splash
frames: 6
domain: {size: [0.32, 0.32, 0.16], cell: 2 cm, sides: {all: slip, top: open}}
materials:
  water: {density: 1000}
  oil: {density: 700}
liquids:
  - {shape: {box: {min: [0, 0, 0], max: [16 cm, 16 cm, 16 cm]}}, material: water}
  - {shape: {sphere: {radius: 5 cm, centre: [22 cm, 22 cm, 8 cm]}}, material: oil,
     velocity: [-2, -3, 0]}
transfer: flip
"""


class SameBits(harness.Case):
    def run_into(self, folder, *options):
        self.treacle("run", "drop.yaml", "-o", folder, "-q", *options)

    def test_threads_do_not_count(self):
        self.run_into("reference", "--threads", 1)
        for threads in (2, 3, 4):
            self.run_into(f"threads{threads}", "--threads", threads)
            self.assert_same(f"threads{threads}", "reference")

    def test_pictures_are_the_same_too(self):
        self.run_into("reference", "--preview", "--frames", 2, "--threads", 1, "--isa", "sse2")
        self.run_into("out", "--preview", "--frames", 2, "--threads", 3)
        self.assert_same("out", "reference")

    def test_instruction_sets_do_not_count(self):
        self.run_into("reference", "--isa", "sse2")
        for isa in ("avx2", "avx512"):
            done = self.start("run", "drop.yaml", "-o", isa, "-q", "--isa", isa)
            _, errors = done.communicate(timeout=60)
            if done.returncode == UNSUPPORTED:
                print(f"SKIPPED: this machine has no {isa}")
                continue
            self.assertEqual(done.returncode, 0, errors)
            self.assert_same(isa, "reference")

    def test_an_extended_run_is_a_longer_run(self):
        self.run_into("reference", "--frames", 8)
        self.run_into("out", "--frames", 3)
        self.treacle("resume", "out", "--frames", 8, "--threads", 1)
        self.assert_same("out", "reference")

    def test_the_scenes_of_these_tests_are_liquid(self):
        self.scene("splash.yaml", SPLASH)
        for scene in ("drop.yaml", "splash.yaml"):
            self.treacle("run", scene, "-o", scene + ".out", "-q", "--frames", 2)
            last = harness.contents(self.dir / (scene + ".out"))["stats.jsonl"][-1]
            self.assertGreater(last["pressure"]["iterations"] + last["flow"]["iterations"], 0)
            self.assertGreater(last["surface_volume"], 0.0)

    def test_a_splash_is_the_same_on_other_threads_and_by_way_of_an_extension(self):
        self.scene("splash.yaml", SPLASH)
        self.treacle("run", "splash.yaml", "-o", "reference", "-q", "--threads", 1)
        self.treacle("run", "splash.yaml", "-o", "out", "-q", "--threads", 3, "--frames", 3)
        self.treacle("resume", "out", "--frames", 6, "--threads", 2)
        self.assert_same("out", "reference")

    def test_a_run_may_begin_without_liquid(self):
        text = harness.SCENE
        begin, end = text.index("liquids:"), text.index("emitters:")
        self.scene(text=text[:begin] + text[end:])
        self.run_into("reference", "--frames", 3, "--preview")
        self.run_into("out", "--frames", 1, "--preview")
        self.treacle("resume", "out", "--frames", 3)
        self.assert_same("out", "reference")

    def states(self, *sets):
        """Numbers of the states that a run of ten frames leaves."""
        shutil.rmtree(self.dir / "out", ignore_errors=True)
        self.run_into("out", *[word for text in sets for word in ("--set", "output." + text)])
        return [int(path.stem[-4:]) for path in sorted((self.dir / "out").glob("state_*"))]

    def test_the_last_state_and_the_one_before_stay(self):
        self.assertEqual(self.states(), [8, 10])
        self.assertEqual(self.states("resume_every=1"), [9, 10])
        self.assertEqual(self.states("resume_every=100"), [10])

    def test_kept_states_stay(self):
        self.assertEqual(self.states("state_every=3"), [3, 6, 8, 9, 10])
        self.assertEqual(self.states("state_every=4", "resume_every=1"), [4, 8, 9, 10])

    def test_states_do_not_change_what_a_run_makes(self):
        self.run_into("reference", "--set", "output.resume_every=1")
        self.run_into("out", "--set", "output.resume_every=7")
        for path in (self.dir / "reference").glob("frame_*.trf"):
            ours = (self.dir / "out" / path.name).read_bytes()
            behind = 128  # the head has the scene's hash
            self.assertTrue(ours[behind:] == path.read_bytes()[behind:], path.name)


if __name__ == "__main__":
    harness.main()
