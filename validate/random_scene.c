#include "random_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double dice_between(dice* d, double low, double high) {
    uint64_t x = d->state += 0x9e3779b97f4a7c15u; // splitmix64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

double dice_log(dice* d, double low, double high) {
    return low * pow(high / low, dice_between(d, 0.0, 1.0));
}

int dice_below(dice* d, int count) {
    return (int)dice_between(d, 0.0, count);
}

bool dice_chance(dice* d, double probability) {
    return dice_between(d, 0.0, 1.0) < probability;
}

const char* dice_word(dice* d, int count, const char* const* words) {
    return words[dice_below(d, count)];
}

void random_vector(const random_writer* w, const char* key, const double v[3]) {
    fprintf(w->out, ", \"%s\": [%.9g, %.9g, %.9g]", key, v[0], v[1], v[2]);
}

void random_point(random_writer* w, double margin, double out[3]) {
    const random_scene* s = w->scene;
    for (int a = 0; a < 3; ++a) {
        double at = dice_between(&w->d, margin, 1.0 - margin);
        out[a] = s->origin[a] + (s->size[a] > 0.0 ? at * s->size[a] : 0.0);
    }
}

void random_way(random_writer* w, double most, double out[3]) {
    double length = most * dice_between(&w->d, 0.0, 1.0), sum = 1e-9;
    for (int a = 0; a < 3; ++a) {
        out[a] = a < w->scene->axes ? dice_between(&w->d, -1.0, 1.0) : 0.0;
        sum += out[a] * out[a];
    }
    for (int a = 0; a < 3; ++a) {
        out[a] *= length / sqrt(sum);
    }
}

// A turn rate about any axis, or about that across the plane.
static void random_spin(random_writer* w, double most, double out[3]) {
    for (int a = 0; a < 3; ++a) {
        out[a] = w->scene->axes == 3 || a == 2 ? dice_between(&w->d, -most, most) : 0.0;
    }
}

static double length_of(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// ---- domain -------------------------------------------------------------------------------------

static void write_sides(random_writer* w) {
    static const char* const names[3][2] = {
        {"left", "right"}, {"bottom", "top"}, {"back", "front"}};
    static const char* const kinds[] = {"slip", "no-slip", "open"};
    random_scene* s = w->scene;
    int choice = s->is_at_rest ? 2 : 2 + dice_below(&w->d, 2);
    const char* comma = "";
    fprintf(w->out, ", \"sides\": {");
    for (int a = 0; a < s->axes; ++a) {
        bool is_round = fmod(s->size[a] / s->cell + 0.5, 16.0) < 1.0 && !s->has_strangers &&
                        s->body_count == 0 && !s->is_at_rest && dice_chance(&w->d, 0.5);
        for (int side = 0; side < 2; ++side) {
            const char* kind = is_round ? "periodic" : dice_word(&w->d, choice, kinds);
            s->has_way_out = s->has_way_out || strcmp(kind, "open") == 0;
            fprintf(w->out, "%s\"%s\": \"%s\"", comma, names[a][side], kind);
            comma = ", ";
        }
    }
    fprintf(w->out, "}");
}

static void write_separation(random_writer* w) {
    if (dice_chance(&w->d, 0.35)) {
        fprintf(w->out, ", \"separation\": %s", dice_chance(&w->d, 0.6) ? "\"on\"" : "\"20 Pa\"");
    }
    if (dice_chance(&w->d, 0.1)) {
        fprintf(w->out, ", \"slip_length\": {\"bottom\": %.5g}",
                w->scene->cell * dice_log(&w->d, 0.1, 10.0));
    }
}

static void write_domain(random_writer* w) {
    random_scene* s = w->scene;
    s->cell = dice_log(&w->d, 1e-3, 0.1);
    for (int a = 0; a < 3; ++a) {
        int few = s->axes == 2 ? 16 : 8, more = s->axes == 2 ? 17 : 7;
        int cells = dice_chance(&w->d, 0.25) ? 16 : few + dice_below(&w->d, more);
        s->size[a] = a < s->axes ? cells * s->cell : 0.0;
        s->origin[a] = dice_chance(&w->d, 0.5) ? 0.0 : dice_between(&w->d, -10.0, 10.0) * s->cell;
        w->length = fmax(w->length, s->size[a]);
    }
    fprintf(w->out, "\"domain\": {\"cell\": %.17g", s->cell);
    fprintf(w->out, ", \"size\": [%.17g, %.17g, %.17g]", s->size[0], s->size[1], s->size[2]);
    fprintf(w->out, ", \"origin\": [%.17g, %.17g, %.17g]", s->origin[0], s->origin[1],
            s->origin[2]);
    write_sides(w);
    write_separation(w);
    fprintf(w->out, "}");
}

// Down, or anywhere, or nowhere; the run is as long as it takes to fall a few times.
static void write_gravity(random_writer* w) {
    random_scene* s = w->scene;
    double g[3] = {0.0, -9.81, 0.0};
    if (!s->is_at_rest && dice_chance(&w->d, 0.25)) {
        random_way(w, 20.0, g);
    }
    w->gravity = fmax(length_of(g), 0.1);
    fprintf(w->out, ", \"gravity\": [%.9g, %.9g, %.9g]", g[0], g[1], g[2]);
    s->until = dice_between(&w->d, 0.4, 1.2) * sqrt(w->length / w->gravity);
    s->drive += sqrt(2.0 * w->gravity * w->length * s->axes);
}

// ---- how it is computed -------------------------------------------------------------------------

static void write_method(random_writer* w) {
    static const char* const transfers[] = {"apic", "apic", "flip", "pic"};
    static const char* const kernels[] = {"linear", "linear", "quadratic", "wide"};
    static const char* const paths[] = {"rk3", "rk3", "rk2", "euler"};
    static const char* const flows[] = {"auto", "auto", "auto", "split", "unified", "pressure"};
    dice* d = &w->d;
    int per_cell = w->scene->axes == 2 ? 4 : 8;
    fprintf(w->out, ", \"flow\": \"%s\"", DICE_WORD(d, flows));
    fprintf(w->out, ", \"transfer\": \"%s\", \"kernel\": \"%s\", \"advection\": \"%s\"",
            DICE_WORD(d, transfers), DICE_WORD(d, kernels), DICE_WORD(d, paths));
    if (!w->scene->is_eulerian) {
        fprintf(w->out, ", \"particles\": {\"per_cell\": %d, \"jitter\": %.3g}",
                dice_chance(d, 0.7) ? per_cell : 1 + dice_below(d, 8), dice_between(d, 0.0, 1.0));
    }
    fprintf(w->out, ", \"step\": {\"cfl\": %.3g",
            dice_chance(d, 0.6) ? 2.0 : dice_log(d, 0.4, 5.0));
    fprintf(w->out, ", \"max_dt\": %.4g",
            dice_chance(d, 0.5) ? 0.02 : w->scene->until * dice_log(d, 0.03, 1.0));
    if (!w->scene->is_eulerian && dice_chance(d, 0.3)) {
        fprintf(w->out, ", \"splitting\": \"%s\"", dice_chance(d, 0.5) ? "first" : "second");
    }
    fprintf(w->out, "}");
    if (dice_chance(d, 0.15)) {
        fprintf(w->out, ", \"surface\": \"spheres\"");
    }
    if (dice_chance(d, 0.15)) {
        fprintf(w->out, ", \"reseed\": false");
    }
    if (dice_chance(d, 0.15)) {
        fprintf(w->out, ", \"density_correction\": false");
    }
    if (dice_chance(d, 0.2)) {
        static const char* const walls[] = {"exact", "line", "voxel"};
        fprintf(w->out, ", \"pressure\": {\"walls\": \"%s\"}", DICE_WORD(d, walls));
    }
    if (w->scene->is_eulerian) {
        fprintf(w->out, ", \"motion\": \"eulerian\"");
    }
}

// ---- materials ----------------------------------------------------------------------------------

static void write_rheology(random_writer* w) {
    static const char* const laws[] = {"power-law", "carreau", "bingham", "herschel-bulkley"};
    dice* d = &w->d;
    const char* law = DICE_WORD(d, laws);
    double stress = dice_log(d, 1e-2, 2.0) * 1000.0 * w->gravity * w->length;
    fprintf(w->out, ", \"rheology\": {\"law\": \"%s\"", law);
    if (strcmp(law, "bingham") == 0 || strcmp(law, "herschel-bulkley") == 0) {
        fprintf(w->out, ", \"yield_stress\": %.4g", stress);
    }
    if (strcmp(law, "power-law") == 0 || strcmp(law, "herschel-bulkley") == 0) {
        fprintf(w->out, ", \"consistency\": %.4g, \"exponent\": %.3g", dice_log(d, 0.1, 1e3),
                dice_between(d, 0.3, 1.5));
    }
    if (strcmp(law, "carreau") == 0) {
        fprintf(w->out, ", \"time\": %.3g, \"exponent\": %.3g, \"viscosity_infinite\": 0.01",
                dice_log(d, 0.01, 10.0), dice_between(d, 0.3, 0.95));
    }
    fprintf(w->out, "}");
}

static void write_elastic(random_writer* w) {
    static const char* const rates[] = {"corotational", "corotational", "convected"};
    dice* d = &w->d;
    double modulus = dice_log(d, 0.2, 100.0) * 1000.0 * w->gravity * w->length;
    fprintf(w->out, ", \"elastic\": {\"shear_modulus\": %.4g, \"rate\": \"%s\"", modulus,
            DICE_WORD(d, rates));
    if (dice_chance(d, 0.6)) {
        fprintf(w->out, ", \"relaxation_time\": %.3g", dice_log(d, 1e-3, 10.0));
    }
    if (dice_chance(d, 0.5)) {
        fprintf(w->out, ", \"yield_stress\": %.4g", modulus * dice_log(d, 0.01, 1.0));
    }
    fprintf(w->out, "}");
}

// A law of viscosity by temperature, and heat that flows.
static void write_heat(random_writer* w) {
    dice* d = &w->d;
    double low = dice_log(d, 0.1, 1e6);
    fprintf(w->out, ", \"conductivity\": %.3g, \"heat_capacity\": %.4g", dice_log(d, 0.1, 10.0),
            dice_between(d, 500.0, 4200.0));
    if (dice_chance(d, 0.5)) {
        fprintf(w->out,
                ", \"viscosity_law\": {\"kind\": \"%s\", \"from\": 310, \"to\": 330, "
                "\"low\": %.4g, \"high\": %.4g}",
                dice_chance(d, 0.5) ? "linear" : "quadratic", low, low * dice_log(d, 1e-5, 0.5));
    }
    if (dice_chance(d, 0.4)) {
        fprintf(w->out, ", \"latent_heat\": %.4g, \"solidus\": 310, \"liquidus\": 330",
                dice_log(d, 1e3, 3e5));
    }
    if (dice_chance(d, 0.3)) {
        fprintf(w->out, ", \"expansion\": %.3g", dice_log(d, 1e-4, 1e-2));
    }
}

static const char* const presets[] = {"honey", "chocolate", "ketchup", "toothpaste", "paint",
                                      "lava",  "wax",       "gelatin", "dough",      "slime",
                                      "mucus", "clay",      "shampoo", "water",      "tar"};

static void write_material(random_writer* w, int index) {
    dice* d = &w->d;
    fprintf(w->out, "%s\"m%d\": {", index == 0 ? "" : ", ", index);
    if (dice_chance(d, 0.2) && !w->scene->is_eulerian) {
        fprintf(w->out, "\"preset\": \"%s\"}", DICE_WORD(d, presets));
        return;
    }
    fprintf(w->out, "\"density\": %.4g", dice_chance(d, 0.5) ? 1000.0 : dice_log(d, 100.0, 5000.0));
    fprintf(w->out, ", \"viscosity\": %.4g", dice_chance(d, 0.25) ? 0.0 : dice_log(d, 1e-3, 1e5));
    if (dice_chance(d, 0.25)) {
        write_rheology(w);
    } else if (dice_chance(d, 0.3)) {
        write_elastic(w);
    } else if (dice_chance(d, 0.3)) {
        write_heat(w);
    }
    if (!w->scene->is_eulerian && dice_chance(d, 0.1)) {
        fprintf(w->out, ", \"merges\": false");
    }
    fprintf(w->out, "}");
}

static void write_materials(random_writer* w) {
    bool is_one = w->scene->is_eulerian || (!w->scene->has_strangers && dice_chance(&w->d, 0.5));
    w->material_count = is_one ? 1 : 2;
    fprintf(w->out, ", \"materials\": {");
    for (int i = 0; i < w->material_count; ++i) {
        write_material(w, i);
    }
    fprintf(w->out, "}");
}

// ---- liquids ------------------------------------------------------------------------------------

static void write_liquid_motion(random_writer* w, double speed) {
    double v[3], spin[3], middle[3];
    random_way(w, speed, v);
    random_spin(w, dice_chance(&w->d, 0.3) ? 2.0 * speed / w->length : 0.0, spin);
    random_point(w, 0.4, middle);
    random_vector(w, "velocity", v);
    if (length_of(spin) > 0.0) {
        random_vector(w, "spin", spin);
        random_vector(w, "spin_centre", middle);
    }
    w->scene->drive = fmax(w->scene->drive, 0.0) + length_of(v) +
                      length_of(spin) * w->length * sqrt((double)w->scene->axes);
}

static void write_liquid_state(random_writer* w) {
    dice* d = &w->d;
    if (dice_chance(d, 0.3)) {
        fprintf(w->out, ", \"temperature\": %.4g", dice_between(d, 280.0, 380.0));
    }
    if (!w->scene->is_eulerian && dice_chance(d, 0.15)) {
        fprintf(w->out, ", \"viscosity_factor\": %.4g", dice_log(d, 0.01, 100.0));
    }
    if (!w->scene->is_eulerian && dice_chance(d, 0.1)) {
        fprintf(w->out, ", \"marker\": %.3g", dice_between(d, 0.0, 1.0));
    }
}

// All below a level, from wall to wall.
static void write_pool(random_writer* w) {
    const random_scene* s = w->scene;
    double level = s->origin[1] + dice_between(&w->d, 0.2, 0.8) * s->size[1];
    fprintf(w->out, "{\"shape\": {\"plane\": {\"point\": [0, %.9g, 0]}}, \"material\": \"m%d\"",
            level, dice_below(&w->d, w->material_count));
}

// Of a liquid on one side of the plate: the part of a box that is there.
static void write_part(random_writer* w, int side) {
    const random_scene* s = w->scene;
    const random_solid* plate = &s->solids[0];
    double low[3], high[3], sign = side == 0 ? 1.0 : -1.0;
    const double normal[3] = {cos(plate->turn[2]), sin(plate->turn[2]), 0.0};
    for (int a = 0; a < 3; ++a) {
        low[a] = s->origin[a] - s->cell;
        high[a] = s->origin[a] + s->size[a] * (a == 1 ? dice_between(&w->d, 0.3, 0.9) : 1.2);
    }
    fprintf(w->out, "{\"shape\": {\"intersection\": [{\"box\": {\"min\": [%.9g, %.9g, %.9g]",
            low[0], low[1], low[2]);
    random_vector(w, "max", high);
    double reach = 0.5 * plate->size[0] + 0.05 * s->cell;
    fprintf(w->out, "}}, {\"plane\": {\"point\": [%.9g, %.9g, %.9g]",
            plate->centre[0] - sign * reach * normal[0],
            plate->centre[1] - sign * reach * normal[1], plate->centre[2]);
    fprintf(w->out, ", \"normal\": [%.9g, %.9g, 0]}}]}, \"material\": \"m%d\"", sign * normal[0],
            sign * normal[1], side);
}

static void write_liquids(random_writer* w) {
    random_scene* s = w->scene;
    int count = s->has_strangers ? 2 : s->is_at_rest ? 1 : 1 + dice_below(&w->d, 3);
    double speed = dice_between(&w->d, 0.0, 2.0) * sqrt(w->gravity * w->length);
    fprintf(w->out, ", \"liquids\": [");
    for (int i = 0; i < count; ++i) {
        fprintf(w->out, "%s", i == 0 ? "" : ", ");
        bool is_pool = !s->has_strangers && (s->is_at_rest || (i == 0 && dice_chance(&w->d, 0.4)));
        random_solid blob;
        if (s->has_strangers) {
            write_part(w, i);
        } else if (is_pool) {
            write_pool(w);
        } else {
            random_draw_form(w, dice_between(&w->d, 0.3, 0.8) * w->length, &blob);
            fprintf(w->out, "{");
            random_write_shape(w, &blob);
            fprintf(w->out, ", \"material\": \"m%d\"", dice_below(&w->d, w->material_count));
        }
        write_liquid_state(w);
        if (!is_pool && dice_chance(&w->d, 0.6)) {
            write_liquid_motion(w, speed);
        }
        fprintf(w->out, "}");
    }
    fprintf(w->out, "]");
}

// ---- what comes, goes, pushes and heats ---------------------------------------------------------

static void write_emitter(random_writer* w) {
    random_scene* s = w->scene;
    double speed = dice_between(&w->d, 0.1, 2.0) * sqrt(w->gravity * w->length), way[3];
    random_solid nozzle = {.form = FORM_SPHERE, .radius = s->cell * dice_between(&w->d, 1.5, 4.0)};
    random_point(w, 0.2, nozzle.centre);
    random_way(w, 1.0, way);
    fprintf(w->out, ", \"emitters\": [{");
    random_write_shape(w, &nozzle);
    random_vector(w, "direction", way);
    fprintf(w->out, ", \"material\": \"m%d\", \"temperature\": %.4g",
            dice_below(&w->d, w->material_count), dice_between(&w->d, 280.0, 380.0));
    if (dice_chance(&w->d, 0.3)) {
        fprintf(w->out, ", \"speed\": [[0, 0], [%.4g, %.4g]]", s->until, speed);
    } else {
        fprintf(w->out, ", \"speed\": %.4g", speed);
    }
    if (dice_chance(&w->d, 0.3)) {
        fprintf(w->out, ", \"stop\": %.4g", s->until * dice_between(&w->d, 0.1, 1.0));
    }
    fprintf(w->out, "}]");
    s->drive += speed;
}

static void write_drops(random_writer* w) {
    random_scene* s = w->scene;
    double first[3], second[3];
    random_point(w, 0.2, first);
    random_point(w, 0.2, second);
    fprintf(w->out, ", \"drops\": [{\"shape\": {\"sphere\": {\"radius\": %.5g}}, \"places\": [",
            s->cell * dice_between(&w->d, 1.0, 3.0));
    fprintf(w->out, "[%.4g, [%.9g, %.9g, %.9g]], [%.4g, [%.9g, %.9g, %.9g]]]}]", 0.3 * s->until,
            first[0], first[1], first[2], 0.6 * s->until, second[0], second[1], second[2]);
}

static void write_sink(random_writer* w) {
    random_solid drain;
    random_draw_form(w, 0.3 * w->length, &drain);
    fprintf(w->out, ", \"sinks\": [{");
    random_write_shape(w, &drain);
    fprintf(w->out, "}]");
    w->scene->has_way_out = true;
}

static void write_force(random_writer* w) {
    double push[3];
    random_way(w, 3.0 * w->gravity, push);
    fprintf(w->out, ", \"forces\": [{\"acceleration\": ");
    if (dice_chance(&w->d, 0.4)) {
        fprintf(w->out, "[\"%.4g*sin(9*t)\", \"%.4g\", 0]", push[0], push[1]);
        push[2] = 0.0;
    } else {
        fprintf(w->out, "[%.9g, %.9g, %.9g]", push[0], push[1], push[2]);
    }
    if (dice_chance(&w->d, 0.5)) {
        random_solid where;
        random_draw_form(w, 0.5 * w->length, &where);
        fprintf(w->out, ", ");
        random_write_shape(w, &where);
    }
    fprintf(w->out, "}]");
    w->scene->drive += sqrt(2.0 * length_of(push) * w->length * w->scene->axes);
}

static void write_heating(random_writer* w) {
    random_solid where;
    random_draw_form(w, 0.5 * w->length, &where);
    fprintf(w->out, ", \"heat\": {\"loss\": %.3g, \"air\": 300}, \"heat_sources\": [{",
            dice_log(&w->d, 1.0, 100.0));
    random_write_shape(w, &where);
    fprintf(w->out, ", \"%s\": %.4g}]", "temperature", dice_between(&w->d, 290.0, 400.0));
}

static void write_actors(random_writer* w) {
    dice* d = &w->d;
    bool is_quiet = w->scene->is_at_rest;
    if (!is_quiet && !w->scene->has_strangers && dice_chance(d, 0.3)) {
        write_emitter(w);
    }
    if (!is_quiet && !w->scene->has_strangers && !w->scene->is_eulerian && dice_chance(d, 0.15)) {
        write_drops(w);
    }
    if (!is_quiet && dice_chance(d, 0.15)) {
        write_sink(w);
    }
    if (!is_quiet && dice_chance(d, 0.2)) {
        write_force(w);
    }
    if (dice_chance(d, 0.12)) {
        write_heating(w);
    }
}

// ---- the scene ----------------------------------------------------------------------------------

static bool write_scene(random_writer* w) {
    random_scene* s = w->scene;
    s->axes = dice_chance(&w->d, 0.65) ? 2 : 3;
    s->is_at_rest = dice_chance(&w->d, 0.12);
    s->has_strangers = !s->is_at_rest && dice_chance(&w->d, 0.15);
    s->is_eulerian = !s->has_strangers && dice_chance(&w->d, 0.06);
    bool has_bodies = !s->is_at_rest && !s->has_strangers && dice_chance(&w->d, 0.35);
    bool has_solids = s->has_strangers || dice_chance(&w->d, has_bodies ? 0.35 : 0.5);
    s->body_count = has_bodies ? 1 + dice_below(&w->d, RANDOM_BODIES) : 0;
    s->solid_count = s->has_strangers ? 1 : has_solids ? 1 + dice_below(&w->d, RANDOM_SOLIDS) : 0;
    fprintf(w->out, "{");
    write_domain(w);
    write_gravity(w);
    fprintf(w->out, ", \"seed\": %llu, \"frames\": 5, \"fps\": %.6g", (unsigned long long)s->number,
            4.0 / s->until);
    write_method(w);
    write_materials(w);
    bool is_written = random_write_solids(w);
    write_liquids(w);
    random_write_bodies(w);
    write_actors(w);
    fprintf(w->out, "}\n");
    return is_written;
}

bool random_scene_draw(uint64_t number, random_scene* out) {
    *out = (random_scene){.number = number};
    random_writer w = {.scene = out, .d = {number * 1000003u + 17u}};
    w.out = open_memstream(&out->text, &out->length);
    if (w.out == NULL) {
        return false;
    }
    bool is_written = write_scene(&w);
    return fclose(w.out) == 0 && is_written;
}

void random_scene_free(random_scene* scene) {
    free(scene->text);
    for (int i = 0; i < scene->solid_count && scene->folder[0] != '\0'; ++i) {
        for (int f = 0; f < RANDOM_FRAMES; ++f) {
            char path[RANDOM_PATH + 32];
            snprintf(path, sizeof(path), "%s/solid%d_%d.obj", scene->folder, i, f + 1);
            unlink(path);
        }
    }
    if (scene->folder[0] != '\0') {
        rmdir(scene->folder);
    }
    *scene = (random_scene){0};
}
