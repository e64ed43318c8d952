// Random scenes that a person could write: whatever a scene file allows, drawn by number.
//
// A scene is drawn as the text of a scene file, so that it goes through the same door as a user's,
// and can be kept and run again when it shows something. Beside the text stands what the scene
// should obey: how its solids move, in closed form, and how fast anything in it may become.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/// Chance: a counter, whose hash is the next number.
typedef struct dice {
    uint64_t state;
} dice;
double dice_between(dice* d, double low, double high);
/// Even in the logarithm.
double dice_log(dice* d, double low, double high);
/// 0 to count - 1.
int dice_below(dice* d, int count);
bool dice_chance(dice* d, double probability);
/// One of the words.
const char* dice_word(dice* d, int count, const char* const* words);
#define DICE_WORD(d, words) dice_word(d, (int)(sizeof(words) / sizeof((words)[0])), words)

enum { RANDOM_SOLIDS = 4, RANDOM_BODIES = 3, RANDOM_KEYS = 3, RANDOM_FRAMES = 3, RANDOM_PATH = 96 };

typedef enum random_form {
    FORM_SPHERE,
    FORM_BOX,
    FORM_CYLINDER,
    FORM_CAPSULE,
    FORM_TORUS,
    FORM_COUNT,
    FORM_MESHES = FORM_COUNT // a box that is stretched and sheared from mesh to mesh
} random_form;

/// A box whose middle and half edges change from mesh to mesh.
typedef struct random_hull {
    double middle[3], edges[3][3]; // edges[a][k]: component a of the k-th half edge
} random_hull;

/// A shape in its place, and how it moves.
typedef struct random_solid {
    random_form form;
    double centre[3], turn[3]; // m; rad about x, then y, then z
    double radius, height, thickness, size[3];
    bool inside_out;
    double velocity[3], spin[3], pivot[3]; // m/s, rad/s, m
    int key_count;                         // of its way
    double key_time[RANDOM_KEYS], key_way[RANDOM_KEYS][3];
    random_hull hulls[RANDOM_FRAMES];
    double hulls_fps;
} random_solid;

/// Where a solid is.
typedef struct random_pose {
    double place[3];   // m, of its pivot
    double turn[3][3]; // from how it began
} random_pose;

typedef struct random_scene {
    uint64_t number;
    char* text; // of malloc
    size_t length;
    int axes; // 2 or 3
    double cell, origin[3], size[3];
    double until;       // s
    double drive;       // m/s, the sum of all that may set something in motion
    bool is_eulerian;   // the grid carries the liquid
    bool is_at_rest;    // a pool that nothing moves
    bool has_way_out;   // an open side or a sink
    bool has_strangers; // liquids of the first material are on the low side of the first solid, a
                        // plate
    int solid_count, body_count;
    random_solid solids[RANDOM_SOLIDS], bodies[RANDOM_BODIES];
    char folder[RANDOM_PATH]; // of meshes; "": none
} random_scene;

/// Draws the scene of a number. False if there is no room, or its meshes cannot be written.
bool random_scene_draw(uint64_t number, random_scene* out);
/// Frees the text and removes the meshes.
void random_scene_free(random_scene* scene);

// ---- what the parts of the generator share

typedef struct random_writer {
    random_scene* scene;
    dice d;
    FILE* out;
    double length;  // m, of the domain along its longest side
    double gravity; // m/s^2
    int material_count;
} random_writer;

void random_vector(const random_writer* w, const char* key, const double v[3]);
/// A point of the domain, `margin` of its size away from the sides.
void random_point(random_writer* w, double margin, double out[3]);
/// A direction and a length of at most `most`, in the plane where the scene is flat.
void random_way(random_writer* w, double most, double out[3]);
/// Adds "solids" and "bodies".
bool random_write_solids(random_writer* w);
void random_write_bodies(random_writer* w);
/// "shape": {...}
void random_write_shape(random_writer* w, const random_solid* s);
/// A form of about `length`, turned, somewhere in the domain.
void random_draw_form(random_writer* w, double length, random_solid* out);

// ---- in closed form

random_pose random_pose_at(const random_solid* s, double time);
/// From the state of a body: its place, and its quaternion.
random_pose random_pose_of_body(const double place[3], const double quaternion[4]);
/// m, negative inside. Of meshes the sign and the depth are right, not the distance outside.
double random_distance(const random_scene* scene, const random_solid* s, const random_pose* pose,
                       double time, const double x[3]);
/// m, how far x is from the middle of the first solid along its first axis.
double random_side(const random_scene* scene, const random_pose* pose, const double x[3]);
