"""A plan as one C source: a function per kernel, a serial and a parallel entry per launch.

Takes a ``Plan`` and a vector level; gives a ``Source``. Holds the split of a kernel over threads: a
range of its outermost loop, or chunks of a whole reduction with partial results in scratch memory,
so that a thread count never changes an order. Neighbouring kernels share one parallel region (seed
§8.5). Not here: loops (``loops``), compiling and loading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from stax_native.backend import Launch, Source, Tile
from stax_ref import tiling
from stax_ref.errors import Unsupported
from stax_ref.graph import Literal
from stax_ref.libm import SYMBOLS
from stax_ref.nest import Let, Local, Loop, Nest, Statement, Store, arguments, walk
from stax_ref.node import Buffer
from stax_ref.ops import REDUCTIONS
from stax_ref.plan import Extern, Plan, Template

from .functions import function_source, libm_source
from .loops import LEVEL_BYTES, Printer
from .values import HEADERS, headers, load_element, memory_type, store_element

PARALLEL_WORK = 1 << 18
"""Operations below which a launch has no parallel entry: about 10 µs of one core with AVX-512.

Two threads would gain a few microseconds; on a busy machine the second may come a whole time slice
late."""

BESIDE_EXTERNS = 512
"""Factor on ``PARALLEL_WORK`` in a plan with external calls that may be BLAS. After a product its
threads wait busily on the cores our threads would use, and the other way round: two cores then hand
over once per time slice. A 64 x 512 epilogue took 8 ms in parallel after a product of 0.1 ms."""

PARTS = 16
"""P of Algorithm 8.1: a constant, because the text must not depend on the machine."""

MINIMUM = 512
"""m of Algorithm 8.1: iterations a thread gets at least."""

GRAIN = 64
"""A thread's part of a vector loop is a multiple of this many elements."""

_RESERVED = re.compile(
    r"(?:[tainp]\d*|[ijo]\d+|r|r_0|b|c|u|l|at|stop|begin|end|flags|threads|thread|env|[vpsq]_.*|lane_.*"
    r"|asm|typeof|unix|linux|i386|STAX_.*|count|\w*_[fiu]\d+(?:x\d+)?|\w*_bool\w*|lanes_.*"
    r"|[fiu](?:8|16|32|64)(?:x\d+)?|stax_.*|p?\d*_?k\d+.*|auto|break|case|char|const|continue|default|do|double"
    r"|else|enum|extern|float|for|goto|if|inline|int|long|main|register|restrict|return|short|signed"
    r"|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while|omp_.*|_.*)$"
)


@dataclass(slots=True)
class _Unit:
    """One kernel's functions and how threads share it: ``range``, ``chunks`` or ``single``."""

    nest: Nest
    kind: str
    lines: list[str]
    total: int = 0
    grain: int = 1
    scratch: list[int] = field(default_factory=list)
    functions: set[tuple[str, str]] = field(default_factory=set)


def c_names(names: Sequence[str]) -> dict[str, str]:
    """Buffer names in C: the user's words, changed where C or the printer has the word."""
    chosen: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        base = f"{plain}_" if _RESERVED.match(plain) else plain
        word, count = base, 1
        while word in chosen.values():
            word = f"{base}_{count}"
            count += 1
        chosen[name] = word
    return chosen


@dataclass(slots=True)
class _Part:
    """One plan's share of a translation unit."""

    plan: Plan
    functions: set[tuple[str, str]]
    headers: set[str]
    lines: list[str]
    launches: tuple[Launch, ...]
    scratch: tuple[int, ...]
    tiles: tuple[Tile, ...]


def emit(plan: Plan, isa: str, threads: bool = True) -> Source:
    """Print a plan for a vector level.

    Args:
        plan: the plan.
        isa: ``"avx512"``, ``"avx2"`` or ``"scalar"``.
        threads: False when the compiler has no OpenMP: no parallel entries.

    Raises:
        Unsupported: a kernel needs what this backend does not have.
    """
    return emit_batch([plan], isa, threads)[0]


def emit_batch(plans: Sequence[Plan], isa: str, threads: bool = True) -> list[Source]:
    """Print several plans into one translation unit: one text, one compile, a source per plan.

    A conformance suite compiles thousands of small programs; together they cost half as much.
    """
    single = len(plans) == 1
    parts = [_part(p, isa, threads, "" if single else f"p{k}_") for k, p in enumerate(plans)]
    level = list(LEVEL_BYTES)[::-1].index(isa)
    head = [f"// {part.plan.name}, kernels: {part.plan.kernels}; written by Stax" for part in parts]
    wanted = {header for part in parts for header in part.headers} | {HEADERS[0]}
    head += [f"#define STAX_LEVEL {level}"]
    head += [f'#include "{header}"' for header in HEADERS if header in wanted] + [""]
    if any(entry.parallel for part in parts for entry in (*part.launches, *part.tiles)):
        head += ["int omp_get_thread_num(void);", "int omp_get_num_threads(void);", ""]
    functions = sorted({function for part in parts for function in part.functions})
    lines = [*head, *(_function(op, vtype) for op, vtype in functions)]
    for part in parts:
        lines += part.lines
    text = "\n".join(lines).rstrip() + "\n"
    return [Source("c", text, part.launches, part.scratch, part.tiles) for part in parts]


def _function(op: str, vtype: str) -> str:
    """The text of a function that no header has."""
    if op in SYMBOLS:
        return libm_source(op, vtype)
    return function_source(op, "float32" if vtype.startswith("f32") else "float64", vtype)


def _part(plan: Plan, isa: str, threads: bool, prefix: str) -> _Part:
    """The functions and entries of one plan; names start with the prefix."""
    numbers = {buffer.name: k for k, buffer in enumerate(plan.buffers)}
    scratch: list[int] = []
    units: dict[str, _Unit] = {}
    templates = [step for step in plan.steps if isinstance(step, Template)]
    nests = [nest for launch in plan.launches for nest in launch]
    nests += [template.nest for template in templates]
    for nest in nests:
        named = replace(nest, name=prefix + nest.name)
        try:
            unit = _unit(named, isa, numbers, len(plan.buffers) + len(scratch))
        except Unsupported as error:
            where = nest.places[-1] if nest.places else None
            raise Unsupported(error.what, where, error.instead) from None
        scratch += unit.scratch
        units[nest.name] = unit
    lines = [line for unit in units.values() for line in (*unit.lines, "")]
    launches = []
    externs = any(isinstance(step, Extern) and not step.call.law for step in plan.steps)
    limit = PARALLEL_WORK * (BESIDE_EXTERNS if externs else 1)
    for number, launch in enumerate(plan.launches):
        total = sum(tiling.work(nest) for nest in launch)
        shared = [units[nest.name] for nest in launch]
        parallel = threads and total >= limit and any(unit.total > 1 for unit in shared)
        symbol = f"stax_launch_{prefix}{number}"
        lines += _entries(symbol, shared, parallel)
        names = tuple(nest.name for nest in launch)
        entry = f"{symbol}_parallel" if parallel else ""
        launches.append(Launch(names, f"{symbol}_serial", entry, total))
    tiles: list[Tile] = []
    for template in templates:
        unit = units[template.nest.name]
        work = tiling.work(template.nest) * template.rows // template.count
        symbol = f"stax_tile_{unit.nest.name}"
        parallel = threads and work >= PARALLEL_WORK
        lines += _tile_entries(symbol, unit, parallel)
        entry = f"{symbol}_parallel" if parallel else ""
        tiles.append(Tile(template.name, f"{symbol}_serial", entry, unit.total))
    functions = {function for unit in units.values() for function in unit.functions}
    wanted = {header for nest in nests for header in _headers(nest)}
    return _Part(plan, functions, wanted, lines, tuple(launches), tuple(scratch), tuple(tiles))


def _headers(nest: Nest) -> Iterator[str]:
    """The headers whose types and operations a kernel uses."""
    for buffer in nest.buffers:
        yield from headers("", buffer.dtype)
    for statement in walk(nest.body):
        for argument in arguments(statement):
            if isinstance(argument, Literal):
                yield from headers("", argument.dtype)
        if isinstance(statement, Let):
            yield from headers(statement.op, statement.dtype)
        elif isinstance(statement, Loop):
            for accumulator in statement.accumulators:
                combine = REDUCTIONS[accumulator.kind].combine
                yield from headers(combine, accumulator.dtype)
                yield HEADERS[-1]


def _unit(nest: Nest, isa: str, numbers: dict[str, int], first_scratch: int) -> _Unit:
    """The functions of one kernel."""
    loops = tiling.loops_inside(nest.body)
    top = loops[0] if loops else None
    if tiling.chain(nest):
        return _range_unit(nest, isa, numbers)
    if (
        top is not None
        and top.kind == "reduced"
        and all(a.order.form == "lanes" for a in top.accumulators)
        and top.symbol.extent > top.accumulators[0].order.chunk
    ):
        return _chunk_unit(nest, top, isa, numbers, first_scratch)
    printer = _printer(nest, isa)
    printer.lines += _comment(nest)
    printer.line_at(0, f"static void {nest.name}(void *const *b, int *flags) {{")
    _prologue(printer, nest, nest.body, numbers)
    printer.body(nest.body)
    printer.line_at(0, "}")
    return _Unit(nest, "single", printer.lines, functions=printer.functions)


def _printer(nest: Nest, isa: str) -> Printer:
    buffers = {buffer.name: buffer for buffer in nest.buffers}
    locals_ = [s.buffer.name for s in walk(nest.body) if isinstance(s, Local)]
    names = c_names([*buffers, *locals_])
    return Printer(isa, buffers, names, prefetch=tiling.rows_ahead(nest))


def _comment(nest: Nest) -> list[str]:
    """The nest as a comment, with the user's lines it comes from."""
    lines = str(nest).splitlines()
    origin = f"  from {', '.join(nest.lines)}" if nest.lines else ""
    return ["/* " + lines[0] + origin, *("   " + line for line in lines[1:]), "*/"]


def _range_head(printer: Printer, nest: Nest) -> None:
    """The head of a kernel that threads call with a range of iterations each."""
    printer.lines += _comment(nest)
    head = f"static void {nest.name}(void *const *b, i64 begin, i64 end, int *flags) {{"
    printer.line_at(0, head)


def _prologue(
    printer: Printer, nest: Nest, body: Sequence[Statement], numbers: dict[str, int]
) -> None:
    """Typed pointers to the buffers that a body touches, read from the table."""
    accesses = [getattr(s, "access", None) for s in walk(tuple(body))]
    touched = {access.buffer for access in accesses if access is not None}
    stored = {s.access.buffer for s in walk(tuple(body)) if isinstance(s, Store)}
    shared = {name for pair in nest.in_place for name in pair}
    for buffer in nest.buffers:
        if buffer.name not in touched:
            continue
        const = "" if buffer.name in stored else "const "
        name = printer.names[buffer.name]
        ctype = memory_type(buffer.dtype)
        place = numbers[buffer.name]
        alone = "" if buffer.name in shared else "restrict "
        printer.line(f"{const}{ctype} *const {alone}{name} = b[{place}];{_shape(buffer)}")
    printer.line("(void)flags;")


def _shape(buffer: Buffer) -> str:
    return f"  // ({', '.join(map(str, buffer.shape))})"


def _range_unit(nest: Nest, isa: str, numbers: dict[str, int]) -> _Unit:
    """A kernel whose outermost loop is shared out in ranges."""
    printer = _printer(nest, isa)
    _range_head(printer, nest)
    _prologue(printer, nest, nest.body, numbers)
    loops = tiling.chain(nest)
    depth = tiling.parallel_depth(tiling.extents(nest), PARTS, MINIMUM)
    if tiling.form(loops[-1], printer.buffers) == "vector":
        loops = loops[:-1] or loops
    shared = loops[: max(1, depth)]
    total = shared[0].symbol.extent
    grain = 1
    printer.body([s for s in nest.body if not isinstance(s, Loop)])
    if len(shared) > 1:
        total = _collapsed(printer, shared)
    elif tiling.form(shared[0], printer.buffers) == "vector" and printer.width(shared[0]) > 1:
        printer.vector_loop(shared[0], "begin", "end", None)
        grain = GRAIN
    else:
        printer.scalar_loop(shared[0], "begin", "end")
    printer.line_at(0, "}")
    return _Unit(nest, "range", printer.lines, total, grain, functions=printer.functions)


def _collapsed(printer: Printer, shared: Sequence[Loop]) -> int:
    """Several outer loops as one range; returns the number of its iterations."""
    total = 1
    for loop in shared:
        total *= loop.symbol.extent
    with printer.block("for (i64 at = begin; at < end; at++)"):
        rest = total
        for loop in shared:
            rest //= max(loop.symbol.extent, 1)
            inner = f"at / {rest}" if rest > 1 else "at"
            printer.line(f"const i64 {loop.symbol.name} = ({inner}) % {loop.symbol.extent};")
        for loop in shared[:-1]:
            printer.body([s for s in loop.body if not isinstance(s, Loop)])
        printer.body(shared[-1].body)
    return total


def _chunk_unit(
    nest: Nest, top: Loop, isa: str, numbers: dict[str, int], first_scratch: int
) -> _Unit:
    """A whole reduction: threads take chunks, one of them combines the partial results."""
    chunk, extent = top.accumulators[0].order.chunk, top.symbol.extent
    chunks = -(-extent // chunk)
    position = nest.body.index(top)
    before: tuple[Statement, ...] = nest.body[:position]
    printer = _printer(nest, isa)
    _range_head(printer, nest)
    before = tuple(_needed(before, (top,)))
    _prologue(printer, nest, (*before, top), numbers)
    places = {}
    for k, a in enumerate(top.accumulators):
        places[a.name] = first_scratch + k
        ctype = memory_type(a.dtype)
        printer.line(f"{ctype} *const restrict q_{a.name} = b[{places[a.name]}];  // ({chunks},)")
    printer.body(before)
    with printer.block("for (i64 at = begin; at < end; at++)"):
        printer.line(f"const i64 c = {chunk} * at;")
        printer.stop(extent, chunk)
        printer.chunk(top, "c", "stop", None)
        for a in top.accumulators:
            value = printer.folded(top, a)
            printer.line(store_element(f"q_{a.name}", "at", value, a.dtype))
    printer.line_at(0, "}")
    _chunk_finish(printer, nest, top, numbers, places, chunks)
    scratch = [chunks * a.dtype.itemsize for a in top.accumulators]
    functions = printer.functions
    return _Unit(nest, "chunks", printer.lines, chunks, 1, scratch, functions)


def _chunk_finish(
    printer: Printer,
    nest: Nest,
    top: Loop,
    numbers: dict[str, int],
    places: dict[str, int],
    chunks: int,
) -> None:
    """Combine the partial results by adjacent pairs, then what follows the loop."""
    position = nest.body.index(top)
    printer.line_at(0, "")
    printer.line_at(0, f"static void {nest.name}_finish(void *const *b, int *flags) {{")
    stores = [s for s in nest.body[:position] if isinstance(s, Store)]
    after = (*stores, *nest.body[position + 1 :])
    before = _needed(nest.body[:position], after)
    _prologue(printer, nest, (*before, *after), numbers)
    printer.body(before)
    printer.declare(top.accumulators)
    with printer.block(""):
        for a in top.accumulators:
            printer.line(f"const {memory_type(a.dtype)} *const q_{a.name} = b[{places[a.name]}];")
            printer.partial_total(a)
        with printer.block(f"for (i64 at = 0; at < {chunks}; at++)"):
            for a in top.accumulators:
                printer.take_partial(a, load_element(f"q_{a.name}", "at", a.dtype))
        for a in top.accumulators:
            printer.finish_total(a)
    printer.body(after)
    printer.line_at(0, "}")


def _needed(values: Sequence[Statement], body: Sequence[Statement]) -> list[Statement]:
    """The values that a body uses, directly or through one another."""
    used = {a for s in walk(tuple(body)) for a in arguments(s) if isinstance(a, str)}
    kept: list[Statement] = []
    for statement in reversed(values):
        if isinstance(statement, Let) and statement.name in used:
            kept.append(statement)
            used |= {a for a in statement.args if isinstance(a, str)}
    return kept[::-1]


def _tile_entries(symbol: str, unit: _Unit, parallel: bool) -> list[str]:
    """The entries of an epilogue: a range of its iterations, on one thread or shared out."""
    name, grain = unit.nest.name, unit.grain
    lines = [
        f"int {symbol}_serial(void *const *b, i64 begin, i64 end) {{",
        "    int flags = 0;",
        "    const u32 env = stax_enter();",
        f"    {name}(b, begin, end, &flags);",
        *("    stax_leave(env);", "    return flags;", "}", ""),
    ]
    if not parallel:
        return lines
    part = ", ".join(
        f"begin + stax_part(end - begin, thread{plus}, count, {grain})" for plus in ("", " + 1")
    )
    return [
        *lines,
        f"int {symbol}_parallel(void *const *b, i64 begin, i64 end, int threads) {{",
        "    int flags = 0;",
        "#pragma omp parallel num_threads(threads)",
        "    {",
        "        const u32 env = stax_enter();",
        "        const i64 thread = omp_get_thread_num(), count = omp_get_num_threads();",
        f"        {name}(b, {part}, &flags);",
        *("        stax_leave(env);", "    }", "    return flags;", "}", ""),
    ]


def _entries(symbol: str, units: Sequence[_Unit], parallel: bool) -> list[str]:
    """The entries of one launch; every thread sets and restores its float environment."""
    lines = [
        f"int {symbol}_serial(void *const *b) {{",
        "    int flags = 0;",
        "    const u32 env = stax_enter();",
    ]
    for unit in units:
        name = unit.nest.name
        if unit.kind == "single":
            lines.append(f"    {name}(b, &flags);")
        else:
            lines.append(f"    {name}(b, 0, {unit.total}, &flags);")
        if unit.kind == "chunks":
            lines.append(f"    {name}_finish(b, &flags);")
    lines += ["    stax_leave(env);", "    return flags;", "}", ""]
    if not parallel:
        return lines
    lines += [
        f"int {symbol}_parallel(void *const *b, int threads) {{",
        "    int flags = 0;",
        "#pragma omp parallel num_threads(threads)",
        "    {",
        "        const u32 env = stax_enter();",
        "        const i64 thread = omp_get_thread_num(), count = omp_get_num_threads();",
    ]
    for k, unit in enumerate(units):
        name = unit.nest.name
        if k:
            lines.append("#pragma omp barrier")
        if unit.kind == "single":
            lines.append(f"        if (thread == 0) {name}(b, &flags);")
            continue
        part = ", ".join(
            f"stax_part({unit.total}, thread{plus}, count, {unit.grain})" for plus in ("", " + 1")
        )
        lines.append(f"        {name}(b, {part}, &flags);")
        if unit.kind == "chunks":
            lines.append("#pragma omp barrier")
            lines.append(f"        if (thread == 0) {name}_finish(b, &flags);")
    lines += ["        stax_leave(env);", "    }", "    return flags;", "}", ""]
    return lines
