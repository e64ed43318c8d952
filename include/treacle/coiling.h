// How a thread of thick liquid coils where it falls on something: measured in frames, and what the
// theory of slender ropes says [Ribe04]. docs/math/coiling.md explains both.
#pragma once

#include "cache.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The round nozzle that a thread streams out of, downward.
typedef struct treacle_nozzle {
    double opening[3]; ///< m, the centre of its lower end
    double radius;     ///< m, > 0
    double speed;      ///< m/s, > 0, of the stream
    double viscosity;  ///< m^2/s, > 0, kinematic
    double gravity;    ///< m/s^2, >= 0, downward
} treacle_nozzle;

/// The thread in one frame, from the nozzle down to where it lies on its pile.
typedef struct treacle_thread {
    double time;    ///< s
    double foot[3]; ///< m, of its axis, where it turns into the pile
    double radius;  ///< m, across the axis, just above the foot
    bool has_landed;
} treacle_thread;

/// Follows the thread down. A frame without liquid below the nozzle gives a thread that has not
/// landed. ERR_FORMAT if the frame has no positions or volumes of particles.
TREACLE_API treacle_status treacle_thread_find(treacle_context* ctx, const treacle_frame* frame,
                                               const treacle_nozzle* nozzle, treacle_thread* out);

/// What a thread does over time: means from the moment it turns steadily.
typedef struct treacle_coiling {
    double from, to;      ///< s
    double turns;         ///< of the foot around the nozzle's axis
    double frequency;     ///< Hz, slope of a straight line through its angle
    double spread;        ///< turns, rms distance of the angle from that line
    double radius;        ///< m, of the coil
    double thread_radius; ///< m, at the foot
    double height;        ///< m, from foot to nozzle
} treacle_coiling;

/// From threads in the order of time. All zero if none has landed; needs several frames a turn.
TREACLE_API treacle_coiling treacle_coiling_measure(const treacle_nozzle* nozzle, int64_t count,
                                                    const treacle_thread* threads);

/// What holds the balance with viscosity in the coil.
typedef enum treacle_coiling_regime {
    TREACLE_COILING_VISCOUS,               ///< nothing: the thread is pushed
    TREACLE_COILING_GRAVITATIONAL,         ///< weight
    TREACLE_COILING_INERTIO_GRAVITATIONAL, ///< weight and inertia; several frequencies are possible
    TREACLE_COILING_INERTIAL,              ///< inertia
    TREACLE_COILING_REGIME_COUNT
} treacle_coiling_regime;
TREACLE_API const char* treacle_coiling_regime_name(treacle_coiling_regime regime);

enum { TREACLE_COILING_STATES = 5 };
typedef struct treacle_coiling_theory {
    treacle_coiling_regime regime;
    double gravity_number;  ///< 4 g H^4/(3 nu U a^2), of the thread at its foot
    double reynolds_number; ///< 4 U H^3/(3 nu a^2), of the thread at its foot
    int count;              ///< of steady states that a slender rope has at this height
    double frequency[TREACLE_COILING_STATES];     ///< Hz, of each
    double radius[TREACLE_COILING_STATES];        ///< m, of its coil
    double thread_radius[TREACLE_COILING_STATES]; ///< m, where it lies down
    double limit; ///< Hz, of the regime in closed form: a rough figure where no state was found
} treacle_coiling_theory;

/// Solves the equations of a slender rope that leaves the nozzle, falls by `height` and coils
/// steadily; the radius of the thread at its foot tells the regime. Surface tension, the pile's own
/// motion and shear across the rope are left out. Takes about a second. A height of 0 or less is
/// ERR_USAGE.
TREACLE_API treacle_status treacle_coiling_predict(treacle_context* ctx,
                                                   const treacle_nozzle* nozzle, double height,
                                                   double thread_radius,
                                                   treacle_coiling_theory* out);

#ifdef __cplusplus
}
#endif
