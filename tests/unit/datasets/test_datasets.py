"""Simulated tables and the Europe map."""

import os
from pathlib import Path

import numpy as np
import pytest

from gdppca import DataError, ParameterError
from gdppca.datasets import (
    load_europe,
    make_contaminated,
    make_elliptical,
    make_gamma,
    make_laplace,
    paper_directions,
)

EUROPE = Path(os.environ.get("GDPPCA_EUROPE", "../shared/data/europe"))
STEM = "POPRES_08_24_01.EuroThinFinal.LD_0.8.exLD.out0-PCA"


def test_gaussian_has_the_spiked_covariance():
    X, V = make_elliptical(200_000, 6, random_state=0)
    expected = np.eye(6) + 9 * np.outer(V[0], V[0]) + 4 * np.outer(V[1], V[1])
    np.testing.assert_allclose(np.cov(X.T), expected, atol=0.15)
    np.testing.assert_allclose(V[0][:4], 0.5)


def test_other_spikes_directions_centre_and_noise():
    V = np.eye(3)[[2]]
    X, components = make_elliptical(
        50_000, 3, spikes=(9,), noise=4.0, components=V, location=[1, 2, 3], random_state=0
    )
    np.testing.assert_array_equal(components, V)
    np.testing.assert_allclose(X.var(axis=0), [4, 4, 9], rtol=0.05)
    np.testing.assert_allclose(X.mean(axis=0), [1, 2, 3], atol=0.1)


def test_student_rows_are_gaussian_over_a_chi():
    X, _ = make_elliptical(100_000, 4, law=("t", 1), spikes=(1.0,), random_state=0)
    # |t₁| has median 1 in every direction.
    np.testing.assert_allclose(np.median(np.abs(X), axis=0), 1, rtol=0.02)


def test_contamination_replaces_exactly_the_share():
    X, _ = make_contaminated(2000, 10, fraction=0.05, shift=25.0, random_state=0)
    centre = np.zeros(10)
    centre[[1, 3]] = 25 / np.sqrt(2), -25 / np.sqrt(2)
    assert np.sum(np.linalg.norm(X - centre, axis=1) < 1) == 100
    away = make_contaminated(
        100, 4, fraction=0.5, shift=3.0, direction=[1, 0, 0, 0], random_state=0
    )
    assert np.sum(np.abs(away.X[:, 0] - 3) < 0.5) >= 50


def test_laplace_and_gamma_columns():
    X, V = make_laplace(100_000, random_state=0)
    np.testing.assert_allclose(np.abs(X).mean(axis=0), [10, 6, 1, 1, 1], rtol=0.03)
    np.testing.assert_array_equal(V, np.eye(5)[:2])
    for reading, mean in (("scale", 2 * np.sqrt(2)), ("rate", np.sqrt(2))):
        X, _ = make_gamma(100_000, reading=reading, random_state=0)
        np.testing.assert_allclose(X[:, :2].mean(axis=0), mean, rtol=0.02)


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: make_elliptical(5, 4, random_state=seed),
        lambda seed: make_gamma(5, random_state=seed),
        lambda seed: make_contaminated(9, 4, random_state=seed),
    ],
)
def test_seeds_repeat(make):
    np.testing.assert_array_equal(make(3).X, make(3).X)
    assert not np.array_equal(make(3).X, make(4).X)


def test_directions_are_orthonormal():
    V = paper_directions(7, 5)
    np.testing.assert_allclose(V @ V.T, np.eye(5), atol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: make_elliptical(0, 5),
        lambda: make_elliptical(5, 3),
        lambda: make_elliptical(5, 5, law="cauchy"),
        lambda: make_elliptical(5, 5, law=("t", -1)),
        lambda: make_elliptical(5, 5, spikes=(0.0,)),
        lambda: make_elliptical(5, 5, components=np.ones((2, 5))),
        lambda: make_contaminated(5, 5, fraction=1.0),
        lambda: make_gamma(5, reading="shape"),
        lambda: paper_directions(4, 5),
    ],
)
def test_bad_wishes_are_refused(call):
    with pytest.raises(ParameterError):
        call()


@pytest.mark.skipif(not EUROPE.is_dir(), reason="the Europe map's files are not here")
def test_europe_has_its_people_places_and_colours():
    europe = load_europe(EUROPE)
    assert europe.X.shape == (1387, 20)
    assert len(europe.countries) == 1387
    assert europe.places.shape == (1387, 2)
    assert europe.colors.min() >= 0
    assert europe.colors.max() <= 1
    rotated = load_europe(EUROPE, random_state=1)
    np.testing.assert_allclose(np.linalg.norm(europe.X, axis=1), np.linalg.norm(rotated.X, axis=1))


def write_europe(folder, **changes):
    people = 25
    files = {
        f"{STEM}.eigs": "#eigvals\n"
        + "".join(f"{k} {k} " + "0.1 " * 20 + "Control\n" for k in range(people)),
        f"{STEM}.eval": "1.5\n" * people,
        "PCA.txt": "ID\tplabels\talabels\tlongitude\tlatitude\tPC1\tPC2\tRotNS\tRotEW\n"
        + "".join(f"{k}\tLand\tLD\t1\t2\t0\t0\t0\t0\n" for k in range(people)),
        "POPRESID_Color.txt": "".join(f"{k} gold\n" for k in range(people)),
        "colors.txt": "gold\t255\t215\t0\n",
    }
    for name, text in (files | changes).items():
        (folder / name).write_text(text)
    return folder


def test_files_of_the_right_shape_are_read(tmp_path):
    assert load_europe(write_europe(tmp_path)).X.shape == (25, 20)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (f"{STEM}.eigs", "#\n1 1 0.1 0.2\n", "line 2"),
        (f"{STEM}.eigs", "#\n1 1 " + "x " * 20, "line 2"),
        (f"{STEM}.eval", "1.5\n1.5 1.5\n", "line 2"),
        ("PCA.txt", "ID\tonly\n", "line 1"),
        ("colors.txt", "gold\t255\n", "line 1"),
        ("POPRESID_Color.txt", "1 gold\n", "lacks an entry"),
    ],
)
def test_files_of_another_shape_are_refused_by_file_and_line(name, text, words, tmp_path):
    with pytest.raises(DataError, match=words) as caught:
        load_europe(write_europe(tmp_path, **{name: text}))
    assert name in str(caught.value)


def test_missing_files_say_where_to_get_them(tmp_path):
    with pytest.raises(DataError, match="NovembreLab"):
        load_europe(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"eigs.*NovembreLab"):
        load_europe(tmp_path)
