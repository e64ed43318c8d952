// Random solids in random liquids: balls, boxes and plates half a cell thick, at rest, moving and
// spinning, up to several cells a step, into each other, into the sides and through closed liquid;
// in a plane and in space; some scenes inside a container. A fourth of the solids are meshes that
// change their shape: boxes and plates that are stretched and sheared while they move. In every one
//
//     no step fails, and all places and velocities stay finite;
//     no particle is outside the domain;
//     no particle is deeper than half a cell in a solid, by closed forms that are written here
//     again.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"

enum { SOLIDS = 4, STEPS = 12, FRAMES = 3, PATH = 128 };
static const double cell = 1.0 / 24; // m
static const double mesh_fps = 8.0;  // the run lasts about as long as a sequence
static const double step_dt = 0.02;  // s

typedef struct draws {
    uint64_t state;
} draws;

static double draw(draws* d, double low, double high) {
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(d->state >> 11) * 0x1p-53;
}

static bool chance(draws* d, double share) {
    return draw(d, 0.0, 1.0) < share;
}

// A box whose edges and middle change from mesh to mesh: x = middle + edges (b - 0), |b| <= 1.
typedef struct parallelepiped {
    double middle[3], edges[3][3]; // edges[a][k]: component a of the k-th half edge
} parallelepiped;

typedef struct scene {
    treacle_sim_def def;
    treacle_material_def material;
    treacle_shape pool, shapes[SOLIDS];
    treacle_liquid_def liquid;
    treacle_solid_def solids[SOLIDS];
    parallelepiped frames[SOLIDS][FRAMES];
    char files[SOLIDS][PATH];
    bool is_flat;
} scene;

static void draw_shape(scene* s, draws* d, treacle_shape* out) {
    bool is_ball = chance(d, 0.35);
    *out = treacle_shape_default(is_ball ? TREACLE_SHAPE_SPHERE : TREACLE_SHAPE_BOX);
    out->radius = draw(d, 0.05, 0.2);
    for (int a = 0; a < 3; ++a) {
        out->size[a] = draw(d, 0.1, 0.5);
        out->move[a] = draw(d, 0.1, 0.9);
    }
    if (chance(d, 0.5)) {
        out->size[0] = 0.5 * cell; // a plate
    }
    out->move[2] = s->is_flat ? 0.5 * cell : out->move[2];
}

// ---- meshes that change their shape

static void draw_frames(scene* s, draws* d, int i) {
    const treacle_shape* box = &s->shapes[i];
    double speed = (chance(d, 0.3) ? 4.0 : 1.0) / mesh_fps, bend = s->is_flat ? 0.3 : 0.2;
    for (int f = 0; f < FRAMES; ++f) {
        parallelepiped* p = &s->frames[i][f];
        for (int a = 0; a < 3; ++a) {
            bool is_still = s->is_flat && a == 2;
            double way = is_still || f == 0 ? 0.0 : draw(d, -speed, speed);
            p->middle[a] = f == 0 ? box->move[a] : s->frames[i][f - 1].middle[a] + way;
            for (int k = 0; k < 3; ++k) {
                double change = is_still || (s->is_flat && k == 2) ? 0.0 : draw(d, -bend, bend);
                p->edges[a][k] = 0.5 * box->size[k] * ((a == k ? 1.0 : 0.0) + change);
            }
        }
    }
}

static bool write_frame(const parallelepiped* p, const char* path) {
    static const int sides[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    FILE* out = fopen(path, "w");
    for (int i = 0; i < 8 && out != NULL; ++i) {
        const double b[3] = {i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0};
        double x[3];
        for (int a = 0; a < 3; ++a) {
            x[a] = p->middle[a] + p->edges[a][0] * b[0] + p->edges[a][1] * b[1] +
                   p->edges[a][2] * b[2];
        }
        fprintf(out, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
    }
    for (int i = 0; i < 6 && out != NULL; ++i) {
        const int* c = sides[i];
        fprintf(out, "f %d %d %d %d\n", c[0] + 1, c[1] + 1, c[2] + 1, c[3] + 1);
    }
    return out != NULL && fclose(out) == 0;
}

static void path_of(const scene* s, int i, int frame, char out[PATH]) {
    snprintf(out, PATH, "%.*s%d.obj", (int)strlen(s->files[i]) - 5, s->files[i], frame + 1);
}

// Makes solid i, a box so far, a sequence of meshes in the folder.
static bool write_frames(scene* s, draws* d, const char* folder, int i) {
    treacle_shape* shape = &s->shapes[i];
    shape->size[2] = s->is_flat ? 1.0 : shape->size[2];
    draw_frames(s, d, i);
    snprintf(s->files[i], PATH, "%s/solid%d_#.obj", folder, i);
    bool is_written = true;
    for (int f = 0; f < FRAMES; ++f) {
        char path[PATH];
        path_of(s, i, f, path);
        is_written = is_written && write_frame(&s->frames[i][f], path);
    }
    shape->kind = TREACLE_SHAPE_MESH;
    shape->file = s->files[i];
    shape->frames = (treacle_mesh_sequence){.first = 1, .last = FRAMES, .fps = mesh_fps};
    for (int a = 0; a < 3; ++a) {
        shape->move[a] = 0.0;
    }
    return is_written;
}

static void remove_frames(const scene* s) {
    for (int i = 0; i < s->def.solid_count; ++i) {
        for (int f = 0; f < FRAMES && s->shapes[i].kind == TREACLE_SHAPE_MESH; ++f) {
            char path[PATH];
            path_of(s, i, f, path);
            unlink(path);
        }
    }
}

// Turns about z only, so that the closed form below stays short.
static void draw_solid(scene* s, draws* d, int i) {
    treacle_solid_def* solid = &s->solids[i];
    *solid = treacle_solid_def_default();
    draw_shape(s, d, &s->shapes[i]);
    solid->shape = &s->shapes[i];
    bool is_moving = chance(d, 0.7);
    double speed = chance(d, 0.3) ? 8.0 : 1.0;
    for (int a = 0; a < 3; ++a) {
        solid->pivot[a] = s->shapes[i].move[a];
        solid->velocity[a] = is_moving && !(s->is_flat && a == 2) ? draw(d, -speed, speed) : 0.0;
    }
    solid->spin[2] = is_moving ? draw(d, -speed * 3.0, speed * 3.0) : 0.0;
}

static bool draw_scene(scene* s, const char* folder, uint64_t seed) {
    draws d = {seed * 0x9e3779b97f4a7c15u + 77};
    *s = (scene){.def = treacle_sim_def_default(), .material = treacle_material_def_default()};
    s->is_flat = chance(&d, 0.7);
    s->def.seed = seed;
    s->def.domain.cell = cell;
    s->def.domain.size[2] = s->is_flat ? 0.0 : 0.5;
    s->def.particles.per_cell = s->is_flat ? 4 : 8;
    s->def.material_count = 1;
    s->def.materials = &s->material;
    s->pool = treacle_shape_default(TREACLE_SHAPE_BOX);
    s->pool.size[1] = draw(&d, 0.6, 1.6); // about the floor: 0.3 to 0.8 of the domain
    s->pool.size[0] = draw(&d, 1.0, 2.0);
    s->liquid = treacle_liquid_def_default();
    s->liquid.shape = &s->pool;
    s->def.liquid_count = 1;
    s->def.liquids = &s->liquid;
    s->def.solid_count = 1 + (int)draw(&d, 0.0, SOLIDS - 0.001);
    s->def.solids = s->solids;
    for (int i = 0; i < s->def.solid_count; ++i) {
        draw_solid(s, &d, i);
    }
    s->solids[0].inside_out = chance(&d, 0.15);
    if (s->solids[0].inside_out) {
        s->shapes[0].size[0] = s->shapes[0].size[1] = s->shapes[0].size[2] = 0.8;
        s->shapes[0].move[0] = s->shapes[0].move[1] = s->solids[0].pivot[0] =
            s->solids[0].pivot[1] = 0.5;
        s->solids[0].velocity[0] *= 0.1;
        s->solids[0].velocity[1] *= 0.1;
    }
    bool is_written = true;
    draws of_meshes = {~d.state};
    for (int i = 0; i < s->def.solid_count; ++i) {
        bool is_box = s->shapes[i].kind == TREACLE_SHAPE_BOX && !s->solids[i].inside_out;
        if (is_box && chance(&of_meshes, 0.4)) {
            is_written = is_written && write_frames(s, &of_meshes, folder, i);
        }
    }
    return is_written;
}

// ---- by closed forms

// Between two meshes the edges are between theirs. The distance to the nearest face, negative
// inside; outside only its sign counts.
static double depth_in(const scene* s, int i, double time, const double b[3]) {
    double at = fmin(fmax(time * mesh_fps, 0.0), FRAMES - 1.0);
    int f = at < FRAMES - 1.0 ? (int)at : FRAMES - 2;
    const parallelepiped *low = &s->frames[i][f], *high = &s->frames[i][f + 1];
    double e[3][3], r[3], share = at - f, distance = -INFINITY;
    for (int k = 0; k < 3; ++k) {
        r[k] = b[k] - low->middle[k] - share * (high->middle[k] - low->middle[k]);
        r[k] = s->is_flat && k == 2 ? 0.0 : r[k];
        for (int a = 0; a < 3; ++a) { // e[k] is an edge
            e[k][a] = low->edges[a][k] + share * (high->edges[a][k] - low->edges[a][k]);
        }
    }
    for (int k = 0; k < 3; ++k) {
        const double *p = e[(k + 1) % 3], *q = e[(k + 2) % 3];
        const double n[3] = {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2],
                             p[0] * q[1] - p[1] * q[0]};
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        double half = fabs(e[k][0] * n[0] + e[k][1] * n[1] + e[k][2] * n[2]) / length;
        double out = fabs(r[0] * n[0] + r[1] * n[1] + r[2] * n[2]) / length - half;
        distance = s->is_flat && k == 2 ? distance : fmax(distance, out);
    }
    return distance;
}

static double distance_of(const scene* s, int i, double time, const double x[3]) {
    const treacle_solid_def* solid = &s->solids[i];
    const treacle_shape* shape = &s->shapes[i];
    double angle = solid->spin[2] * time, c = cos(angle), n = sin(angle), r[3], b[3];
    for (int a = 0; a < 3; ++a) {
        r[a] = x[a] - solid->pivot[a] - solid->velocity[a] * time;
    }
    b[0] = c * r[0] + n * r[1];
    b[1] = c * r[1] - n * r[0];
    b[2] = s->is_flat ? 0.0 : r[2];
    if (shape->kind == TREACLE_SHAPE_MESH) {
        const double in_frame[3] = {b[0] + solid->pivot[0], b[1] + solid->pivot[1],
                                    b[2] + solid->pivot[2]};
        return depth_in(s, i, time, in_frame);
    }
    double distance = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]) - shape->radius;
    if (shape->kind == TREACLE_SHAPE_BOX) {
        double outside = 0.0, inside = -INFINITY;
        for (int a = 0; a < (s->is_flat ? 2 : 3); ++a) {
            double q = fabs(b[a]) - 0.5 * shape->size[a];
            outside += q > 0.0 ? q * q : 0.0;
            inside = fmax(inside, q);
        }
        distance = inside > 0.0 ? sqrt(outside) : inside;
    }
    return solid->inside_out ? -distance : distance;
}

typedef struct tally {
    int failed, outside, deep, bad; // scenes
    int meshes;                     // solids that change their shape
    double depth;                   // cells, the deepest
} tally;

static treacle_status inspect(const scene* s, treacle_sim* sim, tally* sum) {
    validate_particle* all = NULL;
    int64_t count = 0;
    treacle_status status = validate_particles(sim, &all, &count);
    bool is_outside = false, is_bad = false;
    double depth = 0.0, time = treacle_sim_time(sim);
    for (int64_t i = 0; i < count && status == TREACLE_OK; ++i) {
        for (int a = 0; a < 3; ++a) {
            double size = fmax(s->def.domain.size[a], cell);
            is_bad = is_bad || !isfinite(all[i].place[a]);
            is_outside = is_outside || all[i].place[a] < -1e-6 || all[i].place[a] > size + 1e-6;
        }
        for (int k = 0; k < s->def.solid_count; ++k) {
            depth = fmax(depth, -distance_of(s, k, time, all[i].place) / cell);
        }
    }
    free(all);
    sum->outside += is_outside;
    sum->bad += is_bad;
    sum->deep += depth > 0.5;
    sum->depth = fmax(sum->depth, depth);
    return status;
}

static void run_scene(validate* v, const char* folder, uint64_t seed, tally* sum) {
    scene s;
    treacle_sim* sim = NULL;
    bool is_drawn = draw_scene(&s, folder, seed);
    treacle_status status = is_drawn ? treacle_sim_create(v->ctx, &s.def, &sim) : TREACLE_ERR_IO;
    for (int i = 0; i < s.def.solid_count; ++i) {
        sum->meshes += s.shapes[i].kind == TREACLE_SHAPE_MESH;
    }
    for (int i = 0; i < STEPS && status == TREACLE_OK; ++i) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, step_dt, &stats);
        if (status == TREACLE_OK) {
            status = inspect(&s, sim, sum);
        }
    }
    sum->failed += status != TREACLE_OK;
    treacle_sim_destroy(sim);
    remove_frames(&s);
}

static treacle_status run(validate* v, int count) {
    tally sum = {0};
    char folder[] = "/tmp/treacle-solids-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        return TREACLE_ERR_IO;
    }
    for (int i = 0; i < count; ++i) {
        run_scene(v, folder, (uint64_t)i, &sum);
    }
    rmdir(folder);
    validate_absolute(v, sum.failed, 0.0, 0.0, "%d scenes, of which failed", count);
    validate_absolute(v, sum.bad, 0.0, 0.0, "of which had a place that is not finite");
    validate_absolute(v, sum.outside, 0.0, 0.0, "steps with a particle outside the domain");
    validate_absolute(v, sum.deep, 0.0, 0.0, "steps with a particle deeper than half a cell");
    validate_info(v, sum.depth, NAN, "the deepest particle, cells");
    validate_info(v, sum.meshes, NAN, "solids that changed their shape");
    return TREACLE_OK;
}

treacle_status case_random_solids(validate* v) {
    return run(v, 50);
}

treacle_status case_random_solids_all(validate* v) {
    return run(v, 1000);
}
