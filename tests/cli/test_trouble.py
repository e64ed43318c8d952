"""Disk full, folders that cannot be written, damaged files, two runs at once: a clear error, the
right exit code, and what was there before is as it was."""

import os
import resource
import shutil
import signal
import subprocess

import harness

ERR_USAGE, ERR_SCENE, ERR_MEMORY, ERR_IO, ERR_FORMAT, ERR_DIVERGED = 2, 3, 4, 5, 6, 9


class FullDisk(harness.Case):
    def check_cut_short(self, done):
        self.assertRegex(done.stderr, r"(?m)^treacle: error: .*cannot write")
        self.assert_no_leftovers("disk/out")
        self.treacle("info", "disk/out")
        frames = sorted((self.dir / "disk/out").glob("frame_*.trf"))
        self.assertGreater(len(frames), 1)
        for frame in frames:
            self.assertEqual(frame.read_bytes(),
                             (self.dir / "reference" / frame.name).read_bytes())

    def test_a_full_disk_ends_the_run_and_resume_goes_on(self):
        if os.geteuid() != 0:
            self.skipTest("mounting a small disk needs root")
        disk = self.dir / "disk"
        disk.mkdir()
        self.treacle("run", "drop.yaml", "-o", "reference", "-q")
        size = sum(path.stat().st_size for path in (self.dir / "reference").iterdir())
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size // 2048}k", "treacle-test", str(disk)]
        if subprocess.run(mount, check=False).returncode != 0:
            self.skipTest("this root may not mount")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        done = self.treacle("run", "drop.yaml", "-o", "disk/out", code=ERR_IO)
        self.assertIn("No space left on device", done.stderr)
        self.assertRegex(done.stderr, r'treacle: hint: the frames up to \d+ are safe; once the '
                                      r'cause is gone, go on with "treacle resume disk/out"')
        self.check_cut_short(done)
        subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
        self.treacle("resume", "disk/out")
        self.assert_same("disk/out", "reference")

    def test_a_limit_on_file_size_is_an_error_not_a_death(self):
        self.treacle("run", "drop.yaml", "-o", "reference", "-q")
        (self.dir / "disk").mkdir()
        # What two frames need: the emitter makes the later ones larger.
        self.treacle("run", "drop.yaml", "-o", "short", "-q", "--frames", 2)
        limit = max(path.stat().st_size for path in (self.dir / "short").iterdir())

        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = self.treacle("run", "drop.yaml", "-o", "disk/out", code=ERR_IO,
                            preexec_fn=limit_files)
        self.assertIn("File too large", done.stderr)
        self.check_cut_short(done)
        self.treacle("resume", "disk/out")
        self.assert_same("disk/out", "reference")


class Diverged(harness.Case):
    def test_a_speed_beyond_the_shortest_step_ends_the_run_and_leaves_it_whole(self):
        fast = harness.SCENE.replace("speed: 0.5", "speed: [[0, 0.5], [0.5 s, 50]]")
        fast = fast.replace("max_dt: 6 ms", "max_dt: 6 ms\n  min_dt: 2 ms")
        (self.dir / "fast.yaml").write_text(fast)
        done = self.treacle("run", "fast.yaml", "-o", "out", code=ERR_DIVERGED)
        self.assertRegex(done.stderr, r"(?m)^treacle: error: step \d+ at 0\.\d+ s: .*min_dt is 0.002")
        self.assertRegex(done.stderr, r"choose a smaller min_dt")
        self.assertRegex(done.stderr, r"hint: the \d+ frames and the newest state in out are whole")
        self.treacle("info", "out")
        frames = sorted((self.dir / "out").glob("frame_*.trf"))
        states = sorted((self.dir / "out").glob("state_*.trs"))
        self.assertGreater(len(frames), 1)
        self.assertEqual(states[-1].stem[-4:], frames[-1].stem[-4:])

    def test_bodies_that_begin_inside_each_other_are_refused(self):
        ball = "{shape: {sphere: {radius: 3 cm, centre: [%s, 6 cm, 6 cm]}}}"
        bodies = f"bodies: {{a: {ball % '6 cm'}, b: {ball % '11.9 cm'}, c: {ball % '26 cm'}}}\n"
        (self.dir / "balls.yaml").write_text(harness.SCENE + bodies)
        done = self.treacle("check", "balls.yaml", code=ERR_SCENE)
        self.assertRegex(done.stdout + done.stderr,
                         r"balls.yaml:\d+:\d+: error: bodies.b: it begins 0.05 cells deep in the "
                         r"body 'a'")


class Unwritable(harness.Case):
    def run_as_nobody(self, *args, code):
        """Runs the command as somebody whom permissions stop, also when the tests run as root."""
        options = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        command = self.dir / "treacle"
        shutil.copy(harness.TREACLE, command)
        self.dir.chmod(0o755)
        done = subprocess.run([str(command), *args], cwd=self.dir, text=True, capture_output=True,
                              timeout=60, check=False, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_a_parent_that_may_not_be_written(self):
        (self.dir / "locked").mkdir(mode=0o555)
        done = self.run_as_nobody("run", "drop.yaml", "-o", "locked/out", code=ERR_IO)
        self.assertEqual(done.stderr, "treacle: error: cannot make the folder locked/out: "
                                      "Permission denied\n")

    def test_a_folder_that_may_not_be_written(self):
        (self.dir / "locked").mkdir(mode=0o555)
        done = self.run_as_nobody("run", "drop.yaml", "-o", "locked", code=ERR_IO)
        self.assertEqual(done.stderr, "treacle: error: cannot write into locked: Permission denied\n")

    def test_a_file_in_the_way(self):
        (self.dir / "file").write_text("")
        done = self.treacle("run", "drop.yaml", "-o", "file", code=ERR_IO)
        self.assertEqual(done.stderr, "treacle: error: cannot make the folder file: a file is in "
                                      "the way\n")

    def test_results_that_cannot_be_printed(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([harness.TREACLE, "help"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
        self.assertEqual(done.returncode, ERR_IO)
        self.assertEqual(done.stderr, "treacle: error: the output could not be written\n")


def truncate(path):
    data = path.read_bytes()
    path.write_bytes(data[:len(data) // 2])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) * 2 // 3] ^= 0x10
    path.write_bytes(data)


def empty(path):
    path.write_bytes(b"")


class Damage(harness.Case):
    def setUp(self):
        super().setUp()
        self.scene(text=harness.SCENE + "output: {resume_every: 1}\n")
        self.treacle("run", "drop.yaml", "-o", "reference", "-q")
        self.treacle("run", "drop.yaml", "-o", "out", "-q", "--frames", 6)

    def check_resumed(self, done):
        self.assertEqual(done.returncode, 0)
        self.assert_same("out", "reference")

    def test_a_damaged_state_is_stepped_over(self):
        for spoil in (truncate, flip, empty):
            with self.subTest(spoil.__name__):
                shutil.rmtree(self.dir / "out")
                self.treacle("run", "drop.yaml", "-o", "out", "-q", "--frames", 6)
                spoil(self.dir / "out/state_0006.trs")
                done = self.treacle("resume", "out", "--frames", 10)
                self.assertIn("treacle: warning: ", done.stderr)
                self.assertIn("out/state_0006.trs", done.stderr)
                self.assertIn("treacle: resuming out after frame 5 of 10", done.stderr)
                self.check_resumed(done)

    def test_without_any_whole_state_the_run_begins_again(self):
        truncate(self.dir / "out/state_0006.trs")
        flip(self.dir / "out/state_0005.trs")
        done = self.treacle("resume", "out", "--frames", 10)
        self.assertIn("treacle: warning: out has no state file that is whole; simulating again "
                      "from frame 1\n", done.stderr)
        self.check_resumed(done)

    def test_a_damaged_last_frame_is_written_again(self):
        truncate(self.dir / "out/frame_0006.trf")
        self.check_resumed(self.treacle("resume", "out", "--frames", 10))

    def test_a_missing_frame_is_said(self):
        (self.dir / "out/frame_0003.trf").unlink()
        done = self.treacle("resume", "out", "--frames", 10)
        self.assertIn("treacle: warning: frame 3 is missing in out and only a new run can make it "
                      "again\n", done.stderr)

    def test_info_finds_damaged_files(self):
        for spoil in (truncate, flip, empty):
            with self.subTest(spoil.__name__):
                shutil.copy(self.dir / "reference/frame_0002.trf", self.dir / "out")
                self.treacle("info", "out")
                spoil(self.dir / "out/frame_0002.trf")
                one = self.treacle("info", "out/frame_0002.trf", code=ERR_FORMAT)
                self.assertRegex(one.stderr, r"^treacle: error: .*out/frame_0002.trf")
                self.assertEqual(one.stdout, "")
                folder = self.treacle("info", "out", code=ERR_FORMAT)
                self.assertIn("out/frame_0002.trf", folder.stderr)
                self.assertIn("frames     6 of 6", folder.stdout)
                self.assertNotIn("frame_0003", folder.stderr)

    def test_info_on_a_foreign_file(self):
        self.treacle("info", "drop.yaml", code=ERR_FORMAT)

    def test_a_damaged_record_is_said(self):
        (self.dir / "out/run.json").write_text('{"format": 1,')
        done = self.treacle("resume", "out", code=ERR_FORMAT)
        self.assertRegex(done.stderr, r"^treacle: error: out/run.json is damaged: line 1: ")
        (self.dir / "out/run.json").write_text('{"format": 1, "version": "0.1.0"}')
        done = self.treacle("resume", "out", code=ERR_FORMAT)
        self.assertRegex(done.stderr, r"^treacle: error: out/run.json is damaged: ")

    def test_a_state_of_another_scene_is_refused(self):
        self.treacle("run", "drop.yaml", "-o", "other", "-q", "--frames", 6, "--set", "seed=7")
        shutil.copy(self.dir / "other/state_0006.trs", self.dir / "out")
        done = self.treacle("resume", "out", code=ERR_FORMAT)
        self.assertRegex(done.stderr, r"^treacle: error: out/state_0006.trs does not belong to "
                                      r"this run")


class Limits(harness.Case):
    """Files that never end, and a machine with next to nothing: a sentence, and the exit code."""

    SOLID = "solids:\n  stone: {shape: {mesh: {file: %s}}}\n"

    def test_a_pipe_is_no_file(self):
        os.mkfifo(self.dir / "pipe.obj")
        for name, text in (("include", "include: pipe.obj\n" + harness.SCENE),
                           ("mesh", harness.SCENE + self.SOLID % "pipe.obj")):
            with self.subTest(name):
                (self.dir / "scene.yaml").write_text(text)
                done = self.treacle("check", "scene.yaml", code=ERR_SCENE)
                self.assertIn("it is not a plain file", done.stderr + done.stdout)

    def test_a_face_of_many_corners_is_refused(self):
        corners = 300000
        lines = [f"v {k % 1000 * 1e-4} {k // 1000 * 1e-4} 0" for k in range(corners)]
        face = "f " + " ".join(str(k + 1) for k in range(corners))
        (self.dir / "face.obj").write_text("\n".join([*lines, face, ""]))
        (self.dir / "scene.yaml").write_text(harness.SCENE + self.SOLID % "face.obj")
        done = self.treacle("check", "scene.yaml", code=ERR_SCENE)
        self.assertIn("face.obj:300001: a face has more than 4096 corners",
                      done.stderr + done.stdout)

    def limited(self, what, kilobytes):
        """The command with a limit: what it ended with and what it said."""
        def limit():
            resource.setrlimit(what, (1024 * kilobytes, 1024 * kilobytes))

        done = subprocess.run([harness.TREACLE, "run", "drop.yaml", "-o", f"out{kilobytes}", "-q",
                               "--frames", "2", "--threads", "1"], cwd=self.dir, preexec_fn=limit,
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stderr

    def test_little_memory_is_said(self):
        code, said = 127, ""
        for kilobytes in range(100000, 400000, 10000):
            code, said = self.limited(resource.RLIMIT_AS, kilobytes)
            if code == 127:  # the loader itself has no room
                continue
            with self.subTest(kilobytes=kilobytes, said=said):
                self.assertIn(code, (0, ERR_MEMORY))
                self.assertTrue(code == 0 or said.startswith("treacle: error: "))
            if code == 0:
                break
        self.assertEqual(code, 0, said)

    def test_a_small_stack_is_said(self):
        for kilobytes in (256, 512, 1000):
            code, said = self.limited(resource.RLIMIT_STACK, kilobytes)
            self.assertEqual(code, ERR_MEMORY, said)
            self.assertIn("treacle: error: the stack is too small", said)
        self.assertEqual(self.limited(resource.RLIMIT_STACK, 1024), (0, ""))


class Together(harness.Case):
    def test_one_folder_one_run(self):
        first = self.start("run", "drop.yaml", "-o", "out", "--frames", 1000000)
        for line in first.stderr:
            if line.startswith("frame 2/"):
                break
        for command in (("resume", "out"), ("run", "drop.yaml", "-o", "out")):
            done = self.treacle(*command, code=ERR_USAGE)
            self.assertEqual(done.stderr, "treacle: error: another treacle is writing into out; "
                                          "wait for it, or use another folder\n")
        first.send_signal(signal.SIGKILL)
        first.communicate()


if __name__ == "__main__":
    harness.main()
