"""From a request to a page: what was asked, templates, and what is said where that fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gdppca import _words
from gdppca._errors import DescriptionError, GdppcaError
from gdppca._version import __version__
from gdppca.web import words
from gdppca.web.bench import Bench
from gdppca.web.drafts import STEPS, Draft
from gdppca.web.guard import same

if TYPE_CHECKING:
    from jinja2 import Environment

_LARGEST_FORM = 4 * 2**20  # bytes: thousands of columns
TITLES = {
    "table": "Table",
    "people": "Who is protected",
    "columns": "Columns",
    "budget": "Budget",
    "confirm": "Confirm",
    "result": "Result",
    "publish": "Publish",
}


@dataclass(frozen=True)
class Asked:
    """A request as pages see it."""

    bench: Bench
    method: str
    place: dict[str, str]  # parts of the path
    query: dict[str, str]
    form: dict[str, str] = field(default_factory=dict)
    every: dict[str, list[str]] = field(default_factory=dict)  # fields that stand several times

    @property
    def posted(self) -> bool:
        """Whether a form was sent."""
        return self.method == "POST"

    def said(self, error: Exception | str) -> str:
        """What is wrong, in the words of the pages; files by their names in the folder."""
        text = str(error)
        if isinstance(error, OSError) and not isinstance(error, GdppcaError):
            named = f": {error.filename}" if error.filename else ""
            text = f"{error.strerror or 'A file could not be read'}{named}."
        for folder in (self.bench.folder, self.bench.practice):
            text = text.replace(f"{folder.root}/", "")
        # Of a description's file it is about keys, which some fields are called as.
        if isinstance(error, DescriptionError) and error.file is not None:
            return text
        return words.in_fields(text)

    @property
    def draft(self) -> Draft:
        """The draft that the path names."""
        return self.bench.draft(self.place["id"])


Page = Callable[[Asked], Response]


def endpoint(page: Page) -> Callable[[Request], Awaitable[Response]]:
    """A page as Starlette calls it: the form is read and its token checked, then it works aside."""

    @wraps(page)
    async def answer(request: Request) -> Response:
        bench: Bench = request.app.state.bench
        pairs = await _pairs(request)
        if pairs is None or (
            request.method == "POST" and not same(dict(pairs).get("csrf"), bench.keys.form)
        ):
            return await run_in_threadpool(
                problem, bench, "This form is out of date. Go back, load the page again, and send."
            )
        every: dict[str, list[str]] = {}
        for name, value in pairs:
            every.setdefault(name, []).append(value)
        asked = Asked(
            bench,
            request.method,
            dict(request.path_params),
            dict(request.query_params),
            dict(pairs),
            every,
        )
        return await run_in_threadpool(_answered, page, asked)

    return answer


async def _pairs(request: Request) -> list[tuple[str, str]] | None:
    """Fields of a form; None where it is too large or none."""
    if request.method != "POST":
        return []
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST_FORM:
            return None
    try:
        return parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100_000)
    except ValueError:
        return None


def _answered(page: Page, asked: Asked) -> Response:
    try:
        return page(asked)
    except (GdppcaError, OSError) as error:  # what a page did not expect itself
        return problem(asked.bench, asked.said(error))


def problem(bench: Bench, said: str, status: int = 400) -> Response:
    """A page that says what is wrong, where no other can."""
    return show(bench, "problem.html.j2", status=status, said=said)


def show(bench: Bench, template: str, *, status: int = 200, **facts: Any) -> Response:
    """A page."""
    return HTMLResponse(rendered(bench, template, **facts), status_code=status)


def rendered(bench: Bench, template: str, **facts: Any) -> str:
    """A template with what all pages know."""
    shared = {
        "csrf": bench.keys.form,
        "bench": bench,
        "version": __version__,
        "titles": TITLES,
        "labels": words.LABELS,
        "problems": [],
        "draft": None,
        "step": "",
        "steps": [],
    }
    draft: Draft | None = facts.get("draft")
    if draft is not None and facts.get("step"):
        shared["steps"] = _way_of(draft, facts["step"])
    return _environment().get_template(template).render(shared | facts)


def way(here: str, links: dict[str, str]) -> list[dict[str, Any]]:
    """The steps, those that may be gone to with their addresses."""
    return [
        {
            "title": TITLES[name],
            "here": name == here,
            "link": links.get(name, "") if name != here else "",
            "done": STEPS.index(name) < STEPS.index(here),
        }
        for name in STEPS
    ]


def _way_of(draft: Draft, here: str) -> list[dict[str, Any]]:
    """The steps of a draft; where something was spent there is no way back."""
    ready = [name for name in STEPS[1:] if draft.open_to(name) and not draft.frozen]
    return way(here, {"table": "/"} | {name: f"/d/{draft.id}/{name}" for name in ready})


def go(path: str) -> Response:
    """Another page, to be asked for anew: a reload of it sends nothing."""
    return RedirectResponse(path, status_code=303)


def link(*parts: str) -> str:
    """A path whose parts may hold any sign."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("gdppca.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shared = (_words.counted, _words.listed, _words.percent, _words.plural, _words.capital)
    own = (words.degrees, words.quality, words.lasting, words.size, words.in_fields)
    environment.filters |= {each.__name__: each for each in (*shared, *own)}
    environment.filters["power"] = _words.power
    environment.globals["link"] = link
    return environment
