// Numbers as people read them.
#pragma once

#include <stdint.h>

enum { HUMAN_CAPACITY = 48 };

typedef struct human_text {
    char at[HUMAN_CAPACITY];
} human_text;

/// "512 B", "1.4 MB": powers of 1000.
human_text human_bytes(double bytes);
/// "0.42 s", "3 min 20 s", "2 h 5 min", "3 days 4 h".
human_text human_seconds(double seconds);
/// "8192", "1.23 million".
human_text human_count(double count);
/// "3.9 mm", "0.25 m".
human_text human_metres(double metres);
