// The materials library: presets with what is known of real liquids.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct treacle_material_preset {
    const char* name;              ///< as scenes write it
    const char* text;              ///< what it is, in a few words
    treacle_material_def material; ///< its name is the preset's
    double temperature;            ///< K, at which the values hold
    double surface_tension;     ///< N/m, against air; 0: not known. Scenes that want it say so: the
                                ///< material of the preset has none
    const char* tension_source; ///< where that is from; NULL: not known
    double vogel[3];    ///< log10 of the viscosity in Pa s is [0] + [1] / (T - [2]), T in K (Vogel,
                        ///< Fulcher, Tammann; Arrhenius if [2] is 0); all 0: not known
    const char* source; ///< where the values are from
    bool is_typical;    ///< they are typical figures, not one measurement
} treacle_material_preset;

TREACLE_API int treacle_material_preset_count(void);
/// In the order of the library.
TREACLE_API const treacle_material_preset* treacle_material_preset_at(int index);
/// NULL if there is none of that name.
TREACLE_API const treacle_material_preset* treacle_material_preset_find(const char* name);
/// The preset whose name is near to the word, or NULL.
TREACLE_API const char* treacle_material_preset_suggest(const char* word);
/// The viscosity in Pa s at a rate of shear in 1/s.
TREACLE_API double treacle_material_viscosity(const treacle_material_def* material, double rate);

#ifdef __cplusplus
}
#endif
