"""The one way from rows to a release: read what can fail, debit, then one step after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from gdppca._errors import DataError
from gdppca.design.design import Design
from gdppca.design.diary import Diary
from gdppca.kernels import Progress, silent
from gdppca.ledgers import Booking, enter, require_room
from gdppca.noise import Noise
from gdppca.steps.base import Rows, State, Step
from gdppca.tables.base import Recipe, Sample, Table, Total, kept_size, sample_size
from gdppca.tables.pieces import pieces_of


class Gate:
    """A progress that may stop a fit before it spends; `__call__` is its progress."""

    def __call__(self, done: int, total: int) -> None:
        """Show how much is done."""

    def last_call(self) -> None:
        """All is read that can fail, and nothing entered: what is raised here costs nothing."""

    def entered(self) -> None:
        """The debit stands; nothing may be raised here."""


@np.errstate(all="ignore")  # no error or warning may depend on a cell
def run(
    design: Design,
    table: Table,
    noise: Noise,
    ledger: str | Booking | None = None,
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
    ledger : None, str or Booking
        Where the debit is entered.
    progress : callable
        Called with the number of tasks done and in all. A `Gate` is told before the debit, too,
        and once it stands.

    Returns
    -------
    State
        Everything that was drawn.
    """
    protected = design.public.protected
    # Before hours of reading.
    require_room(ledger, design.debit, protected=protected, seeded=noise.seeded)
    diary = Diary(protected)
    told = progress if protected.tells_rows else _in_percent(progress)
    rows = _read(design, table, told)
    diary.note("rows read")
    if isinstance(progress, Gate):
        progress.last_call()
    enter(
        ledger,
        design.debit,
        protected=protected,
        seeded=noise.seeded,
        description=getattr(getattr(table, "description", None), "checksum", None),
        pieces=pieces_of(table),
    )
    if isinstance(progress, Gate):
        progress.entered()
    diary.note("spent epsilon = %g, delta = %g", design.epsilon, design.delta)
    with note_spend_on_error(design.epsilon, design.delta):
        state = _drawn_by(design, rows, noise, diary)
        if not protected.tells_rows:
            told(1, 1)  # a small table tells as often as a large one
        return state


def _drawn_by(design: Design, rows: _Read, noise: Noise, diary: Diary) -> State:
    """All steps of a design; where a number is secret, those that it has once that is counted."""
    if design.counted is None:
        return drawn(design.steps, rows, noise, design.start, diary)
    count, *_ = design.steps
    state = count.draw(rows, design.start, noise)
    assert state.number is not None
    known = design.counted(state.number)
    diary.drawn(count, state.events)
    counted = rows.standing_for(state.number, state.number_sd)
    return drawn(known.steps[1:], counted, noise, state, diary)


def drawn(
    steps: Iterable[Step], rows: Rows, noise: Noise, state: State, diary: Diary | None = None
) -> State:
    """One step after the other, each with what those before it released; nothing is debited."""
    for step in steps:
        before, state = len(state.events), step.draw(rows, state, noise)
        if diary is not None:
            diary.drawn(step, state.events[before:])
    return state


@dataclass(frozen=True, eq=False, repr=False)  # holds rows
class _Read:
    """A table of which everything is read that needs no draw."""

    table: Table
    n_samples: int  # of the table, which may be secret
    progress: Progress
    rows: Sample | None = None
    summed: Total | None = None

    @property
    def codes(self) -> np.ndarray | None:
        """Groups of the rows, where there are some."""
        return getattr(self.table, "codes", None)

    def sample(self, size: int) -> Sample:
        """The rows that were sampled."""
        return Sample.of(self.table.sample(size)) if self.rows is None else self.rows

    def standing_for(self, number: float, sd: float) -> _Read:
        """The same where a secret number was counted."""
        if self.rows is None:
            return self
        size = kept_size(self.table.n_features)
        return replace(self, rows=self.rows.standing_for(number, size, sd))

    def total(self, recipe: Recipe) -> Total:
        """The sum over all rows; noise for another number of them would be wrong."""
        if self.summed is not None and recipe.cross is None:  # another sum is of another look
            return self.summed
        sums = self.table.total(recipe, self.progress)
        if sums.n_samples != self.n_samples:
            raise DataError("The number of rows changed while they were read.")
        return sums


def _in_percent(progress: Progress) -> Progress:
    """The same where nobody may know how many rows there are.

    Every whole per cent is told once, in order, however many tasks there are: their number would
    tell about how many rows.
    """
    told = 0

    def passed_on(done: int, total: int) -> None:
        nonlocal told
        for now in range(told + 1, 100 * done // max(total, 1) + 1):
            told = now
            progress(now, 100)

    return passed_on


def _read(design: Design, table: Table, progress: Progress) -> _Read:
    """Look at the rows as the first step will: what can fail fails here, unspent.

    The members of a sample do not depend on values.
    """
    public = design.public
    rows = _Read(table, table.n_samples, progress)
    if public.moves.replaces and table.n_samples != public.n_samples:
        raise DataError("The number of rows changed while they were read.")
    if design.needs_sample:
        size = public.n_seen if public.moves.replaces else sample_size(public.n_features)
        return replace(rows, rows=Sample.of(table.sample(size)))
    return replace(rows, summed=rows.total(design.start.recipe(public.n_features)))


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
