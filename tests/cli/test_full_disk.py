"""Every writer on a disk that fails: an error, exit code 5, and no file that is not whole.

The disk is tests/cli/failing_disk.c, preloaded. Each command is run once to count the changes that it
makes to files, and then once for each of them, with that one failing; and on a disk that is full
from then on."""

import errno
import os
import pathlib
import shutil
import subprocess
import tempfile

import harness

ERR_IO = 5
DISK = os.path.abspath(os.path.join(os.environ.get("TREACLE_BUILD", "build"),
                                    "tests/libfailing_disk.so"))
ALL = 48  # of longer commands the first so many changes, then every seventh, and the last
VDB_IDENTITY = 21
BODY = """bodies:
  ball:
    shape:
      sphere: {radius: 3 cm, centre: [16 cm, 8 cm, 16 cm]}
    density: 900
"""


def numbers(count):
    return [n for n in range(1, count + 1) if n <= ALL or n % 7 == 0 or n > count - 4]


def contents(path):
    data = path.read_bytes()
    if path.suffix == ".vdb":  # each has an identity of its own, 36 bytes in its head
        data = data[:VDB_IDENTITY] + data[VDB_IDENTITY + 36:]
    return data


def files(folder):
    return {str(path.relative_to(folder)): contents(path)
            for path in sorted(folder.rglob("*")) if path.is_file()}


class FailingDisk(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="treacle-disk-"))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        (cls.shared / "drop.yaml").write_text(harness.SCENE + BODY)
        subprocess.run([harness.TREACLE, "run", "drop.yaml", "-o", "run", "--frames", "2", "-q"],
                       cwd=cls.shared, check=True)

    def on_disk(self, args, at=0, error=errno.EIO, is_full=False):
        shutil.rmtree(self.dir / "to", ignore_errors=True)
        (self.dir / "to").mkdir()
        count = self.dir / "count"
        environment = {**os.environ, "LD_PRELOAD": DISK, "FAIL_AT": str(at),
                       "FAIL_ERRNO": str(error), "FAIL_COUNT": str(count)}
        if is_full:
            environment["FAIL_FULL"] = "1"
        done = subprocess.run([harness.TREACLE, *args], cwd=self.dir, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        return done, int(count.read_text())

    def check_failed(self, done, whole, what):
        left = files(self.dir / "to")
        self.assertEqual(done.returncode, ERR_IO, f"{what}: {done.stdout}{done.stderr}")
        self.assertRegex(done.stderr, r"(?m)^treacle: error: .*(to/|/treacle-page-).*\w: \w", what)
        self.assertEqual([name for name in left if ".tmp" in name], [], what)
        for name, data in left.items():
            self.assertTrue(data == whole.get(name), f"{what}: {name} is there and not whole")

    def check(self, *args):
        args = [str(self.shared / "run") if word == "RUN" else word for word in args]
        done, count = self.on_disk(args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(count, 2)
        whole = files(self.dir / "to")
        self.assertGreater(len(whole), 0)
        for n in numbers(count):
            what = f"{' '.join(args)}: change {n} of {count}"
            self.check_failed(self.on_disk(args, at=n)[0], whole, what)
        done, _ = self.on_disk(args, at=2, error=errno.ENOSPC, is_full=True)
        self.check_failed(done, whole, "full disk")
        self.assertIn("No space left on device", done.stderr)
        done, _ = self.on_disk(args, at=1, error=errno.EROFS)
        self.check_failed(done, whole, "read-only disk")
        self.assertIn("Read-only file system", done.stderr)

    def test_surfaces(self):
        for form in ("ply", "obj", "vtk", "usd", "bgeo", "glb"):
            with self.subTest(form):
                self.check("export", "RUN", "--to", form, "-o", "to", "--frames", "1")

    def test_particles(self):
        for form in ("ply", "vtk", "bgeo", "glb", "vdb"):
            with self.subTest(form):
                self.check("export", "RUN", "--to", form, "--what", "particles", "-o", "to",
                           "--frames", "1")

    def test_volumes(self):
        for form in ("vtk", "vdb"):
            with self.subTest(form):
                self.check("export", "RUN", "--to", form, "--what", "volume", "-o", "to",
                           "--frames", "1")

    def test_bodies(self):
        self.check("export", "RUN", "--what", "bodies", "-o", "to")

    def test_pictures(self):
        for form in ("png", "exr"):
            with self.subTest(form):
                self.check("render", "RUN", "--to", form, "-o", "to", "--frames", "1",
                           "--size", "8x8", "--samples", "2")

    def test_plots(self):
        self.check("plot", "RUN", "-o", "to/plot.png")

    def test_a_run(self):
        """What is there can be gone on with, or begun again, and becomes what it would have been."""
        run = ["run", str(self.dir / "drop.yaml"), "-o", "to/run", "--frames", "2", "-q"]
        (self.dir / "drop.yaml").write_text(harness.SCENE + BODY)
        _, count = self.on_disk(run)
        whole = harness.contents(self.dir / "to/run")
        for n in numbers(count):
            what = f"a run: change {n} of {count}"
            done, _ = self.on_disk(run, at=n)
            self.assertEqual(done.returncode, ERR_IO, what + done.stderr)
            self.assert_no_leftovers("to/run")
            if n % 5 == 0:
                has_begun = (self.dir / "to/run/run.json").exists()
                self.treacle(*(["resume", "to/run", "-q"] if has_begun else run))
                self.assertTrue(harness.contents(self.dir / "to/run") == whole, what)

    def test_standard_output(self):
        for words in (["materials"], ["materials", "--json"], ["info", self.shared / "run"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([harness.TREACLE, *words], stdout=full,
                                      stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, ERR_IO, words)
            self.assertEqual(done.stderr, "treacle: error: the output could not be written\n")

    def test_links_in_the_folder_of_a_run_are_not_written_through(self):
        self.treacle("run", "drop.yaml", "-o", "to", "--frames", 1, "-q")
        other = self.dir / "other"
        other.write_text("keep me\n")
        (self.dir / "to/stats.jsonl").unlink()
        (self.dir / "to/stats.jsonl").symlink_to(other)
        done = self.treacle("resume", "to", "--frames", 2, "-q", code=ERR_IO)
        self.assertIn("to/stats.jsonl", done.stderr)
        self.assertEqual(other.read_text(), "keep me\n")

    def test_a_static_page(self):
        self.check("view", "RUN", "--export", "to/page", "--frames", "1")


if __name__ == "__main__":
    harness.main()
