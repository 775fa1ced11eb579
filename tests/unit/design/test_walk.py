"""One row on its way from a file to a release: nothing is done twice."""

import sys
import threading
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from gdppca import DPPCA
from gdppca.cli.main import app

CONVERSIONS = ("as_matrix", "matrix_of")  # of a table in memory, of what a file held
ONCE = {
    **dict.fromkeys(CONVERSIONS, "tables/frames.py"),
    "all_finite": "kernels/sums.py",  # the finite check
    "checksum": "releases/files.py",  # the release's hash
    "design_of": "design/parameters.py",  # the design
    "multiplier_left": "privacy/accounting.py",  # its noise
    "enter": "ledgers/debit.py",
}

EACH_ONCE = dict.fromkeys(["conversion", *(set(ONCE) - set(CONVERSIONS))], 1)


@pytest.fixture
def calls():
    """How often each of these was called, in any thread."""
    seen = Counter()

    def watch(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.endswith(ONCE.get(code.co_name, "nowhere")):
            seen["conversion" if code.co_name in CONVERSIONS else code.co_name] += 1

    sys.setprofile(watch)
    threading.setprofile(watch)
    yield seen
    sys.setprofile(None)
    threading.setprofile(None)


@pytest.fixture
def file(tmp_path):
    X = np.random.default_rng(0).normal(size=(3000, 4)) * [9, 3, 1, 1]
    np.savetxt(tmp_path / "d.csv", X, delimiter=",", header="a,b,c,d", comments="")
    return tmp_path / "d.csv"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("more", [[], ["--variances", "0.1", "--score-map", "0.2"]], ids=str)
def test_from_the_command_line_to_the_report(file, calls, more):
    folder = file.parent
    written = ["--output", str(folder / "r.json"), "--report", str(folder / "r.html")]
    outcome = CliRunner().invoke(app, ["fit", str(file), *written, *more])
    assert outcome.exit_code == 0, outcome.output
    assert calls == EACH_ONCE


@pytest.mark.filterwarnings("ignore")
def test_in_memory(calls):
    pca = DPPCA(2, scale="private").fit(np.random.default_rng(1).normal(size=(4000, 3)))
    assert pca.release_.checksum == pca.release_.to_dict()["checksum"]
    assert calls == EACH_ONCE
