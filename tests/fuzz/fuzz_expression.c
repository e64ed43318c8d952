// Any text: it compiles or it fails with a column inside the text, and nothing is left behind. What
// compiles is evaluated.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "math/expr.h"

static void check(bool holds) {
    if (!holds) {
        abort();
    }
}

static void compile(treacle_context* ctx, const char* text, size_t length) {
    expr* e = NULL;
    expr_error error = {0};
    treacle_status status = expr_create(ctx, text, &error, &e);
    if (status == TREACLE_OK) {
        volatile double value = expr_eval(e, vec3_make(0.5, -2.0, 1e10), 1.0);
        (void)value;
        expr_destroy(e);
    } else {
        check(status == TREACLE_ERR_SCENE || status == TREACLE_ERR_LIMIT);
        check(error.column >= 1 && (size_t)error.column <= length + 1);
        check(error.text[0] != '\0' && e == NULL);
    }
    check(treacle_context_memory(ctx) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    treacle_context* ctx = NULL;
    char* text = malloc(size + 1); // exactly as long as the text, so that a step beyond is seen
    if (text != NULL && treacle_context_create(&def, &ctx) == TREACLE_OK) {
        if (size > 0) {
            memcpy(text, data, size);
        }
        text[size] = '\0';
        compile(ctx, text, strlen(text));
    }
    treacle_context_destroy(ctx);
    free(text);
    return 0;
}
