"""README, landing page and tutorials: what they link to and what they tell to type is there."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from gdppca.cli.main import app

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "pictures" / "first-look.png"
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    ROOT / "docs" / "sharp-edges.md",
    ROOT / "docs" / "guide" / "pictures.md",
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
]
BUILT = ("auto_examples", "auto_paper")  # by the documentation's own tools


def anchors(text):
    """Headings as links name them."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def links(text):
    return re.findall(r"\]\(([^)\s]+)\)", text)


def typed(text):
    """Commands as one would type them, on lines of blocks for the shell."""
    for block in re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.removeprefix("$ ").startswith("gdppca "):
                yield shlex.split(line.removeprefix("$ "), comments=True)[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for link in links(text):
        if link.startswith("http"):
            continue
        name, _, anchor = link.partition("#")
        there = page if not name else (page.parent / name)
        if any(part in BUILT for part in there.parts):
            continue
        assert there.exists(), link
        if anchor:
            assert anchor in anchors(there.read_text(encoding="utf-8")), link


def test_commands_and_their_options_exist():
    commands, seen = get_command(app).commands, 0
    for page in PAGES:
        for words in typed(page.read_text(encoding="utf-8")):
            command = commands[words.pop(0)]
            if hasattr(command, "commands"):
                command = command.commands[words.pop(0)]
            known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
            used = {word for word in words if word.startswith("-")}
            assert used <= known, (page.name, used - known)
            seen += 1
    assert seen >= 15


def test_picture_is_small_and_above_the_fold():
    assert 10_000 < PICTURE.stat().st_size < 100_000
    for page in PAGES[:2]:
        text = page.read_text(encoding="utf-8")
        assert text.index("first-look.png") < text.index("pip install") < text.index("gdppca fit")
        assert len(text[: text.index("first-look.png")].splitlines()) < 15


def test_picture_comes_from_the_table_of_the_demonstration():
    from gdppca.cli import demo

    script = (PICTURE.parent / "first_look.py").read_text(encoding="utf-8")
    assert f"make_visits({demo.PERSONS}, random_state={demo.SEED})" in script


@pytest.mark.parametrize("words", ["excel", "several rows per person", "standardscaler"])
def test_words_that_people_search_for_stand_on_several_pages(words):
    pages = [path.read_text(encoding="utf-8").lower() for path in (ROOT / "docs").rglob("*.md")]
    assert sum(words in " ".join(page.split()) for page in pages) >= 3


def test_every_page_is_in_one_group():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"^([\w/-]+)$",
        "\n".join(re.findall(r"```\{toctree\}(.*?)```", text, re.DOTALL)),
        re.MULTILINE,
    )
    assert len(listed) == len(set(listed))
    there = {
        str(path.relative_to(ROOT / "docs").with_suffix(""))
        for folder in (".", "guide", "tutorials", "proofs", "decisions")
        for path in (ROOT / "docs" / folder).glob("*.md")
    }
    assert there - {"index"} == set(listed) - {f"{built}/index" for built in BUILT}


def test_new_pages_run_as_tests():
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    paths = options["tool"]["pytest"]["ini_options"]["testpaths"]
    assert {"docs/index.md", "docs/guide", "docs/tutorials", "docs/sharp-edges.md"} <= set(paths)
