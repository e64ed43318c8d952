// Angular momentum from particles to faces and back, nothing moving: SUITE case 13.
//
// APIC keeps it, to rounding: 1e-12 for the kernels of a tile instantiated in double, 1e-6 for the
// product's own transfer in float. A second transfer begins with what the first one brought back,
// so what its faces have, over what those of the first had, is what a transfer keeps.
//
// PIC loses it: of a rigidly turning disc of radius R by (2/3) (h/R)^2 a transfer, to leading
// order (the second moments h^2/6 of the linear kernel along two axes, of R^2/2). SUITE 13 has
// measured 0.69 % at R/h = 9.6 and 0.175 % at 19.2; reproduced within 10 %.
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "treacle/unstable/stages.h"

enum { TRANSFERS = 4 };

static const char* const kernel_names[] = {"linear", "quadratic", "wide"};

// --- in double: a ball in one tile ---------------------------------------------------------------

enum { CLOUD = 400 };

typedef struct ball {
    double position[CLOUD][3], velocity[3][CLOUD], affine[3][CLOUD][3];
} ball;

// A repeatable number in [0, 1).
static double noise(uint64_t i) {
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i ^= i >> 31;
    i *= 0xbf58476d1ce4e5b9u;
    i ^= i >> 29;
    return (double)(i >> 11) * 0x1p-53;
}

static const double spin[3] = {0.3, -0.8, 1.1}; // rad/s
static const double middle[3] = {4.1, 3.9, 4.0};
static const double radius = 3.5;

// Points at random in the ball that turns about its middle.
static void fill_ball(ball* out) {
    uint64_t next = 0;
    for (int i = 0; i < CLOUD;) {
        double d[3], square = 0.0;
        for (int a = 0; a < 3; ++a) {
            d[a] = radius * (2.0 * noise(next++) - 1.0);
            square += d[a] * d[a];
        }
        if (square > radius * radius) {
            continue;
        }
        for (int a = 0; a < 3; ++a) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            out->position[i][a] = middle[a] + d[a];
            out->velocity[a][i] = spin[b] * d[c] - spin[c] * d[b];
            out->affine[a][i][a] = 0.0;
            out->affine[a][i][b] = -spin[c];
            out->affine[a][i][c] = spin[b];
        }
        ++i;
    }
}

// The component along the spin, of angular momentum about the middle.
static double along_spin(const treacle_stages_totals* sum, const double centre[3],
                         const double axis[3]) {
    double out = 0.0;
    for (int a = 0; a < 3; ++a) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        double own =
            sum->angular[a] - (centre[b] * sum->momentum[c] - centre[c] * sum->momentum[b]);
        out += own * axis[a];
    }
    return out;
}

// The largest relative change over TRANSFERS transfers.
static treacle_status drift_in_double(validate* v, treacle_kernel kernel, bool is_affine,
                                      double* out) {
    ball* b = malloc(sizeof(*b));
    if (b == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    fill_ball(b);
    treacle_stages_cloud cloud = {.kernel = kernel,
                                  .is_affine = is_affine,
                                  .count = CLOUD,
                                  .position = b->position[0],
                                  .velocity = b->velocity[0],
                                  .affine = b->affine[0][0]};
    double first = 0.0;
    treacle_status status = TREACLE_OK;
    *out = 0.0;
    for (int i = 0; i <= TRANSFERS && status == TREACLE_OK; ++i) {
        treacle_stages_totals sum;
        status = treacle_stages_transfer_double(v->ctx, &cloud, &sum);
        double now = along_spin(&sum, middle, spin);
        first = i == 0 ? now : first;
        *out = fmax(*out, fabs(now / first - 1.0));
    }
    free(b);
    return status;
}

static treacle_status score_double(validate* v) {
    for (int kernel = 0; kernel < 3; ++kernel) {
        double apic = NAN, pic = NAN;
        treacle_status status = drift_in_double(v, (treacle_kernel)kernel, true, &apic);
        if (status == TREACLE_OK) {
            status = drift_in_double(v, (treacle_kernel)kernel, false, &pic);
        }
        if (status != TREACLE_OK) {
            return status;
        }
        validate_absolute(v, apic, 0.0, 1e-12, "change in %d, double, APIC, %s", TRANSFERS,
                          kernel_names[kernel]);
        validate_info(v, pic, NAN, "change in %d, double, PIC, %s", TRANSFERS,
                      kernel_names[kernel]);
    }
    return TREACLE_OK;
}

// --- in the product: a disc of radius 0.3 m ------------------------------------------------------

static const char scene[] = "seed: %d\n"
                            "domain: {size: [1 m, 1 m], resolution: %d}\n"
                            "gravity: [0, 0, 0]\n"
                            "transfer: %s\n"
                            "kernel: %s\n"
                            "particles: {per_cell: 4, jitter: 1}\n"
                            "liquids:\n"
                            "  - shape: {sphere: {radius: 30 cm, centre: [0.513, 0.479, 0]}}\n"
                            "    spin: [0, 0, 1]\n"
                            "    spin_centre: [0.513, 0.479, 0]\n";

typedef struct disc_def {
    int cells, seed;
    const char *transfer, *kernel;
} disc_def;

// Angular momentum of the faces in `count` transfers.
static treacle_status turn_disc(validate* v, const disc_def* def, int count, double* out) {
    static const double centre[3] = {0.513, 0.479, 0.0}, axis[3] = {0.0, 0.0, 1.0};
    treacle_sim* sim = NULL;
    treacle_status status =
        validate_sim_create(v, &sim, scene, def->seed, def->cells, def->transfer, def->kernel);
    for (int i = 0; i < count && status == TREACLE_OK; ++i) {
        treacle_stages_totals sum;
        status = treacle_stages_transfer(sim, &sum);
        out[i] = along_spin(&sum, centre, axis);
    }
    treacle_sim_destroy(sim);
    return status;
}

static treacle_status score_apic(validate* v) {
    for (int kernel = 0; kernel < 3; ++kernel) {
        double momentum[TRANSFERS + 1], worst = 0.0;
        disc_def def = {32, 1, "apic", kernel_names[kernel]};
        treacle_status status = turn_disc(v, &def, TRANSFERS + 1, momentum);
        if (status != TREACLE_OK) {
            return status;
        }
        for (int i = 1; i <= TRANSFERS; ++i) {
            worst = fmax(worst, fabs(momentum[i] / momentum[0] - 1.0));
        }
        validate_absolute(v, worst, 0.0, 1e-6, "change in %d, product, APIC, %s", TRANSFERS,
                          kernel_names[kernel]);
    }
    return TREACLE_OK;
}

static treacle_status score_pic(validate* v, int cells, double reference) {
    enum { SEEDS = 4 };
    double loss = 0.0;
    for (int seed = 1; seed <= SEEDS; ++seed) {
        double momentum[2];
        disc_def def = {cells, seed, "pic", "linear"};
        treacle_status status = turn_disc(v, &def, 2, momentum);
        if (status != TREACLE_OK) {
            return status;
        }
        loss += (1.0 - momentum[1] / momentum[0]) / SEEDS;
    }
    validate_relative(v, loss, reference, 0.1, "loss in a transfer, PIC, R/h = %g", 0.3 * cells);
    return TREACLE_OK;
}

treacle_status case_angular_momentum(validate* v) {
    treacle_status status = score_double(v);
    if (status == TREACLE_OK) {
        status = score_apic(v);
    }
    if (status == TREACLE_OK) {
        status = score_pic(v, 32, 0.0069);
    }
    return status == TREACLE_OK ? score_pic(v, 64, 0.00175) : status;
}
