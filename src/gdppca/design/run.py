"""The one way from rows to a release: read what can fail, debit, then one step after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from gdppca._errors import DataError
from gdppca.design.design import Design
from gdppca.kernels import Progress, silent
from gdppca.ledgers import enter, require_room
from gdppca.noise import Noise
from gdppca.steps.base import Rows, State, Step
from gdppca.tables.base import Recipe, Table, Total


@np.errstate(all="ignore")  # no error or warning may depend on a cell
def run(
    design: Design,
    table: Table,
    noise: Noise,
    ledger: str | None = None,
    progress: Progress = silent,
) -> State:
    """What the steps draw, after they are paid for.

    Parameters
    ----------
    design : Design
        Made for this table.
    table : Table
        Rows, wherever they are.
    noise : Noise
        The only source of noise and of secret orders.
    ledger : None or str
        Where the debit is entered.
    progress : callable
        Called with the number of tasks done and in all.

    Returns
    -------
    State
        Everything that was drawn.
    """
    require_room(ledger, design.debit, seeded=noise.seeded)  # before hours of reading
    rows = _read(design, table, progress)
    enter(ledger, design.debit, seeded=noise.seeded)
    with note_spend_on_error(design.epsilon, design.delta):
        return drawn(design.steps, rows, noise, design.start)


def drawn(steps: Iterable[Step], rows: Rows, noise: Noise, state: State) -> State:
    """One step after the other, each with what those before it released; nothing is debited."""
    for step in steps:
        state = step.draw(rows, state, noise)
    return state


@dataclass(frozen=True, eq=False, repr=False)  # holds rows
class _Read:
    """A table of which everything is read that needs no draw."""

    table: Table
    n_samples: int
    progress: Progress
    rows: np.ndarray | None = None
    summed: Total | None = None

    @property
    def codes(self) -> np.ndarray | None:
        """Groups of the rows, where there are some."""
        return getattr(self.table, "codes", None)

    def sample(self, size: int) -> np.ndarray:
        """The rows that were sampled."""
        return self.table.sample(size) if self.rows is None else self.rows

    def total(self, recipe: Recipe) -> Total:
        """The sum over all rows; noise for another number of them would be wrong."""
        if self.summed is not None:
            return self.summed
        sums = self.table.total(recipe, self.progress)
        if sums.n_samples != self.n_samples:
            raise DataError("The number of rows changed while they were read.")
        return sums


def _read(design: Design, table: Table, progress: Progress) -> _Read:
    """Look at the rows as the first step will: what can fail fails here, unspent.

    The members of a sample do not depend on values.
    """
    public = design.public
    rows = _Read(table, public.n_samples, progress)
    if design.needs_sample:
        return _Read(table, public.n_samples, progress, rows=table.sample(public.n_seen))
    summed = rows.total(design.start.recipe(public.n_features))
    return _Read(table, public.n_samples, progress, summed=summed)


@contextmanager
def note_spend_on_error(epsilon: float, delta: float) -> Iterator[None]:
    """Say with any error that noise may have been drawn: what is drawn cannot be undone."""
    try:
        yield
    except BaseException as error:
        error.add_note(
            f"Count (epsilon = {epsilon:g}, delta = {delta:g}) as spent: some noise may have been "
            "drawn before this happened."
        )
        raise
