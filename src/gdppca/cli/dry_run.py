"""What `gdppca fit --dry-run` tells: design, debit and plan, and nothing is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.markup import escape
from rich.panel import Panel

from gdppca._errors import ParameterError
from gdppca._words import counted
from gdppca.cli.show import console, in_options, print_json
from gdppca.design import Design
from gdppca.jobs.ahead import Counted, count, design_ahead, plan_ahead, promise_ahead, protected_by
from gdppca.jobs.fit import require_all_writable
from gdppca.jobs.wish import Wish
from gdppca.ledgers import Note, check_ledger, open_account
from gdppca.planning import Plan
from gdppca.privacy import words
from gdppca.privacy.events import event_to_dict
from gdppca.steps.base import Public


@dataclass(frozen=True)
class Foreseen:
    """What a fit would do, from public numbers alone; `why_not` says why there is no plan."""

    counted: Counted
    design: Design
    plan: Plan | None
    why_not: str = ""


def run(wish: Wish, *, as_json: bool) -> None:
    """Refuse what the fit would refuse, and tell the rest."""
    found = _foreseen(wish)
    if as_json:
        print_json(**_plain(wish, found))
        return
    console.print(Panel("\n".join(map(escape, _lines(wish, found))), title="What would be done"))


def _foreseen(wish: Wish) -> Foreseen:
    require_all_writable(wish)
    counted = count(wish)
    design = design_ahead(wish, counted)
    _require_room(wish, design)
    try:
        return Foreseen(counted, design, plan_ahead(wish, counted, Public.USUAL_NUMBER))
    except ParameterError as error:  # "auto" components have no plan, say
        return Foreseen(counted, design, None, str(error))


def _require_room(wish: Wish, design: Design) -> None:
    """Refuse what the ledger would refuse; a fit would ask for an approval here, and enter that."""
    address = wish.parameters["ledger"]
    check_ledger(address, seeded=wish.parameters["random_state"] is not None)
    if address is not None:
        ledger, dataset = open_account(address)
        note = Note(who=wish.who, purpose=wish.purpose)
        ledger.require(dataset, design.debit, protected=protected_by(wish), note=note)


def _lines(wish: Wish, found: Foreseen) -> list[str]:
    guarantee = promise_ahead(found.design, entered=wish.parameters["ledger"] is not None)
    steps = [type(step).__name__ for step in found.design.steps if step.events]
    told = [found.plan.budget, *found.plan.sentences] if found.plan else []
    return [
        f"{_size(wish, found)}: {guarantee}",
        f"Steps: {', '.join(steps)}.",
        words.told(guarantee).replace("\N{NO-BREAK SPACE}", " ") if guarantee.protects else "",
        "",
        *map(in_options, told),
        *([f"No plan: {in_options(found.why_not)}"] if found.why_not else []),
        "Nothing was spent and nothing was written.",
    ]


def _size(wish: Wish, found: Foreseen) -> str:
    columns = counted(found.counted.n_features, "column")
    if found.counted.n_samples is None:
        return f"{columns}, a secret number of {found.design.public.those}"
    return f"{counted(found.counted.n_samples, str(protected_by(wish).unit))}, {columns}"


def _plain(wish: Wish, found: Foreseen) -> dict[str, Any]:
    protected = protected_by(wish)
    return {
        "dry_run": True,
        "unit": str(protected.unit),
        "neighbors": str(protected.neighbors),
        "n_samples": found.counted.n_samples,
        "n_features": found.counted.n_features,
        "epsilon": "infinity" if found.design.noiseless else found.design.epsilon,
        "delta": found.design.delta,
        "steps": [type(step).__name__ for step in found.design.steps if step.events],
        "debit": [event_to_dict(event) for event in found.design.debit],
        "plan": None if found.plan is None else found.plan.to_dict(),
        "spent": False,
    }
