"""Memory of outputs and arenas: used again, given back, refused in words.

takes: programs whose outputs are large
gives: addresses and the counters of the pool, compared exactly
holds: no failure costs memory, and the next call works
not here: what the memory contains (test_runtime)
"""

import gc
import signal
import time

import numpy as np
import pytest

from stax_native import runtime
from stax_native.runtime import Dispatcher, Program

from .conftest import F32, LARGE, floats, fma, matmul_program


@pytest.fixture
def empty_pool():
    limit = runtime.pool_stats()["limit"]
    runtime.pool_trim()
    yield
    runtime.set_pool_limit(limit)


def output_program(shape):
    return Program((), 1, ((0, F32, shape),), (), 0, (), True)


def test_freed_memory_is_used_again(empty_pool):
    program = output_program(LARGE)
    address = program.run(()).ctypes.data
    before = runtime.pool_stats()
    assert (before["cached_bytes"], before["cached_blocks"]) == (4 << 20, 1)
    assert program.run(()).ctypes.data == address
    after = runtime.pool_stats()
    assert (after["hits"], after["misses"]) == (before["hits"] + 1, before["misses"])
    runtime.pool_trim()
    assert runtime.pool_stats()["cached_bytes"] == 0


def test_an_output_outlives_its_program(empty_pool):
    result = output_program(LARGE).run(())
    result[:] = 3
    part = result[5:9]
    del result
    gc.collect()
    assert output_program(LARGE).run(()).ctypes.data != part.base.ctypes.data
    assert np.array_equal(part, [3, 3, 3, 3])


def test_the_oldest_block_leaves_a_full_pool(empty_pool):
    sizes = [(n << 18,) for n in (2, 4, 6, 8)]  # 2, 4, 6, 8 MiB
    blocks = [output_program(shape).run(()) for shape in sizes]
    runtime.set_pool_limit(19 << 20)
    while blocks:
        blocks.pop(0)
    stats = runtime.pool_stats()
    assert (stats["cached_bytes"], stats["cached_blocks"]) == (18 << 20, 3)  # 2 MiB went
    runtime.set_pool_limit(9 << 20)
    assert runtime.pool_stats()["cached_bytes"] == 8 << 20
    output_program((16 << 18,)).run(())  # larger than the limit: straight back to the system
    assert runtime.pool_stats()["cached_bytes"] == 8 << 20


def test_blocks_of_all_sizes_come_and_go(empty_pool):
    rng = np.random.default_rng(7)
    runtime.set_pool_limit(3 << 20)
    held = {}
    for number, size in enumerate(rng.integers(1 << 14, 1 << 18, 600)):
        result = output_program((int(size),)).run(())
        result[0], result[-1] = number, number
        held[number] = result
        if len(held) > 20:
            number, result = held.popitem() if size % 2 else (k := next(iter(held)), held.pop(k))
            assert result[0] == result[-1] == number
            del result
    held.clear()
    stats = runtime.pool_stats()
    assert 0 < stats["cached_bytes"] <= 3 << 20


@pytest.mark.parametrize("where", ["output", "arena"])
def test_no_memory_names_the_bytes_and_leaves_nothing(where):
    small, huge = (0, F32, LARGE), 1 << 50
    if where == "output":
        program = Program((), 2, (small, (1, F32, (huge // 4,))), (), 0, (), False)
    else:
        program = Program((), 2, (small,), ((1, 0),), huge, (), False)
    with pytest.raises(MemoryError, match=str(huge)):
        program.run(())
    assert output_program(LARGE).run(()).shape == LARGE


def test_the_arena_is_returned_before_a_flag_is_reported(launch):
    live = runtime.pool_stats()["live_blocks"]
    seen = []
    program = Program((), 1, (), ((0, 0),), 4096, (launch(4),), False)
    program.on_flag = lambda flags: seen.append(runtime.pool_stats()["live_blocks"])
    program.run(())
    assert seen == [live]


def test_many_runs_leak_nothing(launch):
    def rss():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    program = fma(launch)
    dispatcher = Dispatcher(lambda args, kwargs: None)
    dispatcher.add(program, ())
    arguments = (floats(8), floats(8), floats(8))
    calling = matmul_program(lambda source, into: 1 / 0, launch)
    x = floats(2, 4)

    def work(count):
        for _ in range(count):
            dispatcher(*arguments)
            dispatcher(1)
            with pytest.raises(ZeroDivisionError):
                calling.run((x,))

    work(300)
    before = rss()
    work(5000)
    assert rss() - before < 2 << 20


def test_an_interrupt_waits_for_the_kernel_and_harms_nothing(launch):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    program = Program((("int", 0, 0, 2**40),), 2, ((1, F32, LARGE),), (), 0, (launch(6),), True)
    began = time.perf_counter()
    program.run((10**6,))
    count = int(10**6 * 0.2 / (time.perf_counter() - began))
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            program.run((count,))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert program.runs == 2  # the interrupted one was completed
    assert program.run((1,)).shape == LARGE
