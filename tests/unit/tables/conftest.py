"""What tests of several kinds of tables share."""

import pytest

from gdppca import Ledger


@pytest.fixture
def ledger(tmp_path):
    """A ledger with an account of patients, and the address of the account."""
    address = f"sqlite:///{tmp_path}/budget.db"
    ledger = Ledger(address)
    ledger.create("patients", epsilon=3.0, delta=1e-5)
    return ledger, f"{address}#patients"
