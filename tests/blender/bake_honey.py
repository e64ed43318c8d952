"""Runs inside Blender: blender -b --factory-startup --python bake_honey.py -- ZIP TREACLE FOLDER

From an empty file to a rendered Cycles frame of baked honey. Prints one JSON object at the end.
"""

import json
import os
import sys

import bpy

ZIP, TREACLE, FOLDER = sys.argv[sys.argv.index("--") + 1:]


def add_box(name, size, centre, role):
    bpy.ops.mesh.primitive_cube_add(size=1, location=centre)
    obj = bpy.context.object
    obj.name, obj.scale, obj.treacle.role = name, size, role
    return obj


def build():
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 4, 24
    scene.treacle.command, scene.treacle.folder = TREACLE, os.path.join(FOLDER, "cache")
    scene.treacle.resolution = 20
    add_box("Domain", (0.4, 0.4, 0.4), (0, 0, 0.2), "DOMAIN")
    table = add_box("Table", (0.3, 0.3, 0.06), (0, 0, 0.03), "OBSTACLE")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.09, location=(0, 0, 0.17))
    honey = bpy.context.object
    honey.treacle.role, honey.treacle.material = "LIQUID", "honey"
    honey.treacle.velocity = (0.1, 0.0, -0.5)
    table.keyframe_insert("rotation_euler", frame=1)
    table.keyframe_insert("location", frame=1)
    table.rotation_euler[2], table.location[0] = 0.3, 0.02
    table.keyframe_insert("rotation_euler", frame=4)
    table.keyframe_insert("location", frame=4)
    scene.frame_set(1)
    ball = add_box("Float", (0.05, 0.05, 0.05), (0.05, 0.05, 0.33), "BODY")
    ball.treacle.density = 500
    bpy.context.view_layer.update()
    return table


def render(path):
    scene = bpy.context.scene
    bpy.ops.object.light_add(type="SUN", rotation=(0.6, 0.2, 0.4))
    bpy.context.object.data.energy = 4
    bpy.ops.object.camera_add(location=(0.5, -0.6, 0.5), rotation=(1.05, 0, 0.69))
    scene.camera = bpy.context.object
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples = "CPU", 8
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y = 96, 72
    scene.render.use_motion_blur = True
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = path
    bpy.ops.render.render(write_still=True)


def told(obj):
    mesh = obj.data
    return {"vertices": len(mesh.vertices), "faces": len(mesh.polygons),
            "low": [min(v.co[k] for v in mesh.vertices) for k in range(3)],
            "high": [max(v.co[k] for v in mesh.vertices) for k in range(3)],
            "attributes": sorted(a.name for a in mesh.attributes),
            "valid": not mesh.validate(verbose=True)}


def read_volume(path):
    volume = bpy.data.volumes.new("volume")
    volume.filepath = path
    volume.grids.load()
    out = {}
    for grid in volume.grids:
        out[grid.name] = [grid.data_type, grid.channels, round(grid.matrix_object[0][0], 6)]
    return out


def read_ply_by_blender(path):
    bpy.ops.preferences.addon_enable(module="io_mesh_ply")
    bpy.ops.import_mesh.ply(filepath=path)
    return len(bpy.context.object.data.vertices), len(bpy.context.object.data.polygons)


def main():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_install(filepath=ZIP, overwrite=True)
    bpy.ops.preferences.addon_enable(module="treacle_addon")
    build()
    seen = {"bake": sorted(bpy.ops.treacle.bake())}
    liquid = bpy.context.scene.objects["Treacle Liquid"]
    for frame in (1, 4):
        bpy.context.scene.frame_set(frame)
        seen[f"frame {frame}"] = told(liquid)
    seen["float"] = []
    for frame in (1, 4):
        bpy.context.scene.frame_set(frame)
        seen["float"].append(list(bpy.context.scene.objects["Float"].matrix_world.translation))
    seen["resume"] = sorted(bpy.ops.treacle.bake(is_resume=True))
    seen["again"] = told(liquid)["vertices"]
    picture = os.path.join(FOLDER, "honey.png")
    render(picture)
    image = bpy.data.images.load(picture)
    pixels = list(image.pixels)
    reds, blues = pixels[0::4], pixels[2::4]
    seen["honey"] = sum(r > b + 0.15 for r, b in zip(reds, blues)) / len(reds)
    seen["picture"] = [image.size[0], image.size[1], max(pixels[0::4]) - min(pixels[0::4])]
    volumes = [f for f in os.listdir(FOLDER) if f.endswith(".vdb")]
    seen["volume"] = read_volume(os.path.join(FOLDER, volumes[0])) if volumes else {}
    surface = os.path.join(FOLDER, "cache/surface/surface_0004.ply")
    seen["ply"] = read_ply_by_blender(surface)
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(FOLDER, "honey.blend"))
    print("SEEN " + json.dumps(seen))


main()
