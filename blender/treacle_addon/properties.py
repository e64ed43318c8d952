"""What an object is to the liquid, and what the scene says of the bake."""

import json
import shutil
import subprocess

import bpy

ROLES = [
    ("NONE", "None", "No part in the simulation"),
    ("DOMAIN", "Domain", "The box that is simulated: the bounds of this object"),
    ("LIQUID", "Liquid", "Liquid that is there from the start"),
    ("EMITTER", "Emitter", "Liquid streams out of it"),
    ("OBSTACLE", "Obstacle", "No liquid enters it"),
    ("BODY", "Rigid Body", "Moved by the liquid, by gravity and by contacts"),
    ("HEAT", "Heat Source", "Liquid inside it is held at its temperature"),
]

# For when the command cannot be asked.
FALLBACK = ["honey", "water", "olive-oil"]
_presets = {}


def name_of(obj):
    """Of the object in the scene file."""
    return "".join(c if c.isalnum() else "_" for c in obj.name)


def find_command(settings):
    """The treacle command, or None."""
    wanted = bpy.path.abspath(settings.command) if "/" in settings.command else settings.command
    return shutil.which(wanted)


def list_presets(command):
    """[(name, what it is, colour)] of the command's materials library."""
    if command not in _presets:
        try:
            told = subprocess.run([command, "materials", "--json"], capture_output=True, text=True,
                                  timeout=20, check=True).stdout
            _presets[command] = [(m["name"], m["text"], m["colour"]) for m in json.loads(told)]
        except (OSError, TypeError, ValueError, subprocess.SubprocessError):
            return [(name, name, (0.8, 0.5, 0.1)) for name in FALLBACK]
    return _presets[command]


_items = []  # Blender keeps only pointers to the texts


def preset_items(self, context):
    _items[:] = [(name, name.replace("-", " ").title(), text)
                 for name, text, _ in list_presets(find_command(context.scene.treacle))]
    _items.sort(key=lambda item: item[0] != "honey")  # it comes first
    return _items


class ObjectSettings(bpy.types.PropertyGroup):
    role: bpy.props.EnumProperty(name="Type", items=ROLES, default="NONE")
    material: bpy.props.EnumProperty(name="Material", items=preset_items)
    viscosity: bpy.props.FloatProperty(
        name="Viscosity", min=0, default=0, description="In Pa s; 0 is the material's own")
    velocity: bpy.props.FloatVectorProperty(name="Velocity", subtype="VELOCITY", unit="VELOCITY")
    temperature: bpy.props.FloatProperty(name="Temperature", min=0, default=293.15,
                                         description="In kelvin")
    use_temperature: bpy.props.BoolProperty(
        name="Set Temperature", description="Otherwise the material's own")
    density: bpy.props.FloatProperty(name="Density", min=0.001, default=1000,
                                     description="In kg/m^3")
    sticks: bpy.props.BoolProperty(name="Liquid Sticks", default=True)
    hollow: bpy.props.BoolProperty(
        name="Container", description="Everything outside of the shape is solid")


class SceneSettings(bpy.types.PropertyGroup):
    command: bpy.props.StringProperty(name="Command", default="treacle", subtype="FILE_PATH",
                                      description="The treacle command")
    folder: bpy.props.StringProperty(name="Cache", default="//treacle", subtype="DIR_PATH")
    resolution: bpy.props.IntProperty(name="Resolution", min=4, max=2048, default=48,
                                      description="Cells along the longest side of the domain")
    detail: bpy.props.FloatProperty(name="Surface Detail", min=0.5, max=8, default=2,
                                    description="Samples of the surface along a cell")
    smoothing: bpy.props.IntProperty(name="Smoothing", min=0, max=1000, default=56,
                                     description="Rounds of smoothing of the surface")
    decimation: bpy.props.IntProperty(name="Decimation", min=0, max=99, default=0, subtype="PERCENTAGE",
                                      description="Triangles that may go where the surface is flat")
    overlap: bpy.props.FloatProperty(name="Overlap", min=0, default=0, unit="LENGTH",
                                     description="How far the surface reaches into solids, for glass")
    threads: bpy.props.IntProperty(name="Threads", min=0, max=1024, default=0,
                                   description="0 is one per core")
    progress: bpy.props.StringProperty(name="Progress", default="", options={"SKIP_SAVE"})


CLASSES = (ObjectSettings, SceneSettings)
