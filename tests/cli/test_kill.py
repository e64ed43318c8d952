"""kill -9 at 20 random moments: resuming leaves the very files of a run that was not killed."""

import random
import shutil
import signal
import time

import harness

KILLS = 20


class Kill(harness.Case):
    def run_reference(self):
        began = time.monotonic()
        self.treacle("run", "drop.yaml", "-o", "reference", "--preview", "-q")
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

    def go_on(self):
        """What a person does next: resume, or run if the kill came before there was a run."""
        if (self.dir / "out" / "scene.yaml").exists():
            return ("resume", "out", "-q")
        return ("run", "drop.yaml", "-o", "out", "--preview", "-q")

    def test_all_files_are_as_if_nothing_had_happened(self):
        dice = random.Random(1)
        duration = self.run_reference()
        kills = 0
        while kills < KILLS:
            shutil.rmtree(self.dir / "out", ignore_errors=True)
            # Most runs are killed once; every fourth again and again until it gets through.
            rounds = 4 if kills % 4 == 3 else 1
            for _ in range(rounds):
                kills += self.kill_after(dice.uniform(0.0, duration), *self.go_on())
            self.treacle(*self.go_on())
            self.assert_no_leftovers("out")
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
