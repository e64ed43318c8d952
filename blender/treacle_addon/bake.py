"""Baking: the command runs in the background, and the panel shows how far it is."""

import os
import re
import shutil
import signal
import subprocess
import threading

import bpy

from . import load, scene_file


def run_folder(scene):
    return os.path.join(bpy.path.abspath(scene.treacle.folder), "run")


def mesh_folder(scene):
    return os.path.join(bpy.path.abspath(scene.treacle.folder), "surface")


class Job:
    """One command after the other; lines of the running one are read by a thread."""

    def __init__(self, commands):
        self.commands = list(commands)
        self.process = None
        self.line = ""
        self.said = []
        self.next()

    def next(self):
        self.process = subprocess.Popen(self.commands.pop(0), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, args=(self.process,), daemon=True).start()

    def read(self, process):
        for line in process.stderr:
            self.line = line.strip()
            if "error" in line or "hint" in line:
                self.said.append(line.strip())

    def poll(self):
        """None while it works, else the exit code."""
        code = self.process.poll()
        if code == 0 and self.commands:
            self.next()
            return None
        return code

    def cancel(self):
        """The command ends after its step, and what it has written stays good."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def commands(context, is_resume):
    scene, settings = context.scene, context.scene.treacle
    command = scene_file.command_of(context)
    threads = ["--threads", str(settings.threads)] if settings.threads > 0 else []
    run = run_folder(scene)
    if is_resume:
        simulate = [command, "resume", run, *threads]
    else:
        path = scene_file.write(context)
        shutil.rmtree(run, ignore_errors=True)
        shutil.rmtree(mesh_folder(scene), ignore_errors=True)
        simulate = [command, "run", path, "-o", run, *threads]
    draw = [command, "export", run, "--to", "ply", "--up", "z", "-o", mesh_folder(scene),
            "--resolution", f"{settings.detail:g}", "--smoothing", str(settings.smoothing),
            "--decimation", str(settings.decimation), "--overlap", f"{settings.overlap:g}", *threads]
    place = [command, "export", run, "--what", "bodies", "--up", "z", "-o", mesh_folder(scene)]
    return [simulate, draw, place]


class Bake(bpy.types.Operator):
    """Simulate the liquid, in the background"""

    bl_idname = "treacle.bake"
    bl_label = "Bake"
    is_resume: bpy.props.BoolProperty(default=False, options={"HIDDEN"})
    job = None

    def begin(self, context):
        try:
            Bake.job = Job(commands(context, self.is_resume))
        except (scene_file.SceneProblem, OSError) as problem:
            self.report({"ERROR"}, str(problem))
            return False
        context.scene.treacle.progress = "begins"
        return True

    def end(self, context, code):
        job, Bake.job = Bake.job, None
        if code != 0:
            context.scene.treacle.progress = "ended"
            self.report({"ERROR"}, "\n".join(job.said) or f"treacle ended with code {code}")
            return {"CANCELLED"}
        context.scene.treacle.progress = "done"
        load.load(context)
        return {"FINISHED"}

    def execute(self, context):
        """Without a window: waits."""
        if not self.begin(context):
            return {"CANCELLED"}
        while (code := Bake.job.poll()) is None:
            try:
                Bake.job.process.wait(0.2)
            except subprocess.TimeoutExpired:
                pass
        return self.end(context, code)

    def invoke(self, context, event):
        if Bake.job is not None or not self.begin(context):
            return {"CANCELLED"}
        self.timer = context.window_manager.event_timer_add(0.3, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if Bake.job is None:  # cancelled
            context.window_manager.event_timer_remove(self.timer)
            return {"CANCELLED"}
        found = re.match(r"frame (\d+)/(\d+)", Bake.job.line)
        if found:
            context.scene.treacle.progress = f"frame {found[1]} of {found[2]}"
        for area in context.screen.areas:
            area.tag_redraw()
        code = Bake.job.poll()
        if code is None:
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self.timer)
        return self.end(context, code)


class Cancel(bpy.types.Operator):
    """End the bake after the current step; it can be resumed"""

    bl_idname = "treacle.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context):
        return Bake.job is not None

    def execute(self, context):
        Bake.job.cancel()
        Bake.job = None
        context.scene.treacle.progress = "ended; resume goes on"
        return {"FINISHED"}


CLASSES = (Bake, Cancel)
