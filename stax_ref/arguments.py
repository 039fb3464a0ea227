"""arguments: what a caller passes, bound to the signature and taken apart.

Takes a Python function, the names of its static parameters and the arguments of a call; gives
trees, leaves as the runtime takes them (native, aligned ndarrays and Python numbers) and what of
each a program depends on. Holds what counts as an array: ndarrays, NumPy scalars, lists of
numbers, and anything NumPy reads in place (DLPack on the CPU, ``__array__``, the buffer protocol).
Not here: containers (``tree``), specialisation (``jit``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import dtypes, tree
from .containers import container_of
from .donation import Donated
from .errors import ConfigError, DtypeError
from .statics import Static, is_function, is_static, static
from .tracer import Tracer, canonical, element_strides
from .tree import LEAF, Tree, Unfit

NUMBERS = (bool, int, float)
"""Python numbers that are passed as they are: traced, and weak (NEP 50)."""


class Call(NamedTuple):
    """The arguments of one call.

    Args:
        names: of the parameters; every entry of ``*args`` and ``**kwargs`` is one of its own.
        positional: how many of them the function takes by position.
        trees: one per parameter.
        specs: per leaf what a program depends on: ``("array", shape, dtype, strides)`` or
            ``("scalar", type)``.
        leaves: what a program is called with.
        passed: the same as the caller passed them, before byte order and alignment were mended and
            donated arrays were taken from their boxes.
    """

    names: tuple[str, ...]
    positional: int
    trees: tuple[Tree, ...]
    specs: tuple[tuple[Any, ...], ...]
    leaves: list[Any]
    passed: list[Any]

    @property
    def functions(self) -> tuple[Any, ...]:
        """Functions among the static arguments, which may read values of their own."""
        return tuple(v for t in self.trees for v in tree.statics(t) if is_function(v))

    def key(self, positional: int, keywords: Iterable[str]) -> tuple[Any, ...]:
        """What ``Signature.quick`` makes of the same call.

        Args:
            positional: how many arguments the caller passed by position.
            keywords: names of the others, in the order of the signature.
        """
        rest = dict(zip(self.names[positional:], self.trees[positional:], strict=True))
        named = [part for name in keywords for part in (name, rest[name])]
        return (*self.trees[:positional], *named)

    def parameters(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Names and types as ``trace`` takes them."""
        specs = iter(self.specs)
        return [(name, _spec_of(t, specs)) for name, t in zip(self.names, self.trees, strict=True)]


def _spec_of(shape: Tree, specs: Iterator[tuple[Any, ...]]) -> tuple[Any, ...]:
    if isinstance(shape, Static):
        return ("static", shape.value)
    if shape == LEAF:
        return next(specs)
    return ("tree", shape, tuple(next(specs) for _ in tree.paths(shape)))


class Signature:
    """The parameters of a function, and which of them are static.

    Args:
        function: a Python function.
        static: names of static parameters.

    Raises:
        ConfigError: a name is no parameter.
    """

    def __init__(self, function: Callable[..., Any], static: tuple[str, ...]) -> None:
        self._signature = inspect.signature(function)
        self._parameters = dict(self._signature.parameters)
        self._static = frozenset(static)
        kinds = [parameter.kind for parameter in self._parameters.values()]
        unknown = self._static - set(self._parameters)
        if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
            raise ConfigError(
                f"static_argnames has {sorted(unknown)[0]!r}, which is no parameter",
                instead="one of " + ", ".join(self._parameters),
            )
        self._ranks = {
            name: k
            for k, (name, parameter) in enumerate(self._parameters.items())
            if parameter.kind is not inspect.Parameter.POSITIONAL_ONLY
        }
        self._static_positions = frozenset(
            k
            for k, (name, parameter) in enumerate(self._parameters.items())
            if name in self._static and parameter.kind in _BY_POSITION
        )

    def quick(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        """Key and leaves of a call, unbound and unchecked: what a fast path looks up.

        Raises:
            Unfit: an argument is nothing a program takes; binding says it with the name.
            TypeError: a static argument has no hash.
        """
        leaves: list[Any] = []
        by_name, positions = self._static, self._static_positions
        key: list[Any] = [
            static(value) if k in positions else take_apart(value, leaves)
            for k, value in enumerate(args)
        ]
        for name in self.ordered(kwargs):
            value = kwargs[name]
            key.append(name)
            key.append(static(value) if name in by_name else take_apart(value, leaves))
        return tuple(key), leaves

    def ordered(self, keywords: Iterable[str]) -> list[str]:
        """Names of keyword arguments in the order a program takes them: the signature's."""
        last = len(self._ranks)
        return sorted(keywords, key=lambda name: self._ranks.get(name, last))

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """The arguments in the order of the signature.

        A parameter the caller leaves out keeps its default, which is part of the function and
        not traced.

        Raises:
            TypeError: they do not fit the signature.
            ConfigError: a static argument has no hash.
            DtypeError: an argument is nothing a program takes.
        """
        names, positional, values = self._ordered(args, kwargs)
        trees: list[Tree] = []
        specs: list[tuple[Any, ...]] = []
        leaves: list[Any] = []
        passed: list[Any] = []
        for name, value in zip(names, values, strict=True):
            if isinstance(value, _Default):
                trees.append(Static(DEFAULT, value.value))
                continue
            raw: list[Any] = []
            shape = self._tree(name, value, raw)
            trees.append(shape)
            for k, leaf in enumerate(raw):
                plain = _plain(leaf)
                specs.append(_spec(plain, name, shape, k))
                leaves.append(plain)
            passed += raw
        return Call(tuple(names), positional, tuple(trees), tuple(specs), leaves, passed)

    def _ordered(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[str], int, list[Any]]:
        """Names, how many are passed by position, and values."""
        bound = self._signature.bind(*args, **kwargs)
        passed = set(bound.arguments)
        bound.apply_defaults()
        names: list[str] = []
        values: list[Any] = []
        positional = 0
        for name, value in bound.arguments.items():
            kind = self._parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                names += [f"{name}{k}" for k in range(len(value))]
                values += value
            elif kind is inspect.Parameter.VAR_KEYWORD:
                names += value
                values += value.values()
            else:
                names.append(name)
                values.append(value if name in passed else _Default(value))
            if kind in (*_BY_POSITION, inspect.Parameter.VAR_POSITIONAL):
                positional = len(names)
        return names, positional, values

    def _tree(self, name: str, value: Any, leaves: list[Any]) -> Tree:
        """What is left of one argument when its leaves are taken out."""
        if name in self._static and not isinstance(value, Tracer):
            try:
                return static(value)
            except TypeError:
                raise ConfigError(
                    f"the static argument {name} is not hashable", instead="a tuple, say"
                ) from None
        try:
            return take_apart(value, leaves)
        except Unfit as error:
            raise DtypeError(
                f"the argument {name}{error.path} {error.what}",
                instead=error.instead + f", or static_argnames=({name!r},)" * (not error.path),
            ) from None


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class _Default(NamedTuple):
    """The default of a parameter that was left out."""

    value: Any


DEFAULT = "the default of the parameter"
"""The key of a parameter that was left out: its default is part of the function."""


def leaves_of(
    trees: Sequence[Tree], arguments: Sequence[Any]
) -> tuple[list[Any], list[Any]] | None:
    """The leaves of arguments that must have these trees, plain and as they were passed.

    None when they do not have these trees.

    Raises:
        Unfit: an argument is nothing a program takes.
    """
    leaves: list[Any] = []
    found = tuple(take_apart(argument, leaves) for argument in arguments)
    return ([_plain(leaf) for leaf in leaves], leaves) if found == tuple(trees) else None


# what a value is ---------------------------------------------------------------------------------
def take_apart(value: Any, leaves: list[Any]) -> Tree:
    """The tree of one argument; its leaves are appended to a list.

    A list or tuple of numbers alone is an array. Inside a container it is a container of numbers:
    each stays what it is for the function, weak and free to be unpacked.

    Raises:
        Unfit: the argument is nothing a program takes, or holds such a thing.
    """
    if type(value) in (list, tuple) and is_numeric(value):
        leaves.append(_copied(value))
        return LEAF
    return tree.take_apart(value, judge, leaves)


def judge(value: Any, leaves: list[Any]) -> Tree | None:
    """An array or number is a leaf, a value that never changes is static, the rest a container.

    Raises:
        Unfit: it is none of them.
    """
    kind = type(value)
    if kind is np.ndarray or kind in NUMBERS:
        leaves.append(value)
        return LEAF
    if kind is dict or kind is list or kind is tuple:
        return None
    if kind is str:
        return static(value)
    return _judge_rare(value, leaves)


def _judge_rare(value: Any, leaves: list[Any]) -> Tree | None:
    if isinstance(value, (Tracer, Donated)):
        leaves.append(value)
        return LEAF
    if container_of(type(value)) is not None:
        return None
    array = as_array(value)
    if array is not None:
        leaves.append(array)
        return LEAF
    if is_static(value) and not isinstance(value, complex):
        return static(value)
    name = type(value).__name__
    instead = f"np.asarray of it, a number, or stax.register_container({name}, ...)"
    if isinstance(value, complex):
        instead = "two numbers, x.real and x.imag"
    raise Unfit(f"is a {name}", instead)


def is_numeric(value: Sequence[Any]) -> bool:
    """True for a list or tuple that holds numbers alone, however deep; an empty one holds none."""
    kinds = set(map(type, value))
    deeper = kinds & {list, tuple}
    return (
        bool(kinds)
        and all(issubclass(kind, _NUMERIC) for kind in kinds - deeper)
        and (not deeper or all(is_numeric(v) for v in value if type(v) in deeper))
    )


_NUMERIC = (bool, int, float, complex, np.number, np.bool_)


def as_array(value: Any) -> np.ndarray | None:
    """What NumPy reads as an array, in place where it can; None for anything else.

    Raises:
        Unfit: an array of another library that is not on the CPU, or of an unknown subclass.
    """
    if isinstance(value, np.ndarray) and type(value) is not np.memmap:
        raise Unfit(f"is a {type(value).__name__}", "np.asarray of it")
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, (str, bytes, type)):
        return None
    if isinstance(value, np.generic):
        return _copied(value)
    if isinstance(value, (list, tuple)):  # a subclass: torch.Size, say
        return _copied(value) if is_numeric(value) else None
    if hasattr(value, "__dlpack__"):
        array = _from_dlpack(value)
        if array is not None:
            return array
    if hasattr(value, "__array_interface__") or hasattr(value, "__array_struct__"):
        return np.asarray(value)
    try:
        memoryview(value)
    except TypeError:
        return _copied(value) if hasattr(value, "__array__") else None
    return np.asarray(value)


def _copied(value: Any) -> np.ndarray:
    """An array that may be a copy: read-only, since what is written would not reach the caller."""
    array = np.asarray(value).view()
    array.flags.writeable = False
    return array


_ON_CPU = (1, 3, 11, 13)
"""DLPack devices whose memory NumPy reads: CPU, and host or managed memory of CUDA and ROCm."""

_DEVICES = {
    2: "CUDA",
    4: "OpenCL",
    7: "Vulkan",
    8: "Metal",
    9: "VPI",
    10: "ROCm",
    12: "an extension device",
    14: "oneAPI",
    15: "WebGPU",
    16: "Hexagon",
    17: "MAIA",
}


def _from_dlpack(value: Any) -> np.ndarray | None:
    device, number = value.__dlpack_device__()
    if int(device) not in _ON_CPU:
        name = _DEVICES.get(int(device), f"the DLPack device {int(device)}")
        raise Unfit(
            f"is a {type(value).__name__} on {name}:{number}",
            "a copy on the CPU: x.cpu(), cupy.asnumpy(x), or what its library has for it",
        )
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError):
        return None  # no dtype of DLPack, or the library wants it otherwise


# leaves ------------------------------------------------------------------------------------------
def _plain(value: Any) -> Any:
    """A leaf as the runtime takes it: a native, aligned ndarray or a Python number."""
    if isinstance(value, Donated):
        value = value.array
    if not isinstance(value, np.ndarray):
        return value
    array = canonical(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    regular = all(stride % max(array.itemsize, 1) == 0 for stride in array.strides)
    return array if array.flags.aligned and regular else array.copy()


def _spec(value: Any, name: str, shape: Tree, number: int) -> tuple[Any, ...]:
    """What of a leaf a program depends on.

    Raises:
        DtypeError: its dtype is not carried.
    """
    if not isinstance(value, np.ndarray):
        return ("scalar", type(value))
    if not dtypes.is_supported(value.dtype):
        raise DtypeError(
            f"the argument {name}{tree.paths(shape)[number]} has dtype {value.dtype}",
            instead=f"{dtypes.way_out(value.dtype)}; carried are {dtypes.supported_names()}",
        )
    return ("array", value.shape, value.dtype, element_strides(value))
