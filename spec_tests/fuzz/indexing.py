"""Indices that are values: gather, scatter, and assignment into a copy.

takes: the pool
gives: ``FORMS``
holds: how any integers become indices in range
not here: basic indices (``shaping``)
"""

from __future__ import annotations

from .pool import Choice, Form, NoChoiceError, Params, Pool
from .shaping import entries, index_text


def _positions(pool: Pool, extent: int) -> tuple[str, bool]:
    """An integer array, and whether its remainders may count from the end."""
    if not extent:
        raise NoChoiceError
    index = pool.array("iu")
    return index, pool.values[index].dtype.kind == "i" and pool.rng.random() < 0.4


def _gather(pool: Pool) -> Choice:
    name = pool.array(ndim=1)
    axis = pool.rng.choice([0, 0, pool.axis(name, negative=False)])
    extent = pool.shape(name)[axis]
    index, back = _positions(pool, extent)
    return (name, index), (axis, extent, back)


def _index(index: str, extent: int, back: bool) -> str:
    return f"{index} % {extent} - {extent}" if back else f"{index} % {extent}"


def _gather_text(operands: tuple[str, ...], params: Params) -> str:
    axis, extent, back = params
    before = ":, " * axis
    return f"{operands[0]}[{before}{_index(operands[1], extent, back)}]"


def _take(operands: tuple[str, ...], params: Params) -> str:
    axis, extent, back = params
    return f"np.take({operands[0]}, {_index(operands[1], extent, back)}, axis={axis})"


def _take_along(pool: Pool) -> Choice:
    index = pool.array("iu", 1)
    axis = pool.axis(index, negative=False)
    shape = pool.shape(index)
    rest = (*shape[:axis], *shape[axis + 1 :])
    names = [
        name
        for name, value in pool.values.items()
        if getattr(value, "ndim", -1) == len(shape)
        and (*value.shape[:axis], *value.shape[axis + 1 :]) == rest
        and value.shape[axis]
    ]
    if not names:
        raise NoChoiceError
    name = pool.rng.choice(names)
    return (name, index), (axis, pool.shape(name)[axis], False)


def _take_along_text(operands: tuple[str, ...], params: Params) -> str:
    axis, extent, back = params
    return f"np.take_along_axis({operands[0]}, {_index(operands[1], extent, back)}, {axis})"


def _scatter(pool: Pool) -> Choice:
    """Rows of a copy; what is written broadcasts against what is read there."""
    name = pool.array("fiu", 1)
    extent = pool.shape(name)[0]
    index, back = _positions(pool, extent)
    value = pool.rng.choice(["2", "1", "@[:1]"])  # @ stands for the array itself
    return (name, index), (0, extent, back, value)


def _scatter_text(operands: tuple[str, ...], params: Params) -> str:
    _, extent, back, value = params
    where, value = _index(operands[1], extent, back), value.replace("@", operands[0])
    return f"{{0}} = {operands[0]}.copy()\n{{0}}[{where}] = {value}"


def _add_at(operands: tuple[str, ...], params: Params) -> str:
    _, extent, back, value = params
    where, value = _index(operands[1], extent, back), value.replace("@", operands[0])
    return f"{{0}} = {operands[0]}.copy()\nnp.add.at({{0}}, {where}, {value})"


def _assign(pool: Pool) -> Choice:
    name = pool.array(ndim=1)
    index = entries(pool, pool.shape(name))
    return (name, pool.partner(name, "fib")), index


def _assign_text(operands: tuple[str, ...], params: Params) -> str:
    return f"{{0}} = {operands[0]}.copy()\n{{0}}[{index_text(params)}] = {operands[1]}"


def _through_a_view(operands: tuple[str, ...], params: Params) -> str:
    """The view is changed, the copy behind it is what goes on."""
    view = f"{{0}}[{index_text(params)}]"
    return f"{{0}} = {operands[0]} * 1\n{{0}}_view = {view}\n{{0}}_view *= 2\n{{0}} -= 1"


def _in_place(operands: tuple[str, ...], params: Params) -> str:
    """Any array, arguments and views among them; what shares its memory changes too."""
    target = operands[0]
    return f"{target}[{index_text(params)}] = {operands[1]}\n{{0}} = {target} * 1"


def _number(pool: Pool) -> Choice:
    name = pool.array("fi", 1)
    index = entries(pool, pool.shape(name))
    if all(isinstance(entry, int) for entry in index):
        raise NoChoiceError
    return (name,), index


FORMS: dict[str, Form] = {
    "gather": Form(_gather, _gather_text, 2.0),
    "take": Form(_gather, _take),
    "take_along_axis": Form(_take_along, _take_along_text),
    "scatter": Form(_scatter, _scatter_text, 1.5),
    "add_at": Form(_scatter, _add_at, 1.5),
    "assign": Form(_assign, _assign_text, 2.0),
    "write": Form(_assign, _in_place, 2.0),
    "view_write": Form(_number, _through_a_view, 2.0),
}
