"""Asking Dask for results, on this machine or on a cluster that may lose its workers."""

from __future__ import annotations

import sys
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import suppress
from time import monotonic
from typing import Any

from gdppca._errors import DataError, EngineError, GdppcaError
from gdppca._version import __version__
from gdppca.kernels import Progress
from gdppca.tables.base import without_its_words

Key = tuple[str, int]  # of a task

_PATIENCE = 60.0  # seconds that a cluster may be without any worker
_GLANCE = 0.5  # seconds between two looks at a cluster


def computed(graph: Any, wanted: list[Key], marks: list[Key], progress: Progress) -> list[Any]:
    """Results of some tasks; `progress` hears how many of the marks were passed.

    What goes wrong outside of our tasks may quote cells, so it is replaced.
    """
    client = _client()
    run, said = (_on_this_machine, _failed) if client is None else (_on_cluster, _lost)
    results = without_its_words(lambda: run(client, graph, wanted, marks, progress), said)
    for result in results:
        if isinstance(result, GdppcaError):
            raise result
    return results


def _client() -> Any:
    """The client of the cluster that Dask would use now, if any."""
    from dask.base import get_scheduler

    if "distributed" not in sys.modules:
        return None
    from distributed import Client

    try:
        owner = getattr(get_scheduler(), "__self__", None)
    except RuntimeError:
        raise EngineError(
            "Dask is set to compute on a cluster, and there is no Client that could be asked, or "
            "an asynchronous one only. Connect a Client, or use "
            "dask.config.set(scheduler='threads')."
        ) from None
    return owner if isinstance(owner, Client) else None


def _on_this_machine(
    client: None, graph: Any, wanted: list[Key], marks: list[Key], progress: Progress
) -> list[Any]:
    from dask import threaded
    from dask.base import get_scheduler
    from dask.callbacks import Callback

    left = set(marks)

    def finished(key: Any, *_: Any) -> None:
        if key in left:
            left.remove(key)
            progress(len(marks) - len(left), len(marks))

    get = get_scheduler() or threaded.get
    with Callback(posttask=finished):
        return list(get(graph, [*wanted, *marks]))[: len(wanted)]


def _on_cluster(
    client: Any, graph: Any, wanted: list[Key], marks: list[Key], progress: Progress
) -> list[Any]:
    from distributed import wait

    futures = client.get(graph, [*wanted, *marks], sync=False)
    results, signs = futures[: len(wanted)], futures[len(wanted) :]
    last_seen, shown = monotonic(), 0
    try:
        while not (all(f.done() for f in results) or any(f.status == "error" for f in results)):
            with suppress(TimeoutError):
                wait(results, timeout=_GLANCE)
            last_seen = _seen_workers(client, last_seen)
            if (done := sum(sign.done() for sign in signs)) > shown:
                progress(shown := done, len(signs))
        for future in results:
            if future.status == "error":
                raise _failed(future.exception())
        if shown < len(signs):
            progress(len(signs), len(signs))
        return client.gather(results)
    finally:
        if client.status == "running":
            with suppress(Exception):
                client.cancel(futures)


def _seen_workers(client: Any, last: float) -> float:
    """When there was a worker; Dask itself would wait for a new one for ever."""
    if client.nthreads():
        return monotonic()
    if monotonic() - last > _PATIENCE:
        raise EngineError(
            f"The Dask cluster had no worker for {_PATIENCE:.0f} seconds. Nothing was released. "
            f"Start workers that have gdppca {__version__} and fit again."
        )
    return last


def _lost(error: BaseException) -> EngineError:
    return EngineError(
        f"The Dask cluster was lost ({type(error).__name__}). Nothing was released. Look after its "
        "scheduler, connect a new Client and fit again."
    )


def _failed(error: BaseException) -> GdppcaError:
    """What to say of a task of the table itself, instead of what it said."""
    kind = type(error)
    if kind.__name__ == "KilledWorker":
        return EngineError(
            "One task took its workers down again and again; too little memory is the usual "
            "reason. Nothing was released. Use smaller partitions, or workers with more memory."
        )
    if kind is RuntimeError and "deserialization" in str(error):  # by the scheduler
        return EngineError(
            f"The Dask scheduler does not understand the tasks. Install gdppca {__version__} on "
            "it and on the workers."
        )
    of_dask = kind.__module__.startswith("distributed")
    if of_dask or isinstance(error, CancelledError | BrokenExecutor):
        return _lost(error)
    return DataError(
        f"The Dask table cannot be computed: a task of its own failed with {kind.__name__}. "
        "Nothing was released. Its own compute() says more."
    )
