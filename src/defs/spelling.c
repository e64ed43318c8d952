#include "defs/spelling.h"

#include <stdio.h>
#include <string.h>

typedef struct spelling {
    const char* house;
    const char* other;
} spelling;

static const spelling spellings[] = {
    {"colour", "color"},
    {"centre", "center"},
    {"grey", "gray"},
};

// The word with the first part that stands in one column of the table as the other column has it.
static bool respell(const char* word, bool is_to_house, char out[SPELLING_MAX]) {
    for (size_t k = 0; k < sizeof(spellings) / sizeof(spellings[0]); ++k) {
        const char* from = is_to_house ? spellings[k].other : spellings[k].house;
        const char* to = is_to_house ? spellings[k].house : spellings[k].other;
        const char* at = strstr(word, from);
        if (at != NULL) {
            int length = snprintf(out, SPELLING_MAX, "%.*s%s%s", (int)(at - word), word, to,
                                  at + strlen(from));
            return length < SPELLING_MAX;
        }
    }
    return false;
}

bool spelling_house(const char* word, char out[SPELLING_MAX]) {
    return respell(word, true, out);
}

bool spelling_other(const char* word, char out[SPELLING_MAX]) {
    return respell(word, false, out);
}
