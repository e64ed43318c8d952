// Checks of materials.
#include <math.h>

#include "defs/def_features.h"
#include "scene/bind.h"

// In people's words; a corotational strain turns as fast as it grows, so that its norm in shear
// never exceeds sqrt 2.
treacle_status bind_check_elastic(binder* b, const scene_node* map, void* item,
                                  const schema_path* path) {
    const double root_two = sqrt(2.0);
    treacle_elastic_def* e = item;
    bool has_word = !isnan(e->gamma);
    def_elastic_to_words(e);
    double gamma = e->yield_stress / (root_two * e->shear_modulus);
    if (isfinite(gamma) && gamma > root_two && e->rate == TREACLE_STRAIN_COROTATIONAL &&
        isfinite(e->relaxation_time)) {
        return bind_warning(b, bind_place(map, has_word ? "gamma" : "yield_stress"), path,
                            "it yields at a strain of %g, but in shear a corotational strain never "
                            "exceeds 1.414, so it will not yield; with a yield stress below %g "
                            "Pa, or with 'rate: convected', it would",
                            gamma, 2.0 * e->shear_modulus);
    }
    return TREACLE_OK;
}

// A law runs with the numbers that it needs, or not at all: of its own or of a preset.
static treacle_status check_rheology_numbers(binder* b, const scene_node* map,
                                             const treacle_rheology_def* r,
                                             const schema_path* path) {
    treacle_rheology_def none = treacle_material_def_default().rheology;
    bool is_power = r->law == TREACLE_RHEOLOGY_POWER_LAW;
    bool is_plain = r->consistency == none.consistency && r->exponent == none.exponent &&
                    scene_node_find(map, "consistency") == NULL &&
                    scene_node_find(map, "exponent") == NULL;
    bool is_herschel = r->law == TREACLE_RHEOLOGY_HERSCHEL_BULKLEY;
    bool yields = r->law == TREACLE_RHEOLOGY_BINGHAM || is_herschel;
    const char* missing =
        is_power && is_plain ? "'consistency' and 'exponent'"
        : r->law == TREACLE_RHEOLOGY_CARREAU && r->time == 0.0 &&
                scene_node_find(map, "time") == NULL
            ? "'time' and 'exponent'"
        : yields && r->yield_stress == 0.0 && scene_node_find(map, "yield_stress") == NULL
            ? "'yield_stress'"
        : is_herschel && r->consistency == none.consistency &&
                scene_node_find(map, "consistency") == NULL
            ? "'consistency'"
            : NULL;
    return missing == NULL ? TREACLE_OK
                           : bind_error(b, bind_place(map, "law"), path,
                                        "this law has no numbers: expected %s", missing);
}

treacle_status bind_check_rheology(binder* b, const scene_node* map, void* item,
                                   const schema_path* path) {
    const treacle_rheology_def* r = item;
    // What each law takes, in the order of the enum.
    static const struct {
        const char* key;
        unsigned laws;
    } rules[] = {
        {"consistency", 1u << TREACLE_RHEOLOGY_POWER_LAW | 1u << TREACLE_RHEOLOGY_HERSCHEL_BULKLEY},
        {"exponent", 1u << TREACLE_RHEOLOGY_POWER_LAW | 1u << TREACLE_RHEOLOGY_CARREAU |
                         1u << TREACLE_RHEOLOGY_HERSCHEL_BULKLEY},
        {"yield_stress", 1u << TREACLE_RHEOLOGY_BINGHAM | 1u << TREACLE_RHEOLOGY_HERSCHEL_BULKLEY},
        {"viscosity_infinite", 1u << TREACLE_RHEOLOGY_CARREAU},
        {"time", 1u << TREACLE_RHEOLOGY_CARREAU},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i) {
        const scene_node* node = scene_node_find(map, rules[i].key);
        if (node != NULL && (rules[i].laws >> r->law & 1u) == 0) {
            TREACLE_TRY(bind_warning(b, node->place, path, "'%s' has no effect with 'law: %s'",
                                     rules[i].key, schema_rheology.keys[0].words[r->law]));
        }
    }
    return check_rheology_numbers(b, map, r, path);
}

// A zone alone does not say between which viscosities.
treacle_status bind_check_law(binder* b, const scene_node* map, void* item,
                              const schema_path* path) {
    const treacle_viscosity_law* law = item;
    bool is_zone = law->kind == TREACLE_LAW_LINEAR || law->kind == TREACLE_LAW_QUADRATIC;
    if (is_zone && scene_node_find(map, "low") == NULL && scene_node_find(map, "high") == NULL) {
        return bind_error(b, bind_place(map, "kind"), path,
                          "this law has no numbers: expected 'low' and 'high'");
    }
    return TREACLE_OK;
}
