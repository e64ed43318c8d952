// All cases of build/validate.
#pragma once

#include "harness.h"

validate_fcn case_ballistic;
validate_fcn case_emission;
validate_fcn case_angular_momentum;
validate_fcn case_transfer_energy;
validate_fcn case_transfer_energy_fine;
validate_fcn case_taylor_green;
validate_fcn case_tracking;
validate_fcn case_free_fall;
validate_fcn case_hydrostatic;
validate_fcn case_hydrostatic_fine;
validate_fcn case_rotation;
validate_fcn case_hydrostatic_tilted;
validate_fcn case_hydrostatic_tilted_fine;
validate_fcn case_vortex_box;
validate_fcn case_piston;
validate_fcn case_gap;
validate_fcn case_random_solids;
validate_fcn case_random_solids_all;
validate_fcn case_film;
validate_fcn case_rotation_comparators;
validate_fcn case_substeps;
validate_fcn case_bingham_poiseuille;
validate_fcn case_elastic_wave;
validate_fcn case_startup_shear;
validate_fcn case_relaxation_stress;
validate_fcn case_saos;
validate_fcn case_sag;
validate_fcn case_gravity_current;
validate_fcn case_drop_newtonian;
validate_fcn case_buckling;
validate_fcn case_folding;
validate_fcn case_film_tilted;
validate_fcn case_couette;
validate_fcn case_poiseuille;
validate_fcn case_relaxation;
validate_fcn case_wave;
validate_fcn case_rest;
validate_fcn case_thread;
validate_fcn case_thread_round;
validate_fcn case_slosh;
validate_fcn case_slosh_minute;
validate_fcn case_layers;
validate_fcn case_separation;
validate_fcn case_draft;
validate_fcn case_draft_all;
validate_fcn case_added_mass;
validate_fcn case_added_mass_ball;
validate_fcn case_momentum;
validate_fcn case_random_scenes;
validate_fcn case_random_scenes_all;
validate_fcn case_heat_lod;
validate_fcn case_isotherm;
validate_fcn case_stefan;
validate_fcn case_hot_film;
validate_fcn case_melting_wall;
validate_fcn case_melt_runs;
validate_fcn case_hot_rotation;
validate_fcn case_heat_balance;
validate_fcn case_carlson_steps;

extern const validate_case validate_cases[];
extern const int validate_case_count;
