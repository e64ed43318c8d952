#!/usr/bin/env python3
"""Writes the Stanford bunny as a PLY mesh, 10 cm high, from the npm package `bunny` (public domain).

usage: make_bunny.py [FILE]    (default: build/bunny.ply)

The package is fetched with `npm pack`. The scan has holes under its feet: Treacle warns of them and
closes them as well as can be.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

HEIGHT = 0.10  # m


def fetch(folder):
    """The text of the package's index.js."""
    if shutil.which("npm") is None:
        sys.exit("make_bunny: npm is not installed; it is needed to fetch the package `bunny`")
    done = subprocess.run(["npm", "pack", "bunny"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("make_bunny: `npm pack bunny` failed (is there a network?):\n" + done.stderr[-800:])
    (name,) = [n for n in os.listdir(folder) if n.endswith(".tgz")]
    with tarfile.open(os.path.join(folder, name)) as tar:
        return tar.extractfile("package/index.js").read().decode()


def numbers(text, name):
    """The list of lists that is exported under a name."""
    found = re.search(r"exports\.%s\s*=\s*(\[\s*\[.*?\]\s*\])" % name, text, re.S)
    if found is None:
        sys.exit("make_bunny: there are no %s in the package" % name)
    return json.loads(found.group(1))


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "build/bunny.ply"
    with tempfile.TemporaryDirectory() as folder:
        text = fetch(folder)
    points, faces = numbers(text, "positions"), numbers(text, "cells")
    low = [min(p[a] for p in points) for a in range(3)]
    high = [max(p[a] for p in points) for a in range(3)]
    scale = HEIGHT / (high[1] - low[1])
    with open(path, "wb") as out:
        out.write(b"ply\nformat binary_little_endian 1.0\n")
        out.write(b"element vertex %d\n" % len(points))
        out.write(b"property float x\nproperty float y\nproperty float z\n")
        out.write(b"element face %d\nproperty list uchar int vertex_indices\n" % len(faces))
        out.write(b"end_header\n")
        for p in points:  # about the middle of its base
            x = [scale * (p[0] - 0.5 * (low[0] + high[0])), scale * (p[1] - low[1]),
                 scale * (p[2] - 0.5 * (low[2] + high[2]))]
            out.write(struct.pack("<3f", *x))
        for f in faces:
            out.write(struct.pack("<B3i", 3, *f))
    print("%s: %d points, %d triangles" % (path, len(points), len(faces)))


main()
