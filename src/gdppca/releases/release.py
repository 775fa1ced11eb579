"""A release: everything that can be published, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca._errors import ReleaseError
from gdppca._files import write_whole
from gdppca._version import __version__
from gdppca.privacy import Guarantee
from gdppca.releases.consistency import check_consistency
from gdppca.releases.score_map import ASSUMED_APART, ScoreMap
from gdppca.releases.words import doubts, size_in_words
from gdppca.steps.centre import centre_bias

if TYPE_CHECKING:
    from gdppca.releases.spectrum import NoisyVariances

_FORMAT = "gdppca-release"
_VERSION = 3
_ADDED = {"variances": None, "score_map": None, "plan": None, "scale_error": None}  # since 1
_LARGEST_FILE = 2**30


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """Everything that a private analysis publishes, and nothing else.

    Plain data: JSON on disk, no pickle. It can be printed, mailed and put on a web page as it
    stands; what it promises is in `guarantee`.

    Parameters
    ----------
    components : array of shape (m, d)
        Directions, one per row.
    scatter : array of shape (d, d) or None
        The noisy matrix K̃; None where a method releases directions only.
    noise_sd : float
        σ of its packed noise.
    sign, scheme : dict or None
        What was compared and how, as in ``Sign.describe``; None for methods without signs.
    calibration : str
        How the noise was scaled: "tight" or "paper" for `DPPCA`.
    n_samples, n_features : int
        Shape of the table; public.
    feature_names : tuple of str
        Column names; public.
    location, scale : array of shape (d,) or None
        Centre and column scales that were used.
    guarantee : Guarantee
        The promise about everything here together.
    method : str
        Name of the estimator.
    scale_error : array of shape (d,) or None
        Of private scales, the standard deviation of the logarithm of each that their noise gives;
        infinite for a column whose size the noise hid, which keeps the scale 1.
    variances : array of shape (m,) or None
        Private variances of the scores on the components.
    score_map : ScoreMap or None
        Private histogram of the scores on two components.
    plan : dict or None
        What was expected before the spend, from public numbers.
    library_version : str
        Version of this package.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> from gdppca import DPPCA, Release
    >>> release = DPPCA(n_components=2, epsilon=1.0, delta=1e-6).fit(load_iris().data).release_
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "release.json"
    >>> release.save(path)
    >>> Release.load(path).components.shape
    (2, 4)
    """

    components: np.ndarray
    scatter: np.ndarray | None
    noise_sd: float
    sign: dict[str, Any] | None
    scheme: dict[str, Any] | None
    calibration: str
    n_samples: int
    n_features: int
    feature_names: tuple[str, ...]
    location: np.ndarray | None
    scale: np.ndarray | None
    guarantee: Guarantee
    method: str
    scale_error: np.ndarray | None = None
    variances: np.ndarray | None = None
    score_map: ScoreMap | None = None
    plan: dict[str, Any] | None = None
    library_version: str = __version__

    def __post_init__(self) -> None:
        """Make the arrays read-only: a release does not change."""
        for name in ("components", "scatter", "location", "scale", "scale_error", "variances"):
            value = getattr(self, name)
            if value is not None:
                frozen = np.array(value, dtype=float)
                frozen.setflags(write=False)
                object.__setattr__(self, name, frozen)

    @property
    def centre_bias(self) -> float:
        """What the error of a private centre may add to an eigenvalue; zero without one."""
        if self.location is None:
            return 0.0
        scheme = self.scheme or {}
        each = self.n_samples // scheme.get("groups", 1)  # merged groups have centres of their own
        seen = scheme.get("sample", each)
        return centre_bias(self.guarantee.events, seen, self.n_features)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What must be known before a number is read: private scales that are not to be trusted."""
        return doubts(self)

    def __repr__(self) -> str:
        return (
            f"Release({self.method}, {size_in_words(self)}; {self.guarantee}"
            f"{''.join(f' {doubt}' for doubt in self.doubts)})"
        )

    def _repr_html_(self) -> str:
        """Promise and largest loadings, for notebooks."""
        from gdppca.releases.notebook import as_card

        return as_card(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain form, checksum included."""
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "library_version": self.library_version,
            "method": self.method,
            "n_samples": self.n_samples,
            "n_features": self.n_features,
            "feature_names": list(self.feature_names),
            "components": self.components.tolist(),
            "scatter": _listed(self.scatter),
            "noise_sd": self.noise_sd,
            "sign": self.sign,
            "scheme": self.scheme,
            "calibration": self.calibration,
            "location": _listed(self.location),
            "scale": _listed(self.scale),
            "scale_error": _listed_or_null(self.scale_error),
            "variances": _listed(self.variances),
            "score_map": None if self.score_map is None else self.score_map.to_dict(),
            "plan": self.plan,
            "guarantee": self.guarantee.to_dict(),
        }
        return {**content, "checksum": _checksum(content)}

    @classmethod
    def from_dict(cls, plain: Any) -> Release:
        """Read the plain form; schema, checksum, shapes and guarantee must all agree."""
        _check(plain)
        plain = {**_ADDED, **plain}
        score_map = plain["score_map"]
        release = cls(
            components=np.array(plain["components"], dtype=float).reshape(-1, plain["n_features"]),
            scatter=plain["scatter"],
            noise_sd=float(plain["noise_sd"]),
            sign=plain["sign"],
            scheme=plain["scheme"],
            calibration=plain["calibration"],
            n_samples=int(plain["n_samples"]),
            n_features=int(plain["n_features"]),
            feature_names=tuple(plain["feature_names"]),
            location=plain["location"],
            scale=plain["scale"],
            guarantee=Guarantee.from_dict(plain["guarantee"]),
            method=plain["method"],
            scale_error=_errors(plain["scale_error"]),
            variances=plain["variances"],
            score_map=None if score_map is None else ScoreMap.from_dict(score_map),
            plan=plain["plan"],
            library_version=plain["library_version"],
        )
        if release.variances is not None and not _mentions(release.guarantee, "variances"):
            raise ReleaseError("The release's guarantee leaves out what its variances spent.")
        if release.score_map is not None:
            _check_score_map(release.score_map, len(release.components))
            _check_included(release.score_map.guarantee, release.guarantee)
        if release.method == "DPPCA":
            check_consistency(release)
        return release

    def with_score_map(self, score_map: ScoreMap) -> Release:
        """The same release with a map of its scores; their guarantees are added."""
        _check_score_map(score_map, len(self.components))
        together = self.guarantee + score_map.guarantee
        assumed = tuple(words for words in together.assumptions if words != ASSUMED_APART)
        return replace(self, score_map=score_map, guarantee=replace(together, assumptions=assumed))

    def with_plan(self, plan: Any) -> Release:
        """The same release with the `Plan` that was made before; public numbers only."""
        return replace(self, plan=plan.to_dict())

    def with_variances(self, found: NoisyVariances) -> Release:
        """The same release with variances of its components; their guarantees are added."""
        if len(found.variances) != len(self.components):
            raise ReleaseError("The variances are not those of this release's components.")
        return replace(self, variances=found.variances, guarantee=self.guarantee + found.guarantee)

    @classmethod
    def merge(cls, releases: Sequence[Release], n_components: int | None = None) -> Release:
        """Merge releases of disjoint groups of people into one; nothing is spent.

        See `gdppca.releases.merge_releases`.
        """
        from gdppca.releases.merge import merge_releases

        return merge_releases(releases, n_components)

    def save(self, path: str | Path) -> None:
        """Write JSON, whole or not at all; an error says what stays spent."""
        text = _one_line_per_field(self.to_dict())
        try:
            write_whole(Path(path), text.encode("utf-8"))
        except OSError as error:
            if self.guarantee.protects:
                error.add_note(
                    f"The release was not saved. What it spent stays spent: {_spent(self)}."
                )
            raise

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Read a file that `save` wrote."""
        return cls.from_dict(_read_json(Path(path)))


def _one_line_per_field(plain: dict[str, Any]) -> str:
    """JSON that a person can page through; indenting every number of a matrix takes minutes."""
    lines = (
        f" {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in plain.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _spent(release: Release) -> str:
    guarantee = release.guarantee
    return f"(epsilon = {guarantee.epsilon:.6g}, delta = {guarantee.delta:g})"


def _check_score_map(score_map: ScoreMap, m: int) -> None:
    if max(score_map.axes) >= m:
        raise ReleaseError("The score map shows components that the release does not hold.")


def _mentions(guarantee: Guarantee, purpose: str) -> bool:
    return any(event.purpose == purpose for event in guarantee.events)


def _check_included(part: Guarantee, whole: Guarantee) -> None:
    """The promise about everything must count what a part of it drew."""
    missing = Counter(part.events) - Counter(whole.events)
    if missing or (part.seeded and not whole.seeded):
        raise ReleaseError("The release's guarantee leaves out what its score map spent.")


def _listed(array: np.ndarray | None) -> list[Any] | None:
    return None if array is None else array.tolist()


def _listed_or_null(errors: np.ndarray | None) -> list[float | None] | None:
    """What JSON can hold: null stands for infinity."""
    if errors is None:
        return None
    return [float(error) if np.isfinite(error) else None for error in errors]


def _errors(listed: list[float | None] | None) -> np.ndarray | None:
    if listed is None:
        return None
    return np.array([np.inf if error is None else error for error in listed])


def _read_json(path: Path) -> Any:
    if not path.is_file():
        raise ReleaseError(f"There is no release file '{path}'.")
    if path.stat().st_size > _LARGEST_FILE:
        raise ReleaseError(f"'{path}' is too large to be a release.")
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole
        )
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise ReleaseError(f"'{path}' is damaged: it is not JSON.") from None


def _refuse_constant(word: str) -> None:
    raise ValueError(word)


def _finite(digits: str) -> float:
    number = float(digits)
    if np.isinf(number):
        raise ValueError("infinite")
    return number


def _whole(digits: str) -> int:
    if len(digits) > 18:
        raise ValueError("too many digits")
    return int(digits)


@cache
def _validator(version: int) -> Any:
    from jsonschema import Draft202012Validator

    schema = resources.files("gdppca.releases").joinpath(f"schemas/release-{version}.json")
    return Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))


def _checksum(content: dict[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _check(plain: Any) -> None:
    if not isinstance(plain, dict) or plain.get("format") != _FORMAT:
        raise ReleaseError("This is not a gdppca release.")
    version = plain.get("version")
    if isinstance(version, int) and version > _VERSION:
        raise ReleaseError(
            f"The release has format version {version}; this library reads up to {_VERSION}. "
            "Install a newer gdppca."
        )
    known = version if type(version) is int and 1 <= version <= _VERSION else _VERSION
    problem = next(iter(_validator(known).iter_errors(_outline(plain))), None)
    if problem is not None:
        where = "/".join(str(step) for step in problem.absolute_path) or "the top level"
        raise ReleaseError(f"The release does not fit its schema at {where}.")
    if plain["checksum"] != _checksum(plain):
        raise ReleaseError("The release was edited or damaged: its checksum does not match.")
    _check_shapes({**_ADDED, **plain})


def _outline(plain: dict[str, Any]) -> dict[str, Any]:
    """The same with matrices of numbers left empty: the schema takes 8 µs an entry to like them."""
    return {
        name: [] if name in ("components", "scatter") and _holds_numbers(value) else value
        for name, value in plain.items()
    }


def _holds_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, list) and {int, float}.issuperset(map(type, row)) for row in value
    )


def _check_shapes(plain: dict[str, Any]) -> None:
    d, m = plain["n_features"], len(plain["components"])
    scatter = plain["scatter"]
    square = scatter is None or len(scatter) == d
    vectors = [
        plain[name] for name in ("location", "scale", "scale_error") if plain[name] is not None
    ]
    rows = [*plain["components"], *(scatter or []), *vectors]
    fits = len(plain["feature_names"]) == d and square and m <= d
    if not fits or any(len(row) != d for row in rows):
        raise ReleaseError("The release's matrices and names do not fit together.")
    if plain["variances"] is not None and len(plain["variances"]) != m:
        raise ReleaseError("The release's variances do not fit its components.")
    if scatter is not None and not np.array_equal(np.array(scatter), np.array(scatter).T):
        raise ReleaseError("The release's noisy matrix is not symmetric.")
