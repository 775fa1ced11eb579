"""Plain releases as files: written whole or not at all, and checked before anything is believed."""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from gdppca._errors import ReleaseError

FORMAT = "gdppca-release"
VERSION = 5
_ADDED = (
    *("variances", "score_map", "plan", "scale_error", "rates", "description"),
    *("loadings", "max_loadings", "entries", "second_stage"),
)  # since 1
_BEFORE = {"unit": "row", "neighbors": "replace-one"}  # what there was alone, up to 3
_OPTIONAL = ("centre_origin", "centre_bias", "scale_origin")  # which early files of 3 lack too
_BY_COLUMN = ("location", "scale", "scale_error", "rates")
_LARGEST_FILE = 2**30


def frozen(array: np.ndarray) -> np.ndarray:
    """The same array, read-only: what is published does not change."""
    array.setflags(write=False)
    return array


def as_plain(value: Any) -> Any:
    """What JSON can hold: arrays and tuples as lists, types as words, parts in their plain form."""
    match value:
        case np.ndarray():
            return value.tolist()
        case tuple():
            return list(value)
        case StrEnum():
            return str(value)
    return value.to_dict() if hasattr(value, "to_dict") else value


def one_line_per_field(plain: dict[str, Any]) -> str:
    """JSON that a person can page through; indenting every number of a matrix takes minutes."""
    lines = (
        f" {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in plain.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_json(path: Path) -> Any:
    """What a file holds, numbers within what floats and counts can be."""
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


def checksum(content: dict[str, Any]) -> str:
    """Of everything else, as the schema says."""
    rest = {name: value for name, value in content.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def checked(plain: Any) -> dict[str, Any]:
    """A plain release that fits schema, checksum and shapes, with null for what it left out."""
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise ReleaseError("This is not a gdppca release.")
    version = plain.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ReleaseError(
            f"The release has format version {version}; this library reads up to {VERSION}. "
            "Install a newer gdppca."
        )
    known = version if type(version) is int and 1 <= version <= VERSION else VERSION
    problem = next(iter(_validator(known).iter_errors(_outline(plain))), None)
    if problem is not None:
        where = "/".join(str(step) for step in problem.absolute_path) or "the top level"
        raise ReleaseError(f"The release does not fit its schema at {where}.")
    if plain["checksum"] != checksum(plain):
        raise ReleaseError("The release was edited or damaged: its checksum does not match.")
    whole = {**dict.fromkeys(_ADDED + _OPTIONAL), **_BEFORE, **plain}
    _check_shapes(whole)
    return whole


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
    vectors = [plain[name] for name in _BY_COLUMN if plain[name] is not None]
    rows = [*plain["components"], *(scatter or []), *vectors]
    fits = len(plain["feature_names"]) == d and square and m <= d
    if not fits or any(len(row) != d for row in rows):
        raise ReleaseError("The release's matrices and names do not fit together.")
    if plain["max_loadings"] is not None and plain["max_loadings"] > d:
        raise ReleaseError("The release's `max_loadings` exceeds its columns.")
    if plain["variances"] is not None and len(plain["variances"]) != m:
        raise ReleaseError("The release's variances do not fit its components.")
    if scatter is not None and not np.array_equal(np.array(scatter), np.array(scatter).T):
        raise ReleaseError("The release's noisy matrix is not symmetric.")
