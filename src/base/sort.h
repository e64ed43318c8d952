// Sorts in place. The C library's qsort may take memory from the heap, and steps do not.
#pragma once

#include <stddef.h>

/// Below, above or at zero as *a comes before, after or with *b. Which comes first of two that are
/// not the same must always be known.
typedef int sort_order(const void* a, const void* b);

void sort_items(void* items, size_t count, size_t bytes, sort_order* order);
