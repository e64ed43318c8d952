#include "human.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct unit {
    double size;
    const char* name;
} unit;

// With the largest unit that the value reaches; units descend and the last takes the rest.
static human_text in_units(double value, const unit* units, int count) {
    int k = 0;
    while (k < count - 1 && value < units[k].size) {
        ++k;
    }
    human_text text;
    snprintf(text.at, sizeof(text.at), "%.3g %s", value / units[k].size, units[k].name);
    return text;
}

human_text human_bytes(double bytes) {
    static const unit units[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1.0, "B"}};
    return in_units(bytes, units, 5);
}

human_text human_metres(double metres) {
    static const unit units[] = {{1e3, "km"}, {0.1, "m"}, {1e-3, "mm"}, {1e-6, "um"}};
    static const double scales[] = {1e3, 1.0, 1e-3, 1e-6};
    int k = 0;
    while (k < 3 && metres < units[k].size) {
        ++k;
    }
    human_text text;
    snprintf(text.at, sizeof(text.at), "%.4g %s", metres / scales[k], units[k].name);
    return text;
}

human_text human_count(double count) {
    human_text text;
    if (count < 1e5) {
        snprintf(text.at, sizeof(text.at), "%.0f", count);
        return text;
    }
    static const unit units[] = {{1e9, "billion"}, {1e6, "million"}, {1e3, "thousand"}};
    return in_units(count, units, 3);
}

human_text human_seconds(double seconds) {
    human_text text;
    int64_t s = seconds < 1e15 ? (int64_t)(seconds + 0.5) : (int64_t)1e15;
    if (seconds < 9.95) {
        snprintf(text.at, sizeof(text.at), "%.2g s", seconds);
    } else if (s < 60) {
        snprintf(text.at, sizeof(text.at), "%" PRId64 " s", s);
    } else if (s < 3600) {
        snprintf(text.at, sizeof(text.at), "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
    } else if (s < 48 * 3600) {
        snprintf(text.at, sizeof(text.at), "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
    } else {
        snprintf(text.at, sizeof(text.at), "%" PRId64 " days %" PRId64 " h", s / 86400,
                 s / 3600 % 24);
    }
    return text;
}
