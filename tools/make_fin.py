#!/usr/bin/env python3
"""Writes a beat of a fin as a sequence of closed triangle meshes: fin_01.ply and so on.

usage: make_fin.py FOLDER

The fin is a plate along x, 6 mm thick, held at x = 0, that bends to and fro in z. All meshes have
the same vertices and triangles; after the last comes the first again.
"""

import math
import os
import struct
import sys

FRAMES = 16
ALONG, ACROSS = 16, 4  # segments
LENGTH, HEIGHT, THICKNESS = 0.24, 0.16, 0.006  # m
SWING = 0.07  # m, of the tip


def middle(s, phase):
    """The bent line at s in [0, 1]: x, z, and the direction across it."""
    def at(q):
        return SWING * q * q * math.sin(phase - 1.5 * q)
    slope = (at(s + 1e-4) - at(s - 1e-4)) / 2e-4 / LENGTH
    scale = 1 / math.sqrt(1 + slope * slope)
    return LENGTH * s, at(s), (-slope * scale, scale)


def vertices(phase):
    """Both sides of the plate, side by side: index ((i (ACROSS + 1) + j) 2 + side)."""
    for i in range(ALONG + 1):
        x, z, across = middle(i / ALONG, phase)
        for j in range(ACROSS + 1):
            y = HEIGHT * (j / ACROSS - 0.5)
            for side in (-0.5, 0.5):
                yield x + side * THICKNESS * across[0], y, z + side * THICKNESS * across[1]


def triangles():
    """Two faces for each rectangle of both sides and of the rim, seen from outside."""
    def at(i, j, side):
        return (i * (ACROSS + 1) + j) * 2 + side

    def quad(a, b, c, d):
        return [(a, b, c), (a, c, d)]
    out = []
    for i in range(ALONG):
        for j in range(ACROSS):
            out += quad(at(i, j, 1), at(i + 1, j, 1), at(i + 1, j + 1, 1), at(i, j + 1, 1))
            out += quad(at(i, j, 0), at(i, j + 1, 0), at(i + 1, j + 1, 0), at(i + 1, j, 0))
        out += quad(at(i, 0, 0), at(i + 1, 0, 0), at(i + 1, 0, 1), at(i, 0, 1))
        out += quad(at(i, ACROSS, 1), at(i + 1, ACROSS, 1), at(i + 1, ACROSS, 0), at(i, ACROSS, 0))
    for j in range(ACROSS):
        out += quad(at(0, j, 0), at(0, j, 1), at(0, j + 1, 1), at(0, j + 1, 0))
        out += quad(at(ALONG, j, 1), at(ALONG, j, 0), at(ALONG, j + 1, 0), at(ALONG, j + 1, 1))
    return out


def main():
    faces = triangles()
    for n in range(FRAMES):
        points = list(vertices(2 * math.pi * n / FRAMES))
        header = ("ply\nformat binary_little_endian 1.0\ncomment a fin, in metres\n"
                  f"element vertex {len(points)}\nproperty float x\nproperty float y\n"
                  f"property float z\nelement face {len(faces)}\n"
                  "property list uchar ushort vertex_indices\nend_header\n")
        with open(os.path.join(sys.argv[1], f"fin_{n + 1:02d}.ply"), "wb") as out:
            out.write(header.encode())
            for x in points:
                out.write(struct.pack("<3f", *x))
            for f in faces:
                out.write(struct.pack("<B3H", 3, *f))


if __name__ == "__main__":
    main()
