#include "math/suggest.h"
#include "treacle/base.h"

const char* treacle_suggest(const char* word, const char* const* candidates, int count) {
    return suggest_word(word, candidates, count);
}
