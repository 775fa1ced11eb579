"""What `gdppca check` does: look without noise, tell the owner, and name the fit that will do."""

from __future__ import annotations

import csv
import io
import shlex
from itertools import count
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from gdppca import _validate
from gdppca.cli.fit import said_of_rows
from gdppca.cli.options import DIALECT, columns_of, question_of
from gdppca.cli.room import Room, room_for
from gdppca.cli.show import console, in_options, print_json
from gdppca.ledgers import split_address
from gdppca.planning.foresight import Foresight, foreseen
from gdppca.privacy import Budget, Neighbors, Protected, Unit
from gdppca.steps.base import Public
from gdppca.tables.checking import Checked, check
from gdppca.tables.wishes import Wishes

MARK = (
    "NOT PRIVATE, for the owner's eyes only: no guarantee covers this output, nor what is chosen "
    "because of it. Publish nothing of it."
)


def run(*, as_json: bool, **asked: Any) -> None:
    """Look at a table, tell what is odd, and end with the command of the fit."""
    if not as_json:
        _look(**asked)
        return
    with console.capture() as seen:
        found = _look(**asked)
    findings = [{"column": each.column, "words": each.words} for each in found.findings]
    print_json(not_private=MARK, rows=found.n_rows, findings=findings, said=seen.get().splitlines())


def _look(*, data: list[str], columns: Any, query: str | None, **asked: Any) -> Checked:
    typed = {"query": query, **asked}
    budget = Budget(*(asked.pop(name) for name in ("epsilon", "delta")))
    neighbors = Neighbors(_validate.one_of(tuple(Neighbors), neighbors=asked.pop("neighbors")))
    ledger = asked.pop("ledger")
    if ledger is not None:
        split_address(ledger)  # before the table is read
    wishes = Wishes(columns=columns_of(columns), **said_of_rows(asked))
    question = question_of(data, query)
    found = check(question or [Path(name) for name in data], wishes)
    data = [question.shown] if question else data  # a password is not printed
    _say(MARK)
    _say(_size(found))
    console.print(_table(found))
    if found.features:
        public = _public(found, wishes.settled().weights is not None, neighbors)
        _say_ahead(found, data, typed, public, budget)
    else:
        _say(f"No column can be analysed as it is. {_describe(data, typed)}")
    _say(MARK)
    return found


def _say_ahead(
    found: Checked, data: list[str], typed: dict[str, Any], public: Public, budget: Budget
) -> None:
    """What a fit would say, what a ledger leaves for it, and the commands."""
    wants_scales = found.has("units")

    def ahead(budget: Budget) -> Foresight:
        both = {"epsilon": budget.epsilon, "delta": budget.delta}
        return foreseen(public, wants_scales=wants_scales, **both)

    address = typed["ledger"] or f"sqlite:///budget.db#{_stem(data)}"
    room = room_for(address, budget, lambda given: ahead(given).debit, public.protected)
    for said in room.said if typed["ledger"] or not room.to_make else ():
        _say(said)
    if room.budget is None:
        return
    seen = ahead(room.budget)
    lost = "fit would refuse" if public.moves.replaces else "noise would win, and no fit may say so"
    for said in seen.refusals:
        _say(f"{lost}: {in_options(said, 'fit')}")
    for said in seen.doubts:
        _say(f"fit would warn: {in_options(said, 'fit')}")
    typed = {**typed, "epsilon": room.budget.epsilon, "delta": room.budget.delta}
    _say_next(found, data, _fit(found, data, typed, seen.scaled), typed, room)


def _size(found: Checked) -> str:
    looked = "all were looked at" if found.n_seen == found.n_rows else (
        f"a random sample of {found.n_seen:,} was looked at, and ids were counted in all"
    )  # fmt: skip
    return f"{found.n_rows:,} rows, {len(found.features)} columns in the analysis; {looked}."


def _table(found: Checked) -> Table:
    """A line for all findings in the same words; names and words are printed as they are."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(max_width=24)
    table.add_column()
    alike: dict[str, list[str]] = {}
    for finding in found.findings:
        alike.setdefault(finding.words, []).append(finding.column or "(table)")
    before = ""
    for words, columns in alike.items():
        names = ", ".join(columns)
        table.add_row(Text("" if names == before else names), Text(words))
        before = names
    if not alike:
        table.add_row("", "Nothing odd was found.")
    return table


def _public(found: Checked, weighted: bool, neighbors: Neighbors) -> Public:
    """What the fit would know of its table, with the numbers that the table has."""
    unit = Unit.ROW if found.person is None else Unit.PERSON
    return Public.of(
        found.n_persons or found.n_rows,
        len(found.features),
        protected=Protected(unit, neighbors),
        gaps=found.gaps,
        weighted=weighted,
        features=found.features if found.described else (),
    )


def _fit(found: Checked, data: list[str], typed: dict[str, Any], scaled: bool) -> list[str]:
    """The words of the command that fits this table."""
    told = {"table": typed["table"], "person": typed["person"]}
    if typed["person"] is None and found.person_is_new:
        told["person"] = found.person
    told |= {name: typed[name] for name in ("weight", "largest_weight", *DIALECT, "query")}
    told["columns"] = None if found.columns is None else _with_commas(found.columns)
    told["missing"] = "rates" if found.gaps else None
    told |= _other_neighbors(typed)
    told["scale"] = "private" if scaled else None
    release, report = _free_names(_stem(data))
    files = ["--output", release, "--report", report]
    return ["gdppca", "fit", *data, *_options(told), *_budget(typed), *files]


def _stem(data: list[str]) -> str:
    """What files and a ledger's data set may be called after the data."""
    return Path(data[0]).name.split(".")[0] or "data"


def _free_names(stem: str) -> tuple[str, str]:
    """Names for a release and its report that nothing has yet: a fit replaces no file."""
    for number in count(1):
        own = f"{stem}-{number}" if number > 1 else stem
        release, report = f"{own}-release.json", f"{own}-report.html"
        if not Path(release).exists() and not Path(report).exists():
            break
    return release, report


def _with_commas(names: list[str]) -> str:
    """Names on one line, in which those with a comma are quoted."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def _say_next(
    found: Checked, data: list[str], fit: list[str], typed: dict[str, Any], room: Room
) -> None:
    """Commands for the shell."""
    if not found.described and (found.has("text") or found.has("date")):
        _say(_describe(data, typed))
    if room.to_make:
        unit = {"unit": "row" if found.person is None else "person"} | _other_neighbors(typed)
        init = ["gdppca", "ledger", "init", room.address, *_budget(typed), *_options(unit)]
        _say(f"Once for these data, a cap on all releases of them:\n  {shlex.join(init)}")
    first = "Correct what is said above and check again; the fit would then be about:"
    heading = first if _to_correct(found) else "The fit that will do:"
    _say(f"{heading}\n  {shlex.join([*fit, '--ledger', room.address])}")


def _to_correct(found: Checked) -> bool:
    """Whether a fit would refuse the table, or a description says what its cells are not."""
    refused = any("fit refuses" in finding.words for finding in found.findings)
    return refused or (found.described and (found.has("text") or found.has("date")))


def _describe(data: list[str], typed: dict[str, Any]) -> str:
    told = {name: typed[name] for name in (*DIALECT, "query") if typed[name] is not None}
    command = ["gdppca", "describe", data[0], *_options(told)]
    return f"To use text and dates, describe them: {shlex.join(command)}"


def _options(told: dict[str, Any]) -> list[str]:
    given = [(f"--{name.replace('_', '-')}", str(v)) for name, v in told.items() if v is not None]
    return [word for pair in given for word in pair]


def _other_neighbors(typed: dict[str, Any]) -> dict[str, Any]:
    """The neighbours that were asked for, where they are not the usual ones."""
    usual = Neighbors.REPLACE_ONE
    return {} if typed["neighbors"] == usual else {"neighbors": typed["neighbors"]}


def _budget(typed: dict[str, Any]) -> list[str]:
    return _options({name: f"{typed[name]:g}" for name in ("epsilon", "delta")})


def _say(line: str) -> None:
    console.print(line, soft_wrap=True, markup=False, highlight=False)
