// Steady flow along walls that lie anyhow in the grid [SUITE 3], by one long flow each.
//
//     film       a layer of thickness H pulled along a wall:   u = (g/nu) (H y - y^2/2 + b H)
//     couette    between a wall at rest and one that slides:   u = U (y + b) / (H + 2 b)
//     poiseuille pulled between two walls at rest:             u = (g/2nu) (H y - y^2 + b H)
//
// y is the distance from the wall and b the slip length of the walls. The wall passes through the
// grid at an angle, at no particular offset. The pull is along it, so that the pressure is zero.
// The layer ends at open sides, which disturb it as far as it is thick; it is measured in the
// middle of 12 times its thickness. With pure slip nothing holds a film: it accelerates by g.
//
// Tolerances: film of 16 cells on a wall along the grid 0.5 %, of 8 cells at any angle 3 % [issue
// 6] and order 1 at least; slip 1e-3.
//
// Viscosity that varies across the gap, mu = mu_0 exp(-B y/H) with B = ln 100, has u = U (exp(B
// y/H) - 1)/(exp(B) - 1): 1/11 in the middle; within 1 % at 32 cells. Two layers whose viscosity
// is 100 and 1: the interface moves with U mu_top / (mu_top + mu_bottom).
#include <math.h>
#include <stdio.h>

#include "cases.h"
#include "flow_lab.h"

typedef enum wall_flow_kind { FILM, COUETTE, POISEUILLE } wall_flow_kind;

typedef struct contact_flow {
    wall_flow_kind kind;
    double angle; // rad, of the wall against x
    double cells; // thickness of the layer
    double slip;  // length, in cells; INFINITY: pure slip
    const char* flow;
    // Worked out:
    double normal[2], along[2], middle[2]; // of the wall, m
} contact_flow;

enum { SIDE_PER_CELL = 12 };

// A wall: the half space below a plane through a point, turned by the angle.
static const char wall_scene[] =
    "  %s: {shape: {plane: {}, rotate: [0, 0, %.17g deg], move: [%.17g, %.17g, 0]},\n"
    "       wall: %s, velocity: [%.17g, %.17g, 0]}\n";
static const char scene[] = "domain: {size: [%d, %d], cell: 1, sides: {all: open}}\n"
                            "gravity: [0, 0, 0]\n"
                            "flow: %s\n"
                            "pressure: {tolerance: 1e-7, max_iterations: 400}\n"
                            "materials: {syrup: {density: 1, viscosity: 1}}\n"
                            "solids:\n%s%s";

static double height(const contact_flow* w, const double x[3]) {
    return w->normal[0] * (x[0] - w->middle[0]) + w->normal[1] * (x[1] - w->middle[1]);
}

// Liquid goes on behind walls.
static double layer(const void* data, const double x[3], int axis) {
    const contact_flow* w = data;
    (void)axis;
    return w->kind == FILM ? height(w, x) - w->cells : -4.0;
}

static int side_of(const contact_flow* w) {
    return (int)(SIDE_PER_CELL * w->cells);
}

static void set_frame(contact_flow* w) {
    double n = side_of(w);
    w->normal[0] = -sin(w->angle);
    w->normal[1] = cos(w->angle);
    w->along[0] = cos(w->angle);
    w->along[1] = sin(w->angle);
    for (int a = 0; a < 2; ++a) {
        w->middle[a] = 0.5 * n + 0.2371 - 0.5 * w->cells * w->normal[a];
    }
}

static treacle_status open_flow(validate* v, contact_flow* w, flow_lab* lab) {
    set_frame(w);
    int n = side_of(w);
    bool is_slip = isinf(w->slip);
    char wall[64];
    snprintf(wall, sizeof(wall),
             is_slip         ? "slip"
             : w->slip > 0.0 ? "slip-length, slip_length: %g"
                             : "no-slip",
             w->slip);
    double degrees = w->angle * 180.0 / acos(-1.0);
    double speed = w->kind == COUETTE ? 1.0 : 0.0;
    char low[512], high[512] = "";
    snprintf(low, sizeof(low), wall_scene, "low", degrees, w->middle[0], w->middle[1], wall, 0.0,
             0.0);
    if (w->kind != FILM) {
        snprintf(high, sizeof(high), wall_scene, "high", degrees + 180.0,
                 w->middle[0] + w->cells * w->normal[0], w->middle[1] + w->cells * w->normal[1],
                 wall, speed * w->along[0], speed * w->along[1]);
    }
    treacle_sim* sim = NULL;
    treacle_status status = validate_sim_create(v, &sim, scene, n, n, w->flow, low, high);
    if (status == TREACLE_OK) {
        status = flow_lab_open(lab, sim, (const int[3]){n, n, 1}, 1.0);
        flow_lab_surface(lab, layer, w);
    }
    return status;
}

// Speed along the wall, at a distance from it, in the middle.
static double speed_at(const contact_flow* w, const flow_lab* lab, double y) {
    const double x[3] = {w->middle[0] + y * w->normal[0], w->middle[1] + y * w->normal[1], 0.5};
    return w->along[0] * flow_lab_sample(lab, 0, x) + w->along[1] * flow_lab_sample(lab, 1, x);
}

// Under a pull of 1, with nu = 1.
static double exact_speed(const contact_flow* w, double y) {
    double depth = w->cells, b = w->slip;
    switch (w->kind) {
    case FILM:
        return depth * y - 0.5 * y * y + b * depth;
    case COUETTE:
        return (y + b) / (depth + 2.0 * b);
    case POISEUILLE:
        break;
    }
    return 0.5 * (depth * y - y * y + b * depth);
}

// A cell below the surface of a film, the middle of a gap, a quarter of it where walls slide.
static double place_of(const contact_flow* w) {
    return w->kind == FILM ? w->cells - 1.0 : w->kind == COUETTE ? 0.25 * w->cells : 0.5 * w->cells;
}

// What is left of the pull beside the pressure that the ends of a channel cause.
static double pull_left(const contact_flow* w, const flow_lab* lab) {
    double at[2], p[2];
    for (int end = 0; end < 2; ++end) {
        int cell[2];
        double offset = end == 0 ? -w->cells : w->cells;
        at[end] = 0.0;
        for (int a = 0; a < 2; ++a) {
            double x = w->middle[a] + 0.5 * w->cells * w->normal[a] + offset * w->along[a];
            cell[a] = (int)floor(x);
            at[end] += w->along[a] * (cell[a] + 0.5);
        }
        p[end] = (double)lab->liquid.pressure[flow_lab_cell(lab, cell[0], cell[1], 0)];
    }
    return 1.0 - (p[1] - p[0]) / (at[1] - at[0]);
}

static treacle_status run(validate* v, contact_flow* w, double* measured, double* exact) {
    flow_lab lab = {0};
    bool is_slip = isinf(w->slip);
    double dt = is_slip ? 100.0 : 1e4 * w->cells * (w->cells + w->slip);
    treacle_status status = open_flow(v, w, &lab);
    if (status == TREACLE_OK) {
        double pull = w->kind == COUETTE ? 0.0 : dt;
        const double push[3] = {pull * w->along[0], pull * w->along[1], 0.0};
        flow_lab_push(&lab, push);
        status = flow_lab_run(&lab, dt, TREACLE_STAGES_FLOW);
        *measured = speed_at(w, &lab, place_of(w));
        *exact = is_slip ? dt : exact_speed(w, place_of(w));
        *exact *= w->kind == POISEUILLE ? pull_left(w, &lab) : 1.0;
    }
    flow_lab_close(&lab);
    return status;
}

static treacle_status compare(validate* v, contact_flow w, double tolerance, double* error) {
    static const char* const names[] = {"film", "couette", "poiseuille"};
    double measured = 0.0, exact = 1.0, degrees = w.angle * 180.0 / acos(-1.0);
    treacle_status status = run(v, &w, &measured, &exact);
    if (status == TREACLE_OK) {
        validate_relative(v, measured, exact, tolerance,
                          "%s of %g cells, %.0f degrees, slip %g, %s", names[w.kind], w.cells,
                          degrees, w.slip, w.flow);
        *error = fabs(measured / exact - 1.0);
    }
    return status;
}

typedef struct wall_row {
    wall_flow_kind kind;
    double degrees, cells, slip;
    double tolerance;
} wall_row;

static treacle_status compare_rows(validate* v, int count, const wall_row* rows) {
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < count && status == TREACLE_OK; ++i) {
        const wall_row* row = &rows[i];
        contact_flow w = {.kind = row->kind,
                          .angle = row->degrees * acos(-1.0) / 180.0,
                          .cells = row->cells,
                          .slip = row->slip,
                          .flow = "unified"};
        double error;
        status = compare(v, w, row->tolerance, &error);
    }
    return status;
}

#define COUNT(rows) (int)(sizeof(rows) / sizeof((rows)[0]))

treacle_status case_couette(validate* v) {
    static const wall_row rows[] = {
        {COUETTE, 0.0, 8.0, 0.0, 0.01},   {COUETTE, 17.0, 8.0, 0.0, 0.03},
        {COUETTE, 45.0, 16.0, 0.0, 0.03}, {COUETTE, 0.0, 16.0, 8.0, 0.03},
        {COUETTE, 17.0, 16.0, 8.0, 0.03},
    };
    return compare_rows(v, COUNT(rows), rows);
}

treacle_status case_poiseuille(validate* v) {
    static const wall_row rows[] = {
        {POISEUILLE, 0.0, 8.0, 0.0, 0.03},  {POISEUILLE, 17.0, 8.0, 0.0, 0.03},
        {POISEUILLE, 30.0, 8.0, 0.0, 0.03}, {POISEUILLE, 45.0, 8.0, 0.0, 0.03},
        {POISEUILLE, 0.0, 16.0, 0.0, 0.01}, {POISEUILLE, 17.0, 8.0, 4.0, 0.03},
    };
    return compare_rows(v, COUNT(rows), rows);
}

treacle_status case_film_tilted(validate* v) {
    static const wall_row rows[] = {
        {FILM, 0.0, 8.0, 0.0, 0.03},       {FILM, 10.0, 8.0, 0.0, 0.03},
        {FILM, 17.0, 8.0, 0.0, 0.03},      {FILM, 30.0, 8.0, 0.0, 0.03},
        {FILM, 45.0, 8.0, 0.0, 0.03},      {FILM, 70.0, 8.0, 0.0, 0.03},
        {FILM, 0.0, 8.0, 4.0, 0.03},       {FILM, 17.0, 8.0, 4.0, 0.03},
        {FILM, 45.0, 8.0, 4.0, 0.03},      {FILM, 0.0, 8.0, INFINITY, 1e-3},
        {FILM, 17.0, 8.0, INFINITY, 1e-3}, {FILM, 45.0, 8.0, INFINITY, 1e-3},
    };
    return compare_rows(v, COUNT(rows), rows);
}

// --- viscosity that varies ----------------------------------------------------------------------

static const char layers_scene[] =
    "domain: {size: [16, %d], cell: 1, sides: {all: slip, left: periodic, right: periodic}}\n"
    "gravity: [0, 0, 0]\n"
    "flow: %s\n"
    "pressure: {tolerance: 1e-7, max_iterations: 400}\n"
    "viscosity_solve: {mean: %s}\n"
    "materials: {syrup: {density: 1, viscosity: 1}}\n"
    "solids:\n"
    "  low: {shape: {plane: {}, move: [0, %.17g, 0]}, wall: no-slip}\n"
    "  high: {shape: {plane: {}, rotate: [0, 0, 180 deg], move: [0, %.17g, 0]},\n"
    "         wall: no-slip, velocity: [1, 0, 0]}\n";

typedef struct layered {
    double low, gap; // m
    double ends[2];  // viscosity at the low and the high wall
    bool is_stepped; // in the middle, or exponential from wall to wall
    const char* mean;
} layered;

static double all_liquid(const void* data, const double x[3], int axis) {
    (void)data;
    (void)x;
    (void)axis;
    return -4.0;
}

static double viscosity_at(const layered* l, double y) {
    double share = fmin(fmax((y - l->low) / l->gap, 0.0), 1.0);
    double power = l->is_stepped ? (share < 0.5 ? 0.0 : 1.0) : share;
    return l->ends[0] * pow(l->ends[1] / l->ends[0], power);
}

// Linear between faces; between two layers, where it has a kink, continued from the thick one.
static double speed_in_middle(const flow_lab* lab, const layered* l) {
    double y = l->low + 0.5 * l->gap, way = l->ends[0] > l->ends[1] ? -0.5 : 0.5;
    double at = flow_lab_sample(lab, 0, (const double[3]){8.0, y, 0.5});
    double near = flow_lab_sample(lab, 0, (const double[3]){8.0, y + way, 0.5});
    double far = flow_lab_sample(lab, 0, (const double[3]){8.0, y + 3.0 * way, 0.5});
    return l->is_stepped ? 1.5 * near - 0.5 * far : at;
}

// The speed in the middle of the gap, of a wall that moves with 1.
static treacle_status middle_speed(validate* v, const layered* l, const char* flow, double* out) {
    int rows = (int)l->gap + 8;
    treacle_sim* sim = NULL;
    flow_lab lab = {0};
    treacle_status status =
        validate_sim_create(v, &sim, layers_scene, rows, flow, l->mean, l->low, l->low + l->gap);
    if (status == TREACLE_OK) {
        status = flow_lab_open(&lab, sim, (const int[3]){16, rows, 1}, 1.0);
    }
    if (status == TREACLE_OK) {
        flow_lab_surface(&lab, all_liquid, NULL);
        for (int64_t i = 0; i < lab.cell_count; ++i) {
            double x[3];
            flow_lab_place(&lab, i, -1, x);
            lab.viscosity[i] = (float)viscosity_at(l, x[1]);
        }
        lab.liquid.viscosity = lab.viscosity;
        for (int k = 0; k < 8 && status == TREACLE_OK; ++k) { // the split comes to it in steps
            status = flow_lab_run(&lab, 1e4 * l->gap * l->gap, TREACLE_STAGES_FLOW);
        }
        *out = speed_in_middle(&lab, l);
    }
    flow_lab_close(&lab);
    return status;
}

treacle_status case_variable_couette(validate* v) {
    static const struct {
        const char* what;
        layered of;
        double exact, tolerance;
    } rows[] = {
        {"exp, thin above", {4.0, 32.0, {100, 1}, false, "geometric"}, 1.0 / 11, 0.01},
        {"exp, thin above, shifted", {4.2371, 32.0, {100, 1}, false, "geometric"}, 1.0 / 11, 0.01},
        {"exp, thin below, shifted", {4.2371, 32.0, {1, 100}, false, "geometric"}, 10.0 / 11, 0.01},
        {"two layers, thick above", {4.0, 32.0, {1, 100}, true, "harmonic"}, 0.990099, 0.01},
        {"two layers, thin above", {4.0, 32.0, {100, 1}, true, "harmonic"}, 0.009901, 0.01},
        {"two layers, geometric", {4.0, 32.0, {100, 1}, true, "geometric"}, 0.009901, NAN},
    };
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < COUNT(rows); ++i) {
        for (int k = 0; k < 2 && status == TREACLE_OK; ++k) {
            const char* flow = k == 0 ? "unified" : "split";
            double speed = 0.0;
            status = middle_speed(v, &rows[i].of, flow, &speed);
            if (isnan(rows[i].tolerance)) {
                validate_info(v, speed, rows[i].exact, "%s, %s: speed in the middle", rows[i].what,
                              flow);
            } else {
                validate_relative(v, speed, rows[i].exact, rows[i].tolerance,
                                  "%s, %s: speed in the middle", rows[i].what, flow);
            }
        }
    }
    return status;
}
