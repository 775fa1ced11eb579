"""Files about the project: fragments of the changelog, citation, extras."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
KINDS = [kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]]
# Not fragments: what they are, and how they are put together.
BESIDES = {"README.md", "template.md.jinja"}
FRAGMENTS = sorted(path for path in (ROOT / "changes").iterdir() if path.name not in BESIDES)


def well_named(name):
    return re.fullmatch(rf"\d+(-[a-z0-9]+)*\.({'|'.join(KINDS)})\.md", name) is not None


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_fragments_are_well_named_and_say_something(path):
    assert well_named(path.name)
    said = path.read_text(encoding="utf-8").strip()
    assert said.endswith(".")
    assert not re.search(r"^\s*([-*#]|$)", said, re.MULTILINE)  # one paragraph, no list


@pytest.mark.parametrize("name", ["11.md", "11.bug.md", "topic.fixed.md", "11-a b.fixed.md"])
def test_other_names_are_noticed(name):
    assert not well_named(name)


def test_changelog_has_the_place_for_fragments_once():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changelog.count(PROJECT["tool"]["towncrier"]["start_string"]) == 1


def test_all_holds_every_extra():
    extras = PROJECT["project"]["optional-dependencies"]
    [every] = extras["all"]
    assert set(re.fullmatch(r"gdppca\[(.*)\]", every)[1].split(",")) == set(extras) - {"all"}


@pytest.mark.parametrize("folder", ["src", "docs", "README.md", "SECURITY.md"])
def test_extras_that_are_named_are_there(folder):
    place = ROOT / folder
    files = [place] if place.is_file() else [*place.rglob("*.py"), *place.rglob("*.md")]
    named = {
        extra
        for path in files
        for listed in re.findall(r"gdppca\[([a-z,]+)\]", path.read_text(encoding="utf-8"))
        for extra in listed.split(",")
    }
    assert named <= set(PROJECT["project"]["optional-dependencies"])


def test_tests_and_proofs_that_stand_for_the_promise_are_there():
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    tests = re.findall(r"`(tests/[^`]*)`", page)
    proofs = re.findall(r"\]\((docs/[^)#]*)", page)
    assert len(tests) > 50
    assert len(proofs) > 15
    assert [named for named in tests + proofs if not (ROOT / named).exists()] == []


ATTACKERS = ("Reader of the release", "Analyst with ledger access", "Co-owner of a merged site",
             "Neighbour on the machine", "Malicious file")  # fmt: skip


@pytest.mark.parametrize("attacker", ATTACKERS)
def test_every_attacker_has_a_row_with_tests(attacker):
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    [row] = [line for line in page.splitlines() if line.startswith(f"| **{attacker}**")]
    _, has, can, cannot, tests = row.strip("| ").split(" | ")
    assert min(map(len, (has, can, cannot))) > 20
    assert tests.startswith("`tests/")


def test_citation_names_the_paper_and_the_software():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["authors"] == PROJECT["project"]["authors"]
    assert cited["license"] == PROJECT["project"]["license"]
    paper = cited["preferred-citation"]
    assert [author["family-names"] for author in paper["authors"]] == ["Kim", "Jung"]
    assert paper["title"] in (ROOT / "README.md").read_text(encoding="utf-8").replace("\n", " ")


def test_types_are_shipped():
    assert (ROOT / "src" / "gdppca" / "py.typed").exists()
    assert PROJECT["tool"]["mypy"]["strict"]
