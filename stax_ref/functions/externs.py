"""NumPy functions that stay calls of NumPy inside the plan (extern nodes), and how one is recorded.

Takes the arguments of a call on traced arrays; gives one equation per result, all of one recorded
call. Holds the table of what is supported this way. Not here: what such a call returns
(``standins``), products through BLAS (``contractions``), what is refused by name (``refused``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..calls import Call, Part, Several, Slot, static
from ..errors import LinAlgError, ShapeError, ValueDependent, user_frame
from ..extern import Extern
from ..graph import Literal, Value
from ..tracer import Trace, Tracer, as_operand
from .operands import carried, no_options
from .standins import Returned, returned


class Arguments:
    """Splits the arguments of a call into numbered arrays and what is known while tracing."""

    def __init__(self, recording: Trace) -> None:
        self.recording = recording
        self.values: list[Value] = []

    def part(self, thing: Any) -> Part:
        """One argument; arrays in tuples and lists are found too."""
        if isinstance(thing, (list, tuple)):
            kind = list if type(thing) is list else tuple
            return Several(kind, tuple(map(self.part, thing)))
        if not isinstance(thing, (Tracer, np.ndarray)):
            return static(thing)
        operand = as_operand(self.recording, thing)
        if isinstance(operand, Literal) or operand is None:
            return static(thing)
        self.values.append(operand)
        return Slot(len(self.values) - 1, operand.weak)

    @property
    def types(self) -> list[tuple[tuple[int, ...], np.dtype]]:
        """Shape and dtype of each array."""
        return [(value.shape, value.dtype) for value in self.values]


def record(recording: Trace, call: Call, values: Sequence[Value], what: Returned) -> Any:
    """One equation per result; the results in the tuple that the function returns."""
    for _, dtype in what.arrays:
        carried(dtype, f"np.{call.name}" if call.is_numpy else call.name)
    tracers = [
        recording.record("extern", values, shape, dtype, call=call, result=number)
        for number, (shape, dtype) in enumerate(what.arrays)
    ]
    return what.packed(tracers)


def external(
    recording: Trace,
    name: str,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    into: Callable[..., Any] | None = None,
    law: str = "",
) -> Any:
    """A call of a NumPy function as it stands.

    Args:
        recording: of the traced function.
        name: of the NumPy function below ``np.``.
        function: the function.
        args: as the user passed them, traced arrays among them.
        kwargs: likewise; ``out`` is refused.
        into: the same function with ``out``, if it can fill a buffer.
        law: see :class:`stax_ref.calls.Call`.

    Returns:
        a traced array, or NumPy's tuple of them.

    Raises:
        StaxError: NumPy refuses the call, or the result has a dtype that is not carried.
    """
    kwargs = {key: value for key, value in kwargs.items() if value is not np._NoValue}
    no_options(f"np.{name}", {"out": kwargs.pop("out", None)})
    found = Arguments(recording)
    parts = tuple(map(found.part, args))
    named = tuple((key, found.part(value)) for key, value in kwargs.items())
    call = Call(name, function, parts, named, into=into, law=law)
    what = returned(f"np.{name}", call.returned, found.types)
    if what.kind is not None:
        call = replace(call, count=len(what.arrays), into=None)
    return record(recording, call, found.values, what)


def own(recording: Trace, extern: Extern, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function that the user gave to ``stax.extern``.

    Args:
        recording: of the traced function.
        extern: the function and the types of its results.
        args: as the user passed them.
        kwargs: likewise.
    """
    found = Arguments(recording)
    parts = tuple(map(found.part, args))
    named = tuple((key, found.part(value)) for key, value in kwargs.items())
    kind, specs = extern.specs(args, kwargs)
    count = None if kind is None else len(specs)
    call = Call(extern.name, extern.called, parts, named, count, is_numpy=False)
    return record(
        recording,
        call,
        found.values,
        Returned(kind, tuple((spec.shape, spec.dtype) for spec in specs)),
    )


def _in_place(method: Callable[..., None], names: Sequence[str]) -> Callable[..., None]:
    """``np.sort`` or ``np.partition`` in the buffer itself: copied there once, then in place."""

    def into(a: Any, *args: Any, out: np.ndarray, **kwargs: Any) -> None:
        options = dict(zip(names, args, strict=False)) | kwargs
        if options.get("axis", -1) is None:
            options["axis"] = -1
            a = np.ravel(a)
        np.copyto(out, a)
        method(out, **options)

    return into


def tensorsolve(recording: Trace, a: Any, b: Any, axes: Any = None) -> Any:
    """``np.linalg.tensorsolve``: a solution with the array seen as a matrix."""
    first: Any = a if isinstance(a, Tracer) else np.asarray(a)
    second: Any = b if isinstance(b, Tracer) else np.asarray(b)
    order = list(range(first.ndim))
    for axis in axes or ():
        order.remove(axis)
        order.append(axis)
    first = np.transpose(first, order) if axes is not None else first
    shape = first.shape[second.ndim - first.ndim :]
    count = math.prod(shape)
    if first.size != count**2:
        raise LinAlgError(
            f"tensorsolve: {first.shape} is no square matrix for a right side of {second.shape}",
            user_frame()[0],
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])",
        )
    rows: Any = np.linalg.solve(first.reshape(count, count), second.reshape(-1))
    return rows.reshape(shape)


def _named(name: str) -> Any:
    """The NumPy function of this name, ``"linalg.eigh"`` for one."""
    function: Any = np
    for part in name.split("."):
        function = getattr(function, part)
    return function


def _through(
    name: str, into: Callable[..., Any] | None = None, law: str = ""
) -> Callable[..., Any]:
    """The handler of the NumPy function of this name."""
    function = _named(name)

    def handler(recording: Trace, *args: Any, **kwargs: Any) -> Any:
        return external(recording, name, function, args, kwargs, into, law)

    return handler


def accumulate(recording: Trace, ufunc: Any, *args: Any, **kwargs: Any) -> Any:
    """``ufunc.accumulate``."""
    monotone = ufunc in (np.add, np.maximum, np.minimum, np.fmax, np.fmin)
    function = ufunc.accumulate
    law = "monotone" if monotone else "values"
    name = f"{ufunc.__name__}.accumulate"
    return external(recording, name, function, args, kwargs, function, law)


def reduce(recording: Trace, ufunc: Any, *args: Any, **kwargs: Any) -> Any:
    """``ufunc.reduce`` where the order of the elements matters, as in a difference."""
    function = ufunc.reduce
    return external(recording, f"{ufunc.__name__}.reduce", function, args, kwargs, function)


def reduceat(recording: Trace, ufunc: Any, *args: Any, **kwargs: Any) -> Any:
    """``ufunc.reduceat``."""
    function = ufunc.reduceat
    return external(recording, f"{ufunc.__name__}.reduceat", function, args, kwargs, function)


def _histogram(name: str) -> Callable[..., Any]:
    """A histogram with a number of bins or given edges; rules that look at values are refused."""
    plain = _through(name, law="values")

    def handler(recording: Trace, a: Any, bins: Any = 10, *args: Any, **kwargs: Any) -> Any:
        if isinstance(bins, str):
            raise ValueDependent(
                f"np.{name}(bins={bins!r}) has a shape that depends on values",
                user_frame()[0],
                "a number of bins, or the edges",
            )
        return plain(recording, a, bins, *args, **kwargs)

    return handler


def tensorinv(recording: Trace, a: Any, ind: int = 2) -> Any:
    """``np.linalg.tensorinv``: an inverse of the array seen as a matrix."""
    if not ind > 0:
        raise ShapeError("Invalid ind argument.", user_frame()[0], "a positive ind")
    shape = a.shape[ind:] + a.shape[:ind]
    rows = int(np.prod(a.shape[ind:], dtype=np.int64))
    return np.linalg.inv(a.reshape(-1, rows)).reshape(shape)


_VALUES = """
argsort argpartition searchsorted digitize lexsort ediff1d median nanmedian percentile quantile
nanpercentile nanquantile interp histogram2d packbits unpackbits isin
insert ravel_multi_index unravel_index
""".split()
"""Results follow from the values of the operands alone; each is copied into its buffer once."""

_LAYOUT = """
gradient convolve correlate cov corrcoef vander polyval polyadd polysub polyder polyint unwrap i0
linalg.inv linalg.solve linalg.det linalg.slogdet linalg.cholesky linalg.eigh linalg.eigvalsh
linalg.svd linalg.svdvals linalg.qr linalg.pinv linalg.matrix_rank linalg.matrix_power linalg.cond
linalg.multi_dot cross
fft.irfft fft.irfft2 fft.irfftn fft.hfft
""".split()
"""Results may depend on how operands lie in memory: another path of BLAS or LAPACK."""

_FILLING: dict[str, tuple[Callable[..., Any], str]] = {
    "sort": (_in_place(np.ndarray.sort, ("axis", "kind", "order")), "monotone"),
    "partition": (_in_place(np.ndarray.partition, ("kth", "axis", "kind", "order")), "monotone"),
    "cumsum": (np.cumsum, "monotone"),
    "cumprod": (np.cumprod, "values"),
    "nancumsum": (np.nancumsum, "values"),
    "nancumprod": (np.nancumprod, "values"),
    "cumulative_sum": (np.cumulative_sum, "monotone"),
    "cumulative_prod": (np.cumulative_prod, "values"),
}
"""Functions that write into the buffer they are given."""

_HANDLERS = {
    **{name: _through(name, None, "values") for name in _VALUES},
    **{name: _through(name) for name in _LAYOUT},
    **{name: _through(name, *how) for name, how in _FILLING.items()},
    **{name: _histogram(name) for name in ("histogram", "histogram_bin_edges")},
}

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{_named(name): handler for name, handler in _HANDLERS.items()},
    np.linalg.tensorinv: tensorinv,
    np.linalg.tensorsolve: tensorsolve,
}

METHODS_OF_FAMILY: dict[str, Callable[..., Any]] = {
    name: _HANDLERS[name]
    for name in ("argsort", "argpartition", "searchsorted", "cumsum", "cumprod")
}
