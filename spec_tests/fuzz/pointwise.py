"""Pointwise equations: every ufunc, and the functions that are made of them.

takes: the pool
gives: ``FORMS``
holds: the kinds of dtypes each one is tried on
not here: reductions (``reducing``), indices (``indexing``)
"""

from __future__ import annotations

from collections.abc import Callable

from .pool import Choice, Form, Params, Pool, call

INFIX = {
    "add": ("+", "fiub"),
    "subtract": ("-", "fiu"),
    "multiply": ("*", "fiub"),
    "divide": ("/", "fiu"),
    "floor_divide": ("//", "fiu"),
    "remainder": ("%", "fiu"),
    "equal": ("==", "fiub"),
    "not_equal": ("!=", "fiub"),
    "less": ("<", "fiub"),
    "less_equal": ("<=", "fiub"),
    "greater": (">", "fiub"),
    "greater_equal": (">=", "fiub"),
    "bitwise_and": ("&", "iub"),
    "bitwise_or": ("|", "iub"),
    "bitwise_xor": ("^", "iub"),
}
UNARY = {
    "negative": "fiu",
    "absolute": "fiu",
    "square": "fiu",
    "sign": "fiu",
    "sqrt": "fiu",
    "reciprocal": "f",
    "invert": "iub",
    "bitwise_count": "iu",
    "logical_not": "fiub",
    **dict.fromkeys("exp log tanh isnan isinf isfinite floor ceil trunc rint".split(), "fi"),
    **dict.fromkeys("signbit spacing fabs nan_to_num deg2rad".split(), "f"),
    **dict.fromkeys("sin cos tan arctan arcsinh exp2 expm1 log1p log2 log10 cbrt".split(), "f"),
    **dict.fromkeys("arcsin arccos arccosh arctanh sinh cosh".split(), "f"),
}
BINARY = {
    **dict.fromkeys("maximum minimum".split(), "fiub"),
    **dict.fromkeys("fmax fmin fmod".split(), "fiu"),
    **dict.fromkeys("logical_and logical_or logical_xor".split(), "fiub"),
    **dict.fromkeys("gcd lcm".split(), "iu"),
    **dict.fromkeys("heaviside copysign nextafter arctan2 hypot logaddexp isclose".split(), "f"),
}


def unary(kinds: str) -> Callable[[Pool], Choice]:
    """One array of one of these kinds."""
    return lambda pool: ((pool.array(kinds),), ())


def binary(kinds: str) -> Callable[[Pool], Choice]:
    """An array and something that broadcasts with it, in either order."""

    def choose(pool: Pool) -> Choice:
        first = pool.array(kinds)
        pair = [first, pool.partner(first, kinds)]
        pool.rng.shuffle(pair)
        return tuple(pair), ()

    return choose


def _infix(sign: str) -> Callable[[tuple[str, ...], Params], str]:
    return lambda operands, params: f"{operands[0]} {sign} {operands[1]}"


def _where(pool: Pool) -> Choice:
    mask = pool.array("b")
    return (mask, pool.partner(mask, "fiub"), pool.partner(mask, "fiub")), ()


def _select(pool: Pool) -> Choice:
    first = pool.array("b")
    second = pool.partner(first, "b")
    return (first, second, pool.partner(first, "fi"), pool.partner(second, "fi")), ()


def _select_text(operands: tuple[str, ...], params: Params) -> str:
    conditions, choices = ", ".join(operands[:2]), ", ".join(operands[2:])
    return f"np.select([{conditions}], [{choices}], 3)"


def _power(pool: Pool) -> Choice:
    name = pool.array("fiu")
    exponents: list[float] = [0, 1, 2, 3, 4, 5]
    if pool.values[name].dtype.kind == "f":
        exponents += [-1, -2, 0.5, 1.7]
    return (name, f"({pool.rng.choice(exponents)})"), ()


def _shift(pool: Pool) -> Choice:
    name = pool.array("iu")
    width = 8 * pool.values[name].dtype.itemsize
    return (name, str(pool.rng.choice([0, 1, 3, width - 1, width]))), ()


def _clip(pool: Pool) -> Choice:
    low = pool.rng.choice([-2, -1, 0])
    return (pool.array("fi"),), (low, low + pool.rng.choice([0, 1, 3]))


def _round(pool: Pool) -> Choice:
    return (pool.array("f"),), (pool.rng.choice([0, 1, 2, -1]),)


def _divmod(pool: Pool) -> Choice:
    operands, _ = binary("fiu")(pool)
    return operands, (pool.rng.randrange(2),)


CASTS = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_".split()


def _astype(pool: Pool) -> Choice:
    return (pool.array(),), (pool.rng.choice(CASTS),)


FORMS: dict[str, Form] = {
    **{name: Form(binary(kinds), _infix(sign)) for name, (sign, kinds) in INFIX.items()},
    **{name: Form(unary(kinds), call(name)) for name, kinds in UNARY.items()},
    **{name: Form(binary(kinds), call(name)) for name, kinds in BINARY.items()},
    "where": Form(_where, call("where"), 2.0),
    "select": Form(_select, _select_text),
    "power": Form(_power, _infix("**")),
    "left_shift": Form(_shift, _infix("<<")),
    "right_shift": Form(_shift, _infix(">>")),
    "clip": Form(_clip, call("clip")),
    "round": Form(_round, call("round")),
    "divmod": Form(_divmod, lambda o, p: f"np.divmod({o[0]}, {o[1]})[{p[0]}]"),
    "astype": Form(_astype, lambda o, p: f"{o[0]}.astype(np.{p[0]})", 3.0),
}
for _often in ("add", "multiply", "exp", "subtract"):
    FORMS[_often] = Form(FORMS[_often].choose, FORMS[_often].text, 4.0)
