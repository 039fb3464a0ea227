"""Threads and forks: how many, who decides, and that a child never hangs.

takes: kernels with OpenMP, Python threads, forks in processes of their own
gives: exact numbers of launches; results of every thread and child
holds: the GIL is free while a kernel runs; every process ends within its time limit
not here: the speed that threads bring (bench)
"""

import os
import threading

import numpy as np
import pytest

from stax_native import runtime
from stax_native.runtime import Program

from .conftest import F32, I64, LARGE, array_input, floats

# The parallel entry writes how many threads it was told to use.
OPENMP = """
typedef void *const *table;
int stax_launch_0_serial(table t) { *(long long *)t[0] = 0; return 0; }
int stax_launch_0_parallel(table t, int threads) {
    long long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < 1000; i++) sum += i;
    *(long long *)t[0] = sum == 499500 ? threads : -1;
    return 0;
}
"""


@pytest.fixture(scope="module")
def openmp(library):
    """openmp(work) -> a program with one parallel launch: 0 when it ran serially."""
    loaded = library(OPENMP, openmp=True)
    entries = [loaded.symbol(f"stax_launch_0_{kind}") for kind in ("serial", "parallel")]

    def program(*works):
        steps = tuple(("launch", *entries, work) for work in works)
        return Program((), 1, ((0, I64, ()),), (), 0, steps, True)

    return program


@pytest.fixture(autouse=True)
def same_threads_after():
    yield
    runtime.set_threads()
    runtime.set_parallel_threshold(65536)


# How many


def test_small_work_one_thread_and_missing_code_stay_serial(openmp, launch):
    runtime.set_threads(3)
    before = runtime.launch_counts()
    assert openmp(65536).run(()) == 3
    assert openmp(65535).run(()) == 0
    assert openmp(65536, 1).run(()) == 0
    runtime.set_parallel_threshold(10)
    assert openmp(10).run(()) == 3
    runtime.set_threads(1)
    assert openmp(10**9).run(()) == 0
    Program((), 1, (), (), 0, ((*launch(0)[:3], 10**9),), False).run(())
    after = runtime.launch_counts()
    assert after["parallel"] - before["parallel"] == 3
    assert after["serial"] - before["serial"] == 4


def test_an_impossible_number_of_threads_is_refused():
    for number in (0, -1, 65537):
        with pytest.raises(ValueError, match="number of threads"):
            runtime.set_threads(number)


ORDER = """
    import ctypes, os, sys
    from stax_native import runtime
    seen = [runtime.threads()]
    runtime.Library(sys.argv[1])
    omp = ctypes.CDLL("libgomp.so.1")
    seen.append(runtime.threads())
    omp.omp_set_num_threads(3)          # what threadpoolctl does
    seen.append(runtime.threads())
    os.environ["OMP_NUM_THREADS"] = "2"
    seen.append(runtime.threads())
    runtime.set_threads(7)
    seen.append(runtime.threads())
    runtime.set_threads(None)
    seen.append(runtime.threads())
    print(*seen)
"""


@pytest.mark.parametrize(
    ("variable", "first"), [("5", 5), ("4,2", 4), ("0", None), ("many", None), ("", None)]
)
def test_the_order_of_those_who_decide(variable, first, finish, library):
    path = library(OPENMP, openmp=True).path
    seen = [int(word) for word in finish(ORDER, path, OMP_NUM_THREADS=variable).split()]
    cpus = len(os.sched_getaffinity(0))
    assert seen == [first or cpus, first or cpus, 3, 2, 7, 2]


def test_the_affinity_of_the_process_counts(finish):
    out = finish(
        """
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        from stax_native import runtime
        print(runtime.threads())
        """,
        OMP_NUM_THREADS="",
    )
    assert out == "1\n"


def test_importing_the_runtime_loads_no_openmp(finish):
    out = finish(
        """
        from stax_native import cache, runtime
        print("libgomp" in open("/proc/self/maps").read())
        """
    )
    assert out == "False\n"


# Threads of Python


def test_the_gil_is_free_while_a_kernel_runs(library):
    # The kernel waits for a byte that another thread of Python writes.
    loaded = library("""
    int stax_launch_0_serial(void *const *t) {
        for (long long i = 0; i < 20000000000LL; i++) if (*(volatile char *)t[0]) return 0;
        return 1;
    }""")
    flag = np.zeros(1, np.int8)
    steps = (("launch", loaded.symbol("stax_launch_0_serial"), 0, 0),)
    program = Program((array_input(flag, 0),), 1, (), (), 0, steps, False)
    flags = []
    program.on_flag = flags.append
    waiting = threading.Thread(target=program.run, args=((flag,),))
    waiting.start()
    flag[0] = 1
    waiting.join()
    assert (flags, program.runs) == ([], 1)


def test_one_program_runs_in_many_threads_at_once(library):
    loaded = library("""
    int stax_launch_0_serial(void *const *t) {
        const float *x = t[0]; float *arena = t[1], *out = t[2];
        for (int i = 0; i < 1048576; i++) arena[i] = x[i] + 1;
        for (int i = 0; i < 1048576; i++) out[i] = arena[i] * 2;
        return 0;
    }""")
    x = floats(*LARGE)
    steps = (("launch", loaded.symbol("stax_launch_0_serial"), 0, 0),)
    program = Program((array_input(x, 0),), 3, ((2, F32, LARGE),), ((1, 0),), x.nbytes, steps, True)
    wrong = []

    def work(number):
        mine = x + np.float32(number)
        wrong.extend(
            number for _ in range(20) if not np.array_equal(program.run((mine,)), (mine + 1) * 2)
        )

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (wrong, program.runs) == ([], 160)


# Forks

FORKS = """
    import ctypes, os, signal, sys, warnings
    import numpy as np
    path, who = sys.argv[1:]
    def program():
        library = runtime.Library(path)
        serial, parallel = map(library.symbol, ("stax_launch_0_serial", "stax_launch_0_parallel"))
        steps = (("launch", serial, parallel, 10**9),)
        return runtime.Program((), 1, ((0, np.dtype(np.int64), ()),), (), 0, steps, True)

    from stax_native import runtime
    runtime.set_threads(2)
    if who == "Stax":
        run = program()
        assert run.run(()) == 2
    if who == "another library":
        entry = ctypes.CDLL(path).stax_launch_0_parallel
        result = ctypes.c_longlong()
        entry(ctypes.byref(ctypes.c_void_p(ctypes.addressof(result))), 2)
        assert result.value == 2
    expected = 2 if who == "nobody" else 0
    for _ in range(50):
        child = os.fork()
        if not child:
            signal.alarm(5)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                run = program()
                results = [run.run(()) for _ in range(3)]
            ok = results == [expected] * 3 and len(caught) == (who != "nobody")
            ok = ok and all("forked" in str(warning.message) for warning in caught)
            os._exit(0 if ok else 1)
        assert os.waitpid(child, 0)[1] == 0, "a child hung or was wrong"
    if who == "Stax":
        assert run.run(()) == 2  # the parent keeps its threads
    print("fine")
"""


@pytest.mark.parametrize("who", ["Stax", "another library", "nobody"])
def test_fifty_forked_children_never_hang(who, finish, library):
    assert finish(FORKS, library(OPENMP, openmp=True).path, who) == "fine\n"


def test_a_fork_of_a_fork_stays_serial(finish, library):
    out = finish(
        """
        import os, sys, warnings
        import numpy as np
        from stax_native import runtime
        library = runtime.Library(sys.argv[1])
        entries = map(library.symbol, ("stax_launch_0_serial", "stax_launch_0_parallel"))
        steps = (("launch", *entries, 10**9),)
        run = runtime.Program((), 1, ((0, np.dtype(np.int64), ()),), (), 0, steps, True).run
        runtime.set_threads(2)
        warnings.simplefilter("ignore")
        print(run(()), flush=True)
        if os.fork() == 0:
            if os.fork() == 0:
                print(run(()), flush=True)
                os._exit(0)
            os.wait()
            print(run(()), flush=True)
            os._exit(0)
        os.wait()
        print(run(()))
        """,
        library(OPENMP, openmp=True).path,
    )
    assert out.split() == ["2", "0", "0", "2"]
