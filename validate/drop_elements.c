// Axisymmetric, incompressible, no surface tension; s = (r, z), u = (u_r, u_z):
//
//     du/dt = div(2 nu D) - grad p - g e_z,   div u = 0,   no stress on the surface
//     u = 0 on what has touched the floor, from then on
//
// Quadrilaterals with 9 nodes for velocity and a discontinuous linear pressure, which is eliminated
// by a penalty: p = -lambda div u in the mean over the element against 1, r, z. Backward Euler for
// velocity, on the mesh in the middle of the step; then nodes move with the velocity of its end, so
// that volume is kept to second order. A node that would sink into the floor ends the step on it,
// and stays there.
//
// The half disk is a square, blended between its sides: axis and three arcs of the rim. The
// corners between arcs are flat, and must not come to lie on the floor: they are in the upper half.
#include "drop_elements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
    double s[2], u[2];
    double middle[2]; // where it is in the middle of the step
    bool is_stuck, lands;
} node;

typedef struct mesh {
    const drop_elements_def* def;
    int elements[2], nodes[2];
    int count;
    int band; // of the matrix, below its diagonal
    node* at;
    double* matrix; // row by row: band entries before the diagonal, then the diagonal
    double* load;   // and velocities, when it is solved
} mesh;

enum { NODES = 9, DOFS = 2 * NODES, PRESSURES = 3 };

// Of an element, or of one point in it.
typedef struct element {
    int node[NODES];
    double stiffness[DOFS][DOFS], load[DOFS];
    double divergence[DOFS][PRESSURES], mass[PRESSURES][PRESSURES];
} element;

typedef struct point {
    double weight; // with the determinant and r
    double r, z;
    double value[NODES], slope[NODES][2]; // by r and z
} point;

// The quadratic polynomials that are 1 at -1, 0, 1, and their slopes.
static void line_shape(double x, double value[3], double slope[3]) {
    value[0] = 0.5 * x * (x - 1.0);
    value[1] = 1.0 - x * x;
    value[2] = 0.5 * x * (x + 1.0);
    slope[0] = x - 0.5;
    slope[1] = -2.0 * x;
    slope[2] = x + 0.5;
}

// False if the element is inside out there. `which` counts Gauss points along both sides.
static bool find_point(const mesh* m, const element* e, int which, point* out) {
    static const double place[3] = {-0.7745966692414834, 0.0, 0.7745966692414834};
    static const double weight[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    double a[3], da[3], b[3], db[3], across[NODES], up[NODES];
    double j[2][2] = {{0.0}};
    line_shape(place[which % 3], a, da);
    line_shape(place[which / 3], b, db);
    *out = (point){.weight = weight[which % 3] * weight[which / 3]};
    for (int k = 0; k < NODES; ++k) {
        const double* s = m->at[e->node[k]].middle;
        out->value[k] = a[k % 3] * b[k / 3];
        across[k] = da[k % 3] * b[k / 3];
        up[k] = a[k % 3] * db[k / 3];
        out->r += out->value[k] * s[0];
        out->z += out->value[k] * s[1];
        for (int c = 0; c < 2; ++c) {
            j[0][c] += across[k] * s[c];
            j[1][c] += up[k] * s[c];
        }
    }
    double det = j[0][0] * j[1][1] - j[0][1] * j[1][0];
    for (int k = 0; k < NODES; ++k) {
        out->slope[k][0] = (j[1][1] * across[k] - j[0][1] * up[k]) / det;
        out->slope[k][1] = (j[0][0] * up[k] - j[1][0] * across[k]) / det;
    }
    out->weight *= det * out->r;
    return det > 0.0;
}

static void add_point(const mesh* m, const point* p, double dt, element* e) {
    const double *centre = m->at[e->node[NODES / 2]].middle, nu = m->def->viscosity;
    const double pressure[PRESSURES] = {1.0, p->r - centre[0], p->z - centre[1]};
    double u[2] = {0.0, -m->def->gravity * dt};
    for (int k = 0; k < NODES; ++k) {
        u[0] += p->value[k] * m->at[e->node[k]].u[0];
        u[1] += p->value[k] * m->at[e->node[k]].u[1];
    }
    for (int k = 0; k < NODES; ++k) {
        double hoop = p->value[k] / p->r;
        for (int q = 0; q < PRESSURES; ++q) {
            e->divergence[2 * k][q] += p->weight * pressure[q] * (p->slope[k][0] + hoop);
            e->divergence[2 * k + 1][q] += p->weight * pressure[q] * p->slope[k][1];
        }
        for (int c = 0; c < 2; ++c) {
            e->load[2 * k + c] += p->weight * p->value[k] * u[c] / dt;
        }
        for (int l = 0; l < NODES; ++l) {
            const double *dk = p->slope[k], *dl = p->slope[l];
            double both = p->value[k] * p->value[l] / dt + nu * (dk[0] * dl[0] + dk[1] * dl[1]);
            double hoops = 2.0 * nu * hoop * p->value[l] / p->r;
            for (int c = 0; c < 2; ++c) {
                for (int d = 0; d < 2; ++d) {
                    double entry = nu * dk[d] * dl[c] + (c == d ? both : 0.0);
                    entry += c == 0 && d == 0 ? hoops : 0.0;
                    e->stiffness[2 * k + c][2 * l + d] += p->weight * entry;
                }
            }
        }
    }
    for (int q = 0; q < PRESSURES; ++q) {
        for (int o = 0; o < PRESSURES; ++o) {
            e->mass[q][o] += p->weight * pressure[q] * pressure[o];
        }
    }
}

static void invert(double m[PRESSURES][PRESSURES], double out[PRESSURES][PRESSURES]) {
    double det = 0.0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            out[j][i] = m[i1][j1] * m[i2][j2] - m[i1][j2] * m[i2][j1];
        }
    }
    for (int j = 0; j < 3; ++j) {
        det += m[0][j] * out[j][0];
    }
    for (int i = 0; i < 9; ++i) {
        out[i / 3][i % 3] /= det;
    }
}

// Into the matrix of all, with the pressure as a penalty.
static void scatter(mesh* m, element* e) {
    const double lambda = 1e5 * m->def->viscosity;
    double inverse[PRESSURES][PRESSURES];
    invert(e->mass, inverse);
    for (int k = 0; k < DOFS; ++k) {
        int row = 2 * e->node[k / 2] + k % 2;
        double pressure[PRESSURES] = {0.0};
        for (int i = 0; i < PRESSURES * PRESSURES; ++i) {
            pressure[i % 3] += lambda * e->divergence[k][i / 3] * inverse[i / 3][i % 3];
        }
        m->load[row] += e->load[k];
        for (int l = 0; l < DOFS; ++l) {
            int column = 2 * e->node[l / 2] + l % 2;
            double entry = e->stiffness[k][l];
            for (int q = 0; q < PRESSURES; ++q) {
                entry += pressure[q] * e->divergence[l][q];
            }
            if (column <= row) {
                m->matrix[(int64_t)row * (m->band + 1) + column - row + m->band] += entry;
            }
        }
    }
}

static void hold(mesh* m, int row, double value) {
    const double stiff = 1e14;
    m->matrix[(int64_t)row * (m->band + 1) + m->band] += stiff;
    m->load[row] += stiff * value;
}

static treacle_status assemble(mesh* m, double dt) {
    memset(m->matrix, 0, (size_t)(2 * m->count) * (size_t)(m->band + 1) * sizeof(double));
    memset(m->load, 0, (size_t)(2 * m->count) * sizeof(double));
    for (int i = 0; i < m->elements[0] * m->elements[1]; ++i) {
        element e = {.load = {0.0}};
        point p;
        for (int k = 0; k < NODES; ++k) {
            e.node[k] =
                (2 * (i / m->elements[0]) + k / 3) * m->nodes[0] + 2 * (i % m->elements[0]) + k % 3;
        }
        for (int g = 0; g < 9; ++g) {
            if (!find_point(m, &e, g, &p)) {
                return TREACLE_ERR_INTERNAL;
            }
            add_point(m, &p, dt, &e);
        }
        scatter(m, &e);
    }
    for (int i = 0; i < m->count; ++i) {
        const node* n = &m->at[i];
        if (n->is_stuck || i % m->nodes[0] == 0) {
            hold(m, 2 * i, 0.0);
        }
        if (n->is_stuck || n->lands) {
            hold(m, 2 * i + 1, -n->s[1] / dt);
        }
    }
    return TREACLE_OK;
}

// Cholesky's factor in the place of the matrix, the solution in that of the load.
static void solve(mesh* m) {
    const int size = 2 * m->count, band = m->band;
    for (int i = 0; i < size; ++i) {
        double* row = m->matrix + (int64_t)i * (band + 1) + band; // its diagonal
        int first = i > band ? i - band : 0;
        for (int j = first; j <= i; ++j) {
            const double* other = m->matrix + (int64_t)j * (band + 1) + band;
            double sum = row[j - i];
            for (int k = first; k < j; ++k) {
                sum -= row[k - i] * other[k - j];
            }
            row[j - i] = j < i ? sum / other[0] : sqrt(sum);
        }
        for (int j = first; j < i; ++j) {
            m->load[i] -= row[j - i] * m->load[j];
        }
        m->load[i] /= row[0];
    }
    for (int i = size - 1; i >= 0; --i) {
        const double* row = m->matrix + (int64_t)i * (band + 1) + band;
        m->load[i] /= row[0];
        for (int j = i > band ? i - band : 0; j < i; ++j) {
            m->load[j] -= row[j - i] * m->load[i];
        }
    }
}

// Nodes that would be below the floor after the step. True if there are new ones.
static bool find_landing(mesh* m, double dt) {
    bool is_any = false;
    for (int i = 0; i < m->count; ++i) {
        node* n = &m->at[i];
        if (!n->is_stuck && !n->lands && n->s[1] + dt * m->load[2 * i + 1] < 0.0) {
            n->lands = is_any = true;
        }
    }
    return is_any;
}

static treacle_status step(mesh* m, double dt) {
    for (int i = 0; i < m->count; ++i) {
        node* n = &m->at[i];
        n->lands = false;
        n->middle[0] = n->s[0] + 0.5 * dt * n->u[0];
        n->middle[1] = fmax(n->s[1] + 0.5 * dt * n->u[1], 0.0);
    }
    do {
        treacle_status status = assemble(m, dt);
        if (status != TREACLE_OK) {
            return status;
        }
        solve(m);
    } while (find_landing(m, dt));
    for (int i = 0; i < m->count; ++i) {
        node* n = &m->at[i];
        for (int c = 0; c < 2; ++c) {
            n->u[c] = m->load[2 * i + c];
            n->s[c] += dt * n->u[c];
        }
        if (n->is_stuck || n->lands) {
            n->is_stuck = true;
            n->s[1] = n->u[0] = n->u[1] = 0.0;
        }
    }
    return TREACLE_OK;
}

// The rim at an angle from its lowest point.
static void rim(double angle, double out[2]) {
    out[0] = 0.5 * sin(angle);
    out[1] = 0.5 - 0.5 * cos(angle);
}

static void place(double x, double y, double out[2]) {
    const double low = 1.85, high = 2.55, pi = acos(-1.0); // angles of the corners
    double bottom[2], right[2], top[2], corner[2][2];
    rim(x * low, bottom);
    rim(low + y * (high - low), right);
    rim(pi - x * (pi - high), top);
    rim(low, corner[0]);
    rim(high, corner[1]);
    const double left[2] = {0.0, y}, axis[2][2] = {{0.0, 0.0}, {0.0, 1.0}};
    for (int c = 0; c < 2; ++c) {
        double sides = (1.0 - x) * left[c] + x * right[c] + (1.0 - y) * bottom[c] + y * top[c];
        double corners = (1.0 - y) * ((1.0 - x) * axis[0][c] + x * corner[0][c]) +
                         y * ((1.0 - x) * axis[1][c] + x * corner[1][c]);
        out[c] = sides - corners;
    }
}

static void place_nodes(mesh* m, double speed) {
    for (int i = 0; i < m->count; ++i) {
        m->at[i] = (node){.u = {0.0, -speed}};
        place((double)(i % m->nodes[0]) / (m->nodes[0] - 1),
              (double)(i / m->nodes[0]) / (m->nodes[1] - 1), m->at[i].s);
    }
    m->at[0] = (node){.is_stuck = true};
}

static double width_of(const mesh* m) {
    double widest = 0.0;
    for (int i = 0; i < m->count; ++i) {
        widest = fmax(widest, 2.0 * m->at[i].s[0]);
    }
    return widest;
}

treacle_status drop_elements_widths(const drop_elements_def* def, int count, const double* times,
                                    double* widths) {
    mesh m = {.def = def, .elements = {def->elements, 2 * def->elements}};
    m.nodes[0] = 2 * m.elements[0] + 1;
    m.nodes[1] = 2 * m.elements[1] + 1;
    m.count = m.nodes[0] * m.nodes[1];
    m.band = 2 * (2 * m.nodes[0] + 3);
    m.at = calloc((size_t)m.count, sizeof(*m.at));
    m.load = calloc(2 * (size_t)m.count, sizeof(*m.load));
    m.matrix = calloc(2 * (size_t)m.count * (size_t)(m.band + 1), sizeof(*m.matrix));
    bool is_there = m.at != NULL && m.load != NULL && m.matrix != NULL;
    treacle_status status = is_there ? TREACLE_OK : TREACLE_ERR_MEMORY;
    double speed = sqrt(1.0 + 2.0 * def->gravity * def->fall);
    double now = 2.0 * def->fall / (1.0 + speed);
    if (status == TREACLE_OK) {
        place_nodes(&m, speed);
    }
    for (int k = 0; k < count && status == TREACLE_OK; ++k) {
        while (status == TREACLE_OK && times[k] - now > 1e-9) {
            double dt = fmin(def->dt, times[k] - now);
            status = step(&m, dt);
            now += dt;
        }
        widths[k] = width_of(&m);
    }
    free(m.matrix);
    free(m.load);
    free(m.at);
    return status;
}
