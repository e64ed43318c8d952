// The reader of meshes in glTF on arbitrary bytes. Inputs that begin with "glb" are wrapped: the
// rest up to the first NUL is the text of a .glb, what follows is its binary part.
#include <stdio.h>

#include "mesh_check.h"

static void put_u32(uint8_t* to, size_t value) {
    uint32_t bits = (uint32_t)value;
    memcpy(to, &bits, sizeof(bits));
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 3 || memcmp(data, "glb", 3) != 0) {
        mesh_check_bytes(mesh_gltf_read, data, size);
        return 0;
    }
    const uint8_t *text = data + 3, *nul = memchr(text, 0, size - 3);
    size_t length = nul == NULL ? size - 3 : (size_t)(nul - text);
    size_t rest = nul == NULL ? 0 : size - 4 - length, whole = 28 + length + rest;
    uint8_t* file = malloc(whole);
    if (file != NULL) {
        memcpy(file, "glTF", 4);
        put_u32(file + 4, 2);
        put_u32(file + 8, whole);
        put_u32(file + 12, length);
        memcpy(file + 16, "JSON", 4);
        memcpy(file + 20, text, length);
        put_u32(file + 20 + length, rest);
        memcpy(file + 24 + length, "BIN", 4);
        memcpy(file + 28 + length, data + size - rest, rest);
        mesh_check_bytes(mesh_gltf_read, file, whole);
    }
    free(file);
    return 0;
}
