// Words that are spelt in two ways: keys and values of scenes may have either.
//
// The table of keys has one spelling, as the rest of the house; scenes are printed in it.
#pragma once

#include <stdbool.h>

enum { SPELLING_MAX = 64 }; // longer words are left alone

/// The word as the house spells it, "ground_colour" for "ground_color"; false if it already is.
bool spelling_house(const char* word, char out[SPELLING_MAX]);
/// The other way round: "ground_color" for "ground_colour"; false if there is no other spelling.
bool spelling_other(const char* word, char out[SPELLING_MAX]);
