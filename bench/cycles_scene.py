"""Draws the scene of bench_cycles.c with Cycles: blender -b --factory-startup -P this -- FOLDER."""

import json
import math
import os
import resource
import sys

import bpy
import mathutils
import numpy

FOLDER = sys.argv[sys.argv.index("--") + 1]


def path(name):
    return os.path.join(FOLDER, name)


def place(v):
    """From y up to z up."""
    return mathutils.Vector((v[0], -v[2], v[1]))


def add_mesh(name, vertices, faces, material, smooth):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([place(v) for v in vertices], [], faces)
    mesh.materials.append(material)
    mesh.polygons.foreach_set("use_smooth", [smooth] * len(mesh.polygons))
    mesh.update()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, mesh))


def make_material(name):
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    material.node_tree.nodes.clear()
    output = material.node_tree.nodes.new("ShaderNodeOutputMaterial")
    return material, material.node_tree.nodes, material.node_tree.links, output


def clear_liquid(scene):
    material, nodes, links, output = make_material("liquid")
    glass = nodes.new("ShaderNodeBsdfGlass")
    glass.inputs["Roughness"].default_value = 0.0
    glass.inputs["IOR"].default_value = scene["index"]
    links.new(glass.outputs[0], output.inputs["Surface"])
    most = max(scene["absorb"])
    if most > 0.0:  # absorbs density (1 - colour)
        volume = nodes.new("ShaderNodeVolumeAbsorption")
        volume.inputs["Density"].default_value = most
        volume.inputs["Color"].default_value = [1.0 - a / most for a in scene["absorb"]] + [1.0]
        links.new(volume.outputs[0], output.inputs["Volume"])
    return material


def colour_for(albedo):
    """The colour from which Cycles finds that albedo of single scattering, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        a = 0.5 * (low + high)
        found = 1.0 - math.exp(a * (-5.09406 + a * (2.61188 - a * 4.31805)))
        low, high = (a, high) if found < albedo else (low, a)
    return low


def cloudy_liquid(scene):
    material, nodes, links, output = make_material("liquid")
    skin = nodes.new("ShaderNodeBsdfPrincipled")
    skin.subsurface_method = "RANDOM_WALK_FIXED_RADIUS"
    total = [a + s for a, s in zip(scene["absorb"], scene["scatter"])]
    colour = [colour_for(s / t) for s, t in zip(scene["scatter"], total)]
    skin.inputs["Subsurface"].default_value = 1.0
    skin.inputs["Subsurface Radius"].default_value = [1.0 / t for t in total]
    skin.inputs["Subsurface Color"].default_value = colour + [1.0]
    skin.inputs["Base Color"].default_value = colour + [1.0]
    skin.inputs["Specular"].default_value = 0.0
    links.new(skin.outputs[0], output.inputs["Surface"])
    return material


def matt(colour):
    material, nodes, links, output = make_material("matt")
    diffuse = nodes.new("ShaderNodeBsdfDiffuse")
    diffuse.inputs["Color"].default_value = [colour] * 3 + [1.0]
    links.new(diffuse.outputs[0], output.inputs["Surface"])
    return material


def add_slab(scene):
    low, high = scene["slab"]
    corners = [[(low, high)[i >> k & 1][k] for k in range(3)] for i in range(8)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    add_mesh("slab", corners, faces, matt(scene["slab_colour"]), False)


def set_light():
    world = bpy.data.worlds.new("light")
    world.use_nodes = True
    nodes, links = world.node_tree.nodes, world.node_tree.links
    picture = nodes.new("ShaderNodeTexEnvironment")
    picture.image = bpy.data.images.load(path("light.exr"))
    picture.image.colorspace_settings.name = "Linear"
    turn = nodes.new("ShaderNodeMapping")
    turn.inputs["Rotation"].default_value = (0.0, 0.0, -0.5 * math.pi)
    where = nodes.new("ShaderNodeTexCoord")
    links.new(where.outputs["Generated"], turn.inputs["Vector"])
    links.new(turn.outputs[0], picture.inputs["Vector"])
    links.new(picture.outputs[0], nodes["Background"].inputs["Color"])
    bpy.context.scene.world = world


def set_camera(scene):
    data = bpy.data.cameras.new("camera")
    camera = bpy.data.objects.new("camera", data)
    eye, target = place(scene["eye"]), place(scene["target"])
    camera.location = eye
    camera.rotation_euler = (target - eye).to_track_quat("-Z", "Y").to_euler()
    data.sensor_fit = "VERTICAL"
    data.angle = scene["field_of_view"]
    data.clip_start = 0.001
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera


def set_quality(scene):
    render, cycles = bpy.context.scene.render, bpy.context.scene.cycles
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y = scene["size"]
    render.resolution_percentage = 100
    render.image_settings.file_format = "OPEN_EXR"
    render.image_settings.color_mode = "RGB"
    render.image_settings.color_depth = "32"
    render.threads_mode, render.threads = "FIXED", 1
    cycles.device = "CPU"
    cycles.use_denoising = cycles.use_adaptive_sampling = False
    cycles.max_bounces = cycles.transmission_bounces = cycles.glossy_bounces = 32
    cycles.diffuse_bounces = cycles.volume_bounces = cycles.transparent_max_bounces = 32
    cycles.blur_glossy = cycles.sample_clamp_direct = cycles.sample_clamp_indirect = 0.0
    cycles.caustics_reflective = cycles.caustics_refractive = True


def draw(name, samples, seed):
    """Seconds of the processor."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    bpy.context.scene.cycles.samples = samples
    bpy.context.scene.cycles.seed = seed
    bpy.context.scene.render.filepath = path(name)
    bpy.ops.render.render(write_still=True)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    with open(path("scene.json"), encoding="ascii") as file:
        scene = json.load(file)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    vertices = numpy.fromfile(path("vertices"), numpy.float32).reshape(-1, 3).tolist()
    triangles = numpy.fromfile(path("triangles"), numpy.int32).reshape(-1, 3).tolist()
    liquid = clear_liquid(scene) if scene["is_clear"] else cloudy_liquid(scene)
    add_mesh("liquid", vertices, triangles, liquid, True)
    add_slab(scene)
    set_light()
    set_camera(scene)
    set_quality(scene)
    draw("many.exr", 1, 0)  # what is done once
    once = min(draw("few.exr", 1, 0) for _ in range(3))
    few = min(draw("few.exr", scene["samples"], 0) for _ in range(3))
    draw("many.exr", scene["many"], 1)
    print("treacle seconds", few - once)


main()
