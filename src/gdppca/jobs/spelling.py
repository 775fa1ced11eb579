"""A wish as others would write it: a command for the shell, and lines of Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from gdppca.estimators import DPPCA
from gdppca.jobs.texts import axes_of, groups_of
from gdppca.jobs.wish import Said, Wish

_ALWAYS = ("n_components", "epsilon", "delta")  # said even where they are as usual
_OPTIONS = {"n_components": "components", "random_state": "seed"}


def parameters_told(wish: Wish) -> dict[str, Any]:
    """Parameters of the estimator that are not as usual, and those that are always said."""
    usual = DPPCA().get_params()
    return {
        name: wish.parameters[name]
        for name in (*_ALWAYS, *usual)
        if name in wish.parameters and (name in _ALWAYS or wish.parameters[name] != usual[name])
    }


def command(wish: Wish) -> list[str]:
    """The words of `gdppca fit` that do what is wished for."""
    said, listed = wish.said, [("columns", _quoted(name)) for name in wish.columns or ()]
    told = [
        ("table", said.table),
        ("person", said.person),
        ("weight", said.weight),
        ("largest_weight", said.largest_weight),
        *said.dialect.items(),
        ("query", wish.query),
        *listed,
        *((_OPTIONS.get(name, name), _typed(v)) for name, v in parameters_told(wish).items()),
        ("variances", wish.variances or None),
        ("score_map", wish.score_map or None),
        *((name, getattr(wish, name)) for name in ("axes", "groups", "plan", "output", "plot")),
        *((name, getattr(wish, name)) for name in ("report", "who", "purpose", "request_id")),
    ]
    flags = [name for name in ("assume_shuffled", "force") if getattr(wish, name)]
    flags += [] if wish.fingerprint else ["no_fingerprint"]
    return [
        *("gdppca", "fit", *wish.data),
        *(
            word
            for name, value in told
            if value is not None
            for word in (_option(name), f"{value}")
        ),
        *map(_option, flags),
    ]


def command_line(wish: Wish) -> str:
    """The same for a shell."""
    return shlex.join(command(wish))


def python(wish: Wish) -> str:
    """Lines of Python that do what is wished for; plot and report are drawn from the release."""
    named = ["DPPCA", *(["Description"] if wish.said.dialect else [])]
    dataclasses = ["from dataclasses import replace\n"] if wish.said.dialect else []
    arguments = [repr(wish.data[0] if len(wish.data) == 1 else list(wish.data)), *_beside(wish)]
    source = _called("release = pca.fit_release", arguments)
    if noted := _noted(wish):
        lines = [f"with {_called('entered_as', noted)}:", *source.splitlines()]
        source = "\n".join(lines[:1] + [f"    {line}" for line in lines[1:]])
    return "\n".join(
        [
            *dataclasses,
            f"from gdppca import {', '.join(sorted(named))}",
            *(["from gdppca.ledgers import entered_as"] if noted else []),
            "",
            _called("pca = DPPCA", [f"{k}={v!r}" for k, v in parameters_told(wish).items()]),
            source,
            f"release.save({str(wish.output)!r})",
        ]
    )


def _noted(wish: Wish) -> list[str]:
    """What the ledger notes beside the spend."""
    told = [f"{k}={v!r}" for k in ("who", "purpose", "request_id") if (v := getattr(wish, k))]
    return told if wish.fingerprint else [*told, "fingerprint=False"]


def _beside(wish: Wish) -> Iterator[str]:
    said = wish.said
    told: dict[str, Any] = {
        "variances": wish.variances or None,
        "score_map": wish.score_map or None,
        "axes": None if wish.axes is None else axes_of(wish.axes),
        "columns": wish.columns,
        "persons": said.person,
        "weights": said.weight,
        "largest_weight": said.largest_weight,
        "assume_shuffled": wish.assume_shuffled or None,
    }
    if wish.groups is not None:
        told["groups"], told["categories"] = groups_of(wish.groups)
    yield from (f"{name}={value!r}" for name, value in told.items() if value is not None)
    if said.table is not None or said.dialect:
        yield f"description={_description(said)}"


def _description(said: Said) -> str:
    loaded = "Description(columns=())"
    if said.table is not None:
        loaded = f"Description.load({str(said.table)!r})" if said.dialect else repr(str(said.table))
    written = ", ".join(f"{name}={value!r}" for name, value in said.dialect.items())
    return f"replace({loaded}, {written})" if written else loaded


def _called(name: str, arguments: list[str]) -> str:
    """A call, an argument to a line where they are too long for one."""
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= 88:
        return line
    return "\n".join([f"{name}(", *(f"    {argument}," for argument in arguments), ")"])


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _typed(value: Any) -> Any:
    """A value as the command line takes it."""
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return ",".join(f"{number!r}" for number in value)
    return value


def _quoted(name: str) -> str:
    """A name with a comma in quotes."""
    if any(sign in name for sign in ',"') or name != name.strip():
        return '"' + name.replace('"', '""') + '"'
    return name
