"""A second run of the same request: its release is there already, or it is refused."""

from __future__ import annotations

import json
from typing import Any

from gdppca._errors import LedgerError
from gdppca.design import Shares
from gdppca.estimators.surroundings import plain_parameters
from gdppca.jobs.wish import Wish
from gdppca.ledgers import Line, open_account
from gdppca.releases import Release


def made_before(wish: Wish) -> Release | None:
    """The release that an earlier run of this request saved; None where there was no such run.

    Nothing is spent or drawn for a request twice: what was drawn the first time may have been seen.
    """
    if wish.request_id is None:
        return None
    ledger, dataset = open_account(wish.parameters["ledger"])
    line = ledger.requested(dataset, wish.request_id)
    if line is None:
        return None
    told = f"The request '{wish.request_id}' was spent before, by entry {line.number}"
    if line.entry.detail.get("parameters") != _asked(wish):
        raise LedgerError(
            f"{told}, with other parameters. Nothing was spent. Give every request its own "
            "`request_id`."
        )
    if not wish.output.is_file():
        raise LedgerError(f"{told}, and there is no '{wish.output}'. {_what_now(line)}")
    release = Release.load(wish.output)
    if release.checksum not in line.releases:
        raise LedgerError(f"{told}, and '{wish.output}' is not its release. {_what_now(line)}")
    return release


def _asked(wish: Wish) -> dict[str, Any]:
    """Parameters as an entry holds them."""
    shares = Shares(variances=wish.variances, score_map=wish.score_map, axes=wish.beside["axes"])
    asked = plain_parameters(wish.estimator.get_params()) | shares.told
    plain: dict[str, Any] = json.loads(json.dumps(asked))
    return plain


def _what_now(line: Line) -> str:
    if line.releases:
        return "Bring back the file that it was saved in. Nothing was spent."
    return (
        "It was interrupted after the debit, and no release of it is known. What was debited stays "
        "spent; a new `request_id` spends anew."
    )
