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
VERSIONS = (1, 2)
HEAD = struct.Struct("<8sIIqqdd3dd3iIQQII")
ARRAY = struct.Struct("<24sIIqQ")
CHUNK = struct.Struct("<IIQ")
CHUNK_RAW = 1 << 20
CODINGS = {"position": 1, "velocity": 2, "id": 3}  # of pictures, since version 2
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


class Packed:
    """Bytes of a packed chunk, taken from the front."""

    def __init__(self, data):
        self.data, self.at = numpy.frombuffer(data, numpy.uint8), 0

    def take(self, size):
        require(self.at + size <= len(self.data), "a packed chunk is too short")
        self.at += size
        return self.data[self.at - size:self.at]

    def integer(self, size, signed=False):
        return int.from_bytes(self.take(size).tobytes(), "little", signed=signed)

    def bits(self, width, count):
        """`count` numbers of `width` bits, up to the end of a byte."""
        bits = numpy.unpackbits(self.take((width * count + 7) // 8), bitorder="little")
        require(not bits[width * count:].any(), "a packed chunk has bits after its end")
        scale = numpy.uint64(1) << numpy.arange(width, dtype=numpy.uint64)
        return (bits[:width * count].reshape(count, width).astype(numpy.uint64) * scale).sum(
            axis=1, dtype=numpy.uint64)


def unpack_positions(packed, count):
    out = numpy.empty(count, "<f4")
    for axis in range(3):
        members = len(out[axis::3])
        kind = packed.integer(1)
        require(kind in (0, 1), "a plane of an unknown kind")
        if kind == 1:
            value = packed.take(4 if members > 0 else 0).tobytes()
            out[axis::3] = numpy.frombuffer(value, "<f4")[0] if members > 0 else 0.0
            continue
        cell = (4 + numpy.cumsum(packed.bits(4, members).astype(numpy.int64))) % 16 - 4
        out[axis::3] = cell + (packed.bits(13, members).astype(numpy.float64) + 0.5) / 8192
    return out


def unpack_velocities(packed, count):
    out = numpy.zeros(count, "<f4")
    for begin in range(0, count, 768):
        block = out[begin:begin + 768]
        exponent = packed.integer(1)
        if exponent == 255:
            block[:] = numpy.frombuffer(packed.take(4 * len(block)).tobytes(), "<f4")
        elif exponent != 0:
            for axis in range(3):
                low, width = packed.integer(2, signed=True), packed.integer(1)
                require(width <= 16, "a block of velocities is too wide")
                steps = low + packed.bits(width, len(block[axis::3])).astype(numpy.float64)
                block[axis::3] = steps * 2.0 ** (exponent - 150)
    return out


def unpack_ids(packed, count):
    out = numpy.zeros(count, "<u8")
    for begin in range(0, count, 256):
        block = out[begin:begin + 256]
        for size, shift in ((2, 48), (6, 0)):
            low, width = packed.integer(size), packed.integer(1)
            require(width <= 8 * size, "a block of ids is too wide")
            part = numpy.uint64(low) + packed.bits(width, len(block))
            require((part < 1 << 8 * size).all(), "an id is too large")
            block |= part << numpy.uint64(shift)
    return out


def unpack(chunk, raw_bytes, coding):
    """One blosc buffer, after a look at the sizes in its own head, and what is packed in it."""
    raw, _, stored = struct.unpack_from("<III", chunk, 4)
    require(stored == len(chunk) and (raw <= raw_bytes if coding else raw == raw_bytes),
            "a chunk contradicts its table")
    out = ctypes.create_string_buffer(raw)
    got = _blosc.blosc_decompress_ctx(chunk, out, raw, 1)
    require(got == raw, "a chunk does not unpack")
    if coding == 0:
        return out.raw
    packed, size = Packed(out.raw), 8 if coding == 3 else 4
    values = (unpack_positions, unpack_velocities, unpack_ids)[coding - 1](packed, raw_bytes // size)
    require(packed.at == len(packed.data), "a packed chunk is too long")
    return values.tobytes()


def read_array(data, at, chunks, nbytes, name, coding):
    """The bytes of one array and the place in the file after it; chunks are plain or packed."""
    parts = []
    for index, (stored, raw, expected) in enumerate(chunks):
        raw, found = raw & 0xFFFFFF, raw >> 24
        require(found in (0, coding), f"{name}: a coding that it cannot have")
        part = data[at:at + stored]
        require(len(part) == stored, f"{name}: the file is cut short")
        require(raw == min(CHUNK_RAW, nbytes - index * CHUNK_RAW), f"{name}: wrong chunk size")
        require(checksum(part) == expected, f"{name}: chunk {index}: wrong checksum")
        parts.append(unpack(part, raw, found))
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
    require(version in VERSIONS, f"version {version}, this reader knows {VERSIONS}")
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
        coding = CODINGS.get(name, 0) if kind == 1 and version >= 2 else 0
        shape = ("<u8", 1) if coding == 3 else ("<f4", 3)
        coding = coding if (TYPES[type_index], components) == shape else 0
        raw, at = read_array(data, at, chunks[used:used + n], nbytes, name, coding)
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
