// Messages for people, through the context's callback.
#pragma once

#include "base/context.h"

void log_message(treacle_context* ctx, treacle_log_level level, const char* format, ...)
    TREACLE_PRINTF(3, 4);
