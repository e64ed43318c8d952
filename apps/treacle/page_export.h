// The page as files that a browser opens from disk.
#pragma once

#include "page_data.h"

/// Prints what is wrong; returns the exit code.
int page_export(const page_data* d, int64_t first, int64_t last, const char* folder);
