"""A release: everything that can be published, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gdppca._errors import ReleaseError
from gdppca._files import write_whole
from gdppca._version import __version__
from gdppca.ledgers import Reference, complete_entries
from gdppca.privacy import Budget, Guarantee, Neighbors, Unit
from gdppca.privacy.assumptions import COMPONENTS_APART
from gdppca.releases import files
from gdppca.releases.consistency import check_consistency
from gdppca.releases.described import check_description
from gdppca.releases.loadings import Loadings, check_shrunk, shrunk_fields, sparse_components
from gdppca.releases.origin import Origin, derived_origins
from gdppca.releases.score_map import ScoreMap
from gdppca.releases.second_stage import SecondStage
from gdppca.releases.words import doubts, size_in_words
from gdppca.sensitivity import Moves
from gdppca.steps.centre_budget import centre_bias
from gdppca.theory import corrected

if TYPE_CHECKING:
    from gdppca.releases.variances import NoisyVariances

_ORIGINS = ("centre_origin", "scale_origin")
_ARRAYS = ("components", "scatter", "rates", "location", "scale", "scale_error", "variances")
_DERIVED: Any = None  # from the events, where it is left out


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
    n_samples : int
        Number of rows, or of persons where they are the unit; an estimate where the neighbours are
        add-remove, and public else.
    n_features : int
        Number of columns; public.
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
    centre_origin, scale_origin : Origin
        Where centre and column scales came from; by default as the events say.
    centre_bias : float
        What the error of a private centre may add to an eigenvalue, zero without one; by default
        as the events say.
    rates : array of shape (d,) or None
        Where cells were missing, the private share of cells that are there, by column.
    description : dict or None
        The description of the table in its plain form: what was publicly known of it.
    loadings : Loadings or None
        Where shrinking of the loadings was asked for: what came of it, and the plain eigenvectors.
        None where the components are those.
    max_loadings : int or None
        The most columns that a component is to be explained by; see `sparse_components`.
    second_stage : SecondStage or None
        Where one was drawn, how rows lie across the leading directions of the matrix; the
        components are those of both together.
    entries : tuple of Reference
        The entries that paid for it: name of the ledger, number and hash; empty where none did.

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
    centre_origin: Origin = _DERIVED
    scale_origin: Origin = _DERIVED
    centre_bias: float = _DERIVED
    rates: np.ndarray | None = None
    description: dict[str, Any] | None = None
    loadings: Loadings | None = None
    max_loadings: int | None = None
    second_stage: SecondStage | None = None
    entries: tuple[Reference, ...] = ()

    def __post_init__(self) -> None:
        """Make the arrays read-only, and derive from the events what was not said."""
        for name in _ARRAYS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, files.frozen(np.array(value, dtype=float)))
        for name, derived in zip(_ORIGINS, derived_origins(self), strict=True):
            said = Origin(getattr(self, name) or Origin.NONE)
            known = said is not Origin.NONE and derived is not Origin.NONE
            object.__setattr__(self, name, said if known else derived)
        if self.centre_bias is None:
            object.__setattr__(self, "centre_bias", self.bias_of_events())

    def bias_of_events(self) -> float:
        """What the error of a private centre adds to an eigenvalue, by what was drawn for it."""
        if self.location is None:
            return 0.0
        scheme = self.scheme or {}
        each = self.n_samples // scheme.get("groups", 1)  # merged groups have centres of their own
        seen = scheme.get("sample", each)
        moves = Moves(self.guarantee.neighbors)
        return centre_bias(self.guarantee.events, seen, self.n_features, moves, self.rates)

    @property
    def unit(self) -> Unit:
        """Whom the promise is about, and what `n_samples` counts."""
        return self.guarantee.unit

    @property
    def neighbors(self) -> Neighbors:
        """Which two tables must look alike."""
        return self.guarantee.neighbors

    @property
    def n_is_estimate(self) -> bool:
        """Whether `n_samples` is known only from noisy numbers, as where the size is a secret."""
        return self.neighbors is Neighbors.ADD_REMOVE

    @property
    def matrix(self) -> np.ndarray | None:
        """What the components are eigenvectors of: `scatter`, corrected for missing cells."""
        if self.scatter is None or self.rates is None:
            return self.scatter
        return files.frozen(corrected(self.scatter, self.rates))

    @property
    def plain_components(self) -> np.ndarray:
        """Components that were not shrunk, also where those of the release are.

        Leading eigenvectors of the matrix; those of it and a second stage together where there is
        one.
        """
        return self.components if self.loadings is None else self.loadings.plain

    @property
    def negligible(self) -> np.ndarray:
        """Where a loading is zero with a probability of 0.9 or more, (m, d); nowhere if plain."""
        if self.loadings is None:
            return files.frozen(np.zeros(self.components.shape, dtype=bool))
        return self.loadings.negligible

    @property
    def sparse_components(self) -> np.ndarray | None:
        """The `max_loadings` largest loadings of each component, at length one; None without."""
        if self.max_loadings is None:
            return None
        return files.frozen(sparse_components(self.components, self.max_loadings))

    @property
    def doubts(self) -> tuple[str, ...]:
        """What must be known before a number is read: scales not to be trusted, missing cells."""
        return doubts(self)

    def __repr__(self) -> str:
        said = ". ".join(filter(None, (str(self.guarantee), " ".join(self.doubts))))
        return f"Release({self.method}, {size_in_words(self)}; {said})"

    def _repr_html_(self) -> str:
        """Promise and largest loadings, for notebooks."""
        from gdppca.releases.notebook import as_card

        return as_card(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain form, checksum included."""
        return {**self._content(), "checksum": self.checksum}

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of everything in it; of a release that does not change, once."""
        return files.checksum(self._content())

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy is as read-only as what it was made of, and hashed anew."""
        self.__dict__.update({name: state[name] for name in state if name != "checksum"})
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def _content(self) -> dict[str, Any]:
        content = {
            "format": files.FORMAT,
            "version": files.VERSION,
            **{name: files.as_plain(getattr(self, name)) for name in _IN_ORDER},
        }
        if self.scale_error is not None:  # JSON has no infinity
            content["scale_error"] = [
                e if np.isfinite(e) else None for e in self.scale_error.tolist()
            ]
        if self.entries:
            content["entries"] = [each._asdict() for each in self.entries]
        return content

    @classmethod
    def from_dict(cls, plain: Any) -> Release:
        """Read the plain form; schema, checksum, shapes and guarantee must all agree."""
        plain = files.checked(plain)
        errors, score_map, names = plain["scale_error"], plain["score_map"], plain["feature_names"]
        if plain["description"] is not None:
            check_description(plain["description"], names)
        d = int(plain["n_features"])  # where 3.0 was written too
        read: dict[str, Any] = {
            "components": np.array(plain["components"], dtype=float).reshape(-1, d),
            "noise_sd": float(plain["noise_sd"]),
            "n_samples": int(plain["n_samples"]),
            "n_features": d,
            "feature_names": tuple(names),
            "scale_error": errors and [np.inf if error is None else error for error in errors],
            "score_map": score_map and ScoreMap.from_dict(score_map),
            "guarantee": Guarantee.from_dict(plain["guarantee"]),
            "entries": tuple(Reference.from_plain(each) for each in plain["entries"] or ()),
        }
        if plain["loadings"] is not None:
            m = len(plain["components"])
            read["loadings"] = Loadings.from_dict(plain["loadings"], m, d)
        if plain["second_stage"] is not None:
            m = len(plain["components"])
            read["second_stage"] = SecondStage.from_dict(plain["second_stage"], m, d)
        fields = (name for name in _IN_ORDER if name not in _PROMISED)
        release = cls(**{name: plain[name] for name in fields} | read)
        if any(plain[name] != getattr(release, name) for name in _PROMISED):
            raise ReleaseError("The release's unit or neighbours are not those of its guarantee.")
        drawn = {event.purpose for event in release.guarantee.events}
        if release.variances is not None and "variances" not in drawn:
            raise ReleaseError("The release's guarantee leaves out what its variances spent.")
        if release.score_map is not None:
            _check_score_map(release.score_map, len(release.components))
            _check_included(release.score_map.guarantee, release.guarantee)
        if release.method == "DPPCA":
            check_consistency(release)
        elif release.loadings is not None and release.scatter is not None:
            check_shrunk(release)
        if release.score_map is not None:
            _check_alike(release.score_map.guarantee, release.guarantee)
        return release

    def with_score_map(self, score_map: ScoreMap) -> Release:
        """The same release with a map of its scores; their guarantees are added."""
        _check_score_map(score_map, len(self.components))
        together = self.guarantee + score_map.guarantee
        assumed = tuple(each for each in together.assumptions if each != COMPONENTS_APART)
        return replace(
            self,
            score_map=score_map,
            guarantee=replace(together, assumptions=assumed),
            entries=self.entries + score_map.entries,
        )

    def with_plan(self, plan: Any) -> Release:
        """The same release with the `Plan` that was made before; public numbers only."""
        return replace(self, plan=plan.to_dict())

    def with_variances(self, found: NoisyVariances) -> Release:
        """The same release with variances of its components; their guarantees are added."""
        if len(found.variances) != len(self.components):
            raise ReleaseError("The variances are not those of this release's components.")
        return replace(
            self,
            variances=found.variances,
            guarantee=self.guarantee + found.guarantee,
            entries=self.entries + found.entries,
        )

    def shrunk(self, target: str = "rows") -> Release:
        """The same release with its loadings shrunk under its known noise; nothing is spent.

        Parameters
        ----------
        target : "rows" or "population", default "rows"
            Whose loadings are estimated: those that the same rows have without noise, or those of
            the population that they were drawn from.

        Returns
        -------
        Release
            With `loadings`. The plain eigenvectors stay in it, and stay its components where the
            likelihood asks for nothing, no component stands above the noise, or there is no
            matrix. Variances and a score map of other directions are left out.

        Examples
        --------
        >>> from gdppca import DPPCA, datasets
        >>> X = datasets.make_elliptical(4000, 25, random_state=0).X
        >>> release = DPPCA(epsilon=1.0, random_state=0).fit(X).release_.shrunk()
        >>> release.loadings.shrunk, bool(release.negligible[0, 4:].mean() > 0.7)
        (True, True)
        """
        return self._showing(**shrunk_fields(self, target))

    def plain(self) -> Release:
        """The same release with the plain eigenvectors for components; nothing is spent.

        Variances and a score map of other directions are left out.
        """
        return self._showing(components=self.plain_components, loadings=None)

    def _showing(self, **fields: Any) -> Release:
        """The same with other directions, and without what is about the old ones."""
        if not np.allclose(fields["components"], self.components, rtol=0, atol=1e-9):
            fields |= {"variances": None, "score_map": None}
        return replace(self, **fields)

    @classmethod
    def merge(cls, releases: Sequence[Release], n_components: int | None = None) -> Release:
        """Merge releases of disjoint groups of people into one; nothing is spent.

        See `gdppca.releases.merge_releases`.
        """
        from gdppca.releases.merge import merge_releases

        return merge_releases(releases, n_components)

    def save(self, path: str | Path, ledger: str | None = None) -> None:
        """Write JSON, whole or not at all; an error says what stays spent.

        With the address of a `ledger`, its entry is completed in between: when the file lies whole
        on the disk under a hidden name, and before it has its own. So a file that is there has its
        completed entry.
        """
        text = files.one_line_per_field(self.to_dict())
        try:
            write_whole(Path(path), text.encode("utf-8"), partial(self._complete, ledger))
        except OSError as error:
            if self.guarantee.protects:
                spent = Budget(self.guarantee.epsilon, self.guarantee.delta)
                error.add_note(f"The release was not saved. What it spent stays spent: {spent}.")
            raise

    def _complete(self, ledger: str | None) -> None:
        if ledger is not None and self.entries:
            complete_entries(ledger, self.entries, self.checksum)

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Read a file that `save` wrote."""
        return cls.from_dict(files.read_json(Path(path)))


_PROMISED = ("unit", "neighbors")  # which stand in the guarantee too
_IN_ORDER = (
    *("library_version", "method", *_PROMISED, "n_samples", "n_features", "feature_names"),
    *(
        "description",
        "components",
        "loadings",
        "max_loadings",
        "scatter",
        "second_stage",
        "rates",
        "noise_sd",
        "sign",
        "scheme",
    ),
    *("calibration", "location", "centre_origin", "centre_bias", "scale", "scale_origin"),
    *("scale_error", "variances", "score_map", "plan", "guarantee"),
)  # as fields stand in a file


def _check_score_map(score_map: ScoreMap, m: int) -> None:
    if max(score_map.axes) >= m:
        raise ReleaseError("The score map shows components that the release does not hold.")


def _check_included(part: Guarantee, whole: Guarantee) -> None:
    """The promise about everything must count what a part of it drew."""
    missing = Counter(part.events) - Counter(whole.events)
    if missing or (part.seeded and not whole.seeded):
        raise ReleaseError("The release's guarantee leaves out what its score map spent.")


def _check_alike(part: Guarantee, whole: Guarantee) -> None:
    """A part promises nothing to others than the whole does."""
    if (part.neighbors, part.unit) != (whole.neighbors, whole.unit):
        raise ReleaseError("The score map's neighbours or unit are not those of its release.")
