// exp, log, pow and friends that give the same bits on every machine.
//
// libm's differ from one CPU to the next (glibc picks a version with fused multiply-add where there
// is one). These use + - * / and integer operations on the bits of doubles only. Errors are below
// one unit in the last place, of tanh below three, over the whole range; special values are those
// of C17 annex F.
#pragma once

double elementary_exp(double x);
double elementary_log(double x);
double elementary_pow(double x, double y);
double elementary_sin(double x);
double elementary_cos(double x);
double elementary_tanh(double x);
