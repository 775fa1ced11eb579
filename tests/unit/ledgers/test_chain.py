from dataclasses import replace

import pytest

from gdppca.ledgers.chain import START, broken_links, is_sealed, sealed


@pytest.fixture
def chain():
    entries, previous = [], START
    for number in range(1, 6):
        entry = sealed(
            number=number,
            at=f"2025-01-0{number}",
            dataset="patients",
            kind="spend",
            content="{}",
            request_id=None,
            fingerprint=None,
            previous=previous,
        )
        entries.append(entry)
        previous = entry.hash
    return entries


def resealed(entry, **changes):
    parts = {name: getattr(entry, name) for name in entry.__slots__ if name != "hash"}
    return sealed(**(parts | changes))


def test_a_whole_chain_has_no_broken_link(chain):
    assert list(broken_links(chain)) == []


@pytest.mark.parametrize("field", ["at", "dataset", "kind", "content", "request_id", "fingerprint"])
def test_every_field_is_under_the_seal(chain, field):
    assert is_sealed(chain[2])
    assert not is_sealed(replace(chain[2], **{field: "edited"}))


def test_an_edited_entry_is_found_even_with_a_new_seal(chain):
    chain[2] = resealed(chain[2], content='{"a":1}')
    assert "Entry 4 does not follow" in " ".join(broken_links(chain))


@pytest.mark.parametrize("where", [0, 2])
def test_a_removed_entry_is_found(chain, where):
    del chain[where]
    assert any("missing" in finding for finding in broken_links(chain))


def test_swapped_entries_are_found(chain):
    chain[1], chain[2] = chain[2], chain[1]
    assert list(broken_links(chain))


def test_an_earlier_date_is_found(chain):
    chain[4] = resealed(chain[4], at="2024-01-01")
    assert list(broken_links(chain)) == ["Entry 5 is dated before the one before it."]
