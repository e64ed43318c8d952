"""Treacle from Python: load or build a scene, step it, look at it and change it between steps.

    import treacle

    scene = treacle.Scene("scenes/honey_coil.yaml", {"domain.cell": "2 mm"})
    sim = scene.simulation(threads=2)
    while sim.time < 1.0:
        sim.step(1 / 24)
        print(sim.time, sim.particles["velocity"][:, 1].mean())

Or let it run into a folder, as the command does, and make something of that:

    run = treacle.run("scenes/honey_coil.yaml", "out/coil", frames=48)
    treacle.render(run, frames=48, samples=64)
    places = run.frame(48).positions()

Arrays of a simulation are its own memory, not copies: read-only, and valid until the next step;
after it they raise StaleError. All is in SI units, y is up.
"""

from . import _library
from ._command import Run, call, compare, export, mesh, plot, render, resume, run
from ._core import (Arrays, Context, Edit, Error, Grid, LoadedFrame, Scene, SceneError, Simulation,
                    numpy as _numpy, read_frame)

if _numpy is not None:
    from ._views import StaleError, View

Sim = Simulation
__version__ = _library.VERSION
__all__ = ["Arrays", "Context", "Edit", "Error", "Grid", "LoadedFrame", "Run", "Scene",
           "SceneError", "Sim", "Simulation", "StaleError", "View", "call", "compare", "export",
           "mesh", "plot", "read_frame", "render", "resume", "run"]
if _numpy is None:
    __all__ = [name for name in __all__ if name not in ("StaleError", "View")]
