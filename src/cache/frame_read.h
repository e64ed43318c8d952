// Reading a frame from memory: the door for tests and fuzzing.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "treacle/cache.h"

/// The same as treacle_frame_read() on a file with these bytes. `name` stands in for the path.
treacle_status frame_parse(treacle_context* ctx, const char* name, const uint8_t* bytes,
                           size_t size, treacle_loaded_frame** out) TREACLE_NODISCARD;
