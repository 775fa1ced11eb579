"""What a fit does, whoever asks for it: check, spend, save, then show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gdppca.estimators import DPPCA
from gdppca.jobs.files import PAGES, drawn, read_plan, require_writable
from gdppca.jobs.wish import Wish
from gdppca.kernels import Progress, silent
from gdppca.ledgers import entered_as
from gdppca.plots.style import ENDINGS
from gdppca.releases import Release
from gdppca.report import require_extras, write_report


def released(wish: Wish, progress: Progress = silent) -> Release:
    """Fit what is asked for; the release is on disk before anything else is done with it."""
    pca, rows = wish.estimator, wish.said.arguments()
    require_all_writable(wish)
    planned = None if wish.plan is None else read_plan(wish.plan)
    with entered_as(
        wish.who,
        wish.purpose,
        fingerprint=wish.fingerprint,
        complete=False,  # when it is saved
        request_id=wish.request_id,
    ):
        try:
            pca.fit_release(
                wish.source,
                columns=wish.columns,
                assume_shuffled=wish.assume_shuffled,
                plan=planned,
                progress=progress,
                **wish.beside,
                **rows,
            )
        except BaseException as error:
            if hasattr(pca, "release_"):  # drawn and paid for: a warning became an error, say
                _saved(pca, planned, wish)
                error.add_note(f"What was drawn before is saved: {wish.output}")
            raise
        return _saved(pca, planned, wish)


def illustrate(wish: Wish, release: Release) -> None:
    """Draw and report a release that is saved."""
    if wish.plot is not None:
        drawn(release, wish.plot)
    if wish.report is not None:
        write_report(release, wish.report)


def _saved(pca: DPPCA, planned: dict[str, Any] | None, wish: Wish) -> Release:
    """Save it, and complete its entry when the file is whole on the disk."""
    release = replace(pca.release_, plan=planned)
    release.save(wish.output, ledger=pca.ledger)
    return release


def require_all_writable(wish: Wish) -> None:
    """Nothing may fail after the budget is spent that could have failed before."""
    taken = wish.files_read
    for path, endings in ((wish.output, None), (wish.plot, ENDINGS), (wish.report, PAGES)):
        if path is not None:
            require_writable(path, force=wish.force, never=taken, endings=endings)
            taken.append(path)
    if wish.report is not None:
        require_extras()
