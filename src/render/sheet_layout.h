// How pictures lie in a contact sheet.
#pragma once

#include <stdint.h>

#include "base/check.h"

enum { SHEET_PIXELS_MAX = 16384, SHEET_PICTURES_MAX = 10000, SHEET_GAP_MAX = 1000 };

typedef struct sheet_layout {
    int columns, rows;
    int gap;               // pixels between pictures and around them
    int tile[2];           // pixels of a picture
    int64_t width, height; // pixels in all
} sheet_layout;

/// columns 0: about as many as rows. The sheet may be larger than SHEET_PIXELS_MAX.
static inline sheet_layout sheet_lay_out(int count, int columns, int gap, const int tile[2]) {
    TREACLE_ASSERT(count > 0 && columns >= 0 && gap >= 0);
    sheet_layout l = {.columns = columns, .gap = gap, .tile = {tile[0], tile[1]}};
    while (l.columns * l.columns < count && columns == 0) {
        l.columns += 1;
    }
    l.columns = l.columns < count ? l.columns : count;
    l.rows = (count + l.columns - 1) / l.columns;
    l.width = (int64_t)l.columns * (tile[0] + gap) + gap;
    l.height = (int64_t)l.rows * (tile[1] + gap) + gap;
    return l;
}

static inline int sheet_left(const sheet_layout* l, int index) {
    TREACLE_ASSERT(index >= 0 && l->columns > 0);
    return l->gap + index % l->columns * (l->tile[0] + l->gap);
}
static inline int sheet_top(const sheet_layout* l, int index) {
    TREACLE_ASSERT(index >= 0 && l->columns > 0);
    return l->gap + index / l->columns * (l->tile[1] + l->gap);
}
