#include "particles/particles_valid.h"

#include <math.h>

static bool has_room(const particles* p) {
    bool is_valid = p->ctx != NULL && p->count >= 0 && p->tile_count >= 0 &&
                    p->tile_count <= p->tile_capacity && p->tile_count < p->tile_first_capacity;
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        bool exists = (p->column_mask >> c & 1u) != 0;
        bool is_borrowed = (p->borrowed_mask >> c & 1u) != 0;
        particle_ix capacity = is_borrowed ? p->borrowed_capacity : p->column_capacity[c];
        is_valid = is_valid && (p->column[c] != NULL) == exists && (exists || !is_borrowed) &&
                   (!exists || capacity >= p->count);
    }
    return is_valid;
}

static bool is_away_valid(const particles* p) {
    const particle_away* away = &p->away;
    return away->low_end >= 0 && away->low_end <= p->count && away->high_first >= 0 &&
           away->high_first <= away->high_end && away->high_end <= p->count;
}

static bool is_here(const particles* p, particle_ix particle) {
    return particle >= p->away.low_end &&
           (particle < p->away.high_first || particle >= p->away.high_end);
}

static bool is_finite3(const float* x) {
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

static bool are_particles_valid(const particles* p) {
    const float* position = particles_f32(p, PARTICLE_POSITION);
    const float* velocity = particles_f32(p, PARTICLE_VELOCITY);
    const float* volume = particles_f32(p, PARTICLE_VOLUME);
    for (particle_ix particle = 0; particle < p->count; ++particle) {
        bool is_valid = is_finite3(position + AXES * particle) &&
                        is_finite3(velocity + AXES * particle) && volume[particle] > 0.0f &&
                        isfinite(volume[particle]);
        if (!is_valid && is_here(p, particle)) {
            return false;
        }
    }
    return true;
}

bool particles_is_valid(const particles* p, const grid_domain* domain, particles_order order) {
    if (!has_room(p) || !is_away_valid(p) || !particles_is_grouped(p) || !are_particles_valid(p)) {
        return false;
    }
    // Where particles are other ranks' there is nothing to compare one's own with at both ends.
    bool is_whole = p->away.low_end == 0 && p->away.high_first == p->away.high_end;
    return order == PARTICLES_GROUPED || !is_whole || particles_is_sorted(p, domain);
}
