"""exp, log and tanh: their error, their special values, and the same bits from NumPy and from C.

takes: ``stax_ref.elementary``, ``stax_ref.exactfma`` and the C printed by ``stax_c.functions``
gives: a failure where a value is further from the truth than ``ULP`` says, where the oracle and
       compiled C differ in one bit, or where bits changed without a new version
holds: the truth comes from mpmath and from rational arithmetic, never from the code under test
not here: kernels that call these functions
"""

import ctypes
import hashlib
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from stax_c.functions import function_source
from stax_native import toolchain
from stax_ref.elementary import ELEMENTARY_VERSION, SEQUENCES, ULP, evaluate
from stax_ref.errors import BackendError, ConfigError
from stax_ref.exactfma import fma32, fma64

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
MANTISSA = {F32: 23, F64: 52}
LEAST_EXPONENT = {F32: -126, F64: -1022}
FUNCTIONS = sorted(SEQUENCES)

# Where each function is hard: both sides of every switch, ends of the range, subnormals.
RANGES = {
    ("exp", "float32"): [(-0.4, 0.4), (-104, -87), (-88, 88.7)],
    ("exp", "float64"): [(-0.4, 0.4), (-746, -708), (-709, 709.7)],
    ("log", "float32"): [(0.3, 3), (1e-44, 1e-38), (1e-38, 3e38)],
    ("log", "float64"): [(0.3, 3), (1e-320, 1e-308), (1e-308, 1e308)],
    ("tanh", "float32"): [(0.8, 1.2), (-2, 0), (0, 10), (-1e-38, 1e-38)],
    ("tanh", "float64"): [(0.6, 1.1), (-2, 0), (0, 20), (-1e-308, 1e-308)],
}


def sample(name: str, dtype: str, count: int) -> np.ndarray:
    """Points of every range of the function, half of them even in value, half in exponent."""
    rng = np.random.default_rng(20)
    parts = []
    for low, high in RANGES[name, dtype]:
        even = rng.uniform(low, high, count)
        least = max(low, 1e-320 if dtype == "float64" else 1e-44)
        if high > least:
            even[::2] = np.exp(rng.uniform(np.log(least), np.log(high), count))[::2]
        parts.append(even)
    return np.concatenate(parts).astype(dtype)


def random_patterns(dtype: np.dtype, count: int, seed: int) -> np.ndarray:
    """Floats of all bit patterns alike: every exponent, subnormals, infinities, NaN."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    rng = np.random.default_rng(seed)
    top = np.iinfo(unsigned).max
    return rng.integers(0, top, count, dtype=unsigned, endpoint=True).view(dtype)


def special_values(dtype: np.dtype) -> np.ndarray:
    info = np.finfo(dtype)
    positive = [0.0, 1.0, np.inf, info.max, info.tiny, info.smallest_subnormal, info.eps, 0.75]
    positive += [9.0, 20.0, 88.72, 88.73, 104.0, 709.78, 709.79, 746.0, 1e3]
    values = np.array(positive, dtype)
    with np.errstate(all="ignore"):
        around = [np.nextafter(values, dtype.type(side)) for side in (-np.inf, np.inf)]
    values = np.concatenate([values, *around])
    return np.concatenate([values, -values, np.array([np.nan], dtype)])


def assert_same_bits(actual: np.ndarray, expected: np.ndarray, x: np.ndarray) -> None:
    """Bit for bit; NaN is one class."""
    integer = f"i{actual.dtype.itemsize}"
    same = actual.view(integer) == expected.view(integer)
    same |= np.isnan(actual) & np.isnan(expected)
    wrong = np.flatnonzero(~same)
    where = [(x[i], actual[i], expected[i]) for i in wrong[:5]]
    assert not wrong.size, f"{wrong.size} of {same.size} differ: (x, actual, expected) = {where}"


# ---- error and special values ----------------------------------------------------------------


def error_in_ulp(value: float, truth: mpmath.mpf, dtype: np.dtype) -> float:
    """Distance in units of the last place that the format has at ``truth``."""
    exponent = max(int(mpmath.frexp(truth)[1]) - 1, LEAST_EXPONENT[dtype])
    unit = mpmath.ldexp(1, exponent - MANTISSA[dtype])
    return float(abs(mpmath.mpf(value) - truth) / unit)


@pytest.mark.parametrize(("name", "dtype"), FUNCTIONS)
def test_error_is_within_the_published_ulp(name: str, dtype: str) -> None:
    x = sample(name, dtype, 1500)
    y = evaluate(name, x)
    function = getattr(mpmath, name)
    with mpmath.workprec(130):
        for xi, yi in zip(x.tolist(), y.tolist(), strict=True):
            error = error_in_ulp(yi, function(mpmath.mpf(xi)), np.dtype(dtype))
            assert error <= ULP[name, dtype], f"{name}({xi!r}) = {yi!r} is {error} ulp off"


@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_float32_error_on_many_points(name: str) -> None:
    x = sample(name, "float32", 60_000)
    truth = getattr(np, name)(x.astype(np.float64))
    exponent = np.frexp(truth)[1] - 1
    unit = np.ldexp(1.0, np.maximum(exponent, LEAST_EXPONENT[F32]) - MANTISSA[F32])
    finite = np.abs(truth) < float(np.finfo(np.float32).max)
    error = (np.abs(evaluate(name, x) - truth) / unit)[finite]
    assert not np.any(~(error <= ULP[name, "float32"])), error.max()


@pytest.mark.parametrize(("name", "dtype"), FUNCTIONS)
def test_special_values_are_those_of_numpy(name: str, dtype: str) -> None:
    x = special_values(np.dtype(dtype))
    y = evaluate(name, x)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x)
    exact = np.isin(expected, [0.0, 1.0, -1.0, np.inf, -np.inf]) | np.isnan(expected)
    assert exact.sum() > 10
    assert_same_bits(y[exact], expected[exact], x[exact])
    np.testing.assert_array_max_ulp(y[~exact], expected[~exact], maxulp=4)


def test_exp_switches_between_normal_and_subnormal_results_at_the_right_place() -> None:
    for dtype in (F32, F64):
        tiny = np.finfo(dtype).tiny
        edge = np.array([LEAST_EXPONENT[dtype] * np.log(2)], dtype)
        x = edge + np.arange(-50, 51).astype(dtype) * np.abs(np.spacing(edge))
        y = evaluate("exp", x)
        assert np.all(np.diff(y) > 0)
        assert y[0] < tiny < y[-1]


@pytest.mark.parametrize(("name", "dtype"), FUNCTIONS)
def test_no_floating_point_error_reaches_the_caller(name: str, dtype: str) -> None:
    with np.errstate(all="raise"):
        evaluate(name, special_values(np.dtype(dtype)))


# ---- evaluate as an array function -----------------------------------------------------------


def test_any_shape_and_layout() -> None:
    x = np.linspace(0.1, 5.0, 24, dtype=np.float32)
    flat = evaluate("log", x)
    cube = x.reshape(2, 3, 4)
    assert np.array_equal(evaluate("log", cube), flat.reshape(2, 3, 4))
    assert np.array_equal(evaluate("log", cube.T), flat.reshape(2, 3, 4).T)
    assert np.array_equal(evaluate("log", x[::-3]), flat[::-3])
    assert evaluate("log", cube.T).flags.c_contiguous
    assert np.array_equal(evaluate("log", x.astype(">f4")), flat)
    point = evaluate("log", np.array(2.0, np.float32))
    assert point.shape == ()
    assert point == evaluate("log", np.array([2.0], np.float32))[0]
    empty = evaluate("tanh", np.empty((0, 3)))
    assert (empty.shape, empty.dtype) == ((0, 3), F64)


def test_a_value_does_not_depend_on_its_place() -> None:
    x = np.random.default_rng(3).normal(0, 20, 20_001).astype(np.float32)
    order = np.random.default_rng(4).permutation(x.size)
    assert np.array_equal(evaluate("exp", x)[order], evaluate("exp", x[order]))


def test_the_argument_stays_untouched() -> None:
    x = np.array([1.0, 2.0])
    result = evaluate("exp", x)
    result[:] = 0
    assert x.tolist() == [1.0, 2.0]


def test_unknown_functions_and_dtypes_are_refused() -> None:
    with pytest.raises(KeyError):
        evaluate("expm2", np.ones(1))
    with pytest.raises(KeyError):
        evaluate("exp", np.ones(1, np.int32))


# The digests of version 1. Whoever changes a coefficient or an operation changes bits that users
# rely on: raise ELEMENTARY_VERSION and record the new digests.
DIGESTS = {
    ("exp", "float32"): "7ad75409a9b70ab8",
    ("exp", "float64"): "2b9481ddbfcbfb7c",
    ("log", "float32"): "7259aa7bf6289fc5",
    ("log", "float64"): "6e8890d112df4f2a",
    ("tanh", "float32"): "474c12f72baf8a0b",
    ("tanh", "float64"): "be3c185f92d1f05b",
}


@pytest.mark.parametrize(("name", "dtype"), FUNCTIONS)
def test_the_bits_of_this_version(name: str, dtype: str) -> None:
    # Built from integers: no library's rounding stands between the test and its points.
    grid = (np.arange(1, 20_001) / 1024).astype(dtype)
    integer = f"i{grid.itemsize}"
    step = np.array(np.inf, dtype).view(integer) // 10_000
    x = np.concatenate([grid, (np.arange(10_001) * step).astype(integer).view(dtype)])
    x = x if name == "log" else np.concatenate([x, -x])
    digest = hashlib.sha256(evaluate(name, x).astype(f"<f{x.itemsize}").tobytes()).hexdigest()
    assert ELEMENTARY_VERSION == 1
    assert digest[:16] == DIGESTS[name, dtype]


# ---- fused multiply-add ----------------------------------------------------------------------


def nearest(exact: Fraction, dtype: np.dtype) -> float:
    """The float next to a rational number, ties to even, subnormals included."""
    if exact == 0:
        return 0.0
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    if abs(exact) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, LEAST_EXPONENT[dtype]) - MANTISSA[dtype])
    return float(round(exact / unit) * unit)


def near_ties(dtype: np.dtype, count: int, exponent: int) -> tuple[np.ndarray, ...]:
    """Operands whose product lies a hair below half a unit of the addend.

    ``(1 + 2**-k) * (1 - 2**-k)`` is ``1 - 2**-2k``, so a product rounded to nearest lands on the
    tie, and the second rounding goes the wrong way. The addends have this exponent; at the least
    normal one they may also be subnormal.
    """
    rng = np.random.default_rng(exponent + 5000)
    digits = MANTISSA[dtype] + 1
    k = rng.integers(digits // 2, digits, count)
    half_unit = exponent - digits
    a_exponent = half_unit // 2 + rng.integers(-9, 10, count)
    a = rng.choice([-1.0, 1.0], count) * np.ldexp(1 + 2.0**-k, a_exponent)
    b = rng.choice([-1.0, 1.0], count) * np.ldexp(1 - 2.0**-k, half_unit - a_exponent)
    least = 1 if exponent == LEAST_EXPONENT[dtype] else 2 ** (digits - 1)
    c = np.ldexp(rng.integers(least, 2**digits, count).astype(np.float64), half_unit + 1)
    return a.astype(dtype), b.astype(dtype), c.astype(dtype)


@pytest.mark.parametrize(
    ("dtype", "exponent"), [(F32, 0), (F32, 40), (F32, -126), (F64, 0), (F64, 200), (F64, -800)]
)
def test_fma_rounds_once_where_two_roundings_fail(dtype: np.dtype, exponent: int) -> None:
    a, b, c = near_ties(dtype, 1500, exponent)
    fused = (fma32 if dtype == F32 else fma64)(a, b, c)
    assert fused.dtype == dtype
    operands = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    expected = [nearest(Fraction(p) * Fraction(q) + Fraction(r), dtype) for p, q, r in operands]
    assert fused.tolist() == expected
    wide = np.float64 if dtype == F32 else dtype
    twice = (a.astype(wide) * b + c).astype(dtype)
    assert np.mean(twice != fused) > 0.2  # the family does find a missing repair


def test_fma_signed_zeros_infinities_and_nan() -> None:
    values = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
    a, b, c = (v.ravel() for v in np.meshgrid(values, values, values))
    with np.errstate(all="ignore"):
        expected = a * b + c  # exact for these operands
    assert_same_bits(fma64(a, b, c), expected, a)
    narrow = [v.astype(np.float32) for v in (a, b, c)]
    assert_same_bits(fma32(*narrow), expected.astype(np.float32), a)


def fma64_is_exact(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The operands for which ``fma64`` promises the bits of the hardware."""
    with np.errstate(all="ignore"):
        product = np.abs(a * b)
        fits = (np.abs(a) <= 2.0**995) & (np.abs(b) <= 2.0**995)
        fits &= (product < 2.0**1022) & (np.abs(c) < 2.0**1022)
        zero = (a == 0) | (b == 0)
        return fits & (zero | (product >= 2.0**-968) | (np.abs(c) >= 2.0**-900))


# ---- C ---------------------------------------------------------------------------------------

VECTOR_TYPES = {
    "avx512": ("f32x16", "f32x8", "f64x8"),
    "avx2": ("f32x8", "f32x4", "f64x4"),
    "scalar": ("f32", "f64"),
}
# Flush to zero and denormals are zero, as a library built with -ffast-math leaves them.
FLUSHING = """
static inline unsigned flush(void) {
    unsigned old = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(old | 0x8040);
    return old;
}
"""


def element(vtype: str) -> np.dtype:
    return F32 if vtype.startswith("f32") else F64


def loop(name: str, function: str, vtype: str, arguments: int) -> str:
    """An entry point that applies a C function to whole arrays, ``name(n, x..., y)``."""
    scalar = vtype.split("x")[0]
    inputs = "abc"[:arguments]
    lanes = vtype.split("x")[1] if "x" in vtype else "1"
    signature = "".join(f"const {scalar} *{v}, " for v in inputs)
    # A copy through memory asks nothing of the arrays' alignment.
    copies = "".join(
        f"        {vtype} v{v};\n        __builtin_memcpy(&v{v}, {v} + i, sizeof v{v});\n"
        for v in inputs
    )
    values = ", ".join(f"v{v}" for v in inputs)
    return (
        f"void {name}(long n, {signature}{scalar} *y) {{\n"
        f"    for (long i = 0; i < n; i += {lanes}) {{\n{copies}"
        f"        const {vtype} r = {function}({values});\n"
        f"        __builtin_memcpy(y + i, &r, sizeof r);\n    }}\n}}\n"
    )


def flushing(name: str, vtype: str) -> str:
    """The entry point ``name`` again, under flush to zero."""
    scalar = vtype.split("x")[0]
    return (
        f"void flushing_{name}(long n, const {scalar} *a, {scalar} *y) {{\n"
        f"    unsigned old = flush();\n    {name}(n, a, y);\n"
        f"    __builtin_ia32_ldmxcsr(old);\n}}\n"
    )


def everything(h, x):
    """A sequence that uses every operation of ``Arithmetic`` and loses no bit of any."""
    y = h.div(h.const(1.5), x)
    one, shifts = h.iconst(1), h.iconst(0x5A5A5A5A)
    floats = [
        h.fma(x, y, x),
        h.sqrt(x),
        h.mul(h.abs(x), h.const(0.1)),
        h.raw_min(x, y),
        h.raw_max(x, y),
        h.select(h.lt(x, y), h.add(x, y), h.sub(x, y)),
        h.select(h.le(x, y), x, y),
        h.select(h.gt(x, y), y, h.const(3.0)),
        h.select(h.ge(x, y), h.const(-3.0), x),
        h.select(h.eq(x, x), x, h.const(7.0)),
        h.select(h.ne(x, x), h.const(9.0), x),
        h.raw_max(h.const(-1.0), x),
    ]
    total = h.bits(x)
    for value in floats:
        known = h.select(h.eq(value, value), value, h.const(11.0))  # NaN has no fixed bits
        total = h.ixor(h.iadd(h.ishl(total, 5), h.isrl(total, 3)), h.bits(known))
    total = h.iselect(h.lt(x, y), h.isub(total, shifts), h.iadd(h.isra(total, 7), one))
    total = h.ior(h.iand(total, h.iconst(0x007FFFFF)), h.iconst(0x3F800000))
    return h.float_from_bits(total)


def converting(h, x):
    """The integer conversion, which only 32 bits have."""
    return h.from_int(h.bits(x))


@pytest.fixture(scope="module", params=toolchain.LEVELS)
def compiled(request, tmp_path_factory):
    """``(vector types, library)`` with every function at one instruction level."""
    level = request.param
    scratch = tmp_path_factory.mktemp(level)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STAX_ISA", level)
        try:
            tools = toolchain.probe(scratch)
        except (ConfigError, BackendError) as error:
            pytest.skip(str(error))
        if not tools.has_fma:
            pytest.skip("no fused multiply-add on this machine")
        for dtype in ("float32", "float64"):
            patch.setitem(SEQUENCES, ("everything", dtype), everything)
        patch.setitem(SEQUENCES, ("converting", "float32"), converting)
        number = ("scalar", "avx2", "avx512").index(level)
        parts = [f'#define STAX_LEVEL {number}\n#include "stax_simd.h"\n', FLUSHING]
        for vtype in VECTOR_TYPES[level]:
            for name, dtype in SEQUENCES:
                if dtype == element(vtype).name:
                    parts.append(function_source(name, dtype, vtype))
                    parts.append(loop(f"map_{name}_{vtype}", f"{name}_{vtype}", vtype, 1))
            parts.append(loop(f"map_fma_{vtype}", f"fma_{vtype}", vtype, 3))
            parts.extend(flushing(f"map_{name}_{vtype}", vtype) for name in ("exp", "tanh"))
        library = Path(scratch) / "elementary.so"
        toolchain.compile_shared("\n".join(parts), library, tools, openmp=False)
        return VECTOR_TYPES[level], ctypes.CDLL(str(library))


def call(library: ctypes.CDLL, name: str, *inputs: np.ndarray) -> np.ndarray:
    result = np.empty_like(inputs[0])
    assert result.size % 16 == 0
    pointers = [ctypes.c_void_p(v.ctypes.data) for v in (*inputs, result)]
    getattr(library, name)(ctypes.c_long(result.size), *pointers)
    return result


def points(name: str, dtype: np.dtype) -> np.ndarray:
    """Hard ranges, all bit patterns and special values, to a multiple of 16."""
    x = np.concatenate(
        [
            special_values(dtype),
            sample(name, dtype.name, 12_000),
            random_patterns(dtype, 20_000, seed=7),
        ]
    )
    return x[: x.size // 16 * 16]


@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_compiled_c_has_the_bits_of_the_oracle(compiled, name: str) -> None:
    vtypes, library = compiled
    for vtype in vtypes:
        x = points(name, element(vtype))
        assert_same_bits(call(library, f"map_{name}_{vtype}", x), evaluate(name, x), x)


def test_compiled_exp_does_not_depend_on_flush_to_zero(compiled) -> None:
    vtypes, library = compiled
    for vtype in vtypes:
        x = points("exp", element(vtype))
        assert_same_bits(call(library, f"flushing_map_exp_{vtype}", x), evaluate("exp", x), x)
        # tanh does depend on it: the flush is real.
        y = call(library, f"flushing_map_tanh_{vtype}", x)
        assert np.any((y == 0) & (x != 0))


def test_compiled_operations_have_the_bits_of_the_oracle(compiled, monkeypatch) -> None:
    vtypes, library = compiled
    for dtype in ("float32", "float64"):
        monkeypatch.setitem(SEQUENCES, ("everything", dtype), everything)
    monkeypatch.setitem(SEQUENCES, ("converting", "float32"), converting)
    for vtype in vtypes:
        x = random_patterns(element(vtype), 40_000, seed=8)
        actual = call(library, f"map_everything_{vtype}", x)
        assert_same_bits(actual, evaluate("everything", x), x)
        if element(vtype) == F32:
            actual = call(library, f"map_converting_{vtype}", x)
            assert_same_bits(actual, evaluate("converting", x), x)


def test_hardware_fma_has_the_bits_of_the_oracle(compiled) -> None:
    vtypes, library = compiled
    for vtype in vtypes:
        dtype = element(vtype)
        normal = [np.random.default_rng(i).normal(size=32_000).astype(dtype) for i in range(3)]
        families = [
            [random_patterns(dtype, 32_000, seed) for seed in (11, 12, 13)],
            normal,
            [normal[0], normal[1], -normal[0] * normal[1]],  # what is left is the product's error
            near_ties(dtype, 32_000, 10),
            near_ties(dtype, 32_000, -126 if dtype == F32 else -800),
        ]
        for a, b, c in families:
            promised = fma64_is_exact(a, b, c) if dtype == F64 else np.ones(a.shape, bool)
            assert promised.mean() > 0.2
            actual = call(library, f"map_fma_{vtype}", a, b, c)
            expected = (fma32 if dtype == F32 else fma64)(a, b, c)
            assert_same_bits(actual[promised], expected[promised], a[promised])


# ---- the printed text ------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "dtype"), FUNCTIONS)
def test_printing_is_deterministic_and_names_are_unique(name: str, dtype: str) -> None:
    vtype = "f32x8" if dtype == "float32" else "f64x4"
    text = function_source(name, dtype, vtype)
    assert text == function_source(name, dtype, vtype)
    assert text.startswith(f"static inline {vtype} {name}_{vtype}({vtype} x) {{\n")
    names = [line.split(" = ")[0].split()[-1] for line in text.splitlines() if " = " in line]
    assert len(names) == len(set(names)) > 10


def test_a_vector_type_of_another_element_is_refused() -> None:
    with pytest.raises(ValueError, match="f64x8 does not hold float32"):
        function_source("exp", "float32", "f64x8")
    with pytest.raises(KeyError):
        function_source("exp", "float16", "f32x8")
