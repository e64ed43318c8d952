// Scenes to begin with, the files of apps/starters; their names are without the ".yaml".
#pragma once

#include "embedded_file.h"

extern const embedded_file starters[];
extern const int starters_count;
