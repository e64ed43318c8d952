// The statistics of a step as a JSON object, and back.
#pragma once

#include <jansson.h>

#include "treacle/run.h"

/// Writes the object without an end of line or of string; frame < 0: without a frame. Its length,
/// or 0 if memory ran out or there is no room.
size_t stats_line_format(int64_t frame, const treacle_step_stats* stats, size_t capacity,
                         char* out);
/// Adds the account of energy of a line; what is there at its end is taken over.
void stats_line_add_energy(const json_t* line, treacle_energy_stats* sum);
/// What the object of a line says; zero what it does not.
void stats_line_read(const json_t* line, treacle_step_stats* out);
