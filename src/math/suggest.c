#include "math/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static int smallest(int a, int b, int c) {
    int m = a < b ? a : b;
    return m < c ? m : c;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// Fills one row of the table of distances: row[j] is that of the first i letters of a to the first
// j of b; `above` and `above2` are the rows of i - 1 and i - 2. Returns the smallest.
static int fill_row(const char* a, const char* b, int i, int rows[][SUGGEST_LENGTH_MAX + 1]) {
    int* row = rows[i % 3];
    const int* above = rows[(i + 2) % 3];
    const int* above2 = rows[(i + 1) % 3];
    int best = row[0] = i;
    for (int j = 1; b[j - 1] != '\0'; ++j) {
        int change = lower(a[i - 1]) != lower(b[j - 1]);
        row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
        if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
            lower(a[i - 2]) == lower(b[j - 1]) && above2[j - 2] + 1 < row[j]) {
            row[j] = above2[j - 2] + 1;
        }
        best = row[j] < best ? row[j] : best;
    }
    return best;
}

int suggest_distance(const char* a, const char* b, int limit) {
    TREACLE_ASSERT(a != NULL && b != NULL && limit >= 0);
    int a_length = (int)strnlen(a, SUGGEST_LENGTH_MAX + 1);
    int b_length = (int)strnlen(b, SUGGEST_LENGTH_MAX + 1);
    if (a_length > SUGGEST_LENGTH_MAX || b_length > SUGGEST_LENGTH_MAX ||
        abs(a_length - b_length) > limit) {
        return limit + 1;
    }
    int rows[3][SUGGEST_LENGTH_MAX + 1];
    for (int j = 0; j <= b_length; ++j) {
        rows[0][j] = j;
    }
    int best_above = 0;
    for (int i = 1; i <= a_length; ++i) {
        int best = fill_row(a, b, i, rows);
        if (best > limit && best_above > limit) { // a swap reaches two rows up, not further
            return limit + 1;
        }
        best_above = best;
    }
    int distance = rows[a_length % 3][b_length];
    return distance <= limit ? distance : limit + 1;
}

const char* suggest_word(const char* word, const char* const* candidates, int count) {
    TREACLE_ASSERT(word != NULL && (candidates != NULL || count <= 0));
    int length = (int)strnlen(word, SUGGEST_LENGTH_MAX + 1);
    int limit = (length + 2) / 3; // one of 1..3 letters, two of 4..6
    const char* best = NULL;
    for (int i = 0; i < count && limit >= 0; ++i) {
        int distance = suggest_distance(word, candidates[i], limit);
        // A word of which every letter changed is not the one that was meant.
        if (distance <= limit && distance < length) {
            best = candidates[i];
            limit = distance - 1;
        }
    }
    return best;
}
