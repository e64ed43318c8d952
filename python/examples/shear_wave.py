#!/usr/bin/env python3
"""How fast a shear wave dies in honey: measured, beside theory.  (Cells as in a notebook.)

In a box without walls the stream u = U sin(k y) loses its strength as exp(-nu k^2 t), nu = mu / rho:
nothing else happens, so what is measured is the viscosity itself.
"""

# %% A scene as a dict, with the keys of a scene file.
import pathlib
import sys

import numpy

try:
    import treacle
except ImportError:  # not installed: the module is beside this folder
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    import treacle

LENGTH, CELL = 0.32, 0.01
DENSITY, VISCOSITY = 1400.0, 10.0
K = 2 * numpy.pi / LENGTH

scene = treacle.Scene({
    "gravity": [0, 0, 0],
    "fill": "all",
    "domain": {"size": [LENGTH, LENGTH], "cell": CELL,
               "sides": {side: "periodic" for side in ("left", "right", "bottom", "top")}},
    "particles": {"per_cell": 4},
    "materials": {"honey": {"density": DENSITY, "viscosity": VISCOSITY}},
    "liquids": [{"shape": {"box": {"min": [0, 0], "max": [LENGTH, LENGTH]}},
                 "velocity": [f"0.1*sin({K}*y)", 0, 0]}],
})
sim = scene.simulation(threads=2)


# %% The strength of the wave: the particles' velocity, projected on it. No column is copied.
def strength():
    particles = sim.particles
    y = particles.positions()[:, 1]
    return 2 * numpy.mean(particles["velocity"][:, 0] * numpy.sin(K * y))


# %% Step, and keep it.
times, strengths = [sim.time], [strength()]
while sim.time < 0.5:
    sim.step(0.01)
    times.append(sim.time)
    strengths.append(strength())

# %% The rate is the slope of its logarithm.
measured = -numpy.polyfit(times, numpy.log(strengths), 1)[0]
theory = VISCOSITY / DENSITY * K**2
print(f"measured {measured:.4f} 1/s, theory {theory:.4f} 1/s, difference "
      f"{100 * (measured / theory - 1):+.2f} %")
if abs(measured / theory - 1) > 0.03:
    raise SystemExit("that is more than 3 %")
