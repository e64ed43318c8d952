// A run: a scene simulated into a folder, frame by frame, that can be killed and resumed.
#pragma once

#include "scene.h"
#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How far a run is. Handed to the progress callback after every step.
typedef struct treacle_progress {
    int64_t frame, frames;           ///< being simulated, last to do
    int64_t step;                    ///< of the run
    int substep;                     ///< of this frame, from 1
    double fraction;                 ///< of the run's frames, 0..1
    double seconds_spent;            ///< s, in this process
    double seconds_left;             ///< s, estimated; < 0 while unknown
    bool frame_done;                 ///< the frame's file is on disk; told while later frames are
                                     ///< being simulated
    const treacle_step_stats* stats; ///< of the step; NULL for the first frame
} treacle_progress;

/// Return false to end after this step with a valid cache.
typedef bool treacle_progress_fcn(const treacle_progress* progress, void* user);

typedef struct treacle_run_def {
    size_t def_size;    ///< set by treacle_run_def_default(), checked on entry
    const char* folder; ///< made if missing; must be empty of frames unless resuming
    bool replace;       ///< a run that the folder holds goes: its results, and no other file
    int64_t frames;     ///< last frame to simulate; 0: as the scene, or the run so far, says
    bool preview;       ///< write preview_0001.png beside every frame; a resumed run remembers it
    int preview_width;  ///< pixels
    int preview_height; ///< pixels
    const char* film;   ///< film of the previews, made after the last frame; NULL: none.
                        ///< Needs preview; a resumed run remembers it
    const char* scene_path;         ///< where the scene came from, or NULL. With the sets, lets a
                                    ///< resumed run say that the scene has changed meanwhile
    int set_count;                  ///< of sets
    const char* const* sets;        ///< "key.path=value", as laid over the scene file
    treacle_progress_fcn* progress; ///< may be NULL
    void* progress_user;            ///< handed to progress
} treacle_run_def;

TREACLE_API treacle_run_def treacle_run_def_default(void);

enum { TREACLE_STEP_TEXT_CAPACITY = 8192 };
/// The statistics of a step as one JSON object, as in a line of stats.jsonl but without its frame
/// and without the end of the line: TREACLE_STEP_TEXT_CAPACITY bytes are enough. ERR_MEMORY if
/// there was no room.
TREACLE_API treacle_status treacle_step_stats_text(const treacle_step_stats* stats, size_t capacity,
                                                   char* out);

/// Simulates the scene into the folder:
///
///     scene.yaml        the effective scene; resuming needs no other file but its meshes
///     run.json          version, where the scene came from, its hash, number of frames
///     frame_0001.trf    what pictures need, from frame 1, which is the start
///     state_0004.trs    what resuming needs, of every few frames; two and every n-th are kept
///     preview_0001.png  with preview
///     stats.jsonl       one JSON object for every step
///
/// A frame counts once its state file is on disk; until then nothing older is removed. A run that
/// is killed at any moment and resumed leaves the same bytes in all files as one that was not,
/// except for the seconds and the memory in stats.jsonl. Only one process at a time may write a
/// folder.
///
/// ERR_USAGE if the folder already holds a run that is not to be replaced, ERR_INTERRUPTED if the
/// callback ended it.
TREACLE_API treacle_status treacle_run_start(treacle_context* ctx, const treacle_scene* scene,
                                             const treacle_run_def* def);
/// Goes on where the folder's last whole state file ends. Of the def it uses folder, frames and
/// progress; everything else is as the run began. OK without a step if all frames are there.
TREACLE_API treacle_status treacle_run_resume(treacle_context* ctx, const treacle_run_def* def);

/// What the run will cost: treacle_scene_estimate(), with seconds that were measured. Of the def it
/// uses preview. In about so many seconds of processor time it simulates the scene's first frames,
/// and a coarser copy of the whole run; should that fail, or with seconds of 0, is_measured stays
/// false and the scene's numbers are all that is known. Nothing is written.
TREACLE_API treacle_status treacle_run_estimate(treacle_context* ctx, const treacle_scene* scene,
                                                const treacle_run_def* def, double seconds,
                                                treacle_estimate* out);

enum { TREACLE_RUN_TEXT_CAPACITY = 4096 };

/// What a run's folder says about the run.
enum { TREACLE_RUN_REGIMES = 8 };
/// One of the ways in which a run's flow was solved.
typedef struct treacle_run_regime {
    char name[TREACLE_REGIME_CAPACITY];
    int64_t steps;
} treacle_run_regime;

typedef struct treacle_run_info {
    char version[32];                      ///< of the treacle that began it
    char scene[TREACLE_RUN_TEXT_CAPACITY]; ///< where the scene came from, "" if from memory
    uint64_t scene_hash;
    int64_t frames;      ///< to simulate
    int64_t frames_done; ///< on disk, counted from 1 without a gap
    int64_t state;       ///< frame of the newest state file, 0 if none
    double bytes;        ///< of all the run's files

    // From stats.jsonl; all zero if there is none.
    int64_t steps;
    int64_t retries;     ///< steps begun again, in total
    int64_t unconverged; ///< steps with a solve that did not converge
    int64_t iterations;  ///< of all solves of flows, in total
    int iterations_max;  ///< of a step
    int regime_count;    ///< ways in which flows were solved, the first ones met
    treacle_run_regime regimes[TREACLE_RUN_REGIMES];
    int64_t rheology_steps;              ///< with a viscosity that depends on shear
    int64_t rheology_passes;             ///< that found it, in total
    int rheology_passes_max;             ///< of a step
    int64_t rheology_unconverged;        ///< steps that ended before it was found
    double dt_min, dt_max;               ///< s
    double time;                         ///< s, simulated
    int64_t particles;                   ///< after the last step
    double volume_first, volume;         ///< m^3, after the first and the last step
    double volume_lost;                  ///< m^3, as treacle_step_stats has it, after the last step
    double kinetic_energy;               ///< J, after the last step
    treacle_energy_stats energy;         ///< J, all steps together; what is there, after the last
    double seconds[TREACLE_STAGE_COUNT]; ///< s, by stage, in total
    double seconds_total;                ///< s, all stages
    double memory_peak;                  ///< bytes, the most of all steps
} treacle_run_info;

/// A step of the run; return false to see no more.
typedef bool treacle_step_visitor(const treacle_step_stats* step, void* user);
/// Shows the statistics of all steps of stats.jsonl, in order. What the file does not have is 0.
TREACLE_API treacle_status treacle_run_visit_steps(treacle_context* ctx, const char* folder,
                                                   treacle_step_visitor* visit, void* user);

/// Reads the folder's run.json and stats.jsonl and counts its files. Changes nothing.
/// ERR_USAGE if it holds no run.
TREACLE_API treacle_status treacle_run_inspect(treacle_context* ctx, const char* folder,
                                               treacle_run_info* out);

#ifdef __cplusplus
}
#endif
