#!/usr/bin/env python3
"""Holds a picture of a coil against its simulation, in numbers.

usage: tools/check_coil.py FOLDER [FRAME]      the folder of a run of scenes/demo.yaml, for example

Draws the frame (the last one without FRAME) from two sides as a black shape, and compares: the
outline of the pile has as many bumps as the thread has made turns (`treacle coiling`, up to that
frame; the first winding may lie flat under the others, so one may be missing), and the liquid is one
region. Exit code 0 if so.
"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREACLE = ROOT / "build" / "treacle"
WIDTH, HEIGHT = 240, 400


def read_png(path):
    """Rows of brightness, 0 to 255, of an 8-bit RGB file."""
    data, at, packed = path.read_bytes(), 8, b""
    width, height = struct.unpack(">II", data[16:24])
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    raw, stride, rows = zlib.decompress(packed), 3 * width, []
    before = bytearray(stride)
    for y in range(height):
        filter_kind = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left = row[x - 3] if x >= 3 else 0
            corner = before[x - 3] if x >= 3 else 0
            up = before[x]
            paeth = min((abs(up - corner), 0, left), (abs(left - corner), 1, up),
                        (abs(left + up - 2 * corner), 2, corner))[2]
            row[x] = (row[x] + (0, left, up, (left + up) // 2, paeth)[filter_kind]) & 255
        rows.append([sum(row[3 * x:3 * x + 3]) // 3 for x in range(width)])
        before = row
    return rows


def silhouette(folder, frame, side, size):
    """True where liquid is, seen along an axis: 0 from x, 2 from z."""
    box, margin = size
    target = [(low + high) / 2 for low, high in box]
    eye = list(target)
    eye[side] += 20 * margin
    with tempfile.TemporaryDirectory() as to:
        subprocess.run(
            [TREACLE, "render", folder, "--frames", str(frame), "--size", f"{WIDTH}x{HEIGHT}",
             "--samples", "8", "--raw", "-q", "-o", to, "--set", "look.liquid.kind=paint", "--set",
             "look.liquid.colour=[0,0,0]", "--set", "look.ground=false", "--set",
             "camera.eye=" + str(eye), "--set", "camera.target=" + str(target), "--set",
             f"camera.field_of_view={1.1 / 20}", "--set", "camera.shutter=0"],
            check=True, cwd=ROOT)
        rows = read_png(next(pathlib.Path(to).glob("picture_*.png")))
    return [[value < 70 for value in row] for row in rows]


def count_bumps(mask, is_right, least=2):
    widths = [row.count(True) and (len(row) - row[::-1].index(True) - row.index(True))
              for row in mask]
    edges = []
    for row, width in zip(mask, widths):
        edge = (len(row) - 1 - row[::-1].index(True) if is_right
                else len(row) - 1 - row.index(True)) if width else 0
        edges.append(edge if 3 * width >= max(widths) else 0)
    bumps, rises, high, low = 0, True, 0, 0
    for edge in edges:
        high, low = max(high, edge), min(low, edge)
        if rises and high - edge >= least:
            bumps, rises, low = bumps + 1, False, edge
        elif not rises and edge - low >= least:
            rises, high = True, edge
    return bumps


def count_regions(mask):
    todo = {(x, y) for y, row in enumerate(mask) for x, is_on in enumerate(row) if is_on}
    sizes = []
    while todo:
        stack, size = [todo.pop()], 1
        while stack:
            x, y = stack.pop()
            near = {(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)} & todo
            todo -= near
            size += len(near)
            stack += near
        sizes.append(size)
    return sizes


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    last = max(int(path.stem[-4:]) for path in folder.glob("frame_*.trf"))
    frame = int(sys.argv[2]) if len(sys.argv) > 2 else last
    text = subprocess.run([TREACLE, "coiling", folder, "--frames", f"1:{frame}"], check=True, cwd=ROOT,
                          capture_output=True, text=True).stdout
    turns = float(re.search(r"([\d.]+) turns", text)[1])
    info = subprocess.run([TREACLE, "check", folder / "scene.yaml"], check=True, cwd=ROOT,
                          capture_output=True, text=True).stdout
    grid = re.search(r"(\d+) x (\d+) x (\d+) cells of ([\d.e-]+) (\w+)", info).groups()
    cell = float(grid[3]) * {"m": 1.0, "cm": 0.01, "mm": 0.001}[grid[4]]
    sizes = [int(count) * cell for count in grid[:3]]
    box = [(-sizes[0] / 2, sizes[0] / 2), (0.0, sizes[1]), (-sizes[2] / 2, sizes[2] / 2)]
    is_good = True
    for side in (0, 2):
        mask = silhouette(folder, frame, side, (box, sizes[1]))
        regions = count_regions(mask)
        bumps = [count_bumps(mask, is_right) for is_right in (False, True)]
        print(f"frame {frame} from {'x' if side == 0 else 'z'}: {turns:.2f} turns, "
              f"{bumps[0]} bumps left, {bumps[1]} right, {len(regions)} region(s)")
        is_good = is_good and len(regions) == 1
        is_good = is_good and all(int(turns) - 1 <= count <= int(turns) + 1 for count in bumps)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
