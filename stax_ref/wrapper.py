"""The wrapper as Python: the text of ``Plan.wrapper_text`` run literally (seed §8.5, Listing 8.1).

Takes a plan and arguments; gives outputs. The text is one of the two forms of the wrapper; the
other is the compact program of the native runtime, made from the same instructions. This file
supplies the words the text uses: the grouped assertion, memory, launches and calls. Not here: the
text (``plan``), what a kernel means (``interpret``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .errors import InvariantError
from .interpret import POISON, Recording, extern_results, run_nest
from .nest import Nest
from .plan import Extern, Plan, Template


def run_wrapper(
    plan: Plan, arguments: Iterable[Any], recording: Recording
) -> tuple[np.ndarray, ...]:
    """Execute the wrapper's text; memory it allocates starts poisoned.

    Args:
        plan: the plan.
        arguments: one array or Python scalar per input; the wrapper lets go of each after its last
            use, so an array that only an iterator held ends there.
        recording: what earlier rungs learned; added to.

    Returns:
        one array per output.

    Raises:
        InvariantError: an input does not have the shape or strides the plan was made for.
    """
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    nests = {step.name: step for step in plan.steps if isinstance(step, Nest)}
    externs = {step.name: step for step in plan.steps if isinstance(step, Extern)}
    templates = {step.name: step for step in plan.steps if isinstance(step, Template)}
    given = [
        np.asarray(argument, dtype=buffers[name].dtype)
        for name, argument in zip(plan.input_buffers, arguments, strict=True)
    ]
    for number, name in enumerate(plan.input_buffers):
        if name in plan.overwritten.values():
            given[number] = given[number].copy()

    def launch(name: str, *arrays: np.ndarray) -> None:
        named = zip(nests[name].buffers, arrays, strict=True)
        run_nest(nests[name], {b.name: array.reshape(-1) for b, array in named}, recording)

    def call(name: str, *arrays: np.ndarray) -> None:
        step = externs[name]
        count = len(step.operands)
        results = extern_results(step, arrays[:count], buffers, recording)
        for out, result in zip(arrays[count:], results, strict=True):
            out[...] = result

    def template(name: str, *arrays: np.ndarray) -> None:
        step = templates[name]
        count = len(step.product.operands)
        (whole,) = extern_results(step.product, arrays[:count], buffers, recording)
        named = {b.name: a for b, a in zip(step.nest.buffers, arrays[count:], strict=True)}
        storage = {key: array.reshape(-1) for key, array in named.items()}
        run_nest(step.nest, {**storage, step.tile: whole.reshape(-1)}, recording)

    words: dict[str, Any] = {
        "assert_size_stride_grouped": _assert_sizes,
        "empty_bytes": _empty_bytes,
        "view": _view,
        "empty_strided": _empty_strided,
        "as_strided": _as_strided,
        "reinterpret_tensor": _reinterpret_tensor,
        "launch": launch,
        "call": call,
        "template": template,
    }
    exec(compile(plan.wrapper_text(), f"<wrapper of {plan.name}>", "exec"), words)
    outputs: tuple[np.ndarray, ...] = words["wrapper"](given)
    return tuple(np.array(out) for out in outputs)


def _assert_sizes(
    arrays: Sequence[np.ndarray],
    sizes: Sequence[tuple[int, ...]],
    strides: Sequence[tuple[int, ...]],
    what: str,
) -> None:
    """Shapes only: the oracle reads inputs by logical index, so their strides do not matter."""
    del strides
    for position, (array, size) in enumerate(zip(arrays, sizes, strict=True)):
        if array.shape != size:
            raise InvariantError(f"{what} {position} has shape {array.shape} instead of {size}")


def _empty_bytes(nbytes: int) -> np.ndarray:
    return np.full(nbytes, POISON, np.uint8)


def _empty_strided(shape: tuple[int, ...], strides: tuple[int, ...], dtype: str) -> np.ndarray:
    """A fresh array; computed buffers are always in C order."""
    del strides
    return _view(_empty_bytes(_nbytes(shape, dtype)), 0, shape, dtype)


def _view(arena: np.ndarray, offset: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    part = arena[offset : offset + _nbytes(shape, dtype)]
    return part.view(dtype).reshape(shape)


def _reinterpret_tensor(
    array: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...]
) -> np.ndarray:
    """The storage of an array in C order under another shape, without a copy."""
    del strides
    return array.reshape(-1)[: int(np.prod(shape, dtype=np.int64))].reshape(shape)


def _as_strided(
    array: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> np.ndarray:
    """A view in elements from the array's first one, which need not be its lowest address."""
    first = array.__array_interface__["data"][0] + offset * array.itemsize
    return np.array(_Memory(first, shape, strides, array))


class _Memory:
    """Memory of an array under another shape, by NumPy's array interface."""

    def __init__(
        self, first: int, shape: tuple[int, ...], strides: tuple[int, ...], owner: np.ndarray
    ) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "data": (first, True),
            "shape": shape,
            "strides": tuple(stride * owner.itemsize for stride in strides),
            "typestr": owner.dtype.str,
            "version": 3,
        }


def _nbytes(shape: tuple[int, ...], dtype: str) -> int:
    return int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
