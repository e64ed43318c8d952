"""Every command and every piece of a scene that the manual shows works, as it stands there.

Programs in Python are in tests/python/test_manual.py. Commands run in a folder with small scenes of the
same names and runs of them; those that cannot run here are listed with the reason.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("TREACLE_BUILD", ROOT / "build")).resolve()
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs/manual").glob("*.md"), *(ROOT / "docs/start").glob("*.md")])

# Begin of a command -> why it does not run here.
PASSED_OVER = {
    "make ": "builds, installs or tests all; .ci/run does that",
    "cmake ": "a second build; .ci/run makes the one with MPI",
    "mpirun ": "needs the build with MPI; tests/ranks",
    "tools/install_packages.sh": "changes the machine",
    "treacle play": "serves until it is ended; tests/page",
    "treacle view out/honey\n": "likewise",
    "treacle coiling": "needs the whole of the demo; tests/unit/test_coiling.c",
    "treacle compare": "its exit code says whether they differ; tests/cli/test_first_steps.py",
    "treacle render out/honey_coil --film loop.mp4": "needs more frames; tests/cli/test_pictures.py",
    "treacle help": "compared word for word in tests/cli/test_usage.py",
}

# Scenes of the same names that take no time: what lies on top of them.
SMALL = {
    "dam_break": "frames: 3\ndomain: {cell: 8 cm}\n",
    "fountain": "frames: 3\n",
    "goop_cube": "frames: 3\ndomain: {cell: 20 mm}\n",
    "honey_coil": "frames: 3\ndomain: {cell: 4 mm}\n",
    "tilted_vortex": "frames: 24\ndomain: {resolution: 16}\n",
}

HONEY = """\
frames: 60
domain: {size: [3.2 cm, 3.2 cm, 3.2 cm], cell: 4 mm}
materials: {honey: {density: 1400, viscosity: 10 Pa.s}}
liquids:
  - {shape: {sphere: {radius: 6 mm, centre: [1 cm, 1 cm, 1 cm]}}, material: honey}
"""

# Runs that commands speak of: folder -> scene.
RUNS = {"out/honey": "honey.yaml", "out/stir": "honey.yaml", "out/dam": "scenes/dam_break.yaml",
        "out/honey_coil": "scenes/honey_coil.yaml", "out/tilted_vortex": "scenes/tilted_vortex.yaml"}

COMMAND = re.compile(r"(?:\$ )?((?:(?:build|build-mpi)/)?(?:treacle|make|cmake|mpirun|cc|jq|tools/\S+\.\w+) .*)")
WORDS = re.compile(r"treacle \w+: |make room ")  # sentences that begin like a command


def blocks(text):
    """(first line, language, text) of each block in fences."""
    for block in re.finditer(r"(?m)^```(\w*)\n(.*?)^```", text, re.S):
        yield text.count("\n", 0, block.start(2)) + 1, block.group(1), block.group(2)


def without_fences(text):
    """Blocks become empty lines, so that numbers of lines stay."""
    return re.sub(r"(?m)^```.*?^```", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def commands_in(text, indent):
    """(line, command) of lines that begin with a command, with what a backslash joins to them."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        match = re.fullmatch(indent + COMMAND.pattern, line)
        if not match or WORDS.match(match.group(1)):
            continue
        command = match.group(1)
        while command.endswith("\\"):
            i += 1
            command = command[:-1] + lines[i].strip()
        yield i + 1, command.strip()


def commands(page):
    text = page.read_text()
    for line, language, block in blocks(text):
        if language in ("text", "sh"):
            for at, command in commands_in(block, r"\s*"):
                yield line + at - 1, command
    rest = without_fences(text)
    yield from commands_in(rest, r"    ")
    for match in re.finditer(r"`((?:build/)?treacle \w+ [^`]+)`", rest):
        if not re.search(r"treacle \w+ --(to|scene)", match.group(1)):  # told by options alone
            yield rest.count("\n", 0, match.start()) + 1, match.group(1)


def reason(command):
    plain = re.sub(r"^(build|build-mpi)/", "", command) + "\n"
    for begin, why in PASSED_OVER.items():
        if plain.startswith(begin):
            return why
    return None


def bounded(command):
    """The same in less time: few frames, small pictures, one sample a pixel."""
    if re.match(r"(build/)?treacle run ", command):
        command = re.sub(r"--frames (\d+)", "--frames 3", command)
    if re.match(r"(build/)?treacle render ", command):
        command = re.sub(r"--(size|noise) \S+", "", command.split("#")[0])
        command += " --size 64x36 --samples 1"
    return command


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="treacle-manual-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "scenes").mkdir()
        (cls.folder / "build").mkdir()
        (cls.folder / "bin").mkdir()
        for name, top in SMALL.items():
            below = ROOT / "scenes" / f"{name}.yaml"
            (cls.folder / "scenes" / f"{name}.yaml").write_text(f"include: {below}\n{top}")
        for name in ("honey.yaml", "scene.yaml"):
            (cls.folder / name).write_text(HONEY)
        shutil.copy(ROOT / "examples/hello.c", cls.folder)
        for place in ("bin/treacle", "build/treacle"):
            (cls.folder / place).symlink_to(harness.TREACLE)
        for out, scene in RUNS.items():
            cls.run_in(cls.folder, f"treacle run {scene} -o {out} -q")

    @classmethod
    def run_in(cls, folder, command):
        paths = {"CPATH": ROOT / "include", "LIBRARY_PATH": BUILD, "LD_LIBRARY_PATH": BUILD}
        return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=240,
                              env=dict(os.environ, PATH=f"{cls.folder}/bin:{os.environ['PATH']}",
                                       **{key: str(path) for key, path in paths.items()}))

    def test_every_command_runs_or_has_a_reason(self):
        count = 0
        for page in PAGES:
            for line, command in commands(page):
                with self.subTest(page=page.name, line=line, command=command):
                    if reason(command) is None:
                        self.check_command(command)
                        count += 1
        self.assertGreater(count, 35)

    def check_command(self, command):
        place = self.folder / "one"
        shutil.copytree(self.folder, place, symlinks=True, ignore=shutil.ignore_patterns("one", "bin"))
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        if re.match(r"(build/)?treacle (run|sweep) ", command):
            shutil.rmtree(place / "out")
        if re.match(r"(build/)?treacle new ", command):
            (place / "honey.yaml").unlink()
        done = self.run_in(place, bounded(command))
        shutil.rmtree(place)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_reasons_are_of_commands_that_are_there(self):
        shown = [re.sub(r"^(build|build-mpi)/", "", command) + "\n" for page in PAGES
                 for _, command in commands(page)]
        for begin in PASSED_OVER:
            self.assertTrue(any(command.startswith(begin) for command in shown), begin)


# What a piece of a scene needs around it, by its first key.
DOMAIN = "domain: {size: [0.4, 0.4, 0.4], cell: 1 cm}\n"
BALL = "liquids:\n  - shape: {sphere: {radius: 5 cm, centre: [0.2, 0.2, 0.2]}}\n"
AROUND = {
    "liquids": DOMAIN,
    "materials": DOMAIN + BALL,
    "viscosity_factor": DOMAIN + BALL,
    "look": DOMAIN + BALL + "materials: {caramel: {viscosity: 10}}\n"
            "solids: {spoon: {shape: {sphere: {radius: 1 cm, centre: [0.1, 0.1, 0.1]}}},\n"
            "         lid: {shape: {sphere: {radius: 1 cm, centre: [0.3, 0.1, 0.1]}}}}\n",
    "camera": DOMAIN + BALL,
    "solids": DOMAIN + BALL,
    "include": "",
}
# Of pieces whose shapes fit into the scene that they are cut out of.
PLACES = re.compile("outside of the domain|smaller than a cell")


def scenes(page):
    """(line, text, whether it is whole) of each scene or piece of one."""
    text = page.read_text()
    for line, language, block in blocks(text):
        if language == "yaml":
            yield line, block, re.search(r"(?m)^domain:", block) is not None
    rest = without_fences(text)
    for match in re.finditer(r"(?m)(?:^    .*\n)+", rest):
        block = re.sub(r"(?m)^    ", "", match.group())
        if re.match(r"(look|camera|liquids|solids|include):", block):
            yield rest.count("\n", 0, match.start()) + 1, block, False


class Scenes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="treacle-manual-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "meshes").symlink_to(ROOT / "scenes/meshes")
        (self.folder / "kitchen.yaml").write_text(HONEY)

    def run_treacle(self, *arguments):
        return subprocess.run([harness.TREACLE, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=240, check=False)

    def write(self, block, is_whole):
        first = re.match(r"\s*(\w+):", block).group(1)
        text = block if is_whole else AROUND[first] + block
        (self.folder / "scene.yaml").write_text(text)
        return self.run_treacle("check", "--quick", "scene.yaml")

    def test_every_scene_is_checked_without_a_word(self):
        count = 0
        for page in PAGES:
            for line, block, is_whole in scenes(page):
                with self.subTest(page=page.name, line=line):
                    done = self.write(block, is_whole)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    told = [words for words in done.stderr.splitlines()
                            if is_whole or not PLACES.search(words)]
                    self.assertEqual(told, [])
                    count += 1
        self.assertGreater(count, 20)

    def test_every_whole_scene_runs(self):
        for page in PAGES:
            for line, block, is_whole in scenes(page):
                with self.subTest(page=page.name, line=line):
                    if is_whole and self.write(block, True).returncode == 0:
                        done = self.run_treacle("run", "scene.yaml", "-o", f"out/{page.stem}{line}", "--frames",
                                                "2", "-q")
                        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
