"""Functions printed into a source: the sequences of ``stax_ref.elementary``, and calls of libm.

Takes a function's name, its dtype and a vector type of ``stax_simd.h``; gives the text of a
``static inline`` C function. Holds the ``Arithmetic`` that writes a line per operation instead of
computing. Not here: the operations themselves (the headers), the numbers
(``stax_ref.elementary``), which functions are the C library's (``stax_ref.libm``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from stax_ref.elementary import SEQUENCES
from stax_ref.libm import SYMBOLS

PRINTED = {name for name, _ in SEQUENCES} | set(SYMBOLS)
"""Operations of floats whose functions stand in the source and in no header."""


@dataclass
class Value:
    """What a line of C computes: a name, or the text of a constant that needs no line."""

    text: str
    line: Line | None = None


@dataclass
class Line:
    """One ``const ctype name = expression;``. The name is final only when all is written."""

    ctype: str
    expression: Callable[[], str]
    value: Value
    why: str = ""

    def __str__(self) -> str:
        text = f"    const {self.ctype} {self.value.text} = {self.expression()};"
        return f"{text}  // {self.why}" if self.why else text


@dataclass
class CArithmetic:
    """The ``Arithmetic`` that prints: every operation appends a line and gives its name.

    ``vtype`` is a float type of ``stax_simd.h``, ``f32`` or ``f64`` with or without lanes.
    """

    vtype: str
    lines: list[Line] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.itype = "i" + self.vtype[1:]
        self.single = self.vtype.startswith("f32")

    def let(self, name: str, value: Value, why: str = "") -> Value:
        """Rename the line of ``value``; a name asked for twice gets a number."""
        if value.line is not None:
            value.text = self._unique(name)
            value.line.why = why
        return value

    def _unique(self, name: str) -> str:
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        return f"{name}_{count}" if count else name

    def _line(self, ctype: str, template: str, *operands: Value) -> Value:
        """Append a line whose expression is ``template`` filled with the operands' names."""
        value = Value(f"t{len(self.lines)}")
        value.line = Line(ctype, lambda: template.format(*[o.text for o in operands]), value)
        self.lines.append(value.line)
        return value

    def _call(self, name: str, *operands: Value) -> Value:
        places = ", ".join("{}" for _ in operands)
        return self._line(self.vtype, f"{name}_{self.vtype}({places})", *operands)

    def _mask(self, name: str, a: Value, b: Value) -> Value:
        return self._line(self.itype, f"{name}_{self.vtype}({{}}, {{}})", a, b)

    def const(self, value: float) -> Value:
        """The float constant in all lanes."""
        return Value(f"splat_{self.vtype}({float_literal(value, self.single)})")

    def iconst(self, value: int) -> Value:
        """The integer constant; as an operand of an operator, C spreads it over the lanes."""
        return Value(hex(value) if value >= 0 else f"({hex(value)})")

    def add(self, a: Value, b: Value) -> Value:
        return self._line(self.vtype, "{} + {}", a, b)

    def sub(self, a: Value, b: Value) -> Value:
        return self._line(self.vtype, "{} - {}", a, b)

    def mul(self, a: Value, b: Value) -> Value:
        return self._line(self.vtype, "{} * {}", a, b)

    def div(self, a: Value, b: Value) -> Value:
        return self._line(self.vtype, "{} / {}", a, b)

    def sqrt(self, a: Value) -> Value:
        return self._call("sqrt", a)

    def abs(self, a: Value) -> Value:
        return self._call("abs", a)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        return self._call("fma", a, b, c)

    def raw_min(self, a: Value, b: Value) -> Value:
        return self._call("min", a, b)

    def raw_max(self, a: Value, b: Value) -> Value:
        return self._call("max", a, b)

    def bits(self, a: Value) -> Value:
        return self._line(self.itype, f"bits_{self.vtype}({{}})", a)

    def float_from_bits(self, a: Value) -> Value:
        return self._call("float", a)

    def from_int(self, a: Value) -> Value:
        return self._call("from_int", a)

    def iadd(self, a: Value, b: Value) -> Value:
        return self._line(self.itype, "{} + {}", a, b)

    def isub(self, a: Value, b: Value) -> Value:
        return self._line(self.itype, "{} - {}", a, b)

    def iand(self, a: Value, b: Value) -> Value:
        return self._line(self.itype, "{} & {}", a, b)

    def ior(self, a: Value, b: Value) -> Value:
        return self._line(self.itype, "{} | {}", a, b)

    def ixor(self, a: Value, b: Value) -> Value:
        return self._line(self.itype, "{} ^ {}", a, b)

    def ishl(self, a: Value, count: int) -> Value:
        return self._line(self.itype, f"{{}} << {count}", a)

    def isra(self, a: Value, count: int) -> Value:
        return self._line(self.itype, f"{{}} >> {count}", a)

    def isrl(self, a: Value, count: int) -> Value:
        return self._line(self.itype, f"srl_{self.itype}({{}}, {count})", a)

    def lt(self, a: Value, b: Value) -> Value:
        return self._mask("lt", a, b)

    def le(self, a: Value, b: Value) -> Value:
        return self._mask("le", a, b)

    def eq(self, a: Value, b: Value) -> Value:
        return self._mask("eq", a, b)

    def ge(self, a: Value, b: Value) -> Value:
        return self._mask("ge", a, b)

    def gt(self, a: Value, b: Value) -> Value:
        return self._mask("gt", a, b)

    def ne(self, a: Value, b: Value) -> Value:
        return self._mask("ne", a, b)

    def select(self, mask: Value, a: Value, b: Value) -> Value:
        return self._call("select", mask, a, b)

    def iselect(self, mask: Value, a: Value, b: Value) -> Value:
        return self._line(self.itype, f"select_{self.itype}({{}}, {{}}, {{}})", mask, a, b)


def float_literal(value: float, single: bool) -> str:
    """The C literal with exactly this value: hexadecimal, or a builtin for infinity and NaN.

    ``single`` rounds to float32 first and writes the suffix ``f``.
    """
    suffix = "f" if single else ""
    rounded = float(np.float32(value)) if single else value
    if math.isnan(rounded):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(rounded):
        sign = "-" if rounded < 0 else ""
        return f"{sign}__builtin_inf{suffix}()"
    mantissa, exponent = rounded.hex().split("p")
    digits = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{digits}p{exponent}{suffix}"


def function_source(name: str, dtype: str, vtype: str) -> str:
    """The C function ``<name>_<vtype>`` that computes ``name`` lane by lane.

    Arguments: ``name`` and ``dtype`` as in ``stax_ref.elementary.SEQUENCES`` (``"exp"``,
    ``"float32"``), ``vtype`` a float type of ``stax_simd.h`` with that element (``"f32x16"``).
    Returns the text of one ``static inline`` function of one argument. Raises ``KeyError`` when
    there is no such sequence, ``ValueError`` when ``vtype`` has another element type.
    """
    sequence = SEQUENCES[name, dtype]
    if vtype.split("x")[0] != f"f{dtype.removeprefix('float')}":
        raise ValueError(f"{vtype} does not hold {dtype}")
    arithmetic = CArithmetic(vtype)
    result = sequence(arithmetic, Value("x"))
    body = "\n".join(str(line) for line in arithmetic.lines)
    return (
        f"static inline {vtype} {name}_{vtype}({vtype} x) {{\n{body}\n"
        f"    return {result.text};\n}}\n"
    )


def libm_source(name: str, vtype: str) -> str:
    """The C function ``<name>_<vtype>``: the C library's function of doubles in every lane.

    Arguments: ``name`` of ``stax_ref.libm.SYMBOLS``, ``vtype`` a float type of ``stax_simd.h``.
    Returns the text of a prototype and of one ``static inline`` function; a vector's last argument
    is the number of lanes that count. The prototype's name is ours and only its symbol the
    library's, so that the compiler neither computes nor replaces a call by its own idea of it.
    """
    symbol, arity = SYMBOLS[name]
    element, _, lanes = vtype.partition("x")
    names = ("x", "y")[:arity]
    double = element == "f64"

    def call(*arguments: str) -> str:
        words = ", ".join(a if double else f"(f64){a}" for a in arguments)
        return f"{'' if double else '(f32)'}stax_libm_{symbol}({words})"

    prototype = f'f64 stax_libm_{symbol}({", ".join(["f64"] * arity)}) __asm__("{symbol}");\n'
    parameters = ", ".join(f"{vtype} {n}" for n in names)
    if not lanes:
        body = f"    return {call(*names)};\n"
    else:
        parameters += ", i64 n"
        line = f"x[k] = {call(*(f'{n}[k]' for n in names))};"
        body = f"    for (i64 k = 0; k < n; k++) {line}\n    return x;\n"
    return f"{prototype}static inline {vtype} {name}_{vtype}({parameters}) {{\n{body}}}\n"
