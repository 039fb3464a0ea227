"""explain: one text about a program: what was fused, why, what was not and why, and what it costs.

Takes a ``Program``; gives its nodes, dependences, decisions, orders, storage and, per kernel, the
bytes moved against the bound of reading what it needs and writing what others need once. Holds
that bound and the sections of the text. Not here: why it was compiled (``recompile``), the stages'
own texts (their objects print them), pictures (``page``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .compile import Program, compile_graph
from .depend import Edges, MemoryDep, Record, WholeDep
from .node import Node
from .plan import Extern, Plan, Step, Template, touched, writes


def explain(program: Program, programs: Sequence[str] = (), seed: Plan | None = None) -> str:
    """What was fused, why, what was not and why; bytes moved; kernels; memory.

    Args:
        program: what every stage made.
        programs: lines on why the function has its programs (``recompile.history``).
        seed: the plan of the seed's schedule, whose traffic is shown beside the program's.

    Returns:
        sections with a title each, entries indented by two.
    """
    sections = {
        "nodes": [_node(node) for node in program.lowered.nodes],
        "dependences": _all_dependences(program.edges),
        "decisions": list(map(str, program.groups.decisions)),
        "order": _lines(program.text("order")),
        "kernels": [kernel_line(program.plan, step) for step in program.plan.steps],
        "storage": _lines(program.text("memory")),
        "programs": list(programs),
    }
    lines = [headline(program), *(f"  {line}" for line in summary(program, seed))]
    for title, entries in sections.items():
        if entries:
            lines += ["", title, *(f"  {entry}" for entry in entries)]
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    """A stage's text without its empty lines, which part sections here."""
    return [line for line in text.splitlines() if line]


def headline(program: Program) -> str:
    """``softmax(x: f32[64,128])``."""
    inputs = (f"{e.value.name}: {e.value.type_text}" for e in program.graph.inputs)
    return f"{program.plan.name}({', '.join(inputs)})"


def seed_plan(program: Program) -> Plan | None:
    """The plan of the same graph under the seed's schedule; None for a program that has it."""
    if program.config.seed:
        return None
    return compile_graph(program.graph, replace(program.config, schedule="seed", check=0)).plan


def summary(program: Program, seed: Plan | None = None) -> tuple[str, str, str]:
    """Kernels, traffic and memory in a line each; the seed's traffic where its plan is given."""
    plan = program.plan
    externs = sum(isinstance(step, Extern) for step in plan.steps)
    calls = f" and {plural(externs, 'external call')}" if externs else ""
    beside = "" if seed is None else f", {seed.bytes_moved} by the seed's schedule"
    before, after = plural(len(program.lowered.nodes), "node"), plural(plan.kernels, "kernel")
    return (
        f"{before} before fusion, {after} after{calls}",
        f"{plan.bytes_moved} bytes moved{beside}; each input and output once: {plan.least_bytes}",
        f"{plan.peak_bytes} bytes of memory beside the inputs, {plan.arena_bytes} of them arena",
    )


def plural(count: int, word: str) -> str:
    """``1 kernel``, ``2 kernels``."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def least_bytes(plan: Plan, step: Step) -> int:
    """The bound of a step: what it needs from before, read once, and what leaves it, written once.

    A buffer leaves when a later step reads it or the caller gets it. What a step both writes and
    alone reads would move nothing in a kernel that kept it to itself.
    """
    position = plan.steps.index(step)
    later = {name for other in plan.steps[position + 1 :] for name in touched(other)}
    inside = writes(step)
    kept = [n for n in touched(step) if n not in inside or n in later or n in plan.outputs]
    return sum(plan.buffer(name).nbytes for name in kept)


def kernel_line(plan: Plan, step: Step) -> str:
    """One kernel or external call: members, bytes moved and their bound."""
    moved, least = plan.moved_by(step), least_bytes(plan, step)
    return f"{step.name}: {kernel_members(step)}, {moved} bytes moved, at least {least}"


def kernel_members(step: Step) -> str:
    """The nodes of a kernel, or the call."""
    if isinstance(step, Template):
        return (
            f"{step.product.text} in tiles of {step.rows} rows, then {', '.join(step.nest.nodes)}"
        )
    if isinstance(step, Extern):
        whose = "NumPy" if step.call.is_numpy else "Python"
        return f"{step.text} (external call: {whose})"
    return ", ".join(step.nodes)


def _node(node: Node) -> str:
    place = f"  {node.where.short}  {node.where.text}" if node.where is not None else ""
    rewrites = f", overwrites {node.mutates}" if node.mutates is not None else ""
    return f"{node.name}: {node.kind}{rewrites}{place}"


def _all_dependences(edges: Edges) -> list[str]:
    """Every node's dependences, and how many have no index."""
    lines = [line for record in edges.records for line in _dependences(record)]
    if edges.fallbacks:
        lines.append(f"fall-back indices: {edges.fallbacks} at runtime positions")
    return lines


def _dependences(record: Record) -> list[str]:
    """What a node reads, and after whom it runs without reading anything."""
    name = record.node.name
    lines = [f"{name} reads {read_text(dep)}" for dep in record.reads]
    weak = (f"{name} after {dep.reader}, weak: it overwrites {dep.buffer}" for dep in record.weak)
    return [*lines, *weak]


def read_text(dep: MemoryDep | WholeDep) -> str:
    """One read in words: ``x at c0 for c0 < 8192``."""
    if isinstance(dep, WholeDep):
        return f"{dep.buffer} as a whole"
    ranges = ", ".join(f"c{k} < {size}" for k, size in enumerate(dep.sizes))
    return f"{dep.buffer} at {dep.index}" + (f" for {ranges}" if ranges else "")
