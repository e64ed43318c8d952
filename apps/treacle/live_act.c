#include "live_act.h"

#include <jansson.h>
#include <math.h>

enum { STEPS_AT_ONCE = 100 };

static bool read_place(json_t* value, double out[3]) {
    bool is_place = json_is_array(value) && json_array_size(value) == 3;
    for (size_t k = 0; k < 3 && is_place; ++k) {
        json_t* number = json_array_get(value, k);
        is_place = json_is_number(number) && fabs(json_number_value(number)) < 1e6;
        out[k] = is_place ? json_number_value(number) : 0.0;
    }
    return is_place;
}

// Holds, and takes so many steps before the answer: what comes of them does not depend on how fast
// the hands are. Fewer where a step fails.
static bool take_steps(live_sim* live, json_int_t count) {
    if (count < 1 || count > STEPS_AT_ONCE) {
        return false;
    }
    live->is_paused = false;
    for (json_int_t k = 0; k < count && !live->is_paused; ++k) {
        live_sim_advance(live);
    }
    live->is_paused = true;
    return true;
}

// False if the action makes no sense.
static bool act(live_sim* live, json_t* action) {
    json_t *grab = json_object_get(action, "grab"), *pour = json_object_get(action, "pour");
    json_t *viscosity = json_object_get(action, "viscosity"),
           *heat = json_object_get(action, "heat"), *steps = json_object_get(action, "step");
    if (json_is_integer(grab)) {
        json_int_t body = json_integer_value(grab);
        bool is_sound = body >= 0 && body < live->body_count &&
                        read_place(json_object_get(action, "to"), live->grab_to);
        live->grabbed = is_sound ? (int)body : -1;
        return is_sound;
    }
    if (json_is_integer(steps)) {
        return take_steps(live, json_integer_value(steps));
    }
    if (pour != NULL) {
        live->is_pouring = read_place(pour, live->pour_at);
        return live->is_pouring;
    }
    if (json_is_number(viscosity)) {
        double factor = json_number_value(viscosity);
        bool is_sound = factor >= 1e-6 && factor <= 1e6;
        if (is_sound) {
            live_sim_set_viscosity(live, factor);
        }
        return is_sound;
    }
    if (json_is_number(heat) && fabs(json_number_value(heat)) <= 1000.0) {
        live->heat += json_number_value(heat);
        return true;
    }
    if (json_is_true(json_object_get(action, "release"))) {
        live->grabbed = -1;
        live->is_pouring = false;
        return true;
    }
    if (json_is_true(json_object_get(action, "pause"))) {
        live->is_paused = !live->is_paused;
        return true;
    }
    bool is_restart = json_is_true(json_object_get(action, "restart"));
    if (is_restart) {
        live_sim_restart(live);
    }
    return is_restart;
}

bool live_act(live_sim* live, const char* message, size_t size) {
    json_t* action = json_loadb(message, size, 0, NULL);
    bool is_done = json_is_object(action) && act(live, action);
    json_decref(action);
    return is_done;
}
