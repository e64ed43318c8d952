"""Treacle in Blender: thick liquids, simulated by the command, shown and rendered here."""

bl_info = {
    "name": "Treacle",
    "description": "Honey, wax, lava and gel, simulated by the treacle command",
    "author": "The Treacle authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Physics",
    "category": "Physics",
}

import bpy

from . import bake, load, panel, properties

CLASSES = (*properties.CLASSES, *bake.CLASSES, *load.CLASSES, *panel.CLASSES)


def register():
    for one in CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Object.treacle = bpy.props.PointerProperty(type=properties.ObjectSettings)
    bpy.types.Scene.treacle = bpy.props.PointerProperty(type=properties.SceneSettings)
    bpy.app.handlers.frame_change_post.append(load.follow_frame)


def unregister():
    bpy.app.handlers.frame_change_post.remove(load.follow_frame)
    del bpy.types.Object.treacle
    del bpy.types.Scene.treacle
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
