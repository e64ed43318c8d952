#!/usr/bin/env python3
"""Runs and draws every scene at a modest size into docs/gallery, and writes its page.

docs/gallery/figures.txt names the figures of the papers and the scenes that answer to them, which
come first, and how a scene is drawn: at which share of its run, and with which settings laid over
the scene file so that it takes minutes. A scene is simulated up to that frame and no further, in
out/gallery; one that is not done in its time, or that was ended by Ctrl-C, goes on from there the
next time. docs/gallery/drawn.txt keeps what each picture was made from: a picture whose scene, settings
and program are still the same is passed over. Whatever fails is named at the end, and the rest is
drawn all the same.

The exit code is 1 if a figure has no scene or a scene could not be drawn.
"""

import argparse
import dataclasses
import hashlib
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gallery"
RUNS = ROOT / "out" / "gallery"
SCENES = [ROOT / "scenes", ROOT / "scenes" / "extra"]
DRAWING = ("render", "mesh", "image", "plot")  # sources that change pictures, but no run


class Trouble(Exception):
    """A scene could not be drawn; the text says why."""


@dataclasses.dataclass
class Recipe:
    """How a scene is drawn: share of the run, settings over the file, streamlines or a picture, and
    its size."""
    share: float = 1.0
    settings: tuple = ()
    has_streamlines: bool = False
    size: str = ""


@dataclasses.dataclass
class Record:
    """What a picture was made from: hashes of scene and of program; how it came about."""
    scene: str
    program: str
    caption: str


def read_recipe(words):
    sizes = [word for word in words[1:] if re.fullmatch(r"\d+x\d+", word)]
    return Recipe(float(words[0]), tuple(word for word in words[1:] if "=" in word),
                  "streamlines" in words, sizes[0] if sizes else "")


def read_figures():
    """Figures as (paper, figure, scene, what), and recipes by scene."""
    figures, recipes = [], {}
    for at, line in enumerate((PAGE / "figures.txt").read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "figure" and len(words) > 4:
            figures.append((*words[1:4], " ".join(words[4:])))
        elif words[0] == "scene" and len(words) > 2:
            recipes[words[1]] = read_recipe(words[2:])
        else:
            sys.exit(f"make_gallery: figures.txt:{at}: expected \"figure PAPER NUMBER SCENE WHAT\" "
                     f"or \"scene NAME SHARE SETTINGS\"")
    return figures, recipes


def read_records():
    path = PAGE / "drawn.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [line.split(None, 3) for line in lines if line and not line.startswith("#")]
    return {row[0]: Record(*row[1:]) for row in rows}


def write_records(records):
    lines = ["# What each picture was made from: scene, hash of scene and settings, of the program's",
             "# sources, and how it came about. Written by tools/make_gallery.py."]
    lines += [f"{name} {r.scene} {r.program} {r.caption}" for name, r in sorted(records.items())]
    (PAGE / "drawn.txt").write_text("\n".join(lines) + "\n")


def find_scenes():
    """Files by name, those beside scenes/ first in the alphabet last."""
    return {path.stem: path for folder in reversed(SCENES) for path in sorted(folder.glob("*.yaml"))}


def digest(*texts):
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


def program_hash(but=()):
    """Of all sources of the library and the command, but for some folders of src/."""
    files = [path for folder in ("include", "src", "apps") for path in (ROOT / folder).rglob("*.[ch]")
             if path.relative_to(ROOT / folder).parts[0] not in but]
    return digest(*(path.read_bytes() for path in sorted(files)))


def without_looks(text):
    """The scene without its look and camera, which change no run."""
    return re.sub(r"(?m)^(look|camera):.*\n(?:(?:[ \t#].*)?\n)*", "", text)


def with_bases(path):
    """The scene's text behind those of the scenes that it builds on."""
    text = path.read_text()
    bases = re.findall(r"(?m)^include:\s*(\S+)", text)
    return "".join(with_bases(path.parent / base) for base in bases) + text


def treacle(options, arguments):
    """Runs the command; Trouble if it fails or is not done in time, then its work so far is kept."""
    try:
        process = subprocess.Popen([options.program, *map(str, arguments)], cwd=ROOT, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Trouble(str(error)) from None
    try:
        out, err = process.communicate(timeout=60.0 * options.minutes)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise Trouble("not done in its time; the next call goes on with it") from None
    except KeyboardInterrupt:
        process.communicate()
        raise
    if process.returncode != 0:
        raise Trouble((err.strip().splitlines() or ["it gave no reason"])[0])
    return out


def with_settings(recipe):
    return [word for setting in recipe.settings for word in ("--set", setting)]


def what_check_tells(path, recipe, options):
    """Frames, frames in a simulated second and the grid in words, as `treacle check` prints them."""
    said = treacle(options, ["check", path, *with_settings(recipe)])
    frames = re.search(r"^frames +(\d+) at (\S+) a second", said, re.M)
    lapse = re.search(r"^frames .*: (\S+) times as fast$", said, re.M)
    grid = re.search(r"^grid +(.*?),", said, re.M)
    if frames is None or grid is None:
        raise Trouble("treacle check does not tell its frames and its grid")
    return int(frames[1]), float(frames[2]) / float(lapse[1] if lapse else 1), grid[1]


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cost_of(folder):
    """Seconds of processor time that the frames in the folder have taken."""
    path = folder / "cost"
    return float(path.read_text()) if path.exists() else 0.0


def simulate(path, number, recipe, options):
    """Frames up to the number, of this scene and this program, in a folder of out/gallery."""
    folder = RUNS / path.stem
    wanted = digest(without_looks(with_bases(path)).encode(), str(recipe.settings).encode())
    if not options.keep:
        wanted += program_hash(DRAWING)
    mark = folder / "made_from"
    if not (mark.exists() and mark.read_text().startswith(wanted)):
        shutil.rmtree(folder, ignore_errors=True)
    if (folder / f"frame_{number:04d}.trf").exists():
        return folder
    start = spent()
    if (folder / "run.json").exists():
        treacle(options, ["resume", folder, "--frames", number, "-q"])
    else:
        folder.mkdir(parents=True)
        mark.write_text(wanted if not options.keep else wanted + program_hash(DRAWING))
        treacle(options, ["run", path, "-o", folder, "--frames", number, "-q",
                          *with_settings(recipe)])
    (folder / "cost").write_text(str(cost_of(folder) + spent() - start))
    return folder


def plot(folder, number, options):
    """Streamlines of the frame."""
    treacle(options, ["plot", folder, "--streamlines", number, "-o", folder, "-q"])
    return folder / f"plot_streamlines_{number:04d}.png"


def render(folder, path, number, size, options):
    """The picture of one frame for itself, without the blur of motion."""
    treacle(options, ["render", folder / f"frame_{number:04d}.trf", "--size", size,
                      "--samples", options.samples, "-o", folder, "--name", "gallery", "-q",
                      "--scene", path, "--set", "camera.shutter=0"])
    return folder / f"gallery_{number:04d}.png"


def draw(path, recipe, record, options):
    """The record of the picture, drawn anew if it has to be."""
    scene = digest(with_bases(path).encode(), str(recipe).encode())
    program = program_hash()
    picture = PAGE / f"{path.stem}.png"
    is_same = record is not None and record.scene == scene
    if is_same and picture.exists() and not options.again and (
            options.keep or record.program == program):
        return record
    frames, fps, grid = what_check_tells(path, recipe, options)
    number = max(1, round(recipe.share * frames))
    folder = simulate(path, number, recipe, options)
    simulated = spent()
    made = (plot(folder, number, options) if recipe.has_streamlines
            else render(folder, path, number, recipe.size or options.size, options))
    picture.write_bytes(made.read_bytes())
    caption = (f"{grid}, {(number - 1) / fps:.3g} s (frame {number} of {frames}); "
               f"{round(cost_of(folder)) or 1} s of processor time to simulate, "
               f"{round(spent() - simulated) or 1} s to draw")
    return Record(scene, program, caption)


def write_page(scenes, figures, recipes, records):
    lines = ["# Gallery", "",
             "Made by `make gallery` from the scenes in `scenes/`, coarser than these files where it says",
             "so. Papers are named as in [the references](../math/references.bib).", ""]
    answered = [figure[2] for figure in figures]
    drawn = [name for name in scenes if (PAGE / f"{name}.png").exists() and name in records]
    for name in sorted(drawn, key=lambda name: (name not in answered, name)):
        answers = "; ".join(f"{paper} figure {figure}: {what}"
                            for paper, figure, scene, what in figures if scene == name)
        where = scenes[name].relative_to(ROOT)
        settings = ", ".join(f"`{setting}`" for setting in recipes.get(name, Recipe()).settings)
        lines += [f"## {name}", "", f"![{name}]({name}.png)", "",
                  f"[{where}](../../{where})" + (f", answers to {answers}." if answers else "."),
                  records[name].caption + (f". With {settings}." if settings else "."), ""]
    waiting = [f"- {paper} figure {figure}, `{scene}`: {what}"
               for paper, figure, scene, what in figures if scene not in drawn]
    waiting += [f"- `{name}`" for name in sorted(scenes)
                if name not in drawn and name not in answered]
    if waiting:
        lines += ["## Not drawn yet", "", *waiting, ""]
    (PAGE / "README.md").write_text("\n".join(lines))


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help="names; without any, all")
    parser.add_argument("--size", default="480x270", help="of a picture (default: 480x270)")
    parser.add_argument("--samples", default=64, type=int, help="a pixel (default: 64)")
    parser.add_argument("--minutes", default=10.0, type=float,
                        help="for a scene's simulation, and for its picture (default: 10)")
    parser.add_argument("--program", default=ROOT / "build" / "treacle", type=pathlib.Path,
                        help="another treacle than that of build/")
    parser.add_argument("--again", action="store_true", help="draw pictures that are there, too; with another --size or --samples, say")
    parser.add_argument("--keep", action="store_true",
                        help="runs and pictures by other versions of the program are good enough")
    parser.add_argument("--figures", action="store_true", help="only scenes that answer to a figure")
    parser.add_argument("--check", action="store_true",
                        help="draw nothing, only say which figure has no scene")
    return parser.parse_args(arguments)


def draw_all(names, scenes, figures, recipes, options):
    failed, records = {}, read_records()
    for at, name in enumerate(names, 1):
        if name not in scenes:
            failed[name] = "there is no such scene"
            continue
        try:
            before = records.get(name)
            records[name] = draw(scenes[name], recipes.get(name, Recipe()), before, options)
            said = records[name].caption if records[name] is not before else "as it was"
        except Trouble as trouble:
            failed[name] = str(trouble)
            said = f"FAILED: {trouble}"
        print(f"[{at}/{len(names)}] {name}: {said}", flush=True)
        write_records(records)
        write_page(scenes, figures, recipes, records)
    return failed


def main():
    options = parse(sys.argv[1:])
    scenes = find_scenes()
    figures, recipes = read_figures()
    answered = list(dict.fromkeys(figure[2] for figure in figures if figure[2] in scenes))
    rest = [] if options.figures else [name for name in sorted(scenes) if name not in answered]
    failed = {}
    if not options.check:
        failed = draw_all(options.scenes or answered + rest, scenes, figures, recipes, options)
    missing = [figure for figure in figures if figure[2] not in scenes]
    for name, why in failed.items():
        print(f"make_gallery: {name}: {why}", file=sys.stderr)
    for paper, figure, scene, _ in missing:
        print(f"make_gallery: {paper} figure {figure} has no scene: there is no "
              f"scenes/{scene}.yaml", file=sys.stderr)
    for name in recipes:
        if name not in scenes:
            print(f"make_gallery: figures.txt tells how to draw {name}, which is no scene",
                  file=sys.stderr)
    sys.exit(1 if failed or missing or any(name not in scenes for name in recipes) else 0)


if __name__ == "__main__":
    main()
