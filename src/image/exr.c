#include "image/exr.h"

#include <OpenEXR/openexr.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"

enum { SIDE_MAX = 32768, PIXELS_MAX = 1 << 28, RGB = 3 };

// The library calls this with its lock held: nothing of it may be called from here. What went wrong
// is in the code that its functions return.
static void keep_quiet(exr_const_context_t file, exr_result_t code, const char* message) {
    (void)file;
    (void)code;
    (void)message;
}

static exr_context_initializer_t initializer(void) {
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.error_handler_fn = keep_quiet;
    return init;
}

void exr_picture_destroy(exr_picture* picture) {
    if (picture->ctx != NULL) {
        alloc_free(picture->ctx, picture->values,
                   (size_t)picture->width * (size_t)picture->height * RGB * sizeof(float));
    }
    *picture = (exr_picture){0};
}

// Which of R, G, B the channel is: -1 none, 3 all of them.
static int exr_colour_of(const char* name) {
    return strcmp(name, "R") == 0   ? 0
           : strcmp(name, "G") == 0 ? 1
           : strcmp(name, "B") == 0 ? 2
           : strcmp(name, "Y") == 0 ? 3
                                    : -1;
}

static void aim_channels(exr_decode_pipeline_t* decode, const exr_picture* out, int row) {
    for (int16_t c = 0; c < decode->channel_count; ++c) {
        exr_coding_channel_info_t* info = &decode->channels[c];
        int colour = exr_colour_of(info->channel_name);
        size_t first = (size_t)row * (size_t)out->width * RGB + (size_t)(colour == 3 ? 0 : colour);
        info->decode_to_ptr = colour < 0 ? NULL : (uint8_t*)(out->values + first);
        info->user_bytes_per_element = sizeof(float);
        info->user_data_type = EXR_PIXEL_FLOAT;
        info->user_pixel_stride = RGB * (int32_t)sizeof(float);
        info->user_line_stride = out->width * RGB * (int32_t)sizeof(float);
    }
}

static exr_result_t decode_rows(exr_context_t file, int first, const exr_picture* out) {
    int32_t lines = 1;
    exr_result_t result = exr_get_scanlines_per_chunk(file, 0, &lines);
    for (int row = 0; row < out->height && result == EXR_ERR_SUCCESS; row += lines) {
        exr_chunk_info_t chunk;
        exr_decode_pipeline_t decode = EXR_DECODE_PIPELINE_INITIALIZER;
        result = exr_read_scanline_chunk_info(file, 0, first + row, &chunk);
        if (result == EXR_ERR_SUCCESS) {
            result = exr_decoding_initialize(file, 0, &chunk, &decode);
        }
        if (result == EXR_ERR_SUCCESS) {
            aim_channels(&decode, out, row);
            result = exr_decoding_choose_default_routines(file, 0, &decode);
            if (result == EXR_ERR_SUCCESS) {
                result = exr_decoding_run(file, 0, &decode);
            }
            exr_decoding_destroy(file, &decode);
        }
    }
    return result;
}

static int find_colours(exr_context_t file) {
    const exr_attr_chlist_t* list = NULL;
    int found = 0;
    if (exr_get_channels(file, 0, &list) == EXR_ERR_SUCCESS) {
        for (int c = 0; c < list->num_channels; ++c) {
            int colour = exr_colour_of(list->entries[c].name.str);
            found |= colour < 0 ? 0 : colour == 3 ? 8 : 1 << colour;
        }
    }
    return found;
}

static void spread_grey(const exr_picture* p) {
    for (size_t i = 0; i < (size_t)p->width * (size_t)p->height; ++i) {
        p->values[RGB * i + 1] = p->values[RGB * i + 2] = p->values[RGB * i];
    }
}

static treacle_status read_open(treacle_context* ctx, exr_context_t file, const char* path,
                                exr_picture* out) {
    exr_storage_t storage = EXR_STORAGE_TILED;
    exr_attr_box2i_t window;
    int colours = find_colours(file);
    if (exr_get_storage(file, 0, &storage) != EXR_ERR_SUCCESS || storage != EXR_STORAGE_SCANLINE ||
        exr_get_data_window(file, 0, &window) != EXR_ERR_SUCCESS ||
        (colours != 7 && colours != 8)) {
        return check_fail(ctx, TREACLE_ERR_FORMAT,
                          "%s: expected an EXR picture in scan lines with R, G and B", path);
    }
    int64_t width = (int64_t)window.max.x - window.min.x + 1;
    int64_t height = (int64_t)window.max.y - window.min.y + 1;
    if (width < 1 || height < 1 || width > SIDE_MAX || height > SIDE_MAX ||
        width * height > PIXELS_MAX) {
        return check_fail(ctx, TREACLE_ERR_LIMIT, "%s: a picture of %lld x %lld pixels", path,
                          (long long)width, (long long)height);
    }
    void* block = NULL;
    *out = (exr_picture){.ctx = ctx, .width = (int)width, .height = (int)height};
    TREACLE_TRY(
        alloc_zero(ctx, (size_t)(width * height) * RGB, sizeof(float), "a picture", &block));
    out->values = block;
    exr_result_t result = decode_rows(file, window.min.y, out);
    if (result != EXR_ERR_SUCCESS) {
        exr_picture_destroy(out);
        return check_fail(ctx, TREACLE_ERR_FORMAT, "%s: the picture is damaged: %s", path,
                          exr_get_default_error_message(result));
    }
    if (colours == 8) {
        spread_grey(out);
    }
    return TREACLE_OK;
}

treacle_status exr_read_rgb(treacle_context* ctx, const char* path, exr_picture* out) {
    exr_context_initializer_t init = initializer();
    exr_context_t file = NULL;
    *out = (exr_picture){0};
    struct stat info;
    if (access(path, R_OK) != 0 || stat(path, &info) != 0) {
        return check_fail(ctx, TREACLE_ERR_IO,
                          "%s: the picture cannot be read: there is no such "
                          "file, or it may not be read",
                          path);
    }
    if (!S_ISREG(info.st_mode)) { // a pipe would wait for ever
        return check_fail(ctx, TREACLE_ERR_IO, "%s: the picture cannot be read: it is %s", path,
                          S_ISDIR(info.st_mode) ? "a folder" : "not a plain file");
    }
    if (exr_start_read(&file, path, &init) != EXR_ERR_SUCCESS) {
        exr_finish(&file);
        return check_fail(ctx, TREACLE_ERR_FORMAT, "%s: this is not an EXR picture", path);
    }
    treacle_status status = read_open(ctx, file, path, out);
    exr_finish(&file);
    return status;
}

static exr_result_t encode_rows(exr_context_t file, const exr_layout* layout) {
    int32_t lines = 1;
    exr_result_t result = exr_get_scanlines_per_chunk(file, 0, &lines);
    for (int row = 0; row < layout->height && result == EXR_ERR_SUCCESS; row += lines) {
        exr_chunk_info_t chunk;
        exr_encode_pipeline_t encode = EXR_ENCODE_PIPELINE_INITIALIZER;
        result = exr_write_scanline_chunk_info(file, 0, row, &chunk);
        if (result == EXR_ERR_SUCCESS) {
            result = exr_encoding_initialize(file, 0, &chunk, &encode);
        }
        if (result != EXR_ERR_SUCCESS) {
            break;
        }
        for (int16_t c = 0; c < encode.channel_count; ++c) {
            exr_coding_channel_info_t* info = &encode.channels[c];
            for (int k = 0; k < layout->channel_count; ++k) {
                const exr_channel* channel = &layout->channels[k];
                if (strcmp(channel->name, info->channel_name) == 0) {
                    size_t first = (size_t)row * (size_t)layout->width * (size_t)channel->stride;
                    info->encode_from_ptr = (const uint8_t*)(channel->values + first);
                    info->user_pixel_stride = channel->stride * (int32_t)sizeof(float);
                    info->user_line_stride = info->user_pixel_stride * layout->width;
                }
            }
            info->user_bytes_per_element = sizeof(float);
            info->user_data_type = EXR_PIXEL_FLOAT;
        }
        result = exr_encoding_choose_default_routines(file, 0, &encode);
        if (result == EXR_ERR_SUCCESS) {
            result = exr_encoding_run(file, 0, &encode);
        }
        exr_encoding_destroy(file, &encode);
    }
    return result;
}

static exr_result_t write_open(exr_context_t file, const exr_layout* layout) {
    int part = 0;
    exr_result_t result = exr_add_part(file, "picture", EXR_STORAGE_SCANLINE, &part);
    if (result == EXR_ERR_SUCCESS) {
        result = exr_initialize_required_attr_simple(file, part, layout->width, layout->height,
                                                     EXR_COMPRESSION_ZIP);
    }
    for (int c = 0; c < layout->channel_count && result == EXR_ERR_SUCCESS; ++c) {
        result = exr_add_channel(file, part, layout->channels[c].name, EXR_PIXEL_FLOAT,
                                 EXR_PERCEPTUALLY_LINEAR, 1, 1);
    }
    if (result == EXR_ERR_SUCCESS) {
        result = exr_write_header(file);
    }
    return result == EXR_ERR_SUCCESS ? encode_rows(file, layout) : result;
}

// Where the library's bytes go; after a failure nowhere.
typedef struct exr_sink {
    atomic_file file;
    treacle_status status;
} exr_sink;

static int64_t put(exr_const_context_t file, void* user, const void* bytes, uint64_t size,
                   uint64_t offset, exr_stream_error_func_ptr_t complain) {
    exr_sink* sink = user;
    (void)file;
    (void)complain;
    if (sink->status == TREACLE_OK) {
        sink->status = atomic_file_place(&sink->file, offset, bytes, size);
    }
    return sink->status == TREACLE_OK ? (int64_t)size : -1;
}

treacle_status exr_write(treacle_context* ctx, const exr_layout* layout, const char* path) {
    TREACLE_ASSERT(layout->width > 0 && layout->height > 0);
    TREACLE_ASSERT(layout->channel_count > 0 && layout->channel_count <= EXR_CHANNELS_MAX);
    exr_context_initializer_t init = initializer();
    exr_context_t file = NULL;
    exr_sink sink = {.status = TREACLE_OK};
    TREACLE_TRY(atomic_file_open(ctx, path, &sink.file));
    init.user_data = &sink;
    init.write_fn = put;
    exr_result_t result = exr_start_write(&file, path, EXR_WRITE_FILE_DIRECTLY, &init);
    if (result == EXR_ERR_SUCCESS) {
        result = write_open(file, layout);
    }
    exr_result_t closed = file == NULL ? EXR_ERR_SUCCESS : exr_finish(&file);
    result = result == EXR_ERR_SUCCESS ? closed : result;
    if (sink.status == TREACLE_OK && result == EXR_ERR_SUCCESS) {
        return atomic_file_commit(&sink.file);
    }
    atomic_file_discard(&sink.file);
    return sink.status != TREACLE_OK
               ? sink.status
               : check_fail(ctx, TREACLE_ERR_IO, "%s: cannot write the picture: %s", path,
                            exr_get_default_error_message(result));
}
