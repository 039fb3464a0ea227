"""What an external call returns is found on stand-ins: they must say what the true operands say.

takes: NumPy functions, and shapes with axes around the length from which axes are replaced
gives: a failure where a result's type differs from the one on true operands, or costs their size
holds: nothing
not here: the calls themselves (spec/test_extern)
"""

import tracemalloc

import numpy as np
import pytest

import stax_ref as stax
from stax_ref.calls import Call, Several, Slot, static
from stax_ref.functions.standins import SHORT, returned

F8 = np.dtype(np.float64)
LONG = SHORT + 24

FUNCTIONS = {
    "same": (lambda a: np.sort(a[0]), [(LONG, 3, SHORT + 1)]),
    "one more": (lambda a: np.cumulative_sum(a[0], include_initial=True), [(LONG,)]),
    "two less": (lambda a: np.ediff1d(a[0])[:-1], [(LONG,)]),
    "a number": (lambda a: np.histogram(a[0], 40), [(LONG,)]),
    "a sum": (lambda a: np.convolve(a[0], a[1]), [(LONG,), (LONG + 3,)]),
    "a difference": (lambda a: np.convolve(a[0], a[1], "valid"), [(LONG,), (LONG + 3,)]),
    "twice": (lambda a: np.concatenate([a[0], a[0]]), [(LONG, 2)]),
    "the sum of three": (lambda a: np.concatenate(a), [(LONG,), (LONG + 1,), (LONG + 7,)]),
    "a product": (lambda a: np.kron(a[0], a[1]), [(LONG,), (LONG + 1,)]),
    "a square": (lambda a: np.outer(a[0], a[0]).ravel(), [(LONG,)]),
    "half": (lambda a: a[0][::2], [(LONG,)]),
    "a half of the longer": (lambda a: a[1][::2] + a[0][0], [(LONG,), (2 * LONG,)]),
    "an eighth": (lambda a: np.packbits(a[0] > 0, axis=1), [(LONG, LONG + 41)]),
    "eight times": (lambda a: np.repeat(a[0], 8), [(LONG,)]),
    "the shorter": (lambda a: np.linalg.svd(a[0], full_matrices=False), [(LONG, LONG + 5)]),
    "other order": (lambda a: np.linalg.pinv(a[0]), [(2, LONG, LONG + 5)]),
    "swapped": (lambda a: np.swapaxes(a[0], 0, 2), [(LONG, 1, LONG + 9)]),
    "many axes": (lambda a: np.sort(a[0], axis=None), [(17, 18, 19, 20)]),
    "many lengths": (lambda a: np.concatenate(a), [(LONG + k,) for k in range(9)]),
    "empty": (lambda a: np.sort(a[0]), [(0, LONG)]),
    "a place": (lambda a: np.partition(a[0], LONG - 1), [(LONG,)]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_type_on_stand_ins_is_the_type_on_true_operands(name):
    function, shapes = FUNCTIONS[name]
    found = returned(name, function, [(shape, F8) for shape in shapes])
    rng = np.random.default_rng(0)
    result = function([rng.standard_normal(shape) for shape in shapes])
    assert found.kind is (type(result) if isinstance(result, tuple) else None)
    true = list(result) if isinstance(result, tuple) else [result]
    assert list(found.arrays) == [(array.shape, array.dtype) for array in true]


def test_large_operands_cost_nothing():
    huge = [((100_000, 90_000), F8)]
    tracemalloc.start()
    assert returned("sort", lambda a: np.sort(a[0]), huge).arrays[0][0] == (100_000, 90_000)
    assert returned("svd", lambda a: np.linalg.svd(a[0]), huge).arrays[2][0] == (90_000, 90_000)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_errors_name_the_true_lengths():
    with pytest.raises(stax.ShapeError, match=r"kth\(=200\) out of bounds \(100\)"):
        returned("np.partition", lambda a: np.partition(a[0], 200), [((100,), F8)])
    with pytest.raises(np.linalg.LinAlgError, match="must be square"):
        returned("np.linalg.inv", lambda a: np.linalg.inv(a[0]), [((100, 90), F8)])
    with pytest.raises(TypeError, match="float16"):
        returned("np.linalg.inv", lambda a: np.linalg.inv(a[0]), [((40, 40), np.dtype("f2"))])


def test_an_integer_without_axes_may_be_an_axis_or_a_number_of_bins():
    whole = ((), np.dtype(np.int64))
    three = ((3, 3), F8)
    found = returned("np.partition", lambda a: np.partition(a[0], int(a[1])), [three, whole])
    assert found.arrays == (three,)
    for function in (
        lambda a: np.resize(a[0], int(a[1])),
        lambda a: np.sum(a[0], axis=int(a[1])),
    ):
        with pytest.raises(stax.ValueDependent, match="depends on the value of a traced integer"):
            returned("f", function, [three, whole])
    with pytest.raises(IndexError, match="axis -1 is out of bounds"):
        returned("np.sort", lambda a: np.sort(a[0]), [whole])


# the record of a call -----------------------------------------------------------------------------
def test_calls_compare_by_function_and_static_arguments():
    def call(*args, function=np.sort, **kwargs):
        named = tuple((name, static(value)) for name, value in kwargs.items())
        return Call("sort", function, (Slot(0), *map(static, args)), named)

    assert call(0) == call(0)
    assert hash(call(0)) == hash(call(0))
    assert call(np.float64("nan")) == call(np.float64("nan"))
    assert call(np.zeros(2)) == call(np.zeros(2))
    different = [call(0), call(0.0), call(False), call(-0.0), call(axis=0), call(None), call("0")]
    different += [call(np.int64(0)), call(np.zeros(2)), call(np.dtype("f4")), call(np.float64)]
    different += [call(0, function=np.argsort)]
    assert len(set(different)) == len(different)


def test_a_call_with_an_operand_bound_numbers_the_others_anew():
    parts = (Several(list, (Slot(0), Slot(1))), Slot(2))
    call = Call("f", lambda pair, c: pair[0] + pair[1] * c, parts)
    bound = call.with_static({1: np.array(5)})
    assert bound.results([np.array(1), np.array(2)])[0] == 11
    assert call.text("abc") == "f([a, b], c)"
    assert bound.text("ac") == "f([a, array(5)], c)"


def test_only_a_call_without_static_arguments_is_made_directly():
    assert Call("matmul", np.matmul, (Slot(0), Slot(1)), into=np.matmul).direct is np.matmul
    assert Call("matmul", np.matmul, (Slot(1), Slot(0)), into=np.matmul).direct is None
    assert Call("cumsum", np.cumsum, (Slot(0), static(0)), into=np.cumsum).direct is None
    assert Call("cumsum", np.cumsum, (Slot(0, weak=True),), into=np.cumsum).direct is None
    assert Call("inv", np.linalg.inv, (Slot(0),)).direct is None
