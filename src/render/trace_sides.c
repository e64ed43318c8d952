#include "render/trace_sides.h"

#include <math.h>

#include "base/check.h"

enum { AXIS_COUNT = 3, CORNERS = 4, FACES = 6 };

// Cells that glass reaches into the liquid, whose surface is not exact.
static const double overlap = 0.1;

typedef struct pane {
    double low[AXIS_COUNT], high[AXIS_COUNT];
    int axis;     // that it stands across
    bool is_high; // of the domain's two sides
} pane;

static bool is_closed(const treacle_domain_def* domain, int axis, int end) {
    treacle_side side = domain->sides[axis][end];
    return side == TREACLE_SIDE_SLIP || side == TREACLE_SIDE_NO_SLIP;
}

// Panes across x reach around the corners, those across z end there.
static pane place_pane(const treacle_domain_def* domain, const treacle_frame* f, int axis,
                       int end) {
    double longest = 0.0;
    pane out = {.axis = axis, .is_high = end == 1};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out.low[k] = f->origin[k];
        out.high[k] = f->origin[k] + f->cell * f->cells[k];
        longest = fmax(longest, out.high[k] - out.low[k]);
    }
    double thick = fmax(0.012 * longest, f->cell), in = overlap * f->cell;
    if (axis == 0) {
        out.low[2] -= is_closed(domain, 2, 0) ? thick : 0.0;
        out.high[2] += is_closed(domain, 2, 1) ? thick : 0.0;
    } else {
        out.low[0] += is_closed(domain, 0, 0) ? in : 0.0;
        out.high[0] -= is_closed(domain, 0, 1) ? in : 0.0;
    }
    double at = end == 0 ? out.low[axis] : out.high[axis];
    out.low[axis] = end == 0 ? at - thick : at - in;
    out.high[axis] = end == 0 ? at + in : at + thick;
    return out;
}

// One face of a pane: across `axis`, at its low or high end.
static void add_face(const pane* p, int axis, int end, surface_mesh* m) {
    int a = (axis + 1) % AXIS_COUNT, b = (axis + 2) % AXIS_COUNT;
    int32_t first = (int32_t)m->vertex_count;
    for (int c = 0; c < CORNERS; ++c) {
        float* place = m->place[m->vertex_count];
        float* normal = m->normal[m->vertex_count++];
        bool is_far_a = c == 1 || c == 2, is_far_b = c >= 2;
        place[axis] = (float)(end == 0 ? p->low[axis] : p->high[axis]);
        place[a] = (float)(is_far_a ? p->high[a] : p->low[a]);
        place[b] = (float)(is_far_b ? p->high[b] : p->low[b]);
        normal[a] = normal[b] = 0.0f;
        normal[axis] = end == 0 ? -1.0f : 1.0f;
    }
    for (int t = 0; t < 2; ++t) { // counter-clockwise as seen along minus the normal
        int32_t* corner = m->triangle[m->triangle_count++];
        corner[0] = first;
        corner[1] = first + (end == 1 ? 1 + t : 2 + t);
        corner[2] = first + (end == 1 ? 2 + t : 1 + t);
    }
}

treacle_status trace_sides_create(treacle_context* ctx, const treacle_domain_def* domain,
                                  const treacle_frame* frame, bool is_glass, surface_mesh* out) {
    pane panes[CORNERS];
    int count = 0;
    *out = (surface_mesh){0};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        if (frame->cells[k] == 1) {
            return TREACLE_OK;
        }
    }
    for (int side = 0; side < CORNERS; ++side) {
        int axis = side < 2 ? 0 : 2, end = side % 2;
        if (is_closed(domain, axis, end)) {
            panes[count++] = place_pane(domain, frame, axis, end);
        }
    }
    int64_t faces = (int64_t)count * (is_glass ? FACES : 1);
    if (faces == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(surface_mesh_create(ctx, CORNERS * faces, 2 * faces, out));
    out->vertex_count = out->triangle_count = 0;
    for (int i = 0; i < count; ++i) {
        const pane* p = &panes[i];
        for (int face = 0; face < FACES && is_glass; ++face) {
            add_face(p, face / 2, face % 2, out);
        }
        if (!is_glass) {
            add_face(p, p->axis, p->is_high ? 0 : 1, out);
        }
    }
    return TREACLE_OK;
}
