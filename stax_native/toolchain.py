"""The C compiler: found, probed once per machine, and run.

Takes environment variables (``STAX_CC``, ``CC``, ``STAX_ISA``) and C text; gives a ``Toolchain``
and shared libraries. Holds the counter of compiler runs. Not here: which libraries already exist
(``cache``), and loading them (``runtime``).

An instruction set counts as present when a small program that uses it was compiled and ran: the
compiler may not know it, and the CPU or the operating system may not run it. The answer is kept
in the cache directory, so that a later process starts neither compiler nor program.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from stax_ref.errors import BackendError, ConfigError

from . import files
from .runtime import cpu_features

INCLUDE = Path(__file__).parent / "include"
COMPILE_SECONDS = 60.0
LEVELS = ("avx512", "avx2", "scalar")

# Every rounding is written in the source: nothing is contracted or reassociated. The two -fno
# flags about mathematics change no value; without the first, gcc does not vectorise comparisons.
# -fno-delete-null-pointer-checks: gcc 12 rewrites an address as 0 + (a - 8a) + 8p, takes it for a
# null pointer, believes that nothing after such a load runs, and drops the call of the kernel.
_BASE_FLAGS = (
    "-O2",
    "-ffp-contract=off",
    "-fno-trapping-math",
    "-fno-math-errno",
    "-fno-delete-null-pointer-checks",
    "-Werror=implicit-function-declaration",  # a missing name fails here, not at dlopen
    "-fwrapv",
    "-fno-strict-aliasing",
)
_AVX2_FLAGS = ("-mavx2", "-mfma")
_AVX512_FLAGS = ("-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", *_AVX2_FLAGS)
_F16C_FLAG = "-mf16c"  # conversions of float16; a virtual machine may hide them
# The flag sets that mean a level, best first.
_LEVEL_FLAGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "avx512": ((*_AVX512_FLAGS, _F16C_FLAG), _AVX512_FLAGS),
    "avx2": ((*_AVX2_FLAGS, _F16C_FLAG), _AVX2_FLAGS),
    "scalar": (("-mfma",), ()),
}

# -pipe: the compiler and the assembler run at once, a fifth of the time of a small kernel.
_READ_STDIN = ("-pipe", "-x", "c", "-")

# Uses each extension that the flags turn on. Exit status: 0 right, 2 wrong, 3 right but no fma.
_PROBE = """
#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX2__)
#define BYTES 32
#else
#define BYTES 8
#endif
typedef float f32v __attribute__((vector_size(BYTES)));
typedef double f64v __attribute__((vector_size(BYTES)));
typedef long long i64v __attribute__((vector_size(BYTES)));
typedef short i16v __attribute__((vector_size(BYTES)));
typedef int i32x4 __attribute__((vector_size(16)));
volatile f32v a, b;
volatile f64v c;
volatile i64v m, n;
volatile i16v s;
volatile i32x4 x, y;
volatile double one = 1.0, tiny = 0x1p-53;
#if defined(__F16C__) && !defined(__clang__)
typedef short i16x8 __attribute__((vector_size(16)));
volatile i16x8 half = {0x3e00};
#endif
int main(void) {
#if defined(__AVX512F__)
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl")) return 2;
    if (!__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw")) return 2;
#endif
#if defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 2;
#endif
    f32v p; f64v q; i64v k; i16v h; i32x4 z = {1, 2, 3, 4};
    for (int i = 0; i < BYTES / 4; i++) p[i] = (float)i;
    for (int i = 0; i < BYTES / 8; i++) { q[i] = (double)i; k[i] = i - 3; }
    for (int i = 0; i < BYTES / 2; i++) h[i] = (short)i;
    a = p; b = p; c = q; m = k; n = k; s = h; x = z; y = z;
    p = a * b + a; q = c / (c + one); k = m * n; h = s + s; z = (x < y + 1) & x;
    for (int i = 0; i < BYTES / 4; i++) if (p[i] != (float)(i * i + i)) return 2;
    for (int i = 0; i < BYTES / 8; i++) if (q[i] != (double)i / (i + 1.0)) return 2;
    for (int i = 0; i < BYTES / 8; i++) if (k[i] != (i - 3) * (i - 3)) return 2;
    for (int i = 0; i < BYTES / 2; i++) if (h[i] != 2 * i) return 2;
    for (int i = 0; i < 4; i++) if (z[i] != i + 1) return 2;
#if defined(__F16C__) && !defined(__clang__)
    if (__builtin_ia32_vcvtph2ps(half)[0] != 1.5f) return 2;
#endif
#if defined(__FP_FAST_FMA) || defined(__FMA__)
    return __builtin_fma(one + 2 * tiny, one - tiny, -one) == tiny - 2 * tiny * tiny ? 0 : 2;
#else
    return 3;
#endif
}
"""

_OPENMP_PROBE = """
extern int omp_get_num_threads(void);
int main(void) {
    int sum = 0, team = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum) reduction(max : team)
    for (int i = 0; i < 100; i++) { sum += i; team = omp_get_num_threads(); }
    return sum == 4950 && team >= 1 ? 0 : 2;
}
"""


class ToolchainMissing(BackendError):
    """There is no C compiler that builds programs which run."""


class CompileError(BackendError):
    """The compiler refused a source text, crashed, hung or made nothing.

    Attributes:
        stderr: str, what the compiler printed.
    """

    def __init__(self, what: str, stderr: str, instead: str) -> None:
        super().__init__(what, instead=instead)
        self.stderr = stderr


class Counter:
    """Runs of the compiler in this process: ``kernels`` for libraries, ``probes`` for the rest."""

    def __init__(self) -> None:
        self.kernels = 0
        self.probes = 0
        self._lock = threading.Lock()

    def add(self, kernels: int = 0, probes: int = 0) -> None:
        """Count runs; safe from several threads."""
        with self._lock:
            self.kernels += kernels
            self.probes += probes


COMPILES = Counter()


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A compiler and what its programs may use on this machine.

    Args:
        cc: absolute path of the compiler.
        version: first line of its ``--version``.
        isa: ``"avx512"``, ``"avx2"`` or ``"scalar"``.
        flags: compiler flags that every kernel gets.
        has_fma: fused multiply-add is one instruction.
        has_openmp: ``-fopenmp`` builds programs that run.
    """

    cc: str
    version: str
    isa: str
    flags: tuple[str, ...]
    has_fma: bool
    has_openmp: bool


def find_compiler() -> tuple[str, ...]:
    """The compiler command: ``STAX_CC``, else ``CC``, gcc, cc, clang, whichever exists first.

    Returns:
        tuple of str: absolute path, then the words that follow it in the variable
        (``CC="ccache gcc"``).

    Raises:
        ToolchainMissing: ``STAX_CC`` names nothing that can be run, or nothing was found.
    """
    chosen = os.environ.get("STAX_CC", "")
    names = [chosen] if chosen.strip() else [os.environ.get("CC", ""), "gcc", "cc", "clang"]
    for name in names:
        words = [name] if os.path.isfile(name) else shlex.split(name)
        path = shutil.which(words[0]) if words else None
        if path:
            return (os.path.abspath(path), *words[1:])
    raise ToolchainMissing(
        f"STAX_CC={chosen!r} is not a program" if chosen.strip() else "no C compiler was found",
        instead='install gcc, set STAX_CC to a compiler, or use backend="ref"',
    )


def probe(cache_dir: str | os.PathLike[str]) -> Toolchain:
    """What compiler and instruction set to use; from the record of an earlier probe if it is kept.

    Args:
        cache_dir: where the record is kept: a directory only this user may write (otherwise
            nothing is read from it or kept).

    Raises:
        ToolchainMissing: no compiler, or none whose programs run.
        ConfigError: ``STAX_ISA`` names no level, or one that this machine lacks.
    """
    command = find_compiler()
    wanted = os.environ.get("STAX_ISA", "")
    if wanted and wanted not in LEVELS:
        raise ConfigError(f"STAX_ISA={wanted!r} is not a level", instead=", ".join(LEVELS))
    try:
        root = files.prepare_directory(Path(cache_dir))
    except OSError:
        return _probe_machine(command, wanted, None)
    record = root / f"toolchain-{_record_key(command, wanted)}.json"
    known = _read_record(record)
    if known:
        return known
    with files.locked(record.with_suffix(".lock"), 4 * COMPILE_SECONDS):
        known = _read_record(record)  # another process may have been faster
        if known:
            return known
        found = _probe_machine(command, wanted, root)
        try:
            text = json.dumps(dataclasses.asdict(found), indent=1)
            files.write_atomic(record, text.encode(), root)
        except OSError:
            pass  # the next process probes again
        return found


def _record_key(command: tuple[str, ...], wanted: str) -> str:
    """Changes with the compiler, the machine, the wish and this module's idea of a probe."""
    status = os.stat(command[0])
    parts = (
        *command,
        str(status.st_size),
        str(status.st_mtime_ns),
        cpu_features(),
        wanted,
        repr(_LEVEL_FLAGS),
        repr(_BASE_FLAGS),
        _PROBE,
        _OPENMP_PROBE,
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _read_record(path: Path) -> Toolchain | None:
    data = files.read_trusted(path)
    if data is None:
        return None
    try:
        entries = json.loads(data)
        entries["flags"] = tuple(entries["flags"])
        return Toolchain(**entries)
    except (ValueError, TypeError, KeyError):
        return None  # damaged, or of another version


def _probe_machine(command: tuple[str, ...], wanted: str, root: Path | None) -> Toolchain:
    version = _version(command)
    with tempfile.TemporaryDirectory(prefix="probe-", dir=root) as scratch:
        for level in (wanted,) if wanted else LEVELS:
            for extra in _LEVEL_FLAGS[level]:
                flags = (*command[1:], *_BASE_FLAGS, *extra)
                status = _build_and_run(command[0], flags, _PROBE, scratch)
                if status not in (0, 3):
                    continue
                openmp = _build_and_run(command[0], (*flags, "-fopenmp"), _OPENMP_PROBE, scratch)
                return Toolchain(command[0], version, level, flags, status == 0, openmp == 0)
    if wanted and wanted != "scalar":
        has = _probe_machine(command, "", root).isa
        raise ConfigError(
            f"STAX_ISA={wanted!r}, but this machine and compiler run {has!r} at most",
            instead=f"STAX_ISA={has}, or leave it unset",
        )
    raise ToolchainMissing(
        f"{command[0]} does not build programs that run here",
        instead='set STAX_CC to a working compiler, or use backend="ref"',
    )


def _version(command: tuple[str, ...]) -> str:
    COMPILES.add(probes=1)
    try:
        result = subprocess.run(
            [*command, "--version"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=COMPILE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolchainMissing(
            f"{command[0]} cannot be run: {error}", instead="set STAX_CC to a working compiler"
        ) from error
    return result.stdout.decode("utf-8", "replace").partition("\n")[0].strip()


def _build_and_run(cc: str, flags: tuple[str, ...], source: str, scratch: str) -> int | None:
    """Exit status of a program, negative for a signal; None when it was not built or started."""
    program = os.path.join(scratch, "probe")
    COMPILES.add(probes=1)
    try:
        status, _ = _run([cc, *flags, *_READ_STDIN, "-o", program], source)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolchainMissing(
            f"{cc} cannot be run: {error}", instead="set STAX_CC to a working compiler"
        ) from error
    if status:
        return None
    try:
        return subprocess.run(
            [program], stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return None


def _run(command: list[str], source: str) -> tuple[int, str]:
    """Run the compiler on standard input: (exit status, standard error).

    Raises:
        subprocess.TimeoutExpired: it took longer than the limit; it and its children are dead.
        OSError: it cannot be started.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,  # so that the children of the driver can be ended with it
    ) as process:
        try:
            _, stderr = process.communicate(source.encode(), timeout=COMPILE_SECONDS)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, stderr.decode("utf-8", "replace")


def compile_shared(
    source_text: str,
    out_path: str | os.PathLike[str],
    toolchain: Toolchain,
    openmp: bool,
    extra_flags: tuple[str, ...] = (),
    log_path: str | os.PathLike[str] | None = None,
) -> None:
    """Compile C text to a shared library with one run of the compiler.

    Args:
        source_text: C, which may include the headers of ``stax_native/include``.
        out_path: the library; its directory exists.
        toolchain: what ``probe`` gave.
        openmp: compile and link with OpenMP.
        extra_flags: flags after those of the toolchain.
        log_path: where messages of the compiler are kept (``out_path`` with suffix ``.log``).

    Raises:
        CompileError: the compiler refused, crashed, hung or made nothing; the log is named.
        ToolchainMissing: the compiler is gone, or `openmp` is asked of one without it.
    """
    if openmp and not toolchain.has_openmp:
        raise ToolchainMissing(
            f"{toolchain.cc} builds no OpenMP programs", instead="emit serial code only, or use gcc"
        )
    out = os.fspath(out_path)
    log = Path(log_path) if log_path else Path(out).with_suffix(".log")
    command = [
        *(toolchain.cc, *toolchain.flags, *extra_flags),
        *(("-fopenmp",) if openmp else ()),
        *("-shared", "-fPIC", "-I", os.fspath(INCLUDE), *_READ_STDIN, "-o", out, "-lm"),
    ]
    COMPILES.add(kernels=1)
    try:
        status, stderr = _run(command, source_text)
        failure = _failure(status, out)
    except subprocess.TimeoutExpired:
        stderr, failure = "", f"did not finish within {COMPILE_SECONDS:g} s"
    except OSError as error:
        raise ToolchainMissing(
            f"{toolchain.cc} cannot be run: {error}", instead="set STAX_CC to a working compiler"
        ) from error
    if stderr or failure:
        kept = _keep_log(log, command, stderr, source_text)
    if failure:
        first = next((line for line in stderr.splitlines() if "error" in line.lower()), "")
        raise CompileError(
            f"{toolchain.cc} {failure}" + (f": {first}" if first else ""), stderr, instead=kept
        )


def _failure(status: int, out: str) -> str:
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    if status:
        return f"refused the source (exit status {status})"
    if not os.path.isfile(out) or not os.path.getsize(out):
        return "made no library"
    return ""


def _keep_log(log: Path, command: list[str], stderr: str, source: str) -> str:
    try:
        files.write_atomic(log, f"{shlex.join(command)}\n\n{stderr}\n{source}".encode(), log.parent)
    except OSError as error:
        return f"there is no log ({error}); the compiler printed:\n{stderr}"
    return f"read {log}: command, messages and source"
