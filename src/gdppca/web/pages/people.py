"""Who is protected: a row or a person, replaced or added and removed."""

from __future__ import annotations

from starlette.responses import Response

from gdppca.privacy import Neighbors, Unit
from gdppca.tables.names import ID, doubtful_names
from gdppca.web import forms
from gdppca.web.answers import Asked, go, show


def page(asked: Asked) -> Response:
    """Two questions that are empty until somebody answers them."""
    draft = asked.draft
    if draft.frozen:
        return go(f"/d/{draft.id}/result")
    ids = [name for name, kind in doubtful_names(draft.names) if kind == ID]
    problems: list[str] = []
    if asked.posted:
        draft.typed["people"] = dict(asked.form)
        problems = _answered(asked)
        if not problems:
            return go(f"/d/{draft.id}/columns")
    return show(
        asked.bench,
        "people.html.j2",
        step="people",
        draft=draft,
        typed=draft.typed.get("people", {}),
        ids=ids,
        problems=problems,
    )


def _answered(asked: Asked) -> list[str]:
    draft, typed = asked.draft, asked.form
    unit, neighbors = forms.text(typed, "unit"), forms.text(typed, "neighbors")
    person = typed.get("person") or None
    problems = []
    if unit not in tuple(Unit):
        problems.append("Say whether each row is a person of its own, or a person has several.")
    if neighbors not in tuple(Neighbors):
        problems.append("Say what may differ between two tables that must look alike.")
    if unit == Unit.PERSON and person not in draft.names:
        problems.append("Choose the column that says whose a row is.")
    if problems:
        return problems
    person = person if unit == Unit.PERSON else None
    chosen = (Unit(unit), person, Neighbors(neighbors))
    if chosen != (draft.unit, draft.person, draft.neighbors):
        draft.restart("people")
        draft.budget = None
    draft.unit, draft.person, draft.neighbors = chosen
    return []
