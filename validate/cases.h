// All cases of build/validate.
#pragma once

#include "harness.h"

validate_fcn case_ballistic;
validate_fcn case_emission;

extern const validate_case validate_cases[];
extern const int validate_case_count;
