#include "cases.h"

const validate_case validate_cases[] = {
    {"ballistic", VALIDATE_QUICK, 2, "thrown particles fly along the parabola", case_ballistic},
    {"emission", VALIDATE_QUICK, 5, "emitters bring the volume they promise, whatever dt",
     case_emission},
    {"angular-momentum", VALIDATE_QUICK, 2, "APIC transfers keep it, PIC's lose what they must",
     case_angular_momentum},
    {"transfer-energy", VALIDATE_QUICK, 15, "energy that transfers leave to inviscid vortices",
     case_transfer_energy},
    {"transfer-energy-fine", VALIDATE_FULL, 45, "the same at 128 cells", case_transfer_energy_fine},
    {"taylor-green", VALIDATE_QUICK, 15, "the numerical viscosity of an inviscid vortex",
     case_taylor_green},
    {"tracking", VALIDATE_QUICK, 15, "shapes that are carried round and back are as they were",
     case_tracking},
    {"free-fall", VALIDATE_QUICK, 8, "a blob falls without drag and without strain",
     case_free_fall},
    {"hydrostatic", VALIDATE_QUICK, 30, "a pool at rest stays at rest, in 2D", case_hydrostatic},
    {"hydrostatic-fine", VALIDATE_FULL, 200, "a pool at rest stays at rest, finer and in 3D",
     case_hydrostatic_fine},
    {"film", VALIDATE_QUICK, 10, "honey runs down an incline as fast as it must", case_film},
    {"slosh", VALIDATE_QUICK, 10, "sloshing liquid keeps its volume for 20 s", case_slosh},
    {"slosh-minute", VALIDATE_FULL, 120, "sloshing liquid keeps its volume for a minute",
     case_slosh_minute},
    {"layers", VALIDATE_QUICK, 30, "two densities at rest stay at rest", case_layers},
    {"separation", VALIDATE_QUICK, 3, "liquid lets go of walls where it must, and only there",
     case_separation},
    {"random-scenes", VALIDATE_QUICK, 5, "50 random scenes lose nothing and stay finite",
     case_random_scenes},
    {"random-scenes-all", VALIDATE_FULL, 100, "1000 random scenes lose nothing and stay finite",
     case_random_scenes_all},
};

const int validate_case_count = sizeof(validate_cases) / sizeof(validate_cases[0]);
