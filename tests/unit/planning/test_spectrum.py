"""What a user may say about the variances."""

import numpy as np
import pytest
from simulate import spiked

from gdppca import DPPCA, AnalyzeGauss, ParameterError
from gdppca.planning.spectrum import as_spectrum
from gdppca.theory import spherical_eigenvalues


@pytest.fixture(scope="module")
def release():
    X, _ = spiked("t1", 20_000, 10, seed=0)
    return DPPCA(2, epsilon=1.0, location=None, random_state=0).fit(X).release_


def test_spiked_words_and_numbers_agree():
    written = as_spectrum("spiked:10,5", 6, 2)
    given = as_spectrum([1, 1, 5, 1, 10, 1], 6, 2)
    np.testing.assert_array_equal(written.variances, [10, 5, 1, 1, 1, 1])
    np.testing.assert_array_equal(given.variances, written.variances)
    np.testing.assert_array_equal(written.eigenvalues, spherical_eigenvalues([10, 5, 1, 1, 1, 1]))
    assert written.words == "variances 10, 5 and 1 for the rest"


@pytest.mark.parametrize(
    ("m", "leading"), [(1, [5, 1]), (2, [10, 5, 1]), (3, [20, 10, 5, 1]), (4, [40, 20, 10, 5])]
)
def test_left_out_it_is_assumed_and_says_so(m, leading):
    spectrum = as_spectrum(None, 4, m)
    np.testing.assert_array_equal(spectrum.variances[: len(leading)], leading)
    assert "assumed" in spectrum.words


@pytest.mark.parametrize("how", ["release", "path", "text"])
def test_release_gives_the_variances_behind_it(release, tmp_path, how):
    path = tmp_path / "release.json"
    release.save(path)
    spectrum = as_spectrum({"release": release, "path": path, "text": str(path)}[how], 10, 2)
    relative = spectrum.variances / spectrum.variances[-1]
    np.testing.assert_allclose(relative[:3], [10, 5, 1], rtol=0.15)
    np.testing.assert_allclose(
        spherical_eigenvalues(spectrum.variances), spectrum.eigenvalues, atol=1e-9
    )
    assert spectrum.words == "the variances behind a release of 20000 rows"


@pytest.mark.parametrize(
    ("spectrum", "message"),
    [
        ("spiked:", "written like 'spiked:10,5'"),
        ("spiked:10,x", "written like 'spiked:10,5'"),
        ("spiked:10,inf", "written like 'spiked:10,5'"),
        ("spiked:10,-5", ">= 0"),
        ("spiked:6,5,4,3,2", "5 leading variances; there are 4"),
        ("flat", "there is no file 'flat'"),
        ([3.0, 1.0], r"shape \(4,\), got \(2,\)"),
        ([1.0, 1.0, 1.0, np.nan], "must be finite"),
        ([0.0, 0.0, 0.0, 0.0], "not all zero"),
        (["a", "b", "c", "d"], "sequence of numbers"),
    ],
)
def test_bad_spectrum_is_refused_with_a_remedy(spectrum, message):
    with pytest.raises(ParameterError, match=message):
        as_spectrum(spectrum, 4, 2)


def test_release_must_fit(release):
    with pytest.raises(ParameterError, match="release of 10 columns; the plan has 11"):
        as_spectrum(release, 11, 2)
    X, _ = spiked("gaussian", 200, 10, seed=0)
    for other in (
        DPPCA(2, sign="winsor", location=None, random_state=0).fit(X),
        AnalyzeGauss(2, random_state=0).fit(X / 1000),
    ):
        with pytest.raises(ParameterError, match="spherical sign"):
            as_spectrum(other.release_, 10, 2)
