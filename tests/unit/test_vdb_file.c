// Level sets from VDB files. What OpenVDB itself says of the files was measured with its Python
// module: corners, volume and bounds of the surface.
#include "alloc_failure.h"
#include "geometry/triangle_mesh.h"
#include "vdb/vdb_file.h"

static const struct {
    const char* path;
    int corners;
    double volume, low, high; // of the bounds, along x
} known[] = {
    {"tests/fuzz/seeds/vdb/ball.vdb", 56, 0.023790971, 1.0300249, 1.3699751},
    {"tests/fuzz/seeds/vdb/half.vdb", 128, 0.055019172, 0.9717935, 1.4282066},
    {"tests/fuzz/seeds/vdb/two.vdb", 56, 0.023790949, 2.030025, 2.369975},
};
enum { KNOWN = sizeof(known) / sizeof(known[0]) };

typedef struct bytes {
    uint8_t* data;
    size_t size;
} bytes;

static bytes read_bytes(const char* path) {
    bytes out = {malloc(1 << 20), 0};
    FILE* file = fopen(path, "rb");
    assert_true(file != NULL && out.data != NULL);
    out.size = fread(out.data, 1, 1 << 20, file);
    fclose(file);
    return out;
}

static treacle_status read_level(treacle_context* ctx, const uint8_t* data, size_t size) {
    char error[VDB_ERROR_MAX] = "";
    vdb_level level;
    treacle_status status = vdb_level_read(ctx, data, size, &level, error);
    assert_true((status == TREACLE_OK) == (error[0] == '\0'));
    vdb_level_free(ctx, &level);
    return status;
}

static void test_surfaces_are_those_of_openvdb(void** state) {
    (void)state;
    if (!vdb_is_there()) {
        unit_skip("OpenVDB is not installed");
    }
    for (int i = 0; i < KNOWN; ++i) {
        treacle_context* ctx = unit_context(1);
        triangle_mesh* mesh = NULL;
        assert_int_equal(triangle_mesh_load(ctx, known[i].path, &mesh), TREACLE_OK);
        assert_int_equal(mesh->vertex_count, known[i].corners);
        assert_int_equal(mesh->bad_edges, 0);
        assert_close(mesh->volume, known[i].volume, 2e-7);
        assert_close(mesh->bounds.low.at[0], known[i].low, 1e-6);
        assert_close(mesh->bounds.high.at[0], known[i].high, 1e-6);
        triangle_mesh_destroy(mesh);
        unit_context_end(ctx);
    }
}

static void test_files_cut_short_are_refused(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    for (int i = 0; i < KNOWN; ++i) {
        bytes file = read_bytes(known[i].path);
        assert_int_equal(read_level(ctx, file.data, file.size), TREACLE_OK);
        for (size_t size = 0; size < file.size; size += size < 400 ? 1 : 97) {
            assert_int_equal(read_level(ctx, file.data, size), TREACLE_ERR_FORMAT);
        }
        free(file.data);
    }
    unit_context_end(ctx);
}

// Each byte in turn: the file is refused, or is another level set.
static void test_no_byte_can_do_harm(void** state) {
    (void)state;
    static const uint8_t wrong[] = {0x00, 0xff, 0x80, 0x7f};
    treacle_context* ctx = unit_context(1);
    bytes file = read_bytes(known[0].path);
    for (size_t at = 0; at < file.size; at += at < 800 || at + 2500 > file.size ? 1 : 41) {
        uint8_t kept = file.data[at];
        for (size_t k = 0; k < sizeof(wrong); ++k) {
            file.data[at] = wrong[k];
            treacle_status status = read_level(ctx, file.data, file.size);
            assert_true(status == TREACLE_OK || status == TREACLE_ERR_FORMAT);
        }
        file.data[at] = kept;
    }
    free(file.data);
    unit_context_end(ctx);
}

// OpenVDB's own reader puts as many bytes into a block as the file says, and then looks.
static void test_blocks_larger_than_their_room_are_refused(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    bytes file = read_bytes(known[0].path);
    int found = 0;
    enum { BLOSC_SIZE_AT = 12, BLOSC_HEAD = 16 };
    for (size_t at = 0; at + sizeof(int64_t) + BLOSC_HEAD <= file.size; ++at) {
        int64_t size = 0, unpacked = -9000;
        uint32_t packed = 0;
        memcpy(&size, file.data + at, sizeof(size));
        memcpy(&packed, file.data + at + sizeof(size) + BLOSC_SIZE_AT, sizeof(packed));
        if (size > BLOSC_HEAD && size == packed) { // in front of a block, and inside it
            memcpy(file.data + at, &unpacked, sizeof(unpacked));
            assert_int_equal(read_level(ctx, file.data, file.size), TREACLE_ERR_FORMAT);
            memcpy(file.data + at, &size, sizeof(size));
            found += 1;
        }
    }
    assert_true(found > 0);
    free(file.data);
    unit_context_end(ctx);
}

static treacle_status read_whole(treacle_context* ctx, void* data) {
    const bytes* file = data;
    return read_level(ctx, file->data, file->size);
}

static void test_every_allocation_may_fail(void** state) {
    (void)state;
    bytes file = read_bytes(known[1].path);
    ALLOC_FAILURE_CHECK(read_whole, &file);
    free(file.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_surfaces_are_those_of_openvdb),
        cmocka_unit_test(test_files_cut_short_are_refused),
        cmocka_unit_test(test_no_byte_can_do_harm),
        cmocka_unit_test(test_blocks_larger_than_their_room_are_refused),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return unit_exit_code(cmocka_run_group_tests(tests, NULL, NULL));
}
