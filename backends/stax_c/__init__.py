"""The C backend of Stax: C with OpenMP and SIMD, built by the system's compiler.

Takes plans; gives programs of the native runtime. ``backend()`` is what the registry calls. Not
here: printing (``emit``, ``loops``, ``values``, ``functions``), the toolchain and the cache
(``stax_native``).
"""

from __future__ import annotations

from collections.abc import Sequence

from stax_native import cache, toolchain
from stax_native.backend import Source
from stax_native.loading import NativeProgram, build
from stax_ref.plan import Plan

from .emit import emit as _emit
from .emit import emit_batch


class CBackend:
    """C with OpenMP, AVX-512 or AVX2."""

    name = "c"

    def __init__(self) -> None:
        self._toolchain = toolchain.probe(cache.directory())

    @property
    def isa(self) -> str:
        """The vector level in force: ``avx512``, ``avx2`` or ``scalar``."""
        return self._toolchain.isa

    def emit(self, plan: Plan) -> Source:
        """The plan as C.

        Raises:
            Unsupported: a kernel needs what this backend does not have.
        """
        return _emit(plan, self._toolchain.isa, self._toolchain.has_openmp)

    def load(self, source: Source, plan: Plan) -> NativeProgram:
        """Compile (or find in the cache) and load.

        Raises:
            ToolchainMissing: no compiler works.
            CompileError: the compiler refused the source.
        """
        path = cache.get_library(source.text, self._toolchain, source.parallel)
        return build(path, source, plan)

    def load_batch(self, plans: Sequence[Plan]) -> list[NativeProgram]:
        """Compile several plans as one translation unit, for suites of many small programs."""
        sources = emit_batch(plans, self._toolchain.isa, self._toolchain.has_openmp)
        openmp = any(source.parallel for source in sources)
        path = cache.get_library(sources[0].text, self._toolchain, openmp)
        return [build(path, source, plan) for source, plan in zip(sources, plans, strict=True)]


def backend() -> CBackend:
    """The backend, with the machine probed."""
    return CBackend()
