// What a run will take, from its own first steps and from a coarser copy of it.
//
// What a step costs depends on passes of loops, on iterations, on where the liquid goes and how
// fast: no formula of the scene's numbers knows it. So the scene is asked, in the processor time
// that the caller gives (or in any other unit of work, by another clock):
//
// 1. its first frames as they are, in half of that time: s_f seconds and m_f steps of n_f particles
//    in frame f;
// 2. all of its frames in cells k times as wide, k so large that the other half should do. In its
//    frame f the copy takes m'_f steps of n'_f particles and s'_f seconds.
//
// The copy says how the first frames go on. In the scene's own cells its speed asks for
//
//     M_f = m'_f max(1, min(k, a_1 / a_k)),   a_w = steps a frame by [step.1] in cells w times as
//                                             wide, at the copy's largest speed in it,
//
// steps, for k^3 (flat: k^2) times the particles, N_f. The work of a frame is
//
//     W_f = M_f (n0 + N_f) s'_f / (m'_f (n0' + n'_f)),                                      (1)
//
// n0 particles' worth of work being what a step takes without any; the quotient is what a particle
// costs at that time, by loops and iterations. First frames and copy overlap, and the rest of the
// run takes  sum W_f (rest) x sum s_f / sum W_f (overlap).                                  (2)
//
// Beyond what the copy has reached, work grows with the particles, evenly to their number at the
// end. So it would of the first frames alone: the forecast is the mean of that and (2), since a
// copy may miss what is thin, and first frames what comes. Where the grid carries the liquid, steps
// follow its speed from the start, which first frames do not have: there (2) counts alone.
//
// A scene that is too large to be begun here at all is begun in wider cells, and what that takes is
// multiplied by the fourth power of their width: that many more particles and steps.
#include "run/forecast.h"

#include <math.h>

#include "base/alloc.h"
#include "base/comm.h"
#include "base/profile.h"
#include "treacle/run.h"

enum { COARSEST = 12, PERIOD_CELLS = 16, RECORDS_MAX = 20000, STEPS_LEAST = 3 };

// Typical figures, from runs of the scenes in scenes/.
static const double step_rows = 1000.0; // n0 where it cannot be found, and its bounds
static const double step_rows_least = 100.0, step_rows_most = 20000.0;
static const double most_rows = 2e5;          // particles of a scene that is begun as it is
static const double frame_seconds = 2e-3;     // of writing a frame and its state ...
static const double frame_row_seconds = 1e-7; // ... and for each particle of it
static const double preview_seconds = 0.085;  // the same of a preview
static const double preview_row_seconds = 1.4e-6;
static const double parallel_fraction = 0.9; // of the work that threads divide

// A frame that was simulated.
typedef struct frame_record {
    double steps, rows; // rows: particles of all its steps added up
    double seconds;     // of processor time
    double speed;       // m/s, the largest
} frame_record;

// A copy of the scene, simulated from its start as far as time allows.
typedef struct copy_run {
    treacle_context* ctx;
    forecast_clock* clock;
    treacle_sim_def def;
    double width;         // of its cells over the scene's
    int64_t frames;       // to do, without the first
    double rows;          // particles that there will be at the end, in these cells
    double step_rows;     // n0, once frames are done
    int64_t steps;        // so far
    double first;         // s, that the first step took beyond the second one
    int64_t done;         // whole ones
    double part;          // of the next one, 0..1
    frame_record* record; // [frames + 1]
} copy_run;

static int count_cells(const treacle_domain_def* domain, int axis) {
    return (int)fmax(1.0, floor(domain->size[axis] / domain->cell + 0.5));
}

static double longest_cells(const treacle_domain_def* domain) {
    double out = 1.0;
    for (int a = 0; a < 3; ++a) {
        out = fmax(out, count_cells(domain, a));
    }
    return out;
}

static double cells_within(const treacle_domain_def* domain, double width) {
    double out = 1.0;
    for (int a = 0; a < 3; ++a) {
        out *= count_cells(domain, a) == 1 ? 1.0 : width;
    }
    return out;
}

// Cells that are wider; whole ones, so that the domain is a little larger or smaller.
static void widen(treacle_domain_def* domain, double width) {
    double cell = domain->cell, wide = width * cell;
    for (int a = 0; a < 3; ++a) {
        int cells = count_cells(domain, a);
        double unit = domain->sides[a][0] == TREACLE_SIDE_PERIODIC ? PERIOD_CELLS : 1.0;
        double whole = fmax(floor(cells / (width * unit) + 0.5) * unit, unit > 1.0 ? unit : 2.0);
        if (cells > 1) {
            domain->size[a] = whole * wide;
        } else {
            domain->origin[a] += 0.5 * (cell - wide);
            domain->size[a] = domain->size[a] == 0.0 ? 0.0 : wide;
        }
    }
    domain->cell = wide;
}

// Steps of a frame that [step.1] allows at a speed, without acceleration.
static double steps_at(const treacle_sim_def* def, double speed, double cell) {
    bool is_euler = def->motion == TREACLE_MOTION_EULERIAN;
    double cfl = is_euler ? fmin(def->step.cfl, def->level_set.cfl) : def->step.cfl;
    double frame = treacle_sim_def_frame_time(def, 2), dt = fmin(def->step.max_dt, frame);
    dt = speed > 0.0 ? fmin(dt, cfl * cell / speed) : dt;
    return ceil(frame / dt - 1e-9);
}

// The first step begins from nothing, and loops that look for a flow take many passes there: what
// it takes beyond the second one is kept apart.
static void note_step(copy_run* run, const treacle_step_stats* stats, double seconds) {
    frame_record* record = &run->record[run->done];
    record->steps += 1.0;
    record->rows += (double)stats->particles;
    record->speed = fmax(record->speed, stats->max_speed);
    record->seconds += seconds;
    run->steps += 1;
    if (run->steps == 1) {
        run->first = seconds;
    } else if (run->steps == 2) {
        run->first -= seconds;
        run->record[0].seconds -= run->first;
    }
}

// One frame; `part` tells how much of it there was time for.
static treacle_status run_frame(treacle_sim* sim, copy_run* run, double until) {
    double frame = treacle_sim_def_frame_time(&run->def, 2);
    double end = treacle_sim_def_frame_time(&run->def, run->done + 2);
    treacle_status status = TREACLE_OK;
    run->part = 0.0;
    while (status == TREACLE_OK && run->part < 1.0 &&
           (run->steps < STEPS_LEAST || run->clock(run->ctx) < until)) {
        treacle_step_stats stats;
        double left = end - treacle_sim_time(sim), begin = run->clock(run->ctx);
        if (!(left > 1e-9 * frame)) {
            run->part = 1.0;
            break;
        }
        status = treacle_sim_step(sim, left, &stats);
        if (status == TREACLE_OK) {
            note_step(run, &stats, run->clock(run->ctx) - begin);
            run->part = fmin(1.0 - (end - stats.time) / frame, 1.0 - 1e-9);
        }
    }
    return status;
}

static double rows_in(const copy_run* run, int64_t f) {
    return run->record[f].steps > 0.0 ? run->record[f].rows / run->record[f].steps : 0.0;
}

// n0 = A / B of the line  seconds a step = A + B particles  through all frames; where the number of
// particles does not grow, nothing can be said of it.
static double fit_step_rows(const copy_run* run) {
    double n = (double)run->done, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0, least = INFINITY;
    double most = 0.0;
    for (int64_t f = 0; f < run->done; ++f) {
        double rows = rows_in(run, f), one = run->record[f].seconds / run->record[f].steps;
        least = fmin(least, rows);
        most = fmax(most, rows);
        x += rows / n;
        y += one / n;
        xx += rows * rows / n;
        xy += rows * one / n;
    }
    if (run->done < 3 || !(most > 1.5 * least)) {
        return step_rows;
    }
    double slope = (xy - x * y) / (xx - x * x), begin = y - slope * x;
    return slope > 0.0 ? fmin(fmax(begin / slope, step_rows_least), step_rows_most) : step_rows;
}

// As many frames as there is time for. A step that fails ends it: what was done counts.
static treacle_status run_copy(double seconds, copy_run* run) {
    treacle_sim* sim = NULL;
    double begin = run->clock(run->ctx);
    treacle_status status = treacle_sim_create(run->ctx, &run->def, &sim);
    bool goes_on = status == TREACLE_OK;
    while (goes_on && run->done < run->frames) {
        goes_on = run_frame(sim, run, begin + seconds) == TREACLE_OK && run->part >= 1.0;
        run->done += goes_on ? 1 : 0;
    }
    run->part = run->part < 1.0 ? run->part : 0.0;
    run->step_rows = fit_step_rows(run);
    treacle_sim_destroy(sim);
    return status;
}

// A copy of `from` in cells that are so many times wider.
static treacle_status copy_create(const copy_run* from, double width, copy_run* out) {
    *out = *from;
    out->width *= width;
    out->rows /= cells_within(&from->def.domain, width);
    out->done = out->steps = 0;
    out->part = out->first = 0.0;
    if (width > 1.0) {
        widen(&out->def.domain, width);
    }
    return alloc_zero(out->ctx, (size_t)out->frames + 1, sizeof(*out->record), "a forecast",
                      (void**)&out->record);
}

static void copy_destroy(copy_run* run) {
    alloc_free(run->ctx, run->record, ((size_t)run->frames + 1) * sizeof(*run->record));
}

// Equation (1) in frame f of the copy, for cells as wide as those of `base`.
static double work_of(const copy_run* base, const copy_run* copy, int64_t f) {
    const frame_record* r = &copy->record[f];
    double k = copy->width / base->width;
    double more = steps_at(&base->def, r->speed, base->def.domain.cell) /
                  steps_at(&base->def, r->speed, copy->def.domain.cell);
    double steps = r->steps * fmax(1.0, fmin(k, more));
    double rows = rows_in(copy, f), fine = rows * cells_within(&base->def.domain, k);
    double one = r->steps > 0.0 ? r->seconds / (r->steps * (copy->step_rows + rows)) : 0.0;
    return steps * (base->step_rows + fine) * one;
}

// What a step of `base` costs in frame f over what it does in the last one that was reached, of so
// many particles, if these go on to become as many as there will be, evenly.
static double growth(const copy_run* base, double now, int64_t last, double f) {
    double end = fmax(now, base->rows), all = (double)(base->frames - last);
    double rows = now + (end - now) * (f - (double)last) / all;
    return (base->step_rows + rows) / (base->step_rows + now);
}

static double work_between(const copy_run* base, const copy_run* copy, double from, double to) {
    double sum = 0.0, last = 0.0;
    int64_t known = copy->done;
    double scale = cells_within(&base->def.domain, copy->width / base->width);
    double now = scale * rows_in(copy, known - 1);
    for (int64_t f = 0; f < base->frames && (double)f < to; ++f) {
        last = f < known ? work_of(base, copy, f) : last;
        double fraction = fmin(to, (double)f + 1.0) - fmax(from, (double)f);
        double more = f < known ? 1.0 : growth(base, now, known - 1, (double)f);
        sum += fraction > 0.0 ? fraction * last * more : 0.0;
    }
    return sum;
}

static double seconds_of(const copy_run* run) {
    double sum = 0.0;
    for (int64_t f = 0; f < run->done + (run->part > 0.0 ? 1 : 0); ++f) {
        sum += run->record[f].seconds;
    }
    return sum;
}

// The first frames alone, going on as they do with more particles.
static double forecast_alone(const copy_run* base) {
    double at = (double)base->done + base->part, end = (double)base->frames;
    double more = growth(base, rows_in(base, base->done), base->done, 0.5 * (at + end));
    double spent = seconds_of(base);
    return at > 0.0 ? spent + spent / at * (end - at) * more : 0.0;
}

// Equation (2); 0 where the copy did not get much farther.
static double forecast_by_copy(const copy_run* base, const copy_run* copy) {
    double at = (double)base->done + base->part;
    bool is_known = (double)copy->done >= 2.0 * at;
    double overlap = is_known ? work_between(base, copy, 0.0, at) : 0.0;
    double rest = is_known ? work_between(base, copy, at, (double)base->frames) : 0.0;
    return overlap > 0.0 ? seconds_of(base) * (1.0 + rest / overlap) : 0.0;
}

// How much wider the cells of the copy are, for all of its frames to be done in that time. That
// steps become fewer is not counted on.
static double copy_width(const copy_run* base, double seconds) {
    double at = (double)base->done + base->part, end = (double)base->frames, k = sqrt(2.0);
    double now = rows_in(base, base->done), more = growth(base, now, base->done, 0.5 * (at + end));
    double whole = seconds_of(base) / fmax(at, 1e-3) * end * more;
    double rows = more * (base->step_rows + now) - base->step_rows;
    double most = fmax(longest_cells(&base->def.domain) / COARSEST, k);
    double fraction = 1.0;
    while (whole * fraction > seconds && k < most) {
        k = fmin(1.05 * k, most);
        fraction = (base->step_rows + rows / cells_within(&base->def.domain, k)) /
                   (base->step_rows + rows);
    }
    return k;
}

static treacle_status ask_copies(double spend, copy_run* base, double* out) {
    copy_run copy = {0};
    TREACLE_TRY(run_copy(0.5 * spend, base));
    *out = base->first + seconds_of(base);
    if (base->done == base->frames) {
        return TREACLE_OK;
    }
    TREACLE_TRY(copy_create(base, copy_width(base, 0.5 * spend), &copy));
    treacle_status status = run_copy(0.5 * spend, &copy);
    double alone = forecast_alone(base), by_copy = forecast_by_copy(base, &copy);
    bool is_euler = base->def.motion == TREACLE_MOTION_EULERIAN;
    double fraction = by_copy > 0.0 ? (is_euler ? 1.0 : 0.5) : 0.0;
    *out = base->first + (1.0 - fraction) * alone + fraction * by_copy;
    copy_destroy(&copy);
    return status == TREACLE_ERR_MEMORY ? status : TREACLE_OK;
}

treacle_status forecast_run(treacle_context* ctx, const treacle_sim_def* def, int64_t frames,
                            double rows, double spend, forecast_clock* clock, double* out) {
    TREACLE_ASSERT(clock != NULL && out != NULL);
    TREACLE_ASSERT(frames > 0 && spend > 0.0);
    int64_t asked = frames < RECORDS_MAX ? frames : RECORDS_MAX;
    copy_run given = {
        .ctx = ctx, .clock = clock, .def = *def, .width = 1.0, .frames = asked, .rows = rows};
    copy_run base = {0};
    double width = 1.0;
    while (rows > most_rows * cells_within(&def->domain, width)) {
        width *= 1.25;
    }
    TREACLE_TRY(copy_create(&given, width, &base));
    treacle_status status = ask_copies(spend, &base, out);
    *out *= width * cells_within(&def->domain, width) * (double)frames / (double)asked;
    copy_destroy(&base);
    return status;
}

static void log_nothing(treacle_log_level level, const char* text, void* user) {
    (void)level;
    (void)text;
    (void)user;
}

static double processor_time(const treacle_context* ctx) {
    (void)ctx;
    return profile_cpu();
}

// In a context with one thread, whose processor time does not depend on what else the machine does.
static treacle_status ask(treacle_context* ctx, const treacle_scene* scene, double seconds,
                          const treacle_estimate* counted, double* out) {
    treacle_context_def own_def = ctx->def;
    treacle_context* own = NULL;
    own_def.threads = 1;
    own_def.ranks = false;
    own_def.log = log_nothing;
    TREACLE_TRY(treacle_context_create(&own_def, &own));
    treacle_status status =
        forecast_run(own, treacle_scene_sim(scene), treacle_scene_output(scene)->frames - 1,
                     (double)counted->particles_end, seconds, processor_time, out);
    treacle_context_destroy(own);
    return status;
}

// Writing all frames, of the mean number of particles.
static double writing(const treacle_run_def* run, const treacle_estimate* counted, double frames) {
    double rows = 0.5 * (double)(counted->particles + counted->particles_end);
    double one = frame_seconds + rows * frame_row_seconds;
    return frames * (one + (run->preview ? preview_seconds + rows * preview_row_seconds : 0.0));
}

treacle_status treacle_run_estimate(treacle_context* ctx, const treacle_scene* scene,
                                    const treacle_run_def* run, double seconds,
                                    treacle_estimate* out) {
    TREACLE_TRY(treacle_scene_estimate(scene, out));
    double frames = (double)treacle_scene_output(scene)->frames, found = 0.0;
    if (frames > 1.0 && seconds > 0.0 && comm_size(ctx) == 1) {
        treacle_status status = ask(ctx, scene, seconds, out, &found);
        if (status == TREACLE_ERR_MEMORY) {
            return check_fail(ctx, status, "not enough memory to try the scene's first steps");
        }
        bool is_found = status == TREACLE_OK && found > 0.0;
        int threads = treacle_context_threads(ctx);
        double fraction = 1.0 - parallel_fraction + parallel_fraction / threads;
        out->seconds = is_found ? found * fraction : out->seconds;
        out->is_measured = is_found;
    }
    out->seconds += writing(run, out, frames);
    return TREACLE_OK;
}
