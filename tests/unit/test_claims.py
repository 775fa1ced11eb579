"""Sentences that were once said and are not true."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = ("src", "docs", "README.md", "SECURITY.md", "CHANGELOG.md", "changes")
READ = {".py", ".md", ".rst", ".j2", ".toml", ".json"}
FALSE = (
    r"except with (a )?(probability|chance)",
    r"chance of (a )?(complete )?failure",
    r"promise may fail",
    r"bounds the chance",
    r"which is e to the power",
    r"(?<!why not )e = 2\.72",
    r"every person in the table is protected",
    r"every person is protected",
    r"principal components of \S+ people",
    r"nothing keeps count for you",
    r"variances: not yet",
)


def told(root):
    """Everything that is shown or read, as one line of small letters each."""
    for place in PLACES:
        top = root / place
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.suffix in READ and "_build" not in path.parts:
                text = path.read_text(encoding="utf-8")
                # Python joins literals on neighbouring lines.
                joined = re.sub(r'"\s*\n\s*f?"', "", text)
                yield path, " ".join(joined.lower().split())


@pytest.fixture(scope="module")
def pages():
    return dict(told(ROOT))


@pytest.mark.parametrize("phrase", FALSE)
def test_false_sentence_stands_nowhere(pages, phrase):
    assert len(pages) > 150
    assert [path for path, text in pages.items() if re.search(phrase, text)] == []


def test_false_sentence_would_be_found(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "words.py").write_text('x = (\n    "except with a "\n    f"probability"\n)')
    [text] = dict(told(tmp_path)).values()
    assert re.search(FALSE[0], text)
