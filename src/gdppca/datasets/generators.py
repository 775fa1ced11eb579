"""The paper's simulated tables, and any other spiked one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gdppca import _validate
from gdppca._errors import ParameterError
from gdppca.noise.bits import generator_for

SPIKES = (10.0, 5.0)
_V1 = np.array([1.0, 1.0, 1.0, 1.0]) / 2
_V2 = np.array([1.0, -1.0, 1.0, -1.0]) / 2
_OUTLYING = np.array([0.0, 1.0, 0.0, -1.0]) / np.sqrt(2)


class Sample(NamedTuple):
    """Rows, and the true directions as rows."""

    X: np.ndarray
    components: np.ndarray


def paper_directions(d: int, m: int = 2) -> np.ndarray:
    """The paper's v1 and v2 (Sec 4.2), then unit vectors orthogonal to them."""
    d, m = _validate.count(n_features=d, at_least=4), _validate.count(n_components=m)
    if m > d:
        raise ParameterError(f"There are at most {d} directions, got {m} spikes.")
    start = np.pad([_V1, _V2], ((0, 0), (0, d - 4)))
    return np.concatenate([start, linalg.null_space(start).T])[:m]


def make_elliptical(
    n: int,
    d: int,
    *,
    law: Any = "gaussian",
    spikes: Any = SPIKES,
    noise: float = 1.0,
    components: Any = None,
    location: Any = 0.0,
    random_state: int | None = None,
) -> Sample:
    r"""Rows of an elliptical law with a spiked scatter matrix.

    Parameters
    ----------
    n, d : int
        Rows and columns; at least four columns unless `components` is given.
    law : "gaussian" or ("t", nu), default "gaussian"
        Gaussian, or Student with nu degrees of freedom: t_1 is the multivariate Cauchy law.
    spikes : sequence of float, default (10, 5)
        Leading eigenvalues.
    noise : float, default 1.0
        All other eigenvalues.
    components : array of shape (m, d), optional
        Orthonormal leading directions; the paper's if left out.
    location : float or array of shape (d,), default 0
        Centre.
    random_state : None or int, default None
        Seed.

    Returns
    -------
    Sample
        ``X`` of shape (n, d) and ``components`` of shape (m, d).

    Notes
    -----
    **Paper.** Sec 4.2: :math:`\Sigma = \sum_k (\lambda_k - \lambda_d) v_k v_k^\top + \lambda_d I`,
    :math:`t_\nu(\Sigma) = \Sigma^{1/2} Z / \sqrt{\chi^2_\nu/\nu}`.

    Examples
    --------
    >>> from gdppca.datasets import make_elliptical
    >>> X, V = make_elliptical(100, 10, law=("t", 1), random_state=0)
    >>> X.shape, V.shape
    ((100, 10), (2, 10))
    """
    n = _validate.count(n=n)
    d = _validate.count(d=d)
    lam = np.array([_validate.finite_positive(spikes=spike) for spike in spikes])
    noise = _validate.finite_positive(noise=noise)
    V = paper_directions(d, len(lam)) if components is None else _orthonormal(components, lam, d)
    rng = generator_for(random_state)
    Z = np.sqrt(noise) * rng.normal(size=(n, d))
    X = Z + (Z @ V.T * (np.sqrt(lam / noise) - 1)) @ V
    if law != "gaussian":
        nu = _degrees(law)
        X /= np.sqrt(rng.chisquare(nu, size=(n, 1)) / nu)
    return Sample(X + np.broadcast_to(location, (d,)), V)


def _degrees(law: Any) -> float:
    if not isinstance(law, (tuple, list)) or len(law) != 2 or law[0] != "t":
        raise ParameterError(f"`law` must be 'gaussian' or ('t', nu), got {law!r}.")
    return _validate.finite_positive(nu=law[1])


def _orthonormal(components: Any, lam: np.ndarray, d: int) -> np.ndarray:
    V = _validate.floats(components)
    if V is None or V.shape != (len(lam), d) or not np.allclose(V @ V.T, np.eye(len(lam))):
        raise ParameterError(f"`components` must be {len(lam)} orthonormal rows of length {d}.")
    return V


def make_contaminated(
    n: int,
    d: int,
    *,
    fraction: float = 0.05,
    shift: float = 25.0,
    spread: float = 0.05,
    direction: Any = None,
    noise: float = 1.0,
    spikes: Any = SPIKES,
    random_state: int | None = None,
) -> Sample:
    r"""Gaussian rows of which a fraction is replaced by a tight far cluster.

    Parameters
    ----------
    n, d : int
        Rows and columns, at least four columns.
    fraction : float, default 0.05
        Share of replaced rows, rounded to whole rows.
    shift : float, default 25.0
        Distance of the cluster, :math:`c_\perp = 2.5 \lambda_1`.
    direction : array of shape (d,), optional
        Where the cluster lies; :math:`v_\perp = (0, 1, 0, -1, 0, \dots)/\sqrt2` if left out.
    spread : float, default 0.05
        Standard deviation inside the cluster.
    spikes, noise
        As in `make_elliptical`.
    random_state : None or int, default None
        Seed.

    Returns
    -------
    Sample
        ``X`` and the clean law's ``components``.

    Notes
    -----
    **Paper.** Sec 4.2 and App B.3.

    Examples
    --------
    >>> from gdppca.datasets import make_contaminated
    >>> make_contaminated(100, 10, fraction=0.1, random_state=0).X.shape
    (100, 10)
    """
    if not 0 <= fraction < 1:
        raise ParameterError(f"`fraction` must lie in [0, 1), got {fraction!r}.")
    X, V = make_elliptical(n, d, spikes=spikes, noise=noise, random_state=random_state)
    if direction is None:
        outlying = np.pad(_OUTLYING, (0, d - 4))
    else:
        outlying = _validate.vector(d, direction=direction)
    # Another stream than the clean rows', but fixed by the same seed.
    rng = generator_for(None if random_state is None else random_state + 2**32)
    bad = rng.choice(n, size=round(fraction * n), replace=False)
    X[bad] = shift * outlying + spread * rng.normal(size=(len(bad), d))
    return Sample(X, V)


def make_laplace(n: int, *, random_state: int | None = None) -> Sample:
    """Independent Laplace columns of scales 10, 6, 1, 1, 1: not elliptical (App B.4).

    Parameters
    ----------
    n : int
        Rows.
    random_state : None or int, default None
        Seed.

    Returns
    -------
    Sample
        ``X`` of shape (n, 5) and the first two unit vectors.

    Examples
    --------
    >>> from gdppca.datasets import make_laplace
    >>> make_laplace(10, random_state=0).X.shape
    (10, 5)
    """
    rng = generator_for(random_state)
    return Sample(rng.laplace(size=(_validate.count(n=n), 5)) * [10, 6, 1, 1, 1], np.eye(5)[:2])


def make_gamma(n: int, *, reading: str = "scale", random_state: int | None = None) -> Sample:
    r"""Two Gamma(2, √2) columns in Gaussian noise of five columns: not elliptical (App B.4).

    Parameters
    ----------
    n, random_state
        As in `make_laplace`.
    reading : "scale" or "rate", default "scale"
        What the paper's √2 is; it does not say.

    Returns
    -------
    Sample
        As in `make_laplace`.

    Examples
    --------
    >>> from gdppca.datasets import make_gamma
    >>> make_gamma(10, reading="rate", random_state=0).X.shape
    (10, 5)
    """
    scales = {"scale": np.sqrt(2), "rate": np.sqrt(0.5)}
    scale = scales[_validate.one_of(tuple(scales), reading=reading)]
    n = _validate.count(n=n)
    rng = generator_for(random_state)
    X = rng.normal(size=(n, 5))
    X[:, :2] += rng.gamma(2.0, scale, size=(n, 2))
    return Sample(X, np.eye(5)[:2])
