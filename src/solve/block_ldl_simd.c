#include "solve/block_ldl.h"

void ISA(block_ldl_update)(ldl_block* to, const ldl_block* from, const ldl_block* other_t) {
    // Rows of other^T are columns of other: each entry of `from` times a whole row, six products a
    // row in the order of k. Lanes 6 and 7 are padding, zero in and zero out.
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
