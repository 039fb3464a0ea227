"""The compiler: which one is chosen, what it is believed to do, how it fails.

takes: compilers made of shell scripts, and the real one
gives: failures by name, with the exact number of compiler runs
holds: every way a compiler can be missing, wrong, hanging or crashing ends in one exception
not here: the cache of libraries (test_cache)
"""

import ctypes
import dataclasses
import os
import subprocess
import time

import numpy as np
import pytest

from stax_native import toolchain
from stax_native.toolchain import (
    COMPILES,
    LEVELS,
    CompileError,
    ToolchainMissing,
    compile_shared,
    find_compiler,
    probe,
)
from stax_ref.errors import BackendError, ConfigError

ANSWER = "int answer(void) { return 42; }\n"


@pytest.fixture(autouse=True)
def no_wishes(monkeypatch):
    for name in ("STAX_CC", "CC", "STAX_ISA"):
        monkeypatch.delenv(name, raising=False)


def executable(path):
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)
    return str(path)


# Finding


def test_the_order_is_stax_cc_then_cc_then_gcc_cc_clang(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    clang, cc, gcc = (executable(tmp_path / name) for name in ("clang", "cc", "gcc"))
    mine, yours = executable(tmp_path / "mine"), executable(tmp_path / "yours")
    monkeypatch.setenv("CC", "yours -m64")
    monkeypatch.setenv("STAX_CC", mine)
    assert find_compiler() == (mine,)
    monkeypatch.setenv("STAX_CC", "")
    assert find_compiler() == (yours, "-m64")
    os.unlink(yours)
    for expected in (gcc, cc, clang):
        assert find_compiler() == (expected,)
        os.unlink(expected)
    with pytest.raises(ToolchainMissing, match="no C compiler was found"):
        find_compiler()


def test_a_compiler_that_was_named_is_never_replaced_by_another(monkeypatch):
    monkeypatch.setenv("STAX_CC", "/nonexistent/cc")
    with pytest.raises(ToolchainMissing, match=r"STAX_CC='/nonexistent/cc'.*\n.*instead") as info:
        find_compiler()
    assert isinstance(info.value, BackendError)


def test_a_path_with_spaces_is_one_program(tmp_path, monkeypatch):
    path = executable(tmp_path / "my cc")
    monkeypatch.setenv("STAX_CC", path)
    assert find_compiler() == (path,)


# Probing


def test_the_first_probe_is_kept_and_the_second_starts_no_process(tmp_path, monkeypatch):
    before = COMPILES.probes
    found = probe(tmp_path / "cache")
    assert COMPILES.probes > before
    monkeypatch.setattr(subprocess, "Popen", None)
    assert probe(tmp_path / "cache") == found
    assert found.isa in LEVELS
    assert os.path.isabs(found.cc)
    assert found.version


def test_a_damaged_record_is_probed_again(tmp_path):
    found = probe(tmp_path)
    (record,) = tmp_path.glob("toolchain-*.json")
    for damage in (b"", record.read_bytes()[:-9], b"[]", b'{"cc": "gcc"}', b"\xff"):
        record.write_bytes(damage)
        before = COMPILES.probes
        assert probe(tmp_path) == found
        assert COMPILES.probes > before


def test_another_compiler_file_is_probed_again(tmp_path, compiler):
    path = compiler("")
    probe(tmp_path)
    before = COMPILES.probes
    probe(tmp_path)
    assert COMPILES.probes == before
    os.utime(path, (1, 1))
    probe(tmp_path)
    assert COMPILES.probes > before


def test_a_record_that_others_may_write_is_not_read(tmp_path):
    probe(tmp_path)
    tmp_path.chmod(0o777)
    before = COMPILES.probes
    probe(tmp_path)
    assert COMPILES.probes > before


def test_probing_works_without_a_cache_directory(tmp_path, tools):
    (tmp_path / "file").write_text("")
    assert probe(tmp_path / "file") == tools


def test_every_level_of_the_machine_can_be_forced(tmp_path, monkeypatch, tools):
    for level in LEVELS[LEVELS.index(tools.isa) :]:
        monkeypatch.setenv("STAX_ISA", level)
        found = probe(tmp_path)
        assert found.isa == level
        assert ("-mavx512f" in found.flags) == (level == "avx512")
        assert ("-mavx2" in found.flags) == (level != "scalar")
        assert found.has_fma == tools.has_fma


def test_a_level_that_does_not_exist_is_refused_with_the_choices(tmp_path, monkeypatch):
    monkeypatch.setenv("STAX_ISA", "sse9")
    with pytest.raises(ConfigError, match=r"'sse9'(.|\n)*avx512, avx2, scalar"):
        probe(tmp_path)


# What stands for a machine without AVX-512 or AVX2: a compiler that does not know the flag, and a
# program that dies of SIGILL when it runs.
LACKS = {
    "refused": 'case "$*" in *{flag}*) echo "unknown flag" >&2; exit 1;; esac',
    "sigill": (
        'case "$*" in *{flag}*) for out; do :; done; echo "int main(void) {{ __builtin_trap(); }}"'
        ' | gcc -x c - -o "$out"; exit;; esac'
    ),
}


@pytest.mark.parametrize("how", LACKS)
def test_what_the_machine_lacks_means_the_next_level(how, tmp_path, compiler, monkeypatch, tools):
    if tools.isa == "scalar":
        pytest.skip("this machine has one level only")
    compiler(LACKS[how].format(flag="-mavx512f"))
    narrower = probe(tmp_path)
    assert narrower.isa == "avx2"
    compiler(LACKS[how].format(flag="-mavx2"), name="older")
    assert probe(tmp_path).isa == "scalar"
    monkeypatch.setenv("STAX_ISA", "avx512")
    with pytest.raises(ConfigError, match=r"STAX_ISA='avx512'.*run 'scalar' at most"):
        probe(tmp_path)


def test_a_machine_without_fma_is_scalar_without_it(tmp_path, compiler):
    compiler(LACKS["refused"].format(flag="-mfma"))
    found = probe(tmp_path)
    assert (found.isa, found.has_fma) == ("scalar", False)


def test_a_compiler_without_openmp_is_good_for_serial_code(tmp_path, compiler):
    compiler(LACKS["refused"].format(flag="-fopenmp"))
    found = probe(tmp_path)
    assert not found.has_openmp
    with pytest.raises(ToolchainMissing, match="no OpenMP"):
        compile_shared(ANSWER, tmp_path / "a.so", found, openmp=True)
    compile_shared(ANSWER, tmp_path / "a.so", found, openmp=False)
    assert ctypes.CDLL(str(tmp_path / "a.so")).answer() == 42


BROKEN = {
    "makes nothing": "exit 0",
    "refuses everything": "exit 1",
    "crashes": "kill -SEGV $$",
    "hangs": "sleep 20",
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_compiler_is_none(how, tmp_path, compiler, monkeypatch):
    path = compiler(BROKEN[how])
    monkeypatch.setattr(toolchain, "COMPILE_SECONDS", 0.3)
    with pytest.raises(ToolchainMissing, match=str(path)):
        probe(tmp_path)
    assert not list(tmp_path.glob("*.json"))


# Compiling


def test_a_compilation_is_one_run_and_the_library_works(tmp_path, tools):
    before = COMPILES.kernels
    compile_shared(ANSWER, tmp_path / "a.so", tools, openmp=tools.has_openmp)
    assert COMPILES.kernels == before + 1
    assert ctypes.CDLL(str(tmp_path / "a.so")).answer() == 42
    assert not (tmp_path / "a.log").exists()


def test_extra_flags_reach_the_compiler(tmp_path, tools):
    source = "int answer(void) { return NUMBER; }"
    compile_shared(source, tmp_path / "a.so", tools, False, extra_flags=("-DNUMBER=7",))
    assert ctypes.CDLL(str(tmp_path / "a.so")).answer() == 7


def test_an_error_names_a_log_with_command_message_and_source(tmp_path, tools):
    with pytest.raises(CompileError, match=r"refused the source.*'nothing' undeclared") as info:
        compile_shared("int f(void) { return nothing; }", tmp_path / "a.so", tools, False)
    assert str(tmp_path / "a.log") in str(info.value)
    log = (tmp_path / "a.log").read_text()
    for part in (tools.cc, "-ffp-contract=off", "'nothing' undeclared", "int f(void)"):
        assert part in log


def test_an_error_is_told_even_where_no_log_can_be_kept(tmp_path, tools):
    with pytest.raises(CompileError, match="there is no log") as info:
        compile_shared("oops", tmp_path / "a.so", tools, False, (), tmp_path / "missing" / "a.log")
    assert "expected '='" in str(info.value).partition("the compiler printed:")[2]


def test_warnings_are_kept_but_are_no_error(tmp_path, tools):
    compile_shared("#warning careful\n" + ANSWER, tmp_path / "a.so", tools, False)
    assert "careful" in (tmp_path / "a.log").read_text()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("makes nothing", "made no library"),
        ("crashes", "ended by SIGSEGV"),
        ("hangs", "did not finish within 0.3 s"),
    ],
)
def test_a_compiler_that_fails_later_is_told_apart(
    how, message, tmp_path, tools, compiler, monkeypatch
):
    path = compiler(BROKEN[how])
    monkeypatch.setattr(toolchain, "COMPILE_SECONDS", 0.3)
    began = time.monotonic()
    with pytest.raises(CompileError, match=message):
        compile_shared(ANSWER, tmp_path / "a.so", dataclasses.replace(tools, cc=str(path)), False)
    assert time.monotonic() - began < 5


def test_the_children_of_a_hanging_compiler_die_with_it(tmp_path, tools, compiler, monkeypatch):
    path = compiler(f"sleep 20 & echo $! > {tmp_path}/child; wait")
    monkeypatch.setattr(toolchain, "COMPILE_SECONDS", 0.3)
    with pytest.raises(CompileError):
        compile_shared(ANSWER, tmp_path / "a.so", dataclasses.replace(tools, cc=str(path)), False)
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        try:
            with open(f"/proc/{child}/stat") as status:
                if status.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except FileNotFoundError:
            return
        time.sleep(0.01)
    pytest.fail("the child of the compiler is alive")


def test_a_compiler_removed_after_the_probe_is_missing(tmp_path, tools):
    gone = dataclasses.replace(tools, cc=str(tmp_path / "gone"))
    with pytest.raises(ToolchainMissing, match="gone"):
        compile_shared(ANSWER, tmp_path / "a.so", gone, False)


def test_multiply_and_add_are_rounded_twice(tmp_path, monkeypatch, tools):
    source = """
    void run(const float *a, const float *b, const float *c, float *out) {
        for (int i = 0; i < 4096; i++) out[i] = a[i] * b[i] + c[i];
    }"""
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 4096)).astype(np.float32)
    c = -(a * b)
    for level in LEVELS[LEVELS.index(tools.isa) :]:
        monkeypatch.setenv("STAX_ISA", level)
        path = tmp_path / f"{level}.so"
        compile_shared(source, path, probe(tmp_path / "cache"), False)
        out = np.ones(4096, np.float32)
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (a, b, c, out)]
        ctypes.CDLL(str(path)).run(*pointers)
        assert not out.any()  # a fused multiply-add would leave the rounding errors
