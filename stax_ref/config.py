"""One frozen ``Config``, a context manager and the handful of ``STAX_*`` variables.

Takes environment variables and keyword arguments; gives the ``Config`` every stage is handed
explicitly. Holds the numbers of the scheduler, each with its source. Not here: the compiler and
cache variables of the native runtime (``STAX_CC``, ``STAX_CACHE_DIR``, ``STAX_ISA``), which
``stax_native`` reads.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from .errors import ConfigError

_CHOICES: dict[str, tuple[object, ...]] = {
    "schedule": ("default", "seed"),
    "device": ("cpu", "gpu"),
    "backend": ("auto", "ref", "c"),
}


_MANY = 1 << 30
_RANGES = {
    "check": (0, 3),
    "max_rounds": (0, _MANY),
    "max_nodes": (1, _MANY),
    "max_buffers": (1, _MANY),
    "max_neighbours": (1, _MANY),
    "max_tries": (1, _MANY),
    "max_searched": (0, _MANY),
    "min_shared_bytes": (0, _MANY),
    "max_lifetime": (0, _MANY),
    "score_ratio": (1, _MANY),
    "max_reads": (1, _MANY),
    "max_reads_reused": (0, _MANY),
    "max_ops": (1, _MANY),
    "max_ops_reused": (0, _MANY),
    "order_states": (0, _MANY),
    "template_rows": (0, _MANY),
    "local_bytes": (0, 65536),
    "in_place_percent": (0, 101),
}


@dataclass(frozen=True, slots=True)
class Config:
    """Every number and switch of a compilation.

    Args:
        schedule: ``"default"``, or ``"seed"`` for the letter of the seed text (names included).
        device: whose cost model and reading of Definition 7.2 hold: ``"cpu"`` or ``"gpu"``.
        backend: ``"auto"``, ``"ref"`` (the interpreter) or the name of a backend.
        strict: sums in plain sequential order; such reductions never fuse with each other (§7.3).
        check: price of self-checks: 0 none; 1 graph and plan; 2 also runs every stage twice and
            compares the texts; 3 also compares every call with the oracle.
        max_rounds: rounds of Algorithm 7.1.
        max_nodes: nodes in one fused group (§7.3).
        max_buffers: distinct buffers of one fused group (§7.3).
        max_neighbours: later groups a group is paired with per buffer both touch; the seed pairs
            all of them.
        max_tries: runs of the default's fusion, each but the first without one fusion of the best.
        max_searched: nodes of a program up to which more than one run is made.
        min_shared_bytes: smallest traffic saved by a horizontal fusion, in bytes (§7.3).
        max_lifetime: bytes of inputs that a fusion may keep alive longer, per byte it saves (§7.3).
        score_ratio: byte counts further apart than this factor decide alone (§7.3).
        max_reads: reads of one pointwise body before it is materialised (§6.6).
        max_reads_reused: the same for a value with several users.
        max_ops: operations of one body before it is materialised.
        max_ops_reused: the same for a value with several users.
        order_states: states after which the exact search for an order gives up (default only).
        template_rows: of a matrix product that are handed to its epilogue at a time, 0 for never
            (templates, §7.3).
        local_bytes: rows a kernel keeps on its stack instead of in buffers, in bytes together.
        in_place_percent: least size of an output that is written in place of an input, in per cent
            of the input's (§7.5); 101 for never.
    """

    schedule: str = "default"
    device: str = "cpu"
    backend: str = "auto"
    strict: bool = False
    check: int = 1
    max_rounds: int = 10
    max_nodes: int = 128
    max_buffers: int = 32
    max_neighbours: int = 16
    max_tries: int = 16
    max_searched: int = 32
    min_shared_bytes: int = 10
    max_lifetime: int = 32
    score_ratio: int = 16
    max_reads: int = 12
    max_reads_reused: int = 4
    max_ops: int = 100
    max_ops_reused: int = 50
    order_states: int = 2000
    template_rows: int = 512
    local_bytes: int = 32768
    in_place_percent: int = 95

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise ConfigError(
                    f"{name}={value!r} is not a choice", instead=f"an integer from {low} to {high}"
                )
        if type(self.strict) is not bool:
            raise ConfigError(f"strict={self.strict!r} is not a choice", instead="True or False")
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            open_choice = name == "backend" and isinstance(value, str) and value.isidentifier()
            if value not in allowed and not open_choice:
                raise ConfigError(
                    f"{name}={value!r} is not a choice",
                    instead="one of " + ", ".join(repr(choice) for choice in allowed),
                )

    @property
    def seed(self) -> bool:
        """True when the seed text is followed to the letter."""
        return self.schedule == "seed"


def from_environment() -> Config:
    """The configuration that ``STAX_BACKEND`` and ``STAX_CHECK`` ask for.

    Raises:
        ConfigError: a variable holds something that is not a choice.
    """
    check = os.environ.get("STAX_CHECK") or "1"
    if check not in ("0", "1", "2", "3"):
        raise ConfigError(f"STAX_CHECK={check!r} is not a level", instead="0, 1, 2 or 3")
    return Config(backend=os.environ.get("STAX_BACKEND") or "auto", check=int(check))


_inside: contextvars.ContextVar[Config | None] = contextvars.ContextVar("stax", default=None)
_blocks = threading.Lock()

state: dict[str, int | None] = {"blocks": None}
"""``configured`` blocks open in any thread, None for none. The fast path of a call guards on None:
while a block is open anywhere, calls look their configuration up."""


def current() -> Config:
    """The configuration in force here: the innermost ``configured`` block, or the environment."""
    inside = _inside.get()
    return from_environment() if inside is None else inside


def _count_blocks(change: int) -> None:
    with _blocks:
        state["blocks"] = ((state["blocks"] or 0) + change) or None


@contextlib.contextmanager
def configured(**changes: object) -> Iterator[Config]:
    """Run a block under a changed configuration.

    Args:
        **changes: fields of :class:`Config`.

    Raises:
        ConfigError: an unknown field or a value that is not a choice.
    """
    known = {entry.name for entry in fields(Config)}
    for name in changes:
        if name not in known:
            raise ConfigError(
                f"{name!r} is not an option", instead="one of " + ", ".join(sorted(known))
            )
    inside = replace(current(), **changes)  # type: ignore[arg-type]  # names are checked above
    token = _inside.set(inside)
    _count_blocks(1)
    try:
        yield inside
    finally:
        _count_blocks(-1)
        _inside.reset(token)
