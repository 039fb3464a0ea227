"""gather: what a page needs to know about a jitted function.

Takes a jitted function and arguments; compiles and times it beside the plain one; gives the text of
the page. Not here: the clock (``measure``), what the page shows (``document``).
"""

from __future__ import annotations

import copy
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

from .. import capture
from ..explain import seed_plan
from .document import Facts, page
from .measure import Times, measure


def page_of(
    jitted: Any,
    function: Callable[..., Any],
    backend: str,
    history: Sequence[str],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> str:
    """The page of a function for these arguments.

    Args:
        jitted: the jitted function.
        function: the plain one.
        backend: the backend's name, as the configuration has it.
        history: lines on why it has its programs.
        args, kwargs: of one call.
    """
    start = time.perf_counter()
    traced = jitted.trace(*args, **kwargs)
    trace_seconds = time.perf_counter() - start
    staged = traced.lower()
    start = time.perf_counter()
    executable = staged.compile(backend)
    build_seconds = time.perf_counter() - start
    program = executable.program
    writes = bool(program.plan.written)
    file, first, source = _source(function)
    return page(
        Facts(
            program,
            executable.backend,
            executable.source,
            source,
            file,
            first,
            seed_plan(program),
            tuple(history),
            (
                ("trace", trace_seconds),
                *program.seconds,
                ("compiler and loading, or the cache of kernels", build_seconds),
            ),
            _timed(jitted, args, kwargs, writes),
            _timed(function, args, kwargs, writes),
        )
    )


def _timed(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], writes: bool
) -> Times:
    """A function's times; on copies of its arguments where it writes into them."""
    if not writes:
        function(*args, **kwargs)  # whatever a first call does is not timed
        return measure(lambda: function(*args, **kwargs))

    def call(given: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        return function(*given[0], **given[1])

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return copy.deepcopy((args, kwargs))

    call(fresh())
    return measure(call, fresh)


def _source(function: Callable[..., Any]) -> tuple[str, int, tuple[str, ...]]:
    """File, first line and lines of a Python function; no lines where they cannot be read."""
    plain = capture.underlying(function)
    try:
        lines, first = inspect.getsourcelines(plain)
    except (OSError, TypeError):
        return "", 0, ()
    return plain.__code__.co_filename, first, tuple(line.rstrip("\n") for line in lines)
