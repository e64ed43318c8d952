#include "sheet_page.h"

#include <errno.h>

#include "cli.h"

static void put_text(FILE* file, const char* chars) {
    for (const char* c = chars; *c != '\0'; ++c) {
        switch (*c) {
        case '<':
            fputs("&lt;", file);
            break;
        case '&':
            fputs("&amp;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        case '\'':
            fputs("&#39;", file);
            break;
        default:
            fputc(*c, file);
            break;
        }
    }
}

bool sheet_page_begin(sheet_page* page, const char* path, const char* title) {
    errno = 0;
    *page = (sheet_page){.file = fopen(path, "w"), .path = path};
    if (page->file == NULL) {
        cli_write_error(path);
        return false;
    }
    fputs("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>", page->file);
    put_text(page->file, title);
    fputs("</title>\n<style>\nbody { font: 15px sans-serif; margin: 1em; }\n"
          ".row { display: flex; gap: 12px; margin-bottom: 16px; }\n"
          ".label { overflow-wrap: anywhere; }\n</style>\n<h1>",
          page->file);
    put_text(page->file, title);
    fputs("</h1>\n<div>", page->file);
    return true;
}

void sheet_page_row(sheet_page* page, const char* label) {
    fputs("</div>\n", page->file);
    if (label[0] != '\0') {
        fputs("<h2>", page->file);
        put_text(page->file, label);
        fputs("</h2>\n", page->file);
    }
    fputs("<div class=\"row\">\n", page->file);
}

void sheet_page_cell(sheet_page* page, int column, int row, const char* label, int run) {
    int x = page->gap + column * (page->width + page->gap);
    int y = page->gap + row * (page->height + page->gap);
    fprintf(page->file, "<div style=\"width:%dpx\"><div style=\"height:%dpx;background:url('",
            page->width, page->height);
    put_text(page->file, page->picture);
    fprintf(page->file, "') -%dpx -%dpx\"></div><div class=\"label\">run_%03d: ", x, y, run);
    put_text(page->file, label);
    fputs("</div></div>\n", page->file);
}

bool sheet_page_end(sheet_page* page) {
    fputs("</div>\n", page->file);
    bool is_whole = ferror(page->file) == 0;
    errno = 0;
    is_whole = fclose(page->file) == 0 && is_whole;
    if (!is_whole) {
        cli_write_error(page->path);
    }
    return is_whole;
}
