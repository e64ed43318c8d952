// Liquid lets go of walls where it must, and only there [SUITE 12].
//
// a. A block of liquid hangs under the ceiling. Without separation suction holds it; with it, it
//    falls freely, y = g t^2 / 2, in the manner of the step (see case_free_fall.c).
// b. The floor under a pool is pulled away at 2 g: the gap grows like g t^2 / 2.
// c. Partial contact, one projection: the unit square, free surface at y = 0, slip sides, ceiling
//    at y = 1, velocity before the pressure A0 + A1 cos(pi x) along y, rho / dt = 1. The
//    reference is a Signorini problem on the ceiling, solved by an active set on its
//    Dirichlet-to-Neumann map [SUITE 12c].
//
// d. Thick liquid, pressure and viscosity in one solve: the floor of b, and a block that hangs
//    under a solid between cells. Liquid that has let go falls freely, whatever its viscosity.
//
// Tolerances of the suite: contact 0.02, impulse 1 %, complementarity 1e-8; 1e-6 for the fall, as
// for any other.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "measure.h"

static const double pi = 3.14159265358979323846;
static const double gravity = 9.81;
static const double dt = 0.005, flight = 0.2; // s

// ---- a. the ceiling

static const char hanging[] = "domain: {size: [1 m, 1 m], cell: 25 mm, sides: {all: slip}, "
                              "separation: %s}\n"
                              "gravity: [0, -9.81, 0]\n"
                              "density_correction: false\n"
                              "pressure: {tolerance: 1.0e-10}\n"
                              "step: {max_dt: 5 ms}\n"
                              "liquids:\n"
                              "  - shape: {box: {min: [0, 0.6], max: [1.0, 1.0]}}\n";

// How far the centre has come down after the flight, m.
static treacle_status hang(validate* v, const char* separation, double* way) {
    treacle_sim* sim = NULL;
    measure_sums begin = {0}, end = {0};
    treacle_status status = validate_sim_create(v, &sim, hanging, separation);
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &begin);
    }
    if (status == TREACLE_OK) {
        status = validate_advance(sim, flight, dt);
    }
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &end);
    }
    *way = begin.centre[1] - end.centre[1];
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status check_ceiling(validate* v) {
    double free = 0.0, held = 0.0, glued = 0.0;
    double way = 0.5 * gravity * flight * flight * (1.0 - dt / flight);
    treacle_status status = hang(v, "{top: on}", &free);
    status = status == TREACLE_OK ? hang(v, "off", &held) : status;
    status = status == TREACLE_OK ? hang(v, "{top: 10 kPa}", &glued) : status;
    if (status == TREACLE_OK) {
        validate_relative(v, free, way, 1e-6, "a, on: way of the block");
        validate_at_most(v, held / way, 0.5, 0.0, "a, off: way over that of the free fall");
        validate_absolute(v, glued / way, held / way, 1e-6, "a, adhesion of 10 kPa: the same");
    }
    return status;
}

// ---- b. the floor

static const char pulled[] = "domain: {size: [1 m, 1.5 m], cell: 25 mm, sides: {all: slip}}\n"
                             "gravity: [0, -9.81, 0]\n"
                             "density_correction: false\n"
                             "pressure: {tolerance: 1.0e-10}\n"
                             "step: {max_dt: 5 ms}\n"
                             "liquids:\n"
                             "  - shape: {box: {min: [0, 0.9], max: [1, 1.3]}}\n"
                             "solids:\n"
                             "  floor:\n"
                             "    shape: {box: {min: [-1, -2, -1], max: [2, 0.9, 1]}}\n"
                             "    separation: %s\n"
                             "    position: [%s]\n";

enum { FLOOR_KEYS = 40, KEY_TEXT = 64 };

// The floor falls as the step would let it fall: its mean velocity in step n is 2 g (n - 1) dt.
static double floor_depth(int steps) {
    return gravity * dt * dt * steps * (steps - 1);
}

static void print_floor(char out[FLOOR_KEYS * KEY_TEXT + KEY_TEXT]) {
    size_t used = 0;
    for (int i = 0; i <= FLOOR_KEYS; ++i) {
        used += (size_t)snprintf(out + used, KEY_TEXT, "%s[%.17g, [0, %.17g, 0]]",
                                 i == 0 ? "" : ", ", i * dt, -floor_depth(i));
    }
}

// The gap between the floor and the lowest particle after the flight, beyond that at the start, m.
static treacle_status pull(validate* v, const char* separation, double* gap) {
    char keys[FLOOR_KEYS * KEY_TEXT + KEY_TEXT];
    treacle_sim* sim = NULL;
    measure_sums begin = {0}, end = {0};
    print_floor(keys);
    treacle_status status = validate_sim_create(v, &sim, pulled, separation, keys);
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &begin);
    }
    if (status == TREACLE_OK) {
        status = validate_advance(sim, flight, dt);
    }
    if (status == TREACLE_OK) {
        status = measure_particles(sim, MEASURE_ALL, &end);
    }
    *gap = end.centre[1] - begin.centre[1] + floor_depth(FLOOR_KEYS);
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status check_floor(validate* v) {
    double free = 0.0, held = 0.0;
    double gap = 0.5 * gravity * flight * flight * (1.0 - dt / flight);
    treacle_status status = pull(v, "on", &free);
    status = status == TREACLE_OK ? pull(v, "off", &held) : status;
    if (status == TREACLE_OK) {
        validate_relative(v, free, gap, 1e-6, "b, on: gap above the floor");
        validate_at_most(v, held / gap, 0.1, 0.0, "b, off: gap over that of the free fall");
    }
    return status;
}

// ---- d. thick liquid

static const char thick_floor[] = "domain: {size: [1 m, 1.5 m], cell: 50 mm, sides: {all: slip}}\n"
                                  "gravity: [0, -9.81, 0]\n"
                                  "density_correction: false\n"
                                  "pressure: {tolerance: 1.0e-6}\n"
                                  "step: {max_dt: 5 ms}\n"
                                  "flow: unified\n"
                                  "transfer: apic\n"
                                  "materials: {goo: {viscosity: %g}}\n"
                                  "liquids:\n"
                                  "  - shape: {box: {min: [0, %g], max: [1, %g]}}\n"
                                  "    material: goo\n"
                                  "solids:\n"
                                  "  wall:\n"
                                  "    shape: {box: {min: [-1, %g, -1], max: [2, %g, 1]}}\n"
                                  "    wall: %s\n"
                                  "    separation: %s\n"
                                  "    position: [%s]\n";

typedef struct thick_def {
    const char* name;
    double viscosity;
    bool is_floor;  // else a ceiling
    bool is_pulled; // away
    const char *wall, *separation;
} thick_def;

// How far the centre has come down after the flight, m.
static treacle_status let_go(validate* v, const thick_def* def, double* way) {
    char keys[FLOOR_KEYS * KEY_TEXT + KEY_TEXT] = "[0, [0, 0, 0]]";
    treacle_sim* sim = NULL;
    measure_sums begin = {0}, end = {0};
    if (def->is_pulled) {
        print_floor(keys);
    }
    double low = def->is_floor ? 0.9 : 0.68, high = def->is_floor ? 1.3 : 1.08;
    treacle_status status = validate_sim_create(
        v, &sim, thick_floor, def->viscosity, low, high, def->is_floor ? -2.0 : high,
        def->is_floor ? low : 3.0, def->wall, def->separation, keys);
    status = status == TREACLE_OK ? measure_particles(sim, MEASURE_ALL, &begin) : status;
    status = status == TREACLE_OK ? validate_advance(sim, flight, dt) : status;
    status = status == TREACLE_OK ? measure_particles(sim, MEASURE_ALL, &end) : status;
    *way = begin.centre[1] - end.centre[1];
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status check_thick(validate* v) {
    static const thick_def free[] = {
        {"floor", 100.0, true, true, "slip", "on"},
        {"floor that sticks", 100.0, true, true, "no-slip", "on"},
        {"ceiling", 100.0, false, false, "slip", "on"},
        {"ceiling that sticks", 100.0, false, false, "no-slip", "on"},
    };
    double fall = 0.5 * gravity * flight * flight * (1.0 - dt / flight);
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 4 && status == TREACLE_OK; ++i) {
        double way = NAN;
        status = let_go(v, &free[i], &way);
        if (status == TREACLE_OK) {
            validate_relative(v, way, fall, 1e-3, "d, thick, %s: way of the block", free[i].name);
        }
    }
    const thick_def held = {"ceiling", 100.0, false, false, "no-slip", "off"};
    const thick_def resting = {"floor", 100.0, true, false, "no-slip", "on"};
    double hung = NAN, rested = NAN;
    status = status == TREACLE_OK ? let_go(v, &held, &hung) : status;
    status = status == TREACLE_OK ? let_go(v, &resting, &rested) : status;
    if (status == TREACLE_OK) {
        validate_at_most(v, hung / fall, 0.5, 0.0, "d, thick, off: way over that of the free fall");
        validate_absolute(v, rested / fall, 0.0, 1e-3, "d, thick, on a floor: way over that");
    }
    return status;
}

// ---- c. partial contact

enum { CELLS = 64 };

static const char square[] = "domain: {size: [1 m, 1 m], resolution: 64, "
                             "sides: {all: slip, bottom: open}, separation: {top: %s}}\n"
                             "gravity: [0, 0, 0]\n"
                             "pressure: {tolerance: 1.0e-10}\n"
                             "particles: {jitter: 0}\n"
                             "materials: {unit: {density: 1}}\n"
                             "step: {max_dt: 1 s}\n"
                             "liquids:\n"
                             "  - shape: {box: {min: [0, 0], max: [1, 1]}}\n"
                             "    velocity: [0, \"%.17g + %.17g*cos(pi*x)\", 0]\n";

typedef struct contact_def {
    double a0, a1;
    double contact, impulse, slowest, equality; // the reference
} contact_def;

static const contact_def contacts[] = {
    {0.0, 1.0, 0.730, 0.16849, -0.820, 0.0},
    {0.5, 1.0, 1.0, 0.5, 0.0, 0.5},
    {-1.0, 0.0, 0.0, 0.0, -1.0, -1.0},
};

typedef struct contact {
    double share, impulse, slowest, complementarity;
} contact;

// The pressure at the ceiling is that of the cell and what the half cell between them needs to stop
// there, (rho / dt) (h / 2) v* [sep.1].
static void measure_contact(const contact_def* def, const measure_field* p, const measure_field* u,
                            contact* out) {
    double h = 1.0 / CELLS;
    *out = (contact){0};
    for (int64_t x = 0; x < CELLS; ++x) {
        double before = def->a0 + def->a1 * cos(pi * ((double)x + 0.5) * h);
        double v = (double)u->at[CELLS * u->size[0] + x];
        double cell = (double)p->at[(CELLS - 1) * p->size[0] + x] * h; // p / (rho_ref h) is stored
        double wall = v == 0.0 ? cell + 0.5 * h * before : 0.0;
        out->share += v == 0.0 ? h : 0.0;
        out->impulse += wall * h;
        out->slowest = fmin(out->slowest, v);
        out->complementarity = fmax(out->complementarity, fabs(wall * v));
    }
}

static treacle_status touch(validate* v, const contact_def* def, const char* separation,
                            contact* out) {
    treacle_sim* sim = NULL;
    measure_field p = {.at = NULL}, u = {.at = NULL};
    treacle_status status = validate_sim_create(v, &sim, square, separation, def->a0, def->a1);
    if (status == TREACLE_OK) {
        status = measure_field_create(v, sim, "pressure", &p);
    }
    if (status == TREACLE_OK) {
        status = measure_field_create(v, sim, "face_v", &u);
    }
    if (status == TREACLE_OK) {
        measure_contact(def, &p, &u, out);
    }
    free(p.at);
    free(u.at);
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status check_contact(validate* v, const contact_def* def) {
    contact on = {0}, off = {0};
    treacle_status status = touch(v, def, "on", &on);
    status = status == TREACLE_OK ? touch(v, def, "off", &off) : status;
    if (status != TREACLE_OK) {
        return status;
    }
    double slack = 0.01 * fmax(fabs(def->impulse), 1.0 * (def->impulse == 0.0 ? 1.0 : 0.0));
    validate_absolute(v, on.share, def->contact, 0.02, "c, (%g, %g): share in contact", def->a0,
                      def->a1);
    validate_absolute(v, on.impulse, def->impulse, slack, "c, (%g, %g): impulse on the ceiling",
                      def->a0, def->a1);
    validate_absolute(v, on.complementarity, 0.0, 1e-8, "c, (%g, %g): max |p v|", def->a0, def->a1);
    validate_info(v, on.slowest, def->slowest, "c, (%g, %g): least v at the ceiling", def->a0,
                  def->a1);
    validate_absolute(v, off.impulse, def->equality, 0.01, "c, (%g, %g): impulse without it",
                      def->a0, def->a1);
    return TREACLE_OK;
}

treacle_status case_separation(validate* v) {
    treacle_status status = check_ceiling(v);
    status = status == TREACLE_OK ? check_floor(v) : status;
    status = status == TREACLE_OK ? check_thick(v) : status;
    for (size_t i = 0; status == TREACLE_OK && i < sizeof(contacts) / sizeof(contacts[0]); ++i) {
        status = check_contact(v, &contacts[i]);
    }
    return status;
}
