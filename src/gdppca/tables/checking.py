"""What is odd about a table, told to its owner: counts and names of columns, never a cell.

It looks at rows without noise. Nothing of it may be published, no guarantee covers it, and no fit
knows of it: only the command `gdppca check` imports this.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from gdppca._words import counted, listed, percent, plural
from gdppca.tables.cells import MISSING
from gdppca.tables.described import chosen_columns
from gdppca.tables.description import Column, Description, Feature
from gdppca.tables.looking import Cells, Tally, cells_of
from gdppca.tables.names import ID, ROW_NUMBER, doubtful_names
from gdppca.tables.profiles import FEW, Finding, Profile, oddities
from gdppca.tables.sql import Query
from gdppca.tables.wishes import Wishes

_UNLIKE = 10.0  # times that spreads differ
_LINKED = 0.2  # correlation of gaps with something else that is worth a word
_SURE = 5.0  # standard errors of it
_MOST_SHOWN = 5
_NOT_RANDOM = "What --missing rates takes for granted, 'completely at random', may not hold."

Source = Query | list[Path]


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What was found, and what a fit of this table must be told."""

    n_rows: int
    n_seen: int  # rows that were looked at
    findings: tuple[Finding, ...]
    person: str | None  # the column that says whose a row is, or may well be it
    person_is_new: bool  # whether nobody declared it
    n_persons: int | None
    columns: list[str] | None  # those that a fit can take, where these are not all
    features: tuple[Feature, ...]  # what they become
    gaps: bool
    described: bool  # whether a description says what columns mean

    def has(self, kind: str) -> bool:
        """Whether something of a kind was found."""
        return any(finding.kind == kind for finding in self.findings)


def check(source: Source, asked: Wishes) -> Checked:
    """Look at a table, and say what is odd about it."""
    given, asked = asked.columns is not None, asked.settled()

    def ids(names: list[str]) -> list[str]:
        likely = [name for name, kind in doubtful_names(names) if kind == ID and name in names]
        return list(dict.fromkeys([asked.persons, *likely] if asked.persons in names else likely))

    where = "The answer" if isinstance(source, Query) else f"'{source[0]}'"
    cells = cells_of(source, asked.description, ids)
    asked.features(list(cells.columns), where)  # refuses names that are not there
    return _Look(cells, asked, _as_read(cells, asked, where)).checked(given)


def _as_read(cells: Cells, asked: Wishes, where: str) -> Description:
    """The columns of the analysis, as a fit reads them."""
    known = asked.description or Description(columns=(), missing=MISSING)
    alone = replace(known, person=None, weight=None, largest_weight=None)
    names = [name for name in cells.columns if name not in asked.beside]
    return chosen_columns(alone, names, asked.columns, where)


@dataclass(frozen=True)
class _Look:
    """Cells, what is said of them, and the columns of the analysis."""

    cells: Cells
    asked: Wishes
    told: Description

    def checked(self, given: bool) -> Checked:
        """All findings; `given` says whether somebody chose the columns."""
        usable, person = [each for each in self.profiles if self._is_usable(each)], self._person
        chosen = [profile.name for profile in usable]
        every = [column.name for column in self.told.columns]
        if not self._described:  # then all but the person's are taken
            every = [name for name in every if name != person]
        tally = self.cells.tallies.get(person or "")
        findings = (
            *self._of_persons(),
            *self._of_weights(),
            *self._of_columns(),
            *_of_units(usable),
            *_of_gaps(usable),
        )
        return Checked(
            n_rows=self.cells.n_rows,
            n_seen=self.cells.n_seen,
            findings=findings,
            person=person,
            person_is_new=self.asked.persons is None and person is not None,
            n_persons=tally.distinct if tally else None,
            columns=chosen if given or chosen != every else None,
            features=tuple(f for profile in usable for f in profile.column.features),
            gaps=any(profile.gaps.any() for profile in usable),
            described=self._described,
        )

    @cached_property
    def profiles(self) -> list[Profile]:
        """Every column of the analysis."""
        types, columns = self.cells.types, self.cells.columns
        return [
            Profile.of(column, types[column.name], columns[column.name], self.told)
            for column in self.told.columns
        ]

    @property
    def _described(self) -> bool:
        return self.asked.described is not None

    @cached_property
    def _kinds(self) -> dict[str, str]:
        """What columns are by their names, where they are hardly measurements."""
        return dict(doubtful_names(self.cells.columns))

    def _is_usable(self, profile: Profile) -> bool:
        """Whether a fit can take a column, and should."""
        if profile.name == self._person or profile.is_other or not len(profile.read):
            return False
        if self._described:
            return True
        doubtful = self._kinds.get(profile.name) in (ID, ROW_NUMBER)
        return not doubtful and profile.declared not in ("text", "date")

    # --- Whose rows they are, and what they count -------------------------------------------------

    @property
    def _person(self) -> str | None:
        """The column of persons, or the one that may well be it."""
        if self.asked.persons is not None:
            return str(self.asked.persons)
        repeated = {name: tally.distinct for name, tally in self._repeated.items()}
        return max(repeated, key=lambda name: repeated[name]) if repeated else None

    @property
    def _repeated(self) -> dict[str, Tally]:
        """Columns that are called ids, and in which some stand several times."""
        found = self.cells.tallies.items()
        return {name: tally for name, tally in found if tally.distinct > 1 and tally.most > 1}

    def _of_persons(self) -> Iterator[Finding]:
        declared = self.asked.persons
        if declared is None:
            for name, tally in self._repeated.items():
                yield Finding(
                    "persons", name,
                    f"It may say whose row it is: {_each(tally)}. If so, give --person "
                    f"{shlex.quote(name)}: without it a row is protected, and not a person.",
                )  # fmt: skip
            return
        tally = self.cells.tallies[declared]
        yield Finding("persons", declared, f"{_each(tally)}.")
        if tally.without:
            yield Finding(
                "nobody", declared,
                f"{_of(tally.without, 'row')} without an id: fit refuses them, since nobody knows "
                "whose they are. Drop such rows by a rule that looks at each row alone.",
            )  # fmt: skip

        coded = self._read_as_number(declared).missing.sum() - tally.without
        if coded > 0:
            yield Finding(
                "nobody", declared,
                f"{_of(int(coded), 'row')} without an id by a code of missing cells: fit refuses "
                "them. Drop such rows by a rule that looks at each row alone.",
            )  # fmt: skip

    def _read_as_number(self, name: str) -> Profile:
        """A column beside the analysis."""
        column = Column(name=name)
        known = replace(self.told, columns=(column,))
        return Profile.of(column, "", self.cells.columns[name], known)

    def _of_weights(self) -> Iterator[Finding]:
        name = self.asked.weights
        if name is None:
            return
        found = self._read_as_number(name)
        lacking, negative = int(found.gaps.sum()), int((found.read < 0).sum())
        if lacking:
            yield Finding("weights", name, f"{_of(lacking, 'weight')} missing: fit refuses them.")
        if negative:
            yield Finding("weights", name, f"{_of(negative, 'weight')} below 0: fit refuses them.")
        largest = self.asked.largest_weight
        above = 0.0 if largest is None or not len(found.read) else np.mean(found.read > largest)
        if above:
            yield Finding(
                "weights", name,
                f"{percent(float(above))} of the weights are above the largest, and count like it. "
                "Choose it from the design, one to two times the mean weight that it foresees, and "
                "not from this output.",
            )  # fmt: skip

    # --- Columns ----------------------------------------------------------------------------------

    def _of_columns(self) -> Iterator[Finding]:
        for profile in self.profiles:
            if profile.name != self._person:
                yield from oddities(profile, self._kinds.get(profile.name, ""), self._described)
        beside = {*self.asked.beside, *(profile.name for profile in self.profiles)}
        others = [name for name in self.cells.columns if name not in beside]
        if others:
            yield Finding("beside", None, f"Not analysed: {_shown(others)}.")


def _of_units(profiles: Sequence[Profile]) -> Iterator[Finding]:
    """Spreads that differ so much that one column is all that a component sees."""
    sizes = {each.name: _size(each) for each in profiles if _size(each) > 0}
    if not sizes:
        return
    small, large = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    ratio = sizes[large] / sizes[small]
    if ratio >= _UNLIKE:
        times = 10 ** min(math.floor(math.log10(ratio)), 6)
        yield Finding(
            "units", None,
            f"Spreads differ by more than {times:,} times, most of all those of '{large}' and "
            f"'{small}': components will mostly be about the widest columns. Use --scale private; "
            "with a spread for every number in the description it costs less.",
        )  # fmt: skip


def _size(profile: Profile) -> float:
    """What a column spreads in a fit without scales; indicators have one that is public."""
    return profile.spread if profile.column.type in ("number", "date") else 1.0


def _of_gaps(profiles: Sequence[Profile]) -> Iterator[Finding]:
    """Whether cells seem to be missing for a reason, which a correction by rates cannot know."""
    usual = [each for each in profiles if FEW <= each.gaps.sum() <= each.gaps.size - FEW]
    paired = [k for k in usual if any(_go_together(k, other) for other in usual if other is not k)]
    if paired:
        yield Finding(
            "together", None,
            f"Cells of {_shown([each.name for each in paired])} go missing together. {_NOT_RANDOM}",
        )  # fmt: skip
    for each in usual:
        others = (other for other in profiles if other is not each and _is_ordered(other))
        reasons = [other.name for other in others if _correlation(each.gaps, other.values)]
        if reasons:
            yield Finding(
                "together", each.name,
                f"Cells are missing more often at some values of {_shown(reasons)}. {_NOT_RANDOM}",
            )  # fmt: skip


def _go_together(one: Profile, other: Profile) -> bool:
    return _correlation(one.gaps, other.gaps.astype(float)) > 0


def _is_ordered(profile: Profile) -> bool:
    return profile.column.type != "category" and len(np.unique(profile.read)) > 1


def _correlation(gap: np.ndarray, values: np.ndarray) -> float:
    """The rank correlation of gaps with values, or 0 where it is small or uncertain."""
    there = ~np.isnan(values)
    if there.sum() < 2 * FEW:
        return 0.0
    both = np.array([gap[there], rankdata(values[there])])
    if not both.std(axis=1).all():
        return 0.0
    found = float(np.corrcoef(both)[0, 1])
    sure = abs(found) * np.sqrt(there.sum()) > _SURE
    return found if sure and abs(found) > _LINKED else 0.0


# --- Words ----------------------------------------------------------------------------------------


def _each(tally: Tally) -> str:
    """312 persons, 1 to 16 rows each."""
    rows = f"{tally.fewest:,} to {tally.most:,} rows"
    if tally.fewest == tally.most:
        rows = counted(tally.most, "row")
    return f"{tally.distinct:,} {plural(tally.distinct, 'person')}, {rows} each"


def _of(number: int, what: str) -> str:
    return f"{number:,} {plural(number, what)} {'is' if number == 1 else 'are'}"


def _shown(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names[:_MOST_SHOWN]]
    rest = len(names) - len(quoted)
    return listed([*quoted, *([counted(rest, "other")] if rest else [])])
