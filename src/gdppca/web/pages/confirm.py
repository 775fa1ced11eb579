"""Confirm: the exact promise and debit, what does the same elsewhere, and one button."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from gdppca._errors import GdppcaError
from gdppca.jobs.ahead import design_ahead, promise_ahead
from gdppca.jobs.spelling import command_line, python
from gdppca.ledgers.address import without_password
from gdppca.privacy import Event, words
from gdppca.privacy.words import noise_in_words, purpose_in_words
from gdppca.web.answers import Asked, go, show
from gdppca.web.drafts import Draft
from gdppca.web.guard import new_token
from gdppca.web.pages.budget import wait_for_count
from gdppca.web.words import in_fields


def page(asked: Asked) -> Response:
    """What will happen, and a token for it that works once."""
    draft = asked.draft
    if draft.frozen or not draft.open_to("confirm"):
        return go(f"/d/{draft.id}/{'result' if draft.frozen else draft.reached}")
    waiting = wait_for_count(asked, draft)
    return waiting if waiting is not None else _shown(asked, draft, [])


def spend(asked: Asked) -> Response:
    """Start the fit, once for each token; whoever comes later is shown what became of it."""
    draft = asked.draft
    try:
        started = asked.bench.spend(draft, asked.form.get("token", ""), address(asked, draft))
    except GdppcaError as error:
        waiting = wait_for_count(asked, draft)
        return _shown(asked, draft, [asked.said(error)]) if waiting is None else waiting
    if started is None and not draft.frozen:
        return go(f"/d/{draft.id}/confirm")
    return go(f"/d/{draft.id}/result")


def address(asked: Asked, draft: Draft) -> str | None:
    """Where the spend is entered."""
    if draft.practice or draft.budget is None or draft.budget.dataset is None:
        return None
    return asked.bench.books.at(draft.budget.dataset)


def _shown(asked: Asked, draft: Draft, problems: list[str]) -> Response:
    assert draft.counted is not None
    if draft.output is None or draft.output.exists():
        draft.output = asked.bench.free_name(draft)
    wish = draft.wish(address(asked, draft))
    try:
        design = design_ahead(wish, draft.counted)
        refused = _refused(asked, draft, design)
    except GdppcaError as error:
        draft.budget = None
        return show(
            asked.bench, "problem.html.j2", draft=draft, step="confirm",
            said=asked.said(error), back=f"/d/{draft.id}/budget",
        )  # fmt: skip
    with asked.bench.lock:
        draft.token = draft.token or new_token()
        draft.shown = wish
    promise = promise_ahead(design, entered=not draft.practice)
    return show(
        asked.bench,
        "confirm.html.j2",
        step="confirm",
        draft=draft,
        promise=promise,
        headline=words.headline(promise),
        told=words.told(promise),
        events=_debited(design.debit),
        doubts=[in_fields(doubt) for doubt in design.doubts],
        refused=refused,
        command=_hidden(command_line(wish), wish),
        python=_hidden(python(wish), wish),
        problems=problems,
        failed=draft.job if draft.job is not None and draft.job.over else None,
    )


def _debited(events: tuple[Event, ...]) -> list[tuple[str, str]]:
    """What is drawn for what, and with how much noise."""
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(event.purpose, []).append(event)
    return [(purpose_in_words(purpose), noise_in_words(all_)) for purpose, all_ in groups.items()]


def _refused(asked: Asked, draft: Draft, design: Any) -> str:
    """Why the register would refuse now."""
    if draft.practice or draft.budget is None or draft.budget.dataset is None:
        return ""
    books = asked.bench.books
    return in_fields(books.refusal(draft.budget, design.debit, draft.protected))


def _hidden(text: str, wish: Any) -> str:
    """The same without a password."""
    ledger = wish.parameters.get("ledger")
    return text if ledger is None else text.replace(ledger, without_password(ledger))
