// Rules about several keys of one section: what must go together. Scene files and defs of programs
// keep the same ones.
#pragma once

#include "defs/schema.h"

schema_rule_fcn rule_root, rule_ramp, rule_step, rule_viscosity_solve, rule_material,
    rule_viscosity_law, rule_emitter, rule_sink, rule_force, rule_heat_source, rule_marker_source,
    rule_joint, rule_solid;

// Sections that count for nothing as they are.
bool rule_is_newtonian(const void* rheology);
bool rule_rheology_needs(const void* rheology, const char* key);
bool rule_law_needs(const void* viscosity_law, const char* key);
bool rule_is_not_elastic(const void* elastic);
bool rule_does_not_shrink(const void* shrinkage);
bool rule_has_no_law(const void* viscosity_law);
