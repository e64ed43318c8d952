#include "grid/domain.h"

#include <math.h>

#include "base/check.h"
#include "grid/tile_map.h"
#include "math/curve.h"

static const char axis_name[AXES] = {'x', 'y', 'z'};

// So that a tile's coordinate, the far layer included, fits the 21 bits that a Morton code has.
static const double most_cells = (double)TILE_SIZE * (TILE_COORD_LIMIT - 1);

// A size need not be an exact multiple in binary: 0.3 / 0.1 is not 3.
static const double size_tolerance = 1e-4; // cells

static treacle_status count_cells(treacle_context* ctx, const treacle_domain_def* def, int a,
                                  int32_t* cells) {
    double size = def->size[a];
    if (!isfinite(size) || size < 0.0) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "domain size along %c is %g m: expected a number >= 0 (0 is flat)",
                          axis_name[a], size);
    }
    double exact = size / def->cell;
    double whole = floor(exact + 0.5);
    if (whole > most_cells) {
        return check_fail(ctx, TREACLE_ERR_LIMIT,
                          "domain size along %c is %g m, %.0f cells: at most %.0f are possible; "
                          "choose larger cells or a smaller domain",
                          axis_name[a], size, whole, most_cells);
    }
    if (fabs(exact - whole) > size_tolerance || (whole == 0.0 && size > 0.0)) {
        double below = floor(exact) * def->cell, above = ceil(exact) * def->cell;
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "domain size along %c is %g m, not a multiple of the cell width %g m: "
                          "choose %g m or %g m",
                          axis_name[a], size, def->cell, below, above);
    }
    *cells = whole < 1.0 ? 1 : (int32_t)whole;
    return TREACLE_OK;
}

static bool is_side(treacle_side side) {
    return side == TREACLE_SIDE_SLIP || side == TREACLE_SIDE_NO_SLIP || side == TREACLE_SIDE_OPEN ||
           side == TREACLE_SIDE_PERIODIC;
}

static treacle_status set_sides(treacle_context* ctx, const treacle_domain_def* def, int a,
                                grid_domain* out) {
    treacle_side low = def->sides[a][0], high = def->sides[a][1];
    if (!out->is_active[a]) {
        low = high = TREACLE_SIDE_SLIP;
    }
    if (!is_side(low) || !is_side(high)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "domain sides along %c are %d and %d: expected slip, no-slip, open or "
                          "periodic",
                          axis_name[a], (int)low, (int)high);
    }
    bool is_periodic = low == TREACLE_SIDE_PERIODIC;
    if (is_periodic != (high == TREACLE_SIDE_PERIODIC)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "domain is periodic on the %s side along %c only: both sides must be "
                          "periodic, or none",
                          is_periodic ? "low" : "high", axis_name[a]);
    }
    const int32_t unit = 2 * TILE_SIZE;
    if (is_periodic && out->cells[a] % unit != 0) {
        int32_t up = (out->cells[a] / unit + 1) * unit;
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "domain is periodic along %c and has %d cells there: expected a multiple "
                          "of %d, such as %d",
                          axis_name[a], (int)out->cells[a], (int)unit, (int)up);
    }
    out->is_periodic[a] = is_periodic;
    out->sides[a][0] = low;
    out->sides[a][1] = high;
    return TREACLE_OK;
}

static treacle_status set_separation(treacle_context* ctx, const treacle_domain_def* def, int a,
                                     grid_domain* out) {
    for (int end = 0; end < 2; ++end) {
        treacle_separation said = def->separation[a][end];
        treacle_side side = out->sides[a][end];
        bool is_closed = side == TREACLE_SIDE_SLIP || side == TREACLE_SIDE_NO_SLIP;
        if (said.is_on && !(said.adhesion >= 0.0 && isfinite(said.adhesion))) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "adhesion to the %s side along %c is %g Pa: expected a number >= 0",
                              end == 0 ? "low" : "high", axis_name[a], said.adhesion);
        }
        if (said.is_on && is_closed && out->is_active[a]) {
            out->separation[a][end] = said;
            out->lets_go = true;
        }
    }
    return TREACLE_OK;
}

static treacle_status set_slip(treacle_context* ctx, const treacle_domain_def* def, int a,
                               grid_domain* out) {
    for (int end = 0; end < 2; ++end) {
        double length = def->slip_length[a][end];
        if (!(length >= 0.0 && isfinite(length))) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "slip length of the %s side along %c is %g m: expected a number >= 0",
                              end == 0 ? "low" : "high", axis_name[a], length);
        }
        out->slip_length[a][end] = length;
    }
    return TREACLE_OK;
}

static treacle_status set_contact_angle(treacle_context* ctx, const treacle_domain_def* def, int a,
                                        grid_domain* out) {
    for (int end = 0; end < 2; ++end) {
        double angle = def->contact_angle[a][end];
        if (!(angle >= 0.0 && angle < 3.1416)) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "contact angle of the %s side along %c is %g rad: expected a number "
                              "from 0 to pi",
                              end == 0 ? "low" : "high", axis_name[a], angle);
        }
        out->contact_angle[a][end] = angle;
    }
    return TREACLE_OK;
}

treacle_status grid_domain_init(treacle_context* ctx, const treacle_domain_def* def,
                                grid_domain* out) {
    grid_domain domain = {.h = def->cell};
    if (!isfinite(def->cell) || def->cell <= 0.0) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "domain cell width is %g m: expected a number > 0", def->cell);
    }
    bool is_any_active = false;
    for (int a = 0; a < AXES; ++a) {
        if (!isfinite(def->origin[a])) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "domain origin along %c is %g: expected a finite number",
                              axis_name[a], def->origin[a]);
        }
        domain.origin[a] = def->origin[a];
        TREACLE_TRY(count_cells(ctx, def, a, &domain.cells[a]));
        domain.tiles[a] = (domain.cells[a] + TILE_SIZE - 1) / TILE_SIZE;
        domain.is_active[a] = domain.cells[a] > 1;
        is_any_active = is_any_active || domain.is_active[a];
        TREACLE_TRY(set_sides(ctx, def, a, &domain));
        TREACLE_TRY(set_separation(ctx, def, a, &domain));
        TREACLE_TRY(set_slip(ctx, def, a, &domain));
        TREACLE_TRY(set_contact_angle(ctx, def, a, &domain));
    }
    if (!is_any_active) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "domain is a single cell: at least one axis must have two or more");
    }
    *out = domain;
    return TREACLE_OK;
}

void grid_domain_move_sides(grid_domain* domain, const treacle_curve velocity[AXES][2],
                            double time) {
    TREACLE_ASSERT(isfinite(time));
    domain->has_belts = false;
    for (int n = 0; n < 2 * AXES; ++n) {
        int b = n / 2, end = n % 2;
        double u[AXES] = {0.0, 0.0, 0.0};
        bool moves = domain->sides[b][end] == TREACLE_SIDE_NO_SLIP && velocity[b][end].count > 0;
        if (moves) {
            curve_eval(&velocity[b][end], time, u);
        }
        for (int a = 0; a < AXES; ++a) {
            u[a] = a != b && domain->is_active[a] ? u[a] : 0.0;
            domain->side_u[b][end][a] = u[a];
            domain->has_belts = domain->has_belts || u[a] != 0.0;
        }
    }
}

bool grid_domain_side_u(const grid_domain* domain, int a, const int at[AXES], double* u) {
    TREACLE_ASSERT(a >= 0 && a < AXES && u != NULL);
    int beyond = 0;
    *u = 0.0;
    for (int b = 0; b < AXES; ++b) {
        int last = domain->cells[b] - (b == a ? 0 : 1);
        if (!domain->is_active[b] || domain->is_periodic[b] || (at[b] >= 0 && at[b] <= last)) {
            continue;
        }
        beyond += 1;
        *u = domain->side_u[b][at[b] < 0 ? 0 : 1][a];
    }
    return beyond == 1 && *u != 0.0;
}

int grid_domain_side_at(const grid_domain* domain, int axis, int at, int last) {
    TREACLE_ASSERT(axis >= 0 && axis < AXES);
    bool has_sides = domain->is_active[axis] && !domain->is_periodic[axis];
    if (has_sides && at == 0) {
        return domain->sides[axis][0] == TREACLE_SIDE_OPEN ? 0 : -1;
    }
    if (has_sides && at == last) {
        return domain->sides[axis][1] == TREACLE_SIDE_OPEN ? 0 : 1;
    }
    return 0;
}

bool grid_domain_has_open_side(const grid_domain* domain) {
    bool is_any = false;
    for (int a = 0; a < AXES; ++a) {
        for (int end = 0; end < 2; ++end) {
            is_any = is_any || (domain->is_active[a] && domain->sides[a][end] == TREACLE_SIDE_OPEN);
        }
    }
    return is_any;
}
