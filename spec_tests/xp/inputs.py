"""Arguments for every function of the standard, drawn by hypothesis as array-api-strict's arrays.

takes: a function's name, a dtype and a way to draw
gives: positional and keyword arguments that the standard allows
holds: ``DTYPES`` (name → dtypes the standard defines it for) and ``ARGUMENTS`` (name → draw them)
not here: calling and comparing (``judge``)

Shapes come from a small fixed set, so that the number of programs stays bounded; values do not.
"""

from __future__ import annotations

import array_api_strict as strict
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

from stax_ref.xp.table import FUNCTIONS

xps = make_strategies_namespace(strict, api_version="2024.12")

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float32", "float64")
REAL = FLOATS + INTEGERS
COMPLEX = ("complex64", "complex128")
NUMERIC = REAL + COMPLEX
ALL = REAL + BOOL + COMPLEX

SHAPES = ((2, 3), (5,), (), (0, 3))
FILLED = ((2, 3), (5,))
"""Shapes with at least one element and one axis."""

LARGE = 1e4
"""Sums stay finite and differ only by rounding for values up to this one."""


def _dtypes() -> dict[str, tuple[str, ...]]:
    groups = {
        FLOATS: "atan2 copysign hypot linspace logaddexp nextafter signbit std var "
        "linalg.vector_norm fft.rfft fft.rfftn fft.ihfft fft.fftfreq fft.rfftfreq",
        FLOATS + COMPLEX: "acos acosh asin asinh atan atanh cos cosh divide exp expm1 finfo log "
        "log10 log1p log2 mean reciprocal sin sinh sqrt tan tanh fft.fftshift fft.ifftshift "
        "linalg.cholesky linalg.det linalg.eigh linalg.eigvalsh linalg.inv linalg.matrix_norm "
        "linalg.matrix_power linalg.matrix_rank linalg.pinv linalg.qr linalg.slogdet linalg.solve "
        "linalg.svd linalg.svdvals",
        REAL: "arange argmax argmin argsort ceil clip floor floor_divide greater greater_equal "
        "less less_equal max maximum min minimum remainder searchsorted sort trunc",
        NUMERIC: "abs add conj cumulative_prod cumulative_sum diff isfinite isinf isnan multiply "
        "negative positive pow prod real round sign square subtract sum matmul tensordot vecdot "
        "linalg.cross linalg.matmul linalg.outer linalg.tensordot linalg.trace linalg.vecdot",
        INTEGERS + BOOL: "bitwise_and bitwise_invert bitwise_or bitwise_xor",
        INTEGERS: "bitwise_left_shift bitwise_right_shift iinfo isin",
        BOOL: "logical_and logical_not logical_or logical_xor",
        COMPLEX: "imag fft.fft fft.fftn fft.hfft fft.ifft fft.ifftn fft.irfft fft.irfftn",
    }
    found = {name: dtypes for dtypes, names in groups.items() for name in names.split()}
    return {name: found.get(name, ALL) for name in FUNCTIONS}


DTYPES = _dtypes()


def elements(dtype: str, limit: float | None = None):
    """Any value of the dtype, or one of magnitude up to ``limit`` and, for floats, no tiny one."""
    if limit is None or dtype == "bool":
        return xps.from_dtype(getattr(strict, dtype))
    if dtype in INTEGERS:
        info = strict.iinfo(getattr(strict, dtype))
        return st.integers(max(int(-limit), info.min), min(int(limit), info.max))
    if dtype in FLOATS:
        return st.floats(-limit, limit, width=32).filter(lambda v: v == 0 or abs(v) > 1e-4)
    return st.complex_numbers(min_magnitude=1e-4, max_magnitude=limit, width=64)


def array(draw, dtype: str, shape=None, limit: float | None = None, values=None):
    """One array; any shape of ``SHAPES`` unless it is given."""
    shape = draw(st.sampled_from(SHAPES)) if shape is None else shape
    values = elements(dtype, limit) if values is None else values
    return draw(xps.arrays(getattr(strict, dtype), shape, elements=values))


def axis_of(draw, x, some: bool = True):
    """An axis, a tuple of axes or (if ``some``) None."""
    single = st.integers(-x.ndim, x.ndim - 1) if x.ndim else st.just(None)
    several = st.lists(st.sampled_from(range(x.ndim)), unique=True).map(tuple) if x.ndim else single
    return draw(st.one_of(single, several, st.none()) if some else single)


def _unary(draw, dtype):
    return (array(draw, dtype),), {}


def binary(draw, dtype):
    x1 = array(draw, dtype)
    same = draw(st.booleans())
    return (x1, array(draw, dtype, x1.shape if same or not x1.ndim else x1.shape[1:])), {}


def _shift(draw, dtype):
    x1 = array(draw, dtype)
    bits = strict.iinfo(x1.dtype).bits
    return (x1, array(draw, dtype, x1.shape, values=st.integers(0, bits - 1))), {}


def power(draw, dtype):
    if dtype not in INTEGERS:
        return binary(draw, dtype)
    x1 = array(draw, dtype)
    return (x1, array(draw, dtype, x1.shape, values=st.integers(0, 6))), {}


def _clip(draw, dtype):
    x = array(draw, dtype, values=xps.from_dtype(getattr(strict, dtype)))
    small = st.integers(0, 9) if dtype in INTEGERS else st.floats(0, 9, width=32)
    low, high = draw(small), draw(small)
    limits = draw(st.sampled_from(["min", "max", "both", "arrays"]))
    low, high = min(low, high), max(low, high)
    if limits == "arrays":
        low, high = (strict.full(x.shape, v, dtype=x.dtype) for v in (low, high))
        return (x, low), {"max": high}
    chosen = {"min": (low, None), "max": (None, high), "both": (low, high)}
    return (x, *chosen[limits]), {}


def _reduction(limit=None, single=False, nonempty=False, **options):
    def arguments(draw, dtype):
        shape = draw(st.sampled_from(FILLED if nonempty else SHAPES))
        x = array(draw, dtype, shape, limit)
        axis = axis_of(draw, x, some=not single)
        given = {"axis": axis, "keepdims": draw(st.booleans())}
        return (x,), given | {name: draw(values) for name, values in options.items()}

    return arguments


def _sorted_order(draw, dtype):
    real = xps.from_dtype(getattr(strict, dtype), **_NO_NAN.get(dtype, {}))
    x = array(draw, dtype, draw(st.sampled_from(FILLED)), values=real)
    axis = axis_of(draw, x, some=False)
    return (x,), {"axis": axis, "descending": draw(st.booleans())}


_NO_NAN = {name: {"allow_nan": False} for name in FLOATS}


def _cumulative(draw, dtype):
    x = array(draw, dtype, draw(st.sampled_from(FILLED)), 3 if dtype in FLOATS else LARGE)
    first = draw(st.booleans())
    return (x,), {"axis": axis_of(draw, x, some=False), "include_initial": first}


def _searchsorted(draw, dtype):
    real = xps.from_dtype(getattr(strict, dtype), **_NO_NAN.get(dtype, {}))
    x1 = strict.sort(array(draw, dtype, (5,), values=real))
    x2 = array(draw, dtype, (2, 3), values=real)
    given = {"side": draw(st.sampled_from(["left", "right"]))}
    return (x1, x2), given | ({"sorter": strict.arange(5)} if draw(st.booleans()) else {})


def _product(first, second, **options):
    def arguments(draw, dtype):
        shapes = draw(st.sampled_from([(first, second), (first[-1:], second[-2:-1] or second)]))
        pair = tuple(array(draw, dtype, shape, 100) for shape in shapes)
        return pair, dict(options)

    return arguments


def _vectors(*shapes, **options):
    def arguments(draw, dtype):
        return tuple(array(draw, dtype, shape, 100) for shape in shapes), dict(options)

    return arguments


def _matrix(good=True, **options):
    """A positive definite symmetric matrix, or two of them."""

    def arguments(draw, dtype):
        part = draw(st.sampled_from([(3, 3), (2, 3, 3)]))
        real = array(
            draw, dtype.replace("complex64", "float32").replace("complex128", "float64"), part, 1
        )
        x = strict.astype(real + strict.matrix_transpose(real), getattr(strict, dtype))
        x = x + 20 * strict.eye(3, dtype=x.dtype)
        return (x,), {name: draw(values) for name, values in options.items()}

    return arguments


def _solve(draw, dtype):
    (x,), _ = _matrix()(draw, dtype)
    return (x, array(draw, dtype, draw(st.sampled_from([(3,), (*x.shape[:-2], 3, 2)])), 10)), {}


def _with(shape=None, limit=None, **options):
    """One array and keyword arguments."""

    def arguments(draw, dtype):
        x = array(draw, dtype, shape, limit)
        return (x,), {name: draw(values) for name, values in options.items()}

    return arguments


def _then(shape, *others, **options):
    """One array of this shape, then other positional arguments."""

    def arguments(draw, dtype):
        x = array(draw, dtype, shape)
        rest = tuple(draw(values) for values in others)
        return (x, *rest), {name: draw(values) for name, values in options.items()}

    return arguments


def _several(*shapes, **options):
    """A list of arrays."""

    def arguments(draw, dtype):
        arrays = [array(draw, dtype, shape) for shape in shapes]
        return (arrays,), {name: draw(values) for name, values in options.items()}

    return arguments


def _take(draw, dtype):
    x = array(draw, dtype, (2, 3))
    axis = draw(st.sampled_from([0, 1, -1]))
    places = st.integers(-x.shape[axis], x.shape[axis] - 1)
    return (x, array(draw, draw(st.sampled_from(["int32", "int64"])), (4,), values=places)), {
        "axis": axis
    }


def _take_along_axis(draw, dtype):
    x = array(draw, dtype, (2, 3))
    return (x, array(draw, "int64", (2, 4), values=st.integers(-3, 2))), {"axis": -1}


def _where(draw, dtype):
    x1 = array(draw, dtype)
    return (array(draw, "bool", x1.shape), x1, array(draw, dtype, x1.shape)), {}


def _diff(draw, dtype):
    x = array(draw, dtype, (2, 4), LARGE)
    ends = {"prepend": array(draw, dtype, (2, 1), LARGE), "append": array(draw, dtype, (2, 2), 9)}
    chosen = draw(st.sampled_from([(), ("prepend",), ("append",), ("prepend", "append")]))
    return (x,), {"n": draw(st.integers(0, 2))} | {name: ends[name] for name in chosen}


def _isin(draw, dtype):  # without `invert`, which array-api-strict 2.6 does not look at
    few = st.integers(0, 3)
    return (array(draw, dtype, (2, 3), values=few), array(draw, dtype, (4,), values=few)), {}


def _like(draw, dtype):
    given = draw(st.sampled_from([None, "float32", "int64"]))
    return (array(draw, dtype),), {"dtype": given and getattr(strict, given)}


def _full_like(draw, dtype):
    return (array(draw, dtype), draw(elements(dtype, 100))), {}


def _astype(draw, dtype):
    target = draw(st.sampled_from(["float64", "float32", "int32", "int64", "bool"]))
    if dtype in COMPLEX:
        target = "complex128"
    limit = 100 if dtype not in BOOL else None
    given = {"copy": draw(st.booleans())}
    return (array(draw, dtype, limit=limit), getattr(strict, target)), given


def _typed(*values):
    def arguments(draw, dtype):
        return tuple(draw(v) for v in values), {"dtype": getattr(strict, dtype)}

    return arguments


def _dtype_only(draw, dtype):
    return (getattr(strict, dtype),), {}


def _transform(**options):
    def arguments(draw, dtype):
        x = array(draw, dtype, (2, 4), 100)
        return (x,), {name: draw(values) for name, values in options.items()}

    return arguments


_UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag "
    "isfinite isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal round "
    "sign signbit sin sinh sqrt square tan tanh trunc"
).split()
_BINARY = (
    "add atan2 bitwise_and bitwise_or bitwise_xor copysign divide equal floor_divide greater "
    "greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum "
    "minimum multiply nextafter not_equal remainder subtract"
).split()
_NORMS = st.sampled_from(["backward", "ortho", "forward"])
_AXIS2 = st.sampled_from([0, 1, -1])
_OFFSET = st.integers(-3, 3)
_CORRECTION = st.sampled_from([0, 1.0, 0.5])

ARGUMENTS = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(_BINARY, binary),
    **dict.fromkeys(["bitwise_left_shift", "bitwise_right_shift"], _shift),
    "pow": power,
    "clip": _clip,
    "where": _where,
    # reductions
    **dict.fromkeys(["all", "any", "count_nonzero"], _reduction()),
    **dict.fromkeys(["argmax", "argmin"], _reduction(single=True, nonempty=True)),
    **dict.fromkeys(["max", "min"], _reduction(nonempty=True)),
    **dict.fromkeys(["mean"], _reduction(LARGE, nonempty=True)),
    **dict.fromkeys(["std", "var"], _reduction(LARGE, nonempty=True, correction=_CORRECTION)),
    "sum": _reduction(LARGE),
    "prod": _reduction(4),
    "linalg.vector_norm": _reduction(
        LARGE, nonempty=True, ord=st.sampled_from([2, 1, 0, 3, float("inf"), float("-inf")])
    ),
    **dict.fromkeys(["cumulative_sum", "cumulative_prod"], _cumulative),
    "diff": _diff,
    # sorting and searching
    **dict.fromkeys(["sort", "argsort"], _sorted_order),
    "searchsorted": _searchsorted,
    "isin": _isin,
    "nonzero": _with((2, 3)),
    **{name: _with((2, 3)) for name in FUNCTIONS if name.startswith("unique")},
    # the same elements elsewhere
    "broadcast_arrays": _vectors((2, 3), (3,), ()),
    "broadcast_to": _then((3,), st.sampled_from([(3,), (2, 3), (2, 1, 3)])),
    "concat": _several((2, 3), (1, 3), axis=st.sampled_from([0, -2, None])),
    "expand_dims": _then((2, 3), st.integers(-3, 2)),
    "flip": _with((2, 3), axis=st.sampled_from([None, 0, -1, (0, 1)])),
    "moveaxis": _then((2, 3, 1), st.sampled_from([0, -1]), st.sampled_from([1, -3])),
    "permute_dims": _then((2, 3, 1), st.permutations(range(3)).map(tuple)),
    "repeat": _then((2, 3), st.integers(0, 3), axis=st.sampled_from([None, 0, -1])),
    "reshape": _then(
        (2, 6), st.sampled_from([(12,), (3, -1), (2, 2, 3)]), copy=st.sampled_from([None, True])
    ),
    "roll": _then((2, 3), st.integers(-4, 4), axis=st.sampled_from([None, 0, -1])),
    "squeeze": _then((1, 3, 1), st.sampled_from([0, -1, (0, 2)])),
    "stack": _several((2, 3), (2, 3), axis=st.integers(-3, 2)),
    "tile": _then((2, 3), st.sampled_from([(2,), (2, 1), (1, 2, 2)])),
    "unstack": _with((2, 3), axis=_AXIS2),
    "take": _take,
    "take_along_axis": _take_along_axis,
    # creation
    "arange": _typed(st.integers(0, 3), st.integers(4, 9), st.integers(1, 3)),
    "asarray": lambda draw, dtype: (([[1, 0], [2, 3]],), {"dtype": getattr(strict, dtype)}),
    "empty_like": _like,
    "full_like": _full_like,
    "ones_like": _like,
    "zeros_like": _like,
    **{name: _typed(st.sampled_from([(2, 3), 4, ()])) for name in ("empty", "ones", "zeros")},
    "full": _typed(st.sampled_from([(2, 3), 4, ()]), st.just(1)),
    "eye": _typed(
        st.integers(0, 3),
        st.sampled_from([None, 2]),
    ),
    "linspace": _typed(st.integers(0, 3), st.integers(4, 9), st.integers(0, 6)),
    "from_dlpack": _unary,
    "meshgrid": lambda draw, dtype: (
        tuple(array(draw, dtype, (n,)) for n in (2, 3)),
        {"indexing": draw(st.sampled_from(["xy", "ij"]))},
    ),
    "tril": _with((3, 4), k=_OFFSET),
    "triu": _with((3, 4), k=_OFFSET),
    # about dtypes
    "astype": _astype,
    "broadcast_shapes": lambda draw, dtype: (((2, 1), (3,)), {}),
    "can_cast": lambda draw, dtype: ((array(draw, dtype, ()), getattr(strict, dtype)), {}),
    "finfo": _dtype_only,
    "iinfo": _dtype_only,
    "isdtype": lambda draw, dtype: (
        (getattr(strict, dtype), draw(st.sampled_from(["integral", ("bool", "real floating")]))),
        {},
    ),
    "result_type": lambda draw, dtype: ((array(draw, dtype, (2,)), getattr(strict, dtype)), {}),
    # linear algebra
    **dict.fromkeys(["matmul", "linalg.matmul"], _product((2, 3), (3, 4))),
    **dict.fromkeys(["tensordot", "linalg.tensordot"], _vectors((2, 3), (3, 4), axes=1)),
    **dict.fromkeys(["vecdot", "linalg.vecdot"], _vectors((2, 3), (3,), axis=-1)),
    **dict.fromkeys(["matrix_transpose", "linalg.matrix_transpose"], _with((2, 3, 4))),
    "linalg.cross": _vectors((2, 3), (2, 3)),
    "linalg.outer": _vectors((2,), (3,)),
    "linalg.diagonal": _with((3, 4), offset=_OFFSET),
    "linalg.trace": _with((2, 3, 4), 100, offset=st.integers(-2, 3)),
    "linalg.cholesky": _matrix(upper=st.booleans()),
    "linalg.matrix_norm": _matrix(
        keepdims=st.booleans(), ord=st.sampled_from(["fro", "nuc", 1, -1, 2, -2, float("inf")])
    ),
    "linalg.matrix_power": lambda draw, dtype: (
        (*_matrix()(draw, dtype)[0], draw(st.integers(-2, 3))),
        {},
    ),
    **{
        f"linalg.{name}": _matrix()
        for name in "det eigh eigvalsh inv matrix_rank pinv qr slogdet svd svdvals".split()
    },
    "linalg.solve": _solve,
    # Fourier transforms
    **{
        f"fft.{name}": _transform(n=st.sampled_from([None, 3, 5]), axis=_AXIS2, norm=_NORMS)
        for name in "fft ifft rfft irfft hfft ihfft".split()
    },
    **{
        f"fft.{name}": _transform(axes=st.sampled_from([None, (0, 1)]), norm=_NORMS)
        for name in "fftn ifftn rfftn irfftn".split()
    },
    "fft.fftfreq": _typed(st.integers(1, 6)),
    "fft.rfftfreq": _typed(st.integers(1, 6)),
    "fft.fftshift": _with((2, 3), axes=st.sampled_from([None, 0, (0, 1)])),
    "fft.ifftshift": _with((2, 3), axes=st.sampled_from([None, 0, (0, 1)])),
}
