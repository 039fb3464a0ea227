"""The exception tree: what each class also is, and the three parts of every message."""

import pytest

import stax_ref as stax
from stax_ref import errors
from stax_ref.errors import NOWHERE, StaxError, Where

BASES = {
    errors.TraceError: TypeError,
    errors.ValueDependent: TypeError,
    errors.UnsupportedOperation: TypeError,
    errors.ShapeError: ValueError,
    errors.AxisError: IndexError,
    errors.IndexingError: IndexError,
    errors.DtypeError: TypeError,
    errors.ConfigError: ValueError,
}


@pytest.mark.parametrize("kind", BASES)
def test_every_class_is_also_a_builtin(kind):
    assert issubclass(kind, StaxError)
    assert issubclass(kind, BASES[kind])


def test_the_docstring_draws_every_class():
    classes = [
        name
        for name, thing in vars(errors).items()
        if isinstance(thing, type) and issubclass(thing, Exception)
    ]
    for name in classes:
        assert name in errors.__doc__, name


def test_the_three_parts_of_a_message():
    where = Where(__file__, 1, "f")
    assert where.text.startswith('"""The exception tree')
    assert str(StaxError("what", where, "that")).splitlines() == [
        "what",
        f"  at {__file__}:1 in f",
        f"      {where.text}",
        "  instead: that",
    ]
    assert str(StaxError("what")) == "what"
    assert str(StaxError("what", NOWHERE, "")) == "what"


def test_public_names():
    for name in stax.__all__:
        assert getattr(stax, name) is not None
