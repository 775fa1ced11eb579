"""Results as data frames of whichever package is there."""

from __future__ import annotations

from typing import Any

from gdppca import _validate
from gdppca._errors import MissingExtraError

BACKENDS = ("pandas", "polars", "pyarrow")  # in the order in which they are looked for


def frame_of(columns: dict[str, Any], backend: str | None = None) -> Any:
    """A data frame of these columns, of one package or of the first that is installed."""
    import narwhals as nw

    wanted: tuple[Any, ...] = BACKENDS
    if backend is not None:
        wanted = (_validate.one_of(BACKENDS, backend=backend),)
    for name in wanted:
        try:
            return nw.from_dict(columns, backend=name).to_native()
        except ModuleNotFoundError:
            continue
    raise MissingExtraError(f"A data frame needs {' or '.join(wanted)}: pip install {wanted[0]}.")
