"""Practice: the same way on made-up rows with the same columns; nothing is spent."""

from __future__ import annotations

from starlette.responses import Response

from gdppca._errors import GdppcaError, ParameterError
from gdppca.jobs.practice import write_practice
from gdppca.privacy import Neighbors, Unit
from gdppca.tables.description import Description
from gdppca.web import forms
from gdppca.web.answers import Asked, go, show
from gdppca.web.drafts import SEED, Draft
from gdppca.web.pages.columns import start_counting

_USUAL, _MOST = 2000, 200_000


def page(asked: Asked) -> Response:
    """Which description, and how many people are made up."""
    problems: list[str] = []
    if asked.posted:
        try:
            return go(f"/d/{_made(asked).id}/budget")
        except (GdppcaError, OSError) as error:
            problems = [asked.said(error)]
    return show(
        asked.bench,
        "practice.html.j2",
        descriptions=asked.bench.folder.descriptions(),
        typed=asked.form if asked.posted else asked.query,
        usual=_USUAL,
        problems=problems,
    )


def _made(asked: Asked) -> Draft:
    name = forms.text(asked.form, "description")
    if not name:
        raise ParameterError("Choose a description.")
    told = Description.load(asked.bench.folder.existing(name))
    n = forms.whole(asked.form, "n", "How many people", 10) or _USUAL
    if n > _MOST:
        raise ParameterError(f"“How many people” must be at most {_MOST:,} here.")
    id = asked.bench.new_id()
    folder = asked.bench.practice.root / id
    folder.mkdir()
    made = write_practice(told, n, folder, SEED)
    stem = name.rpartition("/")[2].removesuffix(".toml")
    draft = Draft(
        id=id,
        name=f"practice-{stem}",
        file=made.file,
        practice=True,
        names=dict.fromkeys(made.names, ""),
        unit=Unit.ROW if told.person is None else Unit.PERSON,
        person=told.person,
        neighbors=Neighbors.REPLACE_ONE,
        description=made.description,
        saved=made.table,
        gaps_allowed=True,
    )
    start_counting(draft)
    return asked.bench.add(draft)
