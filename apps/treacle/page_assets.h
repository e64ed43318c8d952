// The page's files.
#pragma once

#include "embedded_file.h"

extern const embedded_file page_assets[];
extern const int page_assets_count;
