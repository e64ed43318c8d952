"""Strict readers of what "treacle export" writes, each from its format's definition alone.

Every reader gives a dict: "P" (n, 3), other attributes under their names in the file, and "triangles"
(m, 3) where there are any. They refuse what the definition does not allow.
"""

import ast
import json
import re
import struct
import xml.etree.ElementTree as ElementTree

import numpy

PLY_TYPES = {"float": "<f4", "uchar": "<u1", "int": "<i4", "uint": "<u4"}
VTK_TYPES = {"Float32": "<f4", "Int32": "<i4", "Int64": "<i8"}


def require(condition, what):
    if not condition:
        raise ValueError(what)


def read_ply(path):
    data = path.read_bytes()
    head, mark, body = data.partition(b"end_header\n")
    lines = head.decode("ascii").splitlines()
    require(mark and lines[:2] == ["ply", "format binary_little_endian 1.0"], "the head")
    elements = []
    for line in lines[2:]:
        words = line.split()
        if words[0] == "element":
            elements.append((words[1], int(words[2]), []))
        else:
            require(words[0] == "property", line)
            elements[-1][2].append(words[1:])
    require([e[0] for e in elements] in (["vertex"], ["vertex", "face"]), "the elements")
    kind = numpy.dtype([(p[1], PLY_TYPES[p[0]]) for p in elements[0][2]])
    vertices = numpy.frombuffer(body, kind, elements[0][1])
    out = {name: vertices[name] for name in kind.names}
    out["P"] = numpy.stack([vertices[a] for a in "xyz"], axis=1)
    at = vertices.nbytes
    if len(elements) == 2:
        require(elements[1][2] == [["list", "uchar", "int", "vertex_indices"]], "the faces")
        faces = numpy.frombuffer(body, numpy.dtype([("n", "<u1"), ("v", "<i4", 3)]),
                                 elements[1][1], at)
        require((faces["n"] == 3).all(), "triangles")
        out["triangles"] = faces["v"]
        at += faces.nbytes
    require(at == len(body), "bytes are left over")
    return out


def read_obj(path):
    points, normals, colours, faces, singles = [], [], [], [], []
    for line in path.read_text().splitlines():
        word, *rest = line.split()
        if word == "v":
            require(len(rest) in (3, 6), line)
            points.append([float(x) for x in rest[:3]])
            colours.append([float(x) for x in rest[3:]])
        elif word == "vn":
            normals.append([float(x) for x in rest])
        elif word == "f":
            corners = [corner.split("//") for corner in rest]
            require(len(corners) == 3 and all(a == b for a, b in corners), line)
            faces.append([int(a) - 1 for a, _ in corners])
        else:
            require(word == "p", line)
            singles.append(int(rest[0]) - 1)
    require(not singles or singles == list(range(len(points))), "the points")
    out = {"P": numpy.array(points), "N": numpy.array(normals), "Cd": numpy.array(colours)}
    if faces:
        out["triangles"] = numpy.array(faces)
    return out


def read_vtk(path):
    data = path.read_bytes()
    head, mark, body = data.partition(b'<AppendedData encoding="raw">\n_')
    require(mark and body.endswith(b"\n</AppendedData>\n</VTKFile>\n"), "the appended data")
    root = ElementTree.fromstring(head + b"</VTKFile>")
    require(root.get("header_type") == "UInt64" and root.get("byte_order") == "LittleEndian", "head")
    out, expected = {}, 0
    for array in root.iter("DataArray"):
        offset = int(array.get("offset"))
        require(offset == expected, "an offset")
        size, = struct.unpack_from("<Q", body, offset)
        values = numpy.frombuffer(body[offset + 8:offset + 8 + size], VTK_TYPES[array.get("type")])
        components = int(array.get("NumberOfComponents"))
        out[array.get("Name")] = values.reshape(-1, components) if components > 1 else values
        expected = offset + 8 + size
    require(expected == len(body) - len(b"\n</AppendedData>\n</VTKFile>\n"), "bytes are left over")
    piece = next(root.iter("Piece"))
    if root.get("type") == "PolyData":
        out["P"] = out.pop("Points")
        require(int(piece.get("NumberOfPoints")) == len(out["P"]), "the points")
        corners = 3 if piece.get("NumberOfPolys") else 1
        count = int(piece.get("NumberOfPolys") or piece.get("NumberOfVerts"))
        require((out["offsets"] == corners * numpy.arange(1, count + 1)).all(), "the offsets")
        out["triangles"] = out["connectivity"].reshape(-1, corners)
    else:
        image = root.find("ImageData")
        out["origin"] = [float(x) for x in image.get("Origin").split()]
        out["spacing"] = [float(x) for x in image.get("Spacing").split()]
        out["extent"] = [int(x) for x in piece.get("Extent").split()]
    return out


def read_usd(path):
    """(metadata, {property: {time: array}}, kind of the prim)."""
    text = path.read_text()
    require(text.startswith("#usda 1.0\n("), "the magic")
    require(text.count("{") == text.count("}") and text.count("(") == text.count(")"), "brackets")
    meta = dict(re.findall(r"^    (\w+) = \"?([^\"\n]+)\"?$", text.split(")\n", 1)[0], re.M))
    properties = {}
    for name, body in re.findall(r"^        \S+\[\] (\S+)\.timeSamples = \{\n(.*?)^        \}$",
                                 text, re.M | re.S):
        samples = {}
        for time, values in re.findall(r"^            (\d+): (\[.*\]),$", body, re.M):
            samples[int(time)] = numpy.array(ast.literal_eval(values))
        require(len(samples) == body.count("\n"), f"a sample of {name}")
        properties[name] = samples
    return meta, properties, re.search(r"    def (\w+) \"", text)[1]


class BinaryJson:
    """Houdini's binary JSON."""

    NUMBERS = {0x11: "<i1", 0x12: "<i2", 0x13: "<i4", 0x14: "<i8", 0x19: "<f4", 0x1a: "<f8"}

    def __init__(self, data):
        require(data[:5] == b"\x7fNSJb", "the magic")
        self.data, self.at = data, 5

    def take(self, count):
        require(self.at + count <= len(self.data), "the file is cut off")
        self.at += count
        return self.data[self.at - count:self.at]

    def length(self):
        first = self.take(1)[0]
        if first < 0xf1:
            return first
        size = {0xf2: 2, 0xf4: 4, 0xf8: 8}[first]
        return int.from_bytes(self.take(size), "little")

    def value(self, kind=None):
        kind = self.take(1)[0] if kind is None else kind
        if kind in self.NUMBERS:
            form = numpy.dtype(self.NUMBERS[kind])
            return numpy.frombuffer(self.take(form.itemsize), form)[0].item()
        if kind == 0x27:
            return self.take(self.length()).decode()
        if kind in (0x30, 0x31):
            return kind == 0x31
        if kind == 0x40:
            form = numpy.dtype(self.NUMBERS[self.take(1)[0]])
            count = self.length()
            return numpy.frombuffer(self.take(count * form.itemsize), form)
        if kind == 0x5b:
            return self.sequence(0x5d)
        require(kind == 0x7b, f"a value of kind {kind:#x}")
        return pairs(self.sequence(0x7d))

    def sequence(self, end):
        out = []
        while True:
            kind = self.take(1)[0]
            if kind == end:
                return out
            out.append(self.value(kind))


def pairs(items):
    require(len(items) % 2 == 0, "a key without a value")
    return dict(zip(items[::2], items[1::2]))


def read_bgeo(path):
    reader = BinaryJson(path.read_bytes())
    geo = pairs(reader.value())
    require(reader.at == len(reader.data), "bytes are left over")
    out = {}
    for definition, body in pairs(geo["attributes"])["pointattributes"]:
        values = pairs(pairs(body)["values"])
        raw = values["rawpagedata"]
        size = values["size"]
        require(list(values["packing"]) == [size], "the packing")
        require(len(raw) == size * geo["pointcount"], "the length of an attribute")
        out[pairs(definition)["name"]] = raw.reshape(-1, size) if size > 1 else raw
    indices = pairs(pairs(geo["topology"])["pointref"])["indices"]
    require(len(indices) == geo["vertexcount"], "the vertices")
    if geo["primitivecount"] > 0:
        (kind, run), = geo["primitives"]
        run = pairs(run)
        require(pairs(kind)["type"] == "Polygon_run", "the primitives")
        require(list(run["nvertices_rle"]) == [3, geo["primitivecount"]], "the run")
        out["triangles"] = indices.reshape(-1, 3)[:, [0, 2, 1]]
    return out


def read_glb(path):
    data = path.read_bytes()
    magic, version, total = struct.unpack_from("<III", data)
    require((magic, version, total) == (0x46546C67, 2, len(data)), "the head")
    size, kind = struct.unpack_from("<II", data, 12)
    require(kind == 0x4E4F534A and size % 4 == 0, "the JSON chunk")
    scene = json.loads(data[20:20 + size])
    at = 20 + size
    size, kind = struct.unpack_from("<II", data, at)
    require(kind == 0x004E4942 and at + 8 + size == total, "the binary chunk")
    require(scene["buffers"] == [{"byteLength": size}], "the buffer")
    body = data[at + 8:]

    def accessor(number):
        a = scene["accessors"][number]
        view = scene["bufferViews"][a["bufferView"]]
        form = {5126: "<f4", 5125: "<u4"}[a["componentType"]]
        components = {"SCALAR": 1, "VEC3": 3}[a["type"]]
        require(view["byteLength"] == a["count"] * components * 4, "a view")
        values = numpy.frombuffer(body, form, a["count"] * components, view["byteOffset"])
        values = values.reshape(-1, components) if components > 1 else values
        if "min" in a:
            require((values.min(axis=0) == numpy.float32(a["min"])).all(), "min")
            require((values.max(axis=0) == numpy.float32(a["max"])).all(), "max")
        return values

    primitive, = scene["meshes"][0]["primitives"]
    out = {name: accessor(number) for name, number in primitive["attributes"].items()}
    out["P"] = out.pop("POSITION")
    if primitive["mode"] == 4:
        out["triangles"] = accessor(primitive["indices"]).reshape(-1, 3).astype(int)
    return out
