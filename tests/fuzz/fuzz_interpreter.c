// The compiler of expressions against an interpreter. An input is read as the choices that draw a
// tree; the tree is written as text with no more parentheses than the grammar asks for, and some
// at random. What the compiled text gives must be what walking the tree gives, bit for bit; any
// NaN is as good as another.
#include <math.h>
#include <stdio.h>

#include "fuzz.h"
#include "math/elementary.h"
#include "math/expr.h"

enum { TREE_MAX = 200, DEPTH_MAX = 12, TEXT_MAX = 8192, POINTS = 4 };

// Binary operators in the order of their strength, then the sign, the power and what stands alone.
typedef enum kind {
    NUMBER,
    VARIABLE,
    COMPARE,
    ADD,
    MULTIPLY,
    SIGN,
    POWER,
    CALL,
} kind;

typedef struct tree {
    kind kind;
    int which; // operator, variable, sign or function
    double value;
    struct tree* child[3];
} tree;

typedef struct drawing {
    fuzz_choices choices;
    tree nodes[TREE_MAX];
    int count;
    char text[TEXT_MAX];
    size_t length;
} drawing;

static const char* const variables[] = {"x", "y", "z", "t", "pi", "e"};
static const char* const comparisons[] = {"<", "<=", ">", ">=", "==", "!="};
static const struct {
    const char* name;
    int arguments;
} functions[] = {{"sin", 1},  {"cos", 1}, {"tan", 1},   {"exp", 1},   {"log", 1},
                 {"sqrt", 1}, {"abs", 1}, {"floor", 1}, {"tanh", 1},  {"min", 2},
                 {"max", 2},  {"pow", 2}, {"step", 2},  {"clamp", 3}, {"smoothstep", 3}};
enum {
    VARIABLES = sizeof(variables) / sizeof(variables[0]),
    COMPARISONS = sizeof(comparisons) / sizeof(comparisons[0]),
    FUNCTIONS = sizeof(functions) / sizeof(functions[0]),
};

// Drawing -----------------------------------------------------------------------------------------

static double draw_number(fuzz_choices* c) {
    static const double plain[] = {0.0, 1.0, 2.0, 0.5, 3.0, 10.0, 1e-300, 1e300};
    int way = fuzz_pick(c, 3);
    double value = way == 0   ? plain[fuzz_pick(c, 8)]
                   : way == 1 ? (double)fuzz_bits(c, 2) / 256.0
                              : fabs(fuzz_double(c));
    return isfinite(value) ? value : 1.0;
}

static tree* draw(drawing* d, int depth) {
    tree* node = &d->nodes[d->count++];
    bool is_leaf = depth >= DEPTH_MAX || d->count + 4 * DEPTH_MAX > TREE_MAX;
    *node = (tree){.kind = (kind)fuzz_pick(&d->choices, is_leaf ? 2 : CALL + 1)};
    int children = 0;
    switch (node->kind) {
    case NUMBER:
        node->value = draw_number(&d->choices);
        break;
    case VARIABLE:
        node->which = fuzz_pick(&d->choices, VARIABLES);
        break;
    case COMPARE:
        node->which = fuzz_pick(&d->choices, COMPARISONS);
        children = 2;
        break;
    case ADD:
    case MULTIPLY:
    case POWER:
        node->which = fuzz_pick(&d->choices, 2);
        children = 2;
        break;
    case SIGN:
        node->which = fuzz_pick(&d->choices, 2);
        children = 1;
        break;
    case CALL:
        node->which = fuzz_pick(&d->choices, FUNCTIONS);
        children = functions[node->which].arguments;
        break;
    }
    for (int i = 0; i < children; ++i) {
        node->child[i] = draw(d, depth + 1);
    }
    return node;
}

// Writing -----------------------------------------------------------------------------------------

static void put(drawing* d, const char* word) {
    size_t length = strlen(word);
    if (d->length + length < TEXT_MAX) {
        memcpy(d->text + d->length, word, length);
        d->length += length;
    }
}

static void put_space(drawing* d) {
    static const char* const spaces[] = {"", " ", "\t", " \n "};
    put(d, spaces[fuzz_pick(&d->choices, 4)]);
}

static void write_tree(drawing* d, const tree* node, kind least);

// A tree that binds at least as strongly as `least`, or stands in parentheses. What a sign or a
// power ends with may be a sign again.
static void write_within(drawing* d, const tree* node, kind least) {
    bool is_alone = node->kind == NUMBER || node->kind == VARIABLE || node->kind == CALL;
    bool needs = !is_alone && node->kind < least;
    if (needs || fuzz_pick(&d->choices, 8) == 7) {
        put(d, "(");
        write_tree(d, node, COMPARE);
        put(d, ")");
    } else {
        write_tree(d, node, least);
    }
}

static void write_pair(drawing* d, const tree* node, const char* word, kind left, kind right) {
    write_within(d, node->child[0], left);
    put_space(d);
    put(d, word);
    put_space(d);
    write_within(d, node->child[1], right);
}

static void write_call(drawing* d, const tree* node) {
    put(d, functions[node->which].name);
    put(d, "(");
    for (int i = 0; i < functions[node->which].arguments; ++i) {
        put(d, i == 0 ? "" : ",");
        put_space(d);
        write_within(d, node->child[i], COMPARE);
    }
    put(d, ")");
}

static void write_tree(drawing* d, const tree* node, kind least) {
    char number[64];
    (void)least;
    switch (node->kind) {
    case NUMBER:
        snprintf(number, sizeof(number), "%.17g", node->value);
        put(d, number);
        break;
    case VARIABLE:
        put(d, variables[node->which]);
        break;
    case COMPARE:
        write_pair(d, node, comparisons[node->which], ADD, ADD);
        break;
    case ADD:
        write_pair(d, node, node->which == 0 ? "+" : "-", ADD, MULTIPLY);
        break;
    case MULTIPLY:
        write_pair(d, node, node->which == 0 ? "*" : "/", MULTIPLY, SIGN);
        break;
    case SIGN:
        put(d, node->which == 0 ? "-" : "+");
        put_space(d);
        write_within(d, node->child[0], SIGN);
        break;
    case POWER:
        write_pair(d, node, "^", CALL, SIGN);
        break;
    case CALL:
        write_call(d, node);
        break;
    }
}

// Walking -----------------------------------------------------------------------------------------

static double compare(int which, double a, double b) {
    const bool holds[] = {a<b, a <= b, a> b, a >= b, a == b, a != b};
    return holds[which] ? 1.0 : 0.0;
}

// clamp() and the rest as the manual says them: a NaN first argument gives the bound.
static double least_of(double a, double b) {
    return a < b ? a : b;
}

static double most_of(double a, double b) {
    return a > b ? a : b;
}

static double call_function(int which, double a, double b, double c) {
    const double t = least_of(most_of((c - a) / (b - a), 0.0), 1.0);
    switch (which) {
    case 0:
        return elementary_sin(a);
    case 1:
        return elementary_cos(a);
    case 2:
        return elementary_sin(a) / elementary_cos(a);
    case 3:
        return elementary_exp(a);
    case 4:
        return elementary_log(a);
    case 5:
        return sqrt(a);
    case 6:
        return fabs(a);
    case 7:
        return floor(a);
    case 8:
        return elementary_tanh(a);
    case 9:
        return least_of(a, b);
    case 10:
        return most_of(a, b);
    case 11:
        return elementary_pow(a, b);
    case 12:
        return b < a ? 0.0 : 1.0;
    case 13:
        return least_of(most_of(a, b), c);
    default:
        return a == b ? (c < a ? 0.0 : 1.0) : t * t * (3.0 - 2.0 * t);
    }
}

static double walk(const tree* node, vec3 x, double t) {
    const double values[VARIABLES] = {
        x.at[0], x.at[1], x.at[2], t, 3.14159265358979323846, 2.71828182845904523536};
    double at[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < 3 && node->child[i] != NULL; ++i) {
        at[i] = walk(node->child[i], x, t);
    }
    switch (node->kind) {
    case NUMBER:
        return node->value;
    case VARIABLE:
        return values[node->which];
    case COMPARE:
        return compare(node->which, at[0], at[1]);
    case ADD:
        return node->which == 0 ? at[0] + at[1] : at[0] - at[1];
    case MULTIPLY:
        return node->which == 0 ? at[0] * at[1] : at[0] / at[1];
    case SIGN:
        return node->which == 0 ? -at[0] : at[0];
    case POWER:
        return elementary_pow(at[0], at[1]);
    default:
        return call_function(node->which, at[0], at[1], at[2]);
    }
}

static bool uses(const tree* node, int first, int last) {
    bool is_used = node->kind == VARIABLE && node->which >= first && node->which <= last;
    for (int i = 0; i < 3 && node->child[i] != NULL; ++i) {
        is_used = is_used || uses(node->child[i], first, last);
    }
    return is_used;
}

static void check_same(const expr* e, const tree* root) {
    static const double points[POINTS][4] = {{0.0, 0.0, 0.0, 0.0},
                                             {0.5, -2.0, 1e10, 1.0},
                                             {-0.0, INFINITY, -1e-310, 3.75},
                                             {1.0, 1.0, NAN, -7.0}};
    for (int i = 0; i < POINTS; ++i) {
        vec3 x = vec3_make(points[i][0], points[i][1], points[i][2]);
        double compiled = expr_eval(e, x, points[i][3]), walked = walk(root, x, points[i][3]);
        fuzz_check((isnan(compiled) && isnan(walked)) ||
                   memcmp(&compiled, &walked, sizeof(walked)) == 0);
    }
    fuzz_check(expr_uses_place(e) == uses(root, 0, 2) && expr_uses_time(e) == uses(root, 3, 3));
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static drawing d;
    d.choices = (fuzz_choices){data, size};
    d.count = 0;
    d.length = 0;
    const tree* root = draw(&d, 0);
    write_within(&d, root, COMPARE);
    d.text[d.length] = '\0';
    treacle_context* ctx = fuzz_context();
    expr* e = NULL;
    treacle_status status = expr_create(ctx, d.text, NULL, &e);
    if (status == TREACLE_OK) {
        check_same(e, root);
        expr_destroy(e);
    } else { // the text is sound, but it may be too long or too deep
        fuzz_check(status == TREACLE_ERR_LIMIT);
    }
    fuzz_context_end(ctx);
    return 0;
}
