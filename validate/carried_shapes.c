#include "carried_shapes.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static double slotted_disc(double x, double y) {
    double disc = hypot(x - 50.0, y - 75.0) - 15.0;
    double slot = fmax(fabs(x - 50.0) - 2.5, y - 85.0);
    return fmax(disc, -slot);
}

static double small_disc(double x, double y) {
    return hypot(x - 0.5, y - 0.75) - 0.15;
}

carried_shape carried_zalesak(void) {
    double half = asin(2.5 / 15.0), edge = 15.0 * cos(half); // of the slot, seen from the centre
    return (carried_shape){
        .name = "Zalesak",
        .side = 100.0,
        .cells = 100,
        .steps = 628,
        .until = 628.0,
        .shape = "{difference: [{sphere: {radius: 15, centre: [50, 75, 0]}},"
                 " {box: {size: [5, 25, 10], centre: [50, 72.5, 0]}}]}",
        .border = slotted_disc,
        .area = 225.0 * pi - (5.0 * 10.0 + 2.5 * edge + 225.0 * half),
        .length = 15.0 * (2.0 * pi - 2.0 * half) + 2.0 * (10.0 + edge) + 5.0,
        .velocity = {.kind = TREACLE_FIELD_EXPRESSION,
                     .expression = {"pi/314*(50 - y)", "pi/314*(x - 50)", "0"}},
        .area_tolerance = 0.005,
    };
}

carried_shape carried_vortex(void) {
    return (carried_shape){
        .name = "vortex",
        .side = 1.0,
        .cells = 128,
        .steps = 1024,
        .until = 8.0,
        .shape = "{sphere: {radius: 0.15, centre: [0.5, 0.75, 0]}}",
        .border = small_disc,
        .area = 0.0225 * pi,
        .length = 0.3 * pi,
        .velocity = {.kind = TREACLE_FIELD_EXPRESSION,
                     .expression = {"-2*sin(pi*x)^2*sin(pi*y)*cos(pi*y)*cos(pi*t/8)",
                                    "2*sin(pi*y)^2*sin(pi*x)*cos(pi*x)*cos(pi*t/8)", "0"}},
        .is_reversed = true,
        .area_tolerance = 0.01,
    };
}
