"""Objects of Blender as a scene file of Treacle: z up becomes y up, modifiers are applied."""

import json
import math
import os
import struct

import bpy
from mathutils import Matrix, Vector

from . import properties
from .properties import name_of


class SceneProblem(Exception):
    """What stands in the way of a bake, as a sentence."""


def to_y_up(v):
    return [v[0], v[2], -v[1]]


def with_role(scene, role):
    return [o for o in scene.objects if o.treacle.role == role]


def write_mesh(obj, depsgraph, path):
    """The object as it is now, in the world, as a binary STL file."""
    evaluated = obj.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    if len(mesh.loop_triangles) == 0:
        evaluated.to_mesh_clear()
        raise SceneProblem(f'"{obj.name}" has no faces')
    corners = [to_y_up(obj.matrix_world @ v.co) for v in mesh.vertices]
    turned = obj.matrix_world.determinant() < 0
    with open(path, "wb") as file:
        file.write(b"\0" * 80 + struct.pack("<I", len(mesh.loop_triangles)))
        for triangle in mesh.loop_triangles:
            order = reversed(triangle.vertices) if turned else triangle.vertices
            points = [x for i in order for x in corners[i]]
            file.write(struct.pack("<12fH", 0, 0, 0, *points, 0))
    evaluated.to_mesh_clear()


def domain_of(scene):
    domains = with_role(scene, "DOMAIN")
    if len(domains) != 1:
        raise SceneProblem(f"there must be one domain, but there are {len(domains)}")
    corners = [domains[0].matrix_world @ Vector(c) for c in domains[0].bound_box]
    low = to_y_up([min(c[0] for c in corners), max(c[1] for c in corners),
                   min(c[2] for c in corners)])
    high = to_y_up([max(c[0] for c in corners), min(c[1] for c in corners),
                    max(c[2] for c in corners)])
    extent = [b - a for a, b in zip(low, high)]
    cell = max(extent) / scene.treacle.resolution
    if cell <= 0:
        raise SceneProblem(f'the domain "{domains[0].name}" has no extent')
    cells = [max(2, math.ceil(e / cell - 1e-6)) for e in extent]
    return {"origin": low, "size": [n * cell for n in cells], "cell": cell}


def material_of(obj, materials):
    settings = obj.treacle
    preset = settings.material or "honey"
    if settings.viscosity <= 0:
        materials.setdefault(preset, {"preset": preset})
        return preset
    name = f"{preset}_{settings.viscosity:g}".replace(".", "_")
    materials[name] = {"preset": preset, "viscosity": settings.viscosity}
    return name


def shape_of(obj, depsgraph, folder):
    file = f"{name_of(obj)}.stl"
    write_mesh(obj, depsgraph, os.path.join(folder, file))
    return {"mesh": {"file": file}}


def describe(scene, depsgraph, folder):
    """The scene as a dict; meshes are written into the folder."""
    frames = scene.frame_end - scene.frame_start + 1
    fps = scene.render.fps / scene.render.fps_base
    out = {"name": "blender", "frames": frames, "fps": fps, "domain": domain_of(scene),
           "materials": {}}
    if scene.use_gravity:
        out["gravity"] = to_y_up(scene.gravity)
    else:
        out["gravity"] = [0, 0, 0]

    def shape(obj):
        return shape_of(obj, depsgraph, folder)

    def warmth(obj):
        return {"temperature": obj.treacle.temperature} if obj.treacle.use_temperature else {}

    out["liquids"] = [{"shape": shape(o), "material": material_of(o, out["materials"]),
                       "velocity": to_y_up(o.treacle.velocity), **warmth(o)}
                      for o in with_role(scene, "LIQUID")]
    out["emitters"] = [emitter(o, shape(o), out["materials"], warmth(o))
                       for o in with_role(scene, "EMITTER")]
    if not out["liquids"] and not out["emitters"]:
        raise SceneProblem("there is no liquid and no emitter")
    wall = {True: "no-slip", False: "slip"}
    out["solids"] = {name_of(o): {"shape": shape(o), "wall": wall[o.treacle.sticks],
                                  "inside_out": o.treacle.hollow, **motion(o, scene)}
                     for o in with_role(scene, "OBSTACLE")}
    out["bodies"] = {name_of(o): {"shape": shape(o), "density": o.treacle.density,
                                  "velocity": to_y_up(o.treacle.velocity),
                                  "wall": wall[o.treacle.sticks]}
                     for o in with_role(scene, "BODY")}
    out["heat_sources"] = [{"shape": shape(o), "temperature": o.treacle.temperature}
                           for o in with_role(scene, "HEAT")]
    return {key: value for key, value in out.items() if value not in ([], {})}


def emitter(obj, shape, materials, warmth):
    velocity = to_y_up(obj.treacle.velocity)
    speed = math.sqrt(sum(v * v for v in velocity))
    if speed == 0:
        raise SceneProblem(f'the emitter "{obj.name}" needs a velocity')
    return {"shape": shape, "material": material_of(obj, materials), "direction": velocity,
            "speed": speed, **warmth}


def turn_to_y_up(rotation):
    """A rotation matrix in the axes of the scene file."""
    swap = Matrix(((1, 0, 0), (0, 0, 1), (0, -1, 0)))
    return swap @ rotation @ swap.transposed()


def motion(obj, scene):
    """Where an animated obstacle goes and how it turns, at every frame."""
    if obj.animation_data is None or obj.animation_data.action is None:
        return {}
    now = scene.frame_current
    fps = scene.render.fps / scene.render.fps_base
    places, turns, first, angles = {}, {}, None, None
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        place, rotation, _ = obj.matrix_world.decompose()
        place, rotation = to_y_up(place), turn_to_y_up(rotation.to_matrix())
        first = first or (place, rotation.transposed())
        turn = rotation @ first[1]
        angles = turn.to_euler("XYZ", angles) if angles else turn.to_euler("XYZ")
        time = f"{(frame - scene.frame_start) / fps:.9g}"
        places[time] = [a - b for a, b in zip(place, first[0])]
        turns[time] = list(angles)
    scene.frame_set(now)
    return {"position": {"keys": places}, "rotation": {"keys": turns}, "pivot": first[0]}


def write(context):
    """Writes scene.yaml and its meshes beside the cache; gives its path. JSON is YAML, too."""
    settings = context.scene.treacle
    folder = bpy.path.abspath(settings.folder)
    if not folder or (settings.folder.startswith("//") and not bpy.data.filepath):
        raise SceneProblem("save the file first, or choose a cache folder")
    source = os.path.join(folder, "scene")
    os.makedirs(source, exist_ok=True)
    now = context.scene.frame_current
    context.scene.frame_set(context.scene.frame_start)
    try:
        scene = describe(context.scene, context.evaluated_depsgraph_get(), source)
    finally:
        context.scene.frame_set(now)
    path = os.path.join(source, "scene.yaml")
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump(scene, file, indent=1)
    os.replace(path + ".tmp", path)
    return path


def command_of(context):
    found = properties.find_command(context.scene.treacle)
    if found is None:
        raise SceneProblem(f'there is no command "{context.scene.treacle.command}"')
    return found
