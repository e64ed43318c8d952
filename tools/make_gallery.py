#!/usr/bin/env python3
"""Renders every scene at a modest size into docs/gallery, and its page.

usage: tools/make_gallery.py [SCENE ...]     with build/treacle; runs are kept in out/gallery

docs/gallery/figures.txt says which figure of which paper a scene answers to. Fails, at the end, if
a figure has no scene or a scene could not be drawn.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREACLE = ROOT / "build" / "treacle"
PAGE = ROOT / "docs" / "gallery"
RUNS = ROOT / "out" / "gallery"
SIZE = "480x270"
SAMPLES = "96"


def read_figures():
    """(paper, figure, scene, share, what) of each line."""
    figures = []
    for line in (PAGE / "figures.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            paper, figure, scene, share, what = line.split(None, 4)
            figures.append((paper, figure, scene, float(share), what))
    return figures


def scene_names():
    return sorted(path.stem for path in (ROOT / "scenes").glob("*.yaml"))


def treacle(*arguments):
    subprocess.run([TREACLE, *map(str, arguments)], check=True, cwd=ROOT)


def simulate(name):
    """The scene's run, gone on with if it was begun before; the number of its frames."""
    folder = RUNS / name
    if (folder / "run.json").exists():
        treacle("resume", folder, "-q")
    else:
        treacle("run", ROOT / "scenes" / f"{name}.yaml", "-o", folder, "-q")
    return len(list(folder.glob("frame_*.trf")))


def draw(name, share):
    frames = simulate(name)
    number = max(1, min(frames, round(share * frames)))
    treacle("render", RUNS / name, "--frames", number, "--size", SIZE, "--samples", SAMPLES, "-o",
            RUNS / name, "--name", "gallery", "-q")
    picture = RUNS / name / f"gallery_{number:04d}.png"
    (PAGE / f"{name}.png").write_bytes(picture.read_bytes())


def write_page(names, figures):
    lines = ["# Gallery", "",
             "Made by `make gallery` from the scenes in `scenes/`. Papers are named as in",
             "[the references](../math/references.bib).", ""]
    for name in names:
        if not (PAGE / f"{name}.png").exists():
            continue
        answers = "; ".join(f"{paper} figure {figure}: {what}"
                            for paper, figure, scene, _, what in figures if scene == name)
        lines += [f"## {name}", "", f"![{name}]({name}.png)", "",
                  f"[scenes/{name}.yaml](../../scenes/{name}.yaml)"
                  + (f", answers to {answers}." if answers else "."), ""]
    missing = [f for f in figures if f[2] not in names]
    if missing:
        lines += ["## Still to come", ""]
        lines += [f"- {paper} figure {figure}: {what}" for paper, figure, _, _, what in missing]
        lines += [""]
    (PAGE / "README.md").write_text("\n".join(lines))
    return missing


def main():
    figures, names = read_figures(), scene_names()
    wanted = sys.argv[1:] or names
    failed = [name for name in wanted if name not in names]
    for name in wanted:
        if name in names:
            print(name, flush=True)
            try:
                draw(name, next((f[3] for f in figures if f[2] == name), 1.0))
            except subprocess.CalledProcessError:
                failed.append(name)
    missing = write_page(names, figures)
    for name in failed:
        print(f"make_gallery: scene {name} could not be drawn", file=sys.stderr)
    for paper, figure, scene, _, _ in missing:
        print(f"make_gallery: {paper} figure {figure} has no scene: there is no "
              f"scenes/{scene}.yaml", file=sys.stderr)
    sys.exit(1 if failed or missing else 0)


if __name__ == "__main__":
    main()
