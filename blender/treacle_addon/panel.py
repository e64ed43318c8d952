"""The panels in the physics tab."""

import bpy

from . import bake

SHOWN = {
    "LIQUID": ("material", "viscosity", "velocity", "use_temperature"),
    "EMITTER": ("material", "viscosity", "velocity", "use_temperature"),
    "OBSTACLE": ("sticks", "hollow"),
    "BODY": ("density", "velocity", "sticks"),
    "HEAT": ("temperature",),
}


class ObjectPanel(bpy.types.Panel):
    bl_label = "Treacle"
    bl_idname = "PHYSICS_PT_treacle"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context):
        settings, layout = context.object.treacle, self.layout
        layout.use_property_split = True
        layout.prop(settings, "role")
        for name in SHOWN.get(settings.role, ()):
            layout.prop(settings, name)
        if settings.role in ("LIQUID", "EMITTER") and settings.use_temperature:
            layout.prop(settings, "temperature")
        if settings.role == "DOMAIN":
            draw_bake(layout, context)


def draw_bake(layout, context):
    settings = context.scene.treacle
    for name in ("resolution", "detail", "smoothing", "decimation", "overlap", "folder", "command", "threads"):
        layout.prop(settings, name)
    row = layout.row(align=True)
    if bake.Bake.job is not None:
        row.operator("treacle.cancel")
    else:
        row.operator("treacle.bake", text="Bake").is_resume = False
        row.operator("treacle.bake", text="Resume").is_resume = True
        row.operator("treacle.load")
    if settings.progress:
        layout.label(text=settings.progress)


CLASSES = (ObjectPanel,)
