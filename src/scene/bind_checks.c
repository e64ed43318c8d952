// Which check looks at which section as a whole.
#include "scene/bind.h"

typedef struct section_check {
    const schema_section* section;
    bind_check_fcn* check;
} section_check;

static const section_check checks[] = {
    {&schema_root, bind_check_root},         {&schema_domain, bind_check_domain},
    {&schema_sides, bind_check_sides},       {&schema_viscosity_solve, bind_check_viscosity},
    {&schema_rheology, bind_check_rheology}, {&schema_elastic, bind_check_elastic},
    {&schema_viscosity_law, bind_check_law}, {&schema_emitter, bind_check_emitter},
    {&schema_drop, bind_check_drop},         {&schema_solid, bind_check_solid},
    {&schema_body, bind_check_body},         {&schema_look, bind_check_look},
    {&schema_camera, bind_check_camera},     {&schema_box, bind_shape_check_box},
    {&schema_torus, bind_shape_check_torus}, {&schema_plane, bind_shape_check_plane},
    {&schema_mesh, bind_check_mesh},
};

bind_check_fcn* bind_check_of(const schema_section* section) {
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); ++i) {
        if (checks[i].section == section) {
            return checks[i].check;
        }
    }
    return NULL;
}
