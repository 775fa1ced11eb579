"""What a ledger does beside counting: complete entries, keep the owner's rules, tell its lines."""

from __future__ import annotations

import re
from typing import Any

from gdppca import _validate
from gdppca._errors import LedgerError, ParameterError
from gdppca.ledgers import entries
from gdppca.ledgers.chain import Entry, Head
from gdppca.ledgers.desk import Desk
from gdppca.ledgers.notes import Note, same_person, signed
from gdppca.ledgers.policy import Policy, approval_id, policy_of, work_of
from gdppca.ledgers.register import Line, lines_of
from gdppca.privacy.ledger import Receipt

_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}")


class Registered:
    """The register of a ledger: what became of every entry, by whom and what for."""

    _desk: Desk

    @property
    def name(self) -> str:
        """The ledger's own name, which a release gives: not its address, and no secret."""
        with self._desk.store.reading() as book:
            return book.about["ledger"]

    def noted_head(self) -> Head | None:
        """Return the last entry that is noted beside the ledger.

        Returns
        -------
        Head or None
            None where nothing is noted, as on PostgreSQL unless a file is named.
        """
        return self._desk.noted()

    def complete(self, number: int, release: str) -> Receipt:
        """Note what came of a spend, which was reserved until now.

        Parameters
        ----------
        number : int
            Of the spend's entry.
        release : str
            Checksum of the release, such as ``release.checksum``. Several may come of one spend:
            the same numbers with a plan, say.

        Returns
        -------
        Receipt
            The entry that completes it; `repeated` where the same was noted before.
        """
        if not isinstance(release, str) or not _CHECKSUM.fullmatch(release):
            raise ParameterError("`release` must be a checksum, as release.checksum gives it.")
        spend = self._found(number, "spend", "a spend")
        mark, by = f"#complete {spend.number} {release}", signed()
        with self._desk.changing(spend.dataset) as (book, now):
            before = book.first(dataset=spend.dataset, request_id=mark)
            if before is not None:
                return entries.receipt(before, repeated=True)
            told = {"completes": spend.number, "release": release}
            content = entries.state(now) | by | told
            entry = self._desk.append(book, spend.dataset, "complete", content, mark)
        return self._desk.receipt(entry)

    def requested(self, dataset: str, request_id: str) -> Line | None:
        """Return the spend that was entered under a name, and what became of it.

        Parameters
        ----------
        dataset : str
            Its name.
        request_id : str
            As it was given to `spend`.

        Returns
        -------
        Line or None
            None where there is no such spend.
        """
        with self._desk.looking(dataset) as (book, _):
            found = book.first(dataset=dataset, request_id=request_id, kind="spend")
        return None if found is None else self.entry(found.number)

    def policy(self, dataset: str) -> Policy:
        """Return the rules of a data set beside its cap.

        Parameters
        ----------
        dataset : str
            Its name.

        Returns
        -------
        Policy
            As its owner set them last.
        """
        with self._desk.looking(dataset) as (book, _):
            return policy_of(book, dataset)

    def set_policy(self, dataset: str, policy: Policy) -> Receipt:
        """Set the rules of a data set, in place of those that it had.

        Parameters
        ----------
        dataset : str
            Its name.
        policy : Policy
            The rules from now on; `Policy()` takes all of them away.

        Returns
        -------
        Receipt
            The entry that was made.
        """
        if not isinstance(policy, Policy):
            raise ParameterError("`policy` must be a Policy from gdppca.ledgers.")
        told = {"policy": policy.checked().to_plain(), **signed()}
        with self._desk.changing(dataset) as (book, now):
            entry = self._desk.append(book, dataset, "policy", entries.state(now) | told)
        return self._desk.receipt(entry)

    def request(self, dataset: str, epsilon: float, note: Note | None = None) -> Receipt:
        """Ask for a second pair of eyes, for one spend of at most so much.

        Parameters
        ----------
        dataset : str
            Its name.
        epsilon : float
            The most that the spend may cost, at the cap's δ.
        note : Note, optional
            Who asks and what for. The spend must be by the same person, for the same purpose; and
            where a method is named, by that method with the same parameters.

        Returns
        -------
        Receipt
            The request; `repeated` where the same one is waiting or approved already.
        """
        _validate.finite_positive(epsilon=epsilon)
        said = (note or Note()).settled()
        told = {"asks": float(epsilon), **said.to_plain()}
        with self._desk.changing(dataset) as (book, now):
            for line in lines_of(book.entries(dataset=dataset)):
                open_ = line.entry.kind == "request" and line.status != "used"
                if open_ and _same(line.entry.detail, told):
                    return entries.receipt(line.entry, repeated=True)
            entry = self._desk.append(book, dataset, "request", entries.state(now) | told)
        return self._desk.receipt(entry)

    def approve(self, number: int) -> Receipt:
        """Approve a request of somebody else; who approves is who `entered_as` says.

        Parameters
        ----------
        number : int
            Of the request's entry.

        Returns
        -------
        Receipt
            The entry that was made.
        """
        request, by = self._found(number, "request", "a request"), signed()
        asker = request.detail["who"]
        if same_person(asker, by["who"]):
            raise LedgerError(
                f"'{asker}' asked for entry {request.number} and cannot approve it: a second pair "
                "of eyes is somebody else's. Nothing was spent."
            )
        mark = approval_id(request.number)
        with self._desk.changing(request.dataset) as (book, now):
            if book.first(dataset=request.dataset, request_id=mark) is not None:
                raise LedgerError(f"Entry {request.number} was approved before. Nothing changed.")
            content = entries.state(now) | by | {"approves": request.number}
            entry = self._desk.append(book, request.dataset, "approve", content, mark)
        return self._desk.receipt(entry)

    def register(self, dataset: str | None = None) -> list[Line]:
        """All entries in order, each with what became of it.

        Parameters
        ----------
        dataset : str, optional
            Only those of one data set.

        Returns
        -------
        list of Line
            With `number`, `status`, `who`, `purpose`, `epsilon`, `spent`, `bound`, `releases` and
            the `entry` itself.
        """
        with self._desk.store.reading() as book:
            wanted = {} if dataset is None else {"dataset": dataset}
            return lines_of(book.entries(**wanted))

    def entry(self, number: int) -> Line:
        """Return one entry, with what became of it.

        Parameters
        ----------
        number : int
            As it stands in the ledger, and in a release.

        Returns
        -------
        Line
            As in `register`.
        """
        found = self._found(number)
        return next(line for line in self.register(found.dataset) if line.number == found.number)

    def _found(self, number: int, kind: str | None = None, called: str = "") -> Entry:
        """An entry by its number, of a kind where one is wanted."""
        _validate.count(number=number)
        with self._desk.store.reading() as book:
            found = book.first(number=number)
        if found is None:
            raise LedgerError(
                f"The ledger at {self._desk.store.shown} has no entry {number}. "
                "Nothing was entered."
            )
        if kind is not None and found.kind != kind:
            raise LedgerError(
                f"Entry {number} of the ledger is not {called}: it is called '{found.kind}'. "
                "Nothing was entered."
            )
        return found


def _same(earlier: dict[str, Any], asked: dict[str, Any]) -> bool:
    """Whether two requests are by one person, for one purpose, one work and as much."""
    return (
        same_person(earlier["who"], asked["who"])
        and all(earlier.get(name) == asked.get(name) for name in ("asks", "purpose"))
        and work_of(earlier) == work_of(asked)
    )
