# One compiled plan and its run: the table of buffers, the steps, the outputs.

ctypedef int (*serial_entry)(void **buffers) noexcept nogil
ctypedef int (*parallel_entry)(void **buffers, int threads) noexcept nogil


cdef enum:
    POOL_FROM = 1 << 16       # outputs of this many bytes and more live in the pool
    FRAME_SLOTS = 64          # tables up to this length lie on the C stack


cdef struct Output:
    int buffer
    int ndim
    cnp.npy_intp nbytes
    cnp.npy_intp shape[MAX_DIMS]


cdef struct ArenaBuffer:
    int buffer
    size_t offset


cdef enum StepKind:
    LAUNCH
    CALL
    CHECK
    RELEASE


cdef struct Step:
    StepKind kind
    serial_entry serial
    parallel_entry parallel
    long long work
    int call                  # index into Program.calls, or into Program.releases


cdef enum Owner:
    NOBODY
    ARGUMENT
    CAPTURED
    SCALAR
    RESULT
    ARENA


@cython.final
cdef class View:
    """An array on memory of a call, for a step that calls back into Python."""
    cdef int buffer
    cdef Owner owner
    cdef Py_ssize_t number    # of the argument, captured array or output that owns the memory
    cdef cnp.dtype dtype
    cdef int ndim
    cdef cnp.npy_intp offset
    cdef cnp.npy_intp shape[MAX_DIMS]
    cdef cnp.npy_intp strides[MAX_DIMS]


@cython.final
cdef class Call:
    """A call back into Python: ``function(*ins, *outs)``."""
    cdef object function
    cdef list ins
    cdef list outs


@cython.no_gc_clear  # its C code trusts its attributes, also when a finaliser calls it
cdef class Program:
    """One compiled plan: fills the table of buffers, runs the steps, returns the outputs.

    The same program may run in several Python threads at once; the GIL is free during launches.

    Args:
        inputs: tuple with one entry per positional argument, then the captured arrays.
            ``("array", dtype_num, itemsize, shape, strides, buffer[, written])``: an exact ndarray,
            aligned, in native byte order; strides in bytes, or None for C-contiguous.
            `written` (False) marks an in-place target.
            ``("float", buffer)``, ``("int", buffer, lo, hi)``, ``("bool", buffer)``: a Python
            scalar of exactly this type, handed over as double, int64 or uint8 in an 8-byte slot.
            ``("object_array", ndarray, dtype_num, itemsize, shape, strides, buffer)``: a captured
            array, checked again and read again at each call.
        n_buffers: length of the table.
        outputs: tuple of ``(buffer, dtype, shape)``: fresh C-order arrays.
        arena: tuple of ``(buffer, byte offset)``: temporaries in one block of memory.
        arena_bytes: length of that block.
        steps: tuple of ``("launch", serial address, parallel address or 0, work)``,
            ``("call", function, ins, outs)`` with views ``(buffer, dtype, shape, strides in bytes,
            byte offset)``, ``("check",)``: report the flags so far before going on, and
            ``("release", numbers)``: no later step touches these arguments, see ``consume``.
        single: True for one output instead of a tuple. A 0-d output is a NumPy scalar.

    Attributes:
        on_flag: called with the error flags of a run when there are any, after its last step;
            it raises, or warns and returns. At first it warns as NumPy does by default.
        runs: int, completed runs.
        taken_bytes: int, what the most recent run asked for: its arena and its outputs.

    Raises:
        ValueError: the data does not describe a program.
    """
    cdef Input *inputs
    cdef Output *outputs
    cdef ArenaBuffer *arena
    cdef Step *steps
    cdef Py_ssize_t n_arguments, n_captured, n_buffers, n_outputs, n_arena, n_steps
    cdef Py_ssize_t frame_slots
    cdef size_t arena_bytes
    cdef long long parallel_work  # the largest of its launches with parallel code; -1 for none
    cdef bint single, has_written, has_scalars
    cdef list captured
    cdef list dtypes              # of the outputs
    cdef list calls
    cdef list releases            # tuples of numbers of arguments
    cdef public object on_flag
    cdef readonly unsigned long long runs
    cdef readonly size_t taken_bytes

    def __cinit__(self):
        self.captured, self.dtypes, self.calls, self.releases = [], [], [], []
        self.parallel_work = -1

    def __init__(self, tuple inputs, Py_ssize_t n_buffers, tuple outputs, tuple arena,
                 size_t arena_bytes, tuple steps, bint single):
        if self.inputs:
            raise ValueError("a Program is initialised once")
        if single and len(outputs) != 1:
            raise ValueError(f"single=True needs one output, not {len(outputs)}")
        self.n_buffers, self.arena_bytes, self.single = n_buffers, arena_bytes, single
        self.on_flag = warn_of_flags
        self.inputs = <Input *>zeroed(len(inputs), sizeof(Input))
        self.outputs = <Output *>zeroed(len(outputs), sizeof(Output))
        self.arena = <ArenaBuffer *>zeroed(len(arena), sizeof(ArenaBuffer))
        self.steps = <Step *>zeroed(len(steps), sizeof(Step))
        owners = {}
        for entry in inputs:
            self.add_input(entry, owners)
        for entry in outputs:
            self.add_output(entry, owners)
        for entry in arena:
            self.add_arena(entry, owners)
        for entry in steps:
            self.add_step(entry, owners)
        self.frame_slots = n_buffers + self.n_arguments

    def __dealloc__(self):
        PyMem_Free(self.inputs)
        PyMem_Free(self.outputs)
        PyMem_Free(self.arena)
        PyMem_Free(self.steps)

    cdef int own(self, dict owners, Py_ssize_t buffer, Owner owner, Py_ssize_t number) except -1:
        if not 0 <= buffer < self.n_buffers:
            raise ValueError(f"buffer {buffer} is outside the table of {self.n_buffers}")
        if buffer in owners:
            raise ValueError(f"buffer {buffer} is given two places in memory")
        owners[buffer] = (<int>owner, number)
        return 0

    cdef int add_input(self, tuple entry, dict owners) except -1:
        cdef Py_ssize_t number = self.n_arguments + self.n_captured
        cdef Input *spec = &self.inputs[number]
        kind, *rest = entry
        if kind == "object_array":
            array, *rest = rest
            self.captured.append(array)
            self.n_captured += 1
            fill_array(spec, tuple(rest))
            self.own(owners, spec.buffer, CAPTURED, self.n_captured - 1)
            return 0
        if self.n_captured:
            raise ValueError("captured arrays come after the arguments")
        self.n_arguments += 1
        if kind == "array":
            fill_array(spec, tuple(rest))
            self.has_written |= spec.written
            self.own(owners, spec.buffer, ARGUMENT, number)
            return 0
        spec.buffer = rest[0]
        if kind == "float":
            spec.kind = FLOAT
        elif kind == "bool":
            spec.kind = BOOL
        elif kind == "int":
            spec.kind = INT
            _, lo, hi = rest
            spec.lo, spec.hi = max(lo, -(1 << 63)), min(hi, UINT64_MAX) & UINT64_MAX
            spec.hi_is_negative = hi < 0
        else:
            raise ValueError(f"{kind!r} is not a kind of input")
        self.own(owners, spec.buffer, SCALAR, number)
        return 0

    cdef int add_output(self, tuple entry, dict owners) except -1:
        cdef Output *spec = &self.outputs[self.n_outputs]
        cdef cnp.npy_intp size = 1
        cdef int axis
        buffer, dtype, shape = entry
        dtype = np.dtype(dtype)
        self.own(owners, buffer, RESULT, self.n_outputs)
        self.dtypes.append(dtype)
        spec.buffer, spec.ndim = buffer, fill_dims(spec.shape, shape)
        for axis in range(spec.ndim):
            size *= spec.shape[axis]
        spec.nbytes = size * <cnp.npy_intp>dtype.itemsize
        self.has_scalars |= spec.ndim == 0
        self.n_outputs += 1
        return 0

    cdef int add_arena(self, tuple entry, dict owners) except -1:
        buffer, offset = entry
        if not 0 <= offset <= self.arena_bytes:
            raise ValueError(f"offset {offset} is outside the arena of {self.arena_bytes} bytes")
        self.own(owners, buffer, ARENA, self.n_arena)
        self.arena[self.n_arena].buffer, self.arena[self.n_arena].offset = buffer, offset
        self.n_arena += 1
        return 0

    cdef int add_step(self, tuple entry, dict owners) except -1:
        cdef Step *step = &self.steps[self.n_steps]
        cdef Call call
        if entry[0] == "launch":
            step.kind = LAUNCH
            _, serial, parallel, step.work = entry
            if not serial:
                raise ValueError("a launch needs the address of its serial entry")
            step.serial = <serial_entry><void *><uintptr_t>serial
            step.parallel = <parallel_entry><void *><uintptr_t>parallel
            if parallel:
                self.parallel_work = max(self.parallel_work, step.work)
        elif entry[0] == "call":
            step.kind, step.call = CALL, len(self.calls)
            call = Call.__new__(Call)
            _, call.function, ins, outs = entry
            call.ins = [make_view(view, owners) for view in ins]
            call.outs = [make_view(view, owners) for view in outs]
            self.calls.append(call)
        elif entry[0] == "check":
            step.kind = CHECK
        elif entry[0] == "release":
            step.kind, step.call = RELEASE, len(self.releases)
            for number in entry[1]:
                if not 0 <= number < self.n_arguments:
                    raise ValueError(f"{number} is no number of an argument")
            self.releases.append(tuple(entry[1]))
        else:
            raise ValueError(f"{entry[0]!r} is not a kind of step")
        self.n_steps += 1
        return 0

    cdef bint accepts(self, PyObject **args, Py_ssize_t count):
        cdef Py_ssize_t i
        if count != self.n_arguments:
            return False
        for i in range(count):
            if not fits(&self.inputs[i], <object>args[i]):
                return False
        for i in range(self.n_captured):
            if not fits(&self.inputs[count + i], self.captured[i]):
                return False
        return not self.has_written or self.targets_are_free(args)

    cdef bint targets_are_free(self, PyObject **args):
        """Does no other input overlap an in-place target?"""
        cdef Py_ssize_t i, j
        for i in range(self.n_arguments):
            if not self.inputs[i].written:
                continue
            for j in range(self.n_arguments + self.n_captured):
                if j != i and self.inputs[j].kind == ARRAY and overlap(
                    <cnp.ndarray>args[i], self.input_array(args, j)
                ):
                    return False
        return True

    cdef cnp.ndarray input_array(self, PyObject **args, Py_ssize_t i):
        if i < self.n_arguments:
            return <cnp.ndarray>args[i]
        return <cnp.ndarray>self.captured[i - self.n_arguments]

    def matches(self, tuple args):
        """Was the program compiled for arguments like these? Captured arrays are checked too.

        Args:
            args: tuple of the positional arguments.
        """
        return self.accepts(PySequence_Fast_ITEMS(args), len(args))

    def run(self, tuple args):
        """Run the program on arguments that match.

        Args:
            args: tuple of the positional arguments.

        Returns:
            The output, or a tuple of the outputs.

        Raises:
            TypeError: the arguments do not match.
            MemoryError: no memory for the outputs or the arena; the number of bytes is named.
        """
        cdef PyObject **items = PySequence_Fast_ITEMS(args)
        if not self.accepts(items, len(args)):
            raise TypeError("the arguments are not those this program was compiled for")
        return self.execute(items)

    def consume(self, list args not None):
        """Run the program on arguments that match and let go of each after its last use.

        Args:
            args: list of the positional arguments; it is empty from the first step on, so that an
                array nobody else holds ends before the call returns.

        Returns:
            The output, or a tuple of the outputs.

        Raises:
            TypeError: the arguments do not match; the list still has them.
            MemoryError: no memory for the outputs or the arena; the number of bytes is named.
        """
        cdef list owned = args[:]
        cdef PyObject **items = PySequence_Fast_ITEMS(owned)
        if not self.accepts(items, len(owned)):
            raise TypeError("the arguments are not those this program was compiled for")
        args.clear()
        return self.execute(items, owned)

    cdef object execute(self, PyObject **args, list owned=None):
        cdef void *on_stack[FRAME_SLOTS]
        cdef void **table = on_stack
        if self.frame_slots > FRAME_SLOTS:
            table = <void **>zeroed(self.frame_slots, sizeof(void *))
        try:
            return self.execute_with(table, args, owned)
        finally:
            if table != on_stack:
                PyMem_Free(table)

    cdef object execute_with(self, void **table, PyObject **args, list owned):
        cdef PoolBlock block = None
        cdef Py_ssize_t i
        cdef size_t taken = 0
        cdef int flags
        self.bind_inputs(table, args)
        outputs = self.bind_outputs(table)
        for array in outputs:
            taken += cnp.PyArray_NBYTES(<cnp.ndarray>array)
        if self.arena_bytes:
            block = take_block(self.arena_bytes)
            taken += self.arena_bytes
            for i in range(self.n_arena):
                table[self.arena[i].buffer] = <char *>block.data + self.arena[i].offset
        self.taken_bytes = taken
        flags = self.run_steps(table, args, outputs, block, owned)
        block = None  # returned before on_flag can raise or keep anything
        self.runs += 1
        if flags:
            self.on_flag(flags)
        return self.results(outputs)

    cdef int bind_inputs(self, void **table, PyObject **args) except -1:
        cdef Py_ssize_t i
        cdef Input *spec
        cdef void *slot
        for i in range(self.n_arguments + self.n_captured):
            spec = &self.inputs[i]
            if spec.kind == ARRAY:
                if i < self.n_arguments:
                    table[spec.buffer] = cnp.PyArray_DATA(<cnp.ndarray>args[i])
                else:
                    table[spec.buffer] = cnp.PyArray_DATA(
                        <cnp.ndarray>self.captured[i - self.n_arguments]
                    )
                continue
            slot = &table[self.n_buffers + i]
            if spec.kind == FLOAT:
                (<double *>slot)[0] = PyFloat_AS_DOUBLE(<object>args[i])
            elif spec.kind == BOOL:
                (<uint8_t *>slot)[0] = <object>args[i] is True
            else:
                (<uint64_t *>slot)[0] = int_bits(<object>args[i])
            table[spec.buffer] = slot
        return 0

    cdef tuple bind_outputs(self, void **table):
        cdef tuple outputs = PyTuple_New(self.n_outputs)
        cdef Py_ssize_t i
        cdef cnp.ndarray array
        for i in range(self.n_outputs):
            array = fresh_array(&self.outputs[i], <cnp.dtype>self.dtypes[i])
            table[self.outputs[i].buffer] = cnp.PyArray_DATA(array)
            Py_INCREF(array)
            PyTuple_SET_ITEM(outputs, i, array)
        return outputs

    cdef int run_steps(self, void **table, PyObject **args, tuple outputs, PoolBlock block,
                       list owned) except -1:
        global serial_launches, parallel_launches
        cdef Py_ssize_t i = 0
        cdef int flags = 0, count = 1
        cdef unsigned long long serial = 0, parallel = 0
        cdef Step *step
        if self.parallel_work >= parallel_threshold:
            count = launch_threads()
        while i < self.n_steps:
            if self.steps[i].kind == LAUNCH:
                with nogil:
                    while i < self.n_steps and self.steps[i].kind == LAUNCH:
                        step = &self.steps[i]
                        if count > 1 and step.parallel and step.work >= parallel_threshold:
                            flags |= step.parallel(table, count)
                            parallel += 1
                        else:
                            flags |= step.serial(table)
                            serial += 1
                        i += 1
                continue
            if self.steps[i].kind == CALL:
                self.call_back(<Call>self.calls[self.steps[i].call], table, args, outputs, block)
            elif self.steps[i].kind == RELEASE:
                if owned is not None:
                    for number in self.releases[self.steps[i].call]:
                        owned[number] = None
            elif flags:
                self.on_flag(flags)
                flags = 0
            i += 1
        serial_launches += serial
        parallel_launches += parallel
        return flags & 0x7FFFFFFF

    cdef int call_back(self, Call call, void **table, PyObject **args, tuple outputs,
                       PoolBlock block) except -1:
        cdef View view
        views = []
        for view in call.ins:
            views.append(self.array_of(view, table, args, outputs, block, 0))
        for view in call.outs:
            views.append(self.array_of(view, table, args, outputs, block, cnp.NPY_ARRAY_WRITEABLE))
        call.function(*views)
        return 0

    cdef cnp.ndarray array_of(self, View view, void **table, PyObject **args, tuple outputs,
                              PoolBlock block, int flags):
        """An ndarray on a buffer; it keeps the memory alive if the callee keeps the array."""
        cdef object owner
        if view.owner == ARGUMENT:
            owner = <object>args[view.number]
        elif view.owner == CAPTURED:
            owner = self.captured[view.number]
        elif view.owner == RESULT:
            owner = outputs[view.number]
        else:
            owner = block
        return wrap_memory(
            view.dtype, view.ndim, view.shape, view.strides,
            <char *>table[view.buffer] + view.offset, flags, owner,
        )

    cdef object results(self, tuple outputs):
        if self.single:
            if self.outputs[0].ndim:
                return outputs[0]
            return outputs[0][()]
        if self.has_scalars:
            return tuple([array if array.ndim else array[()] for array in outputs])
        return outputs


def warn_of_flags(flags):
    """What NumPy does by default about an integer division by zero."""
    warnings.warn("divide by zero encountered", RuntimeWarning, stacklevel=2)


cdef void *zeroed(Py_ssize_t count, size_t size) except NULL:
    cdef void *data = PyMem_Calloc(count + 1, size)
    if not data:
        raise MemoryError(f"Stax cannot allocate {count * size} bytes")
    return data


cdef View make_view(tuple entry, dict owners):
    cdef View view = View.__new__(View)
    buffer, dtype, shape, strides, view.offset = entry
    owner, view.number = owners.get(buffer, (<int>NOBODY, 0))
    view.buffer, view.owner, view.dtype = buffer, owner, np.dtype(dtype)
    if view.owner == NOBODY or view.owner == SCALAR:
        raise ValueError(f"a call needs an array, buffer {buffer} is none")
    view.ndim = fill_dims(view.shape, shape)
    if fill_dims(view.strides, strides) != view.ndim:
        raise ValueError(f"strides {strides} do not fit shape {shape}")
    return view


cdef cnp.ndarray wrap_memory(cnp.dtype dtype, int ndim, cnp.npy_intp *shape,
                             cnp.npy_intp *strides, void *data, int flags, object owner):
    Py_INCREF(dtype)  # the constructor takes a reference
    array = PyArray_NewFromDescr(
        &PyArray_Type, dtype, ndim, shape, strides, data, flags, NULL
    )
    cnp.set_array_base(<cnp.ndarray>array, owner)
    return <cnp.ndarray>array


cdef cnp.ndarray fresh_array(Output *spec, cnp.dtype dtype):
    cdef PoolBlock block
    if spec.nbytes >= POOL_FROM:
        block = take_block(spec.nbytes)
        return wrap_memory(
            dtype, spec.ndim, spec.shape, NULL, block.data, cnp.NPY_ARRAY_CARRAY, block
        )
    Py_INCREF(dtype)
    array = PyArray_NewFromDescr(&PyArray_Type, dtype, spec.ndim, spec.shape, NULL, NULL, 0, NULL)
    if poison_new_memory:
        memset(cnp.PyArray_DATA(<cnp.ndarray>array), 0xFF, spec.nbytes)
    return <cnp.ndarray>array
