"""The worst tables of persons, gaps, weights and secret sizes."""

import numpy as np
import pytest
from evidence import check_evidence

from gdppca.auditing import METHODS

SEEN = {  # share of μ² that the attacker sees at least
    "dppca-persons": 0.95,
    "dppca-persons-centre": 0.999,
    "dppca-persons-pairs": 0.999,
    "dppca-add-remove": 0.99,
    "dppca-add-remove-persons": 0.99,
    "dppca-missing": 0.95,
    "dppca-weights": 0.999,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "share"), SEEN.items())
def test_draws_move_by_nearly_the_whole_claim_and_no_more(name, share):
    check_evidence(METHODS[name](4.0, 1e-5), share, slack=1e-12)


def test_neighbours_differ_in_one_person_of_another_number_of_rows():
    first, second = METHODS["dppca-persons"](4.0, 1e-5).tables
    ids = [set(table.said["persons"].tolist()) for table in (first, second)]
    assert ids[0] == ids[1]
    last = max(ids[0])
    kept = [table.rows[table.said["persons"] != last] for table in (first, second)]
    np.testing.assert_array_equal(*kept)
    assert len(first.rows) != len(second.rows)
