"""The checks of a storm find every fault that is planted."""

import math
import shutil
from dataclasses import replace

import numpy as np
import pytest
from faults.checks import epsilon, files, wrongs

from gdppca import DPPCA, Release, linalg
from gdppca.ledgers import Ledger
from gdppca.privacy import GaussianEvent
from gdppca.report import write_report

ROWS = np.random.default_rng(0).normal(size=(60, 3)) * [9, 3, 1]
FATES = {0: "done", 1: "done", 2: "killed", 3: "done", 4: "refused"}


@pytest.fixture
def address(tmp_path):
    address = f"sqlite:///{tmp_path}/budget.db"
    Ledger(address).create("patients", epsilon=0.1, delta=1e-6)
    return address


@pytest.fixture
def folder(address, tmp_path):
    """What a storm may leave: 0, 1 and 3 are done, 2 was killed while it saved, 4 was refused."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "table.csv").touch()
    for k in (0, 1, 2):
        fitted(k, address).save(folder / f"{k}.json")
    shutil.copy(folder / "2.json", folder / ".2.json.a_b1c2d3.tmp")
    (folder / "2.json").unlink()
    (folder / "0.html").write_text("<!DOCTYPE html>...</html>\n")
    (folder / "3.html").write_text("<!DOCTYPE html>...</html>\n")
    return folder


def fitted(k, address=None):
    ledger = address and f"{address}#patients"
    pca = DPPCA(epsilon=epsilon(k), location=None, loadings="plain", ledger=ledger)
    return pca.fit(ROWS).release_


def test_a_good_folder_has_no_wrongs(address, folder):
    assert wrongs(address, folder, FATES, ROWS) == []
    assert files(3) == {"3.html"}


def cut(folder, name):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])


def repeat_noise(folder):
    """Two releases that differ in the size of their noise alone."""
    one, other = fitted(0), fitted(1)
    exact = DPPCA(epsilon=math.inf, location=None).fit(ROWS).scatter_
    noise = (one.scatter - exact) / one.noise_sd
    one.save(folder / "0.json")
    matrix = exact + noise * other.noise_sd
    components = linalg.eigen_descending(matrix)[1][:, :2].T
    replace(other, scatter=matrix, components=components).save(folder / "1.json")


PLANTED = {
    "no entry": (lambda folder: fitted(7).save(folder / "7.json"), "Fit 7 was published with 0"),
    "no entry of a report": (
        lambda folder: write_report(fitted(6), folder / "6.html"),
        "Fit 6 was published with 0",
    ),
    "other budget": (lambda folder: fitted(40).save(folder / "1.json"), "spent more"),
    "torn release": (lambda folder: cut(folder, "0.json"), "0.json is torn"),
    "torn report": (lambda folder: cut(folder, "3.html"), "3.html is torn"),
    "empty report": (lambda folder: (folder / "3.html").write_bytes(b""), "3.html is torn"),
    "left over": (lambda folder: (folder / ".1.json.a_b1c2d3.tmp").touch(), "not killed"),
    "stranger": (lambda folder: (folder / "1.json.bak").touch(), "Nobody asked"),
    "visible copy": (lambda folder: (folder / "tmpa_b1c2d3").touch(), "Nobody asked"),
    "lost release": (lambda folder: (folder / "1.json").unlink(), "did not write all"),
    "refused": (lambda folder: fitted(4).save(folder / "4.json"), "was refused and did write"),
    "same noise": (repeat_noise, "the same noise"),
}


@pytest.mark.parametrize(("plant", "said"), PLANTED.values(), ids=PLANTED)
def test_a_planted_fault_is_found(plant, said, address, folder):
    plant(folder)
    fates = {**FATES, 6: "done", 7: "done"} if "Fit" in said else FATES
    assert [wrong for wrong in wrongs(address, folder, fates, ROWS) if said in wrong]


def test_a_release_without_its_completed_entry_is_found(address, folder):
    release = Release.load(folder / "0.json")
    [named] = release.entries

    def said(**changes):
        replace(release, **changes).save(folder / "0.json")
        return wrongs(address, folder, FATES, ROWS)

    assert said() == []
    assert "Release 0 has no completed entry." in said(plan={"n_samples": 60})
    assert "Release 0 names 0 entries of the ledger." in said(entries=())
    other = named._replace(hash="0" * 64)
    assert "Release 0 names an entry that is not there." in said(entries=(other,))


def test_a_fit_that_is_done_and_left_its_entry_reserved_is_found(address, folder, monkeypatch):
    register = Ledger.register
    monkeypatch.setattr(
        Ledger,
        "register",
        lambda *each: [replace(line, status="reserved") for line in register(*each)],
    )
    said = wrongs(address, folder, FATES, ROWS)
    assert "3 entries are reserved, and 2 fits of 3 are done." in said


def test_a_broken_cap_is_found(address, folder, monkeypatch):
    monkeypatch.setattr("gdppca.privacy.spending.Spending.fits", lambda *_: True)
    Ledger(address).spend("patients", GaussianEvent(purpose="greed", noise_multiplier=5.0))
    said = wrongs(address, folder, FATES, ROWS)
    assert len([wrong for wrong in said if "over the cap" in wrong]) == 2
    monkeypatch.undo()
    assert "cap" in wrongs(address, folder, FATES, ROWS)[0]  # by `verify`


def test_releases_over_the_cap_are_found(address, folder):
    for k in (0, 1):
        fitted(400).save(folder / f"{k}.json")
    said = wrongs(address, folder, FATES, ROWS)
    assert [wrong for wrong in said if "All that was published is over the cap" in wrong]
