"""Columns: what each one means, written down without looking at the data, and saved."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from gdppca._errors import GdppcaError, ParameterError
from gdppca.tables.description import TYPES, Description
from gdppca.tables.formats import declared_columns
from gdppca.tables.names import doubtful_names
from gdppca.web import forms
from gdppca.web.answers import Asked, go, show
from gdppca.web.drafts import Draft, Typed, stamp_of
from gdppca.web.pages.table import template_of
from gdppca.web.running import Job, Stage


def page(asked: Asked) -> Response:
    """A form with a part for each column."""
    draft = asked.draft
    if draft.frozen or not draft.open_to("columns"):
        return go(f"/d/{draft.id}/{'result' if draft.frozen else draft.reached}")
    problems: list[str] = []
    _read_again(draft)
    if asked.posted:
        draft.typed["columns"] = dict(asked.form)
        try:
            _save(asked, draft)
            return go(f"/d/{draft.id}/budget")
        except (GdppcaError, OSError) as error:
            problems = [asked.said(error)]
    counting = draft.counting
    if not problems and counting is not None and counting.stage is Stage.FAILED:
        problems = [asked.said(counting.problem)]
    return show(
        asked.bench,
        "columns.html.j2",
        step="columns",
        draft=draft,
        typed=_typed(draft),
        gone=_gone(draft),
        types=TYPES,
        doubts=dict(doubtful_names(draft.names)),
        save_as=_name(draft),
        problems=problems,
    )


def _typed(draft: Draft) -> Typed:
    """What was typed before, or a template from the header."""
    if "columns" not in draft.typed:
        draft.typed["columns"] = forms.typed_of(template_of(draft), draft.names)
    return draft.typed["columns"]


def _read_again(draft: Draft) -> None:
    """The header as it is now: the file may be another since it was chosen."""
    names = declared_columns(draft.file, Description(columns=(), **draft.dialect))
    if names == draft.names:
        return
    before = draft.typed.pop("columns", None)
    draft.names = names
    if draft.description is not None and before is not None:
        kept = {key: value for key, value in before.items() if "-" not in key}
        draft.typed["columns"] = kept | forms.typed_of(draft.description, names)


def _gone(draft: Draft) -> list[str]:
    """Columns that a description has and the table has no more."""
    described = draft.description.columns if draft.description else ()
    return [column.name for column in described if column.name not in draft.names]


def _name(draft: Draft) -> str:
    typed = draft.typed.get("columns", {}).get("save_as", "")
    return typed or f"{draft.file.name.split('.')[0] or 'table'}.toml"


def _save(asked: Asked, draft: Draft) -> None:
    """Write the description, and have the rows counted as it says."""
    typed = draft.typed["columns"]
    told = forms.described(draft, typed)
    file = asked.bench.folder.new(_name(draft), ".toml")
    _require_free(asked, draft, file)
    told.save(file)
    draft.description, draft.saved = told, file
    draft.gaps_allowed = forms.text(typed, "gaps") == "rates"
    draft.restart("columns")
    start_counting(draft)


def _require_free(asked: Asked, draft: Draft, file: Path) -> None:
    """Do not write over what somebody else wrote down."""
    own = draft.typed.get("table", {}).get("description", "")
    mine = file == draft.saved or (own and file == asked.bench.folder.path(own))
    if file.exists() and not mine and not forms.text(draft.typed["columns"], "replace"):
        raise ParameterError(
            f"'{file.name}' exists already, and somebody may have filled it in. Choose another "
            "name, or tick that it may be replaced."
        )


def start_counting(draft: Draft) -> None:
    """Open the table as the fit will, aside; what cannot be read is told before any budget."""
    draft.stamp = stamp_of(draft.file)
    draft.counting = Job("count", draft.wish(None)).start()
