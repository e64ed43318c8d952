// Keys of pictures: look and camera.
#include "defs/schema_parts.h"

// In the order of the enums in look.h.
const char* const schema_look_words[] = {
#define LOOK_WORD(name, text) text,
    TREACLE_LOOK_LIST(LOOK_WORD)
#undef LOOK_WORD
        NULL};
static const char* const scattering_words[] = {"walk", "dipole", NULL};
static const char* const texture_words[] = {"none", "checker", "marble", "grain",
                                            "wood", "tiles",   NULL};
static const char* const environment_words[] = {"studio", "sky", "dark", "file", NULL};
static const char* const tone_words[] = {"filmic", "srgb", NULL};

static void init_look_material(void* item) {
    *(treacle_look_material*)item = treacle_look_material_default();
}

static void init_sides(void* item) {
    *(treacle_look_material*)item = treacle_look_def_default().sides;
}

static const schema_key look_material_keys[] = {
    {.name = "kind",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_look_material, kind),
     .words = schema_look_words,
     .help =
         "`auto` is what the material's `look` says, or the kind of the same name, else `soft`; "
         "`honey`, `syrup`, `molasses`, `oil`, `water`, `glass`, `gel`, `jelly`, `slime` and "
         "`shampoo` let light through, `milk`, `cream`, `cocoa`, `ketchup`, `skin` and `marble` "
         "are translucent as measured, `wax`, `chocolate`, `dough` and `soft` as is typical; "
         "`gloss` is opaque under a smooth skin; `lava` glows by its temperature; `paint` is "
         "matt; `none` is not drawn"},
    {.name = "colour",
     .type = SCHEMA_COLOUR,
     .offset = offsetof(treacle_look_material, colour),
     .help = "of `jelly`, `soft`, `paint` and `metal`; of clear kinds, what is left of white light "
             "after a centimetre",
     .default_text = "the material's"},
    {.name = "roughness",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_material, roughness),
     .range = WITHIN(-1, 1),
     .help = "of the surface: 0 is a mirror, 1 is matt; -1 leaves it to the kind"},
    {.name = "index",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_material, index),
     .range = WITHIN(-1, 4),
     .help = "of refraction; -1 leaves it to the kind"},
    {.name = "scale",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_material, scale),
     .range = FROM(0),
     .help = "the liquid looks as if it were so many times smaller; 0: as it is in domains up to "
             "25 cm across, and larger ones as if they were that"},
    {.name = "cloudiness",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_material, cloudiness),
     .range = FROM(-1),
     .help = "how often light is scattered in a metre of a clear kind; -1 leaves it to the kind"},
    {.name = "glow",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_material, glow),
     .range = FROM(0),
     .help = "times so bright, with `lava`"},
    {.name = "scattering",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_look_material, scattering),
     .words = scattering_words,
     .help = "of translucent kinds: random walks, right for any shape, or the dipole of Jensen et "
             "al. 2001, for thick bodies"},
    {.name = "texture",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_look_material, texture),
     .words = texture_words,
     .help = "a pattern that sticks to the material, where frames have rest positions"},
    {.name = "texture_size",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_material, texture_size),
     .unit = UNIT_LENGTH,
     .range = FROM(0),
     .help = "of the pattern; 0: a twentieth of the domain"},
};
static const schema_section look_liquid_section = {
    .name = "liquid_look",
    .help = "What liquid looks like.",
    .keys = look_material_keys,
    .key_count = COUNT(look_material_keys),
    .bytes = sizeof(treacle_look_material),
};
static const schema_section look_material_section = {
    .name = "material_look",
    .help = "What liquid of one material looks like. The key is the material's name.",
    .keys = look_material_keys,
    .key_count = COUNT(look_material_keys),
    .bytes = sizeof(treacle_look_material),
    .name_offset = offsetof(treacle_look_material, name),
    .init = init_look_material,
};

static const schema_section look_solids_section = {
    .name = "solid_look",
    .help =
        "What solids and bodies look like: the keys of liquid_look. `auto` is matt, in `colour`; "
        "so are bodies, each in another colour.",
    .keys = look_material_keys,
    .key_count = COUNT(look_material_keys),
    .bytes = sizeof(treacle_look_material),
};
static const schema_section look_sides_section = {
    .name = "sides_look",
    .help = "What the upright closed sides of the domain look like: the keys of liquid_look. With "
            "`none` they are not drawn. Panes of `glass` have a thickness; other walls are seen "
            "from inside only.",
    .keys = look_material_keys,
    .key_count = COUNT(look_material_keys),
    .bytes = sizeof(treacle_look_material),
    .init = init_sides,
};
static const schema_section look_emitters_section = {
    .name = "emitters_look",
    .help = "What emitters look like, which are drawn as nozzles around their shapes: the keys of "
            "liquid_look. `auto` is matt grey; with `none` they are not drawn.",
    .keys = look_material_keys,
    .key_count = COUNT(look_material_keys),
    .bytes = sizeof(treacle_look_material),
};
static const schema_section look_solid_section = {
    .name = "named_solid_look",
    .help = "What one solid or body looks like. The key is its name.",
    .keys = look_material_keys,
    .key_count = COUNT(look_material_keys),
    .bytes = sizeof(treacle_look_material),
    .name_offset = offsetof(treacle_look_material, name),
    .init = init_look_material,
};

static void init_lamp(void* item) {
    *(treacle_lamp_def*)item = treacle_lamp_def_default();
}

static const schema_key lamp_keys[] = {
    {.name = "centre",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_lamp_def, centre),
     .unit = UNIT_LENGTH,
     .help = "where it is"},
    {.name = "target",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_lamp_def, target),
     .unit = UNIT_LENGTH,
     .help = "where it shines to"},
    {.name = "radius",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_lamp_def, radius),
     .unit = UNIT_LENGTH,
     .range = FROM(0),
     .help = "of a round lamp; 0: a rectangle"},
    {.name = "width",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_lamp_def, size[0]),
     .unit = UNIT_LENGTH,
     .range = ABOVE(0),
     .help = "of a rectangle"},
    {.name = "height",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_lamp_def, size[1]),
     .unit = UNIT_LENGTH,
     .range = ABOVE(0),
     .help = "of a rectangle"},
    {.name = "colour",
     .type = SCHEMA_COLOUR,
     .offset = offsetof(treacle_lamp_def, colour),
     .help = "of its light"},
    {.name = "strength",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_lamp_def, strength),
     .range = FROM(0),
     .help = "how bright it is to look at; the walls of the studio have about 1"},
    {.name = "seen",
     .type = SCHEMA_BOOL,
     .offset = offsetof(treacle_lamp_def, seen),
     .help = "by the camera; with `false` only its light and its reflections are"},
};
static const schema_section lamp_section = {
    .name = "lamp",
    .help = "A lamp with an area, which shines to one side.",
    .keys = lamp_keys,
    .key_count = COUNT(lamp_keys),
    .bytes = sizeof(treacle_lamp_def),
    .init = init_lamp,
};

static const schema_key look_keys[] = {
    {.name = "liquid",
     .type = SCHEMA_SECTION,
     .offset = offsetof(treacle_look_def, liquid),
     .of = &look_liquid_section,
     .help = "what all liquid looks like"},
    {.name = "materials",
     .type = SCHEMA_MAP,
     .offset = offsetof(treacle_look_def, materials),
     .count_offset = offsetof(treacle_look_def, material_count),
     .range = WITHIN(0, 256),
     .of = &look_material_section,
     .help = "what liquid of single materials looks like, by their names",
     .default_text = "none"},
    {.name = "solid",
     .type = SCHEMA_SECTION,
     .offset = offsetof(treacle_look_def, solid),
     .of = &look_solids_section,
     .help = "what all solids and bodies look like"},
    {.name = "solids",
     .type = SCHEMA_MAP,
     .offset = offsetof(treacle_look_def, solids),
     .count_offset = offsetof(treacle_look_def, solid_count),
     .range = WITHIN(0, 4096),
     .of = &look_solid_section,
     .help = "what single solids and bodies look like, by their names",
     .default_text = "none"},
    {.name = "sides",
     .type = SCHEMA_SECTION,
     .offset = offsetof(treacle_look_def, sides),
     .of = &look_sides_section,
     .help = "what the upright closed sides of the domain look like"},
    {.name = "emitters",
     .type = SCHEMA_SECTION,
     .offset = offsetof(treacle_look_def, emitters),
     .of = &look_emitters_section,
     .help = "what emitters look like, drawn as nozzles"},
    {.name = "environment",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_look_def, environment),
     .words = environment_words,
     .help =
         "light from all around: `studio`, white with two soft lamps; `sky`, with a sun; `dark`; "
         "or the picture `file`"},
    {.name = "file",
     .type = SCHEMA_FILE,
     .offset = offsetof(treacle_look_def, file),
     .help =
         "with `environment: file`, an EXR picture of all directions, the zenith in its first row",
     .default_text = ""},
    {.name = "light",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_def, light),
     .range = FROM(0),
     .help = "strength of the environment"},
    {.name = "turn",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_def, turn),
     .unit = UNIT_ANGLE,
     .help = "of the environment, about the vertical"},
    {.name = "sun",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_look_def, sun),
     .unit = UNIT_NUMBER,
     .help = "direction towards the sun of `sky`; any length"},
    {.name = "sun_strength",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_def, sun_strength),
     .range = FROM(0),
     .help = "of the sun of `sky`; 0: none"},
    {.name = "ground",
     .type = SCHEMA_BOOL,
     .offset = offsetof(treacle_look_def, ground),
     .help = "a floor under the domain"},
    {.name = "ground_colour",
     .type = SCHEMA_COLOUR,
     .offset = offsetof(treacle_look_def, ground_colour),
     .help = "of the floor"},
    {.name = "ground_height",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_def, ground_height),
     .unit = UNIT_LENGTH,
     .help = "of the floor, above the bottom of the domain"},
    {.name = "ground_texture",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_look_def, ground_texture),
     .words = texture_words,
     .help = "a pattern on the floor"},
    {.name = "ground_roughness",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_def, ground_roughness),
     .range = WITHIN(-1, 1),
     .help = "of a lacquer on the floor: 0 mirrors what is above it; -1: there is none"},
    {.name = "tone",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_look_def, tone),
     .words = tone_words,
     .help = "how light becomes colour: with a film's soft shoulder, or cut off at white"},
    {.name = "exposure",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_look_def, exposure),
     .range = WITHIN(-20, 20),
     .help = "stops brighter (darker if negative)"},
    {.name = "lamps",
     .type = SCHEMA_LIST,
     .offset = offsetof(treacle_look_def, lamps),
     .count_offset = offsetof(treacle_look_def, lamp_count),
     .range = WITHIN(0, 64),
     .of = &lamp_section,
     .help = "lamps with an area",
     .default_text = "none"},
};
const schema_section schema_look = {
    .name = "look",
    .help = "What pictures by `treacle render` look like. It changes nothing of the simulation; "
            "`treacle render --scene` takes it from another file.",
    .keys = look_keys,
    .key_count = COUNT(look_keys),
    .bytes = sizeof(treacle_look_def),
};

static void init_camera_key(void* item) {
    *(treacle_camera_key*)item = (treacle_camera_key){.eye = {0.0, 0.0, 1.0}};
}

static const schema_key camera_key_keys[] = {
    {.name = "time",
     .type = SCHEMA_REAL,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_camera_key, time),
     .unit = UNIT_TIME,
     .help = "when it is there"},
    {.name = "eye",
     .type = SCHEMA_VEC3,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(treacle_camera_key, eye),
     .unit = UNIT_LENGTH,
     .help = "where the camera is"},
    {.name = "target",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_camera_key, target),
     .unit = UNIT_LENGTH,
     .help = "where it looks"},
};
static const schema_section camera_key_section = {
    .name = "camera_key",
    .help = "A place that the camera glides through.",
    .keys = camera_key_keys,
    .key_count = COUNT(camera_key_keys),
    .bytes = sizeof(treacle_camera_key),
    .init = init_camera_key,
};

static const schema_key camera_keys[] = {
    {.name = "eye",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_camera_def, eye),
     .unit = UNIT_LENGTH,
     .help = "where the camera is",
     .default_text = "where it sees all that the liquid reaches"},
    {.name = "target",
     .type = SCHEMA_VEC3,
     .offset = offsetof(treacle_camera_def, target),
     .unit = UNIT_LENGTH,
     .help = "with `eye`: where it looks"},
    {.name = "field_of_view",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_camera_def, field_of_view),
     .unit = UNIT_ANGLE,
     .range = WITHIN(0.01, 3),
     .help = "from the bottom to the top of the picture"},
    {.name = "aperture",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_camera_def, aperture),
     .unit = UNIT_LENGTH,
     .range = FROM(0),
     .help = "diameter of the lens: what is not in focus is blurred; 0: all is sharp"},
    {.name = "focus",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_camera_def, focus),
     .unit = UNIT_LENGTH,
     .range = FROM(0),
     .help = "distance of what is sharp; 0: the target"},
    {.name = "shutter",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_camera_def, shutter),
     .range = WITHIN(0, 1),
     .help = "share of the time between two frames that it is open: motion blur"},
    {.name = "turn",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_camera_def, turn),
     .unit = UNIT_ANGLE,
     .help = "by which the camera is turned about the vertical through the target"},
    {.name = "turntable",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_camera_def, turntable),
     .unit = UNIT_SPIN,
     .help = "how fast the camera goes round the target"},
    {.name = "keys",
     .type = SCHEMA_LIST,
     .offset = offsetof(treacle_camera_def, keys),
     .count_offset = offsetof(treacle_camera_def, key_count),
     .range = WITHIN(0, 4096),
     .of = &camera_key_section,
     .help = "places between which the camera glides, instead of `eye` and `target`",
     .default_text = "none"},
};
const schema_section schema_camera = {
    .name = "camera",
    .help = "From where pictures by `treacle render` are taken.",
    .keys = camera_keys,
    .key_count = COUNT(camera_keys),
    .bytes = sizeof(treacle_camera_def),
};
