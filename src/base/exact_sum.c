#include "base/exact_sum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"

enum {
    LIMB_BITS = 32,
    MANTISSA_BITS = 52, // stored; the leading one is not
    EXPONENT_SPECIAL = 0x7ff,
    TOP = EXACT_SUM_LIMBS - 1,
    // |limb| <= (additions + 1) 2^32 <= 2^61; a merge of two such sums stays below 2^62.
    ADDITIONS_MAX = 1 << 29,
};

static const uint64_t LIMB_MASK = 0xffffffffu;
static const uint64_t MANTISSA_MASK = ((uint64_t)1 << MANTISSA_BITS) - 1;

void exact_sum_init(exact_sum* sum) {
    memset(sum, 0, sizeof(*sum));
}

// Moves carries up: every limb but the top one is then in [0, 2^32), the top one has the sign.
static void move_carries(exact_sum* sum) {
    int64_t carry = 0;
    for (int k = 0; k < TOP; ++k) {
        int64_t limb = sum->limb[k] + carry;
        sum->limb[k] = (int64_t)((uint64_t)limb & LIMB_MASK);
        carry = (limb - sum->limb[k]) / ((int64_t)1 << LIMB_BITS);
    }
    sum->limb[TOP] += carry;
    sum->additions = 0;
}

void exact_sum_add(exact_sum* sum, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    int exponent = (int)(bits >> MANTISSA_BITS) & EXPONENT_SPECIAL;
    if (exponent == EXPONENT_SPECIAL) {
        sum->special += x;
        return;
    }
    // |x| = mantissa 2^(shift - 1074)
    uint64_t mantissa = bits & MANTISSA_MASK;
    mantissa |= exponent > 0 ? (uint64_t)1 << MANTISSA_BITS : 0;
    int shift = exponent > 0 ? exponent - 1 : 0;
    int64_t* limb = &sum->limb[shift / LIMB_BITS];
    int up = shift % LIMB_BITS;
    // In three parts of 32 bits: the 53 bits, moved up by at most 31, need 84.
    uint64_t low = (mantissa & LIMB_MASK) << up;
    uint64_t high = (mantissa >> LIMB_BITS) << up;
    int64_t part[3] = {(int64_t)(low & LIMB_MASK),
                       (int64_t)((low >> LIMB_BITS) + (high & LIMB_MASK)),
                       (int64_t)(high >> LIMB_BITS)};
    int64_t sign = bits >> 63 != 0 ? -1 : 1;
    for (int i = 0; i < 3; ++i) {
        limb[i] += sign * part[i];
    }
    sum->additions += 1;
    if (sum->additions >= ADDITIONS_MAX) {
        move_carries(sum);
    }
}

void exact_sum_merge(exact_sum* sum, const exact_sum* other) {
    TREACLE_ASSERT(sum != other);
    for (int k = 0; k < EXACT_SUM_LIMBS; ++k) {
        sum->limb[k] += other->limb[k];
    }
    sum->special += other->special;
    sum->additions += other->additions + 1;
    if (sum->additions >= ADDITIONS_MAX) {
        move_carries(sum);
    }
}

// Bit n of the number, counted from 2^-1074; limbs must be in [0, 2^32).
static uint64_t bit_at(const exact_sum* sum, int n) {
    return (uint64_t)sum->limb[n / LIMB_BITS] >> (n % LIMB_BITS) & 1;
}

static bool has_bits_below(const exact_sum* sum, int n) {
    for (int k = 0; k < n / LIMB_BITS; ++k) {
        if (sum->limb[k] != 0) {
            return true;
        }
    }
    uint64_t rest = ((uint64_t)1 << (n % LIMB_BITS)) - 1;
    return ((uint64_t)sum->limb[n / LIMB_BITS] & rest) != 0;
}

// Bits of the number without leading zeros; 0 for zero.
static int bit_length(const exact_sum* sum) {
    int k = TOP;
    while (k >= 0 && sum->limb[k] == 0) {
        k -= 1;
    }
    if (k < 0) {
        return 0;
    }
    int length = 0;
    for (uint64_t limb = (uint64_t)sum->limb[k]; limb != 0; limb >>= 1) {
        length += 1;
    }
    return k * LIMB_BITS + length;
}

// Rounds a positive number to the nearest double, halves to the even one.
static double round_once(const exact_sum* sum) {
    int length = bit_length(sum);
    int shift = length > MANTISSA_BITS + 1 ? length - (MANTISSA_BITS + 1) : 0;
    if (shift > EXPONENT_SPECIAL - 2) {
        return INFINITY;
    }
    uint64_t mantissa = 0;
    for (int n = length - 1; n >= shift; --n) {
        mantissa = mantissa << 1 | bit_at(sum, n);
    }
    if (shift > 0 && bit_at(sum, shift - 1) != 0) {
        bool is_more_than_half = has_bits_below(sum, shift - 1);
        mantissa += is_more_than_half || (mantissa & 1) != 0 ? 1 : 0;
    }
    // The leading one adds one to the exponent; so does a mantissa that was rounded up to 2^53.
    uint64_t bits = ((uint64_t)shift << MANTISSA_BITS) + mantissa;
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

double exact_sum_value(const exact_sum* sum) {
    if (isnan(sum->special)) {
        return NAN; // always the same one
    }
    if (sum->special != 0.0) {
        return sum->special;
    }
    exact_sum work = *sum;
    move_carries(&work);
    bool is_negative = work.limb[TOP] < 0;
    if (is_negative) {
        for (int k = 0; k < EXACT_SUM_LIMBS; ++k) {
            work.limb[k] = -work.limb[k];
        }
        move_carries(&work);
    }
    double value = round_once(&work);
    return is_negative ? -value : value;
}
