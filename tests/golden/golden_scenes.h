// The scenes whose bits are watched.
#pragma once

#include "unit/sim_scene.h"

enum { GOLDEN_SCENES = 4 };

static inline void golden_scene_make_periodic(treacle_domain_def* domain) {
    for (int a = 0; a < 3; ++a) {
        domain->sides[a][0] = domain->sides[a][1] = TREACLE_SIDE_PERIODIC;
    }
}

// 0: everything at once. 1: the same in 2D. 2: periodic all round, with the columns of APIC and
// steps of second order. 3: closed, with cells that do not fill the last tiles and a number of
// particles without factors.
static inline void golden_scene_fill(int which, sim_scene* s) {
    sim_scene_fill(s);
    if (which == 1) {
        s->def.domain.size[2] = 0.0;
        s->def.domain.origin[2] = 0.5;
        s->def.domain.cell = 1.0 / 128;
        s->def.particles.per_cell = 4;
    } else if (which == 2) {
        golden_scene_make_periodic(&s->def.domain);
        s->def.flow = TREACLE_FLOW_PRESSURE;
        s->def.transfer = TREACLE_TRANSFER_APIC;
        s->def.step.splitting = TREACLE_SPLITTING_SECOND;
    } else if (which == 3) {
        memset(s->def.domain.sides, 0, sizeof(s->def.domain.sides));
        s->def.domain.cell = 1.0 / 30;
        s->def.particles.per_cell = 5;
        s->def.particles.jitter = 1.0;
    }
}
