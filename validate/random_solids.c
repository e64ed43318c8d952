// Solids and bodies of random scenes: how they are drawn, and where they are, in closed form.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random_scene.h"

// ---- forms --------------------------------------------------------------------------------------

void random_draw_form(random_writer* w, double length, random_solid* out) {
    dice* d = &w->d;
    *out = (random_solid){.form = (random_form)dice_below(d, FORM_COUNT)};
    random_point(w, 0.1, out->centre);
    out->radius = length * dice_between(d, 0.2, 0.5);
    out->height = length * dice_between(d, 0.3, 1.0);
    out->thickness = out->radius * dice_between(d, 0.2, 0.5);
    for (int a = 0; a < 3; ++a) {
        out->size[a] = length * dice_between(d, 0.3, 1.0);
        out->turn[a] = w->scene->axes == 3 || a == 2 ? dice_between(d, -3.0, 3.0) : 0.0;
        out->pivot[a] = out->centre[a];
    }
    if (w->scene->axes == 2) {
        out->size[2] = 4.0 * w->length;
    }
}

void random_write_shape(random_writer* w, const random_solid* s) {
    static const char* const names[] = {"sphere", "box", "cylinder", "capsule", "torus"};
    if (s->form == FORM_MESHES) {
        int index = (int)(s - w->scene->solids);
        fprintf(w->out,
                "\"shape\": {\"mesh\": {\"file\": \"%s/solid%d_#.obj\", \"first\": 1, "
                "\"last\": %d, \"fps\": %.9g}}",
                w->scene->folder, index, RANDOM_FRAMES, s->hulls_fps);
        return;
    }
    fprintf(w->out, "\"shape\": {\"%s\": {", names[s->form]);
    if (s->form == FORM_BOX) {
        fprintf(w->out, "\"size\": [%.9g, %.9g, %.9g]", s->size[0], s->size[1], s->size[2]);
    } else {
        fprintf(w->out, "\"radius\": %.9g", s->radius);
    }
    if (s->form == FORM_CYLINDER || s->form == FORM_CAPSULE) {
        fprintf(w->out, ", \"height\": %.9g", s->height);
    }
    if (s->form == FORM_TORUS) {
        fprintf(w->out, ", \"thickness\": %.9g", s->thickness);
    }
    random_vector(w, "centre", s->centre);
    fprintf(w->out, "}");
    random_vector(w, "rotate", s->turn);
    fprintf(w->out, "}");
}

// m, of the ball around its centre.
static double reach_of(const random_writer* w, const random_solid* s) {
    double sum = 0.0;
    for (int a = 0; a < w->scene->axes; ++a) {
        sum += 0.25 * s->size[a] * s->size[a];
    }
    return s->form == FORM_SPHERE     ? s->radius
           : s->form == FORM_BOX      ? sqrt(sum)
           : s->form == FORM_CYLINDER ? hypot(s->radius, 0.5 * s->height)
           : s->form == FORM_CAPSULE  ? s->radius + 0.5 * s->height
                                      : s->radius + s->thickness;
}

// ---- meshes that change their shape -------------------------------------------------------------

static void draw_hulls(random_writer* w, random_solid* s, double speed) {
    int axes = w->scene->axes;
    s->hulls_fps = (RANDOM_FRAMES - 1) / w->scene->until;
    for (int f = 0; f < RANDOM_FRAMES; ++f) {
        random_hull* hull = &s->hulls[f];
        double way[3];
        random_way(w, speed / s->hulls_fps, way);
        for (int a = 0; a < 3; ++a) {
            hull->middle[a] = f == 0 ? s->centre[a] : s->hulls[f - 1].middle[a] + way[a];
            for (int k = 0; k < 3; ++k) {
                bool is_still = axes == 2 && (a == 2 || k == 2);
                double bend = is_still ? 0.0 : dice_between(&w->d, -0.2, 0.2);
                hull->edges[a][k] = 0.5 * s->size[k] * ((a == k ? 1.0 : 0.0) + bend);
            }
        }
    }
}

static bool write_hull(const random_hull* hull, const char* path) {
    static const int sides[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    FILE* out = fopen(path, "w");
    for (int i = 0; i < 8 && out != NULL; ++i) {
        const double b[3] = {i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0};
        double x[3];
        for (int a = 0; a < 3; ++a) {
            x[a] = hull->middle[a] + hull->edges[a][0] * b[0] + hull->edges[a][1] * b[1] +
                   hull->edges[a][2] * b[2];
        }
        fprintf(out, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
    }
    for (int i = 0; i < 6 && out != NULL; ++i) {
        const int* c = sides[i];
        fprintf(out, "f %d %d %d %d\n", c[0] + 1, c[1] + 1, c[2] + 1, c[3] + 1);
    }
    return out != NULL && fclose(out) == 0;
}

// Makes the solid, a box so far, a sequence of meshes.
static bool make_meshes(random_writer* w, int index, double speed) {
    random_scene* scene = w->scene;
    random_solid* s = &scene->solids[index];
    if (scene->folder[0] == '\0') {
        snprintf(scene->folder, sizeof(scene->folder), "/tmp/treacle-random-XXXXXX");
        if (mkdtemp(scene->folder) == NULL) {
            scene->folder[0] = '\0';
            return false;
        }
    }
    s->form = FORM_MESHES;
    draw_hulls(w, s, speed);
    bool is_written = true;
    for (int f = 0; f < RANDOM_FRAMES; ++f) {
        char path[RANDOM_PATH + 32];
        snprintf(path, sizeof(path), "%s/solid%d_%d.obj", scene->folder, index, f + 1);
        is_written = is_written && write_hull(&s->hulls[f], path);
    }
    return is_written;
}

// ---- solids -------------------------------------------------------------------------------------

static double length_of(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void draw_keys(random_writer* w, random_solid* s, double speed) {
    s->key_count = RANDOM_KEYS;
    for (int k = 0; k < RANDOM_KEYS; ++k) {
        double leg = w->scene->until / (RANDOM_KEYS - 1), way[3];
        random_way(w, speed * leg, way);
        s->key_time[k] = k * leg;
        for (int a = 0; a < 3; ++a) {
            s->key_way[k][a] = k == 0 ? 0.0 : s->key_way[k - 1][a] + way[a];
        }
    }
}

// How it moves; returns the fastest that one of its points is.
static double draw_motion(random_writer* w, random_solid* s) {
    dice* d = &w->d;
    double usual = sqrt(w->gravity * w->length), speed = usual * dice_between(d, 0.1, 1.0);
    if (w->scene->is_at_rest || dice_chance(d, 0.35)) {
        return 0.0;
    }
    speed *= dice_chance(d, 0.2) ? 5.0 : 1.0; // some cross several cells in a step
    double fastest = 0.0;
    if (dice_chance(d, 0.3)) {
        draw_keys(w, s, speed);
        fastest += speed;
    } else if (dice_chance(d, 0.7)) {
        random_way(w, speed, s->velocity);
        fastest += length_of(s->velocity);
    }
    if (dice_chance(d, 0.5)) {
        double most = speed / reach_of(w, s);
        for (int a = 0; a < 3; ++a) {
            s->spin[a] = w->scene->axes == 3 || a == 2 ? dice_between(d, -most, most) : 0.0;
        }
        fastest += length_of(s->spin) * reach_of(w, s);
    }
    return fastest;
}

// Half of them are plates thinner than two cells.
static void draw_solid(random_writer* w, int index, double* fastest) {
    random_solid* s = &w->scene->solids[index];
    random_draw_form(w, w->length * dice_between(&w->d, 0.2, 0.7), s);
    if (dice_chance(&w->d, 0.4)) {
        s->form = FORM_BOX;
        s->size[0] = w->scene->cell * dice_between(&w->d, 0.3, 1.5);
    }
    if (index == 0 && dice_chance(&w->d, 0.15)) { // a container
        s->inside_out = true;
        s->form = dice_chance(&w->d, 0.5) ? FORM_BOX : FORM_SPHERE;
        s->radius = 0.45 * w->length;
        for (int a = 0; a < 3; ++a) {
            s->size[a] = 0.8 * (a < w->scene->axes ? w->scene->size[a] : 4.0 * w->length);
            s->centre[a] = s->pivot[a] = w->scene->origin[a] + 0.5 * w->scene->size[a];
        }
        return;
    }
    *fastest = fmax(*fastest, draw_motion(w, s));
}

// A plate from side to side, which stays in the middle of the domain.
static void draw_divider(random_writer* w, double* fastest) {
    random_scene* scene = w->scene;
    random_solid* s = &scene->solids[0];
    dice* d = &w->d;
    *s = (random_solid){.form = FORM_BOX};
    s->turn[2] = dice_chance(d, 0.3) ? 0.0 : dice_between(d, -0.7, 0.7);
    for (int a = 0; a < 3; ++a) {
        s->size[a] = a == 0 ? scene->cell * dice_between(d, 0.3, 1.5) : 8.0 * w->length;
        s->centre[a] = s->pivot[a] = scene->origin[a] + 0.5 * scene->size[a];
    }
    if (dice_chance(d, 0.6)) {
        random_way(w, 0.2 * w->length / scene->until, s->velocity);
        *fastest = length_of(s->velocity);
    }
    if (dice_chance(d, 0.4)) {
        s->spin[2] = dice_between(d, -0.3, 0.3) / scene->until;
        *fastest += fabs(s->spin[2]) * w->length;
    }
}

static void write_motion(random_writer* w, const random_solid* s) {
    if (length_of(s->velocity) > 0.0) {
        random_vector(w, "velocity", s->velocity);
    }
    if (length_of(s->spin) > 0.0) {
        random_vector(w, "spin", s->spin);
        random_vector(w, "pivot", s->pivot);
    }
    for (int k = 0; k < s->key_count; ++k) {
        const double* x = s->key_way[k];
        fprintf(w->out, "%s[%.9g, [%.9g, %.9g, %.9g]]%s", k == 0 ? ", \"position\": [" : ", ",
                s->key_time[k], x[0], x[1], x[2], k + 1 == s->key_count ? "]" : "");
    }
}

static void write_wall(random_writer* w) {
    static const char* const walls[] = {"slip", "no-slip", "slip-length"};
    const char* wall = DICE_WORD(&w->d, walls);
    fprintf(w->out, ", \"wall\": \"%s\"", wall);
    if (strcmp(wall, "slip-length") == 0) {
        fprintf(w->out, ", \"slip_length\": %.5g", w->scene->cell * dice_log(&w->d, 0.1, 10.0));
    }
}

static void write_solid(random_writer* w, int index) {
    const random_solid* s = &w->scene->solids[index];
    fprintf(w->out, "%s\"s%d\": {", index == 0 ? "" : ", ", index);
    random_write_shape(w, s);
    write_motion(w, s);
    write_wall(w);
    if (s->inside_out) {
        fprintf(w->out, ", \"inside_out\": true");
    }
    if (!w->scene->is_eulerian && dice_chance(&w->d, 0.4)) {
        fprintf(w->out, ", \"separation\": %s", dice_chance(&w->d, 0.7) ? "\"on\"" : "\"10 Pa\"");
    }
    if (dice_chance(&w->d, 0.1)) {
        fprintf(w->out, ", \"temperature\": %.4g", dice_between(&w->d, 290.0, 400.0));
    }
    fprintf(w->out, "}");
}

bool random_write_solids(random_writer* w) {
    random_scene* scene = w->scene;
    double fastest = 0.0;
    bool is_written = true;
    if (scene->solid_count == 0) {
        return true;
    }
    for (int i = 0; i < scene->solid_count; ++i) {
        if (scene->has_strangers) {
            draw_divider(w, &fastest);
            continue;
        }
        draw_solid(w, i, &fastest);
        random_solid* s = &scene->solids[i];
        bool is_box = s->form == FORM_BOX && !s->inside_out && !scene->is_at_rest;
        if (is_box && dice_chance(&w->d, 0.3)) {
            double speed = sqrt(w->gravity * w->length);
            is_written = make_meshes(w, i, speed) && is_written;
            fastest = fmax(fastest, fastest + 3.0 * speed);
        }
    }
    fprintf(w->out, ", \"solids\": {");
    for (int i = 0; i < scene->solid_count; ++i) {
        write_solid(w, i);
    }
    fprintf(w->out, "}");
    scene->drive += fastest;
    return is_written;
}

// ---- bodies -------------------------------------------------------------------------------------

// Whether a ball about the body's centre is in the domain and free of others.
static bool is_free(const random_writer* w, int index) {
    const random_scene* scene = w->scene;
    const random_solid* s = &scene->bodies[index];
    double reach = 1.02 * reach_of(w, s);
    bool is_free = true;
    for (int a = 0; a < scene->axes; ++a) {
        is_free = is_free && s->centre[a] - reach > scene->origin[a] &&
                  s->centre[a] + reach < scene->origin[a] + scene->size[a];
    }
    for (int i = 0; i < index; ++i) {
        const double* c = scene->bodies[i].centre;
        const double apart[3] = {s->centre[0] - c[0], s->centre[1] - c[1], s->centre[2] - c[2]};
        is_free = is_free && length_of(apart) > reach + 1.02 * reach_of(w, &scene->bodies[i]);
    }
    for (int i = 0; i < scene->solid_count; ++i) {
        random_pose pose = random_pose_at(&scene->solids[i], 0.0);
        double distance = random_distance(scene, &scene->solids[i], &pose, 0.0, s->centre);
        is_free = is_free && distance > reach;
    }
    return is_free;
}

static bool draw_body(random_writer* w, int index) {
    random_solid* s = &w->scene->bodies[index];
    bool is_placed = false;
    for (int i = 0; i < 30 && !is_placed; ++i) {
        random_draw_form(w, w->scene->cell * dice_between(&w->d, 3.0, 8.0), s);
        is_placed = is_free(w, index);
    }
    return is_placed;
}

static double write_body(random_writer* w, int index) {
    static const char* const walls[] = {"slip", "no-slip"};
    const random_solid* s = &w->scene->bodies[index];
    dice* d = &w->d;
    double v[3], usual = sqrt(w->gravity * w->length);
    random_way(w, dice_chance(d, 0.4) ? usual : 0.0, v);
    fprintf(w->out, "%s\"b%d\": {", index == 0 ? "" : ", ", index);
    random_write_shape(w, s);
    random_vector(w, "velocity", v);
    fprintf(w->out, ", \"density\": %.4g, \"wall\": \"%s\"", dice_log(d, 10.0, 1e4),
            DICE_WORD(d, walls));
    if (dice_chance(d, 0.3)) {
        fprintf(w->out, ", \"restitution\": %.3g", dice_between(d, 0.0, 1.0));
    }
    if (dice_chance(d, 0.2)) {
        fprintf(w->out, ", \"joints\": [{\"kind\": \"%s\"",
                dice_chance(d, 0.5) ? "hinge" : "slider");
        const double z[3] = {0.0, 0.0, 1.0}, y[3] = {0.0, 1.0, 0.0};
        random_vector(w, "anchor", s->centre);
        random_vector(w, "axis", dice_chance(d, 0.5) ? z : y);
        fprintf(w->out, "}]");
    }
    fprintf(w->out, "}");
    return length_of(v);
}

void random_write_bodies(random_writer* w) {
    random_scene* scene = w->scene;
    int count = 0;
    double fastest = 0.0;
    while (count < scene->body_count && draw_body(w, count)) {
        count += 1;
    }
    scene->body_count = count;
    if (count == 0) {
        return;
    }
    fprintf(w->out, ", \"bodies\": {");
    for (int i = 0; i < count; ++i) {
        fastest = fmax(fastest, write_body(w, i));
    }
    fprintf(w->out, "}");
    scene->drive += fastest;
}

// ---- in closed form -----------------------------------------------------------------------------

// R = turn by |v| about v (Rodrigues).
static void turn_about(const double v[3], double r[3][3]) {
    double angle = length_of(v), c = cos(angle), s = sin(angle);
    double n[3] = {0.0, 0.0, 1.0};
    for (int a = 0; a < 3 && angle > 0.0; ++a) {
        n[a] = v[a] / angle;
    }
    const double cross[3][3] = {{0.0, -n[2], n[1]}, {n[2], 0.0, -n[0]}, {-n[1], n[0], 0.0}};
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            r[a][b] = (a == b ? c : 0.0) + (1.0 - c) * n[a] * n[b] + s * cross[a][b];
        }
    }
}

random_pose random_pose_at(const random_solid* s, double time) {
    random_pose out;
    const double turned[3] = {s->spin[0] * time, s->spin[1] * time, s->spin[2] * time};
    turn_about(turned, out.turn);
    for (int a = 0; a < 3; ++a) {
        out.place[a] = s->pivot[a] + s->velocity[a] * time;
    }
    for (int k = 0; k + 1 < s->key_count; ++k) {
        double leg = s->key_time[k + 1] - s->key_time[k];
        double part = fmin(fmax((time - s->key_time[k]) / leg, 0.0), 1.0);
        for (int a = 0; a < 3; ++a) {
            out.place[a] += part * (s->key_way[k + 1][a] - s->key_way[k][a]);
        }
    }
    return out;
}

random_pose random_pose_of_body(const double place[3], const double quaternion[4]) {
    random_pose out;
    const double* q = quaternion;
    double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double scale = sine > 0.0 ? 2.0 * atan2(sine, q[0]) / sine : 0.0;
    const double turned[3] = {scale * q[1], scale * q[2], scale * q[3]};
    turn_about(turned, out.turn);
    memcpy(out.place, place, sizeof(out.place));
    return out;
}

// x in the frame in which the form lies along the axes about 0.
static void to_form(const random_scene* scene, const random_solid* s, const random_pose* pose,
                    const double x[3], double out[3]) {
    double r[3], turn[3][3], back[3];
    for (int a = 0; a < 3; ++a) { // back to how it began
        back[a] = s->pivot[a] - s->centre[a];
        for (int b = 0; b < 3; ++b) {
            back[a] += pose->turn[b][a] * (x[b] - pose->place[b]);
        }
    }
    back[2] = scene->axes == 2 ? 0.0 : back[2];
    memcpy(r, back, sizeof(r));
    for (int axis = 2; axis >= 0; --axis) { // turned about x, y, z: back in the other order
        double v[3] = {0.0, 0.0, 0.0}, before[3];
        v[axis] = s->turn[axis];
        turn_about(v, turn);
        memcpy(before, r, sizeof(before));
        for (int a = 0; a < 3; ++a) {
            r[a] = turn[0][a] * before[0] + turn[1][a] * before[1] + turn[2][a] * before[2];
        }
    }
    memcpy(out, r, sizeof(r));
}

static double box_distance(const random_scene* scene, const double half[3], const double r[3]) {
    double outside = 0.0, inside = -INFINITY;
    for (int a = 0; a < scene->axes; ++a) {
        double q = fabs(r[a]) - half[a];
        outside += q > 0.0 ? q * q : 0.0;
        inside = fmax(inside, q);
    }
    return inside > 0.0 ? sqrt(outside) : inside;
}

static double cylinder_distance(const random_solid* s, const double r[3]) {
    double across = hypot(r[0], r[2]) - s->radius, along = fabs(r[1]) - 0.5 * s->height;
    double outside = hypot(fmax(across, 0.0), fmax(along, 0.0));
    return fmin(fmax(across, along), 0.0) + outside;
}

static double capsule_distance(const random_solid* s, const double r[3]) {
    double along = r[1] - fmin(fmax(r[1], -0.5 * s->height), 0.5 * s->height);
    return sqrt(r[0] * r[0] + along * along + r[2] * r[2]) - s->radius;
}

// Between two meshes the edges are between theirs. The distance to the nearest face, negative
// inside.
static double hull_distance(const random_scene* scene, const random_solid* s,
                            const random_pose* pose, double time, const double x[3]) {
    double at = fmin(fmax(time * s->hulls_fps, 0.0), RANDOM_FRAMES - 1.0);
    int f = at < RANDOM_FRAMES - 1.0 ? (int)at : RANDOM_FRAMES - 2;
    const random_hull *low = &s->hulls[f], *high = &s->hulls[f + 1];
    double e[3][3], r[3], part = at - f, distance = -INFINITY;
    for (int k = 0; k < 3; ++k) {
        r[k] = s->pivot[k] - low->middle[k] - part * (high->middle[k] - low->middle[k]);
        for (int a = 0; a < 3; ++a) { // e[k] is an edge
            r[k] += pose->turn[a][k] * (x[a] - pose->place[a]);
            e[k][a] = low->edges[a][k] + part * (high->edges[a][k] - low->edges[a][k]);
        }
        r[k] = scene->axes == 2 && k == 2 ? 0.0 : r[k];
    }
    for (int k = 0; k < scene->axes; ++k) {
        const double *p = e[(k + 1) % 3], *q = e[(k + 2) % 3];
        const double n[3] = {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2],
                             p[0] * q[1] - p[1] * q[0]};
        double half = fabs(e[k][0] * n[0] + e[k][1] * n[1] + e[k][2] * n[2]) / length_of(n);
        double out = fabs(r[0] * n[0] + r[1] * n[1] + r[2] * n[2]) / length_of(n) - half;
        distance = fmax(distance, out);
    }
    return distance;
}

double random_distance(const random_scene* scene, const random_solid* s, const random_pose* pose,
                       double time, const double x[3]) {
    double r[3], distance = 0.0;
    const double half[3] = {0.5 * s->size[0], 0.5 * s->size[1], 0.5 * s->size[2]};
    to_form(scene, s, pose, x, r);
    switch (s->form) {
    case FORM_SPHERE:
        distance = length_of(r) - s->radius;
        break;
    case FORM_BOX:
        distance = box_distance(scene, half, r);
        break;
    case FORM_CYLINDER:
        distance = cylinder_distance(s, r);
        break;
    case FORM_CAPSULE:
        distance = capsule_distance(s, r);
        break;
    case FORM_TORUS:
        distance = hypot(hypot(r[0], r[2]) - s->radius, r[1]) - s->thickness;
        break;
    case FORM_MESHES:
        distance = hull_distance(scene, s, pose, time, x);
        break;
    }
    return s->inside_out ? -distance : distance;
}

double random_side(const random_scene* scene, const random_pose* pose, const double x[3]) {
    double r[3];
    to_form(scene, &scene->solids[0], pose, x, r);
    return r[0];
}
