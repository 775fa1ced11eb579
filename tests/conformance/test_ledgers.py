"""What every ledger must do: one suite, on SQLite and on a real PostgreSQL server."""

import itertools
import math
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy

from gdppca._errors import BudgetExceeded, LedgerError, ParameterError, PrivacyWarning
from gdppca.ledgers import Ledger, open_account
from gdppca.ledgers.sql import Book, Store
from gdppca.privacy import (
    ApproximateEvent,
    GaussianEvent,
    Guarantee,
    Neighbors,
    NonPrivateEvent,
    Protected,
    PureEvent,
    Unit,
)
from gdppca.privacy.accounting import gaussian_multiplier

DELTA = 1e-6
KINDS = {
    f"{unit}, {neighbors}": Protected(unit, neighbors) for unit in Unit for neighbors in Neighbors
}


def gaussian(epsilon, purpose="scatter"):
    return GaussianEvent(purpose=purpose, noise_multiplier=gaussian_multiplier(epsilon, DELTA))


@pytest.fixture
def ledger(address):
    ledger = Ledger(address)
    ledger.create("patients", epsilon=1.0, delta=DELTA)
    return ledger


def connected(ledger):
    """The ledger's database, by somebody who knows its address and uses another program."""
    address = ledger.address.replace("postgresql://", "postgresql+psycopg://")
    return sqlalchemy.create_engine(address, poolclass=sqlalchemy.NullPool).begin()


def tampered(ledger, *statements):
    """Somebody with full rights takes the triggers away and writes into the tables."""
    with connected(ledger) as connection:
        if connection.dialect.name == "sqlite":
            for table, verb in itertools.product(("ledger", "entries"), ("UPDATE", "DELETE")):
                connection.execute(sqlalchemy.text(f"DROP TRIGGER gdppca_{table}_no_{verb}"))
        else:
            connection.execute(sqlalchemy.text("DROP FUNCTION gdppca_append_only CASCADE"))
        for statement in statements:
            connection.exec_driver_sql(statement)


def test_what_was_never_drawn_remains_whole(ledger):
    left = ledger.remaining("patients")
    assert (left.epsilon, left.delta) == (1.0, DELTA)


def test_the_whole_budget_fits_once_and_nothing_after(ledger):
    ledger.spend("patients", [gaussian(1.0)])
    assert ledger.remaining("patients") < 1e-3
    with pytest.raises(BudgetExceeded) as refused:
        ledger.spend("patients", [gaussian(0.1)])
    assert math.isclose(refused.value.requested, 0.1, rel_tol=1e-6)
    assert refused.value.remaining == ledger.remaining("patients")
    assert refused.value.requested.delta == DELTA
    assert len(ledger.history("patients")) == 2


def test_budget_exceeded_survives_pickling(ledger):
    with pytest.raises(BudgetExceeded) as refused:
        ledger.spend("patients", gaussian(2.0))
    copy = pickle.loads(pickle.dumps(refused.value))
    assert (str(copy), copy.requested, copy.remaining.delta) == (
        str(refused.value),
        refused.value.requested,
        DELTA,
    )


def test_what_remains_can_be_spent_and_no_more(ledger):
    ledger.spend("patients", [gaussian(0.5), PureEvent(purpose="quantile", epsilon=0.1)])
    left = ledger.remaining("patients")
    with pytest.raises(BudgetExceeded):
        ledger.spend("patients", [gaussian(left * 1.001)])
    ledger.spend("patients", [gaussian(left)])
    assert ledger.account("patients").spent <= 1 + 1e-9


def test_events_are_recorded_not_epsilon(ledger):
    events = (
        gaussian(0.1),
        PureEvent(purpose="quantile", epsilon=0.05),
        ApproximateEvent(purpose="descent", epsilon=0.1, delta=1e-8),
    )
    ledger.spend("patients", events)
    assert ledger.history("patients")[-1].events == events
    together = Guarantee(events=events, delta=DELTA).epsilon
    assert math.isclose(ledger.account("patients").spent, together, rel_tol=1e-6)


def test_a_guarantee_can_be_spent_as_it_is(ledger):
    promise = Guarantee(events=(gaussian(0.3),), delta=DELTA)
    ledger.spend("patients", promise)
    assert ledger.history("patients")[-1].events == promise.events


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_data_set_counts_one_kind_of_promise(address, kind):
    ledger = Ledger(address)
    ledger.create("patients", epsilon=1.0, delta=DELTA, protected=kind)
    assert ledger.account("patients").protected == kind
    for other in KINDS.values():
        if other == kind:
            continue
        promise = Guarantee(
            events=(gaussian(0.1),), delta=DELTA, unit=other.unit, neighbors=other.neighbors
        )
        for ask in (ledger.spend, ledger.require):
            with pytest.raises(LedgerError, match=f"about {kind.unit}s .* about {other.unit}s"):
                ask("patients", [gaussian(0.1)], protected=other)
            with pytest.raises(LedgerError, match="a data set of their own"):
                ask("patients", promise)
    assert ledger.remaining("patients") == 1.0
    assert ledger.verify().number == 2


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_of_promise_is_held_to_its_cap(address, kind):
    ledger = Ledger(address)
    ledger.create("patients", epsilon=1.0, delta=DELTA, protected=kind)
    promise = Guarantee(
        events=(gaussian(0.6),), delta=DELTA, unit=kind.unit, neighbors=kind.neighbors
    )
    ledger.require("patients", promise)
    first = ledger.spend("patients", promise, request_id="run-1")
    again = ledger.spend("patients", [gaussian(0.6)], request_id="run-1", protected=kind)
    assert (again.repeated, again.number) == (True, first.number)
    with pytest.raises(BudgetExceeded):
        ledger.spend("patients", [gaussian(0.9)], protected=kind)
    ledger.grant("patients", 2.0)
    ledger.spend("patients", [gaussian(0.9)], protected=kind)
    assert [entry.protected for entry in ledger.history("patients")] == [kind] * 4
    assert ledger.account("patients").spends == 2
    assert ledger.verify().number == 5


def test_one_ledger_holds_data_sets_of_every_kind(address):
    ledger = Ledger(address)
    for name, kind in KINDS.items():
        ledger.create(name, epsilon=1.0, delta=DELTA, protected=kind)
        ledger.spend(name, [gaussian(1.0)], protected=kind)
    assert [ledger.account(name).protected for name in ledger.datasets()] == [*KINDS.values()]
    assert ledger.verify().number == 9


def test_a_data_set_that_nobody_said_more_of_is_about_rows(ledger):
    ledger.spend("patients", [gaussian(0.1)])
    ledger.spend("patients", [gaussian(0.1)], protected=Protected())
    assert ledger.account("patients").protected == Protected()


def test_no_cap_allows_a_number_without_noise(ledger):
    with pytest.raises(BudgetExceeded) as refused:
        ledger.spend("patients", [NonPrivateEvent(purpose="components")])
    assert math.isinf(refused.value.requested)


def test_a_retry_with_the_same_id_spends_nothing(ledger):
    first = ledger.spend("patients", [gaussian(0.9)], request_id="run-1")
    again = ledger.spend("patients", [gaussian(0.9)], request_id="run-1")
    assert (first.repeated, again.repeated) == (False, True)
    assert (first.number, first.hash) == (again.number, again.hash)
    assert ledger.account("patients").spends == 1


def test_an_id_with_other_events_is_an_error(ledger):
    ledger.spend("patients", [gaussian(0.2)], request_id="run-1")
    with pytest.raises(LedgerError, match="other events"):
        ledger.spend("patients", [gaussian(0.3)], request_id="run-1")


def test_data_sets_have_their_own_caps_and_ids(ledger):
    ledger.create("staff", epsilon=0.5, delta=1e-5)
    ledger.spend("patients", [gaussian(1.0)], request_id="run-1")
    assert not ledger.spend("staff", [gaussian(0.3)], request_id="run-1").repeated
    assert ledger.datasets() == ["patients", "staff"]
    assert ledger.verify().number == 5


def test_an_unknown_data_set_is_an_error(ledger):
    for call in (
        lambda: ledger.spend("strangers", [gaussian(0.1)]),
        lambda: ledger.remaining("strangers"),
        lambda: ledger.grant("strangers", 1.0),
    ):
        with pytest.raises(LedgerError, match="no data set 'strangers'"):
            call()


def test_a_data_set_is_created_once(ledger):
    with pytest.raises(LedgerError, match="exists already"):
        ledger.create("patients", epsilon=9.0, delta=DELTA)


def test_a_grant_raises_the_cap(ledger):
    ledger.spend("patients", [gaussian(1.0)])
    ledger.grant("patients", epsilon=2.0)
    ledger.spend("patients", [gaussian(1.0)])
    assert ledger.account("patients").cap == 2.0
    ledger.verify()


def test_a_cap_below_what_was_spent_is_an_error(ledger):
    ledger.spend("patients", [gaussian(0.8)])
    with pytest.raises(LedgerError, match="lower than what was spent"):
        ledger.grant("patients", epsilon=0.5)
    ledger.grant("patients", epsilon=0.9)
    assert ledger.account("patients").cap == 0.9


def test_no_ledger_no_spend(address):
    with pytest.raises(LedgerError, match="ledger init"):
        Ledger(address).spend("patients", [gaussian(0.1)])
    with pytest.raises(LedgerError, match="ledger init"):
        Ledger(address).verify()


def test_the_only_data_set_needs_no_name(address, ledger):
    assert open_account(address)[1] == "patients"
    assert open_account(f"{address}#patients")[1] == "patients"
    ledger.create("staff", epsilon=1.0, delta=DELTA)
    with pytest.raises(LedgerError, match="2 data sets"):
        open_account(address)


@pytest.mark.parametrize(("field", "value"), [("program", "other"), ("format", "99")])
def test_a_ledger_of_another_program_or_version_is_refused(ledger, field, value):
    tampered(ledger, f"UPDATE gdppca_ledger SET value = '{value}' WHERE name = '{field}'")
    with pytest.raises(LedgerError, match=r"another program|format '99'"):
        ledger.spend("patients", [gaussian(0.1)])


def test_a_clock_that_runs_backwards_is_refused(ledger, monkeypatch):
    monkeypatch.setattr(Book, "now", lambda self: "2001-01-01T00:00:00.000000+00:00")
    with pytest.raises(LedgerError, match="clock runs backwards"):
        ledger.spend("patients", [gaussian(0.1)])
    assert len(ledger.history("patients")) == 1


@pytest.mark.parametrize(
    "verb", ["UPDATE gdppca_entries SET at = at", "DELETE FROM gdppca_entries"]
)
def test_tables_refuse_to_be_edited(ledger, verb):
    with (
        pytest.raises(sqlalchemy.exc.DBAPIError, match="append-only"),
        connected(ledger) as connection,
    ):
        connection.exec_driver_sql(verb)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE gdppca_entries SET content = replace(content, '0.2', '0.1') WHERE number = 4",
        "UPDATE gdppca_entries SET dataset = 'staff' WHERE number = 4",
        "UPDATE gdppca_entries SET at = '2001' WHERE number = 4",
        "UPDATE gdppca_entries SET request_id = 'other' WHERE number = 4",
        "UPDATE gdppca_entries SET kind = 'grant' WHERE number = 4",
        "UPDATE gdppca_entries SET hash = previous WHERE number = 4",
        "UPDATE gdppca_entries SET content = 'nonsense' WHERE number = 4",
        "DELETE FROM gdppca_entries WHERE number = 4",
        "DELETE FROM gdppca_entries WHERE number = 1",
        "DELETE FROM gdppca_entries",
        "INSERT INTO gdppca_entries SELECT 6, at, dataset, kind, content, NULL, fingerprint, "
        "previous, hash FROM gdppca_entries WHERE number = 4",
        "UPDATE gdppca_ledger SET value = 'another' WHERE name = 'ledger'",
    ],
)
def test_verify_finds_every_edit(ledger, statement):
    for k in range(3):
        ledger.spend("patients", PureEvent(purpose="step", epsilon=0.2), request_id=f"run-{k}")
    assert ledger.verify().number == 5
    tampered(ledger, statement)
    with pytest.raises(LedgerError) as found:
        ledger.verify()
    assert found.value.findings


def test_a_hash_that_was_noted_down_shows_a_roll_back(ledger):
    receipt = ledger.spend("patients", [gaussian(0.1)])
    assert ledger.verify(expected_head=receipt.hash).hash == receipt.hash
    tampered(ledger, f"DELETE FROM gdppca_entries WHERE number = {receipt.number}")
    with pytest.raises(LedgerError, match="rolled back"):
        ledger.verify(expected_head=receipt.hash)


def test_a_head_file_shows_a_roll_back_and_stops_spending(address, tmp_path):
    ledger = Ledger(address, head=tmp_path / "elsewhere.head")
    ledger.create("patients", epsilon=1.0, delta=DELTA)
    receipt = ledger.spend("patients", [gaussian(0.1)])
    tampered(ledger, f"DELETE FROM gdppca_entries WHERE number = {receipt.number}")
    with pytest.raises(LedgerError, match="rolled back"):
        ledger.verify()
    with pytest.raises(LedgerError, match="rolled back"):
        ledger.spend("patients", [gaussian(0.1)])


def test_the_same_data_under_another_name_warns(ledger):
    ledger.create("staff", epsilon=1.0, delta=DELTA)
    mark = ledger.fingerprint([[1.0, 2.0], [3.0, 4.0]])
    assert mark == ledger.fingerprint([[1, 2], [3, 4]]) != ledger.fingerprint([[1, 2, 3, 4]])
    assert mark != ledger.fingerprint([[1.0, 2.0], [3.0, 4.0]], key=b"the owner's own")
    ledger.spend("patients", [gaussian(0.1)], fingerprint=mark)
    ledger.spend("patients", [gaussian(0.1)], fingerprint=mark)
    with pytest.warns(PrivacyWarning, match="seen before as 'patients'"):
        ledger.spend("staff", [gaussian(0.1)], fingerprint=mark)


@pytest.mark.parametrize("events", [[], [1.0], ["event"]])
def test_only_events_can_be_spent(ledger, events):
    with pytest.raises(ParameterError, match="events"):
        ledger.spend("patients", events)


def test_threads_at_once_never_exceed_the_cap(ledger):
    share = GaussianEvent(
        purpose="share", noise_multiplier=gaussian_multiplier(1.0, DELTA) * math.sqrt(10)
    )
    start = threading.Barrier(4)

    def ask(_):
        start.wait()
        granted = 0
        for _ in range(5):
            try:
                ledger.spend("patients", share)
                granted += 1
            except BudgetExceeded:
                pass
        return granted

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(ask, range(4))) == 10  # of 20
    assert ledger.verify().number == 12


def test_a_held_lock_is_waited_for_and_then_told(ledger, address):
    hasty = Ledger(address, timeout=1)
    with Store(ledger.address, 30.0).writing(), pytest.raises(LedgerError, match=r"lock"):
        hasty.spend("patients", [gaussian(0.1)])
    hasty.spend("patients", [gaussian(0.1)])


def test_a_server_that_is_gone_and_back(postgres_server):
    ledger = Ledger(postgres_server.new_database(), timeout=2)
    ledger.create("patients", epsilon=1.0, delta=DELTA)
    postgres_server.stop()
    try:
        with pytest.raises(LedgerError, match="cannot be used"):
            ledger.spend("patients", [gaussian(0.1)], request_id="run-1")
    finally:
        postgres_server.start()
    assert not ledger.spend("patients", [gaussian(0.1)], request_id="run-1").repeated


def test_a_read_only_server_is_told(postgres_server):
    name = "read_only"
    ledger = Ledger(postgres_server.database(name))
    ledger.create("patients", epsilon=1.0, delta=DELTA)
    with connected(ledger) as connection:
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with pytest.raises(LedgerError, match="read-only"):
        ledger.spend("patients", [gaussian(0.1)])
    assert ledger.remaining("patients") == 1.0


def test_an_analyst_needs_no_right_to_update_or_delete(postgres_server):
    name = "analysts"
    address = postgres_server.database(name)
    owner = Ledger(address)
    owner.create("patients", epsilon=1.0, delta=DELTA)
    with connected(owner) as connection:
        connection.exec_driver_sql("CREATE ROLE analyst LOGIN")
        connection.exec_driver_sql("GRANT SELECT ON gdppca_ledger TO analyst")
        connection.exec_driver_sql("GRANT SELECT, INSERT ON gdppca_entries TO analyst")
    analyst = Ledger(address.replace("owner@", "analyst@"))
    spend = analyst.spend("patients", [gaussian(0.5)])
    analyst.complete(spend.number, "sha256:" + "0" * 64)
    assert analyst.verify() == owner.verify()
    with (
        pytest.raises(sqlalchemy.exc.DBAPIError, match="permission denied"),
        connected(analyst) as connection,
    ):
        connection.exec_driver_sql("DELETE FROM gdppca_entries")
