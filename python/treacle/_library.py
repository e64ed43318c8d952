"""The C library: where it is, what its functions take and give, and that its version fits."""

import ctypes
import ctypes.util
import os
import pathlib

VERSION = "0.1.0"  # of the headers that the declarations below follow


class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 24), ("type", ctypes.c_int), ("components", ctypes.c_int),
                ("count", ctypes.c_int64), ("data", ctypes.c_void_p)]


class Frame(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("number", ctypes.c_int64), ("step", ctypes.c_int64),
                ("time", ctypes.c_double), ("fps", ctypes.c_double),
                ("origin", ctypes.c_double * 3), ("cell", ctypes.c_double),
                ("cells", ctypes.c_int32 * 3), ("scene_hash", ctypes.c_uint64),
                ("array_count", ctypes.c_int), ("arrays", ctypes.POINTER(Array)),
                ("parts", ctypes.c_void_p), ("source", ctypes.c_void_p)]


class ContextDef(ctypes.Structure):
    _fields_ = [("def_size", ctypes.c_size_t), ("threads", ctypes.c_int), ("isa", ctypes.c_int),
                ("alloc", ctypes.c_void_p), ("free", ctypes.c_void_p),
                ("alloc_user", ctypes.c_void_p), ("log", ctypes.c_void_p),
                ("log_user", ctypes.c_void_p), ("ranks", ctypes.c_bool)]


class PreviewDef(ctypes.Structure):
    _fields_ = [("def_size", ctypes.c_size_t), ("width", ctypes.c_int), ("height", ctypes.c_int),
                ("eye", ctypes.c_double * 3), ("target", ctypes.c_double * 3),
                ("eye_set", ctypes.c_bool), ("field_of_view", ctypes.c_double),
                ("by", ctypes.c_int), ("from_", ctypes.c_double), ("to", ctypes.c_double),
                ("turn", ctypes.c_double), ("scene", ctypes.c_void_p)]


# Room for a treacle_step_stats, which only the library looks into.
StepStats = ctypes.c_double * 1024
STEP_TEXT_CAPACITY = 8192  # TREACLE_STEP_TEXT_CAPACITY


class ParticleDef(ctypes.Structure):
    _fields_ = [("position", ctypes.c_double * 3), ("velocity", ctypes.c_double * 3),
                ("volume", ctypes.c_double), ("material", ctypes.c_int)]


_P, _S, _I = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_OUT = ctypes.POINTER(ctypes.c_void_p)
_FRAME = ctypes.POINTER(Frame)

# Function: result, arguments.
_FUNCTIONS = {
    "treacle_version": (_S, []),
    "treacle_status_text": (_S, [_I]),
    "treacle_context_def_default": (ContextDef, []),
    "treacle_context_create": (_I, [ctypes.POINTER(ContextDef), _OUT]),
    "treacle_context_destroy": (None, [_P]),
    "treacle_context_error": (_S, [_P]),
    "treacle_scene_load": (_I, [_P, _S, _I, ctypes.POINTER(_S), _OUT]),
    "treacle_scene_parse": (_I, [_P, _S, _S, ctypes.c_size_t, _I, ctypes.POINTER(_S), _OUT]),
    "treacle_scene_destroy": (None, [_P]),
    "treacle_scene_report": (_S, [_P]),
    "treacle_scene_text": (_S, [_P]),
    "treacle_scene_sim": (_P, [_P]),
    "treacle_sim_create": (_I, [_P, _P, _OUT]),
    "treacle_sim_destroy": (None, [_P]),
    "treacle_sim_step_pushed": (_I, [_P, ctypes.c_double, _P, ctypes.POINTER(StepStats)]),
    "treacle_step_stats_text": (_I, [ctypes.POINTER(StepStats), ctypes.c_size_t, _S]),
    "treacle_sim_pressure_unit": (ctypes.c_double, [_P]),
    "treacle_sim_time": (ctypes.c_double, [_P]),
    "treacle_sim_step_count": (ctypes.c_int64, [_P]),
    "treacle_sim_hash": (ctypes.c_uint64, [_P]),
    "treacle_sim_view": (_I, [_P, _I, ctypes.c_int64, _FRAME]),
    "treacle_sim_restore": (_I, [_P, _FRAME]),
    "treacle_preview_def_default": (PreviewDef, []),
    "treacle_preview_write": (_I, [_P, _FRAME, ctypes.POINTER(PreviewDef), _S]),
    "treacle_frame_read": (_I, [_P, _S, _OUT]),
    "treacle_frame_write": (_I, [_P, _FRAME, _S]),
    "treacle_loaded_frame_view": (_FRAME, [_P]),
    "treacle_loaded_frame_destroy": (None, [_P]),
    "treacle_edit_begin": (_I, [_P, _OUT]),
    "treacle_edit_find": (ctypes.POINTER(Array), [_P, _S]),
    "treacle_edit_particle_count": (ctypes.c_int64, [_P]),
    "treacle_edit_add": (_I, [_P, ctypes.c_int64, ctypes.POINTER(ParticleDef)]),
    "treacle_edit_remove": (None, [_P, _P]),
    "treacle_edit_positions": (None, [_P, _P]),
    "treacle_edit_apply": (_I, [_P]),
    "treacle_edit_destroy": (None, [_P]),
}


def _candidates():
    """Where the library may be: named, beside a source tree's build, or installed."""
    if "TREACLE_LIBRARY" in os.environ:
        yield os.environ["TREACLE_LIBRARY"]
        return
    here = pathlib.Path(__file__).resolve().parent
    yield str(here / "libtreacle.so")
    yield str(here.parent.parent / "build/libtreacle.so")
    yield "libtreacle.so.0"
    yield ctypes.util.find_library("treacle") or "libtreacle.so"


def _open():
    problems = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as problem:
            problems.append(str(problem))
    raise ImportError("there is no libtreacle.so; build it (make build), install it (make install) "
                      "or set TREACLE_LIBRARY: " + "; ".join(problems))


def _fits(version):
    """Before 1.0 the minor version must be the same, after it the major one."""
    ours, theirs = VERSION.split("."), version.split(".")
    return ours[0] == theirs[0] and (ours[0] != "0" or ours[1] == theirs[1])


def load():
    library = _open()
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"libtreacle.so lacks {name}: it is of another version") from None
        function.restype = result
        function.argtypes = arguments
    version = library.treacle_version().decode()
    if not _fits(version):
        raise ImportError(f"this module is for libtreacle {VERSION}, but {version} was found; "
                          "install both of the same version")
    return library
