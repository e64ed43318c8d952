#!/usr/bin/python3
"""Reads Treacle's frame and state files, written from docs/formats/frame.md alone.

    read_frame.py FILE          prints the head, the arrays and the extent of the particles

    import read_frame
    frame = read_frame.read("frame_0001.trf")
    frame.time, frame.arrays["velocity"], frame.positions()
"""

import ctypes
import dataclasses
import re
import struct
import sys

import numpy

MAGIC = b"\x89TRCL\r\n\x1a"
VERSION = 1
HEAD = struct.Struct("<8sIIqqdd3dd3iIQQII")
ARRAY = struct.Struct("<24sIIqQ")
CHUNK = struct.Struct("<IIQ")
CHUNK_RAW = 1 << 20
TYPES = ["<u1", "<u2", "<i4", "<i8", "<u8", "<f4", "<f8"]
TILE_CELLS = 8

_blosc = ctypes.CDLL("libblosc.so.1")
_blosc.blosc_decompress_ctx.restype = ctypes.c_int
_blosc.blosc_decompress_ctx.argtypes = [
    ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_xxhash = ctypes.CDLL("libxxhash.so.0")
_xxhash.XXH3_64bits.restype = ctypes.c_uint64
_xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


class FormatError(Exception):
    """The file is damaged or is none of ours."""


def require(condition, text):
    if not condition:
        raise FormatError(text)


def checksum(data):
    return _xxhash.XXH3_64bits(data, len(data))


@dataclasses.dataclass
class Frame:
    kind: int
    number: int
    step: int
    time: float
    fps: float
    origin: tuple
    cell: float
    cells: tuple
    scene_hash: int
    arrays: dict

    def positions(self):
        """World positions of the particles, m, float64."""
        first = self.arrays["tile_first"]
        tiles = numpy.repeat(self.arrays["tile_coord"], numpy.diff(first), axis=0)
        local = self.arrays["position"].astype(numpy.float64)
        return numpy.array(self.origin) + self.cell * (TILE_CELLS * tiles + local)


def unpack(chunk, raw_bytes):
    """One blosc buffer, after a look at the sizes in its own head."""
    raw, _, stored = struct.unpack_from("<III", chunk, 4)
    require(raw == raw_bytes and stored == len(chunk), "a chunk contradicts its table")
    out = ctypes.create_string_buffer(raw_bytes)
    got = _blosc.blosc_decompress_ctx(chunk, out, raw_bytes, 1)
    require(got == raw_bytes, "a chunk does not unpack")
    return out.raw


def read_array(data, at, chunks, nbytes, name):
    """The bytes of one array and the place in the file after it."""
    parts = []
    for index, (stored, raw, expected) in enumerate(chunks):
        part = data[at:at + stored]
        require(len(part) == stored, f"{name}: the file is cut short")
        require(raw == min(CHUNK_RAW, nbytes - index * CHUNK_RAW), f"{name}: wrong chunk size")
        require(checksum(part) == expected, f"{name}: chunk {index}: wrong checksum")
        parts.append(unpack(part, raw))
        at += stored
    return b"".join(parts), at


def read_tables(data, array_count, chunk_count):
    """Records of arrays and chunks, and where the chunks begin."""
    begin = HEAD.size + 8
    middle = begin + array_count * ARRAY.size
    end = middle + chunk_count * CHUNK.size
    require(end + 8 <= len(data), "the file is cut short")
    require(checksum(data[begin:end]) == struct.unpack_from("<Q", data, end)[0],
            "wrong checksum of the tables")
    arrays = list(ARRAY.iter_unpack(data[begin:middle]))
    chunks = list(CHUNK.iter_unpack(data[middle:end]))
    return arrays, chunks, end + 8


def parse(data):
    require(data[:8] == MAGIC, "not a frame file")
    require(len(data) >= HEAD.size + 8, "the file is cut short")
    version = struct.unpack_from("<I", data, 8)[0]
    require(version == VERSION, f"version {version}, this reader knows {VERSION}")
    require(checksum(data[:HEAD.size]) == struct.unpack_from("<Q", data, HEAD.size)[0],
            "wrong checksum of the head")
    (_, _, kind, number, step, time, fps, ox, oy, oz, cell, nx, ny, nz, array_count, scene_hash,
     chunk_count, chunk_raw, zero) = HEAD.unpack_from(data)
    require(kind in (1, 2) and chunk_raw == CHUNK_RAW and zero == 0, "wrong value in the head")
    records, chunks, at = read_tables(data, array_count, chunk_count)
    frame = Frame(kind, number, step, time, fps, (ox, oy, oz), cell, (nx, ny, nz), scene_hash, {})
    used = 0
    for name_bytes, type_index, components, count, n in records:
        name = name_bytes.rstrip(b"\0").decode("ascii")
        require(re.fullmatch("[a-z0-9_]{1,23}", name) and name not in frame.arrays, "a bad name")
        require(type_index < len(TYPES) and 1 <= components <= 16 and count >= 0,
                f"{name}: a bad shape")
        dtype = numpy.dtype(TYPES[type_index])
        nbytes = count * components * dtype.itemsize
        require(n == -(-nbytes // CHUNK_RAW), f"{name}: wrong number of chunks")
        raw, at = read_array(data, at, chunks[used:used + n], nbytes, name)
        require(len(raw) == nbytes, f"{name}: chunks are missing")
        used += n
        values = numpy.frombuffer(raw, dtype)
        frame.arrays[name] = values if components == 1 else values.reshape(count, components)
    require(used == len(chunks) and at == len(data), "the file has bytes after its end")
    return frame


def read(path):
    with open(path, "rb") as file:
        return parse(file.read())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    try:
        frame = read(sys.argv[1])
    except (OSError, FormatError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    print(f"{['', 'picture', 'state'][frame.kind]} {frame.number}, step {frame.step}, "
          f"time {frame.time:g} s, {frame.fps:g} frames a second")
    print(f"origin {frame.origin} m, cell {frame.cell:g} m, cells {frame.cells}, "
          f"scene {frame.scene_hash:016x}")
    for name, values in frame.arrays.items():
        print(f"  {name:24} {values.dtype.name:8} {values.shape}")
    if "position" in frame.arrays and len(frame.arrays["position"]) > 0:
        places = frame.positions()
        print(f"particles from {places.min(axis=0)} to {places.max(axis=0)} m")


if __name__ == "__main__":
    main()
