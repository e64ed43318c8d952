// Stress at walls that lie across the grid [BB08 sec. 5.2].
//
// No-slip. Faces with their middle in the solid move as it does. Between one of them and a face in
// the liquid the wall is at the fraction theta of the way from the liquid, theta = phi / (phi -
// phi_solid) with phi the distance to the solid. Both values are a cell apart in the difference,
// but the velocity changes over theta cells: its square is 1/theta^2 as large on theta of the
// volume. So every weight of stress is multiplied by the mean, over those of its pairs of faces
// that have exactly one behind the wall, of                                              [visc.4]
//
//     1 / theta,   theta >= 0.2
//
// A cell has a pair for each axis, an edge two. Liquid goes on behind the wall in the fractions.
//
// Slip. The solid's volume carries no stress: weights are multiplied with the fraction of their box
// that is open. Faces behind the wall have no mass, nothing flows through them, and they move as
// the stress lets them: so nothing holds the liquid along the wall, and the divergence keeps it
// out.
//
// Slip length b. As slip, and the wall drags: with wall area S in the box of a face, whose middle
// is d >= 0 away from the wall,                                                          [visc.5]
//
//     energy  dt/2 mu S / (b + d) |u - u_solid|^2
//
// where u - u_solid is along the wall since nothing crosses it.
//
// Shares and areas are those of a plane with the distance and normal at the middle of the box.
// Staggering: cells and edges for weights, faces for drag. Symbols: phi, normal, theta.
#include "phys/slip_stress.h"

#include <math.h>

enum { SIDE = BLOCK_SIDE(1, 1) };
static const int step_of[AXES] = {1, SIDE, SIDE* SIDE};
static const double theta_least = 0.2;
// Components of a normal below this are taken as this: the formula divides by them.
static const double slope_least = 1e-3;

static double positive_cube(double x) {
    return x > 0.0 ? x * x * x : 0.0;
}

static double positive_square(double x) {
    return x > 0.0 ? x * x : 0.0;
}

double slip_box_fraction(const double normal[AXES], double distance, double* area) {
    TREACLE_ASSERT(area != NULL && !isnan(distance));
    double m[AXES], sum = 0.0, volume = 0.0, square = 0.0;
    for (int a = 0; a < AXES; ++a) {
        m[a] = fmax(fabs(normal[a]), slope_least);
        sum += m[a];
    }
    double at = distance + 0.5 * sum; // of the plane, from the corner that is deepest in the solid
    *area = 0.0;
    if (at <= 0.0 || at >= sum) {
        return at <= 0.0 ? 0.0 : 1.0;
    }
    for (int corner = 0; corner < 8; ++corner) {
        double beyond = at, sign = 1.0;
        for (int a = 0; a < AXES; ++a) {
            beyond -= (corner >> a & 1) != 0 ? m[a] : 0.0;
            sign = (corner >> a & 1) != 0 ? -sign : sign;
        }
        volume += sign * positive_cube(beyond);
        square += sign * positive_square(beyond);
    }
    double product = m[0] * m[1] * m[2];
    *area = fmax(square / (2.0 * product), 0.0);
    return fmin(fmax(volume / (6.0 * product), 0.0), 1.0);
}

// The distance at face a of the cell at `at`, and at the edge along c.
static double face_phi(const float* phi, int at, int a) {
    return 0.5 * ((double)phi[at] + (double)phi[at - step_of[a]]);
}

static double edge_phi(const float* phi, int at, int c) {
    int a = step_of[(c + 1) % AXES], b = step_of[(c + 2) % AXES];
    return 0.25 * (((double)phi[at] + (double)phi[at - a - b]) +
                   ((double)phi[at - a] + (double)phi[at - b]));
}

static double steepness(double one, double other) {
    double outside = fmax(one, other), inside = fmin(one, other);
    return 1.0 / fmax(outside / (outside - inside), theta_least); // [visc.4]
}

// Adds what a pair of faces says.
static void add_pair(double one, double other, double* sum, int* count) {
    if ((one < 0.0) != (other < 0.0)) {
        *sum += steepness(one, other);
        *count += 1;
    }
}

double slip_steepness(const slip_block* block, int one, int other, int a) {
    TREACLE_ASSERT(a >= 0 && a < AXES);
    TREACLE_ASSERT(one >= 0 && one < BLOCK_VALUES(1, 1) && other >= 0 &&
                   other < BLOCK_VALUES(1, 1));
    double here = face_phi(block->phi, one, a), there = face_phi(block->phi, other, a);
    return (here < 0.0) != (there < 0.0) ? steepness(here, there) : 1.0;
}

bool slip_sticks(const slip_kind* kind) {
    // A slip length of nothing is no slip: the drag would be without bound.
    return kind->slip == TREACLE_WALL_NO_SLIP ||
           (kind->slip == TREACLE_WALL_SLIP_LENGTH && kind->slip_length < 1e-3);
}

static double cell_factor(const float* phi, int at, const grid_domain* domain) {
    double sum = 0.0;
    int count = 0;
    for (int a = 0; a < AXES; ++a) {
        if (domain->is_active[a]) {
            add_pair(face_phi(phi, at, a), face_phi(phi, at + step_of[a], a), &sum, &count);
        }
    }
    return count > 0 ? sum / count : 1.0;
}

static double edge_factor(const float* phi, int at, int c) {
    double sum = 0.0;
    int count = 0, a = (c + 1) % AXES, b = (c + 2) % AXES;
    add_pair(face_phi(phi, at, a), face_phi(phi, at - step_of[b], a), &sum, &count);
    add_pair(face_phi(phi, at, b), face_phi(phi, at - step_of[a], b), &sum, &count);
    return count > 0 ? sum / count : 1.0;
}

static void find_normal(const float* phi, int at, double normal[AXES]) {
    double square = 0.0;
    for (int a = 0; a < AXES; ++a) {
        normal[a] = 0.5 * ((double)phi[at + step_of[a]] - (double)phi[at - step_of[a]]);
        square += normal[a] * normal[a];
    }
    double inverse = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
    for (int a = 0; a < AXES; ++a) {
        normal[a] *= inverse;
    }
}

static void stick(const float* phi, int at, const grid_domain* domain, slip_effect* out) {
    out->cell = cell_factor(phi, at, domain);
    for (int a = 0; a < AXES; ++a) {
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        bool is_edge = domain->is_active[b] && domain->is_active[c];
        out->edge[a] = is_edge ? edge_factor(phi, at, a) : 1.0;
        out->is_behind[a] = face_phi(phi, at, a) < 0.0;
    }
}

static void slide(const float* phi, int at, const slip_kind* kind, slip_effect* out) {
    double normal[AXES], area;
    find_normal(phi, at, normal);
    out->is_free = true;
    out->cell = slip_box_fraction(normal, (double)phi[at], &area);
    for (int a = 0; a < AXES; ++a) {
        double distance = face_phi(phi, at, a);
        out->edge[a] = slip_box_fraction(normal, edge_phi(phi, at, a), &area);
        slip_box_fraction(normal, distance, &area);
        bool has_drag = kind->slip == TREACLE_WALL_SLIP_LENGTH;
        out->drag[a] = has_drag ? area / (kind->slip_length + fmax(distance, 0.0)) : 0.0;
    }
}

slip_effect slip_let_go(void) {
    return (slip_effect){.cell = 1.0, .edge = {1.0, 1.0, 1.0}, .is_free = true};
}

slip_effect slip_stress(const slip_block* block, int at, const grid_domain* domain,
                        const slip_kind* kind) {
    TREACLE_ASSERT(at >= 0 && at < BLOCK_VALUES(1, 1));
    TREACLE_ASSERT(kind->slip_length >= 0.0);
    slip_effect out = {.cell = 1.0, .edge = {1.0, 1.0, 1.0}};
    if (slip_sticks(kind)) {
        stick(block->phi, at, domain, &out);
    } else {
        slide(block->phi, at, kind, &out);
    }
    return out;
}
