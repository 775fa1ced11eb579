"""What was typed into forms, as values; what cannot be read is told by the field's label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gdppca._errors import ParameterError
from gdppca._words import counted
from gdppca.jobs.texts import axes_of, dialect_of
from gdppca.tables.description import Column, Description
from gdppca.web.drafts import Budget, Draft, Typed
from gdppca.web.words import LABELS

COLUMN_KEYS = (
    "type",
    "levels",
    "origin",
    "format",
    "typical",
    "spread",
    "unit",
    "label",
    "missing",
)
_LARGEST = 50.0  # ε


def text(typed: Mapping[str, str], name: str) -> str:
    """A field without spaces around it; empty where it is not there."""
    return typed.get(name, "").strip()


def number(typed: Mapping[str, str], name: str, label: str) -> float | None:
    """A number, with a comma or a point before decimals; None where nothing is typed."""
    written = text(typed, name)
    if not written:
        return None
    try:
        found = float(written.replace(",", ".").replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ParameterError(f"“{label}” must be a number. Correct it, or leave it empty.")
    return found


def whole(typed: Mapping[str, str], name: str, label: str, least: int = 0) -> int | None:
    """A whole number of at least so much."""
    found = number(typed, name, label)
    if found is None:
        return None
    if found != int(found) or found < least or found > 1e12:
        raise ParameterError(f"“{label}” must be a whole number from {least} on.")
    return int(found)


def share(typed: Mapping[str, str], name: str, label: str) -> float:
    """A share that is typed in percent."""
    found = number(typed, name, label) or 0.0
    if not 0 <= found < 100:
        raise ParameterError(f"“{label}” must lie between 0 and 100 percent.")
    return found / 100


def listed(written: str) -> tuple[str, ...]:
    """Words on lines of their own, or with commas or semicolons between them on one line."""
    lines = [line.strip() for line in written.splitlines() if line.strip()]
    if len(lines) == 1:
        sign = ";" if ";" in lines[0] else ","
        lines = [part.strip() for part in lines[0].split(sign) if part.strip()]
    return tuple(lines)


def dialect(typed: Typed) -> dict[str, Any]:
    """How a file is written, as far as somebody said it."""
    texts = ("delimiter", "decimal", "thousands", "encoding", "sheet")
    # A space or a tab may be what is meant.
    written: dict[str, Any] = {name: typed.get(name) or None for name in texts}
    written["skip"] = whole(typed, "skip", LABELS["skip"]) or None
    return dialect_of(written)


def described(draft: Draft, typed: Typed) -> Description:
    """The description that the form of the columns comes to."""
    codes = tuple(dict.fromkeys(("", *listed(text(typed, "codes")))))
    chosen = [
        _column(name, k, typed)
        for k, name in enumerate(draft.names)
        if text(typed, f"use-{k}") and name != draft.person
    ]
    if not chosen:
        raise ParameterError("At least one column must be used. Tick it.")
    weight = text(typed, "weight") or None
    largest = number(typed, "largest_weight", LABELS["largest_weight"])
    if weight is not None and weight in [column.name for column in chosen]:
        raise ParameterError(
            f"'{weight}' cannot be a weight and a column of the analysis: untick one of them."
        )
    if (weight is None) != (largest is None):
        raise ParameterError("A column of weights and the largest weight go together.")
    told = Description(
        columns=tuple(chosen),
        person=draft.person,
        weight=weight,
        largest_weight=largest,
        missing=codes,
        **draft.dialect,
    )
    told.require_complete()
    return told


def _column(name: str, k: int, typed: Typed) -> Column:
    kind = text(typed, f"type-{k}") or "number"
    said: dict[str, Any] = {"name": name, "type": kind}
    for key in ("unit", "label"):
        said[key] = text(typed, f"{key}-{k}")
    if codes := listed(text(typed, f"missing-{k}")):
        said["missing"] = codes
    if kind in ("category", "yes-no"):
        said["levels"] = listed(text(typed, f"levels-{k}"))
    if kind == "date":
        said["origin"] = text(typed, f"origin-{k}") or None
        said["format"] = text(typed, f"format-{k}")
    if kind in ("number", "date"):
        for key in ("typical", "spread"):
            said[key] = number(typed, f"{key}-{k}", f"{LABELS[key]} of {name}")
    return Column(**said)


def typed_of(description: Description, names: Mapping[str, str]) -> Typed:
    """What would have been typed for a description, to go on from it."""
    known = {column.name: column for column in description.columns}
    typed: Typed = {"codes": "\n".join(code for code in description.missing if code)}
    if description.weight is not None:
        typed["weight"] = description.weight
    if description.largest_weight is not None:
        typed["largest_weight"] = f"{description.largest_weight:g}"
    for k, name in enumerate(names):
        if name in known:
            typed |= {f"use-{k}": "yes", **_typed_column(known[name], k)}
    return typed


def _typed_column(column: Column, k: int) -> Typed:
    plain = {
        "type": column.type,
        "levels": "\n".join(column.levels),
        "origin": "" if column.origin is None else str(column.origin),
        "format": column.format,
        "typical": "" if column.typical is None else f"{column.typical:g}",
        "spread": "" if column.spread is None else f"{column.spread:g}",
        "unit": column.unit,
        "label": column.label,
        "missing": "\n".join(column.missing),
    }
    return {f"{key}-{k}": value for key, value in plain.items() if value}


def budget(draft: Draft, typed: Typed, *, usual: Budget) -> Budget:
    """What is spent on what; what was left empty is as usual."""
    assert draft.counted is not None
    d = draft.counted.n_features
    epsilon = _epsilon(typed)
    delta = number(typed, "delta", LABELS["delta"])
    components = whole(typed, "components", LABELS["components"], 1)
    found = replace(
        usual,
        epsilon=usual.epsilon if epsilon is None else epsilon,
        delta=usual.delta if delta is None else delta,
        components=usual.components if components is None else components,
        scales=bool(text(typed, "scales")),
        variances=share(typed, "variances", LABELS["variances"]),
        score_map=share(typed, "score_map", LABELS["score_map"]),
        axes=_axes(typed),
        groups=_groups(typed),
        guess=whole(typed, "guess", f"About how many {draft.those}", 2),
        dataset=text(typed, "dataset") or usual.dataset,
        who=text(typed, "who") or None,
        purpose=text(typed, "purpose") or None,
    )
    if text(typed, "gaps"):
        found = replace(found, gaps=share(typed, "gaps", "Missing cells that are expected"))
    if text(typed, "scale_share"):
        found = replace(found, scale_share=share(typed, "scale_share", LABELS["scale_share"]))
    if not 0 < found.epsilon <= _LARGEST:
        raise ParameterError(f"“{LABELS['epsilon']}” must lie above 0 and be at most {_LARGEST:g}.")
    if not 0 < found.delta < 1:
        raise ParameterError(f"“{LABELS['delta']}” must lie between 0 and 1, as 1e-6.")
    if found.components > d:
        raise ParameterError(
            f"“{LABELS['components']}” must be at most {d}: the table has {counted(d, 'column')}."
        )
    if found.score_map and found.axes and max(axes_of(found.axes)) >= found.components:
        raise ParameterError(
            f"“{LABELS['axes']}” must be among those that are released: raise "
            f"“{LABELS['components']}”, or choose others."
        )
    if draft.secret_size and found.guess is None:
        raise ParameterError(
            f"Say about how many {draft.those} there are: a rough public guess, for the forecast."
        )
    return found


def _epsilon(typed: Typed) -> float | None:
    """What the slider says where it was moved and the number beside it was not."""
    found = number(typed, "epsilon", LABELS["epsilon"])
    before = number(typed, "epsilon_was", LABELS["epsilon"])
    moved = number(typed, "epsilon_slider", LABELS["epsilon"])
    if moved is None or before is None or found != before:
        return found
    shown = min(max(round(before, 1), 0.1), 10.0)  # its ends and steps
    return found if abs(moved - shown) < 1e-6 else moved


def _axes(typed: Typed) -> str | None:
    """Components of a map as the command line takes them; None for the first two."""
    chosen = [whole(typed, f"map_{way}", LABELS["axes"], 1) for way in ("across", "up")]
    if chosen in ([None, None], [1, 2]):
        return None
    first, second = (k or usual for k, usual in zip(chosen, (1, 2), strict=True))
    if first == second:
        raise ParameterError(f"“{LABELS['axes']}” must be two different ones.")
    return f"{first},{second}"


def _groups(typed: Typed) -> str | None:
    """Groups of a map as the command line takes them."""
    column, names = text(typed, "group_column"), listed(text(typed, "group_names"))
    if not column:
        return None
    if len(names) < 2 or any("," in name for name in names):
        raise ParameterError(
            f"“{LABELS['groups']}” needs at least two names of groups, without commas in them."
        )
    return f"{column}={','.join(names)}"
