// The page's files, made into C by tools/embed_files.py while building.
#pragma once

#include <stddef.h>

typedef struct page_asset {
    const char* name; // "index.html"
    const char* type; // of MIME
    const unsigned char* data;
    size_t size;
} page_asset;

extern const page_asset page_assets[];
extern const int page_asset_count;
