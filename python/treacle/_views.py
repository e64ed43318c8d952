"""Arrays that are the library's own memory, and say so once that memory has changed."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy

_TYPES = ["u1", "u2", "i4", "i8", "u8", "f4", "f8"]


class StaleError(RuntimeError):
    """An array was used after the step, or the end of the edit, up to which it was valid."""


class Lease:
    """How long views are valid: until `end` is called, with what has ended them."""

    def __init__(self) -> None:
        self.ended_by = ""

    def end(self, reason: str) -> None:
        self.ended_by = reason


class View(numpy.ndarray):
    """An array of the library. It raises StaleError when it is used after its lease has ended; a
    copy (`numpy.array(view)`) may be kept. `numpy.asarray` takes the guard off."""

    _lease: Lease | None = None

    def __array_finalize__(self, of: Any) -> None:
        # What numpy computes from a view has memory of its own, and is not guarded.
        self._lease = None if self.flags.owndata else getattr(of, "_lease", None)

    def _check(self) -> None:
        if self._lease is not None and self._lease.ended_by:
            raise StaleError(f"this array is stale: {self._lease.ended_by}. Ask for it again, or "
                             "keep a copy: numpy.array(view)")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        for one in (*inputs, *options.get("out", ())):
            if isinstance(one, View):
                one._check()
        plain = [_plain(one) for one in inputs]
        if "out" in options:
            options["out"] = tuple(_plain(one) for one in options["out"])
        result = getattr(ufunc, method)(*plain, **options)
        return inputs[0] if method == "at" else result

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function(*_plain(args), **{key: _plain(value) for key, value in options.items()})

    def __array__(self, *args: Any, **options: Any) -> numpy.ndarray:
        self._check()
        return numpy.asarray(self.view(numpy.ndarray), *args, **options)


def _plain(value: Any) -> Any:
    """The value with plain arrays in place of views, which are checked."""
    if isinstance(value, View):
        value._check()
        return value.view(numpy.ndarray)
    if type(value) in (list, tuple):
        return type(value)(_plain(one) for one in value)
    return value


def _guard(name: str) -> None:
    original = getattr(numpy.ndarray, name)

    def method(self: View, *args: Any, **options: Any) -> Any:
        self._check()
        return original(self, *args, **options)

    method.__name__, method.__doc__ = name, original.__doc__
    setattr(View, name, method)


for _name in ("__getitem__", "__setitem__", "__iter__", "__repr__", "__str__", "__float__",
              "__int__", "__bool__", "__contains__", "astype", "copy", "tolist", "tobytes", "tofile",
              "reshape", "ravel", "flatten", "transpose", "item", "take", "dot", "sort", "argsort",
              "nonzero", "repeat", "fill", "min", "max", "mean", "sum", "std", "var"):
    _guard(_name)


def array_view(array: Any, owner: Any, lease: Lease | None = None,
               writable: bool = False) -> numpy.ndarray:
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
    if lease is None:
        return out
    guarded = out.view(View)
    guarded._lease = lease
    return guarded
