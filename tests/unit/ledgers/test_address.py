import pytest

from gdppca._errors import LedgerError, ParameterError
from gdppca.ledgers import HiddenPassword, Ledger, split_address
from gdppca.ledgers.address import without_password
from gdppca.ledgers.sql import Store


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("sqlite:///budget.db", ("sqlite:///budget.db", None)),
        ("sqlite:////srv/budget.db#a b", ("sqlite:////srv/budget.db", "a b")),
        ("sqlite:///odd#name.db#patients", ("sqlite:///odd#name.db", "patients")),
        ("postgresql://me@host/db?x=y#p", ("postgresql://me@host/db?x=y", "p")),
    ],
)
def test_an_address_splits_at_its_last_mark(address, parts):
    assert split_address(address) == parts


@pytest.mark.parametrize(
    "address",
    [
        "budget.db",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///budget.db?mode=ro",
        "mysql://host/db",
        "sqlite:///budget.db#",
        "sqlite:///budget.db#a\nb",
        "sqlite:///budget.db#" + "x" * 201,
        "sqlite:///bud\0get.db",
        "",
        None,
        3,
    ],
)
def test_other_addresses_are_refused(address):
    with pytest.raises(ParameterError):
        split_address(address)


def test_a_ledger_is_not_a_data_set():
    with pytest.raises(ParameterError, match="without '#'"):
        Ledger("sqlite:///budget.db#patients")


def test_passwords_are_never_shown():
    assert "hush" not in repr(Ledger("postgresql://me:hush@host/db"))
    assert "hush" not in Store("postgresql://me@host/db?password=hush", 1.0).shown


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:hush@host/db#x", "postgresql://me:***@host/db#x"),
        ("postgresql://me:hu/s@h#hu?sh@host:5/db", "postgresql://me:***@host:5/db"),
        ("postgresql://me@host/db?password=hush#x", "postgresql://me@host/db?***#x"),
        ("postgresql://host:5432/db#x", "postgresql://host:5432/db#x"),
        ("sqlite:////srv/a:b@c.db#x", "sqlite:////srv/a:b@c.db#x"),
    ],
)
def test_an_address_is_shown_without_its_password(address, shown):
    assert without_password(address) == shown
    assert repr(HiddenPassword(address)) == repr(shown)
    assert HiddenPassword(address) == address


def test_an_address_that_cannot_be_read_is_not_quoted():
    with pytest.raises(LedgerError) as told:
        Ledger("postgresql://me@host:hush/db")
    assert "hush" not in str(told.value)
    assert told.value.__context__ is None
