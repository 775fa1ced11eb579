"""Independent pieces of work on the cores of this machine, results in order."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

THREADS_VARIABLE = "GDPPCA_THREADS"

Progress = Callable[[int, int], None]  # tasks done, tasks in all

Task = TypeVar("Task")
Result = TypeVar("Result")


def silent(done: int, total: int) -> None:
    """Show no progress."""


def usable_cores() -> int:
    """Cores that this process may use; the variable GDPPCA_THREADS sets another number."""
    wish = os.environ.get(THREADS_VARIABLE, "")
    if wish.isdecimal() and int(wish) > 0:
        return int(wish)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every platform knows affinities
        return os.cpu_count() or 1


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def in_order(work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Results of `work` on each task, in the order of the tasks whatever the number of threads.

    Each thread calls a single-threaded BLAS: threads inside threads fight over the cores. Only a
    few tasks are under way at once, so results do not pile up.
    """
    cores = usable_cores()
    tasks = iter(tasks)
    first = list(itertools.islice(tasks, 2))
    tasks = itertools.chain(first, tasks)
    with _controller().limit(limits=1, user_api="blas"):
        if len(first) < 2 or cores == 1:  # nothing to share out
            yield from map(work, tasks)
            return
        with ThreadPoolExecutor(cores) as pool:
            waiting: deque[Future[Result]] = deque()
            for task in tasks:
                waiting.append(pool.submit(work, task))
                if len(waiting) > 2 * cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
