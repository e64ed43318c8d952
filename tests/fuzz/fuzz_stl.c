// The reader of meshes in STL on arbitrary bytes.
#include "mesh_check.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    mesh_check_bytes(mesh_stl_read, data, size);
    return 0;
}
