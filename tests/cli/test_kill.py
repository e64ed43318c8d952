"""kill -9 at 20 random moments: resuming leaves the very files of a run that was not killed."""

import random
import shutil
import signal
import time

import harness

KILLS = 20
# Many steps a frame, so that most moments fall into one.
STEPS = ("--set", "flow=none", "--set", "step.max_dt=0.2 ms", "--frames", 4)


class Kill(harness.Case):
    def run_command(self, folder, *options):
        return ("run", "drop.yaml", "-o", folder, "-q", *options)

    def run_reference(self, *options):
        began = time.monotonic()
        self.treacle(*self.run_command("reference", *options))
        return time.monotonic() - began

    def kill_after(self, seconds, *args):
        """True if it was killed, False if it had ended before."""
        process = self.start(*args)
        time.sleep(seconds)
        process.kill()
        process.communicate()
        if process.returncode != -signal.SIGKILL:
            self.assertEqual(process.returncode, 0)
        return process.returncode == -signal.SIGKILL

    def go_on(self, *options):
        """What a person does next: resume, or run if the kill came before there was a run."""
        if (self.dir / "out" / "scene.yaml").exists():
            return ("resume", "out", "-q")
        return self.run_command("out", *options)

    def kill_and_compare(self, wanted, *options):
        dice = random.Random(1)
        duration = self.run_reference(*options)
        kills = 0
        while kills < wanted:
            shutil.rmtree(self.dir / "out", ignore_errors=True)
            # Most runs are killed once, every fourth again and again.
            for _ in range(4 if kills % 4 == 3 else 1):
                kills += self.kill_after(dice.uniform(0.0, duration), *self.go_on(*options))
            self.treacle(*self.go_on(*options))
            self.assert_no_leftovers("out")
            self.assert_same("out", "reference")

    def test_all_files_are_as_if_nothing_had_happened(self):
        self.kill_and_compare(KILLS, "--frames", 6)

    def test_kills_between_files_leave_nothing_too(self):
        self.kill_and_compare(3, *STEPS)

    def test_pictures_are_as_if_nothing_had_happened(self):
        self.kill_and_compare(3, "--preview", "--frames", 3)

    def test_a_kill_before_the_last_state_is_pruned(self):
        every = ("--set", "output.resume_every=1")
        self.run_reference("--frames", 4, *every)
        self.treacle(*self.run_command("out", "--frames", 3, *every))
        old = (self.dir / "out/state_0002.trs").read_bytes()
        self.treacle("resume", "out", "--frames", 4)
        (self.dir / "out/state_0002.trs").write_bytes(old)
        self.treacle("resume", "out")
        self.assert_same("out", "reference")

    def test_unfinished_files_are_swept_away(self):
        self.run_reference("--frames", 3)
        self.treacle(*self.run_command("out", "--frames", 2))
        (self.dir / "out/frame_0099.trf.tmp").write_bytes(b"torn")
        self.treacle("resume", "out", "--frames", 3)
        self.assert_same("out", "reference")

    def test_every_line_of_a_torn_statistics_file_is_mended(self):
        self.run_reference()
        shutil.copytree(self.dir / "reference", self.dir / "out")
        stats = self.dir / "out" / "stats.jsonl"
        with stats.open("a") as file:
            file.write('{"step":1000,"frame":2,"ti')
        (self.dir / "out" / "state_0010.trs").unlink()
        self.treacle("resume", "out")
        self.assert_same("out", "reference")


if __name__ == "__main__":
    harness.main()
