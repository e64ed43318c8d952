// Sums of doubles that do not depend on the order: exact, in fixed point.
//
// The accumulator is one long binary number, cut into limbs of 32 bits that are kept in 64-bit
// integers. A double is added to the two or three limbs that its 53 bits touch; the spare 32 bits
// of a limb take up the carries of 2^29 additions before they must be moved on. Integer addition is
// associative, so partial sums of threads and ranks may be merged in any order and give the same
// bits. Infinities and NaN are remembered and come out again; a sum of nothing but zeros is +0.
#pragma once

#include <stdint.h>

enum { EXACT_SUM_LIMBS = 67 };

typedef struct exact_sum {
    int64_t limb[EXACT_SUM_LIMBS]; // limb k weighs 2^(32 k - 1074)
    int64_t additions;             // since carries were last moved
    double special;                // 0, or the inf or NaN that was added
} exact_sum;

void exact_sum_init(exact_sum* sum);
void exact_sum_add(exact_sum* sum, double x);
/// sum += other.
void exact_sum_merge(exact_sum* sum, const exact_sum* other);
/// The exact sum, rounded once to the nearest double (halves to even, beyond the range to
/// infinity).
double exact_sum_value(const exact_sum* sum);
