// Belts: walls that move in their own plane and take liquid along.
//
// (i) A layer of height H between two plates of which one is a belt comes to the line
//
//     u = U (y + b) / (H + 2 b)     with the slip length b of both plates,
//
// and the belt does mu U^2 / (H + 2 b) work a second on a unit of its area. The belt is a side of
// the domain, low or high, steady or by keys, or the surface of a solid, by a number, an expression
// or keys. Particles beside a solid see the velocity of the nearest faces, not the line: 2.7 % of U
// are missing there in the unified flow, to the bit as beside a plate that moves. Of liquids whose
// viscosity depends on the rate of shear the line is the same, which the walls have to know to find
// it.
//
// (ii) A turning table: liquid between a cylinder of radius R whose surface turns with w and one of
// radius S at rest goes round with
//
//     u = w R^2 / (S^2 - R^2) (S^2 / r - r).
//
// (iii) A belt that turns round a box carries nothing through its ends: liquid around it keeps its
// volume, and so the pressure has nothing to do.
//
// (iv) A thread or a slab of thick liquid that comes down on a belt slowly lies on it and goes
// along: its lowest particles are less than half a cell above, all of it moves with the belt. Held
// up by the last cell, it lay 0.9 to 1.2 cells above and did not move at all.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "measure.h"

enum { MOST_STEPS = 400 };

typedef struct belt_row {
    const char *name, *sides, *solids, *material, *flow;
    double slip;   // m
    bool is_below; // the belt
    double tolerance;
} belt_row;

static const double width = 0.16, depth = 0.16, cell = 0.01, speed = 0.1, mu = 100.0;

static const char layer_scene[] = "domain:\n"
                                  "  size: [0.16, %g]\n"
                                  "  origin: [0, %g]\n"
                                  "  cell: 1 cm\n"
                                  "  sides: {all: no-slip, left: periodic, right: periodic}\n"
                                  "  %s\n"
                                  "gravity: [0, 0, 0]\n"
                                  "flow: %s\n"
                                  "fill: all\n"
                                  "materials: {syrup: {density: 1000, %s}}\n"
                                  "liquids: [{shape: {box: {min: [-1, -1], max: [1, 1]}}}]\n"
                                  "%s";

// The largest difference of a particle's speed from the line, and that of the mean.
typedef struct line_error {
    double most, sum, count;
} line_error;

static double line_at(const belt_row* row, double y) {
    double up = row->is_below ? depth - y : y;
    return speed * (up + row->slip) / (depth + 2.0 * row->slip);
}

static treacle_status compare_line(const belt_row* row, treacle_sim* sim, line_error* out) {
    treacle_frame frame;
    VALIDATE_TRY(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame));
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const treacle_array* velocity = treacle_frame_find(&frame, "velocity");
    for (int64_t t = 0; t + 1 < first->count; ++t) {
        const int64_t* begin = (const int64_t*)first->data + t;
        for (int64_t i = begin[0]; i < begin[1]; ++i) {
            double x[3];
            validate_position(&frame, t, i, x);
            if (x[1] > 0.0 && x[1] < depth) {
                double u = (double)((const float*)velocity->data)[3 * i];
                double e = (u - line_at(row, x[1])) / speed;
                out->most = fmax(out->most, fabs(e));
                out->sum += e;
                out->count += 1.0;
            }
        }
    }
    return TREACLE_OK;
}

static treacle_status run_layer(validate* v, const belt_row* row) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats = {0};
    bool has_solids = row->solids[0] != '\0';
    double below = has_solids ? 0.04 : 0.0;
    VALIDATE_TRY(validate_sim_create(v, &sim, layer_scene, depth + 2.0 * below, -below, row->sides,
                                     row->flow, row->material, row->solids));
    treacle_status status = TREACLE_OK;
    for (int i = 0; status == TREACLE_OK && i < MOST_STEPS && treacle_sim_time(sim) < 1.5; ++i) {
        status = treacle_sim_step(sim, 0.02, &stats);
    }
    line_error e = {0};
    status = status == TREACLE_OK ? compare_line(row, sim, &e) : status;
    treacle_sim_destroy(sim);
    double power = mu * speed * speed / (depth + 2.0 * row->slip) * width * cell;
    validate_absolute(v, e.most, 0.0, row->tolerance,
                      "%s, %s: speed of any particle, of the belt's", row->name, row->flow);
    validate_relative(v, stats.energy.solids / stats.dt, power, 0.03, "%s, %s: work of the belt",
                      row->name, row->flow);
    validate_relative(v, stats.energy.dissipation / stats.dt, power, 0.03,
                      "%s, %s: what is dissipated", row->name, row->flow);
    return status;
}

#define PLAIN "viscosity: 100"
// A law that is Newton's for these numbers, but nobody told the solve.
#define BY_RATE "rheology: {law: power-law, consistency: 100, exponent: 1}"
#define PLATES(top)                                                                                \
    "solids:\n"                                                                                    \
    "  low: {shape: {plane: {}}, wall: no-slip}\n"                                                 \
    "  high: {shape: {plane: {}, rotate: [0, 0, 180 deg], move: [0, 0.16, 0]}, wall: no-slip,\n"   \
    "         " top "}\n"

static treacle_status run_layers(validate* v) {
    static const belt_row rows[] = {
        {"top side", "surface_velocity: {top: [0.1, 0, 0]}", "", PLAIN, "unified", 0.0, false,
         0.01},
        {"top side", "surface_velocity: {top: [0.1, 0, 0]}", "", PLAIN, "split", 0.0, false, 0.01},
        {"bottom side by keys",
         "surface_velocity: {bottom: {keys: {0 s: [0, 0, 0], 0.1 s: [0.1, 0, 0]}}}", "", PLAIN,
         "unified", 0.0, true, 0.01},
        {"top side that slips",
         "slip_length: {top: 4 cm, bottom: 4 cm}\n  surface_velocity: {top: [0.1, 0, 0]}", "",
         PLAIN, "unified", 0.04, false, 0.01},
        {"top side, law of the rate", "surface_velocity: {top: [0.1, 0, 0]}", "", BY_RATE,
         "unified", 0.0, false, 0.01},
        {"solid", "", PLATES("surface_velocity: [0.1, 0, 0]"), PLAIN, "unified", 0.0, false, 0.03},
        {"solid", "", PLATES("surface_velocity: [0.1, 0, 0]"), PLAIN, "split", 0.0, false, 0.03},
        {"solid by keys and expression", "",
         PLATES("surface_velocity: [\"0.2 + 0 * x * t\", 0, 0],\n"
                "         surface_strength: {keys: {0 s: 0, 0.1 s: 0.5}}"),
         PLAIN, "unified", 0.0, false, 0.03},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        VALIDATE_TRY(run_layer(v, &rows[i]));
    }
    return TREACLE_OK;
}

// --- a turning table -----------------------------------------------------------------------------

static const char table_scene[] =
    "domain: {origin: [-0.6, -0.6], size: [1.2, 1.2], cell: %g}\n"
    "gravity: [0, 0, 0]\n"
    "flow: unified\n"
    "materials: {syrup: {density: 1000, viscosity: 1000}}\n"
    "liquids: [{shape: {difference: [{sphere: {radius: 0.5}}, {sphere: {radius: 0.2}}]}}]\n"
    "solids:\n"
    "  table: {shape: {sphere: {radius: 0.2}}, wall: no-slip, surface_spin: [0, 0, 1]}\n"
    "  tub: {shape: {sphere: {radius: 0.5}}, inside_out: true, wall: no-slip}\n";

// The mean of what particles in the middle of the gap do, over what they should.
static treacle_status turn(validate* v, double h) {
    treacle_sim* sim = NULL;
    treacle_frame frame;
    double sum = 0.0, exact = 0.0, inner = 0.04, outer = 0.25;
    VALIDATE_TRY(validate_sim_create(v, &sim, table_scene, h));
    treacle_status status = validate_advance(sim, 0.5, 0.05);
    if (status == TREACLE_OK) {
        status = treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame);
    }
    if (status == TREACLE_OK) {
        const treacle_array* first = treacle_frame_find(&frame, "tile_first");
        const treacle_array* velocity = treacle_frame_find(&frame, "velocity");
        for (int64_t t = 0; t + 1 < first->count; ++t) {
            const int64_t* begin = (const int64_t*)first->data + t;
            for (int64_t i = begin[0]; i < begin[1]; ++i) {
                const float* u = (const float*)velocity->data + 3 * i;
                double x[3];
                validate_position(&frame, t, i, x);
                double r = hypot(x[0], x[1]);
                if (r > 0.27 && r < 0.43) {
                    sum += (x[0] * (double)u[1] - x[1] * (double)u[0]) / r;
                    exact += inner / (outer - inner) * (outer / r - r);
                }
            }
        }
        validate_relative(v, sum, exact, 0.04, "turning table, gap of %.0f cells: mean speed",
                          0.3 / h);
    }
    treacle_sim_destroy(sim);
    return status;
}

// --- a belt around a box -------------------------------------------------------------------------

static const char box_scene[] =
    "domain: {size: [0.64, 0.32], cell: 1 cm, sides: {all: no-slip}}\n"
    "gravity: [0, 0, 0]\n"
    "fill: all\n"
    "materials: {syrup: {density: 1000, viscosity: 100}}\n"
    "liquids: [{shape: {box: {min: [-1, -1], max: [1, 1]}}}]\n"
    "solids:\n"
    "  belt: {shape: {box: {min: [0.2, 0.123], max: [0.43, 0.2]}}, wall: no-slip,\n"
    "         surface_velocity: [0.1, 0, 0]}\n";

static treacle_status circle(validate* v) {
    treacle_sim* sim = NULL;
    measure_sums before, after;
    VALIDATE_TRY(validate_sim_create(v, &sim, box_scene));
    treacle_status status = measure_particles(sim, MEASURE_ALL, &before);
    if (status == TREACLE_OK) {
        status = validate_advance(sim, 0.5, 0.05);
    }
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &after);
        validate_relative(v, after.volume, before.volume, 1e-3,
                          "box with a belt: volume around it");
        validate_at_least(v, after.rms_speed, 0.01, 0.0, "box with a belt: rms speed, m/s");
        validate_at_most(v, after.rms_speed, 0.1, 0.0, "box with a belt: rms speed, m/s");
    }
    treacle_sim_destroy(sim);
    return status;
}

// --- what lies on a belt -------------------------------------------------------------------------

// Cells of h, the belt `low` above a plane of the grid, the liquid 2.3 cells above the belt.
static const char lying_scene[] =
    "domain: {origin: [-0.04, %.17g], size: [0.08, 0.04], cell: %.17g,\n"
    "         sides: {all: open, bottom: no-slip}, surface_velocity: {bottom: [0.04, 0, 0]}}\n"
    "gravity: [0, -1, 0]\n"
    "step: {max_dt: 20 ms}\n"
    "materials: {syrup: {density: 1000, viscosity: 0.5 m^2/s}}\n"
    "liquids: [{shape: {%s}, velocity: [0, -0.02, 0]}]\n"
    "%s";

static treacle_status lie(validate* v, const char* name, bool is_thread, bool is_solid,
                          double low) {
    static const double h = 0.01 / 6.0, belt_speed = 0.04;
    char liquid[160], solid[160] = "";
    double floor = low * h, lowest = INFINITY, slip = 0.0;
    treacle_sim* sim = NULL;
    validate_particle* particles = NULL;
    int64_t count = 0;
    treacle_frame frame;
    if (is_solid) {
        snprintf(solid, sizeof(solid),
                 "solids: {belt: {shape: {box: {min: [-1, -1], max: [1, %.17g]}}, wall: no-slip,\n"
                 "                surface_velocity: [0.04, 0, 0]}}\n",
                 floor);
    }
    if (is_thread) {
        snprintf(liquid, sizeof(liquid), "sphere: {radius: 5 mm, centre: [0, %.17g]}",
                 floor + 5.3 * h);
    } else {
        snprintf(liquid, sizeof(liquid), "box: {min: [-0.01, %.17g], max: [0.01, %.17g]}",
                 floor + 2.3 * h, floor + 8.3 * h);
    }
    VALIDATE_TRY(
        validate_sim_create(v, &sim, lying_scene, is_solid ? -4.0 * h : 0.0, h, liquid, solid));
    treacle_status status = validate_advance(sim, 0.4, 0.02);
    status = status == TREACLE_OK ? validate_particles(sim, &particles, &count) : status;
    status =
        status == TREACLE_OK ? treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame) : status;
    if (status == TREACLE_OK) {
        const float* u = treacle_frame_find(&frame, "velocity")->data;
        for (int64_t i = 0; i < count; ++i) {
            lowest = fmin(lowest, (particles[i].place[1] - floor) / h);
            slip = fmax(slip, fabs((double)u[3 * i] / belt_speed - 1.0));
        }
        validate_at_most(v, lowest, 0.5, 0.0, "%s: lowest particle above the belt, cells", name);
        validate_at_most(v, slip, 0.02, 0.0, "%s: slip of any particle, of the belt's speed", name);
    }
    free(particles);
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status lie_all(validate* v) {
    VALIDATE_TRY(lie(v, "thread on a side", true, false, 0.0));
    VALIDATE_TRY(lie(v, "slab on a side", false, false, 0.0));
    VALIDATE_TRY(lie(v, "slab on a solid", false, true, 0.0));
    VALIDATE_TRY(lie(v, "thread on a solid between cells", true, true, 0.3));
    return lie(v, "slab on a solid between cells", false, true, 0.7);
}

treacle_status case_belt(validate* v) {
    VALIDATE_TRY(lie_all(v));
    VALIDATE_TRY(run_layers(v));
    VALIDATE_TRY(turn(v, 0.04));
    VALIDATE_TRY(turn(v, 0.02));
    return circle(v);
}
