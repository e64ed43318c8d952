"""The add-on in real Blender without a window: from an empty file to a Cycles picture of honey."""

import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../cli"))
import exchange
import harness


class Blender(harness.Case):
    def setUp(self):
        super().setUp()
        self.blender = shutil.which("blender")
        if self.blender is None:
            self.skipTest("there is no Blender")

    def run_blender(self):
        archive = self.dir / "treacle-addon.zip"
        subprocess.run([sys.executable, os.path.join(HERE, "../../tools/make_addon.py"), archive],
                       check=True)
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 1, "-q")
        self.treacle("export", "out", "--to", "vdb", "--up", "z", "-o", self.dir, "-q")
        # Settings of its own, so that no Blender of the user's is touched.
        settings = dict(os.environ, HOME=str(self.dir), BLENDER_USER_SCRIPTS=str(self.dir / "s"),
                        BLENDER_USER_CONFIG=str(self.dir / "c"))
        done = subprocess.run(
            [self.blender, "-b", "--factory-startup", "-noaudio", "--python-exit-code", "3",
             "--python", os.path.join(HERE, "bake_honey.py"), "--", archive, harness.TREACLE,
             self.dir], capture_output=True, text=True, timeout=500, env=settings)
        lines = [line for line in done.stdout.splitlines() if line.startswith("SEEN ")]
        self.assertTrue(lines, done.stdout[-4000:] + done.stderr[-4000:])
        return json.loads(lines[0][5:])

    def test_honey_is_baked_and_rendered(self):
        seen = self.run_blender()
        self.assertEqual(seen["bake"], ["FINISHED"])
        for frame in (1, 4):
            ply = exchange.read_ply(self.dir / f"cache/surface/surface_000{frame}.ply")
            told = seen[f"frame {frame}"]
            self.assertEqual(told["vertices"], len(ply["P"]))
            self.assertEqual(told["faces"], len(ply["triangles"]))
            self.assertTrue(told["valid"])
            for k in range(3):
                self.assertAlmostEqual(told["low"][k], float(ply["P"][:, k].min()), places=5)
                self.assertAlmostEqual(told["high"][k], float(ply["P"][:, k].max()), places=5)
            self.assertLessEqual({"velocity", "viscosity", "colour"}, set(told["attributes"]))
        # z is up, and the honey begins where the sphere is: 0.17 m high, 9 cm in radius.
        self.assertAlmostEqual(seen["frame 1"]["low"][2], 0.08, delta=0.02)
        self.assertAlmostEqual(seen["frame 1"]["high"][2], 0.26, delta=0.02)
        self.assertLess(seen["frame 4"]["high"][2], seen["frame 1"]["high"][2])
        self.assertEqual(seen["ply"], [seen["frame 4"]["vertices"], seen["frame 4"]["faces"]])
        self.assertEqual(seen["volume"]["surface"], ["FLOAT", 1, 0.01])
        self.assertEqual(seen["volume"]["vel"], ["VECTOR_FLOAT", 3, 0.02])
        # The body falls freely for three frames of 1/24 s; the turning table is in the scene.
        fallen = seen["float"][0][2] - seen["float"][1][2]
        self.assertAlmostEqual(fallen, 0.5 * 9.81 * (3 / 24) ** 2, delta=0.02)
        self.assertAlmostEqual(seen["float"][1][0], 0.05, delta=0.01)
        scene = json.loads((self.dir / "cache/scene/scene.yaml").read_text())
        turns = list(scene["solids"]["Table"]["rotation"]["keys"].values())
        self.assertAlmostEqual(turns[-1][1], 0.3, delta=1e-4)
        self.assertEqual(seen["resume"], ["FINISHED"])
        self.assertEqual(seen["again"], seen["frame 4"]["vertices"])
        self.assertEqual(seen["picture"][:2], [96, 72])
        self.assertGreater(seen["picture"][2], 0.2)
        self.assertGreater(seen["honey"], 0.01)
        keep = os.environ.get("TREACLE_SHOTS")
        if keep:
            shutil.copy(self.dir / "honey.png", keep)


if __name__ == "__main__":
    harness.main()
