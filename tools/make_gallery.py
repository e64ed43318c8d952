#!/usr/bin/env python3
"""Runs and draws every scene at a modest size into docs/gallery, and writes its page.

Scenes that answer to a figure of a paper (docs/gallery/figures.txt) come first. A scene is simulated
up to the frame that is shown, in out/gallery; one that is not done in its time, or that was ended
by Ctrl-C, goes on from there the next time. A scene whose file has not changed since its picture was
drawn is passed over. Whatever fails is named at the end, and the rest is drawn all the same.

The exit code is 1 if a figure has no scene or a scene could not be drawn.
"""

import argparse
import hashlib
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREACLE = ROOT / "build" / "treacle"
PAGE = ROOT / "docs" / "gallery"
RUNS = ROOT / "out" / "gallery"
SCENES = [ROOT / "scenes", ROOT / "scenes" / "extra"]


class Trouble(Exception):
    """A scene could not be drawn; the text says why."""


def read_figures():
    """(paper, figure, scene, share, what) of each line."""
    figures = []
    for line in (PAGE / "figures.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            paper, figure, scene, share, what = line.split(None, 4)
            figures.append((paper, figure, scene, float(share), what))
    return figures


def find_scenes():
    """Files by name, those beside scenes/ first in the alphabet last."""
    return {path.stem: path for folder in reversed(SCENES) for path in sorted(folder.glob("*.yaml"))}


def share_of(name, figures):
    return next((figure[3] for figure in figures if figure[2] == name), 1.0)


def treacle(arguments, seconds):
    """Runs the command; Trouble if it fails or is not done in time, then its work so far is kept."""
    process = subprocess.Popen([TREACLE, *map(str, arguments)], cwd=ROOT, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=max(seconds, 1.0))
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


def frames_of(path):
    """How many frames the scene has, as `treacle check` prints it."""
    for line in treacle(["check", path], 120).splitlines():
        if line.startswith("frames "):
            return int(line.split()[1])
    raise Trouble("treacle check does not tell its frames")


def fingerprint(path, number, options):
    text = path.read_bytes() + f"{number} {options.size} {options.samples}".encode()
    return hashlib.sha256(text).hexdigest()


def draw(path, share, options):
    """Simulates up to the frame, draws it and keeps the picture. False if it was there already."""
    name, folder = path.stem, RUNS / path.stem
    end = time.monotonic() + options.minutes * 60.0
    number = max(1, round(share * frames_of(path)))
    mark, picture = folder / "drawn", PAGE / f"{name}.png"
    wanted = fingerprint(path, number, options)
    if picture.exists() and mark.exists() and mark.read_text() == wanted and not options.again:
        return False
    if not (folder / f"frame_{number:04d}.trf").exists():
        if (folder / "run.json").exists():
            treacle(["resume", folder, "--frames", number, "-q"], end - time.monotonic())
        else:
            treacle(["run", path, "-o", folder, "--frames", number, "-q"], end - time.monotonic())
    treacle(["render", folder, "--frames", number, "--size", options.size, "--samples",
             options.samples, "-o", folder, "--name", "gallery", "-q", "--scene", path],
            end - time.monotonic())
    picture.write_bytes((folder / f"gallery_{number:04d}.png").read_bytes())
    mark.write_text(wanted)
    return True


def write_page(scenes, figures):
    lines = ["# Gallery", "",
             "Made by `make gallery` from the scenes in `scenes/`. Papers are named as in",
             "[the references](../math/references.bib).", ""]
    answered = [figure[2] for figure in figures]
    order = sorted(scenes, key=lambda name: (name not in answered, name))
    for name in order:
        if not (PAGE / f"{name}.png").exists():
            continue
        answers = "; ".join(f"{paper} figure {figure}: {what}"
                            for paper, figure, scene, _, what in figures if scene == name)
        where = scenes[name].relative_to(ROOT)
        lines += [f"## {name}", "", f"![{name}]({name}.png)", "",
                  f"[{where}](../../{where})" + (f", answers to {answers}." if answers else "."),
                  ""]
    waiting = [f"- {paper} figure {figure}, `{scene}`: {what}"
               for paper, figure, scene, _, what in figures if not (PAGE / f"{scene}.png").exists()]
    if waiting:
        lines += ["## Not drawn yet", "", *waiting, ""]
    (PAGE / "README.md").write_text("\n".join(lines))


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help="names; without any, all")
    parser.add_argument("--size", default="384x216", help="of a picture (default: 384x216)")
    parser.add_argument("--samples", default=64, type=int, help="a pixel (default: 64)")
    parser.add_argument("--minutes", default=30.0, type=float,
                        help="for one scene, simulation and picture (default: 30)")
    parser.add_argument("--again", action="store_true", help="draw pictures that are there, too")
    parser.add_argument("--figures", action="store_true", help="only scenes that answer to a figure")
    parser.add_argument("--check", action="store_true",
                        help="draw nothing, only say which figure has no scene")
    return parser.parse_args(arguments)


def draw_all(names, scenes, figures, options):
    failed = {}
    for at, name in enumerate(names, 1):
        if name not in scenes:
            failed[name] = "there is no such scene"
            continue
        start = time.monotonic()
        try:
            is_new = draw(scenes[name], share_of(name, figures), options)
            said = f"{time.monotonic() - start:.0f} s" if is_new else "as it was"
        except Trouble as trouble:
            failed[name] = str(trouble)
            said = f"FAILED: {trouble}"
        print(f"[{at}/{len(names)}] {name}: {said}", flush=True)
        write_page(scenes, figures)
    return failed


def main():
    options = parse(sys.argv[1:])
    figures, scenes = read_figures(), find_scenes()
    answered = list(dict.fromkeys(figure[2] for figure in figures if figure[2] in scenes))
    rest = [] if options.figures else [name for name in sorted(scenes) if name not in answered]
    failed = {}
    if not options.check:
        failed = draw_all(options.scenes or answered + rest, scenes, figures, options)
    missing = [figure for figure in figures if figure[2] not in scenes]
    for name, why in failed.items():
        print(f"make_gallery: {name}: {why}", file=sys.stderr)
    for paper, figure, scene, _, _ in missing:
        print(f"make_gallery: {paper} figure {figure} has no scene: there is no "
              f"scenes/{scene}.yaml", file=sys.stderr)
    sys.exit(1 if failed or missing else 0)


if __name__ == "__main__":
    main()
