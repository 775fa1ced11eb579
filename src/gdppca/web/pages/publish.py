"""Publish: files to hand on, made from the release alone."""

from __future__ import annotations

from dataclasses import fields

from starlette.responses import Response

from gdppca._errors import GdppcaError
from gdppca.report import Owner
from gdppca.web import forms, parcel
from gdppca.web.answers import Asked, show
from gdppca.web.bench import PRACTICE
from gdppca.web.pages.result import way_of

OWNED = {
    "name": "Name of what is published",
    "curators": "Who publishes it",
    "region": "Where the people live",
    "intended_use": "What it is for",
    "publication_date": "Day of publication, as 2025-12-31",
}
_ABOUT = {
    "release.json": "The release itself: every number, with its promise. Other programs read this.",
    "report.html": "A page for people: promise, findings, what it rests on. To be forwarded.",
    "table.toml": "What was said of the columns. It is public.",
    "notebook.ipynb": "A notebook that reads the release and draws it.",
    "spectrum-and-loadings.png": "Picture of the spectrum and the loadings.",
    "spectrum-and-loadings.pdf": "The same for print.",
    "biplot.png": "Picture of the loadings as arrows.",
    "biplot.pdf": "The same for print.",
    "map.png": "Picture of where people lie.",
    "map.pdf": "The same for print.",
}


def page(asked: Asked) -> Response:
    """What there is to hand on."""
    where, name = asked.place["where"], asked.place["name"]
    problems: list[str] = []
    release = asked.bench.release(where, name)
    try:
        owner = owner_of(asked)
    except GdppcaError as error:
        owner, problems = Owner(), [asked.said(error)]
    made = parcel.parts(release, b"", owner)
    return show(
        asked.bench,
        "publish.html.j2",
        step="publish",
        where=where,
        name=name,
        release=release,
        files=[(file, _ABOUT.get(file, "")) for file in made],
        owned=OWNED,
        typed=asked.query,
        asked={key: asked.query[key] for key in OWNED if asked.query.get(key)},
        steps=way_of(where, name, "publish"),
        problems=problems,
    )


def file(asked: Asked) -> Response:
    """One file, or all of them in one."""
    where, name, wanted = (asked.place[part] for part in ("where", "name", "file"))
    release = asked.bench.release(where, name)
    written = asked.bench.shelf(where).existing(name).read_bytes()
    made = parcel.parts(release, written, owner_of(asked))
    mark = "practice-" if where == PRACTICE else ""
    stem = name.rpartition("/")[2].removesuffix(".json")
    if wanted == "all.zip":
        return _saved(f"{mark}{stem}.zip", parcel.archive(made))
    return _saved(f"{mark}{wanted}", parcel.one(wanted, made))


def owner_of(asked: Asked) -> Owner:
    """What the data owner says, as far as something was typed."""
    known = {field.name for field in fields(Owner)}
    typed = {key: forms.text(asked.query, key) for key in OWNED if key in known}
    said_of_it: dict[str, object] = {key: value for key, value in typed.items() if value}
    if "curators" in said_of_it:
        said_of_it["curators"] = forms.listed(typed["curators"])
    return Owner(**said_of_it)  # type: ignore[arg-type]


def _saved(name: str, content: bytes) -> Response:
    ending = name.rpartition(".")[2]
    plain = "".join(letter if letter.isascii() and letter not in '"\\' else "_" for letter in name)
    return Response(
        content,
        media_type=parcel.TYPES[ending],
        headers={"Content-Disposition": f'attachment; filename="{plain}"'},
    )
