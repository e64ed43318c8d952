// Facts about solids that liquid has let go of: what their cells see of faces, and a block of thick
// liquid of which one end presses on a floor and the other has come off.
#include "solid_fixture.h"

#include "phys/contact_release.h"
#include "phys/slip_stress.h"
#include "treacle/unstable/stages.h"

// --- what cells see -----------------------------------------------------------------------------

enum { FIELDS = 7 }; // phi and two views of faces across three axes

typedef struct release_world {
    solid_world s;
    contact_set contacts;
    float *phi, *fields;
    uint16_t* id;
    uint8_t *kind, *bits;
    contact_release_fields out;
} release_world;

// Liquid above a plane at an angle, in part behind it.
static void release_world_begin(release_world* w, double angle, double shift) {
    solid_world_begin(&w->s, 1, (const int[AXES]){24, 24, 1});
    treacle_shape plane = treacle_shape_default(TREACLE_SHAPE_PLANE);
    plane.rotate[2] = angle;
    plane.move[0] = 12.0;
    plane.move[1] = 12.0 + shift;
    solid_world_shape(&w->s, 0, &plane);
    w->s.solids[0].separation.is_on = true;
    solid_world_compute(&w->s, 1, TREACLE_WALLS_AREA);
    w->phi = calloc(w->s.values, sizeof(float));
    w->fields = calloc(FIELDS * w->s.values, sizeof(float));
    w->id = calloc(w->s.values, sizeof(uint16_t));
    w->kind = calloc(2 * w->s.values, 1);
    w->bits = calloc(w->s.values, 1);
    assert_true(w->phi != NULL && w->fields != NULL && w->id != NULL && w->kind != NULL);
    w->out = (contact_release_fields){
        .cell_phi = w->fields, .cell_solid_id = w->id, .cell_kind = w->kind};
    for (int a = 0; a < AXES; ++a) {
        w->out.face_open.at[a] = w->fields + (size_t)(1 + a) * w->s.values;
        w->out.face_open_below.at[a] = w->fields + (size_t)(1 + AXES + a) * w->s.values;
    }
    for (size_t i = 0; i < w->s.values; ++i) {
        w->phi[i] = -3.0f;
    }
}

static void release_world_end(release_world* w) {
    contact_set_destroy(&w->contacts);
    free(w->phi);
    free(w->fields);
    free(w->id);
    free(w->kind);
    free(w->bits);
    solid_world_end(&w->s);
}

static void release_some(release_world* w) {
    const solid_world* s = &w->s;
    const solid_fields* f = &s->out;
    contact_params contacts = {.domain = &s->domain,
                               .map = &s->map,
                               .cell_phi = w->phi,
                               .face_open = face_view_of(f->face_open),
                               .solids = {.solids = s->solids,
                                          .cell_phi = f->cell_phi,
                                          .cell_id = f->cell_id,
                                          .cell_open = f->cell_open,
                                          .face_u = face_view_of(f->face_u)},
                               .cell_contact = w->bits,
                               .is_first = true,
                               .pressure_unit = 1.0};
    assert_int_equal(contact_set_create(&contacts, &w->contacts), TREACLE_OK);
    for (int64_t i = 0; i < w->contacts.count; ++i) {
        w->contacts.at[i].is_released = i * i % 7 < 3; // runs of one to four
    }
    contact_release_params params = {.domain = &s->domain,
                                     .map = &s->map,
                                     .contacts = &w->contacts,
                                     .cell_phi = w->phi,
                                     .cell_solid_phi = f->cell_phi,
                                     .cell_solid_id = f->cell_id,
                                     .face_open = face_view_of(f->face_open)};
    assert_true(contact_release_is_needed(&w->contacts));
    contact_release_compute(&params, &w->out);
}

// The pressure of a cell pushes the liquid along the normal of a solid that it touches, and where
// it has let go not at all; and as much flows out of it as in if the liquid slides by.
static void test_no_cell_sees_a_step_where_contact_ends(void** state) {
    (void)state;
    static const double angles[] = {0.0, 0.3, 0.5236, 1.1}, shifts[] = {0.0, 0.3};
    for (int n = 0; n < 8; ++n) {
        release_world w = {0};
        release_world_begin(&w, angles[n / 2], shifts[n % 2]);
        release_some(&w);
        int released = 0;
        for (int64_t i = 0; i < w.contacts.count; ++i) {
            const contact* at = &w.contacts.at[i];
            bool is_gone = w.out.cell_solid_id[at->cell] == SLIP_LET_GO;
            assert_int_equal(is_gone, at->is_released);
            released += is_gone ? 1 : 0;
            int place[AXES];
            tile_cell_at(&w.s.map, (tile_ix)(at->cell / TILE_CELLS), (int)(at->cell % TILE_CELLS),
                         place);
            bool is_side = place[0] % 23 == 0 || place[1] % 23 == 0;
            for (int a = 0; a < 2 && !is_side; ++a) {
                double high = (double)w.out.face_open_below.at[a][at->high[a]];
                double low = (double)w.out.face_open.at[a][at->cell];
                double area = is_gone ? 0.0 : (double)at->area * (double)at->normal[a];
                assert_true(fabs(high - low - area) < 1e-5);
            }
        }
        assert_true(released > 5 && released < w.contacts.count - 5);
        release_world_end(&w);
    }
}

// --- one flow -----------------------------------------------------------------------------------

enum { WIDE = 32, HIGH = 16, FLOOR = 5, FACES = (WIDE + 1) * (HIGH + 1) };

typedef struct slide_result {
    double before, after; // momentum along the floor, of the faces of the liquid
    int64_t held, released;
} slide_result;

// A block of 16 x 6 cells on a floor runs along it at 1 m/s; one end is pushed down, the other up.
static slide_result slide(treacle_wall kind, double press, double tilt, double viscosity) {
    treacle_context* ctx = context_with(1);
    treacle_shape plane = treacle_shape_default(TREACLE_SHAPE_PLANE);
    plane.move[1] = FLOOR * 0.1;
    treacle_solid_def floor_def = treacle_solid_def_default();
    floor_def.shape = &plane;
    floor_def.wall = kind;
    floor_def.separation.is_on = true;
    treacle_material_def goo = treacle_material_def_default();
    goo.viscosity = viscosity;
    treacle_sim_def def = treacle_sim_def_default();
    def.domain.size[0] = WIDE * 0.1;
    def.domain.size[1] = HIGH * 0.1;
    def.domain.size[2] = 0.0;
    def.domain.cell = 0.1;
    def.flow = TREACLE_FLOW_UNIFIED;
    def.pressure.tolerance = 1e-6;
    def.material_count = def.solid_count = 1;
    def.materials = &goo;
    def.solids = &floor_def;
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_sim_create(ctx, &def, &sim), TREACLE_OK);
    static float distance[WIDE * HIGH], u[FACES], v[FACES], fraction[2][FACES];
    for (int i = 0; i < WIDE * HIGH; ++i) {
        double x = i % WIDE + 0.5, y = (double)(i / WIDE) + 0.5;
        distance[i] = (float)fmax(fabs(x - 16.0) - 8.0, y - FLOOR - 6.0);
    }
    for (int i = 0; i < FACES; ++i) {
        u[i] = 1.0f;
        v[i] = (float)(tilt * (i % (WIDE + 1) + 0.5 - 16.0) - press);
    }
    treacle_stages_liquid liquid = {.distance = distance,
                                    .velocity = {u, v, NULL},
                                    .share = {fraction[0], fraction[1], NULL},
                                    .dt = 0.01,
                                    .push = 0.1};
    treacle_step_stats stats;
    assert_int_equal(treacle_stages_flow(sim, &liquid, &stats), TREACLE_OK);
    slide_result out = {.held = stats.walls_held, .released = stats.walls_released};
    for (int i = FLOOR * (WIDE + 1); i < FACES; ++i) {
        out.before += (double)fraction[0][i];
        out.after += (double)fraction[0][i] * (double)u[i];
    }
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    return out;
}

static void test_walls_that_slip_exert_no_shear_touched_or_let_go_of(void** state) {
    (void)state;
    static const double viscosities[] = {0.0, 1.0, 100.0, 1e4};
    for (int i = 0; i < 4; ++i) {
        slide_result at = slide(TREACLE_WALL_SLIP, 0.0, 0.02, viscosities[i]);
        assert_true(at.held > 3 && at.released > 3);
        assert_true(fabs(at.after / at.before - 1.0) < 1e-6);
    }
}

static void test_walls_that_stick_brake_what_touches_them(void** state) {
    (void)state;
    slide_result touching = slide(TREACLE_WALL_NO_SLIP, 3.0, 0.0, 1e5);
    assert_int_equal(touching.released, 0);
    assert_true(touching.after < 0.2 * touching.before);
    slide_result half = slide(TREACLE_WALL_NO_SLIP, 1.0, 0.3, 1e5);
    assert_true(half.held > 3 && half.released > 3);
    assert_true(half.after < 0.5 * half.before && half.after > touching.after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_cell_sees_a_step_where_contact_ends),
        cmocka_unit_test(test_walls_that_slip_exert_no_shear_touched_or_let_go_of),
        cmocka_unit_test(test_walls_that_stick_brake_what_touches_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
