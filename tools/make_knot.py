#!/usr/bin/env python3
"""Writes scenes/meshes/knot.ply: a tube along a trefoil, as a closed triangle mesh.

usage: make_knot.py FILE
"""

import math
import struct
import sys

ALONG, AROUND = 160, 16  # segments of the tube
TUBE = 0.022  # m, its radius
SIZE = 0.05  # m, of the knot


def centre(t):
    """The trefoil at t in [0, 2 pi): a (2, 3) curve on a torus."""
    r = 2 + math.cos(3 * t)
    return [SIZE * r * math.cos(2 * t), SIZE * math.sin(3 * t), SIZE * r * math.sin(2 * t)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a):
    length = math.sqrt(sum(x * x for x in a))
    return [x / length for x in a]


def ring(i):
    """The vertices of a ring around the tube."""
    t, h = 2 * math.pi * i / ALONG, 1e-4
    before, here, after = centre(t - h), centre(t), centre(t + h)
    tangent = unit([b - a for a, b in zip(before, after)])
    bend = [a - 2 * b + c for a, b, c in zip(before, here, after)]
    across = unit(cross(tangent, bend))
    up = cross(across, tangent)
    for k in range(AROUND):
        c, s = math.cos(2 * math.pi * k / AROUND), math.sin(2 * math.pi * k / AROUND)
        yield [p + TUBE * (c * u + s * v) for p, u, v in zip(here, up, across)]


def main():
    vertices = [x for i in range(ALONG) for x in ring(i)]
    faces = []
    for i in range(ALONG):
        for k in range(AROUND):
            j, m = (i + 1) % ALONG, (k + 1) % AROUND
            a, b = i * AROUND + k, j * AROUND + k
            c, d = j * AROUND + m, i * AROUND + m
            faces += [(a, c, b), (a, d, c)]
    header = ("ply\nformat binary_little_endian 1.0\ncomment a trefoil, in metres\n"
              f"element vertex {len(vertices)}\nproperty float x\nproperty float y\n"
              f"property float z\nelement face {len(faces)}\n"
              "property list uchar ushort vertex_indices\nend_header\n")
    with open(sys.argv[1], "wb") as out:
        out.write(header.encode())
        for x in vertices:
            out.write(struct.pack("<3f", *x))
        for f in faces:
            out.write(struct.pack("<B3H", 3, *f))


if __name__ == "__main__":
    main()
