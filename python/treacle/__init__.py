"""Treacle from Python: load or build a scene, step it, look at it and change it between steps.

    import treacle

    scene = treacle.Scene("scenes/honey_coil.yaml", {"domain.cell": "2 mm"})
    sim = scene.simulation(threads=2)
    while sim.time < 1.0:
        sim.step(1 / 24)
        print(sim.time, sim.particles["velocity"][:, 1].mean())

Arrays of a simulation are its own memory, not copies: read-only, and valid until the next step.
All is in SI units, y is up.
"""

import ctypes
import json
import os

import numpy

from . import _library

__version__ = _library.VERSION
_lib = _library.load()

_TYPES = ["u1", "u2", "i4", "i8", "u8", "f4", "f8"]
_PICTURE, _STATE = 1, 2
_TILE = 8


class Error(Exception):
    """What the library says went wrong. `status` is its number, as the command's exit code."""

    def __init__(self, status, text):
        super().__init__(text or _lib.treacle_status_text(status).decode())
        self.status = status


class SceneError(Error):
    """The scene has errors: all of them, a line each, with file, line and column."""


class Context:
    """Threads and memory. Most programs need none of their own."""

    def __init__(self, threads=0):
        definition = _lib.treacle_context_def_default()
        if definition.def_size != ctypes.sizeof(_library.ContextDef):
            raise ImportError("libtreacle.so has other structures than this module knows; install "
                              "both of the same version")
        definition.threads = threads
        self._as_parameter_ = ctypes.c_void_p()
        self.check(_lib.treacle_context_create(ctypes.byref(definition),
                                               ctypes.byref(self._as_parameter_)))

    def check(self, status):
        if status != 0:
            raise Error(status, _lib.treacle_context_error(self).decode()
                        if self._as_parameter_ else "")

    def __del__(self):
        if getattr(self, "_as_parameter_", None):
            _lib.treacle_context_destroy(self)


def _array_view(array, owner, writable=False):
    """The array's memory as numpy sees it; it keeps the owner alive."""
    form = numpy.dtype("<" + _TYPES[array.type])
    shape = (array.count,) if array.components == 1 else (array.count, array.components)
    size = array.count * array.components * form.itemsize
    if size == 0:
        return numpy.zeros(shape, form)
    memory = (ctypes.c_ubyte * size).from_address(array.data)
    memory.owner = owner
    out = numpy.frombuffer(memory, form).reshape(shape)
    out.flags.writeable = writable
    return out


class Arrays:
    """Named arrays, like a dict."""

    def __init__(self, frame, owner):
        self.number, self.time, self.cell = frame.number, frame.time, frame.cell
        self.origin, self.cells = numpy.array(frame.origin), tuple(frame.cells)
        self._arrays = {frame.arrays[k].name.decode(): _array_view(frame.arrays[k], owner)
                        for k in range(frame.array_count)}

    def __getitem__(self, name):
        return self._arrays[name]

    def __contains__(self, name):
        return name in self._arrays

    def __iter__(self):
        return iter(self._arrays)

    def __len__(self):
        return len(self._arrays["id"])

    def keys(self):
        return self._arrays.keys()

    def positions(self):
        """World positions of the particles, m; worked out, so a copy."""
        tiles = numpy.repeat(self["tile_coord"], numpy.diff(self["tile_first"]), axis=0)
        cells = _TILE * tiles.astype("f8") + self["position"]
        return self.origin + self.cell * cells


class Grid:
    """Fields on the grid's tiles: `tile` (n, 3) in tiles; each field is (n, 8, 8, 8), [z, y, x].

    `face_u`, `face_v` and `face_w` (m/s) lie at the low faces of the cells, `pressure` (Pa above
    that of the air, a copy) and `surface` (cells, negative in the liquid) at their middles.
    """

    def __init__(self, arrays, pascal):
        self.tile = arrays["grid_tile"] if "grid_tile" in arrays else numpy.zeros((0, 3), "i4")
        self._fields = {name: arrays[name].reshape(-1, _TILE, _TILE, _TILE)
                        for name in ("face_u", "face_v", "face_w", "pressure", "surface")
                        if name in arrays}
        self._pascal = pascal

    def __getitem__(self, name):
        values = self._fields[name]
        return numpy.float32(self._pascal) * values if name == "pressure" else values

    def keys(self):
        return self._fields.keys()


class Scene:
    """A scene file, or a dict with the same keys. `sets` are laid over it: {"domain.cell": "2 mm"}."""

    def __init__(self, source, sets=None, context=None):
        self.context = context or Context()
        self._as_parameter_ = ctypes.c_void_p()
        texts = [f"{key}={value}".encode() for key, value in (sets or {}).items()]
        listed = (ctypes.c_char_p * len(texts))(*texts)
        if isinstance(source, dict):
            text = json.dumps(source).encode()
            status = _lib.treacle_scene_parse(self.context, b"scene", text, len(text), len(texts),
                                              listed, ctypes.byref(self._as_parameter_))
        else:
            status = _lib.treacle_scene_load(self.context, os.fsencode(source), len(texts), listed,
                                             ctypes.byref(self._as_parameter_))
        if status != 0 and self._as_parameter_:
            raise SceneError(status, _lib.treacle_scene_report(self).decode())
        self.context.check(status)

    @property
    def text(self):
        """The effective scene as YAML."""
        return _lib.treacle_scene_text(self).decode()

    def simulation(self, threads=0):
        return Simulation(self, threads)

    def __del__(self):
        if getattr(self, "_as_parameter_", None):
            _lib.treacle_scene_destroy(self)


class Simulation:
    """A scene that runs. `force` may be set to a function that gets the world positions and gives
    accelerations (m/s^2), (n, 3) or one for all: it is asked before every step, and acts as long as
    the step turns out to be."""

    def __init__(self, scene, threads=0):
        self.scene = scene
        self.context = Context(threads) if threads else scene.context
        self.force = None
        self._as_parameter_ = ctypes.c_void_p()
        self.context.check(_lib.treacle_sim_create(self.context, _lib.treacle_scene_sim(scene),
                                                   ctypes.byref(self._as_parameter_)))

    @property
    def time(self):
        return _lib.treacle_sim_time(self)

    @property
    def hash(self):
        """Of the whole state: equal states, equal hashes."""
        return _lib.treacle_sim_hash(self)

    def step(self, max_dt):
        """One step of at most max_dt, s. Gives what it did, as a line of stats.jsonl says it: a dict
        with dt, particles, volume, max_speed, energy ..."""
        stats = _library.StepStats()
        push = None if self.force is None else self._push()
        self.context.check(_lib.treacle_sim_step_pushed(
            self, max_dt, None if push is None else push.ctypes.data, ctypes.byref(stats)))
        text = ctypes.create_string_buffer(_library.STEP_TEXT_CAPACITY)
        status = _lib.treacle_step_stats_text(ctypes.byref(stats), len(text), text)
        if status != 0:
            raise Error(status, "")
        return json.loads(text.value)

    def run_until(self, time, max_dt=1.0):
        """Steps until that time, exactly. Gives what the last step did."""
        stats = None
        while self.time < time - 1e-12:
            stats = self.step(min(max_dt, time - self.time))
        return stats

    def _push(self):
        """What the force gives, as the library takes it: the step's own dt makes it a velocity."""
        places = self.particles.positions()
        given = numpy.asarray(self.force(places), "f4")
        return numpy.ascontiguousarray(numpy.broadcast_to(given, places.shape))

    def _view(self, kind, number=1):
        frame = _library.Frame()
        self.context.check(_lib.treacle_sim_view(self, kind, number, ctypes.byref(frame)))
        return frame

    @property
    def particles(self):
        """The particles' columns, without a copy; valid until the next step."""
        return Arrays(self._view(_STATE), self)

    @property
    def grid(self):
        """The fields between steps; valid until the next step."""
        return Grid(self.particles, _lib.treacle_sim_pressure_unit(self))

    def edit(self):
        """Changes to the liquid, made as a whole when the block ends without an error."""
        return Edit(self)

    def save(self, path, number=1):
        """Writes a frame that "treacle render" and the others read."""
        frame = self._view(_PICTURE, number)
        self.context.check(_lib.treacle_frame_write(self.context, ctypes.byref(frame),
                                                    os.fsencode(path)))

    def save_state(self, path, number=1):
        frame = self._view(_STATE, number)
        self.context.check(_lib.treacle_frame_write(self.context, ctypes.byref(frame),
                                                    os.fsencode(path)))

    def restore(self, path):
        """Goes back to a state that was saved."""
        loaded = ctypes.c_void_p()
        self.context.check(_lib.treacle_frame_read(self.context, os.fsencode(path),
                                                   ctypes.byref(loaded)))
        try:
            self.context.check(_lib.treacle_sim_restore(self, _lib.treacle_loaded_frame_view(loaded)))
        finally:
            _lib.treacle_loaded_frame_destroy(loaded)

    def __del__(self):
        if getattr(self, "_as_parameter_", None):
            _lib.treacle_sim_destroy(self)


class Edit:
    """    with sim.edit() as change:
        change["velocity"][:, 1] += 1.0
        change.add([[0.1, 0.2, 0.1]], volume=1e-6)
        change.remove(change.positions()[:, 1] > 0.5)

    Columns are arrays to write to. After add and remove ask for them, and for positions, anew.
    """

    def __init__(self, sim):
        self.sim = sim
        self._as_parameter_ = ctypes.c_void_p()

    def __enter__(self):
        self.sim.context.check(_lib.treacle_edit_begin(self.sim, ctypes.byref(self._as_parameter_)))
        return self

    def __exit__(self, kind, problem, trace):
        try:
            if kind is None:
                self.sim.context.check(_lib.treacle_edit_apply(self))
        finally:
            _lib.treacle_edit_destroy(self)
            self._as_parameter_ = ctypes.c_void_p()

    def __len__(self):
        return _lib.treacle_edit_particle_count(self)

    def __getitem__(self, name):
        found = _lib.treacle_edit_find(self, name.encode())
        if not found:
            raise KeyError(name)
        return _array_view(found.contents, self, writable=True)

    def positions(self):
        """World positions of the particles as they are in the edit, m; worked out, so a copy."""
        out = numpy.empty((len(self), 3))
        _lib.treacle_edit_positions(self, out.ctypes.data)
        return out

    def add(self, positions, velocities=(0.0, 0.0, 0.0), volume=None, material=0):
        """Particles at world positions (n, 3); without a volume, each has that of the first one."""
        positions = numpy.atleast_2d(numpy.asarray(positions, "f8"))
        velocities = numpy.broadcast_to(numpy.asarray(velocities, "f8"), positions.shape)
        if volume is None:
            volume = self["volume"][0]
        volumes = numpy.broadcast_to(numpy.asarray(volume, "f8"), len(positions))
        rows = (_library.ParticleDef * len(positions))()
        for row, x, v, size in zip(rows, positions, velocities, volumes):
            row.position[:], row.velocity[:] = x, v
            row.volume, row.material = size, material
        self.sim.context.check(_lib.treacle_edit_add(self, len(positions), rows))

    def remove(self, which):
        """Removes the particles where the mask, of one value each, is true."""
        mask = numpy.ascontiguousarray(which, dtype=bool)
        if mask.shape != (len(self),):
            raise ValueError(f"a mask of shape {mask.shape} for {len(self)} particles")
        _lib.treacle_edit_remove(self, mask.ctypes.data)


class LoadedFrame(Arrays):
    """A frame or state file."""

    def __init__(self, path, context=None):
        self._context = context or Context()
        self._as_parameter_ = ctypes.c_void_p()
        self._context.check(_lib.treacle_frame_read(self._context, os.fsencode(path),
                                                    ctypes.byref(self._as_parameter_)))
        super().__init__(_lib.treacle_loaded_frame_view(self).contents, _Keep(self))


class _Keep:
    """Frees a loaded frame once neither it nor any of its arrays is in use."""

    def __init__(self, frame):
        self.context, self.handle = frame._context, frame._as_parameter_

    def __del__(self):
        _lib.treacle_loaded_frame_destroy(self.handle)


def read_frame(path):
    return LoadedFrame(path)
