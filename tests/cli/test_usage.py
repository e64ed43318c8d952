"""Wrong use gets one clear sentence, a hint and the exit code 2; help and version go to stdout."""

import json
import shutil
import unittest

import harness

ERR_USAGE, ERR_SCENE, ERR_IO = 2, 3, 5

LISTED = 'treacle: hint: "treacle help" lists the commands\n'


def see(command):
    return f'treacle: hint: see "treacle help {command}"\n'


# Arguments, and what stderr must be, to the letter.
WRONG = [
    ((), "treacle: error: no command is given\n" + LISTED),
    (("rnu",), 'treacle: error: there is no command "rnu"; did you mean run?\n' + LISTED),
    (("view",), "treacle: error: view needs FOLDER\n" + see("view")),
    (("play",), "treacle: error: play needs SCENE\n" + see("play")),
    (("export",), "treacle: error: export needs PATH\n" + see("export")),
    (("help", "chekc"), 'treacle: error: there is no command "chekc"; did you mean check?\n'
     + LISTED),
    (("run",), "treacle: error: run needs SCENE\n" + see("run")),
    (("resume",), "treacle: error: resume needs FOLDER\n" + see("resume")),
    (("check", "a.yaml", "b.yaml"),
     'treacle: error: check takes one SCENE, but there are "a.yaml" and "b.yaml"\n'
     + see("check")),
    (("run", "drop.yaml", "--frame", "3"),
     'treacle: error: run has no option "--frame"; did you mean --frames?\n' + see("run")),
    (("run", "drop.yaml", "--theads=3"),
     'treacle: error: run has no option "--theads=3"; did you mean --threads?\n' + see("run")),
    (("run", "drop.yaml", "-x"), 'treacle: error: run has no option "-x"\n' + see("run")),
    (("run", "drop.yaml", "--frames"),
     "treacle: error: --frames needs a value: --frames N\n" + see("run")),
    (("run", "drop.yaml", "--frames", "0"),
     'treacle: error: --frames must be a whole number from 1 to 1000000, not "0"\n' + see("run")),
    (("run", "drop.yaml", "--frames=3x"),
     'treacle: error: --frames must be a whole number from 1 to 1000000, not "3x"\n' + see("run")),
    (("run", "drop.yaml", "--frames", "99999999999999999999"),
     'treacle: error: --frames must be a whole number from 1 to 1000000, not '
     '"99999999999999999999"\n' + see("run")),
    (("run", "drop.yaml", "--threads", "-1"),
     'treacle: error: --threads must be a whole number from 1 to 1024, not "-1"\n' + see("run")),
    (("run", "drop.yaml", "--isa", "neon"),
     'treacle: error: --isa must be auto, sse2, avx2 or avx512, not "neon"\n' + see("run")),
    (("run", "drop.yaml", "--quiet=1"), "treacle: error: --quiet takes no value\n" + see("run")),
    (("run", "drop.yaml", "-o", ""), "treacle: error: --output must not be empty\n" + see("run")),
    (("materials", "hony"), 'treacle: error: there is no material "hony"; did you mean honey?\n'
     'treacle: hint: "treacle materials" lists them\n'),
    (("sweep", "drop.yaml"), "treacle: error: 0 keys to sweep: expected 1 to 4, each as --over "
     "KEY=VALUE,VALUE,...\n"),
    (("sweep", "drop.yaml", "--over", "fps"),
     "treacle: error: --over fps: expected KEY=VALUE,VALUE,...\n"),
    (("sweep", "drop.yaml", "--over", "fps=24,,30"),
     "treacle: error: --over fps=24,,30: expected 1 to 64 values with commas between them\n"),
    (("resume", "."), "treacle: error: . holds no run: it has no run.json\n"),
    (("info", "."), "treacle: error: . holds no run: it has no run.json\n"),
]


class Usage(harness.Case):
    def test_wrong_use_is_said_exactly(self):
        for arguments, expected in WRONG:
            with self.subTest(arguments):
                done = self.treacle(*arguments, code=ERR_USAGE)
                self.assertEqual(done.stderr, expected)
                self.assertEqual(done.stdout, "")

    def test_what_is_not_there(self):
        done = self.treacle("resume", "nowhere", code=ERR_IO)
        self.assertEqual(done.stderr, "treacle: error: cannot open the folder nowhere: No such "
                                      "file or directory\n")
        done = self.treacle("info", "nowhere", code=ERR_IO)
        self.assertEqual(done.stderr, "treacle: error: there is no file or folder nowhere\n")
        done = self.treacle("run", "nowhere.yaml", code=ERR_IO)
        self.assertRegex(done.stderr, r"^treacle: error: .*nowhere\.yaml.*\n$")
        done = self.treacle("check", "nowhere.yaml", code=ERR_IO)
        self.assertRegex(done.stderr, r"^treacle: error: .*nowhere\.yaml.*\n$")

    def test_help_and_version_go_to_stdout(self):
        self.assertRegex(self.treacle("--version").stdout, r"^treacle \d+\.\d+\.\d+\n$")
        overview = self.treacle("help").stdout
        self.assertEqual(self.treacle("--help").stdout, overview)
        for command in ("check", "run", "resume", "info", "materials"):
            self.assertIn(f"  {command} ", overview)
            told = self.treacle("help", command)
            self.assertEqual(told.stderr, "")
            self.assertEqual(self.treacle(command, "--help").stdout, told.stdout)
            self.assertEqual(self.treacle(command, "whatever", "-h").stdout, told.stdout)

    def test_the_materials_library_is_told(self):
        table = self.treacle("materials").stdout
        listed = json.loads(self.treacle("materials", "--json").stdout)
        self.assertGreater(len(listed), 16)
        for one in listed:
            self.assertIn(f"\n{one['name']} ", table)
            told = self.treacle("materials", one["name"]).stdout
            self.assertIn(one["source"], told)
        self.assertEqual(json.loads(self.treacle("materials", "honey", "--json").stdout)["name"],
                         "honey")

    def test_the_manual_shows_the_help_as_it_is(self):
        with open("docs/manual/command.md", encoding="utf-8") as file:
            manual = file.read()
        for arguments in (("help",), ("help", "check"), ("help", "run"), ("help", "resume"),
                          ("help", "info"), ("help", "mesh"), ("help", "export"), ("help", "view"), ("help", "play"), ("help", "materials"),
                          ("help", "render"), ("help", "sweep"), ("help", "new"), ("help", "compare"),
                          ("help", "scene.domain.cell")):
            block = f"```text\n$ treacle {' '.join(arguments)}\n{self.treacle(*arguments).stdout}```"
            self.assertIn(block, manual, f"the manual's {arguments} is not what the command prints")


class Check(harness.Case):
    def test_a_good_scene_is_summed_up(self):
        done = self.treacle("check", "drop.yaml", "--threads", 2)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "scene      drop (drop.yaml)")
        self.assertEqual(lines[1], "frames     10 at 24 a second, 0.38 s")
        self.assertEqual(lines[2], "grid       16 x 16 x 16 cells of 20 mm, "
                                   "0.32 m x 0.32 m x 0.32 m")
        self.assertRegex(lines[3], r"^particles  \d+ at the start, about \d+ at the end$")
        self.assertRegex(lines[4], r"^memory     about \S+ [kMG]B$")
        self.assertRegex(lines[5], r"^disk       about \S+ [kMG]B$")
        self.assertRegex(lines[6], r"^time       about .* with 2 threads, by the first steps$")
        self.assertEqual(len(lines), 7)

    def test_without_steps_the_time_is_a_guess(self):
        done = self.treacle("check", "drop.yaml", "--quick", "--preview")
        self.assertRegex(done.stdout, r"(?m)^time       about .*, very roughly: no step was tried$")

    def test_warnings_come_with_their_places(self):
        self.scene("bowl.yaml", harness.SCENE + "solids: {bowl: {shape: {box: {size: [2, 2, 2]}}}}\n")
        done = self.treacle("check", "bowl.yaml", "--quick")
        self.assertRegex(done.stderr, r"(?m)^bowl\.yaml:\d+:\d+: warning: solids\.bowl: .*inside_out: true")

    def test_all_errors_of_a_bad_scene_are_shown(self):
        self.scene("bad.yaml", harness.SCENE.replace("fps: 24", "fps: -1")
                   .replace("density", "densty"))
        for command in ("check", "run"):
            done = self.treacle(command, "bad.yaml", code=ERR_SCENE)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"(?m)^bad\.yaml:3:\d+: error: .*fps")
            self.assertRegex(done.stderr, r"(?m)^bad\.yaml:9:5: error: .*densty.*density")
        self.assertFalse((self.dir / "out").exists())

    def test_sets_are_checked_too(self):
        done = self.treacle("check", "drop.yaml", "--set", "frams=3", code=ERR_SCENE)
        self.assertRegex(done.stderr, r"frams.*frames")
        done = self.treacle("check", "drop.yaml", "--set", "frames=25")
        self.assertIn("frames     25 at 24 a second, 1 s\n", done.stdout)


class Run(harness.Case):
    def test_the_default_folder_has_the_scenes_name(self):
        done = self.treacle("run", "drop.yaml", "--frames", 2)
        self.assertRegex(done.stdout, r"^frames 1 to 2 are in out/drop: \d+ steps in .* s\n$")
        self.assertRegex(done.stderr, r"^frame 1/2\nframe 2/2: step \d+, \d+ sub-steps?, \d+ "
                                      r"particles.*\n$")
        names = sorted(path.name for path in (self.dir / "out/drop").iterdir())
        self.assertEqual(names, ["frame_0001.trf", "frame_0002.trf", "run.json", "scene.yaml",
                                 "state_0002.trs", "stats.jsonl"])

    def test_a_sweep_is_a_grid_of_runs_and_one_picture(self):
        sweep = ("sweep", "drop.yaml", "--over", "fps=24,30,48", "--over", "seed=1,2", "--frames",
                 2, "-o", "grid", "--width", 64)
        done = self.treacle(*sweep)
        self.assertIn("grid/run_006: fps=48 seed=2\n", done.stdout)
        self.assertTrue((self.dir / "grid/run_006/frame_0002.trf").exists())
        sheet = self.dir / "grid/sheet.png"
        header = sheet.read_bytes()[:24]
        width, height = (int.from_bytes(header[at:at + 4], "big") for at in (16, 20))
        self.assertTrue(2 * 64 <= width < 3 * 64 and height >= 3 * 48)
        sheet.unlink()
        (self.dir / "grid/run_004/run.json").unlink()
        for path in (self.dir / "grid/run_004").iterdir():
            path.unlink()
        self.treacle(*sweep)  # goes on: only what is missing
        self.assertTrue(sheet.exists())
        self.assertTrue((self.dir / "grid/run_004/frame_0002.trf").exists())

    def test_a_sweep_ends_at_the_first_bad_scene(self):
        done = self.treacle("sweep", "drop.yaml", "--over", "fps=24,-1", "--frames", 2,
                            code=ERR_SCENE)
        self.assertIn("fps", done.stderr)

    def test_quiet_is_quiet(self):
        done = self.treacle("run", "drop.yaml", "--frames", 2, "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")

    @unittest.skipUnless(shutil.which("ffmpeg"), "there is no ffmpeg")
    def test_a_film_is_made_and_made_again(self):
        film = self.dir / "out/drop/film.mp4"
        film.parent.mkdir(parents=True)
        self.treacle("run", "drop.yaml", "--frames", 2, "--film", "out/drop/film.mp4")
        self.assertGreater(film.stat().st_size, 1000)
        self.assertTrue((self.dir / "out/drop/preview_0002.png").exists())
        film.unlink()
        self.treacle("resume", "out/drop")
        self.assertGreater(film.stat().st_size, 1000)

    def test_a_film_needs_a_folder(self):
        done = self.treacle("run", "drop.yaml", "--film", "nowhere/film.mp4", code=ERR_IO)
        self.assertEqual(done.stderr, "treacle: error: there is no folder for the film "
                                      "nowhere/film.mp4\n")

    def test_a_folder_with_a_run_is_not_written_over(self):
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 2)
        before = harness.contents(self.dir / "out")
        done = self.treacle("run", "drop.yaml", "-o", "out", code=ERR_USAGE)
        self.assertEqual(done.stderr, 'treacle: error: out already holds a run; go on with it by '
                                      '"treacle resume out", choose another folder, or '
                                      'replace it with --force\n')
        self.assertEqual(harness.contents(self.dir / "out"), before)

    def test_a_scene_of_the_same_name_is_not_written_over(self):
        self.scene("scene.yaml")
        done = self.treacle("run", "scene.yaml", "-o", ".", code=ERR_USAGE)
        self.assertEqual(done.stderr, "treacle: error: . holds a scene.yaml that the run would "
                                      "overwrite; choose another folder\n")
        self.assertEqual((self.dir / "scene.yaml").read_text(), harness.SCENE)

    def test_a_complete_run_is_said_to_be(self):
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 2)
        done = self.treacle("resume", "out")
        self.assertEqual(done.stderr, "treacle: the run in out is complete: it has all 2 frames. "
                                      "For more: treacle resume out --frames N\n")
        self.assertEqual(done.stdout, "")


class ChangedScene(harness.Case):
    def setUp(self):
        super().setUp()
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 2, "--set", "seed=3")

    def resume(self):
        return self.treacle("resume", "out", "--frames", 3).stderr

    def test_a_change_is_said(self):
        path = self.scene(text=harness.SCENE.replace("radius: 6 cm", "radius: 5 cm"))
        self.assertIn(f"treacle: warning: {path.resolve()} has changed since this run began; the "
                      f"run goes on with its own copy, out/scene.yaml. For the changed scene begin "
                      f"a new run: treacle run {path.resolve()} -o another-folder\n",
                      self.resume())

    def test_a_scene_that_now_has_errors_has_changed(self):
        self.scene(text="frams: 3\n")
        self.assertIn("has changed since this run began", self.resume())

    def test_comments_and_settings_are_no_change(self):
        self.scene(text="# a note\n" + harness.SCENE)
        self.assertNotIn("warning", self.resume())

    def test_the_original_is_not_needed(self):
        (self.dir / "drop.yaml").unlink()
        self.assertNotIn("warning", self.resume())

    def test_the_runs_own_copy_must_not_change(self):
        copy = self.dir / "out/scene.yaml"
        copy.write_text(copy.read_text().replace("fps: 24", "fps: 25") + "\nseed: 4\n"
                        if "seed" not in copy.read_text()
                        else copy.read_text().replace("seed: 3", "seed: 4"))
        done = self.treacle("resume", "out", code=ERR_USAGE)
        self.assertIn("treacle: error: out/scene.yaml was changed after the run began", done.stderr)


class Info(harness.Case):
    def setUp(self):
        super().setUp()
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 3)

    def test_a_folder(self):
        told = self.treacle("info", "out").stdout
        self.assertRegex(told, r"(?m)^run        out, begun by treacle \d+\.\d+\.\d+$")
        self.assertRegex(told, r"(?m)^frames     3 of 3, newest state 3, .* on disk$")
        self.assertRegex(told, r"(?m)^steps      \d+ to 0\.0833333 s, dt .* to .* s, 0 begun again$")
        self.assertRegex(told, r"(?m)^files      all are whole$")
        self.assertNotIn("all are whole", self.treacle("info", "out", "--quick").stdout)

    def test_a_file(self):
        told = self.treacle("info", "out/frame_0003.trf").stdout
        self.assertRegex(told, r"(?m)^kind       frame, what pictures need$")
        self.assertRegex(told, r"(?m)^frame      3 at 0\.0833333\d* s, 24 a second, after step \d+$")
        self.assertRegex(told, r"(?m)^grid       16 x 16 x 16 cells of 20 mm, low corner \(0, 0, 0\)")
        self.assertRegex(told, r"(?m)^  position +f32 x 3 +\d+   \S+ \.\. \S+, \S+ \.\. \S+, ")
        told = self.treacle("info", "out/state_0003.trs").stdout
        self.assertRegex(told, r"(?m)^kind       state, what resuming needs$")


if __name__ == "__main__":
    harness.main()
