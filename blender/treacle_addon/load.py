"""The baked surface as a mesh that follows the frame, with velocity and attributes for Cycles."""

import glob
import json
import os
import re

import bpy
import numpy
from bpy.app.handlers import persistent
from mathutils import Matrix, Quaternion, Vector

from . import properties

OBJECT = "Treacle Liquid"
TYPES = {"float": "<f4", "uchar": "<u1", "int": "<i4", "uint": "<u4"}
VECTORS = {"velocity": ("vx", "vy", "vz"), "rest": ("restx", "resty", "restz")}


def read_ply(path):
    """(properties of the vertices, triangles) of a file that "treacle export" wrote."""
    with open(path, "rb") as file:
        head, _, body = file.read().partition(b"end_header\n")
    lines = [line.split() for line in head.decode("ascii").splitlines()]
    counts = [int(words[2]) for words in lines if words[0] == "element"]
    columns = [(w[2], TYPES[w[1]]) for w in lines if w[0] == "property" and w[1] != "list"]
    vertices = numpy.frombuffer(body, numpy.dtype(columns), counts[0])
    faces = numpy.frombuffer(body, numpy.dtype([("n", "<u1"), ("v", "<i4", 3)]), counts[1],
                             vertices.nbytes)
    return vertices, faces["v"]


def fill(mesh, vertices, triangles):
    mesh.clear_geometry()
    count = len(triangles)
    mesh.vertices.add(len(vertices))
    mesh.loops.add(3 * count)
    mesh.polygons.add(count)
    places = numpy.stack([vertices[a] for a in "xyz"], axis=1)
    mesh.vertices.foreach_set("co", places.ravel())
    mesh.loops.foreach_set("vertex_index", triangles.ravel().astype("i4"))
    mesh.polygons.foreach_set("loop_start", numpy.arange(0, 3 * count, 3, dtype="i4"))
    mesh.polygons.foreach_set("loop_total", numpy.full(count, 3, dtype="i4"))
    mesh.polygons.foreach_set("use_smooth", numpy.ones(count, dtype=bool))
    for name, parts in VECTORS.items():
        if parts[0] in vertices.dtype.names:
            values = numpy.stack([vertices[p] for p in parts], axis=1)
            mesh.attributes.new(name, "FLOAT_VECTOR", "POINT").data.foreach_set(
                "vector", values.ravel())
    for name in ("temperature", "viscosity"):
        if name in vertices.dtype.names:
            mesh.attributes.new(name, "FLOAT", "POINT").data.foreach_set(
                "value", numpy.ascontiguousarray(vertices[name]))
    if "r" in vertices.dtype.names:
        colours = numpy.ones((len(vertices), 4), "f4")
        colours[:, :3] = numpy.stack([vertices[a] for a in "rgb"], axis=1)
        mesh.attributes.new("colour", "FLOAT_COLOR", "POINT").data.foreach_set(
            "color", colours.ravel())
    mesh.update()


def path_of(obj, frame):
    folder = bpy.path.abspath(obj["treacle_folder"])
    first, last = obj["treacle_first"], obj["treacle_last"]
    number = min(max(frame - obj["treacle_start"] + 1, first), last)
    return os.path.join(folder, f"surface_{number:04}.ply")


def show(obj, frame):
    path = path_of(obj, frame)
    if obj.get("treacle_shown") != path and os.path.exists(path):
        vertices, triangles = read_ply(path)
        fill(obj.data, vertices, triangles)
        obj["treacle_shown"] = path


@persistent
def follow_frame(scene, depsgraph=None):
    for obj in scene.objects:
        if "treacle_folder" in obj:
            show(obj, scene.frame_current)


def make_material(name, colour):
    """A clear, coloured liquid for Cycles."""
    material = bpy.data.materials.get(f"Treacle {name}") or bpy.data.materials.new(f"Treacle {name}")
    material.use_nodes = True
    nodes = material.node_tree.nodes
    principled = nodes.get("Principled BSDF")
    principled.inputs["Base Color"].default_value = (*colour, 1.0)
    principled.inputs["Roughness"].default_value = 0.05
    for key in ("Transmission", "Transmission Weight"):  # 3.4, and 4.0 and later
        if key in principled.inputs:
            principled.inputs[key].default_value = 0.6
    principled.inputs["IOR"].default_value = 1.5
    return material


def liquid_look(scene):
    presets = {name: colour for name, _, colour in
               properties.list_presets(properties.find_command(scene.treacle))}
    for obj in scene.objects:
        if obj.treacle.role in ("LIQUID", "EMITTER"):
            name = obj.treacle.material or "honey"
            return make_material(name, presets.get(name, (0.8, 0.5, 0.1)))
    return make_material("honey", presets.get("honey", (0.8, 0.5, 0.1)))


def pose(state, first):
    """What moves a point from where it was at the start of the run to where it is now."""
    def placed(s):
        return Matrix.Translation(Vector(s[:3])) @ Quaternion(s[3:7]).to_matrix().to_4x4()

    return placed(state) @ placed(first).inverted()


def move_bodies(scene, folder):
    """Keyframes of the rigid bodies, from bodies.json."""
    path = os.path.join(folder, "bodies.json")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        told = json.load(file)
    objects = {properties.name_of(o): o for o in scene.objects if o.treacle.role == "BODY"}
    frames = sorted(told["frames"].items(), key=lambda item: int(item[0]))
    for k, name in enumerate(told["bodies"]):
        obj = objects.get(name)
        if obj is None or not frames:
            continue
        if "treacle_rest" not in obj:  # where it is without the simulation
            obj["treacle_rest"] = [x for row in obj.matrix_world for x in row]
        flat = list(obj["treacle_rest"])
        rest = Matrix([flat[4 * i:4 * i + 4] for i in range(4)])
        obj.rotation_mode = "QUATERNION"
        for number, states in frames:
            obj.matrix_world = pose(states[k], frames[0][1][k]) @ rest
            at = scene.frame_start + int(number) - 1
            obj.keyframe_insert("location", frame=at)
            obj.keyframe_insert("rotation_quaternion", frame=at)


def load(context):
    """Makes or updates the object. None if nothing is baked."""
    scene = context.scene
    folder = os.path.join(bpy.path.abspath(scene.treacle.folder), "surface")
    numbers = sorted(int(re.search(r"_(\d+)\.ply$", p)[1])
                     for p in glob.glob(os.path.join(folder, "surface_*.ply")))
    if not numbers:
        return None
    obj = scene.objects.get(OBJECT)
    if obj is None:
        obj = bpy.data.objects.new(OBJECT, bpy.data.meshes.new(OBJECT))
        scene.collection.objects.link(obj)
        obj.data.materials.append(liquid_look(scene))
    obj["treacle_folder"] = folder
    obj["treacle_first"], obj["treacle_last"] = numbers[0], numbers[-1]
    obj["treacle_start"] = scene.frame_start
    obj["treacle_shown"] = ""
    show(obj, scene.frame_current)
    move_bodies(scene, folder)
    for other in scene.objects:
        if other.treacle.role in ("DOMAIN", "LIQUID", "EMITTER", "HEAT"):
            other.hide_render = True
            other.display_type = "WIRE"
    return obj


class Load(bpy.types.Operator):
    """Load what is baked"""

    bl_idname = "treacle.load"
    bl_label = "Load"

    def execute(self, context):
        if load(context) is None:
            self.report({"ERROR"}, "nothing is baked yet")
            return {"CANCELLED"}
        return {"FINISHED"}


CLASSES = (Load,)
