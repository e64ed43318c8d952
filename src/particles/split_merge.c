#include "particles/split_merge.h"

#include <math.h>
#include <string.h>

#include "math/hash_random.h"

static void copy_particle(const particles* p, particle_ix to, particle_ix from) {
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        size_t bytes = particle_columns[c].bytes;
        char* column = p->column[c];
        if (column != NULL) {
            memcpy(column + (size_t)to * bytes, column + (size_t)from * bytes, bytes);
        }
    }
}

// Moves a particle by `by` cells along with the velocity field that its affine matrix describes.
static void move_along(const particles* p, particle_ix particle, const float by[AXES], double h) {
    const float* affine = particles_f32(p, PARTICLE_AFFINE);
    for (int a = 0; a < AXES; ++a) {
        particles_f32(p, PARTICLE_POSITION)[AXES * particle + a] += by[a];
        double change = 0.0;
        for (int b = 0; affine != NULL && b < AXES; ++b) {
            change += (double)affine[AXES * (AXES * particle + a) + b] * h * (double)by[b];
        }
        particles_f32(p, PARTICLE_VELOCITY)[AXES * particle + a] += (float)change;
    }
}

void particles_split(const particles* p, const particle_split* split) {
    TREACLE_ASSERT(split->particle != split->other);
    TREACLE_ASSERT(split->particle >= 0 && split->particle < p->count && split->other >= 0 &&
                   split->other < p->count);
    TREACLE_ASSERT(split->h > 0.0 && split->apart >= 0.0f);
    float* volume = particles_f32(p, PARTICLE_VOLUME);
    float forth[AXES], back[AXES];
    for (int a = 0; a < AXES; ++a) {
        forth[a] = 0.5f * split->apart * split->axis[a];
        back[a] = -forth[a];
    }
    volume[split->particle] *= 0.5f;
    copy_particle(p, split->other, split->particle);
    particles_id(p)[split->other] = split->id;
    move_along(p, split->particle, forth, split->h);
    move_along(p, split->other, back, split->h);
}

// Whether two particles share the column's mean by mass, which is by volume: their material is the
// same.
static bool is_averaged(int column) {
    return column != PARTICLE_VOLUME && particle_columns[column].type == TREACLE_TYPE_F32;
}

void particles_merge(const particles* p, const particle_merge* merge) {
    TREACLE_ASSERT(merge->particle != merge->other);
    TREACLE_ASSERT(merge->particle >= 0 && merge->particle < p->count && merge->other >= 0 &&
                   merge->other < p->count);
    TREACLE_ASSERT(particles_material(p)[merge->particle] == particles_material(p)[merge->other]);
    float* volume = particles_f32(p, PARTICLE_VOLUME);
    double mine = (double)volume[merge->particle], theirs = (double)volume[merge->other];
    double fraction = theirs / (mine + theirs);
    for (int a = 0; a < AXES; ++a) {
        particles_f32(p, PARTICLE_POSITION)[AXES * merge->other + a] += merge->shift[a];
    }
    for (int i = 0; i < PARTICLE_COLUMN_COUNT; ++i) {
        float* column = is_averaged(i) ? p->column[i] : NULL;
        int components = particle_columns[i].components;
        for (int c = 0; column != NULL && c < components; ++c) {
            double x = (double)column[components * merge->particle + c];
            double y = (double)column[components * merge->other + c];
            column[components * merge->particle + c] = (float)(x + fraction * (y - x));
        }
    }
    double* enthalpy = particles_f64(p, PARTICLE_ENTHALPY);
    if (enthalpy != NULL) {
        double x = enthalpy[merge->particle];
        enthalpy[merge->particle] = x + fraction * (enthalpy[merge->other] - x);
    }
    volume[merge->particle] = (float)(mine + theirs);
}

void particles_split_axis(uint64_t seed, uint64_t id, const grid_domain* domain, float axis[AXES]) {
    TREACLE_ASSERT(domain->is_active[0] || domain->is_active[1] || domain->is_active[2]);
    static const random_purpose purpose[AXES] = {RANDOM_SPLIT_X, RANDOM_SPLIT_Y, RANDOM_SPLIT_Z};
    double x[AXES], squared = 0.0;
    // A point of the cube that is in the ball, and not too near its centre, has an even direction.
    for (uint64_t round = 0; !(squared > 0.01 && squared <= 1.0); ++round) {
        squared = 0.0;
        for (int a = 0; a < AXES; ++a) {
            double u = hash_random_f64(hash_combine(seed, round), id, purpose[a]);
            x[a] = domain->is_active[a] ? 2.0 * u - 1.0 : 0.0;
            squared += x[a] * x[a];
        }
    }
    for (int a = 0; a < AXES; ++a) {
        axis[a] = (float)(x[a] / sqrt(squared));
    }
}
