# How many threads a parallel launch asks for, and what a forked child may still do.
#
# libgomp keeps sleeping threads between parallel regions. fork() copies the memory that describes
# them but not the threads, and the child's first region waits for them for ever. So a child whose
# parent had libgomp in memory runs serially.

cdef extern from "dlfcn.h" nogil:
    int RTLD_NOLOAD

ctypedef int (*omp_get_t)() noexcept nogil

cdef omp_get_t omp_get_max_threads = NULL  # set when the first OpenMP library is loaded
cdef int threads_set = 0                   # 0: nobody called set_threads
cdef long long parallel_threshold = 65536
cdef bint omp_at_fork = False              # what the parent saw just before it forked
cdef bint forked = False                   # this process is such a child
cdef bint fork_warned = False
cdef unsigned long long parallel_launches = 0
cdef unsigned long long serial_launches = 0


cdef int environment_threads() noexcept:
    """The first number in OMP_NUM_THREADS; 0 when it is not set or not a number."""
    cdef char *text = getenv("OMP_NUM_THREADS")
    cdef long value
    if not text:
        return 0
    value = strtol(text, NULL, 10)
    return <int>value if 0 < value <= 65536 else 0


def threads():
    """Number of threads that a parallel launch asks for from this thread of Python.

    ``set_threads`` decides alone. Otherwise it is the smaller of OMP_NUM_THREADS, read now, and
    the present limit of the OpenMP runtime, if one is loaded (threadpoolctl sets it); with
    neither, the number of CPUs this process may use.
    """
    cdef int from_environment, from_openmp
    if threads_set:
        return threads_set
    from_environment = environment_threads()
    from_openmp = omp_get_max_threads() if omp_get_max_threads else 0
    if from_environment and from_openmp:
        return min(from_environment, from_openmp)
    return from_environment or from_openmp or len(os.sched_getaffinity(0))


def set_threads(n=None):
    """Fix the number of threads of parallel launches; None goes back to the environment.

    Args:
        n: int >= 1, or None.
    """
    global threads_set
    if n is not None and not 1 <= n <= 65536:
        raise ValueError(f"a number of threads from 1 to 65536 is needed, not {n!r}")
    threads_set = 0 if n is None else n


def set_parallel_threshold(long long work):
    """Launches with less `work` than this stay serial; the unit is the plan's (at first 65536)."""
    global parallel_threshold
    parallel_threshold = work


def launch_counts():
    """Launches of this process so far: ``{"serial": int, "parallel": int}``."""
    return {"serial": serial_launches, "parallel": parallel_launches}


cdef int launch_threads() except -1:
    """Threads of the next parallel launch; 1 in a forked child, with one warning."""
    global fork_warned
    if forked:
        if not fork_warned:
            fork_warned = True
            warnings.warn(
                "this process was forked from one that had OpenMP loaded; Stax runs on one thread "
                "here (start workers with the 'spawn' or 'forkserver' method to use more)",
                RuntimeWarning,
                stacklevel=1,
            )
        return 1
    return threads()


def _before_fork():
    global omp_at_fork
    # Another library may have started libgomp: looked up, not loaded.
    omp_at_fork = (
        omp_get_max_threads != NULL
        or dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD) != NULL
    )


def _after_fork_in_child():
    global forked
    forked = omp_at_fork  # once true, true in all later forks: OpenMP is never unloaded


os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)
