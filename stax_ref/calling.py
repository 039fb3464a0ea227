"""calling: the nodes of external calls, and what each of them reads.

Takes one ``extern`` equation of a graph; gives its value to the lowering, with the node that calls.
Holds which operands are strided views and which are stored first, and that all results of one call
come from one node. Not here: the call itself (``calls``), other equations (``lower``).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .calls import Call
from .compose import Builder, filled, loading, loop_symbols, view
from .graph import Eqn, Graph, Value, literal
from .index import c_strides, flatten
from .lowering import Lowering, Shared
from .node import Body, View


def sharing(graph: Graph) -> Shared:
    """The equations of each external call of a graph."""
    shared: Shared = {}
    for eqn in graph.eqns:
        if eqn.op == "extern":
            shared.setdefault((eqn.param("call"), eqn.args), []).append(eqn)
    return shared


def external(lowering: Lowering, eqn: Eqn) -> None:
    """One node for all results of a call; the first of their equations adds it.

    Args:
        lowering: gets the values of the results.
        eqn: an ``extern`` equation.
    """
    if eqn.out.name in lowering.values:
        return
    wanted: dict[int, Value] = {}
    for same in lowering.calls[eqn.param("call"), eqn.args]:
        if math.prod(same.out.shape) == 0:
            zero = literal(0, same.out.dtype)
            lowering.values[same.out.name] = filled(same.out.shape, zero)
        else:
            wanted[same.param("result")] = same.out
    if not wanted:
        return
    call, operands = _bound(lowering, eqn)
    kept = [_kept_as(lowering, out) for out in wanted.values()]
    if any(held is not out for held, out in zip(kept, wanted.values(), strict=True)):
        call = replace(call, shapes=tuple(out.shape for out in wanted.values()))
    buffers = [lowering.new_buffer(held.name, held.shape, held.dtype) for held in kept]
    for out, held, buffer in zip(wanted.values(), kept, buffers, strict=True):
        lowering.values[held.name] = loading(buffer)
        if held is not out:
            lowering.values[out.name] = view(Eqn(out, "reshape", (held,), (), eqn.where))
    lowering.add_node(
        buffers[0],
        "extern",
        [],
        [],
        Body(()),
        eqn.where,
        call=call,
        operands=tuple(operands),
        results=tuple(wanted),
        others=tuple(buffer.name for buffer in buffers[1:]),
    )


def _kept_as(lowering: Lowering, out: Value) -> Value:
    """What a result is stored as: itself, or an output that is the same elements reshaped."""
    outputs = lowering.graph.outputs
    if out in outputs:
        return out
    reshaped = (e.out for e in lowering.graph.eqns if e.op == "reshape" and e.args == (out,))
    return next((value for value in reshaped if value in outputs), out)


def _bound(lowering: Lowering, eqn: Eqn) -> tuple[Call, list[View]]:
    """The call and what it reads; an empty operand that nothing computes is bound to the call."""
    call: Call = eqn.param("call")
    operands: list[View] = []
    empty: dict[int, np.ndarray] = {}
    for number, operand in enumerate(eqn.args):
        assert isinstance(operand, Value)
        read = _view(lowering, operand)
        if math.prod(operand.shape) == 0 and lowering.buffers[read.buffer].kind == "computed":
            empty[number] = np.empty(operand.shape, operand.dtype)
        else:
            operands.append(read)
    return (call.with_static(empty) if empty else call), operands


def _view(lowering: Lowering, operand: Value) -> View:
    """What an external call reads: a strided view of a buffer where there is one, no copy."""
    found = _strided(lowering, operand)
    if found is None:
        lowering.materialise(operand.name)
        found = _strided(lowering, operand)
    assert found is not None
    if lowering.buffers[found.buffer].kind != "scalar":
        return found
    # A Python scalar lies in the frame of the runtime's call: only kernels read it there.
    name = f"{operand.name}.stored"
    if name not in lowering.values:
        lowering.values[name] = replace(lowering.values[operand.name], buffer=None)
        lowering.materialise(name, f"{operand.name}_stored")
    return _view(lowering, replace(operand, name=name))


def _strided(lowering: Lowering, operand: Value) -> View | None:
    """A value that is one element of one buffer at an affine address, as a view of it."""
    expression = lowering.values[operand.name]
    symbols, index = loop_symbols("v", expression.shape)
    builder = Builder(lowering.values)
    expression.emit(builder, index)
    loads = [instr.access for instr in builder.instrs if instr.access is not None]
    if len(builder.instrs) != 1 or len(loads) != 1 or expression.dtype != operand.dtype:
        return None
    access = loads[0]
    buffer = lowering.buffers[access.buffer]
    layouts = (buffer.strides, c_strides(buffer.shape))  # as it came, and as the oracle holds it
    if not all(flatten(access.index, strides).is_affine for strides in layouts):
        return None
    remaining = iter(symbols)
    axes = tuple(next(remaining) if extent != 1 else None for extent in expression.shape)
    return View(access.buffer, expression.shape, axes, access.index)
