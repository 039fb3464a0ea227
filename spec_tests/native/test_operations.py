"""Every scalar operation on every dtype it takes, at every vector level, against the oracle.

takes: ``ops.OPS``, the carried dtypes, special values
gives: a failure per operation, dtype, level and value; none of these cells may be empty
holds: small sizes around the vector widths beside one long array
not here: how values get into registers and out (``test_elements``), NumPy's functions (spec/)
"""

import numpy as np
import pytest

from spec_tests.harness import Case, check_all
from spec_tests.native.kernels import arguments, kernel, mismatches, operand_dtypes, specials
from stax_ref.dtypes import SHORT
from stax_ref.ops import OPS

SIZES = (1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33)


def cells():
    """Every operation with every dtype of its operands."""
    return [
        (op, dtype)
        for op in OPS.values()
        if op.name != "cast"
        for dtype in SHORT
        if dtype.kind in op.dtypes
    ]


def entries(op, dtype, number):
    """A long array of combinations and a short one; sizes take turns."""
    dtypes = operand_dtypes(op.name, dtype)
    result = op.result(dtype)
    args = arguments(op.name, dtypes)
    size = SIZES[number % len(SIZES)]
    label = f"{op.name} of {dtype}"
    for n in dict.fromkeys((args[0].size, min(size, args[0].size))):
        made = kernel(op.name, dtypes, result, n)
        first = args[0].size - n
        yield made, [a[first:] for a in args], f"{label}, {n} elements", slice(None)


@pytest.mark.parametrize("kind", sorted({op.kind for op in OPS.values()} - {"cast"}))
def test_operations(kind):
    chosen = [(op, dtype) for op, dtype in cells() if op.kind == kind]
    assert chosen
    batch = [e for k, (op, dtype) in enumerate(chosen) for e in entries(op, dtype, k)]
    found = mismatches(batch)
    assert not found, f"{len(found)} of {len(batch)}\n" + "\n".join(found[:40])


@pytest.mark.parametrize("target", SHORT, ids=SHORT.values())
def test_casts(target):
    batch = []
    for k, source in enumerate(SHORT):
        values = specials(source)
        for n in dict.fromkeys((values.size, min(values.size, SIZES[k % len(SIZES)]))):
            made = kernel("cast", (source,), target, n)
            label = f"{source} to {target}, {n} elements"
            batch.append((made, [values[values.size - n :]], label, slice(None)))
    found = mismatches(batch)
    assert not found, "\n".join(found[:40])


def beside_whole_quotients(dtype):
    """Dividends at and one step beside a multiple of their divisors."""
    generator = np.random.default_rng([2, dtype.itemsize])
    size = 6007
    with np.errstate(all="ignore"):
        if dtype.kind == "f":
            step = np.float64(2.0) ** generator.integers(-10, 14, size)
            b = generator.standard_normal(size).astype(dtype)
            b[::5], b[1::7] = dtype.type(0.1), dtype.type(1)
            multiple = np.rint(generator.standard_normal(size) * step).astype(dtype) * b
            below, above = np.nextafter(multiple, -np.inf), np.nextafter(multiple, np.inf)
        else:
            info = np.iinfo(dtype)
            top = np.resize([5, 100, 127, info.max], size)
            b = generator.integers(1, top, size, np.int64 if dtype.kind == "i" else np.uint64)
            b = b.astype(dtype)
            b[::7] = 1
            multiple = generator.integers(info.min, info.max, size, dtype) // b * b
            below, above = multiple - dtype.type(1), multiple + dtype.type(1)
    return [np.concatenate([below, multiple, above]).astype(dtype), np.tile(b, 3)]


def test_quotients_beside_whole_numbers():
    """A quotient that is rounded on the way must not reach the next whole number."""
    batch = []
    for name in ("floor_divide", "remainder", "fmod"):
        for dtype in SHORT:
            if dtype.kind in "iuf":
                args = beside_whole_quotients(dtype)
                made = kernel(name, (dtype, dtype), dtype, args[0].size)
                batch.append((made, args, f"{name} of {dtype}", slice(None)))
    found = mismatches(batch)
    assert not found, "\n".join(found[:40])


def negated(x):
    out = np.zeros_like(x)
    out[:] = -2
    return -out + x


def test_a_negative_constant_is_an_operand_like_any_other():
    check_all([Case(negated, (np.arange(5).astype(t),)) for t in "eflbh"])


def test_every_operation_is_for_some_dtype():
    covered = {op.name for op, _ in cells()} | {"cast"}
    assert covered == set(OPS)
    assert all(np.dtype(dtype) in SHORT for _, dtype in cells())
