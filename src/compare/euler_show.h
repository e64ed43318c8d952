// Liquid on the grid as pictures show it.
#pragma once

#include "compare/euler_work.h"

typedef struct euler_picture {
    solid_scene solids; // where they are; none: count is 0
    float colour[3];
    particles* points; // that are made
} euler_picture;

/// Points inside the surface of `e`, with what particles there would carry, sorted.
treacle_status euler_show(const euler_work* e, const euler_picture* picture) TREACLE_NODISCARD;
