"""A private quantile on its own: design, debit, step, publish."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gdppca import _validate
from gdppca._errors import DataError
from gdppca.design import Design, run
from gdppca.ledgers import Booking
from gdppca.noise import Noise, noise_for
from gdppca.releases.files import checksum
from gdppca.steps.base import Public
from gdppca.steps.quantile import METHODS, Quantile
from gdppca.tables.memory import MemoryTable
from gdppca.tables.persons import persons_of


def private_quantile(
    values: Any,
    q: float,
    epsilon: float,
    *,
    method: str = "grid",
    nonnegative: bool = False,
    persons: Any = None,
    ledger: str | None = None,
    random_state: int | Noise | None = None,
) -> float:
    r"""Release a quantile of numbers of any scale.

    Parameters
    ----------
    values : array of shape (n,)
        Finite numbers, at least two; each of one person unless `persons` says whose they are.
    q : float
        Which quantile, strictly between 0 and 1.
    epsilon : float
        Privacy ε; δ is zero.
    method : "grid" or "unbounded", default "grid"
        Noisy choice from a grid, or Durfee's ladder.
    nonnegative : bool, default False
        The numbers cannot be negative, such as lengths. A public fact, not looked up.
    persons : None or sequence of n ids, default None
        Whose each number is, where a person may have several: one random number of each is used,
        and the promise is about persons.
    ledger : None or str, default None
        Where the spend is entered before anything is drawn: "sqlite:///budget.db#patients".
    random_state : None or int, default None
        None draws from the secure source; a seed makes a simulation.

    Returns
    -------
    float
        A number from a public grid, within 9 % of the next one.

    Notes
    -----
    **Privacy.** One pure event of ε, replace-one, the number of values or persons public.

    *Grid.* Candidate c has score :math:`-|\#\{x_i \le c\} - qn|` plus
    :math:`\frac2\varepsilon\log p(c)`, with a public prior p that favours moderate exponents and
    vanishes nowhere: a wide grid then costs the logarithm of how unusual the answer is, not of
    the grid's size.

    *Unbounded.* The sparse vector technique over thresholds :math:`\pm(\beta^i - 1)` times a tiny
    unit, :math:`\beta = 2^{1/8}`, with discrete Laplace noise in place of the exponential noise of
    [1]_, on counts that move in one direction.

    **Paper.** App B.2 uses the second way for the winsorisation radius.

    References
    ----------
    .. [1] D. Durfee (2023). Unbounded differentially private quantile and maximum estimation.
       NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from gdppca.releases import private_quantile
    >>> lengths = np.random.default_rng(0).exponential(1e9, size=5000)
    >>> 2e8 < private_quantile(lengths, 0.25, epsilon=1.0, nonnegative=True) < 4e8
    True
    """
    q = _validate.fraction(q=q)
    epsilon = _validate.finite_positive(epsilon=_validate.budget(epsilon=epsilon))
    values = _finite_vector(values)
    _validate.one_of(METHODS, method=method)
    noise = noise_for(random_state)
    table = MemoryTable(values[:, None], None, noise)
    if persons is not None:
        table = replace(table, persons=persons_of(persons, len(values), noise.keys()))
    public = Public.about(table)
    step = Quantile(public=public, q=q, epsilon=epsilon, method=method, nonnegative=nonnegative)
    design = Design.of(step, epsilon=epsilon, delta=0.0)
    booking = Booking(ledger, "private_quantile", {"q": q, "epsilon": epsilon, "method": method})
    found = run(design, table, noise, booking).quantile
    assert found is not None
    booking.complete(checksum({"quantile": found}))
    return found


def _finite_vector(values: Any) -> np.ndarray:
    array = _validate.floats(values)
    if array is None:
        raise DataError("`values` must be numbers.")
    if array.ndim != 1 or len(array) < 2:
        raise DataError(f"`values` must be a vector of at least two numbers, got {array.shape}.")
    if not np.isfinite(array).all():
        raise DataError("`values` holds NaN or inf.")
    return array
