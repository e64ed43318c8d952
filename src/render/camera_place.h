// Where the camera of a scene is, for pictures and previews alike.
#pragma once

#include "treacle/look.h"

/// False if the def leaves it to who draws: nothing is written then.
bool camera_place(const treacle_camera_def* camera, double time, double eye[3], double target[3]);
/// Turns the eye by an angle, rad, about the vertical through the target.
void camera_turn(double angle, double eye[3], const double target[3]);
