#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"

// In the order of treacle_rheology.
static const char* const law_names[] = {"newtonian", "power-law", "carreau", "bingham",
                                        "herschel-bulkley"};

static void print_table(void) {
    printf("%-14s %8s %12s %12s %6s  %s\n", "name", "kg/m^3", "Pa s at 1/s", "yield, Pa", "C",
           "what");
    for (int i = 0; i < treacle_material_preset_count(); ++i) {
        const treacle_material_preset* p = treacle_material_preset_at(i);
        printf("%-14s %8.4g %12.4g %12.4g %6.0f  %s\n", p->name, p->material.density,
               treacle_material_viscosity(&p->material, 1.0), p->material.rheology.yield_stress,
               p->temperature - 273.15, p->text);
    }
}

static void print_law(const treacle_material_def* m) {
    const treacle_rheology_def* r = &m->rheology;
    printf("rheology     %s", law_names[r->law]);
    switch (r->law) {
    case TREACLE_RHEOLOGY_NEWTONIAN:
        printf(", viscosity %g Pa s", m->viscosity);
        break;
    case TREACLE_RHEOLOGY_POWER_LAW:
        printf(", consistency %g Pa s^n, exponent %g", r->consistency, r->exponent);
        break;
    case TREACLE_RHEOLOGY_CARREAU:
        printf(", viscosity %g to %g Pa s, time %g s, exponent %g", m->viscosity,
               r->viscosity_infinite, r->time, r->exponent);
        break;
    case TREACLE_RHEOLOGY_BINGHAM:
        printf(", viscosity %g Pa s, yield stress %g Pa", m->viscosity, r->yield_stress);
        break;
    case TREACLE_RHEOLOGY_HERSCHEL_BULKLEY:
        printf(", consistency %g Pa s^n, exponent %g, yield stress %g Pa", r->consistency,
               r->exponent, r->yield_stress);
        break;
    }
    printf("\nviscosity    ");
    for (int k = -1; k <= 2; ++k) {
        double rate = pow(10.0, k);
        printf("%s%.4g Pa s at %g/s", k < 0 ? "" : ", ", treacle_material_viscosity(m, rate), rate);
    }
    putchar('\n');
}

static void print_one(const treacle_material_preset* p) {
    printf("material     %s: %s\n", p->name, p->text);
    printf("temperature  %.0f C, at which the values hold\n", p->temperature - 273.15);
    printf("density      %g kg/m^3\n", p->material.density);
    print_law(&p->material);
    if (p->vogel[1] != 0.0) {
        printf("when warm    log10(viscosity / Pa s) = %g + %g K / (T - %g K)\n", p->vogel[0],
               p->vogel[1], p->vogel[2]);
    }
    if (p->surface_tension > 0.0) {
        printf("tension      %g mN/m against air (%s); a scene that wants it says so\n",
               1e3 * p->surface_tension, p->tension_source);
    }
    printf("colour       [%g, %g, %g], linear\n", p->material.colour[0], p->material.colour[1],
           p->material.colour[2]);
    printf("source       %s\n", p->source);
}

static json_t* object_of(const treacle_material_preset* p) {
    const treacle_material_def* m = &p->material;
    const treacle_rheology_def* r = &m->rheology;
    return json_pack(
        "{s:s, s:s, s:f, s:f, s:f, s:{s:s, s:f, s:f, s:f, s:f, s:f, s:f}, s:[f,f,f], s:[f,f,f], "
        "s:s, s:b}",
        "name", p->name, "text", p->text, "temperature", p->temperature, "density", m->density,
        "viscosity", m->viscosity, "rheology", "law", law_names[r->law], "consistency",
        r->consistency, "exponent", r->exponent, "yield_stress", r->yield_stress,
        "viscosity_infinite", r->viscosity_infinite, "time", r->time, "critical_rate",
        r->critical_rate, "vogel", p->vogel[0], p->vogel[1], p->vogel[2], "colour", m->colour[0],
        m->colour[1], m->colour[2], "source", p->source, "typical", (int)p->is_typical);
}

// One object, or a list of all.
static int print_json(const treacle_material_preset* only) {
    json_t* value = only != NULL ? object_of(only) : json_array();
    int failed = value == NULL;
    for (int i = 0; only == NULL && i < treacle_material_preset_count(); ++i) {
        failed |= json_array_append_new(value, object_of(treacle_material_preset_at(i)));
    }
    char* text = failed == 0 ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(value);
    if (text == NULL) {
        cli_error("out of memory");
        return TREACLE_ERR_MEMORY;
    }
    puts(text); // whether it arrived is seen at the end of the program
    free(text);
    return TREACLE_OK;
}

static int report_unknown(const char* name) {
    const char* near = treacle_material_preset_suggest(name);
    if (near != NULL) {
        cli_error("there is no material \"%s\"; did you mean %s?", name, near);
    } else {
        cli_error("there is no material \"%s\"", name);
    }
    cli_hint("\"treacle materials\" lists them");
    return TREACLE_ERR_USAGE;
}

int cmd_materials(int argc, char** argv) {
    const char* name = NULL;
    bool as_json = false;
    const cli_option options[] = {
        {.name = "json", .kind = CLI_FLAG, .out = &as_json, .help = "print JSON, for scripts"},
    };
    const cli_spec spec = {
        .command = "materials",
        .operand_name = "[NAME]",
        .operand_help = "a material, to tell all about it (default: a table of all)",
        .summary = "list the materials library, or tell about one of its materials",
        .details = "Presets for scenes: `material: honey`, or in `materials` a name of your own\n"
                   "with `{preset: honey, viscosity: 20 Pa.s}`. Each comes with its source.",
        .example = "  treacle materials\n"
                   "  treacle materials honey\n",
        .operand = &name,
        .is_operand_optional = true,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    cli_outcome outcome = cli_parse(&spec, argc, argv);
    if (outcome != CLI_GO) {
        return cli_exit_code(outcome);
    }
    const treacle_material_preset* one = name == NULL ? NULL : treacle_material_preset_find(name);
    if (name != NULL && one == NULL) {
        return report_unknown(name);
    }
    if (as_json) {
        return print_json(one);
    }
    if (one != NULL) {
        print_one(one);
    } else {
        print_table();
    }
    return TREACLE_OK;
}
