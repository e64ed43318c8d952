#include "step/body_set.h"

double body_set_energy(const body_set* set, const body_state* states) {
    TREACLE_ASSERT(set->count == 0 || states != NULL);
    double sum = 0.0;
    for (int i = 0; i < set->count; ++i) {
        sum += body_energy(&set->bodies[i].mass, &states[i]);
    }
    return sum;
}
