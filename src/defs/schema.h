// The one table of what a scene can say: every key with its place in a def, type, unit, range,
// default and help.
//
// Binding and checking of scene files, checks of defs that programs hand over, defaults, the
// canonical text, the manual's reference and the JSON Schema are all made from it.
// A new key is one row in a schema*.c; a new section is one table and one row that names it. Rows
// are bound in their order, not in that of the file: what others refer to stands above them.
// Defaults are not written here: `init` of a section takes them from the defs' _default()
// functions.
#pragma once

#include "defs/units.h"
#include "treacle/scene.h"

typedef enum schema_type {
    SCHEMA_BOOL,     // bool
    SCHEMA_INT,      // int
    SCHEMA_INT64,    // int64_t or uint64_t
    SCHEMA_REAL,     // double
    SCHEMA_VEC3,     // double[3]
    SCHEMA_COLOUR,   // double[3], linear
    SCHEMA_ENUM,     // an enum, or `spread` of them in a row
    SCHEMA_NAME,     // const char*, fit for a file name
    SCHEMA_FILE,     // const char*, the absolute path of a file that is there
    SCHEMA_MESH,     // const char*, the absolute path of a mesh that can be read
    SCHEMA_CURVE,    // treacle_curve of scalars
    SCHEMA_CURVE3,   // treacle_curve of vectors
    SCHEMA_FIELD,    // treacle_field of scalars
    SCHEMA_FIELD3,   // treacle_field of vectors
    SCHEMA_SHAPE,    // const treacle_shape*; NULL where it is not given
    SCHEMA_SHAPES,   // const treacle_shape* and its count
    SCHEMA_MATERIAL, // int, an index into the materials
    SCHEMA_RELEASE,  // treacle_separation, or `spread` of them in a row
    SCHEMA_PRESET,   // the whole material is set to one of the library's
    SCHEMA_SECTION,  // a struct inside the struct
    SCHEMA_LIST,     // pointer to structs and its count
    SCHEMA_MAP,      // the same, each under a name of its own
    SCHEMA_INCLUDE,  // read before binding (overlay.c)
    SCHEMA_TYPE_COUNT,
} schema_type;

typedef enum schema_flag {
    SCHEMA_REQUIRED = 1,        // must be given; of a choice: one of it must
    SCHEMA_PAIR = 2,            // a vector may leave out z, which is then 0
    SCHEMA_INPUT_ONLY = 4,      // another way to say what another key says; never printed
    SCHEMA_ALWAYS = 8,          // printed even where it has its default
    SCHEMA_ALONE = 16,          // may be given alone in place of the section: `sides: slip`
    SCHEMA_BY_TEMPERATURE = 32, // CURVE: over temperature instead of time
    SCHEMA_MAY_CHANGE = 64,     // SHAPE: may be a sequence of meshes
} schema_flag;

typedef struct schema_range {
    bool has_min, has_max, is_min_open;
    double min, max;
} schema_range;

typedef struct schema_key {
    const char* name;
    schema_type type;
    unsigned flags;
    size_t offset;       // in the section's struct
    size_t count_offset; // SHAPES, LIST, MAP: of the int that counts
    unit_kind unit;
    unit_kind other_unit;            // REAL: also accepted, if not UNIT_NUMBER ...
    size_t other_factor;             // ... and multiplied by the double at this offset
    schema_range range;              // of the value or of each component; LIST, MAP: of the count
    int choice;                      // > 0: only one key of the same choice may be given
    int spread;                      // ENUM, REAL, RELEASE: so many in a row get it; 0 is 1
    const char* infinite;            // REAL: a word that stands for INFINITY
    const char* const* words;        // ENUM: the values' names in order, NULL at the end
    const struct schema_section* of; // SECTION, LIST, MAP
    const char* help;                // a sentence without its full stop
    const char* default_text;        // for the manual, where the default is not a value
} schema_key;

/// What does not go together in a section: why, and at which key.
enum { SCHEMA_FAULT_MAX = 320, SCHEMA_RANGE_TEXT_MAX = 160 };
typedef struct schema_fault {
    const char* key;    // at whose place it is said, ...
    const char* or_key; // ... or, if that is not given, at whose; NULL: at the section's
    char text[SCHEMA_FAULT_MAX];
} schema_fault;

/// Whether the keys of a section, each of them right, go together. If not, *fault is filled in.
typedef bool schema_rule_fcn(const void* item, schema_fault* fault);

typedef struct schema_section {
    const char* name; // as headings and messages call one of them
    const char* help;
    const schema_key* keys;
    int key_count;
    size_t bytes;                      // of the struct
    size_t name_offset;                // MAP: of the const char* that gets the name
    void (*init)(void* item);          // puts in the defaults; NULL: the enclosing section's do
    schema_rule_fcn* rule;             // may be NULL
    bool (*is_idle)(const void* item); // it counts for nothing as it is; NULL: it never does
    // The law that it chooses means nothing without this number, which is therefore said even where
    // it is the default; NULL: none is so.
    bool (*needs)(const void* item, const char* key);
} schema_section;

/// The domain as the file says it; scene/scene_check.c turns it into the def.
typedef struct scene_domain {
    double origin[3]; // m; along a flat axis the place of the mid-plane
    double size[3];   // m
    double cell;      // m; 0: not given
    int resolution;   // cells along the longest axis; 0: not given
    treacle_side sides[3][2];
    treacle_separation separation[3][2];
    double slip_length[3][2]; // m
    treacle_curve surface_velocity[3][2];
    double contact_angle[3][2]; // rad
} scene_domain;

/// What a scene file binds to.
typedef struct scene_root {
    treacle_sim_def sim;
    treacle_output_def output;
    treacle_look_def look;
    treacle_camera_def camera;
    scene_domain domain;
} scene_root;

enum { SCHEMA_ITEM_MAX = 4096 }; // bytes of any section's struct
_Static_assert(sizeof(scene_root) <= SCHEMA_ITEM_MAX, "the root is the largest of them");

/// A shape as the file says it; scene/bind_shape.c turns it into the def.
typedef struct shape_spec {
    double size[3], min[3], max[3], centre[3]; // m
    double radius, height, thickness;          // m
    double point[3], normal[3];                // of a plane
    const char* file;                          // of a mesh
    treacle_mesh_sequence frames;              // of a mesh
    double move[3], rotate[3], scale;
    int child_count;
    const treacle_shape* children;
} shape_spec;

extern const schema_section schema_root;
extern const schema_section schema_shape;
extern const schema_section schema_ramp; // of a treacle_field; `a` and `b` take after the field
// The sections that it names, and those inside them.
extern const schema_section schema_domain, schema_sides, schema_material, schema_rheology,
    schema_elastic, schema_shrinkage, schema_viscosity_law, schema_liquid, schema_emitter,
    schema_sink, schema_force, schema_drop, schema_heat, schema_heat_source, schema_heat_wall,
    schema_level_set, schema_marker, schema_marker_source, schema_solid, schema_body, schema_joint,
    schema_step, schema_viscosity_solve, schema_look, schema_camera, schema_box, schema_sphere,
    schema_cylinder, schema_capsule, schema_torus, schema_plane, schema_mesh;
enum { SCHEMA_SHAPE_KINDS = 10 }; // the first rows of schema_shape, in the order of the enum

bool schema_range_has(const schema_range* range, double value);
/// "greater than 0 m", "from 0.1 to 5".
void schema_range_text(const schema_range* range, unit_kind unit, char out[SCHEMA_RANGE_TEXT_MAX]);

/// Where in a scene or a def, for messages: "liquids[0].velocity".
enum { SCHEMA_PATH_MAX = 512 };
typedef struct schema_path {
    const struct schema_path* up;
    const char* name; // NULL: an item of a list
    int index;
} schema_path;
/// Cut off where it is too long; empty for NULL.
void schema_path_print(const schema_path* path, char out[SCHEMA_PATH_MAX]);

/// The row of a key, or NULL.
const schema_key* schema_find(const schema_section* section, const char* key);

/// What a shape would say in a file.
void schema_shape_spec(const treacle_shape* def, shape_spec* out);
