"""Loads and stores as C: contiguous, strided, irregular, partial, of every dtype in memory.

Takes an access and the lanes in force; gives an expression or lines. The stride from lane to lane
decides: one element for all lanes, a vector, a gather, or one by one where an address has digits.
Inactive lanes are never read from memory. Not here: loops (``loops``), operations (``values``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from stax_ref.dtypes import BOOL
from stax_ref.errors import Unsupported
from stax_ref.index import Index, Symbol
from stax_ref.node import Access

from .values import (
    Operand,
    load_element,
    memory_type,
    own_type,
    parenthesised,
    register_type,
    store_element,
    widen,
)

if TYPE_CHECKING:
    from .loops import Printer


def _address(p: Printer, access: Access) -> tuple[str, Index]:
    flat = access.flat(p.buffers[access.buffer])
    return p.names[access.buffer], flat


def _stride(p: Printer, flat: Index) -> int | None:
    """Elements from lane to lane: 0 for a value all lanes share, None when irregular."""
    if p.lanes is None:
        return 0
    if any(symbol.name in p.laned for symbol in flat.symbols()):
        return None
    return flat.coefficient(p.lanes.symbol)


def load(
    p: Printer, access: Access, dtype: np.dtype, guard: Operand | None = None
) -> tuple[str, int]:
    """An expression for the element (or the lanes) at an access, and its number of lanes."""
    if guard is not None:
        return _guarded(p, access, dtype, guard)
    name, flat = _address(p, access)
    stride = _stride(p, flat)
    if stride == 0 or p.lanes is None:
        return load_element(name, flat.text("/"), dtype), 1
    place = f"{name} + {parenthesised(flat.text('/'))}"
    count, active = p.lanes.count, p.lanes.active
    kind = own_type(dtype, count)
    fill = "1" if dtype.kind in "iu" else "0"
    if stride is None:
        return _irregular(p, name, flat, dtype), count
    if stride == 1 and not active:
        if access.buffer in p.ahead:
            _ask(p, place, p.ahead[access.buffer], count * dtype.itemsize)
        return f"load_{kind}({place})", count
    if stride == 1:
        return f"loadn_{kind}({place}, {active}, {fill})", count
    if active:
        return f"gathern_{kind}({place}, {stride}, {active}, {fill})", count
    return f"gather_{kind}({place}, {stride})", count


def _ask(p: Printer, place: str, distance: int, nbytes: int) -> None:
    """Prefetch the same elements of the next row, once per cache line of 64 bytes."""
    lines = max(1, 64 // nbytes)
    guard = f"if (u % {lines} == 0) " if lines > 1 else ""
    p.line(f"{guard}__builtin_prefetch({place} + {distance});  // the next row")


def _irregular(p: Printer, name: str, flat: Index, dtype: np.dtype) -> str:
    """Lanes at addresses with divisions: collected one by one, inactive ones stay 1."""
    assert p.lanes is not None
    count = p.lanes.count
    place = f"lane_{len(p.lines)}"
    ctype = memory_type(dtype)
    p.line(f"{ctype} {place}[{count}];")
    p.line(f"for (i64 l = 0; l < {count}; l++) {place}[l] = 1;")
    with _each_lane(p, p.lanes.active):
        p.line(f"{place}[l] = {name}[{lane_text(p, flat)}];")
    return f"load_{own_type(dtype, count)}({place})"


@contextmanager
def _each_lane(p: Printer, active: str = "") -> Iterator[None]:
    """Lines for lane ``l``, with its own value of the loop variable; all lanes, or the active."""
    assert p.lanes is not None
    symbol = p.lanes.symbol.name
    with p.block(f"for (i64 l = 0; l < {active or p.lanes.count}; l++)"):
        p.line(f"const i64 lane_{symbol} = {symbol} + l;")
        yield


def lane_text(p: Printer, flat: Index) -> str:
    """An index in lane ``l``: of the loop that runs in lanes, and of positions that vary."""
    assert p.lanes is not None
    lanes = p.lanes.symbol

    def in_lane(s: Symbol) -> Index | None:
        if s == lanes:
            return Index(((Symbol(f"lane_{s.name}", s.extent), 1),), 0)
        if s.name in p.laned:
            return Index(((Symbol(f"{s.name}[l]", s.extent), 1),), 0)
        return None

    return flat.rebuild(in_lane).text("/")


def _guarded(p: Printer, access: Access, dtype: np.dtype, guard: Operand) -> tuple[str, int]:
    """A load whose address is evaluated only where a guard is true; 0 elsewhere."""
    if guard.lanes == 1:
        return _branched(p, access, dtype, guard)
    assert p.lanes is not None
    name, flat = _address(p, access)
    count = p.lanes.count
    vtype, kind = register_type(dtype, count), own_type(dtype, count)
    place, vector = f"lane_{len(p.lines)}", f"v_{len(p.lines)}"
    mtype = register_type(BOOL, count)
    p.line(f"{vtype} {vector};")
    whole = not p.lanes.active and _stride(p, flat) == 1
    if whole:
        head = f"if (all_{mtype}({guard.text}))"
        p.line(f"{head} {vector} = load_{kind}({name} + {parenthesised(flat.text('/'))});")
    with p.block("else" if whole else ""):
        p.line(f"{memory_type(dtype)} {place}[{count}] = {{0}};")
        with _each_lane(p, p.lanes.active):
            p.line(f"if ({guard.text}[l]) {place}[l] = {name}[{lane_text(p, flat)}];")
        p.line(f"{vector} = load_{kind}({place});")
    return vector, count


def _branched(p: Printer, access: Access, dtype: np.dtype, guard: Operand) -> tuple[str, int]:
    """A guard that all lanes share: a branch around the whole load."""
    _, flat = _address(p, access)
    stride = _stride(p, flat)
    lanes = 1 if stride == 0 or p.lanes is None else p.lanes.count
    vtype = register_type(dtype, lanes)
    value = f"v_{len(p.lines)}"
    zero = "0" if lanes == 1 else f"splat_{vtype}(0)"
    p.line(f"{vtype} {value} = {zero};")
    with p.block(f"if ({guard.text})"):
        text, _ = load(p, access, dtype)
        p.line(f"{value} = {text};")
    return value, lanes


def index(p: Printer, index: Index, dtype: np.dtype) -> tuple[str, int]:
    """An index expression as a value, and its number of lanes."""
    stride = _stride(p, index)
    vtype = register_type(dtype, 1)
    if stride == 0 or p.lanes is None:
        return f"({vtype})({index.text('/')})", 1
    count = p.lanes.count
    vtype = register_type(dtype, count)
    if stride is not None:
        return f"iota_{vtype}({index.text('/')}, {stride})", count
    place = f"lane_{len(p.lines)}"
    p.line(f"{memory_type(dtype)} {place}[{count}];")
    with _each_lane(p):
        p.line(f"{place}[l] = {lane_text(p, index)};")
    return f"load_{vtype}({place})", count


def position(p: Printer, symbol: Symbol, value: Operand, guard: Operand | None) -> None:
    """A runtime value as an index: one, or one per lane; out of range it is 0 and flagged."""
    words = [value] if guard is None else [value, guard]
    name, extent = symbol.name, symbol.extent

    def located(lane: str) -> str:
        texts = [w.text + (lane if w.lanes > 1 else "") for w in words]
        found = f"stax_position((i64){texts[0]}, {extent}, flags)"
        return found if guard is None else f"{texts[1]} ? {found} : 0"

    if p.lanes is None or all(w.lanes == 1 for w in words):
        p.line(f"const i64 {name} = {located('')};")
        p.laned.discard(name)
        return
    count = p.lanes.count
    p.line(f"i64 {name}[{count}] = {{0}};")
    p.line(f"for (i64 l = 0; l < {p.lanes.active or count}; l++) {name}[l] = {located('[l]')};")
    p.laned.add(name)


def store(p: Printer, access: Access, value: Operand) -> None:
    """Write a value (or the active lanes of one) to an access.

    Raises:
        Unsupported: lanes at addresses with divisions.
    """
    name, flat = _address(p, access)
    stride = _stride(p, flat)
    if p.lanes is None or stride == 0:
        p.line(store_element(name, flat.text("/"), value.text, value.dtype))
        return
    count, active = p.lanes.count, p.lanes.active
    kind = own_type(value.dtype, count)
    word = widen(value, count)
    place = f"{name} + {parenthesised(flat.text('/'))}"
    if stride is None:
        raise Unsupported(f"the C backend cannot scatter to {access}", None, 'backend="ref"')
    if stride == 1 and not active:
        p.line(f"store_{kind}({place}, {word});")
    elif stride == 1:
        p.line(f"storen_{kind}({place}, {word}, {active});")
    else:
        p.line(f"scatter_{kind}({place}, {stride}, {word}, {active or count});")
