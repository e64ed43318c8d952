// Transfers of particles from which a thin solid hides samples; who sees what is [thin.1].
//
// To the grid they give as all others do, but nothing to hidden samples. From the grid they take
//
//     u_p = sum w u',   c_p = sum s u',   u' = u where seen; else
//     u'_a = (1 - n_a^2) u_near + n_a^2 v_a                                               [thin.2]
//
// with u_near the mean of the samples next to it that are seen, n the normal of the solid and v its
// velocity: along the solid the liquid slides, across it it moves as the solid does.
//
// differs from [S19 eq. 15]: hidden samples have values of their own for each particle.
//
// Properties that tests check: with nothing hidden the outcome is that of the transfers themselves;
// streams on two sides of a plate keep their velocities.
#include <stdlib.h>

#include "phys/thin.h"
#include "phys/thin_weights.h"

void thin_scatter(const thin_tile* tile, const transfer_source* source, const transfer_place* place,
                  float* block) {
    TREACLE_ASSERT(tile->which >= 0 && tile->which < THIN_PLACES);
    TREACLE_ASSERT(tile->count == 0 || tile->members[0].particle >= tile->first);
    for (int64_t r = 0; r < tile->count; ++r) {
        const thin_particle* one = &tile->members[r];
        int64_t p = one->particle - tile->first;
        thin_stencil st;
        thin_stencil_at(place, source->position + AXES * p, &st);
        float m = source->volume[p] * source->volume_scale;
        m *= source->density != NULL ? source->density[source->material[p]] : 1.0f;
        float u = source->value[source->value_stride * p] - source->reference, c[AXES] = {0};
        for (int a = 0; source->slope != NULL && a < AXES; ++a) {
            c[a] = source->slope[source->slope_stride * p + a] * source->slope_scale;
        }
        for (int k = 0; k < st.axis[2].count; ++k) {
            for (int j = 0; j < st.axis[1].count; ++j) {
                for (int i = 0; i < st.axis[0].count; ++i) {
                    const int at[AXES] = {i, j, k};
                    float w = thin_is_seen(one->seen[tile->which], at) ? m : 0.0f, du = 0.0f;
                    for (int a = 0; a < AXES; ++a) {
                        w *= st.axis[a].w[at[a]];
                        du += c[a] * st.axis[a].d[at[a]];
                    }
                    block[2 * thin_sample_at(&st, at)] += w * (u + du);
                    block[2 * thin_sample_at(&st, at) + 1] += w;
                }
            }
        }
    }
}

// The mean of the samples in sight: of those next to `at`, if there are any, else of all.
static float mean_in_sight(const thin_stencil* st, uint64_t seen, const float* block,
                           const int at[AXES]) {
    float near = 0.0f, nears = 0.0f, all = 0.0f, alls = 0.0f;
    for (int k = 0; k < st->axis[2].count; ++k) {
        for (int j = 0; j < st->axis[1].count; ++j) {
            for (int i = 0; i < st->axis[0].count; ++i) {
                const int other[AXES] = {i, j, k};
                int steps = abs(i - at[0]) + abs(j - at[1]) + abs(k - at[2]);
                float u = block[thin_sample_at(st, other)];
                float is_in = thin_is_seen(seen, other) ? 1.0f : 0.0f;
                float is_next = steps == 1 ? is_in : 0.0f;
                near += is_next * u;
                nears += is_next;
                all += is_in * u;
                alls += is_in;
            }
        }
    }
    return nears > 0.0f ? near / nears : all / alls;
}

static float sample_of(const thin_stencil* st, const thin_particle* one, int which,
                       const float* block, const int at[AXES]) {
    uint64_t seen = one->seen[which];
    if (seen == 0 || thin_is_seen(seen, at)) {
        return block[thin_sample_at(st, at)];
    }
    float along = mean_in_sight(st, seen, block, at);
    float across = which < AXES ? one->normal[which] * one->normal[which] : 0.0f;
    return across > 0.0f ? (1.0f - across) * along + across * one->solid_u[which] : along;
}

void thin_gather(const thin_tile* tile, const float* position, const transfer_place* place,
                 const float* block) {
    TREACLE_ASSERT(tile->which >= 0 && tile->which < THIN_PLACES);
    TREACLE_ASSERT(tile->count == 0 || tile->members[0].particle >= tile->first);
    int which = tile->which;
    for (int64_t r = 0; r < tile->count; ++r) {
        thin_particle* one = &tile->members[r];
        thin_stencil st;
        thin_stencil_at(place, position + AXES * (one->particle - tile->first), &st);
        float value = 0.0f, slope[AXES] = {0};
        for (int k = 0; k < st.axis[2].count; ++k) {
            for (int j = 0; j < st.axis[1].count; ++j) {
                for (int i = 0; i < st.axis[0].count; ++i) {
                    const thin_axis_weights *x = &st.axis[0], *y = &st.axis[1], *z = &st.axis[2];
                    float u = sample_of(&st, one, which, block, (const int[AXES]){i, j, k});
                    value += x->w[i] * y->w[j] * z->w[k] * u; // [thin.2]
                    slope[0] += x->s[i] * y->w[j] * z->w[k] * u;
                    slope[1] += x->w[i] * y->s[j] * z->w[k] * u;
                    slope[2] += x->w[i] * y->w[j] * z->s[k] * u;
                }
            }
        }
        one->value[which] = value;
        for (int a = 0; a < AXES; ++a) {
            one->slope[which][a] = slope[a];
        }
    }
}
