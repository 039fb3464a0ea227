# Which arguments a program was compiled for: a description per argument, tested at each call.
#
# The tests run no Python code and raise nothing, so that a dispatcher may try many programs.


cdef enum:
    MAX_DIMS = 64             # as many as NumPy allows


cdef enum InputKind:
    ARRAY
    FLOAT
    INT
    BOOL


cdef struct Input:
    InputKind kind
    int buffer
    int dtype_num
    int ndim
    cnp.npy_intp itemsize
    bint c_order              # any C-contiguous array will do; else the strides are compared
    bint written              # an in-place target: writeable, and no other input overlaps it
    cnp.npy_intp shape[MAX_DIMS]
    cnp.npy_intp strides[MAX_DIMS]
    int64_t lo
    uint64_t hi
    bint hi_is_negative


cdef int fill_dims(cnp.npy_intp *into, object values) except -1:
    cdef int i = 0
    if len(values) > MAX_DIMS:
        raise ValueError(f"at most {MAX_DIMS} dimensions, not {len(values)}")
    for value in values:
        into[i] = value
        i += 1
    return i


cdef int fill_array(Input *spec, tuple entry) except -1:
    dtype_num, itemsize, shape, strides, buffer, *written = entry
    spec.kind = ARRAY
    spec.dtype_num, spec.itemsize, spec.buffer = dtype_num, itemsize, buffer
    spec.written = written == [True]
    spec.ndim = fill_dims(spec.shape, shape)
    spec.c_order = strides is None
    if strides is not None and fill_dims(spec.strides, strides) != spec.ndim:
        raise ValueError(f"strides {strides} do not fit shape {shape}")
    return 0


cdef bint fits(Input *spec, object value):
    """Is this argument one the program was compiled for? Never raises, runs no Python code."""
    if spec.kind == ARRAY:
        return cnp.PyArray_CheckExact(value) and array_fits(spec, <cnp.ndarray>value)
    if spec.kind == FLOAT:
        return PyFloat_CheckExact(value)
    if spec.kind == BOOL:
        return PyBool_Check(value)
    return PyLong_CheckExact(value) and int_fits(spec, value)


cdef bint array_fits(Input *spec, cnp.ndarray array) noexcept:
    cdef int axis
    cdef int flags = cnp.PyArray_FLAGS(array)
    cdef bint empty = False
    if (
        cnp.PyArray_TYPE(array) != spec.dtype_num
        or cnp.PyArray_NDIM(array) != spec.ndim
        or not flags & cnp.NPY_ARRAY_ALIGNED
        or not cnp.PyArray_ISNOTSWAPPED(array)
        or cnp.PyArray_ITEMSIZE(array) != spec.itemsize
        or (spec.written and not flags & cnp.NPY_ARRAY_WRITEABLE)
    ):
        return False
    for axis in range(spec.ndim):
        if cnp.PyArray_DIM(array, axis) != spec.shape[axis]:
            return False
        empty = empty or spec.shape[axis] == 0
    if spec.c_order:
        return (flags & cnp.NPY_ARRAY_C_CONTIGUOUS) != 0
    for axis in range(spec.ndim):
        if (
            spec.shape[axis] > 1
            and not empty
            and cnp.PyArray_STRIDE(array, axis) != spec.strides[axis]
        ):
            return False
    return True


cdef bint int_fits(Input *spec, object value):
    cdef int overflow = 0
    cdef long long number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow == 0:
        return number >= spec.lo and (
            number <= <int64_t>spec.hi
            if spec.hi_is_negative
            else number < 0 or <uint64_t>number <= spec.hi
        )
    return (
        overflow > 0
        and not spec.hi_is_negative
        and value <= UINT64_MAX
        and PyLong_AsUnsignedLongLong(value) <= spec.hi
    )


UINT64_MAX = (1 << 64) - 1


cdef bint overlap(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Do the byte ranges of two arrays meet? True may be a false alarm, False is certain."""
    cdef char *a_low
    cdef char *a_high
    cdef char *b_low
    cdef char *b_high
    byte_range(a, &a_low, &a_high)
    byte_range(b, &b_low, &b_high)
    return a_low < b_high and b_low < a_high


cdef void byte_range(cnp.ndarray array, char **low, char **high) noexcept:
    cdef int axis
    cdef cnp.npy_intp reach
    low[0] = high[0] = cnp.PyArray_BYTES(array)
    if cnp.PyArray_SIZE(array) == 0:
        return
    for axis in range(cnp.PyArray_NDIM(array)):
        reach = (cnp.PyArray_DIM(array, axis) - 1) * cnp.PyArray_STRIDE(array, axis)
        if reach < 0:
            low[0] += reach
        else:
            high[0] += reach
    high[0] += cnp.PyArray_ITEMSIZE(array)


cdef uint64_t int_bits(object value) except? 0xFFFF:
    cdef int overflow = 0
    cdef long long number = PyLong_AsLongLongAndOverflow(value, &overflow)
    return PyLong_AsUnsignedLongLong(value) if overflow else <uint64_t>number
