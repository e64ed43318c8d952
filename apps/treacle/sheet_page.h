// A page that shows the pictures of a contact sheet in a table, each under its label.
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef struct sheet_page {
    FILE* file;
    const char* path;
    const char* picture;    // the sheet's file, in the same folder
    int width, height, gap; // pixels, of one picture and between pictures
} sheet_page;

/// Begins the page; prints what is wrong if it cannot be written. Then fill in the other members.
bool sheet_page_begin(sheet_page* page, const char* path, const char* title);
/// A new row, with what its runs have in common; "" if nothing.
void sheet_page_row(sheet_page* page, const char* label);
void sheet_page_cell(sheet_page* page, int column, int row, const char* label, int run);
/// Ends the page; prints what is wrong if it is not whole.
bool sheet_page_end(sheet_page* page);
