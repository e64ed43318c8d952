// A file that is made into C by tools/embed_files.py while building.
#pragma once

#include <stddef.h>

typedef struct embedded_file {
    const char* name; // "index.html"
    const char* type; // of MIME
    const unsigned char* data;
    size_t size;
} embedded_file;
