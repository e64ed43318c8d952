// The compiler is a recursive descent over the grammar of expr.h that emits code for a stack
// machine. Each operation comes from at least one letter of the text, so the code is never longer
// than the text; depth is counted, so that no text can exhaust the C stack.
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "math/expr_code.h"
#include "math/suggest.h"

// All that a name can stand for. arguments: 0 for values.
typedef struct known_name {
    const char* name;
    op_code code;
    int arguments;
    double value;
} known_name;

static const known_name names[] = {{"x", OP_X, 0, 0.0},
                                   {"y", OP_Y, 0, 0.0},
                                   {"z", OP_Z, 0, 0.0},
                                   {"t", OP_T, 0, 0.0},
                                   {"pi", OP_CONSTANT, 0, 3.14159265358979323846},
                                   {"e", OP_CONSTANT, 0, 2.71828182845904523536},
#define FUNCTION_NAME(name, text, arguments) {text, OP_##name, arguments, 0.0},
                                   FUNCTION_LIST(FUNCTION_NAME)
#undef FUNCTION_NAME
};
enum {
    NAME_COUNT = sizeof(names) / sizeof(names[0]),
    NAME_LENGTH_MAX = 32,
    NUMBER_LENGTH_MAX = 64
};

typedef struct parser {
    treacle_context* ctx;
    const char* text;
    const char* at;
    expr* out;
    int depth;  // of rules inside each other
    int height; // of the stack when the code so far has run
    expr_error error;
} parser;

static treacle_status comparison(parser* p);

// Errors ------------------------------------------------------------------------------------------

// Bytes are characters: the first that is not ASCII is the error.
static int column_of(const parser* p, const char* place) {
    return (int)(place - p->text) + 1;
}

static treacle_status expr_parse_fail(parser* p, treacle_status status, const char* place,
                                      const char* format, ...) TREACLE_PRINTF(4, 5);

static treacle_status expr_parse_fail(parser* p, treacle_status status, const char* place,
                                      const char* format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(p->error.text, sizeof(p->error.text), format, args);
    va_end(args);
    p->error.column = column_of(p, place);
    return check_fail(p->ctx, status, "column %d: %s", p->error.column, p->error.text);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t name_length(const char* at) {
    size_t length = 0;
    while (is_name_start(at[length]) || (length > 0 && is_digit(at[length]))) {
        length += 1;
    }
    return length;
}

// What stands at a place, for messages: "the end", a name, or a character.
static const char* describe(const char* at, char out[48]) {
    if (*at == '\0') {
        return "the end of the text";
    }
    unsigned char first = (unsigned char)*at;
    size_t length = name_length(at);
    if (length == 0) {
        length = 1;
        while (((unsigned char)at[length] & 0xc0) == 0x80 && length < 4) {
            length += 1; // the rest of a UTF-8 character
        }
        bool is_plain = length == 1 && first > 0x20 && first < 0x7f;
        if (!is_plain && (length == 1 || first < 0xc2)) {
            snprintf(out, 48, "the character 0x%02x", first);
            return out;
        }
    }
    snprintf(out, 48, "'%.*s'", length > NAME_LENGTH_MAX ? NAME_LENGTH_MAX : (int)length, at);
    return out;
}

static treacle_status fail_expected(parser* p, const char* expected) {
    char found[48];
    return expr_parse_fail(p, TREACLE_ERR_SCENE, p->at, "expected %s, but found %s", expected,
                           describe(p->at, found));
}

// Code --------------------------------------------------------------------------------------------

static void skip_space(parser* p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') {
        p->at += 1;
    }
}

// Takes the token if it is next.
static bool accept(parser* p, const char* token) {
    skip_space(p);
    size_t length = strlen(token);
    if (strncmp(p->at, token, length) != 0) {
        return false;
    }
    p->at += length;
    return true;
}

// Adds an operation that takes `arguments` numbers from the stack and leaves one.
static treacle_status emit(parser* p, op_code code, int arguments, double value) {
    p->height += 1 - arguments;
    if (p->height > EXPR_STACK_MAX) {
        return expr_parse_fail(
            p, TREACLE_ERR_LIMIT, p->at,
            "the expression is too deep: at most %d numbers may wait for an operator",
            EXPR_STACK_MAX);
    }
    TREACLE_ASSERT(p->out->count < p->out->capacity);
    p->out->ops[p->out->count] = (op){.code = code, .value = value};
    p->out->count += 1;
    p->out->uses_time = p->out->uses_time || code == OP_T;
    p->out->uses_place = p->out->uses_place || code == OP_X || code == OP_Y || code == OP_Z;
    return TREACLE_OK;
}

// Enters a rule that may contain itself.
static treacle_status enter(parser* p) {
    p->depth += 1;
    if (p->depth > EXPR_DEPTH_MAX) {
        return expr_parse_fail(
            p, TREACLE_ERR_LIMIT, p->at,
            "the expression is too deep: at most %d parentheses, signs and powers may "
            "stand inside each other",
            EXPR_DEPTH_MAX);
    }
    return TREACLE_OK;
}

// Rules -------------------------------------------------------------------------------------------

static size_t digits(const char* at) {
    size_t length = 0;
    while (is_digit(at[length])) {
        length += 1;
    }
    return length;
}

// Length of the number at a place: digits, a fraction, an exponent.
static size_t number_length(const char* at) {
    size_t length = digits(at);
    if (at[length] == '.') {
        length += 1;
        length += digits(at + length);
    }
    if (at[length] == 'e' || at[length] == 'E') {
        size_t sign = at[length + 1] == '+' || at[length + 1] == '-' ? 1 : 0;
        size_t exponent = digits(at + length + 1 + sign);
        length += exponent > 0 ? 1 + sign + exponent : 0;
    }
    return length;
}

// The C locale's meaning, whatever locale the program has set.
static double parse_number(const char* digits_and_dot) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        return NAN;
    }
    double value = strtod_l(digits_and_dot, NULL, c_locale);
    freelocale(c_locale);
    return value;
}

static treacle_status number(parser* p) {
    size_t length = number_length(p->at);
    if (length > NUMBER_LENGTH_MAX) {
        return expr_parse_fail(p, TREACLE_ERR_LIMIT, p->at,
                               "a number may have %d characters; this one has %zu",
                               NUMBER_LENGTH_MAX, length);
    }
    char copy[NUMBER_LENGTH_MAX + 1];
    memcpy(copy, p->at, length);
    copy[length] = '\0';
    double value = parse_number(copy);
    if (!isfinite(value)) {
        return expr_parse_fail(p, TREACLE_ERR_SCENE, p->at, "the number %s is too large", copy);
    }
    p->at += length;
    return emit(p, OP_CONSTANT, 0, value);
}

static treacle_status fail_unknown(parser* p, const char* name) {
    const char* candidates[NAME_COUNT];
    for (int i = 0; i < NAME_COUNT; ++i) {
        candidates[i] = names[i].name;
    }
    const char* meant = suggest_word(name, candidates, NAME_COUNT);
    if (meant != NULL) {
        return expr_parse_fail(p, TREACLE_ERR_SCENE, p->at, "unknown name '%s'; did you mean '%s'?",
                               name, meant);
    }
    return expr_parse_fail(
        p, TREACLE_ERR_SCENE, p->at,
        "unknown name '%s'; known are x, y, z, t, pi, e and functions such as sin, min, "
        "clamp",
        name);
}

// The known name at the place, which is taken.
static treacle_status take_name(parser* p, const known_name** out) {
    char name[NAME_LENGTH_MAX + 1];
    size_t length = name_length(p->at);
    size_t kept = length > NAME_LENGTH_MAX ? NAME_LENGTH_MAX : length;
    memcpy(name, p->at, kept);
    name[kept] = '\0';
    for (int i = 0; i < NAME_COUNT; ++i) {
        if (length == kept && strcmp(names[i].name, name) == 0) {
            *out = &names[i];
            p->at += length;
            return TREACLE_OK;
        }
    }
    return fail_unknown(p, name);
}

static treacle_status close(parser* p, const char* opening) {
    if (accept(p, ")")) {
        return TREACLE_OK;
    }
    char found[48];
    return expr_parse_fail(p, TREACLE_ERR_SCENE, p->at,
                           "expected ')' for the '(' at column %d, but found %s",
                           column_of(p, opening), describe(p->at, found));
}

static treacle_status arguments(parser* p, const known_name* function, const char* place) {
    const char* opening = p->at - 1;
    int count = 0;
    if (!accept(p, ")")) {
        do {
            TREACLE_TRY(comparison(p));
            count += 1;
        } while (accept(p, ","));
        TREACLE_TRY(close(p, opening));
    }
    if (count != function->arguments) {
        return expr_parse_fail(p, TREACLE_ERR_SCENE, place, "'%s' takes %d argument%s, not %d",
                               function->name, function->arguments,
                               function->arguments == 1 ? "" : "s", count);
    }
    return emit(p, function->code, function->arguments, 0.0);
}

static treacle_status name_or_call(parser* p) {
    const char* place = p->at;
    const known_name* name = NULL;
    TREACLE_TRY(take_name(p, &name));
    bool is_call = accept(p, "(");
    if (is_call && name->arguments == 0) {
        return expr_parse_fail(p, TREACLE_ERR_SCENE, place,
                               "'%s' is not a function; is a '*' missing?", name->name);
    }
    if (!is_call && name->arguments > 0) {
        return expr_parse_fail(p, TREACLE_ERR_SCENE, place, "'%s' is a function; write %s(...)",
                               name->name, name->name);
    }
    return is_call ? arguments(p, name, place) : emit(p, name->code, 0, name->value);
}

static treacle_status primary(parser* p) {
    skip_space(p);
    const char* place = p->at;
    if (is_digit(*p->at) || (*p->at == '.' && is_digit(p->at[1]))) {
        return number(p);
    }
    if (is_name_start(*p->at)) {
        return name_or_call(p);
    }
    if (accept(p, "(")) {
        TREACLE_TRY(comparison(p));
        return close(p, place);
    }
    return fail_expected(p, "a number, a name or '('");
}

static treacle_status unary(parser* p) {
    TREACLE_TRY(enter(p));
    if (accept(p, "-")) {
        TREACLE_TRY(unary(p));
        TREACLE_TRY(emit(p, OP_NEGATE, 1, 0.0));
    } else if (accept(p, "+")) {
        TREACLE_TRY(unary(p));
    } else {
        TREACLE_TRY(primary(p));
        if (accept(p, "^")) {
            TREACLE_TRY(unary(p));
            TREACLE_TRY(emit(p, OP_POW, 2, 0.0));
        }
    }
    p->depth -= 1;
    return TREACLE_OK;
}

static treacle_status product(parser* p) {
    TREACLE_TRY(unary(p));
    for (;;) {
        if (accept(p, "*")) {
            TREACLE_TRY(unary(p));
            TREACLE_TRY(emit(p, OP_MULTIPLY, 2, 0.0));
        } else if (accept(p, "/")) {
            TREACLE_TRY(unary(p));
            TREACLE_TRY(emit(p, OP_DIVIDE, 2, 0.0));
        } else {
            return TREACLE_OK;
        }
    }
}

static treacle_status sum(parser* p) {
    TREACLE_TRY(product(p));
    for (;;) {
        if (accept(p, "+")) {
            TREACLE_TRY(product(p));
            TREACLE_TRY(emit(p, OP_ADD, 2, 0.0));
        } else if (accept(p, "-")) {
            TREACLE_TRY(product(p));
            TREACLE_TRY(emit(p, OP_SUBTRACT, 2, 0.0));
        } else {
            return TREACLE_OK;
        }
    }
}

static bool accept_comparison(parser* p, op_code* code) {
    // Longer ones first: "<=" begins with "<".
    static const struct {
        const char* token;
        op_code code;
    } operators[] = {{"<=", OP_LESS_EQUAL}, {">=", OP_GREATER_EQUAL}, {"==", OP_EQUAL},
                     {"!=", OP_NOT_EQUAL},  {"<", OP_LESS},           {">", OP_GREATER}};
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); ++i) {
        if (accept(p, operators[i].token)) {
            *code = operators[i].code;
            return true;
        }
    }
    return false;
}

static treacle_status comparison(parser* p) {
    TREACLE_TRY(sum(p));
    op_code code;
    if (!accept_comparison(p, &code)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(sum(p));
    const char* place = p->at;
    op_code second;
    if (accept_comparison(p, &second)) {
        return expr_parse_fail(p, TREACLE_ERR_SCENE, place,
                               "comparisons cannot be chained; write (a < b) * (b < c)");
    }
    return emit(p, code, 2, 0.0);
}

static treacle_status whole_text(parser* p) {
    TREACLE_TRY(comparison(p));
    skip_space(p);
    if (*p->at == '\0') {
        return TREACLE_OK;
    }
    if (*p->at == '=') {
        return expr_parse_fail(p, TREACLE_ERR_SCENE, p->at,
                               "'=' is not an operator; did you mean '=='?");
    }
    if (is_name_start(*p->at) || is_digit(*p->at) || *p->at == '(') {
        return fail_expected(p, "an operator such as '*' or the end");
    }
    return fail_expected(p, "an operator or the end");
}

static treacle_status compile_text(treacle_context* ctx, const char* source, parser* p,
                                   expr** out) {
    size_t length = strnlen(source, EXPR_LENGTH_MAX + 1);
    if (length > EXPR_LENGTH_MAX) {
        return expr_parse_fail(p, TREACLE_ERR_LIMIT, source + EXPR_LENGTH_MAX,
                               "an expression may have %d characters; this one has more",
                               EXPR_LENGTH_MAX);
    }
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(expr), "an expression", &block));
    p->out = block;
    p->out->ctx = ctx;
    p->out->capacity = length;
    void* ops = NULL;
    treacle_status status = alloc_array(ctx, length, sizeof(op), "an expression", &ops);
    p->out->ops = ops;
    if (status == TREACLE_OK) {
        status = whole_text(p);
    }
    if (status != TREACLE_OK) {
        expr_destroy(p->out);
        return status;
    }
    *out = p->out;
    return TREACLE_OK;
}

treacle_status expr_create(treacle_context* ctx, const char* source, expr_error* error,
                           expr** out) {
    TREACLE_ASSERT(source != NULL);
    *out = NULL;
    parser p = {.ctx = ctx, .text = source, .at = source};
    treacle_status status = compile_text(ctx, source, &p, out);
    if (error != NULL) {
        *error = p.error;
    }
    return status;
}
