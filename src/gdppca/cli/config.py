"""Options from a file: ``gdppca.toml`` beside the work, or the one that ``--config`` names.

Keys are the options' names. A key of the whole file is for every command that has such an option,
one under a command's name for that command. The environment goes before the file, and the command
line before both.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gdppca._errors import ParameterError

USUAL = "gdppca.toml"
_PREFIX = "GDPPCA"


def variables_of(command: Sequence[str], option: str) -> list[str]:
    """Names of the environment variables of an option: of one command, and of all."""
    words = "_".join(command).replace("-", "_")
    return [f"{_PREFIX}_{words}_{option}".upper(), f"{_PREFIX}_{option}".upper()]


def require_one_source(command: Sequence[str], options: Iterable[str]) -> None:
    """Refuse two variables that say different things of one option."""
    for option in options:
        own, shared = variables_of(command, option)
        if own in os.environ and os.environ.get(shared, os.environ[own]) != os.environ[own]:
            raise ParameterError(
                f"The environment says two things: {own} and {shared} differ. Unset one of them."
            )


def named_file(args: Sequence[str]) -> Path | None:
    """The file that ``--config`` names, else the usual one where there is one.

    It is looked for before the options are read: it has a part in that.
    """
    for k, word in enumerate(args):
        if word == "--":
            break
        if word == "--config":
            return Path(args[k + 1]) if k + 1 < len(args) else None
        if word.startswith("--config="):
            return Path(word.partition("=")[2])
    from_environment = os.environ.get(f"{_PREFIX}_CONFIG")
    if from_environment:
        return Path(from_environment)
    return Path(USUAL) if Path(USUAL).is_file() else None


def defaults_from(
    file: Path, command: Sequence[str], known: Mapping[str, Iterable[str]]
) -> dict[str, Any]:
    """What a file says of one command's options, as texts; `known` are the options of all."""
    said = _read(file)
    shared = {key: value for key, value in said.items() if not isinstance(value, dict)}
    sections = _sections(said)
    for name, section in sections.items():
        if name not in known:
            raise _unknown(file, f"[{name}]", "no command is called so")
        for key in section:
            if _name(key) not in known[name]:
                raise _unknown(file, f"{name}.{key}", f"{name} has no such option")
    everywhere = {option for options in known.values() for option in options}
    for key in shared:
        if _name(key) not in everywhere:
            raise _unknown(file, key, "no command has such an option")
    here = ".".join(command)
    own = _by_name(file, sections.get(here, {}))
    common = {k: v for k, v in _by_name(file, shared).items() if k in known.get(here, ())}
    for name in own.keys() & common.keys():
        if own[name] != common[name]:
            raise ParameterError(
                f"'{file}' says two things of `{name}`: of all commands, and under [{here}]. "
                "Keep one of them."
            )
    return {name: _typed(file, name, value) for name, value in (common | own).items()}


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(f"'{file}' cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParameterError(f"'{file}' is not TOML: {error}.") from None


def _sections(said: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Sections by the words of their commands: ``[ledger.show]`` is "ledger.show"."""
    found: dict[str, dict[str, Any]] = {}
    for name, section in said.items():
        if isinstance(section, dict):
            inner = {k: v for k, v in section.items() if isinstance(v, dict)}
            own = {k: v for k, v in section.items() if k not in inner}
            if own or not inner:
                found[name] = own
            found |= {f"{name}.{k}": v for k, v in inner.items()}
    return found


def _name(key: str) -> str:
    return key.replace("-", "_")


def _by_name(file: Path, said: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in said.items():
        if _name(key) in found:
            raise ParameterError(f"'{file}' says `{_name(key)}` twice. Keep one of them.")
        found[_name(key)] = value
    return found


def _typed(file: Path, name: str, value: Any) -> Any:
    """A value as it would be typed."""
    if isinstance(value, list) and not any(isinstance(each, (list, dict)) for each in value):
        return [str(each) for each in value]
    if isinstance(value, (list, dict)):
        raise ParameterError(f"'{file}': `{name}` must be a word, a number or a list of them.")
    return value if isinstance(value, bool) else str(value)


def _unknown(file: Path, key: str, why: str) -> ParameterError:
    return ParameterError(f"'{file}' has the key `{key}`, but {why}. Correct or remove it.")
