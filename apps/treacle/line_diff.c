#include "line_diff.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 4096 }; // of a text; the table of both is then 32 MB

typedef struct line {
    const char* at;
    int length;
} line;

typedef struct lines {
    int count;
    line* item;
} lines;

static bool split(const char* chars, lines* out) {
    out->count = 0;
    out->item = malloc(LINES_MAX * sizeof(line));
    while (out->item != NULL && *chars != '\0') {
        if (out->count == LINES_MAX) {
            return false;
        }
        size_t length = strcspn(chars, "\n");
        out->item[out->count++] = (line){chars, (int)length};
        chars += length + (chars[length] == '\n' ? 1 : 0);
    }
    return out->item != NULL;
}

static bool is_same(const line* a, const line* b) {
    return a->length == b->length && memcmp(a->at, b->at, (size_t)a->length) == 0;
}

static void print_line(const char* of, const line* l) {
    printf("  %s: %.*s\n", of, l->length, l->at);
}

// common[i (nb + 1) + j] is how many lines the ends of the texts from i and j on have in common.
static void count_common(const lines* a, const lines* b, uint16_t* common) {
    int row = b->count + 1;
    for (int i = a->count - 1; i >= 0; --i) {
        for (int j = b->count - 1; j >= 0; --j) {
            uint16_t* at = &common[i * row + j];
            uint16_t down = at[row], right = at[1];
            *at = is_same(&a->item[i], &b->item[j]) ? (uint16_t)(at[row + 1] + 1)
                  : down > right                    ? down
                                                    : right;
        }
    }
}

static void print_rest(const lines* a, const lines* b, const uint16_t* common) {
    int i = 0, j = 0, row = b->count + 1;
    while (i < a->count || j < b->count) {
        bool has_both = i < a->count && j < b->count;
        if (has_both && is_same(&a->item[i], &b->item[j])) {
            i += 1;
            j += 1;
        } else if (j == b->count ||
                   (has_both && common[(i + 1) * row + j] >= common[i * row + j + 1])) {
            print_line("a", &a->item[i++]);
        } else {
            print_line("b", &b->item[j++]);
        }
    }
}

bool line_diff_print(const char* a, const char* b) {
    lines in_a = {0}, in_b = {0};
    uint16_t* common = NULL;
    bool is_done = split(a, &in_a) && split(b, &in_b);
    if (is_done) {
        size_t size = (size_t)(in_a.count + 1) * (size_t)(in_b.count + 1);
        common = calloc(size, sizeof(*common));
        is_done = common != NULL;
    }
    if (is_done) {
        count_common(&in_a, &in_b, common);
        print_rest(&in_a, &in_b, common);
    }
    free(common);
    free(in_a.item);
    free(in_b.item);
    return is_done;
}
