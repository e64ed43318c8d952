// "Did you mean": the nearest of a list of known words.
#pragma once

enum { SUGGEST_LENGTH_MAX = 64 }; // longer words are not compared

/// How many letters must be inserted, dropped, changed or swapped with their neighbour to turn one
/// word into the other; `limit` + 1 if more than limit, or if a word is too long. Capital and small
/// letters count as equal.
int suggest_distance(const char* a, const char* b, int limit);
/// The nearest candidate, the first of equals; NULL if none is near enough to be meant (about a
/// third of the letters may differ).
const char* suggest_word(const char* word, const char* const* candidates, int count);
