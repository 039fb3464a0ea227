"""The Cython extension, and nothing else: everything declarative is in pyproject.toml.

The extension is not linked with OpenMP: libgomp stays out of the process until the first kernel
that needs it is loaded, so that environment settings made after the import still count.
"""

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

runtime = Extension(
    "stax_native.runtime",
    sources=["stax_native/runtime.pyx"],
    depends=[f"stax_native/{part}.pxi" for part in ("pool", "threads", "arguments", "program")],
    include_dirs=[numpy.get_include()],
    define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
    libraries=["dl"],
    extra_compile_args=["-O2"],
)

setup(ext_modules=cythonize([runtime], language_level=3))
