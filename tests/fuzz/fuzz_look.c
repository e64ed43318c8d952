// Look and camera of a scene: what is accepted must give the path tracer materials, lamps and
// surroundings of finite numbers. An input is the text of the sections.
#include <math.h>
#include <stdio.h>

#include "fuzz.h"
#include "render/trace_look.h"
#include "treacle/treacle.h"

static const char head[] = "domain: {size: [1, 1, 1], cell: 0.25}\n"
                           "materials: {honey: {density: 1400}, wax: {density: 900}}\n"
                           "solids: {floor: {shape: {plane: {normal: [0, 1, 0]}}}}\n";

static bool is_finite(v3f v) {
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static void check_material(const trace_material* m) {
    fuzz_check(is_finite(m->colour) && isfinite(m->texture_size) && isfinite(m->glow));
    fuzz_check(is_finite(m->medium.scatter) && is_finite(m->medium.absorb));
    fuzz_check(m->kind != TRACE_DIPOLE || is_finite(m->medium.total));
    for (int i = 0; i <= TRACE_ENERGY_STEPS; ++i) {
        fuzz_check(isfinite(m->facets.energy[0][i]) && isfinite(m->facets.energy[1][i]));
    }
}

static void check_look(treacle_context* ctx, const treacle_scene* scene) {
    const treacle_sim_def* sim = treacle_scene_sim(scene);
    treacle_render_def def = treacle_render_def_default();
    def.look = *treacle_scene_look(scene);
    def.camera = *treacle_scene_camera(scene);
    def.material_count = sim->material_count;
    def.materials = sim->materials;
    trace_material m;
    for (int i = 0; i <= sim->material_count; ++i) {
        const trace_look_room room = {1.7, 0.03 * i, i % 2 == 1};
        trace_look_material(&def, i, &room, &m);
        check_material(&m);
    }
    trace_look_solid(&def.look.solid, 0, 1.7, &m);
    check_material(&m);
    trace_look_ground(&def.look, 1.7, &m);
    check_material(&m);
    for (int i = 0; i < def.look.lamp_count; ++i) {
        trace_lamp lamp = trace_look_lamp(&def.look.lamps[i]);
        fuzz_check(is_finite(lamp.centre) && is_finite(lamp.normal) && is_finite(lamp.radiance));
    }
    trace_environment sky = {0};
    if (def.look.environment != TREACLE_ENVIRONMENT_FILE) {
        fuzz_check(trace_look_environment(ctx, &def.look, &sky) == TREACLE_OK);
        fuzz_check(is_finite(sky.pixel[77]) && is_finite(sky.sun_radiance));
        trace_environment_destroy(&sky);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    treacle_context* ctx = fuzz_context();
    char* text = malloc(sizeof(head) + size);
    treacle_scene* scene = NULL;
    fuzz_check(text != NULL);
    memcpy(text, head, sizeof(head) - 1);
    memcpy(text + sizeof(head) - 1, data, size);
    treacle_status status =
        treacle_scene_parse(ctx, "look.yaml", text, sizeof(head) - 1 + size, 0, NULL, &scene);
    fuzz_check(scene != NULL && (status == TREACLE_OK || status == TREACLE_ERR_SCENE));
    if (status == TREACLE_OK) {
        check_look(ctx, scene);
    }
    treacle_scene_destroy(scene);
    free(text);
    fuzz_context_end(ctx);
    return 0;
}
