// The reader of level sets in VDB files on arbitrary bytes.
#include "mesh_check.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    mesh_check_bytes(mesh_vdb_read, data, size);
    return 0;
}
