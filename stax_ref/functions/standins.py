"""What a NumPy function returns, found by calling it on stand-ins of its operands.

Takes a function with its static arguments and the types of its arrays; gives the number, shapes and
dtypes of its results, or NumPy's own refusal with the user's line. Stand-ins are ones, and identity
matrices where there are two axes. Long axes are stood in for by short ones of three lengths, from
which the length of each axis of a result is read; where that fails the true lengths are used. Not
here: which functions are called this way (``externs``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..errors import (
    AxisError,
    DtypeError,
    IndexingError,
    LinAlgError,
    ShapeError,
    StaxError,
    ValueDependent,
    user_frame,
)

Shape = tuple[int, ...]
Answer = TypeVar("Answer")

SHORT = 16
"""Axes up to this length are never replaced: functions may ask for exactly 2 or 3 elements."""

MATRIX = 1 << 22
"""Elements up to which a stand-in of true size is an identity matrix with memory of its own."""

_GROWTH = 16
"""Short axes grow by multiples of this, so that a half or an eighth of one is not mistaken for a
whole other."""

_BASES = (0, 2, 3)
_LENGTHS = 4
"""Different long axes that can be told apart; more are looked at in true size."""


@dataclass(frozen=True, slots=True)
class Returned:
    """What a function returns: the type of its tuple (None for one array) and each array's type."""

    kind: type | None
    arrays: tuple[tuple[Shape, np.dtype], ...]

    def packed(self, values: Sequence[Any]) -> Any:
        """Values as the function would return them: one, or NumPy's own tuple of them."""
        if self.kind is None:
            return values[0]
        return self.kind(*values) if hasattr(self.kind, "_fields") else self.kind(values)


def returned(
    name: str,
    function: Callable[[list[np.ndarray]], Any],
    operands: Sequence[tuple[Shape, np.dtype]],
) -> Returned:
    """What a function returns for operands of these types.

    Args:
        name: of the function, for messages.
        function: takes the operands.
        operands: shape and dtype of each.

    Raises:
        ShapeError, AxisError, IndexingError, DtypeError, LinAlgError: what NumPy refuses.
        ValueDependent: the result's type depends on the value of an integer.
    """
    if any(not shape and dtype.kind in "iu" for shape, dtype in operands):
        _same_for_every_count(name, function, operands)
    lengths = sorted({n for shape, _ in operands for n in shape if n > SHORT})
    if 0 < len(lengths) <= _LENGTHS:
        found = _from_short(function, operands, lengths)
        if found is not None:
            return found
    return asked(name, operands, lambda: _run(function, operands, {}))


def asked(
    name: str, operands: Sequence[tuple[Shape, np.dtype]], question: Callable[[], Answer]
) -> Answer:
    """What NumPy answers; its exceptions become those of Stax, with the user's line.

    Args:
        name: of the function, for the message.
        operands: shape and dtype of each array, for the message.
        question: calls NumPy on stand-ins.
    """
    try:
        return question()
    except np.exceptions.AxisError as error:
        kind: type[StaxError] = AxisError
        text = str(error)
    except np.linalg.LinAlgError as error:
        kind, text = LinAlgError, str(error)
    except IndexError as error:
        kind, text = IndexingError, str(error)
    except ValueError as error:
        kind, text = ShapeError, str(error)
    except TypeError as error:
        kind, text = DtypeError, str(error)
    types = ", ".join(f"{dtype}{list(shape)}" for shape, dtype in operands)
    raise kind(
        f"{name}: {text.strip()}",
        user_frame()[0],
        f"arguments that NumPy takes; the arrays are {types}",
    )


def _same_for_every_count(
    name: str,
    function: Callable[[list[np.ndarray]], Any],
    operands: Sequence[tuple[Shape, np.dtype]],
) -> None:
    """An integer may be an axis or a number of bins: the result must not depend on its value.

    Raises:
        ValueDependent: it does.
    """
    tiny = {n: SHORT + 1 for shape, _ in operands for n in shape if n > SHORT}
    seen: list[Any] = []
    for count in (0, 1, 2):
        try:
            seen.append(_run(function, operands, tiny, count))
        except Exception:  # whatever it is: this value is not like the others
            seen.append(None)
    refused_always = all(found is None for found in seen)  # not because of the value
    if not refused_always and (seen[1] is None or seen[1] != seen[2]):
        raise ValueDependent(
            f"what {name} returns depends on the value of a traced integer",
            user_frame()[0],
            "make it static: stax.jit(static_argnames=...)",
        )


def _run(
    function: Callable[[list[np.ndarray]], Any],
    operands: Sequence[tuple[Shape, np.dtype]],
    lengths: Mapping[int, int],
    count: int = 1,
) -> Returned:
    """The function on stand-ins whose axes have other lengths where the mapping names one."""
    arrays = [
        stand_in([lengths.get(n, n) for n in shape], dtype)
        if shape or dtype.kind not in "iu"
        else np.full((), count, dtype)
        for shape, dtype in operands
    ]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(arrays)
    kind = type(result) if isinstance(result, (tuple, list)) else None
    leaves = [np.asarray(leaf) for leaf in ([result] if kind is None else result)]
    return Returned(kind, tuple((leaf.shape, leaf.dtype) for leaf in leaves))


def stand_in(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Ones, or identity matrices in the last two axes; no more memory than one of these."""
    if len(shape) >= 2 and shape[-2] * shape[-1] <= MATRIX:
        return np.broadcast_to(np.eye(shape[-2], shape[-1], dtype=dtype), shape)
    return np.broadcast_to(np.ones((), dtype), shape)


def _from_short(
    function: Callable[[list[np.ndarray]], Any],
    operands: Sequence[tuple[Shape, np.dtype]],
    lengths: Sequence[int],
) -> Returned | None:
    """What it returns, read from three runs on short axes; None when they do not say.

    Long axes keep their order. The one of number i grows by 2**i and by 3**i steps, so the growth
    of an axis of the result names the axes whose lengths it is the sum of.
    """
    runs = []
    try:
        for base in _BASES:
            steps = [base**i if base else 0 for i in range(len(lengths))]
            short = {n: SHORT + 1 + i + _GROWTH * steps[i] for i, n in enumerate(lengths)}
            runs.append(_run(function, operands, short))
    except Exception:  # whatever it is, the run in true size meets it again
        return None
    first = runs[0]
    arrays = []
    for entries in zip(*(run.arrays for run in runs), strict=False):
        shapes = [shape for shape, _ in entries]
        alike = all(len(shape) == len(shapes[0]) for shape in shapes)
        if not alike or len({dtype for _, dtype in entries}) != 1:
            return None
        extents = [_length(each, lengths) for each in zip(*shapes, strict=True)]
        if None in extents:
            return None
        arrays.append((tuple(n for n in extents if n is not None), entries[0][1]))
    same = all(run.kind is first.kind and len(run.arrays) == len(first.arrays) for run in runs)
    return Returned(first.kind, tuple(arrays)) if same else None


def _length(found: Sequence[int], lengths: Sequence[int]) -> int | None:
    """The true length of an axis that had these lengths in the three runs."""
    (twos, odd), (threes, strange) = (divmod(later - found[0], _GROWTH) for later in found[1:])
    if odd or strange or not 0 <= twos < 1 << len(lengths):
        return None
    chosen = [i for i in range(len(lengths)) if twos >> i & 1]
    if threes != sum(3**i for i in chosen):
        return None
    return found[0] + sum(lengths[i] - (SHORT + 1 + i) for i in chosen)
