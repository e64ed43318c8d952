// Checks of sections that have to do with heat. What programs hand to the library is checked there
// once more; here complaints have a place in the file.
#include "scene/bind.h"

static treacle_status not_monotone(binder* b, scene_place place, const bind_path* path,
                                   const char* why) {
    return bind_error(b, place, path,
                      "the law is not monotone as it must be: what is heated would get thicker; %s",
                      why);
}

static treacle_status check_ramp(binder* b, const scene_node* map, const treacle_viscosity_law* law,
                                 const bind_path* path) {
    if (!(law->from < law->to)) {
        return bind_error(b, bind_place(map, "to"), path,
                          "'to' (%.9g) must be more than 'from' (%.9g)", law->to, law->from);
    }
    if (scene_node_find(map, "low") == NULL && scene_node_find(map, "high") == NULL) {
        return bind_error(b, bind_place(map, "kind"), path,
                          "this law has no numbers: expected 'low' and 'high'");
    }
    if (law->of == TREACLE_LAW_OF_TEMPERATURE && law->low < law->high) {
        return not_monotone(b, bind_place(map, "high"), path, "exchange 'low' and 'high'");
    }
    return TREACLE_OK;
}

static treacle_status check_table(binder* b, const scene_node* map,
                                  const treacle_viscosity_law* law, const bind_path* path) {
    const treacle_curve* table = &law->table;
    if (table->count < 2) {
        return bind_error(b, bind_place(map, "table"), path,
                          "expected a 'table' of two points or more: [[20 degC, 100], [60 degC, "
                          "1]]");
    }
    if (law->of == TREACLE_LAW_OF_TEMPERATURE && table->keys[0].time < 0.0) {
        return bind_error(b, bind_place(map, "table"), path,
                          "the table begins at %.9g K, below absolute zero", table->keys[0].time);
    }
    for (int i = 1; i < table->count && law->of == TREACLE_LAW_OF_TEMPERATURE; ++i) {
        if (table->keys[i].value[0] > table->keys[i - 1].value[0]) {
            return not_monotone(b, bind_place(map, "table"), path,
                                "each viscosity must be at most the one before it");
        }
    }
    return TREACLE_OK;
}

// The number by which a formula gets thinner as it gets hotter: 0 is what nobody gave.
static treacle_status check_rise(binder* b, const scene_node* map, double rise, const char* key,
                                 const bind_path* path) {
    if (rise == 0.0) {
        return bind_error(b, bind_place(map, scene_node_find(map, key) == NULL ? "kind" : key),
                          path,
                          "this law has no numbers: expected '%s'%s, or a preset that has them",
                          key, key[0] == 'b' ? ", 'a' and 'c'" : "");
    }
    return rise > 0.0 ? TREACLE_OK
                      : not_monotone(b, bind_place(map, key), path, "that number must be > 0");
}

treacle_status bind_check_law(binder* b, const scene_node* map, void* item, const bind_path* path) {
    const treacle_viscosity_law* law = item;
    if (law->most < law->least) {
        return bind_error(b, bind_place(map, "most"), path,
                          "'most' (%.9g Pa.s) is less than 'least' (%.9g Pa.s)", law->most,
                          law->least);
    }
    bool is_formula = law->kind == TREACLE_LAW_ARRHENIUS || law->kind == TREACLE_LAW_VFT;
    if (is_formula && law->of == TREACLE_LAW_OF_MARKER) {
        return bind_error(b, bind_place(map, "of"), path,
                          "this kind of law is one of the temperature");
    }
    switch (law->kind) {
    case TREACLE_LAW_LINEAR:
    case TREACLE_LAW_QUADRATIC:
        return check_ramp(b, map, law, path);
    case TREACLE_LAW_ARRHENIUS:
        return check_rise(b, map, law->activation, "activation", path);
    case TREACLE_LAW_VFT:
        return check_rise(b, map, law->b, "b", path);
    case TREACLE_LAW_TABLE:
        return check_table(b, map, law, path);
    case TREACLE_LAW_NONE:
        break;
    }
    return TREACLE_OK;
}

treacle_status bind_check_material(binder* b, const scene_node* map, void* item,
                                   const bind_path* path) {
    const treacle_material_def* m = item;
    if (m->viscosity_law.kind == TREACLE_LAW_ARRHENIUS && !(m->viscosity > 0.0)) {
        return bind_error(b, bind_place(map, "viscosity_law"), path,
                          "an 'arrhenius' law multiplies the 'viscosity', which is 0");
    }
    if (m->latent_heat == 0.0) {
        return TREACLE_OK;
    }
    if (!(m->solidus > 0.0 && m->solidus <= m->liquidus)) {
        return bind_error(b, bind_place(map, m->solidus > 0.0 ? "liquidus" : "solidus"), path,
                          "with a 'latent_heat', expected 'solidus' (%.9g K) at most 'liquidus' "
                          "(%.9g K), both given",
                          m->solidus, m->liquidus);
    }
    double end = m->freezing_solidus == 0.0 ? m->solidus : m->freezing_solidus;
    double begin = m->freezing_liquidus == 0.0 ? m->liquidus : m->freezing_liquidus;
    if (!(end <= begin && end <= m->solidus && begin <= m->liquidus)) {
        return bind_error(b, bind_place(map, "freezing_liquidus"), path,
                          "it freezes from %.9g K to %.9g K and melts from %.9g K to %.9g K: "
                          "freezing must not be warmer than melting",
                          begin, end, m->solidus, m->liquidus);
    }
    return TREACLE_OK;
}

treacle_status bind_check_heat_source(binder* b, const scene_node* map, void* item,
                                      const bind_path* path) {
    const treacle_heat_source_def* source = item;
    if (source->place.count > 0 && source->power.count == 0) {
        return bind_error(b, bind_place(map, "temperature"), path,
                          "a point that radiates has a 'power', not a 'temperature'");
    }
    if (!(source->stop > source->start)) {
        return bind_error(b, bind_place(map, "stop"), path,
                          "'stop' (%g s) must be after 'start' (%g s)", source->stop,
                          source->start);
    }
    return TREACLE_OK;
}

treacle_status bind_check_marker_source(binder* b, const scene_node* map, void* item,
                                        const bind_path* path) {
    const treacle_marker_source_def* source = item;
    if (!(source->stop > source->start)) {
        return bind_error(b, bind_place(map, "stop"), path,
                          "'stop' (%g s) must be after 'start' (%g s)", source->stop,
                          source->start);
    }
    return TREACLE_OK;
}
