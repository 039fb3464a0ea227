"""Index expressions: affine forms and div/mod digits with known bounds, in one canonical form.

Takes loop symbols with extents; gives immutable expressions that are hashed, compared and printed
in linear time. Holds the simplification rules of seed §6.8 as far as views need them: a reshape is
digits, and digits that recombine vanish. sympy never runs here on an ordinary compile; ``to_sympy``
serves the tests that judge this file. Unknown means unequal: two expressions that are equal but
print differently only cost a fusion. Not here: accesses and dependences (``node``, ``depend``).

Division and remainder are floor division and its remainder. Canonical division and remainder only
ever hold a non-negative operand, so C's ``/`` and ``%`` agree with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InvariantError


@dataclass(frozen=True, slots=True)
class Symbol:
    """A loop variable: ``0 <= name < extent``."""

    name: str
    extent: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Div:
    """``operand // divisor`` with ``operand >= 0`` and ``divisor > 1``."""

    operand: Index
    divisor: int

    def __str__(self) -> str:
        return f"({self.operand})//{self.divisor}"


@dataclass(frozen=True, slots=True)
class Mod:
    """``operand % divisor`` with ``operand >= 0`` and ``divisor > 1``."""

    operand: Index
    divisor: int

    def __str__(self) -> str:
        return f"({self.operand})%{self.divisor}"


Atom = Symbol | Div | Mod


@dataclass(frozen=True, slots=True)
class Index:
    """``constant + sum(coefficient * atom)``, atoms sorted by their text, no zero coefficients."""

    terms: tuple[tuple[Atom, int], ...]
    constant: int

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.terms, self.constant + other)
        if not other.terms:
            return Index(self.terms, self.constant + other.constant)
        total: dict[Atom, int] = dict(self.terms)
        for atom, coefficient in other.terms:
            total[atom] = total.get(atom, 0) + coefficient
        return _recombine(total, self.constant + other.constant)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Index:
        if factor == 0:
            return ZERO
        return Index(
            tuple((atom, coefficient * factor) for atom, coefficient in self.terms),
            self.constant * factor,
        )

    __rmul__ = __mul__

    def __sub__(self, other: Index | int) -> Index:
        return self + other * -1

    def __floordiv__(self, divisor: int) -> Index:
        return _floordiv(self, divisor)

    def __mod__(self, divisor: int) -> Index:
        return _mod(self, divisor)

    @property
    def is_affine(self) -> bool:
        """True when no division or remainder occurs."""
        return all(isinstance(atom, Symbol) for atom, _ in self.terms)

    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value over the ranges of the symbols (an enclosure), inclusive."""
        low = high = self.constant
        for atom, coefficient in self.terms:
            first, last = _atom_bounds(atom)
            if coefficient < 0:
                first, last = last, first
            low += coefficient * first
            high += coefficient * last
        return low, high

    def symbols(self) -> frozenset[Symbol]:
        """Every symbol that occurs, inside digits too."""
        found: set[Symbol] = set()
        for atom, _ in self.terms:
            if isinstance(atom, Symbol):
                found.add(atom)
            else:
                found |= atom.operand.symbols()
        return frozenset(found)

    def coefficient(self, symbol: Symbol) -> int | None:
        """Stride along a symbol: 0 when absent, None when it sits inside a digit."""
        stride = 0
        for atom, coefficient in self.terms:
            if atom == symbol:
                stride = coefficient
            elif not isinstance(atom, Symbol) and symbol in atom.operand.symbols():
                return None
        return stride

    def subs(self, replacement: Mapping[Symbol, Index]) -> Index:
        """The expression with symbols replaced; ranges must be respected by the caller."""
        return self.rebuild(lambda symbol: replacement.get(symbol))

    def rebuild(self, replace: Callable[[Symbol], Index | None]) -> Index:
        """The expression with every symbol for which ``replace`` answers an index replaced."""
        total = constant(self.constant)
        for atom, coefficient in self.terms:
            if isinstance(atom, Symbol):
                new = replace(atom)
                part = new if new is not None else Index(((atom, 1),), 0)
            elif isinstance(atom, Div):
                part = atom.operand.rebuild(replace) // atom.divisor
            else:
                part = atom.operand.rebuild(replace) % atom.divisor
            total = total + part * coefficient
        return total

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The value under ``{symbol name: integer or integer array}``."""
        total: Any = self.constant
        for atom, coefficient in self.terms:
            if isinstance(atom, Symbol):
                part = values[atom.name]
            elif isinstance(atom, Div):
                part = atom.operand.evaluate(values) // atom.divisor
            else:
                part = atom.operand.evaluate(values) % atom.divisor
            total = total + coefficient * part
        return total

    def text(self, divide: str = "//") -> str:
        """The expression in Python's spelling, or in C's with ``divide="/"``."""
        parts: list[str] = []
        for atom, coefficient in self.terms:
            body = atom.name if isinstance(atom, Symbol) else _digit_text(atom, divide)
            sign = "-" if coefficient < 0 else "+"
            size = abs(coefficient)
            parts.append(f"{sign} {body}" if size == 1 else f"{sign} {size}*{body}")
        if self.constant or not parts:
            parts.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        joined = " ".join(parts)
        return joined[2:] if joined.startswith("+ ") else "-" + joined[2:]

    def __str__(self) -> str:
        return self.text()


ZERO = Index((), 0)


def constant(value: int) -> Index:
    """The index that is always ``value``."""
    return Index((), value) if value else ZERO


def variable(symbol: Symbol) -> Index:
    """The index that is a loop symbol; a symbol of extent 1 is 0."""
    return ZERO if symbol.extent == 1 else Index(((symbol, 1),), 0)


def flatten(indices: Sequence[Index], strides: Sequence[int], offset: int = 0) -> Index:
    """The linear address ``offset + sum(stride * index)``, in elements."""
    total = constant(offset)
    for index, stride in zip(indices, strides, strict=True):
        total = total + index * stride
    return total


def digits(linear: Index, shape: Sequence[int]) -> tuple[Index, ...]:
    """The multi-dimensional C-order index of a linear position in an array of this shape."""
    out: list[Index] = []
    block = math.prod(shape)
    if block == 0:
        return (ZERO,) * len(shape)
    for extent in shape:
        block //= max(extent, 1)
        out.append((linear // block) % extent if extent > 1 else ZERO)
    return tuple(out)


def c_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """C-order strides of a shape, in elements."""
    strides: list[int] = []
    block = 1
    for extent in reversed(shape):
        strides.append(block)
        block *= max(extent, 1)
    return tuple(reversed(strides))


def to_sympy(index: Index) -> Any:
    """The same expression in sympy, for the tests that judge this file and for pretty printing."""
    import sympy

    total = sympy.Integer(index.constant)
    for atom, coefficient in index.terms:
        if isinstance(atom, Symbol):
            part = sympy.Symbol(atom.name, integer=True, nonnegative=True)
        elif isinstance(atom, Div):
            part = sympy.floor(to_sympy(atom.operand) / atom.divisor)
        else:
            part = sympy.Mod(to_sympy(atom.operand), atom.divisor)
        total += coefficient * part
    return total


def _digit_text(atom: Div | Mod, divide: str) -> str:
    sign = divide if isinstance(atom, Div) else "%"
    return f"(({atom.operand.text(divide)}){sign}{atom.divisor})"


def _atom_bounds(atom: Atom) -> tuple[int, int]:
    if isinstance(atom, Symbol):
        return 0, max(atom.extent - 1, 0)
    low, high = atom.operand.bounds()
    if isinstance(atom, Div):
        return low // atom.divisor, high // atom.divisor
    return (0, atom.divisor - 1) if high >= atom.divisor else (low, high)


def _order(item: tuple[Atom, int]) -> tuple[int, str]:
    """Larger strides first, then by text: the order in which addresses are read."""
    return (-abs(item[1]), str(item[0]))


def _canonical(total: Mapping[Atom, int], constant_part: int) -> Index:
    kept = [(atom, coefficient) for atom, coefficient in total.items() if coefficient]
    return Index(tuple(sorted(kept, key=_order)), constant_part)


def _recombine(total: dict[Atom, int], constant_part: int) -> Index:
    """Join digits: ``c*(e % k) + c*k*(e // k)`` is ``c*e``, and a digit above it extends it."""
    for atom, coefficient in list(total.items()):
        if not isinstance(atom, Mod) or not coefficient or total.get(atom) != coefficient:
            continue
        operand, k = atom.operand, atom.divisor
        quotient = operand // k
        scaled = coefficient * k
        if quotient.terms and _contains(total, quotient, scaled):
            rest = _canonical(total, constant_part)
            return rest - quotient * scaled - _digit(atom) * coefficient + operand * coefficient
        for other, factor in list(total.items()):
            if (
                isinstance(other, Mod)
                and other is not atom
                and factor == scaled
                and quotient == other.operand
            ):
                rest = _canonical(total, constant_part)
                joined = operand % (k * other.divisor)
                return (
                    rest - _digit(atom) * coefficient - _digit(other) * factor
                ) + joined * coefficient
    return _canonical(total, constant_part)


def _digit(atom: Atom) -> Index:
    return Index(((atom, 1),), 0)


def _contains(total: Mapping[Atom, int], part: Index, factor: int) -> bool:
    """True when ``factor * part`` (its terms) is literally among the terms of a sum."""
    return part.constant == 0 and all(
        total.get(atom) == coefficient * factor for atom, coefficient in part.terms
    )


def _split(index: Index, divisor: int) -> tuple[Index, Index]:
    """``index = divisor * quotient + rest`` with coefficients of ``rest`` below the divisor."""
    quotient: dict[Atom, int] = {}
    rest: dict[Atom, int] = {}
    for atom, coefficient in index.terms:
        if coefficient % divisor == 0:
            quotient[atom] = coefficient // divisor
        else:
            rest[atom] = coefficient
    whole, remainder = divmod(index.constant, divisor)
    return _canonical(quotient, whole), _canonical(rest, remainder)


def _common(index: Index, divisor: int) -> tuple[int, Index, Index] | None:
    """``(g, big, small)`` with ``index = g*big + small``, ``g | divisor``, ``0 <= small < g``."""
    candidates = {math.gcd(coefficient, divisor) for _, coefficient in index.terms}
    for g in sorted(candidates, reverse=True):
        if g <= 1:
            break
        big: dict[Atom, int] = {}
        small: dict[Atom, int] = {}
        for atom, coefficient in index.terms:
            if coefficient % g == 0:
                big[atom] = coefficient // g
            else:
                small[atom] = coefficient
        whole, remainder = divmod(index.constant, g)
        low_part = _canonical(small, remainder)
        low, high = low_part.bounds()
        if 0 <= low and high < g and big:
            return g, _canonical(big, whole), low_part
    return None


def _floordiv(index: Index, divisor: int) -> Index:
    if divisor <= 0:
        raise InvariantError(f"index divided by {divisor}")
    if divisor == 1:
        return index
    quotient, rest = _split(index, divisor)
    low, high = rest.bounds()
    if low // divisor == high // divisor:
        return quotient + low // divisor
    if low < 0:
        lift = -(low // divisor)
        quotient, rest = quotient - lift, rest + lift * divisor
    common = _common(rest, divisor)
    if common is not None:
        g, big, _ = common
        return quotient + _floordiv(big, divisor // g)
    if len(rest.terms) == 1 and rest.constant == 0 and rest.terms[0][1] == 1:
        atom = rest.terms[0][0]
        if isinstance(atom, Div):
            return quotient + _floordiv(atom.operand, atom.divisor * divisor)
        if isinstance(atom, Mod) and atom.divisor % divisor == 0:
            inner = _floordiv(atom.operand, divisor)
            return quotient + _mod(inner, atom.divisor // divisor)
    return quotient + _digit(Div(rest, divisor))


def _mod(index: Index, divisor: int) -> Index:
    if divisor <= 0:
        raise InvariantError(f"index modulo {divisor}")
    if divisor == 1:
        return ZERO
    _, rest = _split(index, divisor)
    low, high = rest.bounds()
    if low // divisor == high // divisor:
        return rest - low // divisor * divisor
    if low < 0:
        rest = rest - low // divisor * divisor
    common = _common(rest, divisor)
    if common is not None:
        g, big, small = common
        return _mod(big, divisor // g) * g + small
    if len(rest.terms) == 1 and rest.constant == 0 and rest.terms[0][1] == 1:
        atom = rest.terms[0][0]
        if isinstance(atom, Mod) and atom.divisor % divisor == 0:
            return _mod(atom.operand, divisor)
    return _digit(Mod(rest, divisor))
