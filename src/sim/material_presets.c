// The materials library. One row a material, with the source of its values; where no single
// measurement stands behind a row, it says so.
#include <math.h>
#include <string.h>

#include "phys/rheology.h"
#include "treacle/materials.h"

#define CELSIUS(t) (273.15 + (t))
#define LOOK(kind_) .look = TREACLE_LOOK_##kind_
#define NOT_ELASTIC                                                                                \
    .elastic = {.relaxation_time = INFINITY, .mu_e = NAN, .alpha = NAN, .gamma = NAN}
// What all rows share.
#define MATERIAL(name_, celsius, ...)                                                              \
    .name = name_, .temperature = CELSIUS(celsius),                                                \
    .material = {.name = name_,                                                                    \
                 .reference_temperature = CELSIUS(celsius),                                        \
                 .merges = true,                                                                   \
                 NOT_ELASTIC,                                                                      \
                 __VA_ARGS__}
// The same of what springs back: shear modulus, relaxation time, yield stress.
#define GEL(name_, celsius, modulus, time_, stress, ...)                                           \
    .name = name_, .temperature = CELSIUS(celsius),                                                \
    .material = {.name = name_,                                                                    \
                 .reference_temperature = CELSIUS(celsius),                                        \
                 .merges = true,                                                                   \
                 .elastic = {.shear_modulus = modulus,                                             \
                             .relaxation_time = time_,                                             \
                             .yield_stress = stress,                                               \
                             .mu_e = NAN,                                                          \
                             .alpha = NAN,                                                         \
                             .gamma = NAN},                                                        \
                 NEWTONIAN,                                                                        \
                 __VA_ARGS__}
// Heat: conductivity in W/(m K), heat capacity in J/(kg K). Of water IAPWS, of glycerine the CRC
// Handbook; of paraffin and of basalt the middle of what handbooks give; else typical of the kind.
#define HEAT(k, c) .conductivity = k, .heat_capacity = c
// J/kg, and where it melts and freezes, C.
#define MELTS(latent, solid, liquid)                                                               \
    .latent_heat = latent, .solidus = CELSIUS(solid), .liquidus = CELSIUS(liquid)
#define FREEZES(liquid, solid)                                                                     \
    .freezing_liquidus = CELSIUS(liquid), .freezing_solidus = CELSIUS(solid)
// N/m against air, and where that is from. Scenes that want it say so: at the sizes of most of them
// it does not count, and steps with it cost more.
#define TENSION(sigma, from) .surface_tension = sigma, .tension_source = from
// Constants of laws that are off until a scene names their kind.
#define LAW(...) .viscosity_law = {.reference = 293.15, .least = 1e-9, .most = 1e12, __VA_ARGS__}
#define NO_LAW LAW(.low = 1.0, .high = 1.0)
#define VFT(a_, b_, c_) LAW(.low = 1.0, .high = 1.0, .a = a_, .b = b_, .c = c_)
#define RAMP(from_, to_, low_, high_)                                                              \
    LAW(.from = CELSIUS(from_), .to = CELSIUS(to_), .low = low_, .high = high_)
#define NEWTONIAN .rheology = {.consistency = 1.0, .exponent = 1.0, .critical_rate = 1e-3}
#define CARREAU(infinite, time_, n)                                                                \
    .rheology = {.law = TREACLE_RHEOLOGY_CARREAU,                                                  \
                 .consistency = 1.0,                                                               \
                 .exponent = n,                                                                    \
                 .viscosity_infinite = infinite,                                                   \
                 .time = time_,                                                                    \
                 .critical_rate = 1e-3}
#define BINGHAM(stress)                                                                            \
    .rheology = {.law = TREACLE_RHEOLOGY_BINGHAM,                                                  \
                 .consistency = 1.0,                                                               \
                 .exponent = 1.0,                                                                  \
                 .yield_stress = stress,                                                           \
                 .critical_rate = 1e-3}
#define HERSCHEL_BULKLEY(stress, k, n)                                                             \
    .rheology = {.law = TREACLE_RHEOLOGY_HERSCHEL_BULKLEY,                                         \
                 .consistency = k,                                                                 \
                 .exponent = n,                                                                    \
                 .yield_stress = stress,                                                           \
                 .critical_rate = 1e-3}

static const treacle_material_preset presets[] = {
    {MATERIAL("water", 20, LOOK(WATER), .density = 998.2, .viscosity = 1.0016e-3,
              .colour = {0.05, 0.3, 0.6}, NEWTONIAN, HEAT(0.598, 4184.0), MELTS(333.55e3, 0, 0),
              VFT(-4.6173, 247.8, 140.0)),
     TENSION(0.07274, "IAPWS R1-76 (2014), at 20 C"), .text = "water",
     .vogel = {-4.6173, 247.8, 140.0},
     .source = "IAPWS R12-08 (2008), viscosity; temperature law after Al-Shemmeri, Engineering "
               "Fluid Mechanics (2012)"},
    {MATERIAL("olive-oil", 20, LOOK(OIL), .density = 911.0, .viscosity = 0.084,
              .colour = {0.55, 0.5, 0.06}, NEWTONIAN, HEAT(0.17, 1970.0), VFT(-5.886, 1410.0, 0.0)),
     TENSION(0.032, "typical: 31 to 33 mN/m in handbooks at 20 C"), .text = "olive oil",
     .vogel = {-5.886, 1410.0, 0.0}, .is_typical = true,
     .source = "typical of handbooks at 20 C; activation energy 27 kJ/mol, from the range of "
               "Diamante and Lan, J. Food Processing 234583 (2014)"},
    {MATERIAL("honey", 25, LOOK(HONEY), .density = 1420.0, .viscosity = 10.0,
              .colour = {0.7, 0.26, 0.01}, NEWTONIAN, HEAT(0.35, 2300.0),
              VFT(-15.643, 4962.0, 0.0)),
     TENSION(0.060, "typical: 50 to 60 mN/m; falls a little with warmth, Oroian, J. Food Eng. 119, "
                    "167 (2013)"),
     .text = "honey of 17 to 18 % water", .vogel = {-15.643, 4962.0, 0.0}, .is_typical = true,
     .source = "typical; the range of floral honeys and 95 kJ/mol as in Yanniotis, Skaltsi, "
               "Karaburnioti, J. Food Eng. 72, 372 (2006)"},
    {MATERIAL("golden-syrup", 20, LOOK(SYRUP), .density = 1438.0, .viscosity = 50.0,
              .colour = {0.8, 0.42, 0.03}, NEWTONIAN, HEAT(0.35, 2200.0), NO_LAW),
     TENSION(0.080, "typical of laboratory experiments with it"),
     .text = "golden syrup, light treacle", .is_typical = true,
     .source = "typical of laboratory experiments with it; batches differ by a factor of two"},
    {MATERIAL("molasses", 25, LOOK(MOLASSES), .density = 1400.0, .viscosity = 6.0,
              .colour = {0.06, 0.015, 0.004}, NEWTONIAN, HEAT(0.37, 2200.0), NO_LAW),
     .text = "molasses, black treacle", .is_typical = true,
     .source = "typical: 5 to 10 Pa s at 20 to 25 C in handbooks of food engineering"},
    {MATERIAL("corn-syrup", 25, LOOK(JELLY), .density = 1380.0, .viscosity = 2.5,
              .colour = {0.85, 0.75, 0.5}, NEWTONIAN, HEAT(0.37, 2300.0), NO_LAW),
     TENSION(0.080, "typical of laboratory experiments with it"),
     .text = "light corn syrup, as bottled", .is_typical = true,
     .source = "typical: 2 to 3 Pa s at 25 C"},
    {MATERIAL("glycerine", 20, LOOK(WATER), .density = 1261.0, .viscosity = 1.414,
              .colour = {0.85, 0.88, 0.9}, NEWTONIAN, HEAT(0.285, 2412.0),
              VFT(-5.0091, 668.47, 163.59)),
     TENSION(0.0634, "typical: 63 to 64 mN/m in handbooks at 20 C"), .text = "glycerine, pure",
     .vogel = {-5.0091, 668.47, 163.59},
     .source = "Cheng, Ind. Eng. Chem. Res. 47, 3285 (2008), a fit to Segur and Oberstar (1951); "
               "temperature law fitted to it, 0 to 100 C"},
    {MATERIAL("chocolate", 40, LOOK(CHOCOLATE), .density = 1270.0, .viscosity = 2.5,
              .colour = {0.07, 0.025, 0.01}, HERSCHEL_BULKLEY(12.0, 4.0, 0.85), HEAT(0.26, 1700.0),
              MELTS(45e3, 28, 34), FREEZES(27, 20), RAMP(28, 34, 1e4, 2.5)),
     .text = "melted dark chocolate", .is_typical = true,
     .source = "typical: near Casson's law with 2 to 3 Pa s and 10 to 20 Pa, the middle of the "
               "ranges in Afoakwa, Paterson, Fowler, Trends Food Sci. Technol. 18, 290 (2007)"},
    {MATERIAL("ketchup", 25, LOOK(KETCHUP), .density = 1150.0, .viscosity = 1.0,
              .colour = {0.4, 0.02, 0.01}, HERSCHEL_BULKLEY(32.0, 18.7, 0.27), HEAT(0.5, 3700.0),
              NO_LAW),
     .text = "tomato ketchup",
     .source = "Higgs and Norrington, Process Biochem. 6, 52 (1971), as tabulated by Steffe, "
               "Rheological Methods in Food Process Engineering (1996)"},
    {MATERIAL("mayonnaise", 25, LOOK(SOFT), .density = 920.0, .viscosity = 1.0,
              .colour = {0.85, 0.78, 0.55}, HERSCHEL_BULKLEY(80.0, 6.4, 0.55), HEAT(0.3, 2700.0),
              NO_LAW),
     .text = "mayonnaise", .is_typical = true,
     .source = "consistency and exponent as tabulated by Steffe (1996) after Figoni and "
               "Shoemaker (1983); the yield stress is a typical figure"},
    {MATERIAL("toothpaste", 25, LOOK(GLOSS), .density = 1300.0, .viscosity = 10.0,
              .colour = {0.7, 0.85, 0.85}, HERSCHEL_BULKLEY(200.0, 60.0, 0.4), HEAT(0.5, 2800.0),
              NO_LAW),
     .text = "toothpaste", .is_typical = true,
     .source = "typical: pastes that stand on a brush have 100 to 300 Pa"},
    {MATERIAL("paint", 20, LOOK(GLOSS), .density = 1250.0, .viscosity = 20.0,
              .colour = {0.05, 0.2, 0.5}, CARREAU(0.08, 5.0, 0.3), HEAT(0.4, 2800.0), NO_LAW),
     .text = "wall paint", .is_typical = true,
     .source = "typical: some 10 Pa s on the wall, about 0.1 Pa s under the brush"},
    {MATERIAL("shampoo", 25, LOOK(SHAMPOO), .density = 1020.0, .viscosity = 6.0,
              .colour = {0.35, 0.6, 0.25}, CARREAU(0.02, 0.1, 0.4), HEAT(0.5, 3800.0), NO_LAW),
     .text = "shampoo", .is_typical = true,
     .source = "typical: 3 to 10 Pa s at rest; its elasticity is not in this row"},
    {MATERIAL("lava", 1130, LOOK(LAVA), .density = 2600.0, .viscosity = 650.0,
              .colour = {0.9, 0.12, 0.01}, BINGHAM(120.0), HEAT(1.5, 1200.0),
              MELTS(400e3, 1000, 1200), VFT(-4.55, 5765.0, 620.0)),
     TENSION(0.35, "typical: 0.3 to 0.4 N/m of molten basalt"), .text = "basaltic lava",
     .vogel = {-4.55, 5765.0, 620.0},
     .source = "Shaw, Wright, Peck, Okamura, Am. J. Sci. 266, 225 (1968), in Makaopuhi lava lake; "
               "temperature law of the form of Giordano, Russell, Dingwell, Earth Planet. Sci. "
               "Lett. 271, 123 (2008), typical constants through that point; density typical"},
    {MATERIAL("wax", 70, LOOK(WAX), .density = 775.0, .viscosity = 0.005,
              .colour = {0.85, 0.75, 0.5}, NEWTONIAN, HEAT(0.22, 2400.0), MELTS(200e3, 52, 60),
              RAMP(52, 60, 1e4, 0.005)),
     TENSION(0.027, "typical of paraffin at 70 C"), .text = "molten paraffin wax",
     .is_typical = true, .source = "typical of paraffin at 70 C"},
    {MATERIAL("tar", 60, LOOK(GLOSS), .density = 1030.0, .viscosity = 145.0,
              .colour = {0.008, 0.007, 0.006}, NEWTONIAN, HEAT(0.16, 1900.0), NO_LAW),
     .text = "paving bitumen 50/70",
     .source = "EN 12591, the least that the grade allows at 60 C; density typical"},
    {MATERIAL("glass", 1005, LOOK(GLASS), .density = 2400.0, .viscosity = 1000.0,
              .colour = {0.9, 0.35, 0.08}, NEWTONIAN, HEAT(1.4, 1250.0),
              VFT(-2.8188, 4704.2, 469.70)),
     .text = "soda-lime glass at its working point", .vogel = {-2.8188, 4704.2, 469.70},
     .source = "working, softening and annealing points of Corning code 0080 (1005, 696 and 514 C: "
               "10^3, 10^6.6 and 10^12 Pa s by definition); density typical"},
    {GEL("gelatin", 10, 2000.0, INFINITY, 0.0, LOOK(JELLY), .density = 1050.0, .viscosity = 2.0,
         .colour = {0.75, 0.04, 0.05}, HEAT(0.5, 3800.0), NO_LAW),
     .text = "dessert jelly of 6 % gelatin", .is_typical = true,
     .source = "typical: gels of 5 to 7 % have shear moduli of 1 to 5 kPa in the refrigerator"},
    {GEL("mucus", 37, 5.0, 5.0, 0.0, LOOK(SLIME), .density = 1000.0, .viscosity = 0.1,
         .colour = {0.7, 0.75, 0.4}, HEAT(0.6, 4100.0), NO_LAW),
     .text = "mucus", .is_typical = true,
     .source = "typical: 1 to 10 Pa, within the ranges of Lai, Wang, Wirtz, Hanes, Adv. Drug "
               "Deliv. Rev. 61, 86 (2009)"},
    {GEL("egg-white", 20, 8.0, 0.3, 0.0, LOOK(EGG_WHITE), .density = 1035.0, .viscosity = 0.02,
         .colour = {0.85, 0.83, 0.7}, HEAT(0.55, 3800.0), NO_LAW),
     .text = "raw egg white, thick and thin together", .is_typical = true,
     .source = "typical: it pours like thin oil and springs back when torn"},
    {GEL("dough", 25, 5000.0, 2.0, 300.0, LOOK(DOUGH), .density = 1200.0, .viscosity = 500.0,
         .colour = {0.8, 0.68, 0.45}, HEAT(0.4, 2800.0), NO_LAW),
     .text = "wheat dough", .is_typical = true,
     .source = "typical: storage moduli of 3 to 10 kPa at 1 Hz in the literature on baking"},
    {GEL("clay", 20, 2e5, 0.02, 2e4, LOOK(DOUGH), .density = 1800.0, .viscosity = 2000.0,
         .colour = {0.4, 0.2, 0.12}, HEAT(1.2, 1500.0), NO_LAW),
     .text = "potter's clay, ready to throw", .is_typical = true,
     .source = "typical: plastic clays yield at 10 to 50 kPa"},
    {GEL("hair-gel", 20, 250.0, 0.1, 60.0, LOOK(GEL), .density = 1000.0, .viscosity = 2.0,
         .colour = {0.3, 0.6, 0.85}, HEAT(0.6, 4100.0), NO_LAW),
     .text = "hair gel", .is_typical = true,
     .source = "typical of carbomer gels: 100 to 500 Pa, yielding at 30 to 100 Pa, as reviewed by "
               "Piau, J. Non-Newton. Fluid Mech. 144, 1 (2007)"},
    {GEL("elastic-shampoo", 25, 100.0, 0.06, 0.0, LOOK(SHAMPOO), .density = 1020.0,
         .viscosity = 0.1, .colour = {0.35, 0.6, 0.25}, HEAT(0.5, 3800.0), NO_LAW),
     .text = "shampoo that springs back", .is_typical = true,
     .source =
         "typical of long micelles, which relax with one time: modulus times time is the 6 Pa s "
         "of `shampoo` at rest"},
    {GEL("elastic-mayonnaise", 25, 500.0, 0.02, 80.0, LOOK(SOFT), .density = 920.0,
         .viscosity = 1.0, .colour = {0.85, 0.78, 0.55}, HEAT(0.3, 2700.0), NO_LAW),
     .text = "mayonnaise that springs back", .is_typical = true,
     .source = "typical: some 300 to 1000 Pa below its yield stress, that of `mayonnaise`"},
    {GEL("slime", 20, 1500.0, 0.6, 0.0, LOOK(SLIME), .density = 1020.0, .viscosity = 5.0,
         .colour = {0.15, 0.6, 0.1}, HEAT(0.6, 4000.0), NO_LAW),
     .text = "slime of polyvinyl alcohol and borax", .is_typical = true,
     .source = "typical: it springs back within a tenth of a second and flows within a few"},
};
enum { PRESETS = sizeof(presets) / sizeof(presets[0]) };

int treacle_material_preset_count(void) {
    return PRESETS;
}

const treacle_material_preset* treacle_material_preset_at(int index) {
    return index >= 0 && index < PRESETS ? &presets[index] : NULL;
}

const treacle_material_preset* treacle_material_preset_find(const char* name) {
    for (int i = 0; i < PRESETS; ++i) {
        if (strcmp(presets[i].name, name) == 0) {
            return &presets[i];
        }
    }
    return NULL;
}

const char* treacle_material_preset_suggest(const char* word) {
    const char* names[PRESETS];
    for (int i = 0; i < PRESETS; ++i) {
        names[i] = presets[i].name;
    }
    return treacle_suggest(word, names, PRESETS);
}

double treacle_material_viscosity(const treacle_material_def* material, double rate) {
    return rheology_viscosity(material, rate);
}
