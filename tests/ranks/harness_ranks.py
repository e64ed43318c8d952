"""What the tests on ranks share: the command by mpirun."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import harness  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = pathlib.Path(os.environ.get("TREACLE_RANKS", ROOT / "build/mpi"))
# "isolated": mpirun asks for ssh even where all ranks are on this machine.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "plm", "isolated"]


def command(ranks, *args):
    return [*MPIRUN, "-n", str(ranks), str(FOLDER / "treacle"), *map(str, args)]


class Case(harness.Case):
    def mpirun(self, args, code=0):
        """Runs mpirun with these arguments and insists on its exit code."""
        # Poison: who reads what is another rank's gets NaN.
        done = subprocess.run(args, cwd=self.dir, text=True, timeout=250, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**os.environ, "TREACLE_POISON": "1"})
        self.assertEqual(done.returncode, code, f"{args}\n{done.stdout}{done.stderr}")
        return done

    def on_ranks(self, ranks, *args, code=0):
        return self.mpirun(command(ranks, *args), code)


def main():
    if not os.access(FOLDER / "treacle", os.X_OK):
        sys.exit(f"there is no command {FOLDER}/treacle; build it where MPI and p4est are installed")
    harness.main()
