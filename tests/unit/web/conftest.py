"""A workbench of a small folder, asked without a network."""

import pytest

pytest.importorskip("starlette")

from functools import partial

from visitor import BUDGET, COLUMNS, HOSTILE, PERSONS, SECRET, WHO, Inside, Visitor

from gdppca.ledgers import Ledger
from gdppca.web.bench import Bench


@pytest.fixture
def folder(tmp_path, rng):
    """Visits of persons; a column with a hostile name, and a ward that no form knows."""
    place = tmp_path / "data"
    place.mkdir()
    rows = [f"who,age,{HOSTILE},ward"]
    for person in range(PERSONS):
        for _ in range(rng.integers(1, 4)):
            ward = SECRET if rng.random() < 0.02 else rng.choice(["a", "b"])
            rows.append(f"p{person},{rng.normal(50, 15):.1f},{rng.normal():.3f},{ward}")
    (place / "visits.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "outside.csv").write_text("a,b\n1,2\n")
    return place


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Jobs in threads, and ledgers that do not wait long for each other."""
    monkeypatch.setattr("gdppca.web.running.subprocess.Popen", Inside)
    monkeypatch.setattr("gdppca.jobs.worker.signal.signal", lambda *_: None)
    monkeypatch.setattr("gdppca.ledgers.debit.Ledger", partial(Ledger, timeout=0.5))


@pytest.fixture
def bench(folder):
    made = Bench.at(folder)
    yield made
    made.close()


@pytest.fixture
def visitor(bench):
    return Visitor(bench)


@pytest.fixture
def draft(visitor, bench):
    """A draft of the visits."""
    visitor.post("/", file="visits.csv", action="next")
    [made] = bench.drafts.values()
    return made


@pytest.fixture
def counted(visitor, draft):
    """The draft with its columns described and its persons counted."""
    visitor.post(f"/d/{draft.id}/people", **WHO)
    visitor.post(f"/d/{draft.id}/columns", **COLUMNS)
    visitor.wait(f"/d/{draft.id}/budget", "Reading the table")
    return draft


@pytest.fixture
def confirmed(visitor, counted):
    """The draft with a cap and a budget."""
    visitor.post(f"/d/{counted.id}/budget", action="create", new_dataset="visits", cap="5")
    visitor.post(f"/d/{counted.id}/budget", action="next", **BUDGET)
    return counted
