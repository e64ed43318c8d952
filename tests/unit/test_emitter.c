#include "particle_fixture.h"

#include "alloc_failure.h"
#include "particles/emitter.h"
#include "particles/sink.h"

static const double pi = 3.14159265358979323846;

typedef struct nozzle {
    treacle_shape shape;
    treacle_key keys[3];
    treacle_emitter_def def;
    double area; // exact, m^2
} nozzle;

static nozzle disc(double radius) {
    nozzle n = {.shape = treacle_shape_default(TREACLE_SHAPE_CYLINDER),
                .area = pi * radius * radius};
    n.shape.radius = radius;
    n.shape.height = 0.1;
    n.def.direction[1] = -2.0;
    return n;
}

static nozzle box(double x, double z) {
    nozzle n = {.shape = treacle_shape_default(TREACLE_SHAPE_BOX), .area = x * z};
    n.shape.size[0] = x;
    n.shape.size[1] = 0.1;
    n.shape.size[2] = z;
    n.def.direction[1] = -2.0;
    return n;
}

// A ball looks the same from all sides.
static nozzle tilted_ball(double radius) {
    nozzle n = {.shape = treacle_shape_default(TREACLE_SHAPE_SPHERE), .area = pi * radius * radius};
    n.shape.radius = radius;
    n.def.direction[0] = 0.3;
    n.def.direction[1] = -0.7;
    n.def.direction[2] = 0.2;
    return n;
}

// A disc whose axis is turned with the direction.
static nozzle tilted_disc(double radius) {
    nozzle n = disc(radius);
    n.shape.rotate[2] = 0.5;
    n.def.direction[0] = -sin(0.5) * -1.0;
    n.def.direction[1] = cos(0.5) * -1.0;
    return n;
}

// Places it in the middle of a domain of size 1 and gives it a speed that rises from 1 to 3 m/s.
static void install(nozzle* n) {
    for (int a = 0; a < AXES; ++a) {
        n->shape.move[a] = 0.5;
    }
    n->keys[0] = (treacle_key){.time = 0.0, .value = {1.0}};
    n->keys[1] = (treacle_key){.time = 0.5, .value = {3.0}};
    n->keys[2] = (treacle_key){.time = 1.0, .value = {3.0}};
    n->def.shape = &n->shape;
    n->def.speed = (treacle_curve){3, n->keys};
    n->def.start = 0.0;
    n->def.stop = INFINITY;
}

static void init_emitter(treacle_context* ctx, const nozzle* n, const grid_domain* domain,
                         double jitter, emitter* e) {
    bool is_flat = !domain->is_active[2];
    emitter_setting setting = {.domain = domain,
                               .seed = 4,
                               .source = 7,
                               .particles = {.per_cell = is_flat ? 4 : 8, .jitter = jitter}};
    treacle_status status = emitter_init(ctx, &n->def, &setting, e);
    if (status != TREACLE_OK) {
        print_message("%s\n", treacle_context_error(ctx));
    }
    assert_int_equal(status, TREACLE_OK);
}

static double volume_of(const particles* p) {
    double volume = 0.0;
    for (particle_ix r = 0; r < p->count; ++r) {
        volume += (double)particles_f32(p, PARTICLE_VOLUME)[r];
    }
    return volume;
}

// Emits until `end` in steps of dt.
static void run(const emitter* e, double dt, double end, particles* p) {
    particles_clear(p);
    double t = 0.0;
    while (t < end - 1e-9) {
        double to = fmin(t + dt, end);
        int64_t count;
        assert_int_equal(emitter_emit(e, t, to, NULL, p, &count), TREACLE_OK);
        t = to;
    }
}

static void check_volume(nozzle n, bool is_flat, double exact_area) {
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, 40, 40, is_flat ? 1 : 40, 1.0 / 40, TREACLE_SIDE_OPEN);
    install(&n);
    emitter e;
    init_emitter(ctx, &n, &domain, 0.5, &e);
    assert_true(fabs(e.area / exact_area - 1.0) < 1e-3);
    particles p;
    assert_int_equal(particles_create(ctx, 0, &p), TREACLE_OK);
    const double steps[] = {1e-4, 1e-3, 0.01, 0.1};
    double path = 0.5 * 2.0 + 0.5 * 3.0; // m, by t = 1 s
    for (int i = 0; i < 4; ++i) {
        run(&e, steps[i], 1.0, &p);
        double error = volume_of(&p) / (exact_area * path) - 1.0;
        print_message("dt %g: volume %+.3f %%\n", steps[i], 100.0 * error);
        assert_true(fabs(error) < 0.01);
    }
    particles_destroy(&p);
    emitter_finish(&e);
    treacle_context_destroy(ctx);
}

static void test_the_volume_rate_is_right_whatever_the_step(void** state) {
    (void)state;
    nozzle flat = box(0.2, 1.0);
    check_volume(disc(0.13), false, disc(0.13).area);
    check_volume(box(0.11, 0.23), false, box(0.11, 0.23).area);
    check_volume(tilted_ball(0.1), false, tilted_ball(0.1).area);
    check_volume(tilted_disc(0.1), false, tilted_disc(0.1).area);
    flat.shape.size[2] = 10.0;
    check_volume(flat, true, 0.2 / 40);
}

static void test_a_rate_is_kept_to(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 40, 40, 40, 1.0 / 40, TREACLE_SIDE_OPEN);
    nozzle n = tilted_ball(0.12);
    install(&n);
    n.keys[0].value[0] = 0.02; // m^3/s
    n.def.rate = (treacle_curve){1, n.keys};
    n.def.start = 0.25;
    n.def.stop = 1.25;
    emitter e;
    particles p;
    init_emitter(ctx, &n, &domain, 1.0, &e);
    assert_int_equal(particles_create(ctx, 0, &p), TREACLE_OK);
    run(&e, 0.02, 3.0, &p);
    assert_true(fabs(volume_of(&p) / 0.02 - 1.0) < 0.02);
    run(&e, 0.02, 0.25, &p);
    assert_int_equal(p.count, 0);
    particles_destroy(&p);
    emitter_finish(&e);
    treacle_context_destroy(ctx);
}

static double back_to_birth(const emitter* e, const grid_domain* domain, const particles* p,
                            tile_ix group, particle_ix row, vec3* place) {
    // Undo what the stream has moved since: the place is a function of the id again.
    *place =
        particles_place(domain, p->tile[group], particles_f32(p, PARTICLE_POSITION) + AXES * row);
    return vec3_dot(*place, e->direction);
}

enum { BIRTHS_MAX = 40000 };

typedef struct birth_note {
    bool is_born;
    vec3 across; // the place without its part along the stream
    double along_minus_path;
} birth_note;

static void note_births(const emitter* e, const grid_domain* domain, double dt, double end,
                        birth_note* notes) {
    particles p;
    assert_int_equal(particles_create(e->ctx, 0, &p), TREACLE_OK);
    memset(notes, 0, BIRTHS_MAX * sizeof(*notes));
    int steps = (int)(end / dt + 0.5);
    for (int i = 0; i < steps; ++i) {
        double from = end * i / steps, to = end * (i + 1) / steps;
        int64_t count;
        particles_clear(&p);
        assert_int_equal(emitter_emit(e, from, to, NULL, &p, &count), TREACLE_OK);
        assert_int_equal(count, p.count);
        for (tile_ix g = 0; g < p.tile_count; ++g) {
            for (particle_ix r = p.tile_first[g]; r < p.tile_first[g + 1]; ++r) {
                uint64_t birth = particles_id(&p)[r] & (PARTICLE_BIRTHS_MAX - 1);
                assert_true(birth < BIRTHS_MAX && !notes[birth].is_born);
                vec3 place;
                double along = back_to_birth(e, domain, &p, g, r, &place);
                notes[birth].is_born = true;
                notes[birth].across = vec3_add_scaled(place, -along, e->direction);
                notes[birth].along_minus_path = along - emitter_path(e, to);
            }
        }
    }
    particles_destroy(&p);
}

static void test_births_do_not_depend_on_the_step(void** state) {
    (void)state;
    static birth_note fine[BIRTHS_MAX], coarse[BIRTHS_MAX];
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 40, 40, 40, 1.0 / 40, TREACLE_SIDE_OPEN);
    nozzle n = tilted_ball(0.08);
    install(&n);
    emitter e;
    init_emitter(ctx, &n, &domain, 1.0, &e);
    note_births(&e, &domain, 1e-3, 0.4, fine);
    const double steps[] = {2e-3, 0.04, 0.1, 0.4};
    for (int i = 0; i < 4; ++i) {
        int64_t births = 0;
        note_births(&e, &domain, steps[i], 0.4, coarse);
        for (int b = 0; b < BIRTHS_MAX; ++b) {
            assert_int_equal(fine[b].is_born, coarse[b].is_born);
            births += fine[b].is_born;
            vec3 gap = vec3_sub(fine[b].across, coarse[b].across);
            assert_true(vec3_length(gap) < 1e-6);
            assert_true(fabs(fine[b].along_minus_path - coarse[b].along_minus_path) < 1e-6);
        }
        assert_true(births > 1000);
    }
    emitter_finish(&e);
    treacle_context_destroy(ctx);
}

// The bar of liquid is as dense as seeded liquid: no two particles share a place, none is missing.
static void test_the_stream_is_evenly_filled(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 40, 40, 40, 1.0 / 40, TREACLE_SIDE_OPEN);
    nozzle n = box(0.2, 0.2);
    install(&n);
    n.keys[0].value[0] = n.keys[1].value[0] = n.keys[2].value[0] = 0.4; // one cell every 1/16 s
    emitter e;
    particles p;
    particle_sort_stats stats;
    init_emitter(ctx, &n, &domain, 0.5, &e);
    assert_int_equal(particles_create(ctx, 0, &p), TREACLE_OK);
    int64_t count;
    assert_int_equal(emitter_emit(&e, 0.0, 0.5, NULL, &p, &count), TREACLE_OK);
    assert_int_equal(sort_store(&p, &domain, &stats), TREACLE_OK);
    assert_int_equal(p.count, 8 * 8 * 64); // 8 cells of path, 8 x 8 wide, 8 each
    assert_true(particles_is_sorted(&p, &domain));
    particles_destroy(&p);
    emitter_finish(&e);
    treacle_context_destroy(ctx);
}

static void test_a_sink_takes_what_is_inside_while_it_works(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, 40, 40, 40, 1.0 / 40, TREACLE_SIDE_OPEN);
    nozzle n = box(0.4, 0.4);
    install(&n);
    emitter e;
    particles p;
    init_emitter(ctx, &n, &domain, 0.5, &e);
    assert_int_equal(particles_create(ctx, 0, &p), TREACLE_OK);
    int64_t count, before;
    assert_int_equal(emitter_emit(&e, 0.0, 0.2, NULL, &p, &before), TREACLE_OK);
    treacle_shape ball = treacle_shape_default(TREACLE_SHAPE_SPHERE);
    ball.radius = 0.1;
    ball.move[0] = ball.move[1] = ball.move[2] = 0.45;
    treacle_sink_def def = {.shape = &ball, .start = 1.0, .stop = 2.0};
    sink drain;
    arena scratch;
    arena_init(&scratch, ctx);
    assert_int_equal(sink_init(ctx, &def, &domain, &drain), TREACLE_OK);
    assert_int_equal(sink_absorb(&drain, 0.9, &p, &scratch, &count), TREACLE_OK);
    assert_int_equal(count, 0);
    assert_int_equal(sink_absorb(&drain, 1.0, &p, &scratch, &count), TREACLE_OK);
    assert_true(count > 50 && p.count == before - count);
    assert_true(particles_is_grouped(&p));
    for (tile_ix g = 0; g < p.tile_count; ++g) {
        for (particle_ix r = p.tile_first[g]; r < p.tile_first[g + 1]; ++r) {
            vec3 x = particles_place(&domain, p.tile[g],
                                     particles_f32(&p, PARTICLE_POSITION) + AXES * r);
            assert_false(shape_is_inside(drain.shape, x));
        }
    }
    assert_int_equal(sink_absorb(&drain, 2.1, &p, &scratch, &count), TREACLE_OK);
    sink_finish(&drain);
    arena_finish(&scratch);
    particles_destroy(&p);
    emitter_finish(&e);
    treacle_context_destroy(ctx);
}

static treacle_status init_and_emit(treacle_context* ctx, void* data) {
    const nozzle* n = data;
    grid_domain domain = make_domain(ctx, 100, 100, 1, 1.0 / 100, TREACLE_SIDE_OPEN);
    emitter_setting setting = {.domain = &domain, .particles = {.per_cell = 8, .jitter = 0.5}};
    emitter e;
    TREACLE_TRY(emitter_init(ctx, &n->def, &setting, &e));
    particles p;
    treacle_status status = particles_create(ctx, 0, &p);
    int64_t count;
    for (int i = 0; status == TREACLE_OK && i < 3; ++i) {
        status = emitter_emit(&e, 0.1 * i, 0.1 * (i + 1), NULL, &p, &count);
    }
    particles_destroy(&p);
    emitter_finish(&e);
    return status;
}

static void test_failing_memory_is_survived(void** state) {
    (void)state;
    nozzle n = disc(0.2);
    install(&n);
    n.shape.move[2] = 0.0;
    ALLOC_FAILURE_CHECK(init_and_emit, &n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_volume_rate_is_right_whatever_the_step),
        cmocka_unit_test(test_a_rate_is_kept_to),
        cmocka_unit_test(test_births_do_not_depend_on_the_step),
        cmocka_unit_test(test_the_stream_is_evenly_filled),
        cmocka_unit_test(test_a_sink_takes_what_is_inside_while_it_works),
        cmocka_unit_test(test_failing_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
