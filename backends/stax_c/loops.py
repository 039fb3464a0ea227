"""One ``Nest`` as C: loops in scalar, vector and lane form, with tails.

Takes a nest and a vector level; gives the lines of its functions. Holds the three forms of a loop:
a scalar loop; a vector loop, whose tail is one masked step and not a second loop; and the lanes of
a planned reduction, which are the same at every level. How each loop is run is asked of
``stax_ref.tiling``. Not here: expressions (``values``), files and launches (``emit``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from stax_ref import tiling
from stax_ref.dtypes import BOOL
from stax_ref.errors import Unsupported
from stax_ref.graph import Literal, literal
from stax_ref.index import Symbol
from stax_ref.nest import (
    Accumulate,
    Accumulator,
    Argument,
    Assume,
    If,
    Let,
    Local,
    Loop,
    Statement,
    Store,
)
from stax_ref.node import Buffer
from stax_ref.ops import REDUCTIONS

from . import accesses, columns
from .functions import PRINTED
from .values import (
    Operand,
    constant,
    expression,
    fold,
    memory_type,
    reduction_type,
    register_type,
    widen,
)

LEVEL_BYTES = {"avx512": 64, "avx2": 32, "scalar": 0}


@dataclass(frozen=True, slots=True)
class Lanes:
    """The loop variable that runs in lanes: its name, their number, and how many are active."""

    symbol: Symbol
    count: int
    active: str = ""


@dataclass(slots=True)
class Printer:
    """The lines of one function, the values known so far, and the lanes in force."""

    isa: str
    buffers: dict[str, Buffer]
    names: dict[str, str]
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    values: dict[str, Operand] = field(default_factory=dict)
    lanes: Lanes | None = None
    functions: set[tuple[str, str]] = field(default_factory=set)
    accumulators: dict[str, tuple[Accumulator, str]] = field(default_factory=dict)
    prefetch: dict[int, dict[str, int]] = field(default_factory=dict)
    ahead: dict[str, int] = field(default_factory=dict)
    laned: set[str] = field(default_factory=set)

    def line(self, text: str) -> None:
        """One indented line."""
        self.lines.append("    " * self.depth + text)

    def line_at(self, depth: int, text: str) -> None:
        """One line at an indentation of its own: a function's head and end."""
        self.lines.append("    " * depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines inside braces."""
        self.line(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    # statements -----------------------------------------------------------------------------------
    def body(self, body: Sequence[Statement]) -> None:
        """Every statement in order."""
        for statement in body:
            if isinstance(statement, Loop):
                self.loop(statement)
            elif isinstance(statement, Let):
                self._let(statement)
            elif isinstance(statement, Store):
                accesses.store(self, statement.access, self.argument(statement.value))
            elif isinstance(statement, Accumulate):
                self._accumulate(statement)
            elif isinstance(statement, Local):
                self._local(statement.buffer)
            elif isinstance(statement, If):
                self._if(statement)
            else:
                self._assume(statement)

    def argument(self, argument: Argument) -> Operand:
        """A value or a literal as an operand."""
        if isinstance(argument, Literal):
            return Operand(constant(argument), argument.dtype)
        return self.values[argument]

    def _let(self, statement: Let) -> None:
        guard = self.argument(statement.guard) if statement.guard is not None else None
        if statement.access is not None:
            found = accesses.load(self, statement.access, statement.dtype, guard)
            self._define(statement, *found)
            return
        if statement.index is not None:
            self._define(statement, *accesses.index(self, statement.index, statement.dtype))
            return
        if statement.symbol is not None:
            accesses.position(self, statement.symbol, self.argument(statement.args[0]), guard)
            return
        if statement.op == "undef":
            zero = constant(literal(0, statement.dtype))
            self._define(statement, zero, 1)
            return
        args = [self.argument(a) for a in statement.args]
        lanes = max((a.lanes for a in args), default=1)
        active = self.lanes.active or str(lanes) if self.lanes is not None else "1"
        if statement.dtype.kind == "f" and statement.op in PRINTED:
            self.functions.add((statement.op, register_type(statement.dtype, lanes)))
        text = expression(statement.op, args, statement.dtype, lanes, active)
        self._define(statement, text, lanes)

    def _define(self, statement: Let, text: str, lanes: int) -> None:
        ctype = register_type(statement.dtype, lanes)
        self.line(f"const {ctype} {statement.name} = {text};")
        self.values[statement.name] = Operand(statement.name, statement.dtype, lanes)

    def _if(self, statement: If) -> None:
        condition = self.argument(statement.condition)
        if condition.lanes != 1:
            raise Unsupported("the C backend has no condition inside a vector", None, "np.where")
        with self.block(f"if ({condition.text})"):
            self.body(statement.body)

    def _assume(self, statement: Assume) -> None:
        condition = self.argument(statement.condition)
        if condition.lanes == 1:
            self.line(f"if (!({condition.text})) __builtin_unreachable();")

    def _local(self, buffer: Buffer) -> None:
        self.buffers = {**self.buffers, buffer.name: buffer}
        ctype, name = memory_type(buffer.dtype), self.names[buffer.name]
        self.line(f"{ctype} {name}[{max(buffer.size, 1)}] __attribute__((aligned(64)));")

    # loops ----------------------------------------------------------------------------------------
    def loop(self, loop: Loop) -> None:
        """A loop over its whole extent, in the form ``tiling`` gives it."""
        shape = tiling.form(loop, self.buffers)
        self.ahead = self.prefetch.get(id(loop), {})
        if self.lanes is not None:
            shape = "scalar"
        if shape == "lanes":
            self.lane_loop(loop)
        elif shape == "vector" and self.width(loop) > 1:
            self.vector_loop(loop, "0", str(loop.symbol.extent), loop.symbol.extent)
        elif loop.kind == "reduced":
            self._serial_reduction(loop)
        else:
            self.scalar_loop(loop, "0", str(loop.symbol.extent))

    def width(self, loop: Loop) -> int:
        """Lanes of a vector over this loop: half as many when a 64-bit value varies along it."""
        wide = tiling.wide_types(loop.body, loop.symbol, self.buffers) or any(
            a.dtype.itemsize == 8 for a in loop.accumulators
        )
        return max(1, LEVEL_BYTES[self.isa] // (8 if wide else 4))

    def scalar_loop(self, loop: Loop, begin: str, end: str) -> None:
        """``for``, one iteration at a time."""
        i = loop.symbol.name
        with self.block(f"for (i64 {i} = {begin}; {i} < {end}; {i}++)"):
            self.body(loop.body)

    def vector_loop(self, loop: Loop, begin: str, end: str, extent: int | None) -> None:
        """Whole vectors, then one step with the remaining lanes.

        ``extent`` is the number of iterations when it is known here, None inside a thread's part.
        """
        i, width = loop.symbol.name, self.width(loop)
        count = columns.strip(loop, width)
        if count == 1:
            self._vectors(loop, begin, end, extent)
            return
        step = count * width
        with self.block(f"for (i64 {i}_0 = {begin}; {i}_0 < {end}; {i}_0 += {step})"):
            with self.block(f"if ({i}_0 + {step} <= {end})"):
                self.lanes = Lanes(loop.symbol, width)
                columns.strip_body(self, loop, width, count)
                self.lanes = None
            if extent is None or extent % step:
                with self.block("else"):
                    self._vectors(loop, f"{i}_0", end, None)

    def _vectors(self, loop: Loop, begin: str, end: str, extent: int | None) -> None:
        i, width = loop.symbol.name, self.width(loop)
        with self.block(""):
            self.line(f"i64 {i} = {begin};")
            if extent is None or extent >= width:
                with self.block(f"for (; {i} + {width} <= {end}; {i} += {width})"):
                    self.lanes = Lanes(loop.symbol, width)
                    self.body(loop.body)
            if extent is None or extent % width:
                with self.block(f"if ({i} < {end})"):
                    self.line(f"const i64 n = {end} - {i};  // lanes left")
                    self.lanes = Lanes(loop.symbol, width, "n")
                    self.body(loop.body)
        self.lanes = None

    def _accumulate(self, statement: Accumulate) -> None:
        accumulator, place = self.accumulators[statement.accumulator]
        value = self.argument(statement.value)
        lanes = 1
        if self.lanes is not None:
            lanes = self.lanes.count
        word = widen(value, lanes)
        # inactive lanes take the identity, which is neutral for every value (semantics 5)
        own = accumulator.order.form == "lanes"  # and not those of a loop around it
        if own and self.lanes is not None and self.lanes.active:
            vtype = register_type(accumulator.dtype, lanes)
            itype = "i" + vtype[1:]
            neutral = self.neutral(accumulator, lanes)
            word = f"select_{vtype}(lanes_{itype}({self.lanes.active}), {word}, {neutral})"
        self.line(f"{place} = {_combine(accumulator, place, word, lanes)};")

    def lane_loop(self, loop: Loop) -> None:
        """A reduction over the last axis: its planned chunks and lanes (semantics 5)."""
        extent = loop.symbol.extent
        chunk = max(a.order.chunk for a in loop.accumulators)
        self.declare(loop.accumulators)
        if extent <= chunk or not any(is_ordered(a) for a in loop.accumulators):
            with self.block(""):
                self.chunk(loop, "0", str(extent), extent)
                for accumulator in loop.accumulators:
                    self.line(f"{accumulator.name} = {self.folded(loop, accumulator)};")
            return
        with self.block(""):
            for a in loop.accumulators:
                self.partial_total(a)
            with self.chunks(extent, chunk):
                self.chunk(loop, "c", "stop", None)
                for a in loop.accumulators:
                    self.take_partial(a, self.folded(loop, a))
            for a in loop.accumulators:
                self.finish_total(a)

    def declare(self, accumulators: Sequence[Accumulator]) -> None:
        """The finished values, visible after the loop."""
        for accumulator in accumulators:
            lanes = 1
            if self.lanes is not None and accumulator.order.form != "lanes":
                lanes = self.lanes.count
            self.line(f"{register_type(accumulator.dtype, lanes)} {accumulator.name};")
            self.values[accumulator.name] = Operand(accumulator.name, accumulator.dtype, lanes)

    def chunk(self, loop: Loop, begin: str, end: str, extent: int | None) -> None:
        """One chunk: ``LANES`` accumulators, element i to lane i mod LANES, a tail in its lanes."""
        r, width = loop.symbol.name, self.width(loop)
        step = max(a.order.lanes for a in loop.accumulators)
        rounds = step // width
        for a in loop.accumulators:
            vtype, count = register_type(a.dtype, width), a.order.lanes // width
            self.line(f"{vtype} v_{a.name}[{count}];")
            each = f"for (i64 u = 0; u < {count}; u++)"
            self.line(f"{each} v_{a.name}[u] = {self.neutral(a, width)};")
            index = "u" if a.order.lanes == step else f"u % {count}"
            self.accumulators[a.name] = (a, f"v_{a.name}[{index}]")
        base = f"{r}_0"
        self.line(f"i64 {base} = {begin};")
        symbol = loop.symbol
        if extent is None or extent >= step:
            with self.block(f"for (; {base} + {step} <= {end}; {base} += {step})"):
                if width > 1:
                    self.lines.append("#pragma GCC unroll 8")
                with self.block(f"for (i64 u = 0; u < {rounds}; u++)"):
                    self.line(f"const i64 {r} = {base} + {width} * u;")
                    self._in_lanes(symbol, width, "", loop.body)
        if extent is not None and extent % step == 0:
            return
        if width == 1:
            with self.block(f"for (i64 u = 0; u < {end} - {base}; u++)"):
                self.line(f"const i64 {r} = {base} + u;")
                self._in_lanes(symbol, width, "", loop.body)
            return
        self.lines.append("#pragma GCC unroll 8")
        with self.block(f"for (i64 u = 0; u < {rounds}; u++)"):
            self.line(f"const i64 {r} = {base} + {width} * u;")
            self.line(f"const i64 n = {end} - {r} < {width} ? {end} - {r} : {width};")
            self.line("if (n <= 0) break;")
            self._in_lanes(symbol, width, "n", loop.body)

    def _in_lanes(self, symbol: Symbol, width: int, active: str, body: Sequence[Statement]) -> None:
        outer = self.lanes
        self.lanes = Lanes(symbol, width, active) if width > 1 else None
        self.body(body)
        self.lanes = outer

    def folded(self, loop: Loop, accumulator: Accumulator) -> str:
        """The lanes of a chunk folded by halves, as an expression; emits the vector steps."""
        width = self.width(loop)
        count = accumulator.order.lanes // width
        place = f"v_{accumulator.name}"
        while count > 1:
            count //= 2
            folded = _combine(accumulator, f"{place}[u]", f"{place}[u + {count}]", width)
            self.line(f"for (i64 u = 0; u < {count}; u++) {place}[u] = {folded};")
        return fold(accumulator.kind, f"{place}[0]", accumulator.dtype, width)

    # partial results of chunks ----------------------------------------------------------------
    @contextmanager
    def chunks(self, extent: int, chunk: int) -> Iterator[None]:
        """A loop over chunks, each from ``c`` to ``stop``."""
        with self.block(f"for (i64 c = 0; c < {extent}; c += {chunk})"):
            self.stop(extent, chunk)
            yield

    def stop(self, extent: int, chunk: int) -> None:
        """``stop``, the end of the chunk that starts at ``c``; the last one may be shorter."""
        self.line(f"const i64 stop = c + {chunk} < {extent} ? c + {chunk} : {extent};")

    def partial_total(self, a: Accumulator) -> None:
        """Start combining the partial results of chunks."""
        lanes = self.values[a.name].lanes
        if is_ordered(a):
            self.line(f"pairs_{reduction_type(a.kind, a.dtype, lanes)} p_{a.name};")
            self.line(f"p_{a.name}.count = 0;")
        else:
            self.line(f"{a.name} = {self.neutral(a, lanes)};")

    def partial_totals(self, a: Accumulator, count: int) -> None:
        """The same for a strip of columns: one for each of its vectors."""
        lanes = self.values[a.name].lanes
        each = f"for (i64 u = 0; u < {count}; u++)"
        if is_ordered(a):
            vtype = reduction_type(a.kind, a.dtype, lanes)
            self.line(f"pairs_{vtype} p_{a.name}[{count}];")
            self.line(f"{each} p_{a.name}[u].count = 0;")
        else:
            self.line(f"{each} {a.name}[u] = {self.neutral(a, lanes)};")

    def take_partial(self, a: Accumulator, text: str) -> None:
        """One more chunk's result."""
        place, lanes = self.values[a.name].text, self.values[a.name].lanes
        if is_ordered(a):
            vtype = reduction_type(a.kind, a.dtype, lanes)
            self.line(f"push_{vtype}(&p_{place}, {text});")
        else:
            self.line(f"{place} = {_combine(a, place, text, lanes)};")

    def finish_total(self, a: Accumulator) -> None:
        """All chunks' results as one."""
        if is_ordered(a):
            place = self.values[a.name].text
            vtype = reduction_type(a.kind, a.dtype, self.values[a.name].lanes)
            self.line(f"{place} = total_{vtype}(&p_{place});")

    def _serial_reduction(self, loop: Loop) -> None:
        """A reduction in row order: sequential in chunks; lanes, if any, are of a loop around."""
        extent = loop.symbol.extent
        if any(a.order.form == "lanes" for a in loop.accumulators):
            raise Unsupported("lanes of a reduction inside a vector", None, 'backend="ref"')
        chunk = max(a.order.chunk for a in loop.accumulators) or extent
        self.declare(loop.accumulators)
        with self.block(""):
            if not self.is_chunked(loop):
                self._rows(loop, "0", str(extent))
                for a in loop.accumulators:
                    self.line(f"{a.name} = s_{a.name};")
                return
            for a in loop.accumulators:
                self.partial_total(a)
            with self.chunks(extent, chunk):
                self._rows(loop, "c", "stop")
                for a in loop.accumulators:
                    self.take_partial(a, f"s_{a.name}")
            for a in loop.accumulators:
                self.finish_total(a)

    def is_chunked(self, loop: Loop) -> bool:
        """True when a reduction in row order has several chunks whose combination can be seen."""
        chunk = max(a.order.chunk for a in loop.accumulators)
        return 0 < chunk < loop.symbol.extent and any(is_ordered(a) for a in loop.accumulators)

    def neutral(self, a: Accumulator, lanes: int) -> str:
        """The identity of an accumulator in every lane."""
        text = _identity(a)
        return text if lanes == 1 else f"splat_{register_type(a.dtype, lanes)}({text})"

    def _rows(self, loop: Loop, begin: str, end: str) -> None:
        """One chunk in row order, into ``s_<name>``."""
        r = loop.symbol.name
        for a in loop.accumulators:
            lanes = self.values[a.name].lanes
            vtype = register_type(a.dtype, lanes)
            self.line(f"{vtype} s_{a.name} = {self.neutral(a, lanes)};")
            self.accumulators[a.name] = (a, f"s_{a.name}")
        with self.block(f"for (i64 {r} = {begin}; {r} < {end}; {r}++)"):
            self.body(loop.body)


def _identity(accumulator: Accumulator) -> str:
    """The identity as a C literal of the accumulator's type."""
    value = REDUCTIONS[accumulator.kind].identity(accumulator.dtype)
    return constant(literal(value, accumulator.dtype))


def is_ordered(accumulator: Accumulator) -> bool:
    """True when the order of combination can be seen in the bits."""
    return REDUCTIONS[accumulator.kind].ordered and accumulator.dtype.kind == "f"


_ON_MASKS = {"max": "|", "min": "&", "xor": "^"}
"""The operators that join masks, which is what booleans are in registers."""


def _combine(accumulator: Accumulator, a: str, b: str, lanes: int) -> str:
    """``a`` joined with ``b``; the accumulated value is the left operand."""
    op = REDUCTIONS[accumulator.kind].combine
    dtype = accumulator.dtype
    if dtype == BOOL:
        return f"{a} {_ON_MASKS[accumulator.kind]} {b}"
    operands = [Operand(a, dtype, lanes), Operand(b, dtype, lanes)]
    return expression(op, operands, dtype, lanes, str(lanes))
