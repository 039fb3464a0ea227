"""The cache: what a fault on disk or a race between processes may and may not do.

takes: an empty cache directory per test, damaged on purpose
gives: the fault table of the cache: counts of compilations, and the answer of the library
holds: no fault changes a result, kills the process or loads what another user could have written
not here: the compiler's own failures (test_toolchain), running plans (test_runtime)
"""

import dataclasses
import errno
import itertools
import json
import mmap
import os
import re
import stat
import threading
import time
import warnings
from pathlib import Path

import pytest

from stax_native import cache, files, runtime, toolchain
from stax_native.toolchain import COMPILES, CompileError
from stax_ref.errors import BackendError

from .conftest import answer

SOURCE = "static int table[4096] = {42};\nint answer(void) { return table[0]; }\n"
_numbers = itertools.count()


@pytest.fixture
def source():
    """A source no other test has used: the loader knows a library that was loaded by its path."""
    return f"{SOURCE}int number_{next(_numbers)};\n"


@pytest.fixture
def get(cache_dir, tools, source):
    """get() -> (path, compilations) of the library of `source`."""

    def run(text=source, openmp=False):
        before = COMPILES.kernels
        path = cache.get_library(text, tools, openmp)
        return Path(path), COMPILES.kernels - before

    return run


def counts():
    return dataclasses.astuple(cache.stats)


# Entries


def test_the_second_request_compiles_nothing(get, cache_dir):
    path, compiled = get()
    assert (compiled, counts()) == (1, (0, 1, 0))
    assert get() == (path, 0)
    assert counts() == (1, 1, 0)
    assert answer(path) == 42
    assert re.fullmatch(r"([0-9a-f]{2})/\1[0-9a-f]{62}\.so", str(path.relative_to(cache_dir)))
    record = json.loads(path.with_suffix(".json").read_bytes())
    assert record["size"] == path.stat().st_size
    assert not list((cache_dir / "tmp").iterdir())


def test_nobody_else_may_write_what_is_in_the_cache(get, cache_dir):
    old = os.umask(0)
    try:
        get()
    finally:
        os.umask(old)
    for path in [cache_dir, *cache_dir.rglob("*")]:
        assert not path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def test_everything_that_makes_a_library_is_in_its_key(tools, monkeypatch):
    changes = [
        {"flags": (*tools.flags, "-g")},
        {"isa": "avx2" if tools.isa != "avx2" else "scalar"},
        {"version": "gcc 99"},
        {"cc": "/opt/cc"},
    ]
    keys = [cache.key_of("a", dataclasses.replace(tools, **change), False) for change in changes]
    keys += [cache.key_of("a", tools, False), cache.key_of("a", tools, True)]
    keys += [cache.key_of("b", tools, False)]
    monkeypatch.setattr(cache, "_header_text", lambda: "another header")
    keys += [cache.key_of("a", tools, False)]
    monkeypatch.setattr(cache, "ABI_VERSION", cache.ABI_VERSION + 1)
    keys += [cache.key_of("a", tools, False)]
    assert len(set(keys)) == len(keys)


def test_all_headers_are_in_the_header_text(tmp_path, monkeypatch):
    (tmp_path / "a.h").write_text("one")
    (tmp_path / "b.h").write_text("two")
    monkeypatch.setattr(cache, "INCLUDE", tmp_path)
    cache._header_text.cache_clear()
    try:
        assert cache._header_text() == "a.h\noneb.h\ntwo"
    finally:
        cache._header_text.cache_clear()


def test_a_source_that_does_not_compile_leaves_a_log_and_nothing_else(get, cache_dir):
    with pytest.raises(CompileError) as info:
        get("int f(void) { return nothing; }")
    (log,) = (path for path in cache_dir.rglob("*") if path.is_file())
    assert str(log) in str(info.value)
    assert "'nothing' undeclared" in log.read_text()


# Damage: every file is replaced, never written in place, because the test process has it mapped


def replace(path, data):
    other = path.with_name("other")
    other.write_bytes(data)
    other.chmod(0o600)
    os.replace(other, path)


def zeroed(data):
    middle = len(data) // 2
    return data[: middle - 2048] + bytes(4096) + data[middle + 2048 :]


DAMAGE = {
    "empty": lambda data: b"",
    "600 bytes": lambda data: data[:600],
    "half": lambda data: data[: len(data) // 2],
    "4 KiB of zeros": zeroed,
    "the end lost": lambda data: data[:-200],
    "one bit": lambda data: data[:-500] + bytes([data[-500] ^ 1]) + data[-499:],
    "bytes appended": lambda data: data + b"\0",
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_library_is_built_again(how, get):
    path, _ = get()
    good = path.read_bytes()
    assert DAMAGE[how](good) != good
    replace(path, DAMAGE[how](good))
    assert get() == (path, 1)
    assert counts() == (0, 1, 1)
    assert path.read_bytes() == good
    assert answer(path) == 42


def test_a_damaged_record_means_a_damaged_entry(get):
    path, _ = get()
    record = path.with_suffix(".json")
    good = record.read_bytes()
    for rebuilds, damage in enumerate((b"", b"{}", b"\xff", good[:-5], good.swapcase()), start=1):
        replace(record, damage)
        assert get() == (path, 1)
        assert record.read_bytes() == good
        assert counts() == (0, 1, rebuilds)


@pytest.mark.parametrize("suffix", [".so", ".json"])
def test_a_missing_half_means_a_damaged_entry(suffix, get):
    path, _ = get()
    path.with_suffix(suffix).unlink()
    assert get() == (path, 1)
    assert counts() == (0, 1, 1)


def test_the_library_of_another_key_is_not_taken(get, tools):
    path, _ = get()
    other, _ = get("int answer(void) { return 13; }")
    replace(path, other.read_bytes())
    assert get() == (path, 1)
    assert answer(path) == 42


def test_an_entry_in_use_is_replaced_not_written(get):
    path, _ = get()
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    before, inode = mapped[:], path.stat().st_ino
    path.with_suffix(".json").unlink()
    get()
    assert mapped[:] == before
    assert path.stat().st_ino != inode


@pytest.mark.parametrize("suffix", [".so", ".json"])
@pytest.mark.parametrize("how", ["writable", "link", "fifo"])
def test_a_file_others_could_have_written_is_not_loaded(how, suffix, get, tmp_path):
    path, _ = get()
    victim = path.with_suffix(suffix)
    if how == "writable":
        victim.chmod(0o666)
    else:
        victim.rename(tmp_path / "elsewhere")
        victim.symlink_to(tmp_path / "elsewhere") if how == "link" else os.mkfifo(victim)
    assert get() == (path, 1)
    assert counts() == (0, 1, 1)
    assert not victim.is_symlink()
    assert stat.S_IMODE(victim.stat().st_mode) == 0o600


def test_a_file_of_another_user_is_not_loaded(get, monkeypatch):
    path, _ = get()
    real = os.fstat

    def of_another_user(handle):
        status = list(real(handle))
        status[stat.ST_UID] = os.geteuid() + 1
        return os.stat_result(status)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fstat", of_another_user)
        assert files.read_trusted(path) is None
    assert files.read_trusted(path) is not None


# Processes and threads

RACE = """
    import ctypes, json, sys
    from stax_native import cache, files, toolchain
    if sys.argv[2] == "without locks":
        def refuse(*_): raise OSError(37, "no locks available")
        files.fcntl.flock = refuse
    found = toolchain.probe(cache.directory())
    path = cache.get_library(sys.argv[1], found, False)
    compiles = toolchain.COMPILES
    print(json.dumps([ctypes.CDLL(path).answer(), compiles.kernels, compiles.probes]))
"""


def race(start, processes, locks, source):
    running = [start(RACE, source, locks) for _ in range(processes)]
    results = [process.communicate(timeout=30) for process in running]
    assert [err for _, err in results] == [""] * processes
    answers, kernels, probes = zip(*(json.loads(out) for out, _ in results), strict=True)
    assert set(answers) == {42}
    return sum(kernels), sum(probes)


def test_many_processes_on_a_cold_cache_compile_once(start, cache_dir, source):
    kernels, probes = race(start, 16, "with locks", source)
    assert kernels == 1
    assert probes <= 6  # of one process: version, levels, OpenMP


def test_a_file_system_without_locks_costs_compilations_not_correctness(start, cache_dir, source):
    kernels, _ = race(start, 6, "without locks", source)
    assert 1 <= kernels <= 6
    assert not list((cache_dir / "tmp").glob("*.so"))


def test_many_threads_compile_once(get):
    results = []
    threads = [threading.Thread(target=lambda: results.append(get()[0])) for _ in range(16)]
    before = COMPILES.kernels
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 16
    assert len(set(results)) == 1
    assert COMPILES.kernels == before + 1


def test_a_lock_held_for_ever_is_given_up(tmp_path):
    path = tmp_path / "lock"
    with files.locked(path, 1) as first, files.locked(path, 0.05) as second:
        assert (first, second) == (True, False)
    assert not path.exists()


def test_a_killed_compilation_is_repeated_and_its_remains_are_swept(
    start, get, cache_dir, tools, compiler, tmp_path, source
):
    marker = tmp_path / "pid"
    compiler(
        f'case "$*" in *-shared*) if ! [ -e {marker} ]; then '
        f'for word; do [ "$last" = -o ] && echo unfinished > "$word"; last=$word; done; '
        f"echo $$ > {marker}.new; mv {marker}.new {marker}; exec sleep 20; fi;; esac"
    )
    victim = start(RACE, source, "with locks")
    while not marker.exists():
        assert victim.poll() is None, victim.communicate()
        time.sleep(0.01)
    victim.kill()
    victim.wait()
    (remains,) = (cache_dir / "tmp").glob("*.so")
    assert remains.read_text() == "unfinished\n"
    # The orphaned compiler holds no lock: the next process starts at once.
    assert race(start, 1, "with locks", source)[0] == 1
    os.kill(int(marker.read_text()), 9)
    assert remains.exists()  # it could be in use
    os.utime(remains, (time.time() - 7200,) * 2)
    get(source + "int another;")
    assert not list((cache_dir / "tmp").iterdir())


# Directories that cannot be used

UNUSABLE = {
    "a file": lambda path: path.write_text("mine"),
    "writable by all": lambda path: (path.mkdir(), path.chmod(0o777)),
    "writable by the group": lambda path: (path.mkdir(), path.chmod(0o770)),
    "sticky and writable": lambda path: (path.mkdir(), path.chmod(0o1777)),
    "below a file": lambda path: (
        path.write_text("mine"),
        os.environ.update(STAX_CACHE_DIR=str(path / "below")),
    ),
}


@pytest.mark.parametrize("how", UNUSABLE)
def test_an_unusable_directory_costs_one_warning(how, cache_dir, get, monkeypatch):
    monkeypatch.setenv("STAX_CACHE_DIR", str(cache_dir))  # restored after `below a file`
    UNUSABLE[how](cache_dir)
    with pytest.warns(RuntimeWarning, match=f"cannot be used.*{cache_dir}") as caught:
        first, again, other = get(), get(), get("int answer(void) { return 2; }")
    path = first[0]
    assert len(caught) == 1
    assert (first[1], again, other[1]) == (1, (path, 0), 1)
    assert answer(path) == 42
    assert cache.directory() == path.parent.parent
    assert not path.is_relative_to(cache_dir)
    assert stat.S_IMODE(cache.directory().stat().st_mode) == 0o700
    assert cache_dir.is_file() or not list(cache_dir.iterdir())


def test_an_entry_in_a_directory_opened_to_others_is_not_loaded(get, cache_dir):
    path, _ = get()
    for directory in (path.parent, cache_dir):
        directory.chmod(0o777)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other, _ = get()
        assert other != path
        assert answer(other) == 42
        directory.chmod(0o700)
        cache._private.clear()


def test_a_directory_of_another_user_is_not_used(get, monkeypatch):
    get()
    me = os.geteuid()
    monkeypatch.setattr(files.os, "geteuid", lambda: me + 1)
    # The private directory is not ours either, then: there is no place left.
    with pytest.warns(RuntimeWarning, match="belongs to user"), pytest.raises(BackendError):
        get()


def full(function, directory, monkeypatch):
    """Let a function of `os` fail for files below `directory`."""
    real = getattr(os, function)

    def call(file, *rest):
        path = os.readlink(f"/proc/self/fd/{file}") if isinstance(file, int) else os.fspath(file)
        if path.startswith(str(directory)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        return real(file, *rest)

    monkeypatch.setattr(files.os, function, call)


@pytest.mark.parametrize("function", ["write", "fsync", "replace"])
def test_a_full_disk_costs_one_warning(function, get, cache_dir, monkeypatch):
    full(function, cache_dir, monkeypatch)
    with pytest.warns(RuntimeWarning, match="No space left on device") as caught:
        paths = [get()[0], get(SOURCE)[0]]
    assert len(caught) == 1
    assert [answer(path) for path in paths] == [42, 42]
    assert not any(path.is_relative_to(cache_dir) for path in paths)
    assert get() == (paths[0], 0)
    assert [found for found in cache_dir.rglob("*") if found.is_file()] == []


def test_a_disk_that_fills_while_compiling_costs_one_warning(get, cache_dir, compiler):
    path = compiler(
        f'case "$*" in *{cache_dir}*-shared*|*-shared*{cache_dir}*) '
        'echo "cannot write: No space left on device" >&2; exit 1;; esac'
    )
    tools = dataclasses.replace(toolchain.probe(cache_dir), cc=str(path))
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        found = cache.get_library(SOURCE, tools, False)
    assert answer(found) == 42
    assert not Path(found).is_relative_to(cache_dir)


def test_no_room_anywhere_is_a_backend_error_and_the_next_call_works(get, monkeypatch):
    with monkeypatch.context() as patch:
        full("fsync", "/", patch)
        with pytest.warns(RuntimeWarning), pytest.raises(BackendError, match="no place"):
            get()
    cache._private.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert answer(get()[0]) == 42


def test_a_read_only_directory_still_gives_its_entries(get, cache_dir, monkeypatch):
    path, _ = get()
    real = os.open

    def read_only(name, flags, *mode):
        if flags & (os.O_CREAT | os.O_WRONLY) and Path(name).is_relative_to(cache_dir):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(name))
        return real(name, flags, *mode)

    monkeypatch.setattr(files.os, "open", read_only)
    assert get() == (path, 0)
    with pytest.warns(RuntimeWarning, match="Read-only file system") as caught:
        (other, _), _ = get(SOURCE), get(SOURCE + "int another;")
    assert len(caught) == 1
    assert not other.is_relative_to(cache_dir)
    assert get() == (path, 0)


def test_the_place_of_the_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("STAX_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache._configured_root() == tmp_path / ".cache" / "stax"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache._configured_root() == tmp_path / "xdg" / "stax"
    monkeypatch.setenv("STAX_CACHE_DIR", str(tmp_path / "mine"))
    assert cache._configured_root() == tmp_path / "mine"


def test_no_home_directory_costs_one_warning(cache_dir, get, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("STAX_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.warns(RuntimeWarning, match="no home directory"):
        assert answer(get()[0]) == 42


def test_a_directory_of_any_name_works(get, tmp_path, monkeypatch, library):
    monkeypatch.setenv("STAX_CACHE_DIR", str(tmp_path / "кэш ü 'quoted' $HOME"))
    path, _ = get()
    assert runtime.Library(str(path)).symbol("answer")


def test_the_private_directory_ends_with_its_process_and_not_with_a_fork(finish, tmp_path, source):
    (tmp_path / "file").write_text("")
    out = finish(
        """
        import ctypes, os, sys, warnings
        warnings.simplefilter("ignore")
        from stax_native import cache, toolchain
        found = toolchain.probe(cache.directory())
        path = cache.get_library(sys.argv[1], found, False)
        if os.fork() == 0:
            sys.exit(0)  # runs the exit functions of the parent
        os.wait()
        assert cache.get_library(sys.argv[1], found, False) == path
        print(cache.directory(), ctypes.CDLL(path).answer(), toolchain.COMPILES.kernels)
        """,
        source,
        STAX_CACHE_DIR=tmp_path / "file",
    )
    directory, result, kernels = out.split()
    assert (result, kernels) == ("42", "1")
    assert not Path(directory).exists()
