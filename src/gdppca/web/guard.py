"""Who may ask: this machine, this browser, these pages. Everybody else is told nothing."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from gdppca.noise.bits import generator_for

Scope = dict[str, Any]
App = Callable[..., Awaitable[None]]

START = "/start"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # with none at all a browser would not name its origin
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_NO_KEY = (
    "This page opens with the address that gdppca web printed in the terminal, with its token. "
    "Open that address again."
)


def new_token() -> str:
    """256 secret bits."""
    return generator_for(None).bytes(32).hex()


class Keys:
    """The start token, and what follows from it: a cookie, and a token for forms."""

    def __init__(self, token: str | None = None) -> None:
        self.token = token or new_token()
        self.cookie = self._derived("cookie")
        self.form = self._derived("form")

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def same(given: str | None, true: str) -> bool:
    """Whether two tokens are the same, in a time that tells nothing."""
    return hmac.compare_digest((given or "").encode(), true.encode())


class Guard:
    """Checks host, cookie and origin of every request, and sends strict headers with answers."""

    def __init__(self, app: App, keys: Keys, hosts: tuple[str, ...]) -> None:
        self._app, self._keys, self._hosts = app, keys, hosts
        self._name = f"gdppca-{hosts[0].rpartition(':')[2]}"

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Refuse, exchange the start token for a cookie, or pass on."""
        if scope["type"] != "http":
            return

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._answer(Request(scope))
        await (self._app if answer is None else answer)(scope, receive, sent)

    def _answer(self, request: Request) -> Response | None:
        """What is said in place of a page; None where the page may answer."""
        if request.headers.getlist("host") not in [[host] for host in self._hosts]:
            return _refused("This address is not that of the workbench.")
        if request.url.path == START:
            return self._started(request)
        if not same(_cookie(request.headers, self._name), self._keys.cookie):
            return _refused(_NO_KEY)
        if request.method not in ("GET", "HEAD") and not self._from_here(request):
            return _refused("This form was not sent by a page of the workbench.")
        return None

    def _started(self, request: Request) -> Response:
        given = request.query_params.get("token")
        if request.method != "GET" or not same(given, self._keys.token):
            return _refused(_NO_KEY)
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self._name, self._keys.cookie, httponly=True, samesite="strict", path="/")
        return answer

    def _from_here(self, request: Request) -> bool:
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "same-origin")
        return origin == f"http://{request.headers['host']}" and site == "same-origin"


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return None if found is None else found.value


def _refused(why: str) -> Response:
    return PlainTextResponse(why, status_code=403)
