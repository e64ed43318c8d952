#include "geometry/gltf_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { CHUNK_JSON = 0x4e4f534a, CHUNK_BINARY = 0x004e4942, PATH_MAX_BYTES = 4096, TEXT_MAX = 300 };

treacle_status gltf_fail(const gltf_file* file, const char* format, ...) {
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return mesh_fail(file->in, (mesh_place){.byte = 0}, "%s", text);
}

json_t* gltf_item(const gltf_file* file, const char* list, const json_t* index) {
    TREACLE_ASSERT(file->root != NULL && list != NULL);
    json_int_t i = json_is_integer(index) ? json_integer_value(index) : -1;
    return i < 0 ? NULL : json_array_get(json_object_get(file->root, list), (size_t)i);
}

int64_t gltf_whole(const json_t* object, const char* key, int64_t missing) {
    const json_t* value = json_object_get(object, key);
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    return value == NULL ? missing : number < 0 ? -1 : number;
}

// The file ----------------------------------------------------------------------------------------

static uint32_t u32_at(const uint8_t* bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static treacle_status parse(gltf_file* file, const uint8_t* text, size_t size) {
    json_error_t error;
    file->root = json_loadb((const char*)text, size, 0, &error);
    if (file->root == NULL && json_error_code(&error) == json_error_out_of_memory) {
        return check_fail(file->in->ctx, TREACLE_ERR_MEMORY, "%s: out of memory", file->in->name);
    }
    return json_is_object(file->root)
               ? TREACLE_OK
               : gltf_fail(file, "not glTF: %s", file->root == NULL ? error.text : "no object");
}

// A .glb: "glTF", 2, its size; then chunks of size, kind and bytes.
static treacle_status parse_binary(gltf_file* file) {
    enum { HEAD = 12, CHUNK = 8 };
    const uint8_t* bytes = file->in->data;
    size_t size = file->in->size, json_size = 0;
    if (size < HEAD + CHUNK || u32_at(bytes + 4) != 2 || u32_at(bytes + 8) > size ||
        u32_at(bytes + 16) != CHUNK_JSON) {
        return gltf_fail(file, "not a binary glTF of version 2, or cut short");
    }
    json_size = u32_at(bytes + HEAD);
    if (json_size > size - HEAD - CHUNK) {
        return gltf_fail(file, "the file is cut short");
    }
    size_t next = HEAD + CHUNK + json_size;
    if (size - next >= CHUNK && u32_at(bytes + next + 4) == CHUNK_BINARY) {
        file->binary_size = u32_at(bytes + next);
        if (file->binary_size > size - next - CHUNK) {
            return gltf_fail(file, "the file is cut short");
        }
        file->binary = bytes + next + CHUNK;
    }
    return parse(file, bytes + HEAD + CHUNK, json_size);
}

treacle_status gltf_open(const mesh_input* in, gltf_file* out) {
    TREACLE_ASSERT(in->data != NULL || in->size == 0);
    *out = (gltf_file){.in = in};
    bool is_binary = in->size >= 4 && memcmp(in->data, "glTF", 4) == 0;
    TREACLE_TRY(is_binary ? parse_binary(out) : parse(out, in->data, in->size));
    out->buffer_count = json_array_size(json_object_get(out->root, "buffers"));
    void* block = NULL;
    TREACLE_TRY(alloc_zero(in->ctx, out->buffer_count, sizeof(gltf_buffer), "a mesh", &block));
    out->buffers = block;
    return TREACLE_OK;
}

void gltf_close(gltf_file* file) {
    treacle_context* ctx = file->in->ctx;
    for (size_t i = 0; file->buffers != NULL && i < file->buffer_count; ++i) {
        alloc_free(ctx, file->buffers[i].owned, file->buffers[i].capacity);
    }
    alloc_free(ctx, file->buffers, file->buffer_count * sizeof(gltf_buffer));
    json_decref(file->root);
}

// Buffers -----------------------------------------------------------------------------------------

static int base64_value(char c) {
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

static treacle_status read_base64(gltf_file* file, const char* text, gltf_buffer* out) {
    size_t length = strlen(text), size = 0;
    uint32_t bits = 0;
    int bit_count = 0;
    out->capacity = length / 4 * 3 + 3;
    TREACLE_TRY(alloc_array(file->in->ctx, out->capacity, 1, "a mesh", &out->owned));
    for (size_t i = 0; i < length && text[i] != '='; ++i) {
        int value = base64_value(text[i]);
        if (value < 0) {
            return gltf_fail(file, "a buffer is not in base64");
        }
        bits = bits << 6 | (uint32_t)value;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            ((uint8_t*)out->owned)[size++] = (uint8_t)(bits >> bit_count);
        }
    }
    out->bytes = out->owned;
    out->size = size;
    return TREACLE_OK;
}

static int hex_value(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// The path of a file beside the mesh, %20 and the like undone; false if it is not beside it.
static bool path_beside(const char* mesh, const char* uri, char out[PATH_MAX_BYTES]) {
    const char* slash = strrchr(mesh, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - mesh) + 1, begin = length;
    if (length >= PATH_MAX_BYTES) {
        return false;
    }
    memcpy(out, mesh, length);
    for (const char* at = uri; *at != '\0' && length + 1 < PATH_MAX_BYTES; ++at) {
        bool is_code = at[0] == '%' && hex_value(at[1]) >= 0 && hex_value(at[2]) >= 0;
        out[length++] = is_code ? (char)(16 * hex_value(at[1]) + hex_value(at[2])) : *at;
        at += is_code ? 2 : 0;
    }
    out[length] = '\0';
    return length + 1 < PATH_MAX_BYTES && length > begin && strlen(out) == length &&
           out[begin] != '/' && strstr(out + begin, "..") == NULL &&
           strstr(out + begin, "://") == NULL;
}

static treacle_status read_beside(gltf_file* file, const char* uri, gltf_buffer* out) {
    char path[PATH_MAX_BYTES];
    if (!path_beside(file->in->name, uri, path)) {
        return gltf_fail(file, "a buffer is not in a file beside it: '%.40s'", uri);
    }
    TREACLE_TRY(mesh_bytes_load(file->in->ctx, path, &out->owned, &out->capacity, &out->size));
    out->bytes = out->owned;
    file->beside = hash_bytes(out->bytes, out->size, file->beside + 1);
    return TREACLE_OK;
}

static treacle_status open_buffer(gltf_file* file, const json_t* index, const gltf_buffer** out) {
    static const char data[] = "data:", base64[] = ";base64,";
    const json_t* about = gltf_item(file, "buffers", index);
    if (about == NULL) {
        return gltf_fail(file, "a buffer is missing");
    }
    gltf_buffer* buffer = &file->buffers[json_integer_value(index)];
    const char* uri = json_string_value(json_object_get(about, "uri"));
    *out = buffer;
    if (buffer->bytes != NULL) {
        return TREACLE_OK;
    }
    if (uri == NULL) {
        buffer->bytes = file->binary;
        buffer->size = file->binary_size;
        return buffer->bytes != NULL ? TREACLE_OK : gltf_fail(file, "a buffer has no bytes");
    }
    if (buffer->owned != NULL) {
        return gltf_fail(file, "a buffer cannot be read");
    }
    if (strncmp(uri, data, sizeof(data) - 1) == 0) {
        const char* text = strstr(uri, base64);
        return text == NULL ? gltf_fail(file, "a buffer is not in base64")
                            : read_base64(file, text + sizeof(base64) - 1, buffer);
    }
    return read_beside(file, uri, buffer);
}

// Accessors ---------------------------------------------------------------------------------------

enum { TYPE_FIRST = 5120, TYPE_FLOAT = 5126, TYPES = 7 };

static size_t type_bytes(int64_t type) {
    static const size_t bytes[TYPES] = {1, 1, 2, 2, 0, 4, 4}; // 5124 is not in use
    return type >= TYPE_FIRST && type < TYPE_FIRST + TYPES ? bytes[type - TYPE_FIRST] : 0;
}

// The span of `length` bytes of a buffer view, and its stride.
static treacle_status open_view(gltf_file* file, const json_t* view, const uint8_t** bytes,
                                int64_t* length) {
    const gltf_buffer* buffer = NULL;
    TREACLE_TRY(open_buffer(file, json_object_get(view, "buffer"), &buffer));
    int64_t offset = gltf_whole(view, "byteOffset", 0);
    *length = gltf_whole(view, "byteLength", -1);
    if (offset < 0 || *length < 0 || (uint64_t)offset > buffer->size ||
        (uint64_t)*length > buffer->size - (uint64_t)offset) {
        return gltf_fail(file, "a buffer view is not inside its buffer");
    }
    *bytes = buffer->bytes + offset;
    return TREACLE_OK;
}

treacle_status gltf_accessor_open(gltf_file* file, const json_t* index, gltf_accessor* out) {
    const json_t* about = gltf_item(file, "accessors", index);
    const json_t* view = gltf_item(file, "bufferViews", json_object_get(about, "bufferView"));
    const char* shape = json_string_value(json_object_get(about, "type"));
    if (about == NULL || view == NULL || shape == NULL) {
        return gltf_fail(file, "an accessor is missing, or has no bytes of its own");
    }
    if (json_object_get(about, "sparse") != NULL) {
        return gltf_fail(file, "sparse accessors are not read");
    }
    int64_t type = gltf_whole(about, "componentType", -1), length = 0;
    int64_t count = gltf_whole(about, "count", -1), offset = gltf_whole(about, "byteOffset", 0);
    *out = (gltf_accessor){
        .type = (int)type,
        .components = strcmp(shape, "SCALAR") == 0 ? 1
                      : strcmp(shape, "VEC3") == 0 ? 3
                                                   : 0,
        .is_normalised = json_is_true(json_object_get(about, "normalized")),
    };
    size_t bytes = type_bytes(type) * (size_t)out->components;
    TREACLE_TRY(open_view(file, view, &out->bytes, &length));
    int64_t stride = gltf_whole(view, "byteStride", (int64_t)bytes);
    bool is_sound = bytes > 0 && count >= 0 && offset >= 0 && stride >= (int64_t)bytes &&
                    stride <= 252 && offset <= length &&
                    (count == 0 || (length - offset >= (int64_t)bytes &&
                                    count - 1 <= (length - offset - (int64_t)bytes) / stride));
    if (!is_sound) {
        return gltf_fail(file, "an accessor is not inside its buffer view");
    }
    out->bytes += offset;
    out->count = (size_t)count;
    out->stride = (size_t)stride;
    return TREACLE_OK;
}

double gltf_accessor_at(const gltf_accessor* a, size_t i, int c) {
    TREACLE_ASSERT(i < a->count);
    TREACLE_ASSERT(c >= 0 && c < a->components);
    static const double largest[] = {127.0, 255.0, 32767.0, 65535.0};
    size_t bytes = type_bytes(a->type);
    const uint8_t* at = a->bytes + i * a->stride + (size_t)c * bytes;
    uint32_t bits = 0;
    float value = 0.0f;
    memcpy(&bits, at, bytes);
    memcpy(&value, &bits, sizeof(value));
    const double values[TYPES] = {(double)(int8_t)bits, (double)bits, (double)(int16_t)bits,
                                  (double)bits,         0.0,          (double)bits,
                                  (double)value};
    double number = values[a->type - TYPE_FIRST];
    return a->is_normalised && a->type < TYPE_FIRST + 4
               ? fmax(number / largest[a->type - TYPE_FIRST], -1.0)
               : number;
}
