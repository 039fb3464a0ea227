"""A small set of rows that holds every allowed pair of levels of any two factors.

takes: factors with their levels, and which levels of the first two factors go together
gives: rows
holds: the greedy choice
not here: what the factors mean
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
Pair = tuple[tuple[str, Any], tuple[str, Any]]


def cover(factors: Mapping[str, Sequence[Any]], together: Callable[[Any, Any], bool]) -> list[Row]:
    """Rows such that every two levels of different factors stand together in one of them.

    Each row starts from a pair that no row holds yet; its other factors take the level that adds
    the most new pairs, the one used least where several add as many. So the number of rows stays
    near the smallest possible one, the product of the two largest factors.

    Args:
        factors: levels by the name of their factor; at least two factors.
        together: whether a level of the first factor and one of the second may meet.

    Returns:
        rows, the same ones in every run.
    """
    first, second = list(factors)[:2]
    wanted = dict.fromkeys(
        pair
        for a, b in itertools.combinations(factors, 2)
        for pair in itertools.product(_named(a, factors), _named(b, factors))
        if (a, b) != (first, second) or together(pair[0][1], pair[1][1])
    )
    used: dict[tuple[str, Any], int] = {}
    rows: list[Row] = []
    while wanted:
        row = _row(next(iter(wanted)), factors, together, wanted, used)
        rows.append(row)
        for entry in row.items():
            used[entry] = used.get(entry, 0) + 1
        for pair in itertools.combinations(row.items(), 2):
            wanted.pop(pair, None)
    return rows


def _named(factor: str, factors: Mapping[str, Sequence[Any]]) -> list[tuple[str, Any]]:
    return [(factor, level) for level in factors[factor]]


def _row(
    start: Pair,
    factors: Mapping[str, Sequence[Any]],
    together: Callable[[Any, Any], bool],
    wanted: Mapping[Pair, None],
    used: Mapping[tuple[str, Any], int],
) -> Row:
    """The pair that it starts from, and for every other factor the level that adds most."""
    order = list(factors)
    chosen = dict(start)
    for factor in order:
        if factor in chosen:
            continue
        levels = [v for v in factors[factor] if _allowed(factor, v, chosen, order, together)]

        def gain(level: Any, factor: str = factor) -> tuple[int, int]:
            entries = {**chosen, factor: level}
            found = sum(_pair((factor, level), e, order) in wanted for e in entries.items())
            return found, -used.get((factor, level), 0)

        chosen[factor] = max(levels, key=gain)
    return {factor: chosen[factor] for factor in order}


def _pair(one: tuple[str, Any], other: tuple[str, Any], order: Sequence[str]) -> Pair:
    return (one, other) if order.index(one[0]) < order.index(other[0]) else (other, one)


def _allowed(
    factor: str,
    level: Any,
    chosen: Row,
    order: Sequence[str],
    together: Callable[[Any, Any], bool],
) -> bool:
    if factor == order[0]:
        return order[1] not in chosen or together(level, chosen[order[1]])
    if factor == order[1]:
        return order[0] not in chosen or together(chosen[order[0]], level)
    return True
