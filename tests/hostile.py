"""Tables that break careless arithmetic, and an exact reference to compare with."""

import mpmath
import numpy as np

from gdppca import signs
from gdppca.linalg import LARGEST

ROWS, COLUMNS = 20, 3


def smooth(s):
    """A user's own length map."""
    return np.tanh(s)


SIGNS = [
    signs.Spherical(),
    signs.Winsor(1.0),
    signs.Winsor(1e-3),
    signs.Trimmed(1.0),
    signs.Ball(1.0),
    signs.Quad(1.0),
    signs.Shell(0.5, 2.0),
    signs.LinearlyRedescending(1.0),
    signs.Custom(smooth, 1.0),
]


def sign_id(sign):
    """Name of a sign in a test's name."""
    return f"{sign.name}-{sign.sup_norm:g}"


def hostile_tables():
    """Name and table of every hostile input of the design."""
    rng = np.random.default_rng(7)
    normal = rng.normal(size=(ROWS, COLUMNS))
    coin = [rng.integers(0, 2, size=(ROWS, 1)).astype(float) for _ in range(4)]
    yield "far mean 1e8", normal + 1e8
    yield "far mean 1e15", normal + 1e15
    cauchy = rng.standard_cauchy((ROWS, COLUMNS))
    cauchy[3] *= 1e12 / np.linalg.norm(cauchy[3])
    yield "Cauchy with one huge row", cauchy
    yield "clusters", 1e6 * coin[0] + 1e-6 * normal
    yield "nested clusters", 1e6 * coin[0] + coin[1] + 1e-6 * coin[2] + 1e-12 * normal
    yield "half duplicated", np.concatenate([normal[: ROWS // 2]] * 2)
    copies = np.concatenate([normal[: ROWS // 2], np.nextafter(normal[: ROWS // 2], 9)])
    yield "duplicates one ulp apart", copies
    yield "half zero", np.where(normal > 0, normal, 0)
    mixed = normal.copy()
    mixed[::3] *= 1e200
    mixed[1::3] *= 1e-300
    mixed[2], mixed[5] = 1.7e308, -1.7e308
    mixed[8], mixed[11] = [1.7e308, 5e-324, 0], [1.7e308, 0, 0]
    yield "largest and smallest together", mixed
    yield "only the largest", np.sign(normal) * 1.7e308
    yield "denormals", rng.integers(0, 1000, size=(ROWS, COLUMNS)) * 5e-324
    bits = rng.integers(0, 2**64, size=(ROWS, COLUMNS), dtype=np.uint64).view(float)
    yield "random bits", np.where(np.isfinite(bits), bits, 1.0)
    yield "random exponents", normal * 10.0 ** rng.integers(-300, 300, size=(ROWS, 1))
    equal = np.ones((ROWS, COLUMNS))
    equal[7] = [1, 2, 3]
    yield "all equal but one", equal
    yield "all equal", np.full((ROWS, COLUMNS), 0.1)
    yield "line with jitter", np.linspace(0, 1, ROWS)[:, None] + 1e-9 * normal
    yield "integer grid", rng.integers(0, 3, size=(ROWS, COLUMNS)).astype(float)
    yield "two rows", normal[:2]
    yield "one column", normal[:, :1]


def _outer_mean(terms, d):
    total = mpmath.zeros(d)
    for factor, vector in terms:
        for k in range(d):
            for m in range(d):
                total[k, m] += factor * vector[k] * vector[m]
    return total


def _xi_squared_over_s_squared(squared_length, sign):
    """(ξ(s)/s)² with s correctly rounded before ξ, as a float function must take it."""
    s = mpmath.sqrt(squared_length)
    xi = mpmath.mpf(float(sign.radial(np.array([min(float(s), LARGEST)]))[0]))
    return xi**2 / squared_length


def exact_pairs(X, sign, size=None):
    """The pair scatter in thousands of bits; blocks of `size`, or all pairs."""
    n, d = X.shape
    size = size or n
    with mpmath.workprec(4500):
        rows = [[mpmath.mpf(float(entry)) for entry in row] for row in X]
        terms = []
        for i in range(n):
            block = i // size
            members = min(size, n - block * size)
            for j in range(block * size, i):
                t = [a - b for a, b in zip(rows[i], rows[j], strict=True)]
                squared = sum(entry * entry for entry in t)
                if squared:
                    # g((x - y)/√2) g' = ξ² (x - y)(x - y)' / |x - y|²
                    weight = _xi_squared_over_s_squared(squared / 2, sign) / 2
                    terms.append((weight * 2 / (n * (members - 1)), t))
        return _outer_mean(terms, d)


def frobenius_error(computed, exact, sign):
    """|K - K_exact|_F in units of ‖g‖²."""
    with mpmath.workprec(4500):
        d = len(computed)
        squares = [
            (mpmath.mpf(float(computed[k, m])) - exact[k, m]) ** 2
            for k in range(d)
            for m in range(d)
        ]
        return float(mpmath.sqrt(sum(squares))) / sign.sup_norm**2
