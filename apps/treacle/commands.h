// The commands. Each gets its own name as argv[0] and returns the exit code.
#pragma once

int cmd_check(int argc, char** argv);
int cmd_coiling(int argc, char** argv);
int cmd_compare(int argc, char** argv);
int cmd_export(int argc, char** argv);
int cmd_info(int argc, char** argv);
int cmd_mesh(int argc, char** argv);
int cmd_materials(int argc, char** argv);
int cmd_new(int argc, char** argv);
int cmd_play(int argc, char** argv);
int cmd_plot(int argc, char** argv);
int cmd_render(int argc, char** argv);
int cmd_resume(int argc, char** argv);
int cmd_run(int argc, char** argv);
int cmd_schema(int argc, char** argv);
int cmd_sweep(int argc, char** argv);
int cmd_view(int argc, char** argv);
