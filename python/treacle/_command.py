"""What the command `treacle` does, as functions: runs, and what is made of them.

Each works on folders and files, as the command does, and runs it; the simulation is then a process
of its own, which Ctrl-C ends with a valid folder.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Mapping, Sequence, Union

from . import _core

Path = Union[str, "os.PathLike[str]"]


def command_path() -> str:
    """Where the command is: named by TREACLE_COMMAND, beside this module, in a source tree's build,
    or on PATH."""
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("TREACLE_COMMAND")
    for path in [named] if named else [here / "bin/treacle", here.parent.parent / "build/treacle"]:
        if os.access(path, os.X_OK):
            return str(path)
    found = None if named else shutil.which("treacle")
    if found is None:
        raise FileNotFoundError("there is no command treacle; build it (make build), install it "
                                "(make install) or set TREACLE_COMMAND")
    return found


def call(*arguments: Any) -> str:
    """Runs the command with these arguments; gives what it prints. Raises Error with what it says
    is wrong, and its exit code as the status."""
    done = subprocess.run([command_path(), *map(os.fspath, map(_text, arguments))],
                          capture_output=True, text=True)
    if done.returncode != 0:
        kind = _core.SceneError if done.returncode == 3 else _core.Error
        raise kind(done.returncode, done.stderr.strip())
    return done.stdout


def _text(argument: Any) -> Any:
    return argument if isinstance(argument, (str, os.PathLike)) else str(argument)


def _options(options: Mapping[str, Any]) -> list[str]:
    """frames=3 becomes --frames 3, force=True becomes --force, None and False are left out."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            out.append(flag)
        elif value is not None and value is not False:
            out += [flag, str(value)]
    return out


def _frames(frames: Any) -> Any:
    """A number, "3:9", or a pair (3, 9)."""
    return f"{frames[0]}:{frames[1]}" if isinstance(frames, tuple) else frames


class Run:
    """The folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = pathlib.Path(folder)
        if not (self.folder / "run.json").is_file():
            raise FileNotFoundError(f"{self.folder} holds no run: it has no run.json")

    @property
    def frames(self) -> list[pathlib.Path]:
        """The frame files, in order."""
        return sorted(self.folder.glob("frame_*.trf"))

    def __len__(self) -> int:
        return len(self.frames)

    def frame(self, number: int) -> "_core.LoadedFrame":
        """The frame of that number, from 1; -1 is the last."""
        number = len(self) + 1 + number if number < 0 else number
        return _core.read_frame(self.folder / f"frame_{number:04d}.trf")

    def stats(self) -> list[dict[str, Any]]:
        """What every step did, a dict each, as stats.jsonl has it."""
        with open(self.folder / "stats.jsonl", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def __repr__(self) -> str:
        return f"<treacle.Run {str(self.folder)!r}: {len(self)} frames>"

    def _repr_png_(self) -> bytes | None:
        return self.frame(-1).picture() if len(self) > 0 else None


def run(scene: Any, folder: Path, *, frames: int | None = None,
        sets: Mapping[str, Any] | None = None, force: bool = False, preview: bool = False,
        film: Path | None = None, threads: int | None = None) -> Run:
    """Simulates a scene, a file, a dict or a Scene, into a folder. `force` replaces a run that is
    there; without it that is an error."""
    given = [word for key, value in (sets or {}).items() for word in ("--set", f"{key}={value}")]
    options = _options({"frames": frames, "force": force, "preview": preview, "film": film,
                        "threads": threads})
    with tempfile.TemporaryDirectory(prefix="treacle-") as room:
        if isinstance(scene, (dict, _core.Scene)):
            path = pathlib.Path(room) / "scene.yaml"
            path.write_text(json.dumps(scene) if isinstance(scene, dict) else scene.text,
                            encoding="utf-8")
            scene = path
        call("run", scene, "-o", folder, "--quiet", *given, *options)
    return Run(folder)


def resume(folder: Path, *, frames: int | None = None, threads: int | None = None) -> Run:
    """Goes on with a run that was ended, or makes it longer."""
    call("resume", folder, "--quiet", *_options({"frames": frames, "threads": threads}))
    return Run(folder)


def _made(stem: str, before: dict[pathlib.Path, int], folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.glob(stem) if path.is_file() and before.get(path)
                  != path.stat().st_mtime_ns)


def _make(folder: pathlib.Path, stem: str, *arguments: Any) -> list[pathlib.Path]:
    """The files that the command has written, by their names and times."""
    before = {path: path.stat().st_mtime_ns for path in folder.glob(stem)}
    call(*arguments)
    return _made(stem, before, folder)


def _where(source: Any, output: Path | None) -> tuple[Path, pathlib.Path]:
    path = pathlib.Path(source.folder if isinstance(source, Run) else source)
    return path, pathlib.Path(output or (path if path.is_dir() else path.parent))


def mesh(source: Run | Path, *, output: Path | None = None, frames: Any = None, to: str = "ply",
         **options: Any) -> list[pathlib.Path]:
    """Draws the surface of a run, or of one frame file, as meshes; gives their files. Options are
    those of "treacle mesh": method, resolution, smoothing, overlap, decimation, name,
    threads."""
    path, folder = _where(source, output)
    stem = options.get("name", "surface")
    return _make(folder, f"{stem}_*.{to}", "mesh", path, "--quiet", "-o", folder, *_options(
        {"frames": _frames(frames), "to": to, **options}))


def export(source: Run | Path, to: str = "ply", *, output: Path | None = None, what: str = "auto",
           frames: Any = None, **options: Any) -> list[pathlib.Path]:
    """Writes frames for other programs; gives their files. Options are those of "treacle export":
    up, method, resolution, name, threads."""
    path, folder = _where(source, output)
    return _make(folder, "*", "export", path, "--quiet", "-o", folder, *_options(
        {"frames": _frames(frames), "to": to, "what": what, **options}))


def render(source: Run | Path, *, output: Path | None = None, frames: Any = None,
           **options: Any) -> list[pathlib.Path]:
    """Pictures by path tracing; gives their files. Options are those of "treacle render": size
    ("640x360"), samples, film, name, threads ..."""
    path, folder = _where(source, output)
    return _make(folder, "*.png", "render", path, "--quiet", "-o", folder, *_options(
        {"frames": _frames(frames), **options}))


def plot(source: Run | Path, *, output: Path | None = None, **options: Any) -> list[pathlib.Path]:
    """The statistics of a run as plots; gives their files. Options are those of "treacle plot"."""
    path, folder = _where(source, output)
    return _make(folder, "*", "plot", path, "--quiet", "-o", folder, *_options(options))


def compare(a: Run | Path, b: Run | Path) -> tuple[bool, str]:
    """Whether two runs are the same bit for bit, and what the command tells about them."""
    folders = [one.folder if isinstance(one, Run) else one for one in (a, b)]
    done = subprocess.run([command_path(), "compare", *map(os.fspath, folders)],
                          capture_output=True, text=True)
    if done.returncode > 1:
        raise _core.Error(done.returncode, done.stderr.strip())
    return done.returncode == 0, done.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """The command itself, where the module was installed by pip."""
    path = command_path()
    os.execv(path, [path, *(sys.argv[1:] if arguments is None else arguments)])
