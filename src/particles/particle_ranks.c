#include "particles/particle_ranks.h"

#include "base/alloc.h"

// The first group whose key is at least `key`.
static tile_ix group_of_key(const particles* p, uint64_t key) {
    tile_ix low = 0, high = p->tile_count;
    while (low < high) {
        tile_ix middle = low + (high - low) / 2;
        if (tile_key(p->tile[middle]) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

tile_range particle_ranks_own(const grid_domain* domain, const particles* p) {
    if (domain->rank_key == NULL) {
        return (tile_range){0, p->tile_count};
    }
    int rank = comm_rank(p->ctx);
    return (tile_range){group_of_key(p, domain->rank_key[rank]),
                        group_of_key(p, domain->rank_key[rank + 1])};
}

void particle_ranks_for(const grid_domain* domain, const particles* p, int64_t grain,
                        parallel_fcn* fcn, void* data) {
    tile_for_range(p->ctx, particle_ranks_own(domain, p), grain, fcn, data);
}

void particle_ranks_gather(const grid_domain* domain, const particles* p, void* data,
                           size_t row_bytes) {
    int size = comm_size(p->ctx);
    if (domain->rank_key == NULL || size == 1) {
        return;
    }
    int64_t* first = NULL;
    treacle_status status =
        alloc_array(p->ctx, (size_t)size + 1, sizeof(int64_t), "rows of ranks", (void**)&first);
    if (status != TREACLE_OK) {
        (void)!comm_give_up(p->ctx, status);
        return;
    }
    for (int r = 0; r <= size; ++r) {
        first[r] = p->tile_first[group_of_key(p, domain->rank_key[r])];
    }
    comm_gather(p->ctx, data, row_bytes, first);
    alloc_free(p->ctx, first, ((size_t)size + 1) * sizeof(int64_t));
}

void particle_ranks_gather_column(const grid_domain* domain, const particles* p,
                                  particle_column column) {
    if (p->column[column] != NULL) {
        particle_ranks_gather(domain, p, p->column[column], particle_columns[column].bytes);
    }
}
