"""Compiled libraries on disk, found by the hash of everything that made them.

Takes C text and a toolchain; gives the path of a library whose contents were verified. Holds the
cache directories in use and the counters. Not here: running the compiler (``toolchain``), loading
(``runtime``), who may be believed (``files``).

An entry is ``<2 hex>/<hex>.so`` and ``<hex>.json`` with the digest and length of the library. The
digest is verified before the path is given away: a damaged library kills the process that loads
it, or computes zeros. Whatever is wrong with an entry makes it a miss, and it is built again as a
new file, so that a process that runs the old one keeps it. Whatever is wrong with the directory
makes Stax warn once and use a private one, which lives as long as the process.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import hashlib
import json
import os
import shutil
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

from stax_ref.errors import BackendError

from . import files
from .toolchain import COMPILE_SECONDS, INCLUDE, CompileError, Toolchain, compile_shared

ABI_VERSION = 1  # of the entry points and the table of buffers; part of every key
_STALE_SECONDS = 3600.0
_ATTEMPTS = 3


@dataclass(slots=True)
class Stats:
    """What ``get_library`` did in this process: found, compiled, compiled in place of a bad one."""

    hits: int = 0
    misses: int = 0
    rebuilds: int = 0


stats = Stats()


class Store:
    """A directory of entries.

    Args:
        root: the directory; made when it is missing.

    Raises:
        OSError: it cannot be used, or others own it or may write it.
    """

    def __init__(self, root: Path) -> None:
        self.root = files.prepare_directory(root)
        self.scratch = root / "tmp"
        self.writable = True  # until an attempt to write fails
        self._swept = False

    def library(self, key: str) -> Path:
        """Where the library of this key is, or would be."""
        return self.root / key[:2] / f"{key}.so"

    def find(self, key: str) -> bool:
        """Is there a verified entry?"""
        library = self.library(key)
        try:
            files.check_directory(self.root)
            files.check_directory(library.parent)
        except OSError:
            return False
        told = files.read_trusted(library.with_suffix(".json"))
        data = files.read_trusted(library)
        return told is not None and data is not None and told == _record(data)

    def build(self, key: str, source: str, toolchain: Toolchain, openmp: bool) -> None:
        """Make the entry, unless another process makes it first.

        Raises:
            OSError: the directory cannot take it.
            CompileError: the compiler failed.
        """
        library = self.library(key)
        for directory in (self.root, self.scratch, library.parent):
            files.prepare_directory(directory)
        if not self._swept:
            files.sweep(self.scratch, _STALE_SECONDS)
            self._swept = True
        # More than one round only without a lock: two writers may mix their two files.
        for _ in range(_ATTEMPTS):
            with files.locked(self.scratch / f"{key}.lock", COMPILE_SECONDS + 10):
                if self.find(key):
                    stats.hits += 1
                    return
                self._compile(library, source, toolchain, openmp)
                if self.find(key):
                    return
        raise OSError(f"{library} changes while it is written")

    def _compile(self, library: Path, source: str, toolchain: Toolchain, openmp: bool) -> None:
        record = library.with_suffix(".json")
        if library.exists() or record.exists():
            stats.rebuilds += 1
        else:
            stats.misses += 1
        product = files.temporary_path(self.scratch, ".so")
        try:
            compile_shared(source, product, toolchain, openmp, (), library.with_suffix(".log"))
            data = product.read_bytes()
        except CompileError as error:
            if os.strerror(errno.ENOSPC) in error.stderr:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(product)) from error
            raise
        finally:
            with contextlib.suppress(OSError):
                product.unlink()
        files.write_atomic(library, data, self.scratch)
        files.write_atomic(record, _record(data), self.scratch)


def _record(library: bytes) -> bytes:
    digest = hashlib.sha256(library).hexdigest()
    return json.dumps({"abi": ABI_VERSION, "sha256": digest, "size": len(library)}).encode()


@functools.cache
def _header_text() -> str:
    return "".join(f"{path.name}\n{path.read_text()}" for path in sorted(INCLUDE.glob("*.h")))


def key_of(source_text: str, toolchain: Toolchain, openmp: bool) -> str:
    """The key of a library: 64 hexadecimal digits that change with anything that may change it."""
    parts = (
        str(ABI_VERSION),
        source_text,
        _header_text(),
        os.uname().machine,
        toolchain.cc,
        toolchain.version,
        toolchain.isa,
        *toolchain.flags,
        str(openmp),
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


_stores: dict[Path, Store] = {}
_private: list[Store] = []
_warned: list[str] = []


def _configured_root() -> Path:
    """The directory the environment asks for.

    Raises:
        OSError: there is no home directory.
    """
    chosen = os.path.expanduser(os.environ.get("STAX_CACHE_DIR", ""))
    if chosen:
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # a relative value is invalid and ignored, says the XDG specification
        return Path(base, "stax")
    try:
        return Path.home() / ".cache" / "stax"
    except RuntimeError as error:
        raise FileNotFoundError("there is no home directory") from error


def _shared_store() -> Store | None:
    """The store the environment asks for; None, with a warning, when it cannot be used."""
    try:
        root = _configured_root()
        if root not in _stores:
            _stores[root] = Store(root)
        files.check_directory(root)
    except OSError as error:
        _warn(error)
        return None
    return _stores[root]


def _private_store() -> Store:
    """A directory of this process (and its forks), removed when it ends."""
    if _private and _private[0].root.is_dir():
        return _private[0]
    try:
        store = Store(Path(tempfile.mkdtemp(prefix="stax-")))
    except OSError as error:
        raise BackendError(
            f"there is no place for compiled libraries: {error}",
            instead='make room in the temporary directory, set TMPDIR, or use backend="ref"',
        ) from error
    _private[:] = [store]
    atexit.register(_remove_private, store.root, os.getpid())
    return store


def _remove_private(root: Path, owner: int) -> None:
    if os.getpid() == owner:  # not in a forked child
        shutil.rmtree(root, ignore_errors=True)


def _warn(reason: OSError) -> None:
    if not _warned:
        _warned.append(str(reason))
        warnings.warn(
            f"the kernel cache cannot be used ({reason}); kernels are compiled for this process "
            "only. Set STAX_CACHE_DIR to a directory of your own",
            RuntimeWarning,
            stacklevel=4,
        )


def directory() -> Path:
    """The cache directory in use: the configured one, or the private one if that is unusable."""
    return (_shared_store() or _private_store()).root


def get_library(source_text: str, toolchain: Toolchain, openmp: bool) -> str:
    """Path of the compiled and verified library of a source text.

    Args:
        source_text: C; see ``runtime`` for what it exports.
        toolchain: what ``toolchain.probe`` gave.
        openmp: compile with OpenMP.

    Raises:
        CompileError: the compiler failed.
        BackendError: not even the temporary directory can take the library.
    """
    key = key_of(source_text, toolchain, openmp)
    shared = _shared_store()
    if shared:
        if shared.find(key):
            stats.hits += 1
            return str(shared.library(key))
        if shared.writable:
            try:
                shared.build(key, source_text, toolchain, openmp)
                return str(shared.library(key))
            except OSError as error:
                shared.writable = False
                _warn(error)
    private = _private_store()
    try:
        private.build(key, source_text, toolchain, openmp)
    except OSError as error:
        raise BackendError(
            f"there is no place for compiled libraries: {error}",
            instead='make room in the temporary directory, set TMPDIR, or use backend="ref"',
        ) from error
    return str(private.library(key))
