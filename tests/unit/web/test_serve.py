"""How the workbench is started, and what keeps it from starting."""

import socket
import sys

import pytest
from typer.testing import CliRunner

from gdppca import ParameterError
from gdppca.cli.main import app
from gdppca.web import serve
from gdppca.web.bench import Bench


def run(*words):
    return CliRunner().invoke(app, ["web", *map(str, words), "--no-browser"])


def test_a_port_in_use_is_said(tmp_path):
    with socket.socket() as taken:
        taken.bind((serve.LOCAL, 0))
        taken.listen()
        number = taken.getsockname()[1]
        told = run(tmp_path, "--port", number)
    assert told.exit_code != 0
    assert f"{number} cannot be used" in " ".join(told.output.split())


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(ParameterError, match="between 0 and 65535"):
        serve.listening(port)


def test_only_this_machine_is_listened_to():
    with serve.listening(0) as heard:
        assert heard.getsockname()[0] == "127.0.0.1"
        assert heard.getsockname()[1] > 0


def test_a_folder_that_is_not_there_is_said(tmp_path):
    told = run(tmp_path / "missing")
    assert told.exit_code != 0
    assert "a folder that is there" in " ".join(told.output.split())


@pytest.mark.parametrize("package", ["uvicorn", "starlette"])
def test_a_missing_extra_is_named(tmp_path, monkeypatch, package):
    for name in [name for name in sys.modules if name.startswith(("gdppca.web.app", package))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    told = run(tmp_path)
    assert told.exit_code != 0
    assert "pip install 'gdppca[web]'" in " ".join(told.output.split())


def test_the_address_holds_the_token_and_the_browser_is_opened_with_it(tmp_path, monkeypatch):
    opened, said, served = [], [], []
    monkeypatch.setattr(serve.webbrowser, "open", opened.append)
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: served.extend(sockets))
    serve.serve(tmp_path, port=0, browser=True, ledger=None, tell=said.append)
    [address] = opened
    assert address.startswith("http://127.0.0.1:")
    assert len(address.partition("token=")[2]) == 64
    assert address in said[0]
    assert served


@pytest.mark.parametrize(
    ("given", "used"),
    [
        (None, "sqlite:///{folder}/budget.db"),
        ("sqlite:///other.db#one", "sqlite:///{here}/other.db"),
        ("postgresql://u:secret@host/db", "postgresql://u:secret@host/db"),
    ],
)
def test_ledgers_are_the_same_wherever_a_job_runs(tmp_path, monkeypatch, given, used):
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    bench = Bench.at(tmp_path / "data", given)
    assert bench.books.address == used.format(folder=tmp_path / "data", here=tmp_path)
    assert "secret" not in bench.books.shown
    assert bench.books.only == ("one" if given and "#" in given else None)
    bench.close()
    assert not bench.practice.root.exists()
