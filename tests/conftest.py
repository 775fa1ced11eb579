"""Settings shared by all tests."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "gdppca",
    deadline=None,  # the first call compiles
    derandomize=True,  # a flaky test is a bug
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gdppca")


@pytest.fixture
def rng():
    """Seeded data; never used for noise that protects anybody."""
    return np.random.default_rng(20251012)


@pytest.fixture(scope="module")
def postgres_server():
    """A real server, for the tests of one file."""
    import postgres  # not on every system

    with postgres.running() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """Address of a new ledger, on each kind of database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/budget.db"
    return request.getfixturevalue("postgres_server").new_database()
