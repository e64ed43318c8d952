"""Scenes, simulations and frames, on the C library."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import re
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterator, KeysView, Mapping, Union

from . import _library

try:
    import numpy

    from . import _views
except ModuleNotFoundError as problem:  # scenes, steps and runs do without
    if problem.name != "numpy":
        raise
    numpy = _views = None

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Path = Union[str, "os.PathLike[str]"]

_lib = _library.load()

_PICTURE, _STATE = 1, 2
_TILE = 8
_PREVIEWS = ["colour", "temperature", "marker"]


def _need_numpy() -> None:
    if numpy is None:
        raise ModuleNotFoundError("arrays need numpy: pip install numpy, or apt install "
                                  "python3-numpy", name="numpy")


class Error(Exception):
    """What the library says went wrong. `status` is its number, as the command's exit code."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text or _lib.treacle_status_text(status).decode())
        self.status = status


class SceneError(Error):
    """The scene has errors: all of them, a line each, with file, line and column."""


class Context:
    """Threads and memory. Most programs need none of their own."""

    def __init__(self, threads: int = 0) -> None:
        definition = _lib.treacle_context_def_default()
        if definition.def_size != ctypes.sizeof(_library.ContextDef):
            raise ImportError("libtreacle.so has other structures than this module knows; install "
                              "both of the same version")
        definition.threads = threads
        self._as_parameter_ = ctypes.c_void_p()
        self.check(_lib.treacle_context_create(ctypes.byref(definition),
                                               ctypes.byref(self._as_parameter_)))

    def check(self, status: int) -> None:
        """Raises Error with what the library says, unless the status is 0."""
        if status != 0:
            raise Error(status, _lib.treacle_context_error(self).decode()
                        if self._as_parameter_ else "")

    def __del__(self) -> None:
        if getattr(self, "_as_parameter_", None):
            _lib.treacle_context_destroy(self)


def _preview(context: Context, frame: Any, width: int, height: int, by: str,
             scene: int | None = None) -> bytes:
    """A PNG file. With the scene's definition solids, bodies and emitters are drawn, too."""
    definition = _lib.treacle_preview_def_default()
    definition.scene = scene
    definition.width, definition.height, definition.by = width, height, _PREVIEWS.index(by)
    with tempfile.TemporaryDirectory(prefix="treacle-") as room:
        path = pathlib.Path(room) / "picture.png"
        context.check(_lib.treacle_preview_write(context, frame, ctypes.byref(definition),
                                                 os.fsencode(path)))
        return path.read_bytes()


class Arrays:
    """Named arrays of a frame, like a dict: `velocity`, `volume`, `material` ... as
    docs/formats/frame.md has them."""

    number: int  #: of the frame, from 1
    time: float  #: s
    cell: float  #: m

    def __init__(self, frame: Any, owner: Any, lease: Any = None) -> None:
        _need_numpy()
        self.number, self.time, self.cell = frame.number, frame.time, frame.cell
        self.origin, self.cells = numpy.array(frame.origin), tuple(frame.cells)
        self._lease = lease
        self._arrays = {frame.arrays[k].name.decode():
                        _views.array_view(frame.arrays[k], owner, lease)
                        for k in range(frame.array_count)}

    def __getitem__(self, name: str) -> NDArray[Any]:
        array = self._arrays[name]
        if self._lease is not None and self._lease.ended_by:
            raise _views.StaleError(f"these arrays are stale: {self._lease.ended_by}. Ask the "
                                    "simulation for its particles again")
        return array

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays["id"])

    def keys(self) -> KeysView[str]:
        return self._arrays.keys()

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} of frame {self.number} at {self.time:.6g} s: "
                f"{len(self)} particles; {', '.join(self._arrays)}>")

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{name}</td><td>{array.dtype}</td><td>{array.shape}</td></tr>"
                       for name, array in self._arrays.items())
        return (f"<p>frame {self.number} at {self.time:.6g} s, {len(self)} particles</p>"
                f"<table><tr><th>array</th><th>type</th><th>shape</th></tr>{rows}</table>")

    def positions(self) -> NDArray[Any]:
        """World positions of the particles, m; worked out, so a copy."""
        tiles = numpy.repeat(self["tile_coord"], numpy.diff(self["tile_first"]), axis=0)
        cells = _TILE * tiles.astype("f8") + self["position"]
        return self.origin + self.cell * cells

    def columns(self) -> dict[str, NDArray[Any]]:
        """Copies of all that particles carry, a row each; `position` is in the world, m."""
        count = len(self)
        out = {name: numpy.array(self[name]) for name in self._arrays
               if len(self._arrays[name]) == count and not name.startswith(("tile_", "grid_"))}
        out["position"] = self.positions()
        return out

    def to_xarray(self) -> Any:
        """The columns as an xarray.Dataset over `particle`; vectors have a second dimension."""
        import xarray

        data = {}
        for name, values in self.columns().items():
            axes = ("particle",) if values.ndim == 1 else ("particle", f"axis_{values.shape[1]}")
            data[name] = (axes, values)
        return xarray.Dataset(data, attrs={"frame": self.number, "time": self.time,
                                           "cell": self.cell})

    def to_vtk(self) -> Any:
        """The columns as a vtkPolyData of points."""
        import vtk
        from vtk.util.numpy_support import numpy_to_vtk

        columns = self.columns()
        points, data = vtk.vtkPoints(), vtk.vtkPolyData()
        points.SetData(numpy_to_vtk(columns.pop("position"), deep=True))
        data.SetPoints(points)
        for name, values in columns.items():
            array = numpy_to_vtk(numpy.ascontiguousarray(values), deep=True)
            array.SetName(name)
            data.GetPointData().AddArray(array)
        return data


class Grid:
    """Fields on the grid's tiles: `tile` (n, 3) in tiles; each field is (n, 8, 8, 8), [z, y, x].

    `face_u`, `face_v` and `face_w` (m/s) lie at the low faces of the cells, `pressure` (Pa above
    that of the air, a copy) and `surface` (cells, negative in the liquid) at their middles.
    """

    def __init__(self, arrays: Arrays, pascal: float) -> None:
        self.tile: NDArray[Any] = arrays["grid_tile"] if "grid_tile" in arrays else numpy.zeros((0, 3), "i4")
        self._fields = {name: arrays[name].reshape(-1, _TILE, _TILE, _TILE)
                        for name in ("face_u", "face_v", "face_w", "pressure", "surface")
                        if name in arrays}
        self._pascal = pascal

    def __getitem__(self, name: str) -> NDArray[Any]:
        values = self._fields[name]
        return numpy.float32(self._pascal) * values if name == "pressure" else values

    def keys(self) -> KeysView[str]:
        return self._fields.keys()

    def __repr__(self) -> str:
        return f"<Grid of {len(self.tile)} tiles; {', '.join(self._fields)}>"


class Scene:
    """A scene file, or a dict with the same keys. `sets` are laid over it: {"domain.cell": "2 mm"}."""

    def __init__(self, source: Path | Mapping[str, Any], sets: Mapping[str, Any] | None = None,
                 context: Context | None = None) -> None:
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
    def text(self) -> str:
        """The effective scene as YAML."""
        return _lib.treacle_scene_text(self).decode()

    @property
    def name(self) -> str:
        """As the scene says, or its file."""
        found = re.search(r"(?m)^name: (.*)$", self.text)
        return found.group(1).strip('"') if found else "scene"

    @property
    def warnings(self) -> str:
        """What is no error and yet hardly meant, a line each; "" if there is nothing."""
        return _lib.treacle_scene_report(self).decode()

    def simulation(self, threads: int = 0) -> Simulation:
        """The scene, ready to be stepped."""
        return Simulation(self, threads)

    def __repr__(self) -> str:
        return f"<treacle.Scene {self.name!r}>"

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self.text)}</pre>"

    def __del__(self) -> None:
        if getattr(self, "_as_parameter_", None):
            _lib.treacle_scene_destroy(self)


class Simulation:
    """A scene that runs. `force` may be set to a function that gets the world positions and gives
    accelerations (m/s^2), (n, 3) or one for all: it is asked before every step, and acts as long as
    the step turns out to be."""

    force: Callable[[Any], Any] | None

    def __init__(self, scene: Scene, threads: int = 0) -> None:
        self.scene = scene
        self.context = Context(threads) if threads else scene.context
        self.force = None
        self._lease = None if _views is None else _views.Lease()
        self._as_parameter_ = ctypes.c_void_p()
        self.context.check(_lib.treacle_sim_create(self.context, _lib.treacle_scene_sim(scene),
                                                   ctypes.byref(self._as_parameter_)))

    @property
    def time(self) -> float:
        """s, since the start."""
        return _lib.treacle_sim_time(self)

    @property
    def hash(self) -> int:
        """Of the whole state: equal states, equal hashes."""
        return _lib.treacle_sim_hash(self)

    def _end_views(self, reason: str) -> None:
        if _views is not None:
            self._lease.end(reason)
            self._lease = _views.Lease()

    def step(self, max_dt: float) -> dict[str, Any]:
        """One step of at most max_dt, s. Gives what it did, as a line of stats.jsonl says it: a dict
        with dt, particles, volume, max_speed, energy ..."""
        stats = _library.StepStats()
        push = None if self.force is None else self._push()
        self._end_views(f"the simulation has been stepped since, at {self.time:.6g} s")
        self.context.check(_lib.treacle_sim_step_pushed(
            self, max_dt, None if push is None else push.ctypes.data, ctypes.byref(stats)))
        text = ctypes.create_string_buffer(_library.STEP_TEXT_CAPACITY)
        status = _lib.treacle_step_stats_text(ctypes.byref(stats), len(text), text)
        if status != 0:
            raise Error(status, "")
        return json.loads(text.value)

    def run_until(self, time: float, max_dt: float = 1.0) -> dict[str, Any] | None:
        """Steps until that time, exactly. Gives what the last step did."""
        stats = None
        while self.time < time - 1e-12:
            stats = self.step(min(max_dt, time - self.time))
        return stats

    def _push(self) -> NDArray[Any]:
        """What the force gives, as the library takes it: the step's own dt makes it a velocity."""
        places = self.particles.positions()
        given = numpy.asarray(self.force(places), "f4")
        return numpy.ascontiguousarray(numpy.broadcast_to(given, places.shape))

    def _view(self, kind: int, number: int = 1) -> Any:
        frame = _library.Frame()
        self.context.check(_lib.treacle_sim_view(self, kind, number, ctypes.byref(frame)))
        return frame

    @property
    def particles(self) -> Arrays:
        """The particles' columns, without a copy; valid until the next step."""
        _need_numpy()
        return Arrays(self._view(_STATE), self, self._lease)

    @property
    def grid(self) -> Grid:
        """The fields between steps; valid until the next step."""
        return Grid(self.particles, _lib.treacle_sim_pressure_unit(self))

    def edit(self) -> Edit:
        """Changes to the liquid, made as a whole when the block ends without an error."""
        _need_numpy()
        return Edit(self)

    def picture(self, width: int = 480, height: int = 360, by: str = "colour") -> bytes:
        """A quick picture of the scene, a PNG file; `by` colour, temperature or marker."""
        return _preview(self.context, ctypes.byref(self._view(_PICTURE)), width, height, by,
                        _lib.treacle_scene_sim(self.scene))

    def _repr_png_(self) -> bytes:
        return self.picture()

    def __repr__(self) -> str:
        return (f"<treacle.Simulation of {self.scene.name!r} at {self.time:.6g} s, after "
                f"{_lib.treacle_sim_step_count(self)} steps>")

    def save(self, path: Path, number: int = 1) -> None:
        """Writes a frame that "treacle render" and the others read."""
        frame = self._view(_PICTURE, number)
        self.context.check(_lib.treacle_frame_write(self.context, ctypes.byref(frame),
                                                    os.fsencode(path)))

    def save_state(self, path: Path, number: int = 1) -> None:
        """Writes all that restore() needs."""
        frame = self._view(_STATE, number)
        self.context.check(_lib.treacle_frame_write(self.context, ctypes.byref(frame),
                                                    os.fsencode(path)))

    def restore(self, path: Path) -> None:
        """Goes back to a state that was saved."""
        loaded = ctypes.c_void_p()
        self.context.check(_lib.treacle_frame_read(self.context, os.fsencode(path),
                                                   ctypes.byref(loaded)))
        self._end_views("the simulation has been restored since")
        try:
            self.context.check(_lib.treacle_sim_restore(self, _lib.treacle_loaded_frame_view(loaded)))
        finally:
            _lib.treacle_loaded_frame_destroy(loaded)

    def __del__(self) -> None:
        if getattr(self, "_as_parameter_", None):
            _lib.treacle_sim_destroy(self)


class Edit:
    """    with sim.edit() as change:
        change["velocity"][:, 1] += 1.0
        change.add([[0.1, 0.2, 0.1]], volume=1e-6)
        change.remove(change.positions()[:, 1] > 0.5)

    Columns are arrays to write to. After add and remove ask for them, and for positions, anew.
    """

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self._lease = _views.Lease()
        self._as_parameter_ = ctypes.c_void_p()

    def __enter__(self) -> Edit:
        self.sim.context.check(_lib.treacle_edit_begin(self.sim, ctypes.byref(self._as_parameter_)))
        return self

    def _end_views(self, reason: str) -> None:
        self._lease.end(reason)
        self._lease = _views.Lease()

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        self._end_views("the edit has ended")
        try:
            if kind is None:
                self.sim._end_views("the liquid has been edited since")
                self.sim.context.check(_lib.treacle_edit_apply(self))
        finally:
            _lib.treacle_edit_destroy(self)
            self._as_parameter_ = ctypes.c_void_p()

    def __len__(self) -> int:
        return _lib.treacle_edit_particle_count(self)

    def __getitem__(self, name: str) -> NDArray[Any]:
        found = _lib.treacle_edit_find(self, name.encode())
        if not found:
            raise KeyError(name)
        return _views.array_view(found.contents, self, self._lease, writable=True)

    def positions(self) -> NDArray[Any]:
        """World positions of the particles as they are in the edit, m; worked out, so a copy."""
        out = numpy.empty((len(self), 3))
        _lib.treacle_edit_positions(self, out.ctypes.data)
        return out

    def add(self, positions: ArrayLike, velocities: ArrayLike = (0.0, 0.0, 0.0),
            volume: ArrayLike | None = None, material: int = 0) -> None:
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
        self._end_views("particles have been added since")
        self.sim.context.check(_lib.treacle_edit_add(self, len(positions), rows))

    def remove(self, which: ArrayLike) -> None:
        """Removes the particles where the mask, of one value each, is true."""
        mask = numpy.ascontiguousarray(which, dtype=bool)
        if mask.shape != (len(self),):
            raise ValueError(f"a mask of shape {mask.shape} for {len(self)} particles")
        self._end_views("particles have been removed since")
        _lib.treacle_edit_remove(self, mask.ctypes.data)


class LoadedFrame(Arrays):
    """A frame or state file."""

    def __init__(self, path: Path, context: Context | None = None) -> None:
        self._context = context or Context()
        self._as_parameter_ = ctypes.c_void_p()
        self._context.check(_lib.treacle_frame_read(self._context, os.fsencode(path),
                                                    ctypes.byref(self._as_parameter_)))
        super().__init__(_lib.treacle_loaded_frame_view(self).contents, _Keep(self))

    def picture(self, width: int = 480, height: int = 360, by: str = "colour") -> bytes:
        """A quick picture of the particles, a PNG file; `by` colour, temperature or marker."""
        return _preview(self._context, _lib.treacle_loaded_frame_view(self), width, height, by)

    def _repr_png_(self) -> bytes:
        return self.picture()


class _Keep:
    """Frees a loaded frame once neither it nor any of its arrays is in use."""

    def __init__(self, frame: LoadedFrame) -> None:
        self.context, self.handle = frame._context, frame._as_parameter_

    def __del__(self) -> None:
        _lib.treacle_loaded_frame_destroy(self.handle)


def read_frame(path: Path) -> LoadedFrame:
    """A frame or state file, with its arrays."""
    return LoadedFrame(path)
