"""Who is protected against what, and which cells were missing, in files that cannot lie."""

import json

import numpy as np
import pytest
from edited import as_before, rewritten
from kinds import DESCRIPTION, KINDS, NAMES, RATES, made

from gdppca import Release, ReleaseError
from gdppca.privacy import Neighbors, Unit


@pytest.fixture
def save(tmp_path):
    def saved(release):
        release.save(tmp_path / "release.json")
        return tmp_path / "release.json"

    return saved


@pytest.mark.parametrize(("unit", "neighbors"), KINDS)
@pytest.mark.parametrize("rates", [None, RATES], ids=["whole", "gaps"])
@pytest.mark.parametrize("described", [False, True])
def test_every_kind_comes_back(unit, neighbors, rates, described, save):
    release = made(unit, neighbors, rates=rates, described=described)
    path = save(release)
    plain = json.loads(path.read_text())
    assert (plain["version"], plain["unit"], plain["neighbors"]) == (5, unit, neighbors)
    again = Release.load(path)
    assert again.to_dict() == release.to_dict()
    assert again.unit is Unit(unit)
    assert again.neighbors is Neighbors(neighbors)
    assert again.n_is_estimate is (neighbors == "add-remove")
    assert again.description == (DESCRIPTION if described else None)
    assert again.guarantee == release.guarantee


@pytest.mark.parametrize(("unit", "neighbors"), KINDS)
@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(noise_sd=plain["noise_sd"] * 0.99),
        lambda plain: plain.update(noise_sd=plain["noise_sd"] * 1.01),
        lambda plain: plain.update(n_samples=plain["n_samples"] * 2),
        lambda plain: plain.update(unit="person" if plain["unit"] == "row" else "row"),
        lambda plain: plain.update(
            neighbors="add-remove" if plain["neighbors"] == "replace-one" else "replace-one"
        ),
    ],
    ids=["less noise", "more noise", "n", "unit", "neighbours"],
)
def test_contradictions_are_found_whatever_is_promised(unit, neighbors, change, save):
    with pytest.raises(ReleaseError):
        Release.load(rewritten(save(made(unit, neighbors)), change))


def test_a_promise_cannot_be_turned_into_another(save):
    """Noise for add-remove is smaller: nobody may call it noise for replace-one."""

    def turned(plain):
        plain["neighbors"] = plain["guarantee"]["neighbors"] = "replace-one"

    with pytest.raises(ReleaseError, match="noise_sd"):
        Release.load(rewritten(save(made("row", "add-remove")), turned))


@pytest.mark.parametrize(
    "change",
    [
        {"scheme": {"name": "all"}},
        {"scheme": {"name": "blocks", "size": 16}},
        {"scheme": {"name": "halves"}},
        {"calibration": "paper"},
    ],
)
def test_pairs_and_the_papers_noise_are_not_for_add_remove(change, save):
    path = rewritten(save(made("person", "add-remove")), lambda plain: plain.update(change))
    with pytest.raises(ReleaseError, match="neither is possible for add-remove"):
        Release.load(path)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_earlier_formats_promise_to_rows_alone(version, save):
    def earlier(plain):
        as_before(plain, version)

    read = Release.load(rewritten(save(made()), earlier))
    assert (read.unit, read.neighbors, read.rates, read.description) == (
        *("row", "replace-one"),
        *(None, None),
    )

    def forged(plain):
        plain["version"] = 3
        since = ("unit", "neighbors", "rates", "description", "loadings", "max_loadings")
        for name in (*since, "second_stage"):
            del plain[name]

    with pytest.raises(ReleaseError, match="unit or neighbours"):
        Release.load(rewritten(save(made("person")), forged))


def test_components_are_those_of_the_corrected_matrix(save):
    release = made(rates=RATES)
    K = release.scatter
    assert release.matrix[0, 1] == pytest.approx(K[0, 1] / (RATES[0] * RATES[1]))
    assert release.matrix[6, 6] == pytest.approx(K[6, 6] / RATES[6])
    assert not release.matrix.flags.writeable
    raw = np.linalg.eigh(K).eigenvectors[:, [-1, -2]].T
    path = rewritten(save(release), lambda plain: plain.update(components=raw.tolist()))
    with pytest.raises(ReleaseError, match="eigenvectors"):
        Release.load(path)
    whole = made()
    assert whole.matrix is whole.scatter


@pytest.mark.parametrize("wrong", [0.0, -0.1, 1.0001])
def test_rates_are_shares(wrong, save):
    def edit(plain):
        plain["rates"][0] = wrong

    with pytest.raises(ReleaseError, match="rates"):
        Release.load(rewritten(save(made(rates=RATES)), edit))


def test_rates_belong_to_columns_and_were_paid_for(save):
    def fewer(plain):
        plain["rates"].pop()

    with pytest.raises(ReleaseError, match="fit together"):
        Release.load(rewritten(save(made(rates=RATES)), fewer))
    with pytest.raises(ReleaseError, match="leaves out what its rates spent"):
        Release.load(rewritten(save(made()), lambda plain: plain.update(rates=[1.0] * len(NAMES))))


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.pop("table"),
        lambda said: said.update(columns=[]),
        lambda said: said.update(extra={}),
        lambda said: said["columns"].pop("age"),
        lambda said: said["columns"].update(weight={"type": "number"}),
        lambda said: said["columns"]["ward"]["levels"].append("garden"),
        lambda said: said["columns"]["ward"].update(type="number"),
        lambda said: said["columns"].update(age="number"),
        lambda said: said["columns"]["age"].update(label=5),
    ],
)
def test_a_description_of_another_table_is_refused(change, save):
    path = rewritten(save(made(described=True)), lambda plain: change(plain["description"]))
    with pytest.raises(ReleaseError, match="description"):
        Release.load(path)


def test_the_order_of_keys_means_nothing(save):
    """A tool that sorts the keys of JSON changes no meaning and no checksum."""
    path = save(made(described=True))
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True))
    assert Release.load(path).feature_names == NAMES
