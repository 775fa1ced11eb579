"""The section of a report that tells of an audit."""

import json
from dataclasses import replace

import pytest
from released import released
from typer.testing import CliRunner

from gdppca import ParameterError
from gdppca.auditing import audit
from gdppca.cli.main import app
from gdppca.report import render
from gdppca.report.audits import audited


@pytest.fixture(scope="module")
def release():
    return released("persons")


@pytest.fixture(scope="module")
def found(release):
    return audit(release, runs=500, confidence=1 - 1e-9)


def test_report_tells_what_was_tried_and_found(release, found):
    page = render(release, audit=json.loads(json.dumps(found.to_dict())))
    for words in (
        "Was the promise tried?",
        "two made-up tables of 5 columns that differ in one person",
        "was drawn 500 times",
        "The promise was not refuted.",
        "an audit can find a mistake; it does not prove that there is none".capitalize(),
        'id="audit-title"',
    ):
        assert words in page
    assert "Another version" not in page
    assert "A known seed" not in page


def test_report_without_an_audit_does_not_speak_of_one(release):
    assert "Was the promise tried?" not in render(release)


def test_report_of_a_refuted_promise_warns(release, found):
    broken = found.to_dict() | {"refuted": True, "largest_move": 2.0, "made_by": "<b>0</b>"}
    page = render(release, audit=broken)
    for words in (
        "The promise is refuted.",
        "Do not publish this release",
        "moved by 2 times what its noise is made for",
        "&lt;b&gt;0&lt;/b&gt;",
    ):
        assert words in page
    assert "was not refuted" not in page


def test_report_says_where_the_seed_is_known(release, found):
    simulated = replace(release, guarantee=replace(release.guarantee, seeded=True))
    plain = found.to_dict() | {"checksum": simulated.checksum}
    assert "what was tried is the same design with secret noise" in render(simulated, audit=plain)


def test_audit_of_another_release_is_refused(found):
    with pytest.raises(ParameterError, match="of another release"):
        audited(released("persons"), found.to_dict())


@pytest.mark.parametrize(
    "change",
    [
        {"runs": 0},
        {"runs": "many"},
        {"wrong_guesses": 501},
        {"epsilon_lower": float("nan")},
        {"table": [3]},
        {"curves": {"rates": [0.0]}},
        {"refuted": 1},
        {"checksum": None},
        {"paths": True},
    ],
    ids=str,
)
def test_what_is_no_audit_is_refused(release, found, change):
    with pytest.raises(ParameterError, match="`audit` must be what an audit of a release gave"):
        audited(release, found.to_dict() | change)
    with pytest.raises(ParameterError, match="`audit` must be"):
        audited(release, [])


def test_command_puts_an_audit_into_a_report(release, found, tmp_path):
    files = {name: tmp_path / name for name in ("release.json", "audit.json", "report.html")}
    release.save(files["release.json"])
    files["audit.json"].write_text(json.dumps(found.to_dict()))

    def asked(audit_file):
        line = ["report", files["release.json"], "--audit", audit_file, "-o", files["report.html"]]
        return CliRunner().invoke(app, [*map(str, line), "--force"])

    assert asked(files["audit.json"]).exit_code == 0
    assert "Was the promise tried?" in files["report.html"].read_text(encoding="utf-8")
    files["audit.json"].write_text("no")
    assert asked(files["audit.json"]).exit_code == 2
    assert asked(files["report.html"]).exit_code == 2  # would be overwritten
