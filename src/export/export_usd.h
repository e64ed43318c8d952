// All frames of an export as one USD file in text.
#pragma once

#include "export/export_geometry.h"

typedef struct export_usd export_usd;

/// Frames go to spools beside the path, one an attribute, which have no names: a file in text has
/// all samples of an attribute together.
treacle_status export_usd_create(treacle_context* ctx, const char* path,
                                 export_usd** out) TREACLE_NODISCARD;
treacle_status export_usd_add(export_usd* usd, const export_geometry* g) TREACLE_NODISCARD;
/// Puts the file together.
treacle_status export_usd_finish(export_usd* usd) TREACLE_NODISCARD;
/// Accepts NULL.
void export_usd_destroy(export_usd* usd);
