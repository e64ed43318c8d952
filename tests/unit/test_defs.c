// A def that a program hands over is held to the table of keys; what follows from it is told.
#include "unit.h"

#include "defs/def_check.h"
#include "defs/schema.h"
#include "sim_scene.h"
#include "treacle/scene.h"

// Changes one thing of a scene that is right.
typedef void spoil(sim_scene* s);

static void refused(treacle_context* ctx, spoil* change, const char* words) {
    sim_scene s;
    sim_scene_fill(&s);
    assert_int_equal(def_check(ctx, &s.def), TREACLE_OK);
    change(&s);
    assert_int_equal(def_check(ctx, &s.def), TREACLE_ERR_SCENE);
    if (strstr(treacle_context_error(ctx), words) == NULL) {
        fail_msg("expected \"%s\" in \"%s\"", words, treacle_context_error(ctx));
    }
}

static void make_light(sim_scene* s) {
    s->materials[1].density = 0.0;
}
static void lose_viscosity(sim_scene* s) {
    s->materials[0].viscosity = NAN;
}
static void step_far(sim_scene* s) {
    s->def.step.cfl = 6.0;
}
static void swap_steps(sim_scene* s) {
    s->def.step.min_dt = 0.01;
    s->def.step.max_dt = 0.001;
}
static void choose_nothing(sim_scene* s) {
    s->def.flow = (treacle_flow)7;
}
static void name_no_material(sim_scene* s) {
    s->emitter.material = 2;
}
static void crowd(sim_scene* s) {
    s->def.particles.per_cell = 65;
}
static void race(sim_scene* s) {
    s->liquids[1].velocity.value_a[2] = 1e7;
}
static void reverse(sim_scene* s) {
    s->emitter.stop = -1.0;
}
static void count_without_items(sim_scene* s) {
    s->def.heat_source_count = 1;
}
static void fall_for_ever(sim_scene* s) {
    static const treacle_key key = {.value = {0.0, -1e7, 0.0}};
    s->def.gravity = (treacle_curve){.count = 1, .keys = &key};
}
static void give_a_law_without_numbers(sim_scene* s) {
    s->materials[0].viscosity = 1.0;
    s->materials[0].viscosity_law.kind = TREACLE_LAW_ARRHENIUS;
}
static void carry_two_on_the_grid(sim_scene* s) {
    s->def.motion = TREACLE_MOTION_EULERIAN;
}

static void what_is_outside_its_range_is_refused_by_its_key(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    refused(ctx, make_light, "materials[1].density is 0 kg/m^3: must be from 1e-6 to 1000000 kg");
    refused(ctx, lose_viscosity, "materials[0].viscosity is nan");
    refused(ctx, step_far, "step.cfl is 6: must be from 0.1 to 5");
    refused(ctx, crowd, "particles.per_cell is 65: must be from 1 to 64");
    refused(ctx, choose_nothing, "flow is 7: there are 5 choices");
    refused(ctx, name_no_material, "emitters[0].material is 2: there are 2 materials");
    refused(ctx, race, "liquids[1].velocity is 1e+07 m/s");
    refused(ctx, fall_for_ever, "gravity is -1e+07 m/s^2");
    refused(ctx, reverse, "emitters[0].stop is -1 s");
    refused(ctx, count_without_items, "heat_sources: 1 are given but none is there");
    unit_context_end(ctx);
}

static void keys_that_do_not_go_together_are_refused_as_in_a_scene_file(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    refused(ctx, swap_steps, "step: 'min_dt' (0.01 s) is larger than 'max_dt' (0.001 s)");
    refused(ctx, give_a_law_without_numbers,
            "materials[0].viscosity_law: this law has no numbers: expected 'activation'");
    refused(ctx, carry_two_on_the_grid, "'motion: eulerian' knows one material only");
    unit_context_end(ctx);
}

// Sections that are not used may be empty: a def need not be made of defaults.
static void what_counts_for_nothing_is_not_looked_at(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    sim_scene s;
    sim_scene_fill(&s);
    memset(&s.materials[0].rheology, 0, sizeof(s.materials[0].rheology));
    memset(&s.materials[0].elastic, 0, sizeof(s.materials[0].elastic));
    memset(&s.materials[0].viscosity_law, 0, sizeof(s.materials[0].viscosity_law));
    assert_int_equal(def_check(ctx, &s.def), TREACLE_OK);
    unit_context_end(ctx);
}

// Every number that a section begins with lies in its own range, or is one that stands for more
// than a number.
static void defaults_of_all_parts_pass(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim_def def = treacle_sim_def_default();
    treacle_material_def material = treacle_material_def_default();
    treacle_liquid_def liquid = treacle_liquid_def_default();
    treacle_emitter_def emitter = treacle_emitter_def_default();
    treacle_drop_def drop = treacle_drop_def_default();
    treacle_sink_def sink = treacle_sink_def_default();
    treacle_force_def force = treacle_force_def_default();
    treacle_solid_def solid = treacle_solid_def_default();
    treacle_body_def body = treacle_body_def_default();
    def.material_count = def.liquid_count = def.emitter_count = def.drop_count = 1;
    def.sink_count = def.force_count = def.solid_count = def.body_count = 1;
    def.materials = &material;
    def.liquids = &liquid;
    def.emitters = &emitter;
    def.drops = &drop;
    def.sinks = &sink;
    def.forces = &force;
    def.solids = &solid;
    def.bodies = &body;
    treacle_status status = def_check(ctx, &def);
    if (status != TREACLE_OK) {
        print_message("%s\n", treacle_context_error(ctx));
    }
    assert_int_equal(status, TREACLE_OK);
    unit_context_end(ctx);
}

static void plan_says(treacle_context* ctx, const treacle_sim_def* def, const char* words) {
    char* plan = NULL;
    assert_int_equal(treacle_sim_plan(ctx, def, &plan), TREACLE_OK);
    if (strstr(plan, words) == NULL) {
        fail_msg("expected \"%s\" in:\n%s", words, plan);
    }
    treacle_text_free(ctx, plan);
}

static void a_plan_tells_what_follows_from_the_def(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    sim_scene s;
    sim_scene_fill(&s);
    plan_says(ctx, &s.def, "flow       none");
    s.def.flow = TREACLE_FLOW_AUTO;
    plan_says(ctx, &s.def, "flow       pressure, no viscosity");
    plan_says(ctx, &s.def, "laws       densities that differ\n");
    plan_says(ctx, &s.def, "columns    position velocity id volume material affine\n");
    plan_says(ctx, &s.def, "ranks      each holds its own tiles");
    s.materials[0].viscosity = 1.0;
    plan_says(ctx, &s.def, "flow       unified");
    plan_says(ctx, &s.def, "mean       of viscosities, geometric");
    s.materials[0].viscosity_law.kind = TREACLE_LAW_ARRHENIUS;
    s.materials[0].viscosity_law.activation = 1000.0;
    plan_says(ctx, &s.def, "mean       of viscosities, harmonic");
    s.materials[1].rheology.law = TREACLE_RHEOLOGY_POWER_LAW;
    s.materials[1].rheology.exponent = 0.5;
    plan_says(ctx, &s.def, "mean       of viscosities, geometric");
    s.def.viscosity_solve.mean = TREACLE_VISCOSITY_ARITHMETIC;
    plan_says(ctx, &s.def, "mean       of viscosities, arithmetic");
    s.materials[1].rheology.law = TREACLE_RHEOLOGY_NEWTONIAN;
    s.materials[0].viscosity_law.kind = TREACLE_LAW_NONE;
    s.def.viscosity_solve.method = TREACLE_VISCOSITY_EXPLICIT;
    plan_says(ctx, &s.def, "flow       split");
    plan_says(ctx, &s.def, "everything: viscosity acts by a comparator");
    s.materials[1].elastic.shear_modulus = 100.0;
    plan_says(ctx, &s.def, "affine strain\n");
    plan_says(ctx, &s.def, "elastic stress");
    s.def.heat.loss = 5.0;
    plan_says(ctx, &s.def, "temperature strain enthalpy melted\n");
    plan_says(ctx, &s.def, " forces heat flow ");
    unit_context_end(ctx);
}

static void a_plan_of_a_wrong_def_is_an_error(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim_def def = treacle_sim_def_default();
    def.fps = 0.0;
    char* plan = NULL;
    assert_int_equal(treacle_sim_plan(ctx, &def, &plan), TREACLE_ERR_SCENE);
    assert_null(plan);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_outside_its_range_is_refused_by_its_key),
        cmocka_unit_test(keys_that_do_not_go_together_are_refused_as_in_a_scene_file),
        cmocka_unit_test(what_counts_for_nothing_is_not_looked_at),
        cmocka_unit_test(defaults_of_all_parts_pass),
        cmocka_unit_test(a_plan_tells_what_follows_from_the_def),
        cmocka_unit_test(a_plan_of_a_wrong_def_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
