// What differs between two texts, line by line.
#pragma once

#include <stdbool.h>

/// Prints the lines that only the first text has after "a: ", and those that only the second has
/// after "b: ", in their order. False if there is no memory for it or a text has too many lines.
bool line_diff_print(const char* a, const char* b);
