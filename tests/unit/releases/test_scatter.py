"""Where data meets noise."""

import math

import numpy as np
import pytest

from gdppca import Ledger, LedgerError, ParameterError
from gdppca.kernels import AllPairs
from gdppca.noise import secure_noise, seeded_noise
from gdppca.privacy import NonPrivateEvent, Protected, Unit
from gdppca.releases import private_scatter, scatter_noise
from gdppca.signs import Spherical


def noise(**changes):
    settings = {
        "epsilon": 0.5,
        "delta": 1e-5,
        "sign": Spherical(),
        "scheme": AllPairs(),
        "n_samples": 2000,
        "n_features": 10,
    }
    return scatter_noise(**(settings | changes))


def test_infinite_epsilon_adds_nothing_and_says_so():
    exact = private_scatter(np.eye(10), noise(epsilon=math.inf), secure_noise())
    np.testing.assert_array_equal(exact.matrix, np.eye(10))
    assert isinstance(exact.event, NonPrivateEvent)


@pytest.mark.parametrize("source", [secure_noise(), seeded_noise(0)])
def test_noise_is_symmetric_with_smaller_entries_off_the_diagonal(source):
    d = 120
    settings = noise(n_features=d)
    noisy = private_scatter(np.zeros((d, d)), settings, source).matrix / settings.noise_sd
    np.testing.assert_array_equal(noisy, noisy.T)
    off = noisy[np.triu_indices(d, k=1)]
    assert np.std(np.diagonal(noisy)) == pytest.approx(1, abs=0.4)
    assert np.std(off) == pytest.approx(math.sqrt(0.5), rel=0.05)


def test_unknown_calibration_is_refused():
    with pytest.raises(ParameterError, match="calibration"):
        noise(calibration="loose")


def test_a_matrix_of_persons_is_debited_as_theirs(tmp_path):
    ledger = Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("visits", 1.0, 1e-5, protected=Protected(Unit.PERSON))
    address = f"{ledger.address}#visits"
    with pytest.raises(LedgerError, match=r"about persons .* about rows"):
        private_scatter(np.eye(10), noise(), ledger=address)
    with pytest.raises(ParameterError, match="`unit` must be 'row' or 'person'"):
        private_scatter(np.eye(10), noise(), ledger=address, unit="visit")
    assert ledger.account("visits").spends == 0
    private_scatter(np.eye(10), noise(), ledger=address, unit="person")
    assert ledger.account("visits").spends == 1
