// How each function is computed. All constants and series are the plain ones of analysis; the
// arguments are made small enough first for a Taylor polynomial to reach full precision.
//
//     exp    x = k ln 2 + r, |r| <= ln 2 / 2; exp x = 2^k (1 + r + r^2/2! + ... + r^13/13!)
//     log    x = 2^k m, sqrt 1/2 <= m < sqrt 2; s = (m - 1)/(m + 1); log m = 2 (s + s^3/3 + ...)
//     pow    exp(y log x), with the logarithm as a sum of two doubles
//     sin    x = n pi/2 + r, |r| <= pi/4, by multiplication with 2/pi in fixed point: exact for
//            every x, however large
//     tanh   q / (q + 2), q = exp(2x) - 1
//
// Relative error left out by the cut series: exp 4e-18, log 1e-18, sin and cos 2e-18; the unit in
// the last place is 1.1e-16 to 2.2e-16.
#include "math/elementary.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LOG2_E 0x1.71547652b82fep+0
// ln 2 in parts: k LN2_HIGH is exact for |k| < 2^20.
#define LN2_HIGH 0x1.62e42fefp-1
#define LN2_MIDDLE 0x1.473de6af278edp-34
#define LN2_LOW -0x1.9ff0342542fc3p-90
#define HALF_PI_HIGH 0x1.921fb54442d18p+0
#define HALF_PI_LOW 0x1.1a62633145c07p-54
#define QUARTER_PI 0x1.921fb54442d18p-1
#define SQRT_2 0x1.6a09e667f3bcdp+0

#define EXP_OVERFLOW 709.79   // exp of more is infinite
#define EXP_UNDERFLOW -745.14 // exp of less is zero

// A number as the unevaluated sum of two doubles, |lo| <= ulp(hi) / 2.
typedef struct pair {
    double hi, lo;
} pair;

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

// 2^k, -1022 <= k <= 1023.
static double power_of_two(int k) {
    return from_bits((uint64_t)(k + 1023) << 52);
}

// a + b exactly (Knuth).
static pair two_sum(double a, double b) {
    double hi = a + b;
    double from_b = hi - a;
    return (pair){hi, (a - (hi - from_b)) + (b - from_b)};
}

// The upper 26 bits of a; the rest fits in 26 bits too (Veltkamp). |a| < 2^996.
static double upper_half(double a) {
    double c = 0x1.0000002p+27 * a;
    return c - (c - a);
}

// a b exactly (Dekker).
static pair two_product(double a, double b) {
    double a_hi = upper_half(a), a_lo = a - a_hi;
    double b_hi = upper_half(b), b_lo = b - b_hi;
    double hi = a * b;
    return (pair){hi, (((a_hi * b_hi - hi) + a_hi * b_lo) + a_lo * b_hi) + a_lo * b_lo};
}

static pair pair_add(pair a, pair b) {
    pair s = two_sum(a.hi, b.hi);
    return two_sum(s.hi, s.lo + (a.lo + b.lo));
}

static pair pair_multiply(pair a, pair b) {
    pair p = two_product(a.hi, b.hi);
    return two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

// c[0] + c[1] x + ... + c[count-1] x^(count-1); the even and the odd powers apart, because two
// short chains of operations take half the time of a long one.
static inline double polynomial(const double* c, int count, double x) {
    double z = x * x;
    double even = 0.0, odd = 0.0;
    for (int i = (count - 1) / 2 * 2; i >= 0; i -= 2) {
        even = c[i] + z * even;
    }
    for (int i = count / 2 * 2 - 1; i >= 0; i -= 2) {
        odd = c[i] + z * odd;
    }
    return even + x * odd;
}

// y 2^k for y in [1/2, 2], rounded once, also where the result is denormal.
static double scale(double y, int k) {
    if (k > 1023) {
        return y * power_of_two(k - 1000) * 0x1p+1000;
    }
    if (k < -1021) {
        return y * power_of_two(k + 600) * 0x1p-600;
    }
    return y * power_of_two(k);
}

// (exp(r) - 1 - r) / r^2
static double exp_tail(double r) {
    static const double c[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                               1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                               1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    return polynomial(c, sizeof(c) / sizeof(c[0]), r);
}

static double exp_of_pair(pair x) {
    if (x.hi > EXP_OVERFLOW) {
        return INFINITY;
    }
    if (x.hi < EXP_UNDERFLOW) {
        return 0.0;
    }
    double k = floor(x.hi * LOG2_E + 0.5);
    pair r = two_sum(x.hi - k * LN2_HIGH, x.lo - k * LN2_MIDDLE);
    double tail = r.hi * r.hi * exp_tail(r.hi);
    pair one = two_sum(1.0, r.hi);
    return scale(one.hi + (one.lo + (tail + (r.lo + r.lo * r.hi))), (int)k);
}

double elementary_exp(double x) {
    return isnan(x) ? NAN : exp_of_pair((pair){x, 0.0});
}

// x = 2^k m with sqrt 1/2 < m <= sqrt 2, for finite x > 0.
static double split_exponent(double x, int* k) {
    int shift = x < 0x1p-1022 ? 54 : 0;
    uint64_t bits = bits_of(shift > 0 ? x * 0x1p+54 : x);
    *k = (int)(bits >> 52) - 1023 - shift;
    double m = from_bits((bits & 0xfffffffffffffu) | (uint64_t)1023 << 52);
    if (m > SQRT_2) {
        *k += 1;
        m *= 0.5;
    }
    return m;
}

// With s = f/(2 + f): log(1 + f) = f - f^2/2 + s (f^2/2 + 2/3 s^2 + 2/5 s^4 + ...), in which the
// largest terms are exact or nearly so.
static double log_of_normal(double x) {
    static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                               2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
    int exponent;
    double f = split_exponent(x, &exponent) - 1.0;
    double k = exponent;
    double s = f / (2.0 + f), z = s * s;
    double series = z * polynomial(c, sizeof(c) / sizeof(c[0]), z);
    double half_square = 0.5 * f * f;
    double correction = s * (half_square + series) + k * LN2_MIDDLE;
    return k * LN2_HIGH - ((half_square - correction) - f);
}

double elementary_log(double x) {
    if (isnan(x) || x < 0.0) {
        return NAN;
    }
    if (x == 0.0) {
        return -INFINITY;
    }
    return isinf(x) ? x : log_of_normal(x);
}

// log m to about 100 bits: the first three terms of the series in pairs, the rest in double.
static pair log_of_mantissa(double m) {
    static const double c[] = {2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                               2.0 / 19, 2.0 / 21, 2.0 / 23, 2.0 / 25, 2.0 / 27};
    static const pair two_thirds = {0x1.5555555555555p-1, 0x1.5555555555555p-55};
    static const pair two_fifths = {0x1.999999999999ap-2, -0x1.999999999999ap-56};
    double f = m - 1.0;
    pair d = two_sum(m, 1.0);
    double quotient = f / d.hi;
    pair back = two_product(quotient, d.hi);
    double rest = ((f - back.hi) - back.lo) - quotient * d.lo;
    pair s = two_sum(quotient, rest / d.hi);
    pair z = pair_multiply(s, s);
    double tail = z.hi * polynomial(c, sizeof(c) / sizeof(c[0]), z.hi);
    pair u = pair_add(two_fifths, (pair){tail, 0.0});
    u = pair_add(two_thirds, pair_multiply(z, u));
    u = pair_multiply(s, pair_multiply(z, u));
    return pair_add((pair){2.0 * s.hi, 2.0 * s.lo}, u);
}

static pair log_pair(double x) {
    int exponent;
    pair log_m = log_of_mantissa(split_exponent(x, &exponent));
    double k = exponent;
    pair middle = two_product(k, LN2_MIDDLE);
    pair log_2k = pair_add((pair){k * LN2_HIGH, 0.0}, (pair){middle.hi, middle.lo + k * LN2_LOW});
    return pair_add(log_2k, log_m);
}

static bool is_integer(double y) {
    return floor(y) == y; // infinities are not asked about
}

static bool is_odd(double y) {
    return !isinf(y) && is_integer(y) && !is_integer(0.5 * y);
}

// |x|^y for 0 < |x| < inf, x != 1.
static double pow_of_positive(double x, double y) {
    if (x == 1.0) {
        return 1.0;
    }
    if (fabs(y) > 0x1p+64) { // |log x| >= 2^-53: far out of range
        return (x > 1.0) == (y > 0.0) ? INFINITY : 0.0;
    }
    pair log_x = log_pair(x);
    pair product = two_product(y, log_x.hi);
    return exp_of_pair(two_sum(product.hi, product.lo + y * log_x.lo));
}

double elementary_pow(double x, double y) {
    if (y == 0.0 || x == 1.0) {
        return 1.0;
    }
    if (isnan(x) || isnan(y)) {
        return NAN;
    }
    double size;
    if (x == 0.0 || isinf(x)) {
        size = (x == 0.0) == (y < 0.0) ? INFINITY : 0.0;
    } else if (x < 0.0 && !isinf(y) && !is_integer(y)) {
        return NAN;
    } else {
        size = pow_of_positive(fabs(x), y);
    }
    return signbit(x) && is_odd(y) ? -size : size;
}

// 2/pi in binary, 32 bits a limb: enough for the largest double.
static const uint32_t two_over_pi[] = {
    0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
    0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
    0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu,
    0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
    0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u,
    0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du};

enum { WINDOW = 7, PRODUCT = WINDOW + 3 }; // limbs; the last is always zero

// product = mantissa times the limbs first .. first+WINDOW-1 of 2/pi; limb 0 is the lowest.
static void multiply_window(uint64_t mantissa, int first, uint32_t product[PRODUCT]) {
    const uint64_t half[2] = {mantissa & 0xffffffffu, mantissa >> 32};
    memset(product, 0, PRODUCT * sizeof(product[0]));
    for (int j = 0; j < 2; ++j) {
        uint64_t carry = 0;
        for (int i = 0; i < WINDOW; ++i) {
            uint64_t limb = two_over_pi[first + WINDOW - 1 - i];
            uint64_t sum = half[j] * limb + product[i + j] + carry;
            product[i + j] = (uint32_t)sum;
            carry = sum >> 32;
        }
        product[WINDOW + j] = (uint32_t)carry;
    }
}

// The lower `point` bits of the product as a fraction; of their complement if is_complement.
static pair fraction_of(const uint32_t product[PRODUCT], int point, bool is_complement) {
    int top = point / 32;
    uint32_t mask = ((uint32_t)1 << (point % 32)) - 1;
    pair sum = {0.0, 0.0};
    for (int k = top; k > top - 5; --k) {
        uint32_t limb = (is_complement ? ~product[k] : product[k]) & mask;
        sum = pair_add(sum, (pair){(double)limb * power_of_two(32 * k - point), 0.0});
        mask = 0xffffffffu;
    }
    return sum;
}

// |x| = n pi/2 + r, |r| <= pi/4, for finite |x| > pi/4; returns n mod 4. Limbs of 2/pi above the
// window contribute whole turns, those below it less than 2^-135.
static int reduce_angle(double x, pair* r) {
    uint64_t bits = bits_of(x) & ~((uint64_t)1 << 63);
    int exponent = (int)(bits >> 52) - 1075;
    uint64_t mantissa = (bits & 0xfffffffffffffu) | (uint64_t)1 << 52;
    int first = exponent > 2 ? (exponent - 2) / 32 : 0;
    int point = 32 * (first + WINDOW) - exponent; // bits behind the binary point
    uint32_t product[PRODUCT];
    multiply_window(mantissa, first, product);
    int at = point / 32;
    uint64_t around = (uint64_t)product[at + 1] << 32 | product[at];
    int n = (int)(around >> (point % 32) & 3);
    bool is_above_half = product[(point - 1) / 32] >> ((point - 1) % 32) & 1;
    pair fraction = fraction_of(product, point, is_above_half);
    *r = pair_multiply(fraction, (pair){HALF_PI_HIGH, HALF_PI_LOW});
    if (is_above_half) {
        *r = (pair){-r->hi, -r->lo};
    }
    return (n + is_above_half) & 3;
}

static double sin_of_small(pair r) {
    static const double c[] = {
        -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
    double z = r.hi * r.hi;
    double tail = z * polynomial(c, sizeof(c) / sizeof(c[0]), z);
    return r.hi + (r.hi * tail + r.lo * (1.0 - 0.5 * z));
}

static double cos_of_small(pair r) {
    static const double c[] = {
        1.0 / 24,        -1.0 / 720,         1.0 / 40320,         -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
    double z = r.hi * r.hi, half = 0.5 * z;
    pair head = two_sum(1.0, -half);
    double tail = z * z * polynomial(c, sizeof(c) / sizeof(c[0]), z);
    return head.hi + (head.lo + (tail - r.hi * r.lo));
}

// sin(|x| + turns pi/2)
static double sin_shifted(double x, int turns) {
    pair r = {fabs(x), 0.0};
    if (fabs(x) > QUARTER_PI) {
        turns += reduce_angle(x, &r);
    }
    double size = (turns & 1) != 0 ? cos_of_small(r) : sin_of_small(r);
    return (turns & 2) != 0 ? -size : size;
}

double elementary_sin(double x) {
    if (!isfinite(x)) {
        return NAN;
    }
    double value = sin_shifted(x, 0);
    return signbit(x) ? -value : value;
}

double elementary_cos(double x) {
    return isfinite(x) ? sin_shifted(x, 1) : NAN;
}

double elementary_tanh(double x) {
    if (isnan(x)) {
        return NAN;
    }
    double size = fabs(x), value;
    if (size > 22.0) {
        value = 1.0; // the rest is below half an ulp
    } else {
        double twice = 2.0 * size;
        double q = twice < 0.35 ? twice + twice * twice * exp_tail(twice)
                                : exp_of_pair((pair){twice, 0.0}) - 1.0;
        value = q / (q + 2.0);
    }
    return signbit(x) ? -value : value;
}
