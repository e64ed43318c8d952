// Contact sheets: one frame after the other is read, drawn and pasted into its place.
#include "image/image.h"
#include "render/preview_render.h"
#include "render/sheet_layout.h"
#include "treacle/preview.h"

treacle_sheet_def treacle_sheet_def_default(void) {
    treacle_sheet_def def = {
        .def_size = sizeof(treacle_sheet_def),
        .picture = treacle_preview_def_default(),
        .gap = 4,
    };
    def.picture.width = 480;
    def.picture.height = 270;
    return def;
}

static treacle_status preview_sheet_check_def(treacle_context* ctx, const treacle_sheet_def* def) {
    if (def == NULL || def->def_size != sizeof(*def)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "the sheet def does not come from treacle_sheet_def_default()");
    }
    bool is_good = def->frame_count >= 1 && def->frame_count <= SHEET_PICTURES_MAX &&
                   def->frames != NULL && def->columns >= 0 && def->gap >= 0 &&
                   def->gap <= SHEET_GAP_MAX;
    if (!is_good) {
        return check_fail(
            ctx, TREACLE_ERR_USAGE,
            "a sheet of %d frames in %d columns with gaps of %d pixels, expected 1 to "
            "%d frames, columns of at least 0 and gaps of 0 to %d",
            def->frame_count, def->columns, def->gap, SHEET_PICTURES_MAX, SHEET_GAP_MAX);
    }
    return TREACLE_OK;
}

static treacle_status paste_frame(treacle_context* ctx, const treacle_sheet_def* def, int index,
                                  const sheet_layout* l, image_rgb8* sheet) {
    treacle_loaded_frame* loaded = NULL;
    TREACLE_TRY(treacle_frame_read(ctx, def->frames[index], &loaded));
    image_rgb8 picture;
    treacle_status status =
        preview_render(ctx, treacle_loaded_frame_view(loaded), &def->picture, &picture);
    treacle_loaded_frame_destroy(loaded);
    TREACLE_TRY(status);
    image_paste(&picture, sheet, sheet_left(l, index), sheet_top(l, index));
    image_destroy(&picture);
    return TREACLE_OK;
}

treacle_status treacle_sheet_write(treacle_context* ctx, const treacle_sheet_def* def,
                                   const char* path) {
    TREACLE_TRY(preview_sheet_check_def(ctx, def));
    TREACLE_TRY(preview_check(ctx, &def->picture));
    const int tile[2] = {def->picture.width, def->picture.height};
    sheet_layout l = sheet_lay_out(def->frame_count, def->columns, def->gap, tile);
    if (l.width > SHEET_PIXELS_MAX || l.height > SHEET_PIXELS_MAX) {
        return check_fail(ctx, TREACLE_ERR_LIMIT,
                          "%s: the sheet would have %lld x %lld pixels, at most %d are possible",
                          path, (long long)l.width, (long long)l.height, SHEET_PIXELS_MAX);
    }
    image_rgb8 sheet;
    TREACLE_TRY(image_create(ctx, (int)l.width, (int)l.height, &sheet));
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < def->frame_count && status == TREACLE_OK; ++i) {
        status = paste_frame(ctx, def, i, &l, &sheet);
    }
    if (status == TREACLE_OK) {
        status = png_write(ctx, &sheet, path);
    }
    image_destroy(&sheet);
    return status;
}
