"""Reductions down the columns of an array, several vectors of columns at a time.

Takes a vector loop whose body is one reduced loop in row order and what follows it; gives C that
walks the rows once for a strip of columns. One vector of columns touches one cache line a row, and
rows a power of two apart fall into the same few sets of the cache; a strip uses neighbouring lines
together: column sums of 1024 x 1024 float32 took 418 µs one vector at a time and 51 µs in strips of
eight. Each column is still added in its planned order. Not here: every other form (``loops``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stax_ref.nest import Accumulator, Let, Loop, Store, walk
from stax_ref.ops import OPS

from .values import Operand, register_type

if TYPE_CHECKING:
    from .loops import Printer

REGISTERS = 8
"""Accumulators of a strip together; the rest of the registers holds what is added to them."""


def strip(loop: Loop, width: int) -> int:
    """Vectors in a strip of this loop; 1 when the form does not apply."""
    head, after = loop.body[0], loop.body[1:]
    plain = all(isinstance(statement, (Let, Store)) for statement in after)
    if width == 1 or not isinstance(head, Loop) or head.kind != "reduced" or not plain:
        return 1
    inside = list(walk(head.body))
    if any(isinstance(statement, Loop) for statement in inside):
        return 1
    dear = any(isinstance(s, Let) and s.op in OPS and OPS[s.op].heavy for s in inside)
    count = max(1, (2 if dear else REGISTERS) // len(head.accumulators))
    return count if loop.symbol.extent >= count * width else 1


def strip_body(p: Printer, loop: Loop, width: int, count: int) -> None:
    """One strip: ``count`` vectors of columns from ``<loop variable>_0`` on."""
    head = loop.body[0]
    assert isinstance(head, Loop)
    i, extent = loop.symbol.name, head.symbol.extent
    chunk = max(a.order.chunk for a in head.accumulators) or extent
    each = f"for (i64 u = 0; u < {count}; u++)"
    for a in head.accumulators:
        vtype = register_type(a.dtype, width)
        p.line(f"{vtype} {a.name}[{count}];")
        p.values[a.name] = Operand(f"{a.name}[u]", a.dtype, width)
        if p.is_chunked(head):
            p.partial_totals(a, count)
    if p.is_chunked(head):
        with p.chunks(extent, chunk):
            _rows(p, loop, head, "c", "stop", count)
            for a in head.accumulators:
                with p.block(each):
                    p.take_partial(a, f"s_{a.name}[u]")
        for a in head.accumulators:
            with p.block(each):
                p.finish_total(a)
    else:
        _rows(p, loop, head, "0", str(extent), count)
        for a in head.accumulators:
            p.line(f"{each} {a.name}[u] = s_{a.name}[u];")
    with p.block(each):
        p.line(f"const i64 {i} = {i}_0 + {width} * u;")
        p.body(loop.body[1:])


def _rows(p: Printer, loop: Loop, head: Loop, begin: str, end: str, count: int) -> None:
    """One chunk of rows for every vector of the strip, into ``s_<name>``."""
    i, r, width = loop.symbol.name, head.symbol.name, p.width(loop)
    for a in head.accumulators:
        _fresh(p, a, width, count)
    with p.block(f"for (i64 {r} = {begin}; {r} < {end}; {r}++)"):
        p.lines.append("#pragma GCC unroll 8")
        with p.block(f"for (i64 u = 0; u < {count}; u++)"):
            p.line(f"const i64 {i} = {i}_0 + {width} * u;")
            p.body(head.body)


def _fresh(p: Printer, a: Accumulator, width: int, count: int) -> None:
    vtype = register_type(a.dtype, width)
    p.line(f"{vtype} s_{a.name}[{count}];")
    p.line(f"for (i64 u = 0; u < {count}; u++) s_{a.name}[u] = {p.neutral(a, width)};")
    p.accumulators[a.name] = (a, f"s_{a.name}[u]")
