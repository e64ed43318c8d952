"""What is exported is read back by readers of other makers, with equal counts, bounds and values."""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import numpy

import exchange
import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
import read_frame

ERR_USAGE, ERR_SCENE = 2, 3

# Warm honey over cold: every attribute that frames can have.
SCENE = harness.SCENE.replace("  honey:\n", "  honey:\n    conductivity: 0.5\n    heat_capacity: 2000\n"
                              "    viscosity_law: {kind: arrhenius, activation: 5000 K, "
                              "reference: 300 K}\n    colour: [0.9, 0.5, 0.1]\n") \
    .replace("    spin: [0, 0, 5]\n",
             "    velocity: [0.1, -0.4, 0.2]\n    temperature: {ramp: {from: [0, 14 cm, 0], "
             "to: [0, 26 cm, 0], a: 300, b: 340}}\n") + "particles: {age: true}\n"


def z_up(v):
    return numpy.stack([v[..., 0], -v[..., 2], v[..., 1]], axis=-1)


def turned(quaternion, v):
    w, u = quaternion[0], quaternion[1:]
    return v + 2 * numpy.cross(u, numpy.cross(u, v) + w * v)


class Export(harness.Case):
    def setUp(self):
        super().setUp()
        self.scene(text=SCENE)
        self.treacle("run", "drop.yaml", "-o", "out", "--frames", 3, "-q")
        self.frame = read_frame.read(str(self.dir / "out/frame_0003.trf"))

    def export(self, kind, *options, ending=None, what="surface", frame=3):
        self.treacle("export", "out", "--to", kind, "--frames", frame, "-o", "ex", "--what", what,
                     *options)
        self.assert_no_leftovers("ex")
        return self.dir / f"ex/{what}_{frame:04}.{ending or kind}"

    def assert_near(self, a, b, what=""):
        numpy.testing.assert_allclose(numpy.asarray(a, float), numpy.asarray(b, float), rtol=2e-6,
                                      atol=1e-9, err_msg=what)

    def test_surfaces_agree_in_all_formats(self):
        ply = exchange.read_ply(self.export("ply"))
        self.assertGreater(len(ply["triangles"]), 500)
        velocity = numpy.stack([ply[a] for a in ("vx", "vy", "vz")], axis=1)
        colour = numpy.stack([ply[a] for a in "rgb"], axis=1)
        normal = numpy.stack([ply[a] for a in ("nx", "ny", "nz")], axis=1)
        self.assert_near(numpy.linalg.norm(normal, axis=1), numpy.ones(len(normal)))
        self.assert_near(colour, numpy.tile([0.9, 0.5, 0.1], (len(colour), 1)))
        for kind, ending, read, v, cd in (("vtk", "vtp", exchange.read_vtk, "v", "Cd"),
                                          ("bgeo", None, exchange.read_bgeo, "v", "Cd"),
                                          ("glb", None, exchange.read_glb, "_VELOCITY", "COLOR_0")):
            other = read(self.export(kind, ending=ending))
            self.assert_near(other["P"], ply["P"], kind)
            self.assert_near(other[v], velocity, kind)
            self.assert_near(other[cd], colour, kind)
            temperature = other["_TEMPERATURE" if kind == "glb" else "temperature"]
            self.assert_near(temperature, ply["temperature"], kind)
            numpy.testing.assert_array_equal(other["triangles"], ply["triangles"])
        obj = exchange.read_obj(self.export("obj"))
        self.assert_near(obj["P"], ply["P"])
        numpy.testing.assert_array_equal(obj["triangles"], ply["triangles"])

    def test_colours_are_bytes_for_those_who_know_no_others(self):
        for what in ("surface", "particles"):
            ply = exchange.read_ply(self.export("ply", what=what))
            for linear, byte in zip("rgb", ("red", "green", "blue")):
                x = numpy.clip(ply[linear].astype("f8"), 0, 1)
                coded = numpy.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)
                self.assertEqual(ply[byte].dtype, numpy.uint8)
                self.assertLessEqual(numpy.abs(ply[byte] - 255 * coded).max(), 0.5 + 1e-6)

    def test_a_series_for_paraview_has_its_times(self):
        self.treacle("export", "out", "--to", "vtk", "--frames", "2:3", "-o", "ex")
        series = xml.etree.ElementTree.parse(self.dir / "ex/surface.pvd").getroot()
        self.assertEqual(series.get("type"), "Collection")
        sets = series.findall("Collection/DataSet")
        self.assertEqual(len(sets), 2)
        for one in sets:
            self.assertTrue((self.dir / "ex" / one.get("file")).is_file())
            number = int(re.search(r"_(\d+)\.vtp$", one.get("file"))[1])
            self.assertAlmostEqual(float(one.get("timestep")), (number - 1) / 24, places=9)

    def test_gltf_has_a_material(self):
        data = self.export("glb").read_bytes()
        size = int.from_bytes(data[12:16], "little")
        scene = json.loads(data[20:20 + size])
        self.assertEqual(scene["meshes"][0]["primitives"][0]["material"], 0)
        surface = scene["materials"][0]["pbrMetallicRoughness"]
        self.assertEqual((surface["baseColorFactor"], surface["metallicFactor"]), ([1] * 4, 0))

    def test_particles_are_the_frames(self):
        places = self.frame.positions()
        volume = self.frame.arrays["volume"]
        radius = (volume / (4 / 3 * numpy.pi)) ** (1 / 3)
        names = {"ply": "pscale", "vtk": "pscale", "bgeo": "pscale", "glb": "_PSCALE"}
        for kind, ending, read in (("ply", None, exchange.read_ply),
                                   ("vtk", "vtp", exchange.read_vtk),
                                   ("bgeo", None, exchange.read_bgeo),
                                   ("glb", None, exchange.read_glb),
                                   ("obj", None, exchange.read_obj)):
            got = read(self.export(kind, what="particles", ending=ending))
            self.assert_near(got["P"], places.astype("f4"), kind)
            if kind in names:
                self.assert_near(got[names[kind]], radius, kind)
        bgeo = exchange.read_bgeo(self.dir / "ex/particles_0003.bgeo")
        numpy.testing.assert_array_equal(bgeo["id"], self.frame.arrays["id"].astype("i8"))
        self.assert_near(bgeo["v"], self.frame.arrays["velocity"])
        self.assert_near(bgeo["temperature"], self.frame.arrays["temperature"])
        self.assert_near(bgeo["density"], numpy.full(len(places), 1400.0))
        emitted = self.frame.arrays["id"] >> 48 > 0
        self.assertGreater(emitted.sum(), 20)
        self.assert_near(bgeo["age"][~emitted], numpy.full((~emitted).sum(), 2 / 24))
        self.assertTrue(((bgeo["age"][emitted] >= 0) & (bgeo["age"][emitted] < 2 / 24)).all())
        # Born at 26 cm + 2 cm and 0.5 m/s downwards: what is older has come further down.
        fallen = -places[emitted, 1]
        self.assertGreater(numpy.corrcoef(fallen, bgeo["age"][emitted])[0, 1], 0.8)
        law = 10.0 * numpy.exp(5000.0 * (1 / bgeo["temperature"].astype("f8") - 1 / 300.0))
        numpy.testing.assert_allclose(bgeo["viscosity"], law, rtol=1e-4)
        ply = exchange.read_ply(self.dir / "ex/particles_0003.ply")
        ids = ply["id_low"].astype("u8") | ply["id_high"].astype("u8") << 32
        numpy.testing.assert_array_equal(ids, self.frame.arrays["id"])

    def test_usd_has_a_sample_for_every_frame(self):
        self.treacle("export", "out", "--to", "usd", "--frames", "2:3", "-o", "ex")
        meta, usd, kind = exchange.read_usd(self.dir / "ex/surface.usda")
        self.assertEqual((meta["metersPerUnit"], meta["upAxis"], meta["timeCodesPerSecond"],
                          meta["startTimeCode"], meta["endTimeCode"]), ("1", "Y", "24", "2", "3"))
        self.assertEqual(kind, "Mesh")
        for frame in (2, 3):
            ply = exchange.read_ply(self.export("ply", frame=frame))
            self.assert_near(usd["points"][frame], ply["P"])
            self.assert_near(usd["velocities"][frame][:, 1], ply["vy"])
            self.assert_near(usd["primvars:temperature"][frame], ply["temperature"])
            numpy.testing.assert_array_equal(
                usd["faceVertexIndices"][frame].reshape(-1, 3), ply["triangles"])
            self.assert_near(usd["extent"][frame], [ply["P"].min(axis=0), ply["P"].max(axis=0)])
            self.assertEqual(len(usd["faceVertexCounts"][frame]), len(ply["triangles"]))
        self.treacle("export", "out", "--to", "usd", "--what", "particles", "-o", "ex", "--up", "z")
        meta, usd, kind = exchange.read_usd(self.dir / "ex/particles.usda")
        self.assertEqual((kind, meta["upAxis"]), ("Points", "Z"))
        self.assert_near(usd["points"][3], z_up(self.frame.positions().astype("f4")))
        radius = (self.frame.arrays["volume"] / (4 / 3 * numpy.pi)) ** (1 / 3)
        self.assert_near(usd["widths"][3], 2 * radius)  # diameters, where pscale is a radius
        self.assert_no_leftovers("ex")

    def test_z_up_turns_all_vectors(self):
        y = exchange.read_bgeo(self.export("bgeo"))
        z = exchange.read_bgeo(self.export("bgeo", "--up", "z"))
        for name in ("P", "N", "v"):
            self.assert_near(z[name], z_up(y[name]), name)
        self.assert_near(z["temperature"], y["temperature"])
        done = self.treacle("export", "out", "--to", "glb", "--up", "z", code=ERR_USAGE)
        self.assertIn("glTF is always y up", done.stderr)

    def test_an_image_for_paraview_holds_the_liquid(self):
        vti = exchange.read_vtk(self.export("vtk", what="volume", ending="vti"))
        cells = numpy.array(vti["extent"][1::2])
        self.assertEqual(len(vti["density"]), cells.prod())
        self.assert_near(vti["spacing"], [self.frame.cell] * 3)
        mass = vti["density"].astype("f8").sum() * self.frame.cell ** 3
        expected = self.frame.arrays["volume"].astype("f8").sum() * 1400.0
        self.assertLessEqual(mass, expected * 1.0001)  # crowded cells count as full
        self.assertGreater(mass, expected * 0.9)
        inside = vti["density"] > 1200
        self.assertLess(vti["surface"][inside].max(), 0.75 * self.frame.cell)
        self.assertTrue(((vti["temperature"][inside] > 290) & (vti["temperature"][inside] < 345)).all())
        speed = numpy.linalg.norm(self.frame.arrays["velocity"], axis=1)
        self.assertLessEqual(numpy.linalg.norm(vti["vel"], axis=1).max(), 1.01 * speed.max())

    def test_openvdb_reads_the_grids(self):
        vdb = self.openvdb()
        for up in "yz":
            grids = {g.name: g for g in vdb.readAll(str(self.export("vdb", "--up", up,
                                                                    what="volume")))[0]}
            self.assertEqual(sorted(grids), ["density", "surface", "temperature", "vel"])
            surface, vel = grids["surface"], grids["vel"]
            self.assertEqual((surface.gridClass, vel.gridClass), ("level set", "staggered"))
            self.assert_near(surface.transform.voxelSize(), [self.frame.cell / 2] * 3)
            self.assert_near(vel.transform.voxelSize(), [self.frame.cell] * 3)
            ply = exchange.read_ply(self.export("ply", "--up", up))
            points, _ = surface.convertToPolygons()[:2]
            slack = 0.75 * self.frame.cell / 2
            for end in (numpy.min, numpy.max):
                self.assertLess(abs(end(points, axis=0) - end(ply["P"], axis=0)).max(), slack)
            access = surface.getConstAccessor()
            for p in ply["P"][::50]:  # the level set is zero where the mesh is
                at = surface.transform.worldToIndexCellCentered(tuple(float(x) for x in p))
                self.assertLess(abs(access.getValue(at)), self.frame.cell)
            self.check_fields(grids, up)

    def check_fields(self, grids, up):
        """Values at voxels are those of the particles around them."""
        places, velocity = self.frame.positions(), self.frame.arrays["velocity"]
        if up == "z":
            places, velocity = z_up(places), z_up(velocity)
        vel, density = grids["vel"], grids["density"].getConstAccessor()
        low, high = velocity.min(axis=0) - 1e-6, velocity.max(axis=0) + 1e-6
        full = 0
        for p in places[::40]:
            at = vel.transform.worldToIndexCellCentered(tuple(p))
            got = numpy.array(vel.getConstAccessor().getValue(at))
            self.assertTrue(((got >= low) & (got <= high)).all(), got)
            full += density.getValue(at) > 700
        self.assertGreater(full, len(places[::40]) / 2)
        mean = numpy.mean([v for v in (numpy.array(i.value) for i in vel.iterOnValues())], axis=0)
        self.assertTrue((abs(mean - velocity.mean(axis=0)) < 0.25 * abs(velocity).max()).all())

    def test_openvdb_reads_the_points(self):
        if shutil.which("vdb_print") is None:
            self.skipTest("there is no vdb_print")
        path = self.export("vdb", what="particles")
        told = subprocess.run(["vdb_print", "-l", path], capture_output=True, text=True,
                              check=True).stdout
        voxel = float(re.search(r"voxel size: (\S+)", told)[1])
        radius = (self.frame.arrays["volume"][0] / (4 / 3 * numpy.pi)) ** (1 / 3)
        self.assertAlmostEqual(voxel, 4 * radius, delta=1e-4)
        cells = numpy.unique(numpy.round(self.frame.positions() / (4 * radius)).astype(int), axis=0)
        count = int(re.search(r"active voxels: +([\d,]+)\n", told)[1].replace(",", ""))
        self.assertAlmostEqual(count, len(cells), delta=2)
        for name in (b"pscale", b"temperature", b"viscosity", b"Cd", b"id"):
            self.assertIn(name, path.read_bytes())

    def openvdb(self):
        try:
            import pyopenvdb
        except ImportError:
            self.skipTest("there is no python3-openvdb")
        return pyopenvdb

    def test_a_level_set_comes_back_as_liquid_and_solid(self):
        self.export("vdb", what="volume", frame=1)
        self.scene("again.yaml", harness.SCENE.replace(
            "sphere: {radius: 6 cm, centre: [16 cm, 20 cm, 16 cm]}",
            "mesh: {file: ex/volume_0001.vdb}") + "solids:\n  lump:\n    shape:\n      mesh: {file: ex/"
            "volume_0001.vdb}\n      move: [0, -15 cm, 0]\n")
        self.treacle("run", "again.yaml", "-o", "again", "--frames", 1, "-q")
        again = read_frame.read(str(self.dir / "again/frame_0001.trf"))
        first = read_frame.read(str(self.dir / "out/frame_0001.trf"))
        got, expected = (f.arrays["volume"].astype("f8").sum() for f in (again, first))
        self.assertAlmostEqual(got / expected, 1.0, delta=0.05)
        (self.dir / "bad.vdb").write_bytes(b"not a level set")
        self.scene("bad.yaml", harness.SCENE.replace(
            "sphere: {radius: 6 cm, centre: [16 cm, 20 cm, 16 cm]}", "mesh: {file: bad.vdb}"))
        self.assertIn("bad.vdb", self.treacle("check", "bad.yaml", code=ERR_SCENE).stderr)

    def test_bodies_are_told_in_both_axes(self):
        self.scene("tumble.yaml", harness.SCENE + "bodies:\n  brick:\n    shape:\n      box: {size: "
                   "[4 cm, 2 cm, 3 cm], centre: [24 cm, 20 cm, 8 cm]}\n    spin: [3, 5, 7]\n")
        self.treacle("run", "tumble.yaml", "-o", "tumble", "--frames", 3, "-q")
        told = {}
        for up in "yz":
            self.treacle("export", "tumble", "--what", "bodies", "--up", up, "-o", up)
            told[up] = json.loads((self.dir / up / "bodies.json").read_text())
            self.assertEqual((told[up]["up"], told[up]["bodies"]), (up, ["brick"]))
            self.assert_no_leftovers(up)
        frame = read_frame.read(str(self.dir / "tumble/frame_0003.trf"))
        y, z = (numpy.array(told[up]["frames"]["3"][0]) for up in "yz")
        numpy.testing.assert_array_equal(y, frame.arrays["body_state"][0])
        for at in (0, 7, 10):
            self.assert_near(z[at:at + 3], z_up(y[at:at + 3]))
        # Turning a point and then the axes is turning the axes and then the point.
        point = numpy.array([0.3, -0.2, 0.5])
        self.assert_near(turned(z[3:7], z_up(point)), z_up(turned(y[3:7], point)))
        self.assertGreater(abs(y[4:7]).max(), 0.1)

    def test_what_a_format_cannot_hold_is_said(self):
        done = self.treacle("export", "out", "--to", "obj", "--what", "volume", code=ERR_USAGE)
        self.assertIn("obj files do not hold the volume: choose vdb or vtk", done.stderr)
        done = self.treacle("export", "out", "--to", "vdb", "--what", "surface", code=ERR_USAGE)
        self.assertIn("vdb files do not hold the surface", done.stderr)
        self.treacle("export", "out", "--to", "abc", code=ERR_USAGE)

    def test_frames_of_a_range_alone_are_written(self):
        self.treacle("export", "out", "--to", "vtk", "--frames", "2:3", "-o", "ex", "-q")
        self.assertEqual(sorted(p.name for p in (self.dir / "ex").iterdir()),
                         ["surface.pvd", "surface_0002.vtp", "surface_0003.vtp"])


if __name__ == "__main__":
    harness.main()
