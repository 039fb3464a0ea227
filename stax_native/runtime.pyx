# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Runs compiled plans: loads libraries, checks arguments, holds memory, calls without the GIL.

Takes the path of a kernel library and a plan as plain Python data; gives a ``Program`` that turns
arguments into outputs, and a ``Dispatcher`` that finds the program for the arguments of a call.
Holds every loaded library and the memory pool for the life of the process. Not here: what a plan
means, which plan fits which arguments, and how NumPy reports errors (``on_flag``).

A kernel library exports, for launch K, ``int stax_launch_K_serial(void *const *buffers)`` and, if
it has parallel code, ``int stax_launch_K_parallel(void *const *buffers, int threads)``. `buffers`
holds one data pointer per buffer number of the plan. The result is a set of error flag bits
(1: an integer division by zero). Kernels set and restore their own floating point mode.
"""

import os
import warnings

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.dict cimport PyDict_GetItemWithError
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_AsUnsignedLongLong, PyLong_CheckExact
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport free, getenv, strtol
from libc.string cimport memset
from posix.dlfcn cimport RTLD_LAZY, RTLD_LOCAL, RTLD_NOW, dlerror, dlopen, dlsym
from posix.stdlib cimport posix_memalign

cdef extern from "Python.h":
    bint PyBool_Check(object)
    bint PyCell_Check(object)
    PyObject *PyCell_GET(object)
    PyObject **PySequence_Fast_ITEMS(object)
    Py_ssize_t PY_SSIZE_T_MAX

cdef extern from *:
    """
    /* Extensions that both the CPU and the operating system support, named in one text. */
    static void stax_cpu_features(char *text, size_t length) {
    #if defined(__x86_64__)
        __builtin_cpu_init();
        snprintf(text, length, "x86_64%s%s%s%s%s%s",
                 __builtin_cpu_supports("fma") ? " fma" : "",
                 __builtin_cpu_supports("avx2") ? " avx2" : "",
                 __builtin_cpu_supports("avx512f") ? " avx512f" : "",
                 __builtin_cpu_supports("avx512vl") ? " avx512vl" : "",
                 __builtin_cpu_supports("avx512dq") ? " avx512dq" : "",
                 __builtin_cpu_supports("avx512bw") ? " avx512bw" : "");
    #else
        snprintf(text, length, "other");
    #endif
    }
    """
    void stax_cpu_features(char *text, size_t length) noexcept nogil
    int __builtin_clzll(unsigned long long) noexcept nogil

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(
        PyTypeObject *kind, cnp.dtype descr, int ndim, cnp.npy_intp *shape,
        cnp.npy_intp *strides, void *data, int flags, PyObject *like)
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject PyArray_Type

cnp.import_array()

include "pool.pxi"
include "threads.pxi"
include "arguments.pxi"


def cpu_features():
    """str: architecture and vector extensions of this machine, for keys; costs no system call."""
    cdef char text[128]
    stax_cpu_features(text, sizeof(text))
    return text.decode()


cdef class Library:
    """A kernel library, loaded for the life of the process: its code may be running anywhere.

    Args:
        path: str, a shared library whose contents were verified by the cache.

    Raises:
        OSError: the dynamic loader refuses the file; its reason is the message.
    """
    cdef void *handle
    cdef readonly str path

    def __init__(self, str path):
        global omp_get_max_threads
        self.path = path
        self.handle = dlopen(os.fsencode(path), RTLD_NOW | RTLD_LOCAL)
        if not self.handle:
            raise OSError(dlerror().decode("utf-8", "replace"))
        if not omp_get_max_threads:
            # Found in the libraries this one was linked with: libgomp or LLVM's libomp.
            omp_get_max_threads = <omp_get_t>dlsym(self.handle, "omp_get_max_threads")

    def symbol(self, str name):
        """Address of an exported symbol as an int; 0 when the library has none of that name."""
        return <uintptr_t>dlsym(self.handle, name.encode())


include "program.pxi"


@cython.final
@cython.no_gc_clear  # as Program
cdef class Candidate:
    """A program and what must still be true outside its arguments."""
    cdef Program program
    cdef tuple guards


cdef bint holds(tuple guards) except -1:
    """Are the captured values still those the program was compiled with?"""
    cdef PyObject *found
    for place, key, expected in guards:
        if type(place) is dict:
            found = PyDict_GetItemWithError(place, key)
        else:
            found = PyCell_GET(place)
        if found != <PyObject *>expected:
            return False
    return True


cdef class Dispatcher:
    """Calls the program that fits the arguments; the most recent one is tried first.

    Args:
        slow: called as ``slow(args, kwargs)`` when no program fits, or with keyword arguments;
            its result is the result of the call.
    """
    cdef object slow
    cdef list candidates

    def __init__(self, slow):
        self.slow = slow
        self.candidates = []

    def add(self, Program program not None, tuple guards not None):
        """Try `program` first from now on.

        Args:
            program: a Program.
            guards: tuple of ``(place, key, expected)``: a dict whose value under `key` must be
                the object `expected`, or a cell (`key` is ignored) that must contain it.

        Raises:
            TypeError: a guard that is not of this form.
        """
        cdef Candidate candidate = Candidate.__new__(Candidate)
        for place, _, _ in guards:
            if type(place) is not dict and not PyCell_Check(place):
                raise TypeError(f"a guard watches a dict or a cell, not {type(place).__name__}")
        candidate.program, candidate.guards = program, guards
        self.candidates.insert(0, candidate)

    def clear(self):
        """Forget all programs."""
        self.candidates = []

    @property
    def programs(self):
        """tuple of the programs, the most recently used first."""
        return tuple([(<Candidate>candidate).program for candidate in self.candidates])

    def __call__(self, *args, **kwargs):
        cdef Candidate candidate
        cdef list candidates = self.candidates
        cdef PyObject **items = PySequence_Fast_ITEMS(args)
        cdef Py_ssize_t i
        if not kwargs:
            for i in range(len(candidates)):
                candidate = <Candidate>candidates[i]
                if candidate.program.accepts(items, len(args)) and holds(candidate.guards):
                    if i:
                        candidates.insert(0, candidates.pop(i))
                    return candidate.program.execute(items)
        return self.slow(args, kwargs)
