"""A rank that dies, that cannot write, that is of another kind: all end, with a sentence that says why."""

import os
import signal
import subprocess
import time

import harness_ranks
from harness_ranks import harness

ERR_USAGE, ERR_MEMORY, ERR_IO = 2, 4, 5


def ranks_of(mpirun):
    """The processes that an mpirun has started, oldest first."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                parts = stat.read().rsplit(")", 1)[1].split()
            with open(f"/proc/{entry}/comm") as comm:
                name = comm.read().strip()
        except (OSError, IndexError):
            continue
        if entry.isdigit() and int(parts[1]) == mpirun.pid and name == "treacle":
            found.append(int(entry))
    return sorted(found)


class RanksInTrouble(harness_ranks.Case):
    def two(self, first, second, code):
        """Two ranks with different arguments."""
        treacle = str(harness_ranks.FOLDER / "treacle")
        return self.mpirun([*harness_ranks.MPIRUN, "-n", "1", treacle, *map(str, first), ":",
                            "-n", "1", *map(str, second)], code)

    def run_until(self, frame):
        """A run on three ranks that has written that frame."""
        run = subprocess.Popen(
            harness_ranks.command(3, "run", "drop.yaml", "-o", "out", "--frames", 400), cwd=self.dir,
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.kill)
        for _ in range(600):
            if (self.dir / f"out/state_{frame:04}.trs").exists() or run.poll() is not None:
                break
            time.sleep(0.05)
        return run

    def kill_one(self, which):
        run = self.run_until(3)
        ranks = ranks_of(run)
        self.assertEqual(len(ranks), 3)
        os.kill(ranks[which], signal.SIGKILL)
        _, errors = run.communicate(timeout=60)
        self.assertNotEqual(run.returncode, 0)
        # mpirun always says which rank was killed; our own words may come too late to be forwarded.
        self.assertIn("exited on signal 9", errors)
        if "one of its ranks died" in errors:
            self.assertIn("treacle resume out", errors)
        return errors

    def test_a_rank_that_is_killed_ends_the_run(self):
        self.kill_one(2)
        frames = len(list((self.dir / "out").glob("frame_*.trf")))
        self.treacle("resume", "out", "-q", "--frames", frames + 2)
        self.treacle("run", "drop.yaml", "-o", "plain", "-q", "--frames", frames + 2)
        ours = harness.contents(self.dir / "out")
        theirs = harness.contents(self.dir / "plain")
        for name in theirs:
            if name.endswith((".trf", ".trs")):
                self.assertTrue(ours[name] == theirs[name], name)

    def test_the_rank_that_writes_may_be_the_one(self):
        self.kill_one(0)
        self.on_ranks(2, "resume", "out", "-q", "--frames", 5)

    def test_a_folder_that_one_rank_cannot_make(self):
        treacle = harness_ranks.FOLDER / "treacle"
        done = self.two(["run", "drop.yaml", "-o", "out"],
                        [treacle, "run", "drop.yaml", "-o", "/proc/nowhere"], ERR_IO)
        self.assertIn("rank 1: cannot make the folder /proc/nowhere", done.stderr)

    def test_ranks_with_different_folders(self):
        treacle = harness_ranks.FOLDER / "treacle"
        done = self.two(["run", "drop.yaml", "-o", "out"],
                        [treacle, "run", "drop.yaml", "-o", "other"], ERR_USAGE)
        self.assertIn("the folder is other here and out on rank 0", done.stderr)

    def test_ranks_with_different_scenes(self):
        treacle = harness_ranks.FOLDER / "treacle"
        done = self.two(["run", "drop.yaml", "-o", "out"],
                        [treacle, "run", "drop.yaml", "-o", "out", "--set", "fps=12"], ERR_USAGE)
        self.assertIn("the scene's hash is", done.stderr)
        self.assertFalse(list((self.dir / "out").glob("*.trf")))

    def test_ranks_of_different_versions(self):
        done = self.two(["run", "drop.yaml", "-o", "out"],
                        [harness_ranks.FOLDER / "rank_of_next_version"], ERR_USAGE)
        self.assertIn("the version of treacle is 99.0.0 here and", done.stderr)

    def test_a_scene_that_one_rank_does_not_have(self):
        treacle = harness_ranks.FOLDER / "treacle"
        done = self.two(["run", "drop.yaml", "-o", "out"],
                        [treacle, "run", "nowhere.yaml", "-o", "out"], ERR_IO)
        self.assertIn("rank 1: ", done.stderr)
        self.assertIn("nowhere.yaml", done.stderr)

    def test_memory_that_one_rank_lacks(self):
        done = self.mpirun([*harness_ranks.MPIRUN, "-n", "3",
                            str(harness_ranks.FOLDER / "rank_without_memory")], ERR_MEMORY)
        self.assertIn("rank 1 of 3 ends the run: out of memory", done.stderr)

    def test_a_plain_command_refuses_ranks(self):
        done = self.mpirun([*harness_ranks.MPIRUN, "-n", "2", harness.TREACLE, "run", "drop.yaml",
                            "-o", "out"], ERR_USAGE)
        self.assertIn("built without MPI", done.stderr)


if __name__ == "__main__":
    harness_ranks.main()
