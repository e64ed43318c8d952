// Particles and solids that change their shape [BBB07 sec. 2].
//
// There is no frame in which such a solid stands still. A particle goes straight from b0 to b1 in
// the frame of the shape while every vertex of the mesh goes straight, too. At the fraction s of
// the way the surface is as far as d(s); nothing can meet before
//
//     s + (d(s) - e) / (|b1 - b0| + r),     r the longest way of a vertex [collide.1]
//
// e being the gap that is kept, so the way is followed in such steps. Where a particle meets the
// surface, the point of the surface that it meets carries it along to the end of the step, and what
// is left of its own way goes on along the surface there. If it finds no way after a few times, it
// ends where that point does.
//
// Symbols: fraction (s), reach (r), gap (e). Properties that tests check: particles stay on their
// side of a thin sheet that swings several cells a step; a shape that does not change holds them as
// one that cannot. References: [BBB07 sec. 2].
#include "phys/collide_form.h"

enum { SLIDES = 4 }; // along surfaces

// No step is shorter than this, in gaps: a tenth of a cell, which steps over nothing that is half a
// cell thick.
static const double shortest_step = 5.0;
// How far out of the surface particles are put, in gaps: further than what is found in the way.
static const double clearance = 1.5;

solid_form form_between(const solid_pose* from, const solid_pose* to) {
    TREACLE_ASSERT(from->form.fraction <= to->form.fraction);
    solid_form form = to->form;
    if (from->form.fraction > 0.0) {
        form.from = form.to;
        form.reach = 0.0;
    }
    return form;
}

static vec3 outward(const form_path* p, vec3 normal) {
    return p->is_inside_out ? vec3_scale(-1.0, normal) : normal;
}

static double signed_distance(const form_path* p, const mesh_tree* tree, vec3 b) {
    double distance = mesh_tree_distance(tree, b);
    return p->is_inside_out ? -distance : distance;
}

// Where in the world of vertices a particle is.
typedef struct moment {
    vec3 at;
    double fraction;
} moment;

// Follows the way to b1, up to the first moment that is not free; true if all of it is.
static bool advance(const form_path* p, moment* m, vec3 b1, mesh_nearest* near) {
    const solid_form* form = &p->form;
    vec3 way = vec3_sub(b1, m->at), start = m->at;
    double begin = m->fraction, left = 1.0 - begin, done = 0.0;
    double length = fmax(vec3_length(way) + form->reach * left, 1e-3 * p->gap);
    double least = shortest_step * p->gap / length;
    for (;;) {
        *near = mesh_tree_nearest(form->from, form->to, m->fraction, m->at);
        bool is_in = near->is_face && near->is_behind != p->is_inside_out;
        if (near->distance < p->gap || is_in) {
            return false;
        }
        if (done >= 1.0) {
            return true;
        }
        done = fmin(done + fmax((near->distance - p->gap) / length, least), 1.0); // [collide.1]
        m->fraction = begin + done * left;
        m->at = vec3_add_scaled(start, done, way);
    }
}

static vec3 carried(const form_path* p, const mesh_nearest* near) {
    return vec3_add_scaled(near->end, clearance * p->gap, outward(p, near->end_normal));
}

// The surface at `near` meets the particle at m on its way to b1: where to it goes now.
static vec3 turn(const form_path* p, const moment* m, const mesh_nearest* near, vec3 b1) {
    vec3 rest = vec3_sub(vec3_sub(b1, m->at), vec3_sub(near->end, near->place));
    vec3 n = outward(p, near->end_normal);
    double inward = fmin(vec3_dot(rest, n), 0.0);
    return vec3_add(carried(p, near), vec3_add_scaled(rest, -inward, n));
}

// A particle that begins inside or too near goes out at once.
static vec3 push_out(const form_path* p, vec3 b) {
    mesh_nearest near = mesh_tree_nearest(p->form.from, p->form.to, 0.0, b);
    return vec3_add_scaled(near.place, clearance * p->gap, outward(p, near.normal));
}

bool collide_form_follow(const form_path* p, vec3 b0, vec3* b1) {
    TREACLE_ASSERT(p->gap >= 0.0 && p->form.from != NULL && p->form.to != NULL);
    const solid_form* form = &p->form;
    double begin = signed_distance(p, form->from, b0);
    if (begin > vec3_length(vec3_sub(*b1, b0)) + form->reach + p->gap) {
        return false;
    }
    moment m = {begin >= p->gap ? b0 : push_out(p, b0), 0.0};
    mesh_nearest near;
    for (int i = 0; i < SLIDES; ++i) {
        if (advance(p, &m, *b1, &near)) {
            return i > 0 || begin < p->gap;
        }
        *b1 = turn(p, &m, &near, *b1);
        m.at = vec3_add_scaled(near.place, clearance * p->gap, outward(p, near.normal));
    }
    *b1 = carried(p, &near);
    return true;
}
