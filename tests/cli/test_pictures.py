"""Meshes, pictures, films and plots of a run: what they write, and clear errors where they cannot."""

import os
import pathlib
import re
import shutil
import struct

import harness

ERR_USAGE, ERR_SCENE, ERR_IO, ERR_FORMAT, ERR_LIMIT, ERR_EXTERNAL = 2, 3, 5, 6, 10, 11

SMALL = ("--size", "24x16", "--samples", 2)


class Pictures(harness.Case):
    def setUp(self):
        super().setUp()
        self.treacle("run", "drop.yaml", "-o", "out", "-q", "--frames", 3)

    def names(self, pattern):
        return sorted(path.name for path in (self.dir / "out").glob(pattern))

    def test_meshes_are_written_for_the_frames_asked_for(self):
        done = self.treacle("mesh", "out", "--frames", "2:3")
        self.assertEqual(self.names("*.ply"), ["surface_0002.ply", "surface_0003.ply"])
        self.assertRegex(done.stdout, r"surface_0002\.ply: \d+ triangles, ")
        found = re.search(r"triangles, (\S+) m\^3 \(liquid (\S+) m\^3\)", done.stdout)
        self.assertAlmostEqual(float(found[1]) / float(found[2]), 1.0, delta=0.01)
        self.treacle("mesh", "out", "--frames", "1", "--method", "splat", "--to", "obj", "-q")
        self.assertEqual(self.names("*.obj"), ["surface_0001.obj"])
        self.treacle("mesh", "out", "--frames", "3", "--method", "level", "--decimation", 50)
        self.assert_no_leftovers("out")

    def test_a_mesh_can_be_read_back_as_a_shape(self):
        self.treacle("mesh", "out", "--frames", "1", "-q", "-o", ".", "--name", "ball")
        self.scene("again.yaml", harness.SCENE.replace(
            "sphere: {radius: 6 cm, centre: [16 cm, 20 cm, 16 cm]}",
            "mesh: {file: ball_0001.ply}"))
        done = self.treacle("check", "again.yaml")
        self.assertNotIn("warning", done.stderr)

    def test_pictures_do_not_depend_on_threads(self):
        for threads in (1, 2):
            self.treacle("render", "out", "--frames", 2, "-q", "--name", f"by{threads}", *SMALL,
                         "--threads", threads, "--to", "both")
        for ending in ("png", "exr"):
            one, two = ((self.dir / f"out/by{n}_0002.{ending}").read_bytes() for n in (1, 2))
            self.assertEqual(one, two)
        head = (self.dir / "out/by1_0002.png").read_bytes()
        self.assertEqual(struct.unpack(">II", head[16:24]), (24, 16))

    def test_a_film_is_made_of_the_pictures(self):
        if shutil.which("ffmpeg") is None:
            self.skipTest("there is no ffmpeg")
        done = self.treacle("render", "out", *SMALL, "--film", "film.mp4")
        self.assertIn("film.mp4: 3 frames at 24 a second", done.stdout)
        self.assertGreater((self.dir / "film.mp4").stat().st_size, 500)

    def test_streamlines_of_flat_frames_are_drawn(self):
        scene = ("frames: 2\ndomain: {size: [1 m, 0.5 m], cell: 50 mm}\n"
                 "liquids: [{shape: {box: {min: [0, 0], max: [1, 1]}},"
                 " velocity: [\"(y-0.25)\", \"(0.5-x)\", 0]}]\n")
        (self.dir / "flat.yaml").write_text(scene)
        self.treacle("run", "flat.yaml", "-o", "flat", "-q")
        self.treacle("plot", "flat", "--streamlines", "2", "-o", "plots")
        drawing = (self.dir / "plots/plot_streamlines_0002.svg").read_text()
        self.assertGreater(drawing.count("<polyline") + drawing.count("<path"), 8)

    def test_frames_are_laid_out_in_a_sheet(self):
        done = self.treacle("render", "out", *SMALL, "--sheet", "sheet.png", "--columns", 2)
        self.assertIn("sheet.png: 3 frames in one picture", done.stdout)
        head = (self.dir / "sheet.png").read_bytes()
        self.assertEqual(struct.unpack(">II", head[16:24]), (2 * 24 + 3 * 4, 2 * 16 + 3 * 4))
        self.assertEqual(len(self.names("picture_*.png")), 3)
        for path in (self.dir / "out").glob("picture_*.png"):
            path.unlink()
        self.treacle("render", "out", *SMALL, "--count", 2, "-q")
        self.assertEqual(self.names("picture_*.png"), ["picture_0001.png", "picture_0003.png"])
        done = self.treacle("render", "out", "--count", 2, "--film", "film.mp4", code=ERR_USAGE)
        self.assertIn("use --film without --count", done.stderr)
        done = self.treacle("render", "out", "--size", "16000x20", "--sheet", "sheet.png",
                            code=ERR_LIMIT)
        self.assertIn("at most 16384 are possible", done.stderr)

    def test_solids_and_bodies_are_drawn_with_their_looks(self):
        self.scene("things.yaml", harness.SCENE + """
solids:
  bar: {shape: {box: {min: [4 cm, 1 cm, 4 cm], max: [8 cm, 20 cm, 8 cm]}}}
bodies:
  ball: {shape: {sphere: {radius: 3 cm, centre: [26 cm, 20 cm, 26 cm]}}, density: 500}
look:
  solids: {ball: {kind: metal}}
""")
        self.treacle("run", "things.yaml", "-o", "things", "-q", "--frames", 2)
        pictures = []
        for sets in ((), ("--set", "look.solid.kind=none"), ("--set", "look.solids.ball.kind=none")):
            self.treacle("render", "things", "--frames", 2, "-q", *SMALL, *sets)
            pictures.append((self.dir / "things/picture_0002.png").read_bytes())
        self.assertEqual(len(set(pictures)), 3)
        done = self.treacle("render", "things", "--set", "look.solids.bal.kind=none", code=ERR_SCENE)
        self.assertIn("no solid and no body of that name", done.stderr)

    def test_textures_stick_to_rest_positions(self):
        for name, more in (("plain", ""), ("sticky", "look: {liquid: {texture: checker}}\n")):
            self.scene(f"{name}.yaml", harness.SCENE + more)
            self.treacle("run", f"{name}.yaml", "-o", name, "-q", "--frames", 2)
            self.treacle("mesh", name, "--frames", 2, "-q")
            head = (self.dir / name / "surface_0002.ply").read_bytes()[:2000]
            self.assertEqual(b"restx" in head, name == "sticky")
            self.assertIn(b"property float r\n", head)

    def test_plots_are_drawn(self):
        self.treacle("plot", "out", "-o", "plots")
        names = sorted(path.name for path in (self.dir / "plots").iterdir())
        for what in ("energy", "volume", "iterations", "stages"):
            self.assertIn(f"plot_{what}.png", names)
            self.assertIn(f"plot_{what}.svg", names)
        self.assertIn("</svg>", (self.dir / "plots/plot_energy.svg").read_text())

    def test_coiling_is_measured_at_a_round_nozzle(self):
        done = self.treacle("coiling", "out", code=ERR_USAGE)
        self.assertEqual(done.stderr, "treacle: error: the scene has no upright cylinder as its "
                                      "first emitter, streaming down\n")
        self.scene("thread.yaml", harness.SCENE.replace(
            "box: {size: [6 cm, 4 cm, 6 cm], centre: [8 cm, 26 cm, 8 cm]}",
            "cylinder: {radius: 4 cm, height: 4 cm, centre: [16 cm, 28 cm, 16 cm]}"))
        self.treacle("run", "thread.yaml", "-o", "thread", "-q", "--frames", 4)
        done = self.treacle("coiling", "thread", "--table")
        self.assertRegex(done.stdout, r"coiling +0\.\d+ turns: too few to tell a frequency\n")
        self.assertIn("foot x mm", done.stdout)

    def test_missing_frames_are_named(self):
        (self.dir / "out/frame_0002.trf").unlink()
        for command in ("mesh", "render"):
            done = self.treacle(command, "out", "--frames", "1:3", code=ERR_IO)
            self.assertEqual(done.stderr,
                             "treacle: error: frame 2 is missing: there is no out/frame_0002.trf\n"
                             "treacle: hint: out has the frames 1 to 1; choose with --frames\n")
        self.assertEqual(self.names("*.ply") + self.names("*.png"), [])
        done = self.treacle("render", "nowhere", code=ERR_IO)
        self.assertEqual(done.stderr, "treacle: error: there is no file or folder nowhere\n")
        for text in ("0", "3:1", "a", "1:2:3", "-1"):
            done = self.treacle("mesh", "out", f"--frames={text}", code=ERR_USAGE)
            self.assertIn("--frames must be a frame or a range", done.stderr)

    def test_an_unknown_look_is_an_error_of_the_scene(self):
        done = self.treacle("render", "out", "--set", "look.liquid.kind=hony", code=ERR_SCENE)
        self.assertIn("did you mean 'honey'?", done.stderr)

    def test_a_look_of_its_own_is_laid_over_the_scene(self):
        self.treacle("render", "out", "--frames", 1, *SMALL, "-q")
        plain = (self.dir / "out/picture_0001.png").read_bytes()
        self.scene("wax.yaml", "look: {liquid: {kind: wax}, environment: sky}\n")
        self.treacle("render", "out", "--frames", 1, *SMALL, "--look", "wax.yaml", "-q")
        self.assertNotEqual((self.dir / "out/picture_0001.png").read_bytes(), plain)
        self.scene("bad.yaml", "look:\n  liquid: {kind: waxx}\nfps: 3\n")
        done = self.treacle("render", "out", "--look", "bad.yaml", code=ERR_SCENE)
        self.assertIn("bad.yaml:2:18: error: ", done.stderr)
        self.assertIn("bad.yaml:3:1: error: a look has the sections", done.stderr)
        done = self.treacle("render", "out", "--look", "gone.yaml", code=ERR_IO)
        self.assertIn("gone.yaml", done.stderr)
        done = self.treacle("render", "out/frame_0001.trf", "--look", "wax.yaml", code=ERR_USAGE)
        self.assertIn("--scene", done.stderr)

    def test_a_frame_is_seen_from_all_around(self):
        self.treacle("render", "out", *SMALL, "--turn", 3, "--name", "turn", "-q")
        self.assertEqual(self.names("turn_*.png"), [f"turn_000{k}.png" for k in (1, 2, 3)])
        around = [(self.dir / "out" / name).read_bytes() for name in self.names("turn_*.png")]
        self.assertEqual(len(set(around)), 3)

    def test_every_look_that_comes_with_the_program_draws(self):
        looks = sorted(pathlib.Path("looks").resolve().glob("*.yaml"))
        self.assertGreater(len(looks), 5)
        for look in looks:
            done = self.treacle("render", "out", "--frames", 1, "--size", "8x6", "--samples", 1,
                                "--look", look)
            self.assertNotIn("warning", done.stderr, look)
            by_file = (self.dir / "out/picture_0001.png").read_bytes()
            self.treacle("render", "out", "--frames", 1, "--size", "8x6", "--samples", 1,
                         "--look", look.stem, "-q")
            self.assertEqual((self.dir / "out/picture_0001.png").read_bytes(), by_file, look)

    def test_pictures_that_are_there_are_passed_over(self):
        self.treacle("render", "out", "--frames", 2, *SMALL, "-q")
        done = self.treacle("render", "out", *SMALL, "--resume")
        self.assertNotIn("picture_0002.png", done.stdout)
        self.assertEqual(self.names("picture_*"), [f"picture_000{n}.png" for n in (1, 2, 3)])
        done = self.treacle("render", "out", *SMALL, "--resume", "--sheet", "s.png", code=ERR_USAGE)
        self.assertIn("without --resume", done.stderr)

    def test_a_film_may_be_a_loop(self):
        if shutil.which("ffmpeg") is None:
            self.skipTest("there is no ffmpeg")
        done = self.treacle("render", "out", *SMALL, "--film", "film.mp4", "--loop", 1)
        self.assertIn("film.mp4: 2 frames at 24 a second", done.stdout)
        self.assertGreater((self.dir / "film.mp4").stat().st_size, 500)
        done = self.treacle("render", "out", *SMALL, "--film", "film.mp4", "--loop", 2,
                            "--resume", code=ERR_USAGE)
        self.assertIn("needs twice as many and one more, not 3", done.stderr)
        done = self.treacle("render", "out", *SMALL, "--loop", 1, code=ERR_USAGE)
        self.assertIn("use it with --film", done.stderr)

    def test_sides_of_the_domain_are_drawn(self):
        drawn = []
        for kind in ("none", "glass", "marble"):
            self.treacle("render", "out", "--frames", 1, *SMALL, "-q",
                         "--set", f"look.sides.kind={kind}")
            drawn.append((self.dir / "out/picture_0001.png").read_bytes())
        self.assertEqual(len(set(drawn)), 3)

    def test_a_picture_says_whether_it_is_quiet_enough(self):
        done = self.treacle("render", "out", "--frames", 1, "--size", "24x16", "--noise", 9)
        self.assertIn("(as wanted)", done.stdout)
        done = self.treacle("render", "out", "--frames", 1, "--size", "24x16", "--noise", 0.001,
                            "--samples", 2)
        self.assertIn("(not everywhere as low as wanted)", done.stdout)

    def test_an_environment_that_cannot_be_read_is_named(self):
        (self.dir / "bad.exr").write_text("this is no picture")
        args = ("render", "out", "--frames", 1, *SMALL, "--set", "look.environment=file", "--set")
        done = self.treacle(*args, f"look.file={self.dir}/bad.exr", code=ERR_FORMAT)
        self.assertIn("bad.exr: this is not an EXR picture", done.stderr)
        done = self.treacle(*args, f"look.file={self.dir}/none.exr", code=ERR_SCENE)
        self.assertIn("cannot read the file", done.stderr)
        self.assertEqual(self.names("*.png"), [])

    def test_a_picture_lights_a_picture(self):
        self.treacle("render", "out", "--frames", 1, "-q", *SMALL, "--to", "exr", "--name", "sky")
        self.treacle("render", "out", "--frames", 1, "-q", *SMALL, "--set",
                     "look.environment=file", "--set", f"look.file={self.dir}/out/sky_0001.exr")
        self.assertEqual(self.names("picture*"), ["picture_0001.png"])

    def test_a_size_of_nothing_is_refused(self):
        for size in ("0x10", "10x0", "10", "axb", "-3x4", "10x10x10", "99999x10"):
            done = self.treacle("render", "out", f"--size={size}", code=ERR_USAGE)
            self.assertIn("--size must be WIDTHxHEIGHT in pixels", done.stderr)

    def test_without_ffmpeg_nothing_is_begun(self):
        environment = dict(os.environ, PATH=str(self.dir))
        done = self.treacle("render", "out", *SMALL, "--film", "film.mp4", code=ERR_EXTERNAL,
                            env=environment)
        self.assertIn("films need the program ffmpeg", done.stderr)
        self.assertEqual(self.names("*.png"), [])
        done = self.treacle("render", "out", "--film", "film.gif", code=ERR_USAGE)
        self.assertIn("the ending must be .mp4, .mov, .mkv or .webm", done.stderr)

    def test_a_folder_that_cannot_be_written_is_named(self):
        done = self.treacle("mesh", "out", "-o", "drop.yaml/such/folder", code=ERR_IO)
        self.assertIn("cannot make the folder drop.yaml/such", done.stderr)

    def test_folders_above_are_made_too(self):
        self.treacle("mesh", "out", "-o", "no/such/folder", "--frames", "1")
        self.assertTrue((self.dir / "no/such/folder/surface_0001.ply").exists())


if __name__ == "__main__":
    harness.main()
