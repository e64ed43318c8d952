// Which pattern a thread lays on a belt, from the spectra of its contact point.
//
// A(f) = 2 |sum w (x - line) exp(-2 pi i f t)| / sum w is the amplitude of a swing of frequency f,
// w Hann's window; the straight line through x is taken out. With W the frequency that takes the
// place of a coil's, the geometrical model [Brun15], [sew.1], swings with
//
//     pattern               across               along
//     meanders              W                    2 W
//     W                     W, W/2               W/2
//     alternating loops     W, W/3               2 W/3
//     translated coiling    W                    W
//     double coiling        W, W/2               W, W/2
//
// The largest swing of each direction says which it is by the ratio of their frequencies, along
// over across: 2, 1/2, 2/3, 1. Across the belt the two swings of W and of alternating loops may be
// of like size, and then the lower may look larger: the ratios are 1 and 2 then, too, but there is
// a swing of twice or three times the frequency, which coiling and meanders lack. Narrow meanders
// swing along the belt by the square of what they swing across it, and there a slow drift may be
// larger; all other patterns swing along as far as across. Properties that tests check: every
// pattern of the model, with noise.
#include "treacle/sewing.h"

#include <math.h>

#include "base/alloc.h"
#include "base/check.h"

static const double pi = 3.14159265358979323846;
static const double calm = 0.1;     // of the radius: what swings by less is straight
static const double nearness = 0.1; // by which a ratio may be off
static const double beside = 0.4;   // of a swing: another one that belongs to the pattern
static const double alike = 0.15;   // the same of every other coil
static const double slight = 0.2;   // of the swing across: along the belt next to nothing
enum { LEAST_COUNT = 16, FINENESS = 8, LEAST_TURNS = 2, SAMPLES_A_TURN = 4 };

typedef struct swing {
    double frequency, amplitude;
} swing;

// One direction over time, from time 0, without its line and times the window.
typedef struct signal {
    int64_t count;
    double step;   // s
    double weight; // of the window
    double* at;
} signal;

static void take_line(signal* s) {
    double n = (double)s->count, middle = 0.5 * (n - 1.0), mean = 0.0, slope = 0.0, square = 0.0;
    for (int64_t i = 0; i < s->count; ++i) {
        mean += s->at[i] / n;
    }
    for (int64_t i = 0; i < s->count; ++i) {
        slope += ((double)i - middle) * (s->at[i] - mean);
        square += ((double)i - middle) * ((double)i - middle);
    }
    for (int64_t i = 0; i < s->count; ++i) {
        double w = 0.5 - 0.5 * cos(2.0 * pi * ((double)i + 0.5) / n);
        s->at[i] = w * (s->at[i] - mean - slope / square * ((double)i - middle));
        s->weight += w;
    }
}

static double amplitude_at(const signal* s, double frequency) {
    double re = 0.0, im = 0.0, w = 2.0 * pi * frequency * s->step;
    for (int64_t i = 0; i < s->count; ++i) {
        re += s->at[i] * cos(w * (double)i);
        im += s->at[i] * sin(w * (double)i);
    }
    return 2.0 * hypot(re, im) / s->weight;
}

// The largest within a share of a frequency, which is known only so well.
static double amplitude_near(const signal* s, double frequency) {
    double most = 0.0, width = 1.0 / ((double)s->count * s->step);
    for (int k = -2; k <= 2; ++k) {
        most = fmax(most, amplitude_at(s, frequency + 0.25 * k * width));
    }
    return most;
}

// Of all that are seen at least twice and with at least four samples each.
static swing largest_swing(const signal* s) {
    double length = (double)s->count * s->step, step = 1.0 / (FINENESS * length);
    swing out = {0};
    for (double f = LEAST_TURNS / length; f < 1.0 / (SAMPLES_A_TURN * s->step); f += step) {
        double a = amplitude_at(s, f);
        out = a > out.amplitude ? (swing){f, a} : out;
    }
    return out;
}

static bool is_near(double ratio, double wanted) {
    return fabs(ratio / wanted - 1.0) < nearness;
}

// The pattern of the two largest swings; *frequency is W.
static treacle_pattern pattern_of(const signal* across, swing a, swing l, double* frequency) {
    double ratio = l.frequency / a.frequency, f = a.frequency;
    double twice = amplitude_near(across, 2.0 * f) / a.amplitude;
    double thrice = amplitude_near(across, 3.0 * f) / a.amplitude;
    double half = amplitude_near(across, 0.5 * f) / a.amplitude;
    *frequency = f;
    if (l.amplitude < slight * a.amplitude) {
        return TREACLE_PATTERN_MEANDERS;
    }
    if (is_near(ratio, 2.0)) {
        *frequency = thrice > beside ? 3.0 * f : f;
        return thrice > beside ? TREACLE_PATTERN_ALTERNATING_LOOPS : TREACLE_PATTERN_MEANDERS;
    }
    if (is_near(ratio, 2.0 / 3.0)) {
        return TREACLE_PATTERN_ALTERNATING_LOOPS;
    }
    if (is_near(ratio, 0.5)) {
        return TREACLE_PATTERN_W;
    }
    if (is_near(ratio, 1.0)) {
        *frequency = twice > beside ? 2.0 * f : f;
        return twice > beside ? TREACLE_PATTERN_W
               : half > alike ? TREACLE_PATTERN_DOUBLE_COILING
                              : TREACLE_PATTERN_TRANSLATED_COILING;
    }
    return TREACLE_PATTERN_OTHER;
}

static void classify(double radius, const signal* across, const signal* along,
                     treacle_sewing* out) {
    swing a = largest_swing(across), l = largest_swing(along);
    *out = (treacle_sewing){
        .across = a.frequency, .along = l.frequency, .width = a.amplitude, .length = l.amplitude};
    if (a.amplitude < calm * radius) {
        out->pattern = TREACLE_PATTERN_STRAIGHT;
        return;
    }
    out->pattern = pattern_of(across, a, l, &out->frequency);
    out->turns = out->frequency * (double)across->count * across->step;
}

static treacle_status check_times(treacle_context* ctx, double radius, int64_t count,
                                  const treacle_contact* contacts) {
    double step = count > 1 ? contacts[1].time - contacts[0].time : 0.0;
    bool is_even = count >= LEAST_COUNT && step > 0.0 && radius > 0.0;
    for (int64_t i = 2; i < count && is_even; ++i) {
        is_even = fabs(contacts[i].time - contacts[i - 1].time - step) < 0.01 * step;
    }
    return is_even ? TREACLE_OK
                   : check_fail(ctx, TREACLE_ERR_USAGE,
                                "%lld contacts of a thread with a belt and a radius of %g m: "
                                "expected at least %d, evenly spaced in time, and more than 0 m",
                                (long long)count, radius, (int)LEAST_COUNT);
}

treacle_status treacle_sewing_classify(treacle_context* ctx, double radius, int64_t count,
                                       const treacle_contact* contacts, treacle_sewing* out) {
    *out = (treacle_sewing){.pattern = TREACLE_PATTERN_OTHER};
    TREACLE_TRY(check_times(ctx, radius, count, contacts));
    double* block = NULL;
    TREACLE_TRY(alloc_array(ctx, 2 * (size_t)count, sizeof(double), "contacts", (void**)&block));
    double step = (contacts[count - 1].time - contacts[0].time) / (double)(count - 1);
    signal across = {.count = count, .step = step, .at = block};
    signal along = {.count = count, .step = step, .at = block + count};
    for (int64_t i = 0; i < count; ++i) {
        across.at[i] = contacts[i].across;
        along.at[i] = contacts[i].along;
    }
    take_line(&across);
    take_line(&along);
    classify(radius, &across, &along, out);
    alloc_free(ctx, block, 2 * (size_t)count * sizeof(double));
    return TREACLE_OK;
}

const char* treacle_pattern_name(treacle_pattern pattern) {
    static const char* const names[TREACLE_PATTERN_COUNT] = {
        "straight",           "meanders",       "W",    "alternating loops",
        "translated coiling", "double coiling", "other"};
    return pattern >= 0 && pattern < TREACLE_PATTERN_COUNT ? names[pattern] : "unknown";
}
