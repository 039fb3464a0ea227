"""One scalar operation as a kernel of its own, on the values where operations go wrong.

takes: a name of ``ops.OPS`` and a dtype
gives: a ``Plan`` with one loop, arguments for it, and the comparison of native runs with the oracle
holds: the special values of every dtype
not here: what is covered (``test_operations``, ``test_elements``)

The kernel is written down, not traced, so that every cell of operation × dtype has one, whether or
not a NumPy call leads there.
"""

import itertools

import numpy as np

from spec_tests import harness
from stax_ref import ladder
from stax_ref.dtypes import BOOL, I32
from stax_ref.graph import Graph, Input, Value
from stax_ref.index import Index, Symbol, variable
from stax_ref.interpret import Recording, run_nests
from stax_ref.lower import Lowered
from stax_ref.memory import Memory, Slot
from stax_ref.nest import Let, Loop, Nest, Store
from stax_ref.node import Access, Buffer
from stax_ref.ops import OPS
from stax_ref.plan import plan
from stax_ref.pools import pooled

PAIRS = 5003
"""Combinations of special values at most: a prime, so that the last vector is never full."""


def operand_dtypes(op, dtype):
    """The dtypes of the operands of an operation on ``dtype``."""
    if op == "where":
        return (BOOL, dtype, dtype)
    if op == "ldexp":
        return (dtype, I32)
    return (dtype,) * OPS[op].arity


def kernel(op, dtypes, result, size, reads=None, write=None, extents=None):
    """The plan of ``out[write(i)] = op(x[read(i)], ...)`` for i < size.

    Args:
        op: the operation; "" copies its one operand.
        dtypes: dtypes of the operands.
        result: dtype of the result.
        size: iterations.
        reads: per operand a function from the loop variable to an index; the variable itself.
        write: the same for the result.
        extents: elements of each operand and of the result; ``size`` each.
    """
    symbol = Symbol("i0", size)
    i = variable(symbol)
    names = [f"x{k}" for k in range(len(dtypes))]
    reads = reads or [lambda i: i] * len(names)
    write = write or (lambda i: i)
    extents = extents or [size] * (len(names) + 1)
    inputs = [
        Buffer(n, (m,), d, (1,), "input") for n, m, d in zip(names, extents, dtypes, strict=False)
    ]
    out = Buffer("out", (extents[-1],), result, (1,))
    body = [
        Let(f"t{k}", d, "load", (), Access(n, (_index(read(i)),)))
        for k, (n, d, read) in enumerate(zip(names, dtypes, reads, strict=True))
    ]
    last = "t0"
    if op:
        last = "t"
        body.append(Let(last, result, op, tuple(f"t{k}" for k in range(len(names)))))
    body.append(Store(Access("out", (_index(write(i)),)), last))
    loop = Loop(symbol, "parallel", tuple(body))
    nest = Nest("k0", ("out",), (*inputs, out), (loop,))
    values = [Value(b.name, b.shape, b.dtype) for b in (*inputs, out)]
    graph = Graph(op or "copy", tuple(Input(v, "array") for v in values[:-1]), (), (values[-1],))
    lowered = Lowered((*inputs, out), (), ("out",))
    storage = Memory((Slot("out", "output", out.nbytes, 0, 0),), pooled([]), 0)
    return plan(graph, lowered, (nest,), storage)


def _index(entry):
    return entry if isinstance(entry, Index) else Index((), entry)


def specials(dtype):
    """Values of a dtype at which operations go wrong: extremes, subnormals, ties, NaN."""
    if dtype == BOOL:
        return np.array([False, True])
    if dtype.kind in "iu":
        return _integers(dtype)
    return _floats(dtype)


def _integers(dtype):
    info = np.iinfo(dtype)
    width = info.bits
    wanted = [0, 1, 2, 3, 7, 10, width - 1, width, width + 1, 31, 32, 33, 63, 64, 65]
    wanted += [-v for v in wanted] + [info.max, info.max - 1, info.min, info.min + 1]
    wanted += [info.max // 2, info.max // 2 + 1, info.max // 3, info.min // 2]
    wanted += [int(v) for v in np.random.default_rng(width).integers(info.min, info.max, 12, dtype)]
    inside = dict.fromkeys(v for v in wanted if info.min <= v <= info.max)
    return np.array(list(inside), dtype)


def _floats(dtype):
    info = np.finfo(dtype)
    tiny, least = float(info.smallest_normal), float(info.smallest_subnormal)
    eps, most = float(info.eps), float(info.max)
    above = [0.0, 0.25, 0.5, 0.75, 1.0, 1.0 - eps, 1 + eps, 1.5, 2.0, 2.5, 3.0, 3.5, 7.0, 10.0]
    above += [least, 3 * least, tiny, tiny - least, tiny * 2, tiny * 1.5, most, most / 2]
    above += [127.5, 128.0, 255.5, 256.0, 32767.5, 32768.0, 65519.0, 65520.0, 65536.0, 1e5]
    above += [2.0**31, 2.0**31 - 0.5, 2.0**32, 2.0**32 + 2.0**9, 2.0**40 * 1.2345]
    above += [2.0**63, 2.0**63 * 1.5, 2.0**64, 2.0**52 + 0.5, 2.0**23 + 0.5, 2.0**52 + 1]
    above += [1e300, np.inf, np.nan]
    # halfway between two float16, at both ends of their range, and just beside
    for tie in (1 + 2.0**-11, 1 + 3 * 2.0**-11, 2049.0, 2051.0, 2.0**-25, 3 * 2.0**-25):
        above += [tie, tie * (1 + 2.0**-40), tie * (1 - 2.0**-40), tie * (1 + 2.0**-23)]
    above += list(np.abs(np.random.default_rng(5).standard_normal(8)))
    with np.errstate(over="ignore"):
        both = np.array([*above, *(-v for v in above)], np.float64).astype(dtype)
    patterns = both.view(f"i{dtype.itemsize}")
    return both[np.sort(np.unique(patterns, return_index=True)[1])]


def arguments(op, dtypes):
    """One array per operand: every combination of special values, at most a few thousand."""
    if op == "where":
        values = specials(dtypes[1])
        chosen = np.resize([True, False, False], len(values))
        return [chosen, values, values[::-1].copy()]
    lists = [specials(dtype) for dtype in dtypes]
    if len(lists) == 2 and dtypes[1] == I32 and op == "ldexp":
        lists[1] = np.array([*range(-30, 31, 3), -1100, 1100, -150, 2**31 - 1, -(2**31)], np.int32)
    places = list(itertools.product(*(range(len(values)) for values in lists)))
    if len(places) > PAIRS:
        kept = np.random.default_rng(1).choice(len(places), PAIRS, replace=False)
        places = [places[k] for k in np.sort(kept)]
    chosen = np.array(places).T
    return [values[row] for values, row in zip(lists, chosen, strict=True)]


def mismatches(entries, backends=None):
    """Every (plan, arguments, label, inside) at every vector level against the oracle.

    ``inside`` is the part of the result that is compared; the rest must keep the poison of fresh
    memory. ``backends`` are those of the machine's levels. Returns a line per failure.
    """
    found = []
    expected = []
    for made, args, _, _ in entries:
        recording = Recording()
        with harness.quiet():
            (want,) = run_nests(made, args, recording)
        expected.append((want, recording.flags))
    for start in range(0, len(entries), harness.UNIT):
        unit = entries[start : start + harness.UNIT]
        wanted = expected[start : start + harness.UNIT]
        for level, backend in (backends or harness.variants()).items():
            with harness.environment(STAX_CACHE_DIR=harness.cache_directory()):
                loaded = harness.load_plans(backend, [made for made, *_ in unit])
            for entry, (want, flags), program in zip(unit, wanted, loaded, strict=True):
                problem = _problem(program, entry, want, flags)
                if problem:
                    found.append(f"{entry[2]} at {level}: {problem}")
    return found


def _problem(program, entry, want, flags):
    _, args, _, inside = entry
    if isinstance(program, Exception):
        return f"{type(program).__name__}: {program}"
    seen = [0]
    program.program.on_flag = lambda raised: seen.__setitem__(0, raised)
    with harness.native_state(1):
        (got,) = program(*args)
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}"
    if seen[0] != flags:
        return f"flags {seen[0]} instead of {flags}"
    outside = np.ones(got.shape, bool)
    outside[inside] = False
    poison = np.full(got.nbytes, 0xFF, np.uint8).view(got.dtype)
    if got[outside].tobytes() != poison[outside].tobytes():
        return "wrote where it must not"
    wrong = np.flatnonzero(ladder.different(got[inside], want[inside]))
    if wrong.size == 0:
        return ""
    k = int(wrong[0])
    values = ", ".join(repr(a[k]) for a in args if a.size == got.size)
    pair = f"{got[inside][k]!r} instead of {want[inside][k]!r}"
    return f"{wrong.size} differ, first at {k}: {pair} of ({values})"
