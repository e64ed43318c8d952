#include "progress_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "human.h"
#include "interrupt.h"

enum {
    WIDTH_DEFAULT = 80,
    WIDTH_MAX = 200,
    PART_CAPACITY = 64,
    BAR_MAX = 30,
    BAR_MIN = 6,
    BAR_EXTRA = 4, // its brackets and the space behind it
    WIDTH_WITH_BAR = 60,
};

// The parts of the line, in the order in which they stand.
typedef enum part {
    PART_FRAME,
    PART_BAR,
    PART_PERCENT,
    PART_LEFT,
    PART_SUBSTEP,
    PART_PARTICLES,
    PART_ITERATIONS,
    PART_COUNT,
} part;

static const double redraw_seconds = 0.05;

// Where the line is too long these go first, from the front.
static const part drop_order[] = {PART_SUBSTEP, PART_ITERATIONS, PART_PARTICLES, PART_LEFT};

void progress_line_begin(progress_line* line, bool quiet) {
    *line = (progress_line){.quiet = quiet, .is_terminal = isatty(STDERR_FILENO) == 1};
}

static int terminal_width(void) {
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return WIDTH_DEFAULT;
    }
    return size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
}

// Of the flow's solves, whichever it has.
static int iterations_of(const treacle_step_stats* stats) {
    return stats->pressure.iterations + stats->viscosity.iterations + stats->flow.iterations;
}

static void fill_parts(const treacle_progress* p, char parts[PART_COUNT][PART_CAPACITY]) {
    memset(parts, 0, PART_COUNT * sizeof(parts[0]));
    snprintf(parts[PART_FRAME], PART_CAPACITY, "frame %" PRId64 "/%" PRId64, p->frame, p->frames);
    snprintf(parts[PART_PERCENT], PART_CAPACITY, "%3.0f %%", 100.0 * p->fraction);
    if (p->seconds_left > 0.0) {
        snprintf(parts[PART_LEFT], PART_CAPACITY, "%s left", human_seconds(p->seconds_left).at);
    }
    if (p->stats == NULL) {
        return;
    }
    snprintf(parts[PART_SUBSTEP], PART_CAPACITY, "step %d", p->substep);
    snprintf(parts[PART_PARTICLES], PART_CAPACITY, "%s particles",
             human_count((double)p->stats->particles).at);
    if (iterations_of(p->stats) > 0) {
        snprintf(parts[PART_ITERATIONS], PART_CAPACITY, "%d it.", iterations_of(p->stats));
    }
}

static int parts_width(char parts[PART_COUNT][PART_CAPACITY]) {
    int width = 0;
    for (int k = 0; k < PART_COUNT; ++k) {
        int length = (int)strlen(parts[k]);
        width += length > 0 ? length + 2 : 0;
    }
    return width;
}

static void fill_bar(double fraction, int room, char* bar) {
    int width = room - BAR_EXTRA < BAR_MAX ? room - BAR_EXTRA : BAR_MAX;
    if (width < BAR_MIN) {
        return;
    }
    int done = (int)(fraction * (double)width);
    bar[0] = '[';
    memset(bar + 1, '#', (size_t)done);
    memset(bar + 1 + done, '.', (size_t)(width - done));
    bar[width + 1] = ']';
    bar[width + 2] = '\0';
}

static void draw(progress_line* line, const treacle_progress* p) {
    char parts[PART_COUNT][PART_CAPACITY];
    // The last column stays free: a cursor behind it would wrap on some terminals.
    int room = terminal_width() - 1;
    int bar = room >= WIDTH_WITH_BAR ? BAR_MIN + BAR_EXTRA : 0;
    fill_parts(p, parts);
    for (size_t k = 0; k < sizeof(drop_order) / sizeof(drop_order[0]); ++k) {
        if (parts_width(parts) + bar <= room) {
            break;
        }
        parts[drop_order[k]][0] = '\0';
    }
    fill_bar(p->fraction, room - parts_width(parts), parts[PART_BAR]);
    char text[PART_COUNT * (PART_CAPACITY + 2)] = "";
    size_t length = 0;
    for (int k = 0; k < PART_COUNT; ++k) {
        if (parts[k][0] != '\0') {
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
                                       length > 0 ? "  " : "", parts[k]);
        }
    }
    fprintf(stderr, "\r\033[K%.*s", room, text);
    fflush(stderr);
    line->is_shown = true;
    line->shown_at = p->seconds_spent;
}

static void print_frame(const treacle_progress* p) {
    fprintf(stderr, "frame %" PRId64 "/%" PRId64, p->frame, p->frames);
    if (p->stats != NULL) {
        fprintf(stderr, ": step %" PRId64 ", %d sub-step%s, %" PRId64 " particles", p->step,
                p->substep, p->substep == 1 ? "" : "s", p->stats->particles);
        if (iterations_of(p->stats) > 0) {
            fprintf(stderr, ", %d iterations", iterations_of(p->stats));
        }
    }
    if (p->seconds_left > 0.0) {
        fprintf(stderr, ", %s left", human_seconds(p->seconds_left).at);
    }
    fputc('\n', stderr);
}

static void count(progress_line* line, const treacle_progress* p) {
    line->seconds = p->seconds_spent;
    if (p->frame_done) {
        line->first_frame = line->first_frame == 0 ? p->frame : line->first_frame;
        line->last_frame = p->frame;
    } else {
        line->steps += 1;
    }
}

bool progress_line_update(const treacle_progress* progress, void* user) {
    progress_line* line = user;
    count(line, progress);
    if (!line->quiet && !line->is_mute) {
        bool is_due = progress->frame_done || !line->is_shown ||
                      progress->seconds_spent >= line->shown_at + redraw_seconds;
        if (line->is_terminal && is_due) {
            draw(line, progress);
        } else if (!line->is_terminal && progress->frame_done) {
            print_frame(progress);
        }
    }
    return !interrupt_wanted();
}

void progress_line_clear(progress_line* line) {
    if (line->is_shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    line->is_shown = false;
}

void progress_line_log(treacle_log_level level, const char* text, void* user) {
    progress_line* line = user;
    if (level < TREACLE_LOG_INFO || (level == TREACLE_LOG_INFO && line->quiet) || line->is_mute) {
        return;
    }
    progress_line_clear(line);
    const char* prefix = level == TREACLE_LOG_INFO      ? ""
                         : level == TREACLE_LOG_WARNING ? "warning: "
                                                        : "error: ";
    fprintf(stderr, "treacle: %s%s\n", prefix, text);
}
