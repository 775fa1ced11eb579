"""From a study to a tidy table: parallel, resumable, the same whatever the number of workers."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from gdppca._errors import ParameterError
from gdppca._version import __version__
from gdppca.datasets import load_europe
from gdppca.kernels.parallel import THREADS_VARIABLE, usable_cores
from gdppca.releases import write_whole
from gdppca.studies.experiments import STUDIES, Study
from gdppca.studies.results import StudyResult, written

Progress = Callable[[int, int], None]
Row = dict[str, Any]

SEED_RULE = "SHA-256 of study, setting and run, first four bytes, little-endian"
_RUNS, _MANIFEST = "runs.jsonl", "study.json"


def find_study(name: str) -> Study:
    """Study of a name, whatever its case; an unknown one lists them all."""
    known = {key.lower(): study for key, study in STUDIES.items()}
    if not isinstance(name, str) or name.lower() not in known:
        raise ParameterError(f"There is no study {name!r}. Choose one of {', '.join(STUDIES)}.")
    return known[name.lower()]


def run(
    name: str,
    quick: bool = True,
    out: str | Path = "studies",
    *,
    runs: int | None = None,
    workers: int | None = None,
    data: str | Path | None = None,
    progress: Progress = lambda done, total: None,
) -> StudyResult:
    """Run one of the paper's experiments.

    Parameters
    ----------
    name : str
        "E1a" to "E12", or "E4b".
    quick : bool, default True
        A coarse grid and few runs, or the paper's.
    out : str or Path, default "studies"
        Folder; the study writes into a sub-folder of its name. A study that was stopped goes on
        where it was.
    runs : int, optional
        How often each table is drawn, where it should be less or more than the form says. The
        number is written beside the results.
    workers : int, optional
        Processes; as many as there are cores if left out. The table does not depend on it.
    data : str or Path, optional
        Folder of the Europe map's files, for E6; the variable GDPPCA_EUROPE if left out.
    progress : callable, optional
        Called with the number of tables done and in all.

    Returns
    -------
    StudyResult
        Every run, means with standard errors, verdicts, and the files written.

    Examples
    --------
    >>> import tempfile
    >>> from gdppca import studies
    >>> result = studies.run("E12", out=tempfile.mkdtemp(), workers=1)
    >>> sorted(path.name for path in result.files)[:3]
    ['figure.pdf', 'figure.png', 'figure.svg']
    """
    study = find_study(name)
    usual = study.runs[0 if quick else 1]
    tasks = _tasks(study, quick, _wanted_runs(usual if runs is None else runs), data)
    folder = _claimed_folder(Path(out) / study.name, study, quick)
    done = _finished(folder, study, tasks)
    progress(len(done), len(tasks))
    with (folder / _RUNS).open("a", encoding="utf-8") as stream:
        for key, results in computed(study, tasks, done, workers):
            done[key] = results
            stream.write(json.dumps({"key": key, "results": results}) + "\n")
            stream.flush()
            progress(len(done), len(tasks))
    europe = _europe_folder(data) if study.name == "E6" else None
    about = _manifest(study, quick) | {"runs": len(tasks) // len(study.settings(quick))}
    about["date"] = _last_written(folder / _RUNS)
    return written(study, folder, about, _tidy(study, tasks, done), europe)


def _wanted_runs(runs: int) -> int:
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
        raise ParameterError(f"`runs` must be a whole number from 1 on, got {runs!r}.")
    return runs


def _claimed_folder(folder: Path, study: Study, quick: bool) -> Path:
    """Make the folder, or refuse one that holds something else.

    Results of another version are not mixed with those of this one: a method may have changed
    between them.
    """
    wanted = _manifest(study, quick)
    manifest = folder / _MANIFEST
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = json.loads(manifest.read_text(encoding="utf-8")) if manifest.exists() else None
        if held is None and any(folder.iterdir()):
            raise ParameterError(f"'{folder}' holds other files. Choose another folder.")
        if held not in (None, wanted):
            raise ParameterError(
                f"'{folder}' holds results of {_in_words(held)}, not of {_in_words(wanted)}. To "
                "start anew, give another folder (--out) or delete this one."
            )
        write_whole(manifest, json.dumps(wanted).encode())
    except ParameterError:
        raise
    except (OSError, ValueError):
        raise ParameterError(f"'{folder}' cannot be used as a study's folder.") from None
    return folder


def _manifest(study: Study, quick: bool) -> Row:
    return {
        "study": study.name,
        "form": "quick" if quick else "full",
        "version": __version__,
        "seed": SEED_RULE,
    }


def _last_written(path: Path) -> str:
    """Day on which the last run was drawn."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()


def _in_words(manifest: Any) -> str:
    held = manifest if isinstance(manifest, dict) else {}
    study, form, version = (held.get(k, "unknown") for k in ("study", "form", "version"))
    return f"{study} ({form} form, version {version})"


Task = tuple[str, Row, int]  # key, setting, seed


def _tasks(study: Study, quick: bool, runs: int, data: str | Path | None) -> list[Task]:
    """Every table once, then every table again: a study that is stopped has whole rounds."""
    settings = study.settings(quick)
    if study.name == "E6":
        settings = [setting | {"data": str(_europe_folder(data))} for setting in settings]
    tasks = []
    for repetition, setting in itertools.product(range(runs), settings):
        key = json.dumps([study.name, _described(setting), repetition], sort_keys=True)
        tasks.append((key, setting, _seed(key)))
    return tasks


def _described(setting: Row) -> Row:
    """A setting as it is published: without the folder on this machine."""
    return {name: value for name, value in setting.items() if name != "data"}


def _europe_folder(data: str | Path | None) -> Path:
    folder = data or os.environ.get("GDPPCA_EUROPE")
    if folder is None:
        raise ParameterError(
            "E6 needs the Europe map's files (repository NovembreLab/Novembre_etal_2008_misc). "
            "Give their folder as `data`, --data or GDPPCA_EUROPE."
        )
    load_europe(folder)  # an error now rather than in a worker
    return Path(folder).resolve()


def _seed(key: str) -> int:
    """A seed that depends on the task alone."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "little")


def _finished(folder: Path, study: Study, tasks: list[Task]) -> dict[str, list[Row]]:
    """Results of an earlier run; a torn last line, and one with other methods, is dropped.

    Rounds beyond those that are wanted now stay in the file.
    """
    path = folder / _RUNS
    if not path.exists():
        return {}
    wanted = {key: set(study.compared(setting)) for key, setting, _ in tasks}
    kept, done = [], {}
    lines = path.read_text(encoding="utf-8").splitlines()
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        key, methods = entry["key"], {result["method"] for result in entry["results"]}
        if key not in wanted:
            kept.append(line)
        elif methods == wanted[key] and key not in done:
            done[key] = entry["results"]
            kept.append(line)
    if kept != lines:
        write_whole(path, "".join(line + "\n" for line in kept).encode())
    return done


def _start_worker(parent: int) -> None:
    from threadpoolctl import threadpool_limits

    os.environ[THREADS_VARIABLE] = "1"
    threadpool_limits(1)
    warnings.simplefilter("ignore")  # simulations: nobody's budget is at stake
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone; a killed parent could not say so."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _work(name: str, setting: Row, seed: int) -> list[Row]:
    return STUDIES[name].task(setting, seed)


def computed(
    study: Study, tasks: list[Task], done: dict[str, Any], workers: int | None
) -> Iterator[tuple[str, list[Row]]]:
    waiting = [task for task in tasks if task[0] not in done]
    if not waiting:
        return
    spawn, parent = get_context("spawn"), (os.getpid(),)
    pool = ProcessPoolExecutor(workers or usable_cores(), spawn, _start_worker, parent)
    try:
        futures = {
            pool.submit(_work, study.name, setting, seed): key for key, setting, seed in waiting
        }
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _tidy(study: Study, tasks: list[Task], done: dict[str, list[Row]]) -> list[Row]:
    rows = []
    order = {_described_key(setting): k for k, (_, setting, _) in enumerate(tasks)}
    for key, setting, seed in sorted(tasks, key=lambda task: order[_described_key(task[1])]):
        task = {"study": study.name, **_described(setting), "run": json.loads(key)[2], "seed": seed}
        rows += [task | result for result in done[key]]
    return rows


def _described_key(setting: Row) -> str:
    return json.dumps(_described(setting))
