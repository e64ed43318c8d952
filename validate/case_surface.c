// The surface that is drawn, against the shapes that the particles stand for. Lengths in cells.
//
//     flat-surface  Still pools in boxes, in space and (flat-surface-2d) in the plane, whole cells
//                   deep and a quarter, a half and three quarters more (of a half and three
//                   quarters in space: flat-surface-depths), five seeds, as seeded with
//                   jitter and after 200 steps: two cells from the walls normals are off by at most
//                   1 degree and heights by 0.01 (rms), and heights change by less than 0.01 from
//                   one frame to the next. A ball has its radius within 0.02, all enclose their
//                   volume within 0.5 %. Heights are from the level of the volume that the
//                   particles have: of a box that a shape cuts there is a particle or none.
//     clean-walls   A pool in a round glass with a ball in it (clean-walls-glass), and one in a
//     box:
//                   nothing is more than 0.02 behind a wall, what lies at a wall lies on it, the
//                   line where the surface meets it is sharp (the area is that of the shape within
//                   1 %), and no triangle is a sliver (3.46 height / width below 0.02).
//     thin-sheet    Sheets and threads of one to two cells keep 95 % of their area, and their
//     volume.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

enum { SEEDS = 5, STEPS = 200, COLUMNS_MAX = 256 };

static const double pi = 3.14159265358979323846;

static const char pool_scene[] = "seed: %d\n"
                                 "domain: {size: [%s], cell: 1 cm, sides: {all: slip}}\n"
                                 "particles: {per_cell: %d}\n"
                                 "materials: {syrup: {viscosity: 10 Pa.s}}\n"
                                 "liquids: [{shape: {box: {min: [%s], max: [%s]}}}]\n";

static const double cell = 0.01; // m

// A box of slip walls, as the scenes have.
static treacle_mesh_def boxed(void) {
    treacle_mesh_def def = treacle_mesh_def_default();
    def.resolution = 2.0;
    for (int k = 0; k < 3; ++k) {
        def.room.is_closed[k][0] = def.room.is_closed[k][1] = true;
    }
    return def;
}

static treacle_status draw(validate* v, treacle_sim* sim, const treacle_mesh_def* def,
                           treacle_mesh** out) {
    treacle_frame frame;
    *out = NULL;
    VALIDATE_TRY(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame));
    return treacle_mesh_create(v->ctx, &frame, def, out);
}

// ---- Pools

typedef struct pool {
    const char *name, *size, *low, *high;
    int per_cell;
    double width, depth; // cells, of the box; depth 0: flat
} pool;

static const pool flat_pools[] = {
    {"flat pool", "0.4, 0.16", "0, 0", "0.4, 0.08", 4, 40.0, 0.0},
    {"flat pool of 8.25 cells", "0.4, 0.16", "0, 0", "0.4, 0.0825", 4, 40.0, 0.0},
    {"flat pool of 8.5 cells", "0.4, 0.16", "0, 0", "0.4, 0.085", 4, 40.0, 0.0},
    {"flat pool of 8.75 cells", "0.4, 0.16", "0, 0", "0.4, 0.0875", 4, 40.0, 0.0},
};
static const pool pools[] = {
    {"pool", "0.16, 0.08, 0.16", "0, 0, 0", "0.16, 0.05, 0.16", 8, 16.0, 16.0},
    {"pool of 5.25 cells", "0.16, 0.08, 0.16", "0, 0, 0", "0.16, 0.0525, 0.16", 8, 16.0, 16.0},
    {"pool of 5.5 cells", "0.16, 0.08, 0.16", "0, 0, 0", "0.16, 0.055, 0.16", 8, 16.0, 16.0},
    {"pool of 5.75 cells", "0.16, 0.08, 0.16", "0, 0, 0", "0.16, 0.0575, 0.16", 8, 16.0, 16.0},
};
enum { QUICK_POOLS = 2, POOLS = sizeof(pools) / sizeof(pools[0]) };

// Sums over the vertices of a surface two cells from its walls, and its heights by columns.
typedef struct pool_sums {
    double count, square, tilt; // of heights off the level, cells; of angles, degrees
    double height[COLUMNS_MAX], n[COLUMNS_MAX]; // of columns two cells wide
} pool_sums;

static bool is_inner(const pool* p, double x, double z) {
    return x > 2.0 && x < p->width - 2.0 && (p->depth == 0.0 || (z > 2.0 && z < p->depth - 2.0));
}

static pool_sums sum_pool(const pool* p, const treacle_mesh* mesh) {
    pool_sums sums = {0};
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    double area = p->width * fmax(p->depth, 1.0), cube = cell * cell * cell;
    double level = view.liquid_volume / cube / area;
    for (int64_t i = 0; i < view.vertex_count; ++i) {
        const float *at = view.position + 3 * i, *n = view.normal + 3 * i;
        double x = (double)at[0] / cell, y = (double)at[1] / cell, z = (double)at[2] / cell;
        if (!is_inner(p, x, z) || n[1] < 0.7f) {
            continue;
        }
        double off = y - level, angle = 180.0 / pi * acos(fmin((double)n[1], 1.0));
        int column = (int)(0.5 * x) + (p->depth > 0.0 ? 16 * (int)(0.5 * z) : 0);
        sums.count += 1.0;
        sums.square += off * off;
        sums.tilt += angle * angle;
        sums.height[column] += y;
        sums.n[column] += 1.0;
    }
    return sums;
}

static double flicker(const pool_sums* a, const pool_sums* b) {
    double square = 0.0, count = 0.0;
    for (int i = 0; i < COLUMNS_MAX; ++i) {
        if (a->n[i] > 0.0 && b->n[i] > 0.0) {
            double d = a->height[i] / a->n[i] - b->height[i] / b->n[i];
            square += d * d;
            count += 1.0;
        }
    }
    return sqrt(square / fmax(count, 1.0));
}

// The worst of several seeds.
typedef struct pool_worst {
    double height, tilt, volume, flicker;
} pool_worst;

static treacle_status measure_pool(validate* v, const pool* p, treacle_sim* sim, pool_worst* worst,
                                   pool_sums* out) {
    treacle_mesh_def def = boxed();
    treacle_mesh* mesh = NULL;
    VALIDATE_TRY(draw(v, sim, &def, &mesh));
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    *out = sum_pool(p, mesh);
    worst->height = fmax(worst->height, sqrt(out->square / out->count));
    worst->tilt = fmax(worst->tilt, sqrt(out->tilt / out->count));
    worst->volume = fmax(worst->volume, fabs(view.volume / view.liquid_volume - 1.0));
    treacle_mesh_destroy(mesh);
    return TREACLE_OK;
}

static treacle_status run_pool(validate* v, const pool* p, treacle_sim* sim, pool_worst worst[2]) {
    pool_sums first, last, next;
    treacle_status status = measure_pool(v, p, sim, &worst[0], &first);
    treacle_step_stats stats;
    for (int i = 0; i < STEPS && status == TREACLE_OK; ++i) {
        status = treacle_sim_step(sim, 0.02, &stats);
    }
    if (status == TREACLE_OK) {
        status = measure_pool(v, p, sim, &worst[1], &last);
    }
    for (int i = 0; i < 2 && status == TREACLE_OK; ++i) { // a frame of 24 a second is two steps
        status = treacle_sim_step(sim, 0.02, &stats);
    }
    if (status == TREACLE_OK) {
        status = measure_pool(v, p, sim, &worst[1], &next);
    }
    if (status == TREACLE_OK) {
        worst[1].flicker = fmax(worst[1].flicker, flicker(&last, &next));
    }
    return status;
}

static treacle_status find_worst(validate* v, const pool* p, pool_worst worst[2]) {
    worst[0] = worst[1] = (pool_worst){.height = 0.0};
    for (int seed = 1; seed <= SEEDS; ++seed) {
        treacle_sim* sim = NULL;
        treacle_status status =
            validate_sim_create(v, &sim, pool_scene, seed, p->size, p->per_cell, p->low, p->high);
        if (status == TREACLE_OK) {
            status = run_pool(v, p, sim, worst);
        }
        treacle_sim_destroy(sim);
        VALIDATE_TRY(status);
    }
    return TREACLE_OK;
}

static treacle_status measure_seeds(validate* v, const pool* p) {
    static const char* const when[2] = {"as seeded", "after 200 steps"};
    pool_worst worst[2];
    VALIDATE_TRY(find_worst(v, p, worst));
    for (int i = 0; i < 2; ++i) {
        validate_at_most(v, worst[i].tilt, 1.0, 0.0, "%s %s: normals, degrees rms", p->name,
                         when[i]);
        validate_at_most(v, worst[i].height, 0.01, 0.0, "%s %s: height, cells rms", p->name,
                         when[i]);
        validate_at_most(v, worst[i].volume, 0.005, 0.0, "%s %s: volume", p->name, when[i]);
    }
    validate_at_most(v, worst[1].flicker, 0.01, 0.0, "%s: flicker, cells rms", p->name);
    return TREACLE_OK;
}

static const char ball_scene[] =
    "seed: %d\n"
    "domain: {size: [0.24, 0.24, 0.24], cell: 1 cm, sides: {all: open}}\n"
    "liquids: [{shape: {sphere: {radius: 0.08, centre: [0.1213, 0.1187, 0.12]}}}]\n";

static treacle_status measure_ball(validate* v) {
    double worst = 0.0, noise = 0.0;
    for (int seed = 1; seed <= SEEDS; ++seed) {
        treacle_sim* sim = NULL;
        treacle_mesh* mesh = NULL;
        treacle_mesh_def def = treacle_mesh_def_default();
        treacle_status status = validate_sim_create(v, &sim, ball_scene, seed);
        if (status == TREACLE_OK) {
            status = draw(v, sim, &def, &mesh);
        }
        if (status == TREACLE_OK) {
            treacle_mesh_view view = treacle_mesh_get_view(mesh);
            double sum = 0.0, square = 0.0;
            for (int64_t i = 0; i < view.vertex_count; ++i) {
                const float* at = view.position + 3 * i;
                double r = sqrt(pow((double)at[0] - 0.1213, 2.0) +
                                pow((double)at[1] - 0.1187, 2.0) + pow((double)at[2] - 0.12, 2.0)) /
                           cell;
                sum += r;
                square += r * r;
            }
            double mean = sum / (double)view.vertex_count;
            double radius = cbrt(0.75 / pi * view.liquid_volume) / cell;
            worst = fmax(worst, fabs(mean - radius));
            noise = fmax(noise, sqrt(fmax(square / (double)view.vertex_count - mean * mean, 0.0)));
        }
        treacle_mesh_destroy(mesh);
        treacle_sim_destroy(sim);
        VALIDATE_TRY(status);
    }
    validate_at_most(v, worst, 0.02, 0.0, "ball of 16 cells: mean radius off that of its volume");
    validate_info(v, noise, NAN, "ball of 16 cells: radius, cells rms");
    return TREACLE_OK;
}

treacle_status case_flat_surface(validate* v) {
    for (int i = 0; i < QUICK_POOLS; ++i) {
        VALIDATE_TRY(measure_seeds(v, &pools[i]));
    }
    return measure_ball(v);
}

treacle_status case_flat_surface_depths(validate* v) {
    for (int i = QUICK_POOLS; i < POOLS; ++i) {
        VALIDATE_TRY(measure_seeds(v, &pools[i]));
    }
    return TREACLE_OK;
}

treacle_status case_flat_surface_2d(validate* v) {
    for (size_t i = 0; i < sizeof(flat_pools) / sizeof(flat_pools[0]); ++i) {
        VALIDATE_TRY(measure_seeds(v, &flat_pools[i]));
    }
    return TREACLE_OK;
}

// ---- Walls

// Width and height of a triangle, cells: its longest side, and twice its area over that.
static double triangle_quality(const treacle_mesh_view* view, int64_t t, double* area) {
    const int32_t* c = view->triangles + 3 * t;
    double d[3][3], longest = 0.0;
    for (int e = 0; e < 3; ++e) {
        double square = 0.0;
        for (int k = 0; k < 3; ++k) {
            d[e][k] = ((double)view->position[3 * c[(e + 1) % 3] + k] -
                       (double)view->position[3 * c[e] + k]) /
                      cell;
            square += d[e][k] * d[e][k];
        }
        longest = fmax(longest, square);
    }
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double n = d[0][i] * d[1][j] - d[0][j] * d[1][i];
        square += n * n;
    }
    *area = 0.5 * sqrt(square);
    return 2.0 / sqrt(3.0) * sqrt(square) / longest;
}

typedef struct wall_sums {
    double behind;  // cells, farthest of any vertex behind a wall
    double sagged;  // likewise of the middles of sides, which are straight where walls are round
    double off;     // cells, farthest of a vertex near a wall off it
    double slivers; // share of triangles
    double area;    // cells^2
} wall_sums;

typedef double wall_fcn(const double x[3]); // cells to the nearest wall, positive inside

static wall_sums sum_walls(const treacle_mesh* mesh, wall_fcn* wall) {
    wall_sums sums = {0};
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    for (int64_t t = 0; t < view.triangle_count; ++t) {
        const int32_t* c = view.triangles + 3 * t;
        double area = 0.0;
        sums.slivers += triangle_quality(&view, t, &area) < 0.02;
        sums.area += area;
        for (int e = 0; e < 3; ++e) {
            double at[3], middle[3];
            for (int k = 0; k < 3; ++k) {
                at[k] = (double)view.position[3 * c[e] + k] / cell;
                middle[k] = 0.5 * (at[k] + (double)view.position[3 * c[(e + 1) % 3] + k] / cell);
            }
            double d = wall(at);
            sums.sagged = fmax(sums.sagged, -wall(middle));
            bool is_at = fabs(d) < 0.1 && view.normal[3 * c[e] + 1] < 0.9f; // not on the surface
            sums.off = is_at ? fmax(sums.off, fabs(d)) : sums.off;
        }
    }
    sums.slivers /= fmax((double)view.triangle_count, 1.0);
    return sums;
}

static void report_walls(validate* v, const wall_sums* s, double area, const char* name) {
    validate_at_most(v, s->behind, 0.02, 0.0, "%s: farthest behind a wall, cells", name);
    validate_info(v, s->sagged, NAN, "%s: farthest middle of a side behind a wall, cells", name);
    validate_at_most(v, s->off, 0.02, 0.0, "%s: near a wall and off it, cells", name);
    validate_at_most(v, s->slivers, 0.0, 0.0, "%s: share of slivers", name);
    validate_relative(v, s->area, area, 0.01, "%s: area, cells^2", name);
}

static double box_wall(const double x[3]) {
    double least = INFINITY;
    const double size[3] = {16.0, 8.0, 16.0};
    for (int k = 0; k < 3; ++k) {
        least = fmin(least, fmin(x[k], size[k] - x[k]));
    }
    return least;
}

// A glass of radius 9 about (10, *, 10) on the floor, and a ball of radius 5 from 2 to 12.
static double glass_wall(const double x[3]) {
    double r = hypot(x[0] - 10.0, x[2] - 10.0);
    double ball = sqrt(r * r + (x[1] - 7.0) * (x[1] - 7.0)) - 5.0;
    return fmin(fmin(9.0 - r, x[1]), ball);
}

static const char glass_scene[] =
    "domain: {size: [0.2, 0.16, 0.2], cell: 1 cm, sides: {all: slip, top: open}}\n"
    "solids:\n"
    "  glass: {inside_out: true, shape: {cylinder: {radius: 0.09, height: 0.6}, "
    "move: [0.1, 0.1, 0.1]}}\n"
    "  ball: {shape: {sphere: {radius: 0.05}, move: [0.1, 0.07, 0.1]}}\n"
    "liquids: [{shape: {cylinder: {radius: 0.09, height: 0.06}, move: [0.1, 0.03, 0.1]}}]\n";

treacle_status case_clean_walls_glass(validate* v) {
    const treacle_shape cylinder = {.kind = TREACLE_SHAPE_CYLINDER,
                                    .radius = 0.09,
                                    .height = 0.6,
                                    .move = {0.1, 0.1, 0.1},
                                    .scale = 1.0};
    const treacle_shape sphere = {
        .kind = TREACLE_SHAPE_SPHERE, .radius = 0.05, .move = {0.1, 0.07, 0.1}, .scale = 1.0};
    const treacle_solid_def solids[2] = {{.name = "glass", .shape = &cylinder, .inside_out = true},
                                         {.name = "ball", .shape = &sphere}};
    treacle_mesh_def def = boxed();
    def.room.is_closed[1][1] = false;
    def.room.solid_count = 2;
    def.room.solids = solids;
    treacle_sim* sim = NULL;
    treacle_mesh* mesh = NULL;
    treacle_status status = validate_sim_create(v, &sim, glass_scene);
    if (status == TREACLE_OK) {
        status = draw(v, sim, &def, &mesh);
    }
    if (status == TREACLE_OK) {
        treacle_mesh_view view = treacle_mesh_get_view(mesh);
        wall_sums sums = sum_walls(mesh, glass_wall);
        // The liquid stands at 6, 4 above the ball's lowest point: that takes a cap of it.
        double volume = view.liquid_volume / (cell * cell * cell);
        double depth = (volume + pi * 16.0 * (5.0 - 4.0 / 3.0)) / (81.0 * pi), dip = depth - 2.0;
        double hole = 25.0 - (dip - 5.0) * (dip - 5.0);
        double area = pi * (2.0 * 81.0 + 18.0 * depth - hole + 10.0 * dip);
        report_walls(v, &sums, area, "glass");
    }
    treacle_mesh_destroy(mesh);
    treacle_sim_destroy(sim);
    return status;
}

treacle_status case_clean_walls(validate* v) {
    const pool* p = &pools[0];
    treacle_sim* sim = NULL;
    treacle_mesh* mesh = NULL;
    treacle_mesh_def def = boxed();
    treacle_status status =
        validate_sim_create(v, &sim, pool_scene, 1, p->size, p->per_cell, p->low, p->high);
    if (status == TREACLE_OK) {
        status = draw(v, sim, &def, &mesh);
    }
    if (status == TREACLE_OK) {
        wall_sums sums = sum_walls(mesh, box_wall);
        report_walls(v, &sums, 2.0 * 256.0 + 4.0 * 16.0 * 5.0, "box");
    }
    treacle_mesh_destroy(mesh);
    treacle_sim_destroy(sim);
    return status;
}

// ---- Thin liquid

static const char sheet_scene[] =
    "seed: %d\n"
    "domain: {size: [0.16, 0.08, 0.16], cell: 1 cm, sides: {all: slip}}\n"
    "liquids: [{shape: {box: {min: [0, 0.03, 0], max: [0.16, %.17g, 0.16]}}}]\n";
static const char thread_scene[] =
    "seed: %d\n"
    "domain: {size: [0.08, 0.24, 0.08], cell: 1 cm, sides: {all: slip}}\n"
    "liquids: [{shape: {cylinder: {radius: %.17g, height: 0.3}, move: [0.0413, 0.12, 0.0387]}}]\n";

static treacle_status measure_thin(validate* v, double thickness, bool is_thread) {
    double least = INFINITY, volume = 0.0;
    for (int seed = 1; seed <= SEEDS; ++seed) {
        treacle_sim* sim = NULL;
        treacle_mesh* mesh = NULL;
        treacle_mesh_def def = boxed();
        treacle_status status =
            is_thread ? validate_sim_create(v, &sim, thread_scene, seed, 0.5 * thickness * cell)
                      : validate_sim_create(v, &sim, sheet_scene, seed, 0.03 + thickness * cell);
        if (status == TREACLE_OK) {
            status = draw(v, sim, &def, &mesh);
        }
        if (status == TREACLE_OK) {
            treacle_mesh_view view = treacle_mesh_get_view(mesh);
            double liquid = view.liquid_volume / (cell * cell * cell);
            double width = is_thread ? sqrt(4.0 / pi * liquid / 24.0) : liquid / 256.0;
            double area = is_thread ? pi * width * 24.0 + 0.5 * pi * width * width
                                    : 2.0 * 256.0 + 64.0 * width;
            least = fmin(least, view.area / (cell * cell) / area);
            volume = fmax(volume, fabs(view.volume / view.liquid_volume - 1.0));
        }
        treacle_mesh_destroy(mesh);
        treacle_sim_destroy(sim);
        VALIDATE_TRY(status);
    }
    const char* name = is_thread ? "thread" : "sheet";
    validate_at_least(v, least, 0.95, 0.0, "%s of %g cells: share of its area", name, thickness);
    validate_at_most(v, volume, 0.005, 0.0, "%s of %g cells: volume", name, thickness);
    return TREACLE_OK;
}

treacle_status case_thin_sheet(validate* v) {
    static const double thickness[] = {1.0, 1.5, 2.0};
    for (int is_thread = 0; is_thread < 2; ++is_thread) {
        for (size_t i = 0; i < sizeof(thickness) / sizeof(thickness[0]); ++i) {
            VALIDATE_TRY(measure_thin(v, thickness[i], is_thread != 0));
        }
    }
    return TREACLE_OK;
}
