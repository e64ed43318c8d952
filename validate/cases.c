#include "cases.h"

const validate_case validate_cases[] = {
    {"ballistic", VALIDATE_QUICK, 2, "thrown particles fly along the parabola", case_ballistic},
    {"emission", VALIDATE_QUICK, 5, "emitters bring the volume they promise, whatever dt",
     case_emission},
};

const int validate_case_count = sizeof(validate_cases) / sizeof(validate_cases[0]);
