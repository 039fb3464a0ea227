"""What a backend is, and where backends are found.

Takes names; gives backend objects. Holds the ``Backend`` protocol (a name, ``emit``, ``load``), the
``Source`` that goes between them, and the registry: built-in backends by module name, others
through the entry-point group ``stax.backends``, which is only scanned for a name that is not built
in. Not here: any one backend, the cache.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stax_ref.errors import ConfigError
from stax_ref.plan import Plan

ENTRY_POINTS = "stax.backends"
BUILT_IN = {"c": "stax_c"}


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a source.

    Args:
        kernels: names of the kernels it runs, in order.
        serial: symbol of the serial entry.
        parallel: symbol of the parallel entry, empty when the launch is too small to have one.
        work: serial cost estimate, in operations.
    """

    kernels: tuple[str, ...]
    serial: str
    parallel: str
    work: int


@dataclass(frozen=True, slots=True)
class Tile:
    """The entry of an epilogue, which runs some of its iterations at a time.

    Args:
        step: name of the template in the plan.
        serial: symbol of ``int f(void *const *buffers, long long begin, long long end)``.
        parallel: symbol of the same with a number of threads at the end; empty where a tile is too
            small for it.
        total: iterations of all rows.
    """

    step: str
    serial: str
    parallel: str
    total: int


@dataclass(frozen=True, slots=True)
class Source:
    """A program's text and what is needed to run it.

    Args:
        language: ``"c"`` or ``"opencl"``.
        text: the whole source.
        launches: in the order of the plan's launches.
        scratch: bytes of each extra buffer, numbered after the plan's own buffers.
        tiles: entries of the plan's templates.
    """

    language: str
    text: str
    launches: tuple[Launch, ...]
    scratch: tuple[int, ...] = ()
    tiles: tuple[Tile, ...] = ()

    @property
    def parallel(self) -> bool:
        """True when some launch or epilogue has a parallel entry."""
        return any(entry.parallel for entry in (*self.launches, *self.tiles))


class Backend(Protocol):
    """What a plug-in implements."""

    name: str

    def emit(self, plan: Plan) -> Source:
        """Print the plan; raises ``Unsupported`` for what the backend cannot do."""

    def load(self, source: Source, plan: Plan) -> Callable[..., Sequence[np.ndarray]]:
        """Build the source and return something that runs the plan.

        It is called with the leaves of the arguments, and returns every output of the plan as an
        array, in the order of ``plan.outputs``. If it has a method ``consume``, calls with donated
        arrays go there: it is given the leaves as a list, empties it, and releases each leaf after
        its last use.
        """


def find(name: str) -> Backend:
    """The backend of this name.

    Args:
        name: ``"c"``, or a name of the entry-point group ``stax.backends``.

    Raises:
        ConfigError: no such backend; lists the known ones.
    """
    if name in BUILT_IN:
        backend: Backend = importlib.import_module(BUILT_IN[name]).backend()
        return backend
    from importlib.metadata import entry_points

    known = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
    if name not in known:
        names = ", ".join(sorted({*BUILT_IN, *known, "ref"}))
        raise ConfigError(f"there is no backend {name!r}", instead=f"one of {names}")
    found: Backend = known[name].load()()
    return found
