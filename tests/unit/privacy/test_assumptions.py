"""Assumptions are types with words; no guarantee claims to be counted where a part of it is not."""

import json

import pytest

from gdppca import Guarantee
from gdppca.privacy import Assumption, GaussianEvent, Neighbors, Protected, Unit, assumptions
from gdppca.privacy.assumptions import (
    ENTERED,
    EVERYWHERE,
    FIT_ENTERED,
    MAPS_UNCOUNTED,
    NOTHING_FITTED_BEFORE,
    ONE_ROW,
    UNCOUNTED,
    counted,
    everywhere,
    from_plain,
    in_one_of,
    known,
    one_of_groups,
    public_group_sizes,
    to_plain,
    together,
)

N, M = Assumption("other", "n"), Assumption("other", "m")
FITS = "Nothing counts repeated fits: each one spends its own budget."
MAPS = "Nothing counts repeated maps: each one spends its own budget."
EARLIER = "Every release from this table is counted in its ledger, under this data set's name."
ALL = [each for each in vars(assumptions).values() if isinstance(each, Assumption)]


def promise(*said):
    event = GaussianEvent(purpose="scatter", noise_multiplier=4.0)
    return Guarantee(events=(event,), delta=1e-6, assumptions=said)


@pytest.mark.parametrize("said", [(), (UNCOUNTED,), (ENTERED,), (FIT_ENTERED, MAPS_UNCOUNTED)])
def test_one_draw_says_what_is_true_of_it_once(said):
    assert counted((N, *said, M), entered=True).count(ENTERED) == 1
    assert set(counted((N, *said, M), entered=True)) == {N, M, ENTERED}
    assert set(counted((N, *said, M), entered=False)) == {N, M, UNCOUNTED}


def test_all_parts_entered_are_entered_together():
    assert together((N, ENTERED), (ENTERED, M)) == (N, ENTERED, M)
    assert (promise(ENTERED) + promise(ENTERED)).assumptions == (ENTERED,)


@pytest.mark.parametrize("other", [(UNCOUNTED,), (MAPS_UNCOUNTED,), (), (FIT_ENTERED,)])
def test_one_part_that_is_not_takes_the_claim_away(other):
    for parts in (((N, ENTERED), other), (other, (N, ENTERED))):
        lines = together(*parts)
        assert ENTERED not in lines
        assert FIT_ENTERED not in lines
        assert any(line in lines for line in (UNCOUNTED, MAPS_UNCOUNTED))
        assert set((promise(*parts[0]) + promise(*parts[1])).assumptions) == set(lines)


def test_parts_without_a_claim_stay_as_they_are():
    assert together((N,), (M,)) == (N, M)
    assert together((N, UNCOUNTED), (MAPS_UNCOUNTED,)) == (N, UNCOUNTED, MAPS_UNCOUNTED)


def test_an_earlier_file_is_read_as_what_is_true_of_it():
    [line] = from_plain([EARLIER])
    assert line is FIT_ENTERED
    assert str(line).startswith("The fit was entered in a ledger")
    assert from_plain([EARLIER, MAPS]) == (MAPS_UNCOUNTED,)
    assert from_plain(["n", FITS]) == (N, UNCOUNTED)
    plain = promise("n").to_dict() | {"assumptions": ["n", EARLIER]}
    assert Guarantee.from_dict(plain).assumptions == (N, FIT_ENTERED)


@pytest.mark.parametrize("each", [*ALL, one_of_groups(3), N], ids=lambda each: each.code)
def test_codes_and_sentences_are_read_as_the_same_type(each):
    plain = json.loads(json.dumps(to_plain([each])))
    assert plain == [{"code": each.code, "words": str(each)}]
    assert from_plain(plain) == (each,) == from_plain([str(each)]) == (known(str(each)),)


def test_every_code_stands_for_one_thing():
    assert len({each.code for each in ALL}) == len({each.words for each in ALL}) == len(ALL) == 24


def test_steps_that_were_fitted_before_are_not_covered_anywhere():
    assert NOTHING_FITTED_BEFORE in EVERYWHERE
    assert "fitted to the table before" in str(NOTHING_FITTED_BEFORE)
    assert "not covered" in str(NOTHING_FITTED_BEFORE)


def test_the_code_decides_and_not_the_words():
    reworded = {"code": ONE_ROW.code, "words": "Everybody has one row."}
    assert from_plain([reworded]) == (ONE_ROW,)
    assert from_plain([{"code": "one-of-4-groups", "words": "?"}]) == (one_of_groups(4),)


def test_a_later_versions_code_keeps_its_words():
    [later] = from_plain([{"code": "no-twins", "words": "Nobody has a twin."}])
    assert to_plain([later]) == [{"code": "no-twins", "words": "Nobody has a twin."}]
    assert str(later) == "Nobody has a twin."


def test_groups_are_told_by_type():
    said = Assumption("other", one_of_groups(12).words)
    assert in_one_of((N, one_of_groups(2), said), 3) == (N, said, one_of_groups(3))
    assert one_of_groups(2) != one_of_groups(3)


def said_of(unit, neighbors):
    return [str(each) for each in everywhere(Protected(Unit(unit), Neighbors(neighbors)))]


def test_of_rows_everything_is_said_as_ever():
    assert everywhere(Protected()) == EVERYWHERE


@pytest.mark.parametrize("neighbors", Neighbors)
def test_of_persons_nothing_is_said_of_one_row(neighbors):
    said = said_of("person", neighbors)
    assert "The column of persons says truly whose each row is." in said
    assert not any("one row" in each for each in said)
    assert len(said) == len(EVERYWHERE)


@pytest.mark.parametrize("unit", Unit)
def test_of_a_secret_size_nothing_is_called_public_but_names(unit):
    [size] = [each for each in said_of(unit, "add-remove") if "public" in each]
    assert size.startswith("The column names are public; the number of")
    assert f"{unit}s" in size
    assert size.endswith("not.")


def test_the_number_of_rows_is_not_public_where_persons_are_counted():
    assert (
        "The number of persons and the column names are public; the number of rows is not."
        in said_of("person", "replace-one")
    )


def test_merged_groups_are_counted_in_their_unit():
    assert "of rows of each" in str(public_group_sizes(Unit.ROW))
    assert "of persons of each" in str(public_group_sizes(Unit.PERSON))
