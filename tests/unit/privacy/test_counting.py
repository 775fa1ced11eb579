"""No guarantee claims to be counted where a part of it is not."""

import pytest

from gdppca import Guarantee
from gdppca.privacy import GaussianEvent
from gdppca.privacy.counting import ENTERED, UNCOUNTED, counted, restated, together

MAPS = "Nothing counts repeated maps: each one spends its own budget."
EARLIER = "Every release from this table is counted in its ledger, under this data set's name."


def promise(*assumptions):
    event = GaussianEvent(purpose="scatter", noise_multiplier=4.0)
    return Guarantee(events=(event,), delta=1e-6, assumptions=assumptions)


@pytest.mark.parametrize("said", [(), (UNCOUNTED,), (ENTERED,), (EARLIER, MAPS)])
def test_one_draw_says_what_is_true_of_it_once(said):
    assert counted(("n", *said, "m"), entered=True).count(ENTERED) == 1
    assert set(counted(("n", *said, "m"), entered=True)) == {"n", "m", ENTERED}
    assert set(counted(("n", *said, "m"), entered=False)) == {"n", "m", UNCOUNTED}


def test_all_parts_entered_are_entered_together():
    assert together(("n", ENTERED), (ENTERED, "m")) == ("n", ENTERED, "m")
    assert (promise(ENTERED) + promise(ENTERED)).assumptions == (ENTERED,)


@pytest.mark.parametrize("other", [(UNCOUNTED,), (MAPS,), (), (EARLIER,)])
def test_one_part_that_is_not_takes_the_claim_away(other):
    for parts in ((("n", ENTERED), other), (other, ("n", ENTERED))):
        lines = together(*parts)
        assert ENTERED not in lines
        assert EARLIER not in lines
        assert any(line in lines for line in (UNCOUNTED, MAPS))
        assert set((promise(*parts[0]) + promise(*parts[1])).assumptions) == set(lines)


def test_parts_without_a_claim_stay_as_they_are():
    assert together(("n",), ("m",)) == ("n", "m")
    assert together(("n", UNCOUNTED), (MAPS,)) == ("n", UNCOUNTED, MAPS)


def test_an_earlier_file_is_read_as_what_is_true_of_it():
    [line] = restated((EARLIER,))
    assert line.startswith("The fit was entered in a ledger")
    assert restated((EARLIER, MAPS)) == (MAPS,)
    assert restated(("n", UNCOUNTED)) == ("n", UNCOUNTED)
    plain = promise("n").to_dict() | {"assumptions": ["n", EARLIER]}
    assert Guarantee.from_dict(plain).assumptions == ("n", line)
