"""Loads and stores as C: contiguous, strided, irregular, partial, and of bools.

Takes an access and the lanes in force; gives an expression or lines. The stride from lane to lane
decides: one element for all lanes, a vector, a gather, or one by one where an address has digits.
Inactive lanes are never read from memory. Not here: loops (``loops``), operations (``values``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stax_ref.dtypes import BOOL
from stax_ref.errors import Unsupported
from stax_ref.index import Index, Symbol
from stax_ref.node import Access

from .values import Operand, memory_type, register_type, widen

if TYPE_CHECKING:
    from .loops import Printer


def _address(p: Printer, access: Access) -> tuple[str, Index]:
    flat = access.flat(p.buffers[access.buffer])
    return p.names[access.buffer], flat


def _stride(p: Printer, flat: Index) -> int | None:
    """Elements from lane to lane: 0 for a value all lanes share, None when irregular."""
    if p.lanes is None:
        return 0
    return flat.coefficient(p.lanes.symbol)


def load(p: Printer, access: Access, dtype: np.dtype) -> tuple[str, int]:
    """An expression for the element (or the lanes) at an access, and its number of lanes."""
    name, flat = _address(p, access)
    stride = _stride(p, flat)
    place = f"{name} + {_parenthesised(flat)}"
    if stride == 0 or p.lanes is None:
        text = f"load_bool({place})" if dtype == BOOL else f"{name}[{flat.text('/')}]"
        return text, 1
    count, active = p.lanes.count, p.lanes.active
    vtype = register_type(dtype, count)
    kind = f"bool_{vtype}" if dtype == BOOL else vtype
    fill = "1" if dtype.kind == "i" else "0"
    if stride is None:
        return _irregular(p, name, flat, dtype), count
    if stride == 1 and not active:
        if access.buffer in p.ahead:
            _ask(p, place, p.ahead[access.buffer], count * dtype.itemsize)
        return f"load_{kind}({place})", count
    if stride == 1:
        return f"loadn_{kind}({place}, {active}, {fill})", count
    if active or dtype == BOOL:
        return f"gathern_{kind}({place}, {stride}, {active or count}, {fill})", count
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
    symbol = p.lanes.symbol.name
    ctype = memory_type(dtype)
    p.line(f"{ctype} {place}[{count}];")
    p.line(f"for (i64 l = 0; l < {count}; l++) {place}[l] = 1;")
    with p.block(f"for (i64 l = 0; l < {p.lanes.active or count}; l++)"):
        p.line(f"const i64 lane_{symbol} = {symbol} + l;")
        shifted = flat.rebuild(
            lambda s: (
                Index(((Symbol(f"lane_{symbol}", s.extent), 1),), 0)
                if s == p.lanes.symbol  # type: ignore[union-attr]  # lanes is set, see above
                else None
            )
        )
        p.line(f"{place}[l] = {name}[{shifted.text('/')}];")
    vtype = register_type(dtype, count)
    return f"load_bool_{vtype}({place})" if dtype == BOOL else f"load_{vtype}({place})"


def store(p: Printer, access: Access, value: Operand) -> None:
    """Write a value (or the active lanes of one) to an access.

    Raises:
        Unsupported: lanes at addresses with divisions.
    """
    name, flat = _address(p, access)
    stride = _stride(p, flat)
    boolean = value.dtype == BOOL
    if p.lanes is None or stride == 0:
        if boolean:
            p.line(f"store_bool({name} + {_parenthesised(flat)}, {value.text});")
        else:
            p.line(f"{name}[{flat.text('/')}] = {value.text};")
        return
    count, active = p.lanes.count, p.lanes.active
    vtype = register_type(value.dtype, count)
    kind = f"bool_{vtype}" if boolean else vtype
    word = widen(value, count)
    place = f"{name} + {_parenthesised(flat)}"
    if stride is None:
        raise Unsupported(f"the C backend cannot scatter to {access}", None, 'backend="ref"')
    if stride == 1 and not active:
        p.line(f"store_{kind}({place}, {word});")
    elif stride == 1 and not boolean:
        p.line(f"storen_{kind}({place}, {word}, {active});")
    else:
        p.line(f"scatter_{kind}({place}, {stride}, {word}, {active or count});")


def _parenthesised(flat: Index) -> str:
    text = flat.text("/")
    return text if text.isalnum() else f"({text})"
