// Materials from the library: `preset: honey` in a material, or a preset's name in place of a
// material's.
#include <string.h>

#include "scene/bind.h"
#include "scene/scene_internal.h"
#include "treacle/materials.h"

enum { MATERIALS_MAX = 256 };

static treacle_status report_no_preset(binder* b, const bind_slot* slot) {
    char quote[BIND_QUOTE_MAX];
    bind_quote(slot->node, quote);
    bool is_word = slot->node->kind == NODE_SCALAR && !scene_node_is_null(slot->node);
    const char* near = is_word ? treacle_material_preset_suggest(slot->node->text) : NULL;
    if (near != NULL) {
        return bind_error(b, slot->node->place, slot->path,
                          "there is no preset %s; did you mean '%s'?", quote, near);
    }
    return bind_error(b, slot->node->place, slot->path,
                      "expected the name of a preset, got %s; 'treacle materials' lists them",
                      quote);
}

static const treacle_material_preset* preset_of(const scene_node* node) {
    return node->kind == NODE_SCALAR && !scene_node_is_null(node)
               ? treacle_material_preset_find(node->text)
               : NULL;
}

treacle_status bind_preset(binder* b, const bind_slot* slot) {
    const treacle_material_preset* preset = preset_of(slot->node);
    if (preset == NULL) {
        return report_no_preset(b, slot);
    }
    treacle_material_def* material = (treacle_material_def*)(void*)slot->item;
    const char* name = material->name;
    *material = preset->material;
    material->name = name;
    return TREACLE_OK;
}

static treacle_status append(binder* b, const treacle_material_def* material, int* index) {
    treacle_sim_def* sim = &b->root->sim;
    size_t count = (size_t)sim->material_count;
    void* block = NULL;
    TREACLE_TRY(scene_pool_take(b->pool, count + 1, sizeof(*material), &block));
    treacle_material_def* materials = block;
    if (count > 0) {
        memcpy(materials, sim->materials, count * sizeof(*materials));
    }
    materials[count] = *material;
    sim->materials = materials;
    *index = sim->material_count;
    sim->material_count += 1;
    return TREACLE_OK;
}

treacle_status bind_add_preset(binder* b, const scene_node* node, int* index) {
    TREACLE_ASSERT(index != NULL && node != NULL);
    const treacle_material_preset* preset = preset_of(node);
    treacle_material_def water = treacle_material_def_default();
    int count = b->root->sim.material_count;
    *index = -1;
    if (preset == NULL || count >= MATERIALS_MAX) {
        return TREACLE_OK;
    }
    // A scene without materials has one of that name.
    bool is_default = count == 0 && strcmp(preset->name, water.name) == 0;
    return append(b, is_default ? &water : &preset->material, index);
}
