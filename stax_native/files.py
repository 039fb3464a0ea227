"""Which files may be believed, and how files appear whole or not at all.

Takes paths; gives bytes that only this user can have written, atomic writes, and a lock between
processes. Holds no state. Not here: what the files mean (``cache`` and ``toolchain``).

A kernel library runs as code of this process, so a directory or file that another user owns or
may write is never read. Correctness never rests on the lock, only the number of compilations does.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_serial = itertools.count()


def _distrust(status: os.stat_result) -> str:
    """Why a file or directory with this status must not be used; empty when it may be."""
    if status.st_uid != os.geteuid():
        return f"it belongs to user {status.st_uid}, not to user {os.geteuid()}"
    if status.st_mode & _WRITABLE_BY_OTHERS:
        return f"others may write it (mode {stat.S_IMODE(status.st_mode):04o})"
    return ""


def check_directory(path: Path) -> Path:
    """Check that a path is a directory which only this user may write.

    Returns:
        `path`.

    Raises:
        OSError: it is missing, no directory, or others own it or may write it.
    """
    status = path.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{path} is not a directory")
    reason = _distrust(status)
    if reason:
        raise PermissionError(f"{path} is not safe: {reason}")
    return path


def prepare_directory(path: Path) -> Path:
    """``check_directory``, after making the directory with mode 0700 if it is missing."""
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700, parents=True)
    return check_directory(path)


def read_trusted(path: Path) -> bytes | None:
    """The contents of a regular file that only this user may write; None for any other."""
    try:
        # O_NONBLOCK: a FIFO in this place must not block the open.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or _distrust(status):
            return None
        try:
            return file.read()
        except OSError:
            return None


def temporary_path(directory: Path, suffix: str) -> Path:
    """A name in `directory` that no other process, thread or fork of this process uses."""
    return directory / f"{os.getpid()}-{next(_serial)}-{time.time_ns()}{suffix}"


def write_atomic(path: Path, data: bytes, scratch: Path) -> None:
    """Put a file in place as a whole: a reader sees the old contents or the new, never a part.

    The name moves to a new file; a process that has the old one mapped keeps it.

    Args:
        path: where the file shall be.
        data: its contents.
        scratch: a directory of the same file system for the file until it is complete.

    Raises:
        OSError: no space, no permission; nothing is left behind.
    """
    unfinished = temporary_path(scratch, ".tmp")
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


@contextlib.contextmanager
def locked(path: Path, timeout: float) -> Iterator[bool]:
    """Hold an exclusive lock between processes and threads, or go on without it.

    Args:
        path: the lock file; it is made if missing and removed when the lock is given back.
        timeout: seconds to wait for it.

    Yields:
        True when the lock is held; False when it could not be had (time-out, a file system
        without locks, a read-only directory).
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield False
        return
    try:
        held = _acquire(handle, time.monotonic() + timeout)
        try:
            yield held
        finally:
            if held:
                with contextlib.suppress(OSError):
                    path.unlink()
                # Not left to close(): a forked child may still have the file open.
                fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)


def _acquire(handle: int, deadline: float) -> bool:
    pause = 0.002
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        except OSError:
            return False
        else:
            return True


def sweep(directory: Path, older_than: float) -> None:
    """Remove files of dead processes: those in `directory` unchanged for `older_than` seconds."""
    limit = time.time() - older_than
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime < limit:
                    os.unlink(entry.path)
