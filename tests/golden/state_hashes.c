// Prints the hash of a scene's state at the start and after each of its first steps: what
// tools/same_bits.sh compares of two builds. It knows the public API alone, so that it builds
// against older sources.
//
// usage: state_hashes SCENE [COARSE STEPS]
//
// SCENE is a scene file or "golden:N". COARSE is how many times as wide the cells are and STEPS how
// many steps to make; without them the program chooses what takes about a second, and says so in
// its first line.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "golden/golden_scenes.h"
#include "treacle/scene.h"

enum { FEWEST_STEPS = 3, MOST_STEPS = 60, MOST_COARSE = 8 };
static const double most_particles = 12000.0;
static const double most_seconds = 0.7;
static const double golden_dt = 0.01;

typedef struct plan {
    int coarse;
    int steps; // 0: as many as the time allows
    double fps;
} plan;

static bool is_periodic(const treacle_domain_def* domain) {
    for (int a = 0; a < 3; ++a) {
        if (domain->sides[a][0] == TREACLE_SIDE_PERIODIC) {
            return true;
        }
    }
    return false;
}

// Cells of periodic domains come in whole pairs of tiles: those stay as fine as they are.
static int choose_coarse(const treacle_scene* scene) {
    treacle_estimate cost;
    if (is_periodic(&treacle_scene_sim(scene)->domain) ||
        treacle_scene_estimate(scene, &cost) != TREACLE_OK) {
        return 1;
    }
    double particles = fmax((double)cost.particles, 0.25 * (double)cost.particles_end);
    int active = (cost.cells[0] > 1) + (cost.cells[1] > 1) + (cost.cells[2] > 1);
    int coarse = 1;
    while (coarse < MOST_COARSE && particles > most_particles * pow(coarse, active)) {
        ++coarse;
    }
    return coarse;
}

// The domain grows to a whole number of the wider cells.
static void make_coarse(treacle_domain_def* domain, int coarse) {
    domain->cell *= coarse;
    for (int a = 0; a < 3 && coarse > 1; ++a) {
        domain->size[a] = ceil(domain->size[a] / domain->cell - 1e-6) * domain->cell;
    }
}

static int complain(treacle_context* ctx, const char* what) {
    printf("%s: %s\n", what, treacle_context_error(ctx));
    return EXIT_FAILURE;
}

static double left_of_frame(const treacle_sim* sim, double fps) {
    double frames = treacle_sim_time(sim) * fps;
    return (floor(frames + 1e-6) + 1.0 - frames) / fps;
}

static int print_steps(treacle_context* ctx, treacle_sim* sim, const plan* p) {
    clock_t begin = clock();
    printf("%" PRIu64 " 0 %016" PRIx64 "\n", (uint64_t)treacle_sim_particle_count(sim),
           treacle_sim_hash(sim));
    for (int i = 1; i <= (p->steps > 0 ? p->steps : MOST_STEPS); ++i) {
        treacle_step_stats stats;
        double dt = p->fps > 0.0 ? left_of_frame(sim, p->fps) : golden_dt;
        if (treacle_sim_step(sim, dt, &stats) != TREACLE_OK) {
            return complain(ctx, "step");
        }
        printf("%" PRIu64 " %d %016" PRIx64 "\n", (uint64_t)treacle_sim_particle_count(sim), i,
               treacle_sim_hash(sim));
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (p->steps == 0 && i >= FEWEST_STEPS && seconds > most_seconds) {
            break;
        }
    }
    return EXIT_SUCCESS;
}

static int run_def(treacle_context* ctx, const treacle_sim_def* def, const plan* p) {
    treacle_sim_def changed = *def;
    make_coarse(&changed.domain, p->coarse);
    treacle_sim* sim = NULL;
    printf("coarse %d\n", p->coarse);
    int code = treacle_sim_create(ctx, &changed, &sim) == TREACLE_OK ? print_steps(ctx, sim, p)
                                                                     : complain(ctx, "create");
    treacle_sim_destroy(sim);
    return code;
}

static int run_golden(treacle_context* ctx, const char* name, plan p) {
    int which = atoi(name + strlen("golden:"));
    if (which < 0 || which >= GOLDEN_SCENES) {
        printf("there is no golden scene %d\n", which);
        return EXIT_FAILURE;
    }
    sim_scene scene;
    golden_scene_fill(which, &scene);
    p.coarse = 1;
    return run_def(ctx, &scene.def, &p);
}

static int run_file(treacle_context* ctx, const char* path, plan p) {
    treacle_scene* scene = NULL;
    treacle_status status = treacle_scene_load(ctx, path, 0, NULL, &scene);
    int code = EXIT_FAILURE;
    if (status == TREACLE_ERR_SCENE) {
        printf("%s", treacle_scene_report(scene));
    } else if (status != TREACLE_OK) {
        complain(ctx, "load");
    } else {
        p.coarse = p.coarse > 0 ? p.coarse : choose_coarse(scene);
        p.fps = treacle_scene_sim(scene)->fps;
        code = run_def(ctx, treacle_scene_sim(scene), &p);
    }
    treacle_scene_destroy(scene);
    return code;
}

int main(int argc, char** argv) {
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: state_hashes SCENE [COARSE STEPS]\n");
        return 2;
    }
    plan p = {argc == 4 ? atoi(argv[2]) : 0, argc == 4 ? atoi(argv[3]) : 0, 0.0};
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    treacle_context* ctx = NULL;
    if (treacle_context_create(&def, &ctx) != TREACLE_OK) {
        fprintf(stderr, "no context\n");
        return 2;
    }
    bool is_golden = strncmp(argv[1], "golden:", strlen("golden:")) == 0;
    int code = is_golden ? run_golden(ctx, argv[1], p) : run_file(ctx, argv[1], p);
    treacle_context_destroy(ctx);
    return code;
}
