"""Reads the frame that tests/unit/test_frame_python.c wrote and compares every value; then damages
it and expects the reader to notice. A picture keeps what the format promises, a state all. Exit
code 0: all as it should be."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import read_frame

PARTICLES = 300000


def check_head(frame):
    assert frame.kind in (1, 2) and (frame.number, frame.step) == (7, 1 << 40)
    assert (frame.time, frame.fps, frame.cell) == (0.1, 24.0, 0.01)
    assert frame.origin == (-1.0, 0.5, 1e-3) and frame.cells == (64, 32, 1)
    assert frame.scene_hash == 0xFEDCBA9876543210
    assert list(frame.arrays) == ["tile_first", "tile_coord", "position", "velocity", "id",
                                  "material", "small", "wide", "nothing"]


def check_arrays(frame):
    i = numpy.arange(PARTICLES, dtype=numpy.int64)
    position = ((i[:, None] * 7 + numpy.arange(3) * 31) % 8192) / 1024.0
    a = frame.arrays
    velocity = ((i[:, None] * 13 + numpy.arange(3) * 17) % 1000 - 500) / 64.0
    assert a["position"].dtype == numpy.float32 and a["velocity"].dtype == numpy.float32
    assert (abs(a["position"] - position) <= (1 / 16384 if frame.kind == 1 else 0)).all()
    assert (a["position"] == position).all() == (frame.kind == 2)
    assert (abs(a["velocity"] - velocity) <= (8 / 4096 if frame.kind == 1 else 0)).all()
    assert (a["id"] == i.astype(numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)).all()
    assert (a["material"] == i % 251).all()
    assert a["small"].tolist() == [0, 1, 65535]
    assert a["wide"].tolist() == [[-1.5, 0.0], [1e300, 5e-324]]
    assert a["nothing"].shape == (0, 3)


def check_positions(frame):
    places = frame.positions()
    near = frame.cell / 16384 * 1.000001 if frame.kind == 1 else 0.0
    for particle, tile in ((0, (0, 1, 2)), (999, (0, 1, 2)), (1000, (100, 200, -300)),
                           (PARTICLES - 1, (100, 200, -300))):
        for k in range(3):
            local = ((particle * 7 + k * 31) % 8192) / 1024.0
            place = frame.origin[k] + frame.cell * (8 * tile[k] + local)
            assert abs(places[particle][k] - place) <= near


def check_damage(data):
    for at in list(range(0, 700, 7)) + [len(data) // 2, len(data) - 1]:
        broken = bytearray(data)
        broken[at] ^= 0x10
        for bad in (bytes(broken), data[:at]):
            try:
                read_frame.parse(bad)
            except read_frame.FormatError:
                continue
            raise AssertionError(f"damage at byte {at} was not noticed")


def main():
    data = pathlib.Path(sys.argv[1]).read_bytes()
    frame = read_frame.parse(data)
    check_head(frame)
    check_arrays(frame)
    check_positions(frame)
    check_damage(data)


if __name__ == "__main__":
    main()
