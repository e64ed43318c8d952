// Rigid bodies in liquid [BBB07 sec. 3].
//
//     M dV/dt = force of the pressure = - integral over the body of (grad p, r x grad p)
//
// V = (v, omega) is the body's motion. On the grid the body is what it closes of faces: B_f, the
// fraction of face f. A face across axis a at the arm r from the body's centre moves with
//
//     w_f . V,   w_f = (e_a, r x e_a)                                                  [rigid.1]
//
// The impulse of the pressure is minus the sum over faces of B_f w_f (x_j - x_i), x = dt p / (rho
// h). Along the line of faces of an axis w_f does not change, so the sum may be taken over cells:
//
//     J x = sum over cells i of  x_i sum over axes a of  (B_above - B_below) w_a(r_i)     [rigid.2]
//
// and inside the body, where all faces are closed, nothing is left. What the liquid's faces lose of
// momentum and of angular momentum the body gets, to the last bit of the sum. With the mass from
// the same faces,
//
//     M = sum over faces of  (rho_body F_f + rho (B_f - F_f)) w_f w_f^T                [rigid.3]
//
// uniform acceleration and a linear pressure balance exactly: a body of the liquid's density rests.
// F_f is the fraction of the box around the face that the body fills. Where it closes more of a
// face than it fills of its box, the liquid in the rest moves with it and has no mass elsewhere:
// without it a body that is slowed down would slow a layer of half a cell for nothing. F sums up to
// the body's volume, so its weight less the buoyancy is right whatever the faces are. With
// fractions of volume F = B. Light bodies that close less than they fill would be left with no
// mass: for them M = rho_body B w w^T.
//
// Orientation: the quaternion is turned by the angle |omega| dt about omega and brought back to
// unit length. Contacts and joints change V before (step/body_world.c).
//
// Staggering: B, w on faces; x, J at cells. Symbols: closed (B), row (J), mass (M), arms in cells
// and spin times h in body_motion. Properties that tests check: rows sum to zero; momentum is kept;
// a neutral body rests in a tilted hydrostatic field; rotation keeps its length over many turns.
#include "phys/rigid_body.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "math/elementary.h"

enum { SAMPLES = 40 }; // along the longest side of a shape

// --- state ---------------------------------------------------------------------------------------

static mat3 matrix_of(const double q[4]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    return (mat3){{{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
                   {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
                   {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}}};
}

bool body_is_finite(const body_state* state) {
    const double* values = (const double*)state;
    bool is_finite = true;
    for (size_t i = 0; i < sizeof(*state) / sizeof(double); ++i) {
        is_finite = is_finite && isfinite(values[i]);
    }
    return is_finite;
}

bool body_state_is_valid(const body_state* state) {
    const double* q = state->quaternion;
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    return body_is_finite(state) && fabs(square - 1.0) < 1e-6;
}

// By its leading minors.
static bool are_moments_positive(const mat3* m) {
    double two = m->at[0][0] * m->at[1][1] - m->at[0][1] * m->at[1][0];
    return m->at[0][0] > 0.0 && two > 0.0 && mat3_determinant(m) > 0.0;
}

bool body_mass_is_valid(const body_mass* mass) {
    bool is_symmetric = true;
    for (int i = 0; i < AXES; ++i) {
        for (int j = 0; j < i; ++j) {
            double scale = sqrt(fabs(mass->inertia.at[i][i] * mass->inertia.at[j][j]));
            double asymmetry = fabs(mass->inertia.at[i][j] - mass->inertia.at[j][i]);
            is_symmetric = is_symmetric && asymmetry <= 1e-9 * scale;
        }
    }
    return mass->mass > 0.0 && isfinite(mass->mass) && mass->volume > 0.0 && is_symmetric &&
           are_moments_positive(&mass->inertia);
}

solid_pose body_pose(const body_state* state) {
    TREACLE_ASSERT(body_is_finite(state));
    return (solid_pose){.place = vec3_from(state->place),
                        .rotate = matrix_of(state->quaternion),
                        .velocity = vec3_from(state->velocity),
                        .spin = vec3_from(state->spin)};
}

body_motion body_motion_of(const body_state* state, double h) {
    TREACLE_ASSERT(h > 0.0 && isfinite(h));
    body_motion out;
    for (int a = 0; a < AXES; ++a) {
        out.at[a] = state->velocity[a];
        out.at[AXES + a] = state->spin[a] * h;
    }
    return out;
}

void body_set_motion(body_state* state, const body_motion* motion, double h) {
    TREACLE_ASSERT(h > 0.0 && isfinite(h));
    for (int a = 0; a < AXES; ++a) {
        state->velocity[a] = motion->at[a];
        state->spin[a] = motion->at[AXES + a] / h;
    }
}

void body_advance(body_state* state, double dt) {
    TREACLE_ASSERT(dt >= 0.0 && isfinite(dt));
    TREACLE_ASSERT(body_is_finite(state));
    double rate = vec3_length(vec3_from(state->spin)), half = 0.5 * rate * dt;
    double fraction = rate > 0.0 ? elementary_sin(half) / rate : 0.0, r = elementary_cos(half);
    double x = fraction * state->spin[0], y = fraction * state->spin[1],
           z = fraction * state->spin[2];
    const double* q = state->quaternion;
    double turned[4] = {
        r * q[0] - x * q[1] - y * q[2] - z * q[3], r * q[1] + x * q[0] + y * q[3] - z * q[2],
        r * q[2] - x * q[3] + y * q[0] + z * q[1], r * q[3] + x * q[2] - y * q[1] + z * q[0]};
    double length = sqrt((turned[0] * turned[0] + turned[1] * turned[1]) +
                         (turned[2] * turned[2] + turned[3] * turned[3]));
    for (int i = 0; i < 4; ++i) {
        state->quaternion[i] = turned[i] / length;
    }
    for (int a = 0; a < AXES; ++a) {
        state->place[a] += dt * state->velocity[a];
    }
}

// --- mass of a shape -----------------------------------------------------------------------------

typedef struct moments {
    double volume;
    vec3 first;
    mat3 second; // of x x^T
} moments;

static void add_sample(moments* m, vec3 x, double volume) {
    m->volume += volume;
    m->first = vec3_add_scaled(m->first, volume, x);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            m->second.at[i][j] += volume * x.at[i] * x.at[j];
        }
    }
}

// Samples in the middles of small cubes; those that the surface cuts count in part.
static moments sum_samples(const shape* s, const box3* box, const int count[3], double side) {
    moments m = {0};
    double thickness = side;
    for (int k = 0; k < count[2]; ++k) {
        for (int j = 0; j < count[1]; ++j) {
            for (int i = 0; i < count[0]; ++i) {
                vec3 x =
                    vec3_make(box->low.at[0] + (i + 0.5) * side, box->low.at[1] + (j + 0.5) * side,
                              box->low.at[2] + (k + 0.5) * side);
                double fraction = 0.5 - shape_distance(s, x) / thickness;
                if (fraction > 0.0) {
                    add_sample(&m, x, side * side * side * fmin(fraction, 1.0));
                }
            }
        }
    }
    return m;
}

// Moments of inertia about the centre, per unit of density.
static mat3 inertia_of(const moments* m, vec3 centre) {
    mat3 out;
    double trace = 0.0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out.at[i][j] = -(m->second.at[i][j] - m->volume * centre.at[i] * centre.at[j]);
        }
        trace -= out.at[i][i];
    }
    for (int i = 0; i < 3; ++i) {
        out.at[i][i] += trace;
    }
    return out;
}

bool body_measure(const shape* s, double density, const grid_domain* domain, body_mass* mass,
                  vec3* centre) {
    TREACLE_ASSERT(density > 0.0 && domain->h > 0.0);
    TREACLE_ASSERT(mass != NULL && centre != NULL);
    box3 box = shape_bounds(s);
    double longest = 0.0;
    for (int a = 0; a < AXES; ++a) {
        if (!domain->is_active[a]) {
            box.low.at[a] = domain->origin[a];
            box.high.at[a] = domain->origin[a] + domain->h;
        } else {
            longest = fmax(longest, box.high.at[a] - box.low.at[a]);
        }
    }
    if (box3_is_empty(box) || !vec3_is_finite(box.low) || !vec3_is_finite(box.high) ||
        !(longest > 0.0)) {
        return false;
    }
    double side = longest / SAMPLES, scale = 1.0;
    int count[AXES];
    for (int a = 0; a < AXES; ++a) {
        double length = box.high.at[a] - box.low.at[a];
        count[a] = domain->is_active[a] ? (int)ceil(length / side - 1e-9) : 1;
        double middle = 0.5 * (box.low.at[a] + box.high.at[a]);
        box.low.at[a] = middle - 0.5 * count[a] * side;
        scale *= domain->is_active[a] ? 1.0 : domain->h / side;
    }
    moments m = sum_samples(s, &box, count, side);
    if (!(m.volume > 0.0)) {
        return false;
    }
    *centre = vec3_scale(1.0 / m.volume, m.first);
    mass->volume = m.volume * scale;
    mass->mass = density * mass->volume;
    mass->inertia = inertia_of(&m, *centre);
    for (int i = 0; i < 9; ++i) {
        mass->inertia.at[i / 3][i % 3] *= density * scale;
    }
    return true;
}

mat3 body_world_inertia(const body_mass* mass, const mat3* rotate) {
    mat3 turned = mat3_multiply(rotate, &mass->inertia), back = mat3_transpose(rotate);
    return mat3_multiply(&turned, &back);
}

double body_energy(const body_mass* mass, const body_state* state) {
    TREACLE_ASSERT(mass->mass > 0.0);
    solid_pose pose = body_pose(state);
    mat3 inertia = body_world_inertia(mass, &pose.rotate);
    vec3 v = vec3_from(state->velocity), spin = vec3_from(state->spin);
    return 0.5 * (mass->mass * vec3_dot(v, v) + vec3_dot(spin, mat3_apply(&inertia, spin)));
}

// --- rows and mass on the grid -------------------------------------------------------------------

// The tiles that a body may touch, one after the other, and the cells of each.
typedef struct tile_range {
    int low[AXES], high[AXES]; // tiles, both inclusive
} tile_range;

static tile_range tiles_near(const body_faces* faces, const body_on_grid* body) {
    tile_range out;
    const grid_domain* domain = faces->domain;
    for (int a = 0; a < AXES; ++a) {
        double middle = (body->place.at[a] - domain->origin[a]) / domain->h;
        double reach = body->radius / domain->h + 2.0;
        double last = domain->cells[a] / TILE_SIZE;
        bool is_flat = faces->map->is_flat[a];
        double low = floor((middle - reach) / TILE_SIZE),
               high = floor((middle + reach) / TILE_SIZE);
        out.low[a] = is_flat ? 0 : (int)fmin(fmax(low, 0.0), last + 1.0); // far away: none
        out.high[a] = is_flat ? 0 : (int)fmax(fmin(high, last), -1.0);
    }
    return out;
}

static double fraction_of(const float* fraction, const body_faces* faces, int axis, int64_t slot,
                          int id) {
    return faces->id[axis][slot] == id ? (double)fraction[slot] : 0.0;
}

static double closed_by(const body_faces* faces, int axis, int64_t slot, int id) {
    return fraction_of(faces->closed[axis], faces, axis, slot, id);
}

// Arm of a cell's middle, in cells; zero along a flat axis.
static vec3 arm_of(const body_faces* faces, const body_on_grid* body, tile_ix t, int q) {
    int at[AXES];
    vec3 arm;
    tile_cell_at(faces->map, t, q, at);
    for (int a = 0; a < AXES; ++a) {
        double middle = (body->place.at[a] - faces->domain->origin[a]) / faces->domain->h;
        arm.at[a] = faces->domain->is_active[a] ? at[a] + 0.5 - middle : 0.0;
    }
    return arm;
}

// to += scale w_a(arm) [rigid.1].
static void add_direction(double* to, double scale, int axis, vec3 arm) {
    int b = (axis + 1) % AXES, c = (axis + 2) % AXES;
    to[axis] += scale;
    to[AXES + b] += scale * arm.at[c];
    to[AXES + c] -= scale * arm.at[b];
}

// The row of a cell; false if it is zero.
static bool make_row(const body_faces* faces, const body_on_grid* body, tile_ix t, int q,
                     double row[BODY_MOTIONS]) {
    bool is_any = false;
    double difference[AXES];
    for (int a = 0; a < AXES; ++a) {
        difference[a] = 0.0;
        if (faces->domain->is_active[a]) {
            int64_t below = (int64_t)t * TILE_CELLS + q,
                    above = tile_slot_above(faces->map, t, q, a);
            difference[a] =
                closed_by(faces, a, above, body->id) - closed_by(faces, a, below, body->id);
        }
        is_any = is_any || difference[a] != 0.0;
    }
    if (is_any) {
        vec3 arm = arm_of(faces, body, t, q);
        memset(row, 0, BODY_MOTIONS * sizeof(double));
        for (int a = 0; a < AXES; ++a) {
            add_direction(row, difference[a], a, arm);
        }
    }
    return is_any;
}

static int compare_tiles(const void* a, const void* b) {
    tile_ix x = *(const tile_ix*)a, y = *(const tile_ix*)b;
    return (x > y) - (x < y);
}

// Tiles near the body in the order of the map.
enum { TILES_MAX = 32768 };
static int rigid_body_list_tiles(const body_faces* faces, const body_on_grid* body, tile_ix* out) {
    tile_range range = tiles_near(faces, body);
    int count = 0;
    for (int z = range.low[2]; z <= range.high[2]; ++z) {
        for (int y = range.low[1]; y <= range.high[1]; ++y) {
            for (int x = range.low[0]; x <= range.high[0]; ++x) {
                tile_ix t = tile_map_find(faces->map, (tile_coord){{x, y, z}});
                if (t < faces->map->count && count < TILES_MAX) {
                    out[count++] = t;
                }
            }
        }
    }
    sort_items(out, (size_t)count, sizeof(*out), compare_tiles);
    return count;
}

// Whether cell q of a tile counts: of a flat tile only one layer does.
static bool is_in_layers(const tile_map* map, int q) {
    bool is_in = true;
    for (int a = 0; a < AXES; ++a) {
        is_in = is_in && (q >> 3 * a & 7) < tile_layers(map, a);
    }
    return is_in;
}

int64_t body_make_rows(const body_faces* faces, const body_on_grid* body, int64_t room,
                       int64_t* slot, double (*row)[BODY_MOTIONS]) {
    TREACLE_ASSERT(room >= 0 && ((slot == NULL) == (row == NULL)));
    TREACLE_ASSERT(body->id >= 0 && body->radius > 0.0);
    tile_ix tiles[TILES_MAX];
    int64_t count = 0;
    int tile_count = rigid_body_list_tiles(faces, body, tiles);
    for (int n = 0; n < tile_count; ++n) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            double found[BODY_MOTIONS];
            if (!is_in_layers(faces->map, q) || !make_row(faces, body, tiles[n], q, found)) {
                continue;
            }
            if (slot != NULL && count < room) {
                slot[count] = (int64_t)tiles[n] * TILE_CELLS + q;
                memcpy(row[count], found, sizeof(found));
            }
            count += 1;
        }
    }
    return count;
}

// Whether the cells on both sides of a face are dry.
static bool is_dry(const body_faces* faces, tile_ix t, int q, int axis) {
    if (faces->cell_phi == NULL) {
        return false;
    }
    int64_t below = tile_slot_below(faces->map, t, q, axis);
    return !(faces->cell_phi[(int64_t)t * TILE_CELLS + q] < 0.0f) &&
           !(faces->cell_phi[below] < 0.0f);
}

// Liquid beside a closed side of the domain is at rest with the side.
static bool is_on_side(const body_faces* faces, tile_ix t, int q, int axis) {
    const grid_domain* domain = faces->domain;
    int at[AXES];
    tile_cell_at(faces->map, t, q, at);
    int end = at[axis] == 0 ? 0 : 1;
    return !domain->is_periodic[axis] && (at[axis] == 0 || at[axis] == domain->cells[axis]) &&
           domain->sides[axis][end] != TREACLE_SIDE_OPEN;
}

static double liquid_density(const body_faces* faces, int axis, int64_t slot) {
    const float* rho = faces->rho[axis];
    return rho != NULL && rho[slot] > 0.0f && isfinite(rho[slot]) ? (double)rho[slot] : 1.0;
}

// Whether all that moves has a mass in every motion of the matrix, by Cholesky's decomposition;
// motions without a diagonal do not count.
static bool is_positive(const double m[BODY_MOTIONS][BODY_MOTIONS]) {
    double l[BODY_MOTIONS][BODY_MOTIONS] = {{0}};
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        for (int j = 0; j <= i; ++j) {
            double rest = m[i][j];
            for (int k = 0; k < j; ++k) {
                rest -= l[i][k] * l[j][k];
            }
            if (i == j && !(rest > 0.0) && m[i][i] != 0.0) {
                return false;
            }
            l[i][j] = i == j ? sqrt(fmax(rest, 0.0)) : l[j][j] > 0.0 ? rest / l[j][j] : 0.0;
        }
    }
    return true;
}

typedef double mat6[BODY_MOTIONS][BODY_MOTIONS];

// Sums over faces: rho_body B w w^T, and all of [rigid.3]. Returns the volume in full cells.
static double sum_faces(const body_faces* faces, const body_on_grid* body, mat6 closed,
                        mat6 whole) {
    tile_ix tiles[TILES_MAX];
    int tile_count = rigid_body_list_tiles(faces, body, tiles), axes = 0;
    double density = body->density / faces->reference_density, volume = 0.0;
    memset(closed, 0, sizeof(mat6));
    memset(whole, 0, sizeof(mat6));
    for (int a = 0; a < AXES; ++a) {
        axes += faces->domain->is_active[a] ? 1 : 0;
        for (int64_t n = 0; n < (int64_t)tile_count * TILE_CELLS; ++n) {
            int q = (int)(n % TILE_CELLS);
            tile_ix t = tiles[n / TILE_CELLS];
            int64_t slot = (int64_t)t * TILE_CELLS + q;
            double covered = closed_by(faces, a, slot, body->id);
            double fill = fraction_of(faces->fill[a], faces, a, slot, body->id);
            if (!(covered + fill > 0.0) || !faces->domain->is_active[a] ||
                !is_in_layers(faces->map, q)) {
                continue;
            }
            double w[BODY_MOTIONS] = {0};
            add_direction(w, 1.0, a, arm_of(faces, body, t, q));
            volume += fill;
            bool has_none = is_on_side(faces, t, q, a) || is_dry(faces, t, q, a);
            double liquid = has_none ? 0.0 : liquid_density(faces, a, slot);
            double mass = density * fill + liquid * (covered - fill);
            for (int i = 0; i < BODY_MOTIONS * BODY_MOTIONS; ++i) {
                int r = i / BODY_MOTIONS, c = i % BODY_MOTIONS;
                closed[r][c] += density * covered * w[r] * w[c];
                whole[r][c] += mass * w[r] * w[c];
            }
        }
    }
    return volume / axes;
}

double body_grid_mass(const body_faces* faces, const body_on_grid* body,
                      double mass[BODY_MOTIONS][BODY_MOTIONS]) {
    TREACLE_ASSERT(faces->reference_density > 0.0 && body->density > 0.0);
    TREACLE_ASSERT(body->id >= 0 && body->radius > 0.0);
    mat6 closed, rest;
    double volume = sum_faces(faces, body, closed, mass);
    for (int i = 0; i < BODY_MOTIONS * BODY_MOTIONS; ++i) {
        int r = i / BODY_MOTIONS, c = i % BODY_MOTIONS;
        rest[r][c] = mass[r][c] - 0.5 * closed[r][c];
    }
    if (!is_positive((const double(*)[BODY_MOTIONS])rest)) {
        memcpy(mass, closed, sizeof(closed));
    }
    return volume;
}

void body_own_mass(const body_mass* own, const mat3* rotate, const body_faces* faces,
                   double mass[BODY_MOTIONS][BODY_MOTIONS]) {
    TREACLE_ASSERT(own->mass > 0.0);
    TREACLE_ASSERT(faces->reference_density > 0.0);
    double h = faces->domain->h, unit = faces->reference_density * h * h * h;
    mat3 inertia = body_world_inertia(own, rotate);
    memset(mass, 0, BODY_MOTIONS * BODY_MOTIONS * sizeof(double));
    for (int i = 0; i < AXES; ++i) {
        mass[i][i] = own->mass / unit;
        for (int j = 0; j < AXES; ++j) {
            mass[AXES + i][AXES + j] = inertia.at[i][j] / (unit * h * h);
        }
    }
}
