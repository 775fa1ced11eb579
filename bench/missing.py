"""Missing cells: errors, coverage of intervals, false counts and broken assumptions, simulated.

    python bench/missing.py errors|coverage|counts|mechanisms

Rows around a public centre, cells deleted, the matrix of the zero-filled signs with the noise of
ε, and rates that take a twentieth of the budget: what ``DPPCA(missing="rates")`` releases.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from gdppca import linalg, sin_theta
from gdppca.privacy.accounting import gaussian_multiplier
from gdppca.theory import (
    components_above_noise,
    corrected,
    loading_intervals,
    rate_errors,
    shrunk_rates,
)

SHARE = 0.05  # of μ², for the rates
PATTERNS = ("0 %", "20 %", "40 %", "60 %", "0 to 60 %")


@dataclass(frozen=True)
class Released:
    """What a fit would release, and the same without noise."""

    scatter: np.ndarray
    exact: np.ndarray
    rates: np.ndarray
    exact_rates: np.ndarray
    noise_sd: float
    rate_error: np.ndarray


def rates_of(pattern: str, d: int) -> np.ndarray:
    if pattern == "0 to 60 %":
        return 1 - np.linspace(0.0, 0.6, d)
    return np.full(d, 1 - float(pattern.split()[0]) / 100)


def table(n, variances, law, rng):
    """Rows of an elliptical law, and its directions."""
    d = len(variances)
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    rows = (rng.standard_normal((n, d)) * np.sqrt(variances)) @ basis.T
    if law == "t1":
        rows /= np.abs(rng.standard_normal((n, 1)))
    return rows, basis.T


def observed(rows, rates, mechanism, rng):
    """Which cells are seen: chance alone, by the first column, or by the cell's own value."""
    if mechanism == "MCAR":
        return rng.random(rows.shape) < rates
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    odds = np.log((1 - rates) / rates)
    push = 1.5 * (z[:, :1] if mechanism == "MAR" else z)
    seen = rng.random(rows.shape) >= 1 / (1 + np.exp(-(odds + push)))
    seen[:, 0] |= mechanism == "MAR"
    return seen


def released(rows, seen, epsilon, rng, share=SHARE):
    n, d = rows.shape
    unit = linalg.directions(np.where(seen, rows, 0.0))[0]
    exact, q = unit.T @ unit / n, seen.mean(axis=0)
    mu = 1 / gaussian_multiplier(epsilon, 1e-6)
    sigma = np.sqrt(2) / (n * mu * np.sqrt(1 - share))
    packed = rng.normal(scale=sigma, size=linalg.packed_length(d))
    rate_sd = np.sqrt(d) / (n * mu * np.sqrt(share)) if share else 0.0
    rates = shrunk_rates(q + rate_sd * rng.standard_normal(d), rate_sd)
    errors = rate_errors(rates, rate_sd, n)
    return Released(exact + linalg.vecd_inverse(packed), exact, rates, q, sigma, errors)


def leading(matrix, m=2):
    return linalg.eigen_descending(matrix)[1][:, :m].T


def spiked(d):
    return np.r_[10.0, 5.0, np.ones(d - 2)]


def errors(repeats):
    print("| columns, rows | missing | zeros | rates |\n|---|---|---|---|")
    for d, n in ((10, 2000), (10, 20_000), (25, 2000), (25, 20_000)):
        for pattern in PATTERNS[1:]:
            zero, rates = [], []
            for run in range(repeats):
                rng = np.random.default_rng(run)
                rows, truth = table(n, spiked(d), "gaussian", rng)
                seen = observed(rows, rates_of(pattern, d), "MCAR", rng)
                plain = released(rows, seen, 1.0, rng, share=0.0)
                found = released(rows, seen, 1.0, rng)
                zero.append(sin_theta(leading(plain.scatter), truth[:2]))
                rates.append(sin_theta(leading(corrected(found.scatter, found.rates)), truth[:2]))
            told = f"| {np.mean(zero):.3f} | {np.mean(rates):.3f} |"
            print(f"| d = {d}, n = {n:,} | {pattern} {told}", flush=True)


def mechanisms(repeats):
    print("| columns, missing | MCAR | MAR | MNAR |\n|---|---|---|---|")
    for d in (10, 25):
        for pattern in ("20 %", "40 %"):
            told = []
            for mechanism in ("MCAR", "MAR", "MNAR"):
                sines = []
                for run in range(repeats):
                    rng = np.random.default_rng(run)
                    rows, truth = table(20_000, spiked(d), "gaussian", rng)
                    seen = observed(rows, rates_of(pattern, d), mechanism, rng)
                    found = released(rows, seen, 1.0, rng)
                    matrix = corrected(found.scatter, found.rates)
                    sines.append(sin_theta(leading(matrix), truth[:2]))
                told.append(f"{np.mean(sines):.3f}")
            print(f"| d = {d}, {pattern} | {' | '.join(told)} |", flush=True)


def coverage(repeats):
    print("| law, columns, missing | same rows | population | above noise |\n|---|---|---|---|")
    for law in ("gaussian", "t1"):
        for d in (5, 10):
            for pattern in PATTERNS:
                held, all_held, above = [], [], []
                for run in range(repeats):
                    rng = np.random.default_rng(run)
                    rows, truth = table(5000, spiked(d), law, rng)
                    seen = observed(rows, rates_of(pattern, d), "MCAR", rng)
                    found = released(rows, seen, 1.0, rng)
                    exact = leading(corrected(found.exact, found.exact_rates))
                    known = {"rates": found.rates, "rate_error": found.rate_error}
                    one = (found.scatter, found.noise_sd, 5000, 2)
                    held.append(inside(loading_intervals(*one, **known), exact))
                    both = loading_intervals(*one, sampling=True, **known)
                    all_held.append(inside(both, truth[:2]))
                    above.append(both.above_noise)
                told = f"{np.mean(held):.3f} | {np.mean(all_held):.3f} | {np.mean(above):.2f}"
                print(f"| {law}, d = {d}, {pattern} | {told} |", flush=True)


def inside(found, exact):
    turned = exact * np.sign(np.sum(exact * found.components, axis=1))[:, None]
    return (found.lower <= turned) & (turned <= found.upper)


def counts(repeats):
    print("| columns, missing, ε | nothing above noise | two spikes found |\n|---|---|---|")
    for d in (5, 10, 25):
        for pattern in PATTERNS:
            for epsilon in (0.5, 20.0):
                none = counted(np.ones(d), pattern, epsilon, repeats)
                two = counted(spiked(d), pattern, epsilon, max(repeats // 4, 1))
                told = f"{np.mean(none == 0):.3f} | {np.mean(two == 2):.2f}"
                print(f"| d = {d}, {pattern}, {epsilon:g} | {told} |", flush=True)


def counted(variances, pattern, epsilon, repeats, n=5000):
    found = []
    for run in range(repeats):
        rng = np.random.default_rng(run)
        rows, _ = table(n, variances, "gaussian", rng)
        seen = observed(rows, rates_of(pattern, len(variances)), "MCAR", rng)
        one = released(rows, seen, epsilon, rng)
        values = linalg.eigenvalues_descending(corrected(one.scatter, one.rates))
        known = (one.noise_sd, n, 0.0, one.rates, one.rate_error)
        found.append(components_above_noise(values, *known))
    return np.array(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("errors", "coverage", "counts", "mechanisms"))
    parser.add_argument("--repeats", type=int, default=50)
    asked = parser.parse_args()
    {"errors": errors, "coverage": coverage, "counts": counts, "mechanisms": mechanisms}[
        asked.what
    ](asked.repeats)
