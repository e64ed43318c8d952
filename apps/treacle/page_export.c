#include "page_export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "frame_range.h"
#include "page_assets.h"

// Opens folder/name.tmp; close_file renames it.
typedef struct page_out {
    FILE* file;
    char path[FRAME_PATH_CAPACITY], temporary[FRAME_PATH_CAPACITY];
} page_out;

static bool open_file(page_out* out, const char* folder, const char* name) {
    int length = snprintf(out->path, FRAME_PATH_CAPACITY, "%s/%s", folder, name);
    int longer = snprintf(out->temporary, FRAME_PATH_CAPACITY, "%s/%s.tmp", folder, name);
    bool fits = length >= 0 && longer >= 0 && longer < FRAME_PATH_CAPACITY;
    errno = fits ? 0 : ENAMETOOLONG;
    out->file = fits ? fopen(out->temporary, "wb") : NULL;
    if (out->file == NULL) {
        cli_write_error(out->path);
    }
    return out->file != NULL;
}

static bool close_file(page_out* out) {
    bool is_written = ferror(out->file) == 0;
    is_written = fclose(out->file) == 0 && is_written;
    is_written = is_written && rename(out->temporary, out->path) == 0;
    if (!is_written) {
        cli_write_error(out->path);
        remove(out->temporary);
    }
    return is_written;
}

static void put_base64(FILE* file, const char* bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char* in = (const unsigned char*)bytes;
    for (size_t i = 0; i < size; i += 3) {
        unsigned three = (unsigned)in[i] << 16;
        three |= i + 1 < size ? (unsigned)in[i + 1] << 8 : 0;
        three |= i + 2 < size ? (unsigned)in[i + 2] : 0;
        putc(digits[three >> 18], file);
        putc(digits[three >> 12 & 63], file);
        putc(i + 1 < size ? digits[three >> 6 & 63] : '=', file);
        putc(i + 2 < size ? digits[three & 63] : '=', file);
    }
}

static bool put_json(const char* folder, const char* name, char* text) {
    page_out out;
    char file_name[32];
    snprintf(file_name, sizeof(file_name), "%s.js", name);
    bool is_done = text != NULL && open_file(&out, folder, file_name);
    if (is_done) {
        fprintf(out.file, "treacleData(\"%s\", %s);\n", name, text);
        is_done = close_file(&out);
    }
    free(text);
    return is_done;
}

// Frames of the page are counted from 1, whichever part of the run it shows.
static bool put_frame(const page_data* d, int64_t number, int64_t shown, const char* folder) {
    static const char* const names[] = {"surface", "particles"};
    bool is_done = true;
    for (int k = 0; k < 2 && is_done; ++k) {
        page_out out;
        page_frame frame;
        char name[64];
        treacle_status status = page_data_frame(d, number, (treacle_export_what)k, &frame);
        if (status != TREACLE_OK) {
            cli_fail(d->ctx, status);
            return false;
        }
        snprintf(name, sizeof(name), "%s_%" PRId64 ".js", names[k], shown);
        is_done = open_file(&out, folder, name);
        if (is_done) {
            fprintf(out.file, "treacleData(\"%s_%" PRId64 "\", {note: %s, glb: \"", names[k], shown,
                    frame.note);
            put_base64(out.file, frame.bytes, frame.size);
            fputs("\"});\n", out.file);
            is_done = close_file(&out);
        }
        free(frame.bytes);
        free(frame.note);
    }
    char name[64];
    snprintf(name, sizeof(name), "solids_%" PRId64, shown);
    return is_done && put_json(folder, name, page_data_props_at(d, number));
}

// A page that some other server shows must know that there is nobody to ask.
static void put_asset(FILE* file, const embedded_file* asset) {
    static const char mark[] = "data-static=\"no\"", on[] = "data-static=\"on\"";
    const unsigned char* found = memmem(asset->data, asset->size, mark, sizeof(mark) - 1);
    size_t before = found == NULL ? asset->size : (size_t)(found - asset->data);
    fwrite(asset->data, 1, before, file);
    if (found != NULL) {
        fputs(on, file);
        before += sizeof(mark) - 1;
        fwrite(asset->data + before, 1, asset->size - before, file);
    }
}

static bool put_page(const char* folder) {
    bool is_done = true;
    for (int k = 0; k < page_assets_count && is_done; ++k) {
        page_out out;
        is_done = open_file(&out, folder, page_assets[k].name);
        if (is_done) {
            put_asset(out.file, &page_assets[k]);
            is_done = close_file(&out);
        }
    }
    return is_done;
}

// The run as the page shows it: only the frames that were written.
static char* run_of(const page_data* d, int64_t frames) {
    char* text = page_data_run(d);
    size_t capacity = text == NULL ? 0 : strlen(text) + 64;
    char* out = text == NULL ? NULL : malloc(capacity);
    if (out != NULL) {
        snprintf(out, capacity, "Object.assign(%s, {frames: %" PRId64 ", wanted: %" PRId64 "})",
                 text, frames, frames);
    }
    free(text);
    return out;
}

int page_export(const page_data* d, int64_t first, int64_t last, const char* folder) {
    char data[FRAME_PATH_CAPACITY];
    int length = snprintf(data, sizeof(data), "%s/data", folder);
    if (length < 0 || length >= FRAME_PATH_CAPACITY || !frame_range_make_folder(folder) ||
        !frame_range_make_folder(data)) {
        return TREACLE_ERR_IO;
    }
    bool is_done = put_page(folder) && put_json(data, "run", run_of(d, last - first + 1)) &&
                   put_json(data, "stats", page_data_stats(d));
    for (int64_t k = first; k <= last && is_done; ++k) {
        is_done = put_frame(d, k, k - first + 1, data);
    }
    if (is_done) {
        printf("%s/index.html: %" PRId64 " frames; open it in a browser\n", folder,
               last - first + 1);
    }
    return is_done ? TREACLE_OK : TREACLE_ERR_IO;
}
