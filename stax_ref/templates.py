"""templates: a matrix product whose pointwise epilogue runs on its output tiles (seed §7.3).

Takes the units that ordinary fusion has left; gives them with products and epilogues joined. The
product stays an external call, made for a tile of rows at a time, and the loops that read it run on
that tile while it is in the cache: the product is never stored as a whole. Templates come after
ordinary fusion, which has then gathered the epilogue into one group. Not here: how tiles are run
(``plan``, the interpreters, the native runtime).
"""

from __future__ import annotations

from collections.abc import Sequence

from .acyclic import Ancestry
from .config import Config
from .depend import MemoryDep
from .greedy import CYCLE, Unit
from .group import Decision, Group
from .legality import NodeRules
from .ops import FLAGGED


def with_templates(
    units: Sequence[Unit], ancestry: Ancestry, rules: NodeRules, config: Config
) -> tuple[list[Group], list[Decision]]:
    """Join products with their epilogues.

    Args:
        units: the partition after ordinary fusion.
        ancestry: of these units; changed.
        rules: whose buffers and readers are asked.
        config: ``template_rows``, the rows of a tile. The library prepares the second operand
            once a tile, so tiles of few rows cost more than they spare.

    Returns:
        the groups in program order, and a decision for every product that has one reading group.
    """
    alive = {unit.number: unit for unit in units}
    decisions: list[Decision] = []
    for product in units:
        if product.number not in alive or not _is_product(product.group):
            continue
        (name,) = product.writes
        readers = [u for u in alive.values() if name in u.buffers and u is not product]
        if len(readers) != 1 or readers[0].group.tree is None:
            continue
        (reader,) = readers
        pair, saved = (product.name, reader.name), 2 * rules.buffers[name].nbytes
        rows = config.template_rows
        reason = _why_not(name, reader.group, rows, rules)
        if not reason and ancestry.makes_cycle(product.number, reader.number):
            reason = CYCLE
        if reason:
            decisions.append(Decision(pair, False, f"no template: {reason}", saved))
            continue
        said = f"epilogue in tiles of {rows} rows"
        decisions.append(Decision(pair, True, said, saved, reader.group.tree))
        group = reader.group
        records = (*product.group.records, *group.records)
        del alive[product.number], alive[reader.number]
        number = ancestry.merge(product.number, reader.number)
        joined = Group(records, group.tree, group.iteration, group.depth, rows)
        alive[number] = product.joined(reader, number, joined, joined.name)
    ordered = sorted(alive.values(), key=lambda unit: unit.first)
    return [unit.group for unit in ordered], decisions


def _is_product(group: Group) -> bool:
    """A call of ``np.matmul`` on two matrices as they lie in memory."""
    node = group.nodes[0]
    if node.call is None or node.call.name != "matmul" or not node.call.direct:
        return False
    return len(node.operands) == 2 and all(len(view.shape) == 2 for view in node.operands)


def _why_not(name: str, epilogue: Group, rows: int, rules: NodeRules) -> str:
    """Why the epilogue cannot run tile by tile; empty when it can."""
    buffer = rules.buffers[name]
    if not rows or 2 * rows > buffer.shape[0]:
        return f"the product has fewer than two tiles of {rows} rows"
    if name in rules.traffic.kept:
        return "the product is an output"
    if any(node.outer_sizes != buffer.shape for node in epilogue.nodes):
        return "the epilogue has other loops than the product"
    if epilogue.nodes[0].stream:
        return "the epilogue runs on another stream"
    whole = rules.whole(name)
    for record in epilogue.records:
        reads = [dep for dep in record.reads if dep.buffer == name]
        if any(not isinstance(dep, MemoryDep) or dep != whole for dep in reads):
            return "the epilogue reads the product at other places than it runs"
        if any(rules.buffers[dep.buffer].kind == "scalar" for dep in record.reads):
            return "the epilogue reads a number, which the runtime does not keep in an array"
        if any(i.op in FLAGGED or i.symbol is not None for i in record.node.body.instrs):
            return "the epilogue may fail"
    return ""
