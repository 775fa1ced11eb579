"""What the tests of estimators share."""

from unittest import mock

import pytest

from gdppca.noise import FreshNoise


@pytest.fixture
def no_noise(monkeypatch):
    """Whatever draws noise fails."""
    for name in ("gaussian", "laplace", "argmax", "generator"):
        fail = mock.Mock(side_effect=AssertionError("noise was drawn"))
        monkeypatch.setattr(FreshNoise, name, fail)
