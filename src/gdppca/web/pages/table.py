"""Table: a file of the folder, how it is written, and what is known of it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from starlette.responses import Response

from gdppca._errors import GdppcaError, ParameterError
from gdppca.tables.describing import describe
from gdppca.tables.description import Description
from gdppca.tables.formats import declared_columns
from gdppca.tables.names import ID, doubtful_names
from gdppca.tables.wishes import Wishes
from gdppca.web import forms
from gdppca.web.answers import Asked, go, show, way
from gdppca.web.drafts import Draft, Typed

DIALECT = ("delimiter", "decimal", "thousands", "encoding", "skip", "sheet")


def page(asked: Asked) -> Response:
    """The files of the folder; the one that is chosen shows its columns."""
    if asked.posted:
        return _chosen(asked)
    name = asked.query.get("file", "")
    draft = next((d for d in asked.bench.drafts.values() if d.name == name), None)
    return _shown(asked, {"file": name} | (draft.typed.get("table", {}) if draft else {}))


def _chosen(asked: Asked) -> Response:
    typed = dict(asked.form)
    try:
        name = forms.text(typed, "file")
        if not name:
            raise ParameterError("Choose a table.")
        asked.bench.folder.existing(name)
        draft = asked.bench.draft_of(name)
        _read_header(asked, draft, typed)
    except (GdppcaError, OSError) as error:
        return _shown(asked, typed, [asked.said(error)])
    if typed.get("action") == "look":
        return _shown(asked, typed, preview=preview(draft))
    return go(f"/d/{draft.id}/people")


def _read_header(asked: Asked, draft: Draft, typed: Typed) -> None:
    """Names and declared types, and the description where one is named; no cell is read."""
    known = forms.text(typed, "description")
    dialect = forms.dialect(typed)
    told: Description | None = None
    if known:
        told = Description.load(asked.bench.folder.existing(known))
        written = {name: getattr(told, name) for name in DIALECT if getattr(told, name)}
        dialect = written | dialect
    names = declared_columns(draft.file, Description(columns=(), **dialect))
    if told is not None:
        told.require_columns_of(list(names), f"'{draft.name}'")
        Wishes(description=told).settled().features(list(names), f"'{draft.name}'")
    if (names, dialect) != (draft.names, draft.dialect) or told is not None:
        draft.restart("people")
        draft.typed.pop("columns", None)
    draft.names, draft.dialect = names, dialect
    draft.typed["table"] = typed
    if told is not None:
        draft.description = told
        draft.saved = None
        draft.typed["columns"] = forms.typed_of(told, names) | {"save_as": Path(known).name}
        if told.person:
            draft.typed.setdefault("people", {"unit": "person", "person": told.person})


def preview(draft: Draft) -> dict[str, Any]:
    """Names and types, never a cell."""
    kinds = dict(doubtful_names(draft.names))
    types = {"": "you will say", "text": "text", "number": "number", "yes-no": "yes or no"}
    rows = [
        (name, types.get(kind, kind), "looks like an id" if kinds.get(name) == ID else "")
        for name, kind in draft.names.items()
    ]
    return {"rows": rows, "total": len(draft.names)}


def _shown(asked: Asked, typed: Typed, problems: list[str] | None = None, **more: Any) -> Response:
    folder = asked.bench.folder
    tables = [_about(folder.root / name, name) for name in folder.tables()]
    return show(
        asked.bench,
        "table.html.j2",
        step="table",
        steps=way("table", {}),
        typed=typed,
        tables=tables,
        descriptions=folder.descriptions(),
        problems=problems or [],
        preview=more.get("preview"),
        open_drafts=[draft for draft in asked.bench.drafts.values() if draft.names],
    )


def _about(path: Path, name: str) -> dict[str, Any]:
    try:
        about = path.stat()
    except OSError:  # gone meanwhile
        return {"name": name, "size": 0, "changed": ""}
    changed = datetime.fromtimestamp(about.st_mtime).strftime("%Y-%m-%d %H:%M")
    return {"name": name, "size": about.st_size, "changed": changed}


def template_of(draft: Draft) -> Description:
    """A description to begin with, from names and declared types alone."""
    return describe(draft.file, person=draft.person, **draft.dialect)
