// PNG by libpng. libpng reports failure by longjmp; it never passes a frame of ours that holds
// something: all that must be released lives in `writer`, which outlives the setjmp.
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "image/image.h"

enum {
    LEVEL = 6,
    // In front of every block that libpng asks for: its size, which alloc_free wants to know.
    PREFIX = TREACLE_ALIGNMENT,
};

typedef struct writer {
    treacle_context* ctx;
    const image_rgb8* image;
    const char* path;
    atomic_file file;
    png_structp png;
    png_infop info;
    int row;               // being written
    treacle_status status; // of the first failure, said in the context already
} writer;

static png_voidp png_write_take(png_structp png, png_alloc_size_t size) {
    writer* w = png_get_mem_ptr(png);
    size_t total = (size_t)size + PREFIX;
    uint8_t* block = alloc_bytes(w->ctx, total);
    if (block == NULL) {
        if (w->status == TREACLE_OK) {
            w->status = check_fail(w->ctx, TREACLE_ERR_MEMORY,
                                   "out of memory: %zu bytes for writing the picture %s",
                                   (size_t)size, w->path);
        }
        return NULL;
    }
    memcpy(block, &total, sizeof(total));
    return block + PREFIX;
}

static void give_back(png_structp png, png_voidp at) {
    writer* w = png_get_mem_ptr(png);
    if (at == NULL) {
        return;
    }
    uint8_t* block = (uint8_t*)at - PREFIX;
    size_t total = 0;
    memcpy(&total, block, sizeof(total));
    alloc_free(w->ctx, block, total);
}

static void on_error(png_structp png, png_const_charp text) {
    writer* w = png_get_error_ptr(png);
    if (w->status == TREACLE_OK) {
        w->status = check_fail(w->ctx, TREACLE_ERR_INTERNAL, "%s: libpng says: %s", w->path, text);
    }
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

static void append(png_structp png, png_bytep bytes, size_t size) {
    writer* w = png_get_io_ptr(png);
    w->status = atomic_file_append(&w->file, bytes, size);
    if (w->status != TREACLE_OK) {
        png_error(png, "write failed");
    }
}

static void flush(png_structp png) {
    (void)png;
}

// All calls that may jump. Has no locals that a jump could spoil.
static void write_picture(writer* w) {
    if (setjmp(png_jmpbuf(w->png)) != 0) {
        return;
    }
    png_set_write_fn(w->png, w, append, flush);
    png_set_IHDR(w->png, w->info, (png_uint_32)w->image->width, (png_uint_32)w->image->height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(w->png, w->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(w->png, LEVEL);
    png_set_filter(w->png, 0, PNG_FILTER_SUB | PNG_FILTER_UP);
    png_write_info(w->png, w->info);
    for (w->row = 0; w->row < w->image->height; ++w->row) {
        png_write_row(w->png, image_at(w->image, 0, w->row));
    }
    png_write_end(w->png, w->info);
}

static treacle_status out_of_memory(writer* w) {
    if (w->status == TREACLE_OK) {
        w->status = check_fail(w->ctx, TREACLE_ERR_MEMORY,
                               "out of memory for writing the picture %s", w->path);
    }
    return w->status;
}

treacle_status png_write(treacle_context* ctx, const image_rgb8* image, const char* path) {
    TREACLE_ASSERT(image->pixels != NULL && image->width > 0 && image->height > 0);
    writer w = {.ctx = ctx, .image = image, .path = path};
    TREACLE_TRY(atomic_file_open(ctx, path, &w.file));
    w.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &w, on_error, on_warning, &w,
                                      png_write_take, give_back);
    w.info = w.png == NULL ? NULL : png_create_info_struct(w.png);
    if (w.info == NULL) {
        out_of_memory(&w);
    } else {
        write_picture(&w);
    }
    png_destroy_write_struct(&w.png, &w.info);
    if (w.status == TREACLE_OK) {
        return atomic_file_commit(&w.file);
    }
    atomic_file_discard(&w.file);
    return w.status;
}
