"""Budget: how much is spent on what, and what it buys, before anything is spent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from gdppca._errors import GdppcaError, ParameterError
from gdppca.jobs.ahead import delta_for, design_ahead, plan_ahead, promise_ahead
from gdppca.planning import Plan
from gdppca.privacy import Guarantee, words
from gdppca.privacy.words import belief_after, chance_of_more
from gdppca.web import forms
from gdppca.web.answers import Asked, go, show
from gdppca.web.drafts import Budget, Draft, Typed
from gdppca.web.pages.columns import start_counting
from gdppca.web.running import Stage
from gdppca.web.words import in_fields

GUESS = 0.1  # about a person, before the release
_USUAL_EPSILON, _MOST_COMPONENTS = 1.0, 2


def page(asked: Asked) -> Response:
    """The form, with a forecast beside it; while rows are counted, a page that says so."""
    draft = asked.draft
    if draft.frozen or not draft.open_to("budget"):
        return go(f"/d/{draft.id}/{'result' if draft.frozen else draft.reached}")
    waiting = wait_for_count(asked, draft)
    if waiting is not None:
        return waiting
    usual = usual_budget(asked, draft)
    typed = dict(asked.form) if asked.posted else draft.typed.get("budget", {})
    problems: list[str] = []
    if asked.posted:
        draft.typed["budget"] = typed
        try:
            chosen = _sent(asked, draft, typed, usual)
            if chosen is not None:
                return chosen
        except (GdppcaError, OSError) as error:
            problems = [asked.said(error)]
    return show(
        asked.bench,
        "budget.html.j2",
        step="budget",
        draft=draft,
        typed=typed or typed_of(usual),
        usual=usual,
        accounts=_accounts(asked, draft, problems),
        forecast=forecast(asked, draft, typed, usual),
        unused=[name for name in draft.names if name != draft.person and not _used(draft, name)],
        problems=problems,
    )


def preview(asked: Asked) -> Response:
    """The forecast alone, for the script that keeps it up to date."""
    draft = asked.draft
    if draft.counted is None or draft.frozen:
        raise ParameterError("The forecast is not ready.")
    found = forecast(asked, draft, asked.query, usual_budget(asked, draft))
    return show(asked.bench, "forecast.html.j2", draft=draft, forecast=found)


def wait_for_count(asked: Asked, draft: Draft) -> Response | None:
    """A page until the table was counted; back to the columns where that failed."""
    job = draft.counting
    if job is None or draft.changed:
        start_counting(draft)  # the table is another than it was
        job = draft.counting
    assert job is not None
    job.wait(0.2)
    if job.stage is Stage.FAILED:
        return go(f"/d/{draft.id}/columns")
    if not job.over:
        return show(asked.bench, "counting.html.j2", step="budget", draft=draft, job=job)
    return None


def usual_budget(asked: Asked, draft: Draft) -> Budget:
    """What to begin with: δ from the number of people, scales where they can be had."""
    assert draft.counted is not None
    if draft.budget is not None:
        return draft.budget
    n, d = draft.counted.n_samples, draft.counted.n_features
    accounts = [] if draft.practice else asked.bench.books.accounts(draft.protected)
    cap = min((account.cap.delta for account in accounts), default=1.0)
    usual = Budget(
        epsilon=_USUAL_EPSILON,
        delta=min(delta_for(n or 10**4), cap),
        components=min(d, _MOST_COMPONENTS),
        scales=_wants_scales(draft),
        dataset=accounts[-1].dataset if accounts else None,
    )
    try:
        _require_won(draft, usual)
    except GdppcaError:  # too few people for private scales, say
        return replace(usual, scales=False)
    return usual


def _wants_scales(draft: Draft) -> bool:
    """Whether columns are in units that cannot be compared."""
    columns = draft.description.columns if draft.description else ()
    return len([column for column in columns if column.type in ("number", "date")]) > 1


def typed_of(budget: Budget) -> Typed:
    """What would have been typed for a budget."""
    column, _, names = (budget.groups or "").partition("=")
    across, _, up = (budget.axes or "1,2").partition(",")
    typed = {
        "epsilon": f"{budget.epsilon:g}",
        "delta": f"{budget.delta:g}",
        "components": f"{budget.components}",
        "scales": "yes" if budget.scales else "",
        "scale_share": f"{100 * budget.scale_share:g}",
        "variances": f"{100 * budget.variances:g}",
        "score_map": f"{100 * budget.score_map:g}",
        "map_across": across,
        "map_up": up,
        "group_column": column,
        "group_names": names,
        "gaps": f"{100 * budget.gaps:g}",
        "dataset": budget.dataset or "",
        "who": budget.who or "",
        "purpose": budget.purpose or "",
    }
    return typed | ({"guess": f"{budget.guess}"} if budget.guess else {})


def _sent(asked: Asked, draft: Draft, typed: Typed, usual: Budget) -> Response | None:
    """Do what the button says: make a cap, show the forecast anew, or go on."""
    action = typed.get("action")
    if action == "create":
        name = forms.text(typed, "new_dataset")
        cap = forms.number(typed, "cap", "Cap ε")
        if not name or cap is None:
            raise ParameterError("A new line of the register needs a name and a cap.")
        delta = forms.number(typed, "cap_delta", "Cap δ") or usual.delta
        asked.bench.books.create(name, cap, delta, draft.protected)
        draft.typed["budget"] = typed | {"dataset": name}
        draft.restart("budget")
        return go(f"/d/{draft.id}/budget#register")
    chosen = forms.budget(draft, typed, usual=usual)
    if action != "next":
        return None
    if not draft.practice and chosen.dataset is None:
        raise ParameterError("Choose where the spend is entered: a line of the register.")
    _require_won(draft, chosen)
    draft.budget = chosen
    draft.restart("budget")
    return go(f"/d/{draft.id}/confirm")


def _require_won(draft: Draft, budget: Budget) -> None:
    """Refuse what the fit would refuse: a step whose noise would win."""
    assert draft.counted is not None
    design = design_ahead(_with(draft, budget).wish(None), draft.counted)
    for lost in design.lost if draft.counted.n_samples is not None else ():
        raise ParameterError(lost)


def _with(draft: Draft, budget: Budget) -> Draft:
    other = draft.again(draft.id)
    other.budget = budget
    return other


def forecast(asked: Asked, draft: Draft, typed: Any, usual: Budget) -> dict[str, Any]:
    """What a budget buys and costs, or why it cannot be told."""
    counted = draft.counted
    assert counted is not None
    try:
        budget = forms.budget(draft, dict(typed), usual=usual) if typed else usual
        if draft.secret_size and budget.guess is None:
            return {"why": f"Say about how many {draft.those} there are, and press Update."}
        wish = _with(draft, budget).wish(None)
        design = design_ahead(wish, counted)
        promise = promise_ahead(design, entered=not draft.practice)
        plan = plan_ahead(wish, counted, budget.guess or 0, budget.gaps)
    except GdppcaError as error:
        return {"why": asked.said(error)}
    return {
        "why": "",
        "budget": budget,
        "plan": plan,
        "sentences": [in_fields(sentence) for sentence in _sentences(plan)],
        "refusals": [in_fields(lost) for lost in design.lost] if counted.n_samples else [],
        "components": list(enumerate(plan.per_component, start=1)),
        **_guess(promise),
        **({} if draft.practice else _standing(asked, draft, budget, design.debit)),
    }


def _sentences(plan: Plan) -> list[str]:
    return [plan.budget, *plan.doubts, f"This is for {plan.spectrum.words}."]


def _guess(promise: Guarantee) -> dict[str, Any]:
    """What a guess about a person can become."""
    exceeded = chance_of_more(promise)
    times = promise.odds_factor(exceeded)
    return {
        "odds": words.rise(promise),
        "before": GUESS,
        "after": belief_after(GUESS, times)[1],
        "surely": words.surely(exceeded),
        "usually": belief_after(GUESS, promise.odds_factor(words.SELDOM))[1],
        "strength": words.strength(promise.epsilon),
    }


def _standing(asked: Asked, draft: Draft, budget: Budget, debit: Any) -> dict[str, Any]:
    """What the register has left."""
    if budget.dataset is None:
        return {"account": None}
    books = asked.bench.books
    try:
        account = books.account(budget.dataset)
    except GdppcaError as error:
        return {"account": None, "refused": asked.said(error)}
    return {
        "account": account,
        "refused": in_fields(books.refusal(budget, debit, draft.protected)),
    }


def _accounts(asked: Asked, draft: Draft, problems: list[str]) -> list[Any]:
    """Lines of the register about such a promise."""
    if draft.practice:
        return []
    try:
        return asked.bench.books.accounts(draft.protected)
    except GdppcaError as error:
        problems.append(asked.said(error))
        return []


def _used(draft: Draft, name: str) -> bool:
    return draft.description is not None and name in [c.name for c in draft.description.columns]
