// Pictures side by side in one.
#include <string.h>

#include "base/alloc.h"
#include "image/plot_canvas.h"
#include "render/picture.h"
#include "render/sheet_layout.h"

struct treacle_contact_sheet {
    treacle_context* ctx;
    int count;
    sheet_layout layout;
    image_rgb8 image;
};

treacle_status treacle_contact_create(treacle_context* ctx, const treacle_contact_def* def,
                                      treacle_contact_sheet** out) {
    *out = NULL;
    bool is_good = def->count >= 1 && def->count <= SHEET_PICTURES_MAX && def->columns >= 0 &&
                   def->gap >= 0 && def->gap <= SHEET_GAP_MAX && def->width >= 1 &&
                   def->height >= 1;
    if (!is_good) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "a sheet of %d pictures of %d x %d pixels in %d columns with gaps of %d "
                          "pixels, expected 1 to %d pictures and gaps of 0 to %d",
                          def->count, def->width, def->height, def->columns, def->gap,
                          SHEET_PICTURES_MAX, SHEET_GAP_MAX);
    }
    const int tile[2] = {def->width, def->height};
    sheet_layout l = sheet_lay_out(def->count, def->columns, def->gap, tile);
    if (l.width > SHEET_PIXELS_MAX || l.height > SHEET_PIXELS_MAX) {
        return check_fail(ctx, TREACLE_ERR_LIMIT,
                          "the sheet would have %lld x %lld pixels, at most %d are possible",
                          (long long)l.width, (long long)l.height, SHEET_PIXELS_MAX);
    }
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(treacle_contact_sheet), "a contact sheet", &block));
    treacle_contact_sheet* sheet = block;
    *sheet = (treacle_contact_sheet){.ctx = ctx, .count = def->count, .layout = l};
    treacle_status status = image_create(ctx, (int)l.width, (int)l.height, &sheet->image);
    if (status != TREACLE_OK) {
        alloc_free(ctx, sheet, sizeof(*sheet));
        return status;
    }
    *out = sheet;
    return TREACLE_OK;
}

void treacle_contact_destroy(treacle_contact_sheet* sheet) {
    if (sheet != NULL) {
        image_destroy(&sheet->image);
        alloc_free(sheet->ctx, sheet, sizeof(*sheet));
    }
}

treacle_status treacle_contact_put(treacle_contact_sheet* sheet, int index,
                                   const treacle_picture* picture) {
    const trace_layers* l = &picture->layers;
    const int* tile = sheet->layout.tile;
    if (index < 0 || index >= sheet->count || l->width != tile[0] || l->height != tile[1]) {
        return check_fail(
            sheet->ctx, TREACLE_ERR_USAGE,
            "picture %d of %d x %d pixels does not belong into a sheet of %d pictures "
            "of %d x %d",
            index, l->width, l->height, sheet->count, tile[0], tile[1]);
    }
    image_rgb8 image;
    TREACLE_TRY(picture_develop(sheet->ctx, picture, &image));
    image_paste(&image, &sheet->image, sheet_left(&sheet->layout, index),
                sheet_top(&sheet->layout, index));
    image_destroy(&image);
    return TREACLE_OK;
}

void treacle_contact_label(treacle_contact_sheet* sheet, int index, const char* words) {
    const sheet_layout* l = &sheet->layout;
    const double size = 8.0; // pixels, of capitals: read well, and small beside the picture
    bool has_room = index >= 0 && index < sheet->count && l->tile[1] > 4 * (int)size &&
                    (double)l->tile[0] > size * (double)strlen(words);
    if (!has_room) {
        return;
    }
    plot_canvas canvas = {.ctx = sheet->ctx,
                          .width = sheet->image.width,
                          .height = sheet->image.height,
                          .image = sheet->image};
    for (int round = 0; round < 2; ++round) { // a dark rim, then the words: seen on any ground
        for (int k = 0; k < (round == 0 ? 9 : 1); ++k) {
            uint8_t grey = round == 0 ? 30 : 250;
            canvas_word at = {.x = sheet_left(l, index) + 6.0 + (round == 0 ? k % 3 - 1 : 0),
                              .y = sheet_top(l, index) + l->tile[1] - 6.0 +
                                   (round == 0 ? k / 3 - 1 : 0),
                              .size = size,
                              .colour = {grey, grey, grey}};
            plot_canvas_text(&canvas, at, words);
        }
    }
}

treacle_status treacle_contact_write(const treacle_contact_sheet* sheet, const char* path) {
    return png_write(sheet->ctx, &sheet->image, path);
}
