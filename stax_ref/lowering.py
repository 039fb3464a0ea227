"""lowering: what the parts of ``lower`` see of the lowering in progress.

Gives the protocol that ``reducing`` and ``calling`` are written against, so that neither knows the
class behind it. Not here: that class (``lower``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from .compose import Expression
from .config import Config
from .errors import Where
from .graph import Eqn, Graph, Value
from .index import Symbol
from .node import Body, Buffer

Known = dict[tuple[object, ...], Value]
"""Reductions computed so far, by kind, operand, axes and dtype."""

Shared = dict[tuple[object, ...], list[Eqn]]
"""Equations by their external call and operands: the results of one call."""


class Lowering(Protocol):
    """Expressions by value, buffers by name, and the nodes added so far."""

    graph: Graph
    config: Config
    values: dict[str, Expression]
    buffers: dict[str, Buffer]
    reductions: Known
    calls: Shared

    def materialise(self, name: str, wanted: str = "") -> None:
        """Give a value a buffer and a node that writes it."""

    def new_buffer(self, wanted: str, shape: Sequence[int], dtype: np.dtype) -> Buffer:
        """A fresh buffer."""

    def add_node(
        self,
        buffer: Buffer,
        kind: str,
        outer: Sequence[Symbol],
        inner: Sequence[Symbol],
        body: Body,
        where: Where | None,
        **extra: Any,
    ) -> None:
        """Append a node."""
