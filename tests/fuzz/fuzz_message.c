// What the page of `treacle play` asks of a simulation: each line of an input is a message.
// Whatever they ask for, the simulation steps or says why not, and can be shown.
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apps/treacle/live_act.h"
#include "fuzz.h"

enum { MESSAGES_MAX = 8, STEPS_MAX = 30 }; // after so many steps no more messages

static const char scene_text[] =
    "flow: pressure\n"
    "domain: {size: [0.08, 0.08, 0.0], cell: 1 cm}\n"
    "materials:\n"
    "  honey: {density: 1400, viscosity: 5, conductivity: 0.5, heat_capacity: 2200,\n"
    "          viscosity_law: {kind: arrhenius, activation: 6000 K, reference: 300 K}}\n"
    "liquids: [{shape: {box: {min: [0, 0], max: [0.08, 0.02]}}, temperature: 300 K}]\n"
    "bodies: {disc: {shape: {sphere: {radius: 1 cm, centre: [0.04, 0.05, 0]}}, density: 700}}\n";

static treacle_context* ctx;
enum { THIN, THICK, SUBJECTS };
static char paths[SUBJECTS][64];
static live_sim sims[SUBJECTS];
static const cli_list no_sets;

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerInitialize(int* argc, char*** argv) {
    (void)argc;
    (void)argv;
    ctx = fuzz_context();
    for (int i = 0; i < SUBJECTS; ++i) {
        const char* text = i == THIN ? scene_text : strchr(scene_text, '\n') + 1;
        int fd = memfd_create("scene", MFD_CLOEXEC);
        size_t size = strlen(text);
        fuzz_check(fd >= 0 && write(fd, text, size) == (ssize_t)size);
        snprintf(paths[i], sizeof(paths[i]), "/proc/self/fd/%d", fd);
        fuzz_check(live_sim_open(ctx, paths[i], &no_sets, &sims[i]) == TREACLE_OK);
    }
    return 0;
}

// As it was before the input.
static live_sim* begin_again(int which) {
    live_sim* live = &sims[which];
    bool is_touched = live->steps > 0 || live->viscosity_factor != 1.0;
    if (is_touched) {
        live_sim_close(live);
        fuzz_check(live_sim_open(ctx, paths[which], &no_sets, live) == TREACLE_OK);
    }
    live->grabbed = -1;
    live->is_pouring = live->is_paused = false;
    live->heat = 0.0;
    live->told[0] = '\0';
    return live;
}

// Each message by itself, without a byte behind it.
static bool act(live_sim* live, const uint8_t* text, size_t length) {
    char* copy = malloc(length + 1);
    fuzz_check(copy != NULL);
    memcpy(copy, text, length);
    bool is_done = live_act(live, copy, length);
    free(copy);
    return is_done;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    bool any = false;
    treacle_frame frame;
    int which = size > 0 && data[0] == '!' ? THICK : THIN;
    live_sim* live = begin_again(which);
    data += which == THICK ? 1 : 0;
    size -= which == THICK ? 1 : 0;
    for (int i = 0; i < MESSAGES_MAX && size > 0 && live->steps < STEPS_MAX; ++i) {
        const uint8_t* end = memchr(data, '\n', size);
        size_t length = end == NULL ? size : (size_t)(end - data);
        any = act(live, data, length) || any;
        length += end == NULL ? 0 : 1;
        data += length;
        size -= length;
    }
    if (any && !live->is_paused) {
        live_sim_advance(live);
    }
    fuzz_check(live->grabbed >= -1 && live->grabbed < live->body_count);
    fuzz_check(treacle_sim_view(live->sim, TREACLE_FRAME_PICTURE, 1, &frame) == TREACLE_OK);
    return 0;
}
