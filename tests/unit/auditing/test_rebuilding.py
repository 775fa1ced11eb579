"""The design behind a release, and the worst tables of its shape."""

from dataclasses import replace

import numpy as np
import pytest
from released import COLUMNS, DESIGNS, PLAIN, released

from gdppca import DPPCA, AnalyzeGauss, ParameterError, Release
from gdppca.auditing import audit
from gdppca.auditing.rebuilding import rebuilt
from gdppca.auditing.release_pairs import worst_pair
from gdppca.auditing.repeats import Path
from gdppca.design import run
from gdppca.privacy import GaussianEvent, PureEvent
from gdppca.privacy.accounting import gdp_mu
from gdppca.signs import Custom
from gdppca.tables.open import open_table

pytestmark = pytest.mark.filterwarnings("ignore")


def gaussian(events):
    return gdp_mu([event for event in events if isinstance(event, GaussianEvent)])


def pure(events):
    return sorted(event.epsilon for event in events if isinstance(event, PureEvent))


def path(design, tables, coin):
    def mechanism(table, noise):
        with open_table(table.rows, noise, **table.said) as opened:
            return run(design, opened, noise)

    return Path.of(mechanism, tables, coin)


@pytest.mark.parametrize("name", DESIGNS)
def test_design_spends_what_the_release_says_and_its_worst_tables_show_it(name):
    release = released(name)
    design = rebuilt(release)
    drawn = release.guarantee.events
    assert gaussian(design.debit) == pytest.approx(gaussian(drawn), rel=1e-6)
    assert pure(design.debit) == pytest.approx(pure(drawn), rel=1e-6)
    tables = worst_pair(design)
    for coin in (0, 1):
        found = path(design, tables, coin)
        assert found.alike
        assert found.largest_move <= 1 + 1e-12
        assert 0.95 * gaussian(drawn) < found.mu <= (1 + 1e-9) * gaussian(drawn)


@pytest.mark.parametrize("name", ["default", "persons", "add or remove", "add or remove persons"])
def test_tables_differ_in_one_row_or_person(name):
    release = released(name)
    first, second = worst_pair(rebuilt(release))
    ids = [given.said.get("persons", np.arange(len(given.rows))) for given in (first, second)]
    many = [len(np.unique(of)) for of in ids]
    if release.neighbors == "replace-one":
        assert many == [release.n_samples] * 2
        last = [given.rows[of == of.max()] for given, of in zip((first, second), ids, strict=True)]
        assert not np.array_equal(*last)
    else:
        assert many[0] == many[1] + 1
    others = [
        given.rows[of < max(many) - 1] for given, of in zip((first, second), ids, strict=True)
    ]
    np.testing.assert_array_equal(*others)


def test_a_map_or_variances_that_were_added_later_are_attacked_too():
    from gdppca.releases import private_variances, score_map

    alone = DPPCA(2, epsilon=1.0).fit(PLAIN).release_
    more = alone.with_variances(private_variances(PLAIN, alone, 0.5, 1e-6))
    more = more.with_score_map(score_map(PLAIN, more, epsilon=0.5, delta=1e-6, bins=10))
    design = rebuilt(more)
    drawn = more.guarantee.events
    assert gaussian(design.debit) == pytest.approx(gaussian(drawn), rel=1e-6)
    assert pure(design.debit) == pytest.approx(pure(drawn), rel=1e-6)
    assert [type(step).__name__ for step in design.steps[-2:]] == ["Variances", "MapCounts"]


def test_a_huge_table_is_made_smaller():
    release = released("pairs")
    assert rebuilt(replace(release, n_samples=10**9)).public.n_samples == 5_000_000 // COLUMNS


def test_a_sample_is_looked_at_whole():
    release = released("default")
    sampled = replace(release, scheme={**release.scheme, "sample": 700})
    assert rebuilt(sampled).public.n_samples == 700


REFUSED = {
    "another method": (lambda: AnalyzeGauss(2).fit(PLAIN).release_, "one of AnalyzeGauss"),
    "no noise": (lambda: DPPCA(2, epsilon=np.inf).fit(PLAIN).release_, "must hold noise"),
    "merged": (
        lambda: Release.merge([DPPCA(2).fit(half).release_ for half in (PLAIN[:900], PLAIN[900:])]),
        "merged from several",
    ),
    "own sign": (
        lambda: DPPCA(2, sign=Custom(np.tanh, bound=1.0)).fit(PLAIN).release_,
        "a sign of your own",
    ),
    "one column": (lambda: DPPCA(1).fit(PLAIN[:, :1]).release_, "two columns"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_rebuilt_is_refused(what):
    make, why = REFUSED[what]
    with pytest.raises(ParameterError, match=why):
        audit(make(), runs=10)
