"""The addresses of the pages."""

from __future__ import annotations

from importlib.resources import files

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gdppca.web.answers import Page, endpoint, problem
from gdppca.web.bench import Bench
from gdppca.web.guard import Guard
from gdppca.web.pages import (
    budget,
    columns,
    confirm,
    history,
    people,
    practice,
    publish,
    result,
    table,
)

_BOTH, _GET, _POST = ("GET", "POST"), ("GET",), ("POST",)
_STATIC = {
    "workbench.css": "text/css; charset=utf-8",
    "workbench.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_PAGES: tuple[tuple[str, tuple[str, ...], Page], ...] = (
    ("/", _BOTH, table.page),
    ("/d/{id}/people", _BOTH, people.page),
    ("/d/{id}/columns", _BOTH, columns.page),
    ("/d/{id}/budget", _BOTH, budget.page),
    ("/d/{id}/forecast", _GET, budget.preview),
    ("/d/{id}/confirm", _GET, confirm.page),
    ("/d/{id}/spend", _POST, confirm.spend),
    ("/d/{id}/result", _GET, result.under_way),
    ("/d/{id}/progress", _GET, result.progress),
    ("/d/{id}/cancel", _POST, result.cancel),
    ("/d/{id}/again", _POST, result.again),
    ("/release/{where}/{name:path}/publish", _GET, publish.page),
    ("/release/{where}/{name:path}/file/{file}", _GET, publish.file),
    ("/release/{where}/{name:path}", _GET, result.page),
    ("/history", _GET, history.page),
    ("/merge", _POST, history.merge),
    ("/practice", _BOTH, practice.page),
)


def make_app(bench: Bench, hosts: tuple[str, ...]) -> Guard:
    """The workbench as a server runs it: pages behind a guard."""
    routes = [Route(path, endpoint(page), methods=list(how)) for path, how, page in _PAGES]
    app = Starlette(
        routes=[*routes, Route("/static/{name}", _static)],
        exception_handlers={404: _missing, 405: _missing, 500: _broken},
    )
    app.state.bench = bench
    return Guard(app, bench.keys, hosts)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return PlainTextResponse("There is no such file.", status_code=404)
    content = files("gdppca.web").joinpath("static", name).read_bytes()
    return Response(content, media_type=_STATIC[name])


async def _missing(request: Request, error: Exception) -> Response:
    return problem(request.app.state.bench, "There is no such page.", status=404)


async def _broken(request: Request, error: Exception) -> Response:
    """Say that something went wrong, and not what: it may hold a cell."""
    said = (
        f"Something went wrong that nobody foresaw ({type(error).__name__}). "
        "History shows what was spent."
    )
    return problem(request.app.state.bench, said, status=500)
