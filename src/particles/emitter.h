// Inflow: liquid that streams through a shape, as a function of time alone.
//
// A lattice of columns along the stream's direction passes through the shape like a solid bar. A
// column enters the shape where its line first meets it; its particles sit on it in layers of the
// spacing a, a^3 (in 2D a^2 h) being the volume of a particle. By the time t the bar has moved on
// by
//
//     s(t) = integral of the speed from `start` to t (at most to `stop`),
//
// so the particle at the height (k + phase) a of a column is born when s reaches it. At the end of
// the step it is s(t) - (k + phase) a behind the entry: where it would be had it been born in time.
// phase in (0, 1) is a hash of (seed, id), and id counts layers and columns. All particles of a
// layer have the same volume, such that the layer's is area * a, where area is the shape's extent
// across the stream: so the volume that has come in at t is area * s(t), to a layer, whatever the
// steps were. There is no state between steps.
//
// A nozzle that moves takes its shape and the bar in it along.
#pragma once

#include "geometry/shape.h"
#include "math/curve.h"
#include "particles/particles.h"

typedef struct emitter {
    treacle_context* ctx;
    grid_domain domain;
    uint64_t seed, source; // the source part of its ids
    double jitter;         // 0..1
    uint8_t material;
    float colour[3];
    float temperature, marker, log_factor;
    shape* where;
    vec3 direction;       // of unit length
    double spacing;       // m, a
    double area;          // m^2, across the stream
    double start, stop;   // s
    treacle_curve path;   // speed, m/s, or rate, m^3/s
    double path_divisor;  // makes it a speed: 1 or area
    treacle_curve motion; // m, of the nozzle; count 0: it stands still
    int64_t column_count; // that meet the shape
    vec3* entry;          // [column_count], m
} emitter;

/// What an emitter needs to know about the simulation it is in.
typedef struct emitter_setting {
    const grid_domain* domain;
    uint64_t seed, source;
    treacle_particles_def particles;
    float colour[3];
} emitter_setting;

/// ERR_SCENE with a sentence where the def makes no sense: a direction without length, a negative
/// speed, a shape without bounds.
treacle_status emitter_init(treacle_context* ctx, const treacle_emitter_def* def,
                            const emitter_setting* setting, emitter* out) TREACLE_NODISCARD;
/// Harmless on a zeroed emitter.
void emitter_finish(emitter* e);

/// How far the stream has come, m.
double emitter_path(const emitter* e, double time);
/// m/s; 0 outside [start, stop].
double emitter_speed(const emitter* e, double time);

/// m, how far the nozzle is from where its shape says.
vec3 emitter_offset(const emitter* e, double time);
/// m/s, mean velocity of the nozzle.
vec3 emitter_motion(const emitter* e, double from, double to);

/// Appends the particles that are born in (from, to], where they are at its end. With gravity they
/// fall from their birth on; without (NULL) they go straight on. *count: how many.
treacle_status emitter_emit(const emitter* e, double from, double to, const treacle_curve* gravity,
                            particles* p, int64_t* count) TREACLE_NODISCARD;
