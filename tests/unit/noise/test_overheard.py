"""What is overheard is measured rightly, whatever its size."""

import numpy as np
import pytest

from gdppca.noise import Draw


@pytest.mark.parametrize("size", [5e-320, 1e-200, 1.0, 1e200])
def test_a_move_is_told_in_shares_of_the_sensitivity_whatever_its_size(size):
    draw = Draw("gaussian", np.array([3.0, 0.0]) * size, 1.0, size, None)
    assert draw.moved_by(np.array([0.0, 4.0]) * size) == pytest.approx(5.0, rel=1e-3)
    assert draw.moved_by(draw.exact) == 0
