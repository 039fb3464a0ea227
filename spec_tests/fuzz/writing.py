"""Programs that change arrays: views that are kept, and every way of writing into what is there.

takes: the pool, whose values are true arrays: a write through one view changes the others
gives: ``FORMS``, each with a write or a view in it; ``READERS``, forms that read in between
holds: which writes overlap what they read
not here: writes into a copy made for the purpose (``indexing``)

A form that writes names its target ``{0}`` too, so that a program may return an array twice.
"""

from __future__ import annotations

from . import indexing, pointwise, reducing, shaping
from .pool import Choice, Form, NoChoiceError, Params, Pool
from .shaping import entries, index_text

VIEWS = (
    "@[::-1]",
    "@[1:]",
    "@[:-1]",
    "@[::2]",
    "@[None]",
    "@.T",
    "@.reshape(-1)",
    "np.ravel(@)",
    "np.flip(@)",
    "np.swapaxes(@, 0, -1)",
    "@[-1]",
    "@[..., :2]",
    "@.reshape(1, -1)[0]",
    "np.squeeze(@)",
)
COPIES = ("@.copy()", "@ * 1", "np.copy(@)", "np.zeros_like(@)", "np.zeros(@.shape)", "@[...] + 1")
OVERLAPS = (
    "@[1:] = @[:-1]",
    "@[:-1] = @[1:]",
    "@[...] = @[::-1]",
    "@[1:] += @[:-1]",
    "@ += @[::-1]",
    "@[::2] = @[1::2][:1]",
    "@[:] = @[:1] + @",
    "@[-1] = @[0] * 2",
    "@ -= @.max()",
    "@[...] = @.sum(-1, keepdims=True)",
    "@[[0, -1]] = @[[-1, 0]]",
)
WHOLE = (
    "@.fill(3)",
    "@ += 1",
    "@ *= 2",
    "@ -= @[0]",
    "@[...] = 0",
    "np.add(@, 1, out=@)",
    "np.negative(@, out=@)",
    "np.maximum(@, @[:1], out=@)",
    "np.clip(@, 0, 2, out=@)",
    "np.exp(@ * 0, out=@)",
    "@.sort()",
)
MASKED = (
    "@[@ > 1] = 0",
    "@[@ < 0] = 2",
    "np.copyto(@, 1, where=@ > 2)",
    "np.putmask(@, @ > 0, 1)",
    "np.add(@, 2, out=@, where=@ > 0)",
    "np.add(@, 1, out=@, casting='unsafe')",
)
"""Statements about one array, which stands in the place of @."""


def _one(texts: tuple[str, ...], weight: float) -> Form:
    """One of these statements about an array of numbers."""

    def choose(pool: Pool) -> Choice:
        return (pool.array("fiu", 1),), (pool.rng.choice(texts),)

    return Form(choose, lambda o, p: f"{p[0].replace('@', o[0])}\n{{0}} = {o[0]}", weight, True)


def _named(texts: tuple[str, ...]) -> Form:
    """A new name: a view or a copy of any array."""

    def choose(pool: Pool) -> Choice:
        return (pool.array(ndim=1),), (pool.rng.choice(texts),)

    return Form(choose, lambda o, p: p[0].replace("@", o[0]))


def _part(pool: Pool) -> Choice:
    """A part of an array, and what broadcasts against it there."""
    name = pool.array("fiu", 1)
    index = entries(pool, pool.shape(name))
    part = f"{name}[{index_text(index)}]"
    try:
        pool.values[part] = eval(part, {}, dict(pool.values))
        value = pool.partner(part, "fi")
    finally:
        pool.values.pop(part, None)
    sign = pool.rng.choice(["=", "=", "+=", "-=", "*="])
    return (name, name if value == part else value), (index, sign)


def _part_text(operands: tuple[str, ...], params: Params) -> str:
    index, sign = params
    return f"{operands[0]}[{index_text(index)}] {sign} {operands[1]}\n{{0}} = {operands[0]}"


def _both(pool: Pool) -> Choice:
    first = pool.array("fiu", 1)
    return (first, pool.partner(first, "fi")), ()


def _out(operands: tuple[str, ...], params: Params) -> str:
    one, two = operands
    return f"np.multiply({one}, {two}, out={one})\n{{0}} = {one}"


def _crossed(operands: tuple[str, ...], params: Params) -> str:
    """The second array reads the first one's old contents, the first the second one's new ones."""
    one, two = operands
    return f"{{0}} = {two} + {one}\n{one} += {two}\n{{0}} -= {one}"


def _scattered(pool: Pool) -> Choice:
    name = pool.array("fiu", 1)
    extent = pool.shape(name)[0]
    index = pool.array("iu")
    if not extent or pool.values[index].size == 0 or not pool.values[name].flags.writeable:
        raise NoChoiceError  # NumPy's ``at`` writes into read-only arrays
    verb = pool.rng.choice(["=", "+=", "add.at", "maximum.at"])
    return (name, index), (extent, verb, pool.rng.choice(["2", "1", "@[:1]", "@[-1]"]))


def _scattered_text(operands: tuple[str, ...], params: Params) -> str:
    target, index = operands
    extent, verb, value = params
    where, value = f"{index} % {extent}", value.replace("@", target)
    if "at" in verb:
        return f"np.{verb}({target}, {where}, {value})\n{{0}} = {target}"
    return f"{target}[{where}] {verb} {value}\n{{0}} = {target}"


FORMS: dict[str, Form] = {
    "named_view": Form(_named(VIEWS).choose, _named(VIEWS).text, 5.0),
    "named_copy": Form(_named(COPIES).choose, _named(COPIES).text, 2.0),
    "overlap": _one(OVERLAPS, 4.0),
    "whole": _one(WHOLE, 3.0),
    "masked": _one(MASKED, 3.0),
    "part": Form(_part, _part_text, 6.0, writes=True),
    "out": Form(_both, _out, 3.0, writes=True),
    "crossed": Form(_both, _crossed, 3.0, writes=True),
    "scattered": Form(_scattered, _scattered_text, 4.0, writes=True),
}

READERS: dict[str, Form] = {
    name: form
    for forms, names in (
        (pointwise.FORMS, "add subtract multiply maximum absolute sqrt where"),
        (reducing.FORMS, "sum max mean argmax"),
        (shaping.FORMS, "getitem reshape transpose roll concatenate repeat pad"),
        (indexing.FORMS, "gather scatter add_at view_write"),
    )
    for name, form in forms.items()
    if name in names.split()
}
