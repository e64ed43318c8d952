// The looks that come with the program, looks/*.yaml, made into C while building.
#pragma once

#include "embedded_file.h"

extern const embedded_file look_assets[];
extern const int look_assets_count;
