"""Start the workbench: a socket on this machine alone, an address with a token, a browser."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

from gdppca._errors import MissingExtraError, ParameterError

LOCAL = "127.0.0.1"
_EXTRA = "The workbench needs starlette and uvicorn: pip install 'gdppca[web]'."


def serve(
    folder: Path, *, port: int, browser: bool, ledger: str | None, tell: Callable[[str], None]
) -> None:
    """Serve the pages of a folder until it is interrupted."""
    try:
        import uvicorn

        from gdppca.web.app import make_app
        from gdppca.web.bench import Bench
    except ModuleNotFoundError:
        raise MissingExtraError(_EXTRA) from None
    bench = Bench.at(folder, ledger)
    with listening(port) as heard:
        number = heard.getsockname()[1]
        app = make_app(bench, (f"{LOCAL}:{number}", f"localhost:{number}"))
        address = f"http://{LOCAL}:{number}/start?token={bench.keys.token}"
        tell(f"The workbench of '{bench.folder.root}' is open at\n\n  {address}\n")
        tell("The address is secret: whoever has it can spend. Stop with Ctrl-C.")
        if browser:
            webbrowser.open(address)
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=False,
            lifespan="off",
        )
        try:
            uvicorn.Server(config).run(sockets=[heard])
        finally:
            bench.close()


def listening(port: int) -> socket.socket:
    """A socket that only this machine reaches; 0 takes a port that is free."""
    if not 0 <= port <= 65535:
        raise ParameterError(f"`port` must lie between 0 and 65535, got {port}.")
    heard = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        heard.bind((LOCAL, port))
        heard.listen(128)
    except OSError as error:
        heard.close()
        problem = error.strerror
    else:
        return heard
    raise ParameterError(
        f"`port` {port} cannot be used: {problem}. Give another, or 0 for one that is free."
    )
