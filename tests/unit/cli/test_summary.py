"""Terminal, notebook and page say the same of a release."""

from dataclasses import replace

import numpy as np
import pytest
from voices import on_a_terminal, plainly

from gdppca import DPPCA
from gdppca.privacy import words
from gdppca.releases.words import pairs_in_words, sign_name, size_in_words
from gdppca.report import render


@pytest.fixture(scope="module")
def release():
    X = np.random.default_rng(0).normal(size=(2000, 5)) * [9, 1, 1, 1, 1]
    release = DPPCA(2, epsilon=2.0, random_state=0).fit(X).release_
    return replace(release, guarantee=replace(release.guarantee, seeded=False))


def test_three_voices_agree(release):
    terminal, page = on_a_terminal(release), plainly(render(release))
    notebook = plainly(release._repr_html_())
    standing = "Only the first one stands above the noise. Do not read anything into the other."
    for said in (pairs_in_words(release), sign_name(release), standing):
        assert said in terminal
        assert said in page
    for voice in (terminal, page, notebook):
        assert plainly(words.meaning(release.guarantee)) in voice
    assert size_in_words(release) in notebook
    assert plainly(words.told(release.guarantee)) in terminal
    assert plainly(words.told(release.guarantee)) in notebook


def test_one_column_is_not_called_columns(release):
    assert "2000 rows, 5 columns; " in on_a_terminal(release)
    lone = DPPCA(1, random_state=0).fit(np.arange(50.0)[:, None]).release_
    assert "50 rows, 1 column; " in on_a_terminal(lone)
