// How a picture looks: materials, light, ground, camera. Plain data, as scene files give it.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What liquid looks like. Presets with measured media are those of [JMLH01 table 1].
#define TREACLE_LOOK_LIST(X)                                                                       \
    X(AUTO, "auto")   /* as the material says, or its name, else SOFT in its colour */             \
    X(HONEY, "honey") /* clear amber */                                                            \
    X(SYRUP, "syrup") /* darker */                                                                 \
    X(WATER, "water")                                                                              \
    X(GLASS, "glass")                                                                              \
    X(OIL, "oil")             /* clear, yellow and a little green: olive oil */                    \
    X(MOLASSES, "molasses")   /* nearly black, red-brown where it is thin */                       \
    X(GEL, "gel")             /* clear, pale, with a haze: hair gel */                             \
    X(EGG_WHITE, "egg-white") /* nearly clear, faintly yellow, with a haze */                      \
    X(SLIME, "slime")         /* translucent, in its colour */                                     \
    X(SHAMPOO, "shampoo")     /* pearly, in its colour */                                          \
    X(JELLY, "jelly")         /* clear, in its colour */                                           \
    X(WAX, "wax")             /* translucent, typical */                                           \
    X(MILK, "milk")           /* measured: whole milk */                                           \
    X(CREAM, "cream")         /* measured */                                                       \
    X(CHOCOLATE, "chocolate") /* typical */                                                        \
    X(COCOA, "cocoa")         /* measured: chocolate milk [NGDRJN06] */                            \
    X(KETCHUP, "ketchup")     /* measured */                                                       \
    X(SKIN, "skin")           /* measured: skin 1 */                                               \
    X(MARBLE, "marble")       /* measured */                                                       \
    X(SOFT, "soft")           /* translucent, in its colour */                                     \
    X(GLOSS, "gloss")         /* opaque under a smooth skin, in its colour: wet paint, tar */      \
    X(DOUGH, "dough")         /* dull, a little translucent, in its colour */                      \
    X(LAVA, "lava")           /* rock that glows by its temperature */                             \
    X(PAINT, "paint")         /* matt, in its colour */                                            \
    X(METAL, "metal")         /* in its colour */                                                  \
    X(NONE, "none")           /* not drawn */
typedef enum treacle_look_kind {
#define TREACLE_LOOK_ENUM(name, text) TREACLE_LOOK_##name,
    TREACLE_LOOK_LIST(TREACLE_LOOK_ENUM)
#undef TREACLE_LOOK_ENUM
        TREACLE_LOOK_COUNT
} treacle_look_kind;
TREACLE_API const char* treacle_look_name(treacle_look_kind kind);

typedef enum treacle_scattering {
    TREACLE_SCATTERING_WALK,   ///< random walks: right for any shape
    TREACLE_SCATTERING_DIPOLE, ///< the dipole of [JMLH01]: for bodies thick against its reach
} treacle_scattering;

typedef enum treacle_texture {
    TREACLE_TEXTURE_NONE,
    TREACLE_TEXTURE_CHECKER,
    TREACLE_TEXTURE_MARBLE,
    TREACLE_TEXTURE_GRAIN,
    TREACLE_TEXTURE_WOOD,  ///< planks
    TREACLE_TEXTURE_TILES, ///< with joints between them
} treacle_texture;

/// The look of one material. Values < 0 are left to the preset.
typedef struct treacle_look_material {
    const char* name; ///< of the scene's material, solid or body; NULL: of all others
    treacle_look_kind kind;
    double colour[3];  ///< linear RGB
    double roughness;  ///< 0..1
    double index;      ///< of refraction
    double scale;      ///< the liquid looks as if it were so many times smaller; 0: 1 for scenes up
                       ///< to 25 cm, and larger ones as if they were 25 cm
    double cloudiness; ///< scattering of clear liquids, 1/m
    double glow;       ///< times so bright; of lava
    treacle_scattering scattering;
    treacle_texture texture; ///< sticks to the material where the frame has rest positions
    double texture_size;     ///< m; 0: a twentieth of the domain
} treacle_look_material;

typedef enum treacle_environment {
    TREACLE_ENVIRONMENT_STUDIO, ///< white walls and two soft lamps
    TREACLE_ENVIRONMENT_SKY,    ///< blue above, pale at the horizon, with a sun
    TREACLE_ENVIRONMENT_DARK,   ///< nearly black: for lava and lamps
    TREACLE_ENVIRONMENT_FILE,   ///< an EXR picture of all directions
} treacle_environment;

typedef enum treacle_tone {
    TREACLE_TONE_FILMIC,
    TREACLE_TONE_SRGB, ///< linear light, cut off at white
} treacle_tone;

/// A lamp with an area: it shines from its front only.
typedef struct treacle_lamp_def {
    double centre[3], target[3]; ///< m
    double radius;               ///< m, of a disc; 0: a rectangle
    double size[2];              ///< m, width and height of a rectangle
    double colour[3];            ///< linear RGB
    double strength;             ///< radiance; white walls in a studio have about 1
    bool seen;                   ///< by the camera; else only its light and its reflections are
} treacle_lamp_def;

typedef struct treacle_look_def {
    treacle_look_material liquid; ///< of materials that are not in the list
    int material_count;
    const treacle_look_material* materials;
    treacle_look_material solid; ///< of solids and bodies that are not in the list
    int solid_count;
    const treacle_look_material* solids; ///< by the names of solids and bodies
    treacle_look_material sides;         ///< of the domain's closed sides; NONE: they are not drawn
    treacle_look_material emitters;      ///< of nozzles; NONE: they are not drawn
    treacle_environment environment;
    const char* file;        ///< of the environment, not owned
    double light;            ///< strength of the environment
    double turn;             ///< rad, of the environment about y
    double sun[3];           ///< direction towards the sun
    double sun_strength;     ///< of a sky's sun: 0 none, 1 bright
    bool ground;             ///< a floor under the domain
    double ground_colour[3]; ///< linear RGB
    double ground_height;    ///< m, above the bottom of the domain
    treacle_texture ground_texture;
    double ground_roughness; ///< 0..1, of a lacquer on the floor: 0 mirrors; < 0: none, it is matt
    treacle_tone tone;
    double exposure; ///< stops, added to what is found to fit
    int lamp_count;
    const treacle_lamp_def* lamps;
} treacle_look_def;

typedef struct treacle_camera_key {
    double time;              ///< s
    double eye[3], target[3]; ///< m
} treacle_camera_key;

typedef struct treacle_camera_def {
    double eye[3], target[3]; ///< m; used if eye_set, else the camera frames the liquid by itself
    bool eye_set;
    double field_of_view; ///< rad, vertical
    double aperture;      ///< m, diameter of the lens; 0: all is sharp
    double focus;         ///< m; 0: the target
    double shutter;       ///< 0..1, share of the time between frames that it is open
    double turn;          ///< rad, about the vertical through the target
    double turntable;     ///< rad/s, on top of that
    int key_count;        ///< places between which the camera glides; instead of eye and target
    const treacle_camera_key* keys;
} treacle_camera_def;

TREACLE_API treacle_look_material treacle_look_material_default(void);
TREACLE_API treacle_lamp_def treacle_lamp_def_default(void);
TREACLE_API treacle_look_def treacle_look_def_default(void);
TREACLE_API treacle_camera_def treacle_camera_def_default(void);

#ifdef __cplusplus
}
#endif
