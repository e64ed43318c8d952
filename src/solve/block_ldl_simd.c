#include "solve/block_ldl.h"

void ISA(block_ldl_update)(ldl_block* to, const ldl_block* from, const ldl_block* other_t) {
    f64x8 column[BLOCK_SIZE];
    for (int k = 0; k < BLOCK_SIZE; ++k) {
        column[k] = f64x8_load(other_t->at[k]);
    }
    for (int r = 0; r < BLOCK_SIZE; ++r) {
        f64x8 sum = f64x8_load(to->at[r]);
        for (int k = 0; k < BLOCK_SIZE; ++k) {
            sum -= f64x8_set(from->at[r][k]) * column[k];
        }
        f64x8_store(to->at[r], sum);
    }
}
